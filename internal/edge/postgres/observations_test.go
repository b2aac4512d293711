package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

func seen(vms int64, at time.Time) plans.Observation {
	return plans.Observation{VMs: vms, At: at.UTC().Truncate(time.Microsecond)}
}

// The latest is the one of the latest moment, in any order of arrival.
func TestObservationsAreKept(t *testing.T) {
	t.Parallel()
	s, ctx := admitting(t, nil)
	now := time.Now()
	_, err := s.Observation(ctx, night, "")
	if !errors.Is(err, fault.NotFound) {
		t.Errorf("before there is one: %v", err)
	}
	first := seen(5, now)
	first.Slots, first.Utilization, first.PlanNumber, first.PlannedVMs, first.PlanStale = &plans.BusySlots{Map: 3, Reduce: 1}, new(0.5), new(int64(1)), new(4.0), new(true)
	first.Derive()
	kept := must(s.SaveObservation(ctx, night, first))(t)
	must(s.SaveObservation(ctx, night, seen(4, now.Add(-time.Hour))))(t)
	must(s.SaveObservation(ctx, night, seen(3, now.Add(-2*time.Hour))))(t)
	first.ID, first.ObservedBy = kept.ID, "Ada"
	same(t, kept, first)
	same(t, must(s.Observation(ctx, night, ""))(t), kept)
	same(t, must(s.Observation(ctx, night, kept.ID))(t), kept)
	same(t, must(s.LatestObservations(ctx))(t), map[string]plans.Observation{night: kept})

	var vms []int64
	for page := only(2); ; {
		list := must(s.Observations(ctx, night, plans.ObservationFilter{}, page))(t)
		for _, o := range list.Items {
			vms = append(vms, o.VMs)
		}
		if page.After = list.Next; list.Next == "" {
			break
		}
	}
	same(t, vms, []int64{5, 4, 3})
	some := must(s.Observations(ctx, night, plans.ObservationFilter{From: now.Add(-90 * time.Minute), Until: now.Add(-time.Minute)}, only(9)))(t)
	if len(some.Items) != 1 || some.Items[0].VMs != 4 {
		t.Errorf("got %+v, want the one of an hour ago", some.Items)
	}

	for _, id := range []string{"x", "01999f2e-6d0c-7c4b-8f2f-0a5e5a6f7b8c", "\x00"} {
		if _, err := s.Observation(ctx, night, id); !errors.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, cluster := range []string{"other", "\x00"} {
		if _, err := s.SaveObservation(ctx, cluster, first); !errors.Is(err, fault.NotFound) {
			t.Errorf("in cluster %q: %v", cluster, err)
		}
	}
	check(t, s.DeleteCluster(ctx, night, must(s.Cluster(ctx, night))(t).Version))
	same(t, must(s.LatestObservations(ctx))(t), map[string]plans.Observation{})
}

// An observation is judged by the plan that was current at its moment; plans for other moments never
// were.
func TestObservationBasis(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, postgres.Config{URL: url})
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	basis := func(at time.Time) plans.ObservationBasis { return must(s.ObservationBasis(ctx, night, at))(t) }
	if b := basis(time.Time{}); b.Plan != nil || b.Current != nil {
		t.Errorf("without a plan: got %+v", b)
	}
	before := time.Now().Add(-time.Minute)
	first := must(s.SavePlan(ctx, planAdmitting(t, night, nil)))(t)
	for _, shift := range []time.Duration{-time.Hour, time.Hour} {
		other := planAdmitting(t, night, nil)
		other.At = time.Now().Add(shift)
		must(s.KeepPlan(ctx, other))(t)
	}
	between := basis(time.Now())
	if between.Plan == nil || between.Plan.Number != first.Number || between.Current == nil {
		t.Fatalf("got %+v, want plan %d", between, first.Number)
	}
	then := time.Now()
	second := must(s.SavePlan(ctx, planAdmitting(t, night, nil)))(t)
	if b := basis(then); b.Plan == nil || b.Plan.Number != first.Number || b.Current != nil {
		t.Errorf("of then: got %+v, want plan %d as one of the past", b, first.Number)
	}
	for _, at := range []time.Time{{}, time.Now().Add(time.Minute)} {
		if b := basis(at); b.Plan == nil || b.Plan.Number != second.Number || b.Current == nil {
			t.Errorf("at %v: got %+v, want plan %d", at, b, second.Number)
		}
	}
	if b := basis(then); b.Plan.Held != 0 {
		t.Errorf("nothing is held back: got %+v", b.Plan)
	}
	c := must(s.Cluster(ctx, night))(t)
	c.HoldSeconds = 600
	must(s.ReplaceCluster(ctx, c.Version, c))(t)
	conn := raw(t, url)
	execute(t, conn, fmt.Sprintf("UPDATE plan_turns SET vms = 90 + number WHERE number = %d", first.Number))
	for at, held := range map[time.Time]float64{then: 0, time.Now(): 90 + float64(first.Number)} {
		if b := basis(at); b.Plan.Held != held {
			t.Errorf("at %s: got %+v, want that %v were held", at, b.Plan, held)
		}
	}
	execute(t, conn, "UPDATE plan_turns SET since = since - interval '601 seconds'")
	if b := basis(time.Now()); b.Plan.Held != 0 {
		t.Errorf("what ended too long ago is held: %+v", b.Plan)
	}
	execute(t, conn, "DELETE FROM plan_turns") // as of days ago
	if b := basis(then); b.Plan == nil || b.Plan.Number != first.Number || b.Current != nil {
		t.Errorf("of days ago: got %+v, want plan %d as one of the past", b, first.Number)
	}
	if b := basis(before); b.Plan != nil {
		t.Errorf("before the first: got %+v", b)
	}

	class := func(name string, slots capacity.SlotsPerVM) inputs.PlannedClass {
		return inputs.PlannedClass{Name: name, Demand: &capacity.Demand{MapWorkSeconds: 1}, DeadlineSeconds: 9, SlotsPerVM: slots}
	}
	must(s.Classes().Create(ctx, night, class("a", capacity.SlotsPerVM{Map: 2, Reduce: 4})))(t)
	must(s.Classes().Create(ctx, night, class("b", capacity.SlotsPerVM{Map: 2, Reduce: 4})))(t)
	if b := basis(time.Time{}); b.MapSlots != 2 || b.ReduceSlots != 4 {
		t.Errorf("got %+v, want 2 and 4 slots", b)
	}
	must(s.Classes().Create(ctx, night, class("c", capacity.SlotsPerVM{Map: 2, Reduce: 5})))(t)
	if b := basis(time.Time{}); b.MapSlots != 0 || b.ReduceSlots != 0 {
		t.Errorf("got %+v, want that slots are not known", b)
	}
	if _, err := s.ObservationBasis(ctx, "other", time.Time{}); !errors.Is(err, fault.NotFound) {
		t.Errorf("in another cluster: %v", err)
	}
}

// Observations older than 90 days are deleted when another comes.
func TestObservationsAreForgotten(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, postgres.Config{URL: url})
	ctx := somebody(t)
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	execute(t, raw(t, url), `INSERT INTO observations (id, cluster_id, at, observed_by, vms)
		SELECT gen_random_uuid(), c.id, now() - make_interval(days => d), 'test', d FROM clusters c, generate_series(88, 12000) d`)
	for range 2 { // ten thousand at once, and once a minute by each server
		must(pgtest.OpenWith(t, postgres.Config{URL: url}).SaveObservation(ctx, night, seen(1, time.Now())))(t)
	}
	list := must(s.Observations(ctx, night, plans.ObservationFilter{}, only(1000)))(t)
	if len(list.Items) != 4 || list.Items[3].VMs != 89 {
		t.Errorf("%d are left, the oldest %+v; want those of 88 and 89 days ago and two new ones", len(list.Items), list.Items[len(list.Items)-1])
	}
}
