package timetable

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/schedule"
	"example.org/headroom/internal/core/words"
)

// Answer says when executions start and which VMs are rented for them. Every execution that arrives stands once, in
// Plan or in Refused.
type Answer struct {
	Status      capacity.Status    `json:"status"` // feasible, or optimal where the bound is reached
	Currency    string             `json:"currency"`
	Cost        Cost               `json:"cost"`
	AtOnce      AtOnce             `json:"at_once"`
	Saved       money.Amount       `json:"saved"` // by waiting: the difference of the two totals
	Budgets     []SpentBudget      `json:"budgets,omitempty"`
	Hours       []Hour             `json:"hours"`
	Schedule    []Start            `json:"schedule"`
	Refused     []RefusedArrivals  `json:"refused"`
	Earlier     []OnType           `json:"earlier,omitempty"`
	Classes     []Class            `json:"classes"`
	Proof       Proof              `json:"proof"`
	Explanation string             `json:"explanation"`
	Facts       words.Facts        `json:"facts"`
	Warnings    []capacity.Warning `json:"warnings"`
}

// Cost is the bill of the hours and, under its own name, the value of refused executions, which is on no bill.
type Cost struct {
	Bill         money.Amount `json:"bill"`
	ValueRefused money.Amount `json:"value_refused"`
	Total        money.Amount `json:"total"`
}

// AtOnce is the cheapest plan found in which nothing waits: every execution starts in the first hour that it can. Its hours have
// the fewest VMs that its starts need.
type AtOnce struct {
	Cost
	VMs      []int64           `json:"vms"` // of each hour
	Schedule []Start           `json:"schedule"`
	Refused  []RefusedArrivals `json:"refused"`
	Earlier  []OnType          `json:"earlier,omitempty"`
}

// Rented holds the VMs of one type in an hour, or of all types. Reserved counts those of contracts in use, and the rest is on demand
// or spot. Cost includes contracts that are always billed. Price is that of one VM in the proof, of the type with the lowest one.
type Rented struct {
	VMs      int64 `json:"vms"`
	OnDemand int64 `json:"on_demand"`
	Reserved int64 `json:"reserved"`
	Spot     int64 `json:"spot,omitempty"`
	// Started counts those that were not there in the hour before, where a start costs something. StartCost is a part of Cost.
	Started   int64         `json:"started,omitempty"`
	StartCost *money.Amount `json:"start_cost,omitempty"`
	Cost      money.Amount  `json:"cost"`
	Price     money.Amount  `json:"price"`
}

// Hour holds the VMs of an hour.
type Hour struct {
	Start time.Time `json:"start"`
	Rented
	ByType []TypeHour `json:"by_type,omitempty"` // where the supply has vm_types, in their order
}

// TypeHour holds the VMs of a type in an hour.
type TypeHour struct {
	Type string `json:"type"`
	Rented
}

// Rows of schedules stand in months and purchases with waiting as well.
type (
	Start           = horizon.Start
	RefusedArrivals = horizon.RefusedArrivals
	OnType          = horizon.OnType
)

// Class adds a class up.
type Class struct {
	Name            string  `json:"name"`
	Waits           bool    `json:"waits"`
	Arrived         int64   `json:"arrived"`
	Refused         int64   `json:"refused"`
	Later           int64   `json:"later"`        // executions that start later than they could
	MeanWaitSeconds float64 `json:"mean_later_s"` // by which those that start are later, on average
}

// Proof says how far the schedule may be from the cheapest. No schedule's total is below Bound, which follows from the
// prices of the hours.
type Proof struct {
	Bound   money.Amount `json:"bound"`
	Gap     float64      `json:"gap"`     // what the total may be above the cheapest, relative to it
	Engine  string       `json:"engine"`  // that proposed prices, beside our own method
	Checked bool         `json:"checked"` // by code that shares nothing with the planner
}

// movesAtOnce is the effort of a search in which executions take a run or are refused, and do not wait.
const movesAtOnce = 500_000

