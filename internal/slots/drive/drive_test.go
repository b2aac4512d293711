package drive

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// Limits fall before others rise, jobs that wait are told once, and a limit beyond the engine's own is cut.
func TestCompare(t *testing.T) {
	p := Plan{Number: 3, Places: map[string]int64{"a": 5, "b": 1, "c": 9, "d": 0, "lost": 2}}
	s := State{
		Limits:  map[string]Limit{"a": {Places: 2, Most: 100}, "b": {Places: 4, Most: 100}, "c": {Places: 0, Most: 7}, "d": {Places: 0, Most: 100}, "other": {Places: 8, Most: 100}},
		Running: map[string]int64{"a": 5, "b": 4, "c": 6},
		Jobs: []Job{{ID: "1", Class: "a", Waits: 1}, {ID: "2", Class: "b", Waits: 1, Told: "4 places of b are taken, and plan 3 has 1."},
			{ID: "3", Class: "c", Waits: 2}, {ID: "4", Class: "c", Waits: 1, Told: "old."}, {ID: "5", Class: "d", Waits: 1}, {ID: "6", Class: "lost", Waits: 1}},
	}
	steps, lacks := Compare(p, s)
	want := []Step{
		{Class: "b", From: 4, To: 1, Taken: 4}, {Class: "a", From: 2, To: 5}, {Class: "c", From: 0, To: 7},
		{Class: "a", Job: "1", Sentence: "5 of 5 places of a are taken, as many as plan 3 has."},
		{Class: "c", Job: "3", Sentence: "plan 3 has 7 places of c with 1 free, and this job asks for 2."},
		{Class: "c", Job: "4"}, // it has room, and will start
		{Class: "d", Job: "5", Sentence: "plan 3 has no place for the class d."},
	}
	if !reflect.DeepEqual(steps, want) {
		t.Errorf("got\n%+v\nwant\n%+v", steps, want)
	}
	if text := strings.Join(lacks, "\n"); len(lacks) != 2 || !strings.Contains(text, `no limit for the class "lost"`) || !strings.Contains(text, "9 places for the class \"c\", and the engine's settings allow 7") {
		t.Errorf("it lacks %q", lacks)
	}
}

// Nodes follow each type's VMs in steps of a bounded size, and none is given back while what comes is not known.
func TestCompareNodes(t *testing.T) {
	names := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("n", i))
		}
		return all
	}
	p := Plan{VMs: map[string]int64{"a": 3, "b": 0, "c": 80, "d": 2, "e": 4}}
	s := State{Nodes: map[string]Nodes{"a": {Run: 1, Off: names(4)}, "b": {Run: 9, Idle: names(3)}, "c": {Run: 5, Off: names(90)}, "d": {Run: 2, Idle: names(2)}, "e": {Run: 7, Idle: names(5)}}}
	tell := func() (all []string) {
		steps, lacks := Compare(p, s)
		for _, step := range steps {
			all = append(all, fmt.Sprintf("%s %d %d %d %s", step.Type, step.From, step.To, len(step.Nodes), step.Nodes[0]))
		}
		return append(all, lacks...)
	}
	if got, want := tell(), []string{"a 1 3 2 n0", "b 9 0 3 n0", "c 5 80 50 n0", "e 7 4 3 n2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Unsure = errors.New("no price")
	p.VMs["a"] = 7
	want := []string{"a 1 7 4 n0", "c 5 80 50 n0", `The plan has 7 VMs of the type "a", and the engine can have 5 nodes of it.`,
		"It is not known how many VMs are needed next, so no node is given back: no price"}
	if got := tell(); !reflect.DeepEqual(got, want) {
		t.Errorf("unsure: got %q, want %q", got, want)
	}
}

// frail is an engine that does not answer, or refuses.
type frail struct {
	State
	err     error
	refuses error
	limits  int
}

