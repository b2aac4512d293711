package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"example.org/headroom/internal/slots/dispatch"
)

// exporter stands between the engine and its policy. Of every slot that is offered it writes down the cluster, and asks
// the door "decide" with that text alone.
type exporter struct {
	dispatch.Policy
	t      *testing.T
	model  *model
	jobs   map[*dispatch.Job]bool
	nodes  []*dispatch.Node
	held   map[int]dispatch.RunningTasks // by slot
	every  int                           // slots between questions
	seen   int
	asked  int
	idle   int
	passed int // of those, with turns passed in the history
}

func (x *exporter) Note(e dispatch.Event) {
	switch e.What {
	case dispatch.Arrived:
		x.jobs[e.Job] = true
	case dispatch.Left:
		delete(x.jobs, e.Job)
	case dispatch.Joined:
		x.nodes = append(x.nodes, e.Node)
	case dispatch.Started:
		t := dispatch.RunningTasks{Job: exportedName(e.Job), Kind: []dispatch.TaskKind{dispatch.MapTask, dispatch.ReduceTask}[e.Task], Tasks: 1}
		if e.Slot.Node != nil {
			t.Node = nodeName(e.Slot.Node)
		}
		x.held[e.Slot.Number] = t
	case dispatch.Ended:
		delete(x.held, e.Slot.Number)
	}
	x.Policy.Note(e)
}

func (x *exporter) Choose(now float64, s dispatch.Slot) dispatch.Choice {
	choice := x.Policy.Choose(now, s)
	if x.seen++; x.seen%x.every != 0 {
		return choice
	}
	text, err := json.Marshal(x.export(now, s))
	if err != nil {
		x.t.Fatal(err)
	}
	q, err := dispatch.ReadDecide(text)
	if err != nil {
		x.t.Fatalf("at %g s: %v in\n%s", now, err, text)
	}
	a, err := dispatch.Decide(q)
	if err != nil {
		x.t.Fatal(err)
	}
	got, want := a.Decisions[0], dispatch.SlotDecision{}
	if choice.Job == nil {
		x.idle++
	} else {
		want.Job, want.Kind = exportedName(choice.Job), []dispatch.TaskKind{dispatch.MapTask, dispatch.ReduceTask}[choice.Task]
	}
	if why := x.Policy.Why(); got.Job != want.Job || got.Kind != want.Kind || got.Rule != why.Rule {
		x.t.Fatalf("at %g s %s gives the slot of %+v to %q %q by %q, the simulator to %q %q by %q\n%s\n%s\n%s", now, x.model.rule.Kind, s, got.Job, got.Kind,
			got.Rule, want.Job, want.Kind, why.Rule, got.Reason, why.Reason, text)
	}
	x.asked++
	return choice
}

// exportedName orders jobs of one moment as their names and numbers do.
func exportedName(j *dispatch.Job) string { return fmt.Sprintf("%s %09d", j.Name, j.Number) }

func nodeName(n *dispatch.Node) string { return fmt.Sprint("node ", n.Index) }

func (x *exporter) export(now float64, s dispatch.Slot) (q dispatch.DecideQuestion) {
	q.NowSeconds, q.Separate = now, x.model.layout == dispatch.Separate
	q.Policies = []dispatch.PolicyConfig{x.model.rule}
	for _, n := range x.nodes {
		slots := dispatch.SnapshotSlots{Map: int64(n.Slots[0]), Reduce: int64(n.Slots[1])}
		q.Nodes = append(q.Nodes, dispatch.SnapshotNode{Name: nodeName(n), Type: n.Type, Cores: n.Cores, Slots: slots, ComputeUnits: n.ComputeUnits, Residual: n.Residual, Report: n.Report})
	}
	measured := map[int]bool{}
	for j := range x.jobs {
		class := fmt.Sprintf("class %d", j.Class)
		maps, reduces := int64(j.Pending[dispatch.Map]), int64(j.Pending[dispatch.Reduce])
		left := int64(j.Maps - j.MapsDone)
		q.Jobs = append(q.Jobs, dispatch.SnapshotJob{Name: exportedName(j), Class: class, SubmittedSeconds: j.SubmittedSeconds, DeadlineSeconds: j.DeadlineSeconds,
			Maps:    dispatch.SnapshotTasks{Total: int64(j.Maps), Done: int64(j.MapsDone), Ready: &maps},
			Reduces: dispatch.SnapshotTasks{Total: int64(j.Unfinished) - left, Ready: &reduces},
			Weight:  j.Weight, MinShare: j.MinShare, ReadMBPerSecond: j.ReadMBPerSecond})
		if measured[j.Class] {
			continue
		}
		measured[j.Class] = true
		c := dispatch.SnapshotClass{Name: class, TaskTime: j.TaskTime}
		if j.Rates != nil {
			for kind, mean := range j.Rates.Types {
				c.Rates = append(c.Rates, dispatch.TypeTasks{Type: kind, Tasks: mean.Count, MeanSeconds: mean.Seconds})
			}
		}
		q.Classes = append(q.Classes, c)
	}
	for i, share := range x.model.shares {
		part := func(k dispatch.Kind) dispatch.SlotsShare {
			return dispatch.SlotsShare{Weight: share.Weight[k], Min: share.Min[k], Most: int64(share.Most[k]), MaxPerJob: int64(share.MaxPerJob[k])}
		}
		reduces := part(dispatch.Reduce)
		q.Shares = append(q.Shares, dispatch.SnapshotShare{Class: fmt.Sprintf("class %d", i), SlotsShare: part(dispatch.Map), Reduces: &reduces})
	}
	for _, t := range x.held {
		q.Running = append(q.Running, t)
	}
	slices.SortFunc(q.Running, func(a, b dispatch.RunningTasks) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Node, b.Node))
	})
	q.Slot.Kind = []dispatch.TaskKind{dispatch.MapTask, dispatch.ReduceTask}[s.Pool]
	if s.Node != nil {
		q.Slot.Node = nodeName(s.Node)
	}
	x.remember(&q)
	return q
}

