package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// knob is one input of a class that can be turned alone.
type knob struct {
	name    string
	current func(p capacity.Problem, i int) float64
	turn    func(p *capacity.Problem, i int, to float64)
	flip    func(f capacity.Flips) *float64
	most    float64
}

func ofMoney(m *money.Amount) *float64 {
	if m == nil {
		return nil
	}
	x := m.Float()
	return &x
}

var knobs = []knob{
	{
		"penalty",
		func(p capacity.Problem, i int) float64 { return p.Classes[i].Penalty.Float() },
		func(p *capacity.Problem, i int, to float64) { p.Classes[i].Penalty = plantest.ExactMoney(to) },
		func(f capacity.Flips) *float64 { return ofMoney(f.Penalty) }, money.Max,
	},
	{
		"deadline_s",
		func(p capacity.Problem, i int) float64 { return p.Classes[i].DeadlineSeconds },
		func(p *capacity.Problem, i int, to float64) { p.Classes[i].DeadlineSeconds = to },
		func(f capacity.Flips) *float64 { return f.DeadlineSeconds }, capacity.MaxSeconds,
	},
	{
		"on_demand_price",
		func(p capacity.Problem, i int) float64 { return p.Supply.OnDemand.Price.Float() },
		func(p *capacity.Problem, i int, to float64) { p.Supply.OnDemand.Price = plantest.ExactMoney(to) },
		func(f capacity.Flips) *float64 { return ofMoney(f.OnDemandPrice) }, money.Max,
	},
}

// at is the class's whole jobs in the relaxation with the knob turned; false where the value is
// impossible or leaves no plan.
func (k *knob) at(p capacity.Problem, i int, to float64) (float64, bool) {
	if k.name != "deadline_s" {
		to = max(to, 0)
	}
	if to < 0 || to > k.most {
		return 0, false
	}
	q := plantest.Copied(p)
	k.turn(&q, i, to)
	m, err := newModel(&q)
	if err != nil {
		return 0, false
	}
	relaxed, _ := newRelaxation(m)
	if relaxed == nil || m.classes[i].impossible && p.Classes[i].Jobs.Min > 0 {
		return 0, false
	}
	return whole(relaxed.jobs[i]), true
}

// gauge returns the precision of a knob's values: that of money by its places, and the unit of whole jobs.
func (k *knob) gauge(p capacity.Problem, i int, value float64) float64 {
	if k.name == "deadline_s" {
		return 1e-7 * max(value-p.Classes[i].Demand.FixedSeconds, 1e-3)
	}
	return 3e-9 + 1e-8*value
}

// critical is values near which something may happen: where the class is worth as much per VM as
// another, or as a price.
func (k *knob) critical(m *model, r *relaxation, i int) []float64 {
	var list []float64
	for _, theta := range r.steps {
		if theta == 0 {
			continue
		}
		switch c := &m.classes[i]; k.name {
		case "penalty":
			list = append(list, theta*c.gamma)
		case "on_demand_price":
			list = append(list, theta/m.hours)
		default:
			if c.slotted && c.penalty > 0 {
				list = append(list, c.shape.work.FixedSeconds+slackOf(c.shape, c.penalty/theta))
			}
		}
	}
	return list
}

// slackOf is the least time for the work at which a job takes at most gamma VMs, if any does.
func slackOf(s shape, gamma float64) float64 {
	low, high := 1e-6, capacity.MaxSeconds
	for range 100 {
		if s.slack = math.Sqrt(low * high); s.gamma() > gamma {
			low = s.slack
		} else {
			high = s.slack
		}
	}
	return high
}

// flipCount counts the answers that checkFlips has seen.
type flipCount struct{ given, none, atOnce int }

