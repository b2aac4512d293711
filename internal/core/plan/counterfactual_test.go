package plan

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// anew checks what a plan says would change it by planning the changed problems from nothing.
type anew struct {
	t     *testing.T
	p     capacity.Problem
	pl    capacity.Plan
	count map[string]int
}

// solve plans a changed problem to the end; false where that is not proved.
func (a *anew) solve(change func(p *capacity.Problem)) (capacity.Plan, bool) {
	p := a.p
	p.Classes = slices.Clone(p.Classes)
	change(&p)
	p.Options.Gap = 0
	pl, err := NewSeries(p, nil).Solve(a.t.Context(), p)
	if errors.Is(err, fault.Busy) {
		return pl, false
	} else if err != nil {
		a.t.Fatalf("%v\n%s", err, plantest.Text(p))
	}
	return pl, pl.Status == capacity.InfeasibleStatus || pl.Proof.Gap == 0
}

func (a *anew) wrong(format string, args ...any) {
	a.t.Helper()
	a.t.Errorf(format+"\n%s", append(args, plantest.Text(a.p))...)
}

// total is what this plan's VMs and jobs cost in a changed problem, and whether they are a plan of it.
func (a *anew) total(change func(p *capacity.Problem)) (decimal.Decimal, bool) {
	p := a.p
	p.Classes = slices.Clone(p.Classes)
	change(&p)
	if isFleet(&p) {
		return a.fleetTotal(&p)
	}
	admitted := make([]float64, len(p.Classes))
	served, _ := a.solve(func(p *capacity.Problem) {
		change(p)
		p.Budget = nil
		for i := range p.Classes {
			h := a.pl.Classes[i].Admitted
			p.Classes[i].Jobs.Min, p.Classes[i].Jobs.Max = h, h
		}
	})
	if served.Status == capacity.InfeasibleStatus || served.VMs.Total > a.pl.VMs.Total {
		return decimal.Zero, false
	}
	free := p // of the budget, which cuts the supply
	free.Budget = nil
	m, err := newModel(&free)
	if err != nil {
		a.t.Fatal(err)
	}
	for i := range m.classes {
		admitted[i] = a.pl.Classes[m.classes[i].index].Admitted
	}
	cost, _ := m.money(m.vms(a.pl.VMs.Total), admitted)
	return cost.Total.Decimal, pays(&p, cost)
}

func pays(p *capacity.Problem, cost capacity.Cost) bool {
	return p.Budget == nil || (p.Budget.Total == nil || cost.Total.LessThanOrEqual(p.Budget.Total.Decimal)) &&
		(p.Budget.VMCost == nil || cost.Total.Sub(cost.Penalties.Decimal).LessThanOrEqual(p.Budget.VMCost.Decimal))
}

// fleetTotal plans each type alone with this plan's jobs on it: it must do with this plan's VMs.
func (a *anew) fleetTotal(p *capacity.Problem) (decimal.Decimal, bool) {
	f, err := newFleet(p)
	if err != nil {
		a.t.Fatal(err)
	}
	penalties, vms := decimal.Zero, make([]float64, len(f.types))
	for i, c := range a.pl.Classes {
		penalties = penalties.Add(p.Classes[i].Penalty.Mul(decimal.NewFromFloat(p.Classes[i].Jobs.Max - c.Admitted)))
	}
	for v := range f.types {
		own := *f.types[v].Problem
		own.Options.Gap, own.Budget, own.Supply.Contracts, own.Supply.Spot = 0, nil, nil, nil
		own.Supply.OnDemand = capacity.OnDemand{Price: money.Round(1)}
		own.Classes = slices.Clone(own.Classes)
		vms[v] = a.pl.VMs.Total
		if f.named() {
			vms[v] = a.pl.VMs.Types[v].Total
		}
		kept := own.Classes[:0]
		for i := range own.Classes {
			jobs := a.pl.Classes[i].Admitted
			if f.named() {
				jobs = 0
				for _, on := range a.pl.Classes[i].Types {
					if on.VMType == f.types[v].name {
						jobs = on.Admitted
					}
				}
			}
			if jobs > 0 {
				c := own.Classes[i]
				c.Jobs = capacity.JobRange{Min: jobs, Max: jobs}
				kept = append(kept, c)
			}
		}
		if own.Classes = kept; len(kept) == 0 {
			continue
		}
		pl, err := NewSeries(own, nil).Solve(a.t.Context(), own)
		if err != nil {
			a.t.Fatal(err)
		}
		if pl.Status == capacity.InfeasibleStatus || pl.VMs.Total > vms[v] {
			return decimal.Zero, false
		}
	}
	hourly := hourlyCost{}
	for v := range f.types {
		t := &f.types[v]
		if vms[v] > float64(t.rental.MostVMs) {
			return decimal.Zero, false
		}
		hourly = hourly.add(t.hourly(t.rented(vms[v], true)))
	}
	cost, _ := f.cost(hourly, penalties, decimal.Zero)
	return cost.Total.Decimal, pays(p, cost)
}

