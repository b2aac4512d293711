package app_test

import (
	"context"
	"errors"
	"example.org/headroom/internal/service/plans"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

func TestMain(m *testing.M) {
	pgtest.TheyWait()
	pgtest.Main(m)
}

// long reports whether to use the large samples.
var long = os.Getenv("HEADROOM_LONG") != ""

func admin(t *testing.T) context.Context {
	return auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "tester", Role: auth.Admin})
}

func newApp(t *testing.T, store *postgres.Store, clock func() time.Time) *app.App {
	t.Helper()
	return app.New(store.Stores(), auth.NewKeyring(), app.Config{Clock: clock})
}

func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}

func amountOf(text string) money.Amount {
	m, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return m
}

// document returns a small cluster that can be planned in 2026.
func document(name string) inputs.Document {
	d := inputs.Document{
		Cluster:  inputs.NewCluster(name),
		VMTypes:  []inputs.VMType{{Name: "small", InUse: true}},
		Prices:   []inputs.PricePeriod{{VMType: "small", Price: amountOf("0.20"), From: moment("2026-01-01T00:00:00Z"), Until: until("2027-01-01T00:00:00Z")}},
		Profiles: []inputs.ProfileVersion{{Name: "etl", Version: 1, Profile: capacity.Profile{MapTasks: 100, MapAvgSeconds: 20, MapMaxSeconds: 40, OverheadSeconds: 5}}},
		Classes: []inputs.PlannedClass{
			{Name: "nightly", Profile: &inputs.ProfileRef{Name: "etl"}, DeadlineSeconds: 600, SlotsPerVM: capacity.SlotsPerVM{Map: 2, Reduce: 2}, Jobs: capacity.JobRange{Min: 1, Max: 4}, Penalty: amountOf("3")},
		},
	}
	d.Cluster.Options.Engine = capacity.EngineExact
	return d
}

func until(text string) *time.Time {
	at := moment(text)
	return &at
}

func apply(t *testing.T, a *app.App, d inputs.Document) {
	t.Helper()
	if _, err := a.Clusters.Apply(admin(t), 0, d, false); err != nil {
		t.Fatal(err)
	}
}

