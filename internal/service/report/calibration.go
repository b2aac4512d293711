package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"example.org/headroom/internal/core/perf"
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

// CalibrationText writes for people how well bounds fit executions, and with which factors they hold.
func CalibrationText(w io.Writer, c perf.Calibration) error {
	var b strings.Builder
	if c.Fit.Executions > 0 {
		_ = calibrationFits(c).Text(&b)
		b.WriteByte('\n')
		_ = calibrationFactors(c).Text(&b)
		b.WriteByte('\n')
	}
	for _, f := range c.Facts {
		b.WriteString(visible(f.Claim, 0) + "\n")
	}
	for _, warning := range c.Warnings {
		b.WriteString("Warning: " + visible(warning.Detail, 0) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tenths(share float64) Cell { return Cell{strconv.FormatFloat(100*share, 'f', 1, 64) + " %", true} }

func signed(share float64) Cell {
	if math.Abs(share) < 0.0005 {
		share = 0
	}
	return Cell{fmt.Sprintf("%+.1f %%", 100*share), true}
}

// calibrationFits has a row for each band, and one for all executions.
func calibrationFits(c perf.Calibration) Table {
	t := Table{Columns: []string{"Slots", "Executions", "Below", "Within", "Above", "To average (median)", "(mean)", "Worst miss"}}
	row := func(slots string, f perf.Fit) {
		worst := "none"
		if f.Worst != nil {
			worst = f.Worst.ID + ": " + signed(f.Worst.Off).Text
		}
		t.Rows = append(t.Rows, []Cell{text(slots), whole(f.Executions), tenths(f.Below), tenths(f.Within), tenths(f.Above),
			signed(f.MedianBias), signed(f.MeanBias), text(worst)})
	}
	for _, b := range c.Bands {
		slots := fmt.Sprint(b.FromSlots)
		if b.ToSlots > b.FromSlots {
			slots += fmt.Sprintf(" to %d", b.ToSlots)
		}
		row(slots, b.Fit)
	}
	if len(c.Bands) > 1 {
		row("all", c.Fit)
	}
	return t
}

func calibrationFactors(c perf.Calibration) Table {
	names := []string{"Bound", "Factor", "Calibrated (s, mean)", "Holds", "Factor without waiting", ""}
	return tableOf(names, c.Factors, func(f perf.Factor) []Cell {
		mark := ""
		if c.Recommends != nil && f.Bound == c.Recommends.Bound {
			mark = "recommended"
		}
		return []Cell{text(string(f.Bound)), number(f.Factor), {strconv.FormatFloat(f.MeanSeconds, 'f', 1, 64), true}, tenths(f.Holds), optional(f.Running), text(mark)}
	})
}
