package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/test/plantest"
)

// The paper starts from P0, a nonlinear program over jobs, slots and VMs, and turns it into P1 and then
// into the linear P2. Here P0 and P1 are solved as they stand, by one-dimensional searches inside each
// other that know nothing of gamma.

// lowest is the smallest value of a function that falls and then rises, by golden sections.
func lowest(from, to float64, f func(float64) float64) (at, value float64) {
	const golden = 0.6180339887498949
	a, b := to-golden*(to-from), from+golden*(to-from)
	fa, fb := f(a), f(b)
	for range 90 {
		if fa <= fb {
			to, b, fb = b, a, fa
			a = to - golden*(to-from)
			fa = f(a)
		} else {
			from, a, fa = a, b, fb
			b = from + golden*(to-from)
			fb = f(b)
		}
	}
	at, value = a, fa
	for _, end := range [2]float64{from, to} {
		if v := f(end); v < value {
			at, value = end, v
		}
	}
	return at, value
}

// task is one class of P0: A, B, C and D of the paper, c_M and c_R, and the least slots per job.
type task struct {
	mapWork, reduceWork, slack float64
	mapSlots, redSlots         float64
	leastMap, leastRed         float64
	penalty, low, high         float64
}

// newTask reads a class given by a demand straight from the problem.
func newTask(p *capacity.Problem, i int) task {
	c := &p.Classes[i]
	x := task{
		mapWork: c.Demand.MapWorkSeconds, reduceWork: c.Demand.ReduceWorkSeconds, slack: c.DeadlineSeconds - c.Demand.FixedSeconds,
		mapSlots: float64(c.SlotsPerVM.Map), redSlots: float64(c.SlotsPerVM.Reduce),
		penalty: c.Penalty.Float(), low: c.Jobs.Min, high: c.Jobs.Max,
	}
	if p.Options.OneSlotPerJob && x.mapWork > 0 {
		x.leastMap = 1
	}
	if p.Options.OneSlotPerJob && x.reduceWork > 0 {
		x.leastRed = 1
	}
	return x
}

// fewest is the VMs that so many jobs need, and their slots, found by trying how the time is best
// shared between the phases.
func (x *task) fewest(jobs float64) (vms, mapSlots, redSlots float64) {
	slots := func(share float64) (float64, float64) {
		m, r := x.leastMap*jobs, x.leastRed*jobs
		if x.mapWork > 0 {
			m = max(m, x.mapWork*jobs/(share*x.slack))
		}
		if x.reduceWork > 0 {
			r = max(r, x.reduceWork*jobs/((1-share)*x.slack))
		}
		return m, r
	}
	size := func(share float64) float64 {
		m, r := slots(share)
		return m/x.mapSlots + r/x.redSlots
	}
	share, vms := lowest(0, 1, size)
	mapSlots, redSlots = slots(share)
	return vms, mapSlots, redSlots
}

// tasks keeps the classes of a drawn problem that have slots and work, and time for it; false if none
// has.
func tasks(p *capacity.Problem, promised bool) ([]task, bool) {
	kept := p.Classes[:0]
	for _, c := range p.Classes {
		if d := c.Demand; d != nil && d.MapWorkSeconds+d.ReduceWorkSeconds > 0 && c.DeadlineSeconds > d.FixedSeconds && len(kept) < 4 {
			if promised {
				c.Jobs.Min = max(c.Jobs.Min, 0.25)
				c.Jobs.Max = max(c.Jobs.Max, c.Jobs.Min)
			}
			kept = append(kept, c)
		}
	}
	p.Classes = kept
	var list []task
	for i := range p.Classes {
		list = append(list, newTask(p, i))
	}
	return list, len(list) > 0
}

// bound is the best lower bound that a price of capacity gives: at every price each class chooses its
// jobs for itself, and so does supply. The programs are convex, so that the best bound is the optimum.
func bound(p *capacity.Problem, list []task, choose func(x *task, price float64) float64) float64 {
	hours := float64(p.PeriodSeconds) / 3600
	rent := p.Supply.OnDemand.Price.Float() * hours
	highest, most := rent, 1.0
	for _, c := range p.Supply.Contracts {
		highest = max(highest, c.Price.Float()*hours)
	}
	for i := range list {
		x := &list[i]
		vms, _, _ := x.fewest(1)
		highest = max(highest, x.penalty/vms)
		most += vms * x.high
	}
	if p.Supply.OnDemand.Quota != nil {
		most = float64(*p.Supply.OnDemand.Quota)
	}
	_, value := lowest(0, 2*highest, func(price float64) float64 {
		sum := min(0, rent-price) * most
		for _, c := range p.Supply.Contracts {
			marginal := c.Price.Float() * hours
			if c.Billing == capacity.BilledAlways {
				marginal = 0
			}
			sum += min(0, marginal-price) * float64(c.VMs)
		}
		for i := range list {
			sum += choose(&list[i], price)
		}
		return -sum
	})
	return -value
}

