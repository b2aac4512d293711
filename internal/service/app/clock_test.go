package app_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/pgtest"
)

// However a server's clock jumps, the current plan is soon the one for its moment, numbers only grow, and no link,
// session or key opens the service longer than it was given for (R18).
func TestJumpsOfAServersClock(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-03T10:00:00Z")
	a := planning(t, 2, clock.now)
	d := document("c")
	ends := moment("2026-06-03T10:30:00Z")
	d.Contracts = []inputs.SignedContract{{Name: "month", VMType: "small", VMs: 2, Price: amountOf("0.1"), Billing: capacity.BilledUsed, From: moment("2026-01-01T00:00:00Z"), Until: ends}}
	apply(t, a, d)
	last := current(t, a, "c", "the first plan", numbered(1)).Record
	hour, day := time.Hour, 24*time.Hour
	for _, jump := range []time.Duration{hour, -hour, day, -day, day, hour, -day, -hour} {
		clock.advance(jump)
		c := current(t, a, "c", "a plan for the moment after a jump by "+jump.String(), func(c plans.Current) bool {
			return !c.Stale(clock.now()) && !c.ConfirmedAt.After(clock.now()) && strings.Contains(string(mustProblem(t, a, c.Record.Number)), `"month"`) == clock.now().Before(ends)
		})
		if c.Record.Number < last.Number || c.Record.Number > last.Number && c.Record.CreatedAt.Before(last.CreatedAt) {
			t.Errorf("after a jump by %v plan %d follows plan %d", jump, c.Record.Number, last.Number)
		}
		last = c.Record
	}

	clock.set(time.Now())
	begun := clock.now()
	store := pgtest.Open(t)
	a = newApp(t, store, clock.now)
	ctx := admin(t)
	_, token, err := a.Auth.CreateKey(ctx, auth.Key{Name: "half an hour", Role: auth.Viewer, ExpiresAt: new(begun.Add(30 * time.Minute))})
	if err != nil {
		t.Fatal(err)
	}
	_, lasting, err := a.Auth.CreateKey(ctx, auth.Key{Name: "lasting", Role: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	for _, jump := range []time.Duration{hour, day} {
		clock.set(begun.Add(jump))
		if _, ok := a.Auth.Ring.Find(token, a.Now()); ok {
			t.Errorf("a key opens the service %v after its end", jump-30*time.Minute)
		}
		link, err := a.Auth.NewSignInLink(ctx)
		if err != nil {
			t.Fatal(err)
		}
		session, cookie, err := a.Auth.SignIn(ctx, lasting)
		if err != nil || cookie == "" {
			t.Fatal(err)
		}
		if _, err := a.Auth.Session(ctx, session.Hash); err != nil {
			t.Errorf("a new session: %v", err)
		}
		clock.set(begun)
		if _, _, err := a.Auth.SignIn(ctx, link); !errors.Is(err, auth.ErrToken) {
			t.Errorf("a link made when the clock was %v ahead: %v", jump, err)
		}
		if _, err := a.Auth.Session(ctx, session.Hash); !errors.Is(err, fault.NotFound) {
			t.Errorf("a session opened when the clock was %v ahead: %v", jump, err)
		}
		if _, ok := a.Auth.Ring.Find(token, a.Now()); !ok {
			t.Error("a key does not open the service before its end")
		}
		clock.set(begun.Add(-jump))
		if link, err = a.Auth.NewSignInLink(ctx); err == nil {
			clock.set(begun)
			_, _, err = a.Auth.SignIn(ctx, link)
		}
		if !errors.Is(err, auth.ErrToken) {
			t.Errorf("a link made when the clock was %v late: %v", jump, err)
		}
	}
	t.Attr("R18", "a server's clock jumps by an hour and a day, both ways: the plan for the moment within moments, numbers in order; keys, links and sessions live no longer than they were given for")
}

func mustProblem(t *testing.T, a *app.App, number int64) []byte {
	t.Helper()
	record, err := a.Stores.Plans.Plan(admin(t), "c", plans.PlanRef{Number: number})
	if err != nil {
		t.Fatal(err)
	}
	return record.Problem
}
