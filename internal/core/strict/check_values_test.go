package strict

import (
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
)

// Go reads an offset of a whole day and refuses to write it.
func TestMomentsHaveOffsetsThatCanBeWritten(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-01-01T00:00:00Z": true, "2026-01-01T00:00:00+23:59": true, "2026-01-01T00:00:00-14:00": true,
		"2026-01-01T00:00:00+24:00": false, "2026-01-01T00:00:00-24:00": false,
	} {
		var at time.Time
		if err := at.UnmarshalText([]byte(text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		err := Check(func(c *Checker) { c.Moment("at", at) })
		if (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
		if findings := fault.Findings(err); !want && (len(findings) != 1 || findings[0].Pointer != "/at" || findings[0].Code != "range") {
			t.Errorf("%s: %+v", text, findings)
		}
		if _, err := at.MarshalText(); (err == nil) != want {
			t.Errorf("%s is written with %v", text, err)
		}
	}
}
