package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
)

// checkPlan holds a plan against its problem: every execution once, in its window, on VMs that are there, at its cost.
func checkPlan(t *testing.T, p *Problem, plan *Plan) {
	t.Helper()
	load, penalties := make([]int64, len(p.Supply)), 0.0
	left := make([][]int64, len(p.Classes))
	for k := range left {
		left[k] = slices.Clone(p.Classes[k].Arrivals)
	}
	for _, s := range plan.Starts {
		c := &p.Classes[s.Class]
		left[s.Class][s.Arrived] -= s.Jobs
		if s.Run == Refused {
			penalties += c.Penalty * float64(s.Jobs)
			continue
		}
		if c.AtOnce && s.At != s.Arrived+c.First {
			t.Errorf("%+v waits", s)
		}
		if s.Jobs <= 0 || s.At < s.Arrived+c.First || s.At+len(c.Runs[s.Run].Load) > s.Arrived+c.window(s.Arrived) {
			t.Errorf("%+v is out of the window [%d, %d)", s, s.Arrived+c.First, s.Arrived+c.window(s.Arrived))
		}
		r := &c.Runs[s.Run]
		for i, x := range r.Load {
			load[r.First+s.At+i] += x * s.Jobs
		}
	}
	for k := range left {
		for at, n := range left[k] {
			if n != 0 {
				t.Errorf("class %d, step %d: %d executions are left over", k, at, n)
			}
		}
	}
	cost := penalties
	for step, vms := range plan.VMs {
		if load[step] > vms*p.Unit {
			t.Errorf("step %d: %d parts on %d VMs", step, load[step], vms)
		}
		each, there := cheapestVMs(p, step, vms)
		if cost += each; !there {
			t.Errorf("step %d: %d VMs are not there", step, vms)
		}
		if s := p.starting(step); s != nil {
			before := s.Before
			if step > s.First {
				before = plan.VMs[step-1]
			}
			cost += s.at(step) * float64(max(0, vms-before))
		}
	}
	for i, b := range p.Budgets {
		spent := 0.0
		for _, step := range b.Steps {
			each, _ := cheapestVMs(p, step, plan.VMs[step])
			spent += each
		}
		if spent > b.Most+1e-9 {
			t.Errorf("budget %d of %g: its steps cost %g", i, b.Most, spent)
		}
	}
	if math.Abs(cost-plan.Cost()) > 1e-9*max(1, cost) {
		t.Errorf("the plan says it costs %g, and it costs %g", plan.Cost(), cost)
	}
	if plan.Bound > plan.Cost()+1e-9 {
		t.Errorf("the bound %g is above the cost %g", plan.Bound, plan.Cost())
	}
}

// cheapestVMs returns what VMs of a step cost at least: every number of spot VMs within the share is tried. It is false where there
// are not so many.
func cheapestVMs(p *Problem, step int, vms int64) (cost float64, there bool) {
	cost = math.Inf(1)
	for spot := int64(0); spot <= vms; spot++ {
		sum := 0.0
		if spot > 0 {
			if p.Spot == nil || spot*p.Spot[step].Of > vms*p.Spot[step].Share {
				break
			}
			sum = float64(spot) * p.Spot[step].Price
		}
		n := vms - spot
		for _, tier := range p.Supply[step] {
			sum += float64(min(n, tier.VMs)) * tier.Price
			n -= min(n, tier.VMs)
		}
		if n == 0 {
			cost, there = min(cost, sum), true
		}
	}
	if !there {
		return 0, false
	}
	return cost, true
}

// cheapestFor returns what VMs cost of which so many are needed in each step. Where starts cost something, all numbers of them are tried.
func cheapestFor(p *Problem, needed []int64) (cost float64) {
	var of *Starting
	var costs []float64 // by VMs in the step before
	for i := range p.Budgets {
		spent := 0.0
		for _, step := range p.Budgets[i].Steps {
			each, _ := cheapestVMs(p, step, needed[step])
			spent += each
		}
		if spent > p.Budgets[i].Most+1e-9 {
			return math.Inf(1)
		}
	}
	for step, n := range needed {
		if of != nil && step == of.Until {
			cost += slices.Min(costs)
		}
		if of = p.starting(step); of == nil {
			each, there := cheapestVMs(p, step, n)
			if !there {
				return math.Inf(1)
			}
			cost += each
			continue
		}
		if step == of.First {
			costs = slices.Repeat([]float64{math.Inf(1)}, int(max(of.Before, slices.Max(needed[of.First:of.Until])))+1)
			costs[of.Before] = 0
		}
		next := slices.Repeat([]float64{math.Inf(1)}, len(costs))
		for vms := n; vms < int64(len(costs)); vms++ {
			each, there := cheapestVMs(p, step, vms)
			for before := range int64(len(costs)) {
				if there {
					next[vms] = min(next[vms], costs[before]+each+of.at(step)*float64(max(0, vms-before)))
				}
			}
		}
		costs = next
	}
	if of != nil {
		cost += slices.Min(costs)
	}
	return cost
}

