package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"
)

// Sheet is a table with its name in a workbook. Names that are invalid in a spreadsheet are mended, and a table
// longer than a sheet continues in another.
type Sheet struct {
	Name string
	Table
}

// Workbook writes tables as sheets of a spreadsheet. Numbers and moments (UTC) have their types and everything else
// is text, whatever it begins with: there are no formulas.
func Workbook(w io.Writer, sheets ...Sheet) (err error) {
	f := excelize.NewFile().SetZipWriter(newOrderedZip)
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			err = fmt.Errorf("write a spreadsheet: %w", err)
		}
	}()
	look := &styles{f, make(map[excelize.Alignment]map[string]int)}
	for i, s := range fitting(sheets, excelize.TotalRows-1) {
		if i == 0 {
			err = f.SetSheetName("Sheet1", s.Name)
		} else {
			_, err = f.NewSheet(s.Name)
		}
		if err == nil {
			err = fill(f, s, look)
		}
		if err != nil {
			return err
		}
	}
	return f.Write(w)
}

func fill(f *excelize.File, s Sheet, in *styles) error {
	if err := onPaper(f, s.Name); err != nil {
		return err
	}
	out, err := f.NewStreamWriter(s.Name)
	if err != nil {
		return err
	}
	if err := out.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	looks, line := make([]look, len(s.Columns)), make([]any, len(s.Columns))
	for j, name := range s.Columns {
		looks[j] = lookOf(&s.Table, j)
		if j > 0 && looks[j-1].right() {
			looks[j].indent = 1
		}
		if err := out.SetColWidth(j+1, j+1, looks[j].width); err != nil {
			return err
		}
		id, err := in.heading(&looks[j])
		if err != nil {
			return err
		}
		line[j] = excelize.Cell{StyleID: id, Value: name}
	}
	if err := out.SetRow("A1", line); err != nil {
		return err
	}
	for i, row := range s.Rows {
		lines := 1
		for j, c := range row {
			if line[j], err = in.cell(c, &looks[j]); err != nil {
				return err
			}
			lines = max(lines, looks[j].lines(c))
		}
		if err := out.SetRow("A"+strconv.Itoa(i+2), line[:len(row)], excelize.RowOpts{Height: heightOf(lines)}); err != nil {
			return err
		}
	}
	return out.Flush()
}

// onPaper has a sheet printed as wide as the page, with its heading on every one.
func onPaper(f *excelize.File, sheet string) error {
	err := f.SetSheetProps(sheet, &excelize.SheetPropsOptions{FitToPage: new(true)})
	if err == nil {
		err = f.SetPageLayout(sheet, &excelize.PageLayoutOptions{Orientation: new("landscape"), Size: new(paperA4), FitToWidth: new(1), FitToHeight: new(0)})
	}
	if err == nil {
		err = f.SetDefinedName(&excelize.DefinedName{Name: "_xlnm.Print_Titles", Scope: sheet, RefersTo: "'" + strings.ReplaceAll(sheet, "'", "''") + "'!$1:$1"})
	}
	return err
}

const paperA4 = 9 // as spreadsheets number sizes of paper

// cut shortens a text to that many UTF-16 units, which spreadsheets count, and marks the cut.
func cut(s string, most int) string {
	units, mark := 0, 0 // the last place where the mark would fit
	for i, r := range s {
		if units < most {
			mark = i
		}
		if units += utf16.RuneLen(r); units > most {
			return s[:mark] + "…"
		}
	}
	return s
}

// fitting returns the sheets under valid names, each with at most that many rows.
func fitting(sheets []Sheet, most int) []Sheet {
	var fit []Sheet
	taken := map[string]bool{"history": true} // kept by spreadsheets for themselves
	for _, s := range sheets {
		for rest := s.Rows; ; rest = rest[most:] {
			part := s
			part.Name = sheetName(s.Name, taken)
			part.Rows = rest[:min(most, len(rest))]
			fit = append(fit, part)
			if len(rest) <= most {
				break
			}
		}
	}
	return fit
}

// sheetName returns a name of at most 31 units that no other sheet has in any letter case.
func sheetName(name string, taken map[string]bool) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`:\/?*[]`, r) {
			return '_'
		}
		return r
	}, name), "'")
	if name == "" {
		name = "sheet"
	}
	for n := 1; ; n++ {
		mark := ""
		if n > 1 {
			mark = fmt.Sprintf(" (%d)", n)
		}
		free := strings.TrimRight(cut(name, excelize.MaxSheetNameLength-len(mark)), "'") + mark
		if low := strings.ToLower(free); !taken[low] {
			taken[low] = true
			return free
		}
	}
}
