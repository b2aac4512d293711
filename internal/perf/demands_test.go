package perf

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/internal/capacity"
)

// nightly is the profile of the README's example.
var nightly = capacity.Profile{
	MapTasks: 300, ReduceTasks: 40, MapAvgSeconds: 30, MapMaxSeconds: 60,
	FirstShuffleAvgSeconds: 12, FirstShuffleMaxSeconds: 20, ShuffleAvgSeconds: 40, ShuffleMaxSeconds: 90,
	ReduceAvgSeconds: 20, ReduceMaxSeconds: 50,
}

func TestDemandsOfTheReadmeExample(t *testing.T) {
	got := Demands(nightly)
	want := JobDemands{
		Lower:   capacity.Demand{MapWorkSeconds: 9000, ReduceWorkSeconds: 2400, FixedSeconds: -28},
		Average: capacity.Demand{MapWorkSeconds: 8940, ReduceWorkSeconds: 2260, FixedSeconds: 196},
		Upper:   capacity.Demand{MapWorkSeconds: 8880, ReduceWorkSeconds: 2120, FixedSeconds: 420},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("demands (-want +got):\n%s", diff)
	}
	// The times printed beside 52 map and 29 reduce slots for 10 jobs.
	for _, tt := range []struct {
		bound capacity.Bound
		want  float64
	}{{capacity.LowerBound, 2530.4}, {capacity.AverageBound, 2694.5}, {capacity.UpperBound, 2858.7}} {
		if time := Time(got.Of(tt.bound), 10, 52, 29); math.Abs(time-tt.want) > 0.05 {
			t.Errorf("%s time: got %.3f s, want %.1f s", tt.bound, time, tt.want)
		}
	}
}
