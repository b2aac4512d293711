package private

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const somebody = 65534 // another user

// asRoot skips tests that only root can set up.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("this needs root, to act as two users")
	}
}

func TestPrivateAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := openDir(t)
	if err := os.Chown(dir, somebody, somebody); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, dir, somebody, "SECRET_OF_THE_SERVICE=hush-hush", "PGOPTIONS=-c work_mem=123MB", "PGDATA=/nowhere", "PGPORT=1")
	url := c.address()
	if got := ask(t, url, "SELECT current_setting('work_mem')"); got != "4MB" { // and root can connect
		t.Errorf("got %s: PGOPTIONS is heeded", got)
	}
	pid := postmaster(t, dir)
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || strings.Contains(string(environment), "hush-hush") {
		t.Errorf("Postgres has our secrets: %q, %v", environment, err)
	}
	if info, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil || info.Sys().(*syscall.Stat_t).Uid != somebody {
		t.Errorf("Postgres runs as somebody else: %v", err)
	}
	c.end()

	// Root runs it as the user who made it; that user can continue afterwards.
	stopPrivate(t, startPrivate(t, Config{Dir: dir, Unsafe: true}))
	c = startChild(t, dir, somebody)
	c.address()
	c.end()
}

func TestPrivateOfAnotherUser(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := oldDir(t)
	startPrivate(t, Config{Dir: dir, Unsafe: true})
	if err := os.Chmod(filepath.Join(dir, lockFile), 0o644); err != nil {
		t.Fatal(err)
	}
	contains(t, startChild(t, dir, somebody).says(), "error:", dir, "choose another --data-dir")
	contains(t, startChild(t, dir, somebody, "HEADROOM_TEST_PRIVATE_ATTACH=1").says(), "false the database in "+dir+" belongs to another user")
}

