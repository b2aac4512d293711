package perf

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

var (
	phaseShape       = strict.NewShape("a question about a phase", []string{"kind", "tasks", "mean_s", "max_s", "slots"})
	twoJobsShape     = strict.NewShape("a question about two jobs", []string{"kind", "slots", "jobs"})
	pairedJobShape   = strict.NewShape("one of two jobs", []string{"tasks", "mean_s", "max_s", "share"})
	sharedPhaseShape = strict.NewShape("a question about a shared phase", []string{"kind", "tasks", "mean_s", "max_s", "slots", "share", "jobs"})
	jobShape         = strict.NewShape("a question about a job", []string{"kind", "profile", "slots", "share", "jobs"})
	poolsShape       = strict.NewShape("the slots", []string{"map"}, "reduce") // a map-only job has no reduce slots
	shareShape       = strict.NewShape("the shares", []string{"map"}, "reduce")
)

var kinds = []string{"phase", "two_jobs", "shared_phase", "job"}

// ReadBounds reads the members of a question about bounds and checks their types. Bounds checks their figures.
func ReadBounds(data []byte) (BoundsQuestion, error) {
	r := strict.NewReader(data)
	var q BoundsQuestion
	switch readKind(r) {
	case "phase":
		q.Phase = new(PhaseQuestion)
		readFigures(r, phaseShape, q.Phase)
	case "two_jobs":
		q.TwoJobs = new(TwoJobsQuestion)
		readTwoJobsQuestion(r, q.TwoJobs)
	case "shared_phase":
		q.SharedPhase = new(SharedPhaseQuestion)
		readFigures(r, sharedPhaseShape, q.SharedPhase)
	case "job":
		q.Job = new(JobQuestion)
		readJobQuestion(r, q.Job)
	default:
		readNoKind(r)
	}
	r.End()
	if err := r.Result(func(*strict.Checker) {}); err != nil {
		return BoundsQuestion{}, err
	}
	return q, nil
}

// readKind looks ahead for the member that determines the other members. Faults on the way are left to the reading
// itself.
func readKind(r *strict.Reader) (kind string) {
	ahead := r.Ahead()
	if ahead.Space() != '{' {
		return ""
	}
	ahead.Members("", func(key []byte) {
		if kind == "" && string(key) == "kind" && ahead.Space() == '"' {
			kind, _ = ahead.Text()
			return
		}
		ahead.Skip()
	})
	return kind
}

// readNoKind reports the fault of a question without a known kind.
func readNoKind(r *strict.Reader) {
	given := false
	object := r.Members("a question about bounds", func(key []byte) {
		if string(key) != "kind" {
			r.Skip()
			return
		}
		given = true
		r.Enter("kind")
		if s, ok := r.Text(); ok {
			detail, best := fault.UnknownWord(s, kinds)
			var hint *fault.Hint
			if best != "" {
				hint = &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Pointer: "/kind", Value: best}
			}
			r.Found("choice", detail, hint)
		}
		r.Leave()
	})
	if object && !given {
		r.Missing("kind", "a question about bounds")
	}
}

// readFigures reads a question of a kind that is known already.
func readFigures(r *strict.Reader, s *strict.Shape, q any) {
	r.Object(s, func(name string) { readFigure(r, name, q) })
}

func readFigure(r *strict.Reader, name string, q any) {
	if name == "kind" {
		r.Text()
	} else {
		r.Field(q, name)
	}
}

func readTwoJobsQuestion(r *strict.Reader, q *TwoJobsQuestion) {
	r.Object(twoJobsShape, func(name string) {
		if name != "jobs" {
			readFigure(r, name, q)
			return
		}
		before := len(r.Findings)
		q.Jobs = strict.List(r, "of two jobs", 0, func(r *strict.Reader, j *PairedJob) { r.Fields(pairedJobShape, j) })
		if len(r.Findings) == before && len(q.Jobs) != 2 {
			r.Found("range", fmt.Sprintf("Here are %d jobs; give exactly two.", len(q.Jobs)), nil)
		}
	})
}

func readJobQuestion(r *strict.Reader, q *JobQuestion) {
	r.Object(jobShape, func(name string) {
		switch name {
		case "profile":
			capacity.ReadProfile(r, &q.Profile)
		case "slots":
			r.Fields(poolsShape, &q.Slots)
		case "share":
			r.Fields(shareShape, &q.Share)
		default:
			readFigure(r, name, q)
		}
	})
}
