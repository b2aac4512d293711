package report

import (
	"headroom/internal/core/perf"
)

// Calibration returns a row for each execution; the calibrated time is that of the recommendation.
func Calibration(c perf.Calibration) Table {
	names := []string{"execution", "submitted_at", "seconds", "map_slots", "reduce_slots", "idle_s", "lower_s", "average_s", "upper_s", "place", "calibrated_s"}
	return tableOf(names, c.Judged, func(j perf.Judged) []Cell {
		row := []Cell{text(j.ID), Time(j.At), number(j.Seconds), whole(j.MapSlots), whole(j.ReduceSlots), optional(j.IdleSeconds),
			number(j.LowerSeconds), number(j.AverageSeconds), number(j.UpperSeconds), text(string(j.Place)), {"", true}}
		if r := c.Recommends; r != nil {
			row[10] = number(r.Factor * j.PlannedSeconds(r.Bound))
		}
		return row
	})
}
