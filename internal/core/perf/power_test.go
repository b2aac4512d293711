package perf

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

func measured(pairs ...float64) (points []Measurement) {
	for i := 0; i < len(pairs); i += 2 {
		points = append(points, Measurement{VMs: pairs[i], Seconds: pairs[i+1]})
	}
	return points
}

func fitted(t *testing.T, points []Measurement, method FitMethod) PowerFit {
	t.Helper()
	f, err := FitPower(points, method)
	if err != nil {
		t.Fatalf("%v: %v", err, points)
	}
	return f
}

func within(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*max(1e-300, math.Abs(want))) {
		t.Errorf("%s: got %.15g, want %.15g", what, got, want)
	}
}

// drawPoints draws measurements about a power.
func drawPoints(r *rand.Rand, noise float64) ([]Measurement, PowerModel) {
	m := PowerModel{A: math.Exp(3 + 6*r.Float64()), B: -1.2*r.Float64() - 0.01}
	var points []Measurement
	for range 3 + r.IntN(10) {
		n := float64(1 + r.IntN(60))
		points = append(points, Measurement{VMs: n, Seconds: Power(m, n) * math.Exp(noise*r.NormFloat64())})
	}
	points = append(points, Measurement{VMs: 70, Seconds: Power(m, 70)})
	return points, m
}

func TestPowersAreFoundAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		points, m := drawPoints(r, 0)
		for _, method := range []FitMethod{FitLog, FitNLS} {
			f := fitted(t, points, method)
			within(t, string(method)+" a", f.A, m.A, 1e-9)
			within(t, string(method)+" b", f.B, m.B, 1e-9)
			within(t, "R²", f.R2, 1, 1e-9)
			if f.RMSESeconds > 1e-9*m.A || f.WorstErrorShare > 1e-9 {
				t.Errorf("an exact fit is off by %g s", f.RMSESeconds)
			}
		}
	}
}

// The line equals that of another library, and no step in any direction improves the curve.
func TestFitsAreTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		points, _ := drawPoints(r, 0.3)
		var x, y []float64
		for _, p := range points {
			x, y = append(x, math.Log(p.VMs)), append(y, math.Log(p.Seconds))
		}
		a, b := stat.LinearRegression(x, y, nil, false)
		f := fitted(t, points, FitLog)
		within(t, "a", f.A, math.Exp(a), 1e-9)
		within(t, "b", f.B, b, 1e-9)
		within(t, "R² of logarithms", f.R2Log, stat.RSquared(x, y, nil, a, b), 1e-9)

		squares := func(a, b float64) (s float64) {
			for _, p := range points {
				e := p.Seconds - a*math.Pow(p.VMs, b)
				s += e * e
			}
			return s
		}
		f = fitted(t, points, FitNLS)
		here := squares(f.A, f.B)
		within(t, "RMSE", f.RMSESeconds, math.Sqrt(here/float64(len(points))), 1e-12)
		for size := 1e-5; size < 2; size *= 3 {
			for k := range 8 {
				sin, cos := math.Sincos(float64(k) * math.Pi / 4)
				if s := squares(f.A*math.Exp(size*cos), f.B+size*sin); s < here*(1-1e-12) {
					t.Fatalf("%g · n^%g leaves %g, a step away it is %g", f.A, f.B, here, s)
				}
			}
		}
	}
}

// Of many samples about a known power, 95 in 100 intervals hold it, and hold the next execution.
func TestIntervalsHoldWhatTheyShould(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const samples = 4000
	m := PowerModel{A: 900, B: -0.7}
	var a, b, next int
	for range samples {
		var points []Measurement
		for _, n := range []float64{2, 4, 8, 8, 16} {
			points = append(points, Measurement{VMs: n, Seconds: Power(m, n) * math.Exp(0.1*r.NormFloat64())})
		}
		f := fitted(t, points, FitLog)
		p, err := PredictPower(f, 12)
		if err != nil {
			t.Fatal(err)
		}
		holds := func(i *Interval, x float64) int {
			if i != nil && i.Low <= x && x <= i.High {
				return 1
			}
			return 0
		}
		a += holds(f.AInterval, m.A)
		b += holds(f.BInterval, m.B)
		next += holds(p.Interval, Power(m, 12)*math.Exp(0.1*r.NormFloat64()))
	}
	for what, n := range map[string]int{"a": a, "b": b, "next execution": next} {
		if share := float64(n) / samples; math.Abs(share-0.95) > 4*math.Sqrt(0.95*0.05/samples) {
			t.Errorf("%s: %.2f %% of the intervals hold it, want 95 %%", what, 100*share)
		}
	}
}