// tiny draws a problem whose plans can all be tried, with so many types of VMs. Prices are whole numbers.
func tiny(s *study.Stream, types int) Problem {
	steps := int(s.Whole(2, 6))
	p := Problem{Unit: s.Whole(1, 4)}
	for range steps * types {
		var tiers []Tier
		if s.Whole(0, 1) == 0 {
			tiers = append(tiers, Tier{s.Whole(0, 3), float64(s.Whole(0, 6))})
		}
		most := Unlimited
		if s.Whole(0, 2) == 0 {
			most = s.Whole(0, 4)
		}
		tiers = append(tiers, Tier{most, float64(s.Whole(1, 12))})
		sortTiers(tiers)
		p.Supply = append(p.Supply, tiers)
	}
	if s.Whole(0, 2) == 0 {
		for range p.Supply {
			of := s.Whole(1, 5)
			p.Spot = append(p.Spot, Spot{Price: float64(s.Whole(0, 8)), Share: s.Whole(0, of), Of: of})
		}
	}
	jobs := s.Whole(1, 6)
	for range s.Whole(1, 2) {
		c := Class{First: int(s.Whole(0, 1)), Window: int(s.Whole(1, int64(steps))), Penalty: float64(s.Whole(0, 40)), Arrivals: make([]int64, steps)}
		for range s.Whole(1, 3) {
			load := make([]int64, s.Whole(1, 3))
			for i := range load {
				load[i] = s.Whole(1, 2*p.Unit)
			}
			c.Runs = append(c.Runs, Run{Load: load})
			if types > 1 {
				c.Runs[len(c.Runs)-1].First = steps * int(s.Whole(0, int64(types)-1))
			}
		}
		for range jobs {
			if s.Whole(0, 1) == 0 {
				c.Arrivals[s.Whole(0, int64(steps-c.Window))]++
			}
		}
		if every := int(s.Whole(1, 8)); every < 4 { // due at the next of some steps, as at a time of day
			for at := range steps {
				c.Windows = append(c.Windows, min(steps, (at/every+1)*every)-at)
			}
		}
		p.Classes = append(p.Classes, c)
	}
	return p
}

// cheapestOfAll tries everything that executions can do, one after the other.
func cheapestOfAll(p *Problem) float64 {
	type job struct{ class, at int }
	var jobs []job
	for k, c := range p.Classes {
		for at, n := range c.Arrivals {
			for range n {
				jobs = append(jobs, job{k, at})
			}
		}
	}
	load := make([]int64, len(p.Supply))
	best := math.Inf(1)
	var try func(n, last int, refused float64)
	try = func(n, last int, refused float64) {
		if refused >= best {
			return
		}
		if n == len(jobs) {
			needed := make([]int64, len(load))
			for step := range load {
				needed[step] = int64(math.Ceil(float64(load[step]) / float64(p.Unit)))
			}
			best = min(best, refused+cheapestFor(p, needed))
			return
		}
		c, number := p.Classes[jobs[n].class], 0
		if n > 0 && jobs[n] != jobs[n-1] {
			last = 0
		}
		for _, r := range c.Runs {
			for from := range c.Arrivals {
				number++
				if number < last || from < jobs[n].at+c.First || from+len(r.Load) > jobs[n].at+c.window(jobs[n].at) || c.AtOnce && from > jobs[n].at+c.First { // equal executions in order
					continue
				}
				for i, x := range r.Load {
					load[r.First+from+i] += x
				}
				try(n+1, number, refused)
				for i, x := range r.Load {
					load[r.First+from+i] -= x
				}
			}
		}
		try(n+1, number+1, refused+c.Penalty)
	}
	try(0, 0, 0)
	return best
}

