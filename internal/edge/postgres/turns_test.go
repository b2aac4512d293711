package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

// A current plan comes with the earlier current ones, pins included, after any kind of change.
func TestWhatWasCurrentBefore(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	save := func(vms float64) {
		t.Helper()
		p := record(night)
		p.Plan = fmt.Appendf(nil, `{"vms":{"total":%g,"types":[{"name":"m5","total":%[1]g,"spot":3}]}}`, vms)
		p.VMs, p.VMsSpot, p.InputsVersion = vms, 3, must(s.Cluster(ctx, night))(t).InputsVersion
		must(s.SavePlan(ctx, p))(t)
	}
	past := func(want ...float64) {
		t.Helper()
		var got []float64
		current := must(s.Current(ctx, night))(t)
		for _, was := range current.Past {
			got = append(got, was.Total)
			if age := time.Since(was.Until); age < -time.Second || age > time.Minute {
				t.Errorf("a plan of %v VMs was current until %s", was.Total, was.Until)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("before the plan of %v VMs there were %v, want %v, the last one last", current.Record.VMs, got, want)
		}
		if all := must(s.Currents(ctx, "", 10, nil))(t); len(all) != 1 || len(all[0].Past) != len(want) {
			t.Errorf("all current plans: got %+v", all)
		}
	}
	hold := func(seconds int64) {
		t.Helper()
		c := must(s.Cluster(ctx, night))(t)
		c.HoldSeconds = seconds
		must(s.ReplaceCluster(ctx, c.Version, c))(t)
	}
	save(90)
	save(70)
	past() // nothing is held
	hold(600)
	past(90)
	must(s.PinPlan(ctx, night, plans.PlanRef{Number: 1}, time.Now().Add(time.Hour)))(t)
	past(90, 70)
	save(50) // waits for the pin's end
	past(90, 70)
	check(t, s.UnpinPlan(ctx, night))
	past(70, 90) // the pinned one was the last
	must(s.KeepPlan(ctx, record(night)))(t)
	past(70, 90)

	for _, was := range must(s.Current(ctx, night))(t).Past {
		if was.Reserved != 30 || was.Spot != 3 || len(was.Types) != 1 || was.Types[0] != (capacity.TypeVMs{Name: "m5", Total: was.Total, Spot: 3}) {
			t.Errorf("the kinds and types of %v VMs are %+v", was.Total, was)
		}
	}
	conn := raw(t, url)
	for _, change := range []string{
		"UPDATE planning SET current_number = 2",                 // as the previous release does
		"UPDATE plan_turns SET since = since - interval '1 day'", // all of this is long over
	} {
		if _, err := conn.Exec(ctx, change); err != nil {
			t.Fatal(err)
		}
	}
	past()
	hold(inputs.MaxHoldSeconds)
	if _, err := conn.Exec(ctx, "UPDATE plan_turns SET since = since - interval '2 days'"); err != nil {
		t.Fatal(err)
	}
	save(40)
	past(70)
	var kept int
	check(t, conn.QueryRow(ctx, "SELECT count(*) FROM plan_turns").Scan(&kept))
	if kept != 2 {
		t.Errorf("%d turns are kept, want the current one and the one that ended lately", kept)
	}
	c := must(s.Cluster(ctx, night))(t)
	check(t, s.DeleteCluster(ctx, night, c.Version))
	check(t, conn.QueryRow(ctx, "SELECT count(*) FROM plan_turns").Scan(&kept))
	if kept != 0 {
		t.Errorf("%d turns of no cluster are kept", kept)
	}
}

// The record tells whether a plan is for its own present; for plans from the previous release it follows from the
// times.
func TestPlansForAnotherMoment(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	now, late := record(night), record(night)
	now.At, late.At = time.Now(), time.Now().Add(-time.Hour)
	must(s.KeepPlan(ctx, now))(t)
	must(s.SavePlan(ctx, late))(t) // it waited long
	must(s.KeepPlan(ctx, late))(t)
	forNow := func() (which []bool) {
		for _, p := range must(s.Plans(context.WithoutCancel(ctx), night, storage.Page{}))(t).Items {
			which = append(which, p.ForNow)
		}
		return which
	}
	if got, want := forNow(), []bool{false, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	conn := raw(t, url)
	for _, change := range []string{"ALTER TABLE stored_plans DISABLE TRIGGER append_only", "UPDATE plans SET for_now = NULL", "ALTER TABLE stored_plans ENABLE TRIGGER append_only"} {
		if _, err := conn.Exec(ctx, change); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := forNow(), []bool{false, false, true}; !slices.Equal(got, want) {
		t.Errorf("of the previous release: got %v, want %v", got, want)
	}
}
