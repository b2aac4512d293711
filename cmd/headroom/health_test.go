package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
)

func TestHealthOfTheDataDirectory(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, remote.ClientFile), fmt.Appendf(nil, `{"url":%q}`, s.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	health := func() int {
		var out, trouble bytes.Buffer
		return run(t.Context(), []string{"server", "health"}, nil, &out, &trouble)
	}
	t.Setenv("HEADROOM_URL", "")
	t.Setenv("HEADROOM_LISTEN", "")
	t.Setenv("HEADROOM_DATA_DIR", dir)
	if code := health(); code != shell.ExitOK {
		t.Errorf("the server of HEADROOM_DATA_DIR: exit code %d", code)
	}
	t.Setenv("HEADROOM_LISTEN", "127.0.0.1:1")
	if code := health(); code != shell.ExitError {
		t.Errorf("HEADROOM_LISTEN names a place without a server: exit code %d", code)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	answers := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/livez" {
				return // it runs, whatever else
			}
			w.Header().Set("Location", "/livez")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	broken := `{"title":"Service unavailable","detail":"The database does not answer."}`
	here, nowhere := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(here, remote.ClientFile), fmt.Appendf(nil, `{"url":%q}`, answers(200, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		situation string
		args      []string
		code      int
		says      string
	}{
		{"a server that can answer", []string{"--server", answers(200, "")}, shell.ExitOK, ""},
		{"with a slash at the end", []string{"--server", answers(200, "") + "/"}, shell.ExitOK, ""},
		{"one that cannot, and says why", []string{"--server", answers(503, broken)}, shell.ExitError, "The database does not answer."},
		{"one that runs", []string{"--live", "--server", answers(503, broken)}, shell.ExitOK, ""},
		{"something else", []string{"--server", answers(404, "")}, shell.ExitError, "answers 404 Not Found"},
		{"one that sends on", []string{"--server", answers(302, "")}, shell.ExitError, "answers 302 Found"},
		{"nobody", []string{"--server", "http://127.0.0.1:1"}, shell.ExitError, "refused"},
		{"one that hangs", []string{"--timeout", "50ms", "--server", "http://" + silent.Addr().String()}, shell.ExitError, "no answer within"},
		{"the one of this machine", []string{"--data-dir", here}, shell.ExitOK, ""},
		{"none on this machine", []string{"--data-dir", nowhere}, shell.ExitError, "none runs on this machine"},
		{"two servers", []string{"--data-dir", here, "--server", "http://127.0.0.1:1"}, shell.ExitUsage, "cannot stand together"},
		{"no address", []string{"--server", "headroom.example.com"}, shell.ExitError, "is not one of a server"},
		{"no time", []string{"--timeout", "0s"}, shell.ExitUsage, "give a time"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), append([]string{"server", "health"}, c.args...), nil, &stdout, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.says) || c.says == "" && stderr.Len() > 0 || stdout.Len() > 0 {
				t.Errorf("got exit code %d, %q and %q; want %d and %q", code, &stdout, &stderr, c.code, c.says)
			}
		})
	}
}

// A supervisor is told when a real server is ready, not before, and when it stops.
func TestServeTellsItsSupervisor(t *testing.T) {
	t.Parallel()
	dir := dataDirectory(t)
	socket := filepath.Join(dir, "notify")
	supervisor, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer supervisor.Close()
	heard := func() string {
		_ = supervisor.SetReadDeadline(time.Now().Add(60 * time.Second))
		words := make([]byte, 256)
		n, err := supervisor.Read(words)
		if err != nil {
			t.Fatal(err)
		}
		return string(words[:n])
	}
	address := testPort(t)
	server := exec.Command("headroom", "serve", "--listen", address, "--data-dir", filepath.Join(dir, "data"))
	server.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket)
	var said lockedBuffer
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill() // where it has not ended yet
		_ = server.Wait()
	}()
	if got := heard(); got != "READY=1" {
		t.Errorf("got %q, want READY=1", got)
	}
	health := exec.Command("headroom", "server", "health")
	health.Env = append(os.Environ(), "HEADROOM_LISTEN="+address, "HEADROOM_URL=")
	if out, err := health.CombinedOutput(); err != nil {
		t.Errorf("ready, but headroom server health says %v: %s", err, out)
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := heard(); got != "STOPPING=1" {
		t.Errorf("got %q, want STOPPING=1", got)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("the server ended with %v:\n%s", err, &said.Buffer)
	}
}
