package reporting

import (
	"fmt"
	"hash"
	"io"

	"example.org/headroom/internal/core/fault"
)

// parts is a file in its stored form, bounded, and never copied as a whole.
type parts struct {
	all  [][]byte
	size int64
	sum  hash.Hash
}

// Write fills the last part and begins the next.
func (p *parts) Write(text []byte) (int, error) {
	if p.size+int64(len(text)) > MaxReport {
		return 0, fmt.Errorf("the report has more than the %d MiB that are kept; let it cover a shorter time, or choose csv: %w", MaxReport>>20, fault.Conflict)
	}
	_, _ = p.sum.Write(text) // a hash takes everything
	p.size += int64(len(text))
	for rest := text; len(rest) > 0; {
		last := len(p.all) - 1
		if last < 0 || len(p.all[last]) == PartSize {
			p.all = append(p.all, make([]byte, 0, min(PartSize, max(4096, len(rest)))))
			continue
		}
		n := min(len(rest), PartSize-len(p.all[last]))
		p.all[last], rest = append(p.all[last], rest[:n]...), rest[n:]
	}
	return len(text), nil
}

// Reader reads a report's file from anywhere in it, a part at a time.
type Reader struct {
	Size int64
	Part func(part int64) ([]byte, error)

	at    int64
	held  []byte // the part that was read last
	which int64
}

// Read reads on.
func (r *Reader) Read(into []byte) (int, error) {
	if r.at >= r.Size {
		return 0, io.EOF
	}
	part := r.at / PartSize
	if r.held == nil || r.which != part {
		body, err := r.Part(part)
		if err != nil {
			return 0, err
		}
		r.held, r.which = body, part
	}
	from := r.at - part*PartSize
	if from >= int64(len(r.held)) {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(into, r.held[from:])
	r.at += int64(n)
	return n, nil
}

// Seek goes to another place.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.Size
	}
	if offset < 0 {
		return 0, fmt.Errorf("a file does not begin before its beginning")
	}
	r.at = offset
	return offset, nil
}
