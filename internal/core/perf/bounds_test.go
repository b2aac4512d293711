package perf

import (
	"math"
	"slices"
	"testing"

	"example.org/headroom/internal/core/capacity"
)

// ask answers a question that must be answerable.
func ask[A Answer](t *testing.T, q BoundsQuestion) A {
	t.Helper()
	a, err := Bounds(q)
	if err != nil {
		t.Fatalf("the question %+v is refused: %v", q, err)
	}
	return a.(A)
}

func askPhase(t *testing.T, tasks []float64, slots int) PhaseAnswer {
	t.Helper()
	mean, longest := figures(tasks)
	return ask[PhaseAnswer](t, BoundsQuestion{Phase: &PhaseQuestion{
		Tasks: int64(len(tasks)), MeanSeconds: mean, MaxSeconds: longest, Slots: int64(slots)}})
}

func askTwoJobs(t *testing.T, slots int, tasks [2][]float64, shares [2]float64) TwoJobsAnswer {
	t.Helper()
	q := TwoJobsQuestion{Slots: int64(slots)}
	for i := range tasks {
		mean, longest := figures(tasks[i])
		q.Jobs = append(q.Jobs, PairedJob{Tasks: int64(len(tasks[i])), MeanSeconds: mean, MaxSeconds: longest, Share: shares[i]})
	}
	return ask[TwoJobsAnswer](t, BoundsQuestion{TwoJobs: &q})
}

func askShared(t *testing.T, tasks []float64, slots, jobs int) SharedPhaseAnswer {
	t.Helper()
	mean, longest := figures(tasks)
	return ask[SharedPhaseAnswer](t, BoundsQuestion{SharedPhase: &SharedPhaseQuestion{
		Tasks: int64(len(tasks)), MeanSeconds: mean, MaxSeconds: longest, Slots: int64(slots), Share: 1, Jobs: int64(jobs)}})
}

func TestPhaseKeepsItsBounds(t *testing.T) {
	r := seeded(2)
	tight := 0
	for range trials(10_000, 100_000) {
		tasks, slots := randomTasks(r, 1+r.IntN(40)), 1+r.IntN(10)
		a := askPhase(t, tasks, slots)
		time := dedicated(slots, tasks)
		if later(a.LowerSeconds, time) || later(time, a.UpperSeconds) {
			t.Fatalf("%v on %d slots takes %g s, bounds %g to %g", tasks, slots, time, a.LowerSeconds, a.UpperSeconds)
		}
		if time >= a.UpperSeconds {
			tight++
		}
	}
	if tight == 0 {
		t.Error("no schedule reaches the upper bound; it is not the tight one")
	}
}

// The bound improves on ARIA's (n-1)μ/k + λ by (λ-μ)/k, not by λ-μ (E2).
func TestE2ImprovementOverARIA(t *testing.T) {
	a := ask[PhaseAnswer](t, BoundsQuestion{Phase: &PhaseQuestion{Tasks: 30, MeanSeconds: 4, MaxSeconds: 10, Slots: 8}})
	aria := (30.0-1)*4/8 + 10
	if got, want := aria-a.UpperSeconds, (10.0-4)/8; !near(got, want) {
		t.Errorf("improvement: got %g s, want %g s", got, want)
	}
}

func TestTwoJobsKeepTheirBounds(t *testing.T) {
	r := seeded(3)
	for range trials(10_000, 100_000) {
		tasks := [2][]float64{randomTasks(r, 1+r.IntN(25)), randomTasks(r, 1+r.IntN(25))}
		slots := 2 + r.IntN(9)
		first := 1 + r.IntN(slots-1)
		shares := []int{first, slots - first}
		// Only the whole slots of a share are handed out.
		fraction := float64(r.IntN(2)) * r.Float64() * .99
		given := [2]float64{float64(shares[0]) + fraction, float64(shares[1])}
		if fraction > 0 && shares[1] > 1 {
			given[1] -= fraction
			shares[1]--
		} else {
			given[0] = float64(shares[0])
		}
		a := askTwoJobs(t, slots, tasks, given)
		jobs := run(slots, []*execution{{tasks: tasks[0]}, {tasks: tasks[1]}}, sharesFirst(shares, r), 0, nil)
		for i, x := range jobs {
			if later(a.Jobs[i].LowerSeconds, x.finish) || later(x.finish, a.Jobs[i].UpperSeconds) {
				t.Fatalf("job %d of %v with shares %v of %d ends at %g s, bounds %+v", i, tasks, given, slots, x.finish, a.Jobs[i])
			}
		}
		if last := max(jobs[0].finish, jobs[1].finish); later(a.LastLowerSeconds, last) {
			t.Fatalf("%v on %d slots ends at %g s, lower bound %g s", tasks, slots, last, a.LastLowerSeconds)
		}
	}
}

