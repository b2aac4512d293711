package report

import (
	"io"

	"example.org/headroom/internal/slots/sim"
)

// compared returns a row for each policy and class with all digits, all classes together first.
func compared(rows []sim.Compared) Table {
	columns := []string{"policy", "class", "vm_type", "ended", "judged", "missed", "rejected"}
	for _, figure := range []string{"met", "response_s", "task_s", "last_end_s"} {
		columns = append(columns, figure, figure+"_half_width", figure+"_difference", figure+"_difference_half_width")
	}
	return tableOf(columns, rows, func(c sim.Compared) []Cell {
		count := func(n int64) Cell { return number(float64(n)) }
		row := []Cell{text(c.Policy), text(c.Class), text(c.VMType), count(c.Ended), count(c.Judged), count(c.Missed), count(c.Rejected)}
		for _, a := range []sim.Against{c.Met, c.Response, c.Task, c.LastEnd} {
			row = append(row, number(a.Mean), optional(a.HalfWidth))
			if d := a.Difference; d != nil {
				row = append(row, number(d.Mean), optional(d.HalfWidth))
			} else {
				row = append(row, Cell{"", true}, Cell{"", true})
			}
		}
		return row
	})
}

// comparedText writes a comparison of policies for a terminal, if there is one.
func comparedText(w io.Writer, rows []sim.Compared) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	rejected := false
	for _, c := range rows {
		rejected = rejected || c.Rejected > 0
	}
	columns := []string{"policy", "class", "ended", "missed", "met", "difference", "mean", "difference", "task hours", "difference"}
	if rejected {
		columns = append(columns, "rejected")
	}
	return tableOf(columns, rows, func(c sim.Compared) []Cell {
		class := onType(c.Class, c.VMType)
		if c.Class == "" {
			class = "all"
		}
		row := []Cell{text(c.Policy), text(class), number(float64(c.Ended)), number(float64(c.Missed))}
		// figures adds a mean with its precision, and the difference from the first policy's in the same unit.
		figures := func(a sim.Against, mean string, factor float64, places int, unit string, known bool) {
			if !known {
				row = append(row, Cell{"", true}, Cell{"", true})
				return
			}
			row = append(row, Cell{mean, true})
			if d := a.Difference; d != nil {
				sign := ""
				if d.Mean > 0 {
					sign = "+"
				}
				row = append(row, Cell{sign + rounded(factor*d.Mean, places) + unit + within(d.HalfWidth, factor, places), true})
			} else {
				row = append(row, Cell{"", true})
			}
		}
		figures(c.Met, metShare(c.Met.Estimate), 100, 1, " %", c.Judged > 0)
		figures(c.Response, rounded(c.Response.Mean, 1)+" s"+within(c.Response.HalfWidth, 1, 1), 1, 1, " s", c.Ended > 0)
		figures(c.Task, rounded(c.Task.Mean/3600, 2)+within(c.Task.HalfWidth, 1./3600, 2), 1./3600, 2, "", true)
		if rejected {
			row = append(row, number(float64(c.Rejected)))
		}
		return row
	}).Text(w)
}

// within formats the precision of a figure, with as many places.
func within(half *float64, factor float64, places int) string {
	if half == nil {
		return ""
	}
	return " ± " + rounded(factor**half, places)
}
