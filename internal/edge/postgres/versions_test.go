package postgres_test

import (
	"context"
	"errors"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

// A client that knows a deleted thing must not mistake a new one of the same name for it: no version, inputs version
// or plan number of a name comes back.
func TestVersionsNeverComeBack(t *testing.T) {
	t.Parallel()
	s, ctx := pgtest.Open(t), context.Background()
	vm := inputs.VMType{Name: "small", InUse: true}
	make := func() inputs.Cluster {
		c, err := s.CreateCluster(ctx, inputs.NewCluster("c"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	create := func(want int64) inputs.VMType {
		t.Helper()
		v, err := s.VMTypes().Create(ctx, "c", vm)
		if err != nil || v.Version != want {
			t.Fatalf("got version %d, %v; want %d", v.Version, err, want)
		}
		return v
	}
	remove := func(version int64) {
		t.Helper()
		if err := s.VMTypes().Delete(ctx, "c", "small", version); err != nil {
			t.Fatal(err)
		}
	}
	first := make()
	if first.Version != 1 || first.InputsVersion != 1 {
		t.Fatalf("a new name: got %+v", first)
	}
	create(1)
	if _, err := s.VMTypes().Replace(ctx, "c", "small", 1, vm); err != nil {
		t.Fatal(err)
	}
	remove(2)
	create(3)
	remove(3)
	create(4) // and so on, however often
	plan := plans.PlanRecord{Plan: []byte(`{"status":"optimal"}`), Problem: []byte(`{}`)}
	plan.Cluster, plan.Status, plan.Currency, plan.PeriodSeconds = "c", capacity.Optimal, "USD", 3600
	stored, err := s.SavePlan(ctx, plan)
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.Cluster(ctx, "c")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteCluster(ctx, "c", before.Version); err != nil {
		t.Fatal(err)
	}

	again := make()
	if again.Version <= before.Version || again.InputsVersion <= before.InputsVersion {
		t.Errorf("the cluster made anew: got versions %d and %d after %d and %d", again.Version, again.InputsVersion, before.Version, before.InputsVersion)
	}
	if _, err := s.ReplaceCluster(ctx, before.Version, again); !errors.Is(err, fault.Conflict) {
		t.Errorf("a change of the cluster that was deleted: got %v, want a conflict", err)
	}
	if _, err := s.Apply(ctx, before.InputsVersion, inputs.Document{Cluster: again}, false); !errors.Is(err, fault.Conflict) {
		t.Errorf("a document of the cluster that was deleted: got %v, want a conflict", err)
	}
	create(5)
	if _, err := s.VMTypes().Replace(ctx, "c", "small", 4, vm); !errors.Is(err, fault.Conflict) {
		t.Errorf("a change of the type that was deleted: got %v, want a conflict", err)
	}
	next, err := s.SavePlan(ctx, plan)
	if err != nil || next.Number != stored.Number+1 {
		t.Errorf("the next plan: got number %d, %v; want %d", next.Number, err, stored.Number+1)
	}
	if _, err := s.Plan(ctx, "c", plans.PlanRef{Number: stored.Number}); !errors.Is(err, fault.NotFound) {
		t.Errorf("the plan of the cluster that was deleted: got %v", err)
	}
}
