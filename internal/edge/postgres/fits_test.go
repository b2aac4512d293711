package postgres_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/data/history"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/test/pgtest"
)

func fitter(job string, kind perf.FitKind, all []perf.JobMeasurement) perf.JobFit {
	return perf.FitJob(job, kind, all, "")
}

func measured(job string, vms, seconds float64) perf.JobMeasurement {
	return perf.JobMeasurement{Job: job, Kind: perf.PowerFits, At: time.Date(2026, 1, 1, 0, 0, int(vms), 0, time.UTC), VMs: &vms, Seconds: &seconds}
}

// With many concurrent writers nothing is lost, versions are numbered without gaps, and the last one includes
// everything.
func TestMeasurementsFromManySides(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	const writers, each = 8, 10
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for i := range each {
				n := float64(1 + w*each + i)
				jobs := []string{"a", "b"}
				if w%2 == 1 { // the other way round
					jobs[0], jobs[1] = jobs[1], jobs[0]
				}
				_, err := s.AddMeasurements(ctx, night, []perf.JobMeasurement{measured(jobs[0], n, 1000/n), measured(jobs[1], n, 1000/n)}, fitter)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	for _, job := range []string{"a", "b"} {
		f := must(s.JobFit(ctx, night, job, perf.PowerFits, 0))(t)
		list := must(s.JobMeasurements(ctx, night, clusters.MeasurementFilter{Job: job}, storage.Page{Limit: 1000}))(t)
		want := perf.FitJob(job, perf.PowerFits, list.Items, "")
		if f.Measurements != writers*each || len(list.Items) != writers*each || math.Abs(f.Power.B-want.Power.B) > 1e-12 || f.Power.Points != writers*each {
			t.Errorf("%s: got %+v, want the fit of all %d", job, f, writers*each)
		}
		versions := must(s.JobFitVersions(ctx, night, job, perf.PowerFits, storage.Page{Limit: 1000}))(t)
		for i, v := range versions.Items {
			if v.Version != f.Version-int64(i) {
				t.Fatalf("%s: version %d stands where %d should", job, v.Version, f.Version-int64(i))
			}
		}
		if len(versions.Items) != writers*each-1 { // one measurement alone has no fit
			t.Errorf("%s: %d versions", job, len(versions.Items))
		}
	}
}

// Stored data is bounded: the latest measurements, the latest versions, a number of jobs.
func TestMeasurementsAreBounded(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	conn := raw(t, url)
	ctx := filled(t, s)
	var all []perf.JobMeasurement
	for i := range perf.MaxKeptMeasurements {
		m := measured("a", float64(1+i%50), 100)
		m.At = m.At.Add(time.Duration(i) * time.Minute)
		all = append(all, m)
	}
	must(s.AddMeasurements(ctx, night, all, fitter))(t)
	later := measured("a", 60, 50)
	later.At = all[len(all)-1].At.Add(time.Hour)
	f := must(s.AddMeasurements(ctx, night, []perf.JobMeasurement{later}, fitter))(t)[0]
	if f.Measurements != perf.MaxKeptMeasurements || !f.FirstAt.Equal(all[1].At) || f.Power.MaxVMs != 60 {
		t.Errorf("got %+v", f)
	}
	// An equal fit is no new version.
	same := must(s.AddMeasurements(ctx, night, []perf.JobMeasurement{later}, func(job string, kind perf.FitKind, _ []perf.JobMeasurement) perf.JobFit { return f }))(t)[0]
	if same.Version != f.Version || same.Version != 2 {
		t.Errorf("version %d says the same as version %d", same.Version, f.Version)
	}
	// Measurements that cannot be fitted keep the previous fit, with a note until they can.
	refused := func(job string, kind perf.FitKind, all []perf.JobMeasurement) perf.JobFit {
		return perf.JobFit{Job: job, Kind: kind, Refused: "No."}
	}
	must(s.AddMeasurements(ctx, night, []perf.JobMeasurement{later}, refused))(t)
	if kept := must(s.JobFit(ctx, night, "a", perf.PowerFits, 0))(t); kept.Refused != "No." || kept.Version != 2 || kept.Power == nil {
		t.Errorf("got %+v", kept)
	}
	if again := must(s.AddMeasurements(ctx, night, []perf.JobMeasurement{later}, fitter))(t)[0]; again.Refused != "" {
		t.Errorf("got %+v", again)
	}

	execute(t, conn, `INSERT INTO fits (series_id, version, measurements, first_at, last_at, fit) SELECT series_id, version + n, measurements, first_at, last_at, fit FROM fits, generate_series(1, $1) n WHERE version = 3`, perf.MaxKeptFits)
	execute(t, conn, `UPDATE fit_series SET version = 3 + $1`, perf.MaxKeptFits)
	newest := must(s.AddMeasurements(ctx, night, []perf.JobMeasurement{measured("a", 2, 70), later}, fitter))(t)[0]
	versions := must(s.JobFitVersions(ctx, night, "a", perf.PowerFits, storage.Page{Limit: 1000}))(t)
	if len(versions.Items) != perf.MaxKeptFits || versions.Items[0].Version != newest.Version {
		t.Errorf("%d versions are kept", len(versions.Items))
	}

	execute(t, conn, `INSERT INTO fit_series (cluster_id, job, kind, measurements) SELECT cluster_id, 'j' || n, 'power', 1 FROM fit_series, generate_series(2, $1) n`, perf.MaxMeasuredJobs)
	if _, err := s.AddMeasurements(ctx, night, []perf.JobMeasurement{measured("one more", 2, 70)}, fitter); !errors.Is(err, fault.Conflict) {
		t.Errorf("one job too many: %v", err)
	}
	must(s.AddMeasurements(ctx, night, []perf.JobMeasurement{measured("a", 2, 70)}, fitter))(t)
	for _, change := range []string{`UPDATE measurements SET seconds = 4`, `UPDATE fits SET measurements = 4`} {
		if _, err := conn.Exec(ctx, change); err == nil {
			t.Errorf("%s has changed what never changes", change)
		}
	}
}

func TestListsOfMeasurementsHavePages(t *testing.T) {
	t.Parallel()
	s := pgtest.OpenWith(t, configOf(pgtest.Database(t)))
	ctx := filled(t, s)
	for i := range 7 {
		must(s.AddMeasurements(ctx, night, []perf.JobMeasurement{measured(fmt.Sprint("j", i%3), float64(1+i), 100/float64(1+i)), measured(fmt.Sprint("j", i%3), float64(9+i), 90/float64(1+i))}, fitter))(t)
	}
	var seen []string
	for page := (storage.Page{Limit: 3}); ; {
		l := must(s.JobMeasurements(ctx, night, clusters.MeasurementFilter{}, page))(t)
		for _, m := range l.Items {
			seen = append(seen, m.ID)
		}
		if page.After = l.Next; l.Next == "" {
			break
		}
	}
	distinct := map[string]bool{}
	for _, id := range seen {
		distinct[id] = true
	}
	if len(seen) != 14 || len(distinct) != 14 {
		t.Errorf("pages have %d measurements, %d different ones; want 14", len(seen), len(distinct))
	}
	first := must(s.JobFits(ctx, night, clusters.MeasurementFilter{}, storage.Page{Limit: 2}))(t)
	rest := must(s.JobFits(ctx, night, clusters.MeasurementFilter{}, storage.Page{Limit: 2, After: first.Next}))(t)
	if len(first.Items) != 2 || len(rest.Items) != 1 || rest.Items[0].Job != "j2" || rest.Next != "" {
		t.Errorf("got %+v and %+v", first, rest)
	}
	if n, err := s.DeleteMeasurements(ctx, night, clusters.MeasurementFilter{Job: "j1", Until: time.Date(2026, 1, 1, 0, 0, 5, 0, time.UTC)}, fitter); n != 1 || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}
	if f := must(s.JobFit(ctx, night, "j1", perf.PowerFits, 0))(t); f.Measurements != 3 || f.Version != 3 {
		t.Errorf("after deleting one of four: %+v", f)
	}
}

