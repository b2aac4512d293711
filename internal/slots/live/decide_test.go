package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// written writes down a cluster as the doors "decide" and "judge" take it.
func written(t *testing.T, c *Cluster) (q dispatch.DecideQuestion) {
	q.NowSeconds, q.Separate, q.Policies = c.Clock, c.layout == dispatch.Separate, []dispatch.PolicyConfig{c.settings.Policy}
	for _, n := range c.indexed {
		if n != nil && n.State == NodeAlive {
			q.Nodes = append(q.Nodes, dispatch.SnapshotNode{Name: n.Name, Type: n.Type, Cores: n.Cores, Slots: dispatch.SnapshotSlots(n.Slots),
				ComputeUnits: n.ComputeUnits, Residual: n.Residual, Report: n.d.Report})
		}
	}
	for _, class := range slices.Sorted(maps.Keys(c.measured)) {
		m := c.measured[class]
		k := dispatch.SnapshotClass{Name: class, TaskTime: m.Fit, ReduceTaskTime: m.Reduces.Fit}
		for kind, mean := range m.Rates.Types {
			k.Rates = append(k.Rates, dispatch.TypeTasks{Type: kind, Tasks: mean.Count, MeanSeconds: mean.Seconds})
		}
		q.Classes = append(q.Classes, k)
	}
	for _, number := range slices.Sorted(maps.Keys(c.jobs)) {
		j := c.jobs[number]
		tasks := func(k dispatch.Kind) dispatch.SnapshotTasks {
			ready := int64(j.ready(k))
			return dispatch.SnapshotTasks{Total: j.Counts[k].Total, Done: j.Counts[k].Done, Ready: &ready}
		}
		u := j.Request.Usage
		q.Jobs = append(q.Jobs, dispatch.SnapshotJob{Name: j.Request.Name, Class: j.Request.Class, SubmittedSeconds: j.Submitted, DeadlineSeconds: j.Deadline,
			Maps: tasks(dispatch.Map), Reduces: tasks(dispatch.Reduce), Weight: j.Request.Weight, MinShare: j.Request.MinShare,
			Usage: dispatch.SnapshotUsage{Map: dispatch.Usage(u.Map), Reduce: dispatch.Usage(u.Reduce)}})
	}
	for _, r := range c.runs {
		q.Running = append(q.Running, dispatch.RunningTasks{Job: r.job.Request.Name, Kind: kindName(r.Kind), Node: r.Node, Tasks: 1})
	}
	keeper, remembers := c.policy.Policy.(dispatch.Memory)
	if !remembers {
		return q
	}
	memory, err := keeper.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if c.settings.Policy.Kind == dispatch.PolicyLearned {
		q.History.Knowledge = new(dispatch.Knowledge)
		err = json.Unmarshal(memory, q.History.Knowledge)
	} else {
		var turns []struct {
			Job   string
			Skips [2]int64
		}
		err = json.Unmarshal(memory, &turns)
		for _, p := range turns {
			q.History.Skips = append(q.History.Skips, dispatch.SkippedTurns{Job: p.Job, Times: p.Skips[0], Reduces: p.Skips[1]})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// asked counts the questions to the doors.
type asked struct{ slots, idle, promises, kept int }

// ask asks the doors about every free slot and about some promises, from what is written down, and compares.
func (a *asked) ask(t *testing.T, f *fleet) {
	c := f.cluster
	q := written(t, c)
	for _, n := range c.indexed {
		for p := range dispatch.Pool(dispatch.Kinds) {
			if n == nil || n.State != NodeAlive {
				continue
			}
			running := n.d.Running[p]
			if c.layout == dispatch.Shared {
				running = len(n.runs)
			}
			if n.d.Slots[p] <= running {
				continue
			}
			choice, why := c.policy.Choose(c.Clock, dispatch.Slot{Number: -1, Pool: p, Node: n.d}), c.policy.Why()
			q.Slot = dispatch.FreeSlot{Node: n.Name, Kind: kindName(dispatch.Kind(p))}
			text, err := json.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			read, err := dispatch.ReadDecide(text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			answer, err := dispatch.Decide(read)
			if err != nil {
				t.Fatal(err)
			}
			got, want := answer.Decisions[0], dispatch.SlotDecision{Why: why}
			if choice.Job == nil {
				a.idle++
			} else {
				want.Job, want.Kind = choice.Job.Name, kindName(choice.Task)
			}
			if want.Policy, want.Facts = got.Policy, why.Facts(want.Job); !reflect.DeepEqual(got, want) {
				t.Fatalf("of a slot of %s\ngot  %+v\nwant %+v", n.Name, got, want)
			}
			a.slots++
		}
	}
	for _, mode := range []dispatch.AdmissionMode{dispatch.AdmissionPaper, dispatch.AdmissionStrict} {
		class, due, tasks, reduces := fmt.Sprint("class ", f.random.IntN(5)), 1000*f.random.Float64(), 1+f.random.Int64N(200), f.random.Int64N(2)
		room := c.Room(c.Clock, mode, KnownTimes{})
		want := room.Judge(c.Commitment("", "new", class, due, tasks, reduces, KnownTimes{}))
		promise := dispatch.JudgeQuestion{Snapshot: q.Snapshot, Mode: mode, Job: dispatch.SnapshotJob{Name: "new", Class: class, Weight: 1, SubmittedSeconds: c.Clock,
			DeadlineSeconds: c.Clock + due, Maps: dispatch.SnapshotTasks{Total: tasks}, Reduces: dispatch.SnapshotTasks{Total: reduces}}}
		text, err := json.Marshal(promise)
		if err != nil {
			t.Fatal(err)
		}
		read, err := dispatch.ReadJudge(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		got := dispatch.JudgeDeadline(read)
		if got.Verdict.Kept != want.Kept || got.Code != want.Code() || !nearly(got.Verdict.DemandSeconds, want.DemandSeconds) || !nearly(got.Verdict.LateSeconds, want.LateSeconds) ||
			!nearly(got.Verdict.AloneSeconds, want.AloneSeconds) || len(got.Verdict.Missed) != len(want.Missed) || got.Verdict.Uncounted != want.Uncounted {
			t.Fatalf("of a promise\ngot  %+v\nwant %+v", got.Verdict, want)
		}
		a.promises++
		if want.Kept {
			a.kept++
		}
	}
}

// nearly forgives what a deadline loses as a moment of Unix time.
func nearly(x, y float64) bool { return x-y < 1e-5 && y-x < 1e-5 }

// The doors decide and judge as a live cluster does, from what is written down of it.
func TestTheDoorsAgreeWithALiveCluster(t *testing.T) {
	for _, policy := range dispatch.PolicyKinds {
		for _, slots := range []SlotLayout{SlotsShared, SlotsSeparate} {
			t.Run(fmt.Sprint(policy, " ", slots), func(t *testing.T) {
				t.Parallel()
				s := learnedSettings()
				s.Policy.Kind, s.Slots = policy, slots
				f := newFleet(t, s, 12, 11)
				var a asked
				f.run(20, nil)
				for i := range 48 {
					r := LiveJobRequest{Name: fmt.Sprint("job ", i), Class: fmt.Sprint("class ", i%5), Maps: 1 + f.random.Int64N(20), Reduces: f.random.Int64N(5),
						Slowstart: 0.5, MaxAttempts: 100, Weight: 1, Usage: TasksUsage{Map: perf.TaskUsage{CPU: float64(1 + i%10)}}}
					if i%2 == 0 {
						r.DeadlineSeconds = 100 + 400*f.random.Float64()
					}
					f.submit(r)
					if i%3 == 2 { // between heartbeats, slots are free and tasks wait
						a.ask(t, f)
						f.run(120*f.random.Float64(), nil)
					}
				}
				if a.slots-a.idle < 20 || a.promises < 30 || a.kept < 3 || a.kept > 29 {
					t.Errorf("only %+v", a)
				}
				t.Logf("%+v", a)
			})
		}
	}
}
