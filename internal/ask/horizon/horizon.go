package horizon

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/words"
)

// Answer is a plan for every period of a horizon, and what they add up to. All money is for the time
// that stands beside it, by the calendar's own hours. Every sum closes: days, months and the total are sums
// of the same amounts as the periods, each rounded once; so are the classes' penalties.
type Answer struct {
	Status      capacity.Status    `json:"status"`   // infeasible where a period is; totals leave its hours out. Feasible beyond the problem's gap
	Complete    bool               `json:"complete"` // false: everything ends before the horizon does, because the work was ended
	Currency    string             `json:"currency"`
	Explanation string             `json:"explanation"`
	Facts       words.Facts        `json:"facts"` // the sentences of the explanation, with their figures
	Total       SpanTotal          `json:"total"`
	Upfront     money.Amount       `json:"upfront"` // of all contracts, the share that lies in the time answered
	Gap         money.Amount       `json:"gap"`     // all periods together cost at most so much more than necessary
	Months      []SpanTotal        `json:"months"`
	Contracts   []ContractTotal    `json:"contracts"` // the problem's first, then those with a term
	Classes     []ClassTotal       `json:"classes"`   // in the order of the problem
	Infeasible  []InfeasibleSpan   `json:"infeasible"`
	Days        []SpanTotal        `json:"days"` // by UTC
	Detail      Detail             `json:"detail"`
	Periods     []PeriodAnswer     `json:"periods"`    // none in a summary; a period in which a contract begins or ends is answered in parts
	Situations  []SituationAnswer  `json:"situations"` // with the detail classes alone: what the plans of the different problems are, by class and type
	Solved      int                `json:"solved"`     // different problems; periods that are alike are solved once
	Warnings    []capacity.Warning `json:"warnings"`

	// Under a scenario: its name, which may be "", and what the same time comes to without it, as a summary. The latter is left
	// out where the work was ended before.
	Scenario *string `json:"scenario,omitempty"`
	AsItIs   *Answer `json:"as_it_is,omitempty"`

	WithWaiting *WithWaiting `json:"with_waiting,omitempty"` // where it was asked for, and a schedule could be made
}

// InfeasibleSpan is some time for which there is no plan, and why.
type InfeasibleSpan struct {
	Start    time.Time `json:"start"`
	Hours    float64   `json:"hours"`
	Conflict string    `json:"conflict"` // the first sentence
}

// infeasibleShown bounds the spans that are told; Total has the hours of all.
const infeasibleShown = 100

// ClassTotal adds up the jobs and costs of a class.
type ClassTotal struct {
	Name          string       `json:"name"`
	AdmittedHours float64      `json:"admitted_job_hours"`
	RefusedHours  float64      `json:"refused_job_hours"`
	AskedVMHours  float64      `json:"asked_vm_hours"` // that its jobs take, before VMs are made whole
	Penalties     money.Amount `json:"penalties"`

	Arrivals *ClassArrivals `json:"arrivals,omitempty"` // where the horizon tells what arrives of the class
}

// SituationAnswer holds the common answer of all periods that are alike, without their totals.
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
	VMs      plan.RentedVMs  `json:"vms"`
	Used     []float64       `json:"used"` // VMs by contract, in the order of the answer's contracts
	Admitted float64         `json:"admitted"`
	Refused  float64         `json:"refused"`
	Cost     SpanCost        `json:"cost"`
	Gap      float64         `json:"gap"`      // relative
	Conflict string          `json:"conflict"` // of an infeasible period: why, the first sentence

	Situation int `json:"situation"` // in the answer's situations
}

// SpanCost is money for some time. Bill, what invoices will say, is the sum of the lines for VMs and contracts. Total
// adds the penalties of refused jobs, which are on no invoice. The share of an upfront payment that lies in the horizon
// falls due at once, where the contract begins.
type SpanCost struct {
	Total        money.Amount `json:"total"`
	Bill         money.Amount `json:"bill"`
	OnDemand     money.Amount `json:"on_demand"`
	Spot         money.Amount `json:"spot,omitzero"`
	Reserved     money.Amount `json:"reserved"`
	ReservedIdle money.Amount `json:"reserved_idle"`
	Upfront      money.Amount `json:"upfront,omitzero"`
	Penalties    money.Amount `json:"penalties"`
}

// running is bill and penalties together without what is paid upfront.
func (c *SpanCost) running() decimal.Decimal { return c.Total.Sub(c.Upfront.Decimal) }

func (c *SpanCost) add(x *SpanCost) {
	for _, line := range [...]struct{ to, from *money.Amount }{
		{&c.Total, &x.Total}, {&c.Bill, &x.Bill}, {&c.OnDemand, &x.OnDemand}, {&c.Spot, &x.Spot}, {&c.Reserved, &x.Reserved},
		{&c.ReservedIdle, &x.ReservedIdle}, {&c.Upfront, &x.Upfront}, {&c.Penalties, &x.Penalties},
	} {
		if !line.from.IsZero() {
			line.to.Decimal = line.to.Add(line.from.Decimal)
		}
	}
}

