package report

import (
	"example.org/headroom/internal/data/history"
)

// Executions returns a row for each execution.
func Executions(items []history.StoredExecution) Table {
	names := []string{"id", "job", "execution", "user", "queue", "submitted_at", "finished_at", "seconds", "outcome", "form", "map_slots", "reduce_slots", "refused", "imported_at", "imported_by", "run_id"}
	return tableOf(names, items, func(e history.StoredExecution) []Cell {
		run := ""
		if e.RunID != nil {
			run = *e.RunID
		}
		return []Cell{text(e.ID), text(e.Job), text(e.Execution), text(e.User), text(e.Queue), MaybeTime(e.SubmittedAt), MaybeTime(e.FinishedAt), optional(e.Seconds),
			text(e.Outcome), text(e.Form), maybeWhole(e.MapSlots), maybeWhole(e.ReduceSlots), text(history.Brief(e.Refused)), Time(e.ImportedAt), text(e.ImportedBy), text(run)}
	})
}

// RecordedJobs returns a row for each job.
func RecordedJobs(items []history.RecordedJob) Table {
	names := []string{"job", "executions", "usable", "refused", "first_at", "last_at", "median_seconds"}
	return tableOf(names, items, func(j history.RecordedJob) []Cell {
		return []Cell{text(j.Job), whole(j.Executions), whole(j.Usable), whole(j.Refused), MaybeTime(j.FirstAt), MaybeTime(j.LastAt), optional(j.Seconds)}
	})
}
