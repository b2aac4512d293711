package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestFindingsMoveWithTheirHints(t *testing.T) {
	inner := &InputError{Findings: []Finding{
		{Pointer: "/jobs", Hint: &Hint{Detail: "Give 3.", Pointer: "/jobs/max", Value: 3}},
		{Pointer: "", Hint: &Hint{Detail: "Leave it out."}},
	}}
	shared := inner.Findings[0].Hint
	err := Move(fmt.Errorf("read it: %w", inner), Under("/classes/2"))
	moved := Findings(err)
	if moved[0].Pointer != "/classes/2/jobs" || moved[0].Hint.Pointer != "/classes/2/jobs/max" || moved[0].Hint.Value != 3 {
		t.Errorf("got %+v with the hint %+v", moved[0], moved[0].Hint)
	}
	if moved[1].Pointer != "/classes/2" || moved[1].Hint.Pointer != "" {
		t.Errorf("a hint without a pointer got one: %+v, %+v", moved[1], moved[1].Hint)
	}
	if shared.Pointer != "/jobs/max" || !strings.HasPrefix(err.Error(), "read it: ") {
		t.Errorf("the hint that others may share became %+v, the error %v", shared, err)
	}
	other := errors.New("away")
	if got := Move(other, Under("/x")); got != other {
		t.Errorf("got %v, want the error itself", got)
	}
}
