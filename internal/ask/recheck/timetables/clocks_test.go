package timetables

import (
	"testing"
	"time"
)

// Clocks pass a time of day in the minute that a walk over all minutes finds, also where they are moved by an hour, by half an
// hour or over a day.
func TestClocksPassATimeOfDay(t *testing.T) {
	for zone, day := range map[string]string{"UTC": "2026-03-28", "Europe/Berlin": "2026-03-28", "America/New_York": "2026-10-31", "Australia/Lord_Howe": "2026-04-04",
		"Asia/Kolkata": "2026-01-01", "Pacific/Apia": "2011-12-28", "America/Sao_Paulo": "2018-11-03", "Europe/London": "2026-10-24"} {
		c, err := newClocks(zone)
		if err != nil {
			t.Fatal(err)
		}
		start, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		for due := 0; due < dayMinutes; due += 7 {
			passed := 0
			for hour := range 72 {
				from := start.Add(time.Duration(hour) * time.Hour)
				at, is := c.passes(from, due)
				want, found := 0, false
				for minute := range 60 {
					now := from.Add(time.Duration(minute) * time.Minute)
					day, shows := c.at(now)
					if before, was := c.at(now.Add(-time.Minute)); shows >= due && (was < due || before != day) {
						want, found = minute, true
						break
					}
				}
				if is != found || is && at != want {
					t.Errorf("%s: %02d:%02d is passed at %s + %d min, %t; a walk says %d min, %t", zone, due/60, due%60, from, at, is, want, found)
				}
				if is {
					passed++
				}
			}
			if passed < 2 || passed > 4 {
				t.Errorf("%s: %02d:%02d is passed %d times in three days", zone, due/60, due%60, passed)
			}
		}
	}
}
