package proof

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// plainSlots tries every number of map slots from the smallest possible one, until map slots alone cost more than the
// best.
func plainSlots(c *class, jobs int64) (best slotting, cost *exact.Rat) {
	lowest := int64(1)
	if c.oneSlot {
		lowest = jobs
	}
	minMap, minReduce := int64(0), int64(0)
	if c.hasMap {
		minMap = lowest
	}
	if c.hasReduce {
		minReduce = lowest
	}
	for s := minMap; cost == nil || whole(s).Cmp(mul(cost, whole(c.perMap))) < 0; s++ {
		left := sub(whole(1), zero())
		if c.plan.a.Sign() > 0 {
			if s == 0 {
				continue
			}
			left.Sub(left, quo(mul(c.plan.a, whole(jobs)), mul(c.slack, whole(s))))
		}
		r := minReduce
		if c.plan.b.Sign() > 0 {
			if left.Sign() <= 0 {
				continue
			}
			r = max(r, quo(mul(c.plan.b, whole(jobs)), mul(c.slack, left)).Ceil().Int64())
		} else if left.Sign() < 0 {
			continue
		}
		if w := c.size(whole(s), whole(r)); cost == nil || less(w, cost) {
			best, cost = slotting{s, r}, w
		}
	}
	return best, cost
}

func TestSlotsAreTheFewestOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := capacity.Class{Name: "x", Jobs: capacity.JobRange{Max: 100},
			DeadlineSeconds: float64(rapid.IntRange(300, 9000).Draw(t, "deadline")) / 10,
			SlotsPerVM:      capacity.SlotsPerVM{Map: int64(rapid.IntRange(1, 9).Draw(t, "map")), Reduce: int64(rapid.IntRange(1, 9).Draw(t, "reduce"))},
			Demand: &capacity.Demand{MapWorkSeconds: float64(rapid.IntRange(0, 5000).Draw(t, "A")) / 10,
				ReduceWorkSeconds: float64(rapid.IntRange(0, 5000).Draw(t, "B")) / 10, FixedSeconds: 20},
		}
		c := newClass(&in, capacity.AverageBound, rapid.Bool().Draw(t, "one slot"))
		jobs := int64(rapid.IntRange(1, 30).Draw(t, "jobs"))
		got, ok := c.slots(jobs, c.slack, pointer(maxSteps))
		want, cost := plainSlots(&c, jobs)
		if size := c.size(whole(got.maps), whole(got.reduces)); !ok || size.Cmp(cost) != 0 {
			t.Fatalf("got %v, %s VMs; want %v, %s VMs", got, short(size), want, short(cost))
		}
	})
}

func TestSlotsBeyondReasonAreRefused(t *testing.T) {
	in := capacity.Class{Jobs: capacity.JobRange{Max: 1e12}, DeadlineSeconds: 20, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 3},
		Demand: &capacity.Demand{MapWorkSeconds: 1, ReduceWorkSeconds: 1e9, FixedSeconds: 10}}
	c := newClass(&in, capacity.AverageBound, true)
	if s, ok := c.slots(1e6, c.slack, pointer(maxSteps)); ok {
		t.Errorf("got %v, want a refusal of 1e14 slots", s)
	}
	in.Demand.ReduceWorkSeconds = 1
	if s, ok := newModelClass(&in).slots(1e6, c.slack, pointer(1)); ok {
		t.Errorf("got %v, want a refusal after one step", s)
	}
}

func TestSlotsOfOddSizesArePackedByTrying(t *testing.T) {
	m := &model{integrality: capacity.Executable}
	// Erratum E16 and after: one 1/2, two 1/3 and four 1/5 add up to less than two VMs and need three.
	m.classes = []*class{{perMap: 2, perReduce: 3}, {perMap: 5, perReduce: 1}}
	odd := []option{{slots: slotting{1, 2}}, {slots: slotting{4, 0}}}
	if m.packs(odd, whole(2)) || !m.packs(odd, whole(3)) {
		t.Error("1/2 + 2/3 + 4/5: want three VMs and not two")
	}
	if five := []option{{slots: slotting{5, 0}}, {}}; m.packs(five, whole(2)) || !m.packs(five, whole(3)) {
		t.Error("five halves: want three VMs and not two")
	}
	// All leftovers of sizes up to four fit the ceiling of their sum.
	for h := range int64(2) {
		for th := range int64(3) {
			for q := range int64(4) {
				m.classes = []*class{{perMap: 2, perReduce: 3}, {perMap: 4, perReduce: 1}}
				slots := []option{{slots: slotting{h, th}}, {slots: slotting{q, 0}}}
				sum := add(m.classes[0].size(whole(h), whole(th)), m.classes[1].size(whole(q), zero())).Ceil()
				if !m.packs(slots, new(exact.Rat).SetInt(sum)) {
					t.Errorf("%d halves, %d thirds, %d quarters do not fit %s VMs", h, th, q, sum)
				}
			}
		}
	}
}

