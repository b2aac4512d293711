package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/slots/dispatch"
)

// little is a cluster of few nodes whose heartbeats the test writes itself.
type little struct{ *fleet }

func newLittle(t *testing.T, nodes int) little {
	s := DefaultLiveSettings()
	s.NodeTimeoutSeconds = 60
	return little{newFleet(t, s, nodes, 1)}
}

// beat sends a heartbeat and returns the answer in words.
func (l little) beat(node int, text string) string {
	l.Helper()
	a, err := l.send(l.agents[node], []byte(text))
	if err != nil {
		for _, kind := range []fault.Kind{fault.NotFound, fault.Conflict} {
			if errors.Is(err, kind) {
				return string(kind)
			}
		}
		l.Fatal(err)
	}
	var events []string
	for _, x := range a.Assignments {
		events = append(events, fmt.Sprintf("run %d: %s %d of %d, attempt %d", x.Assignment, x.Kind, x.Task, x.Job, x.Attempt))
	}
	for _, x := range a.Stop {
		events = append(events, fmt.Sprintf("stop %d: %s", x.Assignment, x.Code))
	}
	for _, x := range a.Notes {
		events = append(events, fmt.Sprintf("%s %d", x.Code, x.Assignment))
	}
	return strings.Join(events, "; ")
}

func (l little) job(number int64) string {
	j := l.store.jobs[number]
	text, _ := json.Marshal(j.Counts[0])
	return string(j.State) + " " + string(text)
}

