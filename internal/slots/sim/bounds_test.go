package sim

import (
	"fmt"
	"math"
	"os"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// later reports whether a exceeds b by more than rounding.
func later(a, b float64) bool { return a > b+1e-9*(1+math.Abs(b)) }

// recorded returns a class of one map-only job with these tasks in this order.
func recorded(name string, at float64, tasks ...float64) Class {
	p := capacity.Profile{MapTasks: int64(len(tasks))}
	for _, s := range tasks {
		p.MapAvgSeconds += s / float64(len(tasks))
		p.MapMaxSeconds = max(p.MapMaxSeconds, s)
	}
	return Class{Name: name, Profile: p, Load: Load{Kind: Batch, Jobs: 1, AtSeconds: []float64{at}}, Tasks: Tasks{Kind: Recorded, MapSeconds: tasks}}
}

// The first part of the paper's Prop. 2.2 is false if idle slots are lent (E4): the one long task of the other job
// leaves its slots to this one.
func TestE4FirstFinisherBeatsThePapersLowerBound(t *testing.T) {
	short := Class{Name: "short", Profile: capacity.Profile{MapTasks: 45, MapAvgSeconds: 1, MapMaxSeconds: 1}, Load: Load{Kind: Batch, Jobs: 1}}
	r := simulate(t, Input{Slots: Slots{Shared: 10}, Classes: []Class{short, recorded("long", 0, 1000)}})
	claim := min(45.0*1/5, 1*1000.0/5)
	if got := r.Classes[0].Response.Max; got != 5 || claim != 9 {
		t.Errorf("the first to end: got %g s against a claim of %g s, want 5 s against 9 s", got, claim)
	}
	if got := *r.Classes[0].PlaceFromSubmission; r.Classes[0].Bounds.LowerSeconds != 9 || got != (Places{BelowLower: 1}) {
		t.Errorf("place: got %+v between %+v, want it below the lower bound of 9 s", got, *r.Classes[0].Bounds)
	}
	// With slots of its own it keeps to the bound.
	r = simulate(t, Input{Slots: Slots{Shared: 10}, Policy: Policy{Lending: LendClass}, Classes: []Class{short, recorded("long", 0, 1000)}})
	if got := r.Classes[0].Response.Max; got != 9 {
		t.Errorf("with 5 slots of its own: got %g s, want 9 s", got)
	}
}

// T_low is no bound for a single job if idle slots are lent (E5), even among jobs of the same tasks.
func TestE5LentSlotsBeatTheLowerBound(t *testing.T) {
	in := Input{Slots: Slots{Shared: 4}, Classes: []Class{recorded("a", 0, .2434, .4014, .2186, .8519), recorded("b", 0, .8519, .2186, .4014, .2434)}}
	r := simulate(t, in)
	b := r.Classes[1]
	if math.Abs(b.Response.Max-.8519) > 1e-12 || math.Abs(b.Bounds.LowerSeconds-.85765) > 1e-12 || b.PlaceFromSubmission.BelowLower != 1 {
		t.Errorf("second job: got %g s, lower bound %g s, place %+v; want 0.8519 s below 0.85765 s", b.Response.Max, b.Bounds.LowerSeconds, *b.PlaceFromSubmission)
	}
	if last := max(b.Response.Max, r.Classes[0].Response.Max); later(b.Bounds.LowerSeconds, last) {
		t.Errorf("the last of the batch ends at %g s, before the lower bound", last)
	}
	in.Policy.Lending = LendNone
	for _, c := range simulate(t, in).Classes {
		if c.PlaceFromSubmission.BelowLower != 0 {
			t.Errorf("with slots of its own job %s takes %g s, less than the lower bound of %g s", c.Name, c.Response.Max, c.Bounds.LowerSeconds)
		}
	}
}

// Prop. 2.5 counts from the first slot: from submission it does not hold (E6).
func TestE6UpperBoundCountsFromTheFirstSlot(t *testing.T) {
	r := simulate(t, Input{Slots: Slots{Shared: 2}, Classes: []Class{recorded("a", 0, 10, 10, 10), recorded("b", .5, 1, 1, 10)}})
	b := r.Classes[1]
	if b.Response.Max != 21.5 || b.Bounds.UpperSeconds != 12 || b.FromFirstSlot.Max != 12 {
		t.Errorf("second job: got %g s from submission and %g from its first slot, upper bound %g s; want 21.5, 12 and 12", b.Response.Max, b.FromFirstSlot.Max, b.Bounds.UpperSeconds)
	}
	if *b.PlaceFromSubmission != (Places{AboveUpper: 1}) || *b.PlaceFromFirstSlot != (Places{ToAverage: 1}) {
		t.Errorf("places: got %+v and %+v from the first slot, want it above the upper bound and at all three of 12 s", *b.PlaceFromSubmission, *b.PlaceFromFirstSlot)
	}
}

// trials returns half of the random cases of a test, and ten times all with HEADROOM_LONG=1.
func trials(n int) int {
	if os.Getenv("HEADROOM_LONG") != "" {
		return 10 * n
	}
	return n / 2
}

// drawProfile draws a job of the size of the paper's Table 2, or a smaller one.
func drawProfile(s *stream, small bool) capacity.Profile {
	between := func(a, b float64) float64 { return a + (b-a)*s.unit() }
	whole := func(a, b float64) int64 { return int64(between(a, b+1)) }
	p := capacity.Profile{MapTasks: whole(70, 700), ReduceTasks: whole(32, 64)}
	if small {
		p.MapTasks, p.ReduceTasks = whole(2, 15), whole(2, 8)
	}
	p.MapMaxSeconds, p.ShuffleMaxSeconds, p.ReduceMaxSeconds = between(16, 120), between(30, 150), between(15, 75)
	p.FirstShuffleMaxSeconds = between(10, 30)
	// The mean of n tasks is at least an n-th of the longest.
	p.MapAvgSeconds = p.MapMaxSeconds * between(.5, .7)
	p.ShuffleAvgSeconds = p.ShuffleMaxSeconds * between(.5, .7)
	p.ReduceAvgSeconds = p.ReduceMaxSeconds * between(.5, .7)
	p.FirstShuffleAvgSeconds = p.FirstShuffleMaxSeconds * between(.5, .7)
	return p
}

var taskKinds = []TaskKind{Constant, Uniform, Triangular, Lognormal}

// A job that has the cluster to itself keeps to the bounds of its own tasks (spec 1.9). The upper bound holds for any
// tasks, the lower one if all shuffles of a kind are alike.
func TestADedicatedJobKeepsToItsBounds(t *testing.T) {
	s := stream(11)
	executions, high := 0, 0.0
	for range trials(50) {
		p, kind := drawProfile(&s, s.unit() < .5), taskKinds[s.next()%4]
		slots := Slots{Map: 1 + int64(s.next()%80), Reduce: 1 + int64(s.next()%40)}
		after := s.unit()
		in := Input{Slots: slots, Seed: s.next(), HorizonSeconds: 1e9, Policy: Policy{ReducesAfter: &after}, Limits: Limits{Events: 201 * (p.MapTasks + p.ReduceTasks + 1)},
			Classes: []Class{{Name: "a", Profile: p, Load: Load{Kind: Closed, Users: 1}, Tasks: Tasks{Kind: kind}}}}
		if kind == Constant {
			in.Classes[0].Tasks.MapSeconds = []float64{1, 5, 90}
			in.Classes[0].Tasks.ReduceSeconds = []float64{1, 5, 90}
		}
		sim, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		sim.Finished = func(_ int, x Execution) {
			executions++
			own := x.Own
			if kind == Constant { // all shuffles of a kind are alike; those of the last wave may not have been drawn
				own.ShuffleAvgSeconds, own.ShuffleMaxSeconds = p.ShuffleAvgSeconds, p.ShuffleAvgSeconds
				own.FirstShuffleAvgSeconds, own.FirstShuffleMaxSeconds = p.FirstShuffleAvgSeconds, p.FirstShuffleAvgSeconds
			}
			d := perf.Demands(own)
			at := func(d capacity.Demand) float64 { return perf.Time(d, 1, float64(slots.Map), float64(slots.Reduce)) }
			took := x.FinishedSeconds - x.SubmittedSeconds
			if later(took, at(d.Upper)) {
				t.Fatalf("%+v on %+v takes %g s, upper bound %g s", own, slots, took, at(d.Upper))
			}
			if kind == Constant && later(at(d.Lower), took) {
				t.Fatalf("%+v on %+v takes %g s, lower bound %g s", own, slots, took, at(d.Lower))
			}
			// One phase: the lower bound of list scheduling, always.
			if shortest := max(own.MapAvgSeconds*float64(own.MapTasks)/float64(slots.Map), own.MapMaxSeconds); later(shortest, took) {
				t.Fatalf("%+v on %+v takes %g s, its maps alone %g s", own, slots, took, shortest)
			}
			high = max(high, took/at(d.Upper))
		}
		if err := sim.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if executions < trials(9_900) || high < .9 {
		t.Errorf("%d executions, the highest at %.2f of its upper bound; want ten thousand and some near it", executions, high)
	}
	t.Logf("%d executions, the highest at %.3f of its upper bound", executions, high)
}

// Counts the places of a shared cluster's executions between their bounds (spec 1.9), with two slots a job and more.
// With slots of its own no execution takes longer, from its first slot, than the upper bound of its own tasks. It
// exceeds the profile's bound if its tasks happen to be longer than the profile's mean.
//
// If slots are lent, others' tasks make up for that, but a job may lack slots it should have (E6). None of Table 2's
// size then takes longer than the profile's upper bound, and one in two thousand longer than its own. With one slot a
// job more do.
func TestPlacesBetweenTheBounds(t *testing.T) {
	for _, size := range []string{"table 2", "tiny"} {
		for _, load := range []LoadKind{Batch, Closed} {
			for _, lending := range []Lending{LendAll, LendNone} {
				t.Run(fmt.Sprintf("%s/%s/lend %s", size, load, lending), func(t *testing.T) {
					s := stream(21)
					var first, submission Places
					beyond := 0 // executions beyond the bound of their own tasks
					for range trials(8) {
						jobs := 2 + int64(s.next()%5)
						perJob := 2 + int64(s.next()%15)
						in := Input{Slots: Slots{Map: perJob * jobs, Reduce: (1 + perJob/2) * jobs}, Seed: s.next(), Policy: Policy{Lending: lending}, Replications: 6,
							Classes: []Class{{Name: "a", Profile: drawProfile(&s, size == "tiny"), Tasks: Tasks{Kind: Lognormal}, Jobs: jobs, Load: Load{Kind: Batch, Jobs: jobs}}}}
						if load == Closed {
							in.Classes[0].Load = Load{Kind: Closed, Users: jobs, ThinkSeconds: 60}
							in.HorizonSeconds = 1e9
							in.Limits.Events = 8 * jobs * (in.Classes[0].Profile.MapTasks + in.Classes[0].Profile.ReduceTasks)
						}
						sim, err := New(in)
						if err != nil {
							t.Fatal(err)
						}
						sim.Finished = func(_ int, x Execution) {
							upper := perf.Time(perf.Demands(x.Own).Upper, 1, float64(perJob), float64(1+perJob/2))
							if took := x.FinishedSeconds - x.FirstSlotSeconds; later(took, upper) {
								beyond++
								if lending == LendNone {
									t.Errorf("%+v takes %g s on %d slots a job, upper bound %g s", x.Own, took, perJob, upper)
								}
							}
						}
						if err := sim.Work(t.Context()); err != nil {
							t.Fatal(err)
						}
						c := sim.Report().Classes[0]
						first.merge(*c.PlaceFromFirstSlot)
						submission.merge(*c.PlaceFromSubmission)
					}
					n := first.BelowLower + first.ToAverage + first.ToUpper + first.AboveUpper
					percent := func(p Places) string {
						of := func(x int64) float64 { return 100 * float64(x) / float64(n) }
						return fmt.Sprintf("%5.1f %% below, %5.1f to average, %5.1f to upper, %5.2f above", of(p.BelowLower), of(p.ToAverage), of(p.ToUpper), of(p.AboveUpper))
					}
					t.Logf("%5d executions, %d beyond the bound of their own tasks; from the first slot %s; from submission %s", n, beyond, percent(first), percent(submission))
					if size == "table 2" && lending == LendAll && first.AboveUpper > 0 {
						t.Errorf("%d of %d executions take longer than their upper bound", first.AboveUpper, n)
					}
					if float64(max(int64(beyond), first.AboveUpper)) > .01*float64(n) {
						t.Errorf("%d of %d executions take longer than their profile's upper bound, %d than their own, more than is known", first.AboveUpper, n, beyond)
					}
				})
			}
		}
	}
}
