package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options configures a reading.
type Options struct {
	MaxBytes int64             // of one unpacked file; 0 means DefaultMaxBytes
	Progress func(bytes int64) // called with the packed bytes read so far; may be nil
	Zone     *time.Location    // of local times that do not say theirs; nil is not known
}

// maxRefusals is the number of single refusals of one file; a file with more is something else.
const maxRefusals = 1000

// Read reads a history of any form, which it recognizes by its content: Hadoop's job history, traces of Rumen and of
// the scheduler load simulator, event logs of Spark, and tables of durations. Lists of Slurm's sacct count too. It may be packed with gzip or zstd.
// Unusable parts are refused, and the rest is read. An error is the sink's or the reader's own.
func Read(r io.Reader, o Options, to Sink) error {
	text, err := unpack(&heard{in: r, progress: o.Progress}, cmp.Or(o.MaxBytes, DefaultMaxBytes))
	if err == nil {
		return read(text, o.Zone, to)
	}
	return broken(err, to)
}

// broken refuses a file with faulty packing.
func broken(err error, to Sink) error {
	var cut *damage
	if errors.As(err, &cut) {
		return to.refuse("the file", "%s", cut.detail)
	}
	return err
}

type heard struct {
	in       io.Reader
	bytes    int64
	progress func(int64)
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	if h.bytes += int64(n); n > 0 && h.progress != nil {
		h.progress(h.bytes)
	}
	return n, err
}

// headSize is the part of a text that is examined to recognize it.
const headSize = 64 << 10

var errEnough = errors.New("enough was refused")

func read(text io.Reader, zone *time.Location, to Sink) error {
	in := bufio.NewReaderSize(text, lineSpace)
	head, err := in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return broken(err, to)
	}
	reader, why, foreign := recognize(head, zone)
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		_, _ = in.Discard(len(byteOrderMark)) // it was peeked at
	}
	if reader == nil {
		return to.Refused(Refusal{Where: "the file", Detail: why, Foreign: foreign})
	}
	refused, tell := 0, to.Refused
	to.Refused = func(r Refusal) error {
		if refused++; refused <= maxRefusals {
			return tell(r)
		}
		return cmp.Or(tell(Refusal{Where: r.Where, Detail: fmt.Sprintf("More than %d things in this file cannot be taken; the rest of it is not read. Perhaps it is damaged, or something else.", maxRefusals)}), errEnough)
	}
	err = reader(in, to)
	var tooLarge Refusal
	switch {
	case errors.Is(err, errEnough):
		return nil
	case errors.As(err, &tooLarge): // nothing is taken of the execution around it
		return tell(tooLarge)
	}
	return err
}

type reader func(io.Reader, Sink) error

const (
	syntheticWorkload = "It is a synthetic workload for the scheduler load simulator: it describes jobs that nobody ran, so that nothing was measured. Give the trace that the simulator or a cluster recorded."
	topology          = "It is the topology of a cluster, as Rumen writes it beside a trace, and tells of no jobs. Give the trace."
)

// byMember maps a member of the first object to its reader of JSON.
var byMember = map[string]struct {
	read reader
	why  string // reason for refusing it
}{
	"Event":        {read: readSpark},
	"jobID":        {read: readRumen},
	"mapTasks":     {read: readRumen},
	"reduceTasks":  {read: readRumen},
	"am.type":      {read: readSimulator},
	"job.id":       {read: readSimulator},
	"job.tasks":    {read: readSimulator},
	"job.start.ms": {read: readSimulator},
	"workloads":    {why: syntheticWorkload},
	"num_jobs":     {why: syntheticWorkload},
	"rack":         {why: topology},
	"children":     {why: topology},
	"taskAttempts": {why: "It is one answer of a history server, about attempts at one task. Import from the server by its address, or give the .jhist file."},
	"jobs":         {why: "It is one answer of a history server, a list of jobs without their tasks. Import from the server by its address, or give the .jhist files."},
	"job":          {why: "It is one answer of a history server, about a job without its tasks. Import from the server by its address, or give the .jhist file."},
	"tasks":        {why: "It is one answer of a history server, about tasks without their attempts. Import from the server by its address, or give the .jhist file."},
	"map_tasks":    {why: "It is a profile already and no history; store it as one."},
	"classes":      {why: "It is a planning problem and no history."},
}

// byteOrderMark is written before UTF-8 by some editors.
const byteOrderMark = "\uFEFF"

