package dispatch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
)

// decided answers a question and returns the job of each policy.
func decidedOf(t *testing.T, text string) (jobs []string, a DecideAnswer) {
	t.Helper()
	q, err := ReadDecide([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if a, err = Decide(q); err != nil {
		t.Fatal(err)
	}
	for _, d := range a.Decisions {
		jobs = append(jobs, d.Job)
	}
	return jobs, a
}

// A case whose answer under each rule can be said at once: "old" came first, "due" has a deadline, "poor" has nothing.
// Two nodes of the heterogeneity paper's example: ciphers run three times as fast on gpu.
func TestEveryRuleHasItsOwnChoice(t *testing.T) {
	const cluster = `"now_s":100,"nodes":[{"name":"g","type":"gpu","slots":{"map":2}},{"name":"p","type":"plain","slots":{"map":4}}],
		"classes":[{"name":"ciphers","rates":[{"type":"gpu","mean_s":10},{"type":"plain","mean_s":30}]},{"name":"sort","rates":[{"type":"gpu","mean_s":20},{"type":"plain","mean_s":20}]}],
		"jobs":[{"name":"old","class":"sort","maps":{"total":9}},{"name":"due","class":"ciphers","submitted_s":50,"deadline_s":400,"maps":{"total":9}},
		{"name":"poor","class":"other","submitted_s":90,"maps":{"total":9,"done":1}}],
		"running":[{"job":"old","node":"p","tasks":2},{"job":"due","node":"p","tasks":1}]`
	jobs, a := decidedOf(t, `{`+cluster+`,"slot":{"node":"g"},"policies":[{"kind":"fifo"},{"kind":"edf"},{"kind":"fair"}],
		"shares":[{"class":"sort","weight":1},{"class":"ciphers","weight":1},{"class":"other","weight":1}]}`)
	if fmt.Sprint(jobs) != "[old due poor]" || a.Decisions[0].Kind != MapTask {
		t.Errorf("%+v", a)
	}
	// The fastest slot goes to whom it suits three times as well, unless the other has let too many before it.
	slot := `{` + strings.ReplaceAll(cluster, `{"name":"poor","class":"other","submitted_s":90,"maps":{"total":9,"done":1}}`, `{"name":"late","class":"sort","submitted_s":95,"maps":{"total":9}}`)
	if jobs, _ := decidedOf(t, slot+`,"slot":{"node":"g"},"policies":[{"kind":"progress-share"},{"kind":"progress-share","max_skips":2}],"history":{"skips":[{"job":"late","times":2}]}}`); fmt.Sprint(jobs) != "[due late]" {
		t.Errorf("progress-share chooses %v", jobs)
	}
	// Shared slots without nodes, and reduces that wait for maps.
	if jobs, _ := decidedOf(t, `{"jobs":[{"name":"a","maps":{"total":2,"done":1},"reduces":{"total":1}}],"running":[{"job":"a"}],"slot":{},"policies":[{"kind":"fifo"}]}`); jobs[0] != "" {
		t.Errorf("a reduce is given away before the maps are done")
	}
	if _, a := decidedOf(t, `{"separate":true,"jobs":[{"name":"a","maps":{"total":2,"done":2},"reduces":{"total":1}}],"slot":{"kind":"reduce"}}`); len(a.Decisions) != len(PolicyKinds) || a.Decisions[0].Kind != ReduceTask {
		t.Errorf("%+v", a)
	}
}

// Progress shares of the paper's example are those that the policy weighs: .5 of the cluster for ciphers on one gpu
// slot and two plain ones.
func TestProgressShareOfADecision(t *testing.T) {
	_, a := decidedOf(t, `{"nodes":[{"name":"g","type":"gpu","slots":{"map":2}},{"name":"p","type":"plain","slots":{"map":5}}],
		"classes":[{"name":"A","rates":[{"type":"gpu","mean_s":10},{"type":"plain","mean_s":30}]}],
		"jobs":[{"name":"A","maps":{"total":9}}],"running":[{"job":"A","node":"g","tasks":1},{"job":"A","node":"p","tasks":2}],"slot":{"node":"p"},"policies":[{"kind":"progress-share"}]}`)
	if f := a.Decisions[0].Figures[0]; f.Name != "progress_share" || f.Value != shown(5./11) {
		t.Errorf("%+v", a.Decisions[0])
	}
}

// Four jobs' worth of the paper's equations 6 and 7: 10 tasks of 30 s on 4 slots need 75 s, beside 8 of 20 s, due
// before, 115 s.
func TestAPromiseIsCountedByHand(t *testing.T) {
	ask := func(due float64, more string) JudgeAnswer {
		q, err := ReadJudge(fmt.Appendf(nil, `{"now_s":1000,"nodes":[{"name":"a","slots":{"map":3,"reduce":1}}],"classes":[{"name":"new","task_time":{"a":30}},{"name":"old","task_time":{"a":20}}],
			"jobs":[{"name":"old","deadline_s":1080,"maps":{"total":10,"done":2}},{"name":"free","maps":{"total":1000}}],"job":{"name":"new","submitted_s":1000,"deadline_s":%g,"maps":{"total":10}}%s}`, 1000+due, more))
		if err != nil {
			t.Fatal(err)
		}
		return JudgeDeadline(q)
	}
	if a := ask(120, ""); !a.Verdict.Kept || a.Verdict.DemandSeconds != 115 || a.Verdict.Proved || a.Reason != "The rule admits it, and nothing proves that it ends in time: as whole tasks it may take up to 138 s. "+
		"By the estimate it needs 115 s of all 4 usable slots with the accepted jobs due no later, and it is due in 120 s." {
		t.Errorf("%+v", a)
	}
	if a := ask(137.5, ""); !a.Verdict.Proved || a.Verdict.LatestSeconds != 137.5 || !strings.HasPrefix(a.Reason, "It can be promised: where slots go by earliest deadline and tasks take their known times, it ends within 138 s. By") {
		t.Errorf("%+v", a)
	}
	if a := ask(114, ""); a.Verdict.Kept || a.Code != DeadlineMissed || a.Verdict.LateSeconds != 1 || a.Verdict.Cures.DeadlineSeconds != 115 {
		t.Errorf("%+v", a)
	}
	// Whole tasks: three rounds of 30 s are 90 s alone. The paper's own rule looks at neither these nor the later job.
	if a := ask(79, ""); a.Verdict.Kept || a.Verdict.AloneSeconds != 90 || len(a.Verdict.Missed) != 1 {
		t.Errorf("%+v", a)
	}
	if a := ask(79, `,"mode":"paper"`); !a.Verdict.Kept {
		t.Errorf("%+v", a)
	}
}

// Mistakes are named with their places.
func TestQuestionsToRulesThatMakeNoSense(t *testing.T) {
	decide := func(text []byte) error { _, err := ReadDecide(text); return err }
	judge := func(text []byte) error { _, err := ReadJudge(text); return err }
	learn := func(text []byte) error { _, err := ReadLearn(text); return err }
	classify := func(text []byte) error { _, err := ReadClassify(text); return err }
	learned := func(text []byte) error { _, err := ReadLearned(text); return err }
	for _, c := range []struct {
		read          func([]byte) error
		text, pointer string
	}{
		{decide, `{}`, "/jobs"},
		{decide, `{"jobs":[],"slot":{}}`, "/jobs"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{"node":"x"}}`, "/slot/node"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"policies":[]}`, "/policies"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"policies":[{"kind":"lifo"}]}`, "/policies/0/kind"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"policies":[{"kind":"fifo","max_skips":3}]}`, "/policies/0/max_skips"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}},{"name":"a","maps":{"total":1}}],"slot":{}}`, "/jobs/1/name"},
		{decide, `{"jobs":[{"name":"a"}],"slot":{}}`, "/jobs/0/maps"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1,"done":2}}],"slot":{}}`, "/jobs/0/maps/done"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":-1}}],"slot":{}}`, "/jobs/0/maps/total"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1e30}}],"slot":{}}`, "/jobs/0/maps/total"},
		{decide, `{"jobs":[{"name":"a","submitted_s":5,"maps":{"total":1}}],"slot":{}}`, "/jobs/0/submitted_s"},
		{decide, `{"jobs":[{"name":"a","weight":NaN,"maps":{"total":1}}],"slot":{}}`, "/jobs/0/weight"},
		{decide, `{"jobs":[{"name":"a","weight":0,"maps":{"total":1}}],"slot":{}}`, "/jobs/0/weight"},
		{decide, `{"jobs":[{"name":"a","deadline_s":1e400,"maps":{"total":1}}],"slot":{}}`, "/jobs/0/deadline_s"},
		{decide, `{"jobs":[{"name":"a","usage":{"map":{"cpu":11}},"maps":{"total":1}}],"slot":{}}`, "/jobs/0/usage/map/cpu"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":2,"ready":3}}],"slot":{}}`, "/jobs/0/maps/ready"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"running":[{"job":"b"}],"slot":{}}`, "/running/0/job"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"running":[{"job":"a","tasks":2}],"slot":{}}`, "/jobs/0/maps/total"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"running":[{"job":"a","tasks":-2}],"slot":{}}`, "/running/0/tasks"},
		{decide, `{"nodes":[{"name":"n","slots":{"map":-1}}],"jobs":[{"name":"a","maps":{"total":1}}],"slot":{"node":"n"}}`, "/nodes/0/slots/map"},
		{decide, `{"nodes":[{"name":"n","slots":{"map":1}},{"name":"n"}],"jobs":[{"name":"a","maps":{"total":1}}],"slot":{"node":"n"}}`, "/nodes/1/name"},
		{decide, `{"nodes":[{"name":"n","slots":{"map":1}}],"jobs":[{"name":"a","maps":{"total":2}}],"running":[{"job":"a","node":"n"}],"slot":{"node":"n"}}`, "/slot/node"},
		{decide, `{"nodes":[{"name":"n","slots":{"map":1},"residual":1.5}],"jobs":[{"name":"a","maps":{"total":2}}],"slot":{"node":"n"}}`, "/nodes/0/residual"},
		{decide, `{"nodes":[{"name":"n","slots":{"map":1},"report":{"cpu_percent":5}}],"jobs":[{"name":"a","maps":{"total":2}}],"slot":{"node":"n"}}`, "/nodes/0/report/cpu_percent"},
		{decide, `{"classes":[{"name":"a","task_time":{"a":0}}],"jobs":[{"name":"a","maps":{"total":1}}],"slot":{}}`, "/classes/0/task_time"},
		{decide, `{"classes":[{"name":"a","rates":[{"type":"x","mean_s":0}]}],"jobs":[{"name":"a","maps":{"total":1}}],"slot":{}}`, "/classes/0/rates/0/mean_s"},
		{decide, `{"classes":[{"name":"a","rates":[{"type":"x","mean_s":1},{"type":"x","mean_s":2}]}],"jobs":[{"name":"a","maps":{"total":1}}],"slot":{}}`, "/classes/0/rates/1/type"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"shares":[{"class":"a"},{"class":"a"}]}`, "/shares/1/class"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"shares":[{"class":"a","min":-1}]}`, "/shares/0/min"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"history":{"skips":[{"job":"b","times":1}]}}`, "/history/skips/0/job"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"history":{"knowledge":{"kind":"naive_bayes","counts":{"outcomes":[1]}}}}`, "/history/knowledge/counts/outcomes"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"history":{"knowledge":{"kind":"naive_bayes","counts":{"outcomes":[0,1],"ranges":[[[0,2]]]}}}}`, "/history/knowledge/counts/ranges/0"},
		{decide, `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"policies":[{"kind":"learned"}],"history":{"knowledge":{"kind":"perceptron","counts":{"outcomes":[0,0]}}}}`, "/policies/0"},
		{judge, `{"nodes":[],"job":{"name":"a","maps":{"total":1}}}`, "/job/deadline_s"},
		{judge, `{"nodes":[],"job":{"name":"a","deadline_s":5,"maps":{"total":1}},"mode":"lenient"}`, "/mode"},
		{judge, `{"nodes":[],"jobs":[{"name":"a","maps":{"total":1}}],"job":{"name":"a","deadline_s":5,"maps":{"total":1}}}`, "/job/name"},
		{judge, `{"nodes":[],"job":{"name":"a","deadline_s":-5,"maps":{"total":1}}}`, "/job/deadline_s"},
		{learn, `{"lessons":[]}`, "/lessons"},
		{learn, `{"lessons":[{}]}`, "/lessons/0/good"},
		{learn, `{"lessons":[{"good":true,"then":{"load1":1}}]}`, "/lessons/0/then"},
		{learn, `{"policy":{"kind":"fifo"},"lessons":[{"good":true}]}`, "/policy/kind"},
		{learn, `{"policy":{"kind":"learned","target":-1},"lessons":[{"good":true}]}`, "/policy/target"},
		{learn, `{"lessons":[{"good":true,"cpus":0}]}`, "/lessons/0/cpus"},
		{learn, `{"lessons":[{"good":true,"usage":{"cpu":-0.5}}]}`, "/lessons/0/usage/cpu"},
		{learn, `{"lessons":[{"good":true}],"knowledge":{"kind":"naive_bayes","counts":{"outcomes":[0,-1]}}}`, "/knowledge/counts/outcomes/1"},
		{learn, `{"lessons":[{"good":true}],"knowledge":{"kind":"naive_bayes","counts":{"outcomes":[0,0]}}}`, "/policy"},
		{learn, `{"lessons":[{"good":true}],"knowledge":{"kind":"perceptron","counts":{"outcomes":[0,0],"weights":[1e300]}}}`, "/knowledge/counts/weights/0"},
		{learned, `{}`, "/knowledge"},
		{learned, `{"knowledge":{"kind":"forest","counts":{"outcomes":[0,0]}}}`, "/knowledge/kind"},
		{classify, `{"cases":[]}`, "/cases"},
		{classify, `{"cases":[{"name":"a"},{"name":"a"}]}`, "/cases/1/name"},
		{classify, `{"cases":[{"name":"a","kind":"shuffle"}]}`, "/cases/0/kind"},
		{classify, `{"cases":[{"name":"a","held":2}]}`, "/cases/0/held"},
		{classify, `{"cases":[{"name":"a","maps_done":2}]}`, "/cases/0/maps_done"},
	} {
		err := c.read([]byte(c.text))
		found := false
		for _, f := range fault.Findings(err) {
			found = found || f.Pointer == c.pointer && len(f.Detail) > 10
		}
		if !found {
			t.Errorf("%s:\n%v, want a finding at %s", c.text, err, c.pointer)
		}
	}
}

// The largest questions are answered within a few seconds.
func TestTheLargestQuestionsToRules(t *testing.T) {
	var s strings.Builder
	s.WriteString(`{"now_s":9,"nodes":[`)
	list := func(n int, format string, args func(i int) []any) {
		for i := range n {
			if i > 0 {
				s.WriteByte(',')
			}
			fmt.Fprintf(&s, format, args(i)...)
		}
	}
	list(maxSnapshotNodes, `{"name":"n%d","type":"t%d","residual":%g,"slots":{"map":20}}`, func(i int) []any { return []any{i, i % 100, 0.1 + float64(i%90)/100} })
	s.WriteString(`],"classes":[`)
	list(maxSnapshotClasses, `{"name":"c%d","task_time":{"a":%d,"b":-1},"rates":[{"type":"t%d","mean_s":5}]}`, func(i int) []any { return []any{i, 1 + i, i % 100} })
	s.WriteString(`],"jobs":[`)
	list(maxSnapshotJobs, `{"name":"j%d","class":"c%d","deadline_s":%d,"maps":{"total":100}}`, func(i int) []any { return []any{i, i % 200, 100 + i} })
	s.WriteString(`],"running":[`)
	list(maxSnapshotRunning, `{"job":"j%d","node":"n%d","tasks":5}`, func(i int) []any { return []any{i % 2000, i % 4999} })
	began := time.Now()
	jobs, _ := decidedOf(t, s.String()+`],"slot":{"node":"n4999"}}`)
	decided := time.Since(began)
	began = time.Now()
	q, err := ReadJudge([]byte(s.String() + `],"job":{"name":"new","class":"c7","deadline_s":50,"maps":{"total":100000}}}`))
	if err != nil {
		t.Fatal(err)
	}
	JudgeDeadline(q)
	judged := time.Since(began)
	if len(jobs) != len(PolicyKinds) || decided > 20*time.Second || judged > 20*time.Second {
		t.Errorf("%v to decide, %v to judge", decided, judged)
	}
	t.Logf("%v to decide under each policy, %v to judge", decided, judged)
}
