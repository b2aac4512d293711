package api

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/dispatch"
)

// ruleQuestions holds a question for each rule that can be asked by itself, with every member of it.
var ruleQuestions = map[string]string{
	"decideSlot": `{"now_s":600,"separate":true,"nodes":[{"name":"n1","type":"gpu","cores":4,"slots":{"map":2,"reduce":1},"compute_units":5,"residual":0.8,
		"report":{"load1":1,"cpu_pct":30,"mem_pct":1,"net_mb_s":1,"disk_mb_s":1,"numbers":{"gpu":1},"words":{"rack":"a"}}},{"name":"n2","slots":{"map":4}}],
		"classes":[{"name":"etl","task_time":{"a":30,"b":-1,"c":2,"d":-3,"least_residual":0.1,"most_residual":1},"reduce_task_time":{"a":20},"rates":[{"type":"gpu","tasks":3,"mean_s":10}]}],
		"jobs":[{"name":"sort","maps":{"total":20,"done":4,"ready":9},"reduces":{"total":2}},{"name":"ciphers","class":"etl","submitted_s":60,"deadline_s":900,"maps":{"total":20},"weight":2,"min_share":0.1,
		"read_mb_s":3,"usage":{"map":{"cpu":2,"memory":3,"disk":4,"network":5},"reduce":{"cpu":1}},"worth":1,"balance":2,"promised":0.5,"revenue":3}],
		"running":[{"job":"sort","kind":"map","node":"n2","tasks":3}],"slot":{"node":"n1","kind":"map"},"policies":[{"kind":"fifo"},{"kind":"learned","classifier":"perceptron"}],
		"shares":[{"class":"etl","weight":2,"min":1,"most":9,"most_per_job":5,"reduces":{"weight":1,"min":1,"most":2,"most_per_job":3}}],
		"history":{"skips":[{"job":"sort","times":2,"reduces":1}],"knowledge":{"kind":"perceptron","counts":{"outcomes":[1,2],"weights":[1,0,0,0,0,0,0],"bias":1}}}}`,
	"judgePromise": `{"now_s":5,"nodes":[{"name":"n1","slots":{"map":4}}],"classes":[{"name":"etl","task_time":{"a":30}}],"jobs":[{"name":"nightly","class":"etl","deadline_s":80,"maps":{"total":8}}],
		"running":[{"job":"nightly","node":"n1"}],"mode":"strict","job":{"name":"mine","class":"etl","deadline_s":120,"maps":{"total":10}}}`,
	"learnLessons": `{"policy":{"kind":"learned","target":1},"lessons":[{"usage":{"cpu":2},"load1":0.4,"cpus":2,"running":3,"cpu_pct":50,"numbers":{"gpu":1},"words":{"rack":"b"},"good":true},
		{"usage":{"cpu":9},"load1":0.4,"then":{"load1":1.6,"cpu_pct":5,"mem_pct":5,"net_mb_s":1,"disk_mb_s":1,"cpus":1}}]}`,
	"classifyTasks": `{"policy":{"kind":"learned","classifier":"perceptron","utilities":[{"kind":"fifo"}]},"knowledge":{"rules":1,"classifier":1,"kind":"perceptron","decisions":3,"judgements":3,
		"counts":{"outcomes":[1,2],"weights":[-1,0,0,0,0,0,0],"bias":0}},"running_tasks":9,
		"cases":[{"name":"light","usage":{"cpu":2},"load1":0.4,"age_s":60,"kind":"reduce","maps":4,"maps_done":2,"held":3,"worth":1,"balance":2,"promised":0.5,"revenue":3},{"name":"heavy","usage":{"cpu":9}}]}`,
	"fitMeasurements": `{"measurements":[{"job":"sort","kind":"power","vms":2,"seconds":900},{"job":"sort","kind":"power","vms":8,"seconds":260,"at":"2026-03-01T00:00:00Z"},
		{"job":"pi","kind":"task_time","residual":1,"seconds":10},{"job":"pi","kind":"rate","node_type":"gpu","seconds":5},{"job":"scan","kind":"usage","vms":6,"cpu_percent":30,"io_mb_s":150}],
		"methods":{"power":"nls","task_time":"constrained"},"vms":4,"residual":0.5}`,
	"calibrateExecutions": `{"profile":{"map_tasks":100,"reduce_tasks":0,"map_avg_s":10,"map_max_s":20,"overhead_s":4},"coverage":0.5,"executions":[
		{"id":"monday","submitted_at":"2026-03-02T22:00:00Z","seconds":150,"map_slots":10,"reduce_slots":0,"idle_s":24},{"submitted_at":"2026-03-03T23:00:00+01:00","seconds":115,"map_slots":10}]}`,
}