// p0 chooses jobs, and p1 their reciprocal Psi = 1/h, the paper's other form.
func p0(x *task, price float64) float64 {
	_, value := lowest(x.low, x.high, func(jobs float64) float64 {
		vms, _, _ := x.fewest(jobs)
		return price*vms - x.penalty*jobs
	})
	return value
}

func p1(x *task, price float64) float64 {
	_, value := lowest(1/x.high, 1/x.low, func(psi float64) float64 {
		// A/(s_M Psi) + B/(s_R Psi) + C <= D: the same with all work larger by 1/Psi.
		scaled := *x
		scaled.mapWork, scaled.reduceWork = x.mapWork/psi, x.reduceWork/psi
		scaled.leastMap, scaled.leastRed = x.leastMap/psi, x.leastRed/psi
		vms, _, _ := scaled.fewest(1)
		return price*vms - x.penalty/psi
	})
	return value
}

func TestLinearProgramEqualsP0(t *testing.T) {
	compareWithNonlinear(t, rand.New(rand.NewPCG(7, 1)), false, p0)
}

func TestLinearProgramEqualsP1(t *testing.T) {
	compareWithNonlinear(t, rand.New(rand.NewPCG(7, 2)), true, p1)
}

func compareWithNonlinear(t *testing.T, r *rand.Rand, promised bool, form func(*task, float64) float64) {
	t.Helper()
	compared, choosing := 0, 0
	for compared < plantest.Trials(25, 1_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(6), capacity.Relaxed)
		list, ok := tasks(&p, promised)
		if !ok {
			continue
		}
		m, relaxed := relax(t, p)
		if relaxed == nil || math.IsInf(relaxed.nuHigh, 1) && relaxed.nuLow == 0 {
			continue
		}
		compared++
		if want := bound(&p, list, form); !plantest.Near(relaxed.objective, want, 1e-8) {
			t.Fatalf("instance %d: the linear program says %.12g, the nonlinear one %.12g", compared, relaxed.objective, want)
		}
		// And its jobs, with slots, can be carried out for that.
		load, worth := 0.0, 0.0
		for i := range list {
			h := relaxed.jobs[i]
			mapSlots, redSlots := m.classes[i].shape.perJob()
			if time := perf.Time(*p.Classes[i].Demand, h, h*mapSlots, h*redSlots); time > p.Classes[i].DeadlineSeconds*(1+1e-9) {
				t.Fatalf("instance %d class %d takes %g s of %g", compared, i, time, p.Classes[i].DeadlineSeconds)
			}
			load += h * (mapSlots/list[i].mapSlots + redSlots/list[i].redSlots)
			worth += h * list[i].penalty
			if h > list[i].low && h < list[i].high {
				choosing++
			}
		}
		if cost := relaxed.supply.CostReal(load) - worth; !plantest.Near(cost, relaxed.objective, 1e-9) {
			t.Fatalf("instance %d: its slots cost %.12g, its objective is %.12g", compared, cost, relaxed.objective)
		}
	}
	if choosing == 0 {
		t.Error("no class has part of its jobs")
	}
}