// The size of a past execution is its concurrency, for a chain that of its widest stage.
func TestSizesOfExecutions(t *testing.T) {
	t.Parallel()
	s := pgtest.OpenWith(t, configOf(pgtest.Database(t)))
	ctx := filled(t, s)
	seconds := 100.0
	facts := func(id, form string) history.Facts {
		return history.Facts{Job: "etl", Execution: id, SubmittedAt: new(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), Seconds: &seconds, Outcome: "succeeded", Form: form}
	}
	tasks := history.Durations{Count: 40, Mean: 5, Max: 9, Median: 5, P95: 9}
	records := []history.Record{
		{Facts: facts("maps", history.MapReduce), Sample: &history.Sample{Seconds: &seconds, MapSlots: 8, Map: tasks, Profile: capacity.Profile{MapTasks: 40, MapAvgSeconds: 5, MapMaxSeconds: 9}}},
		{Facts: facts("stages", history.Stages), Chain: &history.Chain{Seconds: &seconds, MapSlots: 6, Phases: []history.Phase{{Tasks: 40, Task: tasks}, {Tasks: 50, Task: tasks}}}},
	}
	for i := range records {
		check(t, records[i].Check())
	}
	must(s.PutExecutions(ctx, night, records, "", false))(t)
	sizes := must(s.ExecutionSizes(ctx, night, "etl", 10))(t)
	slices.SortFunc(sizes, func(a, b perf.ExecutionSize) int { return int(a.MapTasks - b.MapTasks) })
	if diff := cmp.Diff([]perf.ExecutionSize{{Seconds: 100, MapSlots: 8, MapTasks: 40}, {Seconds: 100, MapSlots: 6, MapTasks: 50}}, sizes); diff != "" {
		t.Error(diff)
	}
	if none := must(s.ExecutionSizes(ctx, night, "other", 10))(t); len(none) != 0 {
		t.Errorf("got %v", none)
	}
}
