package live

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// kept is a store in memory that applies a cluster's changes.
type kept struct {
	State
	nodes   map[string]Node
	jobs    map[int64]Job
	runs    map[int64]Run
	learned map[int64]dispatch.Decision
	running map[string]int64 // the assignment that runs each task
	done    map[string]int64
}

func newKept(s LiveSettings) *kept {
	return &kept{State: State{Settings: s, Memories: map[dispatch.PolicyKind]Memory{}, Measured: map[string]Measured{}}, nodes: map[string]Node{}, jobs: map[int64]Job{},
		runs: map[int64]Run{}, learned: map[int64]dispatch.Decision{}, running: map[string]int64{}, done: map[string]int64{}}
}

func taskName(r Run) string { return fmt.Sprint(r.Job, " ", r.Kind, " ", r.Task) }

// save stores changes like a database: with one running copy of a task at most.
func (k *kept) save(t *testing.T, c Changes) {
	t.Helper()
	k.Counters = c.Counters
	if c.Settings != nil {
		k.Settings = *c.Settings
	}
	if c.Memory != nil {
		k.Memories[c.Memory.Policy.Kind] = *c.Memory
	}
	for _, name := range c.Removed {
		delete(k.nodes, name)
	}
	for _, n := range c.Nodes {
		n.Answer = bytes.Clone(n.Answer)
		n.Boots = slices.Clone(n.Boots)
		k.nodes[n.Name] = n
	}
	for _, j := range c.Jobs {
		k.jobs[j.Number] = j
	}
	put := func(r Run) {
		task := taskName(r)
		if k.running[task] == r.ID {
			delete(k.running, task)
		}
		if r.Outcome == TaskRunning {
			if other := k.running[task]; other != 0 {
				t.Fatalf("the task %s runs twice at once: as assignment %d and as %d", task, other, r.ID)
			}
			k.running[task] = r.ID
		}
		if r.Outcome == TaskDone {
			if other := k.done[task]; other != 0 && other != r.ID {
				t.Fatalf("the task %s is done twice: as assignment %d and as %d", task, other, r.ID)
			}
			k.done[task] = r.ID
		}
		k.runs[r.ID] = r
	}
	for _, again := range []bool{false, true} {
		for _, r := range c.Ended {
			if _, known := k.runs[r.ID]; !known {
				t.Fatalf("assignment %d changes and was never stored", r.ID)
			}
			if (r.Outcome == TaskRunning) == again {
				put(r)
			}
		}
	}
	for _, r := range c.Started {
		if _, known := k.runs[r.ID]; known {
			t.Fatalf("assignment %d is started twice", r.ID)
		}
		put(r)
	}
	for class, m := range c.Measured {
		k.Measured[class] = m
	}
	for _, d := range c.Decided {
		k.learned[d.Decision.Number] = d.Decision
	}
	for _, d := range c.Judged {
		k.learned[d.Number] = d
	}
	for _, number := range c.Dropped {
		delete(k.learned, number)
	}
}