// checkFlips turns every knob of every class to its flip, and everywhere nearer.
func checkFlips(t *testing.T, r *rand.Rand, label string, p capacity.Problem, seen map[string]*flipCount) {
	t.Helper()
	m, relaxed := relax(t, p)
	if relaxed == nil {
		return
	}
	pl := solved(t, p)
	for i := range m.classes {
		for _, k := range knobs {
			if k.name == "deadline_s" && p.Classes[i].Demand == nil {
				if pl.Classes[i].Flips.DeadlineSeconds != nil {
					t.Errorf("%s class %d: a deadline flips a class that has none", label, i)
				}
				continue
			}
			current := k.current(p, i)
			now, _ := k.at(p, i, current)
			where := fmt.Sprintf("%s class %d %s (%g, gamma %g, %g jobs of %g..%g)", label, i, k.name, current, m.classes[i].gamma, now, p.Classes[i].Jobs.Min, p.Classes[i].Jobs.Max)
			if flip := k.flip(pl.Classes[i].Flips); flip != nil {
				seen[k.name].given++
				if !k.checkFlip(t, r, where, p, i, now, *flip, k.critical(m, relaxed, i)) {
					return
				}
				if *flip == current {
					seen[k.name].atOnce++
				}
				continue
			}
			seen[k.name].none++
			values := k.critical(m, relaxed, i)
			for _, x := range values[:len(values):len(values)] {
				values = append(values, x-2*k.gauge(p, i, x), x+2*k.gauge(p, i, x))
			}
			for range 40 {
				values = append(values, spread(p, k, i, current, math.Pow(10, 12*r.Float64()-6)))
			}
			for _, x := range values {
				if got, ok := k.at(p, i, x); ok && got != now {
					t.Errorf("%s: no flip, yet at %.12g there are %g jobs", where, x, got)
					return
				}
			}
		}
	}
}

// spread is the current value times a factor; of a deadline only its slack.
func spread(p capacity.Problem, k knob, i int, current, factor float64) float64 {
	if k.name == "deadline_s" {
		fixed := p.Classes[i].Demand.FixedSeconds
		return fixed + math.Abs(current-fixed)*factor
	}
	return max(current, 0.01) * factor
}

func (k *knob) checkFlip(t *testing.T, r *rand.Rand, where string, p capacity.Problem, i int, now, flip float64, critical []float64) bool {
	t.Helper()
	current, gauge := k.current(p, i), k.gauge(p, i, flip)
	distance := math.Abs(flip - current)
	// Beyond the flip the jobs are others.
	changed := false
	for _, side := range []float64{1, -1} {
		if distance > gauge && (flip-current)*side < 0 {
			continue
		}
		if got, ok := k.at(p, i, flip+side*gauge); ok && got != now {
			changed = true
		}
	}
	if !changed {
		t.Errorf("%s: flips at %.12g, but nothing changes there", where, flip)
		return false
	}
	// Nearer than the flip, on both sides, they are not.
	var values []float64
	for n := range 30 {
		share := r.Float64()
		if n == 0 {
			share = 1
		}
		values = append(values, current+distance*share, current-distance*share)
	}
	for _, x := range critical {
		values = append(values, x-2*gauge, x+2*gauge)
	}
	for _, x := range values {
		if math.Abs(x-current) > distance-gauge {
			x = current + math.Copysign(distance-gauge, x-current)
			if distance <= gauge {
				continue
			}
		}
		if got, ok := k.at(p, i, x); ok && got != now {
			t.Errorf("%s: flips at %.12g, but nearer, at %.12g, there are already %g jobs", where, flip, x, got)
			return false
		}
	}
	return true
}

