package report

import (
	"example.org/headroom/internal/service/runs"
)

// Runs returns a row for each run, without its result.
func Runs(items []runs.Run) Table {
	names := []string{"id", "kind", "cluster", "state", "progress_done", "progress_total", "progress_unit", "eta_s", "attempt", "by", "created_at", "started_at", "finished_at", "updated_at", "cancelling", "result_url", "partial", "error_detail", "error_kind"}
	return tableOf(names, items, func(r runs.Run) []Cell {
		cluster, address, why, kind, eta := text(""), text(""), text(""), text(""), Cell{"", true}
		if r.Cluster != nil {
			cluster = text(*r.Cluster)
		}
		if r.ResultURL != nil {
			address = text(*r.ResultURL)
		}
		if r.Error != nil {
			why, kind = text(r.Error.Detail), text(r.Error.Kind)
		}
		if r.ETASeconds != nil {
			eta = number(*r.ETASeconds)
		}
		return []Cell{text(r.ID), text(r.Kind), cluster, text(string(r.State)), whole(r.Progress.Done), whole(r.Progress.Total), text(r.Progress.Unit), eta, whole(r.Attempt),
			text(r.By), Time(r.CreatedAt), MaybeTime(r.StartedAt), MaybeTime(r.FinishedAt), Time(r.UpdatedAt), flag(r.Cancelling), address, flag(r.Partial), why, kind}
	})
}