// withStarts lets the starts of VMs cost something, of one type or of all of them.
func withStarts(s *study.Stream, p Problem, types int) Problem {
	p.Spot = nil
	steps := len(p.Supply) / types
	for v := range types {
		if v == 0 || s.Whole(0, 1) == 0 {
			of := Starting{First: v * steps, Until: (v + 1) * steps, Prices: slices.Repeat([]float64{float64(s.Whole(0, 8)) / 2}, steps), Before: s.Whole(0, 3)}
			if s.Whole(0, 1) == 0 { // another one in each step
				for t := range of.Prices {
					of.Prices[t] = float64(s.Whole(0, 8)) / 2
				}
			}
			p.Starting = append(p.Starting, of)
		}
	}
	return p
}

// The same where starts of VMs cost something, with and without Clp.
func TestTinyPlansWithStartsAreTheCheapestOfAll(t *testing.T) {
	s := &study.Stream{State: 35}
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	cases, proved, dearer, held := 40, 0, 0, 0
	if os.Getenv("HEADROOM_LONG") != "" {
		cases = 1000
	}
	for n := range cases {
		types := 1 + n%2
		p := withStarts(s, tiny(s, types), types)
		var engine lp.Solver
		if n%4 < 2 {
			engine = pool
		}
		plan := Solve(t.Context(), p, engine, Options{})
		checkPlan(t, &p, &plan)
		want := cheapestOfAll(&p)
		if plan.Cost() > want+1e-9 {
			dearer++
		}
		if plan.Cost() < want-1e-9 || plan.Bound > want+1e-9 {
			t.Errorf("case %d: the plan costs %g, its bound is %g, and the cheapest of all costs %g: %+v", n, plan.Cost(), plan.Bound, want, p)
		}
		if plan.Gap() < 1e-6 {
			proved++
		}
		for _, start := range plan.Starts {
			if start.Run != Refused {
				held++
				break
			}
		}
	}
	t.Logf("of %d tiny plans %d are proved by their bound, %d are not the cheapest, and %d run something", cases, proved, dearer, held)
	if proved < cases/10 || dearer > cases/40 || held < cases/3 {
		t.Errorf("%d plans are proved, %d are not the cheapest, and %d run something", proved, dearer, held)
	}
}

// withBudgets bounds what some steps of all types may cost, and perhaps what all of them may.
func withBudgets(s *study.Stream, p Problem, types int) Problem {
	steps := len(p.Supply) / types
	for n := range s.Whole(1, 2) {
		from, until := s.Whole(0, int64(steps)-1), int64(steps)
		if n > 0 {
			until = s.Whole(from+1, int64(steps))
		}
		b := Budget{Most: float64(s.Whole(0, 24))}
		for v := range types {
			for at := from; at < until; at++ {
				b.Steps = append(b.Steps, v*steps+int(at))
			}
		}
		p.Budgets = append(p.Budgets, b)
	}
	return p
}

// The same where budgets bound what some steps cost, with and without Clp.
func TestTinyPlansWithinBudgetsAreTheCheapestOfAll(t *testing.T) {
	s := &study.Stream{State: 36}
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	cases, proved, dearer, bound, run := 40, 0, 0, 0, 0
	if os.Getenv("HEADROOM_LONG") != "" {
		cases = 1000
	}
	for n := range cases {
		types := 1 + n%2
		free := tiny(s, types)
		p := withBudgets(s, free, types)
		var engine lp.Solver
		if n%4 < 2 {
			engine = pool
		}
		plan := Solve(t.Context(), p, engine, Options{})
		checkPlan(t, &p, &plan)
		want := cheapestOfAll(&p)
		if plan.Cost() > want+1e-9 {
			dearer++
		}
		if plan.Cost() < want-1e-9 || plan.Bound > want+1e-9 {
			t.Errorf("case %d: the plan costs %g, its bound is %g, and the cheapest of all costs %g: %+v", n, plan.Cost(), plan.Bound, want, p)
		}
		if plan.Gap() < 1e-6 {
			proved++
		}
		if want > cheapestOfAll(&free)+1e-9 {
			if bound++; slices.ContainsFunc(plan.Starts, func(s Start) bool { return s.Run != Refused }) {
				run++
			}
		}
	}
	t.Logf("of %d tiny plans %d are proved by their bound, %d are not the cheapest, and budgets bind %d, of which %d run something", cases, proved, dearer, bound, run)
	if proved < cases/10 || dearer > cases/40 || bound < cases/8 || run < bound/4 {
		t.Errorf("%d plans are proved, %d are not the cheapest, and budgets bind %d, of which %d run something", proved, dearer, bound, run)
	}
}

