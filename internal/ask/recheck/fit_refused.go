package recheck

import (
	"math"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/words"
)

// steep checks that the best power of measurements is beyond those that are relied on, and that the reason says its figures.
func (c *checking) steep(at string, method perf.FitChoice, s *series, said string) {
	a, b := bestPower(s, method == perf.NLSChoice)
	const off = 1e-6
	if a > perf.MinPowerA*(1+off) && a < perf.MaxPowerA*(1-off) && math.Abs(b) < perf.MaxPowerB*(1-off) {
		c.wrong(at, "says that nothing can be fitted, and %.4g times the VMs to the power %.4g can", a, b)
		return
	}
	for _, x := range []float64{a * (1 - off), a, a * (1 + off)} {
		for _, y := range []float64{b * (1 - off), b, b * (1 + off)} {
			if said == words.TooSteep(x, y) {
				return
			}
		}
	}
	c.wrong(at, "says %q, and the best power is %.4g times the VMs to the power %.4g", said, a, b)
}

// bestPower finds the power with the least squares of the logarithms, or of the times themselves. The latter is searched a
// little beyond the powers that are relied on.
func bestPower(s *series, times bool) (a, b float64) {
	var x, y []float64 // logarithms, of VMs from the least on
	least, n := math.Inf(1), float64(len(s.all))
	for _, m := range s.all {
		least = min(least, *m.VMs)
	}
	meanX, meanY := 0.0, 0.0
	for i, m := range s.all {
		x, y = append(x, math.Log(*m.VMs/least)), append(y, math.Log(*m.Seconds))
		meanX, meanY = meanX+x[i]/n, meanY+y[i]/n
	}
	if !times {
		xx, xy := 0.0, 0.0
		for i := range x {
			xx, xy = xx+(x[i]-meanX)*(x[i]-meanX), xy+(x[i]-meanX)*(y[i]-meanY)
		}
		b = xy / xx
		return math.Exp(meanY - b*(meanX+math.Log(least))), b
	}
	at := func(b float64) (a, squares float64) { // with the best factor for a power
		ty, yy, tt := 0.0, 0.0, 0.0
		for i := range x {
			p, t := math.Exp(b*x[i]), math.Exp(y[i])
			ty, yy, tt = ty+p*t, yy+p*p, tt+t*t
		}
		return ty / yy, tt - ty*ty/yy
	}
	const step = 0.005
	lowest := math.Inf(1)
	for i := -1000; i <= 1000; i++ {
		if _, squares := at(float64(i) * step); squares < lowest {
			lowest, b = squares, float64(i)*step
		}
	}
	low, high := b-step, b+step
	for range 100 {
		left, right := low+(high-low)/3, high-(high-low)/3
		_, before := at(left)
		if _, after := at(right); before < after {
			high = right
		} else {
			low = left
		}
	}
	b = (low + high) / 2
	a, _ = at(b)
	return a * math.Pow(least, -b), b
}
