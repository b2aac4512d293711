package drive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// telling is an engine whose jobs end one a minute, and which tells of those of a while.
type telling struct {
	frail
	ends  map[string]time.Time // by line
	asked []time.Duration      // lengths of the whiles
}

func (e *telling) Measure(_ context.Context, _ []string, from, until time.Time) (m Measured, err error) {
	e.asked = append(e.asked, until.Sub(from))
	m.Heading = "head\n"
	for n := range len(e.ends) {
		line := fmt.Sprintln("job", n)
		if end := e.ends[line]; !end.Before(from) && !end.After(until) {
			m.Ended = append(m.Ended, line)
		}
	}
	return m, e.refuses
}

// Each job that ended is handed on once, in lists of a bounded length, also over failures of either side. A driver that
// starts anew begins a week back.
func TestWhatEndedIsHandedOnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &telling{ends: map[string]time.Time{}}
		for n := range 5000 {
			e.ends[fmt.Sprintln("job", n)] = time.Now().Add(time.Duration(n-4500) * time.Minute)
		}
		away := errors.New("away")
		var refuse error
		kept, lists, observed := map[string]int{}, 0, 0
		start := func() *Driver {
			return &Driver{
				Plan: func(context.Context) (Plan, error) { return Plan{}, nil }, Engine: e, Warn: func(string, error) {}, Did: func(Step, bool) {},
				Observed: func(context.Context, int64, int64) error { observed++; return refuse },
				Ended: func(_ context.Context, list string) error {
					if refuse != nil {
						return refuse
					}
					lines := strings.SplitAfter(strings.TrimSuffix(list, "\n"), "\n")
					if lists++; lines[0] != "head\n" || len(lines) > 201 {
						t.Errorf("a list has %d lines and begins with %q", len(lines), lines[0])
					}
					for _, line := range lines[1:] {
						kept[strings.TrimSuffix(line, "\n")]++
					}
					return nil
				},
			}
		}
		d := start()
		for n := range 500 * 6 { // turns of ten seconds
			refuse, e.refuses = nil, nil
			switch {
			case n%50 == 7 || n > 600 && n < 700:
				refuse = away
			case n%50 == 13 || n > 900 && n < 1500:
				e.refuses = away
			}
			if err := d.Turn(t.Context()); n > 650 && n < 700 && err == nil {
				t.Error("a turn that hands nothing on succeeds")
			}
			time.Sleep(10 * time.Second) // the clock is that of synctest: no time is lost
		}
		missing, twice := 0, 0
		for line, end := range e.ends {
			switch n := kept[strings.TrimSuffix(line, "\n")]; {
			case n == 0 && time.Since(end) > 2*time.Minute:
				missing++
			case n > 1:
				twice++
			}
		}
		if missing > 0 || twice > 0 || observed < 200 || observed > 500 {
			t.Errorf("%d jobs are missing, %d came twice; %d observations", missing, twice, observed)
		}
		before := len(kept)
		d = start()
		for range 10 {
			_ = d.Turn(t.Context())
		}
		again := 0
		for _, n := range kept {
			if n > 1 {
				again++
			}
		}
		if again < before-2 {
			t.Errorf("a new driver hands %d of %d jobs on again", again, before)
		}
		for _, length := range e.asked {
			if length > day+margin {
				t.Errorf("the engine is asked for %s at once", length)
			}
		}
	})
}
