package perf

import (
	"fmt"
	"math"
	"strings"

	"example.org/headroom/internal/core/capacity"
)

// Answer is the result of Bounds: a PhaseAnswer, TwoJobsAnswer, SharedPhaseAnswer or JobAnswer. All its numbers are
// finite.
type Answer interface{ answer() }

// Span is an earliest and a latest completion, in seconds.
type Span struct {
	LowerSeconds float64 `json:"lower_s"`
	UpperSeconds float64 `json:"upper_s"`
}

// PhaseAnswer bounds the makespan of one phase alone on its slots (paper Prop. 2.1). Both ends hold for
// every order in which a freed slot takes the next task.
type PhaseAnswer struct {
	Span
}

// TwoJobsAnswer bounds the completion of each of two jobs that start together and lend each other idle
// slots (paper Props. 2.2 and 2.3, E4).
type TwoJobsAnswer struct {
	Jobs             []Span  `json:"jobs"`
	LastLowerSeconds float64 `json:"last_lower_s"` // both jobs cannot have ended before this
}

// SharedPhaseAnswer bounds one phase of a class that divides its share among its concurrent jobs (paper Props. 2.4
// and 2.5). The lower end holds if slots are partitioned and is an estimate if idle slots are lent (E5). The upper
// end counts from the job's first slot. It needs at least one slot per job, and a job that keeps one running until it
// has its share (E6).
//
// The upper end from submission holds if no more of the class's jobs are active than the question says, and a freed
// slot goes to the oldest job below its whole share. One longest task after submission every slot has been handed out
// anew. This job and all older ones then have their shares, and keep them. If tasks of other classes may hold these
// slots, add the time by which their longest exceeds this class's.
type SharedPhaseAnswer struct {
	Span
	UpperFromSubmissionSeconds float64            `json:"upper_from_submission_s"`
	SlotsPerJob                float64            `json:"slots_per_job"`
	PremiseOK                  bool               `json:"premise_ok"`
	Warnings                   []capacity.Warning `json:"warnings"`
}

// JobAnswer bounds a whole execution (paper eqs. 1 to 3): optimistic, expected, conservative.
type JobAnswer struct {
	Coefficients   Coefficients       `json:"coefficients"`
	LowerSeconds   float64            `json:"lower_s"` // at least the overhead
	AverageSeconds float64            `json:"average_s"`
	UpperSeconds   float64            `json:"upper_s"`
	PremiseOK      bool               `json:"premise_ok"`
	Warnings       []capacity.Warning `json:"warnings"`
}

// Coefficients holds A, B and C of each of the three forms (see JobDemands).
type Coefficients struct {
	Lower   [3]float64 `json:"lower"`
	Average [3]float64 `json:"average"`
	Upper   [3]float64 `json:"upper"`
}

func (PhaseAnswer) answer()       {}
func (TwoJobsAnswer) answer()     {}
func (SharedPhaseAnswer) answer() {}
func (JobAnswer) answer()         {}

// Bounds answers a question, or returns an error with all its mistakes (see Validate).
func Bounds(q BoundsQuestion) (Answer, error) {
	if err := Validate(q); err != nil {
		return nil, err
	}
	switch {
	case q.Phase != nil:
		return phase(*q.Phase), nil
	case q.TwoJobs != nil:
		return twoJobs(*q.TwoJobs), nil
	case q.SharedPhase != nil:
		return sharedPhaseAnswer(*q.SharedPhase), nil
	default:
		return job(*q.Job), nil
	}
}

// phase computes paper Prop. 2.1, with the lower end raised to the longest task.
func phase(q PhaseQuestion) PhaseAnswer {
	work, slots := float64(q.Tasks)*q.MeanSeconds, float64(q.Slots)
	lower := max(work/slots, q.MaxSeconds)
	upper := max(0, work-q.MaxSeconds)/slots + q.MaxSeconds
	return PhaseAnswer{Span{lower, max(lower, upper)}} // equal but for rounding on one slot
}

// twoJobs computes paper Props. 2.2 and 2.3. The paper's case split is the smaller of two bounds, each valid by
// itself: on the job's own share, and behind all work of both on all slots. Only whole slots of a share can be relied
// on. The first finisher's lower bound as printed does not hold (E4).
func twoJobs(q TwoJobsQuestion) TwoJobsAnswer {
	slots := float64(q.Slots)
	work := func(j PairedJob) float64 { return float64(j.Tasks) * j.MeanSeconds }
	total := work(q.Jobs[0]) + work(q.Jobs[1])

	a := TwoJobsAnswer{LastLowerSeconds: total / slots}
	for _, j := range q.Jobs {
		lower := max(work(j)/slots, j.MaxSeconds)
		upper := max(0, total-j.MaxSeconds)/slots + j.MaxSeconds
		if !above(1, j.Share) {
			upper = min(upper, max(0, work(j)-j.MaxSeconds)/wholeSlots(j.Share)+j.MaxSeconds)
		}
		a.Jobs = append(a.Jobs, Span{lower, max(lower, upper)})
		a.LastLowerSeconds = max(a.LastLowerSeconds, lower)
	}
	return a
}

