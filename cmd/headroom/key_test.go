package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/pgtest"
)

// Keys are those of the server that HEADROOM_URL names, also beside a data directory, and no database is made.
func TestKeysOfAServerElsewhere(t *testing.T) {
	server, home := startServer(t), t.TempDir()
	for name, value := range map[string]string{"DATABASE_URL": "", "HEADROOM_DATA_DIR": filepath.Join(home, "data"), "HEADROOM_URL": server.URL, "HEADROOM_API_KEY": server.Keys[auth.Admin],
		"HOME": home, "XDG_DATA_HOME": home} {
		t.Setenv(name, value)
	}
	var out, trouble bytes.Buffer
	code := run(t.Context(), []string{"server", "key", "create", "me", "--role", "viewer", "-q"}, strings.NewReader(""), &out, &trouble)
	if code != shell.ExitOK || !strings.HasPrefix(out.String(), auth.KeyPrefix) || trouble.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, &out, &trouble)
	}
	t.Setenv("HEADROOM_API_KEY", strings.TrimSpace(out.String()))
	if code := run(t.Context(), []string{"cluster", "list"}, strings.NewReader(""), &out, &trouble); code != shell.ExitOK {
		t.Errorf("the new key opens nothing: exit code %d: %s", code, &trouble)
	}
	trouble.Reset()
	if code := run(t.Context(), []string{"server", "key", "list"}, strings.NewReader(""), &out, &trouble); code == shell.ExitOK {
		t.Error("a viewer lists keys")
	}
	if _, err := os.Stat(remote.DefaultDataDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s was made (%v)", remote.DefaultDataDir(), err)
	}
	if err := os.MkdirAll(filepath.Join(home, "data", "postgres"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HEADROOM_API_KEY", server.Keys[auth.Admin])
	out.Reset()
	trouble.Reset()
	if code := run(t.Context(), []string{"server", "key", "list"}, strings.NewReader(""), &out, &trouble); code != shell.ExitOK || !strings.Contains(out.String(), "me ") {
		t.Errorf("beside a data directory: exit code %d: %s%s", code, &out, &trouble)
	}
}

// The first key is made in a private database that no server has made yet, and others beside the
// server that runs it.
func TestKeysInThePrivateDatabase(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	t.Setenv("MIGRATE_DATABASE_URL", "")
	dir, err := os.MkdirTemp(pgtest.RoomyMemory(), "headroom-key-") // the user whom Postgres runs as must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var trouble bytes.Buffer
	key := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		trouble.Reset()
		if code := run(t.Context(), append([]string{"server", "key", "--data-dir", dir}, args...), strings.NewReader(""), &out,
			&trouble); code != shell.ExitOK {
			t.Fatalf("headroom server key %v: exit code %d: %s", args, code, &trouble)
		}
		return out.String()
	}
	if token := key("create", "first", "--role", "admin", "-q"); !strings.HasPrefix(token, "hrk_") {
		t.Errorf("got %q, want a key", token)
	}
	if want := "There was no database in " + dir; !strings.Contains(trouble.String(), want) {
		t.Errorf("got %q, want %q", &trouble, want)
	}
	if _, running, err := private.Attach(dir); running || err != nil {
		t.Errorf("the database still runs (%v)", err)
	}
	cluster, err := private.Start(t.Context(), private.Config{Dir: dir, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if key("create", "second", "--role", "viewer", "-q"); trouble.Len() > 0 {
		t.Errorf("a key for the database that is there: got %q", &trouble)
	}
	if list := key("list"); !strings.Contains(list, "first") || !strings.Contains(list, "second") || strings.Contains(list, "hrk_") {
		t.Errorf("got %s", list)
	}
	if _, running, err := private.Attach(dir); !running || err != nil {
		t.Errorf("the server's database was stopped (%v)", err)
	}
}