// Proved plans of tiny problems are the cheapest of all, of a thousand in the long form. So are nearly all others: the search is
// one at random.
func TestTinyPlansAreTheCheapestOfAll(t *testing.T) {
	for _, types := range []int{1, 2} {
		s := &study.Stream{State: 31}
		cases, proved, dearer := 40/types, 0, 0
		if os.Getenv("HEADROOM_LONG") != "" {
			cases = 1000
		}
		for n := range cases {
			p := tiny(s, types)
			plan := Solve(t.Context(), p, nil, Options{})
			checkPlan(t, &p, &plan)
			want := cheapestOfAll(&p)
			far := math.Abs(plan.Cost()-want) > 1e-9
			if far {
				dearer++
			}
			if plan.Cost() < want-1e-9 || far && plan.Gap() < 1e-9 {
				t.Errorf("case %d: the plan costs %g, and the cheapest of all %g: %+v", n, plan.Cost(), want, p)
			}
			if plan.Bound > want+1e-9 {
				t.Errorf("case %d: the bound is %g, and a plan costs %g: %+v", n, plan.Bound, want, p)
			}
			if plan.Gap() < 1e-9 {
				proved++
			}
		}
		t.Logf("of %d tiny plans on %d types %d are proved by their bound, and %d are not the cheapest", cases, types, proved, dearer)
		if proved < cases/10 || dearer > cases/200 {
			t.Errorf("%d types: %d plans are proved, and %d are not the cheapest", types, proved, dearer)
		}
	}
}

// Where nothing waits, executions still take the run that is cheapest: as often as with waiting that plan is found.
func TestTinyPlansAtOnceAreTheCheapestWithoutWaiting(t *testing.T) {
	s := &study.Stream{State: 32}
	cases, dearer, shorter := 40, 0, 0
	if os.Getenv("HEADROOM_LONG") != "" {
		cases = 200
	}
	for n := range cases {
		p := tiny(s, 1+n%2).AtOnce()
		plan := Solve(t.Context(), p, nil, Options{})
		checkPlan(t, &p, &plan)
		want := cheapestOfAll(&p)
		if plan.Cost() > want+1e-9 {
			dearer++
		}
		if plan.Cost() < want-1e-9 || plan.Bound > want+1e-9 {
			t.Errorf("case %d: the plan costs %g, its bound is %g, and the cheapest of all costs %g: %+v", n, plan.Cost(), plan.Bound, want, p)
		}
		for _, start := range plan.Starts {
			if start.Run != Refused && start.Run < len(p.Classes[start.Class].Runs)-1 {
				shorter++
				break
			}
		}
	}
	t.Logf("of %d tiny plans without waiting %d are not the cheapest, and %d have shorter runs than the longest", cases, dearer, shorter)
	if dearer > cases/200 || shorter < cases/20 {
		t.Errorf("%d plans are not the cheapest, and %d have shorter runs", dearer, shorter)
	}
}

// CBC solves the whole program, written out in another way, and never finds a plan below the bound. Every other cluster has
// several types of VMs.
func TestNoPlanOfCBCIsBelowTheBound(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	cases, seconds := uint64(3), 1.5
	if os.Getenv("HEADROOM_LONG") != "" {
		cases, seconds = 100, 3
	}
	besidePeer(t, 2*cases, pool, func(m *lp.Program) (peerAnswer, error) {
		answer, err := pool.Solve(t.Context(), m, lp.Options{Seconds: seconds, Gap: 1e-9, Cuts: true})
		return peerAnswer{Found: len(answer.X) > 0, Optimal: answer.Status == lp.Optimal, Objective: answer.Objective}, err
	})
}

