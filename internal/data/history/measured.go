package history

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/perf"
)

// MeasuredTasks describes the durations of the executions' tasks in a form for drawing similar tasks, and returns the
// number of executions. Of chains only those with the given number of stages count. A phase without any is left out.
func MeasuredTasks(records []Record, stages int) (m perf.MeasuredTasks, executions int64) {
	var maps, first, shuffles, reduces []Durations
	byStage := make([][]Durations, stages)
	for _, r := range records {
		switch {
		case stages == 0 && r.Sample != nil:
			s := r.Sample
			maps, first, shuffles, reduces = append(maps, s.Map), append(first, s.First), append(shuffles, s.Shuffle), append(reduces, s.Reduce)
		case stages > 0 && r.Chain != nil && len(r.Chain.Phases) == stages:
			for i, p := range r.Chain.Phases {
				byStage[i] = append(byStage[i], p.Task)
			}
		default:
			continue
		}
		executions++
	}
	m.MapSeconds, m.FirstShuffleSeconds, m.ShuffleSeconds, m.ReduceSeconds = drawable(maps), drawable(first), drawable(shuffles), drawable(reduces)
	for _, all := range byStage {
		m.StageSeconds = append(m.StageSeconds, drawable(all))
	}
	return m, executions
}

// drawnFrom is the number of quantiles that represent the tasks of a phase.
const drawnFrom = 101

// drawable returns the tasks of several executions' phases as ascending quantiles; draws lie between neighbours. Each
// is the mean of the tasks nearest to it, so that draws keep the tasks' mean.
func drawable(all []Durations) []float64 {
	const segments, parts = QuantileCount - 1, 5 // of an execution's tasks, and of each segment
	type piece struct{ seconds, weight float64 }
	var pieces []piece
	var weight, work float64
	for _, d := range all {
		if d.Count == 0 || len(d.Quantiles) != QuantileCount {
			continue
		}
		weight, work = weight+float64(d.Count), work+float64(d.Mean*float64(d.Count))
		q, rest := d.Quantiles, d.Mean*segments
		for i := range segments {
			low, wide := q[i], q[i+1]-q[i]
			// Tasks lie evenly between two quantiles, but for the longest ones. Those get the rest of the mean, as
			// (wide · a part to the power of b - 1), whose mean is wide / b.
			b := 2.0
			if i == segments-1 {
				b = math.Inf(1)
				if rest > low {
					b = max(1, wide/(rest-low))
				}
			}
			rest -= low + wide/2
			for k := range parts {
				mean := 0.0
				if !math.IsInf(b, 1) {
					mean = (math.Pow(float64(k+1)/parts, b) - math.Pow(float64(k)/parts, b)) * parts / b
				}
				pieces = append(pieces, piece{low + float64(wide*mean), float64(d.Count) / segments / parts})
			}
		}
	}
	if len(pieces) == 0 {
		return nil
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		switch {
		case a.seconds < b.seconds:
			return -1
		case a.seconds > b.seconds:
			return 1
		default:
			return 0
		}
	})
	seconds := make([]float64, drawnFrom)
	at, left, sum := 0, pieces[0].weight, 0.0
	for i := range seconds {
		cell := weight / (drawnFrom - 1)
		if i == 0 || i == drawnFrom-1 {
			cell /= 2
		}
		taken := 0.0
		for want := cell; want > 0; {
			if left <= 0 {
				if at == len(pieces)-1 {
					break // a rounding error
				}
				at++
				left = pieces[at].weight
			}
			some := min(want, left)
			taken, want, left = taken+float64(some*pieces[at].seconds), want-some, left-some
		}
		seconds[i] = taken / cell
		sum += taken
	}
	scale := 1.0
	if sum > 0 {
		scale = work / sum // correction for the few quantiles
	}
	for i := range seconds {
		seconds[i] = math.Round(seconds[i]*scale*1e6) / 1e6
		if i > 0 {
			seconds[i] = max(seconds[i], seconds[i-1])
		}
	}
	return seconds
}
