package perf

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
)

func jobMeasurement(i int, set func(*JobMeasurement)) JobMeasurement {
	m := JobMeasurement{ID: string(rune('a' + i)), At: time.Unix(int64(i), 0).UTC()}
	set(&m)
	return m
}

// A fit depends on the measurements and not on their order.
func TestFitsDoNotDependOnOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 29))
	for _, kind := range FitKinds {
		var all []JobMeasurement
		for i := range 25 {
			all = append(all, jobMeasurement(i, func(m *JobMeasurement) {
				m.Kind = kind
				x := math.Exp(3 * r.Float64())
				switch kind {
				case PowerFits:
					m.VMs, m.Seconds = new(float64(1+i)), &x
				case TaskTimeFits:
					m.Residual, m.Seconds = new(r.Float64()), &x
				case RateFits:
					m.NodeType, m.Seconds = new([]string{"x", "y", "z"}[r.IntN(3)]), &x
				case UsageFits:
					m.VMs, m.CPUPercent, m.IOMBPerS = new(6.0), &x, new(9*x)
				}
			}))
		}
		want, err := json.Marshal(FitJob("j", kind, all, ""))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if got, _ := json.Marshal(FitJob("j", kind, all, "")); string(got) != string(want) {
				t.Errorf("%s: got %s, want %s", kind, got, want)
			}
		}
		if strings.Contains(string(want), `"refused":"N`) {
			t.Errorf("%s: %s", kind, want)
		}
		if none := FitJob("j", kind, nil, ""); none.Refused == "" {
			t.Errorf("%s: something is fitted to nothing: %+v", kind, none)
		}
	}
}

func TestFittedRates(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 30))
	times := map[string][]float64{}
	var all []JobMeasurement
	for i := range 60 {
		kind, s := []string{"fast", "slow"}[i%2], (1+9*float64(i%2))*math.Exp(0.1*r.NormFloat64())
		times[kind] = append(times[kind], s)
		all = append(all, jobMeasurement(i%20, func(m *JobMeasurement) { m.NodeType, m.Seconds = &kind, &s }))
	}
	f, err := FitRates(all)
	if err != nil || len(f.Types) != 2 {
		t.Fatalf("%+v %v", f, err)
	}
	for i, kind := range []string{"fast", "slow"} {
		within(t, "mean", f.Types[i].MeanSeconds, stat.Mean(times[kind], nil), 1e-12)
		within(t, "deviation", *f.Types[i].DeviationSeconds, stat.StdDev(times[kind], nil), 1e-9)
		rate, _ := f.Rates().Rate(kind)
		within(t, "rate", f.Types[i].Rate, rate, 1e-12)
	}
	one, err := FitRates(all[:1])
	if err != nil || one.Types[0].DeviationSeconds != nil || !hasWarning(one.Warnings, "one_type") || !hasWarning(one.Warnings, "few_tasks") {
		t.Errorf("%+v %v", one, err)
	}
}

func TestFittedUsage(t *testing.T) {
	usage := func(vms, cpu, io float64) JobMeasurement {
		return jobMeasurement(0, func(m *JobMeasurement) { m.VMs, m.CPUPercent, m.IOMBPerS = &vms, &cpu, &io })
	}
	for _, c := range []struct {
		all    []JobMeasurement
		role   JobRole
		vms    int64
		points int
		off    bool
	}{
		{[]JobMeasurement{usage(6, 80, 20), usage(6, 70, 40), usage(20, 10, 900)}, GuestRole, 6, 2, false},
		{[]JobMeasurement{usage(20, 10, 900), usage(9, 20, 300), usage(3, 90, 10)}, GuestRole, 3, 1, true}, // as near as 9
		{[]JobMeasurement{usage(8, 60, 100)}, PlainRole, 8, 1, true},                                       // not above
	} {
		f, err := FitUsage(c.all)
		if err != nil || f.Role != c.role || f.ProfiledAtVM != c.vms || f.Points != c.points || hasWarning(f.Warnings, "off_reference") != c.off {
			t.Errorf("got %+v, %v; want %+v", f, err, c)
		}
	}
}

func TestRatesOfInstances(t *testing.T) {
	fit := RateFit{Types: []MeasuredType{{Type: "big", MeanSeconds: 30}, {Type: "fast", MeanSeconds: 10}, {Type: "slow", MeanSeconds: 60}}}
	for _, c := range []struct {
		types []NodeType
		want  map[string]float64
	}{
		{[]NodeType{{Name: "big", Slots: 1, ComputeUnits: 4}, {Name: "fast", Slots: 1, ComputeUnits: 5}}, map[string]float64{"big": 4, "fast": 12}},
		{[]NodeType{{Name: "big", Slots: 4, ComputeUnits: 4}, {Name: "fast", Slots: 1, ComputeUnits: 5}}, map[string]float64{"big": 20. / 3, "fast": 5}},
		{[]NodeType{{Name: "slow", Slots: 1}, {Name: "fast", Slots: 1, ComputeUnits: 6}}, map[string]float64{"slow": 1, "fast": 6}},
		{[]NodeType{{Name: "slow", Slots: 1}, {Name: "fast", Slots: 2}, {Name: "new", Slots: 1, ComputeUnits: 3}}, map[string]float64{"slow": 1, "fast": 12}},
		{[]NodeType{{Name: "new", Slots: 1, ComputeUnits: 3}}, map[string]float64{}},
	} {
		got := fit.OfInstances(c.types)
		if len(got) != len(c.want) {
			t.Errorf("%+v: %v, want %v", c.types, got, c.want)
		}
		for name, rate := range c.want {
			if math.Abs(got[name]-rate) > 1e-12*rate {
				t.Errorf("%+v: %v, want %v", c.types, got, c.want)
			}
		}
	}
}
