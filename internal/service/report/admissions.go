package report

import (
	"example.org/headroom/internal/slots/live"
)

// Leases returns a row for each running lease.
func Leases(items []live.Lease) Table {
	names := []string{"id", "class", "holder", "admitted_by", "plan_number", "ttl_s", "admitted_at", "expires_at", "job", "deadline_at", "maps", "reduces"}
	return tableOf(names, items, func(l live.Lease) []Cell {
		return []Cell{text(l.ID), text(l.Class), text(l.Holder), text(l.AdmittedBy), whole(l.PlanNumber), number(l.TTLSeconds), Time(l.AdmittedAt), MaybeTime(l.ExpiresAt),
			maybeWhole(l.Job), MaybeTime(l.DeadlineAt), whole(l.Maps), whole(l.Reduces)}
	})
}

// AdmissionsByClass returns a row for each class.
func AdmissionsByClass(items []live.ClassAdmissions) Table {
	names := []string{"class", "running", "limit", "free", "plan_number", "next_expiry"}
	return tableOf(names, items, func(c live.ClassAdmissions) []Cell {
		return []Cell{text(c.Class), whole(c.Running), whole(c.Limit), whole(c.Free), whole(c.PlanNumber), MaybeTime(c.NextExpiry)}
	})
}
