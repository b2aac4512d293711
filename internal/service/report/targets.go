package report

import (
	"fmt"
	"io"
	"strings"

	"example.org/headroom/internal/ask/trial"
)

// Targets returns a row for each class with a target.
func Targets(a trial.TargetAnswer) Table {
	columns := []string{"class", "jobs", "map_slots", "reduce_slots", "target", "confidence", "factor", "expected", "low", "high", "certain",
		"executions", "missed", "replications", "seed", "lending", "jobs_from", "jobs_until"}
	return tableOf(columns, a.Classes, func(c trial.PromisedClass) []Cell {
		row := []Cell{text(c.Name), number(c.Jobs)}
		if c.Slots != nil {
			row = append(row, number(c.Slots.Map), number(c.Slots.Reduce))
		} else {
			row = append(row, Cell{"", true}, Cell{"", true})
		}
		p := c.Promise
		if p == nil {
			for len(row) < len(columns) {
				row = append(row, Cell{"", true})
			}
			return row
		}
		return append(row, number(p.Target), number(p.Confidence), number(p.Factor), number(p.Expected), number(p.Low), number(p.High),
			text(fmt.Sprint(c.Certain)), whole(p.Executions), whole(p.Missed), whole(p.Replications), whole(p.Seed), text(p.Lending),
			number(p.JobsFrom), number(p.JobsUntil))
	})
}

// TargetsWorkbook writes promises as a spreadsheet.
func TargetsWorkbook(w io.Writer, a trial.TargetAnswer) error {
	return Workbook(w, Sheet{"targets", Targets(a)}, about(a.Sentence))
}

// TargetsText writes promises for a terminal.
func TargetsText(w io.Writer, a trial.TargetAnswer) error {
	var b strings.Builder
	classes := tableOf([]string{"Class", "Target", "Factor", "In time", "Shown", "Executions", "Holds for"}, a.Classes, func(c trial.PromisedClass) []Cell {
		p := c.Promise
		if p == nil {
			return []Cell{text(c.Name), {"", true}, {"", true}, {"", true}, {"", true}, {"", true}, text("all jobs are refused")}
		}
		percent := func(part float64) Cell { return Cell{trial.Percent(part) + " %", true} }
		jobs := rounded(p.JobsFrom, 1) + " to " + rounded(p.JobsUntil, 1) + " jobs"
		if p.JobsFrom == p.JobsUntil {
			jobs = count(p.JobsUntil, "job", "jobs")
		}
		return []Cell{text(c.Name), percent(p.Target), {rounded(p.Factor, 3), true}, percent(p.Expected), {"≥ " + trial.Percent(p.Low) + " %", true},
			whole(p.Executions), text(jobs)}
	})
	if err := classes.Text(&b); err != nil {
		return err
	}
	o := a.Options
	_, err := fmt.Fprintf(w, "%s\n%s\nSearched with seed %d, checked with another; policy %s, idle slots lent to %s, %s load.\n", b.String(), visible(a.Sentence, 0),
		a.Seed, o.Policy, o.Lending, o.Load)
	return err
}
