package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// maxLine is the longest accepted line; longer ones are skipped. Events of real histories have some hundred kilobytes
// at most.
const maxLine = 16 << 20

// lineSpace is the size of the buffer that lines are read through. A reader that has one is not given another.
const lineSpace = 256 << 10

// lines hands out the lines of a text with bounded memory.
type lines struct {
	in     *bufio.Reader
	number int64
	long   []byte // space for lines that do not fit into the reader's buffer
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, lineSpace)} }

// next returns the next line without its end, valid until the next call; of one that is tooLong only the beginning.
// At the end it returns io.EOF.
func (l *lines) next() (line []byte, tooLong bool, err error) {
	line, err = l.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.in.ReadSlice('\n')
			if tooLong = tooLong || len(l.long)+len(line) > maxLine; !tooLong {
				l.long = append(l.long, line...)
			}
		}
		line = l.long
	}
	if err != nil && !(errors.Is(err, io.EOF) && len(line) > 0) {
		return nil, false, err
	}
	l.number++
	return bytes.TrimSpace(line), tooLong, nil
}

// each passes on the remaining lines that are not empty. It refuses lines that are too long unless skip says that
// nobody needs them. A damaged text ends there with a refusal.
func (l *lines) each(to Sink, skip func(line []byte) bool, read func(where string, line []byte) error) error {
	for {
		line, tooLong, err := l.next()
		var cut *damage
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &cut):
			return to.refuse(fmt.Sprintf("after line %d", l.number), "%s", cut.detail)
		case err != nil:
			return err
		case len(line) == 0 || skip(line):
		case tooLong:
			err = to.refuse(l.where(), "The line is longer than %d MiB and was passed over.", maxLine>>20)
		default:
			err = read(l.where(), line)
		}
		if err != nil {
			return err
		}
	}
}

func (l *lines) where() string { return "line " + strconv.FormatInt(l.number, 10) }
