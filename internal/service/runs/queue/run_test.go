package queue_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/test/pgtest"
)

type does = map[string]func(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (queue.Result, error)

func TestARunIsDoneAndItsResultKept(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{Kinds: kinds(does{"count": func(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (queue.Result, error) {
		report(runs.Progress{Done: 3, Total: 3, Unit: "steps"})
		return text(`{"by": "` + claim.By.Name + `"}`), nil
	}})})
	r := succeeded(t, s, begin(t, s, "count"))
	if string(r.Result) != `{"by": "Ada"}` || r.Attempt != 1 || r.Progress != (runs.Progress{Done: 3, Total: 3, Unit: "steps"}) || r.FinishedAt == nil || r.Error != nil || r.Partial {
		t.Errorf("the run is %+v", r)
	}
}

// forever works until its context ends, and signals that it has begun.
func forever(begun chan<- struct{}) func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
	return func(ctx context.Context, _ runs.Claim, report func(runs.Progress)) (queue.Result, error) {
		report(runs.Progress{Done: 1, Total: 2, Unit: "halves"})
		select {
		case begun <- struct{}{}:
		case <-ctx.Done():
		}
		<-ctx.Done()
		return text(`"half"`), ctx.Err()
	}
}

func quick(_ context.Context, _ runs.Claim, _ func(runs.Progress)) (queue.Result, error) {
	return text(`"whole"`), nil
}

// A waiting run is cancelled at once, a running one within a second on any server, and both can be tried again.
func TestRunsAreCancelledFromAnyServerAndTriedAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	begun := make(chan struct{}, 1)
	a := start(t, url, queue.Config{AtOnce: 1, Kinds: kinds(does{"work": forever(begun)})})
	first := begin(t, a, "work")
	<-begun
	b := start(t, url, queue.Config{AtOnce: 1, Kinds: kinds(does{"other": quick})})
	second := begin(t, a, "work") // there is no place for it
	if r, err := b.Runs.Cancel(somebody(t), second); err != nil || r.State != runs.RunCancelled || r.FinishedAt == nil {
		t.Errorf("one that waits: %+v %v", r, err)
	}
	began := time.Now()
	if r, err := b.Runs.Cancel(somebody(t), first); err != nil || !r.Cancelling || r.State != runs.RunRunning {
		t.Errorf("one that runs: %+v %v", r, err)
	}
	r := until(t, b, first, "cancelled", state(runs.RunCancelled))
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %s", took)
	}
	if !r.Partial || string(r.Result) != `"half"` || r.Progress.Done != 1 {
		t.Errorf("what it had is %+v", r)
	}
	a.ended()
	c := start(t, url, queue.Config{Kinds: kinds(does{"work": quick})})
	for _, id := range []string{first, second} {
		if r, err := b.Runs.Retry(somebody(t), id); err != nil || r.State != runs.RunQueued || r.Result != nil || r.Partial || r.Attempt != 0 {
			t.Errorf("tried again: %+v %v", r, err)
		}
		if r := succeeded(t, c, id); string(r.Result) != `"whole"` || r.Partial {
			t.Errorf("after it: %+v", r)
		}
		if _, err := b.Runs.Retry(somebody(t), id); !errors.Is(err, fault.Conflict) {
			t.Errorf("tried again after success: %v", err)
		}
	}
}

// A server that stops gives its runs back, and another one takes them up at once.
func TestAStopGivesRunsBack(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	begun := make(chan struct{}, 1)
	a := start(t, url, queue.Config{StopWait: 50 * time.Millisecond, Kinds: kinds(does{"work": forever(begun)})})
	id := begin(t, a, "work")
	<-begun
	b := start(t, url, queue.Config{Kinds: kinds(does{"work": quick})})
	stopped := time.Now()
	a.ended()
	r := succeeded(t, b, id)
	if took := time.Since(stopped); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
	if r.Attempt != 1 || string(r.Result) != `"whole"` {
		t.Errorf("the run is %+v", r)
	}
}

