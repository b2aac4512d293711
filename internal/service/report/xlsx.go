package report

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
)

// Sheet is a table with its name in a workbook. Names that are invalid in a spreadsheet are mended, and a table
// longer than a sheet continues in another.
type Sheet struct {
	Name string
	Table
}

// Workbook writes tables as sheets of a spreadsheet. Numbers and moments (UTC) have their types and everything else
// is text, whatever it begins with: there are no formulas.
func Workbook(w io.Writer, sheets ...Sheet) error {
	sheets = fitting(sheets, mostRows-1)
	archive, in := zip.NewWriter(w), newStyles()
	var err error
	part := func(name string, write func(*bufio.Writer)) {
		if err != nil {
			return
		}
		var out io.Writer
		if out, err = archive.Create(name); err == nil {
			to := bufio.NewWriter(out) // keeps its first error
			to.WriteString(xml.Header)
			write(to)
			err = to.Flush()
		}
	}
	part("[Content_Types].xml", func(to *bufio.Writer) { contentTypes(to, len(sheets)) })
	part("_rels/.rels", func(to *bufio.Writer) { relations(to, "officeDocument", "xl/workbook.xml") })
	part("xl/workbook.xml", func(to *bufio.Writer) { contents(to, sheets) })
	files := []string{"styles", "styles.xml"}
	for i := range sheets {
		file := fmt.Sprintf("worksheets/sheet%d.xml", i+1)
		files = append(files, "worksheet", file)
		part("xl/"+file, func(to *bufio.Writer) { fill(to, &sheets[i].Table, in) })
	}
	part("xl/styles.xml", in.write) // known when the cells are written
	part("xl/_rels/workbook.xml.rels", func(to *bufio.Writer) { relations(to, files...) })
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		return fmt.Errorf("write a spreadsheet: %w", err)
	}
	return nil
}

// Limits of spreadsheets.
const (
	mostRows         = 1_048_576
	mostUnits        = 32_767 // of UTF-16 in a cell
	longestSheetName = 31
	tallestRow       = 409 // points
	paperA4          = 9   // as spreadsheets number sizes of paper
)

