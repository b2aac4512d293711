package history

import (
	"reflect"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
)

// worked returns an execution small enough to be counted by hand: two slots for maps and two for reduces.
func worked() *Execution {
	at := func(s int64) int64 { return base + s*1000 }
	return &Execution{ID: "worked", Outcome: Succeeded, Submitted: at(0), Finished: at(100), Maps: 4, Reduces: 2, Attempts: attemptsOf(
		Attempt{Kind: Other, Outcome: Succeeded, Start: at(1), Finish: at(5)},
		Attempt{Kind: Map, Task: 0, Outcome: Succeeded, Start: at(10), Finish: at(20)},
		Attempt{Kind: Map, Task: 1, Outcome: Succeeded, Start: at(10), Finish: at(30)},
		Attempt{Kind: Map, Task: 2, Outcome: Succeeded, Start: at(20), Finish: at(40)},
		Attempt{Kind: Reduce, Task: 0, Outcome: Succeeded, Start: at(15), Shuffled: at(45), Finish: at(60)},
		Attempt{Kind: Reduce, Task: 1, Outcome: Succeeded, Start: at(39), Shuffled: at(41), Finish: at(50)},
		Attempt{Kind: Map, Task: 3, Outcome: Killed, Start: at(90), Finish: at(130)}, // on a host whose clock is wrong
		Attempt{Kind: Map, Task: 3, Outcome: Unfinished, Start: at(92)},
	)}
}

func TestTakeByHand(t *testing.T) {
	s, err := Take(worked())
	if err != nil {
		t.Fatal(err)
	}
	want := capacity.Profile{
		MapTasks: 3, MapAvgSeconds: 50.0 / 3, MapMaxSeconds: 20,
		ReduceTasks: 2, ReduceAvgSeconds: 12, ReduceMaxSeconds: 15,
		// When the last map ended, at 40, the shuffles had 5 and 1 seconds left.
		FirstShuffleAvgSeconds: 3, FirstShuffleMaxSeconds: 5,
		// Later ones fetch the output of two waves of maps: 10 of the 30 seconds of the first in all, and 2.
		ShuffleAvgSeconds: 6, ShuffleMaxSeconds: 10,
		// Attempts ran from 10 to 60 and from 90 to the end.
		OverheadSeconds: 40,
	}
	if !reflect.DeepEqual(s.Profile, want) {
		t.Errorf("%+v\nwant %+v", s.Profile, want)
	}
	if s.Left != (LeftOut{Killed: 1, Unfinished: 1, Other: 1}) || *s.Seconds != 100 {
		t.Errorf("%+v", s)
	}
	if len(s.Notes) != 2 || !strings.Contains(s.Notes[0], "declared 4 maps and 2 reduces; 3 and 2") || !strings.Contains(s.Notes[1], "times the 2 waves of maps") {
		t.Errorf("%q", s.Notes)
	}
}

func TestLongWaitsAreNoted(t *testing.T) {
	e := worked()
	e.Finished += 500_000
	s, err := Take(e)
	if err != nil || s.Profile.OverheadSeconds != 510 || !strings.Contains(strings.Join(s.Notes, "\n"), "In 510 of its 600 seconds no attempt ran") {
		t.Errorf("%v %v %q", err, s.Profile.OverheadSeconds, s.Notes)
	}
	e.Submitted = 0
	if s, err = Take(e); err != nil || s.Profile.OverheadSeconds != 0 || s.Seconds != nil || !strings.Contains(strings.Join(s.Notes, "\n"), "not known and taken for 0") {
		t.Errorf("%v %+v", err, s)
	}
}
