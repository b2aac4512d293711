package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/internal/test/pgtest"
)

// say runs the program and demands its exit code.
func say(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, trouble bytes.Buffer
	if got := run(t.Context(), args, strings.NewReader(""), &out, &trouble); got != code {
		t.Errorf("headroom %s: got exit code %d, want %d; it said %q %q", strings.Join(args, " "), got, code, &out, &trouble)
	}
	return out.String(), trouble.String()
}

// schemaAnswer is the answer of "migrate status" as JSON.
type schemaAnswer struct {
	State          string
	Version, Known int64
	Postgres       int
	ServiceRole    bool `json:"service_role"`
}

func schemaState(t *testing.T, args ...string) (s schemaAnswer) {
	t.Helper()
	text, _ := say(t, shell.ExitOK, append([]string{"server", "migrate", "status", "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

func TestMigrate(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://nobody:hush-hush@127.0.0.1:1/nowhere")
	t.Setenv("MIGRATE_DATABASE_URL", pgtest.Empty(t))
	if s := schemaState(t); s.State != "empty" || s.Version != 0 || s.Known < 1 || s.Postgres < 15 {
		t.Errorf("got %+v", s)
	}
	if out, _ := say(t, shell.ExitOK, "migrate", "up"); !strings.Contains(out, "brought from version 0 to ") {
		t.Errorf("got %q", out)
	}
	if out, _ := say(t, shell.ExitOK, "migrate", "up"); !strings.Contains(out, "up to date") {
		t.Errorf("got %q", out)
	}
	if s := schemaState(t); s.State != "current" || s.Version != s.Known || !s.ServiceRole {
		t.Errorf("got %+v", s)
	}
	if s := schemaState(t, "--database-url", pgtest.Empty(t)); s.State != "empty" {
		t.Errorf("the flag does not come first: %+v", s)
	}
	if out, _ := say(t, shell.ExitOK, "migrate", "status"); !strings.Contains(out, "current") || !strings.Contains(out,
		"yes: headroom_service") {
		t.Errorf("got %q", out)
	}

	t.Setenv("MIGRATE_DATABASE_URL", "")
	for _, verb := range []string{"up", "status"} { // nobody listens there
		if out, trouble := say(t, remote.ExitConnection, "migrate", verb); trouble == "" || strings.Contains(out+trouble, "hush") {
			t.Errorf("%s: got %q %q", verb, out, trouble)
		}
	}
	t.Setenv("DATABASE_URL", "postgres://x:hush-hush@:not-a-port/")
	if out, trouble := say(t, shell.ExitError, "migrate", "up"); !strings.Contains(trouble, "address") || strings.Contains(out+trouble,
		"hush") {
		t.Errorf("got %q %q", out, trouble)
	}
	t.Setenv("DATABASE_URL", "")
	if _, trouble := say(t, shell.ExitUsage, "migrate", "status"); !strings.Contains(trouble, "DATABASE_URL") {
		t.Errorf("got %q", trouble)
	}
	say(t, shell.ExitUsage, "migrate")
	say(t, shell.ExitUsage, "migrate", "down")
}

// examinationAnswer is one check of "doctor" as JSON.
type examinationAnswer struct {
	Name         string
	OK           bool
	Detail, Cure string
}

// findings runs doctor, and answers its checks by name.
func findings(t *testing.T, code int, args ...string) map[string]examinationAnswer {
	t.Helper()
	text, _ := say(t, code, append([]string{"server", "doctor", "-o", "json"}, args...)...)
	if strings.Contains(text, "hush") {
		t.Errorf("a password is shown: %s", text)
	}
	var d struct{ Checks []examinationAnswer }
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	found := map[string]examinationAnswer{}
	for _, e := range d.Checks {
		found[e.Name] = e
	}
	return found
}

func TestDoctorLooksAtTheDatabase(t *testing.T) {
	check := func(found map[string]examinationAnswer, name string, ok bool, words ...string) {
		t.Helper()
		e, there := found[name]
		if !there || e.OK != ok {
			t.Errorf("%s: got %+v, want ok %t", name, e, ok)
		}
		for _, word := range words {
			if !strings.Contains(e.Detail+e.Cure, word) {
				t.Errorf("%s: got %q, want it to say %q", name, e.Detail+" "+e.Cure, word)
			}
		}
	}
	status := "ok"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"status":%q}`, status) }))
	defer server.Close()
	t.Setenv("HEADROOM_LISTEN", server.Listener.Addr().String())
	t.Setenv("HEADROOM_DATA_DIR", t.TempDir()) // where no server runs
	t.Setenv("DATABASE_URL", pgtest.Database(t))
	check(findings(t, shell.ExitOK), "database", true, "PostgreSQL ", "up to date")
	check(findings(t, shell.ExitOK), "server", true, server.Listener.Addr().String(), "is in touch")
	check(findings(t, shell.ExitOK), "configuration", true, "of this shell", "that of DATABASE_URL")
	status = "the database is away"
	check(findings(t, shell.ExitSolver), "server", false, "not in touch", "the database is away", "Its log")
	server.Close()
	check(findings(t, shell.ExitOK), "server", true, "none answers", "connection refused")
	check(findings(t, shell.ExitOK, "--database-url", pgtest.Empty(t)), "database", true, "no tables", "migrate up")
	t.Setenv("DATABASE_URL", "postgres://nobody:hush-hush@127.0.0.1:1/nowhere")
	check(findings(t, shell.ExitSolver), "database", false, "dial tcp 127.0.0.1:1: connect: connection refused")
	t.Setenv("DATABASE_URL", "postgres://nobody:hush-hush@no-host.invalid:5433/nowhere")
	check(findings(t, shell.ExitSolver), "database", false, "no-host.invalid:5433")
	t.Setenv("HEADROOM_LISTN", "127.0.0.1:1")
	check(findings(t, shell.ExitSolver), "settings", false, "HEADROOM_LISTN is no setting; did you mean HEADROOM_LISTEN?")
	if err := os.Unsetenv("HEADROOM_LISTN"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "headroom.env")
	if err := os.WriteFile(file, []byte("DATABASE_URL='postgres://nobody:hush-hush@127.0.0.1:2/nowhere'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := findings(t, shell.ExitSolver, "--env-file", file)
	check(found, "configuration", true, file, "DATABASE_URL in the file")
	check(found, "database", false, "127.0.0.1:2: connect")
	found = findings(t, shell.ExitSolver, "--env-file", file+".absent")
	check(found, "configuration", false, "no such file", "sudo")
	if _, looked := found["database"]; looked {
		t.Error("a database is looked at that is not the server's")
	}
	t.Setenv("DATABASE_URL", "mysql://nobody:hush-hush@127.0.0.1/nowhere")
	check(findings(t, shell.ExitSolver), "settings", false, "DATABASE_URL")

	t.Setenv("DATABASE_URL", "")
	dir := filepath.Join("/tmp", fmt.Sprintf("headroom-test-doctor-%d", time.Now().UnixNano())) // is never made
	found = findings(t, shell.ExitOK, "--data-dir", dir)
	check(found, "postgres programs", true, "postgres ")
	check(found, "data directory", true, dir, "MB free", "can be made")
	check(findings(t, shell.ExitSolver, "--data-dir", "/proc/version/data"), "data directory", false, "--data-dir")

	dir = dataDirectory(t)
	private, err := private.Start(t.Context(), private.Config{Dir: dir, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	found = findings(t, shell.ExitOK, "--data-dir", dir)
	check(found, "data directory", true, "runs")
	check(found, "database", true, "no tables")
	if err := private.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	check(findings(t, shell.ExitOK, "--data-dir", dir), "data directory", true, "does not run")
}
