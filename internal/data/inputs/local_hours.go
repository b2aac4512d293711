package inputs

import (
	"time"
)

// localHours turns times on a zone's clocks into moments.
type localHours struct {
	zone *time.Location
	// Between from and until, a day and more inside the time of one offset, nothing need be looked up.
	from, until, offset int64
}

// Furthest exceeds the distance of any clock from UTC.
const Furthest = 26 * 3600

// moments returns the moments at which clocks show a time, given as if it were UTC. There is one, but none in the
// hour skipped in spring and two in the hour repeated in autumn, the earlier first.
func (l *localHours) moments(shown int64) (first, second int64, n int) {
	if l.from <= shown && shown < l.until {
		return shown - l.offset, 0, 1
	}
	for t := time.Unix(shown-Furthest, 0).In(l.zone); ; {
		_, offset := t.Zone()
		begin, end := t.ZoneBounds()
		moment := shown - int64(offset)
		if (begin.IsZero() || begin.Unix() <= moment) && (end.IsZero() || moment < end.Unix()) {
			if n++; n == 1 {
				first = moment
			} else {
				second = moment
			}
			l.offset, l.from, l.until = int64(offset), -1<<62, 1<<62
			if !begin.IsZero() {
				l.from = begin.Unix() + Furthest
			}
			if !end.IsZero() {
				l.until = end.Unix() - Furthest
			}
		}
		if end.IsZero() || end.Unix() > shown+Furthest {
			return first, second, n
		}
		t = end.In(l.zone)
	}
}

// skipped returns the change of the clocks that skips a time: the times shown before and after it.
func (l *localHours) skipped(shown int64) (before, after time.Time) {
	_, end := time.Unix(shown-Furthest, 0).In(l.zone).ZoneBounds()
	for !end.IsZero() {
		t := end.In(l.zone)
		_, offset := t.Zone()
		_, earlier := end.Add(-time.Second).In(l.zone).Zone()
		if end.Unix()+int64(earlier) <= shown && shown < end.Unix()+int64(offset) {
			return end.UTC().Add(time.Duration(earlier) * time.Second), end.UTC().Add(time.Duration(offset) * time.Second)
		}
		_, end = t.ZoneBounds()
	}
	return before, after
}
