package reporting

import (
	"encoding/json"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/data/inputs"
)

// ReportSchedule describes a report of a cluster that is made again and again. No plan depends on one.
type ReportSchedule struct {
	Name    string       `json:"name"`
	Every   Every        `json:"every"`
	Hour    int64        `json:"hour"` // made at the start of this hour on the clocks of the cluster's time zone
	Covers  Covers       `json:"covers"`
	Format  ReportFormat `json:"format"`
	Enabled bool         `json:"enabled"`
	Keep    int64        `json:"keep"`    // maximum number of its reports; the newest stay
	NextAt  *time.Time   `json:"next_at"` // read-only; nil while it is not enabled
	capacity.Stamp
}

// Every is the interval of a report, and the length of time it covers.
type Every string

// Days begin at midnight, weeks on Monday and months on the 1st, on the clocks of the cluster.
const (
	EveryDay   Every = "day"
	EveryWeek  Every = "week"
	EveryMonth Every = "month"
)

// Covers selects the time that a report is about.
type Covers string

// From the moment that a report is for until the next one of its schedule, or from the one before.
const (
	CoversAhead  Covers = "ahead"  // the future need: a horizon
	CoversBehind Covers = "behind" // past plans and observations
)

// ReportFormat is the form of a report's file.
type ReportFormat string

// The forms.
const (
	ReportXLSX  ReportFormat = "xlsx"
	ReportCSV   ReportFormat = "csv"
	ReportFocus ReportFormat = "focus"
	ReportJSON  ReportFormat = "json"
)

// ReportScheduleKind names schedules in the audit log.
const ReportScheduleKind = "report_schedule"

// Bounds of report schedules.
const (
	defaultKeep        = 24
	MaxReportSchedules = 50 // of a cluster
)

// UnmarshalJSON fills in defaults.
func (s *ReportSchedule) UnmarshalJSON(text []byte) error {
	type members ReportSchedule
	*s = ReportSchedule{Covers: CoversAhead, Format: ReportXLSX, Enabled: true, Keep: defaultKeep}
	return json.Unmarshal(text, (*members)(s))
}

// Validate checks what the contract's rules for a schedule leave open.
func (s ReportSchedule) Validate() error {
	return strict.Check(func(k *strict.Checker) {
		k.StoredName(s.Name)
		checkReport(k, s.Covers, s.Format)
	})
}

func checkReport(k *strict.Checker, covers Covers, format ReportFormat) {
	if covers == CoversBehind && format == ReportFocus {
		k.Found("format", "conflict", "FOCUS rows say what is going to be charged, so that they cover the time ahead alone.",
			k.Hint("format", ReportCSV, "Choose csv for a report of the time behind."))
	}
}

// Next returns the first scheduled moment after another one.
func (s ReportSchedule) Next(after time.Time, zone *time.Location) time.Time {
	for day := shownBy(after, zone).Truncate(24*time.Hour).AddDate(0, 0, -1); ; day = day.AddDate(0, 0, 1) {
		if at, due := s.on(day, zone); due && at.After(after) {
			return at
		}
	}
}

// Last returns the last scheduled moment until another one, inclusive.
func (s ReportSchedule) Last(until time.Time, zone *time.Location) time.Time {
	for day := shownBy(until, zone).Truncate(24*time.Hour).AddDate(0, 0, 1); ; day = day.AddDate(0, 0, -1) {
		if at, due := s.on(day, zone); due && !at.After(until) {
			return at
		}
	}
}

// on returns the moment of a day's report: the first at which clocks show the hour or, if they skip it, the moment of
// the skip. A day that a zone has left out has none.
func (s ReportSchedule) on(day time.Time, zone *time.Location) (at time.Time, due bool) {
	if s.Every == EveryWeek && day.Weekday() != time.Monday || s.Every == EveryMonth && day.Day() != 1 {
		return at, false
	}
	if !shownBy(reached(day, zone), zone).Truncate(24 * time.Hour).Equal(day) {
		return at, false
	}
	return reached(day.Add(time.Duration(s.Hour)*time.Hour), zone), true
}

// Span returns the time covered by the report of a moment.
func (s ReportSchedule) Span(at time.Time, zone *time.Location) (from, until time.Time) {
	if s.Covers == CoversBehind {
		return wholeHours(s.Last(at.Add(-time.Nanosecond), zone), at)
	}
	return wholeHours(at, s.Next(at, zone))
}

// around returns the time covered by an unscheduled report: a day, a week or a month on the clocks of a zone. It
// begins or ends with the hour of a moment. A month from the 31st on ends with the next one.
func around(every Every, covers Covers, at time.Time, zone *time.Location) (from, until time.Time) {
	at = at.UTC().Truncate(time.Hour)
	by := 1
	if covers == CoversBehind {
		by = -1
	}
	shown := shownBy(at, zone)
	var other time.Time
	switch every {
	case EveryMonth:
		first := time.Date(shown.Year(), shown.Month()+time.Month(by), 1, shown.Hour(), shown.Minute(), 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1)
		if other = first.AddDate(0, 0, shown.Day()-1); other.After(last) {
			other = last
		}
	case EveryWeek:
		other = shown.AddDate(0, 0, 7*by)
	default:
		other = shown.AddDate(0, 0, by)
	}
	if by < 0 {
		return wholeHours(reached(other, zone), at)
	}
	return wholeHours(at, reached(other, zone))
}

// wholeHours extends a time to whole hours of UTC: zones that are half an hour away from UTC have their midnight
// within one.
func wholeHours(from, until time.Time) (time.Time, time.Time) {
	return from.UTC().Truncate(time.Hour), until.UTC().Truncate(time.Hour)
}

// shownBy returns the time on a zone's clocks at a moment, as if it were UTC.
func shownBy(at time.Time, zone *time.Location) time.Time {
	_, offset := at.In(zone).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// reached returns the first moment at which a zone's clocks have reached a time, given as if it were UTC. If they
// show the time twice, it is the earlier moment; if they skip it, the moment of the skip.
func reached(shown time.Time, zone *time.Location) time.Time {
	for t := shown.Add(-inputs.Furthest * time.Second).In(zone); ; {
		_, offset := t.Zone()
		begin, end := t.ZoneBounds()
		at := shown.Add(-time.Duration(offset) * time.Second)
		if !begin.IsZero() && at.Before(begin) {
			at = begin
		}
		if end.IsZero() || at.Before(end) {
			return at.UTC()
		}
		t = end.In(zone)
	}
}
