package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/slots/dispatch"
)

// mixed returns classes of every load on one cluster.
func mixed(seed uint64) Input {
	s := stream(seed)
	small := func() capacity.Profile { return drawProfile(&s, true) }
	return Input{
		Slots: Slots{Map: 20, Reduce: 8}, Seed: seed, HorizonSeconds: 20_000, WarmUpSeconds: 1_000, Replications: 4,
		Classes: []Class{
			{Name: "closed", Profile: small(), DeadlineSeconds: 400, Load: Load{Kind: Closed, Users: 4, ThinkSeconds: 60}, Tasks: Tasks{Slow: .05, SlowBy: 3}},
			{Name: "open", Profile: small(), DeadlineSeconds: 300, Weight: 2, Jobs: 2, Load: Load{Kind: Poisson, PerHour: 12}, Tasks: Tasks{Kind: Triangular}},
			{Name: "trace", Profile: small(), Slots: &Slots{Map: 5, Reduce: 2}, Load: Load{Kind: Trace, AtSeconds: []float64{1, 1, 2_000, 2_500, 9_000}}, Tasks: Tasks{Kind: Uniform}},
			{Name: "batch", Profile: small(), Load: Load{Kind: Batch, Jobs: 6, AtSeconds: []float64{500}}, Tasks: Tasks{MapSeconds: []float64{3, 1, 9}}},
		},
	}
}

// byKind returns a policy without options.
func byKind(kind dispatch.PolicyKind, lending ...Lending) Policy {
	p := Policy{PolicyConfig: dispatch.PolicyConfig{Kind: kind}}
	for _, l := range lending {
		p.Lending = l
	}
	return p
}

func policies(layouts ...Slots) []Input {
	var all []Input
	for _, slots := range layouts {
		for _, p := range []Policy{{}, byKind(dispatch.PolicyCapacity), byKind(dispatch.PolicyFIFO), byKind(dispatch.PolicyEDF), byKind(dispatch.PolicyFair, LendClass), byKind(dispatch.PolicyCapacity, LendNone)} {
			in := mixed(31)
			in.Slots, in.Policy = slots, p
			if slots.Shared > 0 {
				in.Classes[2].Slots = &Slots{Shared: 6}
			}
			if p.Lending == LendNone {
				in.Classes[2].Jobs = 2
			}
			all = append(all, in)
		}
	}
	return all
}

func text(t *testing.T, r Report) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSameSeedSameReportOnAnyNumberOfWorkers(t *testing.T) {
	for _, in := range policies(Slots{Map: 20, Reduce: 8}, Slots{Shared: 24}) {
		var first string
		for _, workers := range []int{1, 2, 7} {
			r, err := Run(t.Context(), in, workers)
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, r); first == "" {
				first = got
			} else if got != first {
				t.Fatalf("%+v: %d workers report\n%s\none reports\n%s", in.Policy, workers, got, first)
			}
		}
		in.Seed++
		if other := text(t, simulate(t, in)); other == first {
			t.Error("another seed gives the same report")
		}
	}
}

// witness stands between the engine and its policy and checks their calls.
type witness struct {
	t     *testing.T
	model *model
	dispatch.Policy
	slots   int
	now     float64
	running int
	jobs    map[*dispatch.Job]bool
	holders map[int]*dispatch.Job // by slot
}

func (w *witness) Note(e dispatch.Event) {
	if e.Now < w.now {
		w.t.Fatalf("an event at %g s is told after one at %g s", e.Now, w.now)
	}
	w.now = e.Now
	switch e.What {
	case dispatch.Arrived:
		w.jobs[e.Job] = true
	case dispatch.Left:
		if e.Job.Running != [2]int{} || e.Job.Pending != [2]int{} {
			w.t.Fatalf("a job leaves with tasks: %+v", e.Job)
		}
		delete(w.jobs, e.Job)
	case dispatch.Started:
		if w.holders[e.Slot.Number] != nil || w.model.layout.Of(e.Task) != e.Slot.Pool {
			w.t.Fatalf("slot %+v gets a task of kind %d and had %+v", e.Slot, e.Task, w.holders[e.Slot.Number])
		}
		w.holders[e.Slot.Number] = e.Job
		w.running++
	case dispatch.Ended:
		if w.holders[e.Slot.Number] != e.Job {
			w.t.Fatalf("a task of %+v ends on slot %+v of %+v", e.Job, e.Slot, w.holders[e.Slot.Number])
		}
		delete(w.holders, e.Slot.Number)
		w.running--
	}
	if w.running > w.slots {
		w.t.Fatalf("%d tasks run on %d slots", w.running, w.slots)
	}
	w.Policy.Note(e)
}

