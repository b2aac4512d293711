package postgres_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/data/inputs"
	"headroom/internal/edge/postgres"
	"headroom/internal/test/pgtest"
)

// A commit that the standby never confirmed is not acknowledged: a promoted standby would not have it. Postgres calls it done, with a
// warning, when it waited as long as a statement may take.
func TestUnconfirmedCommitsAreNotAcknowledged(t *testing.T) {
	t.Parallel()
	pair := pgtest.NewPair(t)
	store := must(postgres.Open(t.Context(), postgres.Config{URL: pair.URL(), Statement: 2 * time.Second}))(t)
	defer store.Close()
	ctx := somebody(t)
	create := func(name string) error {
		_, err := store.CreateCluster(ctx, inputs.NewCluster(name))
		return err
	}
	check(t, create("before"))
	for _, pid := range pair.Processes(1 - pair.Primary) {
		check(t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	began := time.Now()
	if err := create("meanwhile"); !errors.Is(err, fault.Busy) {
		t.Errorf("got %v after %v, want that it is not sure", err, time.Since(began))
	}
}
