package perf

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

func fittedTasks(t *testing.T, samples []TaskSample, unconstrained bool) TaskTimeFit {
	t.Helper()
	f, err := FitTaskTime(samples, unconstrained)
	if err != nil {
		t.Fatalf("%v: %v", err, samples)
	}
	return f
}

// drawTaskTime returns a sum of exponentials that falls.
func drawTaskTime(r *rand.Rand) TaskTime {
	return TaskTime{A: 10 + 200*r.Float64(), B: -1 - 10*r.Float64(), C: 20 + 50*r.Float64(), D: -0.8 * r.Float64()}
}

func drawSamples(r *rand.Rand, m TaskTime, n int, noise float64) (samples []TaskSample) {
	for range n {
		at := 0.1 + 0.9*r.Float64()
		samples = append(samples, TaskSample{at, m.Seconds(at) * math.Exp(noise*r.NormFloat64())})
	}
	return samples
}

// squaresOf returns the squares left by any sum of exponentials, by definition.
func squaresOf(samples []TaskSample, a, b, c, d float64) (s float64) {
	for _, p := range samples {
		e := p.Seconds - a*math.Exp(b*p.Residual) - c*math.Exp(d*p.Residual)
		s += e * e
	}
	return s
}

func TestTaskTimesAreFoundAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 21))
	for range 100 {
		m := drawTaskTime(r)
		samples := drawSamples(r, m, 8+r.IntN(20), 0)
		f := fittedTasks(t, samples, false)
		if f.Form != TwoExponentials || !f.Constrained {
			t.Fatalf("got %s", f.Form)
		}
		for _, s := range samples { // coefficients of near rates are uncertain, times are not
			within(t, "a measured time", f.Seconds(s.Residual), s.Seconds, 1e-6)
		}
	}
}

// No sum of falling exponentials fits better: not on a grid finer than the fit's first one, with a and c searched
// too, and not a step away in any direction.
func TestTaskTimeFitsAreTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 22))
	worst := 0.0
	for range 25 {
		samples := drawSamples(r, drawTaskTime(r), 6+r.IntN(20), 0.2)
		f := fittedTasks(t, samples, false)
		here := squaresOf(samples, f.A, f.B, f.C, f.D)
		within(t, "RMSE", f.RMSESeconds, math.Sqrt(here/float64(len(samples))), 1e-9)
		best := math.Inf(1)
		const cells = 120
		rate := func(i int) float64 { return -100 * math.Pow(float64(i)/cells, 3) }
		for i := range cells + 1 {
			for j := range i + 1 {
				best = min(best, leastOf(samples, rate(i), rate(j)))
			}
		}
		worst = max(worst, here/best-1)
		if here > best*(1+1e-9) {
			t.Errorf("%+v leaves %g, a grid finds %g", f.TaskTime, here, best)
		}
		for range 200 {
			size := math.Pow(10, -6*r.Float64())
			by := func() float64 { return size * r.NormFloat64() }
			a, c, b, d := f.A*math.Exp(by()), f.C*math.Exp(by()), min(f.B+by(), 0), min(f.D+by(), 0)
			if s := squaresOf(samples, a, b, c, d); b >= -steepest && d >= -steepest && s < here*(1-1e-9) {
				t.Fatalf("%+v leaves %g, a step away it is %g", f.TaskTime, here, s)
			}
		}
	}
	t.Logf("squares over those of the best of a fine grid: at most %+.2g", worst)
}

// leastOf returns the least squares of given rates over a, c >= 0, by descending in each alone: the squares are
// convex in them.
func leastOf(samples []TaskSample, b, d float64) float64 {
	var pp, pq, qq, py, qy float64
	for _, s := range samples {
		p, q := math.Exp(b*s.Residual), math.Exp(d*s.Residual)
		pp, pq, qq, py, qy = pp+p*p, pq+p*q, qq+q*q, py+p*s.Seconds, qy+q*s.Seconds
	}
	a, c := 0.0, 0.0
	for range 60 {
		a = max(0, (py-pq*c)/pp)
		c = max(0, (qy-pq*a)/qq)
	}
	return squaresOf(samples, a, b, c, d)
}

