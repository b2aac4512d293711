// Package servertest starts real servers on databases of their own for tests of their clients.
package servertest

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"example.org/headroom/internal/edge/api"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/test/pgtest"
)

// Server is a real server on a database of its own, with a key for each role.
type Server struct {
	URL, Database string
	Keys          map[auth.Role]string
}

// Start starts a server that ends with the test.
func Start(t *testing.T) Server {
	t.Helper()
	database := pgtest.Database(t)
	quiet := telemetry.New(io.Discard, slog.LevelError)
	store := pgtest.OpenWith(t, postgres.Config{URL: database})
	a := app.New(store.Stores(), auth.NewKeyring(), app.Config{Telemetry: quiet})
	watching, stop := context.WithCancel(context.Background())
	watched, err := a.Auth.Watch(watching)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); <-watched })
	heard := a.Runs.Watch(watching)
	t.Cleanup(func() { stop(); <-heard })
	pool, schema := store.River()
	runner, err := queue.Start(t.Context(), queue.Config{App: a, Pool: pool, Schema: schema, StopWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runner.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	shown, err := a.WatchPlans(watching)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); <-shown })
	handler, err := api.New(api.Config{App: a, Telemetry: quiet, SolvesPerSecond: 1000, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s := Server{URL: server.URL, Database: database, Keys: map[auth.Role]string{}}
	ctx := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin})
	for _, role := range auth.Roles {
		if _, s.Keys[role], err = a.Auth.CreateKey(ctx, auth.Key{Name: "test " + string(role), Role: role}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
