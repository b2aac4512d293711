package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/words"
)

// ScheduleText writes what a schedule comes to, its classes and its hours. Each type of VMs has a column of them.
func ScheduleText(w io.Writer, a timetable.Answer) error {
	var b strings.Builder
	b.WriteString(visible(a.Explanation, 0) + "\n\n")
	classes := tableOf([]string{"Class", "Arrived", "Refused", "Wait", "Mean wait"}, a.Classes, func(c timetable.Class) []Cell {
		return []Cell{text(c.Name), whole(c.Arrived), whole(c.Refused), whole(c.Later), {seconds(c.MeanWaitSeconds), true}}
	})
	if err := classes.Text(&b); err != nil {
		return err
	}
	b.WriteByte('\n')
	columns := []string{"Hour", "VMs", "On demand", "Contracts", "Cost"}
	spot := slices.ContainsFunc(a.Hours, func(h timetable.Hour) bool { return h.Spot > 0 })
	if spot {
		columns = append(columns, "Spot")
	}
	starts := slices.ContainsFunc(a.Hours, func(h timetable.Hour) bool { return h.Started > 0 })
	if starts {
		columns = append(columns, "Started")
	}
	if len(a.Hours) > 0 {
		for _, t := range a.Hours[0].ByType {
			columns = append(columns, visible(t.Type, 0))
		}
	}
	hours := tableOf(columns, a.Hours, func(h timetable.Hour) []Cell {
		row := []Cell{Time(h.Start), whole(h.VMs), whole(h.OnDemand), whole(h.Reserved), {cents(h.Cost), true}}
		if spot {
			row = append(row, whole(h.Spot))
		}
		if starts {
			row = append(row, whole(h.Started))
		}
		for _, t := range h.ByType {
			row = append(row, whole(t.VMs))
		}
		return row
	})
	if err := hours.Text(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ScheduleStarts returns a row for each group of executions that start together or are refused.
func ScheduleStarts(a timetable.Answer) Table {
	t := tableOf([]string{"class", "arrived", "start", "run_s", "executions", "map_slots", "reduce_slots"}, a.Schedule, func(s timetable.Start) []Cell {
		return []Cell{text(s.Class), Time(s.Arrived), Time(s.Start), number(s.RunSeconds), whole(s.Jobs), whole(s.MapSlots), whole(s.ReduceSlots)}
	})
	for _, r := range a.Refused {
		t.Rows = append(t.Rows, []Cell{text(r.Class), Time(r.Arrived), text("refused"), text(""), whole(r.Jobs), text(""), text("")})
	}
	if len(a.Hours) > 0 && len(a.Hours[0].ByType) > 0 {
		t.Columns = append(t.Columns, "type")
		for i := range t.Rows {
			on := ""
			if i < len(a.Schedule) {
				on = a.Schedule[i].Type
			}
			t.Rows[i] = append(t.Rows[i], text(on))
		}
	}
	return t
}

// FollowedText writes what a schedule does with the classes that wait in its first hour, and then the schedule.
func FollowedText(w io.Writer, f timetable.Followed) error {
	var followed []string // without leases
	classes := tableOf([]string{"May wait", "Run now", "Waiting", "Of them ask", "Next start", "Of them", "Missed"}, f.Outlook(), func(c timetable.ClassAhead) []Cell {
		row := []Cell{text(c.Name), whole(c.Running), whole(c.Waiting), text(""), text("none"), text(""), text("")}
		if c.NextJobs > 0 {
			row[4], row[5] = Time(c.NextStart), whole(c.NextJobs)
		}
		if c.Leases {
			row[3], row[6] = whole(c.Asking), whole(c.Missed)
		} else {
			followed = append(followed, c.Name)
		}
		return row
	})
	if err := classes.Text(w); err != nil {
		return err
	}
	told := "\n"
	if len(followed) > 0 {
		told = fmt.Sprintf("\nIn the last day no job of %s asked for a lease, so that the schedule counts as followed.\n\n", words.Some(followed))
	}
	if _, err := io.WriteString(w, told); err != nil {
		return err
	}
	return ScheduleText(w, f.Answer)
}
