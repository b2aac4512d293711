package postgres_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/test/pgtest"
)

// Past current plans, pins included, stay on record for longer than a decrease is held back.
func TestWhichPlansHeld(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	conn := raw(t, url)
	ctx := filled(t, s)
	var last int64
	for i := range 3 {
		p := record(night)
		p.VMs, p.InputsVersion = float64(10*(i+1)), must(s.Cluster(ctx, night))(t).InputsVersion
		last = must(s.SavePlan(ctx, p))(t).Number
	}
	must(s.PinPlan(ctx, night, plans.PlanRef{Number: last - 2}, time.Now().Add(time.Hour)))(t)
	start := time.Now().UTC().Truncate(time.Hour).Add(-60 * 24 * time.Hour)
	// As if the four turns were 20, 10, 5 and 1 hours apart, two months ago.
	for _, hours := range []int{0, 20, 30, 35} {
		execute(t, conn, `UPDATE plan_reigns SET since = $1 WHERE since = (SELECT since FROM plan_reigns WHERE since > now() - interval '1 day' ORDER BY since LIMIT 1)`, start.Add(time.Duration(hours)*time.Hour))
	}
	stints, seen, err := s.PlansOf(ctx, night, start.Add(10*time.Hour), start.Add(36*time.Hour))
	check(t, err)
	var got []string
	for _, x := range stints {
		got = append(got, fmt.Sprintf("%d from %v until %v: %v VMs", x.Number-last+3, x.Since.Sub(start).Hours(), x.Until.Sub(start).Hours(), x.VMs))
		if x.Currency == "" || x.PeriodSeconds == 0 {
			t.Errorf("a stint is %+v", x)
		}
	}
	want := []string{"1 from 10 until 20: 10 VMs", "2 from 20 until 30: 20 VMs", "3 from 30 until 35: 30 VMs", "1 from 35 until 36: 10 VMs"}
	if !slices.Equal(got, want) || len(seen) != 0 {
		t.Errorf("got %q and %v, want %q", got, seen, want)
	}
	if stints, _, err := s.PlansOf(ctx, night, start.Add(-9*time.Hour), start); err != nil || len(stints) != 0 {
		t.Errorf("before the first plan there were %+v (%v)", stints, err)
	}
	// Records a hundred days old are deleted with the next change, but for the plan that was current then.
	execute(t, conn, `UPDATE plan_reigns SET since = since - interval '150 days'`)
	check(t, s.UnpinPlan(ctx, night))
	var kept int
	check(t, conn.QueryRow(ctx, "SELECT count(*) FROM plan_reigns").Scan(&kept))
	if kept != 2 {
		t.Errorf("%d turns are kept, want the last one of long ago and that of now", kept)
	}
}

// The newest reports of each schedule stay, up to its number, and of the others up to the limit.
func TestOldReportsAreForgotten(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	conn := raw(t, url)
	ctx := filled(t, s)
	schedule := func(name string, keep int64) {
		t.Helper()
		must(s.ReportSchedules().Create(ctx, night, reporting.ReportSchedule{Name: name, Every: reporting.EveryDay, Covers: reporting.CoversBehind, Format: reporting.ReportCSV, Keep: keep}))(t)
	}
	schedule("few", 2)
	schedule("many", 30)
	made := map[string][]string{}
	save := func(name string) {
		t.Helper()
		in := reporting.ReportInput{Every: reporting.EveryDay, Covers: reporting.CoversBehind, Format: reporting.ReportCSV, At: time.Now(), From: time.Now(), Until: time.Now()}
		if name != "" {
			in.Schedule = &name
		}
		run := must(s.StartRun(auth.With(ctx, auth.Principal{ID: fmt.Sprint(name, len(made[name])/50), Role: auth.Operator}), runs.NewRun{Kind: reporting.RunKind, Cluster: night, Role: auth.Operator, Input: in}))(t)
		r := in.Report()
		r.ID, r.File = run.ID, &reporting.ReportFile{Name: "x.csv", Size: 3}
		must(s.SaveReport(ctx, night, r, [][]byte{[]byte("abc")}, [32]byte{1}))(t)
		execute(t, conn, "DELETE FROM runs")
		made[name] = append(made[name], run.ID)
	}
	held := func(want map[string]int) {
		t.Helper()
		list := must(s.Reports(ctx, night, reporting.Filter{}, storage.Page{Limit: 1000}))(t)
		got := map[string][]string{}
		for _, r := range list.Items {
			name := ""
			if r.Schedule != nil {
				name = *r.Schedule
			}
			got[name] = append([]string{r.ID}, got[name]...)
		}
		for name, n := range want {
			if all := made[name]; !slices.Equal(got[name], all[len(all)-n:]) {
				t.Errorf("of %q there are %d, want the newest %d", name, len(got[name]), n)
			}
		}
		var parts int
		check(t, conn.QueryRow(ctx, "SELECT count(*) FROM report_parts").Scan(&parts))
		if parts != len(list.Items) {
			t.Errorf("%d files of %d reports", parts, len(list.Items))
		}
	}
	for range 26 {
		save("few")
		save("many")
		save("")
	}
	held(map[string]int{"few": 2, "many": 26, "": 24})
	many := must(s.ReportSchedules().Get(ctx, night, "many"))(t)
	many.Keep = 5
	must(s.ReportSchedules().Replace(ctx, night, "many", many.Version, many))(t)
	if n := must(s.SweepReports(ctx))(t); n != 21 {
		t.Errorf("%d were forgotten, want 21", n)
	}
	held(map[string]int{"few": 2, "many": 5, "": 24})
	few := must(s.ReportSchedules().Get(ctx, night, "few"))(t)
	check(t, s.ReportSchedules().Delete(ctx, night, "few", few.Version))
	if n := must(s.SweepReports(ctx))(t); n != 2 { // now 26 have no schedule
		t.Errorf("%d were forgotten, want 2", n)
	}
	cluster := must(s.Cluster(ctx, night))(t)
	check(t, s.DeleteCluster(ctx, night, cluster.Version))
	if n := must(s.SweepReports(ctx))(t); n != 29 {
		t.Errorf("%d of a cluster that is gone were forgotten, want 29", n)
	}
}
