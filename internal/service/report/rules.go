package report

import (
	"fmt"
	"io"
	"strings"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// SlotDecisions returns a row for each policy.
func SlotDecisions(a dispatch.DecideAnswer) Table {
	return tableOf([]string{"policy", "job", "kind", "rule", "reason"}, a.Decisions, func(d dispatch.SlotDecision) []Cell {
		return []Cell{text(string(d.Policy.Kind)), text(d.Job), text(string(d.Kind)), text(d.Rule), text(d.Reason)}
	})
}

// DecisionsText writes for people who gets a slot, and why.
func DecisionsText(w io.Writer, a dispatch.DecideAnswer) error {
	return tableOf([]string{"Policy", "Slot goes to", "Why"}, a.Decisions, func(d dispatch.SlotDecision) []Cell {
		to := "nobody"
		if d.Job != "" {
			to = fmt.Sprintf("a %s of %s", d.Kind, d.Job)
		}
		return []Cell{text(string(d.Policy.Kind)), text(to), text(d.Reason)}
	}).Text(w)
}

// Promise returns the verdict as a row.
func Promise(a dispatch.JudgeAnswer) Table {
	v := a.Verdict
	return Table{Columns: []string{"kept", "code", "mode", "deadline_s", "demand_s", "late_s", "alone_s", "task_s", "latest_s", "proved", "usable_slots", "accepted",
		"unproved", "missed", "reason"},
		Rows: [][]Cell{{flag(v.Kept), text(string(a.Code)), text(string(v.Mode)), number(v.DeadlineSeconds), number(v.DemandSeconds),
			number(v.LateSeconds), number(v.AloneSeconds), number(v.TaskSeconds), number(v.LatestSeconds), flag(v.Proved), whole(v.UsableSlots), whole(v.Accepted),
			whole(v.Unproved), whole(int64(len(v.Missed))), text(a.Reason)}}}
}

// PromiseText writes the verdict for people.
func PromiseText(w io.Writer, a dispatch.JudgeAnswer) error {
	_, err := fmt.Fprintln(w, a.Reason)
	return err
}

// Lessons returns a row for each lesson.
func Lessons(a dispatch.LearnAnswer) Table {
	return tableOf([]string{"good", "p_good"}, a.Lessons, func(l dispatch.LessonTaken) []Cell { return []Cell{flag(l.Good), number(l.PGood)} })
}

// LessonsText says for people what was learned.
func LessonsText(w io.Writer, a dispatch.LearnAnswer) error {
	_, err := fmt.Fprintf(w, "Learned by %s from %s: %d good, %d bad. Of %d the outcome was not the expected one.\n"+
		"All lessons so far: %d good, %d bad. With -o json the answer has the knowledge, which \"headroom lab classify\" takes.\n",
		strings.ReplaceAll(string(a.Knowledge.Kind), "_", " "), several(int64(len(a.Lessons)), "lesson"), a.Good, a.Bad, a.Mistaken,
		a.Knowledge.Counts.Outcomes[1], a.Knowledge.Counts.Outcomes[0])
	return err
}

// Classified returns a row for each case.
func Classified(a dispatch.ClassifyAnswer) Table {
	return tableOf([]string{"name", "p_good", "good", "utility", "expected_utility"}, a.Cases, func(c dispatch.Classified) []Cell {
		return []Cell{text(c.Name), number(c.PGood), flag(c.Good), number(c.Utility), number(c.ExpectedUtility)}
	})
}

// ClassifiedText writes the classes of cases for people.
func ClassifiedText(w io.Writer, a dispatch.ClassifyAnswer) error {
	return tableOf([]string{"Case", "Good with", "Class", "Utility", "Expected"}, a.Cases, func(c dispatch.Classified) []Cell {
		class := "bad"
		if c.Good {
			class = "good"
		}
		return []Cell{text(c.Name), figure(c.PGood, 4, ""), text(class), figure(c.Utility, 4, ""), figure(c.ExpectedUtility, 4, "")}
	}).Text(w)
}

// AllFits returns a row for each fit.
func AllFits(a perf.FitAnswer) Table { return JobFits(a.Fits) }

// AllFitsText writes fits for people, with their predictions and doubts.
func AllFitsText(w io.Writer, a perf.FitAnswer) error {
	for _, f := range a.Fits {
		var err error
		if f.Refused != "" {
			_, err = fmt.Fprintf(w, "Nothing can be fitted to what was measured of %q (%s): %s\n", f.Job, f.Kind, f.Refused)
		} else {
			err = FitText(w, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
