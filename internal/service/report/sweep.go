package report

import (
	"fmt"
	"io"
	"strings"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
)

// Sweep returns a row for each point of a sweep, its parameters first.
func Sweep(a whatif.SweepAnswer) Table {
	var t Table
	for i := range a.Vary {
		t.Columns = append(t.Columns, whatif.ParameterName(a.Vary[i]))
	}
	t.Columns = append(append(append(t.Columns, "status", "currency"), costNames...),
		"vms", "vms_on_demand", "vms_reserved", "vms_spot", "admitted", "refused", "gap", "vm_price_low", "vm_price_high", "conflict")
	none := Cell{"", true}
	for i := range a.Points {
		p := &a.Points[i]
		row := make([]Cell, 0, len(t.Columns))
		for _, x := range p.Parameters {
			row = append(row, number(x))
		}
		row = append(row, text(string(p.Status)), text(a.Currency))
		if p.Status == capacity.InfeasibleStatus {
			for len(row) < len(t.Columns)-1 {
				row = append(row, none)
			}
			t.Rows = append(t.Rows, append(row, text(p.Conflict)))
			continue
		}
		row = append(row, costCells(planCost(&p.Cost))...)
		for _, x := range []float64{p.VMs.Total, p.VMs.OnDemand, p.VMs.Reserved, p.VMs.Spot, p.Admitted, p.Refused, p.Gap} {
			row = append(row, number(x))
		}
		if p.Price == nil {
			row = append(row, none, none)
		} else {
			row = append(row, amount(&p.Price.Low), amount(p.Price.High))
		}
		t.Rows = append(t.Rows, append(row, text("")))
	}
	return t
}

// curve returns a row for each end of a straight line.
func curve(a whatif.SweepAnswer) Table {
	t := Table{Columns: []string{whatif.ParameterName(a.Vary[0]), togetherColumn, "slope", "changes"}}
	for _, p := range a.Curve.Points {
		t.Rows = append(t.Rows, []Cell{number(p.At), amount(&p.Cost), amount(p.Slope), text(p.Margin)})
	}
	return t
}

// facts returns a row for each figure of each fact.
func facts(all words.Facts) Table {
	t := Table{Columns: []string{"fact", "of", "figure", "value", "unit"}}
	for _, f := range all {
		for _, x := range f.Figures {
			if x.Name == "amount" { // of one more job: what it adds to the bill, and what gives way
				x.Name = togetherColumn
			}
			t.Rows = append(t.Rows, []Cell{text(f.Kind), text(f.Subject), text(x.Name), {x.Value, true}, text(x.Unit)})
		}
	}
	return t
}

// SweepText writes a sweep for a terminal.
func SweepText(w io.Writer, a whatif.SweepAnswer) error {
	short := Sweep(a)
	keep := map[string]bool{"status": true, billColumn: true, valueColumn: true, "vms": true, "admitted": true, "refused": true, "vm_price_high": true, "conflict": true}
	for i := range a.Vary {
		keep[short.Columns[i]] = true
	}
	if err := short.only(keep).Text(w); err != nil {
		return err
	}
	if c := a.Curve; c != nil {
		title := fmt.Sprintf("Bill and value refused together, by the linear program, %s:", c.Shape)
		if len(c.Points) == 0 {
			title = "The linear program has no plan at any of these values either, so that there is no curve."
		}
		if _, err := fmt.Fprintf(w, "\n%s\n", title); err != nil {
			return err
		}
		if len(c.Points) > 0 {
			if err := curve(a).Text(w); err != nil {
				return err
			}
		}
		if c.Least != nil {
			if _, err := fmt.Fprintf(w, "The promised jobs need %s at least.\n", rounded(*c.Least, 6)); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", visible(a.Explanation, 0))
	return err
}

// only returns the table with some of its columns.
func (t Table) only(keep map[string]bool) Table {
	var some Table
	var at []int
	for j, name := range t.Columns {
		if keep[name] {
			some.Columns, at = append(some.Columns, name), append(at, j)
		}
	}
	for _, row := range t.Rows {
		short := make([]Cell, len(at))
		for k, j := range at {
			short[k] = row[j]
		}
		some.Rows = append(some.Rows, short)
	}
	return some
}

// SweepWorkbook writes a sweep as a spreadsheet: its points, its curve if it has one, and its sentences.
func SweepWorkbook(w io.Writer, a whatif.SweepAnswer) error {
	sheets := []Sheet{{"points", Sweep(a)}}
	if a.Curve != nil {
		sheets = append(sheets, Sheet{"curve", curve(a)})
	}
	return Workbook(w, append(sheets, about(a.Explanation), Sheet{"facts", facts(a.Facts)})...)
}

func about(explanation string) Sheet {
	return Sheet{"about", Table{Columns: []string{"explanation"}, Rows: [][]Cell{{text(explanation)}}}}
}

// Question returns a row for each class, or for each deadline if the question was about these.
func Question(a goal.Answer) Table {
	if len(a.Deadlines) > 0 {
		return tableOf([]string{"what", "deadline", "earlier_percent", "status", billColumn, valueColumn, togetherColumn, "together_more_than_given", "vms"}, a.Deadlines, func(d goal.DeadlineCost) []Cell {
			row := []Cell{text(d.What), number(d.Deadline), number(d.Earlier), text(string(d.Status))}
			if d.Status == capacity.InfeasibleStatus {
				return append(row, Cell{"", true}, Cell{"", true}, Cell{"", true}, Cell{"", true}, Cell{"", true})
			}
			return append(row, amount(&d.Bill), amount(&d.Value), amount(&d.Cost), amount(&d.Extra), number(d.VMs))
		})
	}
	return tableOf([]string{"class", "admitted", "refused", "before", "verdict"}, a.Classes, func(c goal.ServedClass) []Cell {
		return []Cell{text(c.Name), number(c.Admitted), number(c.Refused), optional(c.Before), text(string(c.Verdict))}
	})
}

// QuestionText writes an answer for a terminal.
func QuestionText(w io.Writer, a goal.Answer) error {
	if _, err := fmt.Fprintf(w, "%s\n", visible(a.Explanation, 0)); err != nil {
		return err
	}
	for _, f := range a.Conflicts {
		if strings.Contains(a.Explanation, f.Detail) {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s\n", Conflict(f)); err != nil {
			return err
		}
	}
	if t := Question(a); len(t.Rows) > 0 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		return t.Text(w)
	}
	return nil
}

// QuestionWorkbook writes an answer as a spreadsheet.
func QuestionWorkbook(w io.Writer, a goal.Answer) error {
	name := "classes"
	if len(a.Deadlines) > 0 {
		name = "deadlines"
	}
	return Workbook(w, Sheet{name, Question(a)}, about(a.Explanation), Sheet{"facts", facts(a.Facts)})
}