func (w *witness) Choose(now float64, s dispatch.Slot) dispatch.Choice {
	c := w.Policy.Choose(now, s)
	if c.Job != nil {
		return c
	}
	for j := range w.jobs {
		for k, n := range j.Pending {
			if n > 0 && w.model.layout.Of(dispatch.Kind(k)) == s.Pool && w.model.shares[j.Class].Most == [2]int{} {
				w.t.Fatalf("at %g s slot %+v stays idle beside %d tasks of %+v", now, s, n, j)
			}
		}
	}
	return c
}

// No slot is idle while a task waits that may use it, under any policy, and no slot has two tasks. Little's law
// holds: jobs in the system over time equal the time that jobs spend in it.
func TestInvariants(t *testing.T) {
	for _, in := range policies(Slots{Map: 20, Reduce: 8}, Slots{Shared: 24}, Slots{Map: 1, Reduce: 1}) {
		if in.Slots.Map == 1 {
			if in.Policy.Lending != "" {
				continue
			}
			in.Classes[2].Slots = nil
			in.HorizonSeconds = 40_000
		}
		in.WarmUpSeconds = 0
		m := makeModel(in)
		e := newEngine(m, 5)
		w := &witness{t: t, model: m, Policy: e.policy, slots: m.pools[0] + m.pools[1], jobs: map[*dispatch.Job]bool{}, holders: map[int]*dispatch.Job{}}
		e.policy = w
		spent := make([]float64, len(in.Classes))
		work := 0.0
		e.finished = func(x Execution) {
			spent[x.Class] += x.FinishedSeconds - x.SubmittedSeconds
			o := x.Own
			work += float64(o.MapTasks) * o.MapAvgSeconds
		}
		if err := e.run(t.Context(), func(int64, float64) {}); err != nil {
			t.Fatal(err)
		}
		for j := range w.jobs {
			spent[j.Class] += e.end - j.SubmittedSeconds
		}
		held := 0.0
		for i := range e.classes {
			c := &e.classes[i]
			if math.Abs(c.inSystem-spent[i]) > 1e-9*spent[i] {
				t.Errorf("%+v class %d: %g job seconds in the system, %g spent there", in.Policy, i, c.inSystem, spent[i])
			}
			if c.ended+c.unfinished != c.submitted {
				t.Errorf("%+v class %d: %d submitted, %d ended and %d not", in.Policy, i, c.submitted, c.ended, c.unfinished)
			}
			held += c.held[dispatch.Map]
		}
		// Maps of unfinished jobs hold slots too, so held is more, but not by much.
		if held < work*(1-1e-9) || held > work*1.2+20_000 {
			t.Errorf("%+v: maps held %g slot seconds, those of jobs that ended last %g", in.Policy, held, work)
		}
	}
}

// A job's tasks take equally long under every policy.
func TestJobsHaveTheSameTasksUnderEveryPolicy(t *testing.T) {
	var first map[string]float64
	for _, in := range policies(Slots{Map: 20, Reduce: 8}) {
		in.Classes = in.Classes[1:] // a closed load's submissions depend on the policy
		in.Replications = 1
		got := map[string]float64{}
		s, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		s.Finished = func(_ int, x Execution) {
			if x.SubmittedSeconds < 15_000 {
				got[fmt.Sprintf("%d of %d at %g", x.Number, x.Class, x.SubmittedSeconds)] = x.Own.MapAvgSeconds
			}
		}
		if err := s.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		for name, seconds := range first {
			if math.Abs(got[name]-seconds) > 1e-9 {
				t.Fatalf("%+v: the maps of job %s take %g s, %g under fair", in.Policy, name, got[name], seconds)
			}
		}
	}
	if len(first) < 40 {
		t.Errorf("%d jobs; too few to say", len(first))
	}
}

