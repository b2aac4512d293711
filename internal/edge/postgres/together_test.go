package postgres_test

import (
	"context"
	"errors"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/test/pgtest"
)

// Changes together are all there, or none: also those that had succeeded before one failed.
func TestChangesTogether(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	failed := errors.New("failed")
	profile := inputs.ProfileVersion{Name: "new", Profile: capacity.Profile{MapTasks: 3, MapAvgSeconds: 2, MapMaxSeconds: 3}}
	changes := func(end error) func(context.Context) error {
		return func(ctx context.Context) error {
			p, err := s.CreateProfile(ctx, night, profile)
			if err == nil {
				_, err = s.Classes().Create(ctx, night, inputs.PlannedClass{Name: "new", Profile: &inputs.ProfileRef{Name: "new", Version: p.Version},
					DeadlineSeconds: 60, SlotsPerVM: capacity.SlotsPerVM{Map: 1, Reduce: 1}, Jobs: capacity.JobRange{Max: 1}})
			}
			if err != nil {
				return err
			}
			return end
		}
	}
	before := must(s.Cluster(ctx, night))(t).InputsVersion
	if err := s.Together(ctx, night, changes(failed)); !errors.Is(err, failed) {
		t.Fatalf("got %v, want the error of the changes", err)
	}
	_, noProfile := s.Profile(ctx, night, "new", 0)
	_, noClass := s.Classes().Get(ctx, night, "new")
	if after := must(s.Cluster(ctx, night))(t).InputsVersion; after != before || !errors.Is(noProfile, fault.NotFound) || !errors.Is(noClass, fault.NotFound) {
		t.Errorf("after changes that failed: inputs version %d, was %d; profile %v, class %v", after, before, noProfile, noClass)
	}
	if err := s.Together(ctx, night, changes(nil)); err != nil {
		t.Fatal(err)
	}
	if after := must(s.Cluster(ctx, night))(t).InputsVersion; after != before+2 {
		t.Errorf("inputs version %d after two changes of %d", after, before)
	}
	must(s.Classes().Get(ctx, night, "new"))(t)
	if err := s.Together(ctx, "none", changes(nil)); !errors.Is(err, fault.NotFound) {
		t.Errorf("of a cluster that is not there: %v", err)
	}
}
