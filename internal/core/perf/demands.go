// Package perf predicts execution times. It has the bounds of the paper for a phase, for two jobs on shared slots,
// for a class that divides its share among its jobs, and for a whole execution. It computes times from profiles and
// slots; package plan decides about renting and admission.
package perf

import (
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
)

// JobDemands is the optimistic, the expected and the conservative demand of one execution, each in
// the form T = A·h/s_M + B·h/s_R + C (paper eqs. 1, 3 and 2).
//
// Lower is a bound only if slots are partitioned. If idle slots are lent it is an estimate, and its fixed part may be
// negative (E5, E7). Upper holds from the job's first slot on, with at least one map and one reduce slot per job
// (E6).
type JobDemands struct {
	Lower, Average, Upper capacity.Demand

	// Warnings name the parts of the profile for which Upper need not hold. The pointers are relative to the profile.
	Warnings []capacity.Warning
}

// FirstShuffleWarning is the code of the warning that a profile's first shuffle wave is longer than a
// typical one, so that the upper bound may be exceeded.
const FirstShuffleWarning = words.FirstShuffle

// Demands turns a valid profile into its three demands. A map-only one (no reduce tasks) gives only map work and
// overhead, whatever its reduce figures say. One of stages gives map work (see chain).
//
// The paper's upper form lets A and B become negative for tiny jobs (fewer tasks than two of the longest, E7). Such a
// phase is all fixed time here, which is never more and holds as well.
func Demands(p capacity.Profile) JobDemands {
	if p.Stages != nil {
		return chain(p)
	}
	mapWork := float64(p.MapTasks) * p.MapAvgSeconds
	d := JobDemands{
		Lower: capacity.Demand{MapWorkSeconds: mapWork, FixedSeconds: p.OverheadSeconds},
		Upper: capacity.Demand{FixedSeconds: p.OverheadSeconds},
	}
	var ramp float64
	d.Upper.MapWorkSeconds, ramp = sharedPhase(mapWork, p.MapMaxSeconds)
	d.Upper.FixedSeconds += ramp

	if p.ReduceTasks > 0 {
		// Shuffle and reduce run as one task, so that its longest is the sum of both.
		reduceWork := float64(p.ReduceTasks) * (p.ShuffleAvgSeconds + p.ReduceAvgSeconds)
		d.Lower.ReduceWorkSeconds = reduceWork
		d.Lower.FixedSeconds += p.FirstShuffleAvgSeconds - p.ShuffleAvgSeconds

		d.Upper.ReduceWorkSeconds, ramp = sharedPhase(reduceWork, p.ShuffleMaxSeconds+p.ReduceMaxSeconds)
		d.Upper.FixedSeconds += ramp + p.FirstShuffleMaxSeconds
		d.Warnings = firstShuffleWarnings(p)
	}
	d.average()
	return d
}

func (d *JobDemands) average() {
	d.Average = capacity.Demand{
		MapWorkSeconds:    (d.Lower.MapWorkSeconds + d.Upper.MapWorkSeconds) / 2,
		ReduceWorkSeconds: (d.Lower.ReduceWorkSeconds + d.Upper.ReduceWorkSeconds) / 2,
		FixedSeconds:      (d.Lower.FixedSeconds + d.Upper.FixedSeconds) / 2,
	}
}

// sharedPhase splits the upper bound of a phase with m slots per job, (W - 2λ)/m + 2λ (paper Prop. 2.5), into the
// part that shrinks with slots and the rest. A phase shorter than two of its longest tasks is all fixed time: the
// printed form would grow with slots (E7).
func sharedPhase(work, longest float64) (shrinking, fixed float64) {
	return max(0, work-2*longest), min(2*longest, work)
}

func firstShuffleWarnings(p capacity.Profile) []capacity.Warning {
	if !above(p.FirstShuffleMaxSeconds, p.ShuffleMaxSeconds) {
		return nil
	}
	return []capacity.Warning{words.LongFirstShuffle("")}
}

// Planned returns the demand that a class is planned with: the predicted one, times the factor of its promise.
func (d JobDemands) Planned(bound capacity.Bound, c *capacity.Class) capacity.Demand {
	work := d.Predicted(bound, c.Calibration)
	if p := c.PromiseOf(); p != nil {
		work = times(work, p.Factor)
	}
	return work
}

// Predicted returns the demand under a bound: under a calibrated one that of the calibration, or the average without one.
func (d JobDemands) Predicted(bound capacity.Bound, calibration *capacity.Calibration) capacity.Demand {
	if bound == capacity.CalibratedBound && calibration != nil {
		return d.Calibrated(*calibration)
	}
	return d.Of(bound)
}

// Of returns the demand under a bound: lower, upper, or else the average.
func (d JobDemands) Of(bound capacity.Bound) capacity.Demand {
	switch bound {
	case capacity.LowerBound:
		return d.Lower
	case capacity.UpperBound:
		return d.Upper
	default:
		return d.Average
	}
}

// Calibrated returns the demand of one of the bounds with its time, at any slots, multiplied by a factor.
func (d JobDemands) Calibrated(c capacity.Calibration) capacity.Demand {
	return times(d.Of(c.Bound), c.Factor)
}

// times returns the demand of executions that take factor times as long.
func times(d capacity.Demand, factor float64) capacity.Demand {
	return capacity.Demand{
		MapWorkSeconds: d.MapWorkSeconds * factor, ReduceWorkSeconds: d.ReduceWorkSeconds * factor, FixedSeconds: d.FixedSeconds * factor,
	}
}

// Time returns the execution time for demand d when the given number of jobs run at once on all these slots together:
// A·h/s_M + B·h/s_R + C. A phase without work takes no time even without slots; a phase with work and no slots takes
// for ever (+Inf).
func Time(d capacity.Demand, jobs, mapSlots, reduceSlots float64) float64 {
	return phaseTime(d.MapWorkSeconds, jobs, mapSlots) + phaseTime(d.ReduceWorkSeconds, jobs, reduceSlots) + d.FixedSeconds
}

func phaseTime(work, jobs, slots float64) float64 {
	if work == 0 || jobs == 0 {
		return 0
	}
	return work * jobs / slots
}

// above reports whether x exceeds limit by more than rounding, so that the last digit of figures computed or printed
// elsewhere does not matter.
func above(x, limit float64) bool { return x > limit*(1+capacity.PremiseSlack) }
