package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// rumenTask is a task of a trace that Rumen wrote. Absent times are -1.
type rumenTask struct {
	ID       string         `json:"taskID"`
	Type     string         `json:"taskType"`
	Attempts []rumenAttempt `json:"attempts"`
}

type rumenAttempt struct {
	Result   string `json:"result"`
	Host     string `json:"hostName"`
	Start    int64  `json:"startTime"`
	Finish   int64  `json:"finishTime"`
	Shuffled int64  `json:"shuffleFinished"`
	Sorted   int64  `json:"sortFinished"`
}

// ReadRumen reads a trace of Rumen: JSON objects one after the other, each an execution. What follows a place
// that is no JSON cannot be read; what stands before it is taken.
func ReadRumen(r io.Reader, to Sink) error {
	in := newTokens(r)
	for n := int64(1); ; n++ {
		e, err := in.execution()
		where := fmt.Sprintf("execution %d of the trace", n)
		if e != nil && e.ID != "" {
			where += " (" + e.ID + ")"
		}
		var fault *tokenFault
		switch {
		case errors.Is(err, io.EOF) && e == nil:
			if n == 1 {
				return to.refuse("the file", "It is empty.")
			}
			return nil
		case errors.As(err, &fault):
			return to.refuse(where, "%s at byte %d. What follows cannot be read.", fault.detail, fault.offset)
		case err != nil:
			return err
		case e.ID == "" && len(e.Attempts) == 0:
			err = to.refuse(where, "It has neither a jobID nor a task; this is no trace of Rumen.")
		default:
			err = to.Execution(e)
		}
		if err != nil {
			return err
		}
	}
}

// execution reads one object; nil where there is none.
func (t *tokens) execution() (*Execution, error) {
	if err := t.open('{'); err != nil {
		return nil, err
	}
	b := newBuilder()
	for t.more() {
		member, err := t.name()
		if err != nil {
			return &b.Execution, err
		}
		if err := t.rumenMember(b, member); err != nil {
			return &b.Execution, err
		}
	}
	return &b.Execution, t.close()
}

func (t *tokens) rumenMember(b *builder, member string) error {
	text := func(to *string) error {
		var s *string
		err := t.value(&s)
		if s != nil {
			*to = clip(*s)
		}
		return err
	}
	number := func(to *int64) error {
		var n *int64
		err := t.value(&n)
		if n != nil {
			*to = *n
		}
		return err
	}
	time := func(to *int64) error {
		err := number(to)
		*to = moment(*to)
		return err
	}
	switch member {
	case "jobID":
		return text(&b.ID)
	case "jobName":
		return text(&b.Name)
	case "user":
		return text(&b.User)
	case "queue":
		return text(&b.Queue)
	case "submitTime":
		return time(&b.Submitted)
	case "launchTime":
		return time(&b.Launched)
	case "finishTime":
		return time(&b.Finished)
	case "totalMaps":
		return number(&b.Maps)
	case "totalReduces":
		return number(&b.Reduces)
	case "outcome":
		var word string
		err := text(&word)
		b.Outcome = rumenOutcome(word)
		return err
	case "mapTasks", "reduceTasks", "otherTasks":
		return t.list(func() error {
			var task rumenTask
			if err := t.value(&task); err != nil {
				return err
			}
			return t.addRumen(b, member, &task)
		})
	}
	return t.skip()
}

func (t *tokens) addRumen(b *builder, list string, task *rumenTask) error {
	if len(b.Attempts)+len(task.Attempts) > MaxAttempts {
		return t.fault(fmt.Sprintf("The execution has more than %d attempts", MaxAttempts))
	}
	kind := map[string]Kind{"mapTasks": Map, "reduceTasks": Reduce, "otherTasks": Other}[list]
	id := task.ID
	if id == "" { // numbered by its place, then
		id = fmt.Sprintf("%s %d", list, len(b.tasks))
	}
	number := b.task(id)
	for _, a := range task.Attempts {
		b.Attempts = append(b.Attempts, Attempt{
			Start: moment(a.Start), Shuffled: max(moment(a.Shuffled), moment(a.Sorted)), Finish: moment(a.Finish),
			Task: number, Host: b.host(a.Host), Kind: kind, Outcome: rumenOutcome(a.Result),
		})
	}
	return nil
}

func rumenOutcome(word string) Outcome {
	switch word {
	case "SUCCESS", "SUCCEEDED":
		return Succeeded
	case "FAILED", "FAILURE":
		return Failed
	case "KILLED":
		return Killed
	}
	return Unfinished
}

// tokens reads JSON piece by piece, so that only one value of a list is held at a time, and none is larger
// than maxLine.
type tokens struct {
	dec   *json.Decoder
	guard *guard
}

// tokenFault is what is wrong with the text, and where.
type tokenFault struct {
	detail string
	offset int64
}

func (f *tokenFault) Error() string { return fmt.Sprintf("%s at byte %d", f.detail, f.offset) }

// guard ends a reading when a decoder holds more than maxLine that it has not used.
type guard struct {
	in   io.Reader
	read int64
	dec  *json.Decoder
}

var errHuge = errors.New("one value is too large")

func (g *guard) Read(p []byte) (int, error) {
	if g.read-g.dec.InputOffset() > maxLine {
		return 0, errHuge
	}
	n, err := g.in.Read(p)
	g.read += int64(n)
	return n, err
}

func newTokens(r io.Reader) *tokens {
	g := &guard{in: r}
	g.dec = json.NewDecoder(g)
	return &tokens{dec: g.dec, guard: g}
}

func (t *tokens) fault(detail string) error { return &tokenFault{detail, t.dec.InputOffset()} }

// wrong makes the text's faults a tokenFault; what the source of the text says stays as it is.
func (t *tokens) wrong(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errHuge):
		return t.fault(fmt.Sprintf("One value is larger than %d MiB", maxLine>>20))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return t.fault("The file ends in the middle")
	case errors.As(err, &syntax):
		return t.fault("This is no JSON: " + syntax.Error())
	case errors.As(err, &kind):
		return t.fault(fmt.Sprintf("The member %q is a %s", kind.Field, kind.Value))
	}
	return err
}

// open takes the bracket that a value begins with; io.EOF where there is no more.
func (t *tokens) open(want json.Delim) error {
	tok, err := t.dec.Token()
	if err != nil {
		return t.wrong(err)
	}
	if d, is := tok.(json.Delim); !is || d != want {
		return t.fault(fmt.Sprintf("There should be a %s", want))
	}
	return nil
}

func (t *tokens) more() bool { return t.dec.More() }

// inside is io.EOF as it is in the middle of a value.
func (t *tokens) inside(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return t.wrong(err)
}

func (t *tokens) name() (string, error) {
	tok, err := t.dec.Token()
	name, _ := tok.(string)
	return name, t.inside(err)
}

func (t *tokens) value(to any) error { return t.inside(t.dec.Decode(to)) }

func (t *tokens) close() error {
	_, err := t.dec.Token()
	return t.inside(err)
}

// list goes through a list; null is an empty one.
func (t *tokens) list(each func() error) error {
	tok, err := t.dec.Token()
	if err != nil {
		return t.inside(err)
	}
	if tok == nil {
		return nil
	}
	if d, is := tok.(json.Delim); !is || d != '[' {
		return t.fault("There should be a list")
	}
	for t.more() {
		if err := each(); err != nil {
			return err
		}
	}
	return t.close()
}

// skip passes over a value, whatever its size.
func (t *tokens) skip() error {
	for depth := 0; ; {
		tok, err := t.dec.Token()
		if err != nil {
			return t.inside(err)
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
