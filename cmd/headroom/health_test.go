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
)

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
	if err := os.WriteFile(filepath.Join(here, clientFile), fmt.Appendf(nil, `{"url":%q}`, answers(200, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		situation string
		args      []string
		code      int
		says      string
	}{
		{"a server that can answer", []string{"--server", answers(200, "")}, exitOK, ""},
		{"with a slash at the end", []string{"--server", answers(200, "") + "/"}, exitOK, ""},
		{"one that cannot, and says why", []string{"--server", answers(503, broken)}, exitError, "The database does not answer."},
		{"one that runs", []string{"--live", "--server", answers(503, broken)}, exitOK, ""},
		{"something else", []string{"--server", answers(404, "")}, exitError, "answers 404 Not Found"},
		{"one that sends on", []string{"--server", answers(302, "")}, exitError, "answers 302 Found"},
		{"nobody", []string{"--server", "http://127.0.0.1:1"}, exitError, "refused"},
		{"one that hangs", []string{"--timeout", "50ms", "--server", "http://" + silent.Addr().String()}, exitError, "no answer within"},
		{"the one of this machine", []string{"--data-dir", here}, exitOK, ""},
		{"none on this machine", []string{"--data-dir", nowhere}, exitError, "none runs on this machine"},
		{"two servers", []string{"--data-dir", here, "--server", "http://127.0.0.1:1"}, exitUsage, "cannot stand together"},
		{"no address", []string{"--server", "headroom.example.com"}, exitError, "is not one of a server"},
		{"no time", []string{"--timeout", "0s"}, exitUsage, "give a time"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), append([]string{"health"}, c.args...), nil, &stdout, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.says) || c.says == "" && stderr.Len() > 0 || stdout.Len() > 0 {
				t.Errorf("got exit code %d, %q and %q; want %d and %q", code, &stdout, &stderr, c.code, c.says)
			}
		})
	}
}

func TestRestOfARun(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0: "ending", 0.9: "ending", 1: "about 1s more", 61.7: "about 1m1s more"} {
		if got := rest(seconds); got != want {
			t.Errorf("%v s: got %q, want %q", seconds, got, want)
		}
	}
}

func TestListeningHere(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"": "http://127.0.0.1:8080", "127.0.0.1:99": "http://127.0.0.1:99", "0.0.0.0:8080": "http://127.0.0.1:8080",
		":8080": "http://127.0.0.1:8080", "[::]:8080": "http://[::1]:8080", "[::1]:8080": "http://[::1]:8080", "localhost:7": "http://localhost:7",
	} {
		if got, err := listeningHere(listen); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", listen, got, err, want)
		}
	}
	if _, err := listeningHere("8080"); err == nil {
		t.Error("an address without a port was taken")
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
	health := exec.Command("headroom", "health")
	health.Env = append(os.Environ(), "HEADROOM_LISTEN="+address, "HEADROOM_URL=")
	if out, err := health.CombinedOutput(); err != nil {
		t.Errorf("ready, but headroom health says %v: %s", err, out)
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

func TestNotifyWithoutAListenerSaysSo(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "nobody"))
	if err := notify(notifyReady); err == nil || !strings.Contains(err.Error(), "supervisor") {
		t.Errorf("got %v, want an error about the supervisor", err)
	}
	t.Setenv("NOTIFY_SOCKET", "")
	if err := notify(notifyReady); err != nil {
		t.Error(err)
	}
}
