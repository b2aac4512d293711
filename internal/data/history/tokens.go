package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// tokens reads JSON piece by piece, so that only one value of a list is held at a time, and none larger than maxLine.
type tokens struct {
	dec    *json.Decoder
	guard  *guard
	member string // of the current object
	odd    string // the first value of a wrong kind
	from   int64  // place of the first byte in the whole text
}

// tokenFault is a fault of the text with its place; nothing after it can be read.
type tokenFault struct {
	detail string
	offset int64
}

func (f *tokenFault) Error() string { return fmt.Sprintf("%s at byte %d", f.detail, f.offset) }

// guard ends a reading when a decoder holds more than maxLine of unused input.
type guard struct {
	in   io.Reader
	read int64
	dec  *json.Decoder
	err  error // the source's error, other than its end
}

var errHuge = errors.New("one value is too large")

func (g *guard) Read(p []byte) (int, error) {
	held := g.read - g.dec.InputOffset()
	if held > maxLine {
		return 0, errHuge
	}
	n, err := g.in.Read(p[:min(int64(len(p)), maxLine+1-held)])
	g.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		g.err = err
	}
	return n, err
}

// newTokens reads a text, or the rest of one from a place on.
func newTokens(r io.Reader, from int64) *tokens {
	g := &guard{in: r}
	g.dec = json.NewDecoder(g)
	g.dec.UseNumber() // skipped values may have any size
	return &tokens{dec: g.dec, guard: g, from: from}
}

// at is the place in the whole text.
func (t *tokens) at() int64 { return t.from + t.dec.InputOffset() }

func (t *tokens) fault(detail string) error { return &tokenFault{detail, t.at()} }

// wrong turns the text's faults into a tokenFault; the source's own errors are unchanged.
func (t *tokens) wrong(err error) error {
	var syntax *json.SyntaxError
	var cut *damage
	switch {
	case err == nil:
		return nil
	case errors.As(t.guard.err, &cut):
		return t.fault(cut.detail)
	case t.guard.err != nil:
		return t.guard.err
	case errors.Is(err, errHuge):
		return t.fault(fmt.Sprintf("One value is larger than %d MiB.", maxLine>>20))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return t.fault("The file ends in the middle; it was cut off.")
	case errors.As(err, &syntax):
		return t.fault("This is no JSON: " + syntax.Error() + ".")
	}
	return err
}

// open reads the opening bracket of a value; io.EOF if there is no more.
func (t *tokens) open(want json.Delim) error {
	tok, err := t.dec.Token()
	if err != nil {
		return t.wrong(err)
	}
	if d, is := tok.(json.Delim); !is || d != want {
		return t.fault(fmt.Sprintf("There should be a %s.", want))
	}
	return nil
}

func (t *tokens) more() bool { return t.dec.More() }

// inside turns io.EOF into an error about an unfinished value.
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

// value reads a whole value. One of a wrong kind is kept as odd, for the object around it.
func (t *tokens) value(to any) error {
	err := t.dec.Decode(to)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		if t.odd == "" {
			t.odd = fmt.Sprintf("in %q %s, before byte %d", clip(t.member), jsonFault(err), t.at())
		}
		return nil
	}
	return t.inside(err)
}

func (t *tokens) close() error {
	_, err := t.dec.Token()
	return t.inside(err)
}

// object passes on the members of an object; io.EOF if there is none.
func (t *tokens) object(member func(name string) error) error {
	if err := t.open('{'); err != nil {
		return err
	}
	for t.more() {
		name, err := t.name()
		if t.member = name; err == nil {
			err = member(name)
		}
		if err != nil {
			return err
		}
	}
	return t.close()
}

// text, number and time read values of members; null counts as absent.
func (t *tokens) text(to *string) error {
	var s *string
	err := t.value(&s)
	if s != nil {
		*to = clip(*s)
	}
	return err
}

func (t *tokens) number(to *int64) error {
	var n *int64
	err := t.value(&n)
	if n != nil {
		*to = *n
	}
	return err
}

func (t *tokens) time(to *int64) error {
	err := t.number(to)
	*to = moment(*to)
	return err
}

// list passes on the items of a list; null is an empty one.
func (t *tokens) list(each func() error) error {
	tok, err := t.dec.Token()
	if err != nil {
		return t.inside(err)
	}
	if tok == nil {
		return nil
	}
	if d, is := tok.(json.Delim); !is || d != '[' {
		return t.fault("There should be a list.")
	}
	for t.more() {
		if err := each(); err != nil {
			return err
		}
	}
	return t.close()
}

// deepest bounds the nesting of skipped values.
const deepest = 1000

// skip skips a value of any size.
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
		switch {
		case depth == 0:
			return nil
		case depth > deepest:
			return t.fault(fmt.Sprintf("Values are nested more than %d deep.", deepest))
		}
	}
}
