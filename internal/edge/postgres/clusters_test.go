package postgres_test

import (
	"example.org/headroom/internal/service/plans"
	"fmt"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/test/pgtest"
)

func TestClusters(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	wanted := inputs.NewCluster("c1")
	wanted.Description, wanted.Currency, wanted.PeriodSeconds, wanted.TimeZone = hostile[0], "EUR", 1800, "Europe/Berlin"
	wanted.Options.Gap, wanted.Options.Integrality = 0.01, capacity.Relaxed
	made := must(s.CreateCluster(ctx, wanted))(t)
	same(t, must(s.Cluster(ctx, "c1"))(t), made)
	if made.Version != 1 || made.InputsVersion != 1 || made.CreatedAt.IsZero() || made.CreatedAt.Location().String() != "UTC" {
		t.Errorf("a new cluster has %+v, inputs version %d", made.Stamp, made.InputsVersion)
	}
	made.Stamp, made.InputsVersion = capacity.Stamp{}, 0
	same(t, made, wanted)

	_, err := s.CreateCluster(ctx, wanted)
	kindOf(t, err, fault.Conflict, `a cluster "c1" already`)
	for _, unknown := range []string{"c2", "", "\x00", "\xff", hostile[0]} {
		_, err = s.Cluster(ctx, unknown)
		kindOf(t, err, fault.NotFound, "there is no cluster")
	}

	wanted.Currency, wanted.Options.Near = "USD", &capacity.Near{VMs: 3}
	_, err = s.ReplaceCluster(ctx, 2, wanted)
	wrongVersion(t, err, 1)
	changed := must(s.ReplaceCluster(ctx, 1, wanted))(t)
	if changed.Currency != "USD" || changed.Version != 2 || changed.InputsVersion != 2 || changed.Options.Near != nil {
		t.Errorf("after the change: %+v", changed)
	}
	if wanted.Name = "c2"; true {
		_, err = s.ReplaceCluster(ctx, 1, wanted)
		kindOf(t, err, fault.NotFound, `no cluster "c2"`)
	}

	wrongVersion(t, s.DeleteCluster(ctx, "c1", 1), 2)
	check(t, s.DeleteCluster(ctx, "c1", 2))
	kindOf(t, s.DeleteCluster(ctx, "c1", 2), fault.NotFound)
	wanted.Name = "c1"
	if again := must(s.CreateCluster(ctx, wanted))(t); again.Version != 3 {
		t.Errorf("a new cluster under an old name has version %d, want the one after the old one's", again.Version)
	}
}

func TestClustersAreListedByNameAndOnlyThoseTheCallerSees(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := somebody(t)
	want := []string{}
	for i := range 7 {
		name := fmt.Sprintf("c%d", i)
		want = append(want, name)
		must(s.CreateCluster(ctx, inputs.NewCluster(name)))(t)
	}
	names := func(clusters []inputs.Cluster) []string {
		all := []string{}
		for _, c := range clusters {
			all = append(all, c.Name)
		}
		return all
	}
	same(t, names(pages(t, 2, func(p storage.Page) (storage.Listed[inputs.Cluster], error) { return s.Clusters(ctx, nil, p) })), want)
	same(t, names(pages(t, 1, func(p storage.Page) (storage.Listed[inputs.Cluster], error) {
		return s.Clusters(ctx, []string{"c4", "c1", "c9", hostile[0]}, p)
	})), []string{"c1", "c4"})
	same(t, names(must(s.Clusters(ctx, []string{}, storage.Page{}))(t).Items), []string{})
}

func TestDeletingAClusterKeepsItsPlans(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	must(s.SavePlan(ctx, record(night)))(t)
	check(t, s.DeleteCluster(ctx, night, 1))
	_, err := s.Plan(ctx, night, plans.PlanRef{Number: 1})
	kindOf(t, err, fault.NotFound, "no cluster")
	_, err = s.VMTypes().List(ctx, night, storage.Page{})
	kindOf(t, err, fault.NotFound, "no cluster")
	must(s.CreateCluster(ctx, inputs.NewCluster(night)))(t)
	if list := must(s.Classes().List(ctx, night, storage.Page{}))(t); len(list.Items) != 0 {
		t.Errorf("a new cluster under an old name has classes: %v", list.Items)
	}
	if plan := must(s.SavePlan(ctx, record(night)))(t); plan.Number != 2 {
		t.Errorf("its first plan has number %d, want the one after the old one's", plan.Number)
	}
	var plans int
	check(t, raw(t, url).QueryRow(ctx, "SELECT count(*) FROM plans").Scan(&plans))
	if plans != 2 {
		t.Errorf("%d plans on record, want 2", plans)
	}
}
