package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/test/await"
	"example.org/headroom/internal/test/pgtest"
)

// A commit that the standby never confirmed is not acknowledged: a promoted standby would not have it.
func TestUnconfirmedCommitsAreNotAcknowledged(t *testing.T) {
	t.Parallel()
	pair := pgtest.NewPair(t)
	store := must(postgres.Open(t.Context(), postgres.Config{URL: pair.URL(), Statement: 3 * time.Second}))(t)
	defer store.Close()
	ctx := somebody(t)
	create := func(name string) error {
		_, err := store.CreateCluster(ctx, inputs.NewCluster(name))
		return err
	}
	check(t, create("before"))
	pair.Hang(1 - pair.Primary)
	if err := create("given-up"); !errors.Is(err, fault.Busy) {
		t.Errorf("got %v, want that the database was late", err)
	}
	cancelled := make(chan error, 1)
	go func() { cancelled <- create("cancelled") }()
	await.Until(t, time.Minute, "somebody cancels the wait", func() bool {
		return pair.Ask(pair.Primary, "SELECT pg_cancel_backend(pid)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> pg_backend_pid()") == "true"
	})
	if err := <-cancelled; !errors.Is(err, fault.Busy) {
		t.Errorf("got %v, want that the database was late", err)
	}
}

// As soon as one connection reaches the promoted standby, requests that wait for the former primary are cut off. When that one comes
// back, it gets none.
func TestConnectionsStayAtTheNewestPrimary(t *testing.T) {
	t.Parallel()
	pair := pgtest.NewPair(t)
	const most = 4
	store := must(postgres.Open(t.Context(), postgres.Config{URL: pair.URL(), MaxConns: most, Statement: time.Minute}))(t)
	defer store.Close()
	read := func(ctx context.Context) error {
		_, err := store.Clusters(ctx, nil, storage.Page{Limit: 1})
		return err
	}
	check(t, read(t.Context()))
	former := pair.Primary
	goOn := pair.Hang(former)
	defer goOn()
	hanging := make(chan error, 1)
	go func() { hanging <- read(t.Context()) }()
	await.Until(t, time.Minute, "a request waits for the primary", func() bool { return store.Stat().AcquiredConns() > 0 })
	pair.Promote()
	promoted := time.Now()
	await.Until(t, 30*time.Second, "the request that waits is cut off", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_ = read(ctx) // which takes another connection
		return len(hanging) == 1
	})
	if err := <-hanging; !errors.Is(err, fault.Busy) {
		t.Errorf("got %v, want that the database was away", err)
	}
	t.Logf("it was cut off %v after the promotion", time.Since(promoted))
	goOn()
	for range most {
		var back func()
		await.Until(t, time.Minute, "there is a connection", func() (there bool) {
			back, _ = postgres.Hold(t.Context(), store)
			return back != nil
		})
		defer back()
	}
	const sessions = "SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'headroom'"
	if old, now := pair.Ask(former, sessions), pair.Ask(pair.Primary, sessions); old != "0" || now != "4" {
		t.Errorf("the former primary has %s connections and the new one %s, want 0 and 4", old, now)
	}
}