// stays checks one end of a range: just inside, the plan is as good as the best; just beyond, it is not.
func (a *anew) stays(name string, class int, end, other, now float64, turn func(p *capacity.Problem, to float64), most float64) {
	for _, side := range [2]float64{-1, 1} { // inside, beyond
		off := 2e-6*math.Abs(end) + 1e-7
		if end < other {
			off = -off
		}
		to := end + side*off
		if to < 0 || to > most || side < 0 && (to-other)*(end-other) < 0 || end == other {
			continue
		}
		change := func(p *capacity.Problem) { turn(p, to) }
		best, proved := a.solve(change)
		if !proved {
			a.count["unproved"]++
			continue
		}
		total, isPlan := a.total(change)
		is := isPlan && best.Status != capacity.InfeasibleStatus && total.LessThanOrEqual(best.Cost.Total.Add(decimal.New(1, -8)))
		a.count[name]++
		if is != (side < 0) {
			a.wrong("class %d: %s: the plan stays the best until %v (now %v); at %v that is %t: it costs %v (a plan: %t), the best %v %v", class, name, end, now, to, is, total, isPlan, best.Status, best.Cost.Total)
		}
	}
}

func (a *anew) check() {
	for i := range a.p.Classes {
		c, k := &a.pl.Classes[i], &a.p.Classes[i]
		if more := c.OneMore; more != nil && (more.Exact || more.Low != nil) {
			best, proved := a.solve(func(p *capacity.Problem) {
				p.Classes[i].Jobs = capacity.JobRange{Min: c.Admitted + 1, Max: max(k.Jobs.Max, c.Admitted+1)}
			})
			if c.Refused > 0 { // the one job itself is refused no more
				best.Cost.Total = money.Amount{Decimal: best.Cost.Total.Add(k.Penalty.Decimal)}
			}
			a.change("one more", i, more, best, proved, 1)
			a.exactly("one more", i, more, c.Admitted+1, 1)
		} else {
			a.count["one more not exact"]++
		}
		if less := c.OneLess; less != nil && (less.Exact || less.Low != nil) {
			best, proved := a.solve(func(p *capacity.Problem) {
				p.Classes[i].Jobs = capacity.JobRange{Min: min(k.Jobs.Min, c.Admitted-1), Max: c.Admitted - 1}
			})
			best.Cost.Total = money.Amount{Decimal: best.Cost.Total.Add(k.Penalty.Mul(decimal.NewFromFloat(c.Refused)))}
			a.change("one less", i, less, best, proved, -1)
			a.exactly("one less", i, less, c.Admitted-1, -1)
		}
		if c.Stays == nil {
			continue
		}
		if r := c.Stays.Penalty; r != nil {
			turn := func(p *capacity.Problem, to float64) { p.Classes[i].Penalty = money.Round(to) }
			a.ends("penalty", i, ofMoney(r.Low), ofMoney(r.High), k.Penalty.Float(), turn, 0, money.Max)
		}
		if r := c.Stays.DeadlineSeconds; r != nil {
			turn := func(p *capacity.Problem, to float64) { p.Classes[i].DeadlineSeconds = to }
			a.ends("deadline", i, r.Low, r.High, k.DeadlineSeconds, turn, 1e-3, capacity.MaxSeconds)
		}
	}
	s := a.pl.Stays
	if s == nil {
		return
	}
	a.supply(s.OnDemandPrice, s.Quota, a.pl.VMs.OnDemand, func(p *capacity.Problem) *capacity.OnDemand { return &p.Supply.OnDemand })
	for v, of := range s.Types {
		a.supply(of.OnDemandPrice, of.Quota, a.pl.VMs.Types[v].OnDemand, func(p *capacity.Problem) *capacity.OnDemand {
			p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
			return &p.Supply.VMTypes[v].OnDemand
		})
	}
}

