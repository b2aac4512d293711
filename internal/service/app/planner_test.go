package app_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// hands is a clock that a test moves.
type hands struct{ at atomic.Pointer[time.Time] }

func clockAt(text string) *hands {
	h := new(hands)
	h.set(moment(text))
	return h
}

func (h *hands) set(t time.Time)         { h.at.Store(&t) }
func (h *hands) advance(d time.Duration) { h.set(h.now().Add(d)) }
func (h *hands) now() time.Time          { return *h.at.Load() }

// planning starts servers that plan on one database, until the test ends, and answers the first.
func planning(t *testing.T, replicas int, clock func() time.Time) *app.App {
	t.Helper()
	url := pgtest.Database(t)
	var first *app.App
	for i := range replicas {
		a := app.New(pgtest.OpenWith(t, postgres.Config{URL: url}).Stores(), auth.NewKeyring(), app.Config{Clock: clock, PlannerLook: 50 * time.Millisecond})
		if i == 0 {
			first = a
		}
		startPlanner(t, a)
	}
	return first
}

// startPlanner returns a function that stops it.
func startPlanner(t *testing.T, a *app.App) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := a.StartPlanner(ctx)
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			t.Error("the planner does not stop")
		}
	})
	t.Cleanup(stop)
	return stop
}

// current waits for a current plan that is as wanted.
func current(t *testing.T, a *app.App, cluster, what string, is func(plans.Current) bool) (c plans.Current) {
	t.Helper()
	var err error
	for last := range await.Tries(10 * time.Second) {
		if c, err = a.Stores.Plans.Current(admin(t), cluster); err == nil && is(c) {
			return c
		}
		if last {
			t.Fatalf("never: %s; have plan %d of inputs %d, confirmed %v for inputs %d, boundary %v, attempt %+v, error %v",
				what, c.Record.Number, c.Record.InputsVersion, c.ConfirmedAt, c.ConfirmedVersion, c.Boundary, c.LastAttempt, err)
		}
	}
	return c
}

func numbered(n int64) func(plans.Current) bool {
	return func(c plans.Current) bool { return c.Record.Number == n }
}

