package clusters

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/inputs"
)

// span is the time from the hour of a first run to the end of the hour of a last one.
type span struct{ from, until time.Time }

func spanOf(first, last time.Time) span {
	return span{first.UTC().Truncate(time.Hour), last.UTC().Truncate(time.Hour).Add(time.Hour)}
}

func (s span) days() float64 { return s.until.Sub(s.from).Hours() / 24 }

const week = 7 * 24 * time.Hour

// recordOf is the time that the runs of all jobs are of. Nothing is known of other times.
func recordOf(jobs []history.RecordedJob) (record span) {
	for _, job := range jobs {
		if job.FirstAt == nil || job.LastAt == nil {
			continue
		}
		own := spanOf(*job.FirstAt, *job.LastAt)
		if record.from.IsZero() || own.from.Before(record.from) {
			record.from = own.from
		}
		if own.until.After(record.until) {
			record.until = own.until
		}
	}
	return record
}

// weeks returns the whole weeks that a job's runs are counted in, so that no day counts more often. They are the last ones
// of its own time. A job that ran for less than a week is counted in those of the whole record, unless it is new. None are
// 0 days.
func (s span) weeks(record span) span {
	if s.new(record) {
		return span{s.until, s.until}
	}
	if s.days() >= 7 {
		return span{s.until.Add(-time.Duration(s.days()/7) * week), s.until}
	}
	length := time.Duration(record.days()/7) * week
	if in := (span{record.until.Add(-length), record.until}); !s.from.Before(in.from) {
		return in
	}
	return span{record.from, record.from.Add(length)}
}

// new reports whether a job began to run in the last week on record, and goes on.
func (s span) new(record span) bool {
	return s.days() > 1 && s.days() < 7 && record.until.Sub(s.until) < 2*24*time.Hour
}

// forecast repeats the week that the runs of a job show. Where the record is of less than a week they come evenly. It
// says in words how they come.
func (m *classMaker) forecast(ctx context.Context, job chosenJob, c *madeClass, runs pastRuns) (about string, err error) {
	if job.FirstAt == nil || job.LastAt == nil {
		return "without dates, so as many as ran at once, all the time", nil
	}
	weekly := inputs.WeeklyForecast{Class: job.name, From: Arriving(m.now, c.class.DeadlineSeconds), Until: m.made.Until, Counts: inputs.CountsArrivals}
	own := spanOf(*job.FirstAt, *job.LastAt)
	if in := own.weeks(m.record); in.days() >= 7 {
		q := ForecastFromHistory{Class: job.name, Job: job.Job, MeasuredFrom: &in.from, MeasuredUntil: &in.until, Counts: inputs.CountsArrivals, Statistic: StatisticAverage}
		about, c.seldom = in.words(runs), in.seldom(runs)
		if !c.seldom {
			if weekly.Week, err = m.desk.measuredWeek(ctx, m.of.Name, q, m.zone, new(ForecastMade)); err != nil {
				return "", fault.Move(err, func(string) string { return "/job" })
			}
		}
	} else {
		why, record := "less than a week is on record", m.record
		if own.new(record) && record.days() >= 7 {
			record, why = own, "it is new: it ran for less than a week, the last of the record"
		}
		aDay := float64(job.Executions) / math.Max(record.days(), 1)
		for i := range weekly.Week {
			weekly.Week[i] = math.Max(math.Round(aDay/24*1e6), 1) / 1e6
		}
		about = fmt.Sprintf("%s a day, at any hour alike, as %s", figure(aDay), why)
	}
	series, err := weekly.Series(m.zone)
	c.forecast = &series
	return about, fault.Move(err, func(string) string { return "/job" })
}

// count returns how many runs came in these weeks.
func (s span) count(runs pastRuns) (n, weeks int64) {
	for _, at := range runs.arrived {
		if at >= s.from.UnixMilli() && at < s.until.UnixMilli() {
			n++
		}
	}
	return n, int64(s.days() / 7)
}

// seldomWeeks: fewer runs than one in so many weeks show no week that repeats.
const seldomWeeks = 8

func (s span) seldom(runs pastRuns) bool {
	n, weeks := s.count(runs)
	return n*seldomWeeks < weeks
}

// words tells how often the runs came in these weeks.
func (s span) words(runs pastRuns) string {
	n, weeks := s.count(runs)
	if s.seldom(runs) {
		return fmt.Sprintf("%d in %s on record: too seldom to be expected again, so none is forecast", n, fault.Plural(weeks, "week"))
	}
	if n < weeks {
		return fmt.Sprintf("%d in %s on record, at the same hour of the week", n, fault.Plural(weeks, "week"))
	}
	last := "week"
	if weeks > 1 {
		last = fmt.Sprintf("%d weeks", weeks)
	}
	return fmt.Sprintf("%s a week, at the hours of the last %s on record", figure(float64(n)/float64(weeks)), last)
}

// figure writes a number with as many places as people read.
func figure(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0"), ".")
}