// recognize returns the reader for a text with this beginning, or the reason why there is none, and whether the text looks
// like no history at all.
func recognize(head []byte, zone *time.Location) (r reader, why string, foreign bool) {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil, "It is written in UTF-16. Save it as UTF-8.", false
	}
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	text := bytes.TrimLeft(head, " \t\r\n")
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	first = bytes.TrimSpace(first)
	switch {
	case len(text) == 0:
		return nil, "It is empty.", true
	case string(first) == jhistFormat:
		return readJobHistory, "", false
	case string(first) == "Avro-Binary":
		return nil, "This job history is written in binary Avro, which is not read here. Hadoop writes the form that is where mapreduce.jobhistory.jhist.format is json; Rumen's TraceBuilder makes a trace of this one.", false
	case bytes.HasPrefix(text, []byte("Obj\x01")):
		return nil, "It is a container of binary Avro. Hadoop writes job histories that are read here where mapreduce.jobhistory.jhist.format is json.", false
	case bytes.HasPrefix(text, []byte("Meta VERSION=")):
		return nil, "It is a job history of Hadoop 1. Rumen's TraceBuilder makes a trace of it, which is read here.", false
	case text[0] == '{':
		return recognizeObject(text)
	case text[0] == '[':
		return nil, "It is a list in JSON. Traces are read whose objects stand one after the other, without a list around them; answers of a history server are read from the server itself.", true
	case text[0] == '<':
		return nil, "It is a page for a browser, or XML, and no history. Fetch the file itself.", true
	case isSacctHeader(first):
		return readSacct, "", false
	case bytes.HasPrefix(text, []byte("JobId=")) && zone != nil:
		return readJobcomp(zone), "", false
	case bytes.HasPrefix(text, []byte("JobId=")):
		return nil, "It is a list of ended jobs as Slurm's jobcomp/filetxt writes it, whose times have no zone. Say it to headroom history import, with --zone. Or, with accounting, make a file with: " + sacctCommand, false
	case isTableHeader(first):
		return readTable, "", false
	case isTableHeader(bytes.Map(commaFor, first)):
		return nil, "It is a table whose columns are divided by semicolons or tabs. Divide them by commas, and write numbers with a point.", false
	}
	return nil, fmt.Sprintf("It begins with %q, which no history that is read here does. Those begin as .jhist, a trace of Rumen or of the scheduler load simulator, an event log of Spark, a list of Slurm's sacct, or CSV with the columns %s.", clip(string(first[:min(len(first), 60)])), strings.Join(tableColumns, ", ")), true
}

// commaFor returns a comma for other separators of columns.
func commaFor(r rune) rune {
	if r == ';' || r == '\t' {
		return ','
	}
	return r
}

func recognizeObject(text []byte) (r reader, why string, foreign bool) {
	t := newTokens(bytes.NewReader(text), 0)
	var seen []string
	errFound := errors.New("found")
	err := t.object(func(name string) error {
		if known, is := byMember[name]; is {
			r, why = known.read, known.why
			return errFound
		}
		if len(seen) < 5 {
			seen = append(seen, strconv.Quote(clip(name)))
		}
		return t.skip()
	})
	switch {
	case errors.Is(err, errFound):
		return r, why, false
	case len(seen) == 0 && json.Valid(text):
		return nil, "It is an empty object in JSON.", true
	case len(seen) == 0:
		return nil, "It begins like JSON and is none; it is damaged, or was cut off. Copy it again.", false
	}
	return nil, fmt.Sprintf("It is JSON that begins with the members %s, which no history that is read here does.", strings.Join(seen, ", ")), true
}

// ReadFS reads all histories below the root of a file system, in the order of their names. A directory with a rolled
// event log of Spark is one history. Other files of Hadoop and Spark are skipped.
func ReadFS(files fs.FS, o Options, to Sink) error {
	in := &heard{progress: o.Progress}
	o.Progress = nil
	found := false
	tell, take := to.Refused, to.Execution
	to.Refused = func(r Refusal) error { found = true; return tell(r) }
	to.Execution = func(e *Execution) error { found = true; return take(e) }
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		named := to
		named.Refused = func(r Refusal) error { r.Where = name + ", " + r.Where; return to.Refused(r) }
		switch {
		case err != nil:
			return unopened(err, to, name)
		case entry.IsDir():
			return readRolled(files, name, o, in, named)
		case isAside(path.Base(name)):
			return nil
		case !entry.Type().IsRegular():
			return to.refuse(name, "It is no plain file; links are not followed.")
		}
		return readFile(files, name, o, in, named)
	})
	if err == nil && !found {
		return to.refuse(".", "There is no history in it.")
	}
	return err
}