// SpanTotal adds up a day, a month or the whole horizon.
type SpanTotal struct {
	Start           time.Time `json:"start"`
	Hours           float64   `json:"hours"`
	InfeasibleHours float64   `json:"infeasible_hours,omitzero"`
	Cost            SpanCost  `json:"cost"`
	// The hours in which some class counts with its own jobs.max, because there is no forecast of it, and their bill.
	UnforecastHours float64      `json:"hours_without_forecast,omitzero"`
	UnforecastBill  money.Amount `json:"bill_without_forecast,omitzero"`
	VMHours         float64      `json:"vm_hours"`
	OnDemandHours   float64      `json:"on_demand_vm_hours"`
	ReservedHours   float64      `json:"reserved_vm_hours"`
	IdleHours       float64      `json:"reserved_idle_vm_hours"`
	AdmittedHours   float64      `json:"admitted_job_hours"` // jobs at once, times hours; those that arrive count until their deadline
	RefusedHours    float64      `json:"refused_job_hours"`

	Difference *SpanDifference `json:"difference,omitempty"` // beside the time as it is, where both have a plan for every hour

	InWholeJobs *WholeJobs `json:"in_whole_jobs,omitempty"` // where jobs that arrive are planned in parts
}

// ContractTotal adds up the use of a contract over the hours in which it was in force and there was a plan.
type ContractTotal struct {
	Name         string       `json:"name"`
	VMType       string       `json:"vm_type,omitempty"`
	VMs          int64        `json:"vms"`
	Hours        float64      `json:"hours"`
	UsedHours    float64      `json:"used_vm_hours"`
	IdleHours    float64      `json:"idle_vm_hours"`
	Utilisation  *float64     `json:"utilisation"` // used of all; null where there is none
	IdleShare    *float64     `json:"idle_share"`
	Reserved     money.Amount `json:"reserved"`
	ReservedIdle money.Amount `json:"reserved_idle"`
	Upfront      money.Amount `json:"upfront"` // the share of its term that lies in the horizon
}

// Plan plans every period of a valid horizon. Each is solved by itself, those that are alike once, by so many workers at a
// time; the answer does not depend on them. Periods are bound together by started jobs alone (see inOrder).
// A nil solve is the core method alone. Progress, if given, is told after every solve, one call at a time.
func Plan(ctx context.Context, h Horizon, solve plan.Planner, workers int, progress func(done, total int)) (Answer, error) {
	return NewCourse(h, solve).planned(ctx, Crew{Workers: workers}, progress)
}

// planWith plans every period by itself, for a purchase: nobody asks for plans in whole jobs.
func planWith(ctx context.Context, h Horizon, solve plan.Planner, crew Crew, progress func(done, total int)) (Answer, error) {
	c := NewCourse(h, solve)
	c.whole = nil
	if err := each(ctx, c.total(), crew, progress, c.one); err != nil {
		return Answer{}, err
	}
	return c.Answer(), nil
}

// planAsMonths is planWith, and then plans hours in their order where jobs are refused, as Plan does.
func planAsMonths(ctx context.Context, h Horizon, solve plan.Planner, crew Crew, progress func(done, total int)) (Answer, error) {
	c := NewCourse(h, solve)
	c.whole = nil
	return c.planned(ctx, crew, progress)
}

// planned is the answer of a crew that plans all of it.
func (c *Course) planned(ctx context.Context, crew Crew, progress func(done, total int)) (Answer, error) {
	err := each(ctx, c.total(), crew, progress, c.one)
	if err == nil {
		err = crew.piece(ctx, 0, func(ctx context.Context, _ int) error { return c.inOrder(ctx) })
	}
	if err != nil {
		return Answer{}, err
	}
	return c.Answer(), nil
}

// Crew carries out work that falls into many pieces.
type Crew struct {
	Workers int
	// Turn, if given, is asked before every piece, and waits until it may be done, under the context that it gives:
	// so that others get their turn in between.
	Turn func(ctx context.Context) (in context.Context, leave func(), err error)
}

// Course is a horizon at work: any number of workers take situations until none is left.
type Course struct {
	calendar  *calendar
	contracts []TermContract
	solve     plan.Planner
	settled   []settlement
	finished  []atomic.Bool
	next      atomic.Int64
	done      atomic.Int64
	totals    []ContractTotal

	alike     []*sameJobs     // by situation; nil where no other one has its jobs
	following atomic.Bool     // a worker plans the hours in their order
	ordered   bool            // they are planned so: settled has the situations of that, of which the last is not solved
	solved    int             // of them
	apart     decimal.Decimal // the cost so exceeds what the hours cost by themselves, at the least, by so much

	whole *wholePlans // nil where nothing is planned in parts of jobs, or nobody asks
}

// NewCourse makes a valid horizon ready. The solver is for problems like that of Horizon.Carried. A nil solve is the core
// method alone; plans in brief (see Series) are enough.
func NewCourse(h Horizon, solve plan.Planner) *Course {
	h = h.Carried()
	if solve == nil {
		h.Problem.Options.Engine = capacity.EngineExact
		solve = plan.NewSeries(h.Problem, nil).Solve
	}
	terms := make([]term, len(h.Contracts))
	for i, c := range h.Contracts {
		terms[i] = term{c.From, c.Until}
	}
	c := &Course{calendar: newCalendar(&h, terms), contracts: h.Contracts, solve: solve, totals: contractsOf(&h)}
	n := len(c.calendar.situations)
	c.settled, c.finished = make([]settlement, n), make([]atomic.Bool, n)
	c.alike = c.calendar.alike()
	c.whole = c.newWholePlans()
	return c
}

