package study

import (
	"math"

	"headroom/internal/core/capacity"
)

// figures holds the draws for one class: the ranges of the paper's Table 2.
type figures struct {
	profile  capacity.Profile
	slots    capacity.SlotsPerVM
	deadline float64 // seconds
	high     int64
	u        float64 // uniform on [0, 1): place of the penalty in its family's range
}

// averages is the range of average times, as shares of the longest task.
type averages struct{ lowest, highest float64 }

// usualAverages are the families' own; the paper leaves them open (E12).
var usualAverages = averages{0.3, 0.7}

// draw draws one class from the stream. The order is part of the format: a seed means the same instance for ever. It
// also draws a penalty from the paper's own range 250..2500, which no family uses.
func draw(s *stream, a averages) figures {
	var f figures
	p := &f.profile
	p.MapTasks = s.whole(70, 700)
	p.ReduceTasks = s.whole(32, 64)
	p.MapMaxSeconds = s.between(16, 120)
	p.ShuffleMaxSeconds = s.between(30, 150)
	p.ReduceMaxSeconds = s.between(15, 75)
	p.FirstShuffleMaxSeconds = s.between(10, 30)
	p.MapAvgSeconds = p.MapMaxSeconds * s.between(a.lowest, a.highest)
	p.ShuffleAvgSeconds = p.ShuffleMaxSeconds * s.between(a.lowest, a.highest)
	p.ReduceAvgSeconds = p.ReduceMaxSeconds * s.between(a.lowest, a.highest)
	p.FirstShuffleAvgSeconds = p.FirstShuffleMaxSeconds * s.between(a.lowest, a.highest)
	f.slots.Map = s.whole(1, 4)
	f.slots.Reduce = s.whole(1, 4)
	f.deadline = s.between(600, 1200)
	f.high = s.whole(10, 30)
	s.between(250, 2500)
	f.u = s.unit()
	return f
}

// vmsPerJob returns gamma (paper eq. 29-30) with the average coefficients. Within the ranges above no coefficient
// needs clamping and every deadline leaves time, so the plain formula is enough.
func (f figures) vmsPerJob() float64 {
	p := f.profile
	mapWork := float64(float64(p.MapTasks)*p.MapAvgSeconds) - p.MapMaxSeconds
	reduceWork := float64(float64(p.ReduceTasks)*(p.ShuffleAvgSeconds+p.ReduceAvgSeconds)) -
		p.ShuffleMaxSeconds - p.ReduceMaxSeconds
	fixed := (p.FirstShuffleAvgSeconds-p.ShuffleAvgSeconds)/2 + p.ShuffleMaxSeconds +
		p.FirstShuffleMaxSeconds/2 + p.MapMaxSeconds + p.ReduceMaxSeconds
	root := math.Sqrt(mapWork/float64(f.slots.Map)) + math.Sqrt(reduceWork/float64(f.slots.Reduce))
	return float64(root*root) / (f.deadline - fixed)
}