func TestWhatHeartbeatsCanSay(t *testing.T) {
	t.Parallel()
	type step struct {
		wait float64
		node int
		text string
		want string
	}
	for _, test := range []struct {
		name  string
		maps  int64
		steps []step
		job   string
	}{
		{"a task that is not spoken of is handed out again", 1, []step{
			{0, 0, `{"seq":1,"running":[]}`, "run 1: map 0 of 1, attempt 1"},
			{5, 0, `{"seq":2,"running":[]}`, "run 2: map 0 of 1, attempt 2; forgotten 1"},
			{5, 0, `{"seq":3,"running":[],"finished":[{"assignment":2}]}`, ""},
		}, `done {"total":1,"waiting":0,"running":0,"done":1,"failures":0,"lost":1}`},
		{"a task that is spoken of later goes on where nobody has it", 4, []step{
			{0, 0, `{"seq":1,"running":[]}`, "run 1: map 0 of 1, attempt 1; run 2: map 1 of 1, attempt 1; run 3: map 2 of 1, attempt 1"},
			{61, 1, `{"seq":1,"running":[]}`, "run 4: map 0 of 1, attempt 2; run 5: map 1 of 1, attempt 2; run 6: map 2 of 1, attempt 2"},
			{5, 1, `{"seq":2,"running":[4,5],"failed":[{"assignment":6}]}`, "run 7: map 2 of 1, attempt 3"},
			{5, 0, `{"seq":2,"running":[1,2,3]}`, "stop 1: node_dead; stop 2: node_dead; stop 3: node_dead; returned 0"},
			{5, 0, `{"seq":3,"running":[]}`, "run 8: map 3 of 1, attempt 1"},
		}, `active {"total":4,"waiting":0,"running":4,"done":0,"failures":1,"lost":3}`},
		{"a node that counted as dead goes on with what waits", 3, []step{
			{0, 0, `{"seq":1,"running":[]}`, "run 1: map 0 of 1, attempt 1; run 2: map 1 of 1, attempt 1; run 3: map 2 of 1, attempt 1"},
			{61, 0, `{"seq":2,"running":[1,2],"finished":[{"assignment":3,"seconds":30}]}`, "returned 0; late_finish 3; adopted 1; adopted 2"},
			{5, 0, `{"seq":3,"running":[],"finished":[{"assignment":1},{"assignment":2}]}`, ""},
		}, `done {"total":3,"waiting":0,"running":0,"done":3,"failures":0,"lost":0}`},
		{"a late finish counts, and the other copy is stopped", 1, []step{
			{0, 0, `{"seq":1,"running":[]}`, "run 1: map 0 of 1, attempt 1"},
			{61, 1, `{"seq":1,"running":[]}`, "run 2: map 0 of 1, attempt 2"},
			{1, 0, `{"seq":2,"running":[],"finished":[{"assignment":1}]}`, "returned 0; superseded 1"},
			{4, 1, `{"seq":2,"running":[2]}`, "stop 2: superseded"},
			{5, 1, `{"seq":3,"running":[],"finished":[{"assignment":2}]}`, "ignored 2"},
		}, `done {"total":1,"waiting":0,"running":0,"done":1,"failures":0,"lost":1}`},
		{"the other copy finishes before it is stopped", 2, []step{
			{0, 0, `{"seq":1,"running":[]}`, "run 1: map 0 of 1, attempt 1; run 2: map 1 of 1, attempt 1"},
			{61, 1, `{"seq":1,"running":[]}`, "run 3: map 0 of 1, attempt 2; run 4: map 1 of 1, attempt 2"},
			{1, 0, `{"seq":2,"running":[2],"finished":[{"assignment":1}]}`, "stop 2: node_dead; returned 0; superseded 1"},
			{4, 1, `{"seq":2,"running":[4],"finished":[{"assignment":3}]}`, "ignored 3"},
			{5, 1, `{"seq":3,"running":[],"finished":[{"assignment":4}]}`, ""},
			{5, 1, `{"seq":4,"running":[],"finished":[{"assignment":4}]}`, "ignored 4"},
		}, `done {"total":2,"waiting":0,"running":0,"done":2,"failures":0,"lost":2}`},
		{"assignments of others, and ones that never were", 1, []step{
			{0, 0, `{"seq":1,"running":[]}`, "run 1: map 0 of 1, attempt 1"},
			{1, 1, `{"seq":1,"running":[1,77],"finished":[{"assignment":78}],"failed":[{"assignment":79}]}`, "stop 1: over; stop 77: unknown; ignored 78; ignored 79"},
			{1, 1, `{"seq":2,"running":[],"finished":[{"assignment":1}]}`, "ignored 1"},
			{1, 0, `{"seq":2,"running":[1]}`, ""},
		}, `active {"total":1,"waiting":0,"running":1,"done":0,"failures":0,"lost":0}`},
		{"foreign tasks hold slots", 9, []step{
			{0, 0, `{"seq":1,"running":[55,56]}`, "run 1: map 0 of 1, attempt 1; stop 55: unknown; stop 56: unknown"},
			{1, 0, `{"seq":2,"running":[1]}`, "run 2: map 1 of 1, attempt 1; run 3: map 2 of 1, attempt 1"},
		}, `active {"total":9,"waiting":6,"running":3,"done":0,"failures":0,"lost":0}`},
		{"sequence numbers and boots", 1, []step{
			{0, 0, `{"seq":5,"boot":"a","running":[]}`, "run 1: map 0 of 1, attempt 1"},
			{1, 0, `{"seq":5,"boot":"a","running":[]}`, "run 1: map 0 of 1, attempt 1"},
			{1, 0, `{"seq":5,"boot":"a","running":[1]}`, "conflict"},
			{1, 0, `{"seq":4,"boot":"a","running":[1]}`, "conflict"},
			{1, 0, `{"seq":1,"boot":"b","running":[1]}`, "restarted 0"},
			{1, 0, `{"seq":6,"boot":"a","running":[]}`, "conflict"},
			{1, 0, `{"seq":9,"boot":"b","running":[1]}`, ""},
			{1, 0, `{"seq":1,"boot":"c","running":[]}`, "run 2: map 0 of 1, attempt 2; restarted 0; forgotten 1"},
		}, `active {"total":1,"waiting":0,"running":1,"done":0,"failures":0,"lost":1}`},
		{"clocks and times that cannot be", 1, []step{
			{0, 0, `{"seq":1,"at":"1999-01-01T00:00:00Z","running":[]}`, "run 1: map 0 of 1, attempt 1; clock 0"},
			{2, 0, `{"seq":2,"running":[],"finished":[{"assignment":1,"seconds":5000}]}`, "seconds 1"},
		}, `done {"total":1,"waiting":0,"running":0,"done":1,"failures":0,"lost":0}`},
		{"a task that fails too often is the end of its job", 2, []step{
			{0, 0, `{"seq":1,"running":[]}`, "run 1: map 0 of 1, attempt 1; run 2: map 1 of 1, attempt 1"},
			{1, 0, `{"seq":2,"running":[2],"failed":[{"assignment":1,"reason":"disk full"}]}`, "run 3: map 0 of 1, attempt 2"},
			{1, 0, `{"seq":3,"running":[2],"failed":[{"assignment":3,"reason":"disk full"}]}`, "stop 2: job_over"},
			{1, 0, `{"seq":4,"running":[],"finished":[{"assignment":2}]}`, "ignored 2"},
		}, `failed {"total":2,"waiting":2,"running":0,"done":0,"failures":2,"lost":1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLittle(t, 2)
			l.submit(LiveJobRequest{Name: "job", Class: "job", Maps: test.maps, Slowstart: 1, MaxAttempts: 2, Weight: 1})
			for i, s := range test.steps {
				l.now += s.wait
				if got := l.beat(s.node, s.text); got != s.want {
					t.Errorf("step %d: got %q, want %q", i, got, s.want)
				}
				l.twin = l.load() // each step may reach another process
			}
			if got := l.job(1); got != test.job {
				t.Errorf("got %s, want %s", got, test.job)
			}
			l.check()
		})
	}
}

// A heartbeat that waited for the server keeps its age, on a correct clock.
func TestAnOldHeartbeatIsNotCalledAWrongClock(t *testing.T) {
	t.Parallel()
	l := newLittle(t, 1)
	a, err := l.send(l.agents[0], []byte(`{"seq":1,"at":"2001-01-01T00:00:00Z","running":[]}`))
	if err != nil || len(a.Notes) != 1 || a.Notes[0].Code != noteClock || !strings.Contains(a.Notes[0].Detail, "or the heartbeat was sent again") {
		t.Errorf("got %+v, %v", a.Notes, err)
	}
}

func TestPoliciesAreSwitchedInMidFlight(t *testing.T) {
	t.Parallel()
	f := newFleet(t, learnedSettings(), 30, 3)
	target, delay := 0.5, int64(2)
	docs := []dispatch.PolicyConfig{
		{Kind: dispatch.PolicyFIFO}, {Kind: dispatch.PolicyLearned}, {Kind: dispatch.PolicyLearned, Target: &target},
		{Kind: dispatch.PolicyLearned, Classifier: dispatch.Perceptron}, {Kind: dispatch.PolicyProgressShare}, {Kind: dispatch.PolicyMaxProgress},
		{Kind: dispatch.PolicyLearned, Classifier: dispatch.Perceptron, EvaluationDelay: &delay}, {Kind: dispatch.PolicyFair}, {Kind: dispatch.PolicyLearned},
	}
	for i, doc := range docs {
		f.submit(LiveJobRequest{Name: fmt.Sprint("job ", i), Class: "c", Maps: 200, Reduces: 3, Slowstart: 1, MaxAttempts: 50, Weight: 1})
		f.run(60, nil)
		f.check()
		s := f.store.Settings
		s.Policy = doc
		if i%3 == 2 {
			s.Slots = SlotsSeparate
		}
		before := len(f.store.learned)
		if err := f.change(func(c *Cluster) error { return c.SetSettings(f.now, s, f.store.choices()) }); err != nil {
			t.Fatal(err)
		}
		if doc.Kind == dispatch.PolicyLearned && len(f.store.learned) < before/2 {
			t.Errorf("of %d choices %d are left", before, len(f.store.learned))
		}
		f.check()
		if doc.Kind == dispatch.PolicyLearned {
			if err := f.change(func(c *Cluster) error { return c.Relearn(f.now, f.store.choices()) }); err != nil {
				t.Fatal(err)
			}
		} else if err := f.cluster.Relearn(f.now, f.store.choices()); !errors.Is(err, fault.Conflict) {
			t.Errorf("%s learns again: %v", doc.Kind, err)
		}
		f.check()
	}
	for range 100 {
		if f.run(60, nil); len(f.cluster.jobs) == 0 {
			break
		}
	}
	if len(f.cluster.jobs) > 0 {
		t.Errorf("%d jobs do not end", len(f.cluster.jobs))
	}
}

func TestImpossibleHeartbeatsAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"running":[]}`:            "/seq missing",
		`{"seq":1}`:                 "/running missing",
		`{"seq":0,"running":[]}`:    "/seq range",
		`{"seq":-3,"running":[]}`:   "/seq range",
		`{"seq":1.5,"running":[]}`:  "/seq not_whole",
		`{"seq":1,"running":[1,1]}`: "/running/1 duplicate",
		`{"seq":1,"running":[0]}`:   "/running/0 range",
		`{"seq":1,"running":[4],"finished":[{"assignment":4}]}`:                "/finished/0/assignment contradiction",
		`{"seq":1,"running":[],"failed":[{"assignment":4},{"assignment":4}]}`:  "/failed/1/assignment duplicate",
		`{"seq":1,"running":[],"finished":[{"assignment":4,"seconds":-1}]}`:    "/finished/0/seconds range",
		`{"seq":1,"running":[],"finished":[{"assignment":4,"seconds":1e300}]}`: "/finished/0/seconds range",
		`{"seq":1,"running":[],"state":{"load1":-1}}`:                          "/state/load1 range",
		`{"seq":1,"running":[],"state":{"load1":NaN}}`:                         "/state/load1 not_finite",
		`{"seq":1,"running":[],"state":{"cpu_percent":101}}`:                   "/state/cpu_percent range",
		`{"seq":1,"running":[],"state":{"residual":1.01}}`:                     "/state/residual range",
		`{"seq":1,"running":[],"state":{"load":1}}`:                            "/state/load unknown_member",
		`{"seq":1,"running":[],"state":{"features":{"gpu":1e300}}}`:            "/state/features/gpu range",
		`{"seq":1,"running":[],"state":{"features":{"gpu":true}}}`:             "/state/features/gpu type",
		`{"seq":1,"running":[],"state":{"features":{"gpu":1,"gpu":2}}}`:        "/state/features/gpu duplicate_member",
		`{"seq":1,"running":[],"at":"yesterday"}`:                              "/at time",
		`{"seq":1,"running":[],"boot":"` + strings.Repeat("x", 65) + `"}`:      "/boot too_long",
		`{"seq":1,"running":[],"failed":[{"assignment":4,"reason":"\u0000"}]}`: "/failed/0/reason text",
	} {
		_, err := ReadHeartbeat([]byte(text))
		input := (*fault.InputError)(nil)
		if !errors.As(err, &input) {
			t.Errorf("%s is accepted: %v", text, err)
			continue
		}
		var got []string
		for _, f := range input.Findings {
			got = append(got, f.Pointer+" "+f.Code)
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %v, want %s", text, got, want)
		}
	}
}