// A server answers as the rules do here, and stores nothing: what a cluster makes of the same measurements is the same
// fit.
func TestRulesAreAskedByThemselves(t *testing.T) {
	t.Parallel()
	s := newService(t)
	planner := s.key("p", auth.Planner, nil)
	var decided dispatch.DecideAnswer
	s.ask(planner, "POST", "/v1/decide", ruleQuestions["decideSlot"]).want(t, 200).into(t, &decided)
	q, err := dispatch.ReadDecide([]byte(ruleQuestions["decideSlot"]))
	if err != nil {
		t.Fatal(err)
	}
	if here, err := dispatch.Decide(q); err != nil || !reflect.DeepEqual(decided, here) {
		t.Errorf("the service decides %+v, here %+v, %v", decided, here, err)
	}
	var judged dispatch.JudgeAnswer
	s.ask(planner, "POST", "/v1/judge", ruleQuestions["judgePromise"]).want(t, 200).into(t, &judged)
	if judged.Verdict.Kept || judged.Verdict.DemandSeconds != 135 || judged.Verdict.LateSeconds != 20 || judged.Verdict.Cures.DeadlineSeconds != 135 {
		t.Errorf("%+v", judged)
	}
	var learned dispatch.LearnAnswer
	s.ask(planner, "POST", "/v1/learn", ruleQuestions["learnLessons"]).want(t, 200).into(t, &learned)
	if learned.Good != 1 || learned.Bad != 1 || learned.Knowledge.Counts.Outcomes != [2]int64{1, 1} {
		t.Errorf("%+v", learned)
	}
	// What was learned is taken as it was answered.
	known, err := json.Marshal(learned.Knowledge)
	if err != nil {
		t.Fatal(err)
	}
	var classified dispatch.ClassifyAnswer
	s.ask(planner, "POST", "/v1/classify", `{"knowledge":`+string(known)+`,"cases":[{"name":"light","usage":{"cpu":2},"load1":0.4,"cpus":2},{"name":"heavy","usage":{"cpu":9},"load1":0.4}]}`).want(t, 200).into(t, &classified)
	if c := classified.Cases; !c[0].Good || c[1].Good {
		t.Errorf("%+v", c)
	}
	s.ask(planner, "POST", "/v1/classify", ruleQuestions["classifyTasks"]).want(t, 200).into(t, &classified)
	if got, want := classified.Cases[0].PGood, 1/(1+math.Exp(1./9)); math.Abs(got-want) > 1e-12 || classified.Cases[0].Utility != 61 {
		t.Errorf("%+v, want %g", classified.Cases[0], want)
	}
	var fits perf.FitAnswer
	s.ask(planner, "POST", "/v1/fit", ruleQuestions["fitMeasurements"]).want(t, 200).into(t, &fits)
	var calibrated perf.Calibration
	s.ask(planner, "POST", "/v1/calibrate", ruleQuestions["calibrateExecutions"]).want(t, 200).into(t, &calibrated)
	// On 10 slots they take from 104 to 140 s, and of two the slower keeps a promise of a half: 150/122 is 1.22951.
	if c := calibrated; c.Fit.Above != 0.5 || c.Recommends == nil || c.Recommends.Factor != 1.23 || c.Waiting.MedianSeconds != 20 {
		t.Errorf("%+v", c)
	}
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"shop"}`).want(t, 201)
	s.ask(s.key("o", auth.Operator, nil), "POST", "/v1/clusters/shop/measurements", `{"measurements":[{"job":"sort","kind":"power","vms":2,"seconds":900},{"job":"sort","kind":"power","vms":8,"seconds":260}]}`).want(t, 200)
	var kept perf.JobFit
	s.ask(planner, "GET", "/v1/clusters/shop/fits/sort/power?method=nls&vms=4", nil).want(t, 200).into(t, &kept)
	if got := fits.Fits[len(fits.Fits)-2]; got.Job != "scan" {
		t.Errorf("%+v", got)
	}
	if got := fits.Fits[len(fits.Fits)-1]; !reflect.DeepEqual(got.Power, kept.Power) || !reflect.DeepEqual(got.Predicted, kept.Predicted) {
		t.Errorf("fitted %+v, by a cluster %+v", got, kept)
	}
	for path, body := range map[string]string{"/v1/decide": `{"jobs":[{"name":"a","maps":{"total":1}}],"slot":{},"policies":[{"kind":"lifo"}]}`, "/v1/judge": `{"nodes":[]}`,
		"/v1/learn": `{"lessons":[]}`, "/v1/classify": `{"cases":[{"name":"a"},{"name":"a"}]}`, "/v1/fit": `{"measurements":[{"job":"a","kind":"power","vms":-1,"seconds":1}]}`,
		"/v1/calibrate": `{"profile":{"map_tasks":1,"reduce_tasks":0,"map_avg_s":1,"map_max_s":1},"executions":[{"submitted_at":"2026-03-02T22:00:00Z","seconds":0}]}`} {
		if p := s.ask(planner, "POST", path, body).problem(t); p.Status != 400 && p.Status != 422 || len(p.Errors) == 0 || p.Errors[0].Pointer == nil {
			t.Errorf("%s: %+v", path, p)
		}
		s.ask(s.key("v"+path[4:], auth.Viewer, nil), "POST", path, body).want(t, 403)
	}
}