// Work that gets no more place to solve because its server stops is given back as well, even in its last attempt.
func TestAServerThatSolvesNoMoreGivesRunsBack(t *testing.T) {
	t.Parallel()
	var times atomic.Int32
	all := kinds(does{"work": func(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (queue.Result, error) {
		if times.Add(1) == 1 {
			return queue.Result{}, fmt.Errorf("point 7: %w", solving.ErrStopping)
		}
		return quick(ctx, claim, report)
	}})
	last := all["work"]
	last.Attempts = 1
	all["work"] = last
	s := start(t, pgtest.Database(t), queue.Config{Kinds: all})
	if r := succeeded(t, s, begin(t, s, "work")); r.Attempt != 1 || times.Load() != 2 {
		t.Errorf("after %d times: %+v", times.Load(), r)
	}
}

const childVariable = "HEADROOM_RUN_CHILD"

// child is a server in a process of its own, to be killed.
func child(url string) {
	store, err := postgres.Open(context.Background(), postgres.Config{URL: url, SkipMigrations: true, MaxConns: 5})
	if err != nil {
		panic(err)
	}
	a := app.New(store.Stores(), auth.NewKeyring(), app.Config{})
	pool, schema := store.River()
	begun := make(chan struct{})
	if _, err := queue.Start(context.Background(), queue.Config{App: a, Pool: pool, Schema: schema, Lease: shortLease, Kinds: kinds(does{"work": forever(begun), reporting.RunKind: forever(begun)})}); err != nil {
		panic(err)
	}
	<-begun
	fmt.Println("begun")
	select {}
}

const shortLease = 1500 * time.Millisecond

// A server is killed in the middle of a run: another one does it, once.
func TestAServerThatIsKilledLosesNoRun(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	store := pgtest.OpenWith(t, postgres.Config{URL: url})
	made, err := app.New(store.Stores(), auth.NewKeyring(), app.Config{}).Stores.Runs.StartRun(somebody(t), runs.NewRun{Kind: "work", Role: auth.Planner})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+url)
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "begun\n" {
		t.Fatalf("the child says %q (%v)", line, err)
	}
	var times atomic.Int32
	count := func(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (queue.Result, error) {
		times.Add(1)
		return quick(ctx, claim, report)
	}
	b := start(t, url, queue.Config{Lease: shortLease, Kinds: kinds(does{"work": count})})
	c := start(t, url, queue.Config{Lease: shortLease, Kinds: kinds(does{"work": count})})
	if r, err := b.Runs.Run(t.Context(), made.ID); err != nil || r.State != runs.RunRunning {
		t.Errorf("before: %+v %v", r, err)
	}
	_ = command.Process.Kill()
	_ = command.Wait()
	r := succeeded(t, c, made.ID)
	if r.Attempt != 2 || times.Load() != 1 {
		t.Errorf("done %d times, in the end %+v", times.Load(), r)
	}
}

// A server cut off from the store goes on without knowing; only the holder of the run may finish it.
func TestOnlyTheHolderFinishes(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := start(t, url, queue.Config{Kinds: kinds(does{"other": quick})})
	attempts := map[string]int{"work": 2}
	id := begin(t, s, "work")
	var taken atomic.Int32
	claims := make([]*runs.Claim, 16)
	var all sync.WaitGroup
	for i := range claims {
		all.Go(func() {
			c, err := s.Stores.Runs.ClaimRun(t.Context(), id, attempts, 100*time.Millisecond)
			if err != nil {
				t.Error(err)
			}
			if claims[i] = c; c != nil {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 {
		t.Fatalf("%d of %d took the run", taken.Load(), len(claims))
	}
	var old runs.Claim
	for _, c := range claims {
		if c != nil {
			old = *c
		}
	}
	until(t, s, id, "waiting again", state(runs.RunQueued))
	if _, err := s.Stores.Runs.SettleRun(t.Context(), old, runs.Outcome{State: runs.RunSucceeded}); !errors.Is(err, storage.ErrClaimLost) {
		t.Errorf("the old holder finishes it: %v", err)
	}
	if _, err := s.Stores.Runs.KeepRun(t.Context(), old, runs.Progress{}, time.Minute); !errors.Is(err, storage.ErrClaimLost) {
		t.Errorf("the old holder keeps it: %v", err)
	}
	second, err := s.Stores.Runs.ClaimRun(t.Context(), id, attempts, 100*time.Millisecond)
	if err != nil || second == nil || second.Attempt != 2 {
		t.Fatalf("claimed again: %+v %v", second, err)
	}
	r := until(t, s, id, "failed", state(runs.RunFailed)) // its attempts are used up
	if r.Error == nil || r.Error.Kind != runs.RunLost || !strings.Contains(r.Error.Detail, "2 times of 2") {
		t.Errorf("the run is %+v %+v", r, r.Error)
	}
}

// A run whose lease has passed and that somebody wanted to end, ends.
func TestARunThatNobodyEndsIsCancelledAllTheSame(t *testing.T) {
	t.Parallel()
	s := start(t, pgtest.Database(t), queue.Config{Kinds: kinds(does{"other": quick})})
	id := begin(t, s, "work")
	if c, err := s.Stores.Runs.ClaimRun(t.Context(), id, map[string]int{"work": 3}, 200*time.Millisecond); c == nil {
		t.Fatal(err)
	}
	if r, err := s.Runs.Cancel(somebody(t), id); err != nil || !r.Cancelling {
		t.Errorf("%+v %v", r, err)
	}
	until(t, s, id, "cancelled", state(runs.RunCancelled))
}

// River's rows may be lost.
func TestLostWorkIsHandedOutAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	store := pgtest.OpenWith(t, postgres.Config{URL: url})
	a := app.New(store.Stores(), auth.NewKeyring(), app.Config{})
	var ids []string
	for range 3 {
		r, err := a.Stores.Runs.StartRun(somebody(t), runs.NewRun{Kind: "work", Role: auth.Planner})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	conn := raw(t, url)
	for _, sql := range []string{
		"UPDATE runs SET due_at = due_at - interval '1 minute'",
		"DELETE FROM river.river_job WHERE id = (SELECT min(id) FROM river.river_job)",
		"UPDATE river.river_job SET state = 'running', attempted_at = now() - interval '1 minute', attempt = 1 WHERE id = (SELECT max(id) FROM river.river_job)", // a server died in between
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, url, queue.Config{Kinds: kinds(does{"work": quick})})
	for _, id := range ids {
		succeeded(t, s, id)
	}
}

func TestARunThatIsRolledBackNeverWas(t *testing.T) {
	t.Parallel()
	var times atomic.Int32
	s := start(t, pgtest.Database(t), queue.Config{Kinds: kinds(does{"work": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
		times.Add(1)
		return queue.Result{}, nil
	}})})
	var id string
	_, _, err := s.Once(somebody(t), app.OnceKey{Principal: "p", Key: "k"}, func(ctx context.Context) (app.Answer, error) {
		r, err := s.Stores.Runs.StartRun(ctx, runs.NewRun{Kind: "work", Role: auth.Planner})
		id = r.ID
		return app.Answer{Keep: false}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Runs.Run(somebody(t), id); !errors.Is(err, fault.NotFound) {
		t.Errorf("the run: %v", err)
	}
	succeeded(t, s, begin(t, s, "work")) // later work is looked at
	if times.Load() != 1 {
		t.Errorf("%d runs, want one", times.Load())
	}
}

func TestHowRunsFail(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	conflicts := []fault.Finding{{Pointer: "/classes/0", Code: "quota", Detail: "Too many VMs."}}
	all := kinds(does{
		"panic": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) { panic("secret") },
		"inside": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
			return queue.Result{}, errors.New("secret")
		},
		"infeasible": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
			return queue.Result{}, &fault.InfeasibleError{Conflicts: conflicts}
		},
		"partial": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
			return text(`[1]`), fmt.Errorf("row 2 is empty: %w", fault.Invalid)
		},
		"busy": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
			if tries.Add(1) == 1 {
				return queue.Result{}, fmt.Errorf("no place: %w", fault.Busy)
			}
			return text(`"at last"`), nil
		},
		"always_busy": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
			return queue.Result{}, fmt.Errorf("no place: %w", fault.Busy)
		},
		"large": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
			return queue.Result{Type: "text/plain", Body: make([]byte, runs.MaxResult+1)}, nil
		},
		"refused": func(context.Context, runs.Claim, func(runs.Progress)) (queue.Result, error) {
			return queue.Result{Make: func(context.Context) (runs.Result, error) {
				return runs.Result{}, fmt.Errorf("it is gone: %w", fault.NotFound)
			}}, nil
		},
		"slow": forever(make(chan struct{}, 1)),
	})
	slow := all["slow"]
	slow.Timeout = 100 * time.Millisecond
	all["slow"] = slow
	once := all["always_busy"]
	once.Attempts = 1
	all["always_busy"] = once
	s := start(t, pgtest.Database(t), queue.Config{AtOnce: 4, Kinds: all})
	for kind, want := range map[string]struct{ state, kind, detail, result string }{
		"panic": {"failed", "internal", "the server's log", ""}, "inside": {"failed", "internal", "the server's log", ""},
		"infeasible": {"failed", "infeasible", "Too many VMs.", ""}, "partial": {"failed", "invalid", "row 2 is empty", "[1]"},
		"busy": {"succeeded", "", "", `"at last"`}, "always_busy": {"failed", "busy", "no place", ""}, "large": {"failed", "too large", "bytes", ""},
		"refused": {"failed", "not found", "it is gone", ""}, "slow": {"failed", "timeout", "longer than 100ms", `"half"`},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := until(t, s, begin(t, s, kind), "over", func(r runs.Run) bool { return r.State.Over() })
			reported := runs.RunError{}
			if r.Error != nil {
				reported = *r.Error
			}
			if string(r.State) != want.state || reported.Kind != want.kind || !strings.Contains(reported.Detail, want.detail) || string(r.Result) != want.result || strings.Contains(reported.Detail, "secret") {
				t.Errorf("got %+v %+v, want %+v", r, reported, want)
			}
			if r.Partial != (want.state == "failed" && want.result != "") {
				t.Errorf("partial %v", r.Partial)
			}
		})
	}
}

