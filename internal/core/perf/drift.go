package perf

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
)

// Basis holds the facts about the executions behind a calibration in use.
type Basis struct {
	Bound      capacity.Bound `json:"bound"`
	Factor     float64        `json:"factor"`
	Coverage   float64        `json:"coverage"`
	Executions int64          `json:"executions"`
	Exceeded   int64          `json:"exceeded"` // executions above the calibrated time
	// MedianRatio is the median of their times as a part of the bound; Faster counts the shorter ones.
	MedianRatio float64   `json:"median_ratio"`
	Faster      int64     `json:"faster"`
	Until       time.Time `json:"until"` // submission of the last one
}

// Basis returns the facts to remember when the recommendation, or another factor that somebody prefers, is taken into
// use.
func (c *Calibration) Basis(bound capacity.Bound, factor float64) (Basis, error) {
	if len(c.Judged) == 0 {
		return Basis{}, fmt.Errorf("there is no execution to calibrate with")
	}
	b := slices.Index(planBounds[:], bound)
	basis := Basis{Bound: bound, Factor: factor, Coverage: c.Coverage, Executions: int64(len(c.Judged)), Until: *c.Until}
	var ratios []float64
	for _, j := range c.Judged {
		ratios = append(ratios, j.ratio(b))
	}
	slices.Sort(ratios)
	basis.MedianRatio = Median(ratios)
	for _, r := range ratios {
		if above(r, factor) {
			basis.Exceeded++
		}
		if above(basis.MedianRatio, r) {
			basis.Faster++
		}
	}
	return basis, nil
}

const (
	// raiseAt is the evidence at which drift is raised. Evidence starts at 0 and, as long as nothing changes, its
	// expectation grows by one per execution. So each of the two watches reaches this within 1,000 executions with a
	// probability of at most 1 in 200, however often one looks (Doob's inequality).
	raiseAt = 200_000
	// lowerAfter is the number of consecutive executions that must fit again before drift is withdrawn.
	lowerAfter = 50
	// fasterBy is the part by which the median must fall below the calibration's to be reported.
	fasterBy = 0.1
)

// Drifts compares later executions with the calibration in use. It depends on the executions alone, not on their
// order or on the number of calls. Executions not later than the calibration's do not count. Of more than
// MaxCalibrated the latest count.
func Drifts(d JobDemands, overheadSeconds float64, executions []Measured, basis Basis) Drift {
	bound := slices.Index(planBounds[:], basis.Bound)
	var later []Judged
	for _, m := range executions {
		if !m.At.After(basis.Until) {
			continue
		}
		if j, err := Judge(d, overheadSeconds, m); err == nil {
			later = append(later, j)
		}
	}
	slices.SortFunc(later, func(a, b Judged) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Seconds, b.Seconds))
	})
	later = later[max(0, len(later)-MaxCalibrated):]

	exceeds := func(j Judged) bool { return above(j.ratio(bound), basis.Factor) }
	below := func(j Judged) bool { return above(basis.MedianRatio, j.ratio(bound)) }
	slower := newWatch(basis.Exceeded, basis.Executions, 1-basis.Coverage, 0.1, 0.25, 0.5, 0.8)
	faster := newWatch(basis.Faster, basis.Executions, 0.5, 0.7, 0.85, 0.97)
	state, since := Unchanged, 0
	for i, j := range later {
		slower.see(i, exceeds(j))
		faster.see(i, below(j))
		switch {
		case state != Unchanged:
			recent := later[max(since, i+1-lowerAfter) : i+1]
			if len(recent) == lowerAfter && basis.fits(recent, state, exceeds, bound) {
				state = Unchanged
				slower.forget()
				faster.forget()
			}
		case slower.evidence() >= raiseAt:
			state, since = Slower, slower.since()
		case faster.evidence() >= raiseAt:
			if at := faster.since(); medianRatio(later[at:i+1], bound) <= (1-fasterBy)*basis.MedianRatio {
				state, since = Faster, at
			}
		}
	}
	return basis.drift(later, state, since, exceeds, bound)
}

