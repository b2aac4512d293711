package capacity

import "fmt"

var (
	phaseShape       = newShape("a question about a phase", []string{"kind", "tasks", "mean_s", "max_s", "slots"})
	twoJobsShape     = newShape("a question about two jobs", []string{"kind", "slots", "jobs"})
	pairedJobShape   = newShape("one of two jobs", []string{"tasks", "mean_s", "max_s", "share"})
	sharedPhaseShape = newShape("a question about a shared phase", []string{"kind", "tasks", "mean_s", "max_s", "slots", "share", "jobs"})
	jobShape         = newShape("a question about a job", []string{"kind", "profile", "slots", "share", "jobs"})
	poolsShape       = newShape("the slots", []string{"map"}, "reduce") // a map-only job has no reduce slots
	shareShape       = newShape("the shares", []string{"map"}, "reduce")
)

var kinds = []string{"phase", "two_jobs", "shared_phase", "job"}

// ReadBounds reads a question about bounds: its members and their types. Whether the figures make
// sense is for perf to say, which knows what is done with them.
func ReadBounds(data []byte) (BoundsQuestion, error) {
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	var q BoundsQuestion
	switch r.kind() {
	case "phase":
		q.Phase = new(PhaseQuestion)
		r.phaseQuestion(q.Phase)
	case "two_jobs":
		q.TwoJobs = new(TwoJobsQuestion)
		r.twoJobsQuestion(q.TwoJobs)
	case "shared_phase":
		q.SharedPhase = new(SharedPhaseQuestion)
		r.sharedPhaseQuestion(q.SharedPhase)
	case "job":
		q.Job = new(JobQuestion)
		r.jobQuestion(q.Job)
	default:
		r.noKind()
	}
	r.end()
	if err := r.result(func(*checker) {}); err != nil {
		return BoundsQuestion{}, err
	}
	return q, nil
}

// kind looks ahead for the member that says which other members there are; whatever is wrong on the
// way is left to the reading itself.
func (r *reader) kind() (kind string) {
	ahead := reader{data: r.data, at: r.at}
	if ahead.space() != '{' {
		return ""
	}
	ahead.members("", func(key []byte) {
		if kind == "" && string(key) == "kind" && ahead.space() == '"' {
			kind, _ = ahead.text()
			return
		}
		ahead.skip()
	})
	return kind
}

// noKind says what is wrong with a question whose kind is not known.
func (r *reader) noKind() {
	given := false
	object := r.members("a question about bounds", func(key []byte) {
		if string(key) != "kind" {
			r.skip()
			return
		}
		given = true
		r.enter("kind")
		if s, ok := r.text(); ok {
			detail, best := unknownWord(s, kinds)
			var hint *Hint
			if best != "" {
				hint = &Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Pointer: "/kind", Value: best}
			}
			r.found("choice", detail, hint)
		}
		r.leave()
	})
	if object && !given {
		r.missing("kind", "a question about bounds")
	}
}

func (r *reader) phaseQuestion(q *PhaseQuestion) {
	r.object(phaseShape, func(name string) {
		switch name {
		case "kind":
			r.text()
		case "tasks":
			r.whole(&q.Tasks)
		case "mean_s":
			r.float(&q.MeanSeconds)
		case "max_s":
			r.float(&q.MaxSeconds)
		case "slots":
			r.whole(&q.Slots)
		}
	})
}

func (r *reader) twoJobsQuestion(q *TwoJobsQuestion) {
	r.object(twoJobsShape, func(name string) {
		switch name {
		case "kind":
			r.text()
		case "slots":
			r.whole(&q.Slots)
		case "jobs":
			before := len(r.findings)
			q.Jobs = list(r, "of two jobs", 0, r.pairedJob)
			if len(r.findings) == before && len(q.Jobs) != 2 {
				r.found("range", fmt.Sprintf("Here are %d jobs; give exactly two.", len(q.Jobs)), nil)
			}
		}
	})
}

func (r *reader) pairedJob(j *PairedJob) {
	r.object(pairedJobShape, func(name string) {
		switch name {
		case "tasks":
			r.whole(&j.Tasks)
		case "mean_s":
			r.float(&j.MeanSeconds)
		case "max_s":
			r.float(&j.MaxSeconds)
		case "share":
			r.float(&j.Share)
		}
	})
}

func (r *reader) sharedPhaseQuestion(q *SharedPhaseQuestion) {
	r.object(sharedPhaseShape, func(name string) {
		switch name {
		case "kind":
			r.text()
		case "tasks":
			r.whole(&q.Tasks)
		case "mean_s":
			r.float(&q.MeanSeconds)
		case "max_s":
			r.float(&q.MaxSeconds)
		case "slots":
			r.whole(&q.Slots)
		case "share":
			r.float(&q.Share)
		case "jobs":
			r.whole(&q.Jobs)
		}
	})
}

func (r *reader) jobQuestion(q *JobQuestion) {
	r.object(jobShape, func(name string) {
		switch name {
		case "kind":
			r.text()
		case "profile":
			r.profile(&q.Profile)
		case "slots":
			r.object(poolsShape, func(name string) {
				if name == "map" {
					r.whole(&q.Slots.Map)
				} else {
					r.whole(&q.Slots.Reduce)
				}
			})
		case "share":
			r.object(shareShape, func(name string) {
				if name == "map" {
					r.float(&q.Share.Map)
				} else {
					r.float(&q.Share.Reduce)
				}
			})
		case "jobs":
			r.whole(&q.Jobs)
		}
	})
}