// HiGHS does so too. HEADROOM_HIGHS names a Python that has highspy.
func TestNoPlanOfHiGHSIsBelowTheBound(t *testing.T) {
	python := os.Getenv("HEADROOM_HIGHS")
	if python == "" {
		t.Skip("HEADROOM_HIGHS names no Python with highspy")
	}
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	highs := exec.CommandContext(t.Context(), python, "testdata/highs.py")
	to, err := highs.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := highs.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	highs.Stderr = os.Stderr
	if err := highs.Start(); err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(from)
	besidePeer(t, 200, pool, func(m *lp.Program) (a peerAnswer, err error) {
		finite := func(all []float64) []float64 {
			all = slices.Clone(all)
			for i := range all {
				all[i] = max(-1e30, min(all[i], 1e30)) // which HiGHS takes as infinite
			}
			return all
		}
		if err := json.NewEncoder(to).Encode(map[string]any{"seconds": 10, "cost": m.Cost, "lower": finite(m.Lower), "upper": finite(m.Upper), "row_lower": finite(m.RowLower),
			"row_upper": finite(m.RowUpper), "start": m.Start, "index": m.RowIndex, "value": m.Coefficient}); err != nil {
			return a, err
		}
		return a, answers.Decode(&a)
	})
	if err := errors.Join(to.Close(), highs.Wait()); err != nil {
		t.Error(err)
	}
}

// peerAnswer holds what another solver found.
type peerAnswer struct {
	Found, Optimal bool
	Objective      float64
}

// besidePeer plans drawn clusters, and lets another solver look for plans below the bounds.
func besidePeer(t *testing.T, cases uint64, pool *worker.Pool, solve func(*lp.Program) (peerAnswer, error)) {
	t.Helper()
	optimal, cheaper, dearer, most, answered, beyond := 0, 0, 0, 0.0, 0, 0.0
	for seed := range cases {
		s := &study.Stream{State: seed}
		c := study.DrawCluster(1000+seed, 18, int(s.Whole(2, 10)), s.Between(2, 30), 6)
		p := drawnOn(c, 1+int(seed%2)*int(s.Whole(1, 3)))
		plan := Solve(t.Context(), p, pool, Options{})
		checkPlan(t, &p, &plan)
		answer, err := solve(p.Program(len(c.Prices)))
		if err != nil {
			t.Fatal(err)
		}
		if !answer.Found {
			continue
		}
		if answered++; answer.Optimal {
			optimal++
		}
		if answer.Objective < plan.Bound-1e-6*math.Abs(plan.Bound) {
			t.Errorf("seed %d: the other plan costs %g, below the bound %g", seed, answer.Objective, plan.Bound)
		}
		saved := (plan.Cost() - answer.Objective) / plan.Cost()
		if saved > 1e-9 {
			cheaper, most, beyond = cheaper+1, max(most, saved), beyond+saved
		} else if saved < -1e-9 {
			dearer++
		}
	}
	t.Logf("of %d cases %d are answered, %d as optimal. %d of the answers are cheaper than ours, by %.3f %% at most and %.3f %% on average, and %d are dearer",
		cases, answered, optimal, cheaper, 100*most, 100*beyond/float64(max(1, cheaper)), dearer)
	if answered == 0 {
		t.Error("no case is answered")
	}
}

// With one class and one type, no contracts and all arrivals at first, the cheapest hours by hand come out.
func TestOneClassTakesTheCheapestHours(t *testing.T) {
	p := Problem{Unit: 1, Classes: []Class{{First: 1, Window: 6, Penalty: 100, Arrivals: []int64{3, 0, 0, 0, 0, 0}, Runs: []Run{{Load: []int64{2}}}}}}
	for _, price := range []float64{1, 5, 4, 2, 3, 2.5} {
		p.Supply = append(p.Supply, []Tier{{Unlimited, price}})
	}
	plan := Solve(t.Context(), p, nil, Options{})
	if len(plan.Starts) != 1 || plan.Starts[0].At != 3 || plan.Cost() != 12 || plan.Gap() > 1e-9 {
		t.Errorf("got %+v, want all three at step 3 for 12", plan)
	}
}

// A plan is there when no time is left, and its bound still holds.
func TestThereIsAPlanWithoutTime(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	p := drawn(study.DrawCluster(5, 48, 8, 20, 12))
	plan := Solve(over, p, nil, Options{})
	checkPlan(t, &p, &plan)
}

