package clusters

import (
	"testing"
	"time"
)

// A job is counted in whole weeks of its own time, and one of less than a week in those of the whole record, unless it is new.
func TestJobsAreCountedInWholeWeeks(t *testing.T) {
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	between := func(from, until float64) span {
		at := func(days float64) time.Time { return start.Add(time.Duration(days * 24 * float64(time.Hour))) }
		return span{at(from), at(until)}
	}
	for name, c := range map[string]struct{ own, record, want span }{
		"ran once in three weeks":     {between(8, 8.5), between(0, 21), between(0, 21)},
		"ran before the last weeks":   {between(1, 1.5), between(0, 27), between(0, 21)},
		"ran in the last weeks":       {between(18, 24), between(0, 27), between(6, 27)},
		"ran once at the end":         {between(26.5, 27), between(0, 27), between(6, 27)},
		"is new, and goes on":         {between(23, 26.2), between(0, 27), between(26.2, 26.2)},
		"two weeks and some days":     {between(0, 17), between(0, 21), between(3, 17)},
		"nothing of a week on record": {between(1, 2), between(0, 3), between(3, 3)},
	} {
		if got := c.own.weeks(c.record); c.want.days() == 0 && got.days() != 0 || c.want.days() > 0 && got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// Jobs that ran less than once in eight weeks show no week that repeats.
func TestSeldomJobsAreNotForecast(t *testing.T) {
	start := time.Date(2020, 3, 2, 0, 0, 0, 0, time.UTC)
	for weeks, seldom := range map[int]bool{2: false, 8: false, 9: true, 264: true} {
		in := span{start, start.Add(time.Duration(weeks) * week)}
		runs := pastRuns{arrived: []int64{start.UnixMilli() - 1, start.UnixMilli() + 1, in.until.UnixMilli()}}
		if n, of := in.count(runs); n != 1 || of != int64(weeks) || in.seldom(runs) != seldom {
			t.Errorf("%d weeks: %d runs in %d, seldom %t", weeks, n, of, in.seldom(runs))
		}
	}
}

// A deadline covers 95 % of the runs: all of fewer than 20, and all but one of 20.
func TestDeadlinesCoverRuns(t *testing.T) {
	var took []float64
	for n := 1; n <= 41; n++ {
		took = append(took, float64(n)) // in order
		want := n
		switch {
		case n >= 40:
			want = n - 2
		case n >= 20:
			want = n - 1
		}
		if got := within(took, deadlineOf(took)); got != want {
			t.Errorf("of %d runs %d meet the deadline, want %d", n, got, want)
		}
	}
}
