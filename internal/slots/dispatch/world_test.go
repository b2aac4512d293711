package dispatch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/core/perf"
)

// world makes random events for policies that look at nodes: nodes join, report and die, jobs gain measurements. A
// second implementation, in the words of the rule, decides as well. So does a policy that is made anew now and then:
// it gets the current events and recalls the first one's memory.
type world struct {
	t        *testing.T
	r        *rand.Rand
	layout   Layout
	make     func() Policy
	policy   Policy
	recalled Policy
	choose   func(w *world, s Slot) (*Job, Kind)
	noted    func(w *world, e Event)
	refit    func()         // changes jobs' measurements, sometimes
	resume   func(p Policy) // returns the caller's stored state to a policy that recalls

	now    float64
	nodes  []*Node
	jobs   []*Job
	held   []started
	number int
	joined int

	chosen, idle, recalls int
}

// started is a running task.
type started struct {
	job   *Job
	kind  Kind
	slot  Slot
	since float64
}

func newWorld(t *testing.T, seed uint64, l Layout, make func() Policy) *world {
	w := &world{t: t, r: seeded(seed), layout: l, make: make, policy: make()}
	w.recalled = make()
	for range 3 + w.r.IntN(4) {
		w.join()
	}
	return w
}

func (w *world) note(e Event) {
	e.Now = w.now
	w.policy.Note(e)
	w.recalled.Note(e)
	if w.noted != nil {
		w.noted(w, e)
	}
}

func (w *world) join() {
	n := &Node{Index: w.joined, Name: fmt.Sprint("n", w.joined), Type: fmt.Sprint("t", w.r.IntN(3)), Cores: float64(1 + w.r.IntN(8)), Residual: 1}
	if w.r.IntN(2) == 0 {
		n.ComputeUnits = float64(1 + w.r.IntN(5))
	}
	n.Slots[0] = w.r.IntN(4)
	if w.layout == Separate {
		n.Slots[1] = w.r.IntN(3)
	}
	w.joined++
	w.nodes = append(w.nodes, n)
	w.note(Event{What: Joined, Node: n})
}

var rateFamilies = []string{"t0", "t1", "t2", "t3"}

// submit adds a job of one of a few families, whose jobs are measured together.
func (w *world) submit(families []Known) {
	j := &Job{Number: int64(w.number), Name: fmt.Sprint(w.r.IntN(4)), SubmittedSeconds: float64(int(w.now) / 3 * 3)}
	w.number++
	j.Known = families[w.r.IntN(len(families))]
	j.Pending = [Kinds]int{1 + w.r.IntN(6), w.r.IntN(3)}
	j.Unfinished = j.Pending[0] + j.Pending[1] + w.r.IntN(3)
	if w.r.IntN(3) > 0 {
		j.DeadlineSeconds = w.now + float64(w.r.IntN(120)) - 10
	}
	j.Weight = []float64{0, 1, 2, 0.5}[w.r.IntN(4)]
	j.MinShare = []float64{0, 0, 0.2, 0.5}[w.r.IntN(4)]
	j.Promised = []float64{0, 0.2, 0.5}[w.r.IntN(3)]
	j.Balance = float64(w.r.IntN(3))
	j.Worth = float64(w.r.IntN(3))
	j.Revenue = float64(w.r.IntN(4))
	if j.Maps = j.Pending[0]; w.r.IntN(3) == 0 {
		j.Maps = 0
	}
	for k := range j.Usage {
		j.Usage[k] = Usage{float64(w.r.IntN(11)), float64(w.r.IntN(11)), float64(w.r.IntN(4) * 3), float64(w.r.IntN(3) * 5)}
	}
	w.jobs = append(w.jobs, j)
	w.note(Event{What: Arrived, Job: j})
}

func (w *world) end(i int, how Outcome) {
	h := w.held[i]
	w.held = slices.Delete(w.held, i, i+1)
	h.job.Running[h.kind]--
	h.slot.Node.Running[h.kind]--
	seconds := w.now - h.since
	if how == Done {
		h.job.Unfinished--
		if h.kind == Map {
			h.job.MapsDone++
		}
		if h.kind == Map && h.job.Rates != nil {
			h.job.Rates.Add(h.slot.Node.Type, 1+seconds)
		}
	} else {
		h.job.Pending[h.kind]++
	}
	w.note(Event{What: Ended, Job: h.job, Task: h.kind, Slot: h.slot, Outcome: how, Seconds: seconds})
}

func (w *world) kill(n *Node) {
	for i := len(w.held) - 1; i >= 0; i-- {
		if w.held[i].slot.Node == n {
			w.end(i, Lost)
		}
	}
	w.nodes = slices.DeleteFunc(w.nodes, func(other *Node) bool { return other == n })
	w.note(Event{What: Gone, Node: n})
}

// report sends a heartbeat with a new state.
func (w *world) report(n *Node) {
	n.Heartbeats++
	n.Residual = []float64{1, 0.9, 0.5, 0.2, 0.01, 0, w.r.Float64()}[w.r.IntN(7)]
	n.Report.Load1 = n.Cores * 2 * w.r.Float64()
	n.Report.CPUPercent = 100 * w.r.Float64()
	n.Report.Numbers, n.Report.Words = nil, nil
	if w.r.IntN(3) > 0 {
		n.Report.Numbers = map[string]float64{"gpu": w.r.Float64()}
		n.Report.Words = map[string]string{"rack": []string{"a", "b", "c"}[w.r.IntN(3)]}
	}
	if w.r.IntN(10) == 0 { // an operator changes it
		n.Slots[0] = max(n.Running[0]+n.Running[1], w.r.IntN(4))
	}
	w.note(Event{What: Reported, Node: n})
}

