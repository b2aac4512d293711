package report

import (
	"fmt"
	"io"
	"strings"

	"example.org/headroom/internal/core/proof"
)

// Checks returns a row for each check of a plan.
func Checks(r proof.Report) Table {
	t := Table{Columns: []string{"check", "outcome", "detail"}}
	for _, c := range r.Checks {
		t.Rows = append(t.Rows, []Cell{text(c.Name), text(string(c.Outcome)), text(c.Detail)})
	}
	return t
}

// Verdict writes the result of the check of a plan, or of an answer, for a terminal.
func Verdict(w io.Writer, what string, r proof.Report) error {
	said := "The " + what + " is right: every check passed."
	switch r.Outcome {
	case proof.Failed:
		said = "The " + what + " is wrong:"
	case proof.NotProved:
		said = "Nothing speaks against the " + what + ", but not everything could be proved."
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", said); err != nil {
		return err
	}
	if err := Checks(r).Text(w); err != nil || len(r.NotChecked) == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\nNot checked:\n  - %s.\n", strings.Join(r.NotChecked, ".\n  - "))
	return err
}
