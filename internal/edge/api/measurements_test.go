package api

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
)

func init() { // types that the overlay names
	for name, t := range map[string]reflect.Type{
		"list[capacity.JobMeasurement]": reflect.TypeFor[list[perf.JobMeasurement]](), "list[perf.JobFit]": reflect.TypeFor[list[perf.JobFit]](), "measurementBatch": reflect.TypeFor[measurementBatch](),
	} {
		overlaid[name] = t
	}
	collectTypes(reflect.TypeFor[perf.MeasurementRequest]())
	collectTypes(reflect.TypeFor[perf.JobMeasurement]())
	collectTypes(reflect.TypeFor[clusters.MeasurementsTaken]())
	collectTypes(reflect.TypeFor[pack.ClassBatch]())
}

const (
	someMeasurements = `{"measurements":[{"job":"sort","kind":"power","vms":6,"seconds":870},{"job":"sort","kind":"power","vms":22,"seconds":301}]}`
	measurements     = "/v1/clusters/mine/measurements"
	fits             = "/v1/clusters/mine/fits"
)

func TestMeasurementsAreFitted(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("mine")
	agent := s.key("host-7", auth.Agent, nil)
	viewer := s.key("look", auth.Viewer, nil)

	var taken clusters.MeasurementsTaken
	s.ask(agent, "POST", measurements, `{"measurements":[{"job":"sort","kind":"power","vms":6,"seconds":870}]}`).want(t, 200).into(t, &taken)
	if len(taken.Fits) != 1 || taken.Fits[0].Version != 0 || !strings.Contains(taken.Fits[0].Refused, "give at least two") {
		t.Errorf("one measurement: got %+v", taken)
	}
	a := s.ask(viewer, "GET", fits+"/sort/power", nil).want(t, 404)
	if !strings.Contains(string(a.text), "One measurement does not") || !strings.Contains(string(a.text), "give at least two") {
		t.Errorf("got %s, want why nothing was fitted", a.text)
	}
	first := s.ask(agent, "POST", measurements, someMeasurements, "Idempotency-Key", "k").want(t, 200)
	again := s.ask(agent, "POST", measurements, someMeasurements, "Idempotency-Key", "k").want(t, 200)
	if string(first.text) != string(again.text) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("one key: got %s and %s", first.text, again.text)
	}
	first.into(t, &taken)
	if taken.Measurements != 2 || taken.Fits[0].Version != 1 || taken.Fits[0].Measurements != 3 {
		t.Errorf("got %+v", taken)
	}

	// The fit equals one computed in another way: two sizes determine it by their means' logarithms.
	b := math.Log(301./870) / math.Log(22./6)
	var f perf.JobFit
	got := s.ask(viewer, "GET", fits+"/sort/power?vms=12", nil).want(t, 200)
	got.into(t, &f)
	if math.Abs(f.Power.B-b) > 1e-9 || f.Predicted == nil || math.Abs(f.Predicted.Seconds/(870*math.Pow(2, b))-1) > 1e-9 {
		t.Errorf("got %s, want b %g", got.text, b)
	}
	s.ask(viewer, "GET", fits+"/sort/power?vms=12", nil, "If-None-Match", got.etag()).want(t, 304)
	s.ask(viewer, "GET", fits+"/sort/power?method=nls", nil).want(t, 200).into(t, &f)
	if f.Version != 0 || f.MadeAt != nil || f.Power.Method != perf.FitNLS {
		t.Errorf("by another method: got %+v", f)
	}

	// The same measurements again give an equal fit of more measurements, which is another version; the first stays.
	s.ask(s.admin, "POST", measurements, someMeasurements).want(t, 200)
	f = perf.JobFit{}
	s.ask(viewer, "GET", fits+"/sort/power", nil).want(t, 200).into(t, &f)
	if f.Version != 2 || f.Measurements != 5 {
		t.Errorf("got %+v", f)
	}
	var versions list[perf.JobFit]
	s.ask(viewer, "GET", fits+"/sort/power/versions", nil).want(t, 200).into(t, &versions)
	var old perf.JobFit
	s.ask(viewer, "GET", fits+"/sort/power?version=1", nil).want(t, 200).into(t, &old)
	if diff := cmp.Diff([]perf.JobFit{f, old}, versions.Items); diff != "" {
		t.Errorf("the versions are something else: %s", diff)
	}
	if diff := cmp.Diff(taken.Fits[0], old); diff != "" {
		t.Errorf("the first version is something else: %s", diff)
	}
	s.ask(viewer, "GET", fits+"/sort/power?version=9", nil).want(t, 404)

	// A deletion fits the rest again, and a series without measurements loses its fits; numbers do not come back.
	s.ask(viewer, "DELETE", measurements+"?job=sort", nil).want(t, 403)
	s.ask(agent, "DELETE", measurements+"?job=sort", nil).want(t, 403)
	s.ask(s.admin, "DELETE", measurements, nil).want(t, 400)
	s.ask(s.admin, "DELETE", measurements+"?job=sort&kind=power", nil).want(t, 200)
	s.ask(viewer, "GET", fits+"/sort/power", nil).want(t, 404)
	s.ask(viewer, "GET", fits+"/sort/power/versions", nil).want(t, 404)
	s.ask(agent, "POST", measurements, someMeasurements).want(t, 200).into(t, &taken)
	if taken.Fits[0].Version != 3 || taken.Fits[0].Measurements != 2 {
		t.Errorf("after deleting: got %+v", taken)
	}
}

