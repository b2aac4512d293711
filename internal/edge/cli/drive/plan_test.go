package drive

import (
	"maps"
	"testing"
	"time"

	"example.org/headroom/internal/service/plans"
)

// Of each class without places the first moment with VMs counts, as far as what comes is known and for a day.
func TestNextVMs(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 11, 29, hour, 0, 0, 0, time.UTC) }
	next := []plans.ScalingNext{
		{At: at(3), Classes: map[string]int64{"etl": 4, "adhoc": 0, "never": 0}},
		{At: at(5), Classes: map[string]int64{"etl": 1, "adhoc": 2}},
		{At: at(6), Classes: map[string]int64{"adhoc": 9}},
		{At: at(7), Classes: map[string]int64{"never": 1}}, // of earlier inputs
	}
	places := map[string]int64{"etl": 2, "adhoc": 0, "never": 0}
	if got, want := nextVMs(places, next, at(6), at(23)), map[string]time.Time{"adhoc": at(5)}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := nextVMs(places, next, at(6), at(4)); len(got) > 0 {
		t.Errorf("beyond a day it tells %v", got)
	}
}
