package dispatch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// seeded returns the random source of a test, the same at every run.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 8)) }

// cluster makes random events for a policy, and decides in a second way: it visits every job for every slot, in the
// words of the rule.
type cluster struct {
	t       *testing.T
	r       *rand.Rand
	layout  Layout
	shares  []Share
	policy  Policy
	choose  func(c *cluster, p Pool) *Job
	jobs    []*Job
	held    []task
	free    [Kinds]int
	number  int
	chosen  int
	refused int // slots that stayed idle while tasks waited
}

type task struct {
	job  *Job
	kind Kind
	slot Slot
}

func (c *cluster) note(what What, now float64, j *Job, k Kind, s Slot) {
	c.policy.Note(Event{What: what, Now: now, Job: j, Task: k, Slot: s})
}

// step is a random event and then offers of every free slot.
func (c *cluster) step(now float64) {
	switch what := c.r.IntN(10); {
	case what < 2: // arrives, sometimes several at once and out of the order of names
		j := &Job{Number: int64(c.number), Class: c.r.IntN(len(c.shares)), Name: fmt.Sprint(c.r.IntN(5)), SubmittedSeconds: math.Floor(now / 3)}
		if c.r.IntN(3) > 0 {
			j.DeadlineSeconds = now + float64(c.r.IntN(6))
		}
		c.number++
		j.Pending = [Kinds]int{c.r.IntN(4), 0}
		c.jobs = append(c.jobs, j)
		c.note(Arrived, now, j, Map, Slot{})
	case what < 4 && len(c.jobs) > 0: // more tasks
		j, k := c.jobs[c.r.IntN(len(c.jobs))], Kind(c.r.IntN(Kinds))
		j.Pending[k] += 1 + c.r.IntN(3)
		c.note(Ready, now, j, k, Slot{})
	case what < 5 && len(c.jobs) > 0: // a job without tasks leaves
		i := c.r.IntN(len(c.jobs))
		if j := c.jobs[i]; j.Running == [Kinds]int{} {
			j.Pending = [Kinds]int{} // it may be killed
			c.jobs = append(c.jobs[:i], c.jobs[i+1:]...)
			c.note(Left, now, j, Map, Slot{})
		}
	case len(c.held) > 0: // a task ends
		i := c.r.IntN(len(c.held))
		h := c.held[i]
		c.held = append(c.held[:i], c.held[i+1:]...)
		h.job.Running[h.kind]--
		c.free[h.slot.Pool]++
		c.note(Ended, now, h.job, h.kind, h.slot)
	}
	for p := range c.free {
		for c.free[p] > 0 {
			slot := Slot{Number: c.free[p], Pool: Pool(p)}
			got, want := c.policy.Choose(now, slot), c.choose(c, Pool(p))
			if got.Job != want {
				c.t.Fatalf("at %g a slot of pool %d goes to %+v, want %+v of %d jobs", now, p, got.Job, want, len(c.jobs))
			}
			if want == nil {
				for _, j := range c.jobs {
					if j.pending(c.layout, Pool(p)) > 0 {
						c.refused++
					}
				}
				break
			}
			c.chosen++
			kind := Kind(p)
			if c.layout == Shared && want.Pending[Map] == 0 {
				kind = Reduce
			}
			if got.Task != kind {
				c.t.Fatalf("a slot goes to a task of kind %d, want %d of %+v", got.Task, kind, want)
			}
			c.free[p]--
			want.Pending[kind]--
			want.Running[kind]++
			c.held = append(c.held, task{want, kind, slot})
			c.note(Started, now, want, kind, slot)
		}
	}
}

// first returns the job with a pending task and the smallest keys; of equal ones the first.
func (c *cluster) first(p Pool, allowed func(*Job) bool, keys func(*Job) []float64) *Job {
	var best *Job
	for _, j := range c.jobs {
		if j.pending(c.layout, p) == 0 || !allowed(j) || best != nil && !less(keys(j), keys(best), j, best) {
			continue
		}
		best = j
	}
	return best
}

func less(a, b []float64, j, other *Job) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	if j.SubmittedSeconds != other.SubmittedSeconds {
		return j.SubmittedSeconds < other.SubmittedSeconds
	}
	if j.Name != other.Name {
		return j.Name < other.Name
	}
	return j.Number < other.Number
}

