package worker

import (
	"bytes"
	"testing"
)

// Any input of the pipe is a whole frame of allowed size, or an error.
func FuzzFrames(f *testing.F) {
	f.Add(encodeRequest(request{program: planning(2, 1, true)}), uint16(1000))
	f.Add([]byte("headroom"), uint16(0))
	f.Fuzz(func(t *testing.T, text []byte, limit uint16) {
		k, payload, err := readFrame(bytes.NewReader(text), int(limit))
		if err != nil {
			return
		}
		if len(payload) > int(limit) || len(payload)+headerSize > len(text) {
			t.Fatalf("%d bytes of %d are a frame, of at most %d", len(payload), len(text), limit)
		}
		if k == answer {
			_, _ = decodeSolution(payload)
		} else {
			_, _ = decodeRequest(payload)
		}
	})
}
