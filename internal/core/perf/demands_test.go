package perf

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.org/headroom/internal/core/capacity"
)

// nightly is the profile of the documentation's example.
var nightly = capacity.Profile{
	MapTasks: 300, ReduceTasks: 40, MapAvgSeconds: 30, MapMaxSeconds: 60,
	FirstShuffleAvgSeconds: 12, FirstShuffleMaxSeconds: 20, ShuffleAvgSeconds: 40, ShuffleMaxSeconds: 90,
	ReduceAvgSeconds: 20, ReduceMaxSeconds: 50,
}

func TestDemandsOfTheReadmeExample(t *testing.T) {
	got := Demands(nightly)
	want := JobDemands{
		Lower:   capacity.Demand{MapWorkSeconds: 9000, ReduceWorkSeconds: 2400, FixedSeconds: -28},
		Average: capacity.Demand{MapWorkSeconds: 8940, ReduceWorkSeconds: 2260, FixedSeconds: 196},
		Upper:   capacity.Demand{MapWorkSeconds: 8880, ReduceWorkSeconds: 2120, FixedSeconds: 420},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("demands (-want +got):\n%s", diff)
	}
	// The times printed beside 52 map and 29 reduce slots for 10 jobs.
	for _, tt := range []struct {
		bound capacity.Bound
		want  float64
	}{{capacity.LowerBound, 2530.4}, {capacity.AverageBound, 2694.5}, {capacity.UpperBound, 2858.7}} {
		if time := Time(got.Of(tt.bound), 10, 52, 29); math.Abs(time-tt.want) > 0.05 {
			t.Errorf("%s time: got %.3f s, want %.1f s", tt.bound, time, tt.want)
		}
	}
}

// printed computes paper eqs. 1 to 3 as printed (with E1 corrected), without clamping.
func printed(p capacity.Profile) JobDemands {
	nm, nr := float64(p.MapTasks), float64(p.ReduceTasks)
	var d JobDemands
	d.Lower.MapWorkSeconds = nm * p.MapAvgSeconds
	d.Lower.ReduceWorkSeconds = nr * (p.ShuffleAvgSeconds + p.ReduceAvgSeconds)
	d.Lower.FixedSeconds = p.FirstShuffleAvgSeconds - p.ShuffleAvgSeconds
	d.Upper.MapWorkSeconds = nm*p.MapAvgSeconds - 2*p.MapMaxSeconds
	d.Upper.ReduceWorkSeconds = nr*p.ShuffleAvgSeconds - 2*p.ShuffleMaxSeconds + nr*p.ReduceAvgSeconds - 2*p.ReduceMaxSeconds
	d.Upper.FixedSeconds = 2*p.ShuffleMaxSeconds + p.FirstShuffleMaxSeconds + 2*p.MapMaxSeconds + 2*p.ReduceMaxSeconds
	d.Average.MapWorkSeconds = nm*p.MapAvgSeconds - p.MapMaxSeconds
	d.Average.ReduceWorkSeconds = nr*(p.ShuffleAvgSeconds+p.ReduceAvgSeconds) - p.ShuffleMaxSeconds - p.ReduceMaxSeconds
	d.Average.FixedSeconds = (p.FirstShuffleAvgSeconds-p.ShuffleAvgSeconds)/2 +
		p.ShuffleMaxSeconds + p.FirstShuffleMaxSeconds/2 + p.MapMaxSeconds + p.ReduceMaxSeconds
	return d
}