// Slots are compared with those found by trying all map slots.
func TestSlotsAreTheFewest(t *testing.T) {
	s := &study.Stream{State: 7}
	for range 3000 {
		d := capacity.Demand{MapWorkSeconds: s.Between(0, 60_000), ReduceWorkSeconds: s.Between(0, 30_000), FixedSeconds: s.Between(0, 1000)}
		per := capacity.SlotsPerVM{Map: s.Whole(1, 9), Reduce: s.Whole(1, 9)}
		seconds := d.FixedSeconds + s.Between(1, 4000)
		got, ok := SlotsFor(d, true, true, per, seconds)
		best := math.Inf(1)
		for m := int64(1); float64(m)/float64(per.Map) < best; m++ {
			rest := (seconds-d.FixedSeconds)*(1+lateness) - d.MapWorkSeconds/float64(m)
			if rest <= 0 {
				continue
			}
			best = min(best, float64(m)/float64(per.Map)+max(1, math.Ceil(d.ReduceWorkSeconds/rest))/float64(per.Reduce))
		}
		vms := float64(got.Map)/float64(per.Map) + float64(got.Reduce)/float64(per.Reduce)
		time := d.MapWorkSeconds/float64(got.Map) + d.ReduceWorkSeconds/float64(got.Reduce) + d.FixedSeconds
		if !ok || math.Abs(vms-best) > 1e-9 || time > seconds*(1+1e-8) {
			t.Fatalf("%+v on %+v within %g s: got %+v, %g VMs and %g s, want %g VMs", d, per, seconds, got, vms, time, best)
		}
	}
	if _, ok := SlotsFor(capacity.Demand{MapWorkSeconds: 1, FixedSeconds: 10}, true, false, capacity.SlotsPerVM{Map: 1, Reduce: 1}, 10); ok {
		t.Error("no slots end an execution whose fixed time is all there is")
	}
}

// Where a later start gains nothing, executions start as early as they can.
func TestNobodyWaitsInVain(t *testing.T) {
	p := Problem{Unit: 2, Classes: []Class{
		{First: 1, Window: 6, Penalty: 50, Arrivals: []int64{3, 0, 1, 4, 0, 0}, Runs: []Run{{Load: []int64{2}}}},
		{First: 1, Window: 8, Penalty: 50, Arrivals: []int64{1, 1, 0, 0, 2, 0}, Runs: []Run{{Load: []int64{1, 1}}}}}}
	for range 14 {
		p.Supply = append(p.Supply, []Tier{{VMs: Unlimited, Price: 0.2}})
	}
	plan := Solve(t.Context(), p, nil, Options{})
	checkPlan(t, &p, &plan)
	for _, s := range plan.Starts {
		if s.Class == 0 && s.At != s.Arrived+1 {
			t.Errorf("%+v waits, and each hour costs the same", s)
		}
	}
	// Two executions of the second class share a VM where they run together: they wait for that, and for nothing else.
	if want := 0.2 * (8 + 2*2); plan.Cost() > want+1e-9 {
		t.Errorf("it costs %g, want %g", plan.Cost(), want)
	}
	p.Supply[3] = []Tier{{VMs: Unlimited, Price: 0.1}}
	if plan = Solve(t.Context(), p, nil, Options{}); plan.Starts[0].At != 3 {
		t.Errorf("the cheap hour has %+v", plan.Starts)
	}
}

// Where quotas leave no room for all executions in the hours that are cheapest for each, the first program still has a plan: some are
// refused in it. An engine then proposes prices, and the bound is that of the quotas.
func TestProgramsUnderQuotas(t *testing.T) {
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	p := Problem{Unit: 1, Classes: []Class{{Runs: []Run{{Load: []int64{1}}}, Window: 6, Penalty: 1000, Arrivals: []int64{10, 0, 0, 0, 0, 0}}}}
	for step := range 6 {
		p.Supply = append(p.Supply, []Tier{{VMs: 2, Price: float64(1 + step)}})
	}
	plan := Solve(t.Context(), p, pool, Options{})
	checkPlan(t, &p, &plan)
	if plan.Engine == "" || math.Abs(plan.Cost()-30) > 1e-9 || plan.Bound < 30-1e-5 {
		t.Errorf("it costs %g with a bound of %g by %q, and two in each of five hours cost 30", plan.Cost(), plan.Bound, plan.Engine)
	}
}
