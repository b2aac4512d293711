package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/recheck/machines"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

func init() {
	for name, t := range map[string]reflect.Type{
		"list[capacity.StorageSample]": reflect.TypeFor[list[pool.StorageSample]](), "list[capacity.PoolPlanSummary]": reflect.TypeFor[list[pool.PoolPlanSummary]](),
	} {
		overlaid[name] = t
	}
	for name, t := range map[string]reflect.Type{
		"poolMachineList": reflect.TypeFor[poolMachineList](), "storageSampleBatch": reflect.TypeFor[storageSampleBatch](), "storageSamplesTaken": reflect.TypeFor[storageSamplesTaken](), "currentPoolPlan": reflect.TypeFor[currentPoolPlan](),
	} {
		overlaid[name] = t
	}
	for _, t := range []reflect.Type{
		reflect.TypeFor[pool.PoolSettings](), reflect.TypeFor[pool.PoolMachines](), reflect.TypeFor[pool.StorageSample](), reflect.TypeFor[pool.StorageSampleRequest](), reflect.TypeFor[pool.PoolBasis](),
		reflect.TypeFor[pool.PoolSchedule](), reflect.TypeFor[pool.PoolPlanRecord](), reflect.TypeFor[plans.PoolFreshness](), reflect.TypeFor[plans.PoolScaling](),
	} {
		collectTypes(t)
	}
}

const pooled = `{"hours":4,"rounds":3,"types":[{"name":"a","per_hour":"0.34","disk_gb":850,"compute_units":4,"accelerator":false},{"name":"b","per_hour":"0.17","compute_units":5,"core":false}],
	"jobs":[{"name":"j","work":30,"deadline_hours":3}],"storage":{"replication":1}}`

// planned gives a cluster without a pool one with a plan.
func (s *service) planned(cluster string) {
	s.Helper()
	at := "/v1/clusters/" + cluster + "/pool"
	if s.ask(s.admin, "GET", at, nil).StatusCode == 200 {
		return
	}
	s.ask(s.admin, "PUT", at, strings.Replace(pooled, `"work":30`, `"submissions":1,"work":30`, 1), "If-None-Match", "*").want(s, 200)
	for last := range await.Tries(10 * time.Second) {
		claim, _, err := s.store.ClaimPool(s.Context(), s.app.Now(), time.Minute)
		if err != nil || claim == nil && last {
			s.Fatal(err)
		}
		if claim == nil {
			continue
		}
		b, err := s.app.Pools.Basis(s.Context(), cluster)
		if err != nil {
			s.Fatal(err)
		}
		plan := pool.PoolSchedule{Status: pool.PoolFeasible, Cost: money.Round(7.82), Currency: "USD", From: b.From, Until: b.From.Add(time.Hour), Rounds: []pool.ScheduledRound{},
			Targets: []pool.PoolTarget{}, Steps: []pool.PoolStep{}, Sources: b.Sources, Warnings: []capacity.Warning{}}
		r := pool.PoolPlanRecord{PoolPlanSummary: pool.SummarizePool(plan)}
		r.At = b.At
		if r.Basis, err = json.Marshal(b); err == nil {
			r.Plan, err = json.Marshal(plan)
		}
		if err == nil {
			_, err = s.store.SettlePool(s.Context(), *claim, plans.PoolOutcome{At: b.At, Plan: &r})
		}
		if err != nil {
			s.Fatal(err)
		}
		return
	}
}

// polled waits for a plan of a pool with a number.
func polled(t *testing.T, s *service, number int64) (p struct {
	pool.PoolPlanSummary
	Basis     pool.PoolBasis
	Plan      pool.PoolSchedule
	Freshness plans.PoolFreshness
}, etag string) {
	t.Helper()
	for last := range await.Tries(15 * time.Second) {
		r := s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/current", nil)
		if r.StatusCode == 200 {
			if r.into(t, &p); p.Number == number {
				return p, r.Header.Get("ETag")
			}
		}
		if last {
			t.Fatalf("no plan %d: %d %s", number, r.StatusCode, r.text)
		}
	}
	return p, ""
}

