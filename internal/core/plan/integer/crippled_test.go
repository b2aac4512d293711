package integer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// gridProblem draws an instance whose loads are whole or tenths and whose classes are too many to
// enumerate: the search needs all its steps for it.
func gridProblem(r *rand.Rand) Instance { return gridOf(r, 6+r.IntN(25)) }

func gridOf(r *rand.Rand, n int) Instance {
	perVM := []float64{1, 1, 2, 10}[r.IntN(4)]
	kind := r.IntN(5)
	reserved := 1 + float64(r.IntN(500))/100
	onDemand := reserved + 0.01 + float64(r.IntN(500))/100
	middle := (reserved + onDemand) / 2
	var in Instance
	demand := 0.0
	for range n {
		g := (1 + float64(r.IntN(30))) / perVM
		if r.IntN(12) == 0 {
			g *= 10 // a few huge classes
		}
		worth := middle * g
		switch kind {
		case 0: // free
			worth = g * (reserved + (onDemand-reserved)*r.Float64())
		case 1: // strongly correlated
			worth += middle
		case 2:
			worth = max(0, worth-middle)
		case 3: // in steps
			worth = 3 * middle * math.Ceil(g/3)
		}
		low := int64(0)
		if r.IntN(4) == 0 {
			low = r.Int64N(3)
		}
		high := low + 1 + r.Int64N(6)
		in.Gamma, in.Penalty = append(in.Gamma, g), append(in.Penalty, math.Round(worth*1e4)/1e4)
		in.Low, in.High = append(in.Low, low), append(in.High, high)
		demand += g * float64(high)
	}
	in.Supply = []Tier{{int64(demand * 0.3), reserved}, {int64(demand * 0.3 * r.Float64()), middle * 0.99}, {Unlimited, onDemand}}
	if r.IntN(3) == 0 {
		in.Supply[2].VMs = int64(demand * 0.2)
	}
	return in
}

// optimum is the best objective over every load there is, by a program over all loads: a third way
// beside the search and enumeration. perVM is a grid on which all loads are whole.
func optimum(in Instance, perVM int64) (best float64, feasible bool) {
	weight := make([]int, len(in.Gamma))
	base, span := 0, 0
	worth := 0.0
	for i, g := range in.Gamma {
		weight[i] = int(math.Round(g * float64(perVM)))
		base += weight[i] * int(in.Low[i])
		span += weight[i] * int(in.High[i]-in.Low[i])
		worth += in.Penalty[i] * float64(in.Low[i])
	}
	most := make([]float64, span+1) // most penalties avoided with exactly so much load above the base
	for s := range most {
		most[s] = math.Inf(-1)
	}
	most[0] = worth
	for i, w := range weight {
		for range in.High[i] - in.Low[i] { // job by job
			for s := span; s >= w; s-- {
				if x := most[s-w] + in.Penalty[i]; x > most[s] {
					most[s] = x
				}
			}
		}
	}
	best = math.Inf(1)
	tiers := NewSupply(in.Supply)
	for s, x := range most {
		vms := (int64(base+s) + perVM - 1) / perVM
		if z := tiers.Cost(vms) - x; z < best {
			best, feasible = z, true
		}
	}
	return best, feasible
}

// cripples are efforts that are too small for most instances.
var cripples = []struct {
	name string
	effort
	spent int64 // checks of the clock until the time is up; 0: never
}{
	{"no joins, hardly any nodes", effort{nodes: 20}, 0},
	{"no joins, some nodes", effort{nodes: 300}, 0},
	{"small joins, no nodes", effort{classes: 4, states: 8, window: 1, tries: 1, nodes: 1}, 0},
	{"no joins, no limit", effort{nodes: 3_000_000}, 0},
	{"out of time", lightEffort, 3},
	{"out of time later", solidEffort, 40},
}

// clock is a deadline that passes after so many looks at it.
func clock(spent int64) func() bool {
	looks := int64(0)
	return func() bool { looks++; return spent > 0 && looks > spent }
}

// checkGap checks a plan's figures, and reports if its gap is open.
func checkGap(t *testing.T, name string, got Result, want float64, problem any) (open bool) {
	t.Helper()
	noise := 1e-9 * math.Max(1, math.Abs(want))
	if got.Objective < want-noise {
		t.Fatalf("%s: got %.9f, below the optimum %.9f\n%+v", name, got.Objective, want, problem)
	}
	if got.Objective-want > got.Gap+noise {
		t.Fatalf("%s: %.9f from optimal, says %.9f\n%+v", name, got.Objective-want, got.Gap, problem)
	}
	return got.Gap > noise
}

// A search that gives up early still says how far from optimal its plan is at most.
func TestGapsHoldWhenTheSearchIsCrippled(t *testing.T) {
	efforts := cripples
	r := rand.New(rand.NewPCG(61, 1))
	open := make([]int, len(efforts))
	instances := plantest.Trials(600, 20_000)
	for trial := range instances {
		in := gridProblem(r)
		want, feasible := optimum(in, 10)
		for k, e := range efforts {
			l := NewLinear(in)
			if l.relax() != feasible {
				t.Fatalf("trial %d: feasible %v, want %v\n%+v", trial, !feasible, feasible, in)
			}
			if !feasible {
				break
			}
			s := newSearch(l, l.supply.at(l.nu, l.PerVM()), l.baseLoad, l.slack, clock(e.spent))
			s.run(0, e.effort)
			if checkGap(t, fmt.Sprintf("trial %d, %s", trial, e.name), s.result(l, l.base), want, in) {
				open[k]++
			}
		}
	}
	for k, e := range efforts {
		t.Logf("%s: %d of %d gaps left open", e.name, open[k], instances)
	}
	if open[0] < instances/4 || open[2] < instances/10 || open[4] < instances/10 {
		t.Errorf("gaps left open by effort: %v; the crippled ones must leave many", open)
	}
}

// The same holds for whole slots and dedicated VMs, where jobs have no common load.
func TestGapsOfSlotsHoldWhenTheSearchIsCrippled(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 1))
	open := 0
	for trial := range plantest.Trials(1000, 20_000) {
		sharing := []capacity.Sharing{capacity.Shared, capacity.Dedicated}[trial%2]
		p := plantest.Sample{Classes: 4, Width: 8, Slots: 4, Integrality: capacity.Executable, Sharing: sharing}.Problem(r)
		b := plantest.NewBrute(p)
		best, _, feasible := b.Best()
		if b.Short {
			continue
		}
		for _, e := range cripples {
			o := bruteOptions(t, &p, b)
			if o.relax() != feasible {
				t.Fatalf("trial %d: feasible %v, want %v\n%s", trial, !feasible, feasible, plantest.Text(p))
			}
			if !feasible {
				break
			}
			s := newSearch(o, o.supply.at(o.nu, o.PerVM()), o.baseLoad, 0, clock(e.spent))
			s.run(0, e.effort)
			want := float64(best-b.Fixed) / 1e6
			if checkGap(t, fmt.Sprintf("trial %d, %s", trial, e.name), s.result(o, o.base), want, plantest.Text(p)) {
				open++
			}
		}
	}
	if open < plantest.Trials(100, 2000) {
		t.Errorf("%d gaps left open, want more", open)
	}
}
