package sim

import (
	"math"
	"slices"
)

// stream is the SplitMix64 generator. Every job has streams of its own, so that its tasks take equally long under
// every policy.
type stream uint64

const golden = 0x9E3779B97F4A7C15

func (s *stream) next() uint64 {
	*s += golden
	return mix(uint64(*s))
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// unit returns a uniform number in [0, 1).
func (s *stream) unit() float64 { return float64(s.next()>>11) / (1 << 53) }

// exponential draws the time to an event that comes once in mean seconds.
func (s *stream) exponential(mean float64) float64 { return float64(-mean * math.Log1p(-s.unit())) }

// child returns the stream of a numbered child of a seed.
func child(seed uint64, number int64) stream { return stream(mix(seed + golden*uint64(number+1))) }

// durations draws the durations of a phase's tasks.
type durations struct {
	kind       TaskKind // "" when drawing from quantiles
	a, b, c, d float64
	quantiles  []float64 // or recorded seconds

	slow, slowBy float64
}

// newDurations returns the distribution for a phase's mean and longest task and its kind.
func newDurations(t Tasks, measured []float64, mean, longest float64) durations {
	d := shape(t, measured, mean, longest)
	d.slow, d.slowBy = t.Slow, t.SlowBy
	return d
}

func shape(t Tasks, measured []float64, mean, longest float64) durations {
	if t.Kind == Recorded && len(measured) > 0 {
		return durations{kind: Recorded, quantiles: measured}
	}
	if len(measured) > 0 {
		sorted := slices.Clone(measured)
		slices.Sort(sorted)
		return durations{quantiles: sorted}
	}
	if t.Kind == Exponential {
		return durations{kind: Exponential, a: mean}
	}
	if t.Kind == Constant || t.Kind == Recorded || !(longest > mean*(1+1e-9)) || mean == 0 {
		return durations{kind: Constant, a: mean}
	}
	switch t.Kind {
	case Uniform:
		half := min(mean, longest-mean)
		return durations{kind: Uniform, a: mean - half, b: 2 * half}
	case Triangular:
		// Mean = (low + mode + high)/3: symmetric as long as that reaches the longest, then from 0.
		low, high := max(0, 2*mean-longest), min(longest, 3*mean)
		mode := max(low, 3*mean-low-high)
		return durations{kind: Triangular, a: low, b: mode, c: high, d: (mode - low) / (high - low)}
	default:
		spread := t.Spread
		if spread == 0 {
			spread = defaultSpread
		}
		return lognormal(mean, longest, spread)
	}
}

// maxDeviations bounds how far below its middle a lognormal may be cut. Beyond it draws would lose digits, and the
// rest of the curve is close to a power.
const maxDeviations = 5

// lognormal returns a lognormal cut at longest, with the location that gives the wanted mean.
func lognormal(mean, longest, spread float64) durations {
	at := math.Log(longest)
	meanAt := func(location float64) float64 { // E[X | X <= longest]
		z := (at - location) / spread
		return math.Exp(location+float64(spread*spread)/2) * normal(z-spread) / normal(z)
	}
	low, high := math.Log(mean)-float64(spread*spread), at+float64(maxDeviations*spread)
	if meanAt(high) < mean {
		return durations{kind: power, a: longest, b: (longest - mean) / mean}
	}
	for range 100 {
		if middle := (low + high) / 2; meanAt(middle) < mean {
			low = middle
		} else {
			high = middle
		}
	}
	return durations{kind: Lognormal, a: low, b: spread, c: normal((at - low) / spread), d: longest}
}

// power is longest·u^b, the limit of a lognormal if the maximum is hardly above the mean.
const power TaskKind = "power"

func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// draw returns the duration of a phase's task, the number-th to start.
func (d *durations) draw(s *stream, number int) float64 {
	var x float64
	if d.kind == Recorded {
		x = d.quantiles[number%len(d.quantiles)]
	} else {
		x = d.usual(s)
	}
	if d.slow > 0 && s.unit() < d.slow {
		x *= d.slowBy
	}
	return x
}

func (d *durations) usual(s *stream) float64 {
	if d.kind == Constant {
		return d.a
	}
	u := s.unit()
	switch d.kind {
	case Uniform:
		return d.a + float64(d.b*u)
	case Triangular:
		if u < d.d {
			return d.a + math.Sqrt(u*(d.c-d.a)*(d.b-d.a))
		}
		return d.c - math.Sqrt((1-u)*(d.c-d.a)*(d.c-d.b))
	case Lognormal:
		z := math.Sqrt2 * math.Erfinv(float64(2*u*d.c)-1)
		return min(d.d, math.Exp(d.a+float64(d.b*z)))
	case Exponential:
		return float64(-d.a * math.Log1p(-u))
	case power:
		return d.a * math.Pow(u, d.b)
	default:
		at := u * float64(len(d.quantiles)-1)
		i := int(at)
		if i+1 >= len(d.quantiles) {
			return d.quantiles[i]
		}
		return d.quantiles[i] + float64((at-float64(i))*(d.quantiles[i+1]-d.quantiles[i]))
	}
}

// mean returns the mean of draws in the long run.
func (d *durations) mean(phaseMean float64) float64 {
	switch n := len(d.quantiles); {
	case n == 1:
		phaseMean = d.quantiles[0]
	case n > 1 && d.kind == Recorded:
		sum := 0.0
		for _, x := range d.quantiles {
			sum += x
		}
		phaseMean = sum / float64(n)
	case n > 1:
		sum := (d.quantiles[0] + d.quantiles[n-1]) / 2
		for _, x := range d.quantiles[1 : n-1] {
			sum += x
		}
		phaseMean = sum / float64(n-1)
	}
	return phaseMean * (1 + d.slow*(d.slowBy-1))
}
