package history

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tableColumns lists the columns of a table of durations, in any order. A row is an attempt at a task; those of one
// execution need not stand together. start and finish, or duration_s, give the duration of an attempt. shuffle_s is
// the time after its start at which a reduce attempt had all its input, in seconds.
var tableColumns = []string{"job", "execution", "task", "kind", "start", "finish", "duration_s", "shuffle_s", "outcome", "host"}

// maxRow bounds the held part of a table: each of its fields may take a hundred times its one byte.
const maxRow = 256 << 10

func isTableHeader(line []byte) bool {
	names := strings.Split(strings.ToLower(string(line)), ",")
	known, tells := 0, false
	for _, n := range names {
		if at := slices.Index(tableColumns, strings.Trim(n, " \t\r\"")); at >= 0 {
			known++
			tells = tells || at < 3 // the job, the execution or the task
		}
	}
	return known >= 2 && tells
}

// readTable reads CSV. It delivers executions when all of it is read.
func readTable(r io.Reader, to Sink) error {
	guard := &rowGuard{in: r, left: maxRow}
	in := csv.NewReader(guard)
	in.ReuseRecord, in.FieldsPerRecord, in.TrimLeadingSpace = true, -1, true
	t := table{to: to, column: map[string]int{}, known: map[[2]string]*tabled{}, tasks: map[string]int32{}}
	header, err := in.Read()
	if err == nil {
		err = t.header(header)
	}
	for err == nil {
		guard.left = maxRow
		var record []string
		if record, err = in.Read(); err != nil {
			break
		}
		line, _ := in.FieldPos(0)
		if t.held > maxHeld {
			return to.refuse(fmt.Sprintf("line %d", line), "The table has more executions, tasks and attempts than the %d MiB hold in which it is put together. Divide it, so that the rows of an execution stay in one file.", maxHeld>>20)
		}
		if wrong := t.row(record); wrong != "" {
			err = to.refuse(fmt.Sprintf("line %d", line), "%s", wrong)
		}
	}
	var syntax *csv.ParseError
	var cut *damage
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, errNoTable):
		return nil
	case errors.As(err, &syntax):
		err = to.refuse(fmt.Sprintf("line %d", syntax.StartLine), "This is no CSV: %v. What follows is not read.", syntax.Err)
	case errors.As(err, &cut):
		err = to.refuse("the table", "%s", cut.detail)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return t.deliver()
}

// rowGuard ends a reading whose row has no end.
type rowGuard struct {
	in   io.Reader
	left int
}

func (g *rowGuard) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, &damage{fmt.Sprintf("A row is longer than %d bytes; perhaps a quote is not closed. What follows is not read.", maxRow)}
	}
	n, err := g.in.Read(p[:min(len(p), 4<<10)])
	g.left -= n
	return n, err
}

var errNoTable = errors.New("the header is refused")

type table struct {
	to     Sink
	column map[string]int
	known  map[[2]string]*tabled // by job and execution
	all    []*tabled
	tasks  map[string]int32 // of all executions, which often share them
	held   int              // bytes, about
}

// tabled is an execution of a table so far.
type tabled struct {
	*builder
	dated, undated bool
	shuffled       int // reduce attempts with a recorded shuffle, and without
	unshuffled     int
}

func (t *table) header(record []string) error {
	refuse := func(format string, args ...any) error {
		if err := t.to.refuse("line 1", format, args...); err != nil {
			return err
		}
		return errNoTable
	}
	for i, name := range record {
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\uFEFF")))
		if !slices.Contains(tableColumns, name) {
			return refuse("There is no column %q; the columns are %s.", clip(name), strings.Join(tableColumns, ", "))
		}
		if _, twice := t.column[name]; twice {
			return refuse("The column %q is there twice; leave one.", name)
		}
		t.column[name] = i
	}
	has := func(name string) bool { _, is := t.column[name]; return is }
	switch {
	case !has("job") || !has("execution") || !has("task") || !has("kind"):
		return refuse("The columns job, execution, task and kind are needed.")
	case !has("duration_s") && !(has("start") && has("finish")):
		return refuse("The columns start and finish are needed, or duration_s.")
	}
	return nil
}