// remember writes down what the policy gives away.
func (x *exporter) remember(q *dispatch.DecideQuestion) {
	keeper, remembers := x.Policy.(dispatch.Memory)
	if !remembers {
		return
	}
	text, err := keeper.Memory()
	if err != nil {
		x.t.Fatal(err)
	}
	if x.model.rule.Kind == dispatch.PolicyLearned {
		q.History.Knowledge = new(dispatch.Knowledge)
		if err := json.Unmarshal(text, q.History.Knowledge); err != nil {
			x.t.Fatal(err)
		}
		return
	}
	var turns []struct {
		Job    string
		Number int64
		Skips  [2]int64
	}
	if err := json.Unmarshal(text, &turns); err != nil {
		x.t.Fatal(err)
	}
	x.passed += min(len(turns), 1)
	for _, p := range turns {
		q.History.Skips = append(q.History.Skips, dispatch.SkippedTurns{Job: fmt.Sprintf("%s %09d", p.Job, p.Number), Times: p.Skips[0], Reduces: p.Skips[1]})
	}
}

// replay simulates once and asks at every few offered slots.
func replay(t *testing.T, in Input, every int) *exporter {
	t.Helper()
	e := newEngine(makeModel(in), 5)
	x := &exporter{Policy: e.policy, t: t, model: e.model, jobs: map[*dispatch.Job]bool{}, held: map[int]dispatch.RunningTasks{}, every: every}
	e.policy = x
	if e.mixed != nil { // its nodes have joined already
		for i := range e.mixed.nodes {
			x.nodes = append(x.nodes, &e.mixed.nodes[i].Node)
		}
	}
	if err := e.run(t.Context(), func(int64, float64) {}); err != nil {
		t.Fatal(err)
	}
	return x
}

// The door decides as the simulator does at each slot that is offered, from what is written down of that moment.
func TestTheDoorDecidesAsTheSimulator(t *testing.T) {
	for _, in := range policies(Slots{Map: 20, Reduce: 8}, Slots{Shared: 24}) {
		in.WarmUpSeconds, in.HorizonSeconds = 0, 4_000
		if x := replay(t, in, 17); x.asked < 50 {
			t.Errorf("%+v: only %d slots were asked about", in.Policy, x.asked)
		}
	}
	in := read(t, everyMemberOnNodes)
	in.Compare = nil
	in.HorizonSeconds, in.WarmUpSeconds = 0, 0
	in.Classes = in.Classes[1:]
	in.Classes[0].Load = Load{Kind: Batch, Jobs: 12}
	for _, heartbeat := range []float64{0, 5} {
		for _, known := range []Knowledge{KnownGiven, KnownLearned} {
			for _, kind := range dispatch.PolicyKinds {
				in.Policy, in.Known, in.HeartbeatSeconds = byKind(kind), known, heartbeat
				if x := replay(t, in, 3); x.asked < 20 {
					t.Errorf("%s, %s: only %d slots were asked about", kind, known, x.asked)
				}
			}
		}
	}
	in = onNodes(3, 40, 10, NodeType{Type: "gpu", Slots: Slots{Map: 2}, Count: 2}, NodeType{Type: "plain", Slots: Slots{Map: 3}})
	in.Policy, in.Known = byKind(dispatch.PolicyProgressShare), KnownGiven
	in.Classes = append(in.Classes, in.Classes[0])
	in.Classes[0].Name, in.Classes[0].Rates = "ciphers", map[string]float64{"gpu": 3, "plain": 1}
	if x := replay(t, in, 1); x.asked < 100 || x.passed < 10 {
		t.Errorf("progress-share: %d slots were asked about, %d after a job had let another before it", x.asked, x.passed)
	}
	in = onNodes(1, 2000, 60, NodeType{Type: "a", Count: 3, Cores: 4, Slots: Slots{Map: 12}})
	in.Policy = byKind(dispatch.PolicyLearned)
	in.HeartbeatSeconds, in.HorizonSeconds = 5, 3_600
	if x := replay(t, in, 7); x.asked < 50 || x.idle < 10 {
		t.Errorf("learned: %d slots were asked about, %d idle", x.asked, x.idle)
	}
}