func TestPlansAreStoredWithTheirInputs(t *testing.T) {
	t.Parallel()
	a, ctx := newApp(t, pgtest.Open(t), func() time.Time { return moment("2026-06-01T10:20:30Z") }), admin(t)
	apply(t, a, document("c"))
	first, err := a.Plans.Create(ctx, "c", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if first.Number != 1 || first.Status != capacity.Optimal || !first.At.Equal(a.Now()) || first.CreatedBy != "tester" {
		t.Errorf("got %+v", first.PlanSummary)
	}
	report, err := a.Plans.Verify(ctx, "c", plans.PlanRef{ID: first.ID})
	if err != nil || report.Outcome != proof.OK {
		t.Errorf("verify: got %+v, %v", report, err)
	}
	price, err := a.Clusters.Prices().List(ctx, "c", storage.Page{Limit: 10})
	if err != nil || len(price.Items) != 1 {
		t.Fatalf("got %+v, %v", price, err)
	}
	dearer := price.Items[0]
	dearer.Price = amountOf("0.50")
	if _, err := a.Clusters.Prices().Replace(ctx, "c", dearer.ID, dearer.Version, dearer); err != nil {
		t.Fatal(err)
	}
	second, err := a.Plans.Create(ctx, "c", time.Time{})
	if err != nil || second.Number != 2 || second.InputsVersion <= first.InputsVersion {
		t.Fatalf("got %+v, %v", second.PlanSummary, err)
	}
	d, err := a.Plans.Diff(ctx, "c", &plans.PlanRef{Number: 1}, plans.PlanRef{})
	if err != nil || len(d.Inputs) != 1 || d.Inputs[0].Pointer != "/supply/on_demand/price" || d.Inputs[0].Before != "0.20" || d.Inputs[0].After != "0.50" {
		t.Errorf("got %+v, %v", d, err)
	}
	p, err := a.Plans.ProblemAt(ctx, "c", time.Time{})
	if err != nil || p.Options.Near == nil || p.Options.Near.VMs != second.VMs {
		t.Errorf("the next plan stays near the last: got %+v, %v", p.Options.Near, err)
	}
}

func TestWhatCannotBePlannedIsNotStored(t *testing.T) {
	t.Parallel()
	a, ctx := newApp(t, pgtest.Open(t), nil), admin(t)
	apply(t, a, document("c"))
	if _, err := a.Plans.Create(ctx, "c", moment("2027-01-01T00:00:00Z")); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "no on-demand price") {
		t.Errorf("a moment without a price: got %v", err)
	}
	vm, err := a.Clusters.VMTypes().Get(ctx, "c", "small")
	if err != nil {
		t.Fatal(err)
	}
	none := int64(0)
	vm.Quota = &none
	if _, err := a.Clusters.VMTypes().Replace(ctx, "c", "small", vm.Version, vm); err != nil {
		t.Fatal(err)
	}
	var infeasible *fault.InfeasibleError
	if _, err := a.Plans.Create(ctx, "c", moment("2026-06-01T00:00:00Z")); !errors.As(err, &infeasible) || !errors.Is(err, fault.Infeasible) || len(infeasible.Conflicts) == 0 {
		t.Errorf("no VM to be had: got %v", err)
	}
	if _, err := a.Stores.Plans.Plan(ctx, "c", plans.PlanRef{}); !errors.Is(err, fault.NotFound) {
		t.Errorf("a plan was stored: %v", err)
	}
	if _, err := a.Plans.Create(ctx, "nobody", time.Time{}); !errors.Is(err, fault.NotFound) {
		t.Errorf("an unknown cluster: got %v", err)
	}
}

func TestDeadlinesThatNothingMeets(t *testing.T) {
	t.Parallel()
	a, ctx := newApp(t, pgtest.Open(t), nil), admin(t)
	apply(t, a, document("c"))
	class := document("c").Classes[0]
	class.Name, class.DeadlineSeconds = "hopeless", 5 // less than the overhead and one task
	_, err := a.Clusters.Classes().Create(ctx, "c", class)
	var input *fault.InputError
	if !errors.As(err, &input) || input.Findings[0].Pointer != "/deadline_s" || input.Findings[0].Hint == nil || input.Findings[0].Hint.Pointer != "/deadline_s" {
		t.Fatalf("promised jobs: got %v", err)
	}
	class.Jobs.Min = 0
	stored, err := a.Clusters.Classes().Create(ctx, "c", class)
	if err != nil || len(stored.Warnings) != 1 || stored.Warnings[0].Pointer != "/deadline_s" {
		t.Errorf("no promised jobs: got %+v, %v; want a warning", stored, err)
	}
	d := document("d")
	bad := d.Classes[0]
	bad.Name, bad.DeadlineSeconds = "a-first", 5
	d.Classes = append([]inputs.PlannedClass{bad}, d.Classes...)
	if _, err := a.Clusters.Apply(ctx, 0, d, true); !errors.As(err, &input) || input.Findings[0].Pointer != "/classes/0/deadline_s" {
		t.Errorf("in a document: got %v", err)
	}
	d = document("d")
	d.Classes[0].Profile.Version = 7
	if _, err := a.Clusters.Apply(ctx, 0, d, false); !errors.Is(err, fault.Invalid) {
		t.Errorf("a profile version that is not there: got %v", err)
	}
}

