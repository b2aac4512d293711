package report

import (
	"fmt"
	"io"

	"example.org/headroom/internal/ask/trial"
)

// ScheduleTrial returns a row for each class.
func ScheduleTrial(a trial.ScheduleAnswer) Table {
	return tableOf([]string{"class", "executions", "in_time", "as_planned", "met", "met_at_least", "vm_hours", "vm_hours_longer", "measured_executions"}, a.Classes, func(c trial.TriedClass) []Cell {
		return []Cell{text(c.Name), whole(c.Executions), whole(c.InTime), whole(c.AsLong), number(c.Met), number(c.AtLeast), number(c.PlannedVMs), number(c.LongerVMs), whole(c.MeasuredExecutions)}
	})
}

// ScheduleTrialText writes the trial of a schedule for a terminal.
func ScheduleTrialText(w io.Writer, a trial.ScheduleAnswer) error {
	percent := func(part float64) Cell { return Cell{trial.Percent(part) + " %", true} }
	t := tableOf([]string{"class", "executions", "in time", "at least", "as planned", "VM-hours", "longer"}, a.Classes, func(c trial.TriedClass) []Cell {
		return []Cell{text(c.Name), whole(c.Executions), percent(c.Met), percent(c.AtLeast), percent(float64(c.AsLong) / float64(max(1, c.Executions))), figure(c.PlannedVMs, 1, ""), figure(c.LongerVMs, 1, "")}
	})
	if err := t.Text(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", visible(a.Sentence, 0))
	return err
}

// ScheduleTrialWorkbook writes the trial of a schedule as a spreadsheet.
func ScheduleTrialWorkbook(w io.Writer, a trial.ScheduleAnswer) error {
	return Workbook(w, Sheet{"classes", ScheduleTrial(a)}, about(a.Sentence))
}
