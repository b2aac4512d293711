package report

import (
	"fmt"
	"io"
	"slices"

	"example.org/headroom/internal/ask/trial"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/slots/sim"
)

// Simulation returns a row for each class, with all digits, or the rows of the compared policies.
func Simulation(a trial.Answer) Table {
	if a.Compared != nil {
		return compared(a.Compared)
	}
	return simulatedClasses(a)
}

func simulatedClasses(a trial.Answer) Table {
	columns := []string{"class", "vm_type", "jobs", "map_slots", "reduce_slots", "submitted", "executions", "unfinished",
		"deadline_s", "missed", "met", "met_half_width", "mean_s", "mean_half_width_s", "p50_s", "p90_s", "p95_s", "p99_s", "max_s", "wait_mean_s",
		"lower_s", "average_s", "upper_s", "calibrated_s", "below_lower", "lower_to_average", "average_to_upper", "above_upper", "within_calibrated",
		"map_slots_held", "reduce_slots_held"}
	none := Cell{"", true}
	count := func(n int64) Cell { return number(float64(n)) }
	return tableOf(columns, a.Classes, func(c trial.Class) []Cell {
		row := []Cell{text(c.Name), text(c.VMType), count(c.Jobs), number(c.Slots.Map), number(c.Slots.Reduce), count(c.Submitted), count(c.Executions), count(c.Unfinished)}
		if d := c.Deadline; d != nil {
			row = append(row, number(d.Seconds), count(d.Missed), number(d.Met.Mean), optional(d.Met.HalfWidth))
		} else {
			row = append(row, none, none, none, none)
		}
		if r := c.Response; r != nil {
			row = append(row, number(r.Mean), optional(r.HalfWidth), number(r.P50), number(r.P90), number(r.P95), number(r.P99), number(r.Max), number(c.Wait.Mean))
		} else {
			row = append(row, none, none, none, none, none, none, none, none)
		}
		if b, p := c.Bounds, c.PlaceFromSubmission; b != nil {
			row = append(row, number(b.LowerSeconds), number(b.AverageSeconds), number(b.UpperSeconds), optional(b.CalibratedSeconds),
				count(p.BelowLower), count(p.ToAverage), count(p.ToUpper), count(p.AboveUpper))
			if b.WithinCalibrated != nil {
				row = append(row, count(*b.WithinCalibrated))
			} else {
				row = append(row, none)
			}
		} else {
			row = append(row, none, none, none, none, none, none, none, none, none)
		}
		return append(row, number(c.Held.Map.Mean), number(c.Held.Reduce.Mean))
	})
}

// SimulationWorkbook writes a simulation as a spreadsheet.
func SimulationWorkbook(w io.Writer, a trial.Answer) error {
	sheets := []Sheet{{"classes", simulatedClasses(a)}}
	if a.Compared != nil {
		sheets = append(sheets, Sheet{"policies", compared(a.Compared)})
	}
	return Workbook(w, append(sheets, about(a.Sentence))...)
}