func TestConstrainedTaskTimesFall(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 23))
	for range 200 {
		var samples []TaskSample
		for range 1 + r.IntN(30) { // no curve at all
			samples = append(samples, TaskSample{r.Float64(), math.Exp(20*r.Float64() - 5)})
		}
		f := fittedTasks(t, samples, false)
		at := func(i int) float64 { return f.at(float64(i) / 100) }
		for i := range 101 {
			s := at(i)
			if !(s > 0) || math.IsInf(s, 0) {
				t.Fatalf("%+v: %g s at %d %%", f, s, i)
			}
			if i > 0 && s > at(i-1)*(1+1e-12) || i > 1 && at(i-2)-at(i-1) < at(i-1)-s-1e-9*at(i-2) {
				t.Fatalf("%+v grows or is not convex at %d %%", f, i)
			}
		}
		if n := f.Normed(0); !(n >= 1-1e-12) || math.IsInf(n, 0) {
			t.Fatalf("%+v: a node with nothing left runs %g times as long as a dedicated one", f, n)
		}
		if _, err := json.Marshal(f); err != nil {
			t.Fatal(err)
		}
	}
}

// Without constraints the squares do not grow. Fits that become negative or grow are refused in a sentence.
func TestUnconstrainedTaskTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 24))
	refused, cost := 0, 0.0
	const samples = 20
	for range samples {
		s := drawSamples(r, drawTaskTime(r), 12, 0.15)
		tied, loose := fittedTasks(t, s, false), fittedTasks(t, s, true)
		if loose.RMSESeconds > tied.RMSESeconds*(1+1e-6) {
			t.Errorf("free %+v, constrained %+v", loose, tied)
		}
		if loose.Constrained {
			refused++
			if !hasWarning(loose.Warnings, "constrained") || loose.TaskTime != tied.TaskTime {
				t.Errorf("a fit that fell back says nothing: %+v", loose)
			}
			continue
		}
		cost = max(cost, math.Pow(tied.RMSESeconds/loose.RMSESeconds, 2)-1)
		for i := 1; i <= 100; i++ {
			from := loose.MinResidual
			a, b := from+(1-from)*float64(i-1)/100, from+(1-from)*float64(i)/100
			if !(loose.at(b) > 0) || loose.at(b) > loose.at(a)*(1+1e-9) {
				t.Errorf("%+v grows or falls to nothing", loose)
			}
		}
	}
	if refused == 0 || refused == samples {
		t.Errorf("%d of %d refused: the test sees one side only", refused, samples)
	}
	t.Logf("%d of %d refused; constraints cost at most %.1f %% of the squares", refused, samples, 100*cost)
}

func hasWarning(all []capacity.Warning, code string) bool {
	return slices.ContainsFunc(all, func(w capacity.Warning) bool { return w.Code == code })
}

