package perf

import (
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// confidence is the level of the intervals of fits.
const confidence = 0.95

// flatSpread is the part of the largest time below which a spread is rounding error: times that are all alike have
// nothing to explain.
const flatSpread = 1e-24

// FitPower fits t = a·n^b to measurements. If that is impossible it returns an *InputError whose pointers begin at
// the list. The fit's warnings name doubts about it.
func FitPower(points []Measurement, method FitMethod) (PowerFit, error) {
	if findings := unfit(points); len(findings) > 0 {
		return PowerFit{}, &fault.InputError{Findings: findings}
	}
	if method == "" {
		method = FitLog
	}
	l := logLine(points)
	f := PowerFit{Method: method, PowerModel: PowerModel{A: math.Exp(l.atZero), B: l.slope}, Points: len(points)}
	if method == FitNLS {
		f.PowerModel = leastSquares(points)
	}
	if !(math.Abs(f.B) < MaxPowerB) || !(f.A >= MinPowerA && f.A <= MaxPowerA) {
		return PowerFit{}, &fault.InputError{Findings: []fault.Finding{{Code: "steep", Detail: words.TooSteep(f.A, f.B)}}}
	}
	quality(&f, points, l)
	return f, nil
}

// unfit lists the faults of measurements.
func unfit(points []Measurement) (findings []fault.Finding) {
	refuse := func(i int, member, code, detail string) {
		if len(findings) < fault.MaxFindings {
			findings = append(findings, fault.Finding{Pointer: fmt.Sprintf("/%d/%s", i, member), Code: code, Detail: detail})
		}
	}
	sizes := map[float64]bool{}
	for i, p := range points {
		switch {
		case math.IsNaN(p.VMs) || math.IsInf(p.VMs, 0):
			refuse(i, "vms", "not_finite", "The number of VMs is not finite.")
		case p.VMs < 1 || p.VMs > capacity.MaxVMs:
			refuse(i, "vms", "range", fmt.Sprintf("The job was measured on %g VMs; it must be from 1 to %d.", p.VMs, capacity.MaxVMs))
		}
		switch {
		case math.IsNaN(p.Seconds) || math.IsInf(p.Seconds, 0):
			refuse(i, "seconds", "not_finite", "The time is not finite.")
		case !(p.Seconds > 0 && p.Seconds <= capacity.MaxSeconds):
			refuse(i, "seconds", "range", fmt.Sprintf("The job is said to have taken %g seconds; it must be more than 0 and at most %g.", p.Seconds, capacity.MaxSeconds))
		}
		sizes[p.VMs] = true
	}
	if len(findings) > 0 {
		return findings
	}
	switch {
	case len(points) == 0:
		return []fault.Finding{{Code: "too_few", Detail: "There is no measurement; give at least two, on different numbers of VMs."}}
	case len(points) == 1:
		return []fault.Finding{{Code: "too_few", Detail: words.OneMeasurement}}
	case len(sizes) == 1:
		return []fault.Finding{{Code: "one_size", Detail: words.OneSize(points[0].VMs)}}
	}
	return nil
}

// line is the regression of ln t on ln n.
type line struct {
	atZero, slope float64
	mean          float64 // of ln n
	sxx           float64
	total         float64 // squares of ln t about their mean
}

func logLine(points []Measurement) (l line) {
	var x, y money.Sum
	for _, p := range points {
		x.Add(math.Log(p.VMs))
		y.Add(math.Log(p.Seconds))
	}
	n := float64(len(points))
	mx, my := x.Value()/n, y.Value()/n
	var sxx, sxy, syy money.Sum
	largest := 0.0
	for _, p := range points {
		dx, dy := math.Log(p.VMs)-mx, math.Log(p.Seconds)-my
		sxx.Add(dx * dx)
		sxy.Add(dx * dy)
		syy.Add(dy * dy)
		largest = max(largest, math.Abs(math.Log(p.Seconds)))
	}
	l.mean, l.sxx = mx, sxx.Value()
	l.slope = sxy.Value() / l.sxx
	l.atZero = my - l.slope*mx
	l.total = syy.Value()
	if l.total <= flatSpread*max(1, largest*largest)*n {
		l.total = 0
	}
	return l
}

// leastSquares uses variable projection: for every b the best a is known in closed form, so the search has one number
// and cannot diverge. A grid finds the valley, the slope's change of sign its bottom.
func leastSquares(points []Measurement) PowerModel {
	const cells = 2000
	const step = 2 * MaxPowerB / float64(cells)
	scale := points[0].VMs // powers of n/scale stay small
	for _, p := range points {
		scale = min(scale, p.VMs)
	}
	best := func(b float64) (a, squares, slope float64) {
		var above, below money.Sum
		for _, p := range points {
			power := math.Pow(p.VMs/scale, b)
			above.Add(p.Seconds * power)
			below.Add(power * power)
		}
		a = above.Value() / below.Value()
		var s, d money.Sum
		for _, p := range points {
			power := a * math.Pow(p.VMs/scale, b)
			e := p.Seconds - power
			s.Add(e * e)
			d.Add(-2 * e * power * math.Log(p.VMs/scale))
		}
		return a, s.Value(), d.Value()
	}
	at, lowest := 0.0, math.Inf(1)
	for i := range cells + 1 {
		b := -MaxPowerB + float64(i)*step
		if _, s, _ := best(b); s < lowest {
			at, lowest = b, s
		}
	}
	low, high := at-step, at+step
	for range 80 {
		middle := low + (high-low)/2
		if _, _, slope := best(middle); slope < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	b := low + (high-low)/2
	a, _, _ := best(b)
	return PowerModel{A: a * math.Pow(scale, -b), B: b}
}

// quality computes the errors of a fit on its measurements, and warns of doubts.
func quality(f *PowerFit, points []Measurement, l line) {
	f.Warnings = []capacity.Warning{}
	f.MinVMs, f.MaxVMs = math.Inf(1), 0
	m := float64(len(points))
	var seconds, logs, left, relative money.Sum
	for _, p := range points {
		f.MinVMs, f.MaxVMs = min(f.MinVMs, p.VMs), max(f.MaxVMs, p.VMs)
		seconds.Add(p.Seconds)
		e := p.Seconds - Power(f.PowerModel, p.VMs)
		left.Add(e * e)
		relative.Add(math.Abs(e) / p.Seconds)
		f.WorstErrorShare = max(f.WorstErrorShare, math.Abs(e)/p.Seconds)
		d := math.Log(p.Seconds) - math.Log(f.A) - f.B*math.Log(p.VMs)
		logs.Add(d * d)
	}
	mean := seconds.Value() / m
	var total money.Sum
	for _, p := range points {
		total.Add((p.Seconds - mean) * (p.Seconds - mean))
	}
	f.R2Log, f.R2 = 1, 1
	if l.total > 0 {
		f.R2Log = 1 - logs.Value()/l.total
		f.R2 = 1 - left.Value()/total.Value()
	}
	f.RMSESeconds, f.MeanErrorShare = math.Sqrt(left.Value()/m), relative.Value()/m

	if len(points) >= 3 {
		s := math.Sqrt(logs.Value() / (m - 2)) // about this fit, which for least squares is not the line
		f.Spread = &PowerSpread{Deviation: s, MeanLogVMs: l.mean, SquaredLogs: l.sxx}
		t := quantile(m - 2)
		if f.Method == FitNLS {
			a, b := firstOrder(f.PowerModel, points, left.Value()/(m-2))
			f.AInterval = &Interval{Low: f.A - t*a, High: f.A + t*a}
			f.BInterval = &Interval{Low: f.B - t*b, High: f.B + t*b}
		} else {
			a, b := s*math.Sqrt(1/m+l.mean*l.mean/l.sxx), s/math.Sqrt(l.sxx)
			f.AInterval = &Interval{Low: math.Exp(l.atZero - t*a), High: math.Exp(l.atZero + t*a)}
			f.BInterval = &Interval{Low: f.B - t*b, High: f.B + t*b}
		}
		for _, i := range []**Interval{&f.AInterval, &f.BInterval} {
			if math.IsInf((*i).High, 0) || math.IsNaN((*i).High) || math.IsNaN((*i).Low) {
				*i = nil // so wide that it says nothing
			}
		}
	}
	f.Warnings = append(f.Warnings, doubts(f)...)
}

func doubts(f *PowerFit) (w []capacity.Warning) {
	if f.B > 0 {
		w = append(w, capacity.Warning{Code: words.IncreasingWarning, Detail: words.LongerOnMore(f.B)})
	}
	if f.B < -1 {
		w = append(w, capacity.Warning{Code: words.SuperLinearWarning, Detail: words.MoreThanHalved(f.B)})
	}
	if f.Points < 3 {
		w = append(w, capacity.Warning{Code: words.NoIntervalWarning, Detail: words.NoInterval})
	}
	return w
}

// firstOrder returns the deviations of a and b of a least-squares fit, from its derivatives at the optimum.
func firstOrder(m PowerModel, points []Measurement, variance float64) (a, b float64) {
	var aa, ab, bb money.Sum
	for _, p := range points {
		da := math.Pow(p.VMs, m.B)
		db := m.A * da * math.Log(p.VMs)
		aa.Add(da * da)
		ab.Add(da * db)
		bb.Add(db * db)
	}
	determinant := aa.Value()*bb.Value() - ab.Value()*ab.Value()
	return math.Sqrt(variance * bb.Value() / determinant), math.Sqrt(variance * aa.Value() / determinant)
}

// quantile returns Student's t: the number of deviations to each side that hold the confidence.
func quantile(freedom float64) float64 {
	return StudentQuantile(freedom, (1+confidence)/2)
}

// Power returns the model's time.
func Power(m PowerModel, vms float64) float64 { return m.A * math.Pow(vms, m.B) }

// PredictPower predicts the time of the next execution: the median, and an interval if the measurements give a
// spread.
func PredictPower(f PowerFit, vms float64) (PowerPrediction, error) {
	if !(vms >= 1 && vms <= capacity.MaxVMs) {
		return PowerPrediction{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/vms", Code: "range",
			Detail: fmt.Sprintf("A job cannot run on %g VMs; give a number from 1 to %d.", vms, capacity.MaxVMs)}}}
	}
	p := PowerPrediction{VMs: vms, Seconds: Power(f.PowerModel, vms), Warnings: []capacity.Warning{}}
	if s := f.Spread; s != nil {
		from := math.Log(vms) - s.MeanLogVMs
		factor := math.Exp(quantile(float64(f.Points-2)) * s.Deviation * math.Sqrt(1+1/float64(f.Points)+from*from/s.SquaredLogs))
		if i := (Interval{Low: p.Seconds / factor, High: p.Seconds * factor}); !math.IsInf(i.High, 0) {
			p.Interval = &i
		}
	}
	if w := Extrapolated(f, vms); w != nil {
		p.Warnings = append(p.Warnings, *w)
	}
	return p, nil
}

// Extrapolated returns a warning of a prediction outside the measured range, or nil inside it.
func Extrapolated(f PowerFit, vms float64) *capacity.Warning {
	if vms >= f.MinVMs && vms <= f.MaxVMs {
		return nil
	}
	return &capacity.Warning{Code: words.ExtrapolatedWarning, Detail: words.ExtrapolatedTo(vms, f.MinVMs, f.MaxVMs)}
}