// Plan plans a horizon whose executions may wait. The engine may be nil, and the context limits the time.
func Plan(ctx context.Context, q Question, engine lp.Solver) (Answer, error) {
	return PlanWithin(Times{ctx, ctx, ctx}, q, engine)
}

// Times limit the plan in which nothing waits, the choice of a type of VMs for each class, and all.
type Times struct{ AtOnce, Types, All context.Context }

// PlanWithin is Plan with shorter times for what comes first, so that some is left for the rest.
func PlanWithin(times Times, q Question, engine lp.Solver) (Answer, error) {
	if q.Problem.Options.Engine == capacity.EngineExact {
		engine = nil
	}
	g, asked := newGrid(&q), q
	free, p := g, g.problem()
	a := Answer{Status: capacity.Feasible, Currency: q.Problem.Currency, Warnings: []capacity.Warning{}}
	// The plan in which nothing waits comes first, so that too little time never makes it look dear.
	once := schedule.Solve(times.AtOnce, p.AtOnce(), engine, schedule.Options{Moves: movesAtOnce})
	g.recount(&once)
	pl, settled := once, false
	a.AtOnce.Cost, a.AtOnce.VMs, a.AtOnce.Earlier = g.cost(&once), g.byHour(once.VMs), g.earlier(&once)
	a.AtOnce.Schedule, a.AtOnce.Refused = g.rows(&once)
	if slices.ContainsFunc(g.classes, func(c gridClass) bool { return c.waits }) {
		one := q.OneType && len(g.types) > 1
		settled = g.settle(&p)
		if one {
			g, pl = g.planOnOneType(times, &p, engine)
		} else {
			pl = schedule.Solve(times.All, p, engine, schedule.Options{})
		}
		if g.recount(&pl); once.Cost() < pl.Cost() && !one && !settled {
			pl.Starts, pl.VMs, pl.Rented, pl.Refused = once.Starts, once.VMs, once.Rented, once.Refused
		}
	}
	if refused := g.refusedOfAll(&pl); len(refused) > 0 {
		return a, &fault.InfeasibleError{Conflicts: refused}
	}
	a.Cost = g.cost(&pl)
	_, a.Refused = g.rows(&pl)
	a.Saved.Decimal = a.AtOnce.Total.Sub(a.Cost.Total.Decimal)
	a.Proof.Engine = pl.Engine
	if settled || q.PlaceAll && len(a.Refused) > 0 { // then their penalties count in the bound
		q.PlaceAll = q.PlaceAll && len(a.Refused) == 0
		open := free.problem()
		pl.Bound = open.BoundAt(pl.Prices, pl.Worth)
	}
	bound := decimal.NewFromFloat(pl.Bound - g.rounding).RoundFloor(money.Places).Add(g.fixed())
	a.Proof.Bound.Decimal = decimal.Min(bound, a.Cost.Total.Decimal)
	if a.Cost.Total.IsPositive() {
		a.Proof.Gap = a.Cost.Total.Sub(a.Proof.Bound.Decimal).InexactFloat64() / a.Cost.Total.Float()
	}
	if a.Proof.Gap <= q.Problem.Options.Gap {
		a.Status = capacity.Optimal
	}
	g.tell(&pl, &a)
	a.Budgets = g.spent(&pl)
	spot := int64(0)
	for i := range a.Hours {
		spot = max(spot, a.Hours[i].Spot)
	}
	if spot > 0 {
		a.Warnings = append(a.Warnings, capacity.Warning{Code: words.SpotInterruptions, Detail: fmt.Sprintf(
			"The schedule rents up to %s. They may be taken away at any time, and no interruption is modelled.", words.Counted(words.Number(float64(spot)), "spot VM"))})
	}
	a.explain(&asked)
	return a, nil
}

