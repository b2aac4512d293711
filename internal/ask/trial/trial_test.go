package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/slots/sim"
)

var job = capacity.Profile{
	MapTasks: 20, MapAvgSeconds: 30, MapMaxSeconds: 40, ReduceTasks: 6, FirstShuffleAvgSeconds: 5, FirstShuffleMaxSeconds: 8,
	ShuffleAvgSeconds: 12, ShuffleMaxSeconds: 20, ReduceAvgSeconds: 9, ReduceMaxSeconds: 15, OverheadSeconds: 7,
}

// planned returns a problem of classes, and a plan that gives each its slots.
func planned(classes []capacity.Class, jobs []float64, slots []capacity.Slots) (capacity.Problem, capacity.Plan) {
	p := capacity.Problem{Currency: "EUR", PeriodSeconds: 3600, Classes: classes, Options: capacity.DefaultOptions()}
	pl := capacity.Plan{Status: capacity.Optimal}
	for i := range classes {
		cp := capacity.ClassPlan{Name: classes[i].Name, Admitted: jobs[i], Slots: &slots[i]}
		if f := classes[i].Profile; f != nil && jobs[i] > 0 {
			d := perf.Demands(*f)
			at := func(d capacity.Demand) *float64 { return new(perf.Time(d, jobs[i], slots[i].Map, slots[i].Reduce)) }
			cp.Time = &capacity.Times{Lower: at(d.Lower), Average: at(d.Average), Upper: at(d.Upper)}
			if c := classes[i].Calibration; c != nil {
				cp.Time.Calibrated = at(d.Calibrated(*c))
			}
		}
		pl.Classes = append(pl.Classes, cp)
	}
	return p, pl
}

func class(name string, deadline float64) capacity.Class {
	return capacity.Class{Name: name, Profile: new(job), DeadlineSeconds: deadline}
}