// SimulationText writes a simulation for a terminal.
func SimulationText(w io.Writer, a trial.Answer) error {
	if err := summary(a).Text(w); err != nil {
		return err
	}
	bounds := Table{Columns: []string{"class", "lower", "average", "upper", "below lower", "to average", "to upper", "above upper"}}
	calibrated := slices.ContainsFunc(a.Classes, func(c trial.Class) bool { return c.Bounds != nil && c.Bounds.CalibratedSeconds != nil })
	if calibrated {
		bounds.Columns = append(bounds.Columns, "calibrated", "within it")
	}
	for _, c := range a.Classes {
		if c.Bounds == nil || c.Executions == 0 {
			continue
		}
		b, p := c.Bounds, c.PlaceFromSubmission
		row := []Cell{text(onType(c.Name, c.VMType)), figure(b.LowerSeconds, 1, "s"), figure(b.AverageSeconds, 1, "s"), figure(b.UpperSeconds, 1, "s")}
		share := func(n int64) Cell { return Cell{words.Percent(float64(n) / float64(c.Executions)), true} }
		for _, n := range []int64{p.BelowLower, p.ToAverage, p.ToUpper, p.AboveUpper} {
			row = append(row, share(n))
		}
		if b.CalibratedSeconds != nil {
			row = append(row, figure(*b.CalibratedSeconds, 1, "s"), share(*b.WithinCalibrated))
		} else if calibrated {
			row = append(row, Cell{"", true}, Cell{"", true})
		}
		bounds.Rows = append(bounds.Rows, row)
	}
	if len(bounds.Rows) > 0 {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := bounds.Text(w); err != nil {
			return err
		}
	}
	if err := comparedText(w, a.Compared); err != nil {
		return err
	}
	pools := "\n"
	for _, c := range a.Classes {
		if c.MeasuredExecutions > 0 {
			pools += fmt.Sprintf("Tasks of %s last as in %s of it.\n", visible(onType(c.Name, c.VMType), 0), count(float64(c.MeasuredExecutions), "past execution", "past executions"))
		}
	}
	for _, p := range a.Pools {
		waiting := ""
		if p.Waiting > 0 {
			waiting = fmt.Sprintf(", %s of that by reduces that waited for maps", words.Percent(p.Waiting))
		}
		pools += fmt.Sprintf("%s slots: %d, %s used%s.\n", visible(onType(p.Pool, p.VMType), 0), p.Slots, words.Percent(p.Use.Mean), waiting)
	}
	o := a.Options
	_, err := fmt.Fprintf(w, "%s\n%s\n%s of %s (the first %s left out), seed %d, policy %s, idle slots lent to %s, %s load.\n",
		pools, visible(a.Sentence, 0), count(float64(a.Replications), "replication", "replications"), count(o.Hours, "hour", "hours"), rounded(*o.WarmUpHours, 2), o.Seed, o.Policy, o.Lending, o.Load)
	return err
}

func summary(a trial.Answer) Table {
	return tableOf([]string{"class", "jobs", "executions", "missed", "met", "mean", "p50", "p95", "p99", "deadline", "slots held"}, a.Classes, func(c trial.Class) []Cell {
		row := []Cell{text(onType(c.Name, c.VMType)), number(float64(c.Jobs)), number(float64(c.Executions))}
		if d := c.Deadline; d != nil && c.Executions+d.UnfinishedLate > 0 {
			row = append(row, number(float64(d.Missed)), Cell{metShare(d.Met), true})
		} else {
			row = append(row, Cell{"", true}, Cell{"", true})
		}
		if r := c.Response; r != nil {
			row = append(row, Cell{rounded(r.Mean, 1) + " s" + plusMinus(r.HalfWidth, 1), true}, figure(r.P50, 1, "s"), figure(r.P95, 1, "s"), figure(r.P99, 1, "s"))
		} else {
			row = append(row, Cell{"", true}, Cell{"", true}, Cell{"", true}, Cell{"", true})
		}
		if d := c.Deadline; d != nil {
			row = append(row, figure(d.Seconds, 1, "s"))
		} else {
			row = append(row, Cell{"", true})
		}
		held := func(e sim.Estimate, of float64) string { return rounded(e.Mean, 1) + " of " + rounded(of, 1) }
		use := held(c.Held.Map, c.Slots.Map)
		if c.Slots.Reduce > 0 {
			use += ", " + held(c.Held.Reduce, c.Slots.Reduce)
		}
		return append(row, text(use))
	})
}

func onType(name, vmType string) string {
	if vmType == "" {
		return name
	}
	return name + " on " + vmType
}

// metShare writes the share of jobs that meet their deadline with its precision: as the interval where one to both sides
// would be less than none or more than all.
func metShare(e sim.Estimate) string {
	said := trial.Percent(e.Mean) + " %"
	switch half := e.HalfWidth; {
	case half == nil || *half == 0:
		return said
	case e.Mean+*half > 1 || e.Mean-*half < 0:
		return fmt.Sprintf("%s (%s to %s)", said, trial.Percent(max(0, e.Mean-*half)), trial.Percent(min(1, e.Mean+*half)))
	}
	return said + plusMinus(e.HalfWidth, 100)
}

// plusMinus formats the precision of a figure, if known.
func plusMinus(half *float64, factor float64) string {
	if half == nil {
		return ""
	}
	return " ± " + rounded(factor**half, 1)
}