// refusedOfAll returns a conflict for each class that promises all its jobs, and for some of whose executions there is no place.
func (g *grid) refusedOfAll(p *schedule.Plan) (found []fault.Finding) {
	if slices.ContainsFunc(p.Starts, func(s schedule.Start) bool { return s.Class >= len(g.classes) && s.Run == schedule.Refused }) {
		held := "Executions that have started hold more VMs than there are in some hour. "
		if len(g.question.Budgets) > 0 {
			held = "Executions that have started hold more VMs than there are in some hour, or cost more than a budget. "
		}
		found = append(found, fault.Finding{Pointer: "/before", Code: words.CodeShortage,
			Detail: held + g.more() + ", or wait until they have ended."})
	}
	for k := range g.classes {
		jobs, first := int64(0), -1
		for _, s := range p.Starts {
			if g.classes[k].all && s.Class == k && s.Run == schedule.Refused {
				if jobs += s.Jobs; first < 0 {
					first = s.Arrived
				}
			}
		}
		if jobs > 0 {
			name, member := fault.Clip(g.horizon.Problem.Classes[g.classes[k].of].Name), "all"
			of := fmt.Sprintf("All executions of class %q", name)
			if g.classes[k].promised {
				of, member = fmt.Sprintf("Executions of class %q that find less than jobs.min of them running", name), "min"
			}
			found = append(found, fault.Finding{Pointer: fmt.Sprintf("/problem/classes/%d/jobs/%s", g.classes[k].of, member), Code: words.CodeShortage,
				Detail: fmt.Sprintf("%s are promised, and no place was found for %s of them, the first of which arrives in the hour from %s. %s, give them longer, or promise fewer.",
					of, words.Number(float64(jobs)), words.Moment(g.at(first-g.classes[k].waited)), g.more()) + g.onOne()})
		}
	}
	return found
}

// more says what there must be more of for executions that find no place.
func (g *grid) more() string {
	if len(g.question.Budgets) > 0 || g.horizon.Problem.Budget != nil {
		return "Raise the quota or the budget"
	}
	return "Raise the quota"
}

// onOne says that a class has one type of VMs at a time, where that is so.
func (g *grid) onOne() string {
	if !g.question.OneType || len(g.types) < 2 {
		return ""
	}
	return " Here a class runs on one VM type at a time; on several at once there may be room."
}

// fixed returns what contracts cost that are always billed.
func (g *grid) fixed() (sum decimal.Decimal) {
	for _, paid := range g.paid {
		sum = sum.Add(paid)
	}
	for _, sources := range g.sources {
		for _, s := range sources {
			if s.always {
				sum = sum.Add(s.price.Mul(decimal.NewFromInt(s.vms)))
			}
		}
	}
	return sum
}

// rent prices VMs of a type in an hour.
func (g *grid) rent(row int, vms int64) (r Rented) {
	r.VMs, r.Spot = vms, g.spot(row, vms)
	if vms -= r.Spot; r.Spot > 0 {
		r.Cost.Decimal = g.spots[row].price.Mul(decimal.NewFromInt(r.Spot))
	}
	r.Cost.Decimal = r.Cost.Add(g.paid[row])
	for _, s := range g.sources[row] {
		n := min(vms, s.vms)
		vms -= n
		if s.onDemand {
			r.OnDemand += n
		} else {
			r.Reserved += n
		}
		if s.always {
			n = s.vms
		}
		r.Cost.Decimal = r.Cost.Add(s.price.Mul(decimal.NewFromInt(n)))
	}
	return r
}

// hour prices the VMs that a plan has in an hour.
func (g *grid) hour(hour int, p *schedule.Plan) (h Hour) {
	h.Start = g.at(hour)
	for v := range g.types {
		row := v*g.hours + hour
		r := g.rentAndStart(row, p.VMs)
		r.Price = money.Round(p.Prices[row])
		if g.named() {
			h.ByType = append(h.ByType, TypeHour{g.types[v].Name, r})
		}
		h.VMs, h.OnDemand, h.Reserved, h.Spot, h.Cost.Decimal = h.VMs+r.VMs, h.OnDemand+r.OnDemand, h.Reserved+r.Reserved, h.Spot+r.Spot, h.Cost.Add(r.Cost.Decimal)
		if r.StartCost != nil {
			sum := money.Amount{}
			if h.StartCost != nil {
				sum = *h.StartCost
			}
			h.Started, h.StartCost = h.Started+r.Started, &money.Amount{Decimal: sum.Add(r.StartCost.Decimal)}
		}
		if v == 0 || r.Price.LessThan(h.Price.Decimal) {
			h.Price = r.Price
		}
	}
	return h
}