// Each kind is fitted as the pure functions fit it, for any order of the measurements.
func TestEveryKindOfMeasurement(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("mine")
	m := perf.TaskTime{A: 100, B: -6, C: 30, D: -0.3}
	var rows []string
	var samples []perf.TaskSample
	const job = "map/side a&b?"
	name, _ := json.Marshal(job)
	for i := range 12 {
		r := 0.1 + 0.075*float64(i)
		samples = append(samples, perf.TaskSample{Residual: r, Seconds: m.Seconds(r)})
		member := fmt.Sprintf(`"residual":%v`, r)
		if i%2 == 1 {
			member = fmt.Sprintf(`"utilization":%v`, 1-r)
		}
		rows = append(rows, fmt.Sprintf(`{"job":%s,"kind":"task_time",%s,"seconds":%v}`, name, member, m.Seconds(r)))
	}
	for i, kind := range []string{"n1", "n2", "n1", "n2", "n1", "n2"} {
		rows = append(rows, fmt.Sprintf(`{"job":%s,"kind":"rate","node_type":%q,"seconds":%d,"at":"2026-01-01T00:00:0%dZ"}`, name, kind, 60-40*(i%2), i))
	}
	rows = append(rows, fmt.Sprintf(`{"job":%s,"kind":"usage","vms":6,"cpu_percent":85,"io_mb_s":20}`, name), fmt.Sprintf(`{"job":%s,"kind":"usage","vms":20,"cpu_percent":10,"io_mb_s":500}`, name))
	s.ask(s.admin, "POST", measurements, `{"measurements":[`+strings.Join(rows, ",")+`]}`).want(t, 200)
	at := fits + "/" + url.PathEscape(job)

	var f perf.JobFit
	s.ask(s.admin, "GET", at+"/task_time?residual=0.6", nil).want(t, 200).into(t, &f)
	want, err := perf.FitTaskTime(samples, false)
	if err != nil {
		t.Fatal(err)
	}
	if f.Job != job || f.TaskTime.Form != perf.TwoExponentials || math.Abs(f.PredictedAt.Seconds/m.Seconds(0.6)-1) > 1e-5 || math.Abs(f.TaskTime.Seconds(0.3)/want.Seconds(0.3)-1) > 1e-5 {
		t.Errorf("got %+v %+v", f.TaskTime, f.PredictedAt)
	}
	s.ask(s.admin, "GET", at+"/task_time?method=unconstrained", nil).want(t, 200).into(t, &f)
	s.ask(s.admin, "GET", at+"/rate", nil).want(t, 200).into(t, &f)
	if len(f.Rate.Types) != 2 || f.Rate.Types[0].Rate != 1 || f.Rate.Types[1].Rate != 3 || len(f.Rate.Warnings) != 0 {
		t.Errorf("got %+v", f.Rate)
	}
	s.ask(s.admin, "GET", at+"/usage", nil).want(t, 200).into(t, &f)
	if f.Usage.Role != perf.GuestRole || f.Usage.ProfiledAtVM != 6 || f.Usage.Points != 1 {
		t.Errorf("got %+v", f.Usage)
	}
	var all list[perf.JobFit]
	s.ask(s.admin, "GET", fits, nil).want(t, 200).into(t, &all)
	if len(all.Items) != 3 || all.Items[0].Kind != perf.RateFits || all.Items[2].Kind != perf.UsageFits {
		t.Errorf("got %+v", all.Items)
	}
	var kept list[perf.JobMeasurement]
	s.ask(s.admin, "GET", measurements+"?kind=rate&until=2026-01-01T00:00:02Z", nil).want(t, 200).into(t, &kept)
	if len(kept.Items) != 2 || *kept.Items[0].NodeType != "n2" || *kept.Items[0].Seconds != 20 || kept.Items[0].VMs != nil {
		t.Errorf("got %+v, want the newest first", kept.Items)
	}

	for _, c := range []struct{ path, parameter string }{
		{"/task_time?vms=3", "vms"}, {"/rate?residual=0.5", "residual"}, {"/rate?method=log", "method"}, {"/task_time?method=nls", "method"},
		{"/task_time?method=constrained&version=1", "method"}, {"/task_time?residual=1.5", "residual"}, {"/none", "kind"}, {"/power?vms=0.5", "vms"},
	} {
		a := s.ask(s.admin, "GET", at+c.path, nil).want(t, 400)
		if !strings.Contains(string(a.text), `"`+c.parameter+`"`) {
			t.Errorf("%s: got %s, want the parameter %s", c.path, a.text, c.parameter)
		}
	}
}

func TestMeasurementsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("mine")
	for _, c := range []struct{ text, pointer string }{
		{`{"job":"a","kind":"power","vms":6,"seconds":0}`, "/measurements/0/seconds"},
		{`{"job":"a","kind":"power","vms":6,"seconds":-1}`, "/measurements/0/seconds"},
		{`{"job":"a","kind":"power","vms":6,"seconds":1e-12}`, "/measurements/0/seconds"},
		{`{"job":"a","kind":"power","vms":6,"seconds":1e12}`, "/measurements/0/seconds"},
		{`{"job":"a","kind":"power","vms":0,"seconds":1}`, "/measurements/0/vms"},
		{`{"job":"a","kind":"power","seconds":1}`, "/measurements/0/vms"},
		{`{"job":"a","kind":"power","vms":6,"seconds":1,"residual":1}`, "/measurements/0/residual"},
		{`{"job":"a","kind":"task_time","residual":1.2,"seconds":1}`, "/measurements/0/residual"},
		{`{"job":"a","kind":"task_time","utilization":-0.2,"seconds":1}`, "/measurements/0/utilization"},
		{`{"job":"a","kind":"task_time","utilization":0.2,"residual":0.8,"seconds":1}`, "/measurements/0/utilization"},
		{`{"job":"a","kind":"rate","seconds":1}`, "/measurements/0/node_type"},
		{`{"job":"a","kind":"rate","node_type":" n","seconds":1}`, "/measurements/0/node_type"},
		{`{"job":"a","kind":"usage","vms":6.5,"cpu_percent":5,"io_mb_s":5}`, "/measurements/0/vms"},
		{`{"job":"a","kind":"usage","vms":6,"cpu_percent":105,"io_mb_s":5}`, "/measurements/0/cpu_percent"},
		{`{"job":"","kind":"rate","node_type":"n","seconds":1}`, "/measurements/0/job"},
		{`{"job":"..","kind":"rate","node_type":"n","seconds":1}`, "/measurements/0/job"},
		{`{"job":"a","kind":"rat","node_type":"n","seconds":1}`, "/measurements/0/kind"},
		{`{"job":"a","kind":"rate","node_type":"n","seconds":1,"at":"2126-01-01T00:00:00Z"}`, "/measurements/0/at"},
		{``, "/measurements"},
	} {
		a := s.ask(s.admin, "POST", measurements, `{"measurements":[`+c.text+`]}`)
		if a.StatusCode != 422 && a.StatusCode != 400 || !strings.Contains(string(a.text), `"`+c.pointer+`"`) {
			t.Errorf("%s: got %d %s, want a finding at %s", c.text, a.StatusCode, a.text, c.pointer)
		}
	}
	var many []string
	for i := range perf.MaxSentSeries + 1 {
		many = append(many, fmt.Sprintf(`{"job":"j%d","kind":"rate","node_type":"n","seconds":1}`, i))
	}
	s.ask(s.admin, "POST", measurements, `{"measurements":[`+strings.Join(many, ",")+`]}`).want(t, 422)
	s.ask(s.admin, "POST", "/v1/clusters/none/measurements", someMeasurements).want(t, 404)
	s.ask(s.admin, "GET", "/v1/clusters/none/fits", nil).want(t, 404)
	s.ask(s.admin, "GET", fits+"/none/power", nil).want(t, 404)
	var l list[perf.JobFit]
	s.ask(s.admin, "GET", fits, nil).want(t, 200).into(t, &l)
	if len(l.Items) != 0 {
		t.Errorf("what was refused is kept: %+v", l.Items)
	}
}
