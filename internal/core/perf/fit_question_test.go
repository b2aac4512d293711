package perf

import (
	"math"
	"reflect"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
)

// Two points of a power curve, two of an exponential and two types of nodes have fits that can be said at once.
func TestFitsOfAFile(t *testing.T) {
	q, err := ReadFit([]byte(`{"measurements":[
		{"job":"sort","kind":"power","vms":1,"seconds":100},{"job":"sort","kind":"power","vms":4,"seconds":50},
		{"job":"pi","kind":"task_time","residual":1,"seconds":10},{"job":"pi","kind":"task_time","utilization":0.5,"seconds":20},
		{"job":"pi","kind":"rate","node_type":"gpu","seconds":5},{"job":"pi","kind":"rate","node_type":"plain","seconds":15},
		{"job":"scan","kind":"usage","vms":6,"cpu_percent":30,"io_mb_s":150,"at":"2026-03-01T00:00:00Z"}],"vms":16,"residual":0.75}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := FitAll(q)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Fits) != 4 {
		t.Fatalf("%+v", a)
	}
	rate, task, usage, power := a.Fits[0], a.Fits[1], a.Fits[2], a.Fits[3]
	if rate.Rate == nil || rate.Rate.Types[0].Rate != 3 || rate.Predicted != nil || rate.FirstAt != nil {
		t.Errorf("rates: %+v", rate)
	}
	if p := task.PredictedAt; p == nil || math.Abs(p.Seconds-10*math.Sqrt2) > 1e-6 {
		t.Errorf("task times: %+v", p)
	}
	if usage.Usage == nil || !usage.Usage.IO || usage.Usage.CPU || !usage.LastAt.Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("usage: %+v", usage)
	}
	if p := power.Predicted; p == nil || math.Abs(p.Seconds-25) > 1e-9 || math.Abs(power.Power.B+0.5) > 1e-12 || math.Abs(power.Power.A-100) > 1e-9 {
		t.Errorf("power: %+v", power.Power)
	}
	// The fit is that of a cluster, by either method.
	all, err := CheckMeasurements(q.Measurements[:2], time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range FitChoices(PowerFits) {
		q.Methods.Power = method
		if a, err = FitAll(q); err != nil || !reflect.DeepEqual(a.Fits[3].Power, FitJob("sort", PowerFits, all, method).Power) {
			t.Errorf("%s: %+v, %v", method, a.Fits[3].Power, err)
		}
	}
	// One point is too few, which its fit says; others are fitted.
	few := FitQuestion{Measurements: q.Measurements[1:3]}
	if a, err := FitAll(few); err != nil || a.Fits[1].Power != nil || a.Fits[1].Refused == "" || a.Fits[0].TaskTime == nil {
		t.Errorf("too few: %+v, %v", a, err)
	}
}

// Mistakes are named with their places.
func TestFitsThatMakeNoSense(t *testing.T) {
	for text, pointer := range map[string]string{
		`{}`:                  "/measurements",
		`{"measurements":[]}`: "/measurements",
		`{"measurements":[{"job":"a","kind":"powers","vms":1,"seconds":1}]}`:                              "/measurements/0/kind",
		`{"measurements":[{"job":"a","kind":"power","seconds":1}]}`:                                       "/measurements/0/vms",
		`{"measurements":[{"job":"a","kind":"power","vms":-1,"seconds":1}]}`:                              "/measurements/0/vms",
		`{"measurements":[{"job":"a","kind":"power","vms":1,"seconds":NaN}]}`:                             "/measurements/0/seconds",
		`{"measurements":[{"job":"a","kind":"power","vms":1,"seconds":1e99}]}`:                            "/measurements/0/seconds",
		`{"measurements":[{"job":"","kind":"power","vms":1,"seconds":1}]}`:                                "/measurements/0/job",
		`{"measurements":[{"job":"a","kind":"task_time","residual":2,"seconds":1}]}`:                      "/measurements/0/residual",
		`{"measurements":[{"job":"a","kind":"power","vms":1,"seconds":1}],"methods":{"power":"best"}}`:    "/methods/power",
		`{"measurements":[{"job":"a","kind":"power","vms":1,"seconds":1}],"methods":{"task_time":"log"}}`: "/methods/task_time",
		`{"measurements":[{"job":"a","kind":"power","vms":1,"seconds":1}],"vms":0}`:                       "/vms",
		`{"measurements":[{"job":"a","kind":"power","vms":1,"seconds":1}],"residual":-1}`:                 "/residual",
		`{"measurements":[{"job":"a","kind":"power","vms":1,"seconds":1,"at":"9999-12-31T23:59:59Z"}]}`:   "/measurements/0/at",
		`{"measurements":[{"job":"a","kind":"rate","node_type":"x","node_type":"y","seconds":1}]}`:        "/measurements/0/node_type",
	} {
		_, err := ReadFit([]byte(text))
		if f := fault.Findings(err); len(f) == 0 || f[0].Pointer != pointer {
			t.Errorf("%s: %v, want a finding at %s", text, err, pointer)
		}
	}
}
