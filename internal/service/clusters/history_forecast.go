package clusters

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
)

// Statistics of an hour of the week, over the weeks measured; of jobs that run at once also within the hour.
const (
	StatisticAverage = "average"
	StatisticMost    = "most"
)

// How measured hours become forecasts.
const (
	RepeatNone   = "none"
	RepeatWeekly = "weekly"
)

// ForecastFromHistory selects the executions and the forecast to make from them.
type ForecastFromHistory struct {
	Class         string        `json:"class"`
	Job           string        `json:"job"`
	User          string        `json:"user,omitempty"`
	Queue         string        `json:"queue,omitempty"`
	MeasuredFrom  *time.Time    `json:"measured_from,omitempty"` // null: from the first execution to the last
	MeasuredUntil *time.Time    `json:"measured_until,omitempty"`
	Counts        inputs.Counts `json:"counts,omitempty"`    // default arrivals
	Statistic     string        `json:"statistic,omitempty"` // default average of arrivals, and most of those that run at once
	Repeat        string        `json:"repeat,omitempty"`    // default weekly
	From          *time.Time    `json:"from,omitempty"`      // of a repeating forecast; null is this hour
	Until         *time.Time    `json:"until,omitempty"`
	DryRun        bool          `json:"dry_run,omitempty"`
}

// ForecastMade is the result.
type ForecastMade struct {
	Class         string           `json:"class"`
	Job           string           `json:"job"`
	Counts        inputs.Counts    `json:"counts"`
	Statistic     string           `json:"statistic"`
	Repeat        string           `json:"repeat"`
	TimeZone      string           `json:"time_zone"`
	Executions    int64            `json:"executions"` // that were there in the time measured
	Undated       int64            `json:"undated"`    // executions without times on record
	MeasuredFrom  time.Time        `json:"measured_from"`
	MeasuredUntil time.Time        `json:"measured_until"`
	Hours         int64            `json:"hours"` // measured
	Peak          float64          `json:"peak"`  // the most of any hour
	PeakAt        time.Time        `json:"peak_at"`
	Week          *inputs.WeekDays `json:"week"` // null without repetition
	Written       inputs.Written   `json:"written"`
	Warnings      []string         `json:"warnings"`
}

// maxSpans is the maximum number of executions behind a forecast.
const maxSpans = maxExecutions

// ForecastFromHistory counts the executions of a job that arrived in each hour, or ran at once, and writes them as a
// forecast of a class: unchanged, or as a week that repeats.
func (d *Desk) ForecastFromHistory(ctx context.Context, cluster string, q ForecastFromHistory) (ForecastMade, error) {
	c, err := d.inputs.Cluster(ctx, cluster)
	if err != nil {
		return ForecastMade{}, err
	}
	zone, err := c.Zone()
	if err != nil {
		return ForecastMade{}, err
	}
	if q.Counts == "" {
		q.Counts = inputs.CountsArrivals
	}
	if q.Statistic == "" {
		if q.Statistic = StatisticAverage; q.Counts == inputs.CountsRunning {
			q.Statistic = StatisticMost
		}
	}
	if q.Repeat == "" {
		q.Repeat = RepeatWeekly
	}
	if err := q.check(); err != nil {
		return ForecastMade{}, err
	}
	var weekly inputs.WeeklyForecast
	if q.Repeat == RepeatWeekly {
		weekly = inputs.WeeklyForecast{Class: q.Class, From: d.now().Truncate(time.Hour), Until: *q.Until, Counts: q.Counts, DryRun: q.DryRun}
		if q.From != nil {
			weekly.From = *q.From
		}
		if err := weekly.Check(); err != nil {
			return ForecastMade{}, err
		}
	}
	made := ForecastMade{Class: q.Class, Job: q.Job, Counts: q.Counts, Statistic: q.Statistic, Repeat: q.Repeat, TimeZone: c.TimeZone, Warnings: []string{}}
	if q.Repeat == RepeatNone {
		hours, err := d.measured(ctx, cluster, q, &made)
		if err != nil {
			return ForecastMade{}, err
		}
		rows := make([]inputs.Forecast, len(hours))
		for i, h := range hours {
			rows[i] = inputs.Forecast{Class: q.Class, Hour: inputs.TimeOf(h.Hour)}
			if q.Counts == inputs.CountsArrivals {
				rows[i].Arrivals = new(q.of(h))
			} else {
				rows[i].Jobs = q.of(h)
			}
		}
		made.Written, err = d.PutForecasts(ctx, cluster, rows, q.DryRun)
		return made, aboutClass(err)
	}
	if weekly.Week, err = d.measuredWeek(ctx, cluster, q, zone, &made); err != nil {
		return ForecastMade{}, err
	}
	if weeks := (made.Hours + 1) / inputs.HoursPerWeek; weeks < 4 { // an hour is missing when clocks go forward
		made.Warnings = append(made.Warnings, fmt.Sprintf("Whole weeks measured: %d. Four or more tell what is usual.", max(1, weeks)))
	}
	days := weekly.Week.Days()
	made.Week = &days
	made.Written, err = d.PutWeekly(ctx, cluster, weekly)
	return made, err
}

