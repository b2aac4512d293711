package api

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/recheck"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
)

const (
	// On m map slots the bounds are 2940/m + 11, (2940-122)/m + 133 and the mean of both.
	calibratedProfile = `{"name":"maps","source":{"job":"nightly etl"},"profile":{"map_tasks":120,"reduce_tasks":0,"map_avg_s":24.5,"map_max_s":61,"overhead_s":11}}`
	calibratedClass   = `{"name":"calibrated","profile":{"name":"maps"},"deadline_s":600,"slots_per_vm":{"map":2,"reduce":2},"jobs":{"min":0,"max":5},"penalty":"5.00"}`
)

// calibratedInMine returns the class calibrated of the cluster mine, with an execution.
func (s *service) calibratedInMine() answered {
	s.Helper()
	s.ask(s.admin, "POST", "/v1/clusters/mine/profiles", calibratedProfile) // these are there after the first time
	s.ask(s.admin, "POST", "/v1/clusters/mine/classes", calibratedClass)
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", someExecution).want(s, 200)
	return s.ask(s.admin, "GET", "/v1/clusters/mine/classes/calibrated", nil).want(s, 200)
}

// executed posts executions of the job from a moment on, an hour apart, that take their average times scale,
// spread by a tenth.
func (s *service) executed(r *rand.Rand, n int, from time.Time, scale float64) (seconds []float64, slots []int64) {
	s.Helper()
	type any = map[string]interface{}
	var batch []any
	for i := range n {
		m := 4 + r.Int64N(20)
		took := math.Round(scale*((2940+2818)/2/float64(m)+(11+133)/2)*math.Exp(0.1*r.NormFloat64())*1000) / 1000
		at := from.Add(time.Duration(i) * time.Hour)
		batch = append(batch, any{"job": "nightly etl", "execution": fmt.Sprintf("job_%d", at.Unix()), "submitted_at": at,
			"sample": any{"profile": any{"map_tasks": 120, "reduce_tasks": 0, "map_avg_s": 24.5, "map_max_s": 61, "overhead_s": 12}, "seconds": took,
				"map": any{"count": 120, "mean": 24.5, "max": 61, "p50": 23, "p95": 48}, "map_slots": m}})
		seconds, slots = append(seconds, took), append(slots, m)
	}
	body, err := json.Marshal(any{"executions": batch})
	if err != nil {
		s.Fatal(err)
	}
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", string(body)).want(s, 200)
	return seconds, slots
}

