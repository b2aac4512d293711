package sim

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// onNodes returns a batch of one class of maps on nodes.
func onNodes(jobs int64, maps int64, seconds float64, nodes ...NodeType) Input {
	return Input{Nodes: nodes, Policy: byKind(dispatch.PolicyFIFO), Classes: []Class{{
		Name: "a", Load: Load{Kind: Batch, Jobs: jobs},
		Profile: capacity.Profile{MapTasks: maps, MapAvgSeconds: seconds, MapMaxSeconds: seconds},
	}}}
}

// Tasks that are all alike start at the smallest multiples of the slots' task times, because every slot starts one as
// often as it can. At one moment the earlier slot starts first.
func TestEqualTasksOnMixedSlotsEndWhenTheyMust(t *testing.T) {
	s := stream(3)
	for range trials(300) {
		n := 1 + int64(s.next()%200)
		curve := &perf.TaskTime{A: 3 + 10*s.unit(), B: -s.unit(), C: 20 * s.unit(), D: -9 * s.unit()}
		var nodes []NodeType
		type task struct{ begin, end float64 }
		var all []task
		for k := range 1 + int(s.next()%4) {
			r, speed, slots := .1+.9*s.unit(), .5+2*s.unit(), 1+int64(s.next()%4)
			nodes = append(nodes, NodeType{Type: string(rune('a' + k)), Slots: Slots{Map: slots}, Speed: speed, Background: &Background{Kind: ConstantBackground, Residual: []float64{r}}})
			each := curve.Seconds(r) / speed
			for range slots {
				for i := range n {
					all = append(all, task{float64(i) * each, float64(i+1) * each})
				}
			}
		}
		slices.SortStableFunc(all, func(a, b task) int { return cmp.Compare(a.begin, b.begin) })
		want := 0.0
		for _, t := range all[:n] {
			want = max(want, t.end)
		}
		in := onNodes(1, n, 0, nodes...)
		in.Classes[0].TaskTime = curve
		r := simulate(t, in)
		if got := r.Classes[0].OnNodes.LastEnd.Mean; math.Abs(got-want) > 1e-6*want {
			t.Fatalf("%d tasks on %+v end at %g s, want %g", n, nodes, got, want)
		}
	}
}

// A single server of twice the speed is one with tasks half as long.
func TestAFastNodeIsAFastServer(t *testing.T) {
	const load, seconds, speed = .7, 10., 2.
	in := Input{Nodes: []NodeType{{Type: "a", Slots: Slots{Map: 1}, Speed: speed}}, HorizonSeconds: 200_000, WarmUpSeconds: 2_000, Replications: 20, Seed: 1,
		Classes: []Class{{Name: "a", Profile: single(seconds), Tasks: Tasks{Kind: Exponential}, Load: Load{Kind: Poisson, PerHour: 3600 * load * speed / seconds}}}}
	r := simulate(t, in)
	want := seconds / speed / (1 - load)
	if got := r.Classes[0].Response; math.Abs(got.Mean-want) > 2**got.HalfWidth || *got.HalfWidth > .03*want {
		t.Errorf("jobs take %g ± %g s, want %g", got.Mean, *got.HalfWidth, want)
	}
	if use := r.Nodes.Types[0].Use; math.Abs(use.Mean-load) > 2**use.HalfWidth {
		t.Errorf("the node is used %g of the time, want %g", use.Mean, load)
	}
}

// Work progresses with the residual over time.
func TestTasksGoOnAsTheirNodesChange(t *testing.T) {
	curve := &perf.TaskTime{A: 8, B: -4 * math.Ln2} // with r left 16^(1-r) times as long as dedicated
	steps := &Background{Kind: SteppedBackground, Steps: []Step{{10, .5}, {30, 0}, {50, .75}}}
	// Of 50 s of work the first 10 s do 10, 20 s at .5 do 5, none is done at 0, and at .75 a second does a half.
	in := onNodes(1, 1, 50, NodeType{Type: "a", Slots: Slots{Map: 1}, Background: steps})
	in.Classes[0].Profile.Stages = []capacity.Stage{{Tasks: 1, AvgSeconds: 50, MaxSeconds: 50}}
	in.Classes[0].Profile.MapTasks, in.Classes[0].Profile.MapAvgSeconds, in.Classes[0].Profile.MapMaxSeconds = 0, 0, 0
	in.Classes[0].TaskTime = curve
	if got, want := simulate(t, in).Classes[0].Response.Max, 50+35*2.; math.Abs(got-want) > 1e-9 {
		t.Errorf("the task ends at %g s, want %g", got, want)
	}
	// A node that leaves nothing for ever ends nothing, and the report says so.
	steps.Steps = steps.Steps[:2]
	r := simulate(t, in)
	if r.Stopped != StoppedStuck || r.Classes[0].Unfinished != 1 || r.SimulatedS != 30 {
		t.Errorf("a node that stands still: stopped %q after %g s with %d jobs left, want stuck after 30 s with one", r.Stopped, r.SimulatedS, r.Classes[0].Unfinished)
	}
	in.HorizonSeconds = 1000
	in.Classes[0].DeadlineSeconds = 500
	if r := simulate(t, in); r.SimulatedS != 1000 || r.Classes[0].Deadline.Missed != 1 {
		t.Errorf("until its horizon: %g s and %d missed, want 1000 and one", r.SimulatedS, r.Classes[0].Deadline.Missed)
	}
	// A node that keeps leaving nothing now and then still ends its tasks while others are to come.
	steps.Steps = append(steps.Steps, Step{50, 1})
	steps.RepeatSeconds = 60
	in.HorizonSeconds = 0
	if r := simulate(t, in); r.Stopped != "" || r.Classes[0].Ended != 1 {
		t.Errorf("a node that goes on again: stopped %q, %d jobs ended", r.Stopped, r.Classes[0].Ended)
	}
}

