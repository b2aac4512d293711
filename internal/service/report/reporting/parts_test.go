package reporting

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"example.org/headroom/internal/core/fault"
)

// Data written in any pieces can be read from any place, and more than the limit is refused.
func TestPartsOfAReport(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	for _, size := range []int{0, 1, PartSize - 1, PartSize, PartSize + 1, 3*PartSize + 17} {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		p := &parts{sum: sha256.New()}
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1+r.IntN(200_000))
			if written, err := p.Write(rest[:n]); written != n || err != nil {
				t.Fatal(written, err)
			}
			rest = rest[n:]
		}
		for i, part := range p.all {
			if len(part) != PartSize && i < len(p.all)-1 || len(part) == 0 {
				t.Errorf("part %d of %d has %d bytes", i, len(p.all), len(part))
			}
		}
		if sum := sha256.Sum256(want); p.size != int64(size) || !bytes.Equal(p.sum.Sum(nil), sum[:]) {
			t.Errorf("%d bytes are %d", size, p.size)
		}
		file := &Reader{Size: p.size, Part: func(n int64) ([]byte, error) { return p.all[n], nil }}
		if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes are read as %d: %v", size, len(got), err)
		}
		for range 50 {
			from := r.Int64N(int64(size) + 1)
			if at, err := file.Seek(from, io.SeekStart); at != from || err != nil {
				t.Fatal(at, err)
			}
			got := make([]byte, r.IntN(4096))
			n, err := io.ReadFull(file, got)
			if most := min(len(got), size-int(from)); n != most || !bytes.Equal(got[:n], want[from:int(from)+n]) {
				t.Fatalf("%d bytes from %d on are %d (%v)", most, from, n, err)
			}
		}
	}
	p := &parts{sum: sha256.New()}
	piece := make([]byte, 1<<20)
	for range MaxReport >> 20 {
		if _, err := p.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Write(piece[:1]); !errors.Is(err, fault.Conflict) {
		t.Errorf("more than may be kept: %v", err)
	}
	lost := &Reader{Size: 5, Part: func(int64) ([]byte, error) { return []byte("abc"), nil }}
	if got, err := io.ReadAll(lost); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a part that is too short is read as %q (%v)", got, err)
	}
}