// supply checks the ranges of a price on demand and of a quota.
func (a *anew) supply(price *capacity.MoneyRange, quota *capacity.Range, used float64, of func(p *capacity.Problem) *capacity.OnDemand) {
	if price != nil {
		turn := func(p *capacity.Problem, to float64) { of(p).Price = money.Round(to) }
		a.ends("price", -1, ofMoney(price.Low), ofMoney(price.High), of(&a.p).Price.Float(), turn, 0, money.Max)
	} else {
		a.count["price not known"]++
	}
	if quota == nil {
		a.count["quota not known"]++
		return
	}
	if low := quota.Low; (low == nil) != (used == 0) || low != nil && *low != used {
		a.wrong("the plan rents %v VMs on demand, and stays the best from a quota of %v on", used, low)
	}
	for beyond := range 2 {
		var to *int64
		if quota.High != nil {
			q := int64(*quota.High) + int64(beyond)
			to = &q
		} else if beyond == 1 {
			return
		}
		best, proved := a.solve(func(p *capacity.Problem) { of(p).Quota = to })
		if a.count["quota"]++; !proved {
			a.count["unproved"]++
		} else if cheaper := best.Cost.Total.LessThan(a.pl.Cost.Total.Sub(decimal.New(1, -8))); cheaper != (beyond == 1) {
			a.wrong("%d beyond a quota of %+v: a cheaper plan: %t (%v, not %v)", beyond, quota, cheaper, best.Cost.Total, a.pl.Cost.Total)
		}
	}
}

// ends checks a range; where it has no end, the plan is the best at the end of what is legal.
func (a *anew) ends(name string, class int, low, high *float64, now float64, turn func(p *capacity.Problem, to float64), least, most float64) {
	for side, end := range [2]*float64{low, high} {
		if end != nil {
			other := [2]float64{most, 0}[side]
			if o := [2]*float64{high, low}[side]; o != nil {
				other = *o
			}
			a.stays(name, class, *end, other, now, turn, most)
			continue
		}
		to := [2]float64{least, most}[side]
		change := func(p *capacity.Problem) { turn(p, to) }
		best, proved := a.solve(change)
		total, isPlan := a.total(change)
		a.count[name+" open"]++
		if proved && !(isPlan && total.LessThanOrEqual(best.Cost.Total.Add(decimal.New(1, -8)))) {
			a.wrong("class %d: %s: the plan is said to stay the best up to %v; there it costs %v (a plan: %t) and the best %v %v", class, name, to, total, isPlan, best.Status, best.Cost.Total)
		}
	}
}

func (a *anew) change(name string, i int, said *capacity.JobChange, best capacity.Plan, proved bool, sign int64) {
	if !proved {
		a.count["unproved"]++
		return
	}
	if !said.Exact {
		is := best.Cost.Total.Sub(a.pl.Cost.Total.Decimal).Mul(decimal.NewFromInt(sign))
		if best.Status == capacity.InfeasibleStatus && said.High == nil {
			return
		}
		if a.count[name+" bounded"]++; best.Status == capacity.InfeasibleStatus || is.LessThan(said.Low.Decimal) || said.High != nil && is.GreaterThan(said.High.Decimal) {
			a.wrong("class %d: %s costs %v (%s), is said to cost from %v to %v", i, name, is, best.Status, said.Low, said.High)
		}
		return
	}
	a.count[name]++
	if fits := best.Status != capacity.InfeasibleStatus; fits != said.Fits {
		a.wrong("class %d: %s fits: %t, is said to: %t", i, name, fits, said.Fits)
		return
	} else if !fits {
		return
	}
	is := best.Cost.Total.Sub(a.pl.Cost.Total.Decimal).Mul(decimal.NewFromInt(sign))
	if is.Sub(said.Amount.Decimal).Abs().GreaterThan(decimal.New(1, -8)) {
		a.wrong("class %d: %s costs %v, is said to cost %v", i, name, is, said.Amount)
	}
	if !said.Bill.Add(said.ValueRefused.Decimal).Round(money.Places).Equal(said.Amount.Decimal) {
		a.wrong("class %d: %s: %v and %v are not %v", i, name, said.Bill, said.ValueRefused, said.Amount)
	}
}

// exactly plans with just so many jobs of a class: a plan with another number than one more or less costs what is said, and
// has as many jobs of the class as is said.
func (a *anew) exactly(name string, i int, said *capacity.JobChange, one float64, sign float64) {
	if !said.Exact || !said.Fits {
		return
	}
	jobs := one
	if said.Jobs != nil {
		a.count[name+" with others of its class"]++
		jobs += sign * (*said.Jobs - 1)
	}
	best, proved := a.solve(func(p *capacity.Problem) {
		p.Classes[i].Jobs = capacity.JobRange{Min: jobs, Max: jobs}
		if p.Budget != nil { // the total leaves room for the jobs that are refused
			p.Budget = &capacity.Budget{VMCost: p.Budget.VMCost}
		}
	})
	if !proved {
		return
	}
	penalty := a.p.Classes[i].Penalty
	is := best.Cost.Total.Add(penalty.Mul(decimal.NewFromFloat(a.pl.Classes[i].Refused))).Sub(a.pl.Cost.Total.Decimal)
	is = is.Sub(penalty.Mul(decimal.NewFromFloat(jobs - one))).Mul(decimal.NewFromFloat(sign))
	if best.Status == capacity.InfeasibleStatus || is.Sub(said.Amount.Decimal).Abs().GreaterThan(decimal.New(1, -8)) {
		a.wrong("class %d: %s costs %v with %v jobs (%s), is said to cost %v", i, name, is, jobs, best.Status, said.Amount)
	}
}