func TestFlipsByHand(t *testing.T) {
	demand := func(mapWork, reduceWork, fixed, deadline float64, slots capacity.SlotsPerVM, penalty string) capacity.Class {
		return capacity.Class{
			Name: "a", Demand: &capacity.Demand{MapWorkSeconds: mapWork, ReduceWorkSeconds: reduceWork, FixedSeconds: fixed},
			DeadlineSeconds: deadline, SlotsPerVM: slots, Jobs: capacity.JobRange{Max: 10}, Penalty: plantest.AmountIn(t, penalty),
		}
	}
	none := math.NaN()
	for _, c := range []struct {
		name      string
		reserved  int64
		onDemand  string
		classes   []capacity.Class // the last is looked at
		penalty   float64
		deadline  float64
		rentPrice float64
	}{
		{"worth a contract's VM", 20, "3", []capacity.Class{plantest.ByGamma(t, "a", "2", "5", 0, 10)}, 2, none, none},
		{"part of it is worth a contract's VM", 10, "3", []capacity.Class{plantest.ByGamma(t, "a", "2", "5", 0, 10)}, 6, none, 2.5},
		{"the second of two that are worth the same", 3, "3",
			[]capacity.Class{plantest.ByGamma(t, "a", "1", "2.5", 0, 2), plantest.ByGamma(t, "b", "1", "2.5", 0, 2)}, 2.5, none, 2.5},
		{"jobs that take nothing", 3, "3", []capacity.Class{plantest.ByGamma(t, "a", "0", "5", 0, 2)}, 0, none, none},
		{"refusing costs nothing", 3, "3", []capacity.Class{plantest.ByGamma(t, "a", "1", "0", 0, 2)}, 1, none, none},
		// 100 s of map work in F s take 100/F slots, worth a VM at 1 each from F = 100/3 on.
		{"impossible deadline", 0, "1", []capacity.Class{demand(100, 0, 200, 100, capacity.SlotsPerVM{Map: 1, Reduce: 1}, "3")}, none, 200 + 100.0/3, none},
		// One slot of each kind is 7/12 VM, so that 4 VMs carry 6 jobs. More time helps none; six jobs
		// fit until a job takes 2/3 VM (paper eq. 29-30).
		{"one slot of each kind is more than needed", 4, "9", []capacity.Class{demand(100, 100, 0, 1000, capacity.SlotsPerVM{Map: 3, Reduce: 4}, "3")},
			63.0 / 12, math.Pow(math.Sqrt(100.0/3)+math.Sqrt(100.0/4), 2) / (2.0 / 3), 36.0 / 7},
		// One slot is taken from 4 s on, whatever more time there is, and a VM is worth just what it costs.
		{"a tie that more time does not break", 0, "2.49", []capacity.Class{demand(4, 0, 0, 25, capacity.SlotsPerVM{Map: 1, Reduce: 1}, "2.49")}, 2.49, none, 2.49},
		// Even a deadline of 0 leaves 50 s, in which a job takes 2 VMs at most.
		{"fixed time below zero", 0, "1", []capacity.Class{demand(100, 0, -50, 10, capacity.SlotsPerVM{Map: 1, Reduce: 1}, "3")}, 100.0 / 60, none, 1.8},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plantest.Market(t, c.reserved, "1", c.onDemand, capacity.Relaxed)
			p.Classes = c.classes
			i := len(c.classes) - 1
			f := solved(t, p).Classes[i].Flips
			want := []float64{c.penalty, c.deadline, c.rentPrice}
			for n, k := range knobs {
				got := none
				if x := k.flip(f); x != nil {
					got = *x
				}
				if math.IsNaN(got) != math.IsNaN(want[n]) || math.Abs(got-want[n]) > 1e-8 {
					t.Errorf("%s: got %.12g, want %.12g", k.name, got, want[n])
				}
			}
		})
	}
}

func TestFlipsAreTheNearestChange(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	seen := map[string]*flipCount{}
	for _, k := range knobs {
		seen[k.name] = new(flipCount)
	}
	for trial := range plantest.Trials(100, 30_000) {
		p := plantest.DrawProblem(t, r, 1+r.IntN(6), capacity.Relaxed)
		checkFlips(t, r, fmt.Sprintf("trial %d (floors %v)", trial, p.Options.OneSlotPerJob), p, seen)
		if t.Failed() {
			t.Logf("%+v", p.Supply)
			for _, c := range p.Classes {
				t.Logf("%+v %+v %v", c, c.Demand, c.VMsPerJob)
			}
			return
		}
	}
	for _, k := range knobs {
		c := seen[k.name]
		t.Logf("%s: %d flips, %d of them where the input stands, %d without", k.name, c.given, c.atOnce, c.none)
		if c.given < plantest.Trials(13, 4_000) || c.none < plantest.Trials(13, 4_000) {
			t.Errorf("%s: too few flips, or too few without", k.name)
		}
	}
}