// A pool is planned from executions, samples and running machines, and gives autoscalers their targets.
func TestAPoolIsPlannedFromWhatIsStored(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 3, 9, 30, 0, 0, time.UTC) // a Wednesday
	s := newService(t, solved(t), func(c *app.Config) {
		c.Clock, c.PlannerLook = func() time.Time { return now }, 50*time.Millisecond
	})
	planning, stop := context.WithCancel(t.Context())
	done := s.app.StartPlanner(planning)
	t.Cleanup(func() { stop(); <-done })
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"c","currency":"USD"}`).want(t, 201)

	s.ask(s.admin, "GET", "/v1/clusters/c/pool", nil).want(t, 404)
	s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/current/scaling", nil).want(t, 404)
	s.ask(s.admin, "PUT", "/v1/clusters/c/pool/machines", `{"machines":[]}`).want(t, 404)
	s.ask(s.admin, "PUT", "/v1/clusters/c/pool", pooled).want(t, 428)
	var set pool.PoolSettings
	made := s.ask(s.admin, "PUT", "/v1/clusters/c/pool", pooled, "If-None-Match", "*").want(t, 200)
	made.into(t, &set)
	if set.Version != 1 || set.FirstRoundAt == nil || !set.FirstRoundAt.Equal(now.Truncate(time.Hour)) || set.MeasuredHours != 672 || set.Types[0].Slots != 1 || !set.Types[0].Core || set.Types[1].Core {
		t.Errorf("got %+v", set)
	}
	s.ask(s.admin, "PUT", "/v1/clusters/c/pool", pooled, "If-None-Match", "*").want(t, 412)
	s.ask(s.key("v", auth.Viewer, nil), "PUT", "/v1/clusters/c/pool", pooled, "If-Match", `"1"`).want(t, 403)

	// Nothing is known, and nothing is invented.
	s.ask(s.admin, "GET", "/v1/clusters/c/pool/basis", nil).want(t, 422)
	for last := range await.Tries(10 * time.Second) {
		r := s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/current/scaling", nil).want(t, 503)
		if strings.Contains(string(r.text), "Nothing is known") {
			break
		}
		if last {
			t.Fatalf("got %s", r.text)
		}
	}

	// Two weeks with three submissions each Wednesday at 9 and two at 17, up to the hour before now.
	executions := []string{}
	for week := range 2 {
		for i, hours := range []int{0, 0, 0, 8, 8} {
			at := now.Truncate(time.Hour).Add(time.Duration(hours-(week+1)*inputs.HoursPerWeek) * time.Hour)
			executions = append(executions, fmt.Sprintf(`{"job":"j","execution":"e%d-%d","outcome":"succeeded","form":"map_reduce","refused":"no tasks","submitted_at":%q,"finished_at":%q,"seconds":60}`, week, i, at.Format(time.RFC3339), at.Add(time.Minute).Format(time.RFC3339)))
		}
	}
	executions = append(executions, fmt.Sprintf(`{"job":"other","execution":"last","outcome":"succeeded","form":"map_reduce","refused":"no tasks","submitted_at":%q,"finished_at":%q,"seconds":60}`, now.Add(-31*time.Minute).Format(time.RFC3339), now.Add(-30*time.Minute).Format(time.RFC3339)))
	agent := s.key("a", auth.Agent, []string{"c"})
	s.ask(agent, "POST", "/v1/clusters/c/pool/storage-samples", fmt.Sprintf(`{"samples":[{"at":%q,"data_gb":4240},{"at":%q,"data_gb":4250}]}`, now.Add(-100*time.Hour-30*time.Minute).Format(time.RFC3339), now.Add(-30*time.Minute).Format(time.RFC3339))).want(t, 200)
	first, _ := polled(t, s, 1) // data alone: five machines, for 4250 GB and 1.6 to come
	if got := first.Basis.Problem.Jobs; len(got) != 0 || first.Plan.Sources.Jobs[0].Hours[0].From != pool.FromNowhere || first.Plan.Rounds[0].Plan.Mix.Core[0].Count != 6 {
		t.Errorf("got %+v", first)
	}
	s.ask(agent, "PUT", "/v1/clusters/c/pool/machines", fmt.Sprintf(`{"machines":[{"type":"a","count":7,"since":%q}]}`, now.Add(-75*time.Minute).Format(time.RFC3339))).want(t, 200)
	second, _ := polled(t, s, 2)
	if len(second.Plan.Steps) != 1 || second.Plan.Steps[0].Count != -1 || !second.Plan.Steps[0].At.Equal(now.Add(45*time.Minute)) || second.Plan.Rounds[0].DecidedBy != 1 {
		t.Errorf("got %+v", second.Plan)
	}
	s.ask(s.admin, "POST", "/v1/clusters/c/executions", `{"executions":[`+strings.Join(executions, ",")+`]}`).want(t, 200)
	third, etag := polled(t, s, 3)
	// The round under way stays as it was decided; the one from 17:00 on has two jobs, as each Wednesday: 60 h by 20:00. Six
	// machines at rate 4 do 72.
	want := []float64{3, 0, 2}
	for n, x := range third.Basis.Problem.Jobs[0].Submissions {
		if x != want[n] {
			t.Errorf("round %d: got %g submissions, want %g", n, x, want[n])
		}
	}
	source := third.Plan.Sources.Jobs[0].Hours[0]
	if source.From != pool.FromExecutions || source.Executions != 10 || source.Pattern != pool.PatternWeek || !source.MeasuredFrom.Equal(now.Truncate(time.Hour).Add(-336*time.Hour)) || !source.MeasuredUntil.Equal(now.Truncate(time.Hour)) {
		t.Errorf("got %+v", source)
	}
	if third.Plan.Sources.Data.GBPerHour != 0.1 || third.Plan.Rounds[0].DecidedBy != 1 || third.Plan.Rounds[2].Plan.Mix.Core[0].Count != 6 || third.Reason != plans.ByInputs || third.Freshness.Stale {
		t.Errorf("got %+v", third)
	}
	if wrong := machines.PoolSchedule(third.Basis, third.Plan); len(wrong) > 0 {
		t.Error(wrong)
	}
	s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/current", nil, "If-None-Match", etag).want(t, 304)

	var scaling plans.PoolScaling
	r := s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/current/scaling", nil).want(t, 200)
	r.into(t, &scaling)
	if scaling.Number != 3 || scaling.Types["a"].Total != 6 || scaling.Machines.Total != 6 || scaling.Stale || len(scaling.Next) != 1 || scaling.Next[0].Count != -1 {
		t.Errorf("got %s", r.text)
	}
	s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/current/scaling", nil, "If-None-Match", r.Header.Get("ETag")).want(t, 304)
	for place, want := range map[string]int64{"types.a.total": 6, `items.#(type=="a").core`: 6, "machines.total": 6} { // as KEDA reads it
		if got := gjson.GetBytes(r.text, place); got.Int() != want {
			t.Errorf("%s is %s, want %d", place, got, want)
		}
	}

	// An impossible plan leaves the last one, and gives the reason.
	set.Types[0].Most = new(int64(3))
	body, err := json.Marshal(map[string]any{"hours": set.Hours, "types": set.Types, "jobs": set.Jobs, "storage": set.Storage, "first_round_at": set.FirstRoundAt})
	if err != nil {
		t.Fatal(err)
	}
	s.ask(s.admin, "PUT", "/v1/clusters/c/pool", string(body), "If-Match", `"1"`).want(t, 200)
	for last := range await.Tries(10 * time.Second) {
		p, _ := polled(t, s, 3)
		if a := p.Freshness.LastAttempt; a != nil && a.Failed && len(a.Conflicts) == 1 && a.Conflicts[0].Code == "storage" {
			break
		}
		if last {
			t.Fatalf("got %+v", p.Freshness)
		}
	}
	var plans list[pool.PoolPlanSummary]
	s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans", nil).want(t, 200).into(t, &plans)
	if len(plans.Items) != 3 || plans.Items[0].Number != 3 {
		t.Errorf("got %+v", plans)
	}
	s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/2", nil).want(t, 200)
	s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/9", nil).want(t, 404)
	s.ask(s.admin, "DELETE", "/v1/clusters/c/pool", nil, "If-Match", `"1"`).want(t, 412)
	s.ask(s.admin, "DELETE", "/v1/clusters/c/pool", nil, "If-Match", `"2"`).want(t, 204)
	s.ask(s.admin, "GET", "/v1/clusters/c/pool/machines", nil).want(t, 404)
	s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/2", nil).want(t, 200)
	again := s.ask(s.admin, "PUT", "/v1/clusters/c/pool", pooled, "If-None-Match", "*").want(t, 200)
	if again.Header.Get("ETag") != `"4"` {
		t.Errorf("versions do not go on: got %s", again.Header.Get("ETag"))
	}
}