// Backgrounds and noise have the promised means.
func TestDrawnBackgrounds(t *testing.T) {
	in := onNodes(1, 1, 10, NodeType{Type: "a", Count: 20, Slots: Slots{Map: 1}, Background: &Background{Kind: UniformBackground, Low: .2, High: .6, EverySeconds: 5}})
	in.Replications, in.HorizonSeconds = 5, 2_000
	in.Classes[0].Load = Load{Kind: Closed, Users: 20}
	in.Classes[0].Tasks.Noise = &Noise{Dedicated: .1, Loaded: .5}
	r := simulate(t, in)
	n := r.Nodes.Types[0]
	if math.Abs(n.Residual.Mean-.4) > .008 {
		t.Errorf("%g of the nodes is left on average, want .4", n.Residual.Mean)
	}
	if got := r.Classes[0].Response.Mean; math.Abs(got-10) > .3 {
		t.Errorf("tasks with noise take %g s on average, want 10", got)
	}
	if math.Abs(n.Use.Mean-1) > 1e-9 || math.Abs(n.Tasks.Mean-20*2000/10) > 120 {
		t.Errorf("got %g of the slots used and %g tasks, want all and about 4000", n.Use.Mean, n.Tasks.Mean)
	}
}

// Deadlines of every form, including one before the submission.
func TestDeadlinesOfEveryForm(t *testing.T) {
	for _, c := range []struct {
		d           Deadlines
		missed, all int64
	}{
		{Deadlines{AtSeconds: 25}, 2, 4},                     // jobs end at 10, 20, 30 and 110
		{Deadlines{EachSeconds: []float64{5, 100, 0}}, 2, 3}, // the first and the fourth; the third has none
		{Deadlines{Low: 1, High: 9}, 4, 4},
		{Deadlines{Low: 31, High: 90}, 0, 4},
	} {
		in := onNodes(0, 1, 10, NodeType{Type: "a", Slots: Slots{Map: 1}})
		in.Classes[0].Load, in.Classes[0].Deadlines = Load{Kind: Trace, AtSeconds: []float64{0, 0, 0, 100}}, &c.d
		d := simulate(t, in).Classes[0].Deadline
		if want := 1 - float64(c.missed)/float64(c.all); d.Missed != c.missed || math.Abs(d.Met.Mean-want) > 1e-12 {
			t.Errorf("%+v: %d missed, a part of %g met; want %d and %g", c.d, d.Missed, d.Met.Mean, c.missed, want)
		}
	}
}

// With heartbeats a node gets tasks when it reports, and only then.
func TestHeartbeatsHandOutTasks(t *testing.T) {
	in := onNodes(1, 4, 7, NodeType{Type: "a", Count: 2, Slots: Slots{Map: 1}})
	in.HeartbeatSeconds = 10 // the first node's at 0, 10 …, the second's at 5, 15 …
	if got := simulate(t, in).Classes[0].Response.Max; got != 22 {
		t.Errorf("the last of four tasks ends at %g s, want 22", got)
	}
}

