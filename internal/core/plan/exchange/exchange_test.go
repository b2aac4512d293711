package exchange

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"example.org/headroom/internal/core/plan/integer"
)

// tinyFleet draws a fleet whose plans can all be tried: loads in hundredths of a VM, a contract and dearer VMs up to a quota.
func tinyFleet(r *rand.Rand, classes int) *Fleet {
	f := &Fleet{Budget: math.Inf(1)}
	for range 2 {
		contract, quota := r.Int64N(4), 3+r.Int64N(4)
		low, high := 0.5+r.Float64(), 2+r.Float64()
		f.Types = append(f.Types, Type{Grid: integer.Grid{PerVM: 100}, Most: quota, Cost: func(n int64) float64 {
			if n > quota {
				return math.Inf(1)
			}
			return low*float64(min(n, contract)) + high*float64(max(0, n-contract))
		}})
		f.Nu = append(f.Nu, high)
	}
	if r.IntN(2) == 0 {
		f.Budget, f.Mu = 4+6*r.Float64(), 0.2*r.Float64()
	}
	weights := make([][2]int64, classes)
	stepped := r.IntN(2) == 0 // loads that are no multiple of one job's
	for i := range classes {
		weights[i] = [2]int64{20 + r.Int64N(130), 20 + r.Int64N(130)}
		f.Classes = append(f.Classes, Class{High: 1 + r.Int64N(3), Penalty: 3 * r.Float64(), Places: []int{0, 1, Outside}})
	}
	f.Units = func(class, kind int, jobs int64) int64 {
		load := weights[class][kind] * jobs
		if stepped {
			load = 10 * integer.CeilDiv(load, 10)
		}
		return load
	}
	return f
}

// added adds a plan up without the search, and says if it lacks nothing.
func added(f *Fleet, jobs [][]int64) (cost float64, fits bool) {
	spend := 0.0
	for v, t := range f.Types {
		load := -t.Grid.Tolerance
		for i := range jobs {
			load += f.Units(i, v, jobs[i][v])
		}
		n := int64(math.Ceil(float64(max(0, load)) / float64(t.Grid.PerVM)))
		if n > t.Most {
			return 0, false
		}
		spend += t.Cost(n)
	}
	for i, mix := range jobs {
		total := int64(0)
		for _, h := range mix {
			if h < 0 {
				return 0, false
			}
			total += h
		}
		if total < f.Classes[i].Low || total > f.Classes[i].High {
			return 0, false
		}
		cost -= f.Classes[i].Penalty * float64(total)
	}
	return cost + spend, spend <= f.Budget*(1+1e-12)
}

// best tries every plan.
func best(f *Fleet) float64 {
	least := math.Inf(1)
	jobs := make([][]int64, len(f.Classes))
	var visit func(i int)
	visit = func(i int) {
		if i == len(jobs) {
			if cost, fits := added(f, jobs); fits {
				least = min(least, cost)
			}
			return
		}
		for a := int64(0); a <= f.Classes[i].High; a++ {
			for b := int64(0); a+b <= f.Classes[i].High; b++ {
				jobs[i] = []int64{a, b}
				visit(i + 1)
			}
		}
	}
	visit(0)
	return least
}

func nothing(f *Fleet) [][]int64 {
	jobs := make([][]int64, len(f.Classes))
	for i := range jobs {
		jobs[i] = make([]int64, len(f.Types))
	}
	return jobs
}

func never() bool { return false }

// From a plan without any job, nearly every small fleet gets its best plan, and none a better one than there is.
func TestSmallFleetsGetTheirBestPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 1))
	reached, all := 0, 100
	for trial := range all {
		f := tinyFleet(r, 5)
		want := best(f)
		s := New(f, nothing(f))
		s.Improve(want-100, 2_000_000, never)
		jobs, cost := s.Best()
		if sum, fits := added(f, jobs); !fits || math.Abs(sum-cost) > 1e-9 || cost < want-1e-9 {
			t.Fatalf("trial %d: got %g, added up %g, fits %v; the best plan costs %g", trial, cost, sum, fits, want)
		}
		if cost < want+1e-9 {
			reached++
		}
	}
	t.Logf("%d of %d", reached, all)
	if reached < 90 {
		t.Errorf("%d of %d fleets got their best plan", reached, all)
	}
}

// Large fleets keep promises, quotas and budgets, get cheaper, and the same input gives the same plan.
func TestLargeFleetsLackNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 2))
	improved := 0
	for trial := range 20 {
		f := tinyFleet(r, 60)
		for v := range f.Types {
			f.Types[v].Most *= 8
			price := f.Nu[v]
			f.Types[v].Cost = func(n int64) float64 { return price * float64(n) }
		}
		start := nothing(f)
		for i := range 5 { // promised, and there
			f.Classes[i].Low, start[i][i%2] = 1, 1
		}
		f.Budget *= 20
		before, fits := added(f, start)
		if !fits {
			t.Fatalf("trial %d: the start does not fit", trial)
		}
		var plans [2][][]int64
		for k := range plans {
			s := New(f, copied(start))
			s.Improve(before-100, 3_000_000, never)
			jobs, cost := s.Best()
			if sum, fits := added(f, jobs); !fits || math.Abs(sum-cost) > 1e-6 || cost > before {
				t.Fatalf("trial %d: got %g, added up %g, fits %v, before %g", trial, cost, sum, fits, before)
			}
			plans[k] = copied(jobs)
			if cost < before {
				improved++
			}
		}
		if !reflect.DeepEqual(plans[0], plans[1]) {
			t.Fatalf("trial %d: two runs gave two plans", trial)
		}
	}
	if improved < 30 {
		t.Errorf("%d of 40 plans got cheaper", improved)
	}
}

func copied(jobs [][]int64) [][]int64 {
	list := make([][]int64, len(jobs))
	for i := range jobs {
		list[i] = append([]int64(nil), jobs[i]...)
	}
	return list
}

// The search ends with the time.
func TestImprovementEnds(t *testing.T) {
	f := tinyFleet(rand.New(rand.NewPCG(30, 3)), 50)
	s := New(f, nothing(f))
	asked := 0
	s.Improve(-1e9, math.MaxInt/2, func() bool { asked++; return asked > 3 })
	if asked > 5 {
		t.Errorf("went on after the end: asked %d times", asked)
	}
}
