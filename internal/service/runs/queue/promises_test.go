package queue_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/question"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// Promises are found by themselves: the plan of a class with a target and no promise starts a run, and the plans after it keep the promise.
// It is found again for another deadline, and not within the hour where jobs have left its range.
func TestPromisesAreFoundByThemselves(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{Kinds: queue.Kinds})
	ctx := somebody(t)
	done := s.StartPlanner(t.Context())
	t.Cleanup(func() { <-done })
	euros := func(text string) money.Amount {
		a, err := money.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	d := inputs.Document{Cluster: inputs.NewCluster("c"), VMTypes: []inputs.VMType{{Name: "small", InUse: true}},
		Prices:   []inputs.PricePeriod{{VMType: "small", Price: euros("0.20"), From: time.Now().Add(-time.Hour)}},
		Profiles: []inputs.ProfileVersion{{Name: "etl", Version: 1, Profile: capacity.Profile{MapTasks: 20, MapAvgSeconds: 20, MapMaxSeconds: 40, OverheadSeconds: 5}}},
		Classes: []inputs.PlannedClass{{Name: "nightly", Profile: &inputs.ProfileRef{Name: "etl"}, DeadlineSeconds: 600, Target: 0.9,
			SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: 1, Max: 4}, Penalty: euros("3")}}}
	if _, err := s.Clusters.Apply(ctx, 0, d, false); err != nil {
		t.Fatal(err)
	}
	plan := func(what string, is func(warned, promised bool) bool) inputs.PlannedClass {
		t.Helper()
		for last := range await.Tries(30 * time.Second) {
			current, err := s.Stores.Plans.Current(ctx, "c")
			class, of := s.Clusters.Classes().Get(ctx, "c", "nightly")
			if err == nil && of == nil && current.ConfirmedVersion == current.InputsVersion {
				var p capacity.Plan
				if err := json.Unmarshal(current.Record.Plan, &p); err != nil {
					t.Fatal(err)
				}
				warned := slices.ContainsFunc(p.Warnings, func(w capacity.Warning) bool { return strings.Contains(w.Code, "promise") })
				if is(warned, p.Classes[0].Promise != nil) {
					return class
				}
			}
			if last {
				t.Fatalf("never: %s; have %+v, %v, %v", what, current.Record.PlanSummary, err, of)
			}
		}
		panic("unreachable")
	}
	found := func() []runs.Run {
		t.Helper()
		all, err := s.Stores.Runs.Runs(ctx, runs.Filter{Cluster: "c", Kind: question.Targets.Run}, storage.Page{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return all.Items
	}
	class := plan("a plan with a promise", func(warned, promised bool) bool { return !warned && promised })
	if all := found(); class.Promise == nil || len(all) != 1 || all[0].By != "planner" || all[0].State != runs.RunSucceeded {
		t.Fatalf("the promise is %+v, by %+v", class.Promise, all)
	}
	class.DeadlineSeconds = 700
	if _, err := s.Clusters.Classes().Replace(ctx, "c", class.Name, class.Version, class); err != nil {
		t.Fatal(err)
	}
	class = plan("a plan with a promise for another deadline", func(warned, promised bool) bool { return !warned && promised })
	if all := found(); class.Promise.DeadlineSeconds != 700 || class.Promise.Lending != "class" || len(all) != 2 {
		t.Errorf("the promise is %+v, after %d runs", class.Promise, len(all))
	}
	// Jobs leave the range of the promise: the same has been asked less than an hour ago.
	class.Jobs.Max = 40
	if _, err := s.Clusters.Classes().Replace(ctx, "c", class.Name, class.Version, class); err != nil {
		t.Fatal(err)
	}
	plan("a plan that warns of more jobs", func(warned, promised bool) bool { return warned && promised })
	if err := s.Questions.FindPromises(ctx, "c"); err != nil || len(found()) != 2 {
		t.Errorf("%v; there are %d runs", err, len(found()))
	}
}
