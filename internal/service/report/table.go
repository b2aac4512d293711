// Package report writes results for people: text tables for terminals and comma-separated values for spreadsheets.
// All its figures are already in the results.
package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
)

// Table is rows of cells below named columns.
type Table struct {
	Columns []string
	Rows    [][]Cell
}

// without returns the table without some columns.
func (t Table) without(columns ...string) Table {
	keep := map[string]bool{}
	for _, name := range t.Columns {
		keep[name] = !slices.Contains(columns, name)
	}
	return t.only(keep)
}

// Cell holds one value: its text and whether it is a number. A number is aligned to the right and never taken for a
// spreadsheet's formula.
type Cell struct {
	Text   string
	Number bool
}

func text(s string) Cell { return Cell{Text: s} }

// number formats a figure with all its digits; plain figures need no exponent.
func number(x float64) Cell { return Cell{strconv.FormatFloat(x+0, 'f', -1, 64), true} } // -0 + 0 is 0

// rounded formats a figure with at most that many decimal places.
func rounded(x float64, places int) string {
	s := strconv.FormatFloat(x, 'f', places, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

func figure(x float64, places int, unit string) Cell {
	if unit != "" {
		unit = " " + unit
	}
	return Cell{rounded(x, places) + unit, true}
}

func optional(x *float64) Cell {
	if x == nil {
		return Cell{"", true}
	}
	return number(*x)
}

func amount(m *money.Amount) Cell {
	if m == nil {
		return Cell{"", true}
	}
	return Cell{m.String(), true}
}

// widest is the maximum width of a shown cell; a name may have 200 characters.
const widest = 48

// Text writes the table aligned, with two spaces between columns.
func (t Table) Text(w io.Writer) error {
	widths := make([]int, len(t.Columns))
	lines := [][]Cell{make([]Cell, len(t.Columns))}
	for j, c := range t.Columns {
		lines[0][j] = Cell{c, len(t.Rows) > 0 && t.Rows[0][j].Number}
	}
	lines = append(lines, t.Rows...)
	for _, line := range lines {
		for j, c := range line {
			widths[j] = max(widths[j], width(visible(c.Text, widest)))
		}
	}
	var all, one strings.Builder
	for _, line := range lines {
		one.Reset()
		for j, c := range line {
			shown := visible(c.Text, widest)
			if j == len(line)-1 && !c.Number {
				shown = visible(c.Text, 0) // nothing follows on its right
			}
			pad := strings.Repeat(" ", max(0, widths[j]-width(shown)))
			if c.Number {
				shown = pad + shown
			} else {
				shown += pad
			}
			if j > 0 {
				one.WriteString("  ")
			}
			one.WriteString(shown)
		}
		all.WriteString(strings.TrimRight(one.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, all.String())
	return err
}

// visible returns a text in a form that is safe for a terminal, without control characters, which could move its cursor.
// Its middle is left out where it is wider than a width (0: any width).
func visible(s string, most int) string {
	if printable(s) && (most == 0 || len(s) <= most) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, s)
	if most == 0 || uniseg.StringWidth(s) <= most {
		return s
	}
	var letters []string // as people see them
	var widths []int
	left := most - 1 // beside the mark of what is left out
	for g := uniseg.NewGraphemes(s); g.Next(); {
		letters, widths = append(letters, g.Str()), append(widths, g.Width())
	}
	last := len(letters)
	for room := left / endShare; last > 0 && widths[last-1] <= room; last-- {
		room, left = room-widths[last-1], left-widths[last-1]
	}
	first := 0
	for ; first < last && widths[first] <= left; first++ {
		left -= widths[first]
	}
	return strings.Join(letters[:first], "") + "…" + strings.Join(letters[last:], "")
}

// endShare is the part of a shortened text that is kept of its end: names often differ there.
const endShare = 3

// width returns the number of terminal columns that a text takes.
func width(s string) int {
	if printable(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// printable reports whether a text is printable ASCII: nearly every one is.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// CSV writes the table as RFC 4180 has it, ended by line feeds. A text that a spreadsheet would take
// for a formula gets an apostrophe in front.
func (t Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	columns := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		columns[i] = inputs.GuardFormula(name)
	}
	if err := out.Write(columns); err != nil {
		return err
	}
	return t.rows(out)
}

// CSVRows writes the rows as CSV without the heading, for a table that is written in parts.
func (t Table) CSVRows(w io.Writer) error { return t.rows(csv.NewWriter(w)) }

func (t Table) rows(out *csv.Writer) error {
	record := make([]string, len(t.Columns))
	for _, row := range t.Rows {
		for j, c := range row {
			record[j] = c.Text
			if !c.Number {
				record[j] = inputs.GuardFormula(c.Text)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
