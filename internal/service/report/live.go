package report

import (
	"example.org/headroom/internal/slots/live"
)

// LiveNodes returns a row for each node.
func LiveNodes(items []live.LiveNode) Table {
	names := []string{"name", "type", "cores", "map_slots", "reduce_slots", "dedicated", "compute_units", "state", "last_heartbeat_at", "seq", "boot", "residual", "running", "created_at", "updated_at"}
	return tableOf(names, items, func(n live.LiveNode) []Cell {
		return []Cell{
			text(n.Name), text(n.Type), number(n.Cores), whole(n.Slots.Map), whole(n.Slots.Reduce), flag(n.Dedicated), number(n.ComputeUnits), text(string(n.State)),
			MaybeTime(n.LastHeartbeatAt), whole(n.Seq), text(n.Boot), number(n.Residual), whole(n.Running), Time(n.CreatedAt), Time(n.UpdatedAt),
		}
	})
}

// LiveJobs returns a row for each job.
func LiveJobs(items []live.LiveJob) Table {
	names := []string{
		"number", "name", "class", "state", "reason", "maps", "maps_waiting", "maps_running", "maps_done", "map_failures", "maps_lost",
		"reduces", "reduces_waiting", "reduces_running", "reduces_done", "reduce_failures", "reduces_lost", "submitted_at", "submitted_by", "deadline_at", "ended_at", "late",
	}
	return tableOf(names, items, func(j live.LiveJob) []Cell {
		m, r := j.Maps, j.Reduces
		return []Cell{
			whole(j.Number), text(j.Name), text(j.Class), text(string(j.State)), text(j.Reason), whole(m.Total), whole(m.Waiting), whole(m.Running), whole(m.Done), whole(m.Failures), whole(m.Lost),
			whole(r.Total), whole(r.Waiting), whole(r.Running), whole(r.Done), whole(r.Failures), whole(r.Lost), Time(j.SubmittedAt), text(j.SubmittedBy), MaybeTime(j.DeadlineAt), MaybeTime(j.EndedAt), flag(j.Late),
		}
	})
}

// LiveDecisions returns a row for each assignment.
func LiveDecisions(items []live.LiveDecision) Table {
	names := []string{
		"assignment", "at", "node", "job", "job_name", "kind", "task", "attempt", "local", "rule", "reason", "policy", "settings_version", "outcome", "cause", "ended_at", "seconds",
	}
	return tableOf(names, items, func(d live.LiveDecision) []Cell {
		return []Cell{
			whole(d.Assignment.Assignment), Time(d.At), text(d.Node), whole(d.Job), text(d.JobName), text(string(d.Kind)), whole(d.Task), whole(d.Attempt), flag(d.Local), text(d.Rule), text(d.Reason),
			text(string(d.Policy)), whole(d.Version), text(string(d.Outcome)), text(d.Cause), MaybeTime(d.EndedAt), optional(d.Seconds),
		}
	})
}
