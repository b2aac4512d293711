package dispatch

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"example.org/headroom/internal/core/perf"
)

// absurd lists numbers that no caller should pass.
var absurd = []float64{0, -1, 1e-300, 1e300, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 0.5, 1, 7}

// After any events, in any order, with any numbers, a policy answers with a task that can start or with none. It
// gives a reason, and its memory can be stored.
func TestPoliciesSurviveWhatMakesNoSense(t *testing.T) {
	for _, document := range everyPolicy[4:] {
		t.Run(document, func(t *testing.T) {
			p, err := ReadPolicy([]byte(document))
			if err != nil {
				t.Fatal(err)
			}
			chosen := 0
			for seed := range uint64(wholeSamples(20, 1_000)) {
				r := seeded(seed)
				number := func() float64 { return absurd[r.IntN(len(absurd))] }
				policy, err := New(p, Setting{Layout: Layout(seed % 2)})
				if err != nil {
					t.Fatal(err)
				}
				nodes := []*Node{nil}
				for i := range 5 {
					n := &Node{Name: fmt.Sprint(i % 3), Type: fmt.Sprint(i % 2)}
					nodes = append(nodes, n)
				}
				var jobs []*Job
				for i := range 6 {
					j := &Job{Name: fmt.Sprint(i % 2), Number: int64(i % 3)}
					if i%2 == 0 {
						j.Rates, j.TaskTime = &perf.Rates{}, &perf.TaskTime{}
					}
					jobs = append(jobs, j)
				}
				for range 300 {
					j, n := jobs[r.IntN(len(jobs))], nodes[r.IntN(len(nodes))]
					j.Pending, j.Running = [Kinds]int{r.IntN(3), r.IntN(3)}, [Kinds]int{r.IntN(3), r.IntN(3)}
					j.Unfinished, j.Maps, j.MapsDone = r.IntN(9), r.IntN(3), r.IntN(3)
					j.SubmittedSeconds, j.DeadlineSeconds, j.Weight, j.MinShare = float64(r.IntN(5)), number(), number(), number()
					j.Worth, j.Balance, j.Promised, j.Revenue, j.ReadMBPerSecond = number(), number(), number(), number(), number()
					j.Usage[r.IntN(2)] = Usage{number(), number(), number(), number()}
					if j.TaskTime != nil {
						*j.TaskTime = perf.TaskTime{A: number(), B: number(), C: number(), D: number(), MinResidual: number(), MaxResidual: number()}
						j.Rates.Types = map[string]perf.Mean{"0": {Count: 1, Seconds: number()}, "1": {Count: int64(r.IntN(2)), Seconds: number()}}
					}
					e := Event{What: What(r.IntN(int(Gone) + 1)), Now: float64(r.IntN(9)), Job: j, Task: Kind(r.IntN(2)), Slot: Slot{Number: r.IntN(4), Node: n}, Outcome: Outcome(r.IntN(3)), Seconds: number()}
					e.Slot.Pool = Layout(seed % 2).Of(e.Task)
					if e.What >= Joined {
						if n == nil {
							continue
						}
						n.Cores, n.ComputeUnits, n.Residual = number(), number(), number()
						n.Slots, n.Running, n.Heartbeats = [Kinds]int{r.IntN(3), r.IntN(3)}, [Kinds]int{r.IntN(3), r.IntN(3)}, int64(r.IntN(5))
						n.Report = Report{number(), number(), number(), number(), number(), map[string]float64{"gpu": number()}, map[string]string{"rack": "a"}}
						e.Job, e.Node = nil, n
					}
					policy.Note(e)
					c := policy.Choose(number(), e.Slot)
					if c.Job != nil && (c.Job.Pending[c.Task] == 0 || Layout(seed%2).Of(c.Task) != e.Slot.Pool) {
						t.Fatalf("a slot of pool %d goes to a task of kind %d of %+v", e.Slot.Pool, c.Task, c.Job)
					}
					w := policy.Why()
					if _, err := json.Marshal(w); err != nil || w.Rule == "" || w.Reason == "" {
						t.Fatalf("no reason: %+v, %v", w, err)
					}
					if c.Job != nil {
						chosen++
						policy.Note(Event{What: Started, Now: 1, Job: c.Job, Task: c.Task, Slot: e.Slot})
					}
					if l, learns := policy.(*Learned); learns {
						if d, made := l.Decided(); made {
							stored(t, d)
						}
						for _, d := range l.Judged() {
							stored(t, d)
						}
					}
					if m, remembers := policy.(Memory); remembers {
						kept, err := m.Memory()
						if err == nil {
							err = m.Recall(kept)
						}
						if err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if chosen < 1000 {
				t.Errorf("%d choices: the test decides nothing", chosen)
			}
		})
	}
}

func TestWhatIsNoMemoryIsRefused(t *testing.T) {
	for _, document := range everyPolicy {
		p, _ := ReadPolicy([]byte(document))
		policy, err := New(p, Setting{})
		if err != nil {
			t.Fatal(err)
		}
		m, remembers := policy.(Memory)
		if !remembers {
			continue
		}
		for _, kept := range []string{``, `{`, `"x"`, `{"kind":"else"}`, `{"kind":"naive_bayes","counts":{"ranges":[[[1,1]]]}}`, `{"kind":"perceptron","counts":{"weights":[1]}}`} {
			if err := m.Recall([]byte(kept)); err == nil {
				t.Errorf("%s recalls %q", document, kept)
			}
		}
	}
}

// A refused policy or unreadable decisions change nothing.
func TestLearningAgainFailsWhole(t *testing.T) {
	atOnce := int64(1)
	p := PolicyConfig{Kind: PolicyLearned, EvaluationDelay: &atOnce}
	l := NewLearned(Shared, p)
	n := &Node{Name: "n", Slots: [Kinds]int{1}}
	j := &Job{Name: "j", Pending: [Kinds]int{5}}
	l.Note(Event{What: Joined, Node: n})
	l.Note(Event{What: Arrived, Job: j})
	var judged []Decision
	for range 3 {
		c := l.Choose(0, Slot{Node: n})
		l.Note(Event{What: Started, Job: c.Job, Task: c.Task, Slot: Slot{Node: n}})
		n.Heartbeats++
		n.Report.Load1 += 0.7
		l.Note(Event{What: Reported, Node: n})
		judged = append(judged, l.Judged()...)
	}
	if len(judged) != 3 {
		t.Fatalf("%d decisions are judged, want 3", len(judged))
	}
	before, _ := l.Memory()
	all := func(extra *Decision, err error) func(func(*Decision, error) bool) {
		return func(yield func(*Decision, error) bool) {
			for i := range judged {
				if !yield(&judged[i], nil) {
					return
				}
			}
			if extra != nil || err != nil {
				yield(extra, err)
			}
		}
	}
	half := 0.5
	better := PolicyConfig{Kind: PolicyLearned, Target: &half, Classifier: Perceptron}
	for name, try := range map[string]func() error{
		"another policy": func() error { return l.Relearn(PolicyConfig{Kind: PolicyFIFO}, all(nil, nil)) },
		"nonsense": func() error {
			return l.Relearn(PolicyConfig{Kind: PolicyLearned, Mode: "x"}, all(nil, nil))
		},
		"the store fails":     func() error { return l.Relearn(better, all(nil, fmt.Errorf("the store is away"))) },
		"without a judgement": func() error { return l.Relearn(better, all(&Decision{}, nil)) },
	} {
		if err := try(); err == nil {
			t.Errorf("%s: no error", name)
		}
		if after, _ := l.Memory(); string(after) != string(before) {
			t.Errorf("%s: it has changed:\n%s\n%s", name, before, after)
		}
	}
	if err := l.Relearn(better, all(nil, nil)); err != nil {
		t.Fatal(err)
	}
	if k := l.Knowledge(); k.Versions != (Versions{2, 2}) || k.Kind != Perceptron || k.Counts.Outcomes != [2]int64{3, 0} {
		t.Errorf("learned again: %+v", k)
	}
	if judged[0].Judgement.Good || judged[0].Judgement.Rules != 2 {
		t.Errorf("a load of 0.7 is above 0.5, and the decision is still labelled %+v", judged[0].Judgement)
	}
}