// named reports whether the types of VMs have names.
func (g *grid) named() bool { return len(g.horizon.Problem.Supply.VMTypes) > 0 }

// byHour adds up the VMs of all types.
func (g *grid) byHour(vms []int64) []int64 {
	all := make([]int64, g.hours)
	for row, n := range vms {
		all[row%g.hours] += n
	}
	return all
}

// earlier names the types that a plan chooses for executions that arrived before.
func (g *grid) earlier(p *schedule.Plan) (all []OnType) {
	for _, s := range p.Starts {
		if s.Class < len(g.classes) || s.Run == schedule.Refused {
			continue
		}
		if x := g.classOf(s); x.of >= 0 {
			all = append(all, OnType{Class: g.horizon.Problem.Classes[x.of].Name, Type: g.types[x.runs[s.Run].on].Name})
		}
	}
	return all
}

// cost adds a plan up.
func (g *grid) cost(p *schedule.Plan) (c Cost) {
	c.Bill.Decimal = g.rented(p.VMs)
	for _, s := range g.told(p) {
		if s.Run == schedule.Refused {
			c.ValueRefused.Decimal = c.ValueRefused.Add(g.classes[s.Class].penalty.Mul(decimal.NewFromInt(s.Jobs)))
		}
	}
	c.Bill.Decimal, c.ValueRefused.Decimal = c.Bill.Round(money.Places), c.ValueRefused.Round(money.Places)
	c.Total.Decimal = c.Bill.Add(c.ValueRefused.Decimal)
	return c
}

// tell fills in the starts, the hours and the classes.
func (g *grid) tell(p *schedule.Plan, a *Answer) {
	a.Hours = []Hour{}
	a.Schedule, a.Refused = g.rows(p)
	a.Earlier = g.earlier(p)
	for hour := range g.hours {
		a.Hours = append(a.Hours, g.hour(hour, p))
	}
	later := make([]int64, len(g.horizon.Problem.Classes)) // hours
	for k := range g.horizon.Problem.Classes {
		a.Classes = append(a.Classes, Class{Name: g.horizon.Problem.Classes[k].Name, Waits: g.classes[k].waits})
	}
	for k := range g.classes {
		for _, n := range g.classes[k].arrivals {
			a.Classes[g.classes[k].of].Arrived += n
		}
	}
	for _, s := range g.told(p) {
		c := &g.classes[s.Class]
		x := &a.Classes[c.of]
		if s.Run == schedule.Refused {
			x.Refused += s.Jobs
		} else if wait := s.At - s.Arrived + c.waited - 1; c.waits && wait > 0 {
			x.Later += s.Jobs
			later[c.of] += s.Jobs * int64(wait)
		}
	}
	for k := range a.Classes {
		if x := &a.Classes[k]; x.Arrived > x.Refused {
			x.MeanWaitSeconds = math.Round(3600 * float64(later[k]) / float64(x.Arrived-x.Refused))
		}
	}
}

// told returns the starts and refusals of executions that a question tells of, by class, arrival, run and start.
func (g *grid) told(p *schedule.Plan) []schedule.Start {
	all := slices.DeleteFunc(slices.Clone(p.Starts), func(s schedule.Start) bool { return s.Class >= len(g.classes) })
	slices.SortStableFunc(all, func(a, b schedule.Start) int {
		x, y := &g.classes[a.Class], &g.classes[b.Class]
		return cmp.Or(x.of-y.of, a.Arrived-x.waited-b.Arrived+y.waited, g.runHours(a)-g.runHours(b), a.At-b.At, g.typeOf(a)-g.typeOf(b))
	})
	one := all[:0]
	for _, s := range all { // promised executions stand with others that start with them
		if n := len(one) - 1; n >= 0 && g.classes[s.Class].promised && g.classes[one[n].Class].of == g.classes[s.Class].of && one[n].Arrived == s.Arrived && one[n].Run == s.Run {
			one[n].Jobs += s.Jobs
			continue
		}
		one = append(one, s)
	}
	return one
}