func run(t *testing.T, p capacity.Problem, pl capacity.Plan, o SimulationOptions) Answer {
	t.Helper()
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	tr, err := New(p, pl, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Work(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if tr.Done() != tr.Total() {
		t.Errorf("got %d of %d steps, want all", tr.Done(), tr.Total())
	}
	return tr.Answer()
}

func options(change func(*SimulationOptions)) SimulationOptions {
	o := DefaultSimulation()
	o.Hours, o.Replications = 5, 3
	change(&o)
	return o
}

// waves returns the duration of a job whose tasks all take their mean: waves of maps, a first wave of reduces that
// has shuffled when the maps end, and later waves.
func waves(f capacity.Profile, maps, reduces float64) float64 {
	return f.OverheadSeconds + math.Ceil(float64(f.MapTasks)/maps)*f.MapAvgSeconds + f.FirstShuffleAvgSeconds + f.ReduceAvgSeconds +
		(math.Ceil(float64(f.ReduceTasks)/reduces)-1)*(f.ShuffleAvgSeconds+f.ReduceAvgSeconds)
}

func TestJobsOfConstantTasksTakeTheirWaves(t *testing.T) {
	for _, c := range []struct {
		name    string
		jobs    float64
		slots   capacity.Slots
		lending SimulatedLending
	}{
		{"a job alone", 1, capacity.Slots{Map: 7, Reduce: 4}, LendClass},
		{"each its part", 3, capacity.Slots{Map: 21, Reduce: 6}, LendNone},
		{"parts that are not whole", 3, capacity.Slots{Map: 23, Reduce: 8}, LendNone},
	} {
		want := waves(job, math.Floor(c.slots.Map/c.jobs), math.Floor(c.slots.Reduce/c.jobs))
		for _, deadline := range []float64{want, want - 1} {
			p, pl := planned([]capacity.Class{class("etl", deadline), class("other", 1e4)}, []float64{c.jobs, 1}, []capacity.Slots{c.slots, {Map: 1, Reduce: 1}})
			a := run(t, p, pl, options(func(o *SimulationOptions) { o.Durations, o.Lending = ConstantDurations, c.lending }))
			etl := a.Classes[0]
			if r := etl.Response; math.Abs(r.Mean-want) > 1e-6 || r.Max-r.Min > 1e-6 {
				t.Errorf("%s: got %.6f s (%.6f to %.6f), want %g", c.name, r.Mean, r.Min, r.Max, want)
			}
			if met := etl.Deadline.Met.Mean; met != map[bool]float64{true: 1, false: 0}[deadline >= want] {
				t.Errorf("%s: got %g met with a deadline of %g s and jobs of %g s", c.name, met, deadline, want)
			}
		}
	}
}

// If every job has whole slots of its own, the mean lies between the bounds of the plan. Single executions may lie
// outside, because their tasks do not average exactly the profile's.
func TestMeansLieBetweenTheBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		c := class("etl", 1e5)
		f := c.Profile
		f.MapTasks, f.ReduceTasks = 5+r.Int64N(60), 3+r.Int64N(20)
		f.MapAvgSeconds = 10 + 40*r.Float64()
		f.MapMaxSeconds = f.MapAvgSeconds * (1 + r.Float64())
		f.FirstShuffleMaxSeconds = f.FirstShuffleAvgSeconds * (1 + r.Float64())
		jobs := float64(1 + r.IntN(4))
		p, pl := planned([]capacity.Class{c}, []float64{jobs}, []capacity.Slots{{Map: jobs * float64(1+r.IntN(9)), Reduce: jobs * float64(1+r.IntN(5))}})
		a := run(t, p, pl, options(func(o *SimulationOptions) { o.Lending, o.Seed = LendNone, r.Int64N(1e9) }))
		got := a.Classes[0]
		times := pl.Classes[0].Time
		for _, pair := range [][2]float64{{got.Bounds.LowerSeconds, *times.Lower}, {got.Bounds.AverageSeconds, *times.Average}, {got.Bounds.UpperSeconds, *times.Upper}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
				t.Errorf("got the bound %g, want the plan's %g", pair[0], pair[1])
			}
		}
		if m := got.Response.Mean; m < *times.Lower*0.99 || m > *times.Upper {
			t.Errorf("got a mean of %g s, want it from %g to %g", m, *times.Lower, *times.Upper)
		}
	}
}

