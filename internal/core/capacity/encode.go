package capacity

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// AppendPlan appends a plan's JSON: byte for byte what encoding/json writes with SetEscapeHTML(false),
// in a fraction of the time, because a service does hardly anything else with a plan. Every number
// of a plan is finite; one that is not would be written as null.
func AppendPlan(dst []byte, p Plan) []byte {
	t := planText{text: slices.Grow(dst, 2048+512*len(p.Classes)+80*len(p.Layout))} // about what it takes: growing copies
	t.writePlan(&p)
	return t.text
}

// WritePlan writes what AppendPlan appends, in pieces: the text of a million classes need never be in
// memory all at once.
func WritePlan(w io.Writer, p Plan) error {
	t := planText{text: make([]byte, 0, 2*pieceSize), out: w}
	t.writePlan(&p)
	t.flush()
	return t.err
}

// pieceSize is the length at which a text is handed on.
const pieceSize = 32 << 10

// planText is the text of a plan as it grows, or what of it has not been written to out yet.
type planText struct {
	text []byte
	out  io.Writer // nil: all of it is kept
	err  error
}

func (t *planText) flush() {
	if t.err == nil {
		_, t.err = t.out.Write(t.text)
	}
	t.text = t.text[:0]
}

// writeList writes a list of any length: null where there is none.
func writeList[T any](t *planText, items []T, item func([]byte, *T) []byte) {
	if items == nil {
		t.text = append(t.text, "null"...)
		return
	}
	t.text = append(t.text, '[')
	for i := range items {
		if i > 0 {
			t.text = append(t.text, ',')
		}
		if t.text = item(t.text, &items[i]); t.out != nil && len(t.text) >= pieceSize {
			t.flush()
		}
	}
	t.text = append(t.text, ']')
}

// appendFinding leaves the writing to encoding/json: findings are few, and a hint's value can be
// anything.
func appendFinding(dst []byte, f *fault.Finding) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(f); err != nil {
		return append(dst, "null"...)
	}
	return append(dst, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}

// appendList writes an array: null where there is none.
func appendList[T any](dst []byte, items []T, item func([]byte, *T) []byte) []byte {
	if items == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(dst, &items[i])
	}
	return append(dst, ']')
}

// appendOrNull writes what need not be there.
func appendOrNull[T any](dst []byte, x *T, item func([]byte, *T) []byte) []byte {
	if x == nil {
		return append(dst, "null"...)
	}
	return item(dst, x)
}

func appendFloat(dst []byte, x *float64) []byte { return strict.AppendNumber(dst, *x) }