// Name spaces of the files in a workbook (ECMA-376).
const (
	mainSpace     = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	relationSpace = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	packageSpace  = "http://schemas.openxmlformats.org/package/2006/"
	mediaType     = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

func contentTypes(to *bufio.Writer, sheets int) {
	fmt.Fprintf(to, `<Types xmlns="%scontent-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`, packageSpace)
	fmt.Fprintf(to, `<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="%ssheet.main+xml"/>`, mediaType)
	fmt.Fprintf(to, `<Override PartName="/xl/styles.xml" ContentType="%sstyles+xml"/>`, mediaType)
	for i := range sheets {
		fmt.Fprintf(to, `<Override PartName="/xl/worksheets/sheet%d.xml" ContentType="%sworksheet+xml"/>`, i+1, mediaType)
	}
	to.WriteString(`</Types>`)
}

// relations writes which files belong to one, as pairs of kind and name; the n-th has the identity "rId" and n.
func relations(to *bufio.Writer, files ...string) {
	fmt.Fprintf(to, `<Relationships xmlns="%srelationships">`, packageSpace)
	for i := 0; i < len(files); i += 2 {
		fmt.Fprintf(to, `<Relationship Id="rId%d" Type="%s/%s" Target="%s"/>`, i/2+1, relationSpace, files[i], files[i+1])
	}
	to.WriteString(`</Relationships>`)
}

// contents lists the sheets. Each is printed with its heading on every page.
func contents(to *bufio.Writer, sheets []Sheet) {
	fmt.Fprintf(to, `<workbook %s xmlns:r="%s"><bookViews><workbookView/></bookViews><sheets>`, mainSpace, relationSpace)
	for i, s := range sheets {
		fmt.Fprintf(to, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, escaped(s.Name), i+1, i+2)
	}
	to.WriteString(`</sheets><definedNames>`)
	for i, s := range sheets {
		fmt.Fprintf(to, `<definedName name="_xlnm.Print_Titles" localSheetId="%d">%s!$1:$1</definedName>`, i, escaped("'"+strings.ReplaceAll(s.Name, "'", "''")+"'"))
	}
	to.WriteString(`</definedNames></workbook>`)
}

// fill writes a sheet: its first row stays in sight, and it is printed as wide as the page.
func fill(to *bufio.Writer, t *Table, in *styles) {
	fmt.Fprintf(to, `<worksheet %s><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView workbookViewId="0">`, mainSpace)
	to.WriteString(`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/>`)
	looks := make([]look, len(t.Columns))
	for j := range looks {
		looks[j] = lookOf(t, j)
		if j > 0 && looks[j-1].right() {
			looks[j].indent = 1
		}
	}
	if len(looks) > 0 {
		to.WriteString(`<cols>`)
		for j, l := range looks {
			fmt.Fprintf(to, `<col min="%d" max="%[1]d" width="%g" customWidth="1"/>`, j+1, l.width)
		}
		to.WriteString(`</cols>`)
	}
	to.WriteString(`<sheetData><row r="1">`)
	for j, name := range t.Columns {
		writeCell(to, looks[j].column, 1, in.of(looks[j].heading()), name)
	}
	to.WriteString(`</row>`)
	for i, row := range t.Rows {
		lines := 1
		for j, c := range row {
			lines = max(lines, looks[j].lines(c))
		}
		fmt.Fprintf(to, `<row r="%d"`, i+2)
		if lines > 1 {
			fmt.Fprintf(to, ` ht="%g" customHeight="1"`, min(lineHeight*float64(lines), tallestRow))
		}
		to.WriteByte('>')
		for j, c := range row {
			if c.Text != "" {
				value := valueOf(c)
				writeCell(to, looks[j].column, i+2, in.of(looks[j].cell(c, value)), value)
			}
		}
		to.WriteString(`</row>`)
	}
	fmt.Fprintf(to, `</sheetData><pageSetup paperSize="%d" fitToHeight="0" orientation="landscape"/></worksheet>`, paperA4)
}

// writeCell writes a value; moments are days since 1899-12-30.
func writeCell(to *bufio.Writer, column string, row, style int, value any) {
	fmt.Fprintf(to, `<c r="%s%d" s="%d"`, column, row, style)
	switch v := value.(type) {
	case string:
		fmt.Fprintf(to, ` t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`, escaped(cellText(v)))
	case bool:
		is := 0
		if v {
			is = 1
		}
		fmt.Fprintf(to, ` t="b"><v>%d</v></c>`, is)
	case time.Time:
		const epoch = 25_569 // 1970-01-01
		days := float64(v.Unix())/86_400 + float64(v.Nanosecond())/86_400e9 + epoch
		fmt.Fprintf(to, `><v>%s</v></c>`, strconv.FormatFloat(days, 'f', -1, 64))
	case float64:
		fmt.Fprintf(to, `><v>%s</v></c>`, strconv.FormatFloat(v, 'f', -1, 64))
	}
}

// cellText guards what looks like a character's code: spreadsheets read _x0041_ as A, and _x005F_ as a line.
func cellText(s string) string { return strings.ReplaceAll(s, "_x", "_x005F_x") }

// escaped returns a text for XML; a character that XML cannot hold becomes U+FFFD.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder has no errors
	return b.String()
}

// columnName returns the letters of a column: A to Z, then AA.
func columnName(j int) string {
	name := ""
	for j++; j > 0; j = (j - 1) / 26 {
		name = string(rune('A'+(j-1)%26)) + name
	}
	return name
}

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
		free := strings.TrimRight(cut(name, longestSheetName-len(mark)), "'") + mark
		if low := strings.ToLower(free); !taken[low] {
			taken[low] = true
			return free
		}
	}
}