func (c *Course) total() int { return len(c.finished) }

// Total returns the number of different problems.
func (c *Course) Total() int64 { return int64(c.total()) }

// Done returns the number of solved problems.
func (c *Course) Done() int64 { return c.done.Load() }

// Work solves until nothing is left or the context ends; several may work at once.
func (c *Course) Work(ctx context.Context) error {
	for {
		if err := capacity.Pause(ctx); err != nil {
			return err
		}
		i := int(c.next.Add(1)) - 1
		if i >= len(c.finished) {
			if c.done.Load() == int64(len(c.finished)) && c.following.CompareAndSwap(false, true) {
				return c.inOrder(ctx)
			}
			return nil
		}
		if err := c.one(ctx, i); err != nil {
			return err
		}
	}
}

// one solves a situation. One whose demand no cluster could carry has no plan, like one whose promises do not fit.
func (c *Course) one(ctx context.Context, i int) error {
	of := &c.calendar.situations[i]
	p := c.calendar.problem(of, c.contracts)
	all, err := c.servesAll(ctx, i, p)
	if err != nil {
		return err
	}
	solve := c.solve
	if all != nil {
		solve = func(context.Context, capacity.Problem) (capacity.Plan, error) { return *all, nil }
	}
	s, err := c.plan(ctx, p, solve, c.calendar.filledOf(of), nil)
	if err == nil && c.whole != nil {
		err = c.planWhole(ctx, i, p)
	}
	if err == nil {
		c.settled[i] = s
		c.finished[i].Store(true)
		c.done.Add(1)
	}
	return err
}

// plan solves a problem in which some jobs of each class are gone, refused before. Its jobs stand for so many each.
func (c *Course) plan(ctx context.Context, p capacity.Problem, solve plan.Planner, filled, gone []float64) (settlement, error) {
	pl, err := solve(ctx, p)
	if findings := fault.Findings(err); findings != nil {
		pl, err = capacity.Plan{Status: capacity.InfeasibleStatus, Conflicts: findings}, nil
	}
	if h := c.calendar.horizon; err == nil && h.parts != nil && pl.Status == capacity.InfeasibleStatus {
		pl.Conflicts = h.inWholeJobs(ctx, p, pl.Conflicts)
	}
	if err != nil {
		return settlement{}, err
	}
	if gone != nil {
		pl.Classes = slices.Clone(pl.Classes)
		for k := range pl.Classes {
			pl.Classes[k].Refused += gone[k]
		}
	}
	if filled != nil {
		for k := range p.Classes {
			p.Classes[k].Penalty = c.calendar.horizon.asked[k].Penalty
		}
	}
	return settle(&p, &pl, c.totals, filled), nil
}

// Answer returns the results until the first hour that is not solved. All workers must have ended.
func (c *Course) Answer() Answer {
	stints := c.calendar.stints
	for i, p := range stints {
		if c.ordered && p.situation == c.solved || !c.ordered && !c.finished[p.situation].Load() {
			stints = stints[:i]
			break
		}
	}
	a := c.calendar.answer(c.settled, slices.Clone(c.totals), stints, c.whole)
	if c.ordered {
		a.Gap.Decimal = c.apart
		allowed := c.calendar.horizon.Problem.Options.Gap * a.Total.Cost.running().InexactFloat64()
		if a.Status == capacity.Optimal && a.Gap.Float() > allowed+money.Smallest {
			a.Status = capacity.Feasible // what was admitted first may have kept out what is cheaper
		}
		a.explain(c.calendar.horizon.Start(), c.calendar.horizon.End())
	}
	return a
}

// each does so much work, several at a time, and answers the first error there was.
func each(ctx context.Context, total int, crew Crew, progress func(done, total int), work func(ctx context.Context, i int) error) error {
	var next atomic.Int64
	var mutex sync.Mutex
	var first error
	var group sync.WaitGroup
	done := 0
	for range max(1, min(crew.Workers, total)) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= total {
					return
				}
				err := capacity.Pause(ctx)
				if err == nil {
					err = crew.piece(ctx, i, work)
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

func (c *Crew) piece(ctx context.Context, i int, work func(ctx context.Context, i int) error) error {
	if c.Turn == nil {
		return work(ctx, i)
	}
	in, leave, err := c.Turn(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return work(in, i)
}

// contractsOf is all contracts of a horizon as totals that are still empty.
func contractsOf(h *Horizon) []ContractTotal {
	all := []ContractTotal{}
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
func proRata(amount decimal.Decimal, part, whole int64) money.Amount {
	return money.Amount{Decimal: amount.Mul(decimal.NewFromInt(part)).DivRound(decimal.NewFromInt(whole), money.Places)}
}