func TestClustersOfFractionsStayRelaxed(t *testing.T) {
	t.Parallel()
	store := pgtest.Open(t)
	a := newApp(t, store, time.Now)
	ctx := admin(t)
	d := document("night")
	d.Cluster.Options.Integrality = capacity.Relaxed
	d.Classes[0].Jobs = capacity.JobRange{Min: 0.5, Max: 9.5}
	apply(t, a, d)
	c, err := a.Stores.Inputs.Cluster(ctx, "night")
	if err != nil {
		t.Fatal(err)
	}
	whole := c
	whole.Options.Integrality = capacity.Executable
	_, err = a.Clusters.Replace(ctx, c.Version, whole)
	if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "nightly") || !strings.Contains(err.Error(), "/options/integrality") {
		t.Errorf("a cluster with fractions of jobs, planned in whole ones: got %v", err)
	}
	_, err = a.Clusters.Apply(ctx, c.InputsVersion, inputs.Document{Cluster: whole}, false)
	if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "/cluster/options/integrality") {
		t.Errorf("by a document that leaves the classes alone: got %v", err)
	}
	whole.Options.Integrality, whole.Description = capacity.Relaxed, "changed"
	if c, err = a.Clusters.Replace(ctx, c.Version, whole); err != nil {
		t.Fatal(err)
	}
	d.Cluster, d.Classes[0].Jobs = c, capacity.JobRange{Min: 1, Max: 9}
	d.Cluster.Options.Integrality = capacity.Executable
	if _, err := a.Clusters.Apply(ctx, c.InputsVersion, d, false); err != nil {
		t.Errorf("the classes in whole numbers with it: got %v", err)
	}
}

func TestLimitedKeysMakeOnlyTheirClusters(t *testing.T) {
	t.Parallel()
	a := newApp(t, pgtest.Open(t), nil)
	limited := auth.With(t.Context(), auth.Principal{ID: "k", Name: "k", Role: auth.Operator, Clusters: []string{"mine"}})
	if _, err := a.Clusters.Create(limited, inputs.NewCluster("other")); !errors.Is(err, fault.Forbidden) {
		t.Errorf("got %v", err)
	}
	if _, err := a.Clusters.Apply(limited, 0, document("other"), true); !errors.Is(err, fault.Forbidden) {
		t.Errorf("got %v", err)
	}
	if _, err := a.Clusters.Create(limited, inputs.NewCluster("mine")); err != nil {
		t.Error(err)
	}
	if _, _, err := a.Auth.CreateKey(limited, auth.Key{Name: "x", Role: auth.Viewer}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("got %v", err)
	}
}

func TestKeysReachEveryReplica(t *testing.T) {
	t.Parallel()
	store := pgtest.Open(t)
	a, b := newApp(t, store, nil), newApp(t, store, nil)
	ctx, cancel := context.WithCancel(admin(t))
	watched, err := b.Auth.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); <-watched }()
	key, token, err := a.Auth.CreateKey(ctx, auth.Key{Name: "dashboard", Role: auth.Viewer, Clusters: []string{"c"}})
	if err != nil {
		t.Fatal(err)
	}
	opens := func(want bool) func() bool {
		return func() bool { _, ok := b.Auth.Ring.Principal(token, time.Now()); return ok == want }
	}
	await.Until(t, time.Second, "a new key opens the other replica", opens(true))
	if who, _ := b.Auth.Ring.Principal(token, time.Now()); who.Role != auth.Viewer || !slices.Equal(who.Clusters, []string{"c"}) {
		t.Errorf("got %+v", who)
	}
	session, cookie, err := b.Auth.SignIn(ctx, token)
	if err != nil || session.Principal.Name != "dashboard" {
		t.Fatalf("got %+v, %v", session, err)
	}
	if err := a.Auth.RevokeKey(ctx, key.ID); err != nil {
		t.Fatal(err)
	}
	await.Until(t, time.Second, "a revoked key is shut out by the other replica", opens(false))
	if _, err := b.Auth.Session(ctx, auth.HashOf(cookie)); !errors.Is(err, fault.NotFound) {
		t.Errorf("the session of a revoked key goes on: %v", err)
	}
	if err := a.Auth.RevokeKey(ctx, key.ID); err != nil {
		t.Errorf("revoked twice: %v", err)
	}
}

