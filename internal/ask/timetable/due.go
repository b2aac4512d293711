package timetable

import (
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
)

// dueTimes holds the moments at which executions of a class are due that must have ended by a time of day.
type dueTimes struct {
	moments []time.Time
	hours   int // of a run up to the deadline
}

// newDueTimes finds the moments from one time until another, and two days more. On a day whose clocks pass over the time it is the
// moment after.
func newDueTimes(c *capacity.Class, zone *time.Location, from, until time.Time) (d dueTimes) {
	of, err := time.Parse(capacity.TimeOfDay, c.Due)
	if err != nil { // the question's check says so
		return d
	}
	d.hours = int(math.Ceil(c.DeadlineSeconds / 3600))
	until = until.Add(time.Duration(d.hours+48) * time.Hour)
	for year, month, day := from.In(zone).Date(); ; day++ {
		t := time.Date(year, month, day, 0, 0, 0, 0, zone)
		if t.After(until) {
			return d
		}
		if shown := t.Add(time.Duration(of.Hour())*time.Hour + time.Duration(of.Minute())*time.Minute); shown.Format(capacity.TimeOfDay) == c.Due {
			d.moments = append(d.moments, shown)
			continue
		}
		for y, m, n := t.Date(); ; t = t.Add(time.Minute) { // clocks move on this day
			yy, mm, nn := t.Date()
			if t.Hour()*60+t.Minute() >= of.Hour()*60+of.Minute() || y != yy || m != mm || n != nn {
				break
			}
		}
		d.moments = append(d.moments, t)
	}
}

// window returns the whole hours from that of an arrival until its executions are due: at the first time of day that leaves them
// their deadline, from the next hour on.
func (d *dueTimes) window(hour time.Time) int {
	earliest := hour.Add(time.Duration(1+d.hours) * time.Hour)
	i, _ := slices.BinarySearchFunc(d.moments, earliest, time.Time.Compare)
	if i == len(d.moments) {
		return 0
	}
	return int(d.moments[i].Sub(hour) / time.Hour)
}

// zone returns where the clocks are that times of day are of.
func (q *Question) zone() *time.Location {
	if zone, err := time.LoadLocation(q.TimeZone); err == nil && q.TimeZone != "" {
		return zone
	}
	return time.UTC
}