func TestBadPools(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"c","currency":"USD"}`).want(t, 201)
	with := func(old, new string) string { return strings.Replace(pooled, old, new, 1) }
	for body, want := range map[string]string{
		with(`"hours":4`, `"hours":0`):   "/hours",
		with(`"rounds":3`, `"rounds":1`): "/rounds",
		strings.Replace(with(`"hours":4`, `"hours":744`), `"rounds":3`, `"rounds":24`, 1): "/rounds",
		with(`"hours":4`, `"hours":4,"first_round_at":"2026-01-01T00:30:00Z"`):            "/first_round_at",
		with(`"hours":4`, `"hours":4,"first_round_at":"9026-01-01T00:00:00Z"`):            "/first_round_at",
		with(`"work":30`, `"work":0`):                                               "/jobs/0/work",
		with(`"work":30`, `"work":30,"submissions":1e300`):                          "/jobs/0/submissions",
		with(`"work":30`, `"work":30,"submissions":1,"class":"x"`):                  "/jobs/0/submissions",
		with(`"deadline_hours":3`, `"deadline_hours":5`):                            "/jobs/0/deadline_hours",
		with(`"per_hour":"0.34"`, `"per_hour":"-1"`):                                "/types/0/per_hour",
		with(`"name":"b"`, `"name":"a"`):                                            "/types/1/name",
		with(`"core":false`, `"core":false,"accelerator":false`):                    "/types/1",
		with(`"jobs":[`, `"jobs":[{"name":"k","work":1,"memory_gib_per_task":-3},`): "/jobs/0/memory_gib_per_task",
		with(`"hours":4`, `"hours":4,"measured_hours":99999`):                       "/measured_hours",
	} {
		r := s.ask(s.admin, "PUT", "/v1/clusters/c/pool", body, "If-None-Match", "*")
		if r.StatusCode != 422 && r.StatusCode != 400 {
			t.Errorf("%s: got %d", want, r.StatusCode)
			continue
		}
		if got := r.problem(t); len(got.Errors) == 0 || *got.Errors[0].Pointer != want {
			t.Errorf("got %s, want %s", r.text, want)
		}
	}
	s.ask(s.admin, "PUT", "/v1/clusters/c/pool", pooled, "If-None-Match", "*").want(t, 200)
	for body, want := range map[string]string{
		`{"machines":[{"type":"a","count":-1}]}`:                                    "/machines/0/count",
		`{"machines":[{"type":"a","count":99999},{"type":"a","count":9}]}`:          "/machines/1/count",
		`{"machines":[{"type":"a","count":1,"as":"spare"}]}`:                        "/machines/0/as",
		`{"machines":[{"type":"a","count":1,"since":"2200-01-01T00:00:00Z"}]}`:      "/machines/0/since",
		`{"machines":[{"type":"a","count":1,"paid_until":"2200-01-01T00:00:00Z"}]}`: "/machines/0/paid_until",
	} {
		r := s.ask(s.admin, "PUT", "/v1/clusters/c/pool/machines", body)
		if got := r.problem(t); r.StatusCode >= 500 || len(got.Errors) == 0 || *got.Errors[0].Pointer != want {
			t.Errorf("got %s, want %s", r.text, want)
		}
	}
	for body, want := range map[string]string{
		`{"samples":[]}`:               "/samples",
		`{"samples":[{"data_gb":-1}]}`: "/samples/0/data_gb",
		`{"samples":[{"data_gb":1,"at":"2199-01-01T00:00:00Z"}]}`: "/samples/0/at",
		`{"samples":[{"data_gb":1e999}]}`:                         "/samples/0/data_gb",
	} {
		r := s.ask(s.admin, "POST", "/v1/clusters/c/pool/storage-samples", body)
		if got := r.problem(t); r.StatusCode >= 500 || len(got.Errors) == 0 || *got.Errors[0].Pointer != want {
			t.Errorf("got %s, want %s", r.text, want)
		}
	}
}

// settled returns the number of a pool's plans once nothing is left to do.
func settled(t *testing.T, s *service, least int) int {
	t.Helper()
	for last := range await.Tries(15 * time.Second) {
		plans, err := s.store.PoolPlans(t.Context(), "c", storage.Page{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		current, err := s.store.CurrentPool(t.Context(), "c")
		if err == nil && len(plans.Items) >= least && current.ChangedAt == nil {
			return len(plans.Items)
		}
		if last {
			t.Fatalf("%d plans after a while, of %d; %+v, %v", len(plans.Items), least, current, err)
		}
	}
	return 0
}

// Two servers on one database plan once for each change and once for each round, and a server that dies between planning and
// storing leaves nothing half.
func TestServersPlanAPoolOnce(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	clock.Store(time.Date(2026, 6, 3, 9, 30, 0, 0, time.UTC).UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()).UTC() }
	solver := solved(t)
	configure := func(c *app.Config) {
		solver(c)
		c.Clock, c.PlannerLook = now, 50*time.Millisecond
	}
	s := newService(t, configure)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"c","currency":"USD"}`).want(t, 201)
	s.ask(s.admin, "PUT", "/v1/clusters/c/pool", strings.Replace(pooled, `"work":30`, `"submissions":1,"work":30`, 1), "If-None-Match", "*").want(t, 200)

	// One claims it and is never heard of again.
	var dead *plans.Claim
	await.Until(t, 5*time.Second, "there is a plan to claim", func() bool {
		var err error
		if dead, _, err = s.store.ClaimPool(t.Context(), now(), 500*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		return dead != nil
	})
	if other, _, err := s.store.ClaimPool(t.Context(), now(), time.Second); other != nil || err != nil {
		t.Fatalf("claimed twice: %v, %v", other, err)
	}
	for range 2 {
		config := app.Config{}
		configure(&config)
		a := app.New(pgtest.OpenWith(t, postgres.Config{URL: s.database}).Stores(), auth.NewKeyring(), config)
		ctx, stop := context.WithCancel(t.Context())
		done := a.StartPlanner(ctx)
		t.Cleanup(func() { stop(); <-done })
	}
	if n := settled(t, s, 1); n != 1 {
		t.Errorf("got %d plans, want 1", n)
	}
	late := plans.PoolOutcome{At: now(), Plan: &pool.PoolPlanRecord{Basis: []byte("{}"), Plan: []byte("{}")}}
	if _, err := s.store.SettlePool(t.Context(), *dead, late); !errors.Is(err, storage.ErrClaimLost) {
		t.Errorf("who lost the claim: got %v", err)
	}
	plans := 1
	for n := range 3 {
		s.ask(s.admin, "POST", "/v1/clusters/c/pool/storage-samples", fmt.Sprintf(`{"samples":[{"at":%q,"data_gb":%d}]}`, now().Format(time.RFC3339), 1000*(n+1))).want(t, 200)
		plans++
		if got := settled(t, s, plans); got != plans {
			t.Errorf("change %d: got %d plans, want %d", n, got, plans)
		}
	}
	s.ask(s.admin, "POST", "/v1/clusters/c/pool/storage-samples", fmt.Sprintf(`{"samples":[{"at":%q,"data_gb":3000}]}`, now().Format(time.RFC3339))).want(t, 200) // the same
	for range 2 {
		clock.Add(int64(4 * time.Hour))
		plans++
		if got := settled(t, s, plans); got != plans {
			t.Errorf("a round: got %d plans, want %d", got, plans)
		}
	}
	clock.Add(int64(-24 * time.Hour)) // a clock that was wrong: it is looked at again, and the round that it is gets a plan
	plans++
	if got := settled(t, s, plans); got != plans {
		t.Errorf("a clock set back: got %d plans, want %d", got, plans)
	}
	list, err := s.store.PoolPlans(t.Context(), "c", storage.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range list.Items {
		r, err := s.store.PoolPlan(t.Context(), "c", p.Number)
		var b pool.PoolBasis
		var plan pool.PoolSchedule
		if p.Number != int64(len(list.Items)-i) || err != nil || json.Unmarshal(r.Basis, &b) != nil || json.Unmarshal(r.Plan, &plan) != nil {
			t.Fatalf("plan %d: %v", p.Number, err)
		}
		if wrong := machines.PoolSchedule(b, plan); len(wrong) > 0 {
			t.Errorf("plan %d: %v", p.Number, wrong)
		}
	}
}

// A round of 20 types, 50 jobs and 24 hours is planned from stored data within ten seconds, and polls wait for
// nobody.
func TestALargePoolFromWhatIsStored(t *testing.T) {
	if os.Getenv("HEADROOM_LONG") == "" {
		t.Skip("takes a while; HEADROOM_LONG is not set")
	}
	s := newService(t, solved(t))
	planning, stop := context.WithCancel(t.Context())
	done := s.app.StartPlanner(planning)
	t.Cleanup(func() { stop(); <-done })
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"c","currency":"USD"}`).want(t, 201)
	r, hour := rand.New(rand.NewPCG(21, 22)), time.Now().UTC().Truncate(time.Hour)
	settings := pool.DefaultPoolSettings()
	settings.Hours, settings.Storage.DataGB = 24, new(float64)
	for i := range 20 {
		price := money.Round(float64(5+r.IntN(300)) / 100)
		settings.Types = append(settings.Types, pool.PoolType{Name: fmt.Sprintf("t%d", i), PerHour: &price, MemoryGiB: float64(int64(2) << r.IntN(5)), Slots: int64(1 + r.IntN(4)), Core: true, Accelerator: true})
	}
	executions := []string{}
	for j := range 50 {
		job := pool.PoolSource{PoolJob: pool.PoolJob{Name: fmt.Sprintf("job%d", j), Work: 1 + 50*r.Float64(), DeadlineHours: 1 + 23*r.Float64(), MemoryGiBPerTask: float64(r.IntN(3)), Rates: map[string]float64{}}}
		for _, x := range settings.Types {
			job.Rates[x.Name] = x.PerHour.Float() * (3 + 7*r.Float64()) // so that no type is best for all
		}
		settings.Jobs = append(settings.Jobs, job)
		for k := range 80 {
			at := hour.Add(-time.Duration(r.IntN(672*60)) * time.Minute)
			executions = append(executions, fmt.Sprintf(`{"job":%q,"execution":"e%d-%d","outcome":"succeeded","form":"map_reduce","refused":"no tasks","submitted_at":%q,"finished_at":%q,"seconds":60}`, job.Name, j, k, at.Format(time.RFC3339), at.Add(time.Minute).Format(time.RFC3339)))
		}
	}
	for part := range slices.Chunk(executions, 500) {
		s.ask(s.admin, "POST", "/v1/clusters/c/executions", `{"executions":[`+strings.Join(part, ",")+`]}`).want(t, 200)
	}
	began := time.Now()
	_, err := s.app.Pools.SetSettings(auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin}), "c", 0, settings)
	if err != nil {
		t.Fatal(err)
	}
	settled(t, s, 1)
	took := time.Since(began)
	p, _ := polled(t, s, 1)
	for _, x := range p.Plan.Rounds {
		t.Logf("a round: %s, %s, gap %.4f, %d kinds of core instances and %d of accelerators", x.Plan.Status, x.Plan.Cost, x.Plan.Gap, len(x.Plan.Mix.Core), len(x.Plan.Mix.Accelerators))
	}
	if took > 20*time.Second { // two rounds
		t.Errorf("two rounds took %v", took)
	}
	waits := []time.Duration{}
	for range 500 {
		asked := time.Now()
		s.ask(s.admin, "GET", "/v1/clusters/c/pool/plans/current/scaling", nil).want(t, 200)
		waits = append(waits, time.Since(asked))
	}
	slices.Sort(waits)
	t.Logf("two rounds took %v; a poll %v, 99 of 100 within %v", took, waits[250], waits[495])
}
