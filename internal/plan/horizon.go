package plan

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"headroom/internal/capacity"
)

// HorizonAnswer is a plan for every period of a horizon, and what they add up to. All money is for the time
// that stands beside it, by the calendar's own hours. Every sum closes: days, months and the total are sums
// of the same amounts as the periods, each rounded once.
type HorizonAnswer struct {
	Status    capacity.Status `json:"status"` // infeasible where a period is; totals leave its hours out
	Currency  string          `json:"currency"`
	Periods   []PeriodAnswer  `json:"periods"` // a period in which a contract begins or ends is answered in parts
	Days      []SpanTotal     `json:"days"`    // by UTC
	Months    []SpanTotal     `json:"months"`
	Total     SpanTotal       `json:"total"`
	Contracts []ContractTotal `json:"contracts"` // the problem's first, then those with a term
	Upfront   capacity.Money  `json:"upfront"`   // of all contracts, the share that lies in the horizon; not in the totals above
	Gap       capacity.Money  `json:"gap"`       // all periods together cost at most so much more than necessary
	Solved    int             `json:"solved"`    // different problems; periods that are alike are solved once

	Situations []SituationAnswer `json:"situations"` // what those problems' plans are, by class and type
}

// SituationAnswer is what all periods that are alike have in common besides their totals.
type SituationAnswer struct {
	Classes []ClassShare       `json:"classes"`         // in the problem's order; empty where there is no plan
	Types   []capacity.TypeVMs `json:"types,omitempty"` // where the problem has several
}

// ClassShare is one class's part of a plan.
type ClassShare struct {
	Admitted float64   `json:"admitted"`
	Refused  float64   `json:"refused"`
	VMs      []float64 `json:"vms"` // the class's share of them, by VM type in the problem's order
}

// PeriodAnswer is the plan of a period or, where a contract begins or ends in it, of a part.
type PeriodAnswer struct {
	Start    time.Time       `json:"start"`
	Hours    float64         `json:"hours"`
	Status   capacity.Status `json:"status"`
	VMs      RentedVMs       `json:"vms"`
	Used     []float64       `json:"used"` // VMs by contract, in the order of the answer's contracts
	Admitted float64         `json:"admitted"`
	Refused  float64         `json:"refused"`
	Cost     SpanCost        `json:"cost"`
	Gap      float64         `json:"gap"`      // relative
	Conflict string          `json:"conflict"` // of an infeasible period: why, the first sentence

	Situation int `json:"situation"` // in the answer's situations
}

// SpanCost is money for some time. Total is the sum of the others.
type SpanCost struct {
	Total        capacity.Money `json:"total"`
	OnDemand     capacity.Money `json:"on_demand"`
	Spot         capacity.Money `json:"spot,omitzero"`
	Reserved     capacity.Money `json:"reserved"`
	ReservedIdle capacity.Money `json:"reserved_idle"`
	Penalties    capacity.Money `json:"penalties"`
}

func (c *SpanCost) add(x *SpanCost) {
	for _, line := range [...]struct{ to, from *capacity.Money }{
		{&c.Total, &x.Total}, {&c.OnDemand, &x.OnDemand}, {&c.Spot, &x.Spot}, {&c.Reserved, &x.Reserved},
		{&c.ReservedIdle, &x.ReservedIdle}, {&c.Penalties, &x.Penalties},
	} {
		if !line.from.IsZero() {
			line.to.Decimal = line.to.Add(line.from.Decimal)
		}
	}
}

// SpanTotal is what a day, a month or the whole horizon comes to.
type SpanTotal struct {
	Start           time.Time `json:"start"`
	Hours           float64   `json:"hours"`
	InfeasibleHours float64   `json:"infeasible_hours,omitzero"`
	Cost            SpanCost  `json:"cost"`
	VMHours         float64   `json:"vm_hours"`
	OnDemandHours   float64   `json:"on_demand_vm_hours"`
	ReservedHours   float64   `json:"reserved_vm_hours"`
	AdmittedHours   float64   `json:"admitted_job_hours"` // jobs running at once, times hours
	RefusedHours    float64   `json:"refused_job_hours"`
}

