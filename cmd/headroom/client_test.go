package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
)

// called runs a verb against a server; its answer is the exit code and both outputs.
func called(t *testing.T, server string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte("hrk_secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, trouble bytes.Buffer
	code = run(t.Context(), append(args, "--server", server, "--key-file", keyFile), strings.NewReader(""), &out, &trouble)
	return code, out.String(), trouble.String()
}

// A server in trouble is asked again where that is safe, and only then.
func TestTroubleOnTheWay(t *testing.T) {
	t.Parallel()
	const none = `{"items": [], "next_cursor": null}`
	const made = `{"name": "a", "version": 1}`
	breaks := func(w http.ResponseWriter) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = connection.(*net.TCPConn).SetLinger(0) // a reset, not an end
			connection.Close()
		}
	}
	problem := func(status int, detail string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/problem+json")
			if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "0")
			}
			w.WriteHeader(status)
			_ = shell.AsJSON(map[string]string{"title": "A title", "detail": detail, "instance": "0190"})(w)
		}
	}
	later := func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"title": "Busy", "detail": "The database is away."}`)
	}
	page := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html>nginx</html>")
	}
	list, create, replace := []string{"class", "list", "shop"}, []string{"supply", "vm-type", "create", "shop", "--name", "a"}, []string{"supply", "vm-type", "edit", "shop", "a", "--name", "a", "--if-match", "1"}
	for name, c := range map[string]struct {
		verb  []string
		first func(http.ResponseWriter) // what the server does before it answers well
		times int                       // how often
		code  int
		asked int // how often the last request came
		says  string
	}{
		"busy for a moment":             {list, problem(503, "busy"), 2, 0, 3, ""},
		"busy during a create":          {create, problem(503, "busy"), 2, 0, 3, ""},
		"busy during a replace":         {replace, problem(503, "busy"), 1, 0, 2, ""},
		"too many requests":             {list, problem(429, "slow down"), 1, 0, 2, ""},
		"busy for long":                 {list, problem(503, "All places are taken"), 99, 4, 4, "headroom: All places are taken.\n"},
		"busy for an hour":              {list, later, 99, 4, 1, "headroom: The database is away.\n"},
		"a broken connection":           {list, breaks, 2, 0, 3, ""},
		"a broken create":               {create, breaks, 2, 0, 3, ""},
		"a broken replace":              {replace, breaks, 1, 4, 1, "broke"},
		"something before the server":   {list, page, 99, 4, 1, "answers 502 Bad Gateway, not as a Headroom server does"},
		"an error of the server's own":  {list, problem(500, "Something went wrong here."), 99, 1, 1, "Something went wrong here. The server's log has more under 0190.\n"},
		"a key that opens nothing":      {list, problem(401, "The key is not known."), 99, 1, 1, "headroom: The key is not known.\nheadroom: The key came from "},
		"a key that may not":            {list, problem(403, "This needs the role viewer."), 99, 1, 1, "headroom: This needs the role viewer.\n"},
		"a terminal's control sequence": {list, problem(404, "No cluster \x1b[2J\u202e."), 99, 1, 1, "No cluster \ufffd[2J\ufffd."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			var mu sync.Mutex
			var keys, bodies []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && c.verb[1] != "list" { // replace reads before it writes
					_, _ = io.WriteString(w, made)
					return
				}
				n := asked.Add(1)
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				keys, bodies = append(keys, r.Header.Get("Idempotency-Key")), append(bodies, string(body))
				mu.Unlock()
				if r.Header.Get("Authorization") != "Bearer hrk_secret" {
					t.Errorf("the key is missing")
				}
				switch {
				case n <= int64(c.times):
					c.first(w)
				case r.Method == http.MethodGet:
					_, _ = io.WriteString(w, none)
				default:
					_, _ = io.WriteString(w, made)
				}
			}))
			defer server.Close()
			code, _, stderr := called(t, server.URL, c.verb...)
			if code != c.code || !strings.Contains(stderr, c.says) || c.code == 0 && stderr != "" {
				t.Errorf("got exit code %d, %q; want %d, %q", code, stderr, c.code, c.says)
			}
			if int(asked.Load()) != c.asked {
				t.Errorf("the server was asked %d times, want %d", asked.Load(), c.asked)
			}
			mu.Lock()
			defer mu.Unlock()
			for i := range keys {
				if keys[i] != keys[0] || bodies[i] != bodies[0] || (keys[i] == "") != (!slices.Contains(c.verb, "create")) {
					t.Errorf("request %d: Idempotency-Key %q and body %q, the first had %q and %q", i+1, keys[i], bodies[i], keys[0], bodies[0])
				}
			}
		})
	}
}

// A key goes to the server it was meant for and to no other.
func TestKeysStayWithTheirServer(t *testing.T) {
	t.Parallel()
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { leaked.Store(true) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/v1/clusters", status) }))
		code, _, stderr := called(t, server.URL, "cluster", "list")
		server.Close()
		if code != shell.ExitError || !strings.Contains(stderr, "keys are not sent on") {
			t.Errorf("%d: got exit code %d, %q", status, code, stderr)
		}
	}
	if leaked.Load() {
		t.Error("another server was asked")
	}
}

func TestSlowServers(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer server.Close()
	defer close(over)
	code, _, stderr := called(t, server.URL, "cluster", "list", "--timeout", "50ms")
	if code != remote.ExitConnection || !strings.Contains(stderr, "did not answer within 50ms") {
		t.Errorf("got exit code %d, %q", code, stderr)
	}
}
