package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/test/pgtest"
)

// madeDirectory is a data directory whose database was made and migrated before, for tests that are not about that. A copy
// takes a tenth of the processor time.
func madeDirectory(t *testing.T) string {
	t.Helper()
	from, err := madeOnce()
	if err != nil {
		t.Fatal(err)
	}
	dir := dataDirectory(t)
	if said, err := exec.Command("cp", "-a", from+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return dir
}

// madeAt is the directory that is copied, until the tests end.
var madeAt string

var madeOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(pgtest.RoomyMemory(), "headroom-made-")
	if err != nil {
		return "", err
	}
	madeAt = dir
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	p, err := private.Start(ctx, private.Config{Dir: dir, Unsafe: true})
	if err != nil {
		return "", err
	}
	return dir, errors.Join(schema.Migrate(ctx, p.URL("")), p.Stop(ctx))
})