// Maps and reduces follow each other, with figures by hand.
func TestShufflesOfTheFirstWave(t *testing.T) {
	p := capacity.Profile{MapTasks: 4, MapAvgSeconds: 10, MapMaxSeconds: 10, ReduceTasks: 3,
		FirstShuffleAvgSeconds: 2, FirstShuffleMaxSeconds: 2, ShuffleAvgSeconds: 7, ShuffleMaxSeconds: 7, ReduceAvgSeconds: 5, ReduceMaxSeconds: 5}
	at := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		name          string
		slots         Slots
		after         *float64
		took, waiting float64
	}{
		// Maps end at 10 and 20. Two reduces wait from 0 on, end at 20+2+5; the third takes 7+5 after 27.
		{"reduces at once", Slots{Map: 2, Reduce: 2}, at(0), 39, 40},
		{"reduces after half of the maps", Slots{Map: 2, Reduce: 2}, at(.5), 39, 20},
		{"a third of four maps is two", Slots{Map: 2, Reduce: 2}, at(1. / 3), 39, 20},
		{"reduces after all maps are of later waves", Slots{Map: 2, Reduce: 2}, at(1), 44, 0},
		{"left out, the first map is enough", Slots{Map: 1, Reduce: 3}, nil, 47, 90},
		// Three slots: maps at 0, 0, 0 and 10; two reduces beside the last map until 20, then to 27; the
		// third starts at 20 on the slot of the last map and takes 12.
		{"shared slots", Slots{Shared: 3}, at(0), 32, 20},
		{"one shared slot", Slots{Shared: 1}, at(0), 76, 0},
	} {
		r := simulate(t, Input{Slots: c.slots, Policy: Policy{ReducesAfter: c.after}, Classes: []Class{{Name: "a", Profile: p, Load: Load{Kind: Batch, Jobs: 1}}}})
		class := r.Classes[0]
		waited := class.Slots.Waiting * class.Slots.Reduce.Mean * r.SimulatedS
		if class.Response.Max != c.took || math.Abs(waited-c.waiting) > 1e-9 {
			t.Errorf("%s: takes %g s and waits %g slot seconds, want %g and %g", c.name, class.Response.Max, waited, c.took, c.waiting)
		}
	}
}

// The stages of a chain follow one another; jobs of chains share slots with others.
func TestStagesFollowOneAnother(t *testing.T) {
	chain := capacity.Profile{OverheadSeconds: 3, Stages: []capacity.Stage{{Tasks: 4, AvgSeconds: 10, MaxSeconds: 10}, {Tasks: 1, AvgSeconds: 5, MaxSeconds: 5}, {Tasks: 3, AvgSeconds: 2, MaxSeconds: 2}}}
	for slots, want := range map[int64]float64{1: 3 + 40 + 5 + 6, 2: 3 + 20 + 5 + 4, 3: 3 + 20 + 5 + 2, 9: 3 + 10 + 5 + 2} {
		for _, s := range []Slots{{Map: slots}, {Shared: slots}} {
			c := simulate(t, Input{Slots: s, Classes: []Class{{Name: "a", Profile: chain, Load: Load{Kind: Batch, Jobs: 1}}}}).Classes[0]
			if c.Response.Max != want || c.Response.Max > c.Bounds.UpperSeconds || c.Response.Max < c.Bounds.LowerSeconds {
				t.Errorf("%+v: takes %g s between %+v, want %g", s, c.Response.Max, *c.Bounds, want)
			}
		}
	}
	measured := Tasks{Kind: Recorded, StageSeconds: [][]float64{nil, {50}, {1, 2, 3}}}
	c := simulate(t, Input{Slots: Slots{Map: 2}, Classes: []Class{{Name: "a", Profile: chain, Load: Load{Kind: Batch, Jobs: 1}, Tasks: measured}}}).Classes[0]
	if want := 3 + 20 + 50 + 4.; c.Response.Max != want {
		t.Errorf("with measured stages: takes %g s, want %g", c.Response.Max, want)
	}
}