// cheapest returns the objective of the best selection, by trying all.
func cheapest(m *model, classes []choice, i int, load, avoided *exact.Rat) *exact.Rat {
	if i == len(classes) {
		cost, ok := m.rent(new(exact.Rat).SetInt(load.Ceil()))
		if !ok {
			return nil
		}
		return sub(cost, avoided)
	}
	var best *exact.Rat
	for _, o := range classes[i].options {
		v := cheapest(m, classes, i+1, add(load, o.high), add(avoided, mul(m.classes[i].penalty, whole(o.jobs))))
		if v != nil && (best == nil || less(v, best)) {
			best = v
		}
	}
	return best
}

// fluid draws a problem of classes with given gamma, tied and coarse ones too.
func fluid(t *rapid.T) capacity.Problem {
	p := capacity.Problem{PeriodSeconds: rapid.SampledFrom([]int64{3600, 1000}).Draw(t, "period"), Options: capacity.DefaultOptions()}
	p.Supply.OnDemand.Price = cash("0.39")
	p.Supply.Contracts = []capacity.Contract{{Name: "a", VMs: int64(rapid.IntRange(0, 9).Draw(t, "a")), Price: cash("0.21"), Billing: capacity.BilledUsed}}
	if rapid.Bool().Draw(t, "limited") {
		p.Supply.OnDemand.Quota = pointer(int64(rapid.IntRange(2, 9).Draw(t, "quota")))
	}
	tied := rapid.Bool().Draw(t, "tied")
	grid := rapid.SampledFrom([]int64{1, 7, 350}).Draw(t, "grid")
	for k := range rapid.IntRange(2, 6).Draw(t, "classes") {
		gamma := decimal.New(grid*int64(rapid.IntRange(1, int(2000/grid)).Draw(t, "gamma")), -3)
		penalty := decimal.New(int64(rapid.IntRange(1, 900).Draw(t, "penalty")), -3)
		if tied {
			penalty = gamma.Mul(decimal.New(3, -1))
		}
		p.Classes = append(p.Classes, capacity.Class{Name: fmt.Sprint(k), VMsPerJob: &gamma, Penalty: money.Amount{Decimal: penalty},
			Jobs: capacity.JobRange{Max: float64(rapid.IntRange(1, 3).Draw(t, "jobs"))}})
	}
	return p
}

func TestTheSearchFindsWhatTryingAllFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(fluid(t), nil)
		lp := m.relax(zero())
		if !lp.feasible {
			t.Skip("infeasible")
		}
		far := add(lp.objective, whole(1_000_000))
		s, why := m.choices(lp, far)
		if s == nil {
			t.Fatal(why)
		}
		want := cheapest(m, s.classes, 0, zero(), zero())
		if want == nil {
			t.Skip("too few whole VMs")
		}
		f := m.search(s, far, defaultNodes, false)
		if f.better == nil || f.better.objective.Cmp(want) != 0 {
			t.Fatalf("got %+v, want a plan of %s", f, short(want))
		}
		table, _ := m.choices(lp, far)
		if d := newDense(table.classes, state{}, 100*defaultNodes); d != nil {
			d.fill(func() {})
			if sel, _ := m.finish(table, table.classes, far, d.ends(), d.back); sel == nil || sel.objective.Cmp(want) != 0 {
				t.Fatalf("by all weights: got %+v, want a plan of %s", sel, short(want))
			}
		} else {
			t.Fatal("the table of all weights is too large for so small a problem")
		}
		// At the optimum there is nothing better, slightly above it there is; a starved search must agree.
		for _, nodes := range []int{defaultNodes, 1} {
			s, _ = m.choices(lp, want)
			if f := m.search(s, want, nodes, false); f.better != nil || want.Cmp(f.bound) < 0 || nodes > 1 && f.bound.Cmp(want) < 0 {
				t.Fatalf("%d nodes: got %+v, want the bound %s and nothing better", nodes, f, short(want))
			}
		}
		hair := add(want, exact.New(1, 1e6))
		s, _ = m.choices(lp, hair)
		if f := m.search(s, hair, defaultNodes, true); f.better == nil {
			t.Fatalf("got %+v, want the plan of %s that is below %s", f, short(want), short(hair))
		}
	})
}

func TestAStarvedSearchSaysWhatItDoesNotKnow(t *testing.T) {
	p := nightly()
	p.Classes = nil
	for k := range 24 { // ties at no round figures, so nothing can be dropped early
		gamma := decimal.New(int64(1_000_003+k*k*7919%1_999_993), -6)
		p.Classes = append(p.Classes, capacity.Class{Name: fmt.Sprint(k), VMsPerJob: &gamma,
			Penalty: money.Amount{Decimal: gamma.Mul(decimal.New(15, -2))}, Jobs: capacity.JobRange{Max: 1}})
	}
	m := newModel(p, nil)
	lp := m.relax(zero())
	threshold := add(lp.objective, exact.New(1, 1e5))
	s, _ := m.choices(lp, threshold)
	f := m.search(s, threshold, 1, false)
	if f.bound.Cmp(threshold) >= 0 && f.better == nil {
		t.Fatalf("got %+v, which claims a proof that so few states cannot give", f)
	}
	if f.bound.Cmp(lp.objective) < 0 {
		t.Errorf("got the bound %s, want at least the linear program's %s", short(f.bound), short(lp.objective))
	}
}

