package queue_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childVariable); url != "" {
		child(url)
	}
	if url := os.Getenv(importerVariable); url != "" {
		importer(url)
	}
	pgtest.TheyWait()
	pgtest.Main(m)
}

var ada = auth.Principal{ID: "key-1", Name: "Ada", Role: auth.Planner}

func somebody(t testing.TB) context.Context { return auth.With(t.Context(), ada) }

// server is a part of a server: its own connections and runner.
type server struct {
	*app.App
	store  *postgres.Store
	runner *queue.Runner
	ended  func()
}

// start starts a server on a database.
func start(t testing.TB, url string, c queue.Config) *server {
	t.Helper()
	s := &server{store: pgtest.OpenWith(t, postgres.Config{URL: url, MaxConns: 10})}
	s.App = app.New(s.store.Stores(), auth.NewKeyring(), app.Config{})
	listening, stop := context.WithCancel(context.Background())
	heard := s.Runs.Watch(listening)
	c.App = s.App
	c.Pool, c.Schema = s.store.River()
	var err error
	if s.runner, err = queue.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	s.ended = func() {
		once.Do(func() {
			if err := s.runner.Stop(context.Background()); err != nil {
				t.Error(err)
			}
			stop()
			<-heard
		})
	}
	t.Cleanup(s.ended)
	return s
}

// begin starts a run of a kind.
func begin(t testing.TB, s *server, kind string) string {
	t.Helper()
	r, err := s.Stores.Runs.StartRun(somebody(t), runs.NewRun{Kind: kind, Role: auth.Planner, Input: struct{}{}})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// until waits for a state of a run.
func until(t testing.TB, s *server, id, what string, is func(runs.Run) bool) runs.Run {
	t.Helper()
	var last runs.Run
	for range await.Tries(20 * time.Second) {
		r, err := s.Runs.Run(somebody(t), id)
		if errors.Is(err, fault.Busy) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if last = r; is(r) {
			return r
		}
	}
	t.Fatalf("the run is not %s: %+v", what, last)
	return last
}

func state(want runs.RunState) func(runs.Run) bool {
	return func(r runs.Run) bool { return r.State == want }
}

func succeeded(t testing.TB, s *server, id string) runs.Run {
	t.Helper()
	return until(t, s, id, "succeeded", state(runs.RunSucceeded))
}

// kinds turns functions into kinds.
func kinds(do map[string]func(ctx context.Context, claim runs.Claim, report func(runs.Progress)) (queue.Result, error)) map[string]queue.Kind {
	all := map[string]queue.Kind{}
	for name, f := range do {
		all[name] = queue.Kind{Timeout: time.Minute, Attempts: 3, Do: func(ctx context.Context, _ *app.App, claim runs.Claim, report func(runs.Progress)) (queue.Result, error) {
			return f(ctx, claim, report)
		}}
	}
	return all
}

func text(s string) queue.Result { return queue.Result{Type: "application/json", Body: []byte(s)} }

func raw(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