// fits reports whether recent executions again agree with the calibration.
func (b Basis) fits(recent []Judged, state DriftState, exceeds func(Judged) bool, bound int) bool {
	if state == Faster {
		return medianRatio(recent, bound) > (1-fasterBy)*b.MedianRatio
	}
	return float64(count(recent, exceeds)) <= (1-b.Coverage)*float64(len(recent))
}

func (b Basis) drift(later []Judged, state DriftState, since int, exceeds func(Judged) bool, bound int) Drift {
	changed := later[since:]
	if state == Unchanged {
		changed = later
	}
	n, k := len(changed), count(changed, exceeds)
	d := Drift{State: state, Executions: int64(n), Exceeded: int64(k), Expected: (1 - b.Coverage) * float64(n)}
	ratio := 0.0
	if state != Unchanged {
		d.Since = &changed[0].At
		ratio = medianRatio(changed, bound) / b.MedianRatio
	}
	d.say(ratio)
	return d
}

func count(js []Judged, is func(Judged) bool) (n int) {
	for _, j := range js {
		if is(j) {
			n++
		}
	}
	return n
}

func medianRatio(js []Judged, bound int) float64 {
	ratios := make([]float64, len(js))
	for i, j := range js {
		ratios[i] = j.ratio(bound)
	}
	slices.Sort(ratios)
	return Median(ratios)
}

// watch gathers evidence that an event happens more often than among a calibration's executions. It is Shiryaev and
// Roberts's sum over every moment at which a change may have begun. Each term says how much better a higher
// probability explains the later events than no change does.
//
// The probability without a change is exact even if the calibration had few executions. If all came in a random
// order, an order with k of n events is followed by another event with a probability of at most (k+1)/(n+1), and that
// execution then counts too. Two calibrations of few executions differ by mere chance in the events they allow; that
// is no drift.
type watch struct {
	happened, seen float64    // among the calibration's executions, then among all
	first          [2]float64 // the same before the first later execution
	higher         []float64  // probabilities after a change
	sums           []float64  // evidence for each
	best           []float64  // the largest term of the sum, and its moment
	starts         []int
}

// newWatch returns a watch after happened of n executions had the event; without executions the probability is known.
func newWatch(happened, n int64, chance float64, higher ...float64) *watch {
	w := &watch{happened: float64(happened + 1), seen: float64(n + 1), higher: higher}
	if n == 0 {
		const known = 1e12
		w.happened, w.seen = chance*known, known
	}
	w.first = [2]float64{w.happened, w.seen}
	w.forget()
	return w
}

// forget starts again.
func (w *watch) forget() {
	w.happened, w.seen = w.first[0], w.first[1]
	w.sums, w.best, w.starts = make([]float64, len(w.higher)), make([]float64, len(w.higher)), make([]int, len(w.higher))
}

func (w *watch) see(i int, happens bool) {
	chance := w.happened / w.seen
	w.seen++
	if happens {
		w.happened++
	}
	for a, higher := range w.higher {
		likelier := 1.0
		switch {
		case higher <= chance: // no longer higher
		case happens:
			likelier = higher / chance
		default:
			likelier = (1 - higher) / (1 - chance)
		}
		w.sums[a] = (1 + w.sums[a]) * likelier
		if w.best[a] <= 1 {
			w.best[a], w.starts[a] = 1, i
		}
		w.best[a] *= likelier
		// More than raises drift only overflows.
		w.sums[a], w.best[a] = min(w.sums[a], 1e100), min(w.best[a], 1e100)
	}
}

func (w *watch) evidence() (mean float64) {
	for _, s := range w.sums {
		mean += s / float64(len(w.sums))
	}
	return mean
}

// since returns the start of the change, by the alternative that explains it best.
func (w *watch) since() int {
	best := 0
	for a := range w.best {
		if w.best[a] > w.best[best] {
			best = a
		}
	}
	return w.starts[best]
}
