package prices

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// counted counts the bytes read, as sent.
type counted struct {
	in       io.Reader
	bytes    int64
	progress func(bytes int64)
	err      error // of the reading itself, not of the text
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if n > 0 {
		c.bytes += int64(n)
		c.progress(c.bytes)
	}
	if err != nil && err != io.EOF {
		c.err = fmt.Errorf("read the price sheet: %w", err)
		err = c.err
	}
	return n, err
}

// fault turns an error of the unpacked text into one for people.
func (c *counted) fault(err error) error {
	switch {
	case c.err != nil:
		return c.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refusal(place{}, "cut_off", "The gzip file ends too early; it was cut off on its way. Fetch it again.")
	default:
		return refusal(place{}, "damaged", "The gzip file is damaged (%v). Fetch it again.", err)
	}
}

// text is the unpacked sheet. It refuses input that is no text, and too much of it.
type text struct {
	source  *counted
	in      *bufio.Reader
	max     int64
	offset  int64
	partial []byte // of a character whose rest is still to come
	last    byte
	err     error
}

// unpack detects gzip and skips a byte order mark.
func unpack(in io.Reader, max int64, progress func(bytes int64)) (*text, error) {
	if progress == nil {
		progress = func(int64) {}
	}
	source := &counted{in: in, progress: progress}
	packed := bufio.NewReaderSize(source, 64<<10)
	plain := packed
	switch start, _ := packed.Peek(4); {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		unzipped, err := gzip.NewReader(packed)
		if err != nil {
			return nil, source.fault(err)
		}
		plain = bufio.NewReaderSize(unzipped, 64<<10)
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return nil, refusal(place{}, "format", "This is a ZIP archive or a workbook; unpack it, or save the sheet as CSV.")
	}
	if start, _ := plain.Peek(3); string(start) == "\ufeff" {
		_, _ = plain.Discard(3)
	}
	return &text{source: source, in: plain, max: max}, nil
}

func (t *text) Read(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.in.Read(p)
	if fault := t.check(p[:n]); fault != nil {
		t.err = fault
		return 0, fault
	}
	if t.offset += int64(n); n > 0 {
		t.last = p[n-1]
	}
	switch {
	case err == io.EOF && len(t.partial) > 0:
		t.err = refusal(place{}, "text", "The sheet ends inside a character (byte %d); it was cut off. Fetch it again.", t.offset)
	case err != nil && err != io.EOF:
		t.err = t.source.fault(err)
	default:
		t.err = err
	}
	return n, t.err
}

func (t *text) check(p []byte) error {
	if t.offset+int64(len(p)) > t.max {
		return refusal(place{}, "too_large", "The sheet has more than %d bytes when it is unpacked, the most that is read; take the file of one region.", t.max)
	}
	if i := bytes.IndexByte(p, 0); i >= 0 {
		return refusal(place{}, "text", "Byte %d is NUL; the sheet is no text in UTF-8. Save it as UTF-8.", t.offset+int64(i))
	}
	offset := t.offset
	for len(t.partial) > 0 && len(p) > 0 {
		t.partial = append(t.partial, p[0])
		p, offset = p[1:], offset+1
		if utf8.FullRune(t.partial) {
			if !utf8.Valid(t.partial) {
				return notUTF8(t.partial[0], offset-int64(len(t.partial)))
			}
			t.partial = t.partial[:0]
		}
	}
	if len(t.partial) > 0 {
		return nil
	}
	whole := len(p) // without an incomplete last character
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				whole = i
			}
			break
		}
	}
	if !utf8.Valid(p[:whole]) {
		for i := 0; ; {
			char, size := utf8.DecodeRune(p[i:])
			if char == utf8.RuneError && size == 1 {
				return notUTF8(p[i], offset+int64(i))
			}
			i += size
		}
	}
	t.partial = append(t.partial, p[whole:]...)
	return nil
}

func notUTF8(b byte, offset int64) error {
	return refusal(place{}, "text", "Byte %d (%#02x) is not UTF-8; save the sheet as UTF-8.", offset, b)
}

// firstByte returns the first byte that is not white space, or 0, without consuming it.
func (t *text) firstByte() byte {
	for n := 1; ; n++ {
		start, err := t.in.Peek(n)
		if len(start) < n || err != nil {
			return 0
		}
		switch c := start[n-1]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
}
