package plan

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/test/plantest"
)

// shapeOf is the same class as planning sees it, read from seconds with three decimals. profiled
// classes have phases with tasks and no work left in them.
func shapeOf(t *testing.T, x plantest.Rational) shape {
	t.Helper()
	seconds := func(n int64) float64 { return float64(n) / 1000 }
	c := capacity.Class{DeadlineSeconds: seconds(x.Slack), SlotsPerVM: capacity.SlotsPerVM{Map: x.PerMap, Reduce: x.PerRed}}
	if x.HasMap && x.MapWork == 0 || x.HasReduce && x.RedWork == 0 {
		c.Profile = &capacity.Profile{MapTasks: 1}
		if x.HasReduce {
			c.Profile.ReduceTasks = 1
		}
	}
	s, possible := newShape(&c, capacity.Demand{MapWorkSeconds: seconds(x.MapWork), ReduceWorkSeconds: seconds(x.RedWork)}, x.One)
	if !possible {
		t.Fatalf("%+v: no time is left", x)
	}
	return s
}

// randomRational draws a class: figures with three decimals, or small whole seconds, where
// executions end exactly at their deadlines.
func randomRational(r *rand.Rand) plantest.Rational {
	x := plantest.Rational{PerMap: 1 + r.Int64N(8), PerRed: 1 + r.Int64N(8), One: r.IntN(2) == 0, HasMap: true, HasReduce: true}
	if r.IntN(3) == 0 {
		x.MapWork, x.RedWork, x.Slack = 1000*(1+r.Int64N(30)), 1000*(1+r.Int64N(30)), 1000*(1+r.Int64N(30))
	} else {
		x.Slack = 1 + r.Int64N(2_000_000)
		x.MapWork, x.RedWork = 1+r.Int64N(8*x.Slack), 1+r.Int64N(8*x.Slack)
	}
	if r.IntN(4) == 0 { // a phase that needs hardly any slots
		x.RedWork = 1 + x.RedWork/100
	}
	switch r.IntN(8) {
	case 0: // map-only
		x.RedWork, x.HasReduce = 0, false
	case 1: // a reduce phase whose clamped work is nothing
		x.RedWork = 0
	case 2: // the same of a map phase
		x.MapWork = 0
	case 3: // only a reduce phase, from a demand
		if r.IntN(2) == 0 {
			x.MapWork, x.HasMap = 0, false
		}
	}
	return x
}

func TestWholeSlotsEqualEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	tolerance := big.NewRat(1, 1e9)
	exact, hairline := 0, 0
	for trial := range plantest.Trials(10_000, 500_000) {
		x := randomRational(r)
		jobs := 1 + r.Int64N(40)
		if trial%100 == 0 {
			jobs = 1 + r.Int64N(50_000)
		}
		s := shapeOf(t, x)
		m, n := s.whole(jobs)
		wantM, wantN := x.Whole(jobs)
		if leastM, leastN := x.Least(jobs); m < leastM || n < leastN || m+n == 0 {
			t.Fatalf("%+v, %d jobs: got %d map and %d reduce slots, want at least %d and %d", x, jobs, m, n, leastM, leastN)
		}
		late := x.Late(jobs, m, n)
		if late.Cmp(tolerance) > 0 {
			t.Fatalf("%+v, %d jobs: %d map and %d reduce slots end %s of the slack late", x, jobs, m, n, late.FloatString(15))
		}
		if late.Sign() == 0 {
			exact++
		}
		cost, want := m*x.PerRed+n*x.PerMap, wantM*x.PerRed+wantN*x.PerMap
		if (cost < want || cost == want && m < wantM) && late.Sign() > 0 {
			hairline++ // cheaper because a billionth late: allowed
			continue
		}
		if m != wantM || n != wantN {
			t.Fatalf("%+v, %d jobs: got %d map and %d reduce slots, want %d and %d", x, jobs, m, n, wantM, wantN)
		}
	}
	if exact < plantest.Trials(50, 2000) || hairline > exact/10 {
		t.Errorf("%d executions ended exactly in time and %d were cheaper by the tolerance; want many and few", exact, hairline)
	}
}

func TestWholeSlotsGrowWithJobsAndCostAtLeastGamma(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for range plantest.Trials(150, 20_000) {
		x := randomRational(r)
		s := shapeOf(t, x)
		gamma := s.gamma()
		before := int64(0)
		for jobs := int64(1); jobs <= 60; jobs++ {
			m, n := s.whole(jobs)
			size := m*x.PerRed + n*x.PerMap // in units of 1/(perMap·perRed) VM
			if size < before {
				t.Fatalf("%+v: %d jobs take %d units of slots, one less %d", x, jobs, size, before)
			}
			before = size
			if vms := float64(size) / float64(x.PerMap*x.PerRed); vms < gamma*float64(jobs)*(1-1e-9) {
				t.Fatalf("%+v: %d jobs take %.12f VMs, less than gamma times jobs, %.12f", x, jobs, vms, gamma*float64(jobs))
			}
		}
	}
}

