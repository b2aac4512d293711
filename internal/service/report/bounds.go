package report

import (
	"fmt"
	"io"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// Bounds returns a row for each bound, with stable names.
func Bounds(a perf.Answer) Table {
	t := Table{Columns: []string{"of", "lower_s", "average_s", "upper_s", "upper_from_submission_s", "slots_per_job", "premise_ok"}}
	none := Cell{"", true}
	add := func(of string, lower, average, upper, submission, slots, premise Cell) {
		t.Rows = append(t.Rows, []Cell{text(of), lower, average, upper, submission, slots, premise})
	}
	switch a := a.(type) {
	case perf.PhaseAnswer:
		add("phase", number(a.LowerSeconds), none, number(a.UpperSeconds), none, none, text(""))
	case perf.TwoJobsAnswer:
		for i, j := range a.Jobs {
			add(fmt.Sprintf("job %d", i+1), number(j.LowerSeconds), none, number(j.UpperSeconds), none, none, text(""))
		}
		add("last of the two", number(a.LastLowerSeconds), none, none, none, none, text(""))
	case perf.SharedPhaseAnswer:
		add("phase", number(a.LowerSeconds), none, number(a.UpperSeconds), number(a.UpperFromSubmissionSeconds), number(a.SlotsPerJob), text(fmt.Sprint(a.PremiseOK)))
	case perf.JobAnswer:
		add("job", number(a.LowerSeconds), number(a.AverageSeconds), number(a.UpperSeconds), none, none, text(fmt.Sprint(a.PremiseOK)))
	}
	return t
}

// BoundsText writes an answer about bounds for a terminal.
func BoundsText(w io.Writer, a perf.Answer) error {
	var b strings.Builder
	span := func(what string, lower, upper float64) {
		if lower > upper { // a premise fails, and a warning names it
			fmt.Fprintf(&b, "%s takes %s or more; its upper bound does not hold here.\n", what, seconds(lower))
			return
		}
		fmt.Fprintf(&b, "%s takes %s to %s.\n", what, seconds(lower), seconds(upper))
	}
	switch a := a.(type) {
	case perf.PhaseAnswer:
		span("The phase", a.LowerSeconds, a.UpperSeconds)
	case perf.TwoJobsAnswer:
		for i, j := range a.Jobs {
			span(fmt.Sprintf("Job %d", i+1), j.LowerSeconds, j.UpperSeconds)
		}
		fmt.Fprintf(&b, "Both are done after %s at the earliest.\n", seconds(a.LastLowerSeconds))
	case perf.SharedPhaseAnswer:
		span("The phase, from its first slot,", a.LowerSeconds, a.UpperSeconds)
		fmt.Fprintf(&b, "From submission it takes %s at most. Each job has %s slots.\n", seconds(a.UpperFromSubmissionSeconds), rounded(a.SlotsPerJob, 4))
		warnings(&b, a.PremiseOK, a.Warnings)
	case perf.JobAnswer:
		fmt.Fprintf(&b, "The job takes %s (expected); optimistic %s, conservative %s.\n\n", seconds(a.AverageSeconds), seconds(a.LowerSeconds), seconds(a.UpperSeconds))
		t := Table{Columns: []string{"Time = A·h/map slots + B·h/reduce slots + C", "A", "B", "C"}}
		for _, form := range []struct {
			name string
			abc  [3]float64
		}{{"optimistic (lower)", a.Coefficients.Lower}, {"expected (average)", a.Coefficients.Average}, {"conservative (upper)", a.Coefficients.Upper}} {
			t.Rows = append(t.Rows, []Cell{text(form.name), figure(form.abc[0], 3, "s"), figure(form.abc[1], 3, "s"), figure(form.abc[2], 3, "s")})
		}
		if err := t.Text(&b); err != nil {
			return err
		}
		warnings(&b, a.PremiseOK, a.Warnings)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }

func warnings(b *strings.Builder, premise bool, all []capacity.Warning) {
	if !premise {
		b.WriteString("A premise of these bounds does not hold: they are estimates.\n")
	}
	for _, w := range all {
		b.WriteString(visible("Warning: "+w.Detail, 0) + "\n")
	}
}
