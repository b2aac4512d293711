package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"example.org/headroom/internal/core/lp"
)

// A frame is a magic word, a kind, the length of the payload, and the payload; all little-endian.
// The two sides are built together, so the magic word names the version of the whole protocol.
const (
	magic      = 0x32535248 // "HRS2"
	headerSize = 16
	maxPayload = 1 << 30
	maxText    = 4 << 10 // bytes of a text in an answer
)

type kind uint32

const (
	hello    kind = iota + 1 // the solver's first frame: its version
	question                 // a program
	answer                   // its solution
	failure                  // the reason for no solution, as text
)

// writeFrame writes header and payload in one call. newFrame began the frame.
func writeFrame(w io.Writer, k kind, frame []byte) error {
	binary.LittleEndian.PutUint32(frame, magic)
	binary.LittleEndian.PutUint32(frame[4:], uint32(k))
	binary.LittleEndian.PutUint64(frame[8:], uint64(len(frame)-headerSize))
	_, err := w.Write(frame)
	return err
}

func newFrame(capacity int) []byte { return make([]byte, headerSize, headerSize+capacity) }

// errFrame is an error after which nobody knows where the next frame begins.
var errFrame = errors.New("not a frame of this protocol")

// readFrame reads one frame with a payload of at most limit bytes. A false length costs no more memory than the bytes
// that really arrive.
func readFrame(r io.Reader, limit int) (kind, []byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	k, length := kind(binary.LittleEndian.Uint32(header[4:])), binary.LittleEndian.Uint64(header[8:])
	if binary.LittleEndian.Uint32(header[:]) != magic {
		return 0, nil, errFrame
	}
	if length > uint64(limit) {
		return 0, nil, fmt.Errorf("%w: %d bytes, but at most %d are expected", errFrame, length, limit)
	}
	const atOnce = 1 << 20
	if length <= atOnce {
		payload := make([]byte, length)
		_, err := io.ReadFull(r, payload)
		return k, payload, noEOF(err)
	}
	var payload bytes.Buffer
	_, err := io.CopyN(&payload, r, int64(length))
	return k, payload.Bytes(), noEOF(err)
}

// noEOF makes an end inside a frame differ from one between two.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// request is the payload of a question.
type request struct {
	program   *lp.Program
	options   lp.Options
	variation int // 0: the usual settings; more: another opinion
}

// requestSize returns an upper bound on an encoded request's bytes.
func requestSize(p *lp.Program, o lp.Options) int {
	return 64 + 8*(4*p.Columns()+2*p.Rows()+len(o.Start)) + p.Columns() + 12*len(p.RowIndex)
}

// encodeRequest writes a valid program.
func encodeRequest(q request) []byte {
	p, o := q.program, q.options
	columns, rows, entries := p.Columns(), p.Rows(), len(p.RowIndex)
	e := encoder{newFrame(requestSize(p, o))}
	e.count(q.variation)
	e.float(o.Gap)
	e.float(o.AbsGap)
	e.float(o.Seconds)
	e.count(o.Nodes)
	e.flag(o.Cuts)
	e.flag(o.Ranging)
	e.floats(o.Start)
	e.count(columns)
	e.count(rows)
	e.count(entries)
	for _, list := range [][]float64{p.Cost, p.Lower, p.Upper, p.RowLower, p.RowUpper, p.Coefficient} {
		e.raw(list)
	}
	e.flag(p.Whole != nil)
	for _, w := range p.Whole {
		e.flag(w)
	}
	if columns == 0 {
		e.count(0)
	} else {
		e.counts(p.Start)
	}
	e.counts(p.RowIndex)
	return e.frame
}

func decodeRequest(payload []byte) (request, error) {
	d := decoder{rest: payload}
	q := request{variation: d.count()}
	q.options = lp.Options{Gap: d.float(), AbsGap: d.float(), Seconds: d.float(), Nodes: d.count(), Cuts: d.flag(), Ranging: d.flag(), Start: d.floats()}
	columns, rows, entries := d.count(), d.count(), d.count()
	p := &lp.Program{
		Cost: d.raw(columns), Lower: d.raw(columns), Upper: d.raw(columns),
		RowLower: d.raw(rows), RowUpper: d.raw(rows), Coefficient: d.raw(entries),
	}
	if d.flag() {
		p.Whole = d.flags(columns)
	}
	p.Start = d.counts(columns + 1)
	p.RowIndex = d.counts(entries)
	q.program = p
	return q, d.end()
}