// The paper splits the upper bound by whether the other job's work lasts while this one runs on its share; the
// smaller of both cases is the same.
func TestTwoJobsUpperIsThePapersCaseSplit(t *testing.T) {
	r := seeded(4)
	var own, all int
	for range 2_000 {
		tasks := [2][]float64{randomTasks(r, 1+r.IntN(60)), randomTasks(r, 1+r.IntN(60))}
		slots := 2 + r.IntN(20)
		first := 1 + r.IntN(slots-1)
		shares := [2]float64{float64(first), float64(slots - first)}
		a := askTwoJobs(t, slots, tasks, shares)
		for i := range tasks {
			mean, longest := figures(tasks[i])
			work := mean*float64(len(tasks[i])) - longest
			otherMean, _ := figures(tasks[1-i])
			other := otherMean * float64(len(tasks[1-i]))
			want := work/shares[i] + longest
			if work*shares[1-i]/shares[i] > other {
				want = (other+work)/float64(slots) + longest
				all++
			} else {
				own++
			}
			if got := a.Jobs[i].UpperSeconds; !near(got, want) {
				t.Fatalf("job %d of %v with shares %v: got %g, want %g", i, tasks, shares, got, want)
			}
		}
	}
	if own < 100 || all < 100 {
		t.Errorf("cases drawn: %d on the own share, %d on all slots; want both often", own, all)
	}
}

// The first part of Prop. 2.2 is false if idle slots are lent (E4): the long task of the other job leaves its slots
// to this one.
func TestE4FirstFinisherBeatsThePapersLowerBound(t *testing.T) {
	short, long := slices.Repeat([]float64{1}, 45), []float64{1000}
	jobs := run(10, []*execution{{tasks: short}, {tasks: long}}, sharesFirst([]int{5, 5}, seeded(1)), 0, nil)
	claim := min(45.0*1/5, 1*1000.0/5)
	if jobs[0].finish != 5 || claim != 9 {
		t.Errorf("first finisher: got %g s against a claim of %g s, want 5 s against 9 s", jobs[0].finish, claim)
	}
	a := askTwoJobs(t, 10, [2][]float64{short, long}, [2]float64{5, 5})
	if a.Jobs[0].LowerSeconds != 4.5 || a.LastLowerSeconds != 1000 {
		t.Errorf("lower bounds: got %g and %g s at last, want 4.5 and 1000", a.Jobs[0].LowerSeconds, a.LastLowerSeconds)
	}
}

func TestSharedPhaseKeepsItsBoundsWhenPartitioned(t *testing.T) {
	r := seeded(5)
	for range trials(5_000, 50_000) {
		perJob, count := 1+r.IntN(5), 1+r.IntN(5)
		base := randomTasks(r, 1+r.IntN(30))
		a := askShared(t, base, perJob*count, count)
		var jobs []*execution
		var shares []int
		for range count {
			jobs = append(jobs, &execution{submit: r.Float64() * 5, tasks: shuffled(base, r)})
			shares = append(shares, perJob)
		}
		for _, x := range run(perJob*count, jobs, partitioned(shares...), 0, nil) {
			if time := x.finish - x.submit; later(a.LowerSeconds, time) || later(time, a.UpperSeconds) {
				t.Fatalf("%v on %d slots of its own takes %g s, bounds %+v", x.tasks, perJob, time, a)
			}
		}
	}
}

