package perf

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/words"
)

const (
	// steepest is the largest rate of an exponential: over the hundredth of a node that separates residuals, a time
	// falls to a third.
	steepest = 100
	// dependent is the relative rest of one exponential beside another below which they count as one.
	dependent = 1e-10
	// finest is the number of parts that are fitted one by one; more are joined, which changes less than the
	// uncertainty of r.
	finest = 200

	starts         = 8
	polishSteps    = 400
	roughlyTo      = 1e-3 // enough to find the best start
	polishedTo     = 1e-10
	gridRates      = 20
	gentlestOnGrid = 0.05
	steepestOnGrid = 30
)

// exponentials holds weighted points, to fit sums of two exponentials of r to. For given rates b and d the best a and
// c are known in closed form (variable projection). So the search has two numbers and cannot diverge.
type exponentials struct {
	r, y, w []float64 // r counts from the smallest, y is relative to the largest
	from    float64
	scale   float64
	p, q    []float64 // of the present rates
}

func newExponentials(parts []TaskPart, from, scale float64) *exponentials {
	if len(parts) > finest {
		parts = joined(parts)
	}
	e := &exponentials{from: from, scale: scale}
	e.p, e.q = make([]float64, len(parts)), make([]float64, len(parts))
	for _, p := range parts {
		e.r, e.y, e.w = append(e.r, p.Residual-from), append(e.y, p.Seconds/scale), append(e.w, p.Count)
	}
	return e
}

// joined returns the parts joined by half hundredths of r.
func joined(parts []TaskPart) (all []TaskPart) {
	at := -1.0
	for _, p := range parts {
		if cell := math.Round(finest * p.Residual); cell != at {
			at = cell
			all = append(all, p)
			continue
		}
		last := &all[len(all)-1]
		last.Count += p.Count
		last.Residual += (p.Residual - last.Residual) * p.Count / last.Count
		last.Seconds += (p.Seconds - last.Seconds) * p.Count / last.Count
	}
	return all
}

// amounts holds the best a and c for given rates, and the remaining squares.
type amounts struct{ a, c, squares float64 }

// project finds the best amounts; unless free, a and c may not be negative. With two numbers that means both, or the
// better one alone.
func (e *exponentials) project(b, d float64, free bool) amounts {
	e.powers(b, e.p)
	e.powers(d, e.q)
	return e.combine(e.p, e.q, free)
}

// powers computes the exponential of a rate at each point.
func (e *exponentials) powers(b float64, into []float64) {
	for i, r := range e.r {
		into[i] = math.Exp(b * r)
	}
}

// combine is project with the powers of both rates given.
func (e *exponentials) combine(ofB, ofD []float64, free bool) amounts {
	var pp, pq, qq, py, qy float64
	for i, y := range e.y {
		p, q, w := ofB[i], ofD[i], e.w[i]
		pp += w * p * p
		pq += w * p * q
		qq += w * q * q
		py += w * p * y
		qy += w * q * y
	}
	left := func(a, c float64) amounts {
		s := 0.0
		for i, y := range e.y {
			off := y - a*ofB[i] - c*ofD[i]
			s += e.w[i] * off * off
		}
		return amounts{a, c, s}
	}
	if det := pp*qq - pq*pq; det > dependent*pp*qq {
		a, c := (py*qq-qy*pq)/det, (qy*pp-py*pq)/det
		if free || a >= 0 && c >= 0 {
			return left(a, c)
		}
	}
	if py*py*qq >= qy*qy*pp {
		return left(py/pp, 0)
	}
	return left(0, qy/qq)
}

// fit returns the sum in its normal form.
func (e *exponentials) fit(b, d float64, m amounts) TaskTime {
	a, c := m.a*e.scale*math.Exp(-b*e.from), m.c*e.scale*math.Exp(-d*e.from)
	if a == 0 || c != 0 && math.Abs(d) > math.Abs(b) { // the steeper one first: the order means nothing
		a, b, c, d = c, d, a, b
	}
	if b == 0 {
		a, c = a+c, 0
	}
	if c == 0 {
		d = 0
	}
	return TaskTime{A: a, B: b, C: c, D: d}
}

func (e *exponentials) constant() TaskTime { return e.fit(0, 0, e.project(0, 0, false)) }

// one returns the best single exponential that does not grow: a grid finds the valley, sections its bottom.
func (e *exponentials) one() TaskTime {
	squares := func(b float64) float64 { return e.project(b, b, false).squares }
	const cells = 200
	rate := func(i int) float64 {
		if i == 0 {
			return 0
		}
		return -0.01 * math.Pow(steepest/0.01, float64(i-1)/(cells-1))
	}
	best, lowest := 0, math.Inf(1)
	for i := range cells + 1 {
		if s := squares(rate(i)); s < lowest {
			best, lowest = i, s
		}
	}
	low, high := rate(min(best+1, cells)), rate(max(best-1, 0))
	const golden = 0.6180339887498949
	x, y := high-golden*(high-low), low+golden*(high-low)
	sx, sy := squares(x), squares(y)
	for range 100 {
		if sx < sy {
			high, y, sy = y, x, sx
			x = high - golden*(high-low)
			sx = squares(x)
		} else {
			low, x, sx = x, y, sy
			y = low + golden*(high-low)
			sy = squares(y)
		}
	}
	b := low + (high-low)/2
	if squares(b) >= lowest { // at an end, or without any change
		b = rate(best)
	}
	return e.fit(b, b, e.project(b, b, false))
}

