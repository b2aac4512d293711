package postgres_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

func configOf(url string) postgres.Config { return postgres.Config{URL: url} }

func isVersion(err error) bool {
	var e *storage.VersionError
	return errors.As(err, &e)
}

// record returns a plan for storage.
func record(cluster string) plans.PlanRecord {
	return plans.PlanRecord{
		PlanSummary: plans.PlanSummary{
			Cluster: cluster, At: time.Date(2026, 1, 10, 5, 30, 0, 123456000, time.UTC), InputsVersion: 11, Status: capacity.Optimal,
			Objective: amountOf("-44.80"), TotalCost: amountOf("5.20"), Bill: amountOf("5.20"), OnDemandCost: amountOf("2.20"), ReservedCost: amountOf("3"), Penalties: amountOf("0"),
			Currency: "USD", PeriodSeconds: 3600, VMs: 41, VMsOnDemand: 11, VMsReserved: 30, Admitted: 10.5, Refused: 0.5, Gap: 1e-7,
		},
		Plan:    json.RawMessage(`{ "status":"optimal",  "vms": {"total": 41.0}, "classes":[{"name":"näme \u0000"}] }`),
		Problem: json.RawMessage(`{"classes" : [],"currency":"USD"}` + "\n"),
	}
}

func TestPlans(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	_, err := s.Plan(ctx, night, plans.PlanRef{})
	kindOf(t, err, fault.NotFound, "no plan yet", "POST /v1/clusters/night-batch/plans")

	want := record(night)
	var last plans.PlanRecord
	for n := int64(1); n <= 5; n++ {
		last = must(s.SavePlan(ctx, want))(t)
		if last.Number != n || last.CreatedBy != "Ada" || last.ID == "" || last.CreatedAt.IsZero() {
			t.Errorf("plan %d is %+v", n, last.PlanSummary)
		}
	}
	want.ID, want.Number, want.CreatedBy, want.CreatedAt, want.ForNow = last.ID, 5, "Ada", last.CreatedAt, true
	for name, ref := range map[string]plans.PlanRef{"current": {}, "number": {Number: 5}, "id": {ID: last.ID}} {
		got := must(s.Plan(ctx, night, ref))(t)
		same(t, got, want)
		if string(got.Plan) != string(want.Plan) || string(got.Problem) != string(want.Problem) {
			t.Errorf("by %s the text is another one:\n%s\n%s", name, got.Plan, got.Problem)
		}
	}
	for _, ref := range []plans.PlanRef{{Number: 6}, {Number: -1}, {ID: "x"}, {ID: "0198c0de-0000-7000-8000-000000000000"}, {ID: "\x00"}} {
		_, err := s.Plan(ctx, night, ref)
		kindOf(t, err, fault.NotFound, "no plan")
	}
	all := pages(t, 2, func(p storage.Page) (storage.Listed[plans.PlanSummary], error) { return s.Plans(ctx, night, p) })
	for i, p := range all {
		if p.Number != int64(5-i) {
			t.Errorf("place %d of the list has plan %d", i, p.Number)
		}
	}
	same(t, all[0], want.PlanSummary)
	if got := must(s.Snapshot(ctx, night, last.At))(t); got.Previous == nil || got.Previous.VMs != 41 {
		t.Errorf("the snapshot's previous plan is %+v", got.Previous)
	}

	for _, cluster := range []string{"nowhere", "\x00", strings.Repeat("x", 100)} {
		_, err = s.SavePlan(ctx, record(cluster))
		kindOf(t, err, fault.NotFound, "no cluster")
	}
	must(s.CreateCluster(ctx, inputs.NewCluster("other")))(t)
	_, err = s.Plan(ctx, "other", plans.PlanRef{ID: last.ID})
	kindOf(t, err, fault.NotFound, "no plan")
	huge := record("other")
	huge.TotalCost = amountOf("999999999999999999.123456789")
	must(s.SavePlan(ctx, huge))(t)
	same(t, must(s.Plan(ctx, "other", plans.PlanRef{}))(t).TotalCost, huge.TotalCost)
	if must(s.Cluster(ctx, night))(t).InputsVersion != 8 {
		t.Error("a plan changed the inputs' version")
	}
}

func TestAFailedPlanLeavesNoGap(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	bad := record(night)
	bad.Plan = json.RawMessage(`{`)
	if _, err := s.SavePlan(ctx, bad); err == nil {
		t.Fatal("stored a plan that is no JSON")
	}
	if p := must(s.SavePlan(ctx, record(night)))(t); p.Number != 1 {
		t.Errorf("the first plan has number %d", p.Number)
	}
}
