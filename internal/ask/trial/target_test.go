package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/slots/sim"
)

// drawn returns a cluster of drawn classes that all have a target, with a part of the drawn jobs, on VMs of one price.
func drawn(seed uint64, classes int, target, part float64) capacity.Problem {
	s := &study.Stream{State: seed}
	p := capacity.Problem{Currency: "USD", PeriodSeconds: 3600, Options: capacity.DefaultOptions(),
		Supply: capacity.Supply{OnDemand: capacity.OnDemand{Price: study.AmountOf(0.2)}}}
	p.Options.Engine = capacity.EngineExact
	for i := range classes {
		f := study.DrawClass(s, study.UsualAverages)
		jobs := math.Ceil(part * float64(f.High))
		p.Classes = append(p.Classes, capacity.Class{Name: fmt.Sprintf("class-%d", i+1), Profile: &f.Profile, DeadlineSeconds: f.Deadline,
			SlotsPerVM: f.Slots, Jobs: capacity.JobRange{Min: jobs, Max: jobs}, Penalty: study.AmountOf(100), Target: target})
	}
	return p
}

// small makes jobs so small that they have few slots each: where those are not lent, the average bound often fails.
func small(p capacity.Problem) capacity.Problem {
	for i := range p.Classes {
		p.Classes[i].Profile.MapTasks /= 4
		p.Classes[i].DeadlineSeconds *= 1.5
	}
	return p
}

// work plans and simulates on this machine.
func work() TargetWork {
	return TargetWork{
		Plan:     func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) { return plan.Solve(ctx, p, nil) },
		Simulate: func(ctx context.Context, t *Trial) error { return t.Work(ctx, 2) },
		Tell:     func(int64, int64) {},
	}
}