// measuredWeek returns the week that the hours measured make.
func (d *Desk) measuredWeek(ctx context.Context, cluster string, q ForecastFromHistory, zone *time.Location, made *ForecastMade) (week inputs.Week, err error) {
	hours, err := d.measured(ctx, cluster, q, made)
	if err != nil {
		return week, err
	}
	var sum inputs.WeekOf
	for _, h := range hours {
		sum.Add(inputs.Forecast{Hour: inputs.TimeOf(h.Hour), Jobs: q.of(h)}, zone)
	}
	if week = sum.Week(); q.Statistic == StatisticMost {
		week = sum.Most()
	}
	for i, jobs := range week {
		if math.IsNaN(jobs) {
			return week, fault.At("/measured_from", "too_short", fmt.Sprintf("The time measured, %s to %s, is less than a week, so that nothing is known of some hours of the week. Give measured_from and measured_until of at least a week in which all executions were recorded, or let nothing repeat.",
				made.MeasuredFrom.Format(time.RFC3339), made.MeasuredUntil.Format(time.RFC3339)))
		}
		week[i] = max(0, math.Ceil(jobs*1e6-1e-3)/1e6) // no fewer than there were
	}
	return week, nil
}

// aboutClass points at the class, which is the only thing of written rows that the caller has named.
func aboutClass(err error) error {
	return fault.Move(err, func(string) string { return "/class" })
}

func (q ForecastFromHistory) check() error {
	switch {
	case q.Repeat == RepeatWeekly && q.Until == nil:
		return fault.At("/until", "missing", "Say until when the week is to repeat, or let nothing repeat.")
	case q.Repeat == RepeatNone && (q.From != nil || q.Until != nil):
		return fault.At("/from", "one_of", "Where nothing repeats the forecast is of the hours measured; leave from and until out, and choose by measured_from and measured_until.")
	case q.MeasuredFrom != nil && q.MeasuredUntil != nil && !q.MeasuredFrom.Before(*q.MeasuredUntil):
		return fault.At("/measured_from", "range", "measured_from must be before measured_until.")
	}
	for _, t := range []struct {
		pointer string
		at      *time.Time
	}{{"/measured_from", q.MeasuredFrom}, {"/measured_until", q.MeasuredUntil}} {
		if t.at != nil && !t.at.Equal(t.at.Truncate(time.Hour)) {
			return fault.At(t.pointer, "whole_hour", "Hours are measured; give the beginning of one.")
		}
	}
	return nil
}

// of returns the selected statistic of an hour.
func (q ForecastFromHistory) of(h history.Hour) float64 {
	switch {
	case q.Counts == inputs.CountsArrivals:
		return float64(h.Arrived)
	case q.Statistic == StatisticMost:
		return float64(h.Most)
	}
	return h.Average
}

// measured returns the counts of each hour measured; hours without executions are 0.
func (d *Desk) measured(ctx context.Context, cluster string, q ForecastFromHistory, made *ForecastMade) ([]history.Hour, error) {
	of := ExecutionFilter{Job: q.Job, User: q.User, Queue: q.Queue}
	if q.MeasuredFrom != nil {
		of.From = *q.MeasuredFrom
	}
	if q.MeasuredUntil != nil {
		of.Until = *q.MeasuredUntil
	}
	spans, undated, err := d.executions.Spans(ctx, cluster, of, maxSpans)
	if err != nil {
		return nil, err
	}
	made.Executions, made.Undated = int64(len(spans)), undated
	if undated > 0 {
		made.Warnings = append(made.Warnings, fmt.Sprintf("Of %d executions it is not on record from when until when they were there; they do not count.", undated))
	}
	measured, err := history.Concurrency(spans)
	if refusal := (history.Refusal{}); errors.As(err, &refusal) {
		return nil, fault.At("/measured_from", "too_long", refusal.Detail)
	}
	if err != nil {
		return nil, err
	}
	if len(measured) == 0 {
		return nil, fault.At("/job", "missing", fmt.Sprintf("There is no execution of the job %q in that time of which it is on record from when until when it was there.", q.Job))
	}
	first, last := measured[0].Hour, measured[len(measured)-1].Hour
	if q.MeasuredFrom != nil {
		first = inputs.HourOf(*q.MeasuredFrom)
	}
	if q.MeasuredUntil != nil {
		last = inputs.HourOf(*q.MeasuredUntil) - 1
	}
	if n := int64(last) - int64(first) + 1; n > history.MaxHours {
		return nil, fault.At("/measured_from", "too_long", fmt.Sprintf(
			"The jobs were measured over %d hours, from %s to %s, and at most %d hours are forecast from; begin later, or leave out runs with a wrong date.",
			n, dayOf(first), dayOf(last), history.MaxHours))
	}
	hours := make([]history.Hour, 0, last-first+1)
	for h := first; h <= last; h++ {
		hour := history.Hour{Hour: h}
		if at := int(h - measured[0].Hour); at >= 0 && at < len(measured) {
			hour = measured[at]
		}
		if jobs := q.of(hour); len(hours) == 0 || jobs > made.Peak {
			made.Peak, made.PeakAt = jobs, inputs.TimeOf(h)
		}
		hours = append(hours, hour)
	}
	made.MeasuredFrom, made.MeasuredUntil, made.Hours = inputs.TimeOf(first), inputs.TimeOf(last+1), int64(len(hours))
	return hours, nil
}

// dayOf writes the day of an hour, as in messages.
func dayOf(hour int32) string { return time.Unix(int64(hour)*3600, 0).UTC().Format(time.DateOnly) }