// A new key works at once at a replica that has not been notified of it yet.
func TestNewKeysOpenAtOnce(t *testing.T) {
	t.Parallel()
	store := pgtest.Open(t)
	a, deaf := newApp(t, store, nil), newApp(t, store, nil) // deaf never watches
	_, token, err := a.Auth.CreateKey(admin(t), auth.Key{Name: "dashboard", Role: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	if key, err := deaf.Auth.FindKey(t.Context(), token); err != nil || key.Name != "dashboard" {
		t.Errorf("got %+v, %v", key, err)
	}
	for _, bad := range []string{token[:len(token)-1] + "!", token[1:], "", "hrk_"} {
		if _, err := deaf.Auth.FindKey(t.Context(), bad); !errors.Is(err, auth.ErrToken) {
			t.Errorf("%q opens", bad)
		}
	}
}

func TestSignInLinksWorkOnceAndBriefly(t *testing.T) {
	t.Parallel()
	now := moment("2026-06-01T00:00:00Z")
	a, ctx := newApp(t, pgtest.Open(t), func() time.Time { return now }), admin(t)
	link, err := a.Auth.NewSignInLink(ctx)
	if err != nil {
		t.Fatal(err)
	}
	now = time.Now().UTC() // the link was made in the past: five minutes are long over
	if _, _, err := a.Auth.SignIn(ctx, link); !errors.Is(err, auth.ErrToken) {
		t.Errorf("after its time: got %v", err)
	}
	if link, err = a.Auth.NewSignInLink(ctx); err != nil {
		t.Fatal(err)
	}
	session, _, err := a.Auth.SignIn(ctx, link)
	if err != nil || session.Principal.Role != auth.Admin {
		t.Errorf("got %+v, %v", session, err)
	}
	if _, _, err := a.Auth.SignIn(ctx, link); !errors.Is(err, auth.ErrToken) {
		t.Errorf("a second time: got %v", err)
	}
}

// A key that lives with the process ends with it, and so do its sessions: a change of HEADROOM_ADMIN_KEY shuts out
// everybody who knew the old one.
func TestSessionsOfALocalKeyEndWithIt(t *testing.T) {
	t.Parallel()
	store := pgtest.Open(t)
	token, hash := auth.NewToken(auth.KeyPrefix)
	local := auth.Key{ID: auth.LocalID, Name: "HEADROOM_ADMIN_KEY", Role: auth.Admin, Hash: hash}
	before, ctx := newApp(t, store, nil), admin(t)
	before.Auth.Ring.AddLocal(local)
	session, _, err := before.Auth.SignIn(ctx, token)
	if err != nil {
		t.Fatal(err)
	}
	same, other := newApp(t, store, nil), newApp(t, store, nil)
	same.Auth.Ring.AddLocal(local)
	local.Hash = auth.HashOf("another")
	other.Auth.Ring.AddLocal(local)
	for _, a := range []*app.App{before, same} {
		if s, err := a.Auth.Session(ctx, session.Hash); err != nil || s.Principal.Role != auth.Admin {
			t.Errorf("with the key: got %+v, %v", s, err)
		}
	}
	if _, err := other.Auth.Session(ctx, session.Hash); !errors.Is(err, fault.NotFound) {
		t.Errorf("with another key: got %v", err)
	}
}

func TestKeysThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	a, ctx := newApp(t, pgtest.Open(t), nil), admin(t)
	past := time.Now().Add(-time.Hour)
	for _, name := range []string{"a\nb", "a\x1b[31mb", " a", "a\u0085b", strings.Repeat("x", 201)} {
		if _, _, err := a.Auth.CreateKey(ctx, auth.Key{Name: name, Role: auth.Viewer}); !errors.Is(err, fault.Invalid) {
			t.Errorf("the name %q: got %v", name, err)
		}
	}
	for pointer, k := range map[string]auth.Key{
		"/name":       {Role: auth.Viewer},
		"/role":       {Name: "x", Role: "root"},
		"/clusters":   {Name: "x", Role: auth.Viewer, Clusters: []string{}},
		"/clusters/0": {Name: "x", Role: auth.Viewer, Clusters: []string{"Not A Slug"}},
		"/expires_at": {Name: "x", Role: auth.Viewer, ExpiresAt: &past},
	} {
		_, token, err := a.Auth.CreateKey(ctx, k)
		var input *fault.InputError
		if !errors.As(err, &input) || len(input.Findings) != 1 || input.Findings[0].Pointer != pointer || token != "" {
			t.Errorf("%s: got %v", pointer, err)
		}
	}
}

// Every stored plan can be proved again from stored data (R4), for any question.
func TestStoredPlansVerify(t *testing.T) {
	t.Parallel()
	a, ctx := newApp(t, pgtest.Open(t), nil), admin(t)
	count := 25
	if long {
		count = 1000
	}
	seed := rand.Uint64()
	planned := 0
	for i := range count {
		name := fmt.Sprintf("c-%d", i)
		p := study.Small(seed + uint64(i)).Problem()
		if i%2 == 1 { // with profiles, of a size that whole slots matter for
			families := study.Names()
			instance, err := study.Generate(families[i/2%len(families)], 2+i%7, seed+uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			if p, err = instance.Profiled(); err != nil {
				continue // some families' ratios belong to no profile
			}
		}
		apply(t, a, asDocument(name, p))
		record, err := a.Plans.Create(ctx, name, moment("2026-06-01T00:00:00Z"))
		if errors.Is(err, fault.Infeasible) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, name, err)
		}
		planned++
		report, err := a.Plans.Verify(ctx, name, plans.PlanRef{Number: record.Number})
		if err != nil || report.Outcome != proof.OK {
			t.Fatalf("seed %d, %s: %v, %+v", seed, name, err, report)
		}
	}
	t.Logf("%d of %d random clusters have a plan, and each is proved from what is stored", planned, count)
	t.Attr("R4", fmt.Sprintf("%d stored plans proved from what is stored, 0 refused", planned))
	if planned < count/2 {
		t.Errorf("seed %d: only %d of %d could be planned", seed, planned, count)
	}
}

