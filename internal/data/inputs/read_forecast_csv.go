package inputs

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// maxForecastCells is the maximum number of forecasts in a file: ten years of ten classes, or two years of fifty.
const maxForecastCells = 1_000_000

// longestRecord bounds the part of a file in memory at a time. A header with ten thousand classes is shorter.
const longestRecord = 4 << 20

// maxCommas bounds the fields of a record: each takes many times the byte that it can be written in.
const maxCommas = 100_000

// ForecastFile holds the settings for reading a file of forecasts.
type ForecastFile struct {
	Classes []PlannedClass
	Zone    *time.Location // the clocks for times without an offset
	Holes   Holes
	Counts  Counts // of the columns of classes
}

// Read reads CSV in one of two forms. Either each row is a class and hour, with columns class, hour, and jobs or
// arrivals_per_hour; or each row is an hour, with the column hour and one column for each class. It reports all
// faults at once, by line and column, up to MaxFindings. An error of reading is no InputError.
func (f ForecastFile) Read(in io.Reader) (series []Series, err error) {
	r := forecastReader{ForecastFile: f, local: localHours{zone: f.Zone}, index: map[string]int{}, guard: newRecordGuard(in)}
	for _, c := range f.Classes {
		r.names = append(r.names, c.Name)
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	if len(r.findings) == 0 && r.cells == 0 {
		r.found(1, 1, "missing", nil, "There is no row with a number; give at least one.")
	}
	r.check()
	if len(r.findings) > 0 {
		slices.SortStableFunc(r.findings, func(a, b fault.Finding) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, fault.Refusal(r.findings, 0)
	}
	for _, s := range r.all {
		series = append(series, s.Series)
	}
	return series, nil
}

type forecastReader struct {
	ForecastFile
	names    []string // of the classes there are
	local    localHours
	guard    *recordGuard
	csv      *csv.Reader
	columns  []forecastColumn
	wide     bool
	all      []readSeries
	index    map[string]int // of all, by class
	cells    int
	findings []fault.Finding
}

// forecastColumn describes a column: class, hour, jobs, arrivals, or in the wide form the jobs of one class.
type forecastColumn struct {
	holds  string
	series int
}

// readSeries holds a class's rows while they are read.
type readSeries struct {
	Series
	deadline   float64 // 0 if unknown
	last       int64   // the moment of the row before
	descends   int32   // the first line that is not later than the one before
	twice      int32   // the first line with a time that comes twice
	half       int64   // the moment of a time that clocks show twice and that was read once so far; 0 for none
	halfLine   int32
	halfColumn int
}

func (r *forecastReader) found(line, column int, code string, hint *fault.Hint, detail string, values ...any) {
	if len(r.findings) < fault.MaxFindings {
		r.findings = append(r.findings, fault.Finding{Line: line, Column: column, Code: code, Detail: fmt.Sprintf(detail, values...), Hint: hint})
	}
}

// foundIn notes something wrong with a field of the record that was read last.
func (r *forecastReader) foundIn(field int, code string, hint *fault.Hint, detail string, values ...any) {
	line, column := r.csv.FieldPos(field)
	r.found(line, column, code, hint, detail, values...)
}

func (r *forecastReader) read() error {
	start := make([]byte, 4096)
	n, err := io.ReadFull(r.guard, start)
	if start = start[:n]; err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if !r.begins(&start) {
		return nil
	}
	r.csv = csv.NewReader(io.MultiReader(bytes.NewReader(start), r.guard))
	r.csv.ReuseRecord, r.csv.FieldsPerRecord = true, -1
	for last := 0; len(r.findings) < fault.MaxFindings; {
		record, err := r.csv.Read()
		syntax := (*csv.ParseError)(nil)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLongRecord):
			r.found(last+1, 1, "too_long", nil, "A row that begins here or soon after has more than %d MiB or %d commas; is a quotation mark not closed?", longestRecord>>20, maxCommas)
			return nil
		case errors.As(err, &syntax):
			r.found(syntax.Line, max(syntax.Column, 1), "syntax", nil, "Here the quotation marks do not fit: a field stands in them whole or not at all, and those inside it are doubled.")
			continue
		case err != nil:
			return err
		}
		r.guard.begin()
		last, _ = r.csv.FieldPos(0)
		switch {
		case r.columns == nil:
			if !r.header(record) {
				return nil
			}
		case !r.row(record):
			return nil
		}
	}
	return nil
}

