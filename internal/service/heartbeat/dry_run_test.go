package heartbeat_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/internal/test/pgtest"
)

// pastCluster is a live cluster whose clock the test moves.
type pastCluster struct {
	testing.TB
	*app.App
	now     time.Time
	seq     map[string]int64
	running map[string][]int64
}

func newPast(t *testing.T, policy string) *pastCluster {
	ctx := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin})
	c := &pastCluster{TB: t, now: time.Now().Add(-2 * time.Hour), seq: map[string]int64{}, running: map[string][]int64{}}
	store := pgtest.Open(t)
	if _, err := store.CreateCluster(ctx, inputs.NewCluster("night")); err != nil {
		t.Fatal(err)
	}
	c.App = app.New(store.Stores(), auth.NewKeyring(), app.Config{Clock: func() time.Time { return c.now }})
	if _, err := c.Live.SetSettings(ctx, "night", 1, c.settings(policy)); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *pastCluster) settings(policy string) (s live.LiveSettings) {
	c.Helper()
	if err := json.Unmarshal([]byte(`{"policy":{"kind":"`+policy+`"},"node_timeout_s":60}`), &s); err != nil {
		c.Fatal(err)
	}
	return s
}

func (c *pastCluster) node(name string, slots int64) {
	c.Helper()
	if _, err := c.Live.PutNode(c.Context(), "night", live.LiveNode{Name: name, Type: "m", Cores: 4, Slots: live.NodeSlots{Map: slots}}); err != nil {
		c.Fatal(err)
	}
}

func (c *pastCluster) submit(text string) int64 {
	c.Helper()
	var r live.LiveJobRequest
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		c.Fatal(err)
	}
	j, err := c.Live.SubmitJob(c.Context(), "night", r)
	if err != nil {
		c.Fatal(err)
	}
	return j.Number
}

// beat reports the end of some of a node's tasks, and takes new ones.
func (c *pastCluster) beat(node string, finished, failed int) {
	c.Helper()
	c.seq[node]++
	h := live.Heartbeat{Seq: c.seq[node], Running: []int64{}}
	for i, id := range c.running[node] {
		switch {
		case i < finished:
			h.Finished = append(h.Finished, live.FinishedTask{Assignment: id})
		case i < finished+failed:
			h.Failed = append(h.Failed, live.FailedTask{Assignment: id})
		default:
			h.Running = append(h.Running, id)
		}
	}
	text, err := json.Marshal(h)
	if err != nil {
		c.Fatal(err)
	}
	answer, err := c.Live.Heartbeat(c.Context(), "night", node, h, text)
	if err != nil {
		c.Fatal(err)
	}
	var a live.HeartbeatAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		c.Fatal(err)
	}
	c.running[node] = h.Running
	for _, got := range a.Assignments {
		c.running[node] = append(c.running[node], got.Assignment)
	}
}

func (c *pastCluster) try(policy string, seconds float64) live.PolicyTrial {
	c.Helper()
	r, err := c.Live.DryRunPolicy(c.Context(), "night", live.PolicyTrialRequest{Policy: c.settings(policy).Policy, Seconds: seconds})
	if err != nil {
		c.Fatalf("%s: %v", policy, err)
	}
	return r
}