func TestFewTaskTimes(t *testing.T) {
	line := func(at ...float64) (s []TaskSample) {
		for i := 0; i < len(at); i += 2 {
			s = append(s, TaskSample{at[i], at[i+1]})
		}
		return s
	}
	for _, c := range []struct {
		name    string
		samples []TaskSample
		form    TaskTimeForm
		times   []float64 // r, seconds
		codes   string
	}{
		{"one", line(0.5, 80), ConstantTime, []float64{0.2, 80, 1, 80}, "one_residual"},
		{"one r", line(1, 80, 1, 60, 1, 100), ConstantTime, []float64{0.1, 80, 1, 80}, "one_residual"},
		{"r that are not told apart", line(0.5, 80, 0.502, 60, 0.504, 100), ConstantTime, []float64{0.5, 80}, "one_residual"},
		{"two", line(0.5, 80, 1, 40), OneExponential, []float64{0.5, 80, 1, 40, 0.75, math.Sqrt(80 * 40)}, "few_residuals"},
		{"two groups", line(0.5, 70, 0.5, 90, 1, 30, 1, 50), OneExponential, []float64{0.5, 80, 1, 40}, "few_residuals"},
		{"two the wrong way round", line(0.5, 40, 1, 80, 1, 80), ConstantTime, []float64{0.5, 200.0 / 3, 1, 200.0 / 3}, "few_residuals increasing"},
		{"two far from dedicated", line(0.2, 90, 0.5, 60), OneExponential, []float64{0.5, 60, 1, 60}, "few_residuals not_dedicated"},
		{"three", line(0.25, 160, 0.5, 80, 1, 20), OneExponential, []float64{0.25, 160, 0.5, 80, 1, 20}, "few_residuals"},
		{"three that grow", line(0.25, 10, 0.5, 20, 1, 30), ConstantTime, []float64{0.25, 20, 1, 20}, "few_residuals increasing"},
		{"five that grow", line(0.2, 10, 0.4, 20, 0.6, 30, 0.8, 40, 1, 50), ConstantTime, []float64{0.2, 30, 1, 30}, "increasing"},
		{"five alike", line(0.2, 10, 0.4, 10, 0.6, 10, 0.8, 10, 1, 10), ConstantTime, []float64{0.2, 10, 1, 10}, ""},
		{"no load at all left", line(0, 1000, 0.2, 300, 0.5, 100, 0.8, 60, 1, 50), TwoExponentials, nil, ""},
	} {
		f := fittedTasks(t, c.samples, false)
		var codes []string
		for _, w := range f.Warnings {
			codes = append(codes, w.Code)
		}
		if f.Form != c.form || strings.Join(codes, " ") != c.codes {
			t.Errorf("%s: got %s and warnings %q, want %s and %q", c.name, f.Form, codes, c.form, c.codes)
		}
		for i := 0; i+1 < len(c.times); i += 2 {
			if got := f.Seconds(c.times[i]); math.Abs(got/c.times[i+1]-1) > 0.005 && c.name != "three" || math.Abs(got/c.times[i+1]-1) > 0.1 {
				t.Errorf("%s: at %g got %g s, want %g", c.name, c.times[i], got, c.times[i+1])
			}
		}
		if (f.NRMSE == nil) != (c.name == "one" || c.name == "five alike") {
			t.Errorf("%s: NRMSE %v", c.name, f.NRMSE)
		}
	}
}

func TestWhatIsNoTaskTimeIsRefused(t *testing.T) {
	for _, c := range []struct {
		samples []TaskSample
		pointer string
	}{
		{nil, ""},
		{[]TaskSample{{0.5, 1}, {1.5, 1}}, "/1/residual"},
		{[]TaskSample{{-0.1, 1}}, "/0/residual"},
		{[]TaskSample{{math.NaN(), 1}}, "/0/residual"},
		{[]TaskSample{{0.5, 0}}, "/0/seconds"},
		{[]TaskSample{{0.5, -3}}, "/0/seconds"},
		{[]TaskSample{{0.5, math.Inf(1)}}, "/0/seconds"},
		{[]TaskSample{{0.5, 1e300}}, "/0/seconds"},
	} {
		_, err := FitTaskTime(c.samples, false)
		var input *fault.InputError
		if !errors.As(err, &input) || input.Findings[0].Pointer != c.pointer || input.Findings[0].Detail == "" {
			t.Errorf("%v: got %v, want a finding at %q", c.samples, err, c.pointer)
		}
		var times TaskTimes
		for _, s := range c.samples[max(0, len(c.samples)-1):] {
			if times.Add(s.Residual, s.Seconds) || len(times.Parts) > 0 {
				t.Errorf("%v was counted", s)
			}
		}
	}
}