// tiny reports whether a phase is shorter than two of its longest tasks, so that the clamp binds.
func tiny(p capacity.Profile) bool {
	return float64(p.MapTasks)*p.MapAvgSeconds < 2*p.MapMaxSeconds ||
		float64(p.ReduceTasks)*(p.ShuffleAvgSeconds+p.ReduceAvgSeconds) < 2*(p.ShuffleMaxSeconds+p.ReduceMaxSeconds)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func nearDemand(a, b capacity.Demand) bool {
	return near(a.MapWorkSeconds, b.MapWorkSeconds) && near(a.ReduceWorkSeconds, b.ReduceWorkSeconds) &&
		near(a.FixedSeconds, b.FixedSeconds)
}

// profiles draws valid profiles with reduce tasks, often small ones, so that the clamp binds.
var profiles = rapid.Custom(func(t *rapid.T) capacity.Profile {
	count := rapid.Int64Range(1, rapid.SampledFrom([]int64{3, 30, 700}).Draw(t, "most tasks"))
	p := capacity.Profile{MapTasks: count.Draw(t, "map tasks"), ReduceTasks: count.Draw(t, "reduce tasks")}
	phase := func(name string, tasks int64) (mean, longest float64) {
		longest = rapid.Float64Range(0, 150).Draw(t, name+" longest")
		least := 1 / float64(tasks) // all but one task take no time
		return longest * rapid.Float64Range(least, 1).Draw(t, name+" mean"), longest
	}
	p.MapAvgSeconds, p.MapMaxSeconds = phase("map", p.MapTasks)
	p.ShuffleAvgSeconds, p.ShuffleMaxSeconds = phase("shuffle", p.ReduceTasks)
	p.ReduceAvgSeconds, p.ReduceMaxSeconds = phase("reduce", p.ReduceTasks)
	p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds = phase("first shuffle", p.ReduceTasks)
	p.OverheadSeconds = rapid.Float64Range(0, 60).Draw(t, "overhead")
	return p
})

func TestDemandsAreThePrintedOnesUnlessTiny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := profiles.Draw(t, "profile")
		p.OverheadSeconds = 0 // the paper has none
		got, want := Demands(p), printed(p)
		if !nearDemand(got.Lower, want.Lower) {
			t.Errorf("lower: got %v, want %v", got.Lower, want.Lower)
		}
		if tiny(p) {
			return
		}
		if !nearDemand(got.Upper, want.Upper) {
			t.Errorf("upper: got %v, want %v", got.Upper, want.Upper)
		}
		if !nearDemand(got.Average, want.Average) {
			t.Errorf("average: got %v, want %v", got.Average, want.Average)
		}
	})
}

func TestTimesFromDemands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := profiles.Draw(t, "profile")
		d := Demands(p)
		jobs := float64(rapid.Int64Range(1, 20).Draw(t, "jobs"))
		// From one slot per job on, as the bounds require.
		mapSlots := jobs * rapid.Float64Range(1, 50).Draw(t, "map slots per job")
		reduceSlots := jobs * rapid.Float64Range(1, 50).Draw(t, "reduce slots per job")
		at := func(d capacity.Demand) float64 { return Time(d, jobs, mapSlots, reduceSlots) }

		lower, average, upper := at(d.Lower), at(d.Average), at(d.Upper)
		if later(lower, average) || later(average, upper) {
			t.Errorf("lower, average, upper: got %g, %g, %g, want them ascending", lower, average, upper)
		}
		p.OverheadSeconds = 0
		bare, asPrinted := Demands(p), printed(p)
		if later(at(bare.Upper), at(asPrinted.Upper)) || later(at(bare.Average), at(asPrinted.Average)) {
			t.Errorf("clamped times %g and %g exceed the printed %g and %g",
				at(bare.Average), at(bare.Upper), at(asPrinted.Average), at(asPrinted.Upper))
		}
		overhead := lower - at(bare.Lower)
		p.OverheadSeconds = overhead
		for _, bound := range []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound} {
			if got, want := at(d.Of(bound)), at(bare.Of(bound))+overhead; !near(got, want) {
				t.Errorf("%s with an overhead of %g s: got %g, want %g", bound, overhead, got, want)
			}
			more := 1 + rapid.Float64Range(0, 3).Draw(t, "more slots")
			if got := Time(d.Of(bound), jobs, mapSlots*more, reduceSlots*more); later(got, at(d.Of(bound))) {
				t.Errorf("%s with %g times the slots: got %g, want at most %g", bound, more, got, at(d.Of(bound)))
			}
		}
	})
}