func anyJob(*Job) bool { return true }

func inOrder(c *cluster, p Pool) *Job {
	return c.first(p, anyJob, func(*Job) []float64 { return nil })
}

func byDeadline(c *cluster, p Pool) *Job {
	return c.first(p, anyJob, func(j *Job) []float64 {
		if j.DeadlineSeconds == 0 {
			return []float64{1, 0}
		}
		return []float64{0, j.DeadlineSeconds}
	})
}

// byShare implements the rule of Fair, and with jobs in order that of Capacity.
func byShare(jobsInOrder bool) func(*cluster, Pool) *Job {
	return func(c *cluster, p Pool) *Job {
		held := make([]int, len(c.shares))
		for _, h := range c.held {
			if c.layout.Of(h.kind) == p {
				held[h.job.Class]++
			}
		}
		allowed := func(j *Job) bool {
			s := c.shares[j.Class]
			return (s.Most[p] == 0 || held[j.Class] < s.Most[p]) && (s.MaxPerJob[p] == 0 || j.running(c.layout, p) < s.MaxPerJob[p])
		}
		var best *Job
		var bestKey [2]float64
		for class, s := range c.shares {
			next := c.first(p, func(j *Job) bool { return j.Class == class && allowed(j) }, func(j *Job) []float64 {
				if jobsInOrder {
					return nil
				}
				return []float64{float64(j.running(c.layout, p))}
			})
			if next == nil {
				continue
			}
			n := float64(held[class])
			key := [2]float64{1, math.Inf(1)}
			if n < s.Min[p] {
				key = [2]float64{0, n / s.Min[p]}
			} else if s.Weight[p] > 0 {
				key[1] = n / s.Weight[p]
			}
			if best == nil || less(key[:], bestKey[:], next, best) {
				best, bestKey = next, key
			}
		}
		return best
	}
}

func TestPoliciesChooseByTheirRules(t *testing.T) {
	shares := []Share{
		{Weight: [Kinds]float64{1, 2}},
		{Weight: [Kinds]float64{3, 1}, Min: [Kinds]float64{2, 1}},
		{Weight: [Kinds]float64{1, 1}, Min: [Kinds]float64{3, 2}, Most: [Kinds]int{4, 3}},
		{Weight: [Kinds]float64{2, 1}, Most: [Kinds]int{6, 6}, MaxPerJob: [Kinds]int{2, 1}},
		{}, // gets slots that nobody else can use
	}
	for _, rule := range []struct {
		name      string
		make      func(Layout) Policy
		choose    func(*cluster, Pool) *Job
		conserves bool
	}{
		{"fifo", FIFO, inOrder, true},
		{"edf", EDF, byDeadline, true},
		{"fair", func(l Layout) Policy { return Fair(l, shares) }, byShare(false), false},
		{"capacity", func(l Layout) Policy { return Capacity(l, shares) }, byShare(true), false},
	} {
		for _, layout := range []Layout{Separate, Shared} {
			t.Run(fmt.Sprintf("%s/%d", rule.name, layout), func(t *testing.T) {
				for seed := range uint64(60) {
					c := &cluster{t: t, r: seeded(seed), layout: layout, shares: shares, policy: rule.make(layout), choose: rule.choose, free: [Kinds]int{10, 6}}
					if layout == Shared {
						c.free = [Kinds]int{16, 0}
					}
					for i := range 400 {
						c.step(float64(i))
					}
					if c.chosen < 50 {
						t.Fatalf("seed %d: %d choices; the test decides nothing", seed, c.chosen)
					}
					if rule.conserves && c.refused > 0 {
						t.Fatalf("seed %d: %d times a task waited beside an idle slot", seed, c.refused)
					}
				}
			})
		}
	}
}

func TestFairGivesMinimumsFirstThenWeights(t *testing.T) {
	shares := []Share{{Weight: [Kinds]float64{1, 1}}, {Weight: [Kinds]float64{3, 1}}, {Weight: [Kinds]float64{1, 1}, Min: [Kinds]float64{6, 0}}}
	got := hand(Fair(Shared, shares), 16, []int{100, 100, 100})
	// The six of the minimum come first; each of the other ten goes to the class that holds fewest for its weight.
	if want := [3]int{3, 7, 6}; got != want {
		t.Errorf("slots: got %v, want %v", got, want)
	}
}