// begins checks the beginning of the file for traces of spreadsheets, and removes the byte order mark.
func (r *forecastReader) begins(start *[]byte) bool {
	*start = bytes.TrimPrefix(*start, []byte("\xef\xbb\xbf"))
	first, _, _ := bytes.Cut(*start, []byte("\n"))
	switch {
	case bytes.HasPrefix(*start, []byte("\xff\xfe")), bytes.HasPrefix(*start, []byte("\xfe\xff")):
		r.found(1, 1, "syntax", nil, "The file is in UTF-16; save it as CSV in UTF-8.")
	case bytes.HasPrefix(*start, []byte("PK\x03\x04")):
		r.found(1, 1, "syntax", nil, "The file is a workbook, not CSV; save the sheet as CSV in UTF-8.")
	case !bytes.ContainsRune(first, ',') && bytes.ContainsRune(first, ';'):
		r.found(1, 1, "syntax", nil, "The columns are separated by semicolons; save the file with commas between columns and points in numbers.")
	case !bytes.ContainsRune(first, ',') && bytes.ContainsRune(first, '\t'):
		r.found(1, 1, "syntax", nil, "The columns are separated by tabs; save the file with commas between columns.")
	default:
		return true
	}
	return false
}

// The columns of the long form.
const wideColumn = "class's"

var longColumns = []string{"class", "hour", "jobs", "arrivals_per_hour"}

// header reads the names of the columns. The form is the wide one when no column is named class.
func (r *forecastReader) header(record []string) bool {
	names := make([]string, len(record))
	for i, name := range record {
		names[i] = strings.TrimSpace(name)
	}
	word := func(i int) string { return strings.ToLower(names[i]) }
	has := map[string]bool{}
	for i := range names {
		if has[word(i)] && word(i) != "" && slices.Contains(longColumns, word(i)) {
			r.foundIn(i, "duplicate", nil, "There are two columns %q; keep one.", names[i])
		}
		has[word(i)] = true
	}
	r.wide = !has["class"]
	if !has["hour"] {
		r.foundIn(0, "missing", nil, "There is no column \"hour\". The first row names the columns: class,hour,jobs or class,hour,arrivals_per_hour, or hour and a column for each class.")
		return false
	}
	for i, name := range names {
		column := forecastColumn{holds: word(i)}
		switch {
		case r.wide && word(i) != "hour":
			column.holds = wideColumn
			if column.series = r.series(name, i); column.series >= 0 && slices.ContainsFunc(r.columns, func(c forecastColumn) bool { return c == column }) {
				r.foundIn(i, "duplicate", nil, "There are two columns of the class %q; keep one.", fault.Clip(name))
			}
		case !r.wide && !slices.Contains(longColumns, word(i)):
			r.foundIn(i, "unknown_member", fault.DidYouMean(word(i), longColumns), "There is no column %q beside \"class\"; the others are hour, jobs and arrivals_per_hour.", fault.Clip(name))
		}
		r.columns = append(r.columns, column)
	}
	switch {
	case r.wide && len(names) == 1:
		r.foundIn(0, "missing", nil, "Beside \"hour\" there is no column; give one for each class, named as the class is.")
	case !r.wide && !has["jobs"] && !has["arrivals_per_hour"]:
		r.foundIn(0, "missing", nil, "There is no column \"jobs\" (how many run at once) or \"arrivals_per_hour\"; give one.")
	default:
		return true
	}
	return false
}