// If idle slots are lent, the lower bound of Prop. 2.4 does not hold for each job (E5), but it does for the last of a
// batch.
func TestE5LentSlotsBeatTheLowerBound(t *testing.T) {
	tasks := []float64{.2434, .4014, .2186, .8519}
	reversed := slices.Clone(tasks)
	slices.Reverse(reversed)
	jobs := run(4, []*execution{{tasks: tasks}, {tasks: reversed}}, oldestBelowShare(2), 0, nil)
	a := askShared(t, tasks, 4, 2)
	if first := min(jobs[0].finish, jobs[1].finish); !near(first, .8519) || !near(a.LowerSeconds, .857650) {
		t.Errorf("first job: got %g s against a lower bound of %g s, want 0.8519 s against 0.85765 s", first, a.LowerSeconds)
	}
	r := seeded(6)
	violated := 0
	for range trials(3_000, 30_000) {
		perJob, count := 1+r.IntN(4), 2+r.IntN(4)
		base := randomTasks(r, 1+r.IntN(20))
		a := askShared(t, base, perJob*count, count)
		jobs := make([]*execution, count)
		for i := range jobs {
			jobs[i] = &execution{tasks: shuffled(base, r)}
		}
		last := 0.0
		for _, x := range run(perJob*count, jobs, oldestBelowShare(perJob), 0, nil) {
			last = max(last, x.finish)
			if later(a.LowerSeconds, x.finish) {
				violated++
			}
		}
		if later(a.LowerSeconds, last) {
			t.Fatalf("the last of %d jobs of %v ends at %g s, lower bound %g s", count, base, last, a.LowerSeconds)
		}
	}
	if violated == 0 {
		t.Error("no job of a batch beat the lower bound; calling it an estimate would be wrong")
	}
}

// Prop. 2.5 counts from the first slot: from submission it does not hold (E6).
func TestE6UpperBoundCountsFromTheFirstSlot(t *testing.T) {
	second := []float64{1, 1, 10}
	jobs := run(2, []*execution{{tasks: []float64{10, 10, 10}}, {submit: .5, tasks: second}}, oldestBelowShare(1), 0, nil)
	a := askShared(t, second, 2, 2)
	if time := jobs[1].finish - jobs[1].submit; time != 21.5 || a.UpperSeconds != 12 || a.UpperFromSubmissionSeconds != 22 {
		t.Errorf("second job: got %g s against %g and %g s, want 21.5 s against 12 and 22 s",
			time, a.UpperSeconds, a.UpperFromSubmissionSeconds)
	}
}

// A closed system that lends idle slots: when a job ends, the next one of the class is submitted.
func TestSharedPhaseKeepsItsUpperBoundsInAClosedSystem(t *testing.T) {
	r := seeded(9)
	var late, starved, uneven int
	for range trials(1_500, 15_000) {
		count := 2 + r.IntN(4)
		slots := count + r.IntN(4*count)
		base := randomTasks(r, 1+r.IntN(40))
		a := askShared(t, base, slots, count)
		whole := slots / count
		even := askShared(t, base, whole*count, count)
		_, ramp := figures(base)
		think := float64(r.IntN(2)) * a.LowerSeconds / 10

		var jobs []*execution
		for range count {
			jobs = append(jobs, &execution{submit: r.Float64() * a.LowerSeconds, tasks: shuffled(base, r)})
		}
		left := 3 * count
		next := func(now float64) []*execution {
			if left == 0 {
				return nil
			}
			left--
			return []*execution{{submit: now + think*r.Float64(), tasks: shuffled(base, r)}}
		}
		for _, x := range run(slots, jobs, oldestBelowShare(whole), ramp, next) {
			if time := x.finish - x.submit; later(time, a.UpperFromSubmissionSeconds) {
				t.Fatalf("%v on %d slots among %d takes %g s from submission, bound %g s", x.tasks, slots, count, time, a.UpperFromSubmissionSeconds)
			} else if later(time, a.UpperSeconds) {
				late++
			}
			if x.starved {
				starved++
				continue
			}
			if time := x.finish - x.first; later(time, even.UpperSeconds) {
				t.Fatalf("%v on %d slots among %d takes %g s from its first slot, bound %g s", x.tasks, slots, count, time, even.UpperSeconds)
			} else if later(time, a.UpperSeconds) {
				uneven++
			}
		}
	}
	// The premises are needed: from submission, and with slots that do not divide evenly, jobs exceed the printed
	// bound.
	if late == 0 || uneven == 0 {
		t.Errorf("jobs beyond the printed bound: %d from submission, %d on uneven slots (%d starved); want some of each", late, uneven, starved)
	}
}

