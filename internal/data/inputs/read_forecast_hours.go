package inputs

import (
	"fmt"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
)

// hourSaid tells the form in which an hour was given.
type hourSaid int

const (
	hourUnread hourSaid = iota
	hourOnce
	hourTwice // without an offset, at a time that clocks show twice
)

// hour reads a time: with an offset, or as the clocks of the zone show it (shown).
func (r *forecastReader) hour(text string, field int) (shown, moment int64, said hourSaid) {
	t, local, ok := parseHour(text)
	year := t.UTC().Year()
	switch {
	case text == "":
		r.foundIn(field, "missing", nil, "The hour is missing here.")
	case !ok:
		r.foundIn(field, "time", nil, "%q is no time; write it like 2026-03-01T22:00:00Z, or like 2026-03-01 22:00 as clocks in %s show it.", fault.Clip(text), r.Zone)
	case year < 1970 || year > 2200 || year == 1970 && t.UTC().YearDay() < 3:
		r.foundIn(field, "range", nil, "The year is %d; times from 1970 to 2200 can be planned.", year)
	case !local:
		return 0, t.Unix(), r.whole(t, field)
	default:
		first, second, n := r.local.moments(t.Unix())
		switch {
		case n == 2 && first%3600 == 0 && second%3600 == 0:
			return t.Unix(), first, hourTwice
		case n == 2 && second%3600 == 0: // the other one is not the start of an hour
			return t.Unix(), second, hourOnce
		case n > 0:
			return t.Unix(), first, r.whole(time.Unix(first, 0).In(r.Zone), field)
		}
		before, after := r.local.skipped(t.Unix())
		// The next hour begins at the change, so that every hour of UTC has a row.
		r.foundIn(field, "skipped", &fault.Hint{Detail: "Leave the row out; no hour is missing without it."},
			"%s never comes in %s: its clocks go from %s to %s.", t.Format("2006-01-02 15:04"), r.Zone, before.Format("2006-01-02 15:04"), after.Format("2006-01-02 15:04"))
		return 0, 0, hourUnread
	}
	return 0, 0, hourUnread
}

// whole refuses moments that are not whole hours of UTC.
func (r *forecastReader) whole(t time.Time, field int) hourSaid {
	if t.Nanosecond() == 0 && t.Unix()%3600 == 0 {
		return hourOnce
	}
	begins := t.UTC().Truncate(time.Hour)
	began, inUTC := begins.In(t.Location()).Format(time.RFC3339), begins.Format(time.RFC3339)
	if began != inUTC {
		began += ", which is " + inUTC
	}
	r.foundIn(field, "not_whole", &fault.Hint{Detail: fmt.Sprintf("The hour it lies in began at %s.", began), Value: begins},
		"%s is %s in UTC; a forecast is for a whole hour of UTC.", t.Format("2006-01-02T15:04:05Z07:00"), t.UTC().Format("15:04:05"))
	return hourUnread
}

// parseHour reads RFC 3339, also with a space for the T and without seconds, and the same without an
// offset, or only a date (local), which is then as if it were UTC.
func parseHour(text string) (t time.Time, local, ok bool) {
	if t.UnmarshalText([]byte(text)) == nil {
		return t, false, true
	}
	if len(text) == len(time.DateOnly) {
		text += " 00:00"
	}
	if len(text) < 16 || len(text) > 40 || text[10] != ' ' && text[10] != 'T' && text[10] != 't' {
		return t, false, false
	}
	clock, offset := text[11:], ""
	if i := strings.IndexAny(clock, "Zz+-"); i >= 0 {
		clock, offset = clock[:i], strings.ToUpper(clock[i:])
	}
	if len(clock) == 5 {
		clock += ":00"
	}
	if local = offset == ""; local {
		offset = "Z"
	}
	return t, local, t.UnmarshalText([]byte(text[:10]+"T"+clock+offset)) == nil
}

// halved reports a time that clocks show twice and that was given once.
func (r *forecastReader) halved(s *readSeries) {
	if s.half == 0 {
		return
	}
	t := time.Unix(s.half, 0).In(r.Zone)
	_, second, _ := r.local.moments(wallOf(t))
	r.found(int(s.halfLine), s.halfColumn, "twice", &fault.Hint{Detail: fmt.Sprintf("Write %s or %s, or give both rows, the earlier one first.",
		t.Format(time.RFC3339), time.Unix(second, 0).In(r.Zone).Format(time.RFC3339))},
		"Clocks in %s show %s twice, and the class %q has it once.", r.Zone, t.Format("2006-01-02 15:04"), fault.Clip(s.Class))
	s.half = 0
}

// wallOf returns the time on the clocks at a moment, as if it were UTC.
func wallOf(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

// check looks at each class's rows together.
func (r *forecastReader) check() {
	for i := range r.all {
		s := &r.all[i]
		r.halved(s)
		if s.twice > 0 && s.descends > 0 {
			r.found(int(s.twice), 1, "twice", nil, "Clocks in %s show this time twice, and which is which can be told only where a class's rows go forward in time; those of %q do not at line %d. Write both with their offsets, or sort the rows.",
				r.Zone, fault.Clip(s.Class), s.descends)
		}
		s.sort()
		r.twins(s)
	}
	sound := len(r.findings) == 0
	for i := range r.all {
		switch s := &r.all[i]; {
		case r.Holes == HolesOwn:
			s.holes(func(a, b SeriesRow) { s.Clear = append(s.Clear, HourSpan{a.Hour + 1, b.Hour}) })
		case r.Holes == HolesRefuse && sound:
			s.holes(func(a, b SeriesRow) { r.hole(s.Class, a, b) })
		}
	}
}

// twins reports rows of the same hour.
func (r *forecastReader) twins(s *readSeries) {
	for j := 1; j < len(s.Rows); j++ {
		a, b := s.Rows[j-1], s.Rows[j]
		if a.Hour != b.Hour {
			continue
		}
		if a.Arrives != b.Arrives {
			r.found(int(b.Line), 1, "one_of", nil, "The class %q has %s in line %d already, and one of the two tells arrivals and the other jobs that run at once; keep one of them.", fault.Clip(s.Class), TimeOf(a.Hour).Format(time.RFC3339), a.Line)
			continue
		}
		r.found(int(b.Line), 1, "duplicate", nil, "The class %q has %s in line %d already; keep one of the two.", fault.Clip(s.Class), TimeOf(a.Hour).Format(time.RFC3339), a.Line)
	}
}

func (r *forecastReader) hole(class string, a, b SeriesRow) {
	from, n := TimeOf(a.Hour+1), b.Hour-a.Hour-1
	detail := fmt.Sprintf("Before this row the class %q has none for %s", fault.Clip(class), from.Format(time.RFC3339))
	if n > 1 {
		detail = fmt.Sprintf("Before this row the class %q has none for %d hours, from %s until %s", fault.Clip(class), n, from.Format(time.RFC3339), TimeOf(b.Hour).Format(time.RFC3339))
	}
	r.found(int(b.Line), 1, "hole", &fault.Hint{Detail: "Add what is missing, or say with holes what it means: own is the class's own maximum, keep is what is stored."}, "%s.", detail)
}
