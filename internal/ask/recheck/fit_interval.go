package recheck

import (
	"math"

	"example.org/headroom/internal/core/perf"
)

// powerSpread adds to the members of a power fit its spread and the intervals of 95 % that it gives. They need three
// measurements. A fit that leaves hardly a figure certain has intervals without end, which are left out.
func powerSpread(want map[string]any, method perf.FitChoice, f *perf.PowerFit, vms, seconds []float64) {
	n := float64(len(vms))
	want["spread"], want["a_interval"], want["b_interval"] = nil, nil, nil
	if n < 3 {
		return
	}
	t, mean, apart, left := studentT(len(vms)-2), 0.0, 0.0, 0.0
	for _, x := range vms {
		mean += math.Log(x) / n
	}
	for i, x := range vms {
		e := math.Log(seconds[i] / f.A / math.Pow(x, f.B))
		left, apart = left+e*e, apart+(math.Log(x)-mean)*(math.Log(x)-mean)
	}
	deviation := math.Sqrt(left / (n - 2))
	want["spread"] = map[string]any{"deviation": figure{number(deviation), number(1e-6*deviation + 1e-12)}, "mean_log_vms": smallOr(mean, 1), "squared_logs": alikeTo(apart)}
	a, b := t*deviation*math.Sqrt(1/n+mean*mean/apart), t*deviation/math.Sqrt(apart)
	want["a_interval"], want["b_interval"] = timesIt(f.A, a), aroundIt(f.B-b, f.B+b, f.B)
	if method != perf.NLSChoice {
		return
	}
	// The inverse of the normal equations at the optimum, by parts of their lengths and the angle between them.
	var squares, along, across, shared float64
	for i, x := range vms {
		u := math.Pow(x, f.B)
		v := u * math.Log(x) * f.A
		e := seconds[i] - f.A*u
		squares, along, across, shared = squares+e*e, along+u*u, across+v*v, shared+u*v
	}
	sine := 1 - shared/along*(shared/across)
	if sine < 1e-8 { // so little differs that rounding decides
		delete(want, "a_interval")
		delete(want, "b_interval")
		return
	}
	a, b = t*math.Sqrt(squares/(n-2)/along/sine), t*math.Sqrt(squares/(n-2)/across/sine)
	want["a_interval"], want["b_interval"] = aroundIt(f.A-a, f.A+a, f.A), aroundIt(f.B-b, f.B+b, f.B)
}

// predictedBetween is the interval in which 95 of 100 executions on so many VMs end.
func predictedBetween(f *perf.PowerFit, vms float64) any {
	if f.Spread == nil || f.Points < 3 {
		return nil
	}
	from := math.Log(vms) - f.Spread.MeanLogVMs
	wide := studentT(f.Points-2) * f.Spread.Deviation * math.Sqrt(1+1/float64(f.Points)+from*from/f.Spread.SquaredLogs)
	return timesIt(f.A*math.Pow(vms, f.B), wide)
}

// timesIt is an interval around a figure's logarithm, whose ends are right as parts of themselves; nil where it has no end.
func timesIt(x, wide float64) any {
	low, high := x*math.Exp(-wide), x*math.Exp(wide)
	if math.IsInf(high, 0) || math.IsNaN(high-low) {
		return nil
	}
	part := 1e-6*wide + 1e-9
	return map[string]any{"low": figure{number(low), number(part * low)}, "high": figure{number(high), number(part * high)}}
}

// aroundIt is an interval around a figure, or nil where it has no end.
func aroundIt(low, high, around float64) any {
	if math.IsInf(high, 0) || math.IsNaN(high-low) {
		return nil
	}
	end := func(x float64) figure {
		return figure{number(x), number(1e-6*math.Abs(x-around) + 1e-9*(math.Abs(x)+math.Abs(around)))}
	}
	return map[string]any{"low": end(low), "high": end(high)}
}

// studentT is how many deviations to both sides hold 95 % of Student's distribution: the place where its closed form
// for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4) has that value.
func studentT(freedom int) float64 {
	held := func(t float64) float64 {
		angle := math.Atan(t / math.Sqrt(float64(freedom)))
		term, sum, k := 1.0, 0.0, 1
		if freedom%2 == 1 {
			term, k = math.Cos(angle), 2
		}
		for ; k < freedom+freedom%2; k += 2 {
			sum += term
			term *= float64(k) / float64(k+1) * math.Cos(angle) * math.Cos(angle)
		}
		if sum *= math.Sin(angle); freedom%2 == 1 {
			return 2 / math.Pi * (angle + sum)
		}
		return sum
	}
	low, high := 0.0, 100.0
	for range 60 {
		if middle := (low + high) / 2; held(middle) < 0.95 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