// A first wave of shuffles longer than the typical ones may hold slots longer than the bound's ramp allows. So jobs
// can exceed the upper bound, and a warning says so.
func TestLongFirstShuffleExceedsTheUpperBound(t *testing.T) {
	// Three reduce tasks of 1 s; a shuffle takes 100 s in the first wave (2 slots per job), then 1 s.
	p := capacity.Profile{MapTasks: 1, ReduceTasks: 3, FirstShuffleAvgSeconds: 100, FirstShuffleMaxSeconds: 100,
		ShuffleAvgSeconds: 1, ShuffleMaxSeconds: 1, ReduceAvgSeconds: 1, ReduceMaxSeconds: 1}
	jobs := run(4, []*execution{
		{tasks: []float64{101, 101, 101}}, // alone at first: its first wave is three slots wide
		{submit: 1, tasks: []float64{101, 101, 2}},
	}, oldestBelowShare(2), 0, nil)
	a := ask[JobAnswer](t, BoundsQuestion{Job: &JobQuestion{Profile: p, Jobs: 2,
		Slots: SlotPools{Map: 4, Reduce: 4}, Share: PhaseShare{Map: 1, Reduce: 1}}})
	if time := jobs[1].finish - jobs[1].first; time != 201 || a.UpperSeconds != 105 {
		t.Errorf("second job: got %g s from its first slot against %g s, want 201 s against 105 s", time, a.UpperSeconds)
	}
	if len(a.Warnings) != 1 || a.Warnings[0].Code != FirstShuffleWarning || a.Warnings[0].Pointer != "/profile/first_shuffle_max_s" {
		t.Errorf("warnings: got %+v, want one of %s", a.Warnings, FirstShuffleWarning)
	}
}

func TestMoreSlotsAreNeverSlower(t *testing.T) {
	r := seeded(10)
	for range 2_000 {
		tasks, slots, jobs := randomTasks(r, 1+r.IntN(30)), 1+r.IntN(20), 1+r.IntN(5)
		few, many := askPhase(t, tasks, slots), askPhase(t, tasks, slots+1)
		if later(many.LowerSeconds, few.LowerSeconds) || later(many.UpperSeconds, few.UpperSeconds) {
			t.Fatalf("%v: %d slots %+v, one more %+v", tasks, slots, few, many)
		}
		here, there := askShared(t, tasks, slots, jobs), askShared(t, tasks, slots+1, jobs)
		if later(there.LowerSeconds, here.LowerSeconds) || later(there.UpperSeconds, here.UpperSeconds) ||
			later(there.UpperFromSubmissionSeconds, here.UpperFromSubmissionSeconds) && here.PremiseOK {
			t.Fatalf("%v, %d jobs: %d slots %+v, one more %+v", tasks, jobs, slots, here, there)
		}
		if here.PremiseOK && (later(here.LowerSeconds, here.UpperSeconds) || later(here.UpperSeconds, here.UpperFromSubmissionSeconds)) {
			t.Fatalf("%v, %d jobs on %d slots: %+v is not ascending", tasks, jobs, slots, here)
		}
		if want := float64(slots) / float64(jobs); here.PremiseOK != (want >= 1) || math.Abs(here.SlotsPerJob-want) > 1e-12 {
			t.Fatalf("%d slots for %d jobs: got %g each, premise %v", slots, jobs, here.SlotsPerJob, here.PremiseOK)
		}
	}
}
