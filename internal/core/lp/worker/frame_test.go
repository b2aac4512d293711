package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/lp"
)

func TestRequestsAndSolutionsSurviveTheWire(t *testing.T) {
	empty := &lp.Program{Cost: []float64{}, Lower: []float64{}, Upper: []float64{}, RowLower: []float64{}, RowUpper: []float64{}, Start: []int{0}, RowIndex: []int{}, Coefficient: []float64{}}
	for _, q := range []request{
		{program: planning(3, 1, true), options: lp.Options{Gap: 1e-6, AbsGap: 2, Nodes: 7, Seconds: 0.5, Ranging: true, Start: []float64{1, 2, 3, 4, 5}}, variation: 1},
		{program: planning(3, 1, false)},
		{program: empty},
	} {
		frame := encodeRequest(q)
		if size := requestSize(q.program, q.options); len(frame)-headerSize > size {
			t.Errorf("%d bytes, announced at most %d", len(frame)-headerSize, size)
		}
		got, err := decodeRequest(frame[headerSize:])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(q, got, cmp.AllowUnexported(request{})); diff != "" {
			t.Error(diff)
		}
	}
	for _, s := range []lp.Solution{
		{Status: lp.Stopped, Bound: math.Inf(-1)},
		{
			Status: lp.Optimal, Objective: -1.5, Bound: -2, Engine: "cbc 2.10.8", X: []float64{1, 2}, RowDual: []float64{}, ReducedCost: []float64{3},
			Ranges: &lp.Ranges{CostLower: []float64{1}, CostUpper: []float64{2}, RowLimitLower: []float64{3}, RowLimitUpper: []float64{inf}},
		},
	} {
		got, err := decodeSolution(encodeSolution(s)[headerSize:])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Error(diff)
		}
	}
}

func framed(k kind, payload []byte) []byte {
	var b bytes.Buffer
	if err := writeFrame(&b, k, append(newFrame(len(payload)), payload...)); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestFramesAreBounded(t *testing.T) {
	good := framed(answer, []byte("payload"))
	long := bytes.Clone(good)
	binary.LittleEndian.PutUint64(long[8:], 1<<40)
	lying := bytes.Clone(good)
	binary.LittleEndian.PutUint64(lying[8:], 1<<29) // far more than arrives
	for _, c := range []struct {
		name  string
		bytes []byte
		limit int
		want  error
	}{
		{"good", good, 7, nil},
		{"nothing", nil, 7, io.EOF},
		{"half a header", good[:5], 7, io.ErrUnexpectedEOF},
		{"half a payload", good[:20], 7, io.ErrUnexpectedEOF},
		{"over the limit", good, 6, errFrame},
		{"absurd length", long, maxPayload, errFrame},
		{"lying length", lying, maxPayload, io.ErrUnexpectedEOF},
		{"text", []byte("Welcome to the CBC MILP Solver"), 7, errFrame},
	} {
		k, payload, err := readFrame(bytes.NewReader(c.bytes), c.limit)
		if !errors.Is(err, c.want) || c.want == nil && (k != answer || string(payload) != "payload") {
			t.Errorf("%s: got %d %q %v, want %v", c.name, k, payload, err, c.want)
		}
	}
}

func FuzzDecodeRequest(f *testing.F) {
	good := encodeRequest(request{program: planning(2, 1, true), options: lp.Options{Start: []float64{1, 2, 3, 4}}})[headerSize:]
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte{})
	for at := 32; at < 80; at++ { // lengths and counts stand here
		spoiled := bytes.Clone(good)
		spoiled[at] ^= 0xff
		f.Add(spoiled)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		q, err := decodeRequest(payload)
		if err != nil {
			return
		}
		again := encodeRequest(q)[headerSize:]
		if q.program.Columns() > 0 && len(again) != len(payload) {
			t.Errorf("%d bytes were read as a program that takes %d", len(payload), len(again))
		}
		_ = q.program.Validate() // must not panic
	})
}

func FuzzDecodeSolution(f *testing.F) {
	good := encodeSolution(lp.Solution{Status: lp.Optimal, X: []float64{1}, Engine: "cbc", Ranges: &lp.Ranges{}})[headerSize:]
	f.Add(good)
	f.Add(good[:9])
	f.Fuzz(func(t *testing.T, payload []byte) {
		s, err := decodeSolution(payload)
		if err != nil {
			return
		}
		if again := encodeSolution(s)[headerSize:]; !bytes.Equal(again, payload) && len(again) != len(payload) {
			t.Errorf("%d bytes were read as a solution that takes %d", len(payload), len(again))
		}
		_ = settle(two(), lp.Options{}, &s) // must not panic
	})
}
