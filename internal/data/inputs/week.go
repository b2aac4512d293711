package inputs

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// HoursPerWeek and HoursPerYear: a year is twelve months of HoursPerMonth.
const (
	HoursPerWeek = 168
	HoursPerYear = 12 * capacity.HoursPerMonth
)

// Week holds the number of concurrent jobs in each hour of a week, from Monday 0:00 on local clocks. NaN is an
// unknown hour.
type Week [HoursPerWeek]float64

var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// WeekDays holds a week day by day, as in JSON; nil is an unknown hour.
type WeekDays struct {
	Mon []*float64 `json:"mon"`
	Tue []*float64 `json:"tue"`
	Wed []*float64 `json:"wed"`
	Thu []*float64 `json:"thu"`
	Fri []*float64 `json:"fri"`
	Sat []*float64 `json:"sat"`
	Sun []*float64 `json:"sun"`
}

// Days returns the week day by day.
func (w Week) Days() WeekDays {
	hours := make([]*float64, len(w))
	for i := range w {
		if !math.IsNaN(w[i]) {
			hours[i] = &w[i]
		}
	}
	return WeekDays{hours[:24], hours[24:48], hours[48:72], hours[72:96], hours[96:120], hours[120:144], hours[144:]}
}

// hourOfWeek returns the hour on clocks in t's zone.
func hourOfWeek(t time.Time) int { return (int(t.Weekday())+6)%7*24 + t.Hour() }

// parts visits the hours of the week that an hour of UTC overlaps on a zone's clocks, with the seconds of each. There
// is one, unless the zone is not whole hours from UTC or its clocks change inside the hour.
func parts(hour int32, zone *time.Location, each func(ofWeek int, seconds int64)) {
	end := TimeOf(hour + 1)
	for t := TimeOf(hour).In(zone); t.Before(end); {
		next := t.Add(time.Hour - time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second)
		if next.After(end) {
			next = end
		}
		if _, change := t.ZoneBounds(); !change.IsZero() && change.Before(next) {
			next = change
		}
		each(hourOfWeek(t), next.Unix()-t.Unix())
		t = next.In(zone)
	}
}

// In returns the number of jobs in an hour of UTC. If it overlaps two local hours, it returns their mean by time.
func (w *Week) In(hour int32, zone *time.Location) (jobs float64) {
	parts(hour, zone, func(ofWeek int, seconds int64) {
		if seconds == 3600 {
			jobs = w[ofWeek]
		} else {
			jobs += w[ofWeek] * float64(seconds) / 3600
		}
	})
	return jobs
}

// WeekOf sums rows up to a mean week. Hours of the week without rows are NaN.
type WeekOf struct {
	sums, seconds, most [HoursPerWeek]float64
	Rows, Arriving      int64 // all, and those that tell arrivals
}

// Add counts a row.
func (m *WeekOf) Add(f Forecast, zone *time.Location) {
	m.Rows++
	row := f.row()
	if row.Arrives {
		m.Arriving++
	}
	parts(row.Hour, zone, func(ofWeek int, seconds int64) {
		m.sums[ofWeek] += row.Jobs * float64(seconds)
		m.seconds[ofWeek] += float64(seconds)
		m.most[ofWeek] = max(m.most[ofWeek], row.Jobs)
	})
}

// Week returns the mean so far.
func (m *WeekOf) Week() (w Week) {
	for i := range w {
		w[i] = m.sums[i] / m.seconds[i] // NaN without rows
	}
	return w
}

// Most returns the largest row of each hour of the week so far.
func (m *WeekOf) Most() Week {
	w := m.Week()
	for i := range w {
		if m.seconds[i] > 0 {
			w[i] = m.most[i]
		}
	}
	return w
}

const longestWeek = 64 << 10

// ParseWeek reads a week as text: rules, or a table of 168 numbers. A table has 24 numbers a line for seven lines or
// all 168 in any lines. Lines may begin with their day's name, and the first line may name the hours. Rules are
// separated by semicolons. If several rules match an hour, the first one counts:
//
//	mon-fri 8-18: 40; sat 8-12: 20; else 5
func ParseWeek(text string) (Week, error) {
	if len(text) > longestWeek {
		return Week{}, fmt.Errorf("the week is a text of %d bytes; %d are plenty for %d numbers", len(text), longestWeek, HoursPerWeek)
	}
	if text = strings.TrimPrefix(text, "\ufeff"); strings.Contains(text, ":") || strings.Contains(strings.ToLower(text), "else") {
		return parseRules(text)
	}
	return parseTable(text)
}