// The bounded memory gives the same fit as the measurements themselves, until it forgets.
func TestTaskTimesInBoundedMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 25))
	m := drawTaskTime(r)
	var times TaskTimes
	if _, some := times.Fit(); some || times.Due(0) {
		t.Error("nothing was fitted")
	}
	var samples []TaskSample
	for range 3000 {
		at := float64(10+r.IntN(91)) / 100
		s := TaskSample{at, m.Seconds(at) * math.Exp(0.1*r.NormFloat64())}
		samples = append(samples, s)
		times.Add(s.Residual, s.Seconds)
	}
	text, err := json.Marshal(times)
	if err != nil {
		t.Fatal(err)
	}
	times = TaskTimes{}
	if err := json.Unmarshal(text, &times); err != nil {
		t.Fatal(err)
	}
	want := fittedTasks(t, samples, false)
	got, some := times.Fit()
	if !some || got.Points != want.Points || got.Form != want.Form || got.Residuals != want.Residuals {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	within(t, "RMSE", got.RMSESeconds, want.RMSESeconds, 1e-9)
	within(t, "NRMSE", *got.NRMSE, *want.NRMSE, 1e-9)
	for at := 0.1; at <= 1; at += 0.1 {
		within(t, "time", got.Seconds(at), want.Seconds(at), 1e-4)
	}

	// The job changes: after many tasks only its present times count, and the memory has not grown.
	for range 300_000 {
		at := r.Float64()
		times.Add(at, 3*m.Seconds(at)*math.Exp(0.1*r.NormFloat64()))
	}
	later, _ := times.Fit()
	for at := 0.1; at <= 1; at += 0.1 {
		within(t, "time after a change", later.Seconds(at), 3*m.Seconds(at), 0.05)
	}
	if len(times.Parts) > 101 || times.Added != 303_000 {
		t.Errorf("%d parts, %d added", len(times.Parts), times.Added)
	}
	if text, _ := json.Marshal(times); len(text) > 20_000 {
		t.Errorf("%d bytes", len(text))
	}
	for fittedAt, due := range map[int64]bool{303_000: false, 302_800: false, 302_000: true} {
		if times.Due(fittedAt) != due {
			t.Errorf("fitted at %d: due is %v", fittedAt, !due)
		}
	}
}

func TestResiduals(t *testing.T) {
	for _, c := range []struct{ cores, busy, want float64 }{{4, 0, 1}, {4, 100, 0.75}, {2, 145, 0.275}, {1, 250, 0}} {
		within(t, "residual", Residual(c.cores, c.busy), c.want, 1e-12)
	}
	m := TaskTime{A: 100, B: -3, C: 20, D: -0.1}
	a, b, c, d := m.ByUtilisation()
	for r := 0.0; r <= 1; r += 0.125 {
		within(t, "by utilisation", a*math.Exp(b*(1-r))+c*math.Exp(d*(1-r)), m.Seconds(r), 1e-12)
	}
	within(t, "normed", m.Normed(0.3), m.Seconds(0.3)/m.Seconds(1), 1e-12)
	within(t, "read", m.ReadMBPerSecond(8, 0.3)*m.Seconds(0.3), 8*m.Seconds(1), 1e-12) // the same total
}

func TestPredictedTaskTimes(t *testing.T) {
	f := fittedTasks(t, []TaskSample{{0.3, 90}, {0.8, 50}}, false)
	for at, codes := range map[float64]int{0.1: 1, 0.3: 0, 0.5: 0, 0.8: 0, 1: 1} {
		p, err := PredictTaskTime(f, at)
		if err != nil || len(p.Warnings) != codes {
			t.Errorf("at %g: %+v, %v", at, p, err)
		}
	}
	for _, at := range []float64{-1, 1.5, math.NaN()} {
		if _, err := PredictTaskTime(f, at); err == nil {
			t.Errorf("at %g: no error", at)
		}
	}
}

func BenchmarkTaskTimesFit(b *testing.B) {
	r := rand.New(rand.NewPCG(6, 26))
	m := drawTaskTime(r)
	var times TaskTimes
	for range 5000 {
		at := r.Float64()
		times.Add(at, m.Seconds(at)*math.Exp(0.2*r.NormFloat64()))
	}
	for b.Loop() {
		times.Fit()
	}
}