// Distributions have their promised mean and keep to their maximum.
func TestTasksHaveTheirMeanAndMaximum(t *testing.T) {
	const n = 200_000
	for _, kind := range []TaskKind{Constant, Uniform, Triangular, Lognormal, Exponential} {
		for _, longest := range []float64{10, 10.2, 11, 14, 18, 25, 40, 300, 1e6} {
			d := newDurations(Tasks{Kind: kind, Spread: 1}, nil, 10, longest)
			s := stream(9)
			sum, squares, longestDrawn := 0.0, 0.0, 0.0
			for range n {
				x := d.draw(&s, 0)
				if x < 0 || math.IsNaN(x) {
					t.Fatalf("%s to %g: drew %g", kind, longest, x)
				}
				sum, squares, longestDrawn = sum+x, squares+x*x, max(longestDrawn, x)
			}
			mean := sum / n
			standard := math.Sqrt((squares/n - mean*mean) / n)
			if math.Abs(mean-10) > 4*standard+1e-9 {
				t.Errorf("%s to %g: mean %g, want 10 (standard error %.2g)", kind, longest, mean, standard)
			}
			if kind != Exponential && longestDrawn > longest {
				t.Errorf("%s to %g: drew %g", kind, longest, longestDrawn)
			}
			if (kind == Triangular || kind == Lognormal) && longest < 25 && longestDrawn < longest*.98 {
				t.Errorf("%s to %g: the longestDrawn of %d is %g; want it near", kind, longest, n, longestDrawn)
			}
		}
	}
	for _, measured := range [][]float64{{4}, {1, 2, 9}, {8, 0, 0, 1}} {
		d := newDurations(Tasks{Slow: .1, SlowBy: 4}, measured, 99, 99)
		s := stream(9)
		sum := 0.0
		for range n {
			sum += d.draw(&s, 0)
		}
		if want := d.mean(0); math.Abs(sum/n-want) > .02*want {
			t.Errorf("measured %v: mean %g, want %g", measured, sum/n, want)
		}
	}
}

// Quantiles of the series beside those of the sorted sample.
func TestQuantiles(t *testing.T) {
	s := stream(2)
	for _, n := range []int{1, 2, 10, 10_000} {
		var whole, half, other series
		var sample []float64
		for i := range n {
			x := s.exponential(100)
			if i%10 == 3 {
				x = 0
			}
			sample = append(sample, x)
			whole.add(x)
			if i < n/2 {
				half.add(x)
			} else {
				other.add(x)
			}
		}
		half.merge(&other)
		sorted := newDurations(Tasks{}, sample, 0, 0).quantiles
		for _, part := range []float64{0, .01, .1, .5, .9, .99, 1} {
			want := sorted[max(0, int(math.Ceil(part*float64(n)))-1)]
			if got := whole.quantile(part); math.Abs(got-want) > .0011*want || got != half.quantile(part) {
				t.Errorf("%g of %d: got %g and %g of halves, want %g", part, n, got, half.quantile(part), want)
			}
		}
	}
}

// Statements with 95 % confidence hold in about 95 of 100 simulations of a queue with a known truth. They also hold
// for a deadline that few miss. There the replications' differences alone would know their error no more than half
// the time.
func TestConfidence(t *testing.T) {
	const mean, load = 2.0, 0.6
	rate := load / mean
	in := Input{Slots: Slots{Map: 1}, Policy: byKind(dispatch.PolicyFIFO), Replications: 10, Classes: []Class{{Name: "a", Profile: single(mean),
		Load: Load{Kind: Poisson, PerHour: 3600 * rate}, Tasks: Tasks{Kind: Exponential}}}}
	for _, c := range []struct {
		jobs, missed, atLeast float64
	}{{2000, .3, .93}, {200, .3, .93}, {200, .05, .88}, {200, .01, .8}, {200, .002, .9}} {
		in.HorizonSeconds, in.WarmUpSeconds = c.jobs/rate, c.jobs/rate/10
		in.Classes[0].DeadlineSeconds = -math.Log(c.missed) * mean / (1 - load)
		var response, met, use int
		n := trials(80)
		for seed := range n {
			in.Seed = uint64(seed)
			r, err := Run(t.Context(), in, 2)
			if err != nil {
				t.Fatal(err)
			}
			holds := func(count *int, e Estimate, truth float64) {
				if math.Abs(e.Mean-truth) <= *e.HalfWidth {
					*count++
				}
			}
			holds(&response, r.Classes[0].Response.Estimate, mean/(1-load))
			holds(&use, r.Pools[0].Use, load)
			holds(&met, r.Classes[0].Deadline.Met, 1-c.missed)
			if w := *r.Classes[0].Deadline.Met.HalfWidth; w == 0 {
				t.Fatalf("seed %d: a part of %g is called certain", seed, r.Classes[0].Deadline.Met.Mean)
			}
		}
		part := func(k int) float64 { return float64(k) / float64(n) }
		t.Logf("%4.0f jobs, %g missed: right about times %.3f, use %.3f, the deadline %.3f", c.jobs, c.missed, part(response), part(use), part(met))
		if part(met) < c.atLeast || c.jobs == 2000 && (part(response) < .9 || part(use) < .9) {
			t.Errorf("%g jobs, %g missed: right too seldom", c.jobs, c.missed)
		}
	}
}