// asDocument returns a stored cluster with a given problem.
func asDocument(name string, p capacity.Problem) inputs.Document {
	from := moment("2026-01-01T00:00:00Z")
	d := inputs.Document{Cluster: inputs.NewCluster(name), Profiles: []inputs.ProfileVersion{}}
	d.Cluster.Currency, d.Cluster.PeriodSeconds, d.Cluster.Options = p.Currency, p.PeriodSeconds, p.Options
	d.Cluster.Options.Near, d.Cluster.Options.Engine = nil, capacity.EngineExact
	d.VMTypes = []inputs.VMType{{Name: "vm", Quota: p.Supply.OnDemand.Quota, InUse: true}}
	d.Prices = []inputs.PricePeriod{{VMType: "vm", Price: p.Supply.OnDemand.Price, From: from}}
	for _, c := range p.Supply.Contracts {
		d.Contracts = append(d.Contracts, inputs.SignedContract{Name: c.Name, VMType: "vm", VMs: c.VMs, Price: c.Price, Billing: c.Billing, From: from, Until: from.AddDate(3, 0, 0)})
	}
	for _, c := range p.Classes {
		planned := inputs.PlannedClass{Name: c.Name, Demand: c.Demand, VMsPerJob: c.VMsPerJob, DeadlineSeconds: c.DeadlineSeconds, SlotsPerVM: c.SlotsPerVM, Jobs: c.Jobs, Penalty: c.Penalty}
		if c.Profile != nil {
			d.Profiles = append(d.Profiles, inputs.ProfileVersion{Name: c.Name, Version: 1, Profile: *c.Profile})
			planned.Profile = &inputs.ProfileRef{Name: c.Name, Version: 1}
		}
		d.Classes = append(d.Classes, planned)
	}
	return d
}