// During an upgrade, servers of the release before leave unknown kinds to others.
func TestAKindThatAServerDoesNotKnow(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	old := start(t, url, queue.Config{Kinds: kinds(does{"other": quick})})
	id := begin(t, old, "work")
	succeeded(t, old, begin(t, old, "other"))
	start(t, url, queue.Config{Kinds: kinds(does{"work": quick})})
	succeeded(t, old, id)
}

// The database goes away during a run and returns.
func TestTheDatabaseGoesAwayMeanwhile(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	begun, on := make(chan struct{}), make(chan struct{})
	s := start(t, url, queue.Config{Lease: shortLease, Kinds: kinds(does{"work": func(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (queue.Result, error) {
		select {
		case begun <- struct{}{}:
			<-on
		default: // done anew
		}
		return text(fmt.Sprint(claim.Attempt)), nil
	}})})
	id := begin(t, s, "work")
	<-begun
	server, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	name := server.Database
	other := raw(t, strings.Replace(url, name, "postgres", 1))
	for _, sql := range []string{"ALTER DATABASE " + name + " WITH ALLOW_CONNECTIONS false", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'"} {
		if _, err := other.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	close(on)
	for deadline := time.Now().Add(10 * time.Second); !errors.Is(s.Stores.Database.Ready(t.Context()), fault.Busy); {
		if time.Now().After(deadline) {
			t.Fatal("the database is still there")
		}
	}
	if _, err := other.Exec(t.Context(), "ALTER DATABASE "+name+" WITH ALLOW_CONNECTIONS true"); err != nil {
		t.Fatal(err)
	}
	r := succeeded(t, s, id)
	if want := fmt.Sprint(r.Attempt); string(r.Result) != want {
		t.Errorf("the result is of attempt %s, the run says %s", r.Result, want)
	}
}

func TestOldRunsAreForgotten(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := start(t, url, queue.Config{Kinds: kinds(does{"work": quick})})
	old, young := begin(t, s, "work"), begin(t, s, "work")
	succeeded(t, s, old)
	succeeded(t, s, young)
	if _, err := raw(t, url).Exec(t.Context(), "UPDATE runs SET finished_at = finished_at - interval '31 days' WHERE id = $1", old); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Stores.Runs.ForgetRuns(t.Context(), 30*24*time.Hour); n > 1 || err != nil { // none, where the server was faster
		t.Errorf("forgot %d: %v", n, err)
	}
	if _, err := s.Runs.Run(somebody(t), old); !errors.Is(err, fault.NotFound) {
		t.Errorf("the old one: %v", err)
	}
	if r, err := s.Runs.Run(somebody(t), young); err != nil || r.State != runs.RunSucceeded {
		t.Errorf("the young one: %+v %v", r, err)
	}
}
