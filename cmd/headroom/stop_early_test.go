package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/test/pgtest"
)

// A server that is stopped at any moment of its first start ends well, and begins again in the same directory.
func TestStopsWhileItStarts(t *testing.T) {
	t.Parallel()
	dir := dataDirectory(t)
	for _, moment := range []struct {
		name string
		come func() bool
	}{
		{"its data directory is being made", func() bool { files, _ := filepath.Glob(filepath.Join(dir, "*")); return len(files) > 0 }},
		{"its database is being made", func() bool {
			files, _ := filepath.Glob(filepath.Join(dir, "*", "PG_VERSION"))
			return len(files) > 0
		}},
		{"its database runs", func() bool {
			files, _ := filepath.Glob(filepath.Join(dir, "*", "postmaster.pid"))
			return len(files) > 0
		}},
	} {
		said := &lockedBuffer{}
		c := exec.Command("headroom", "serve", "--listen", testPort(t), "--data-dir", dir, "--demo=still")
		c.Env = os.Environ()
		c.Stderr = said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		waits(t, moment.name, 30*time.Second, moment.come)
		children := descendants(c.Process.Pid)
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		hard := time.AfterFunc(30*time.Second, func() { _ = c.Process.Kill() })
		err := c.Wait()
		hard.Stop()
		if err != nil || strings.Contains(said.String(), "Interrupted") || strings.Contains(said.String(), "panic") {
			t.Errorf("stopped when %s: %v, it said\n%s", moment.name, err, said)
		}
		allGone(t, children)
	}
	s := startServing(t, dir, "--demo=still")
	if current := s.get(t, "/v1/clusters/demo/plans/current"); !strings.Contains(current, `"number":1`) {
		t.Errorf("the current plan: got %s", current)
	}
}

// A log that nobody takes any more ends no server.
func TestServesWithAReaderOfItsLogThatIsGone(t *testing.T) {
	t.Parallel()
	log, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s := &served{address: testPort(t)}
	c := exec.Command("headroom", "serve", "--listen", s.address, "--data-dir", dataDirectory(t))
	c.Env = append(os.Environ(), "DATABASE_URL="+pgtest.Database(t), "HEADROOM_ADMIN_KEY="+crashKey, "HEADROOM_LOG_LEVEL=debug")
	c.Stdout, c.Stderr = writes, writes
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	writes.Close()
	hard := time.AfterFunc(patience(time.Minute), func() { _ = c.Process.Kill() })
	defer hard.Stop()
	for said := bufio.NewScanner(log); said.Scan() && !strings.HasPrefix(said.Text(), "Documentation:"); {
	}
	log.Close()
	for range 3 {
		if status, answer, err := s.ask(t.Context(), crashKey, "/v1/clusters", ""); err != nil || status != http.StatusOK {
			t.Errorf("a list: got %d %s, %v", status, answer, err)
		}
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