// A load above the capacity of the slots is reported as unstable and ends.
func TestOverloadIsUnstable(t *testing.T) {
	in := Input{Slots: Slots{Map: 10}, HorizonSeconds: 1e9,
		Classes: []Class{{Name: "a", Profile: single(10), DeadlineSeconds: 60, Load: Load{Kind: Poisson, PerHour: 4000}}}}
	r := simulate(t, in)
	if !r.Unstable || r.Stopped != StoppedJobs || r.Classes[0].Unfinished < defaultJobs || r.Classes[0].Deadline.UnfinishedLate == 0 || *r.Pools[0].Offered < 1.1 {
		t.Errorf("got %+v, want an unstable cluster with a hundred thousand jobs in it", r)
	}
	if !strings.Contains(text(t, r), `"code":"unstable"`) || !strings.Contains(text(t, r), `"code":"overloaded"`) {
		t.Errorf("warnings: got %+v, want unstable and overloaded", r.Warnings)
	}
	// Short of the limit it runs to its horizon, and is still unstable.
	in.HorizonSeconds = 3600
	if r := simulate(t, in); !r.Unstable || r.Stopped != "" || r.SimulatedS != 3600 {
		t.Errorf("one hour: unstable %v, stopped %q after %g s; want an unstable whole hour", r.Unstable, r.Stopped, r.SimulatedS)
	}
	// A class that may not use idle slots is overloaded by itself.
	in.Classes[0].Load.PerHour = 3000
	in.Classes = append(in.Classes, Class{Name: "b", Profile: single(10), Load: Load{Kind: Poisson, PerHour: 10}})
	in.Policy.Lending = LendClass
	if r := simulate(t, in); !r.Unstable {
		t.Error("a class with work for 8 slots that may hold 5 is not called unstable")
	}
	in.Policy.Lending = LendAll
	if r := simulate(t, in); r.Unstable {
		t.Errorf("a load of 84 %% is called unstable: %+v", r.Warnings)
	}
}