// state returns the whole state, as a new process reads it.
func (k *kept) state() State {
	s := k.State
	s.Memories, s.Measured = maps.Clone(k.Memories), map[string]Measured{}
	for class, m := range k.Measured {
		s.Measured[class] = m.clone()
	}
	for _, name := range slices.Sorted(maps.Keys(k.nodes)) {
		n := k.nodes[name]
		n.Boots = slices.Clone(n.Boots)
		s.Nodes = append(s.Nodes, n)
	}
	for _, number := range slices.Sorted(maps.Keys(k.jobs)) {
		if k.jobs[number].Ended == 0 {
			s.Jobs = append(s.Jobs, k.jobs[number])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(k.runs)) {
		if k.runs[id].Open {
			s.Runs = append(s.Runs, k.runs[id])
		}
	}
	for _, number := range slices.Sorted(maps.Keys(k.learned)) {
		if d := k.learned[number]; d.Judgement == nil {
			s.Pending = append(s.Pending, d)
		}
	}
	return s
}

// choices returns the judged choices, as a store has them.
func (k *kept) choices() Judged {
	return Judged{After: func(judgement int64) iter.Seq2[*dispatch.Decision, error] {
		return func(yield func(*dispatch.Decision, error) bool) {
			for d, err := range k.judged() {
				if err == nil && d.Judgement.Number <= judgement {
					continue
				}
				if !yield(d, err) {
					return
				}
			}
		}
	}}
}

func (k *kept) judged() iter.Seq2[*dispatch.Decision, error] {
	var all []dispatch.Decision
	for _, d := range k.learned {
		if d.Judgement != nil {
			j := *d.Judgement
			d.Judgement = &j
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b dispatch.Decision) int { return cmp.Compare(a.Judgement.Number, b.Judgement.Number) })
	return func(yield func(*dispatch.Decision, error) bool) {
		for i := range all {
			if !yield(&all[i], nil) {
				return
			}
		}
	}
}

// agent simulates a node's program: it runs its assignments, and its messages get lost, doubled or late.
type agent struct {
	name     string
	seq      int64
	boot     int
	down     float64           // silent before
	tasks    map[int64]float64 // end of each task
	ended    []int64           // not reported yet
	unsent   []byte            // sent, and not answered as far as it knows
	late     [][]byte          // older messages that arrive again
	slowness float64
	next     float64
}

// fleet holds agents, their cluster, and its twin, which is loaded anew now and then.
type fleet struct {
	*testing.T
	random  *rand.Rand
	now     float64
	cluster *Cluster
	twin    *Cluster
	store   *kept
	agents  []*agent
	beats   int
	refused int
	replays int
	notes   map[string]int
	slowest time.Duration
	decided time.Duration
}

const fleetStart = 1.75e9

func newFleet(t *testing.T, settings LiveSettings, nodes int, seed uint64) *fleet {
	f := &fleet{T: t, random: rand.New(rand.NewPCG(seed, 20)), now: fleetStart, store: newKept(settings), notes: map[string]int{}}
	f.cluster, f.twin = f.load(), f.load()
	for i := range nodes {
		a := &agent{name: fmt.Sprintf("node-%04d", i), tasks: map[int64]float64{}, slowness: 1 + float64(i%3)/2, next: f.now + 5*f.random.Float64()}
		f.agents = append(f.agents, a)
		f.change(func(c *Cluster) error {
			_, _, err := c.PutNode(f.now, LiveNode{Name: a.name, Type: []string{"fast", "plain", "slow"}[i%3], Cores: 4, Slots: NodeSlots{Map: 2, Reduce: 1}, Dedicated: i%4 > 0})
			return err
		})
	}
	return f
}

func (f *fleet) load() *Cluster {
	f.Helper()
	c, err := Load(f.store.state(), f.store.choices())
	if err != nil {
		f.Fatal(err)
	}
	return c
}

// change applies a change to the cluster and its twin and stores the result.
func (f *fleet) change(do func(c *Cluster) error) error {
	f.Helper()
	began := time.Now()
	err := do(f.cluster)
	took := time.Since(began)
	f.decided += took
	f.slowest = max(f.slowest, took)
	if other := do(f.twin); (err == nil) != (other == nil) {
		f.Fatalf("the cluster answers %v, one that was read anew %v", err, other)
	}
	changes, failed := f.cluster.Changes()
	if failed != nil {
		f.Fatal(failed)
	}
	if _, failed := f.twin.Changes(); failed != nil {
		f.Fatal(failed)
	}
	f.store.save(f.T, changes)
	return err
}

func (f *fleet) submit(r LiveJobRequest) (number int64) {
	f.Helper()
	if err := f.change(func(c *Cluster) error {
		j, err := c.Submit(f.now, r, "test")
		number = j.Number
		return err
	}); err != nil {
		f.Fatal(err)
	}
	return number
}

// send brings a message to the cluster; lost means that the agent never reads the answer.
func (f *fleet) send(a *agent, text []byte) (answer HeartbeatAnswer, err error) {
	h, err := ReadHeartbeat(text)
	if err != nil {
		f.Fatalf("%s: %v", text, err)
	}
	var texts [][]byte
	again := false
	err = f.change(func(c *Cluster) error {
		got, err := c.Heartbeat(f.now, a.name, h, string(text))
		texts, again = append(texts, got.Text), got.Again
		return err
	})
	if err != nil {
		f.refused++
		return answer, err
	}
	if !bytes.Equal(texts[0], texts[1]) {
		f.Fatalf("at %.3f %s gets\n%s\nfrom the cluster and from one that was read anew\n%s", f.now-fleetStart, a.name, texts[0], texts[1])
	}
	if again {
		f.replays++
	}
	f.beats++
	if err := json.Unmarshal(texts[0], &answer); err != nil {
		f.Fatal(err)
	}
	for _, n := range answer.Notes {
		f.notes[n.Code]++
	}
	return answer, nil
}

// beat sends an agent's heartbeat, with everything that can go wrong on the way.
func (f *fleet) beat(a *agent) {
	p := f.random.Float64()
	switch {
	case p < 0.003: // it dies for a moment, or long enough to count as dead
		a.down = f.now + []float64{3, 20, 90}[f.random.IntN(3)]
		if f.random.IntN(2) == 0 { // and has forgotten everything
			a.boot++
			a.seq, a.unsent, a.ended, a.tasks = 0, nil, nil, map[int64]float64{}
		}
		a.next = a.down
		return
	case p < 0.006 && len(a.late) > 0: // an older message arrives again
		_, _ = f.send(a, a.late[f.random.IntN(len(a.late))])
	}
	for _, id := range slices.Sorted(maps.Keys(a.tasks)) {
		if a.tasks[id] <= f.now {
			delete(a.tasks, id)
			a.ended = append(a.ended, id)
		}
	}
	text := a.unsent
	var failed []FailedTask
	if text == nil {
		a.seq++
		load := float64(len(a.tasks)) * (0.6 + 0.8*f.random.Float64())
		residual := 1 - 0.5*f.random.Float64()
		h := Heartbeat{Seq: a.seq, Boot: fmt.Sprint("boot-", a.boot), Running: slices.Sorted(maps.Keys(a.tasks)), State: &NodeReport{Load1: &load, Residual: &residual}}
		if f.random.IntN(500) == 0 && len(h.Running) > 0 { // it has lost one itself
			delete(a.tasks, h.Running[0])
			h.Running = h.Running[1:]
		}
		if h.Running == nil {
			h.Running = []int64{}
		}
		for _, id := range a.ended {
			if f.random.IntN(100) == 0 {
				failed = append(failed, FailedTask{Assignment: id, Reason: "test"})
			} else {
				h.Finished = append(h.Finished, FinishedTask{Assignment: id, Seconds: 5 * f.random.Float64()})
			}
		}
		h.Failed = failed
		a.ended = nil
		var err error
		if text, err = json.Marshal(h); err != nil {
			f.Fatal(err)
		}
		if a.late = append(a.late, text); len(a.late) > 4 {
			a.late = a.late[1:]
		}
	}
	answer, err := f.send(a, text)
	if err != nil {
		f.Fatalf("at %.3f %s: %s: %v", f.now-fleetStart, a.name, text, err)
	}
	if f.random.IntN(200) == 0 { // the answer is lost, so it sends again
		a.unsent, a.next = text, f.now+1
		return
	}
	a.unsent, a.next = nil, f.now+5
	for _, s := range answer.Stop {
		delete(a.tasks, s.Assignment)
	}
	for _, x := range answer.Assignments {
		seconds := a.slowness * (4 + 20*f.random.Float64())
		if f.random.IntN(20) == 0 {
			seconds *= 8
		}
		a.tasks[x.Assignment] = f.now + seconds
	}
}

// run advances the time.
func (f *fleet) run(seconds float64, each func()) {
	f.Helper()
	for end := f.now + seconds; ; {
		next := f.agents[0]
		for _, a := range f.agents {
			if a.next < next.next {
				next = a
			}
		}
		if next.next > end {
			f.now = end
			return
		}
		f.now = max(f.now, math.Round(next.next*1e6)/1e6)
		f.beat(next)
		if f.random.IntN(2000) == 0 { // another process takes over
			f.twin = f.load()
		}
		if each != nil {
			each()
		}
	}
}

// check compares the cluster with its stored state.
func (f *fleet) check() {
	f.Helper()
	var running, waiting, done int64
	for _, j := range f.store.jobs {
		for k, counts := range j.Counts {
			if counts.Waiting < 0 || counts.Waiting+counts.Running+counts.Done != counts.Total {
				f.Fatalf("job %d has lost tasks: %+v", j.Number, counts)
			}
			if j.State != JobActive && counts.Running != 0 {
				f.Fatalf("job %d is %s and %d of its tasks run", j.Number, j.State, counts.Running)
			}
			states := make([]taskState, counts.Total)
			unpackDone(j.Done[k], states)
			for i, s := range states {
				task := taskName(Run{Job: j.Number, Kind: dispatch.Kind(k), Task: int64(i)})
				if isDone := f.store.done[task] != 0; isDone != (s == taskDone) {
					f.Fatalf("the task %s is done: %v, and its job says %v", task, isDone, s == taskDone)
				}
				if s == taskDone && f.store.running[task] != 0 {
					f.Fatalf("the task %s is done and runs", task)
				}
			}
			running, waiting, done = running+counts.Running, waiting+counts.Waiting, done+counts.Done
		}
	}
	if int(running) != len(f.store.running) || int(done) != len(f.store.done) {
		f.Fatalf("jobs count %d running tasks and %d done, decisions %d and %d", running, done, len(f.store.running), len(f.store.done))
	}
	for _, id := range f.store.running {
		if n := f.store.nodes[f.store.runs[id].Node]; n.State != NodeAlive {
			f.Fatalf("assignment %d runs on node %s, which is %s", id, n.Name, n.State)
		}
	}
	if l := f.cluster.policy.learned; l != nil {
		again := dispatch.NewLearned(f.cluster.layout, f.cluster.settings.Policy)
		if err := again.Relearn(f.cluster.settings.Policy, f.store.judged()); err != nil {
			f.Fatal(err)
		}
		got, want := l.Knowledge(), again.Knowledge()
		if text, other := fmt.Sprint(got.Counts), fmt.Sprint(want.Counts); text != other {
			f.Fatalf("what was learned is\n%s\nand learned again from the decisions\n%s", text, other)
		}
		if got.Judgements != int64(len(slices.Collect(maps.Keys(maps.Collect(f.store.judged()))))) {
			f.Fatalf("%d choices were judged, %d of those kept", got.Judgements, len(maps.Collect(f.store.judged())))
		}
	}
}

// wholeSamples is set when tests take the whole samples that promises are stated for.
var wholeSamples = os.Getenv("HEADROOM_LONG") != ""

func learnedSettings() LiveSettings {
	s := DefaultLiveSettings()
	s.Policy = dispatch.PolicyConfig{Kind: dispatch.PolicyLearned}
	s.NodeTimeoutSeconds = 60
	return s
}

// Twenty minutes of 1,000 nodes that die and return, with messages that are lost, doubled and late, and processes
// that load the cluster anew. No task is lost or runs twice at once, and the lessons match the decisions.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	nodes, minutes := 200, 4
	if wholeSamples {
		nodes, minutes = 1000, 20
	}
	for _, policy := range dispatch.PolicyKinds {
		for _, slots := range []SlotLayout{SlotsShared, SlotsSeparate} {
			t.Run(fmt.Sprint(policy, " ", slots), func(t *testing.T) {
				t.Parallel()
				s := learnedSettings()
				s.Policy.Kind, s.Slots = policy, slots
				if policy != dispatch.PolicyLearned && !wholeSamples || slots == SlotsSeparate {
					nodes, minutes := 40, 2
					theFleet(t, s, nodes, minutes)
					return
				}
				theFleet(t, s, nodes, minutes)
			})
		}
	}
}