func TestCapacityLendsUnlessItIsLimited(t *testing.T) {
	shares := []Share{{Weight: [Kinds]float64{12, 1}}, {Weight: [Kinds]float64{4, 1}}}
	if got, want := hand(Capacity(Shared, shares), 16, []int{2, 100}), [3]int{2, 14}; got != want {
		t.Errorf("idle slots are lent: got %v, want %v", got, want)
	}
	shares[1].Most[0] = 4
	if got, want := hand(Capacity(Shared, shares), 16, []int{2, 100}), [3]int{2, 4}; got != want {
		t.Errorf("idle slots are not lent: got %v, want %v", got, want)
	}
}

// A class that always has a job does not keep another of the same weight from its turn.
func TestNobodyStarvesBehindATie(t *testing.T) {
	for name, p := range map[string]Policy{"fair": Fair(Shared, make([]Share, 2)), "capacity": Capacity(Shared, make([]Share, 2))} {
		patient := &Job{Name: "z", Class: 1, SubmittedSeconds: 1, Pending: [Kinds]int{1}}
		p.Note(Event{What: Arrived, Job: patient})
		for now := 1.0; patient.Pending[Map] > 0; now++ {
			if now > 10 {
				t.Fatalf("%s: a job waits while ten later ones are served", name)
			}
			p.Note(Event{What: Arrived, Now: now, Job: &Job{Name: "a", SubmittedSeconds: now, Pending: [Kinds]int{1}}})
			turn(p)
		}
	}
}

// hand gives out slots to one job of each class and returns the number each got.
func hand(p Policy, slots int, tasks []int) (got [3]int) {
	for class, n := range tasks {
		j := &Job{Class: class, Pending: [Kinds]int{n}}
		p.Note(Event{What: Arrived, Job: j})
	}
	for i := range slots {
		c := p.Choose(0, Slot{Number: i})
		if c.Job == nil {
			return got
		}
		c.Job.Pending[c.Task]--
		c.Job.Running[c.Task]++
		got[c.Job.Class]++
		p.Note(Event{What: Started, Job: c.Job, Task: c.Task, Slot: Slot{Number: i}})
	}
	return got
}

// A decision allocates nothing. It costs no more with ten thousand waiting jobs than with ten, but for the height of
// a heap.
func TestDecisionsDoNotAllocate(t *testing.T) {
	for name, p := range map[string]Policy{"fifo": FIFO(Shared), "fair": Fair(Shared, make([]Share, 3)), "capacity": Capacity(Shared, make([]Share, 3))} {
		fill(p, 1_000, 1_000_000)
		if got := testing.AllocsPerRun(1_000, func() { turn(p) }); got != 0 {
			t.Errorf("%s: %g allocations a decision", name, got)
		}
	}
}

func fill(p Policy, jobs, tasks int) {
	for i := range jobs {
		p.Note(Event{What: Arrived, Job: &Job{Number: int64(i), Class: i % 3, SubmittedSeconds: float64(i), Pending: [Kinds]int{tasks}}})
	}
}

// turn makes a decision, then starts and ends the task.
func turn(p Policy) {
	c := p.Choose(0, Slot{})
	c.Job.Pending[c.Task]--
	c.Job.Running[c.Task]++
	p.Note(Event{What: Started, Job: c.Job, Task: c.Task})
	c.Job.Running[c.Task]--
	p.Note(Event{What: Ended, Job: c.Job, Task: c.Task})
}

func BenchmarkDecision(b *testing.B) {
	for _, jobs := range []int{10, 1_000, 100_000} {
		for _, rule := range []struct {
			name   string
			policy Policy
		}{{"fifo", FIFO(Shared)}, {"fair", Fair(Shared, make([]Share, 3))}, {"capacity", Capacity(Shared, make([]Share, 3))}} {
			b.Run(fmt.Sprintf("%s/%d", rule.name, jobs), func(b *testing.B) {
				fill(rule.policy, jobs, math.MaxInt32)
				for b.Loop() {
					turn(rule.policy)
				}
			})
		}
	}
}