// With map and reduce pools of different sizes the phases add up to eq. 2 only if the shuffle is divided by the
// reduce slots; the paper's S_M in that place is wrong (E1).
func TestE1ShuffleRunsOnReduceSlots(t *testing.T) {
	const mapPerJob, reducePerJob = 5.0, 2.0
	phaseUpper := func(tasks int64, mean, longest, perJob float64) float64 {
		return (float64(tasks)*mean-2*longest)/perJob + 2*longest
	}
	p := nightly
	rest := phaseUpper(p.MapTasks, p.MapAvgSeconds, p.MapMaxSeconds, mapPerJob) + p.FirstShuffleMaxSeconds +
		phaseUpper(p.ReduceTasks, p.ReduceAvgSeconds, p.ReduceMaxSeconds, reducePerJob)
	got := Time(Demands(p).Upper, 1, mapPerJob, reducePerJob)
	if want := rest + phaseUpper(p.ReduceTasks, p.ShuffleAvgSeconds, p.ShuffleMaxSeconds, reducePerJob); !near(got, want) {
		t.Errorf("upper time: got %g, want the phases' sum %g", got, want)
	}
	if wrong := rest + phaseUpper(p.ReduceTasks, p.ShuffleAvgSeconds, p.ShuffleMaxSeconds, mapPerJob); near(got, wrong) {
		t.Errorf("upper time %g divides the shuffle by the map slots", got)
	}
}

// Not all coefficients are positive, as the paper claims (E7). C_low is negative if the first shuffle is shorter than
// the typical one, and A_up and B_up as printed are negative for tiny jobs.
func TestE7NegativeCoefficients(t *testing.T) {
	if c := Demands(nightly).Lower.FixedSeconds; c != -28 {
		t.Errorf("lower fixed time: got %g, want 12 - 40", c)
	}
	small := nightly
	small.MapTasks, small.ReduceTasks = 3, 2
	was, is := printed(small).Upper, Demands(small).Upper
	if was.MapWorkSeconds != -30 || was.ReduceWorkSeconds != -160 {
		t.Errorf("printed: got A=%g and B=%g, want -30 and -160", was.MapWorkSeconds, was.ReduceWorkSeconds)
	}
	if want := (capacity.Demand{FixedSeconds: 90 + 120 + 20}); is != want {
		t.Errorf("clamped: got %v, want all of it fixed: %v", is, want)
	}
	// As printed, more slots would make such a job slower.
	if few, many := Time(was, 1, 1, 1), Time(was, 1, 10, 10); many <= few {
		t.Errorf("printed form: got %g s on one slot and %g s on ten, want it to grow", few, many)
	}
	if few, many := Time(is, 1, 1, 1), Time(is, 1, 10, 10); many > few {
		t.Errorf("clamped form: got %g s on one slot and %g s on ten", few, many)
	}
}

func TestMapOnlyJobsHaveNoReduceTerms(t *testing.T) {
	p := nightly
	p.ReduceTasks, p.OverheadSeconds = 0, 7
	p.FirstShuffleMaxSeconds = 500 // reduce figures that nothing may read
	want := JobDemands{
		Lower:   capacity.Demand{MapWorkSeconds: 9000, FixedSeconds: 7},
		Average: capacity.Demand{MapWorkSeconds: 8940, FixedSeconds: 67},
		Upper:   capacity.Demand{MapWorkSeconds: 8880, FixedSeconds: 127},
	}
	got := Demands(p)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("demands (-want +got):\n%s", diff)
	}
	if time := Time(got.Upper, 10, 100, 0); time != 888+127 {
		t.Errorf("time without reduce slots: got %g, want 1015", time)
	}
}