// ContractTotal is what became of a contract in the hours in which it was in force and there was a plan.
type ContractTotal struct {
	Name         string         `json:"name"`
	VMType       string         `json:"vm_type,omitempty"`
	VMs          int64          `json:"vms"`
	Hours        float64        `json:"hours"`
	UsedHours    float64        `json:"used_vm_hours"`
	IdleHours    float64        `json:"idle_vm_hours"`
	Utilisation  *float64       `json:"utilisation"` // used of all; null where there is none
	IdleShare    *float64       `json:"idle_share"`
	Reserved     capacity.Money `json:"reserved"`
	ReservedIdle capacity.Money `json:"reserved_idle"`
	Upfront      capacity.Money `json:"upfront"` // the share of its term that lies in the horizon
}

// Horizon plans every period of a valid horizon. Nothing binds the periods together, so that each is solved
// by itself, those that are alike once, by so many workers at a time; the answer does not depend on them.
// A nil solve is the core method alone. Progress, if given, is told after every solve, one call at a time.
func Horizon(ctx context.Context, h capacity.Horizon, solve Planner, workers int, progress func(done, total int)) (HorizonAnswer, error) {
	if solve == nil {
		h.Problem.Options.Engine = capacity.EngineExact
		solve = func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) { return Solve(ctx, p, nil) }
	}
	terms := make([]term, len(h.Contracts))
	for i, c := range h.Contracts {
		terms[i] = term{c.From, c.Until}
	}
	c := newCalendar(&h, terms)
	settled := make([]settlement, len(c.situations))
	contracts := contractsOf(&h)
	err := each(ctx, len(settled), workers, progress, func(i int) error {
		p := c.problem(&c.situations[i], h.Contracts)
		pl, err := solve(ctx, p)
		if err == nil {
			settled[i] = settle(&p, &pl, contracts)
		}
		return err
	})
	if err != nil {
		return HorizonAnswer{}, err
	}
	return c.answer(settled, contracts), nil
}

// each does so much work, several at a time, and answers the first error there was.
func each(ctx context.Context, total, workers int, progress func(done, total int), work func(i int) error) error {
	var next atomic.Int64
	var mutex sync.Mutex
	var first error
	var group sync.WaitGroup
	done := 0
	for range max(1, min(workers, total)) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= total {
					return
				}
				err := ctx.Err()
				if err == nil {
					err = work(i)
				}
				mutex.Lock()
				if done++; err == nil && progress != nil {
					progress(done, total)
				}
				if err != nil && first == nil {
					first = err
				}
				failed := first != nil
				mutex.Unlock()
				if failed {
					return
				}
			}
		})
	}
	group.Wait()
	return first
}

// contractsOf is all contracts of a horizon as totals that are still empty.
func contractsOf(h *capacity.Horizon) []ContractTotal {
	var all []ContractTotal
	for _, t := range h.Problem.Supply.Types() {
		for _, c := range t.Contracts {
			all = append(all, ContractTotal{Name: c.Name, VMType: t.Name, VMs: c.VMs})
		}
	}
	whole := term{h.Start(), h.End()}
	for _, c := range h.Contracts {
		t := term{c.From, c.Until}
		all = append(all, ContractTotal{Name: c.Name, VMType: c.VMType, VMs: c.VMs,
			Upfront: proRata(c.Upfront.Decimal, t.within(whole), c.Until.Unix()-c.From.Unix())})
	}
	return all
}

// proRata is an amount times part/whole, rounded once.
func proRata(amount decimal.Decimal, part, whole int64) capacity.Money {
	return capacity.Money{Decimal: amount.Mul(decimal.NewFromInt(part)).DivRound(decimal.NewFromInt(whole), capacity.MoneyPlaces)}
}

// settlement is what a horizon keeps of a situation's plan: its counts, and money as exact rates.
type settlement struct {
	SituationAnswer
	status            capacity.Status
	conflict          string
	vms               RentedVMs
	used              []float64 // by contract
	inForce           []bool
	admitted, refused float64
	gap               float64
	gapAmount         decimal.Decimal // per period of the problem, as penalties
	penalties         decimal.Decimal
	onDemand, spot    decimal.Decimal // per hour
	usedRate          []decimal.Decimal
	idleRate          []decimal.Decimal

	amounts map[int64]*amounts // by seconds
}

// amounts is a settlement's money for so many seconds, every line rounded once.
type amounts struct {
	cost       SpanCost
	used, idle []capacity.Money // by contract
	gap        decimal.Decimal
}