// The VMs that whole slots take above the formula, on the paper's Table 2. A program of its own measured once: mean
// .164, median .126, 90 % .373, 99 % .770 and most .969.
func TestWholeSlotsExtraOnTable2(t *testing.T) {
	var extra []float64
	sum := 0.0
	for seed := range uint64(5) {
		in, err := study.Generate("table2", 1000, seed+1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := in.Profiled()
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Classes {
			c := &p.Classes[i]
			s, possible := newShape(c, perf.Demands(*c.Profile).Of(capacity.AverageBound), true)
			if !possible {
				t.Fatalf("seed %d, class %d: no time is left", seed, i)
			}
			h := int64(c.Jobs.Max)
			m, n := s.whole(h)
			x := s.size(float64(m), float64(n)) - s.gamma()*float64(h)
			extra = append(extra, x)
			sum += x
		}
	}
	slices.Sort(extra)
	at := func(share float64) float64 { return extra[int(share*float64(len(extra)-1))] }
	for _, c := range []struct {
		name            string
		got, want, most float64
	}{
		{"mean", sum / float64(len(extra)), 0.164, 0.01}, {"median", at(0.5), 0.126, 0.01},
		{"90 %", at(0.9), 0.373, 0.04}, {"99 %", at(0.99), 0.770, 0.08}, {"most", at(1), 0.969, 0.05},
	} {
		if math.Abs(c.got-c.want) > c.most {
			t.Errorf("%s: got %.3f VMs above gamma times jobs, want %.3f", c.name, c.got, c.want)
		}
	}
}

// More than a million slots must neither overflow nor take long. A billionth of them is a slot, so
// that the tolerance of deadlines may save one.
func TestWholeSlotsOfHugeClasses(t *testing.T) {
	for _, c := range []struct {
		name string
		x    plantest.Rational
		jobs int64
	}{
		{"many jobs", plantest.Rational{MapWork: 3_600_000, RedWork: 7_200_000, Slack: 1_234_567, PerMap: 3, PerRed: 7, HasMap: true, HasReduce: true}, 300_000},
		{"as many jobs as there may be", plantest.Rational{MapWork: 3_600_000, RedWork: 7_200_000, Slack: 1_234_567, PerMap: 3, PerRed: 7, HasMap: true, HasReduce: true}, 1_000_000},
		{"a millisecond for hours of work", plantest.Rational{MapWork: 36_000_000, RedWork: 1000, Slack: 1, PerMap: 1000, PerRed: 1, HasMap: true, HasReduce: true, One: true}, 10},
	} {
		s := shapeOf(t, c.x)
		m, n := s.whole(c.jobs)
		if late := c.x.Late(c.jobs, m, n); late.Cmp(big.NewRat(1, 1e9)) > 0 {
			t.Errorf("%s: %d map and %d reduce slots end %s of the slack late", c.name, m, n, late.FloatString(12))
		}
		if size, least := s.size(float64(m), float64(n)), s.gamma()*float64(c.jobs); size < least*(1-1e-9) {
			t.Errorf("%s: %d map and %d reduce slots take %f VMs, less than gamma times jobs, %f", c.name, m, n, size, least)
		}
		wantM, wantN := c.x.Whole(c.jobs)
		if cost, want := m*c.x.PerRed+n*c.x.PerMap, wantM*c.x.PerRed+wantN*c.x.PerMap; cost > want {
			t.Errorf("%s: got %d map and %d reduce slots, want %d and %d", c.name, m, n, wantM, wantN)
		}
	}
}

// With the least time for their work, jobs take no more whole slots than there is room for; with a little less they do.
func TestLeastSlackIsWhatWholeSlotsTake(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 41))
	tried := 0
	for range 20_000 {
		x := randomRational(r)
		s, jobs := shapeOf(t, x), 1+r.Int64N(40)
		perVM := x.PerMap * x.PerRed
		units := func(slack float64) int64 {
			s.slack, s.latest = slack, wholeSlots{}
			mapSlots, redSlots := s.whole(jobs)
			return mapSlots*x.PerRed + redSlots*x.PerMap
		}
		room := units(s.slack*(0.3+2*r.Float64())) + r.Int64N(perVM+1)
		slack := s.leastSlack(jobs, room, perVM)
		if slack == 0 || math.IsInf(slack, 1) {
			continue
		}
		tried++
		if got := units(slack * (1 + 1e-13)); got > room {
			t.Fatalf("%+v: %d jobs take %d of %d within %g s", x, jobs, got, room, slack)
		}
		if got := units(slack * (1 - 1e-13)); got <= room {
			t.Fatalf("%+v: %d jobs take %d of %d within less than %g s", x, jobs, got, room, slack)
		}
	}
	if tried < 10_000 {
		t.Errorf("only %d were tried", tried)
	}
}