// seeded is the documented generator of instances with penalties that make admission a question.
type seeded uint64

func (s *seeded) u(a, b float64) float64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return a + (b-a)*float64(z>>11)/(1<<53)
}

func (s *seeded) i(a, b int) int64 { return int64(a) + int64(s.u(0, 1)*float64(b-a+1)) }

func table(classes int, integrality capacity.Integrality) capacity.Problem {
	s := seeded(classes)
	p := nightly()
	p.Classes, p.Options.Integrality = nil, integrality
	p.Supply.OnDemand.Price, p.Supply.Contracts[0].Price = cash("27.13"), cash("11.07")
	for k := range classes {
		pr := &capacity.Profile{MapTasks: s.i(70, 700), ReduceTasks: s.i(32, 64), MapMaxSeconds: s.u(16, 120), ShuffleMaxSeconds: s.u(30, 150),
			ReduceMaxSeconds: s.u(15, 75), FirstShuffleMaxSeconds: s.u(10, 30)}
		pr.MapAvgSeconds, pr.ShuffleAvgSeconds = pr.MapMaxSeconds*s.u(.3, .7), pr.ShuffleMaxSeconds*s.u(.3, .7)
		pr.ReduceAvgSeconds, pr.FirstShuffleAvgSeconds = pr.ReduceMaxSeconds*s.u(.3, .7), pr.FirstShuffleMaxSeconds*s.u(.3, .7)
		c := capacity.Class{Name: fmt.Sprint(k), Profile: pr, SlotsPerVM: capacity.SlotsPerVM{Map: s.i(1, 4), Reduce: s.i(1, 4)}, DeadlineSeconds: s.u(600, 1200)}
		top := s.i(10, 30)
		c.Jobs = capacity.JobRange{Min: float64((9*top + 9) / 10), Max: float64(top)}
		gamma := newModelClass(&c).low.Float()
		c.Penalty = money.Round(gamma * (0.3*11.07 + (1.7*27.13-0.3*11.07)*s.u(0, 1)))
		p.Classes = append(p.Classes, c)
	}
	lp := newModel(p, nil).relax(zero())
	p.Supply.Contracts[0].VMs = new(big.Int).Div(lp.load.Floor(), big.NewInt(2)).Int64()
	return p
}

func newModelClass(c *capacity.Class) *class {
	x := newClass(c, capacity.AverageBound, true)
	return &x
}

// The usual sizes are decided within the default limit, at the gap a plan may have.
func TestOrdinaryProblemsAreDecided(t *testing.T) {
	for _, integrality := range []capacity.Integrality{capacity.Integer, capacity.Executable} {
		for _, n := range []int{3, 20, 100} {
			m := newModel(table(n, integrality), nil)
			lp := m.relax(zero())
			f, why := optimum(m, lp)
			if f.better == nil {
				t.Fatalf("%s, %d classes: no plan is found: %s", integrality, n, why)
			}
			best := f.better.objective
			threshold := sub(best, mul(relative, mul(whole(1000), abs(best))))
			r := &Report{}
			if f, why := r.look(m, lp, threshold, Options{Brief: true, Nodes: defaultNodes}); f.bound.Cmp(threshold) < 0 {
				t.Errorf("%s, %d classes: got the bound %s, want %s: %s", integrality, n, short(f.bound), short(threshold), why)
			}
		}
	}
}

// optimum searches below ever higher thresholds until there is a plan.
func optimum(m *model, lp relaxed) (f finding, why string) {
	r := &Report{}
	for step := mul(exact.New(1, 1e6), abs(lp.objective)); ; step = mul(step, whole(2)) {
		f, why = r.look(m, lp, add(lp.objective, step), Options{Brief: true, Nodes: defaultNodes})
		if f.better != nil || step.Cmp(abs(lp.objective)) > 0 {
			return f, why
		}
	}
}

func BenchmarkLook(b *testing.B) {
	for _, integrality := range []capacity.Integrality{capacity.Integer, capacity.Executable} {
		for _, n := range []int{20, 100, 1000} {
			m := newModel(table(n, integrality), nil)
			lp := m.relax(zero())
			f, why := optimum(m, lp)
			if f.better == nil {
				b.Fatal(why)
			}
			best := f.better.objective
			for _, gap := range []int64{1e6, 1e9} {
				b.Run(fmt.Sprint(integrality, "/", n, "/gap=1e-", len(fmt.Sprint(gap))-1), func(b *testing.B) {
					threshold := sub(best, quo(abs(best), whole(gap)))
					var f finding
					for range b.N {
						r := &Report{}
						f, _ = r.look(m, lp, threshold, Options{Brief: true, Nodes: defaultNodes})
					}
					left := quo(sub(threshold, f.bound), abs(best)).Float()
					b.ReportMetric(max(0, left)*1e9, "left-e9")
					b.ReportMetric(float64(f.states), "states")
				})
			}
		}
	}
}