// A class is compared with its executions, calibrated with them, monitored, found to be slower, and calibrated again.
func TestClassesAreCalibrated(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	const class, at = "/v1/clusters/mine/classes/calibrated", "/v1/clusters/mine/classes/calibrated/calibration"
	s.ask(s.admin, "POST", "/v1/clusters/mine/profiles", calibratedProfile).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/mine/classes", calibratedClass).want(t, 201)
	// Each report is checked again from its question.
	report := func(query string) (c clusters.ClassCalibration) {
		t.Helper()
		a := s.ask(s.admin, "GET", at+query, nil).want(t, 200)
		a.into(t, &c)
		question := s.ask(s.admin, "GET", at+"/question"+query, nil).want(t, 200)
		if r, err := recheck.Answer(question.text, a.text, recheck.Options{}); err != nil || r.Outcome != proof.OK {
			t.Errorf("%v, %v\n%s\n%s", r, err, question.text, a.text)
		}
		return c
	}
	if c := report(""); c.Job != "nightly etl" || c.Fit.Executions != 0 || c.Recommends != nil || c.InUse != nil || len(c.Warnings) != 1 {
		t.Errorf("without executions: %+v", c)
	}

	r := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seconds, slots := s.executed(r, 200, start, 1)
	failed := `{"executions":[{"job":"nightly etl","execution":"job_x","outcome":"failed","refused":"It failed.","submitted_at":"2026-01-02T22:00:00Z"}]}`
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", failed).want(t, 200)
	const untimed = `{"executions":[{"job":"nightly etl","execution":"job_y","submitted_at":"2026-01-02T23:00:00Z","sample":{"profile":{"map_tasks":120,"reduce_tasks":0,"map_avg_s":24.5,"map_max_s":61},"map_slots":4}}]}`
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", untimed).want(t, 200)
	c := report("")
	// The figures again, from the bounds' formulas and by counting.
	var below, above, bias float64
	ratios := map[capacity.Bound][]float64{}
	for i, took := range seconds {
		m := float64(slots[i])
		lower, upper := 2940/m+11, 2818/m+133
		if took < lower {
			below++
		}
		if took > upper {
			above++
		}
		bias += took/((lower+upper)/2) - 1
		ratios["lower"], ratios["average"], ratios["upper"] = append(ratios["lower"], took/lower), append(ratios["average"], took/((lower+upper)/2)), append(ratios["upper"], took/upper)
	}
	if c.Fit.Executions != 200 || c.Fit.Below != below/200 || c.Fit.Above != above/200 || math.Abs(c.Fit.MeanBias-bias/200) > 1e-9 || c.Unfit != 2 || len(c.Bands) != 4 {
		t.Errorf("got %+v, want %v below, %v above of 200, bias %v, 1 unfit", c, below, above, bias/200)
	}
	for _, f := range c.Factors {
		all := ratios[f.Bound]
		slices.Sort(all)
		if want := all[190]; f.Factor < want || f.Factor > want*1.001 { // ⌈201 · 0.95⌉ is 191
			t.Errorf("%s: factor %v, want %v", f.Bound, f.Factor, want)
		}
	}
	if c.Recommends == nil || c.Tested == nil || c.Waiting == nil || c.Waiting.MedianSeconds != 1 {
		t.Fatalf("got %+v", c)
	}

	// As a table.
	a := s.ask(s.admin, "GET", at+"?format=csv", nil).want(t, 200)
	rows, err := csv.NewReader(strings.NewReader(string(a.text))).ReadAll()
	if err != nil || len(rows) != 201 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		if took, _ := strconv.ParseFloat(row[2], 64); took != seconds[i] || row[3] != strconv.FormatInt(slots[i], 10) {
			t.Errorf("row %d is %v, want %v s on %d slots", i, row, seconds[i], slots[i])
		}
	}

	// Taken into use at the class's version, and audited.
	tag := s.ask(s.admin, "GET", class, nil).want(t, 200).etag()
	s.ask(s.admin, "PUT", at, `{}`).want(t, 428)
	s.ask(s.admin, "PUT", at, `{}`, "If-Match", `"7"`).want(t, 412)
	s.ask(s.key("reader", "viewer", nil), "PUT", at, `{}`, "If-Match", tag).want(t, 403)
	changed := s.ask(s.admin, "PUT", at, `{}`, "If-Match", tag).want(t, 200)
	var now inputs.PlannedClass
	changed.into(t, &now)
	if now.Calibration == nil || now.Calibration.Factor != c.Recommends.Factor || now.Calibration.Bound != c.Recommends.Bound || changed.etag() == tag {
		t.Errorf("the class is %+v, want calibration %+v", now, c.Recommends)
	}
	s.ask(s.admin, "PUT", at, `{}`, "If-Match", tag).want(t, 412)
	audited := func(e app.AuditEntry) bool {
		return e.Kind == "class" && e.Name == "calibrated" && e.Action == "update" && strings.Contains(string(e.After), `"factor"`)
	}
	var audit list[app.AuditEntry]
	for end := time.Now().Add(20 * time.Second); !slices.ContainsFunc(audit.Items, audited); { // listed when older transactions have ended
		if time.Now().After(end) {
			t.Fatalf("the audit log lacks the class's calibration: %+v", audit)
		}
		s.ask(s.admin, "GET", "/v1/audit?cluster=mine", nil).want(t, 200).into(t, &audit)
	}
	drift := func() *perf.Drift {
		t.Helper()
		var l list[inputs.PlannedClass]
		s.ask(s.admin, "GET", "/v1/clusters/mine/classes", nil).want(t, 200).into(t, &l)
		for _, c := range l.Items {
			if c.Name == "calibrated" {
				return c.Drift
			}
			if c.Drift != nil {
				t.Errorf("class %s has %+v", c.Name, c.Drift)
			}
		}
		return nil
	}
	if d := drift(); d == nil || d.State != perf.Unchanged || d.Executions != 0 || d.Detail == "" {
		t.Errorf("after adopting: %+v", d)
	}
	c = report("")
	if c.InUse == nil || *c.InUse != *now.Calibration || c.Adoption == nil || c.Adoption.Executions != 200 || !c.Adoption.Until.Equal(start.Add(199*time.Hour)) || c.Adoption.AdoptedBy == "" {
		t.Errorf("in use is %+v, %+v", c.InUse, c.Adoption)
	}

	// Executions like the earlier ones cause no drift, slower ones do.
	s.executed(r, 100, start.Add(200*time.Hour), 1)
	if d := drift(); d.State != perf.Unchanged || d.Executions != 100 {
		t.Errorf("after executions that fit: %+v", d)
	}
	slow := start.Add(300 * time.Hour)
	s.executed(r, 60, slow, 1.3)
	if d := drift(); d.State != perf.Slower || d.Since == nil || d.Since.Sub(slow).Abs() > 5*time.Hour || d.Exceeded < 30 {
		t.Errorf("after slower ones: %+v", d)
	}
	s.metric(`headroom_class_calibration_drift{class="calibrated",cluster="mine",direction="slower"}`, "1")
	s.metric(`headroom_class_calibration_drift{class="calibrated",cluster="mine",direction="faster"}`, "0")

	// Calibrated with the slower ones, it is monitored from there on.
	tag = s.ask(s.admin, "GET", class, nil).want(t, 200).etag()
	s.ask(s.admin, "PUT", at, fmt.Sprintf(`{"from":%q}`, slow.Format(time.RFC3339)), "If-Match", tag).want(t, 200).into(t, &now)
	if d := drift(); d.State != perf.Unchanged || d.Executions != 0 {
		t.Errorf("calibrated anew: %+v", d)
	}
	s.metric(`headroom_class_calibration_drift{class="calibrated",cluster="mine",direction="slower"}`, "0")
	s.executed(r, 60, slow.Add(60*time.Hour), 1.3)
	if d := drift(); d.State != perf.Unchanged || d.Executions != 60 {
		t.Errorf("calibrated anew, after more of them: %+v", d)
	}
	s.executed(r, 60, slow.Add(120*time.Hour), 0.8)
	if d := drift(); d.State != perf.Faster {
		t.Errorf("after faster ones: %+v", d)
	}

	// A calibration written by hand has no data on record.
	now.Calibration.Factor += 0.5
	now.Version, now.Drift, now.Warnings = 0, nil, nil
	tag = s.ask(s.admin, "GET", class, nil).want(t, 200).etag()
	s.ask(s.admin, "PUT", class, strings.Replace(calibratedClass, `"deadline_s"`, `"calibration":{"bound":"average","factor":1.5},"deadline_s"`, 1), "If-Match", tag).want(t, 200)
	if d := drift(); d != nil {
		t.Errorf("with a factor of somebody's own: %+v", d)
	}
	if c := report(""); c.InUse == nil || c.InUse.Factor != 1.5 || c.Adoption != nil {
		t.Errorf("with a factor of somebody's own: %+v", c)
	}
	s.executed(r, 10, slow.Add(180*time.Hour), 1)

	// A chosen bound and factor are stored with the measured times.
	tag = s.ask(s.admin, "GET", class, nil).want(t, 200).etag()
	s.ask(s.admin, "PUT", at, `{"bound":"upper","factor":1.25}`, "If-Match", tag).want(t, 200).into(t, &now)
	if now.Calibration.Bound != "upper" || now.Calibration.Factor != 1.25 {
		t.Errorf("got %+v", now.Calibration)
	}
	s.ask(s.admin, "DELETE", class, nil, "If-Match", s.ask(s.admin, "GET", class, nil).want(t, 200).etag()).want(t, 204)
}

func TestCalibrationsAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	tag := s.calibratedInMine().etag()
	const classes = "/v1/clusters/mine/classes/"
	for query, parameter := range map[string]string{"coverage=1": "coverage", "coverage=x": "coverage", "coverage=NaN": "coverage", "coverage=0x1p-1": "coverage", "coverage=1e999": "coverage", "from=2026-02-01T00:00:00Z&until=2026-01-01T00:00:00Z": "from", "job=": "job", "format=xlsx": "format"} {
		if p := s.ask(s.admin, "GET", classes+"calibrated/calibration?"+query, nil).want(t, 400).problem(t); p.at() != parameter {
			t.Errorf("?%s is refused with %+v", query, p)
		}
	}
	if p := s.ask(s.admin, "GET", classes+"nightly/calibration", nil).want(t, 400).problem(t); p.at() != "job" {
		t.Errorf("a profile that was typed is refused with %+v", p)
	}
	s.ask(s.admin, "GET", classes+"ad-hoc/calibration?job=a", nil).want(t, 409)
	s.ask(s.admin, "GET", classes+"none/calibration?job=a", nil).want(t, 404)
	var c clusters.ClassCalibration
	if s.ask(s.admin, "GET", classes+"calibrated/calibration?job=none", nil).want(t, 200).into(t, &c); c.Fit.Executions != 0 {
		t.Errorf("of a job that nobody knows: %+v", c)
	}
	if s.ask(s.admin, "GET", classes+"calibrated/calibration?coverage=0.5", nil).want(t, 200).into(t, &c); c.Coverage != 0.5 || c.Fit.Executions != 1 {
		t.Errorf("of half of the executions: %+v", c)
	}
	// An execution of maps and reduces tells nothing about a chain of stages.
	s.ask(s.admin, "POST", "/v1/clusters/mine/profiles", `{"name":"chain","source":{"job":"nightly etl"},"profile":{"stages":[{"name":"a","tasks":10,"avg_s":1,"max_s":2}]}}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/mine/classes", strings.NewReplacer(`"calibrated"`, `"chain"`, `"maps"`, `"chain"`).Replace(calibratedClass)).want(t, 201)
	if s.ask(s.admin, "GET", classes+"chain/calibration", nil).want(t, 200).into(t, &c); c.Fit.Executions != 0 || c.Unfit != 1 {
		t.Errorf("of another form: %+v", c)
	}
	for body, pointer := range map[string]string{`{"coverage":1}`: "/coverage", `{"job":"none"}`: "/job", `{"bound":"calibrated"}`: "/bound", `{"factor":1000.5}`: "/factor", `{"factr":1}`: "/factr",
		`{"from":"2026-02-01T00:00:00Z","until":"2026-01-01T00:00:00Z"}`: "/from"} {
		a := s.ask(s.admin, "PUT", classes+"calibrated/calibration", body, "If-Match", tag)
		if p := a.problem(t); p.at() != pointer {
			t.Errorf("%s is refused with %+v", body, p)
		}
	}
	// A calibrated deadline that nothing meets is reported at the factor's class.
	promised := strings.NewReplacer(`"calibrated"`, `"promised"`, `"min":0`, `"min":1`).Replace(calibratedClass)
	s.ask(s.admin, "PUT", "/v1/clusters/mine", `{"name":"mine","options":{"engine":"exact","bound":"calibrated"}}`, "If-Match", s.ask(s.admin, "GET", "/v1/clusters/mine", nil).etag()).want(t, 200)
	tag = s.ask(s.admin, "POST", "/v1/clusters/mine/classes", promised).want(t, 201).etag()
	s.ask(s.admin, "PUT", classes+"promised/calibration", `{"factor":500}`, "If-Match", tag).want(t, 422)
}

// A class with a profile made of a real history is compared with the executions it was made of.
func TestRealHistoriesAreCompared(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "histories")
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join("..", dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, "job_1329348432655_0001-10.jhist"))
	if err != nil {
		t.Skip("there is no ../shared/data/histories beside the repository")
	}
	s := newService(t)
	s.cluster("mine")
	s.uploaded("", string(text))
	var jobs list[history.RecordedJob]
	s.ask(s.admin, "GET", "/v1/clusters/mine/recorded-jobs", nil).want(t, 200).into(t, &jobs)
	var all list[history.StoredExecution]
	s.ask(s.admin, "GET", "/v1/clusters/mine/executions", nil).want(t, 200).into(t, &all)
	kept := all.Items[0]
	var one history.SampledExecution
	s.ask(s.admin, "GET", "/v1/clusters/mine/executions/"+kept.ID, nil).want(t, 200).into(t, &one)
	profile, err := json.Marshal(map[string]any{"name": "real", "source": map[string]any{"job": jobs.Items[0].Job}, "profile": one.Sample.Profile})
	if err != nil {
		t.Fatal(err)
	}
	s.ask(s.admin, "POST", "/v1/clusters/mine/profiles", string(profile)).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/mine/classes", strings.Replace(calibratedClass, `"maps"`, `"real"`, 1)).want(t, 201)
	var c clusters.ClassCalibration
	s.ask(s.admin, "GET", "/v1/clusters/mine/classes/calibrated/calibration", nil).want(t, 200).into(t, &c)
	// Its own profile on its own slots predicts its time: the measured time agrees with the bounds from the API.
	question, err := json.Marshal(map[string]any{"kind": "job", "profile": one.Sample.Profile, "slots": map[string]any{"map": *kept.MapSlots, "reduce": *kept.ReduceSlots}, "share": map[string]any{"map": 1, "reduce": 1}, "jobs": 1})
	if err != nil {
		t.Fatal(err)
	}
	var bounds struct {
		Lower   float64 `json:"lower_s"`
		Average float64 `json:"average_s"`
		Upper   float64 `json:"upper_s"`
	}
	s.ask(s.admin, "POST", "/v1/bounds", string(question)).want(t, 200).into(t, &bounds)
	t.Logf("%s on %d and %d slots took %g s, bounds %+v, fit %+v", kept.Execution, *kept.MapSlots, *kept.ReduceSlots, *kept.Seconds, bounds, c.Fit)
	within := 0.0
	if *kept.Seconds >= bounds.Lower && *kept.Seconds <= bounds.Upper {
		within = 1
	}
	if c.Fit.Executions != 1 || c.Fit.Within != within || math.Abs(c.Fit.MeanBias-(*kept.Seconds/bounds.Average-1)) > 1e-9 {
		t.Errorf("it took %g s, the bounds are %+v, and the fit %+v", *kept.Seconds, bounds, c.Fit)
	}
}