// row reads an attempt, or returns its fault.
func (t *table) row(record []string) (wrong string) {
	field := func(name string) string {
		if i, is := t.column[name]; is && i < len(record) {
			return strings.TrimSpace(record[i])
		}
		return ""
	}
	if len(record) != len(t.column) {
		return fmt.Sprintf("The row has %d fields and the header %d.", len(record), len(t.column))
	}
	job, execution, task := field("job"), field("execution"), field("task")
	if job == "" || execution == "" || task == "" {
		return "The job, the execution or the task is empty."
	}
	a := Attempt{Host: -1}
	switch kind := strings.ToLower(field("kind")); kind {
	case "map":
		a.Kind = Map
	case "reduce":
		a.Kind = Reduce
	default:
		return fmt.Sprintf("The kind is %q; it is map or reduce.", clip(kind))
	}
	switch outcome := strings.ToLower(field("outcome")); outcome {
	case "", "succeeded", "success":
		a.Outcome = Succeeded
	case "failed":
		a.Outcome = Failed
	case "killed":
		a.Outcome = Killed
	default:
		return fmt.Sprintf("The outcome is %q; it is succeeded, failed or killed, or empty, which is succeeded.", clip(outcome))
	}
	dated, wrong := times(&a, field("start"), field("finish"), field("duration_s"))
	if wrong != "" {
		return wrong
	}
	split := field("shuffle_s")
	if split != "" {
		s, ok := seconds(split)
		switch {
		case !ok:
			return fmt.Sprintf("shuffle_s is %q; it is a number of seconds from 0 to %d.", clip(split), maxTableSeconds)
		case a.Kind != Reduce:
			return "A map attempt has no shuffle; leave shuffle_s empty."
		case a.Start+s > a.Finish:
			return fmt.Sprintf("shuffle_s is %s, longer than the attempt.", clip(split))
		}
		a.Shuffled = a.Start + s
	}
	e := t.execution(job, execution)
	if a.Kind == Reduce && a.Outcome == Succeeded {
		if split == "" {
			e.unshuffled++
		} else {
			e.shuffled++
		}
	}
	e.dated, e.undated = e.dated || dated, e.undated || !dated
	before := e.held
	a.Task, a.Host = unnumbered+e.number(t.tasks, a.Kind.String()+" "+task), e.host(field("host"))
	e.Attempts.Add(a)
	t.held += attemptBytes + e.held - before
	return ""
}

func (t *table) execution(job, id string) *tabled {
	key := [2]string{job, id}
	e := t.known[key]
	if e == nil {
		e = &tabled{builder: newBuilder()}
		// Tables number executions by job, such as by day; a cluster identifies them by their ids alone.
		e.ID, e.Name, e.Outcome = clip(job+"/"+id), clip(job), Succeeded
		t.known[[2]string{strings.Clone(job), strings.Clone(id)}] = e
		t.all = append(t.all, e)
		t.held += executionBytes + 2*(len(job)+len(id))
	}
	return e
}

// maxTableSeconds bounds the duration of an attempt.
const maxTableSeconds = 10_000_000

// seconds reads a number of seconds as milliseconds.
func seconds(s string) (ms int64, ok bool) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x <= maxTableSeconds) {
		return 0, false
	}
	return int64(math.Round(x * 1000)), true
}

// times sets the start and end of an attempt. One without moments starts at the Epoch.
func times(a *Attempt, start, finish, duration string) (dated bool, wrong string) {
	if start == "" && finish == "" {
		took, ok := seconds(duration)
		if !ok {
			return false, fmt.Sprintf("duration_s is %q; it is a number of seconds from 0 to %d, and may be empty only where start and finish are given.", clip(duration), maxTableSeconds)
		}
		a.Start, a.Finish = Epoch, Epoch+took
		return false, ""
	}
	for _, m := range []struct {
		name, text string
		to         *int64
	}{{"start", start, &a.Start}, {"finish", finish, &a.Finish}} {
		if m.text == "" && duration != "" {
			continue
		}
		ms, err := strconv.ParseInt(m.text, 10, 64)
		if err != nil {
			at, err := time.Parse(time.RFC3339Nano, m.text)
			if err != nil {
				return false, fmt.Sprintf("The %s is %q; write it as 2026-03-01T09:30:00Z or as milliseconds since 1970.", m.name, clip(m.text))
			}
			ms = at.UnixMilli()
		}
		if *m.to = moment(ms); *m.to == 0 {
			return false, fmt.Sprintf("The %s is %q, which is not between 1990 and 2200; numbers are milliseconds since 1970.", m.name, clip(m.text))
		}
	}
	took, ok := seconds(duration)
	switch {
	case duration != "" && !ok:
		return false, fmt.Sprintf("duration_s is %q; it is a number of seconds from 0 to %d.", clip(duration), maxTableSeconds)
	case a.Finish == 0:
		a.Finish = a.Start + took
	case a.Start == 0:
		a.Start = a.Finish - took
	case duration != "" && a.Finish-a.Start != took:
		return false, "duration_s is not the time from start to finish; leave one of them empty."
	}
	if a.Finish < a.Start {
		return false, "The finish is before the start."
	}
	return true, ""
}

func (t *table) deliver() error {
	if len(t.all) == 0 {
		return t.to.refuse("the table", "There is no row in it that can be taken.")
	}
	for _, e := range t.all {
		var err error
		switch {
		case e.dated && e.undated:
			err = t.to.refuse(e.ID, "Some of its rows have a start and others none. Give it for all or for none.")
		case e.shuffled > 0 && e.unshuffled > 0:
			err = t.to.refuse(e.ID, "Some of its reduce attempts have a shuffle_s and others none. Give it for all or for none.")
		default:
			if e.undated {
				e.Clock = Untimed
			}
			e.Unsplit = e.unshuffled > 0
			e.note("The table does not say when the execution was submitted and how it ended; it is taken to have succeeded where each of its tasks did.")
			e.failedTask()
			err = t.to.Execution(&e.Execution)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// failedTask marks an execution as failed if a task has no successful attempt.
func (e *tabled) failedTask() {
	good := map[int32]bool{}
	for a := range e.Attempts.All() {
		good[a.Task] = good[a.Task] || a.Outcome == Succeeded
	}
	bad := 0
	for _, ok := range good {
		if !ok {
			bad++
		}
	}
	if bad > 0 {
		e.Outcome, e.Diagnosis = Failed, fmt.Sprintf("tasks without an attempt that succeeded: %d of %d", bad, len(good))
	}
}
