package app

import (
	"fmt"
	"hash"
	"io"

	"headroom/internal/core/fault"
	"headroom/internal/service/reporting"
)

// parts is a file in its stored form, bounded, and never copied as a whole.
type parts struct {
	all  [][]byte
	size int64
	sum  hash.Hash
}

// Write fills the last part and begins the next.
func (p *parts) Write(text []byte) (int, error) {
	if p.size+int64(len(text)) > reporting.MaxReport {
		return 0, fmt.Errorf("the report has more than the %d MiB that are kept; let it cover a shorter time, or choose csv: %w", reporting.MaxReport>>20, fault.Conflict)
	}
	_, _ = p.sum.Write(text) // a hash takes everything
	p.size += int64(len(text))
	for rest := text; len(rest) > 0; {
		last := len(p.all) - 1
		if last < 0 || len(p.all[last]) == ReportPartSize {
			p.all = append(p.all, make([]byte, 0, min(ReportPartSize, max(4096, len(rest)))))
			continue
		}
		n := min(len(rest), ReportPartSize-len(p.all[last]))
		p.all[last], rest = append(p.all[last], rest[:n]...), rest[n:]
	}
	return len(text), nil
}

// ReportReader reads a report's file from anywhere in it, a part at a time.
type ReportReader struct {
	Size int64
	Part func(part int64) ([]byte, error)

	at    int64
	held  []byte // the part that was read last
	which int64
}

// Read reads on.
func (r *ReportReader) Read(into []byte) (int, error) {
	if r.at >= r.Size {
		return 0, io.EOF
	}
	part := r.at / ReportPartSize
	if r.held == nil || r.which != part {
		body, err := r.Part(part)
		if err != nil {
			return 0, err
		}
		r.held, r.which = body, part
	}
	from := r.at - part*ReportPartSize
	if from >= int64(len(r.held)) {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(into, r.held[from:])
	r.at += int64(n)
	return n, nil
}

// Seek goes to another place.
func (r *ReportReader) Seek(offset int64, whence int) (int64, error) {
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