// series returns the index of a class's rows, or -1 for an unknown class, which it reports once.
func (r *forecastReader) series(class string, field int) int {
	if at, known := r.index[class]; known {
		return at
	}
	at := slices.Index(r.names, class)
	if at < 0 {
		at = slices.Index(r.names, UnguardFormula(class))
	}
	switch {
	case at >= 0:
		name := r.names[at]
		place, twice := r.index[name]
		if !twice {
			place = len(r.all)
			r.all = append(r.all, readSeries{Series: Series{Class: name}, deadline: r.Classes[at].DeadlineSeconds, last: -1 << 62})
		}
		r.index[name], r.index[strings.Clone(class)] = place, place
		return place
	case class == "":
		r.foundIn(field, "missing", nil, "The class is not named here.")
		return -1
	}
	r.index[strings.Clone(class)] = -1
	r.foundIn(field, "unknown_name", r.meant(class), "There is no class %q.", fault.Clip(class))
	return -1
}

func (r *forecastReader) meant(class string) *fault.Hint {
	if best := fault.Nearest(class, r.names[:min(len(r.names), strict.MaxCompared)]); best != "" {
		return &fault.Hint{Detail: fmt.Sprintf("Did you mean %q?", best), Value: best}
	}
	if len(r.names) == 0 {
		return &fault.Hint{Detail: "The cluster has none yet; create one first."}
	}
	return &fault.Hint{Detail: fmt.Sprintf("There is %q, for instance.", fault.Clip(r.names[0]))}
}

// row reads one record; false ends the reading.
func (r *forecastReader) row(record []string) bool {
	if !slices.ContainsFunc(record, func(field string) bool { return strings.TrimSpace(field) != "" }) {
		return true // spreadsheets leave such rows at the end
	}
	if len(record) != len(r.columns) {
		r.foundIn(0, "syntax", nil, "This row has %d columns and the first one %d; numbers have a point, and texts with commas stand in quotation marks.", len(record), len(r.columns))
		return true
	}
	var at int
	var hour, jobs, arrivals string
	var hourField, jobsField int
	for i, column := range r.columns {
		switch field := record[i]; column.holds {
		case "class":
			at = r.series(strings.TrimSpace(field), i)
		case "hour":
			hour, hourField = strings.TrimSpace(field), i
		case "jobs":
			jobs, jobsField = strings.TrimSpace(field), i
		case "arrivals_per_hour":
			if arrivals = strings.TrimSpace(field); arrivals != "" {
				jobsField = i
			}
		}
	}
	shown, moment, said := r.hour(hour, hourField)
	if r.wide {
		for i, column := range r.columns {
			if field := strings.TrimSpace(record[i]); column.holds == wideColumn && field != "" {
				r.cell(column.series, shown, moment, said, hourField, field, i, r.Counts == CountsArrivals)
			}
		}
	} else {
		switch {
		case jobs != "" && arrivals != "":
			r.foundIn(jobsField, "one_of", nil, "The row has both jobs and arrivals_per_hour; keep one of them.")
		case jobs == "" && arrivals == "":
			r.foundIn(jobsField, "missing", nil, "The number is missing here; leave the row out where the class's own maximum holds.")
		}
		r.cell(at, shown, moment, said, hourField, jobs+arrivals, jobsField, arrivals != "")
	}
	if r.cells > maxForecastCells {
		r.foundIn(0, "too_large", nil, "There are more than %d forecasts up to here, the most of one file; send them in parts.", maxForecastCells)
		return false
	}
	return true
}