func (f *frail) Observe(context.Context, Plan) (State, error) { return f.State, f.err }
func (f *frail) Tell(context.Context, string, string) error   { return f.refuses }
func (f *frail) Measure(context.Context, []string, time.Time, time.Time) (Measured, error) {
	return Measured{}, nil
}
func (f *frail) Power(context.Context, []string, bool) error { return f.refuses }
func (f *frail) Limit(_ context.Context, steps []Step) []error {
	f.limits += len(steps)
	return slices.Repeat([]error{f.refuses}, len(steps))
}

// What goes wrong is said once while it lasts, and nothing is changed without a plan or on a dry run.
func TestTroubleIsSaidOnce(t *testing.T) {
	engine := &frail{State: State{Limits: map[string]Limit{"a": {Places: 2, Most: 9}}}}
	var planErr error
	var said, did []string
	d := Driver{
		Plan:   func(context.Context) (Plan, error) { return Plan{Number: 1, Places: map[string]int64{"a": 3}}, planErr },
		Engine: engine, DryRun: true,
		Did:      func(s Step, dry bool) { did = append(did, s.Class) },
		Warn:     func(sentence string, err error) { said = append(said, sentence) },
		Observed: func(context.Context, int64, int64) error { return nil },
	}
	if err := d.Turn(t.Context()); err != nil || engine.limits != 0 || len(did) != 1 {
		t.Errorf("a dry run: %v, %d limits set, %q told", err, engine.limits, did)
	}
	d.DryRun = false
	planErr = errors.New("away")
	for range 3 {
		if d.Turn(t.Context()) == nil {
			t.Error("a turn without a plan succeeds")
		}
	}
	planErr, engine.err = nil, errors.New("no answer")
	_ = d.Turn(t.Context())
	engine.err, engine.refuses = nil, errors.New("denied")
	_ = d.Turn(t.Context())
	engine.refuses = nil
	if err := d.Turn(t.Context()); err != nil || engine.limits != 2 {
		t.Errorf("at last: %v, %d limits set", err, engine.limits)
	}
	planErr = errors.New("away")
	_ = d.Turn(t.Context())
	want := []string{"The plan cannot be read, and the engine keeps what it has", "The engine does not answer", "The engine refused a step: denied",
		"The plan cannot be read, and the engine keeps what it has"}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("it says %q", said)
	}
}

// A job of a class without places is told when VMs are planned for it, where that is known.
func TestJobsAreToldWhenTheirTimeComes(t *testing.T) {
	t.Parallel()
	p := Plan{Number: 3, Gone: []string{"f"}, Later: map[string]time.Time{"d": time.Date(2026, 11, 29, 5, 0, 0, 0, time.UTC)}}
	for class, want := range map[string]string{
		"d": "plan 3 has no place for the class d; VMs for it are planned from 2026-11-29 05:00 UTC on.",
		"f": "the class f is no longer in the plan.",
		"e": "plan 3 has no place for the class e.",
	} {
		if got := waiting(Job{Class: class, Waits: 1}, 0, 0, p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A limit that somebody else changed is told of: once, and not where the engine's settings or another driver changed it.
func TestChangesByOthersAreTold(t *testing.T) {
	t.Parallel()
	engine := &frail{State: State{Limits: map[string]Limit{"a": {Places: 9, Most: 9, By: "the licence a"}}}}
	var said []string
	d := Driver{
		Plan:   func(context.Context) (Plan, error) { return Plan{Number: 1, Places: map[string]int64{"a": 3}}, nil },
		Engine: engine, Did: func(Step, bool) {}, Warn: func(sentence string, err error) { said = append(said, sentence) },
		Tell: func(string) {}, Observed: func(context.Context, int64, int64) error { return nil },
	}
	for i, now := range []Limit{{Places: 9, Most: 9}, {Places: 3, Most: 9}, {Places: 8, Most: 14}, {Places: 1, Most: 14, By: "the licence a"}, {Places: 5, Most: 14}} {
		engine.Limits["a"] = now
		if i == 4 {
			d.acts("another", nil)
		}
		if err := d.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`Somebody else set the class "a" from 3 to 1 place in the engine (the licence a). Does another cluster drive it too?`}
	if !slices.Equal(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
}
