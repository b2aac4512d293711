package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
)

// A Postgres that ended because its disk is full starts again when there is room, however long that
// takes: the server waits for it.
func TestServeOutlivesAFullDisk(t *testing.T) {
	t.Parallel()
	dir := dataDirectory(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=755,size=120m"); err != nil {
		t.Skipf("this needs the right to mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := startServing(t, dir)
	key := s.key(t)
	if status, answer, err := s.ask(t.Context(), key, "/v1/clusters", `{"name":"kept"}`); status != http.StatusCreated {
		t.Fatal(status, answer, err)
	}
	pidFile := filepath.Join(dir, "postgres", "postmaster.pid")
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(pidFile); err != nil { // the next start has to write one
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 120<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want a full disk", err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	enough := 4
	if wholeSamples {
		enough = 7
	}
	tries := func() int { return strings.Count(s.stderr.String(), "no space is left on the disk") }
	for last := range await.Tries(patience(30 * time.Second)) {
		if tries() >= enough {
			break
		}
		if last {
			t.Fatalf("it tried %d times to start the database\n%s", tries(), s.stderr)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience(5*time.Second))
	defer cancel()
	if status, answer, err := s.ask(ctx, key, "/v1/clusters", `{"name":"refused"}`); status != http.StatusServiceUnavailable {
		t.Errorf("while the disk is full: got %d %s, %v", status, answer, err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for last := range await.Tries(patience(30 * time.Second)) {
		status, answer, err := s.ask(t.Context(), key, "/v1/clusters", `{"name":"after"}`)
		if status == http.StatusCreated {
			break
		}
		if last {
			t.Fatalf("after there is room: got %d %s, %v", status, answer, err)
		}
	}
	s.get(t, "/v1/clusters/kept")
	t.Attr("R17", fmt.Sprintf("full disk: refused with 503, %d restarts of the database in vain, recovers by itself", enough))
}
