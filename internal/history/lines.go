package history

import (
	"bufio"
	"bytes"
	"errors"
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

// next is the next line without its end, good until the one after; tooLong says that it was passed over. At
// the end it is io.EOF.
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
	return bytes.TrimRight(line, "\r\n"), tooLong, nil
}
