package remote

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/openapi"
)

// The server of this machine has another key after every start. A client that outlives one goes on with
// what that server has left, whoever was faster, and never with what another has.
func TestTheKeyOfThisMachineIsReadAnew(t *testing.T) {
	for _, c := range []struct {
		name      string
		elsewhere bool  // what is left is another server's
		after     int32 // the key is left when so many were refused
		refused   int32
	}{
		{name: "in time", after: 0, refused: 1},
		{name: "a little later", after: 2, refused: 2},
		{name: "another server's", elsewhere: true, refused: mostTries},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var refused atomic.Int32
			var bodies, address string
			leave := func(key string) {
				url := address
				if c.elsewhere && key != "hrk_old" {
					url = "http://127.0.0.1:1"
				}
				if err := WriteClientAccess(filepath.Join(dir, ClientFile), ClientAccess{URL: url, Key: key}); err != nil {
					t.Error(err)
				}
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.Header.Get("Authorization") == "Bearer hrk_new" {
					bodies += string(body)
					_, _ = io.WriteString(w, "{}")
					return
				}
				if refused.Add(1) == c.after {
					leave("hrk_new")
				}
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, `{"type":"/problems/unauthorized","title":"x","status":401,"detail":"It opens nothing."}`)
			}))
			defer server.Close()
			address = server.URL
			leave("hrk_old")
			to := Connection{DataDir: dir, Timeout: time.Minute}
			s, err := to.Open()
			if err != nil {
				t.Fatal(err)
			}
			if c.after == 0 { // it was started again before it is asked
				leave("hrk_new")
			}
			for range 2 { // the second question begins with the key that was right for the first
				if _, err = s.Call(t.Context(), openapi.KeepAdmission("shop", "x"), JSONOf(live.LeaseBeat{})); err != nil {
					break
				}
			}
			if (err != nil) != c.elsewhere || refused.Load() != c.refused || !c.elsewhere && bodies != "{}{}" {
				t.Errorf("got %v after %d refusals; taken were %q", err, refused.Load(), bodies)
			}
		})
	}
}

// Which server is asked, and with which key.
func TestFindingTheServer(t *testing.T) {
	dir := t.TempDir()
	access, err := json.Marshal(ClientAccess{URL: "http://127.0.0.1:8099", Key: "hrk_local"})
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(dir, "key")
	broken := t.TempDir()
	for name, text := range map[string]string{filepath.Join(dir, ClientFile): string(access), keyFile: " hrk_file\n",
		filepath.Join(broken, ClientFile): "{"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		flags            Connection
		dir, url, key    string // the environment
		wantURL, wantKey string
		refused          string
		code             int
	}{
		"the server of this machine":   {dir: dir, wantURL: "http://127.0.0.1:8099", wantKey: "hrk_local"},
		"that server with another key": {dir: dir, key: "hrk_env", wantURL: "http://127.0.0.1:8099", wantKey: "hrk_env"},
		"that server, whatever the environment": {flags: Connection{DataDir: dir}, url: "https://h.example", key: "hrk_env",
			wantURL: "http://127.0.0.1:8099", wantKey: "hrk_local"},
		"the environment": {dir: dir, url: "https://h.example", key: "hrk_env\n", wantURL: "https://h.example",
			wantKey: "hrk_env"},
		"flags before the environment": {flags: Connection{Server: "http://x:1/below", KeyFile: keyFile}, url: "https://h.example",
			key: "hrk_env", wantURL: "http://x:1/below", wantKey: "hrk_file"},
		"the local key goes nowhere else": {flags: Connection{DataDir: dir, Server: "https://h.example"},
			refused: "there is no key for https://h.example", code: ExitConnection},
		"the local key ignores the environment": {dir: dir, url: "https://h.example", refused: "there is no key for https://h.example",
			code: ExitConnection},
		"no server": {flags: Connection{DataDir: filepath.Join(dir, "none")},
			refused: "/none. One that was started with another --data-dir needs the same flag here, or HEADROOM_DATA_DIR. Start one", code: ExitConnection},
		"a file that says nothing": {flags: Connection{DataDir: broken}, refused: "does not say where the server is", code: ExitConnection},
		"a key file that is not there": {flags: Connection{Server: "http://x", KeyFile: filepath.Join(dir, "nope")},
			refused: "There is no such file", code: shell.ExitError},
		"a key that is none": {flags: Connection{Server: "http://x"}, key: "a key\n" +
			"or two", refused: "what stands in HEADROOM_API_KEY is no key", code: shell.ExitUsage},
		"an address with a password": {flags: Connection{Server: "http://u:p@x"}, key: "k",
			refused: "the address in --server is not one of a server", code: shell.ExitUsage},
		"an address without a scheme": {url: "localhost:8080", key: "k", refused: "the address in HEADROOM_URL is not one of a server",
			code: shell.ExitUsage},
		"an address that is a file": {url: "file:///etc/passwd", key: "k", refused: "is not one of a server", code: shell.ExitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HEADROOM_DATA_DIR", c.dir)
			t.Setenv("HEADROOM_URL", c.url)
			t.Setenv("HEADROOM_API_KEY", c.key)
			a, err := c.flags.find()
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("got %v, want %q", err, c.refused)
				}
				if strings.Contains(err.Error(), "hrk_env") || strings.Contains(err.Error(), "hrk_local") || strings.Contains(err.Error(), "u:p") {
					t.Errorf("a secret stands in %q", err)
				}
				if code := shell.Report(io.Discard, nil, shell.Failed(err)); code != c.code {
					t.Errorf("got exit code %d, want %d", code, c.code)
				}
				return
			}
			if err != nil || a.URL != c.wantURL || a.Key != c.wantKey {
				t.Errorf("got %s, %s, %v; want %s, %s", a.URL, a.Key, err, c.wantURL, c.wantKey)
			}
		})
	}
}
