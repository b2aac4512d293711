package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/headroom/internal/edge/cli/shell"
)

func TestClusterNamesAreCompleted(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/clusters" || r.Header.Get("Authorization") != "Bearer hrk_test" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"items":[{"name":"shop"},{"name":"shop-eu"},{"name":"warehouse"}],"next_cursor":null}`))
	}))
	t.Cleanup(server.Close)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("hrk_test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := []string{"--server", server.URL, "--key-file", key}
	const noFiles, files = ":4", ":0" // cobra's words for whether names of files are offered as well
	for _, c := range []struct {
		situation, verb string
		at              []string
		rest            []string
		want            []string
	}{
		{"a plan's cluster", "plan get", at, []string{""}, []string{"shop", "shop-eu", "warehouse", noFiles}},
		{"one that is begun", "supply contract list", at, []string{"sh"}, []string{"shop", "shop-eu", noFiles}},
		{"a cluster itself", "cluster delete", at, []string{"w"}, []string{"warehouse", noFiles}},
		{"several", "cluster export", at, []string{"shop", ""}, []string{"shop-eu", "warehouse", noFiles}},
		{"a new cluster", "cluster create", at, []string{""}, nil},
		{"what comes after it", "plan get", at, []string{"shop", ""}, []string{noFiles}},
		{"a file after it", "class forecast edit", at, []string{"shop", ""}, []string{files}},
		{"nobody to ask", "plan get", []string{"--server", "http://127.0.0.1:1", "--key-file", key}, []string{""}, []string{noFiles}},
		{"no key", "plan get", []string{"--server", server.URL, "--key-file", key + "x"}, []string{""}, []string{noFiles}},
	} {
		t.Run(c.situation, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			arguments := append(append(append([]string{"__complete"}, strings.Fields(c.verb)...), c.at...), c.rest...)
			code := run(t.Context(), arguments, nil, &stdout, &stderr)
			got := strings.Fields(stdout.String())
			if c.want == nil {
				if strings.Contains(stdout.String(), "shop") {
					t.Errorf("got %q", got)
				}
				return
			}
			if code != shell.ExitOK || strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("got exit code %d, %q; want %q (%s)", code, got, c.want, &stderr)
			}
		})
	}
}