func settle(p *capacity.Problem, pl *capacity.Plan, contracts []ContractTotal) settlement {
	n := len(contracts)
	s := settlement{status: pl.Status, used: make([]float64, n), inForce: make([]bool, n), amounts: make(map[int64]*amounts, 1)}
	if pl.Status == capacity.InfeasibleStatus {
		s.Classes = []ClassShare{}
		if len(pl.Conflicts) > 0 {
			s.conflict = pl.Conflicts[0].Detail
		}
		return s
	}
	o := outcome("", *pl, false)
	s.vms, s.admitted, s.refused, s.gap = o.VMs, o.Admitted, o.Refused, o.Gap
	s.SituationAnswer = SituationAnswer{sharesOf(p, pl), pl.VMs.Types}
	s.penalties = penaltiesOf(p, pl)
	if pl.Proof != nil {
		s.gapAmount = pl.Objective.Sub(pl.Proof.Bound.Decimal)
	}
	byName := make(map[string]int, n)
	for i := range contracts {
		byName[contracts[i].Name] = i
	}
	for _, u := range pl.VMs.Contracts {
		s.used[byName[u.Name]] = u.Used
	}
	s.usedRate, s.idleRate = make([]decimal.Decimal, n), make([]decimal.Decimal, n)
	for v, t := range p.Supply.Types() {
		onDemand, spot := pl.VMs.OnDemand, pl.VMs.Spot
		if len(pl.VMs.Types) > 0 {
			onDemand, spot = pl.VMs.Types[v].OnDemand, pl.VMs.Types[v].Spot
		}
		s.onDemand = s.onDemand.Add(t.OnDemand.Price.Mul(decimal.NewFromFloat(onDemand)))
		if t.Spot != nil {
			s.spot = s.spot.Add(t.Spot.Price.Mul(decimal.NewFromFloat(spot)))
		}
		for _, c := range t.Contracts {
			i := byName[c.Name]
			used := decimal.NewFromFloat(s.used[i])
			s.inForce[i] = true
			s.usedRate[i] = c.Price.Mul(used)
			if c.Billing == capacity.BilledAlways {
				s.idleRate[i] = c.Price.Mul(decimal.NewFromInt(c.VMs).Sub(used))
			}
		}
	}
	return s
}

// sharesOf is the classes' parts of a plan, in one allocation for all their VMs.
func sharesOf(p *capacity.Problem, pl *capacity.Plan) []ClassShare {
	types := p.Supply.Types()
	shares, vms := make([]ClassShare, len(pl.Classes)), make([]float64, len(pl.Classes)*len(types))
	for i := range pl.Classes {
		c := &pl.Classes[i]
		own := vms[i*len(types) : (i+1)*len(types) : (i+1)*len(types)]
		if len(p.Supply.VMTypes) == 0 {
			own[0] = c.VMs
		}
		for _, on := range c.Types {
			for v := range types {
				if types[v].Name == on.VMType {
					own[v] = on.VMs
				}
			}
		}
		shares[i] = ClassShare{c.Admitted, c.Refused, own}
	}
	return shares
}

// penaltiesOf is what the refused jobs cost per period of the problem, not rounded.
func penaltiesOf(p *capacity.Problem, pl *capacity.Plan) decimal.Decimal {
	var sum amountSum
	for i := range pl.Classes {
		sum.add(p.Classes[i].Penalty, pl.Classes[i].Refused)
	}
	return sum.value()
}

// over is the settlement's money for so many seconds of a problem with such a period.
func (s *settlement) over(seconds, period int64) *amounts {
	if known := s.amounts[seconds]; known != nil {
		return known
	}
	a := &amounts{used: make([]capacity.Money, len(s.used)), idle: make([]capacity.Money, len(s.used))}
	a.cost.OnDemand, a.cost.Spot = proRata(s.onDemand, seconds, 3600), proRata(s.spot, seconds, 3600)
	a.cost.Penalties = proRata(s.penalties, seconds, period)
	a.gap = s.gapAmount.Mul(decimal.NewFromInt(seconds)).Div(decimal.NewFromInt(period)).RoundCeil(capacity.MoneyPlaces)
	for i := range s.usedRate {
		if s.inForce[i] {
			a.used[i], a.idle[i] = proRata(s.usedRate[i], seconds, 3600), proRata(s.idleRate[i], seconds, 3600)
			a.cost.Reserved.Decimal = a.cost.Reserved.Add(a.used[i].Decimal)
			a.cost.ReservedIdle.Decimal = a.cost.ReservedIdle.Add(a.idle[i].Decimal)
		}
	}
	c := &a.cost
	c.Total.Decimal = decimal.Sum(c.OnDemand.Decimal, c.Spot.Decimal, c.Reserved.Decimal, c.ReservedIdle.Decimal, c.Penalties.Decimal)
	s.amounts[seconds] = a
	return a
}