// sharedPhaseAnswer computes paper Props. 2.4 and 2.5, with the lower end raised to the longest task and the upper
// end clamped (E7). It adds the bound that counts from submission (E6).
func sharedPhaseAnswer(q SharedPhaseQuestion) SharedPhaseAnswer {
	work, perJob := float64(q.Tasks)*q.MeanSeconds, slotsPerJob(q.Slots, q.Share, q.Jobs)
	whole := wholeSlots(perJob)
	shrinking, fixed := sharedPhase(work, q.MaxSeconds)
	a := SharedPhaseAnswer{
		Span:                       Span{max(work/perJob, q.MaxSeconds), shrinking/perJob + fixed},
		UpperFromSubmissionSeconds: max(0, work-q.MaxSeconds)/whole + 2*q.MaxSeconds,
		SlotsPerJob:                perJob,
		PremiseOK:                  !above(1, perJob),
		Warnings:                   []capacity.Warning{},
	}
	if !a.PremiseOK {
		a.Warnings = append(a.Warnings, tooFewSlots("", q.Slots, q.Share, q.Jobs))
	} else if even := shrinking/whole + fixed; above(even, a.UpperSeconds) {
		a.Warnings = append(a.Warnings, unevenSlots(even))
	}
	return a
}

// job computes paper eqs. 1 to 3 with the coefficients of Demands.
func job(q JobQuestion) JobAnswer {
	d := Demands(q.Profile)
	mapPerJob := slotsPerJob(q.Slots.Map, q.Share.Map, q.Jobs)
	reducePerJob := slotsPerJob(q.Slots.Reduce, q.Share.Reduce, q.Jobs)
	a := JobAnswer{
		Coefficients: Coefficients{triple(d.Lower), triple(d.Average), triple(d.Upper)},
		// The lower form subtracts a typical shuffle from the part divided by slots. So with very many slots it falls
		// below the part that no slots can shorten (E7).
		LowerSeconds:   max(Time(d.Lower, 1, mapPerJob, reducePerJob), q.Profile.OverheadSeconds),
		AverageSeconds: Time(d.Average, 1, mapPerJob, reducePerJob),
		UpperSeconds:   Time(d.Upper, 1, mapPerJob, reducePerJob),
		Warnings:       []capacity.Warning{},
	}
	if above(1, mapPerJob) {
		a.Warnings = append(a.Warnings, tooFewSlots("map", q.Slots.Map, q.Share.Map, q.Jobs))
	}
	if q.Profile.ReduceTasks > 0 && above(1, reducePerJob) {
		a.Warnings = append(a.Warnings, tooFewSlots("reduce", q.Slots.Reduce, q.Share.Reduce, q.Jobs))
	}
	a.PremiseOK = len(a.Warnings) == 0
	if even := Time(d.Upper, 1, wholeSlots(mapPerJob), wholeSlots(reducePerJob)); a.PremiseOK && above(even, a.UpperSeconds) {
		a.Warnings = append(a.Warnings, unevenSlots(even))
	}
	for _, w := range d.Warnings {
		w.Pointer = "/profile" + w.Pointer
		a.Warnings = append(a.Warnings, w)
	}
	return a
}

func triple(d capacity.Demand) [3]float64 {
	return [3]float64{d.MapWorkSeconds, d.ReduceWorkSeconds, d.FixedSeconds}
}

// slotsPerJob returns m of the paper: the part of a phase's slots for each of the class's concurrent jobs.
func slotsPerJob(slots int64, share float64, jobs int64) float64 {
	return float64(slots) * share / float64(jobs)
}

// wholeSlots returns the number of slots a job can rely on, because a scheduler hands out whole ones. Below one slot,
// where a warning says that nothing can be relied on, it returns the share itself.
func wholeSlots(perJob float64) float64 {
	if above(1, perJob) {
		return perJob
	}
	return max(1, math.Floor(perJob*(1+capacity.PremiseSlack)))
}

const (
	// TooFewSlotsWarning is the code of the warning that the class's jobs get less than one slot each,
	// so that the upper bound does not hold.
	TooFewSlotsWarning = "less_than_one_slot_per_job"
	// UnevenSlotsWarning is the code of the warning that slots cannot be divided evenly among the
	// class's jobs, so that one left with the smaller part may exceed the upper bound.
	UnevenSlotsWarning = "slots_per_job_not_whole"
)

func unevenSlots(upper float64) capacity.Warning {
	return capacity.Warning{Code: UnevenSlotsWarning, Detail: fmt.Sprintf(
		"The slots per job are not whole, and the upper bound assumes that every job gets its fraction over time. "+
			"A job that is always left with the smaller whole number may take up to %.6g s.", upper)}
}

// tooFewSlots proposes values to raise so that each job gets a slot. pool is map, reduce or, if there is only one,
// empty.
func tooFewSlots(pool string, slots int64, share float64, jobs int64) capacity.Warning {
	pointer, noun := "/slots", "slots"
	if pool != "" {
		pointer, noun = "/slots/"+pool, pool+" slots"
	}
	var cures []string
	needed := int64(math.Ceil(float64(jobs) / share))
	if !above(1, slotsPerJob(needed-1, share, jobs)) { // 7/0.7 is a rounding above 10
		needed--
	}
	if needed <= maxSlots {
		cures = append(cures, fmt.Sprintf("raise the %s to %d", noun, needed))
	}
	if jobs <= slots {
		enough := math.Ceil(float64(jobs)/float64(slots)*1e4) / 1e4 // printed in full, it is still enough
		cures = append(cures, fmt.Sprintf("raise the share to %g", enough))
	}
	if highest := math.Floor(float64(slots) * share * (1 + capacity.PremiseSlack)); highest >= 1 {
		cures = append(cures, fmt.Sprintf("run at most %.0f jobs at once", highest))
	}
	if len(cures) == 0 {
		cures = append(cures, "raise both the "+noun+" and the share")
	}
	return capacity.Warning{
		Code:    TooFewSlotsWarning,
		Pointer: pointer,
		Detail: fmt.Sprintf("Each of the %d concurrent jobs gets %.4g %s. The upper bound holds only from one slot per job on: %s.",
			jobs, slotsPerJob(slots, share, jobs), noun, strings.Join(cures, ", or ")),
	}
}
