package postgres_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

func TestTheCurrentPlan(t *testing.T) {
	t.Parallel()
	s := pgtest.Open(t)
	ctx := filled(t, s)
	if _, err := s.Current(ctx, night); !errors.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "no plan yet") {
		t.Errorf("before there is any: got %v", err)
	}
	said := make(chan string, 100)
	listening, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Listen(listening, plans.Channel, func(name string) { said <- name })
	}()
	defer func() { cancel(); <-ended }()
	heard := func(what string) {
		t.Helper()
		select {
		case name := <-said:
			if name != night {
				t.Errorf("%s: heard %q", what, name)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: nothing was heard", what)
		}
	}
	<-said // listening has begun
	plan := record(night)
	plan.At = moment("2026-01-10T05:30:00Z")
	plan.InputsVersion = must(s.Cluster(ctx, night))(t).InputsVersion
	first := must(s.SavePlan(ctx, plan))(t)
	heard("a plan")
	got := must(s.Current(ctx, night))(t)
	if got.Record.Number != first.Number || !got.ConfirmedAt.Equal(plan.At) || got.ConfirmedVersion != plan.InputsVersion || got.Pin != nil || got.LastAttempt != nil {
		t.Errorf("got %+v", got)
	}
	if got.Boundary == nil || !got.Boundary.Equal(moment("2026-01-10T06:00:00Z")) {
		t.Errorf("got the boundary %v, want the end of the forecast's hour", got.Boundary)
	}
	kept := must(s.KeepPlan(ctx, plan))(t)
	if now := must(s.Current(ctx, night))(t); kept.Number != first.Number+1 || now.Record.Number != first.Number {
		t.Errorf("a plan for another moment: got number %d, current %d", kept.Number, now.Record.Number)
	}
	c := must(s.Cluster(ctx, night))(t)
	c.HoldSeconds = 90
	must(s.ReplaceCluster(ctx, c.Version, c))(t)
	heard("a change of inputs")
	all := must(s.Currents(ctx, "", 10, nil))(t)
	if len(all) != 1 || all[0].InputsVersion != plan.InputsVersion+1 || all[0].HoldSeconds != 90 || all[0].Tag() == got.Tag() {
		t.Errorf("got %+v", all)
	}
	if known := must(s.Currents(ctx, "", 10, []string{first.ID}))(t); len(known) != 1 || string(known[0].Record.Plan) != "null" || known[0].Tag() != all[0].Tag() {
		t.Errorf("of a plan that is known: got %+v", known)
	}
	if after := must(s.Currents(ctx, night, 10, nil))(t); len(after) != 0 {
		t.Errorf("after the last cluster: got %+v", after)
	}
	c = must(s.Cluster(ctx, night))(t)
	check(t, s.DeleteCluster(ctx, night, c.Version))
	heard("a cluster's end")
	if all := must(s.Currents(ctx, "", 10, nil))(t); len(all) != 0 {
		t.Errorf("got %d current plans of no cluster", len(all))
	}
}

// A cluster that cannot be planned is named until it has its first plan, and not while it only waits for one.
func TestClustersThatNeverHadAPlanAreNamed(t *testing.T) {
	t.Parallel()
	s := pgtest.OpenWith(t, configOf(pgtest.Database(t)))
	ctx := filled(t, s)
	settle := func(o plans.Outcome, want ...string) {
		t.Helper()
		var c *plans.Claim
		var err error
		for range await.Tries(10 * time.Second) {
			if c, _, err = s.Claim(ctx, moment("2026-01-10T05:30:00Z"), time.Minute); c != nil || err != nil {
				break
			}
		}
		if c == nil {
			t.Fatalf("there is nothing to plan: %v", err)
		}
		if o.Plan != nil {
			o.Plan.InputsVersion, o.At = must(s.Cluster(ctx, night))(t).InputsVersion, o.Plan.At
		}
		o.Version = must(s.Cluster(ctx, night))(t).InputsVersion
		must(s.Settle(ctx, *c, o))(t)
		if got := must(s.Unplanned(ctx))(t); !slices.Equal(got, want) {
			t.Errorf("without a plan are %q, want %q", got, want)
		}
	}
	if got := must(s.Unplanned(ctx))(t); len(got) != 0 {
		t.Errorf("before the first try %q are named", got)
	}
	settle(plans.Outcome{At: moment("2026-01-10T05:30:00Z"), Attempt: plans.Attempt{Failed: true, Detail: "The quota is too small."}}, night)
	c := must(s.Cluster(ctx, night))(t)
	c.HoldSeconds = 90
	must(s.ReplaceCluster(ctx, c.Version, c))(t)
	plan := record(night)
	settle(plans.Outcome{Plan: &plan})
}

func TestServersOfThePreviousReleaseAskForPlansToo(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	claim := func(what string) *plans.Claim {
		t.Helper()
		for range await.Tries(10 * time.Second) {
			if c, _, err := s.Claim(ctx, moment("2026-01-10T05:30:00Z"), time.Minute); err != nil || c != nil {
				check(t, err)
				return c
			}
		}
		t.Fatalf("%s: there is nothing to plan", what)
		return nil
	}
	c := claim("a new cluster")
	plan := record(night)
	plan.InputsVersion = must(s.Cluster(ctx, night))(t).InputsVersion
	must(s.Settle(ctx, *c, plans.Outcome{At: plan.At, Version: plan.InputsVersion, Plan: &plan}))(t)
	if again, next, err := s.Claim(ctx, plan.At, time.Minute); again != nil || err != nil || next < 20*time.Minute {
		t.Fatalf("planned: got %+v, %v, %v", again, next, err)
	}
	conn := raw(t, url)
	if _, err := conn.Exec(ctx, "UPDATE clusters SET inputs_version = inputs_version + 1 WHERE name = $1", night); err != nil { // all that release does
		t.Fatal(err)
	}
	if c := claim("a change"); c.Reason != plans.ByInputs || c.Newest != 1 {
		t.Errorf("got %+v", c)
	}
}
