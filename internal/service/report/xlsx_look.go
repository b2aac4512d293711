package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/xuri/excelize/v2"
)

// look describes the appearance of a sheet's column: its width, and common formats of its numbers and moments, so
// that they can be compared down the column. A column that also has texts is a list of single figures, aligned left,
// each with a format of its own. The values of cells are not rounded.
type look struct {
	width   float64
	places  int
	moments int // index in momentFormats
	texts   bool
	figures bool // numbers, flags or moments
	indent  int  // of texts that follow figures
}

// Widths in characters. A column leaves some room, because widths count digits and texts have other characters. A
// text longer than the widest column continues in the next lines of its cell.
const (
	narrowestColumn = 8
	widestColumn    = 70
	columnRoom      = 2
)

// momentFormats are for moments that are all midnights, whole minutes, or any.
var momentFormats = []string{"yyyy-mm-dd", "yyyy-mm-dd hh:mm", "yyyy-mm-dd hh:mm:ss"}

// flagFormat serves programs that would show a flag as 1 or 0.
const flagFormat = `"TRUE";"TRUE";"FALSE"`

// lookOf looks through a column.
func lookOf(t *Table, j int) look {
	l := look{width: float64(uniseg.StringWidth(t.Columns[j])) * 1.1} // headings are bold
	most := 0.0
	for _, row := range t.Rows {
		if j >= len(row) || row[j].Text == "" {
			continue
		}
		switch v := valueOf(row[j]).(type) {
		case float64:
			l.figures = true
			l.places, most = max(l.places, placesOf(row[j].Text, v)), max(most, math.Abs(v))
		case bool:
			l.figures = true
		case time.Time:
			l.figures = true
			l.moments = max(l.moments, momentFormatOf(v))
			l.width = max(l.width, float64(len(momentFormats[l.moments])))
		case string:
			l.texts = true
			l.width = max(l.width, float64(uniseg.StringWidth(v)))
		}
	}
	if most > 0 {
		digits := int(math.Log10(max(1, most))) + 1
		l.width = max(l.width, float64(1+digits+digits/3+1+l.places)) // with a sign and separators
	}
	l.width = min(max(l.width, narrowestColumn), widestColumn) + columnRoom
	return l
}

// right reports whether the whole column is aligned right.
func (l *look) right() bool { return l.figures && !l.texts }

// lineHeight is the height of a line of text, in points.
const lineHeight = 15.0

// heightOf returns the height of a row of that many lines; 0 is a spreadsheet's default for one line.
func heightOf(lines int) float64 {
	if lines == 1 {
		return 0
	}
	return min(lineHeight*float64(lines), excelize.MaxRowHeight)
}

// lines estimates the lines of a cell's text from above: letters are narrower than the digits that widths count.
func (l *look) lines(c Cell) int {
	if c.Number || len(c.Text) <= int(l.width-columnRoom) {
		return 1
	}
	return int(math.Ceil(float64(uniseg.StringWidth(c.Text)) / (l.width - columnRoom)))
}

// valueOf returns the value of a cell: a number, a flag, a moment (UTC) or a text.
func valueOf(c Cell) any {
	if c.Number {
		if x, err := strconv.ParseFloat(c.Text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			return x
		}
		if c.Text == "true" || c.Text == "false" {
			return c.Text == "true"
		}
		if at, err := time.Parse(time.RFC3339, c.Text); err == nil && at.Year() >= 1901 {
			return at.UTC()
		}
	}
	return cut(c.Text, excelize.TotalCellChars)
}

// placesOf returns the number of decimal places shown for a number: all if they are few, otherwise enough for four
// significant digits, and two for large numbers.
func placesOf(text string, x float64) int {
	if strings.ContainsAny(text, "eE") {
		text = strconv.FormatFloat(x, 'f', -1, 64)
	}
	_, fraction, _ := strings.Cut(text, ".")
	n := len(fraction)
	switch x = math.Abs(x); {
	case n <= 4 || x == 0:
		return min(n, 4)
	case x >= 100:
		return 2
	case x >= 1:
		return 4
	}
	return min(n, len(fraction)-len(strings.TrimLeft(fraction, "0"))+4)
}

func momentFormatOf(at time.Time) int {
	switch {
	case at.Second() != 0 || at.Nanosecond() != 0:
		return 2
	case at.Hour() != 0 || at.Minute() != 0:
		return 1
	}
	return 0
}

// styles creates each style of a workbook once.
type styles struct {
	file *excelize.File
	made map[excelize.Alignment]map[string]int
}

// font is the default font of spreadsheets.
var font = excelize.Font{Family: "Calibri", Size: 11}

func (s *styles) of(format string, a excelize.Alignment, bold bool) (int, error) {
	key := format
	if bold {
		key = "bold"
	}
	if id, ok := s.made[a][key]; ok {
		return id, nil
	}
	own := font
	own.Bold = bold
	style := excelize.Style{Font: &own, Alignment: &a}
	if format != "" {
		style.CustomNumFmt = &format
	}
	id, err := s.file.NewStyle(&style)
	if err == nil {
		if s.made[a] == nil {
			s.made[a] = make(map[string]int)
		}
		s.made[a][key] = id
	}
	return id, err
}

// heading returns the style of a column's name.
func (s *styles) heading(l *look) (int, error) {
	a := excelize.Alignment{Vertical: "top", WrapText: true}
	if l.right() {
		a.Horizontal = "right"
	} else if l.indent > 0 {
		a.Horizontal, a.Indent = "left", l.indent
	}
	return s.of("", a, true)
}

// cell returns a cell's value in its style, or nothing if it is empty.
func (s *styles) cell(c Cell, l *look) (any, error) {
	if c.Text == "" {
		return nil, nil
	}
	value, format, places := valueOf(c), "", l.places
	a := excelize.Alignment{Vertical: "top"}
	if l.texts {
		a.Horizontal = "left"
	}
	switch v := value.(type) {
	case string:
		if a.Horizontal, a.WrapText = "", l.lines(c) > 1; l.indent > 0 {
			a.Horizontal, a.Indent = "left", l.indent
		}
	case bool:
		if format = flagFormat; !l.texts {
			a.Horizontal = "right"
		}
	case float64:
		if l.texts {
			places = placesOf(c.Text, v)
		}
		if format = "#,##0"; places > 0 {
			format += "." + strings.Repeat("0", places)
		}
	case time.Time:
		at := l.moments
		if l.texts {
			at = momentFormatOf(v)
		}
		format = momentFormats[at]
	}
	id, err := s.of(format, a, false)
	return excelize.Cell{StyleID: id, Value: value}, err
}