// Slots and gamma in closed form equal those of a search, floors or not, for demands and for the profiles of the paper's
// Table 2.
func TestSlotsEqualTheNumericMinimum(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	floored, free := 0, 0
	compare := func(label string, x task, s shape, jobs float64) {
		t.Helper()
		vms, mapSlots, redSlots := x.fewest(jobs)
		gotMap, gotRed := s.perJob()
		if !plantest.Near(s.gamma()*jobs, vms, 1e-12) {
			t.Fatalf("%s: gamma·h is %.15g, the fewest VMs for %g jobs are %.15g", label, s.gamma()*jobs, jobs, vms)
		}
		if !plantest.Near(gotMap*jobs, mapSlots, 1e-6) || !plantest.Near(gotRed*jobs, redSlots, 1e-6) {
			t.Fatalf("%s: %.9g and %.9g slots for %g jobs, the search says %.9g and %.9g", label, gotMap*jobs, gotRed*jobs, jobs, mapSlots, redSlots)
		}
		if x.leastMap > 0 && (gotMap == 1 || gotRed == 1) {
			floored++
		} else {
			free++
		}
	}
	for range plantest.Trials(1_000, 10_000) {
		p := plantest.DrawProblem(t, r, 3, capacity.Relaxed)
		list, _ := tasks(&p, false)
		for i := range list {
			s, _ := newShape(&p.Classes[i], *p.Classes[i].Demand, p.Options.OneSlotPerJob)
			compare(p.Classes[i].Name, list[i], s, 0.1+20*r.Float64())
		}
	}
	in, err := study.Generate("mixed", plantest.Trials(300, 3_000), 7)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Profiled()
	if err != nil {
		t.Fatal(err)
	}
	p.Options.OneSlotPerJob = false
	m, err := newModel(&p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Classes {
		demand := perf.Demands(*p.Classes[i].Profile).Of(capacity.AverageBound)
		p.Classes[i].Demand = &demand
		compare(p.Classes[i].Name, newTask(&p, i), m.classes[i].shape, p.Classes[i].Jobs.Max)
		if !plantest.Near(m.classes[i].gamma, in.Gamma[i], 1e-12) {
			t.Errorf("%s: gamma %.15g, the instance says %.15g", p.Classes[i].Name, m.classes[i].gamma, in.Gamma[i])
		}
	}
	t.Logf("%d classes on a floor, %d off it", floored, free)
	if floored < 100 || free < 500 {
		t.Error("too few on or off the floors")
	}
}

// The paper prints gamma as the sum of a reduce and a map part (eq. 29 and 30), with E = C - D.
func TestGammaIsThePrintedForm(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 4))
	checked := 0
	for range plantest.Trials(2_000, 20_000) {
		p := plantest.DrawProblem(t, r, 3, capacity.Relaxed)
		p.Options.OneSlotPerJob = false
		list, _ := tasks(&p, false)
		for i, x := range list {
			e := p.Classes[i].Demand.FixedSeconds - p.Classes[i].DeadlineSeconds
			gamma1 := -(math.Sqrt(x.mapWork*x.reduceWork*x.redSlots/x.mapSlots) + x.reduceWork) / (e * x.redSlots)
			gamma2 := -(math.Sqrt(x.mapWork*x.reduceWork*x.mapSlots/x.redSlots) + x.mapWork) / (e * x.mapSlots)
			s, _ := newShape(&p.Classes[i], *p.Classes[i].Demand, false)
			mapSlots, redSlots := s.perJob()
			if !plantest.Near(redSlots/x.redSlots, gamma1, 1e-12) || !plantest.Near(mapSlots/x.mapSlots, gamma2, 1e-12) || !plantest.Near(s.gamma(), gamma1+gamma2, 1e-12) {
				t.Fatalf("%+v: %g reduce and %g map slots, %g VMs; printed %g and %g", x, redSlots, mapSlots, s.gamma(), gamma1, gamma2)
			}
			// At its optimum the deadline is met exactly.
			if time := perf.Time(*p.Classes[i].Demand, 3, 3*mapSlots, 3*redSlots); !plantest.Near(time, p.Classes[i].DeadlineSeconds, 1e-12) {
				t.Fatalf("%+v: takes %.15g s, deadline %.15g s", x, time, p.Classes[i].DeadlineSeconds)
			}
			// And a second more saves gamma/(D-C).
			step := 1e-4 * x.slack
			sooner, later := s, s
			sooner.slack -= step
			later.slack += step
			if slope := (later.gamma() - sooner.gamma()) / (2 * step) * x.slack; !plantest.Near(slope, -s.gamma(), 1e-6) {
				t.Fatalf("%+v: all its time once more changes gamma by %g, want %g", x, slope, -s.gamma())
			}
			checked++
		}
	}
	if checked < 1000 {
		t.Errorf("%d classes checked: too few", checked)
	}
}

// One slot per job by hand: 10 s of map work in 100 s take 0.1 slots and more with reduce work beside
// it, raised to one, which leaves 90 s for the reduce work.
func TestOneSlotPerJobByHand(t *testing.T) {
	for _, c := range []struct {
		name                string
		mapWork, reduceWork float64
		mapSlots, redSlots  float64
	}{
		{"map below one slot", 10, 810, 1, 9},
		{"reduce below one slot", 810, 10, 9, 1},
		{"both below one slot", 10, 10, 1, 1},
		{"neither", 100, 400, 3, 6},
		{"no reduce work, map below", 10, 0, 1, 0},
		{"no map work, reduce above", 0, 250, 0, 2.5},
	} {
		class := capacity.Class{DeadlineSeconds: 120, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}}
		s, _ := newShape(&class, capacity.Demand{MapWorkSeconds: c.mapWork, ReduceWorkSeconds: c.reduceWork, FixedSeconds: 20}, true)
		mapSlots, redSlots := s.perJob()
		if !plantest.Near(mapSlots, c.mapSlots, 1e-12) || !plantest.Near(redSlots, c.redSlots, 1e-12) || !plantest.Near(s.gamma(), (c.mapSlots+c.redSlots)/2, 1e-12) {
			t.Errorf("%s: got %g map and %g reduce slots (%g VMs), want %g and %g", c.name, mapSlots, redSlots, s.gamma(), c.mapSlots, c.redSlots)
		}
	}
}
