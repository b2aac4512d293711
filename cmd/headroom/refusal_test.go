package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A database that takes no changes, lets nobody in or has no room on its disk has writes refused whole, while polls
// are answered; once it is well again everything is by itself (R17).
func TestDatabasesThatTakeNothing(t *testing.T) {
	t.Parallel()
	cycles := 3
	if wholeSamples {
		cycles = 21
	}
	dir := dataDirectory(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=755,size=200m"); err != nil {
		t.Skipf("this needs the right to mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := startServingWith(t, dir, unlimited, "--demo=still")
	s.localKey = s.key(t)
	g := besiege(t, 25, s)
	filler := filepath.Join(dir, "filler")
	for cycle := range cycles {
		if g.late() {
			break
		}
		switch cycle % 3 {
		case 0:
			g.round("read-only", func() {
				administer(t, dir, "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
				g.refused()
				administer(t, dir, "ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()")
			})
		case 1:
			g.round("closed", func() {
				administer(t, dir, "ALTER DATABASE headroom ALLOW_CONNECTIONS false", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'headroom'")
				g.refused()
				administer(t, dir, "ALTER DATABASE headroom ALLOW_CONNECTIONS true")
			})
		case 2:
			g.round("full disk", func() {
				if err := os.WriteFile(filler, make([]byte, 200<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("got %v, want a full disk", err)
				}
				if g.random.IntN(2) == 0 { // else it notices when it writes
					postmaster := postmasterIn(t, dir)
					strike(t, postmaster, postmaster, syscall.SIGKILL)
				}
				g.refused()
				lasts(g.within(time.Second))
				if err := os.Remove(filler); err != nil {
					t.Error(err)
				}
			})
		}
	}
	t.Attr("R17", g.lift(3).String()+", refused with 503 meanwhile")
}

// refused waits until a write is refused, and looks at a poll.
func (g *siege) refused() {
	g.Helper()
	s, probe, n := g.servers[0], &writer{}, 0
	waits(g.T, "writes are refused", 60*time.Second, func() bool {
		n++
		status, answer, err := probe.send(g.Context(), s, "POST", "/v1/clusters", fmt.Sprintf(`{"name":"refused-%d-%d"}`, g.rounds(), n))
		if err != nil || status >= 500 && status != http.StatusServiceUnavailable {
			g.Errorf("a write got %d %s, %v", status, answer, err)
		}
		return status == http.StatusServiceUnavailable || g.Failed()
	})
	if p, err := s.poll(g.Context(), s.localKey); err != nil || p.status != http.StatusOK {
		g.Errorf("a poll got %+v, %v", p, err)
	}
}

// administer carries statements out in the private database of a data directory, as its superuser.
func administer(t *testing.T, dir string, statements ...string) {
	t.Helper()
	pids, _ := filepath.Glob(filepath.Join(dir, "*", "postmaster.pid"))
	if len(pids) != 1 {
		t.Errorf("got %q, want one postmaster.pid", pids)
		return
	}
	text, err := os.ReadFile(pids[0])
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) < 6 {
		t.Errorf("%s holds %q, %v", pids[0], text, err)
		return
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, "postgres://headroom@/postgres?"+url.Values{"host": {lines[4]}, "port": {lines[3]}, "sslmode": {"disable"}, "default_transaction_read_only": {"off"}}.Encode())
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
