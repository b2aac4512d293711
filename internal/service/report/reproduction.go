package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"example.org/headroom/internal/ask/reproduce"
)

// Experiments lists the reproducible experiments.
func Experiments(all []reproduce.Experiment) Table {
	return tableOf([]string{"name", "about", "source"}, all, func(e reproduce.Experiment) []Cell {
		return []Cell{text(e.Name), text(e.About), text(e.Source)}
	})
}

// Measured returns the figures of a reproduction, a row for each point.
func Measured(r reproduce.Reproduction) Table {
	return tableOf(r.Columns, r.Rows, func(row []any) []Cell { return measured(row, number) })
}

func measured(row []any, figure func(float64) Cell) []Cell {
	cells := make([]Cell, len(row))
	for j, x := range row {
		switch x := x.(type) {
		case string:
			cells[j] = text(x)
		case int:
			cells[j] = Cell{strconv.Itoa(x), true}
		case float64:
			cells[j] = figure(x)
		}
	}
	return cells
}

// Reproductions holds our figures with their bands, and the verdicts on the claims of papers: a row for each figure.
func Reproductions(all ...reproduce.Reproduction) Table {
	t := Table{Columns: []string{"experiment", "figure", "paper", "ours", "unit", "least", "most", "verdict", "remark",
		"band", "claim", "paper_least", "paper_most", "recorded", "reason", "paper_protocol", "our_protocol"}}
	for _, r := range all {
		for _, c := range r.Checks {
			row := []Cell{text(r.Name), text(c.Figure), text(c.Paper), optional(c.Ours), text(c.Unit),
				optional(c.Least), optional(c.Most), text(string(c.Verdict)), text(c.Remark), text(string(c.Band))}
			if p := c.Claim; p != nil {
				row = append(row, text(p.Name), optional(p.Least), optional(p.Most), text(string(p.Recorded)), text(p.Reason),
					text(p.PaperProtocol), text(p.OurProtocol))
			} else {
				row = append(row, make([]Cell, len(t.Columns)-len(row))...)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// ReproductionText writes a reproduction for a terminal.
func ReproductionText(w io.Writer, r reproduce.Reproduction) error {
	if _, err := fmt.Fprintf(w, "%s: %s\n\nSource: %s\nClaim:  %s\nOurs:   %s\n        First seed %d%s.\n\n", r.Name, r.About, r.Source, r.Claim, strings.ReplaceAll(r.Method, ". ", ".\n        "), r.Seed, smaller(r.Setting)); err != nil {
		return err
	}
	rows := tableOf(r.Columns, r.Rows, func(row []any) []Cell {
		return measured(row, func(x float64) Cell { return Cell{significant(x), true} })
	})
	if err := rows.Text(w); err != nil {
		return err
	}
	if err := claims(w, r); err != nil {
		return err
	}
	checks := tableOf([]string{"Our figure", "Ours", "Our band", "In it"}, r.Checks, func(c reproduce.Check) []Cell {
		band := string(c.Band)
		if c.Remark != "" {
			band += ": " + c.Remark
		}
		return []Cell{text(c.Figure), {ourFigure(c), true}, {demanded(c), true}, text(band)}
	})
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := checks.Text(w); err != nil {
		return err
	}
	for _, note := range r.Notes {
		if _, err := fmt.Fprintf(w, "\n%s\n", note); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\nVerdict: %s\n", r.Verdict)
	return err
}

// claims writes the claims of the paper with their verdicts, and below them their protocols.
func claims(w io.Writer, r reproduce.Reproduction) error {
	var all []reproduce.Check
	for _, c := range r.Checks {
		if c.Claim != nil {
			all = append(all, c)
		}
	}
	table := tableOf([]string{"Claim", "Paper", "Ours", "Verdict"}, all, func(c reproduce.Check) []Cell {
		verdict := string(c.Verdict)
		if c.Changed() {
			recorded := "nothing"
			if c.Claim.Recorded != "" {
				recorded = string(c.Claim.Recorded)
			}
			verdict += ", recorded: " + recorded
		}
		return []Cell{text(c.Claim.Name), text(c.Paper), {ourFigure(c), true}, text(verdict)}
	})
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := table.Text(w); err != nil {
		return err
	}
	for _, c := range all {
		p := c.Claim
		if _, err := fmt.Fprintf(w, "\n%s: %s\n  The paper's protocol: %s\n  Ours: %s\n", p.Name, p.Says, p.PaperProtocol, p.OurProtocol); err != nil {
			return err
		}
		if p.Reason != "" {
			if _, err := fmt.Fprintf(w, "  Reason: %s\n", p.Reason); err != nil {
				return err
			}
		}
	}
	return nil
}

func ourFigure(c reproduce.Check) string {
	if c.Ours == nil {
		return "none"
	}
	return withUnit(significant(*c.Ours), c.Unit)
}

// smaller names the settings in which a reproduction differs from the default.
func smaller(s reproduce.Setting) string {
	said := ""
	if s.Quick {
		said = ", the quick version"
	}
	if s.Instances > 0 {
		said += fmt.Sprintf(", instances a point: %d", s.Instances)
	}
	return said
}

// demanded returns the required range of a figure.
func demanded(c reproduce.Check) string {
	switch {
	case c.Least != nil && c.Most != nil && *c.Least > 0:
		return withUnit(significant(*c.Least)+" to "+significant(*c.Most), c.Unit)
	case c.Most != nil:
		return withUnit("at most "+significant(*c.Most), c.Unit)
	case c.Least != nil:
		return withUnit("at least "+significant(*c.Least), c.Unit)
	}
	return ""
}

func withUnit(figure, unit string) string {
	if unit == "" {
		return figure
	}
	return figure + " " + unit
}

// significant formats a figure with four significant digits, or all before the point.
func significant(x float64) string {
	const digits = 4
	size := math.Abs(x)
	switch {
	case size == 0 || math.IsInf(size, 0) || math.IsNaN(size):
		return strconv.FormatFloat(x, 'f', -1, 64)
	case size < 1e-5:
		return strconv.FormatFloat(x, 'g', digits-1, 64)
	}
	before := int(math.Floor(math.Log10(size))) + 1 // digits before the point, or less the zeros after it
	return rounded(x, max(0, digits-before))
}
