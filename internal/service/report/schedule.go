package report

import (
	"io"
	"strings"
	"time"

	"example.org/headroom/internal/ask/horizon"
)

// ScheduleText writes what a schedule comes to, its classes and its hours.
func ScheduleText(w io.Writer, a horizon.ScheduleAnswer) error {
	var b strings.Builder
	b.WriteString(visible(a.Explanation, 0) + "\n\n")
	classes := tableOf([]string{"Class", "Arrived", "Refused", "Wait", "Mean wait"}, a.Classes, func(c horizon.ScheduledClass) []Cell {
		return []Cell{text(c.Name), whole(c.Arrived), whole(c.Refused), whole(c.Later), {seconds(c.MeanWaitSeconds), true}}
	})
	if err := classes.Text(&b); err != nil {
		return err
	}
	b.WriteByte('\n')
	hours := tableOf([]string{"Hour", "VMs", "On demand", "Contracts", "Cost"}, a.Hours, func(h horizon.ScheduleHour) []Cell {
		return []Cell{Time(h.Start), whole(h.VMs), whole(h.OnDemand), whole(h.Reserved), {cents(h.Cost), true}}
	})
	if err := hours.Text(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ScheduleStarts returns a row for each group of executions that start together or are refused.
func ScheduleStarts(a horizon.ScheduleAnswer) Table {
	t := tableOf([]string{"class", "arrived", "start", "run_s", "executions", "map_slots", "reduce_slots"}, a.Schedule, func(s horizon.ScheduledStart) []Cell {
		return []Cell{text(s.Class), Time(s.Arrived), Time(s.Start), number(s.RunSeconds), whole(s.Jobs), whole(s.MapSlots), whole(s.ReduceSlots)}
	})
	for _, r := range a.Refused {
		t.Rows = append(t.Rows, []Cell{text(r.Class), Time(r.Arrived), text("refused"), text(""), whole(r.Jobs), text(""), text("")})
	}
	return t
}

// FollowedText writes what a schedule does with the classes that wait in its first hour, and then the schedule.
func FollowedText(w io.Writer, f horizon.Followed) error {
	start := f.Question.Start()
	running := f.Running(start)
	var waiting []horizon.ScheduledClass
	for _, c := range f.Answer.Classes {
		if c.Waits {
			waiting = append(waiting, c)
		}
	}
	classes := tableOf([]string{"May wait", "Run now", "Waiting", "Next start", "Of them"}, waiting, func(c horizon.ScheduledClass) []Cell {
		var now, later, next int64
		var at time.Time
		for _, r := range running[c.Name] {
			now += r.Jobs
		}
		for _, s := range f.Answer.Schedule {
			if s.Class != c.Name || !s.Start.After(start) {
				continue
			}
			if s.Arrived.Before(start) {
				later += s.Jobs
			}
			switch {
			case at.IsZero() || s.Start.Before(at):
				at, next = s.Start, s.Jobs
			case s.Start.Equal(at):
				next += s.Jobs
			}
		}
		row := []Cell{text(c.Name), whole(now), whole(later), text("none"), text("")}
		if !at.IsZero() {
			row[3], row[4] = Time(at), whole(next)
		}
		return row
	})
	if err := classes.Text(w); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return ScheduleText(w, f.Answer)
}