var statuses = []lp.Status{lp.Optimal, lp.Feasible, lp.Infeasible, lp.Unbounded, lp.Stopped}

func encodeSolution(s lp.Solution) []byte {
	e := encoder{newFrame(128 + 8*(len(s.X)+len(s.RowDual)+len(s.ReducedCost)))}
	code := len(statuses) // unknown: refused by the reader
	for i, status := range statuses {
		if status == s.Status {
			code = i
		}
	}
	e.count(code)
	e.float(s.Objective)
	e.float(s.Bound)
	e.text(s.Engine)
	e.floats(s.X)
	e.floats(s.RowDual)
	e.floats(s.ReducedCost)
	e.flag(s.Ranges != nil)
	if r := s.Ranges; r != nil {
		for _, list := range [][]float64{r.CostLower, r.CostUpper, r.RowLimitLower, r.RowLimitUpper} {
			e.floats(list)
		}
	}
	return e.frame
}

// solutionLimit returns the largest payload an answer to p may have.
func solutionLimit(p *lp.Program) int {
	return maxText + 64*(p.Columns()+p.Rows()+16)
}

func decodeSolution(payload []byte) (lp.Solution, error) {
	d := decoder{rest: payload}
	code := d.count()
	if code >= len(statuses) {
		return lp.Solution{}, fmt.Errorf("status %d is unknown", code)
	}
	s := lp.Solution{
		Status: statuses[code], Objective: d.float(), Bound: d.float(), Engine: d.text(),
		X: d.floats(), RowDual: d.floats(), ReducedCost: d.floats(),
	}
	if d.flag() {
		s.Ranges = &lp.Ranges{CostLower: d.floats(), CostUpper: d.floats(), RowLimitLower: d.floats(), RowLimitUpper: d.floats()}
	}
	return s, d.end()
}

// encoder appends to a frame.
type encoder struct{ frame []byte }

func (e *encoder) count(n int) { e.frame = binary.LittleEndian.AppendUint32(e.frame, uint32(n)) }

func (e *encoder) float(v float64) {
	e.frame = binary.LittleEndian.AppendUint64(e.frame, math.Float64bits(v))
}

func (e *encoder) flag(set bool) {
	if set {
		e.frame = append(e.frame, 1)
	} else {
		e.frame = append(e.frame, 0)
	}
}

func (e *encoder) raw(list []float64) {
	for _, v := range list {
		e.float(v)
	}
}

// floats writes a list with its length; a nil list differs from an empty one.
func (e *encoder) floats(list []float64) {
	e.flag(list != nil)
	if list != nil {
		e.count(len(list))
		e.raw(list)
	}
}

func (e *encoder) counts(list []int) {
	for _, n := range list {
		e.count(n)
	}
}

func (e *encoder) text(s string) {
	s = s[:min(len(s), maxText)]
	e.count(len(s))
	e.frame = append(e.frame, s...)
}

// decoder reads values from a payload. After the first missing value it returns zeros, and end reports the error. It
// allocates no more than the payload can fill.
type decoder struct {
	rest  []byte
	short bool
}

func (d *decoder) take(n int) []byte {
	if d.short || n < 0 || n > len(d.rest) {
		d.short = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) count() int {
	if b := d.take(4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (d *decoder) float() float64 {
	if b := d.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (d *decoder) flag() bool {
	b := d.take(1)
	return b != nil && b[0] != 0
}

func (d *decoder) flags(n int) []bool {
	b := d.take(n)
	list := make([]bool, len(b))
	for i := range b {
		list[i] = b[i] != 0
	}
	return list
}

func (d *decoder) raw(n int) []float64 {
	b := d.take(8 * n)
	list := make([]float64, len(b)/8)
	for i := range list {
		list[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return list
}

func (d *decoder) floats() []float64 {
	if !d.flag() {
		return nil
	}
	return d.raw(d.count())
}

func (d *decoder) counts(n int) []int {
	b := d.take(4 * n)
	list := make([]int, len(b)/4)
	for i := range list {
		list[i] = int(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return list
}

func (d *decoder) text() string { return string(d.take(min(d.count(), maxText))) }

func (d *decoder) end() error {
	if d.short {
		return errors.New("the message ends too early")
	}
	if len(d.rest) > 0 {
		return fmt.Errorf("the message is %d bytes too long", len(d.rest))
	}
	return nil
}
