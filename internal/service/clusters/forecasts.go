package clusters

import (
	"context"
	"fmt"
	"io"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
)

// PutForecasts writes forecast rows, all or none.
func (d *Desk) PutForecasts(ctx context.Context, cluster string, rows []inputs.Forecast, dryRun bool) (inputs.Written, error) {
	if err := inputs.ValidateForecasts(rows); err != nil {
		return inputs.Written{}, err
	}
	return d.forecasts.PutForecasts(ctx, cluster, inputs.SeriesOf(rows), dryRun)
}

// forecastsRead is the number of files of forecasts that are read at once.
const forecastsRead = 2

// ImportForecasts writes the rows of a CSV file, all or none. Others wait while two files are read, so that memory
// does not grow with the number of senders.
func (d *Desk) ImportForecasts(ctx context.Context, cluster string, in io.Reader, holes inputs.Holes, counts inputs.Counts, dryRun bool) (inputs.Written, error) {
	of, err := d.inputs.Snapshot(ctx, cluster, d.now())
	if err != nil {
		return inputs.Written{}, err
	}
	zone, err := of.Cluster.Zone()
	if err != nil {
		return inputs.Written{}, err
	}
	select {
	case d.reading <- struct{}{}:
		defer func() { <-d.reading }()
	case <-ctx.Done():
		return inputs.Written{}, ctx.Err()
	}
	file := inputs.ForecastFile{Classes: of.Classes, Zone: zone, Holes: holes, Counts: counts}
	series, err := file.Read(in)
	if err != nil {
		return inputs.Written{}, err
	}
	return d.forecasts.PutForecasts(ctx, cluster, series, dryRun)
}

// PutWeekly writes the rows that a week and growth make, replacing all rows of the class in their hours.
func (d *Desk) PutWeekly(ctx context.Context, cluster string, w inputs.WeeklyForecast) (inputs.Written, error) {
	of, err := d.inputs.Cluster(ctx, cluster)
	if err != nil {
		return inputs.Written{}, err
	}
	zone, err := of.Zone()
	if err != nil {
		return inputs.Written{}, err
	}
	series, err := w.Series(zone)
	if err != nil {
		return inputs.Written{}, err
	}
	return d.forecasts.PutForecasts(ctx, cluster, []inputs.Series{series}, w.DryRun)
}

// WeekPattern is the mean week of a class's rows.
type WeekPattern struct {
	Class    string          `json:"class"`
	TimeZone string          `json:"time_zone"`
	Rows     int64           `json:"rows"`
	Counts   inputs.Counts   `json:"counts"`
	Week     inputs.WeekDays `json:"week"`
}

// WeekPattern returns the mean week of the rows of a class, on the clocks of its cluster.
func (d *Desk) WeekPattern(ctx context.Context, cluster string, of ForecastFilter) (p WeekPattern, err error) {
	c, err := d.inputs.Cluster(ctx, cluster)
	if err != nil {
		return p, err
	}
	zone, err := c.Zone()
	if err != nil {
		return p, err
	}
	var mean inputs.WeekOf
	for page := (storage.Page{Limit: 1000}); ; {
		rows, err := d.forecasts.Forecasts(ctx, cluster, of, page)
		if err != nil {
			return p, err
		}
		for _, row := range rows.Items {
			mean.Add(row, zone)
		}
		if page.After = rows.Next; page.After == "" {
			break
		}
	}
	if mean.Rows == 0 {
		return p, fmt.Errorf("the class %q has no rows there, so there is no week to take the mean of: %w", of.Class, fault.NotFound)
	}
	counts, err := oneKind(mean.Arriving, mean.Rows)
	return WeekPattern{Class: of.Class, TimeZone: c.TimeZone, Rows: mean.Rows, Counts: counts, Week: mean.Week().Days()}, err
}

// oneKind says what rows count, and refuses those of both kinds.
func oneKind(arriving, rows int64) (inputs.Counts, error) {
	switch arriving {
	case 0:
		return inputs.CountsRunning, nil
	case rows:
		return inputs.CountsArrivals, nil
	}
	return "", fmt.Errorf("%d of %d rows there tell arrivals, and the others jobs that run at once; choose rows of one kind by class, from and until: %w", arriving, rows, fault.Conflict)
}

// TableClasses lists the classes that have rows, which must all count the same.
func (d *Desk) TableClasses(ctx context.Context, cluster string, of ForecastFilter) ([]string, error) {
	names, rows, arriving, err := d.forecasts.ForecastClasses(ctx, cluster, of)
	if err == nil {
		_, err = oneKind(arriving, rows)
	}
	return names, err
}

// ForecastTable passes the rows of some classes on hour by hour; jobs are nil for a class without a row.
func (d *Desk) ForecastTable(ctx context.Context, cluster string, of ForecastFilter, classes []string, each func(hour time.Time, jobs []*float64) error) error {
	place := make(map[string]int, len(classes))
	for i, name := range classes {
		place[name] = i
	}
	const cells = 100_000 // in memory at a time
	limit := max(1, cells/max(1, len(classes)))
	for after := (time.Time{}); ; {
		hours, err := d.forecasts.ForecastHours(ctx, cluster, of, after, limit)
		if err != nil || len(hours) == 0 {
			return err
		}
		jobs := make([]*float64, len(classes))
		for _, h := range hours {
			clear(jobs)
			for i, name := range h.Classes {
				if at, known := place[name]; known { // one that came since is for the next table
					jobs[at] = &h.Jobs[i]
				}
			}
			if err := each(h.Hour, jobs); err != nil {
				return err
			}
			after = h.Hour
		}
	}
}
