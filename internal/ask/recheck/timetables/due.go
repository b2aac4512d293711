package timetables

import (
	"math"
	"time"

	"example.org/headroom/internal/core/capacity"
)

// clocks are those of the place that times of day are of.
type clocks struct {
	zone *time.Location
	seen map[int64]shown // by the hour of the epoch
}

// shown tells the minute of the day with which an hour begins. An hour in or before which clocks are moved is not even.
type shown struct {
	minute int
	even   bool
}

const dayMinutes = 24 * 60

func newClocks(zone string) (*clocks, error) {
	place, err := time.LoadLocation(zone)
	return &clocks{place, map[int64]shown{}}, err
}

// at returns the day and the minute of the day that the clocks show.
func (c *clocks) at(t time.Time) (day, minute int) {
	local := t.In(c.zone)
	return local.YearDay(), local.Hour()*60 + local.Minute()
}

func (c *clocks) hour(t time.Time) shown {
	key := t.Unix() / 3600
	x, known := c.seen[key]
	if !known {
		_, before := c.at(t.Add(-time.Minute))
		_, x.minute = c.at(t)
		_, last := c.at(t.Add(59 * time.Minute))
		x.even = t.Unix()%3600 == 0 && (before+1)%dayMinutes == x.minute && (x.minute+59)%dayMinutes == last
		c.seen[key] = x
	}
	return x
}

// passes returns the minute of an hour that first shows a time of day or passes over it. False says that none does.
func (c *clocks) passes(hour time.Time, due int) (minute int, is bool) {
	if x := c.hour(hour); x.even {
		minute = (due - x.minute + dayMinutes) % dayMinutes
		return minute, minute < 60
	}
	day, was := c.at(hour.Add(-time.Minute))
	for minute = range 60 {
		now, shows := c.at(hour.Add(time.Duration(minute) * time.Minute))
		if shows >= due && (was < due || now != day) {
			return minute, true
		}
		day, was = now, shows
	}
	return 0, false
}

// window returns the hours from one in which executions arrive until they are due, or what it is told. By a time of day that is
// the first minute that shows it or passes over it, after the next hour and the deadline.
func (s *scheduled) window(c *capacity.Class, arrived time.Time, told int) int {
	of, err := time.Parse("15:04", c.Due)
	if err != nil || s.clocks == nil {
		return told
	}
	at := arrived.Add(time.Hour + time.Duration(math.Ceil(c.DeadlineSeconds/3600))*time.Hour)
	if at.Before(s.at(-48)) { // it was due long ago
		return 0
	}
	for last := at.Add(72 * time.Hour); at.Before(last); at = at.Add(time.Hour) {
		if minute, is := s.clocks.passes(at, of.Hour()*60+of.Minute()); is {
			at = at.Add(time.Duration(minute) * time.Minute)
			break
		}
	}
	return int(at.Sub(arrived) / time.Hour)
}
