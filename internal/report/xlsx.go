package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/xuri/excelize/v2"
)

// Sheet is a table with its name in a workbook, of at most 31 characters.
type Sheet struct {
	Name string
	Table
}

// Workbook writes tables as sheets of a spreadsheet. What is a number has the type of a number and everything
// else that of text, whatever it begins with: there are no formulas in it.
func Workbook(w io.Writer, sheets ...Sheet) (err error) {
	f := excelize.NewFile()
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			err = fmt.Errorf("write a spreadsheet: %w", err)
		}
	}()
	bold, err := f.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return err
	}
	for i, s := range sheets {
		if i == 0 {
			err = f.SetSheetName("Sheet1", s.Name)
		} else {
			_, err = f.NewSheet(s.Name)
		}
		if err == nil {
			err = fill(f, s, bold)
		}
		if err != nil {
			return err
		}
	}
	return f.Write(w)
}

func fill(f *excelize.File, s Sheet, bold int) error {
	out, err := f.NewStreamWriter(s.Name)
	if err != nil {
		return err
	}
	if err := out.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	line := make([]any, len(s.Columns))
	for j, name := range s.Columns {
		line[j] = excelize.Cell{StyleID: bold, Value: name}
	}
	if err := out.SetRow("A1", line); err != nil {
		return err
	}
	for i, row := range s.Rows {
		for j, c := range row {
			line[j] = typed(c)
		}
		if err := out.SetRow("A"+strconv.Itoa(i+2), line[:len(row)]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// typed is a cell's value: a number, text, or nothing.
func typed(c Cell) any {
	if c.Text == "" {
		return nil
	}
	if c.Number {
		if x, err := strconv.ParseFloat(c.Text, 64); err == nil {
			return x
		}
		if c.Text == "true" || c.Text == "false" {
			return c.Text == "true"
		}
	}
	return c.Text
}
