package postgres_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

func TestPoolersThatShareSessionsAreNoticed(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	for mode, want := range map[string]bool{"": false, "session": false, "transaction": true, "statement": true} {
		at := address
		if mode != "" {
			at = pgtest.Pooler(t, address, mode)
		}
		if pooled, err := connection.Pooled(t.Context(), at); err != nil || pooled != want {
			t.Errorf("mode %q: pooled is %t (%v), want %t", mode, pooled, err, want)
		}
	}
}

// Without the database's own address a pooler that shares sessions is refused, also by what works on the schema.
func TestPoolersNeedADirectAddress(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	at := pgtest.Pooler(t, address, "transaction")
	_, status := schema.StatusOf(t.Context(), at)
	_, opened := postgres.Open(t.Context(), postgres.Config{URL: at})
	_, both := postgres.Open(t.Context(), postgres.Config{URL: at, DirectURL: at})
	for what, err := range map[string]error{"status": status, "migrate": schema.Migrate(t.Context(), at), "open": opened, "twice": both} {
		if err == nil || !strings.Contains(err.Error(), "DATABASE_DIRECT_URL") {
			t.Errorf("%s: %v, want a sentence with DATABASE_DIRECT_URL", what, err)
		}
	}
	store, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.Pooler(t, address, "session")})
	if err != nil {
		t.Fatalf("a pooler that keeps sessions is refused: %v", err)
	}
	store.Close()
}

// Behind a pooler each transaction has the settings of the service, and nobody else has them afterwards.
func TestSettingsBelongToTransactionsBehindAPooler(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	address := pgtest.Database(t)
	at := pgtest.Pooler(t, address, "transaction")
	store := pgtest.OpenWith(t, postgres.Config{URL: at, DirectURL: address, Statement: 3 * time.Second})
	wanted := map[string]string{"statement_timeout": "3s", "lock_timeout": "2400ms", "TimeZone": "UTC", "role": schema.Role, "idle_in_transaction_session_timeout": "6s"}
	for how, settings := range must(postgres.SettingsSeen(ctx, store, slices.Collect(maps.Keys(wanted))))(t) {
		for name, want := range wanted {
			if settings[name] != want {
				t.Errorf("%s: %s is %q, want %q", how, name, settings[name], want)
			}
		}
	}
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for range 30 { // each asks another of the pooler's sessions
		for name, never := range wanted {
			var value string
			if err := conn.QueryRow(ctx, "SELECT current_setting('"+name+"')", pgx.QueryExecModeSimpleProtocol).Scan(&value); err != nil {
				t.Fatal(err)
			}
			if value == never && name != "TimeZone" {
				t.Fatalf("somebody else's session has %s = %s", name, value)
			}
		}
	}
}

// A notification reaches a server whose statements go through a pooler.
func TestNotificationsComeBehindAPooler(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	store := pgtest.OpenWith(t, postgres.Config{URL: pgtest.Pooler(t, address, "transaction"), DirectURL: address})
	ctx, cancel := context.WithCancel(somebody(t))
	heard := make(chan string, 10)
	done := make(chan error, 1)
	go func() { done <- store.Listen(ctx, auth.KeysChannel, func(payload string) { heard <- payload }) }()
	await.Until(t, time.Minute, "listening has begun", func() bool { return len(heard) == 1 })
	_, hash := auth.NewToken(auth.KeyPrefix)
	must(store.CreateKey(ctx, auth.Key{Name: "new", Role: auth.Viewer, Hash: hash}))(t)
	await.Until(t, time.Minute, "a notification comes", func() bool { return len(heard) == 2 })
	cancel()
	<-done
}