func parseTable(text string) (w Week, err error) {
	in := csv.NewReader(strings.NewReader(text))
	in.FieldsPerRecord, in.TrimLeadingSpace = -1, true
	n := 0
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return w, fmt.Errorf("the week is no table of numbers: %w", err)
		}
		line, _ := in.FieldPos(0)
		switch name := strings.ToLower(strings.TrimSpace(record[0])); {
		case first && (name == "day" || name == ""):
			continue
		case n < HoursPerWeek && n%24 == 0 && name == weekdays[n/24]:
			record = record[1:]
		case dayOf(name) >= 0:
			return w, fmt.Errorf("line %d is %s; the days are mon, tue, wed, thu, fri, sat, sun in this order, each with 24 numbers", line, name)
		}
		for _, field := range record {
			x, err := jobsOf(field)
			switch {
			case err != nil:
				return w, fmt.Errorf("line %d: %w", line, err)
			case n == HoursPerWeek:
				return w, fmt.Errorf("at line %d the week has more than %d numbers; it has one for each hour, from Monday 0:00", line, HoursPerWeek)
			}
			w[n] = x
			n++
		}
	}
	if n < HoursPerWeek {
		return w, fmt.Errorf("the week has %d numbers; it has %d, one for each hour from Monday 0:00, or rules such as \"mon-fri 8-18: 40; else 5\"", n, HoursPerWeek)
	}
	return w, nil
}

func parseRules(text string) (w Week, err error) {
	for i := range w {
		w[i] = math.NaN()
	}
	for rule := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ';' || c == '\n' }) {
		if rule = strings.ToLower(strings.TrimSpace(rule)); rule == "" {
			continue
		}
		when, value, found := strings.Cut(rule, ":")
		if rest, other := strings.CutPrefix(rule, "else"); other {
			when, value, found = "", strings.TrimPrefix(rest, ":"), true
		}
		if !found {
			return w, fmt.Errorf("the rule %q has no colon; write one like \"mon-fri 8-18: 40\" or \"else 5\"", fault.Clip(rule))
		}
		jobs, err := jobsOf(value)
		if err != nil {
			return w, fmt.Errorf("the rule %q: %w", fault.Clip(rule), err)
		}
		days, from, until, err := parseWhen(when)
		if err != nil {
			return w, fmt.Errorf("the rule %q: %w", fault.Clip(rule), err)
		}
		counts := false
		for i := range w {
			if hour := i % 24; days[i/24] && from <= hour && hour < until && math.IsNaN(w[i]) {
				w[i], counts = jobs, true
			}
		}
		if !counts {
			return w, fmt.Errorf("the rule %q never counts, because those before it are for all of its hours; put it before them, or leave it out", fault.Clip(rule))
		}
	}
	for i, x := range w {
		if math.IsNaN(x) {
			return w, fmt.Errorf("no rule is for %s %d:00; end with one such as \"else 5\"", weekdays[i/24], i%24)
		}
	}
	return w, nil
}

// parseWhen reads days and hours, such as "mon-wed,sat 8-18". Unnamed days or hours mean all of them.
func parseWhen(when string) (days [7]bool, from, until int, err error) {
	days, until = [7]bool{true, true, true, true, true, true, true}, 24
	for _, word := range strings.Fields(when) {
		if word[0] < '0' || word[0] > '9' {
			days = [7]bool{}
			for part := range strings.SplitSeq(word, ",") {
				first, last, isRange := strings.Cut(part, "-")
				if !isRange {
					last = first
				}
				a, b := dayOf(first), dayOf(last)
				if a < 0 || b < 0 {
					return days, 0, 0, fmt.Errorf("%q is no day; the days are mon, tue, wed, thu, fri, sat, sun, and mon-fri is five of them", fault.Clip(part))
				}
				for d := a; ; d = (d + 1) % 7 { // sat-mon wraps around the end of the week
					days[d] = true
					if d == b {
						break
					}
				}
			}
			continue
		}
		a, b, isRange := strings.Cut(word, "-")
		from, err = strconv.Atoi(a)
		if until = from + 1; isRange && err == nil {
			until, err = strconv.Atoi(b)
		}
		switch {
		case err != nil || from > 23 || until > 24:
			return days, 0, 0, fmt.Errorf("%q are no hours; 8-18 are those from 8:00 until 18:00, and 24 is midnight at the day's end", fault.Clip(word))
		case until <= from:
			return days, 0, 0, fmt.Errorf("the hours %s go over midnight; write two rules, %d-24 and 0-%d", fault.Clip(word), from, until)
		}
	}
	return days, from, until, nil
}

// dayOf returns a weekday's number by its name or its first three letters, or -1.
func dayOf(name string) int {
	for i, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		if name == day || name == day[:3] {
			return i
		}
	}
	return -1
}

func jobsOf(text string) (float64, error) {
	text = strings.TrimSpace(text)
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return 0, errors.New("a number is missing; write 0 where nothing runs")
	case strings.Trim(text, "0123456789.eE+-") != "" || err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%q is no number", fault.Clip(text))
	case x < 0 || x > capacity.MaxJobs:
		return 0, fmt.Errorf("%s jobs are out of range; there can be 0 to %d", fault.Clip(text), capacity.MaxJobs)
	}
	return x + 0, nil
}