func TestLimitsAndEmptyLoadsHaveAnswers(t *testing.T) {
	years := busy(2, 3, Slots{Map: 8, Reduce: 8}, 1e10)
	years.Limits.Events = 100_000
	r := simulate(t, years)
	if r.Stopped != StoppedEvents || r.Unstable || r.Events < 100_000 || r.Events > 100_100 || r.SimulatedS >= 1e10 || r.Classes[0].Response == nil {
		t.Errorf("three hundred years: got %+v, want figures of a hundred thousand events", r)
	}
	for _, load := range []Load{{Kind: Closed, ThinkSeconds: 1}, {Kind: Poisson}, {Kind: Trace}, {Kind: Batch}} {
		in := busy(1, 0, Slots{Map: 8, Reduce: 8}, 1000)
		in.Classes[0].Load = load
		c := simulate(t, in).Classes[0]
		if c.Submitted != 0 || c.Response != nil || c.Deadline.Met.Mean != 1 {
			t.Errorf("nothing submitted by %+v: got %+v", load, c)
		}
	}
	// Events before the end of the warm-up are not reported, nor are missed deadlines.
	in := Input{Slots: Slots{Map: 1}, HorizonSeconds: 1000, WarmUpSeconds: 500, Limits: Limits{Events: 10},
		Classes: []Class{{Name: "a", Profile: single(4), DeadlineSeconds: 1, Load: Load{Kind: Batch, Jobs: 100}}}}
	if c := simulate(t, in).Classes[0]; c.Deadline.Missed != 0 || c.Unfinished == 0 {
		t.Errorf("ended before the warm-up's end: got %d missed of %d unfinished, want none", c.Deadline.Missed, c.Unfinished)
	}
	// A name is as long as people count.
	named := busy(1, 2, Slots{Map: 8, Reduce: 8}, 1000)
	named.Classes[0].Name = strings.Repeat("数", strict.MaxNameLength)
	simulate(t, named)
	// A class without promised slots of a needed kind has figures and no bounds.
	promised := busy(1, 2, Slots{Map: 8, Reduce: 8}, 100_000)
	promised.Classes[0].Slots = &Slots{Map: 4}
	if r := simulate(t, promised); r.Classes[0].Bounds != nil || r.Classes[0].Ended == 0 || !strings.Contains(text(t, r), "promised no slots") {
		t.Errorf("promised no reduce slots: got %s", text(t, r))
	}
	// Without think time the next job comes when the last has ended.
	in = Input{Slots: Slots{Map: 1}, HorizonSeconds: 100, Classes: []Class{{Name: "a", Profile: single(4), Load: Load{Kind: Closed, Users: 1}}}}
	if c := simulate(t, in).Classes[0]; c.Ended != 25 || c.Response.Mean != 4 {
		t.Errorf("without thinking: %d jobs of %g s end in 100 s, want 25 of 4", c.Ended, c.Response.Mean)
	}
	// Tasks that take no time, beside ones that do.
	in.Classes = append(in.Classes, Class{Name: "b", Profile: single(0), Load: Load{Kind: Batch, Jobs: 1000}})
	if c := simulate(t, in).Classes[1]; c.Ended != 1000 {
		t.Errorf("%d of 1000 jobs without work end", c.Ended)
	}
}

func TestCancelledSimulationsEnd(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("nobody waits any more")
	in := busy(3, 5, Slots{Map: 64, Reduce: 64}, 1e9)
	in.Replications = 3
	s, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	s.Finished = func(int, Execution) {
		if n++; n == 1000 {
			cancel(why)
		}
	}
	if err := s.Work(ctx); !errors.Is(err, why) {
		t.Errorf("got %v, want the reason of the cancellation", err)
	}
	if n > 2000 || s.Done() >= s.Total() {
		t.Errorf("%d executions ended and %d of %d steps are done, want an end soon after a thousand", n, s.Done(), s.Total())
	}
}

func TestProgressGrowsToItsTotal(t *testing.T) {
	in := busy(3, 5, Slots{Map: 64, Reduce: 64}, 50_000)
	in.Replications = 2
	s, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	var last int64
	steps := 0
	s.Finished = func(int, Execution) {
		now := s.Done()
		if now < last || now > s.Total() {
			t.Fatalf("progress goes from %d to %d of %d", last, now, s.Total())
		}
		if now > last {
			steps++
		}
		last = now
	}
	if err := s.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Done() != s.Total() || steps < 10 {
		t.Errorf("%d of %d steps are done, in %d leaps", s.Done(), s.Total(), steps)
	}
}

