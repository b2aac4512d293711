package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line that is read; longer ones are passed over. Events of real histories have some
// hundred kilobytes at most.
const maxLine = 16 << 20

// lines hands out the lines of a text with bounded memory.
type lines struct {
	in     *bufio.Reader
	number int64
	long   []byte // room for lines that do not fit into the reader's buffer
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 256<<10)} }

// next is the next line without its end, good until the one after; of one that is tooLong it is the
// beginning. At the end it is io.EOF.
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

// each goes through the lines that are left and are not empty. Lines that are too long are refused unless
// skip says that nobody wants them. A text that is damaged ends there, which is told.
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

func (l *lines) where() string { return fmt.Sprintf("line %d", l.number) }