// TestChangesAgreeWithPlansMadeAnew draws problems and plans each change that their plans speak of.
func TestChangesAgreeWithPlansMadeAnew(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 11))
	count := map[string]int{}
	for trial := range plantest.Trials(40, 10_000) {
		integrality := []capacity.Integrality{capacity.Integer, capacity.Executable}[trial%2]
		p := plantest.DrawProblem(t, r, 1+r.IntN(6), integrality)
		if r.IntN(4) == 0 {
			p.Options.Sharing = capacity.Dedicated
		}
		if r.IntN(3) == 0 {
			quota := int64(r.IntN(60))
			p.Supply.OnDemand.Quota = &quota
		}
		pl, err := Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(4) == 0 && pl.Status != capacity.InfeasibleStatus {
			limit := money.Round(pl.Cost.Total.Float() * (0.7 + 0.6*r.Float64()))
			if p.Budget = (&capacity.Budget{VMCost: &limit}); r.IntN(2) == 0 {
				p.Budget = &capacity.Budget{Total: &limit}
			}
			if pl, err = Solve(t.Context(), p, nil); err != nil {
				t.Fatal(err)
			}
		}
		if pl.Status == capacity.InfeasibleStatus {
			continue
		}
		a := anew{t, p, pl, count}
		if a.check(); t.Failed() {
			return
		}
		if trial%4 == 0 {
			r := proof.Verify(p, pl, proof.Options{})
			if count["verified "+string(r.Outcome)]++; r.Outcome == proof.Failed {
				a.wrong("%v", r)
				return
			}
		}
	}
	t.Log(count)
}

// fleetsOfChanges is the families of fleets whose changes are planned anew.
var fleetsOfChanges = []string{"quota", "contract", "spot", "types", "mixed"}

// TestChangesOfFleetsAgreeWithPlansMadeAnew does the same for problems of several types, of spot VMs and with budgets.
func TestChangesOfFleetsAgreeWithPlansMadeAnew(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 12))
	count := map[string]int{}
	for trial := range plantest.Trials(75, 5000) {
		kind := plantest.FleetKinds[fleetsOfChanges[trial%len(fleetsOfChanges)]]
		p := plantest.DrawFleet(r, kind, 1+r.IntN(4), 1+r.IntN(5))
		pl, err := Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if pl.Status == capacity.InfeasibleStatus {
			continue
		}
		a := anew{t, p, pl, count}
		if a.check(); t.Failed() {
			return
		}
		if trial%4 == 0 {
			r := proof.Verify(p, pl, proof.Options{})
			if count["verified "+string(r.Outcome)]++; r.Outcome == proof.Failed {
				a.wrong("%v", r)
				return
			}
		}
	}
	t.Log(count)
}

// countdown is a context whose time is up after it has been asked so many times.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestBoundsOfChangesHold plans anew what plans bound whose time was up before all was worked out.
func TestBoundsOfChangesHold(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 13))
	count := map[string]int{}
	for trial := range plantest.Trials(70, 4000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(6), []capacity.Integrality{capacity.Integer, capacity.Executable}[trial%2])
		if trial%3 > 0 {
			p = plantest.DrawFleet(r, plantest.FleetKinds[fleetsOfChanges[trial%len(fleetsOfChanges)]], 1+r.IntN(4), 1+r.IntN(5))
		}
		p.Options.Engine = capacity.EngineExact
		asks := r.IntN(60)
		left := asks
		pl, err := Solve(countdown{t.Context(), &left}, p, nil)
		if errors.Is(err, fault.Busy) || pl.Status == capacity.InfeasibleStatus {
			continue
		} else if err != nil {
			t.Fatalf("the time is up after %d asks: %v\n%s", asks, err, plantest.Text(p))
		}
		if pl.Proof.Gap > 0 {
			count["with a gap"]++
		}
		a := anew{t, p, pl, count}
		if a.check(); t.Failed() {
			return
		}
		if r := proof.Verify(p, pl, proof.Options{}); r.Outcome == proof.Failed {
			a.wrong("%v", r)
			return
		}
	}
	if t.Log(count); count["one more bounded"] == 0 || count["one less bounded"] == 0 {
		t.Error("no change was bounded")
	}
}