// Under the learned policy a node gets the set number of tasks per heartbeat, and learns its capacity. With slots for
// 12 tasks of a core each, a node of 4 cores comes to run about 4. With twice the target it runs about 8.
func TestNodesLearnWhatTheyBear(t *testing.T) {
	in := onNodes(1, 4, 7, NodeType{Type: "a", Slots: Slots{Map: 4}})
	in.Policy = byKind(dispatch.PolicyLearned)
	in.HeartbeatSeconds = 10
	if got := simulate(t, in).Classes[0].Response.Max; got != 37 {
		t.Errorf("with a task a heartbeat the last of four ends at %g s, want 37", got)
	}
	for _, target := range []float64{1, 2} {
		in := onNodes(1, 4000, 60, NodeType{Type: "a", Cores: 4, Slots: Slots{Map: 12}})
		in.Policy = byKind(dispatch.PolicyLearned)
		delay := int64(6)
		in.Policy.Target, in.Policy.EvaluationDelay = &target, &delay
		in.HeartbeatSeconds, in.HorizonSeconds, in.WarmUpSeconds = 5, 6*3600, 3600
		if got, want := 12*simulate(t, in).Pools[0].Use.Mean, 4*target; math.Abs(got-want) > 0.15*want {
			t.Errorf("at a target of %g %g tasks run on average, want about %g", target, got, want)
		}
	}
}

func TestNodesThatMakeNoSenseAreRefused(t *testing.T) {
	for _, c := range []struct {
		change        func(*Input)
		pointer, code string
	}{
		{func(in *Input) { in.Slots.Map = 3 }, "/slots", "one_of"},
		{func(in *Input) { in.Nodes[0].Slots = Slots{} }, "/nodes/0/slots", "missing"},
		{func(in *Input) { in.Nodes[0].Slots = Slots{Shared: 2} }, "/nodes", "one_of"},
		{func(in *Input) { in.Nodes[0].Type = "" }, "/nodes/0/type", "text"},
		{func(in *Input) { in.Nodes[0].Count = maxNodes + 1 }, "/nodes/0/count", "range"},
		{func(in *Input) { in.Nodes[0].Count, in.Nodes[0].Slots.Map = maxNodes, 100 }, "/nodes", "range"},
		{func(in *Input) { in.Nodes[0].Speed = -1 }, "/nodes/0/speed", "range"},
		{func(in *Input) { in.Nodes[1].Type = "new" }, "/nodes/1/type", "premise"},
		{func(in *Input) { in.Nodes[1].Background.Residual = nil }, "/nodes/1/background/residual", "range"},
		{func(in *Input) { in.Nodes[1].Background.Residual = []float64{0, 0} }, "/nodes/1/background", "premise"},
		{func(in *Input) { in.Nodes[1].Background.Residual[1] = 2 }, "/nodes/1/background/residual/1", "range"},
		{func(in *Input) { in.Nodes[1].Background.Kind = "" }, "/nodes/1/background/kind", "missing"},
		{func(in *Input) { in.Nodes[2].Background.Steps[1].AtSeconds = 10 }, "/nodes/2/background/steps/1/at_s", "order"},
		{func(in *Input) { in.Nodes[2].Background.RepeatSeconds = 60 }, "/nodes/2/background/repeat_s", "premise"},
		{func(in *Input) { in.Nodes[3].Background.EverySeconds = 1e-300 }, "/nodes/3/background/every_s", "range"},
		{func(in *Input) { in.Nodes[3].Background.High = .1 }, "/nodes/3/background/high", "order"},
		{func(in *Input) { in.Nodes[3].Background.Low, in.Nodes[3].Background.High = 0, 0 }, "/nodes/3/background", "premise"},
		{func(in *Input) { in.HeartbeatSeconds = math.NaN() }, "/heartbeat_s", "not_finite"},
		{func(in *Input) { in.Known = "guessed" }, "/known", "choice"},
		{func(in *Input) { in.DataNodes.CapMBPerSecond = -1 }, "/data_nodes/cap_mb_s", "range"},
		{func(in *Input) { in.Classes[0].Rates["new"] = 0 }, "/classes/0/rates/new", "range"},
		{func(in *Input) { in.Classes[0].Rates["a/b"] = 1 }, "/classes/0/rates/a~1b", "unknown_name"},
		{func(in *Input) { in.Classes[0].MinShare = 2 }, "/classes/0/min_share", "range"},
		{func(in *Input) { in.Classes[0].Deadlines = &Deadlines{AtSeconds: 3} }, "/classes/0/deadlines", "one_of"},
		{func(in *Input) { in.Classes[1].Deadlines = &Deadlines{} }, "/classes/1/deadlines", "one_of"},
		{func(in *Input) { in.Classes[1].Deadlines.High = 1 }, "/classes/1/deadlines/high_s", "order"},
		{func(in *Input) { in.Classes[1].TaskTime.A = -60 }, "/classes/1/task_time", "range"},
		{func(in *Input) { in.Classes[1].TaskTime.B = math.Inf(1) }, "/classes/1/task_time/b", "not_finite"},
		{func(in *Input) { in.Classes[1].Tasks.MapSeconds = []float64{1} }, "/classes/1/tasks/map_s", "one_of"},
		{func(in *Input) { in.Nodes, in.Slots = nil, Slots{Map: 4, Reduce: 3} }, "/classes/0/rates", "not_here"},
	} {
		in := read(t, everyMemberOnNodes)
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