// step makes a random event, then offers all free slots.
func (w *world) step(families []Known) {
	w.now += float64(w.r.IntN(5))
	if w.refit != nil && w.r.IntN(10) == 0 {
		w.refit()
	}
	switch what := w.r.IntN(20); {
	case what < 4:
		w.submit(families)
	case what < 8 && len(w.nodes) > 0:
		w.report(w.nodes[w.r.IntN(len(w.nodes))])
	case what == 8:
		w.join()
	case what == 9 && len(w.nodes) > 1:
		w.kill(w.nodes[w.r.IntN(len(w.nodes))])
	case what == 10 && len(w.jobs) > 0:
		j, k := w.jobs[w.r.IntN(len(w.jobs))], Kind(w.r.IntN(Kinds))
		n := 1 + w.r.IntN(3)
		j.Pending[k] += n
		j.Unfinished += n
		w.note(Event{What: Ready, Job: j, Task: k})
	case what == 11 && len(w.jobs) > 0:
		i := w.r.IntN(len(w.jobs))
		if j := w.jobs[i]; j.Running == [Kinds]int{} {
			j.Pending = [Kinds]int{}
			w.jobs = slices.Delete(w.jobs, i, i+1)
			w.note(Event{What: Left, Job: j})
		}
	case what == 12:
		w.recall()
	default:
		for range 2 {
			if len(w.held) > 0 {
				w.end(w.r.IntN(len(w.held)), []Outcome{Done, Done, Failed}[w.r.IntN(3)])
			}
		}
	}
	w.offer()
}

func (w *world) free(n *Node, p Pool) int {
	free := n.Slots[p]
	for _, h := range w.held {
		if h.slot.Node == n && h.slot.Pool == p {
			free--
		}
	}
	return free
}

func (w *world) offer() {
	for _, i := range w.r.Perm(len(w.nodes)) {
		n := w.nodes[i]
		for p := range Pool(Kinds) {
			for range max(0, w.free(n, p)) {
				slot := Slot{Number: 100*n.Index + len(w.held), Pool: p, Node: n}
				if !w.one(slot) {
					break
				}
			}
		}
	}
}

// one offers a slot to the policy, to the recalled one and to the second implementation.
func (w *world) one(s Slot) bool {
	got, again := w.policy.Choose(w.now, s), w.recalled.Choose(w.now, s)
	want, kind := w.choose(w, s)
	if got != again {
		w.t.Fatalf("at %g %s gets %+v, and %+v from the policy that recalled", w.now, s.Node.Name, got, again)
	}
	if got.Job != want || want != nil && got.Task != kind {
		w.t.Fatalf("at %g a slot of pool %d of %+v goes to %d of %+v,\nwant %d of %+v\nwhy: %+v", w.now, s.Pool, s.Node, got.Task, got.Job, kind, want, w.policy.Why())
	}
	why := w.policy.Why()
	if why.Rule == "" || why.Reason == "" {
		w.t.Fatalf("no reason is given: %+v", why)
	}
	if got.Job == nil {
		w.idle++
		return false
	}
	if got.Job.Pending[got.Task] == 0 || w.layout.Of(got.Task) != s.Pool {
		w.t.Fatalf("%+v has no task of kind %d for pool %d", got.Job, got.Task, s.Pool)
	}
	if w.r.IntN(20) == 0 { // it is not carried out
		return false
	}
	w.chosen++
	j := got.Job
	j.Pending[got.Task]--
	j.Running[got.Task]++
	s.Node.Running[got.Task]++
	w.held = append(w.held, started{j, got.Task, s, w.now})
	w.note(Event{What: Started, Job: j, Task: got.Task, Slot: s})
	return true
}

// recall makes the second policy anew, from all current events in any order and the first one's memory.
func (w *world) recall() {
	p := w.make()
	for _, i := range w.r.Perm(len(w.nodes)) {
		p.Note(Event{What: Joined, Now: w.now, Node: w.nodes[i]})
	}
	for _, i := range w.r.Perm(len(w.jobs)) {
		p.Note(Event{What: Arrived, Now: w.now, Job: w.jobs[i]})
	}
	for _, i := range w.r.Perm(len(w.held)) {
		h := w.held[i]
		p.Note(Event{What: Started, Now: h.since, Job: h.job, Task: h.kind, Slot: h.slot})
	}
	if m, ok := w.policy.(Memory); ok {
		kept, err := m.Memory()
		if err == nil {
			err = p.(Memory).Recall(kept)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if w.resume != nil {
			w.resume(p)
		}
		again, _ := p.(Memory).Memory()
		if string(again) != string(kept) {
			w.t.Fatalf("what is recalled is given away as\n%s\nwant\n%s", again, kept)
		}
	}
	w.recalls++
	w.recalled = p
}

// families makes kinds of jobs: some measured, some partly, some with absurd measurements.
func families(r *rand.Rand) []Known {
	var all []Known
	for i := range 6 {
		k := Known{ReadMBPerSecond: []float64{0, 5, 20}[r.IntN(3)]}
		switch i {
		case 0: // nothing is known
		case 1:
			k.Rates = &perf.Rates{Types: map[string]perf.Mean{"t0": {Count: 1}, "t9": {Count: 2, Seconds: 10}}}
			k.TaskTime = &perf.TaskTime{A: -1}
		default:
			k.Rates = &perf.Rates{}
			for _, name := range rateFamilies[:r.IntN(4)] {
				k.Rates.Add(name, 1+10*r.Float64())
			}
			k.TaskTime = &perf.TaskTime{A: 10 + 10*r.Float64(), B: -3 * r.Float64(), C: 5 * r.Float64(), D: -1}
		}
		all = append(all, k)
	}
	return all
}