func theFleet(t *testing.T, s LiveSettings, nodes, minutes int) {
	f := newFleet(t, s, nodes, 7)
	var submitted []int64
	job := func() {
		r := LiveJobRequest{Name: fmt.Sprint("job ", len(submitted)), Class: fmt.Sprint("class ", len(submitted)%5), Maps: 1 + f.random.Int64N(2*int64(nodes)), Reduces: f.random.Int64N(5),
			Slowstart: 0.5, MaxAttempts: 100, Weight: 1, Usage: TasksUsage{Map: perf.TaskUsage{CPU: float64(1 + len(submitted)%10)}}}
		if len(submitted)%3 == 0 {
			r.DeadlineSeconds = 100 + 400*f.random.Float64()
		}
		for task := range min(r.Maps, 20) {
			r.Local = append(r.Local, LocalMap{Task: task, Nodes: []string{f.agents[f.random.IntN(nodes)].name}})
		}
		submitted = append(submitted, f.submit(r))
	}
	for range 20 {
		job()
	}
	for range minutes {
		f.run(60, func() {
			switch n := f.random.IntN(20 * nodes); {
			case n < 5:
				job()
			case n == 5:
				_ = f.change(func(c *Cluster) error {
					_, _, err := c.Kill(f.now, submitted[len(submitted)/2], "test")
					return err
				})
			case n == 6: // a node is taken out for a moment
				a := f.agents[f.random.IntN(nodes)]
				if f.change(func(c *Cluster) error { _, err := c.RemoveNode(f.now, a.name); return err }) == nil {
					_ = f.change(func(c *Cluster) error {
						_, _, err := c.PutNode(f.now, LiveNode{Name: a.name, Type: "plain", Cores: 2, Slots: NodeSlots{Map: 1, Reduce: 1}, Dedicated: true})
						return err
					})
				}
			}
		})
		f.check()
	}
	for range 200 { // everything ends
		f.run(60, nil)
		if len(f.cluster.jobs) == 0 {
			break
		}
	}
	f.check()
	if len(f.cluster.jobs) > 0 {
		t.Errorf("%d jobs do not end", len(f.cluster.jobs))
	}
	for _, n := range submitted {
		if j := f.store.jobs[n]; j.State == JobDone && j.Counts[0].Done+j.Counts[1].Done != j.Request.Maps+j.Request.Reduces {
			t.Errorf("job %d is done: %+v", n, j.Counts)
		}
	}
	if nodes >= 200 {
		for _, code := range []string{noteReturned, noteRestarted, noteForgotten, noteSuperseded, noteIgnored} {
			if f.notes[code] == 0 {
				t.Errorf("%q did not happen", code)
			}
		}
	}
	t.Logf("%d heartbeats, %d answered again, %d refused, %d decisions, %d jobs; a decision takes %v, the slowest %v; notes: %v",
		f.beats, f.replays, f.refused, len(f.store.runs), len(submitted), f.decided/time.Duration(f.beats), f.slowest, f.notes)
}
