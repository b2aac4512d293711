package api

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"example.org/headroom/internal/core/capacity"
)

// TestLongPlansAreSentAsTheyAreWritten: in pieces that each have a time limit, and the same text as at once.
func TestLongPlansAreSentAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	p := capacity.Plan{Status: capacity.Optimal, Classes: make([]capacity.ClassPlan, maxGathered)}
	for i := range p.Classes {
		p.Classes[i] = capacity.ClassPlan{Name: fmt.Sprintf("class-%d", i), Admitted: float64(i % 7), Verdict: capacity.VerdictFull, Reason: "It is worth it."}
	}
	w := &pieces{ResponseRecorder: httptest.NewRecorder()}
	writeLong(w, p)
	if got, want := w.Body.String(), string(capacity.AppendPlan(nil, p))+"\n"; got != want {
		t.Errorf("%d bytes were sent; want the %d bytes of the plan", len(got), len(want))
	}
	for i, size := range w.sizes {
		if last := i == len(w.sizes)-1; size > 4*minPassed || !last && size <= minPassed {
			t.Errorf("piece %d of %d has %d bytes; want more than %d, and few enough to be held", i, len(w.sizes), size, minPassed)
		}
	}
	if got := w.Header().Get("Content-Type"); w.Code != 200 || got != "application/json" || len(w.sizes) < 3 {
		t.Errorf("status %d, %q, %d pieces", w.Code, got, len(w.sizes))
	}
}

// pieces records the sizes of writes.
type pieces struct {
	*httptest.ResponseRecorder
	sizes []int
}

func (p *pieces) Write(text []byte) (int, error) {
	p.sizes = append(p.sizes, len(text))
	return p.ResponseRecorder.Write(text)
}