// answer adds the stints up, in their order.
func (c *calendar) answer(settled []settlement, contracts []ContractTotal) HorizonAnswer {
	a := HorizonAnswer{
		Status: capacity.Optimal, Currency: c.horizon.Problem.Currency, Contracts: contracts, Solved: len(settled),
		Periods: make([]PeriodAnswer, 0, len(c.horizon.Periods)), Situations: make([]SituationAnswer, len(settled)), Days: []SpanTotal{}, Months: []SpanTotal{},
		Total: SpanTotal{Start: c.horizon.Start().UTC()},
	}
	for i := range settled {
		a.Situations[i] = settled[i].SituationAnswer
	}
	gap := decimal.Zero
	for i, p := range c.stints {
		s := &settled[p.situation]
		m := s.over(p.seconds, c.horizon.Problem.PeriodSeconds)
		gap = gap.Add(m.gap)
		if i == 0 || c.stints[i-1].period != p.period || c.stints[i-1].situation != p.situation {
			a.Periods = append(a.Periods, PeriodAnswer{Start: p.start, Status: s.status, VMs: s.vms, Used: s.used,
				Admitted: s.admitted, Refused: s.refused, Gap: s.gap, Conflict: s.conflict, Situation: p.situation})
		}
		row := &a.Periods[len(a.Periods)-1]
		hours := float64(p.seconds) / 3600
		row.Hours += hours
		row.Cost.add(&m.cost)
		day := time.Date(p.start.Year(), p.start.Month(), p.start.Day(), 0, 0, 0, 0, time.UTC)
		month := time.Date(p.start.Year(), p.start.Month(), 1, 0, 0, 0, 0, time.UTC)
		for _, span := range [...]*SpanTotal{spanFor(&a.Days, day), spanFor(&a.Months, month), &a.Total} {
			span.add(s, m, hours)
		}
		for k := range contracts {
			contracts[k].add(s, m, k, hours)
		}
		if s.status == capacity.InfeasibleStatus || a.Status == capacity.Optimal {
			a.Status = s.status
		}
	}
	a.Gap = capacity.Money{Decimal: gap}
	for k := range contracts {
		t := &contracts[k]
		a.Upfront.Decimal = a.Upfront.Add(t.Upfront.Decimal)
		if all := t.UsedHours + t.IdleHours; all > 0 {
			used, idle := t.UsedHours/all, t.IdleHours/all
			t.Utilisation, t.IdleShare = &used, &idle
		}
	}
	return a
}

func spanFor(list *[]SpanTotal, start time.Time) *SpanTotal {
	if n := len(*list); n == 0 || !(*list)[n-1].Start.Equal(start) {
		*list = append(*list, SpanTotal{Start: start})
	}
	return &(*list)[len(*list)-1]
}

func (t *SpanTotal) add(s *settlement, m *amounts, hours float64) {
	t.Hours += hours
	if s.status == capacity.InfeasibleStatus {
		t.InfeasibleHours += hours
		return
	}
	t.Cost.add(&m.cost)
	t.VMHours += s.vms.Total * hours
	t.OnDemandHours += s.vms.OnDemand * hours
	t.ReservedHours += s.vms.Reserved * hours
	t.AdmittedHours += s.admitted * hours
	t.RefusedHours += s.refused * hours
}

func (t *ContractTotal) add(s *settlement, m *amounts, k int, hours float64) {
	if !s.inForce[k] {
		return
	}
	t.Hours += hours
	t.UsedHours += s.used[k] * hours
	t.IdleHours += (float64(t.VMs) - s.used[k]) * hours
	t.Reserved.Decimal = t.Reserved.Add(m.used[k].Decimal)
	t.ReservedIdle.Decimal = t.ReservedIdle.Add(m.idle[k].Decimal)
}