func (g *grid) runHours(s schedule.Start) int {
	if s.Run == schedule.Refused {
		return 0
	}
	return len(g.classes[s.Class].runs[s.Run].load)
}

func (g *grid) typeOf(s schedule.Start) int {
	if s.Run == schedule.Refused {
		return 0
	}
	return g.classes[s.Class].runs[s.Run].on
}

// rows lists the starts and refusals of a plan.
func (g *grid) rows(p *schedule.Plan) (starts []Start, refused []RefusedArrivals) {
	starts, refused = []Start{}, []RefusedArrivals{}
	for _, s := range g.told(p) {
		c := &g.classes[s.Class]
		name, arrived := g.horizon.Problem.Classes[c.of].Name, g.at(s.Arrived-c.waited)
		if s.Run == schedule.Refused {
			refused = append(refused, RefusedArrivals{Class: name, Arrived: arrived, Jobs: s.Jobs})
			continue
		}
		r := &c.runs[s.Run]
		starts = append(starts, Start{Class: name, Arrived: arrived, Start: g.at(s.At), RunSeconds: r.Seconds,
			Jobs: s.Jobs, Type: g.types[r.on].Name, MapSlots: r.Map, ReduceSlots: r.Reduce})
	}
	return starts, refused
}

// Retold is the answer with its sentences and facts made anew from its figures.
func (a Answer) Retold(q *Question) Answer {
	a.explain(q)
	return a
}

// explain says in a paragraph what the schedule comes to, every sentence as a fact.
func (a *Answer) explain(q *Question) {
	start, end := q.Start(), q.End()
	a.Facts = words.Facts{}
	say := a.Facts.Say
	var arrived, refused, later float64
	for i := range a.Classes {
		x := &a.Classes[i]
		arrived, refused, later = arrived+float64(x.Arrived), refused+float64(x.Refused), later+float64(x.Later)
	}
	say("bill", "", fmt.Sprintf("From %s until %s the VM bill is %s %s, for %s of %s.", words.Moment(start), words.Moment(end), words.CentsOf(a.Cost.Bill), a.Currency,
		words.Number(arrived-refused), words.Counted(words.Number(arrived), "execution")),
		words.Money("bill", a.Cost.Bill, a.Currency), words.Count("executions", arrived, "executions"))
	a.explainStarts(q)
	a.explainBudgets()
	if q.PlaceAll {
		say("place_all", "", "That is where all run that find room; plans of the hours refuse those that are not worth their VMs.")
	}
	if refused > 0 {
		say("value_refused", "", fmt.Sprintf("%s %s refused, on no bill and valued at %s.", words.Counted(words.Number(refused), "execution"), words.IsAre(refused), words.CentsOf(a.Cost.ValueRefused)),
			words.Money("value_refused", a.Cost.ValueRefused, a.Currency), words.Count("refused", refused, "executions"))
	}
	if later > 0 {
		wait := "wait"
		if later == 1 {
			wait = "waits"
		}
		saved := "as high as in"
		switch {
		case a.Saved.IsPositive():
			saved = words.CentsOf(a.Saved) + " lower than in"
		case a.Saved.IsNegative():
			saved = words.CentsOf(a.Saved.Opposite()) + " higher than in"
		}
		say("waiting", "", fmt.Sprintf("%s %s for a later hour, and bill and value refused together are %s the cheapest plan found without waiting.", words.Counted(words.Number(later), "execution"), wait, saved),
			words.Money("saved", a.Saved, a.Currency), words.Count("later", later, "executions"))
	}
	if gap := (money.Amount{Decimal: a.Cost.Total.Sub(a.Proof.Bound.Decimal)}); a.Status != capacity.Optimal {
		say("gap", "", fmt.Sprintf("Bill and value refused together are at most %s more than necessary.", words.CentsUp(gap)), words.Money("gap", gap, a.Currency))
	}
	a.Explanation = a.Facts.Text()
}