func find(t *testing.T, p capacity.Problem, change func(*TargetOptions)) TargetAnswer {
	t.Helper()
	q := TargetQuestion{Problem: p, Options: DefaultTarget()}
	change(&q.Options)
	a, err := FindPromises(t.Context(), q, nil, work())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// inTime simulates the plan of a problem, each class for about so many executions, and returns the shares in time.
func inTime(t *testing.T, p capacity.Problem, lending SimulatedLending, seed int64, executions float64) (shares []float64, vms float64) {
	t.Helper()
	pl, err := plan.Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultSimulation()
	o.Seed, o.Lending, o.Hours, o.Spread = seed, lending, 2, true
	for i := range pl.Classes {
		o.Hours = max(o.Hours, executions/10*1200/pl.Classes[i].Admitted/3600)
	}
	tr, err := New(p, pl, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Work(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	for i := range p.Classes {
		shares = append(shares, tr.shownOf(i, 0.95).share)
	}
	return shares, pl.VMs.Total
}

// Clusters drawn from the ranges of the paper are given promises, and executions that neither the search nor its check
// saw keep them. Where idle slots are lent, that takes fewer VMs than the average bound; where they are not, the average
// bound keeps the deadline for fewer of them. HEADROOM_CLUSTERS takes more clusters.
func TestPromisesAreKeptByFreshExecutions(t *testing.T) {
	clusters, classes, executions, target, part := 1, 2, int64(200), 0.95, 0.25
	if os.Getenv("HEADROOM_LONG") != "" {
		executions = 400
	}
	if n := 0; os.Getenv("HEADROOM_CLUSTERS") != "" {
		if _, err := fmt.Sscan(os.Getenv("HEADROOM_CLUSTERS"), &n); err != nil {
			t.Fatal(err)
		}
		clusters, classes, executions, target, part = n, 3, 1000, 0.99, 0.4
	}
	for _, lending := range []SimulatedLending{LendAll, LendNone} {
		kept, all, certain := 0, 0, 0
		var saved, before, after []float64
		began := time.Now()
		for seed := range uint64(clusters) {
			p := drawn(1000+seed, classes, target, part)
			if lending == LendNone {
				p = small(p)
			}
			a := find(t, p, func(o *TargetOptions) { o.Lending, o.Executions, o.MaxEvents = lending, executions, 30_000_000 })
			shares, vms := inTime(t, *a.Problem, lending, 77_000_000+int64(seed), 1500)
			unplanned, average := inTime(t, p, lending, 77_000_000+int64(seed), 1500)
			for i, share := range shares {
				if all++; share >= target-0.005 {
					kept++
				}
				if a.Classes[i].Certain {
					certain++
				}
			}
			saved = append(saved, 1-vms/average)
			before, after = append(before, unplanned...), append(after, shares...)
			t.Logf("lending %s, cluster %d: %.0f VMs, at the bounds %.0f; in time %.4f, at the bounds %.4f; %d events", lending, seed, vms, average, shares, unplanned, a.Events)
		}
		slices.Sort(saved)
		mean := func(shares []float64) (sum float64) {
			for _, x := range shares {
				sum += x / float64(len(shares))
			}
			return sum
		}
		t.Logf("lending %s: %d of %d classes within half a point or above, %d shown; median VMs saved %.3f; in time, mean %.4f at the bounds and %.4f with promises; %v",
			lending, kept, all, certain, saved[len(saved)/2], mean(before), mean(after), time.Since(began))
		if float64(kept) < 0.95*float64(all) {
			t.Errorf("lending %s: %d of %d classes keep their target", lending, kept, all)
		}
		if lending == LendAll && saved[len(saved)/2] < 0.12 {
			t.Errorf("lending all saves %.3f of the VMs", saved)
		}
		if lending == LendNone && (mean(before) > 0.95 || mean(after) < target) {
			t.Errorf("without lending %.4f are in time at the bounds and %.4f with promises", mean(before), mean(after))
		}
	}
}

// A seed gives one answer, whoever does the work.
func TestASeedGivesOnePromise(t *testing.T) {
	p := small(drawn(5, 2, 0.95, 0.2))
	executions := int64(20)
	if os.Getenv("HEADROOM_LONG") != "" {
		executions = 100
	}
	few := func(o *TargetOptions) { o.Executions, o.Replications = executions, 2 }
	first, again := find(t, p, few), find(t, p, few)
	if !reflect.DeepEqual(first, again) {
		t.Errorf("got %+v, then %+v", first, again)
	}
	other := find(t, p, func(o *TargetOptions) { o.Executions, o.Replications, o.Seed = executions, 2, 9 })
	if reflect.DeepEqual(first.Classes, other.Classes) {
		t.Error("another seed simulates the same executions")
	}
}

// Plans with promises plan with the predicted time times the factor, say so, and are accepted by the independent proof.
func TestPlansWithPromisesAreProvedIndependently(t *testing.T) {
	for seed := range uint64(6) {
		p := drawn(300+seed, 4, 0.9, 1)
		p.Options.Bound = []capacity.Bound{capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound}[seed%3]
		p.Classes[0].Calibration = &capacity.Calibration{Bound: capacity.LowerBound, Factor: 1.1}
		promise := &capacity.Promise{Factor: 0.7 + 0.1*float64(seed), Target: 0.9, Confidence: 0.95, Expected: 0.95, Low: 0.9, High: 1, Executions: 100,
			Missed: 5, Replications: 2, Lending: "all", DeadlineSeconds: p.Classes[0].DeadlineSeconds, JobsFrom: 1, JobsUntil: p.Classes[0].Jobs.Max}
		p.Classes[0].Promise, p.Classes[1].Promise = promise, promise
		pl, err := plan.Solve(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := proof.Verify(p, pl, proof.Options{}); !r.Accepted() {
			t.Fatalf("seed %d: %v", seed, r)
		}
		at := pl.Classes[0].Time
		bound := map[capacity.Bound]*float64{capacity.AverageBound: at.Average, capacity.UpperBound: at.Upper, capacity.CalibratedBound: at.Calibrated}[p.Options.Bound]
		if want := *bound * promise.Factor; math.Abs(*at.Promised-want) > 1e-9*want || *at.Promised > p.Classes[0].DeadlineSeconds*(1+1e-9) {
			t.Errorf("seed %d: the promised time is %g of %g s, want %g", seed, *at.Promised, p.Classes[0].DeadlineSeconds, want)
		}
		codes := map[string]int{}
		for _, w := range pl.Warnings {
			codes[w.Code+w.Pointer]++
		}
		for _, want := range []string{"no_promise/classes/2/target", "promise_out_of_range/classes/1/promise"} {
			if codes[want] == 0 {
				t.Errorf("seed %d: the warning %s is missing: %v", seed, want, pl.Warnings)
			}
		}
		pl.Classes[0].Promise = nil
		if r := proof.Verify(p, pl, proof.Options{}); r.Accepted() {
			t.Errorf("seed %d: a plan that hides its promise is accepted", seed)
		}
	}
}

// A target that no slots reach is refused at its member, with a deadline that would do.
func TestUnreachableTargetsNameTheirCure(t *testing.T) {
	target, executions := 0.95, int64(60) // as few as show the target
	if os.Getenv("HEADROOM_LONG") != "" {
		target, executions = 0.99, 300
	}
	p := drawn(5, 1, 0.9, 0.2)
	p.Classes[0].DeadlineSeconds = p.Classes[0].Profile.MapMaxSeconds + p.Classes[0].Profile.ReduceMaxSeconds + p.Classes[0].Profile.FirstShuffleMaxSeconds/2
	p.Classes[0].Target = target
	p.Classes[0].Jobs.Min = 0
	q := TargetQuestion{Problem: p, Options: DefaultTarget()}
	q.Options.Executions, q.Options.Replications = executions, 2
	_, err := FindPromises(t.Context(), q, nil, work())
	input := (*fault.InputError)(nil)
	if !errors.As(err, &input) || len(input.Findings) != 1 || input.Findings[0].Pointer != "/problem/classes/0/target" {
		t.Fatalf("got %v", err)
	}
	deadline, ok := input.Findings[0].Hint.Value.(float64)
	if !ok || deadline <= p.Classes[0].DeadlineSeconds || !strings.Contains(input.Findings[0].Detail, "No number of slots") {
		t.Fatalf("got %+v, hint %+v", input.Findings[0], input.Findings[0].Hint)
	}
	p.Classes[0].DeadlineSeconds = 1.1 * deadline
	if a := find(t, p, func(o *TargetOptions) { o.Executions, o.Replications = executions, 2 }); a.Classes[0].Promise.Expected < target {
		t.Errorf("with the cure %.3f end in time", a.Classes[0].Promise.Expected)
	}
}

// Executions that are too few for the confidence say which share they show.
func TestTooFewExecutionsSayWhatTheyShow(t *testing.T) {
	a := find(t, drawn(7, 1, 0.99, 0.2), func(o *TargetOptions) { o.Executions, o.MaxEvents = 100, 1_000_000 })
	c := a.Classes[0]
	if c.Certain || c.Promise.Executions >= 299 || len(a.Warnings) == 0 || a.Warnings[0].Code != "too_few" {
		t.Errorf("got %+v, %v", c.Promise, a.Warnings)
	}
}

// The limits are those of Clopper and Pearson where replications agree: of n faultless executions, confidence c shows
// (1-c)^(1/n). Where they differ much, the limits are wider.
func TestWhatExecutionsShow(t *testing.T) {
	even := []sim.Figures{{Judged: 150}, {Judged: 149}}
	x := show(even, 0.95)
	if want := math.Pow(0.05, 1.0/299); math.Abs(x.low-want) > 1e-9 || x.high != 1 || x.low < 0.99 {
		t.Errorf("got %+v, want low %g", x, want)
	}
	if fewestExecutions(0.99, 0.95) != 299 {
		t.Errorf("got %d, want 299", fewestExecutions(0.99, 0.95))
	}
	alike := show([]sim.Figures{{Judged: 100, Missed: 10}, {Judged: 100, Missed: 10}, {Judged: 100, Missed: 10}}, 0.95)
	apart := show([]sim.Figures{{Judged: 100}, {Judged: 100, Missed: 30}, {Judged: 100}}, 0.95)
	if !(apart.low < alike.low && alike.low < 0.9 && alike.high > 0.9 && apart.high > alike.high) {
		t.Errorf("got %+v and %+v", alike, apart)
	}
}