// Every figure that counts executions is counted again from the executions.
func TestFiguresAreThoseOfTheExecutions(t *testing.T) {
	etl, adhoc := class("etl", 130), class("ad-hoc", 110)
	etl.Calibration = &capacity.Calibration{Bound: capacity.AverageBound, Factor: 1.1}
	p, pl := planned([]capacity.Class{etl, adhoc}, []float64{4, 3}, []capacity.Slots{{Map: 40, Reduce: 12}, {Map: 24, Reduce: 9}})
	for _, load := range []SimulatedLoad{ClosedLoad, PoissonLoad} {
		tr, err := New(p, pl, options(func(o *SimulationOptions) { o.Load = load }), nil)
		if err != nil {
			t.Fatal(err)
		}
		part := tr.parts[0]
		var mu sync.Mutex
		var all [2][]float64
		counted := part.work.Finished
		part.work.Finished = func(replication int, x sim.Execution) {
			counted(replication, x)
			if x.FinishedSeconds >= part.input.WarmUpSeconds {
				mu.Lock()
				all[x.Class] = append(all[x.Class], x.FinishedSeconds-x.SubmittedSeconds)
				mu.Unlock()
			}
		}
		if err := tr.Work(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		a := tr.Answer()
		met, judged := 0, int64(0)
		for i, c := range a.Classes {
			sum, inTime, within := 0., 0, int64(0)
			var place sim.Places
			for _, s := range all[i] {
				sum += s
				if s <= p.Classes[i].DeadlineSeconds*(1+1e-9) {
					inTime++
				}
				if c.Bounds.CalibratedSeconds != nil && s <= *c.Bounds.CalibratedSeconds*(1+1e-9) {
					within++
				}
				switch b := c.Bounds; {
				case s < b.LowerSeconds:
					place.BelowLower++
				case s <= b.AverageSeconds:
					place.ToAverage++
				case s <= b.UpperSeconds:
					place.ToUpper++
				default:
					place.AboveUpper++
				}
			}
			n := int64(len(all[i]))
			if diff := cmp.Diff(place, *c.PlaceFromSubmission); diff != "" || n == 0 || c.Executions != n || math.Abs(c.Response.Mean-sum/float64(n)) > 1e-6 {
				t.Errorf("%s: got %d of %g s, counted %d of %g s (-counted +got): %s", c.Name, c.Executions, c.Response.Mean, n, sum/float64(n), diff)
			}
			if c.Executions-(c.Deadline.Missed-c.Deadline.UnfinishedLate) != int64(inTime) {
				t.Errorf("%s: got %d missed of %d, counted %d in time", c.Name, c.Deadline.Missed, c.Executions, inTime)
			}
			if c.Bounds.WithinCalibrated != nil && *c.Bounds.WithinCalibrated != within || (c.Bounds.WithinCalibrated == nil) != (i == 1) {
				t.Errorf("%s: got %v within the calibrated time, counted %d", c.Name, c.Bounds.WithinCalibrated, within)
			}
			met += inTime
			judged += n + c.Deadline.UnfinishedLate
		}
		if a.Judged != judged || a.Judged-a.Missed != int64(met) || *a.Met <= 0 || *a.Met >= 1 {
			t.Errorf("got %d of %d missed, counted %d of %d met", a.Missed, a.Judged, met, judged)
		}
		if want := fmt.Sprintf("%% of executions meet the deadline (%d of %d); the fewest of class", met, judged); !strings.Contains(a.Sentence, want) {
			t.Errorf("got %q, want %q in it", a.Sentence, want)
		}
	}
}

func TestTheSeedAloneDecides(t *testing.T) {
	p, pl := planned([]capacity.Class{class("a", 130), class("b", 110)}, []float64{4, 3}, []capacity.Slots{{Map: 40, Reduce: 12}, {Map: 24, Reduce: 9}})
	answer := func(seed int64, workers int) Answer {
		tr, err := New(p, pl, options(func(o *SimulationOptions) { o.Seed, o.Replications = seed, 5 }), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Work(t.Context(), workers); err != nil {
			t.Fatal(err)
		}
		return tr.Answer()
	}
	first := answer(3, 1)
	if diff := cmp.Diff(first, answer(3, 4)); diff != "" {
		t.Errorf("four workers came to something else (-one +four): %s", diff)
	}
	if other := answer(4, 1); other.Classes[0].Response.Mean == first.Classes[0].Response.Mean {
		t.Error("another seed came to the same mean")
	}
}

// Jobs of a Poisson load come as often as Little's law says, and tasks shorten by the speed of their VM type.
func TestLoadsAndTypes(t *testing.T) {
	c := class("etl", 1e4)
	c.Speed = capacity.Speed{"slow": 1, "fast": 2}
	p, pl := planned([]capacity.Class{c}, []float64{3}, []capacity.Slots{{}})
	p.Supply.VMTypes = []capacity.VMTypeSupply{{Name: "slow"}, {Name: "fast"}}
	onFast := waves(*c.OnType("fast").Profile, 4, 3)
	pl.Classes[0].Types = []capacity.ClassOnType{
		{VMType: "slow", Admitted: 2, Slots: &capacity.Slots{Map: 8, Reduce: 6}, Time: &capacity.Times{Average: new(500.)}},
		{VMType: "fast", Admitted: 1, Slots: &capacity.Slots{Map: 4, Reduce: 3}, Time: &capacity.Times{Average: &onFast}},
	}
	still := func(o *SimulationOptions) {
		o.Durations, o.Lending = ConstantDurations, LendNone
	}
	a := run(t, p, pl, options(still))
	if len(a.Classes) != 2 || a.Classes[0].VMType != "slow" || a.Classes[1].VMType != "fast" || len(a.Pools) != 4 {
		t.Fatalf("got %+v", a.Classes)
	}
	for i, want := range []float64{waves(job, 4, 3), onFast} {
		if got := a.Classes[i].Response.Mean; math.Abs(got-want) > 1e-6 {
			t.Errorf("got %g s on %s, want %g", got, a.Classes[i].VMType, want)
		}
	}
	a = run(t, p, pl, options(func(o *SimulationOptions) {
		still(o)
		o.Load, o.Hours, o.Lending = PoissonLoad, 200, LendAll
	}))
	for i, want := range []float64{2 * 3600 / 500., 3600 / onFast} {
		// A count of Poisson arrivals deviates by its root; chance hardly reaches five of those.
		hours := 3 * 200.
		if got := float64(a.Classes[i].Submitted) / hours; math.Abs(got-want) > 5*math.Sqrt(want/hours) {
			t.Errorf("got %g jobs an hour on %s, want %g", got, a.Classes[i].VMType, want)
		}
	}
	measured := options(still)
	measured.Measured = map[string]perf.MeasuredTasks{"etl": {MapSeconds: []float64{60}, ReduceSeconds: []float64{18}}}
	a = run(t, p, pl, measured)
	twice := job
	twice.MapAvgSeconds, twice.ReduceAvgSeconds = 60, 18
	if got, want := a.Classes[0].Response.Mean, waves(twice, 4, 3); math.Abs(got-want) > 1e-6 {
		t.Errorf("got %g s of measured tasks, want %g", got, want)
	}
}

func TestWhatCannotBeTried(t *testing.T) {
	slots := []capacity.Slots{{Map: 4, Reduce: 2}}
	for _, c := range []struct {
		name   string
		class  capacity.Class
		jobs   float64
		change func(*capacity.Problem, *capacity.Plan, *SimulationOptions)
		want   string
	}{
		{"nothing admitted", class("etl", 900), 0, nil, "/problem/classes: The plan admits no job whose tasks are known"},
		{"no profile", capacity.Class{Name: "ratio"}, 3, nil, "/problem/classes: The plan admits no job whose tasks are known"},
		{"zero slots", class("etl", 900), 3, func(_ *capacity.Problem, pl *capacity.Plan, _ *SimulationOptions) {
			pl.Classes[0].Slots = &capacity.Slots{Map: 4}
		}, "/plan/classes/0/slots: The plan admits jobs of class \"etl\" and gives them no slots"},
		{"slots without end", class("etl", 900), 3, func(_ *capacity.Problem, pl *capacity.Plan, _ *SimulationOptions) {
			pl.Classes[0].Slots.Map = math.Inf(1)
		}, "map slots"},
		{"jobs without end", class("etl", 900), 1e12, nil, "/problem/classes: The plan admits 2147483647 jobs at once"},
		{"another plan", class("etl", 900), 3, func(_ *capacity.Problem, pl *capacity.Plan, _ *SimulationOptions) {
			pl.Classes[0].Name = "other"
		}, "/plan/classes: The plan says nothing of class \"etl\""},
		{"an unknown class measured", class("etl", 900), 3, func(_ *capacity.Problem, _ *capacity.Plan, o *SimulationOptions) {
			o.Measured = map[string]perf.MeasuredTasks{"elt": {}}
		}, "/options/measured/elt: There is no class \"elt\"."},
		{"fifo on dedicated VMs", class("etl", 900), 3, func(p *capacity.Problem, _ *capacity.Plan, o *SimulationOptions) {
			p.Options.Sharing, o.Policy = capacity.Dedicated, SimulateFIFO
		}, "/options/policy: The problem's VMs are dedicated"},
		{"no average time", class("etl", 900), 3, func(_ *capacity.Problem, pl *capacity.Plan, o *SimulationOptions) {
			o.Load, pl.Classes[0].Time = PoissonLoad, nil
		}, "/options/load: The plan says no average time"},
		{"time that never passes", class("etl", 900), 3, func(p *capacity.Problem, _ *capacity.Plan, _ *SimulationOptions) {
			p.Classes[0].Profile = &capacity.Profile{MapTasks: 1}
		}, "/options/think_s: The jobs take no time"},
	} {
		p, pl := planned([]capacity.Class{c.class}, []float64{c.jobs}, append([]capacity.Slots{}, slots...))
		o := DefaultSimulation()
		if c.change != nil {
			c.change(&p, &pl, &o)
		}
		_, err := New(p, pl, o, nil)
		var input *fault.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestATrialEndsWithItsContext(t *testing.T) {
	p, pl := planned([]capacity.Class{class("etl", 130)}, []float64{50}, []capacity.Slots{{Map: 400, Reduce: 120}})
	tr, err := New(p, pl, options(func(o *SimulationOptions) { o.Hours, o.Replications = maxSimulatedHours, 100 }), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	part := tr.parts[0]
	part.work.Finished = func(int, sim.Execution) { stop() }
	if err := tr.Work(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it to be cancelled", err)
	}
	if len(tr.Whole()) != 0 {
		t.Errorf("got %v finished replications, want none", tr.Whole())
	}
	if done := tr.Done(); done > tr.Total()/10 {
		t.Errorf("got %d of %d steps done, want few", done, tr.Total())
	}
}

// Replications finished before the end have figures, and the answer says how many they are.
func TestFinishedReplicationsAreKept(t *testing.T) {
	p, pl := planned([]capacity.Class{class("etl", 130), class("other", 1e4)}, []float64{3, 1}, []capacity.Slots{{Map: 21, Reduce: 6}, {Map: 1, Reduce: 1}})
	few := options(func(o *SimulationOptions) { o.MaxEvents = 1e6 })
	many := few
	many.Replications, many.MaxEvents = 30, 1e7
	tr, err := New(p, pl, many, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range few.Replications {
		if more, err := tr.Step(t.Context()); err != nil || !more {
			t.Fatal(more, err)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := tr.Step(ended); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	got, want := tr.Answer(), run(t, p, pl, few)
	if got.Replications != 3 || want.Replications != 3 || len(got.Warnings) != 1 || got.Warnings[0].Code != "ended" || len(want.Warnings) != 0 {
		t.Errorf("got %d replications and %+v", got.Replications, got.Warnings)
	}
	got.Options, want.Options, got.Warnings = SimulationOptions{}, SimulationOptions{}, want.Warnings
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("three of thirty replications say something else than three: %s", diff)
	}
}

// Sentences about simulations that ended no job.
func TestNothingEnded(t *testing.T) {
	for _, c := range []struct {
		change func(*SimulationOptions)
		want   string
	}{
		{func(o *SimulationOptions) { o.MaxEvents = 3 }, "No job ended after the warm-up before the simulation had as many events as it may; raise max_events, or simulate fewer hours or replications."},
		{func(o *SimulationOptions) { o.Hours = .01 }, "No job ended after the warm-up; simulate more hours."},
		{func(o *SimulationOptions) { o.Slow, o.SlowBy = 1, 1000 }, "With this plan 0 % of executions meet the deadline (0 of 9); no job ended after the warm-up."},
	} {
		p, pl := planned([]capacity.Class{class("etl", 130)}, []float64{3}, []capacity.Slots{{Map: 21, Reduce: 6}})
		if a := run(t, p, pl, options(c.change)); a.Sentence != c.want {
			t.Errorf("got %q, want %q", a.Sentence, c.want)
		}
	}
}

// A plan of the planner is tried unchanged, and one whose limits end it says so.
func TestPlansOfThePlanner(t *testing.T) {
	p, err := capacity.ReadProblem([]byte(`{"currency":"EUR","supply":{"on_demand":{"price":"0.2"}},"classes":[
		{"name":"etl","profile":{"map_tasks":20,"reduce_tasks":6,"map_avg_s":30,"map_max_s":40,"first_shuffle_avg_s":5,"first_shuffle_max_s":8,"shuffle_avg_s":12,"shuffle_max_s":20,"reduce_avg_s":9,"reduce_max_s":15},
		 "deadline_s":300,"slots_per_vm":{"map":2,"reduce":1},"jobs":{"min":2,"max":6},"penalty":5},
		{"name":"ratio","vms_per_job":"1.5","jobs":{"min":1,"max":1},"penalty":1}],"options":{"engine":"exact","bound":"upper"}}`), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	pl, err := plan.Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := run(t, p, pl, options(func(*SimulationOptions) {}))
	if a.Executions == 0 || *a.Met != 1 || !strings.HasPrefix(a.Sentence, "With this plan all executions meet the deadline (") || len(a.Classes) != 1 || a.VMs != pl.VMs.Total {
		t.Errorf("got %+v", a)
	}
	if len(a.Warnings) != 1 || a.Warnings[0].Code != "left_out" {
		t.Errorf("got %v, want that the class without a profile is left out", a.Warnings)
	}
	if a = run(t, p, pl, options(func(o *SimulationOptions) { o.MaxEvents = 300 })); a.Stopped != sim.StoppedEvents || a.Events > 900 || a.Met != nil {
		t.Errorf("got %d events, stopped by %q, met %v", a.Events, a.Stopped, a.Met)
	}
	pl.Status = capacity.InfeasibleStatus
	if _, err := New(p, pl, DefaultSimulation(), nil); !errors.Is(err, fault.Infeasible) {
		t.Errorf("got %v, want that there is no plan", err)
	}
}

// Policies stand side by side: the plan's own answer does not change, and each other policy's row is its result
// alone.
func TestPoliciesAreCompared(t *testing.T) {
	p, pl := planned([]capacity.Class{class("etl", 170), class("ad hoc", 900)}, []float64{4, 3}, []capacity.Slots{{Map: 20, Reduce: 6}, {Map: 6, Reduce: 2}})
	o := options(func(o *SimulationOptions) {
		o.Hours, o.Replications, o.Policy = 6, 4, SimulateFIFO
		o.MaxEvents = 3_000_000
	})
	alone := run(t, p, pl, o)
	o.Compare = []SimulatedPolicy{SimulateEDF, SimulateFair}
	o.MaxEvents *= 3
	both := run(t, p, pl, o)
	rows := both.Compared
	if len(rows) != 9 || rows[0].Class != "" || rows[3].Class != "etl" || rows[8].Policy != "fair" {
		t.Fatalf("got %d rows: %+v", len(rows), rows)
	}
	if rows[0].Missed != alone.Missed || rows[0].Judged != alone.Judged || rows[0].Ended != alone.Executions || both.Missed != alone.Missed {
		t.Errorf("fifo misses %d of %d, alone %d of %d", rows[0].Missed, rows[0].Judged, alone.Missed, alone.Judged)
	}
	o.Policy, o.Compare = SimulateEDF, nil
	o.MaxEvents /= 3
	if edf := run(t, p, pl, o); rows[1].Missed != edf.Missed || rows[1].Judged != edf.Judged || edf.Missed >= alone.Missed || rows[1].Met.Difference.Mean <= 0 {
		t.Errorf("edf misses %d of %d, alone %d of %d; fifo misses %d", rows[1].Missed, rows[1].Judged, edf.Missed, edf.Judged, alone.Missed)
	}
	o.Compare = []SimulatedPolicy{SimulateEDF}
	if o.Check() == nil {
		t.Error("a policy is compared with itself")
	}
	o.Policy, o.Lending = SimulateFair, LendClass
	if _, err := New(p, pl, o, nil); err == nil || !strings.Contains(err.Error(), "edf gives any slot") {
		t.Errorf("edf with slots that are not lent: got %v", err)
	}
}