func TestDoubtsAboutFits(t *testing.T) {
	for _, c := range []struct {
		name   string
		points []Measurement
		codes  string
	}{
		{"two points", measured(2, 100, 4, 60), "no_interval"},
		{"longer on more VMs", measured(2, 100, 4, 120, 8, 150), "increasing"},
		{"more than linear", measured(2, 100, 4, 30, 8, 10), "super_linear"},
		{"the same on all", measured(2, 100, 4, 100, 8, 100), ""},
		{"in order", measured(2, 100, 4, 60, 8, 35), ""},
	} {
		var codes []string
		f := fitted(t, c.points, FitLog)
		for _, w := range f.Warnings {
			codes = append(codes, w.Code)
		}
		if got := strings.Join(codes, " "); got != c.codes {
			t.Errorf("%s: got warnings %q, want %q", c.name, got, c.codes)
		}
		for _, x := range []float64{f.A, f.B, f.R2, f.R2Log, f.RMSESeconds, f.MeanErrorShare, f.WorstErrorShare} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
	}
	f := fitted(t, measured(2, 100, 4, 60, 8, 35), "")
	for vms, want := range map[float64]bool{1: true, 2: false, 5: false, 8: false, 9: true} {
		p, err := PredictPower(f, vms)
		if err != nil || (len(p.Warnings) == 1 && p.Warnings[0].Code == "extrapolated") != want {
			t.Errorf("on %g VMs: %v, %v", vms, p.Warnings, err)
		}
	}
}

func TestWhatCannotBeFitted(t *testing.T) {
	for _, c := range []struct {
		name   string
		points []Measurement
		code   string
		at     string
	}{
		{"nothing", nil, "too_few", ""},
		{"one point", measured(2, 100), "too_few", ""},
		{"one size", measured(2, 100, 2, 110, 2, 90), "one_size", ""},
		{"no VM", measured(2, 100, 0.5, 110), "range", "/1/vms"},
		{"negative VMs", measured(-2, 100, 5, 110), "range", "/0/vms"},
		{"no time", measured(2, 100, 4, 0), "range", "/1/seconds"},
		{"negative time", measured(2, -1, 4, 5), "range", "/0/seconds"},
		{"no number", measured(2, math.NaN(), 4, 5), "not_finite", "/0/seconds"},
		{"infinite", measured(math.Inf(1), 3, 4, 5), "not_finite", "/0/vms"},
		{"a cliff", measured(1000, 1, 1001, 1e6), "steep", ""},
	} {
		_, err := FitPower(c.points, FitLog)
		var wrong *fault.InputError
		if !errors.As(err, &wrong) || len(wrong.Findings) == 0 {
			t.Errorf("%s: got error %v", c.name, err)
			continue
		}
		if f := wrong.Findings[0]; f.Code != c.code || f.Pointer != c.at || !strings.HasSuffix(f.Detail, ".") {
			t.Errorf("%s: got %+v, want %s at %q", c.name, f, c.code, c.at)
		}
	}
	many := slices.Repeat(measured(2, -1), 1000)
	var wrong *fault.InputError
	if _, err := FitPower(many, ""); !errors.As(err, &wrong) || len(wrong.Findings) > fault.MaxFindings {
		t.Errorf("got %v", err)
	}
}

func TestJobsAreClassified(t *testing.T) {
	for _, c := range []struct {
		usage Usage
		role  JobRole
		warns int
	}{
		{Usage{CPUPercent: 60, IOMBPerS: 100}, PlainRole, 0}, // neither is above
		{Usage{CPUPercent: 60.1, IOMBPerS: 100}, GuestRole, 0},
		{Usage{CPUPercent: 60, IOMBPerS: 100.1, ProfiledAtVM: 6}, HostRole, 0},
		{Usage{CPUPercent: 90, IOMBPerS: 300}, PlainRole, 0}, // both
		{Usage{CPUPercent: 90, ProfiledAtVM: 3}, GuestRole, 1},
	} {
		got := Classify(c.usage, 60, 100)
		if got.Role != c.role || len(got.Warnings) != c.warns {
			t.Errorf("%+v: got %+v, want %s", c.usage, got, c.role)
		}
	}
}

// A plain sum loses small numbers beside large ones; this one does not.
func TestSumsLoseNothing(t *testing.T) {
	var s money.Sum
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		s.Add(x)
	}
	if s.Value() != 2 {
		t.Errorf("got %g, want 2", s.Value())
	}
}