// cell adds one number. The hour is a moment, or a time on the zone's clocks.
func (r *forecastReader) cell(at int, shown, moment int64, said hourSaid, hourField int, text string, field int, arrivals bool) {
	jobs, ok := r.number(text, field, arrivals)
	if at < 0 || said == hourUnread {
		return
	}
	s := &r.all[at]
	if arrivals && s.deadline == 0 {
		r.foundIn(field, "not_taken", nil, "The class %q has no deadline, which is how long its jobs hold their VMs; give it one, or give the jobs that run at once in a column \"jobs\".", fault.Clip(s.Class))
		return
	}
	if arrivals {
		if atOnce := jobs * s.deadline / 3600; ok && atOnce > capacity.MaxJobs {
			r.foundIn(field, "range", nil, "So many arrivals are %s jobs at once with the deadline of %s s; it can be %d at most.", fault.Plain(atOnce), fault.Plain(s.deadline), capacity.MaxJobs)
		}
	}
	line, column := r.csv.FieldPos(hourField)
	if said == hourTwice {
		first, second, _ := r.local.moments(shown)
		if s.twice == 0 {
			s.twice = int32(line)
		}
		if moment = first; s.half == first {
			moment, s.half = second, 0
		} else {
			r.halved(s)
			s.half, s.halfLine, s.halfColumn = first, int32(line), column
		}
	}
	if moment <= s.last && s.descends == 0 {
		s.descends = int32(line)
	}
	s.last = moment
	s.Rows = append(s.Rows, SeriesRow{Hour: int32(moment / 3600), Line: int32(line), Jobs: jobs, Arrives: arrivals})
	r.cells++
}

// Thousands reports whether the comma of a number could separate thousands as well as a fraction, as in 1,500: only
// its writer knows.
func Thousands(text string) bool {
	whole, rest, _ := strings.Cut(text, ",")
	digits := strings.TrimLeft(whole, "-+$€£¥ ")
	return len(rest) == 3 && strings.Trim(rest, "0123456789") == "" && len(digits) >= 1 && len(digits) <= 3 && digits[0] != '0'
}

// number reads a number in JSON's notation, which most programs write.
func (r *forecastReader) number(text string, field int, arrivals bool) (float64, bool) {
	what := "The number of jobs"
	limit := float64(capacity.MaxJobs)
	if arrivals {
		what, limit = "The number of arrivals", capacity.MaxArrivals
	}
	if text == "" { // already reported
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case strings.Trim(text, "0123456789.eE+-") != "":
		if strings.EqualFold(strings.TrimLeft(text, "+-"), "nan") || strings.HasPrefix(strings.ToLower(strings.TrimLeft(text, "+-")), "inf") {
			r.foundIn(field, "not_finite", nil, "%s is %s; give a finite number.", what, fault.Clip(text))
			break
		}
		var hint *fault.Hint
		if point := strings.Replace(text, ",", ".", 1); point != text {
			x, err := strconv.ParseFloat(point, 64)
			switch {
			case err != nil:
			case Thousands(text):
				hint = &fault.Hint{Detail: fmt.Sprintf("Write %s, or %s if the comma stands between thousands.", fault.Plain(x), strings.Replace(text, ",", "", 1))}
			default:
				hint = &fault.Hint{Detail: fmt.Sprintf("Write %s.", fault.Plain(x)), Value: x}
			}
		}
		r.foundIn(field, "type", hint, "%q is no number.", fault.Clip(text))
	case errors.Is(err, strconv.ErrRange):
		r.foundIn(field, "range", nil, "%s is %s; it can be %s at most.", what, fault.Clip(text), fault.Plain(limit))
	case err != nil:
		r.foundIn(field, "type", nil, "%q is no number.", fault.Clip(text))
	case x < 0:
		r.foundIn(field, "range", nil, "%s is %s; it cannot be negative.", what, fault.Clip(text))
	case x > limit:
		r.foundIn(field, "range", nil, "%s is %s; it can be %s at most.", what, fault.Clip(text), fault.Plain(limit))
	default:
		return x + 0, true // -0 is 0
	}
	return 0, false
}

// recordGuard stops the reading of an endless record.
type recordGuard struct {
	in           io.Reader
	left, commas int // until then
}

var errLongRecord = errors.New("a record is too long")

func newRecordGuard(in io.Reader) *recordGuard {
	g := &recordGuard{in: in}
	g.begin()
	return g
}

func (g *recordGuard) begin() { g.left, g.commas = longestRecord, maxCommas }

func (g *recordGuard) Read(into []byte) (int, error) {
	if g.left < 0 || g.commas < 0 {
		return 0, errLongRecord
	}
	n, err := g.in.Read(into)
	g.left -= n
	g.commas -= bytes.Count(into[:n], []byte{','})
	return n, err
}