// readFile reads a history that is one file.
func readFile(files fs.FS, name string, o Options, in *heard, to Sink) error {
	f, err := files.Open(name)
	if err != nil {
		return to.refuse("the file", "It cannot be opened: %v.", err)
	}
	defer f.Close()
	in.in = f
	if strings.HasSuffix(name, inProgress) {
		to = noting(to, "The log was still being written.")
	}
	return Read(in, o, to)
}

// inProgress ends the names of what Spark still writes.
const inProgress = ".inprogress"

func unopened(err error, to Sink, name string) error {
	return to.refuse(name, "It cannot be opened: %v.", err)
}

// isAside reports that a file stands beside histories and is none.
func isAside(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "appstatus_") || strings.HasSuffix(base, ".crc") ||
		strings.HasSuffix(base, "_conf.xml") || base == "_SUCCESS"
}

// noting adds a note to executions.
func noting(to Sink, note string) Sink {
	take := to.Execution
	to.Execution = func(e *Execution) error {
		e.Notes = append(e.Notes, note)
		return take(e)
	}
	return to
}

// part is a file of a rolled event log.
type part struct {
	name   string
	number int64
}

// readRolled reads the rolled event log in a directory, if there is one, and leaves the directory then.
func readRolled(files fs.FS, dir string, o Options, heard *heard, to Sink) error {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil // WalkDir meets it as well, and reports it
	}
	var parts []part
	for _, entry := range entries {
		rest, is := strings.CutPrefix(entry.Name(), "events_")
		digits, _, more := strings.Cut(rest, "_")
		number, err := strconv.ParseInt(digits, 10, 63)
		if is && more && err == nil && !entry.IsDir() {
			parts = append(parts, part{path.Join(dir, entry.Name()), number})
		}
		if strings.HasPrefix(entry.Name(), "appstatus_") && strings.HasSuffix(entry.Name(), inProgress) {
			to = noting(to, "The log was still being written.")
		}
	}
	if len(parts) == 0 {
		return nil
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.name, b.name))
	})
	if err := cmp.Or(to.whole(parts), fs.SkipDir); !errors.Is(err, fs.SkipDir) {
		if errors.Is(err, errEnough) {
			return fs.SkipDir
		}
		return err
	}
	in := &rolled{files: files, left: parts, limit: cmp.Or(o.MaxBytes, DefaultMaxBytes), heard: heard}
	defer in.close()
	return cmp.Or(read(in, nil, to), fs.SkipDir)
}

// whole refuses a rolled log with missing parts; it then returns errEnough.
func (s Sink) whole(parts []part) error {
	for i, p := range parts {
		detail := ""
		switch {
		case strings.HasSuffix(p.name, ".compact"):
			detail = "Spark has compacted this log: the tasks of jobs that had ended are no longer in it. Keep logs whole, with spark.history.fs.eventLog.rolling.maxFilesToRetain as it is by default."
		case i > 0 && p.number == parts[i-1].number:
			detail = fmt.Sprintf("There are two parts with the number %d; leave one.", p.number)
		case p.number != int64(i)+1:
			detail = fmt.Sprintf("Part %d of the log is missing. Copy the whole directory.", i+1)
		}
		if detail != "" {
			return cmp.Or(s.refuse("the log", "%s", detail), errEnough)
		}
	}
	return nil
}

// rolled is the text of a log's parts, one after the other.
type rolled struct {
	files fs.FS
	left  []part
	limit int64
	heard *heard
	file  fs.File
	text  io.Reader
	// between is set when a part has ended and the next one has not begun.
	between bool
	err     error // that ended the reading
}

func (r *rolled) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.read(p)
	return n, r.err
}

func (r *rolled) read(p []byte) (int, error) {
	for {
		if r.text == nil {
			switch {
			case len(r.left) == 0:
				return 0, io.EOF
			case r.between && len(p) > 0: // a part may end without a line's end
				r.between = false
				p[0] = '\n'
				return 1, nil
			}
			next := r.left[0].name
			r.left = r.left[1:]
			f, err := r.files.Open(next)
			if err != nil {
				return 0, &damage{fmt.Sprintf("The part %s cannot be opened: %v.", path.Base(next), err)}
			}
			r.file = f
			r.heard.in = f
			if r.text, err = unpack(r.heard, r.limit); err != nil {
				return 0, err
			}
		}
		n, err := r.text.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		r.close()
		if r.between = true; n > 0 {
			return n, nil
		}
	}
}

func (r *rolled) close() {
	if r.file != nil {
		r.file.Close()
	}
	r.file, r.text = nil, nil
}
