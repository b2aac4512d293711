package study

import (
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
)

// Figures holds the draws for one class: the ranges of the paper's Table 2.
type Figures struct {
	Profile  capacity.Profile
	Slots    capacity.SlotsPerVM
	Deadline float64 // seconds
	High     int64
	u        float64 // uniform on [0, 1): place of the penalty in its family's range
	size     float64 // uniform on [0, 1): place of gamma in its family's range, where it is not the profile's
}

// Averages is the range of average times, as shares of the longest task.
type Averages struct{ Lowest, Highest float64 }

// UsualAverages are the families' own; the paper leaves them open (E12).
var UsualAverages = Averages{0.3, 0.7}

// DrawClass draws one class from the stream. The order is part of the format: a seed means the same instance for ever. The
// size stands where the paper draws a penalty from 250..2500, which no family uses.
func DrawClass(s *Stream, a Averages) Figures {
	var f Figures
	p := &f.Profile
	p.MapTasks = s.Whole(70, 700)
	p.ReduceTasks = s.Whole(32, 64)
	p.MapMaxSeconds = s.Between(16, 120)
	p.ShuffleMaxSeconds = s.Between(30, 150)
	p.ReduceMaxSeconds = s.Between(15, 75)
	p.FirstShuffleMaxSeconds = s.Between(10, 30)
	p.MapAvgSeconds = p.MapMaxSeconds * s.Between(a.Lowest, a.Highest)
	p.ShuffleAvgSeconds = p.ShuffleMaxSeconds * s.Between(a.Lowest, a.Highest)
	p.ReduceAvgSeconds = p.ReduceMaxSeconds * s.Between(a.Lowest, a.Highest)
	p.FirstShuffleAvgSeconds = p.FirstShuffleMaxSeconds * s.Between(a.Lowest, a.Highest)
	f.Slots.Map = s.Whole(1, 4)
	f.Slots.Reduce = s.Whole(1, 4)
	f.Deadline = s.Between(600, 1200)
	f.High = s.Whole(10, 30)
	f.size = s.Unit()
	f.u = s.Unit()
	return f
}

// VmsPerJob returns gamma (paper eq. 29-30) with the average coefficients. Within the ranges above no coefficient
// needs clamping and every deadline leaves time, so the plain formula is enough.
func (f Figures) VmsPerJob() float64 {
	p := f.Profile
	mapWork := float64(float64(p.MapTasks)*p.MapAvgSeconds) - p.MapMaxSeconds
	reduceWork := float64(float64(p.ReduceTasks)*(p.ShuffleAvgSeconds+p.ReduceAvgSeconds)) -
		p.ShuffleMaxSeconds - p.ReduceMaxSeconds
	fixed := (p.FirstShuffleAvgSeconds-p.ShuffleAvgSeconds)/2 + p.ShuffleMaxSeconds +
		p.FirstShuffleMaxSeconds/2 + p.MapMaxSeconds + p.ReduceMaxSeconds
	root := math.Sqrt(mapWork/float64(f.Slots.Map)) + math.Sqrt(reduceWork/float64(f.Slots.Reduce))
	return float64(root*root) / (f.Deadline - fixed)
}

func (a Averages) String() string { return fmt.Sprintf("%g..%g", a.Lowest, a.Highest) }
