package postgres_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/test/pgtest"
)

func seriesOf(class string, from time.Time, jobs ...float64) inputs.Series {
	s := inputs.Series{Class: class}
	for i, x := range jobs {
		s.Rows = append(s.Rows, inputs.SeriesRow{Hour: inputs.HourOf(from) + int32(i), Jobs: x})
	}
	return s
}

// The reported counts of a write are true; a dry run reports the same and changes nothing.
func TestWritesOfForecastsAreCounted(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	must(s.DeleteForecasts(ctx, night, clusters.ForecastFilter{Class: "nightly"}))(t)
	first := moment("2026-03-01T00:00:00Z")
	hour := inputs.HourOf(first)
	audited := func() int { return len(audit(t, s, app.AuditFilter{})) }
	cleared := seriesOf("nightly", first, 1)
	cleared.Clear = []inputs.HourSpan{{From: hour + 1, Until: hour + 2}, {From: hour + 3, Until: hour + 100}}
	for i, step := range []struct {
		series []inputs.Series
		want   inputs.Written
		rows   []float64 // of nightly, from the first hour on
	}{
		{[]inputs.Series{seriesOf("nightly", first, 1, 2, 3, 4), seriesOf("ad-hoc", first, 5)}, inputs.Written{Written: 5, Added: 5}, []float64{1, 2, 3, 4}},
		{[]inputs.Series{seriesOf("nightly", first, 1, 2, 3, 4), seriesOf("ad-hoc", first, 5)}, inputs.Written{Written: 5}, []float64{1, 2, 3, 4}},
		{[]inputs.Series{seriesOf("nightly", first, 1, 7, 3, 4, 9)}, inputs.Written{Written: 5, Added: 1, Changed: 1}, []float64{1, 7, 3, 4, 9}},
		{[]inputs.Series{cleared}, inputs.Written{Written: 1, Deleted: 3}, []float64{1, 3}},
		{[]inputs.Series{cleared}, inputs.Written{Written: 1}, []float64{1, 3}},
	} {
		version, entries := must(s.Cluster(ctx, night))(t).InputsVersion, audited()
		dry := step.want
		dry.DryRun = true
		same(t, must(s.PutForecasts(ctx, night, step.series, true))(t), dry)
		if got := must(s.Cluster(ctx, night))(t).InputsVersion; got != version {
			t.Errorf("step %d: a dry run moved the version", i)
		}
		same(t, must(s.PutForecasts(ctx, night, step.series, false))(t), step.want)
		var rows []float64
		for _, f := range must(s.Forecasts(ctx, night, clusters.ForecastFilter{Class: "nightly"}, storage.Page{Limit: 100}))(t).Items {
			rows = append(rows, f.Jobs)
		}
		same(t, rows, step.rows)
		moved := int64(0)
		if step.want.Added+step.want.Changed+step.want.Deleted > 0 {
			moved = 1
		}
		if got := must(s.Cluster(ctx, night))(t).InputsVersion; got != version+moved {
			t.Errorf("step %d: the version went from %d to %d", i, version, got)
		}
		if got := audited(); got != entries+int(moved) {
			t.Errorf("step %d: %d entries in the audit log, want %d more than %d", i, got, moved, entries)
		}
	}
	ad := seriesOf("ad-hoc", first.Add(hours(500)), 5)
	gone := seriesOf("gone", first, 1)
	gone.At = "/class"
	_, err := s.PutForecasts(ctx, night, []inputs.Series{ad, gone}, false)
	refused(t, err, "/class", `no class "gone"`)
	if list := must(s.Forecasts(ctx, night, clusters.ForecastFilter{From: first.Add(hours(500))}, storage.Page{}))(t); len(list.Items) > 0 {
		t.Errorf("half of it was written: %v", list.Items)
	}
	byHour := must(s.ForecastHours(ctx, night, clusters.ForecastFilter{}, time.Time{}, 2))(t)
	if len(byHour) != 1 || len(byHour[0].Classes) != 2 {
		t.Errorf("got %v", byHour)
	}
	same(t, must(s.ForecastHours(ctx, night, clusters.ForecastFilter{}, first, 10))(t), []clusters.ForecastHour{{Hour: first.Add(hours(2)), Classes: []string{"nightly"}, Jobs: []float64{3}}})
}

// Measures the speed of writing rows, beside a bare COPY of the same rows into the same table.
func TestSpeedOfForecasts(t *testing.T) {
	t.Parallel()
	classes := 5
	if os.Getenv("HEADROOM_LONG") == "1" {
		classes = 50
	}
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, postgres.Config{URL: url})
	ctx := filled(t, s)
	must(s.DeleteForecasts(ctx, night, clusters.ForecastFilter{Class: "nightly"}))(t)
	var series []inputs.Series
	for i := range classes {
		c := adhoc
		c.Name = fmt.Sprintf("class %02d", i)
		must(s.Classes().Create(ctx, night, c))(t)
		jobs := make([]float64, 8760)
		for h := range jobs {
			jobs[h] = float64((h*7+i)%4000) / 100
		}
		series = append(series, seriesOf(c.Name, moment("2027-01-01T00:00:00Z"), jobs...))
	}
	n := classes * 8760
	began := time.Now()
	if done := must(s.PutForecasts(ctx, night, series, false))(t); done.Added != int64(n) {
		t.Fatalf("%+v", done)
	}
	written := time.Since(began)
	conn := raw(t, url)
	ids := map[string]int64{}
	rows := must(conn.Query(ctx, `SELECT name, id FROM classes`))(t)
	var name string
	var id int64
	must(pgx.ForEachRow(rows, []any{&name, &id}, func() error { ids[name] = id; return nil }))(t)
	execute(t, conn, `DELETE FROM forecasts`)
	execute(t, conn, `VACUUM forecasts`)
	began = time.Now()
	at := -1
	copied := must(conn.CopyFrom(ctx, pgx.Identifier{"forecasts"}, []string{"class_id", "hour", "jobs"}, pgx.CopyFromFunc(func() ([]any, error) {
		if at++; at == n {
			return nil, nil
		}
		one := series[at/8760]
		row := one.Rows[at%8760]
		return []any{ids[one.Class], inputs.TimeOf(row.Hour), row.Jobs}, nil
	})))(t)
	bare := time.Since(began)
	if copied != int64(n) {
		t.Fatalf("%d copied", copied)
	}
	t.Logf("%d rows: %.0f a second written, %.0f a second by a bare COPY, %.2f times as long", n, float64(n)/written.Seconds(), float64(n)/bare.Seconds(), written.Seconds()/bare.Seconds())
	if written > 30*bare+time.Minute {
		t.Errorf("written in %s, copied in %s", written, bare)
	}
}
