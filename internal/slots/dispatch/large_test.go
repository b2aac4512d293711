package dispatch

import (
	"fmt"
	"testing"
	"time"

	"example.org/headroom/internal/core/perf"
)

// large is a busy cluster for a policy: nodes of eight types with four slots each, jobs that never end.
type large struct {
	policy Policy
	nodes  []*Node
	jobs   []*Job
	held   []started // one for each slot
	at     int
	now    float64
}

func newLarge(tb testing.TB, document string, nodes, jobs int) *large {
	p, err := ReadPolicy([]byte(document))
	if err != nil {
		tb.Fatal(err)
	}
	policy, err := New(p, Setting{Layout: Shared, Shares: []Share{{Weight: [Kinds]float64{1, 1}}, {Weight: [Kinds]float64{2, 1}}}})
	if err != nil {
		tb.Fatal(err)
	}
	r := seeded(1)
	c := &large{policy: policy}
	for i := range nodes {
		n := &Node{Index: i, Name: fmt.Sprint("node-", i), Type: fmt.Sprint("type-", i%8), Cores: 8, Slots: [Kinds]int{4}, Residual: 0.1 + 0.9*r.Float64()}
		c.nodes = append(c.nodes, n)
		policy.Note(Event{What: Joined, Node: n})
	}
	for i := range jobs {
		j := &Job{Index: i, Number: int64(i), Class: i % 2, Name: fmt.Sprint("job-", i), Pending: [Kinds]int{1 << 40, 1 << 40}, Unfinished: 1 << 41, SubmittedSeconds: float64(i)}
		if i%2 == 0 {
			j.DeadlineSeconds = 1e4 + float64(i)
		}
		j.TaskTime = &perf.TaskTime{A: 10 + 10*r.Float64(), B: -3 * r.Float64(), C: 5 * r.Float64(), D: -1}
		j.Rates = &perf.Rates{}
		for k := range 8 {
			j.Rates.Add(fmt.Sprint("type-", k), 5+5*r.Float64())
		}
		for k := range j.Usage {
			j.Usage[k] = Usage{float64(1 + r.IntN(10)), float64(1 + r.IntN(10)), float64(1 + r.IntN(10)), 0}
		}
		c.jobs = append(c.jobs, j)
		policy.Note(Event{What: Arrived, Job: j})
	}
	for i := range 4 * nodes {
		c.start(c.jobs[r.IntN(jobs)], Kind(i%2), Slot{Number: i, Node: c.nodes[i/4]})
	}
	return c
}

func (c *large) start(j *Job, k Kind, s Slot) {
	j.Pending[k]--
	j.Running[k]++
	s.Node.Running[k]++
	c.held = append(c.held, started{j, k, s, c.now})
	c.policy.Note(Event{What: Started, Now: c.now, Job: j, Task: k, Slot: s})
}

// end ends the task of a slot, and its node reports.
func (c *large) end() Slot {
	c.at = (c.at + 1) % len(c.held)
	h := c.held[c.at]
	c.held[c.at] = c.held[len(c.held)-1]
	c.held = c.held[:len(c.held)-1]
	h.job.Running[h.kind]--
	h.slot.Node.Running[h.kind]--
	c.policy.Note(Event{What: Ended, Now: c.now, Job: h.job, Task: h.kind, Slot: h.slot, Seconds: 10})
	c.now++
	n := h.slot.Node
	n.Heartbeats++
	n.Residual = 0.1 + float64(c.at%64)/80
	n.Report.Load1 = float64(c.at % 16)
	c.policy.Note(Event{What: Reported, Now: c.now, Node: n})
	return h.slot
}

func (c *large) turn() {
	s := c.end()
	if choice := c.policy.Choose(c.now, s); choice.Job != nil {
		c.start(choice.Job, choice.Task, s)
	} else {
		c.start(c.jobs[c.at%len(c.jobs)], Map, s) // the cluster stays busy
	}
}

// everyPolicy has one document of each kind, and several of the kinds that decide in several ways.
var everyPolicy = []string{
	`{"kind":"fifo"}`, `{"kind":"edf"}`, `{"kind":"fair"}`, `{"kind":"capacity"}`, `{"kind":"progress-share"}`,
	`{"kind":"max-progress","io_cap_mb_s":80}`, `{"kind":"max-progress","whole_tasks":true}`,
	`{"kind":"learned"}`, `{"kind":"learned","classifier":"perceptron"}`,
}

// BenchmarkTurn measures a policy's work for one heartbeat: a task ends, its node reports, its slot is given away and
// a task starts, with 1,000 nodes and 200 jobs.
func BenchmarkTurn(b *testing.B) {
	for _, document := range everyPolicy {
		b.Run(document, func(b *testing.B) {
			c := newLarge(b, document, 1_000, 200)
			b.ReportAllocs()
			for b.Loop() {
				c.turn()
			}
		})
	}
}

// BenchmarkChoose measures the decision alone.
func BenchmarkChoose(b *testing.B) {
	for _, document := range everyPolicy {
		b.Run(document, func(b *testing.B) {
			c := newLarge(b, document, 1_000, 200)
			s := c.end()
			b.ReportAllocs()
			for b.Loop() {
				c.policy.Choose(c.now, s)
			}
		})
	}
}

// A decision with 1,000 nodes and 200 jobs takes a millisecond at most, and allocates nothing.
func TestLargeClustersAreDecidedAtOnce(t *testing.T) {
	for _, document := range everyPolicy {
		c := newLarge(t, document, 1_000, 200)
		for range 100 {
			c.turn()
		}
		s := c.end()
		if got := testing.AllocsPerRun(100, func() { c.policy.Choose(c.now, s) }); got != 0 {
			t.Errorf("%s: %g allocations a decision", document, got)
		}
		const turns = 200
		fastest := time.Hour
		for range turns {
			began := time.Now()
			c.turn()
			fastest = min(fastest, time.Since(began))
		}
		t.Logf("%s: %v at best from a task's end to the next one's start", document, fastest)
		if fastest > time.Millisecond {
			t.Errorf("%s: the fastest of %d turns took %v, more than a millisecond", document, turns, fastest)
		}
	}
}
