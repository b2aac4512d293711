package report

import (
	"strconv"

	"example.org/headroom/internal/service/plans"
)

// Observations returns a row for each observation.
func Observations(items []plans.Observation) Table {
	names := []string{"id", "at", "observed_by", "vms", "slots_map", "slots_reduce", "utilization", "plan_number", "planned_vms", "plan_vms", "plan_stale", "drift_vms", "drift_ratio"}
	return tableOf(names, items, func(o plans.Observation) []Cell {
		row := []Cell{text(o.ID), Time(o.At), text(o.ObservedBy), whole(o.VMs), {"", true}, {"", true}, optional(o.Utilization), maybeWhole(o.PlanNumber), optional(o.PlannedVMs), optional(o.PlanVMs), {"", true}, optional(o.DriftVMs), optional(o.DriftRatio)}
		if o.Slots != nil {
			row[4], row[5] = whole(o.Slots.Map), whole(o.Slots.Reduce)
		}
		if o.PlanStale != nil {
			row[10] = Cell{strconv.FormatBool(*o.PlanStale), true}
		}
		return row
	})
}