func TestTimeWithoutSlots(t *testing.T) {
	if got := Time(capacity.Demand{FixedSeconds: 5}, 3, 0, 0); got != 5 {
		t.Errorf("no work: got %g, want the fixed 5", got)
	}
	if got := Time(capacity.Demand{MapWorkSeconds: 1}, 3, 0, 0); !math.IsInf(got, 1) {
		t.Errorf("work without slots: got %g, want +Inf", got)
	}
	if got := Time(capacity.Demand{MapWorkSeconds: 1, FixedSeconds: 5}, 0, 0, 0); got != 5 {
		t.Errorf("no jobs: got %g, want the fixed 5", got)
	}
}

// mapReduce runs a whole execution on slots of its own: list-scheduled maps, then reduce tasks, each a shuffle and a
// reduce. The first task on each slot has its first shuffle.
type mapReduce struct {
	maps, first, shuffles, reduces []float64
}

func (x mapReduce) time(mapSlots, reduceSlots int) float64 {
	tasks := make([]float64, len(x.reduces))
	for i := range tasks {
		tasks[i] = x.shuffles[i] + x.reduces[i]
		if i < reduceSlots {
			tasks[i] = x.first[i] + x.reduces[i]
		}
	}
	return dedicated(mapSlots, x.maps) + dedicated(reduceSlots, tasks)
}

func (x mapReduce) profile(reduceSlots int) capacity.Profile {
	p := capacity.Profile{MapTasks: int64(len(x.maps)), ReduceTasks: int64(len(x.reduces))}
	p.MapAvgSeconds, p.MapMaxSeconds = figures(x.maps)
	p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds = figures(x.first[:min(reduceSlots, len(x.first))])
	p.ShuffleAvgSeconds, p.ShuffleMaxSeconds = figures(x.shuffles)
	p.ReduceAvgSeconds, p.ReduceMaxSeconds = figures(x.reduces)
	return p
}

func randomMapReduce(r *rand.Rand) mapReduce {
	reduces := 1 + r.IntN(30)
	return mapReduce{
		maps: randomTasks(r, 1+r.IntN(60)), first: randomTasks(r, reduces),
		shuffles: randomTasks(r, reduces), reduces: randomTasks(r, reduces),
	}
}

func TestExecutionsOnTheirOwnSlotsKeepTheUpperBound(t *testing.T) {
	r := seeded(7)
	for range trials(10_000, 100_000) {
		x, mapSlots, reduceSlots := randomMapReduce(r), 1+r.IntN(12), 1+r.IntN(12)
		d := Demands(x.profile(reduceSlots))
		if time, upper := x.time(mapSlots, reduceSlots), Time(d.Upper, 1, float64(mapSlots), float64(reduceSlots)); later(time, upper) {
			t.Fatalf("%+v on %d map and %d reduce slots takes %g s, upper bound %g s", x, mapSlots, reduceSlots, time, upper)
		}
	}
}

// The lower form takes every shuffle for a typical one, so it is a bound only if the shuffles of one kind are alike.
func TestExecutionsOnTheirOwnSlotsKeepTheLowerBound(t *testing.T) {
	r := seeded(8)
	for range trials(3_000, 30_000) {
		x, mapSlots, reduceSlots := randomMapReduce(r), 1+r.IntN(12), 1+r.IntN(12)
		first, typical := r.Float64()*5, 5+r.Float64()*5
		for i := range x.reduces {
			x.first[i], x.shuffles[i] = first, typical
		}
		d := Demands(x.profile(reduceSlots))
		if time, lower := x.time(mapSlots, reduceSlots), Time(d.Lower, 1, float64(mapSlots), float64(reduceSlots)); later(lower, time) {
			t.Fatalf("%+v on %d map and %d reduce slots takes %g s, lower bound %g s", x, mapSlots, reduceSlots, time, lower)
		}
	}
}
