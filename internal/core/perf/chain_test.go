package perf

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/capacity"
)

// graph is a job of stages, each of which waits for some others.
type graph struct {
	tasks [][]float64 // of each stage, in the order of their starts
	after [][]int
}

// finish returns the end of the last task on slots of the job's own, none idle while a task could start. It draws the
// stage that a free slot serves.
func (g *graph) finish(slots int, r *rand.Rand) float64 {
	type task struct {
		end   float64
		stage int
	}
	var busy []task
	started, ended := make([]int, len(g.tasks)), make([]int, len(g.tasks))
	now := 0.0
	for {
		var ready []int
		for s := range g.tasks {
			waits := started[s] == len(g.tasks[s])
			for _, parent := range g.after[s] {
				waits = waits || ended[parent] < len(g.tasks[parent])
			}
			if !waits {
				ready = append(ready, s)
			}
		}
		if len(ready) > 0 && len(busy) < slots {
			s := ready[r.IntN(len(ready))]
			busy = append(busy, task{now + g.tasks[s][started[s]], s})
			started[s]++
			continue
		}
		if len(busy) == 0 {
			return now
		}
		next := 0
		for i := range busy {
			if busy[i].end < busy[next].end {
				next = i
			}
		}
		now = busy[next].end
		ended[busy[next].stage]++
		busy = append(busy[:next], busy[next+1:]...)
	}
}

// profile returns the profile of the job, with its stages in their order.
func (g *graph) profile() (p capacity.Profile) {
	for _, tasks := range g.tasks {
		s := capacity.Stage{Tasks: int64(len(tasks))}
		s.AvgSeconds, s.MaxSeconds = figures(tasks)
		p.Stages = append(p.Stages, s)
	}
	return p
}

// randomGraph draws a job: a chain, or stages that wait for some of those before them.
func randomGraph(r *rand.Rand, chained bool) *graph {
	g := &graph{}
	for s := range 1 + r.IntN(7) {
		g.tasks = append(g.tasks, randomTasks(r, 1+r.IntN(25)))
		after := []int{}
		for parent := range s {
			if chained && parent == s-1 || !chained && r.IntN(3) == 0 {
				after = append(after, parent)
			}
		}
		g.after = append(g.after, after)
	}
	return g
}

// The upper bound of a chain holds for stages in sequence and in parallel, and no execution is shorter than its work
// on all slots.
func TestStagesEndWithinTheBounds(t *testing.T) {
	r := seeded(40)
	for _, chained := range []bool{true, false} {
		closest, beside := 0.0, 0
		for range trials(10_000, 100_000) {
			g, slots := randomGraph(r, chained), 1+r.IntN(8)
			p := g.profile()
			p.OverheadSeconds = 3
			d := Demands(p)
			took := g.finish(slots, r) + p.OverheadSeconds
			if upper := Time(d.Upper, 1, float64(slots), 0); later(took, upper) {
				t.Fatalf("%v after %v on %d slots took %g s, more than %g", g.tasks, g.after, slots, took, upper)
			} else if slots > 1 {
				closest = max(closest, took/upper)
			}
			if lower := Time(d.Lower, 1, float64(slots), 0); later(lower, took) {
				t.Fatalf("%v after %v on %d slots took %g s, less than %g", g.tasks, g.after, slots, took, lower)
			}
			if later(g.line().finish(slots, r), took-p.OverheadSeconds) {
				beside++
			}
		}
		t.Logf("chained %v: the closest took %.3f of the bound, %d were shorter than in line", chained, closest, beside)
		if closest < 0.9 || chained != (beside == 0) || !chained && beside < 1000 {
			t.Errorf("chained %v: executions come to %.3f of the bound and %d gain by running beside one another; the test tries too little", chained, closest, beside)
		}
	}
}

// line returns the same stages one after the other.
func (g *graph) line() *graph {
	l := &graph{tasks: g.tasks, after: make([][]int, len(g.tasks))}
	for s := 1; s < len(g.tasks); s++ {
		l.after[s] = []int{s - 1}
	}
	return l
}