// two returns the best sum of two exponentials that is positive and grows nowhere.
func (e *exponentials) two() TaskTime {
	rates := []float64{0}
	for i := range gridRates {
		rates = append(rates, -gridRate(i))
	}
	b, d := e.search(rates, -steepest, 0, false)
	return e.fit(b, d, e.project(b, d, false))
}

func gridRate(i int) float64 {
	return gentlestOnGrid * math.Pow(steepestOnGrid/gentlestOnGrid, float64(i)/(gridRates-1))
}

// free returns the best sum of two exponentials of any signs, and its fault: "" if it is positive and grows nowhere
// from the smallest r to 1.
func (e *exponentials) free() (TaskTime, string) {
	rates := []float64{0}
	for i := range gridRates {
		rates = append(rates, -gridRate(i), gridRate(i))
	}
	b, d := e.search(rates, -steepest, steepest, true)
	f := e.fit(b, d, e.project(b, d, true))
	const grid = 100
	before := math.Inf(1)
	for i := range grid + 1 {
		r := e.from + (1-e.from)*float64(i)/grid
		switch s := f.at(r); {
		case !(s > 0):
			return f, words.FallsToNothing
		case s > before*(1+1e-9):
			return f, words.GrowsWithMore
		default:
			before = s
		}
	}
	return f, ""
}

// search finds the rates with the least squares: the best pairs of a grid are polished roughly, and the best of those
// to the end.
func (e *exponentials) search(rates []float64, low, high float64, free bool) (b, d float64) {
	type pair struct{ b, d, squares float64 }
	var pairs []pair
	powers := make([][]float64, len(rates))
	for i, b := range rates {
		powers[i] = make([]float64, len(e.r))
		e.powers(b, powers[i])
		for j, d := range rates[:i+1] {
			pairs = append(pairs, pair{b, d, e.combine(powers[i], powers[j], free).squares})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.squares, b.squares) })
	squares := func(b, d float64) float64 { return e.project(b, d, free).squares }
	best := pairs[0]
	for _, p := range pairs[:starts] {
		if b, d, s := polish(p.b, p.d, low, high, roughlyTo, squares); s < best.squares {
			best = pair{b, d, s}
		}
	}
	if b, d, s := polish(best.b, best.d, low, high, polishedTo, squares); s < best.squares {
		return b, d
	}
	return best.b, best.d
}

// polish descends from a start by a simplex of three corners (Nelder and Mead), within low and high, until the
// corners are within to of each other.
func polish(b, d, low, high, to float64, of func(b, d float64) float64) (float64, float64, float64) {
	type corner struct{ b, d, value float64 }
	at := func(b, d float64) corner {
		b, d = min(max(b, low), high), min(max(d, low), high)
		return corner{b, d, of(b, d)}
	}
	step := func(x float64) float64 {
		if by := max(gentlestOnGrid, math.Abs(x)/4); x-by >= low {
			return -by
		}
		return max(gentlestOnGrid, math.Abs(x)/4)
	}
	c := [3]corner{at(b, d), at(b+step(b), d), at(b, d+step(d))}
	for range polishSteps {
		slices.SortStableFunc(c[:], func(x, y corner) int { return cmp.Compare(x.value, y.value) })
		if max(math.Abs(c[1].b-c[0].b), math.Abs(c[2].b-c[0].b), math.Abs(c[1].d-c[0].d), math.Abs(c[2].d-c[0].d)) <= to {
			break
		}
		mb, md := (c[0].b+c[1].b)/2, (c[0].d+c[1].d)/2
		towards := func(times float64) corner { return at(mb+times*(c[2].b-mb), md+times*(c[2].d-md)) }
		reflected := towards(-1)
		switch {
		case reflected.value < c[0].value:
			if further := towards(-2); further.value < reflected.value {
				reflected = further
			}
			c[2] = reflected
		case reflected.value < c[1].value:
			c[2] = reflected
		default:
			inside := towards(0.5)
			if reflected.value < c[2].value {
				inside = towards(-0.5)
			}
			if inside.value < min(c[2].value, reflected.value) {
				c[2] = inside
				break
			}
			for i := range c[1:] {
				c[1+i] = at(c[0].b+(c[1+i].b-c[0].b)/2, c[0].d+(c[1+i].d-c[0].d)/2)
			}
		}
	}
	slices.SortStableFunc(c[:], func(x, y corner) int { return cmp.Compare(x.value, y.value) })
	return c[0].b, c[0].d, c[0].value
}