// One slot, three maps of a job without a deadline, then one of a job with a deadline. In the order of submission
// that one comes last and is late. By deadlines it would have been first each time.
func TestAPolicyIsTriedOnThePast(t *testing.T) {
	t.Parallel()
	c := newPast(t, "fifo")
	if r := c.try("edf", 3600); r.Decisions != 0 || !strings.Contains(r.Sentence, "nothing to compare") {
		t.Errorf("a cluster without a past: %+v", r)
	}
	c.node("a", 1)
	c.submit(`{"name":"long","maps":3}`)
	c.now = c.now.Add(time.Second)
	due := c.submit(`{"name":"due","maps":1,"deadline_s":25}`)
	began := c.now
	for i := range 5 {
		c.beat("a", min(i, 1), 0)
		c.now = c.now.Add(10 * time.Second)
	}
	r := c.try("edf", 3600)
	if r.Heartbeats != 5 || r.Decisions != 4 || r.Same != 1 || r.Other != 3 || r.Idle != 0 || r.Extra != 0 || len(r.Differences) != 3 || len(r.Deadlines) != 1 {
		t.Fatalf("got %+v", r)
	}
	first := r.Differences[0]
	if first.Was.JobName != "long" || first.Was.Rule != "order" || first.Would.Job != due || first.Would.Rule != "deadline" || first.Would.Reason == "" || first.At.Sub(began) > time.Second {
		t.Errorf("got %+v, %+v", first.Was, first.Would)
	}
	d := r.Deadlines[0]
	if d.Job != due || d.Missed == nil || !*d.Missed || d.Slots != 1 || d.WouldSlots != 4 || !d.Sooner() || d.FirstAt.Sub(*d.WouldAt) != 30*time.Second {
		t.Errorf("got %+v", d)
	}
	for _, want := range []string{"edf would have decided 1 of 4 decisions alike", "Of 1 job with a deadline 1 missed it", "served 1 of these 1 earlier", "cannot tell"} {
		if !strings.Contains(r.Sentence, want) {
			t.Errorf("got %q, want %q", r.Sentence, want)
		}
	}
	if r := c.try("fifo", 3600); r.Same != 4 || len(r.Differences)+len(r.Warnings)-1 > 0 {
		t.Errorf("the policy itself: %+v", r)
	}
	if before, err := c.Stores.Live.LiveSettings(c.Context(), "night"); err != nil || before.Policy.Kind != dispatch.PolicyFIFO || before.Version != 2 {
		t.Errorf("a dry run has changed something: %+v, %v", before, err)
	}
}

// For any events (failing tasks, nodes that die and return, killed jobs) and any starting moment of the repetition,
// the same policy decides the same, and everything can be repeated.
func TestThePastIsRepeated(t *testing.T) {
	t.Parallel()
	for seed, policy := range []string{"fifo", "edf", "fair"} {
		c := newPast(t, policy)
		r := rand.New(rand.NewPCG(4, uint64(seed)))
		names := []string{"a", "b", "c"}
		for i, name := range names {
			c.node(name, int64(1+i))
		}
		silent := map[string]time.Time{}
		var jobs []int64
		for i := range 150 {
			c.now = c.now.Add(time.Duration(1+r.IntN(5000)) * time.Millisecond)
			switch what := r.IntN(20); {
			case what < 3:
				deadline := ""
				if r.IntN(2) == 0 {
					deadline = fmt.Sprintf(`,"deadline_s":%d`, 10+r.IntN(300))
				}
				jobs = append(jobs, c.submit(fmt.Sprintf(`{"name":"job %d","class":"c%d","maps":%d,"reduces":%d%s}`, i, r.IntN(2), 1+r.IntN(6), r.IntN(3), deadline)))
			case what == 3 && len(jobs) > 0:
				_ = c.Live.KillJob(c.Context(), "night", jobs[r.IntN(len(jobs))]) // it may be over
			case what == 4:
				silent[names[r.IntN(3)]] = c.now.Add(90 * time.Second)
			default:
				if name := names[r.IntN(3)]; silent[name].Before(c.now) {
					c.beat(name, r.IntN(3), r.IntN(8)/7)
				}
			}
		}
		for _, seconds := range []float64{7200, 200, 100, 40} {
			got := c.try(policy, seconds)
			if got.Same != got.Decisions || got.Extra != 0 || len(got.Differences) > 0 {
				t.Errorf("%s, %g s: %s %+v", policy, seconds, got.Sentence, got.Differences)
			}
			for _, w := range got.Warnings {
				if w.Code != "measured_since" {
					t.Errorf("%s, %g s: %s", policy, seconds, w.Detail)
				}
			}
			if seconds == 7200 && got.Decisions < 30 {
				t.Errorf("%s: %d decisions decide little", policy, got.Decisions)
			}
			t.Logf("%s, %g s: %d heartbeats, %d decisions", policy, seconds, got.Heartbeats, got.Decisions)
		}
		for _, other := range []string{"fifo", "edf", "fair", "capacity", "progress-share", "max-progress", "learned"} {
			if got := c.try(other, 7200); got.Same+got.Other+got.Idle != got.Decisions {
				t.Errorf("%s after %s: %+v", other, policy, got)
			}
		}
	}
}