// One stage is a map-only job.
func TestOneStageIsAMapOnlyJob(t *testing.T) {
	r := seeded(41)
	for range trials(1000, 10_000) {
		tasks := randomTasks(r, 1+r.IntN(30))
		mean, longest := figures(tasks)
		overhead := 20 * r.Float64()
		stage := Demands(capacity.Profile{OverheadSeconds: overhead, Stages: []capacity.Stage{{Tasks: int64(len(tasks)), AvgSeconds: mean, MaxSeconds: longest}}})
		maps := Demands(capacity.Profile{OverheadSeconds: overhead, MapTasks: int64(len(tasks)), MapAvgSeconds: mean, MapMaxSeconds: longest})
		for _, bound := range []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound} {
			if s, m := stage.Of(bound), maps.Of(bound); !near(s.MapWorkSeconds, m.MapWorkSeconds) || !near(s.FixedSeconds, m.FixedSeconds) || s.ReduceWorkSeconds != 0 {
				t.Fatalf("%s: a stage is %+v, maps alone %+v", bound, s, m)
			}
		}
	}
}

// Thousands of stages are added as exactly as a few: within a last place or two of the exact sums.
func TestManyStagesAreAddedExactly(t *testing.T) {
	r := seeded(42)
	var p capacity.Profile
	work, ends := new(big.Rat), new(big.Rat)
	for range capacity.MaxStages {
		s := capacity.Stage{Tasks: 1 + r.Int64N(1000), AvgSeconds: math.Exp(12 * (r.Float64() - 0.5))}
		s.MaxSeconds = s.AvgSeconds * (1 + r.Float64()*float64(s.Tasks-1))
		p.Stages = append(p.Stages, s)
		w := new(big.Rat).Mul(new(big.Rat).SetInt64(s.Tasks), new(big.Rat).SetFloat64(s.AvgSeconds))
		two := new(big.Rat).SetFloat64(2 * s.MaxSeconds)
		work.Add(work, w)
		if two.Cmp(w) > 0 {
			two = w
		}
		ends.Add(ends, two)
	}
	d := Demands(p)
	for what, x := range map[string]struct {
		got  float64
		want *big.Rat
	}{"work": {d.Lower.MapWorkSeconds, work}, "what shrinks": {d.Upper.MapWorkSeconds, new(big.Rat).Sub(work, ends)}, "what does not": {d.Upper.FixedSeconds, ends}} {
		want, _ := x.want.Float64()
		if off := math.Abs(x.got-want) / d.Lower.MapWorkSeconds; off > 4e-16 {
			t.Errorf("%s: got %v, want %v, off by %g of the work", what, x.got, want, off)
		}
	}
}

// A calibrated time is the bound's times the factor, at any slots.
func TestACalibratedTimeIsTheBoundTimesTheFactor(t *testing.T) {
	r := seeded(43)
	for range trials(2000, 20_000) {
		d := Demands(randomGraph(r, true).profile())
		if r.IntN(2) == 0 {
			d = Demands(capacity.Profile{MapTasks: 50, MapAvgSeconds: 10 * r.Float64(), MapMaxSeconds: 12, ReduceTasks: 9, FirstShuffleAvgSeconds: 3 * r.Float64(), FirstShuffleMaxSeconds: 4,
				ShuffleAvgSeconds: 4 + r.Float64(), ShuffleMaxSeconds: 6, ReduceAvgSeconds: 1, ReduceMaxSeconds: 2, OverheadSeconds: 5})
		}
		c := capacity.Calibration{Bound: []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound}[r.IntN(3)], Factor: 0.1 + 2*r.Float64()}
		jobs, maps, reduces := float64(1+r.IntN(9)), 1+99*r.Float64(), 1+99*r.Float64()
		want := c.Factor * Time(d.Of(c.Bound), jobs, maps, reduces)
		if got := Time(d.Predicted(capacity.CalibratedBound, &c), jobs, maps, reduces); math.Abs(got-want) > 1e-12*math.Abs(want)+1e-9 {
			t.Fatalf("%+v: %g s, want %g", c, got, want)
		}
		if got := d.Predicted(capacity.UpperBound, &c); got != d.Upper {
			t.Fatalf("under the upper bound the calibration counts: %+v", got)
		}
		if got := d.Predicted(capacity.CalibratedBound, nil); got != d.Average {
			t.Fatalf("without a calibration it is %+v, want the average", got)
		}
	}
}