// penalty changes the cost of refusing a job of the first class, which changes the problem.
func penalty(t *testing.T, a *app.App, cluster, amount string) {
	t.Helper()
	c, err := a.Clusters.Classes().Get(admin(t), cluster, "nightly")
	if err == nil {
		c.Penalty = amountOf(amount)
		_, err = a.Clusters.Classes().Replace(admin(t), cluster, c.Name, c.Version, c)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAClusterIsPlannedByItself(t *testing.T) {
	t.Parallel()
	a := planning(t, 1, clockAt("2026-06-01T10:20:30Z").now)
	d := document("c")
	classes := d.Classes
	d.Classes = nil
	apply(t, a, d)
	await.Until(t, 10*time.Second, "what is missing is said", func() bool {
		_, err := a.Stores.Plans.Current(admin(t), "c")
		return errors.Is(err, fault.NotFound) && strings.Contains(err.Error(), "no class")
	})
	classes[0].Profile.Version = 1
	if _, err := a.Clusters.Classes().Create(admin(t), "c", classes[0]); err != nil {
		t.Fatal(err)
	}
	c := current(t, a, "c", "the first plan", numbered(1))
	if c.Record.CreatedBy != "planner" || c.LastAttempt != nil || c.Stale(moment("2026-06-01T10:20:30Z")) || c.ConfirmedVersion != c.InputsVersion {
		t.Errorf("got %+v", c)
	}
	if c.Boundary == nil || !c.Boundary.Equal(moment("2027-01-01T00:00:00Z")) {
		t.Errorf("got the boundary %v, want the end of the price", c.Boundary)
	}
}

func TestManyEditsAreAFewPlans(t *testing.T) {
	t.Parallel()
	edits, spread := 200, 2*time.Second
	if long {
		edits, spread = 1000, 10*time.Second
	}
	a := planning(t, 3, nil)
	d := document("c")
	d.Prices[0].Until = nil
	apply(t, a, d)
	current(t, a, "c", "the first plan", numbered(1))
	began := time.Now()
	pace := time.NewTicker(spread / time.Duration(edits))
	defer pace.Stop()
	for i := range edits {
		penalty(t, a, "c", fmt.Sprint(10+i))
		<-pace.C
	}
	took := time.Since(began)
	c := current(t, a, "c", "a plan of the last edit", func(c plans.Current) bool { return c.Record.InputsVersion == c.InputsVersion })
	record, err := a.Stores.Plans.Plan(admin(t), "c", plans.PlanRef{})
	if err != nil || !strings.Contains(string(record.Problem), fmt.Sprintf(`"%d.00"`, 9+edits)) {
		t.Errorf("the last plan is about %s, %v", record.Problem, err)
	}
	most := 6 + int64(took.Seconds()) // about one a second while the edits go on
	if c.Record.Number > most || c.Record.Number < 2 {
		t.Errorf("%d edits in %v made %d plans, want %d at most", edits, took, c.Record.Number-1, most-1)
	}
	t.Logf("%d edits in %v over 3 servers: %d plans", edits, took.Round(time.Millisecond), c.Record.Number-1)
}

func TestOneEditIsOnePlanOnAllServers(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	a := planning(t, 3, clock.now)
	apply(t, a, document("c"))
	current(t, a, "c", "the first plan", numbered(1))
	for n := int64(2); n <= 4; n++ {
		penalty(t, a, "c", fmt.Sprintf("%d", n))
		current(t, a, "c", "the next plan", numbered(n))
	}
	apply(t, a, document("witness")) // planned after all other due work
	current(t, a, "witness", "the witness", numbered(1))
	if c := current(t, a, "c", "any", func(plans.Current) bool { return true }); c.Record.Number != 4 {
		t.Errorf("three edits made %d plans", c.Record.Number-1)
	}
}

func TestBoundariesPlanByThemselves(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:20:00Z")
	a := planning(t, 2, clock.now)
	d := document("c")
	d.Prices = append(d.Prices, d.Prices[0])
	d.Prices[0].Until, d.Prices[1].From, d.Prices[1].Price = until("2026-06-01T10:40:00Z"), moment("2026-06-01T10:40:00Z"), amountOf("0.30")
	d.Contracts = []inputs.SignedContract{{Name: "month", VMType: "small", VMs: 2, Price: amountOf("0.1"), Billing: capacity.BilledUsed, From: moment("2026-06-01T11:10:00Z"), Until: moment("2026-06-01T11:20:00Z")}}
	d.Forecasts = []inputs.Forecast{{Class: "nightly", Hour: moment("2026-06-01T12:00:00Z"), Jobs: 2}, {Class: "nightly", Hour: moment("2026-06-01T13:00:00Z"), Jobs: 2}}
	apply(t, a, d)
	current(t, a, "c", "the first plan", numbered(1))
	next := int64(1)
	for _, step := range []struct{ at, boundary, what, holds string }{
		{"2026-06-01T10:40:00Z", "2026-06-01T11:10:00Z", "a price", `"0.30"`},
		{"2026-06-01T11:10:00Z", "2026-06-01T11:20:00Z", "a contract's start", `"month"`},
		{"2026-06-01T11:20:00Z", "2026-06-01T12:00:00Z", "a contract's end", `"supply":{"on_demand"`},
		{"2026-06-01T12:00:00Z", "2026-06-01T13:00:00Z", "a forecast", `"max":2`},
		{"2026-06-01T14:00:00Z", "2027-01-01T00:00:00Z", "a forecast's end", `"max":4`},
	} {
		next++
		clock.set(moment(step.at))
		c := current(t, a, "c", "a plan after "+step.what, numbered(next))
		if !c.Record.At.Equal(clock.now()) || c.Boundary == nil || !c.Boundary.Equal(moment(step.boundary)) {
			t.Errorf("after %s: planned for %v, next boundary %v; want %s", step.what, c.Record.At, c.Boundary, step.boundary)
		}
		record, err := a.Stores.Plans.Plan(admin(t), "c", plans.PlanRef{})
		if err != nil || !strings.Contains(string(record.Problem), step.holds) {
			t.Errorf("after %s: %v, the problem is %s", step.what, err, record.Problem)
		}
		if step.what == "a forecast" { // the next hour's is the same: only confirmed
			clock.set(moment("2026-06-01T13:00:00Z"))
			c := current(t, a, "c", "the hour turns", func(c plans.Current) bool { return c.ConfirmedAt.Equal(clock.now()) })
			if c.Record.Number != next || c.LastAttempt == nil || c.LastAttempt.Reason != plans.ByBoundary || c.LastAttempt.Failed {
				t.Errorf("an hour of the same forecast: got plan %d, %+v", c.Record.Number, c.LastAttempt)
			}
		}
	}
}

func TestConfirmationMakesNoPlan(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	a := planning(t, 2, clock.now)
	apply(t, a, document("c"))
	first := current(t, a, "c", "the first plan", numbered(1))
	clock.advance(59 * time.Minute)
	penalty(t, a, "c", "3.00") // the same in other words
	c := current(t, a, "c", "the same inputs", func(c plans.Current) bool { return c.ConfirmedVersion == c.InputsVersion })
	if c.Record.Number != 1 || !c.ConfirmedAt.Equal(clock.now()) || c.LastAttempt == nil || c.LastAttempt.Failed || c.LastAttempt.Reason != plans.ByInputs {
		t.Errorf("got %+v", c)
	}
	if c.Stale(time.Now().Add(24*time.Hour)) != true || c.Stale(clock.now()) {
		t.Errorf("a confirmed plan: stale now %v", c.Stale(clock.now()))
	}
	clock.advance(time.Hour)
	later := current(t, a, "c", "a confirmation once a period", func(c plans.Current) bool { return c.ConfirmedAt.Equal(clock.now()) })
	if later.Record.Number != 1 || later.LastAttempt.Reason != plans.ByConfirmation || later.Tag() == c.Tag() || later.Tag() == first.Tag() {
		t.Errorf("got plan %d, %+v", later.Record.Number, later.LastAttempt)
	}
}

func TestAFailureKeepsTheLastGoodPlan(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	a := planning(t, 2, clock.now)
	d := document("c")
	d.Prices[0].Until = until("2026-06-01T10:30:00Z")
	apply(t, a, d)
	current(t, a, "c", "the first plan", numbered(1))
	clock.set(moment("2026-06-01T10:30:00Z"))
	failed := func(c plans.Current) bool { return c.LastAttempt != nil && c.LastAttempt.Failed }
	c := current(t, a, "c", "a moment without a price", failed)
	if c.Record.Number != 1 || c.LastAttempt.Reason != plans.ByBoundary || !strings.Contains(c.LastAttempt.Detail, "no on-demand price") || !c.Stale(clock.now()) {
		t.Errorf("got %+v, stale %v", c.LastAttempt, c.Stale(clock.now()))
	}
	d.Prices[0].Until = until("2027-01-01T00:00:00Z")
	none := int64(0)
	d.VMTypes[0].Quota = &none
	apply2(t, a, d)
	c = current(t, a, "c", "an infeasible cluster", func(c plans.Current) bool {
		return failed(c) && c.LastAttempt.Reason == plans.ByInputs && len(c.LastAttempt.Conflicts) > 0
	})
	if c.Record.Number != 1 || !c.ConfirmedAt.Equal(moment("2026-06-01T10:00:00Z")) {
		t.Errorf("got plan %d, confirmed %v", c.Record.Number, c.ConfirmedAt)
	}
	d.VMTypes[0].Quota = nil
	penalty(t, a, "c", "7")
	d.Classes[0].Penalty = amountOf("7")
	apply2(t, a, d)
	c = current(t, a, "c", "cured", numbered(2))
	if c.LastAttempt != nil || c.Stale(clock.now()) {
		t.Errorf("got %+v", c.LastAttempt)
	}
}

// apply2 turns an existing cluster into a document's state.
func apply2(t *testing.T, a *app.App, d inputs.Document) {
	t.Helper()
	c, err := a.Stores.Inputs.Cluster(admin(t), d.Cluster.Name)
	if err == nil {
		_, err = a.Clusters.Apply(admin(t), c.InputsVersion, d, false)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestPins(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	a := planning(t, 2, clock.now)
	ctx := admin(t)
	apply(t, a, document("c"))
	current(t, a, "c", "the first plan", numbered(1))
	if _, err := a.Plans.Pin(ctx, "c", plans.PlanRef{Number: 1}, clock.now()); !errors.Is(err, fault.Invalid) {
		t.Errorf("a pin of the past: got %v", err)
	}
	if _, err := a.Plans.Pin(ctx, "c", plans.PlanRef{Number: 9}, clock.now().Add(time.Minute)); !errors.Is(err, fault.NotFound) {
		t.Errorf("a pin of nothing: got %v", err)
	}
	end := moment("2026-06-01T10:10:00Z")
	pin, err := a.Plans.Pin(ctx, "c", plans.PlanRef{Number: 1}, end)
	if err != nil || pin.By != "tester" || pin.Number != 1 || !pin.Until.Equal(end) {
		t.Fatalf("got %+v, %v", pin, err)
	}
	penalty(t, a, "c", "4")
	c := current(t, a, "c", "a plan behind the pin", func(c plans.Current) bool { return c.ConfirmedVersion == c.InputsVersion })
	if c.Record.Number != 1 || c.Pin == nil || !c.ValidUntil().Equal(end) || c.LastAttempt == nil || !strings.Contains(c.LastAttempt.Detail, "Plan 2 was made and waits") || c.Stale(clock.now()) {
		t.Errorf("got plan %d, %+v, %+v", c.Record.Number, c.Pin, c.LastAttempt)
	}
	if by, err := a.Plans.Create(ctx, "c", time.Time{}); err != nil || by.Number != 3 {
		t.Errorf("a plan asked for: %d, %v", by.Number, err)
	}
	current(t, a, "c", "the pin holds", numbered(1))
	clock.set(end)
	c = current(t, a, "c", "the pin ends", numbered(3))
	if c.Pin != nil {
		t.Errorf("got %+v", c.Pin)
	}
	if _, err := a.Plans.Pin(ctx, "c", plans.PlanRef{Number: 2}, end.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	current(t, a, "c", "an older plan is pinned", numbered(2))
	for range 2 {
		if err := a.Plans.Unpin(ctx, "c"); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := a.Stores.Plans.Current(ctx, "c"); err != nil || c.Record.Number != 3 || c.Pin != nil {
		t.Errorf("unpinned: got plan %d, %v", c.Record.Number, err)
	}
	if _, err := a.Stores.Plans.PinOf(ctx, "c"); !errors.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	var pins []string
	pgtest.Outlast(t)
	await.Until(t, 10*time.Second, "three entries in the audit log", func() bool {
		entries, err := a.Stores.Database.Audit(ctx, app.AuditFilter{Cluster: "c"}, storage.Page{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		pins = nil
		for _, e := range entries.Items {
			if e.Kind == inputs.PinKind {
				pins = append(pins, e.Action+" "+e.Name)
			}
		}
		return len(pins) == 3
	})
	if got := strings.Join(pins, ", "); got != "delete plan 2, create plan 2, create plan 1" {
		t.Errorf("got %s", got)
	}
}

func TestAPinEndsThoughNothingCanBePlanned(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	a := planning(t, 1, clock.now)
	d := document("c")
	apply(t, a, d)
	current(t, a, "c", "the first plan", numbered(1))
	penalty(t, a, "c", "4")
	current(t, a, "c", "the second plan", numbered(2))
	if _, err := a.Plans.Pin(admin(t), "c", plans.PlanRef{Number: 1}, clock.now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	none := int64(0)
	d.VMTypes[0].Quota = &none
	apply2(t, a, d)
	current(t, a, "c", "infeasible", func(c plans.Current) bool { return c.LastAttempt != nil && c.LastAttempt.Failed })
	clock.advance(time.Minute)
	if c := current(t, a, "c", "the pin ends", numbered(2)); c.Pin != nil || !c.LastAttempt.Failed {
		t.Errorf("got %+v, %+v", c.Pin, c.LastAttempt)
	}
}

func TestAServerThatDiesIsReplaced(t *testing.T) {
	t.Parallel()
	store := pgtest.Open(t)
	dead := newApp(t, store, nil)
	d := document("c")
	d.Prices[0].Until = nil
	apply(t, dead, d)
	var claim *plans.Claim
	await.Until(t, 10*time.Second, "there is something to plan", func() bool {
		var err error
		if claim, _, err = store.Claim(admin(t), time.Now(), 700*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		return claim != nil
	})
	began := time.Now()
	if other, next, err := store.Claim(admin(t), time.Now(), time.Second); other != nil || err != nil || next > 700*time.Millisecond {
		t.Errorf("claimed twice: %+v, %v, %v", other, next, err)
	}
	a := app.New(store.Stores(), auth.NewKeyring(), app.Config{})
	startPlanner(t, a)
	current(t, a, "c", "another server takes over", numbered(1))
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("the claim held only for %v", took)
	}
	if _, err := store.Settle(admin(t), *claim, plans.Outcome{At: time.Now(), Version: 1, Same: true}); !errors.Is(err, storage.ErrClaimLost) {
		t.Errorf("the dead server speaks: %v", err)
	}
	if err := store.KeepClaim(admin(t), *claim, time.Second); !errors.Is(err, storage.ErrClaimLost) {
		t.Errorf("the dead server goes on: %v", err)
	}
}

// meanwhile is a store in which something happens between the reading of the inputs and the plan.
type meanwhile struct {
	*postgres.Store
	happens func()
}

func (m meanwhile) Snapshot(ctx context.Context, cluster string, at time.Time) (inputs.Snapshot, error) {
	s, err := m.Store.Snapshot(ctx, cluster, at)
	m.happens()
	return s, err
}

func TestWhatHappensWhileAPlanIsMade(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	store := pgtest.Open(t)
	d := document("c")
	d.Contracts = []inputs.SignedContract{{Name: "month", VMType: "small", VMs: 2, Price: amountOf("0.1"), Billing: capacity.BilledUsed, From: moment("2026-01-01T00:00:00Z"), Until: moment("2026-06-01T10:30:00Z")}}
	var once sync.Once
	var a *app.App
	happens := func() { once.Do(func() { clock.set(moment("2026-06-01T10:31:00Z")) }) } // the contract ends
	a = app.New(meanwhile{Store: store, happens: func() { happens() }}.stores(), auth.NewKeyring(), app.Config{Clock: clock.now, PlannerLook: 50 * time.Millisecond})
	apply(t, a, d)
	stop := startPlanner(t, a)
	current(t, a, "c", "a plan without the contract", numbered(2))
	for n, contract := range []bool{true, false} {
		record, err := a.Stores.Plans.Plan(admin(t), "c", plans.PlanRef{Number: int64(n + 1)})
		if err != nil || strings.Contains(string(record.Problem), `"month"`) != contract {
			t.Errorf("plan %d: %v, the problem is %s", n+1, err, record.Problem)
		}
	}
	stop()
	var again sync.Once
	happens = func() { again.Do(func() { penalty(t, a, "c", "9") }) } // an edit in the middle
	penalty(t, a, "c", "8")
	startPlanner(t, a)
	current(t, a, "c", "a plan of the edit in the middle", func(c plans.Current) bool { return c.Record.InputsVersion == c.InputsVersion })
	record, err := a.Stores.Plans.Plan(admin(t), "c", plans.PlanRef{})
	if err != nil || record.Number != 4 || !strings.Contains(string(record.Problem), `"penalty":"9.00"`) {
		t.Errorf("plan %d, %v: %s", record.Number, err, record.Problem)
	}
}

// A plan that was overtaken while it was made waits for a better one, while another one is current. If that happens
// again and again, the third is accepted after all.
func TestPlansThatComeTooLate(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	store := pgtest.Open(t)
	d := document("c")
	for hour := 11; hour <= 17; hour++ {
		d.Contracts = append(d.Contracts, inputs.SignedContract{Name: fmt.Sprintf("until-%d", hour), VMType: "small", VMs: 1, Price: amountOf("0.1"), Billing: capacity.BilledUsed,
			From: moment("2026-01-01T00:00:00Z"), Until: moment(fmt.Sprintf("2026-06-01T%d:00:00Z", hour))})
	}
	var slow atomic.Int64 // that many of the next plans take until a contract ends
	a := app.New(meanwhile{Store: store, happens: func() {
		if slow.Add(-1) >= 0 {
			clock.advance(time.Hour)
		}
	}}.stores(), auth.NewKeyring(), app.Config{Clock: clock.now, PlannerLook: 50 * time.Millisecond})
	apply(t, a, d)
	stop := startPlanner(t, a)
	current(t, a, "c", "the first plan", numbered(1))
	for i, step := range []struct{ slow, number int64 }{{1, 3}, {4, 8}, {1, 10}} {
		slow.Store(step.slow)
		penalty(t, a, "c", fmt.Sprint(10+i))
		c := current(t, a, "c", "a plan in time", numbered(step.number))
		if c.Stale(clock.now()) || c.LastAttempt != nil || c.ConfirmedVersion != c.InputsVersion {
			t.Errorf("plan %d: got %+v", step.number, c)
		}
	}
	stop()
	slow.Store(1)
	if asked, err := a.Plans.Create(admin(t), "c", time.Time{}); err != nil || asked.Number != 11 || asked.ForNow {
		t.Errorf("asked for: got plan %d, %t, %v", asked.Number, asked.ForNow, err)
	}
	if c := current(t, a, "c", "the plan before", numbered(10)); !c.Stale(clock.now()) {
		t.Errorf("got %+v", c)
	}
	startPlanner(t, a)
	current(t, a, "c", "the planner's", numbered(12))
	plans, err := a.Stores.Plans.Plans(admin(t), "c", storage.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var late []int64
	for _, p := range plans.Items {
		if !p.ForNow {
			late = append(late, p.Number)
		}
	}
	if want := []int64{11, 9, 5, 4, 2}; !slices.Equal(late, want) {
		t.Errorf("too late were the plans %v, want %v", late, want)
	}
}

func TestStoppingLosesNothing(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	store := pgtest.Open(t)
	stopping := make(chan struct{})
	var reached atomic.Bool
	slow := app.New(meanwhile{Store: store, happens: func() {
		if reached.CompareAndSwap(false, true) {
			<-stopping // the plan is not finished when the server stops
		}
	}}.stores(), auth.NewKeyring(), app.Config{Clock: clock.now})
	apply(t, slow, document("c"))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := slow.StartPlanner(ctx)
	await.Until(t, 10*time.Second, "planning begins", reached.Load)
	cancel()
	close(stopping)
	<-done
	a := newApp(t, store, clock.now)
	began := time.Now()
	startPlanner(t, a)
	current(t, a, "c", "the next server plans", numbered(1))
	if took := time.Since(began); took > 5*time.Second { // not first when the claim has run out
		t.Errorf("the cluster was free only after %v", took)
	}
}

func TestNobodyIsWokenByAClusterThatIsGone(t *testing.T) {
	t.Parallel()
	clock := clockAt("2026-06-01T10:00:00Z")
	store := pgtest.Open(t)
	a := newApp(t, store, clock.now)
	apply(t, a, document("c"))
	var claim *plans.Claim
	await.Until(t, 10*time.Second, "there is something to plan", func() bool {
		claim, _, _ = store.Claim(admin(t), clock.now(), time.Minute)
		return claim != nil
	})
	c, err := a.Stores.Inputs.Cluster(admin(t), "c")
	if err == nil {
		err = a.Clusters.Delete(admin(t), "c", c.Version)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Settle(admin(t), *claim, plans.Outcome{At: clock.now(), Version: 1, Same: true}); !errors.Is(err, storage.ErrClaimLost) {
		t.Errorf("got %v", err)
	}
	if claim, next, err := store.Claim(admin(t), clock.now(), time.Minute); claim != nil || next != plans.Never || err != nil {
		t.Errorf("got %+v, %v, %v", claim, next, err)
	}
}

// stores returns the database's stores, with its own for the inputs.
func (m meanwhile) stores() app.Stores {
	all := m.Store.Stores()
	all.Inputs = m
	return all
}
