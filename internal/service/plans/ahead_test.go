package plans

import (
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
)

// Nobody is told of places that only plans of earlier inputs have.
func TestAdmitsMoreLooksAsFarAsIsKnown(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 11, 29, hour, 0, 0, 0, time.UTC) }
	admits := func(hour int, jobs float64) Moment {
		return Moment{At: at(hour), Plan: capacity.Plan{Classes: []capacity.ClassPlan{{Name: "etl", Admitted: jobs}}}}
	}
	o := Outlook{Moments: []Moment{admits(3, 1), admits(5, 4)}, Until: at(4)}
	if from, jobs := o.admitsMore("etl", 1); !from.IsZero() || jobs != 0 {
		t.Errorf("it tells %d jobs from %v on, which is beyond what is known", jobs, from)
	}
	o.Until = at(5)
	if from, jobs := o.admitsMore("etl", 1); !from.Equal(at(5)) || jobs != 4 {
		t.Errorf("it tells %d jobs from %v on, want 4 from %v on", jobs, from, at(5))
	}
}
