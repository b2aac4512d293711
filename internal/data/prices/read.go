package prices

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
)

// Read reads a sheet of any form and returns the selected part. progress, if set, gets the number of bytes read so
// far, packed if they are. Faults of the sheet or the selection are returned as a capacity.InputError with every
// fault, up to capacity.MaxFindings. Any other error is the reader's own.
func Read(in io.Reader, sel Selection, progress func(bytes int64)) (Sheet, error) {
	var requests faults
	f := filter{Selection: sel}
	if f.check(&requests); requests.any() {
		return Sheet{}, requests.err()
	}
	t, err := unpack(in, cmp.Or(sel.MaxBytes, defaultMaxBytes), progress)
	if err != nil {
		return Sheet{}, err
	}
	b := newBuilder(f)
	switch t.firstByte() {
	case '{':
		b.sheet.Format = AWS
		return b.finish(readAWS(t, b))
	case '<':
		return Sheet{}, refusal(place{line: 1, column: 1}, "format", "This is a page for a browser and not a price sheet; fetch the file itself.")
	case '[':
		return Sheet{}, refusal(place{line: 1, column: 1}, "format", "This is a list; AWS's offer file is one object, with products and terms. Give that, or a CSV.")
	case 0:
		if _, err := io.Copy(io.Discard, t); err != nil {
			return Sheet{}, err
		}
		return Sheet{}, refusal(place{line: 1, column: 1}, "missing", "The sheet is empty, or begins with nothing but white space.")
	}
	table := newRows(t)
	if err := table.read(); err != nil {
		return Sheet{}, err
	}
	if first := bareColumn(table.record[0]); first == "formatversion" || first == "sku" {
		b.sheet.Format = AWSCSV
		err := readAWSCSV(table, b)
		if err == nil && t.last == ',' { // a cut would otherwise look like an empty field
			err = refusal(table.place(0), "cut_off", "The sheet ends with a comma, in the middle of a row; it was cut off. Fetch it again.")
		}
		return b.finish(err)
	}
	b.sheet.Format = CSV
	return b.finish(readCSV(table, b))
}

// rows reads a CSV row by row, each at most maxRow long.
type rows struct {
	csv     *csv.Reader
	allowed *allowance
	record  []string
	line    int
}

// maxRow is small because each field may take a hundred times its one byte.
const maxRow = 256 << 10

// allowance is a reader that returns a limited number of bytes until it is allowed more.
type allowance struct {
	in   io.Reader
	left int
}

var errLongRow = errors.New("the row is too long")

func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errLongRow
	}
	n, err := a.in.Read(p)
	a.left -= n
	return n, err
}

func newRows(in io.Reader) *rows {
	r := &rows{allowed: &allowance{in: in}}
	r.csv = csv.NewReader(r.allowed)
	r.csv.ReuseRecord, r.csv.FieldsPerRecord = true, -1
	return r
}

// read reads the next row into record, which is valid until the next call; io.EOF at the end. Faults in the quotes
// end the reading, because the fields after them are uncertain.
func (r *rows) read() (err error) {
	r.allowed.left = maxRow
	r.record, err = r.csv.Read()
	var syntax *csv.ParseError
	switch {
	case errors.Is(err, errLongRow):
		return refusal(place{line: r.line + 1, column: 1}, "too_long", "The row that begins after line %d has more than %d bytes; a quote seems to be left open.", r.line, maxRow)
	case errors.As(err, &syntax):
		return refusal(place{line: syntax.StartLine, column: max(1, syntax.Column)}, "syntax", "The quotes of this row are not closed as they should be: a quote inside a text is written twice, and the text stands in quotes. Or the sheet was cut off here; fetch it again.")
	case err != nil:
		return err
	}
	r.line, _ = r.csv.FieldPos(0)
	return nil
}

// place returns the position of a field of the row.
func (r *rows) place(field int) place {
	if field < 0 || field >= len(r.record) {
		return place{line: r.line, column: 1}
	}
	line, column := r.csv.FieldPos(field)
	return place{line: line, column: column}
}
