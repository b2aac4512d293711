package horizon

import (
	"math"
	"sort"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
)

// settlement holds the counts of a situation's plan, and its money as exact rates.
type settlement struct {
	SituationAnswer
	status            capacity.Status
	conflict          string
	vms               plan.RentedVMs
	used              []float64 // by contract
	inForce           []bool
	admitted, refused float64
	filled            []float64 // where jobs arrive: how many jobs each planned one stands for
	gap               float64
	gapAmount         decimal.Decimal // per period of the problem, as penalties
	penalties         []classPenalty  // of the classes that have any
	onDemand, spot    decimal.Decimal // per hour
	usedRate          []decimal.Decimal
	idleRate          []decimal.Decimal

	amounts map[int64]*amounts // by seconds
}

// classPenalty holds the penalties of a class's refused jobs per period of the problem, not rounded.
type classPenalty struct {
	class  int
	amount decimal.Decimal
}

// amounts is a settlement's money for so many seconds, every line rounded once.
type amounts struct {
	cost       SpanCost
	used, idle []money.Amount // by contract
	penalties  []money.Amount // by settlement.penalties
	gap        decimal.Decimal
}

// settle adds a plan up at the problem's penalties. Where its jobs stand for so many each, these are counted.
func settle(p *capacity.Problem, pl *capacity.Plan, contracts []ContractTotal, filled []float64) settlement {
	n := len(contracts)
	s := settlement{status: pl.Status, used: make([]float64, n), inForce: make([]bool, n), amounts: make(map[int64]*amounts, 1)}
	if pl.Status == capacity.InfeasibleStatus {
		s.Classes = []ClassShare{}
		if len(pl.Conflicts) > 0 {
			s.conflict = pl.Conflicts[0].Detail
		}
		return s
	}
	o := plan.OutcomeOf("", *pl, false)
	s.vms, s.admitted, s.refused, s.gap = o.VMs, o.Admitted, o.Refused, o.Gap
	s.SituationAnswer = SituationAnswer{sharesOf(p, pl), pl.VMs.Types}
	if s.filled = filled; filled != nil {
		s.admitted, s.refused = 0, 0
		for i := range s.Classes {
			c := &s.Classes[i]
			c.Admitted, c.Refused = c.Admitted*filled[i], c.Refused*filled[i]
			s.admitted, s.refused = s.admitted+c.Admitted, s.refused+c.Refused
		}
	}
	for i := range s.Classes {
		if refused := s.Classes[i].Refused; refused > 0 && !p.Classes[i].Penalty.IsZero() {
			s.penalties = append(s.penalties, classPenalty{i, p.Classes[i].Penalty.Mul(decimal.NewFromFloat(refused))})
		}
	}
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

// over is the settlement's money for so many seconds of a problem with such a period.
func (s *settlement) over(seconds, period int64) *amounts {
	if known := s.amounts[seconds]; known != nil {
		return known
	}
	a := &amounts{used: make([]money.Amount, len(s.used)), idle: make([]money.Amount, len(s.used))}
	a.cost.OnDemand, a.cost.Spot = proRata(s.onDemand, seconds, 3600), proRata(s.spot, seconds, 3600)
	for _, p := range s.penalties {
		amount := proRata(p.amount, seconds, period)
		a.penalties = append(a.penalties, amount)
		a.cost.Penalties.Decimal = a.cost.Penalties.Add(amount.Decimal)
	}
	a.gap = s.gapAmount.Mul(decimal.NewFromInt(seconds)).Div(decimal.NewFromInt(period)).RoundCeil(money.Places)
	for i := range s.usedRate {
		if s.inForce[i] {
			a.used[i], a.idle[i] = proRata(s.usedRate[i], seconds, 3600), proRata(s.idleRate[i], seconds, 3600)
			a.cost.Reserved.Decimal = a.cost.Reserved.Add(a.used[i].Decimal)
			a.cost.ReservedIdle.Decimal = a.cost.ReservedIdle.Add(a.idle[i].Decimal)
		}
	}
	c := &a.cost
	c.Bill.Decimal = decimal.Sum(c.OnDemand.Decimal, c.Spot.Decimal, c.Reserved.Decimal, c.ReservedIdle.Decimal)
	c.Total.Decimal = c.Bill.Add(c.Penalties.Decimal)
	s.amounts[seconds] = a
	return a
}

// answer adds stints up, in their order.
func (c *calendar) answer(settled []settlement, contracts []ContractTotal, stints []stint, whole *wholePlans) Answer {
	h := c.horizon
	a := Answer{
		Status: capacity.Optimal, Complete: len(stints) == len(c.stints), Currency: h.Problem.Currency, Contracts: contracts, Situations: []SituationAnswer{},
		Periods: make([]PeriodAnswer, 0, len(h.Periods)), Days: []SpanTotal{}, Months: []SpanTotal{}, Infeasible: []InfeasibleSpan{}, Warnings: []capacity.Warning{},
		Total: SpanTotal{Start: h.Start().UTC()}, Classes: make([]ClassTotal, len(h.Problem.Classes)), Detail: DetailClasses,
	}
	for i := range a.Classes {
		a.Classes[i].Name = h.Problem.Classes[i].Name
	}
	gap := decimal.Zero
	for i, p := range stints {
		s := &settled[p.situation]
		if p.situation == len(a.Situations) { // they are numbered as they come
			a.Situations = append(a.Situations, s.SituationAnswer)
		}
		m := s.over(p.seconds, h.Problem.PeriodSeconds)
		gap = gap.Add(m.gap)
		if i == 0 || stints[i-1].period != p.period || stints[i-1].situation != p.situation {
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
			span.add(s, m, contracts, hours)
			if whole != nil {
				span.addWhole(whole.plans[p.alone].found, p.seconds, h.Problem.PeriodSeconds)
			}
			if h.Periods[p.period].Unforecast && s.status != capacity.InfeasibleStatus {
				span.UnforecastHours += hours
				span.UnforecastBill.Decimal = span.UnforecastBill.Add(m.cost.Bill.Decimal)
			}
		}
		for k := range contracts {
			contracts[k].add(s, m, k, hours)
		}
		for k := range s.Classes {
			a.Classes[k].add(&s.Classes[k], hours)
		}
		for k, of := range s.penalties {
			t := &a.Classes[of.class].Penalties
			t.Decimal = t.Add(m.penalties[k].Decimal)
		}
		if s.status == capacity.InfeasibleStatus {
			a.infeasible(p.start, hours, s.conflict)
		}
		if s.status == capacity.InfeasibleStatus || a.Status == capacity.Optimal {
			a.Status = s.status
		}
	}
	a.Gap, a.Solved = money.Amount{Decimal: gap}, len(a.Situations)
	answered := term{h.Start(), h.End()}
	if !a.Complete {
		answered.until = h.Start().Add(time.Duration(math.Round(a.Total.Hours*3600)) * time.Second)
	}
	for k := range contracts {
		t := &contracts[k]
		if k -= len(contracts) - len(h.Contracts); k >= 0 {
			of := &h.Contracts[k]
			if !a.Complete {
				t.Upfront = proRata(of.Upfront.Decimal, term{of.From, of.Until}.within(answered), of.Until.Unix()-of.From.Unix())
			}
			a.payUpfront(of.From, t.Upfront)
		}
		if all := t.UsedHours + t.IdleHours; all > 0 {
			used, idle := t.UsedHours/all, t.IdleHours/all
			t.Utilisation, t.IdleShare = &used, &idle
		}
	}
	c.keepWork(&a, settled, stints)
	a.explain(h.Start(), h.End())
	return a
}

// payUpfront adds the share of an upfront payment to the time in which its contract begins, or to the first.
func (a *Answer) payUpfront(from time.Time, share money.Amount) {
	if share.IsZero() {
		return
	}
	a.Upfront.Decimal = a.Upfront.Add(share.Decimal)
	a.Total.payUpfront(share)
	for _, spans := range [][]SpanTotal{a.Days, a.Months} {
		n := sort.Search(len(spans), func(i int) bool { return spans[i].Start.After(from) })
		spans[max(0, n-1)].payUpfront(share)
	}
	n := sort.Search(len(a.Periods), func(i int) bool { return a.Periods[i].Start.After(from) })
	a.Periods[max(0, n-1)].Cost.add(&SpanCost{Total: share, Bill: share, Upfront: share})
}

// infeasible adds some time without a plan to the spans that are told.
func (a *Answer) infeasible(start time.Time, hours float64, conflict string) {
	if n := len(a.Infeasible); n > 0 {
		last := &a.Infeasible[n-1]
		if end := last.Start.Add(time.Duration(math.Round(last.Hours*3600)) * time.Second); end.Equal(start) && last.Conflict == conflict {
			last.Hours += hours
			return
		}
		if n == infeasibleShown {
			return
		}
	}
	a.Infeasible = append(a.Infeasible, InfeasibleSpan{start, hours, conflict})
}

// Show leaves out what is not asked for.
func (a *Answer) Show(detail Detail) {
	if a.Detail = detail; detail != DetailClasses {
		a.Situations = []SituationAnswer{}
	}
	if detail == DetailSummary {
		a.Periods = []PeriodAnswer{}
	}
}

func (t *ClassTotal) add(of *ClassShare, hours float64) {
	t.AdmittedHours += of.Admitted * hours
	t.RefusedHours += of.Refused * hours
	for _, vms := range of.VMs {
		t.AskedVMHours += vms * hours
	}
}

func spanFor(list *[]SpanTotal, start time.Time) *SpanTotal {
	if n := len(*list); n == 0 || !(*list)[n-1].Start.Equal(start) {
		*list = append(*list, SpanTotal{Start: start})
	}
	return &(*list)[len(*list)-1]
}

func (t *SpanTotal) add(s *settlement, m *amounts, bought []ContractTotal, hours float64) {
	t.Hours += hours
	if s.status == capacity.InfeasibleStatus {
		t.InfeasibleHours += hours
		return
	}
	t.Cost.add(&m.cost)
	t.VMHours += s.vms.Total * hours
	t.OnDemandHours += s.vms.OnDemand * hours
	t.ReservedHours += s.vms.Reserved * hours
	for k, used := range s.used {
		if s.inForce[k] {
			t.IdleHours += (float64(bought[k].VMs) - used) * hours
		}
	}
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
