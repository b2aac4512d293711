package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/clusters"
)

// What is read here and what the server reads of the same files are the same executions.
func TestHistoriesReadHereAndThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "shared", "data", "histories")
	for range 4 { // a checkout may stand deeper
		if _, err := os.Stat(dir); err != nil {
			dir = filepath.Join("..", dir)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Skip("there is no ../shared/data/histories beside the repository")
	}
	server := startServer(t)
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(server.Keys[auth.Admin]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(into any, args ...string) {
		t.Helper()
		var out, trouble bytes.Buffer
		args = append(args, "-o", "json", "--server", server.URL, "--key-file", keyFile)
		if code := run(t.Context(), args, strings.NewReader(""), &out, &trouble); code != shell.ExitOK {
			t.Fatalf("%v: exit code %d, %s", args, code, trouble.String())
		}
		if err := json.Unmarshal(out.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	var ignored any
	ask(&ignored, "cluster", "create", "--name", "shop")
	var here, there clusters.HistoryImport
	ask(&here, "history", "import", "shop", dir, "--job", "unnamed")
	ask(&there, append([]string{"history", "import", "shop", "--upload", "--job", "unnamed"}, files...)...)
	// Two files tell of the same cluster, so that some executions are there twice.
	if here.Executions != 16 || here.Created == 0 || here.Created+here.Unchanged != here.Executions || here.Refused.Count != 1 {
		t.Errorf("read here %+v", here)
	}
	if there.Executions != here.Executions || there.Unchanged != here.Executions || there.Created+there.Updated != 0 || there.Refused.Count != 1 || there.Bytes != here.Bytes {
		t.Errorf("read there %+v; here %+v", there, here)
	}
}