func TestBadInputIsRefusedWithItsPlace(t *testing.T) {
	for _, c := range []struct {
		change  func(*Input)
		pointer string
		code    string
	}{
		{func(in *Input) { in.Slots = Slots{} }, "/slots/map", "missing"},
		{func(in *Input) { in.Slots.Reduce = 0; in.Classes[2].Slots = nil }, "/slots/reduce", "missing"},
		{func(in *Input) { in.Slots.Shared = 4 }, "/slots/shared", "one_of"},
		{func(in *Input) { in.Slots.Map = -1; in.Classes[2].Slots = nil }, "/slots/map", "range"},
		{func(in *Input) { in.Classes = nil }, "/classes", "range"},
		{func(in *Input) { in.Policy.Kind = "lottery" }, "/policy/kind", "choice"},
		{func(in *Input) { in.Policy = byKind(dispatch.PolicyFIFO, LendNone) }, "/policy/lending", "not_here"},
		{func(in *Input) { in.Policy.Lending = "some" }, "/policy/lending", "choice"},
		{func(in *Input) { in.Policy.Lending = LendNone }, "/classes/2/jobs", "missing"},
		{func(in *Input) { in.Policy.Lending = LendClass; in.Classes[1].Slots = &Slots{Map: 1} }, "/classes/1/slots", "premise"},
		{func(in *Input) { in.Classes[2].Slots.Map = 21 }, "/slots/map", "premise"},
		{func(in *Input) { x := math.NaN(); in.Policy.ReducesAfter = &x }, "/policy/reduces_after", "not_finite"},
		{func(in *Input) { in.HorizonSeconds = 0 }, "/horizon_s", "missing"},
		{func(in *Input) { in.HorizonSeconds = math.Inf(1) }, "/horizon_s", "not_finite"},
		{func(in *Input) { in.WarmUpSeconds = 20_000 }, "/warm_up_s", "premise"},
		{func(in *Input) { in.Replications = -1 }, "/replications", "range"},
		{func(in *Input) { in.Limits.Events = -1 }, "/limits/events", "range"},
		{func(in *Input) { in.Classes[1].Name = "closed" }, "/classes/1/name", "duplicate"},
		{func(in *Input) { in.Classes[1].Name = "" }, "/classes/1/name", "text"},
		{func(in *Input) { in.Classes[1].Name = strings.Repeat("数", strict.MaxNameLength+1) }, "/classes/1/name", "text"},
		{func(in *Input) { in.Classes[0].Profile.MapTasks = 0 }, "/classes/0/profile/map_tasks", "range"},
		{func(in *Input) { in.Classes[0].DeadlineSeconds = -1 }, "/classes/0/deadline_s", "range"},
		{func(in *Input) { in.Classes[0].Weight = -1 }, "/classes/0/weight", "range"},
		{func(in *Input) { in.Classes[0].Load.Kind = "" }, "/classes/0/load/kind", "missing"},
		{func(in *Input) { in.Classes[0].Load.Kind = "bursts" }, "/classes/0/load/kind", "choice"},
		{func(in *Input) { in.Classes[0].Load.ThinkSeconds = -1 }, "/classes/0/load/think_s", "range"},
		{func(in *Input) { in.Classes[0].Load.Users = maxUsers + 1 }, "/classes/0/load/users", "range"},
		{func(in *Input) { in.Classes[0].Profile, in.Classes[0].Load.ThinkSeconds = single(0), 0 }, "/classes/0/load/think_s", "premise"},
		{func(in *Input) { in.Classes[1].Load.PerHour = math.Inf(1) }, "/classes/1/load/per_hour", "not_finite"},
		{func(in *Input) { in.Classes[2].Load.AtSeconds = []float64{2, 1} }, "/classes/2/load/at_s/1", "order"},
		{func(in *Input) { in.Classes[2].Load.AtSeconds = []float64{2, math.NaN()} }, "/classes/2/load/at_s/1", "not_finite"},
		{func(in *Input) { in.Classes[3].Load.AtSeconds = []float64{2, 3} }, "/classes/3/load/at_s", "range"},
		{func(in *Input) { in.Classes[3].Load.Jobs = -1 }, "/classes/3/load/jobs", "range"},
		{func(in *Input) { in.Classes[0].Tasks.Kind = "normal" }, "/classes/0/tasks/kind", "choice"},
		{func(in *Input) { in.Classes[0].Tasks.SlowBy = 0 }, "/classes/0/tasks/slow_by", "range"},
		{func(in *Input) { in.Classes[0].Tasks.Slow = 2 }, "/classes/0/tasks/slow", "range"},
		{func(in *Input) { in.Classes[3].Tasks.MapSeconds[1] = -1 }, "/classes/3/tasks/map_s/1", "range"},
		{func(in *Input) { in.Classes[3].Tasks.StageSeconds = [][]float64{{1}} }, "/classes/3/tasks/stage_s", "range"},
		{func(in *Input) { in.Classes[0].Tasks.Spread = 99 }, "/classes/0/tasks/spread", "range"},
	} {
		in := mixed(31)
		if _, err := New(in); err != nil {
			t.Fatalf("the input itself is refused: %v", err)
		}
		c.change(&in)
		_, err := New(in)
		var refused *fault.InputError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v, want a finding of %s", c.pointer, err, c.code)
			continue
		}
		if f := refused.Findings[0]; f.Pointer != c.pointer || f.Code != c.code {
			t.Errorf("got %q of %s (%s), want %s of %s", f.Pointer, f.Code, f.Detail, c.pointer, c.code)
		}
	}
}
