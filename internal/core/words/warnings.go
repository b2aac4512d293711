package words

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
)

// The codes of warnings of plans and classes.
const (
	FirstShuffle      = "first_shuffle_longer"
	NoPromise         = "no_promise"
	PromiseElsewhere  = "promise_out_of_range"
	NotCalibrated     = "not_calibrated"
	SpotInterruptions = "spot_interruptions"
	ForecastCounts    = "forecast_counts"
	EnginesDisagree   = "engines_disagree"
	SolverUnavailable = "solver_unavailable"
)

// Uncalibrated warns that a class is planned with its average bound because nothing calibrates it.
func Uncalibrated(class, pointer string) capacity.Warning {
	return capacity.Warning{Code: NotCalibrated, Pointer: pointer, Detail: fmt.Sprintf(
		"Class %q has no calibration and is planned with the average bound; give it one, or choose another bound for all classes.", class)}
}

// Forecast warns that another number of jobs changes little, because a forecast says how many there are in this hour.
func Forecast(pointer string) capacity.Warning {
	return capacity.Warning{Code: ForecastCounts, Pointer: pointer, Detail: "A forecast counts for jobs of this class now: it says how many there are, " +
		"in place of jobs.max, and no more than these are promised by jobs.min. Both count whole in hours without one."}
}

// Unpromised warns that a class has a target and is planned with its bound alone.
func Unpromised(class string, target float64, pointer string) capacity.Warning {
	return capacity.Warning{Code: NoPromise, Pointer: pointer, Detail: fmt.Sprintf(
		"Class %q has the target %s and no promise, so that it is planned at its bound alone and its target may be missed; find the promises (headroom whatif target).",
		class, fmt.Sprint(target))}
}

// The reasons why a promise may not hold.
const (
	OtherTarget   = "is for a lower target or confidence"
	OtherDeadline = "is for another deadline"
	OtherTimes    = "is for other predicted times: the profile, its calibration or the bound has changed"
	OtherLending  = "counts on idle slots of other classes, and VMs are dedicated here"
)

// OtherJobs says for how many jobs a promise was found.
func OtherJobs(p *capacity.Promise, jobs float64) string {
	if p.JobsFrom == p.JobsUntil {
		return fmt.Sprintf("is for %s at once, and here are up to %s", Counted(Number(p.JobsUntil), "job"), Number(jobs))
	}
	return fmt.Sprintf("is for %s to %s at once, and here are up to %s", Number(p.JobsFrom), Counted(Number(p.JobsUntil), "job"), Number(jobs))
}

// OutOfRange warns that a class is planned with a promise that was found for something else.
func OutOfRange(class, why, pointer string) capacity.Warning {
	return capacity.Warning{Code: PromiseElsewhere, Pointer: pointer, Detail: fmt.Sprintf(
		"The promise of class %q %s, so that its target may be missed; find the promises again (headroom whatif target).", class, why)}
}

// LongFirstShuffle warns of a profile whose upper bound may not hold.
func LongFirstShuffle(profile string) capacity.Warning {
	return capacity.Warning{
		Code:    FirstShuffle,
		Pointer: profile + "/first_shuffle_max_s",
		Detail: "The longest shuffle of the first wave exceeds the longest typical shuffle, so executions may take " +
			"longer than the upper bound; raise shuffle_max_s to first_shuffle_max_s to plan with a bound that holds.",
	}
}

// Interrupted warns that spot VMs can be taken away.
func Interrupted(spot float64) capacity.Warning {
	they, them := "They", "them"
	if spot == 1 {
		they, them = "It", "it"
	}
	return capacity.Warning{Code: SpotInterruptions, Pointer: "/supply", Detail: "The plan rents " + Counted(Number(spot), "spot VM") + ". " + they +
		" can be taken away at any time, and the plan does not reckon with that: keep " + them + " to jobs that can be started again."}
}

// Disagreed warns that our own proof has been refuted.
func Disagreed() capacity.Warning {
	return capacity.Warning{Code: EnginesDisagree,
		Detail: "The second engine found a cheaper plan than the one the core method had proved; the cheaper one is given, unproved. Please report this problem."}
}

// Unanswered warns that the second engine gave no answer; why may be empty.
func Unanswered(why string) capacity.Warning {
	if why != "" {
		why = ": " + why
	}
	return capacity.Warning{Code: SolverUnavailable, Detail: "The second engine gave no answer, so that this plan rests on the core method alone" + why + "."}
}