// Directories that cannot hold a database: a sentence each, and nothing is changed in them.
func TestPrivateRefusesPlaces(t *testing.T) {
	t.Parallel()
	base := openDir(t)
	file := func(parts ...string) string {
		path := filepath.Join(append([]string{base}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("precious\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	precious := []string{
		file("file"), file("foreign", clusterFolder, "thesis.txt"), file("itself", "PG_VERSION"),
	}
	refuses(t, "", "--data-dir")
	refuses(t, filepath.Join(base, "file", "data"), "cannot be used", "--data-dir")
	refuses(t, filepath.Join(base, "foreign"), "no database of Postgres", "left as it is", "--data-dir")
	refuses(t, filepath.Join(base, "itself"), "data directory of some Postgres itself")
	refuses(t, base+"/line\nbreak", "line break")
	// The contents of somebody else's directory must not lead to a file of ours.
	planted := filepath.Join(base, "planted")
	if err := errors.Join(os.Mkdir(planted, 0o755), os.Symlink(precious[0], filepath.Join(planted, lockFile))); err != nil {
		t.Fatal(err)
	}
	refuses(t, planted, "is a link", "remove it")
	for _, path := range precious {
		if text, err := os.ReadFile(path); err != nil || string(text) != "precious\n" {
			t.Errorf("%s is now %q, %v", path, text, err)
		}
	}
}

func TestPrivateOtherVersion(t *testing.T) {
	t.Parallel()
	dir := oldDir(t)
	version := filepath.Join(dir, clusterFolder, "PG_VERSION")
	text, err := os.ReadFile(version)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(version, []byte("12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, dir, "made by Postgres 12", "postgresql-12", "pg_upgrade")
	if err := os.WriteFile(version, text, 0o600); err != nil {
		t.Fatal(err)
	}
	startPrivate(t, Config{Dir: dir, Unsafe: true}) // nothing was touched
}

// Root switches to a user who cannot enter directories such as /root.
func TestPrivateUnreachable(t *testing.T) {
	t.Parallel()
	asRoot(t)
	closed := filepath.Join(openDir(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	refuses(t, filepath.Join(closed, "new", "data"), "cannot reach", closed+" is closed", "choose --data-dir under /var/lib or /tmp")
	if left, err := os.ReadDir(closed); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v: a refused start leaves something behind", left, err)
	}

	// The directory itself is opened for passing through as long as it is empty, and only then.
	empty := filepath.Join(openDir(t), "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	stopPrivate(t, startPrivate(t, Config{Dir: empty, Unsafe: true}))
	if info, err := os.Stat(empty); err != nil || info.Mode().Perm() != 0o711 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(closed, "private"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, closed, "cannot reach")
	if info, err := os.Stat(closed); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v: a directory of somebody else was opened", info.Mode(), err)
	}
}

func TestPrivateUnwritable(t *testing.T) {
	t.Parallel()
	asRoot(t)
	contains(t, startChild(t, filepath.Join(openDir(t), "data"), somebody).says(), "cannot be used", "permission denied", "--data-dir")
}

// Names that a socket or an address cannot have.
func TestPrivateDifficultNames(t *testing.T) {
	t.Parallel()
	for name, inside := range map[string]bool{
		"with space, comma":        false,
		`"quotes" 'and' 100% *+é`:  true,
		strings.Repeat("long", 40): false,
	} {
		dir := oldDir(t, name)
		p := startPrivate(t, Config{Dir: dir, Unsafe: true})
		if got := ask(t, p.URL(""), "SELECT 'reached'"); got != "reached" {
			t.Errorf("got %s", got)
		}
		if got := strings.HasPrefix(p.socket, dir); got != inside {
			t.Errorf("%s: the socket is in %s", dir, p.socket)
		}
		url, running, err := Attach(dir)
		if err != nil || !running || url != p.URL("") {
			t.Errorf("attach: got %s, %t, %v", url, running, err)
		}
		if info, err := os.Stat(p.socket); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", p.socket, info.Mode(), err)
		}
		stopPrivate(t, p)
		if _, err := os.Stat(p.socket); !inside && !os.IsNotExist(err) {
			t.Errorf("%s is left", p.socket)
		}
	}
}

// Another user who took the socket folder's name first cannot see our socket.
func TestPrivateSocketFolderIsTaken(t *testing.T) {
	t.Parallel()
	dir := oldDir(t, strings.Repeat("long", 30))
	h, err := openHome(dir)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := h.makeSocketFolder()
	h.close()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(taken, 0o777); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(taken)
	p := startPrivate(t, Config{Dir: dir, Unsafe: true})
	if p.socket == taken {
		t.Errorf("the socket is in a folder somebody else made, %s", taken)
	}
}

func TestPrivateDiskFull(t *testing.T) {
	t.Parallel()
	asRoot(t)
	disk := func(size string) string {
		dir := filepath.Join(openDir(t), "small")
		if err := os.Mkdir(dir, 0o711); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=711,size="+size); err != nil {
			t.Skipf("this needs the right to mount a small disk: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		return dir
	}
	dir := disk("8m")
	refuses(t, dir, "no space is left on the disk", dir, "--data-dir")
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("it left %v", files)
	}

	dir = disk("80m")
	p := startPrivate(t, Config{Dir: dir, Unsafe: true})
	run(t, p.URL(""), "CREATE TABLE kept AS SELECT 42 AS answer")
	stopPrivate(t, p)
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 80<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	refuses(t, dir, "no space is left on the disk", dir)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p = startPrivate(t, Config{Dir: dir, Unsafe: true})
	if got := ask(t, p.URL(""), "SELECT answer::text FROM kept"); got != "42" {
		t.Errorf("got %s", got)
	}
	stopPrivate(t, p)
}

// install creates a folder with programs of a version.
func install(t *testing.T, folder, version string) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"postgres", "initdb"} {
		text := "#!/bin/sh\necho '" + name + " (PostgreSQL) " + version + " (Test)'\n"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestPrivateFindsPrograms(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, version := range []string{"9.6", "13", "15", "16", "100"} {
		install(t, filepath.Join(base, version, "bin"), version+".2")
	}
	folders := []string{filepath.Join(base, "*", "bin")}
	onPath := install(t, filepath.Join(base, "elsewhere"), "17beta1")
	half := filepath.Join(base, "half") // a link to one of the programs; the other is beside its target
	if err := os.Mkdir(half, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(base, "16", "bin", "postgres"), filepath.Join(half, "postgres")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path, wanted, want string }{
		{"the newest by number", "", "", "100.2"},
		{"PATH comes first", onPath, "", "17beta1"},
		{"a link on PATH is followed", half, "", "16.2"},
		{"too old on PATH", filepath.Join(base, "13", "bin"), "", "100.2"},
		{"the cluster's", onPath, "15", "15.2"},
		{"an old cluster's", onPath, "13", "13.2"},
	} {
		got, err := findPrograms(c.path, folders, c.wanted)
		if err != nil || got.version != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, got.version, err, c.want)
		}
	}
	for _, c := range []struct {
		name, path, wanted string
		folders, want      []string
	}{
		{"none", base, "", nil, []string{"no Postgres is installed", "postgresql (Debian", "DATABASE_URL"}},
		{"too old", filepath.Join(base, "13", "bin"), "", nil, []string{"13.2", "too old", "15 or newer"}},
		{"another cluster's", onPath, "14", folders, []string{"made by Postgres 14", "17beta1", "postgresql-14", filepath.Join(onPath, "pg_upgrade")}},
	} {
		_, err := findPrograms(c.path, c.folders, c.wanted)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		contains(t, err.Error(), c.want...)
	}
}
