package report

import (
	"fmt"
	"io"
	"slices"

	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
)

// Waiting returns a row for each point, its parameters first.
func Waiting(a timetable.SweepAnswer) Table {
	var t Table
	for i := range a.Vary {
		t.Columns = append(t.Columns, whatif.ParameterName(a.Vary[i]))
	}
	t.Columns = append(t.Columns, "status", "currency", billColumn, valueColumn, togetherColumn, "bound", "most_vms", "executions", "refused", "later", "conflict")
	for i := range a.Points {
		p := &a.Points[i]
		row := make([]Cell, 0, len(t.Columns))
		for _, x := range p.Parameters {
			row = append(row, number(x))
		}
		row = append(row, text(string(p.Status)), text(a.Currency))
		if p.Status == capacity.InfeasibleStatus {
			for len(row) < len(t.Columns)-1 {
				row = append(row, Cell{"", true})
			}
		} else {
			row = append(row, amount(&p.Bill), amount(&p.ValueRefused), amount(&p.Cost.Total), amount(&p.Bound), whole(p.MostVMs), whole(p.Executions), whole(p.Refused), whole(p.Later))
		}
		t.Rows = append(t.Rows, append(row, text(p.Conflict)))
	}
	return t
}

// WaitingText writes the points for a terminal.
func WaitingText(w io.Writer, a timetable.SweepAnswer) error {
	short := Waiting(a)
	for i := range a.Points {
		if p := &a.Points[i]; p.Status != capacity.InfeasibleStatus {
			short.Rows[i][slices.Index(short.Columns, "bound")] = Cell{words.CentsDown(p.Bound), true}
		}
	}
	keep := map[string]bool{"status": true, billColumn: true, valueColumn: true, "bound": true, "most_vms": true, "refused": true, "later": true, "conflict": true}
	for i := range a.Vary {
		keep[short.Columns[i]] = true
	}
	if err := short.only(keep).Text(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", visible(a.Explanation, 0))
	return err
}

// WaitingWorkbook writes the points as a spreadsheet, and its sentences.
func WaitingWorkbook(w io.Writer, a timetable.SweepAnswer) error {
	return Workbook(w, Sheet{"points", Waiting(a)}, about(a.Explanation), Sheet{"facts", facts(a.Facts)})
}
