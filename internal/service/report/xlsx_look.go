package report

import (
	"bufio"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"
)

// look describes the appearance of a sheet's column: its width, and common formats of its numbers and moments, so
// that they can be compared down the column. A column that also has texts is a list of single figures, aligned left,
// each with a format of its own. The values of cells are not rounded.
type look struct {
	column  string // its letters
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
	l := look{column: columnName(j), width: float64(uniseg.StringWidth(t.Columns[j])) * 1.1} // headings are bold
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
	return cut(c.Text, mostUnits)
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

// style is the appearance of a cell.
type style struct {
	format, horizontal string
	indent             int
	wrap, bold         bool
}

// styles numbers the styles of a workbook; 0 is that of cells that have none.
type styles struct {
	list    []style
	numbers map[style]int
}

func newStyles() *styles { return &styles{make([]style, 1), make(map[style]int)} }

func (s *styles) of(x style) int {
	n, ok := s.numbers[x]
	if !ok {
		n = len(s.list)
		s.list, s.numbers[x] = append(s.list, x), n
	}
	return n
}

// write writes the styles. Formats of one's own have numbers from 164 on.
func (s *styles) write(to *bufio.Writer) {
	const ownFormats = 164
	var formats []string
	var cells strings.Builder
	for i, x := range s.list {
		format, font := 0, 0
		if x.format != "" {
			at := slices.Index(formats, x.format)
			if at < 0 {
				at, formats = len(formats), append(formats, x.format)
			}
			format = ownFormats + at
		}
		if x.bold {
			font = 1
		}
		fmt.Fprintf(&cells, `<xf numFmtId="%d" fontId="%d" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"`, format, font)
		if i == 0 {
			cells.WriteString(`/>`)
			continue
		}
		cells.WriteString(` applyAlignment="1"><alignment vertical="top"`)
		if x.horizontal != "" {
			fmt.Fprintf(&cells, ` horizontal="%s" indent="%d"`, x.horizontal, x.indent)
		}
		fmt.Fprintf(&cells, ` wrapText="%t"/></xf>`, x.wrap)
	}
	fmt.Fprintf(to, `<styleSheet %s>`, mainSpace)
	if len(formats) > 0 {
		fmt.Fprintf(to, `<numFmts count="%d">`, len(formats))
		for i, format := range formats {
			fmt.Fprintf(to, `<numFmt numFmtId="%d" formatCode="%s"/>`, ownFormats+i, escaped(format))
		}
		to.WriteString(`</numFmts>`)
	}
	const font = `<sz val="11"/><name val="Calibri"/><family val="2"/></font>` // the default font of spreadsheets
	to.WriteString(`<fonts count="2"><font>` + font + `<font><b/>` + font + `</fonts>`)
	to.WriteString(`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>`)
	to.WriteString(`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>`)
	to.WriteString(`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>`)
	fmt.Fprintf(to, `<cellXfs count="%d">%s</cellXfs>`, len(s.list), cells.String())
	to.WriteString(`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`)
}

// heading returns the style of the column's name.
func (l *look) heading() style {
	x := style{wrap: true, bold: true}
	if l.right() {
		x.horizontal = "right"
	} else if l.indent > 0 {
		x.horizontal, x.indent = "left", l.indent
	}
	return x
}

// cell returns the style of a cell with that value.
func (l *look) cell(c Cell, value any) style {
	var x style
	if l.texts {
		x.horizontal = "left"
	}
	switch v := value.(type) {
	case string:
		if x.horizontal, x.wrap = "", l.lines(c) > 1; l.indent > 0 {
			x.horizontal, x.indent = "left", l.indent
		}
	case bool:
		if x.format = flagFormat; !l.texts {
			x.horizontal = "right"
		}
	case float64:
		places := l.places
		if l.texts {
			places = placesOf(c.Text, v)
		}
		if x.format = "#,##0"; places > 0 {
			x.format += "." + strings.Repeat("0", places)
		}
	case time.Time:
		at := l.moments
		if l.texts {
			at = momentFormatOf(v)
		}
		x.format = momentFormats[at]
	}
	return x
}
