package private

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"

	"github.com/jackc/pgx/v5"
)

// roomyMemory returns the place of clusters whose disk does not matter: in memory, where a copy takes a tenth of the
// time, unless there is too little of it.
func roomyMemory() string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err == nil && uint64(fs.Bsize)*fs.Bavail >= 1<<30 {
		return "/dev/shm"
	}
	return "/tmp"
}

// openDir returns an empty directory that every user can reach. (t.TempDir is closed to others.)
func openDir(t *testing.T) string {
	t.Helper()
	return openDirIn(t, roomyMemory())
}

func openDirIn(t *testing.T, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "headroom-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// prepared holds an archive of a stopped cluster, made once.
var prepared = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp(roomyMemory(), "headroom-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	p, err := Start(context.Background(), Config{Dir: dir, Unsafe: true})
	if err != nil {
		return nil, err
	}
	if err := p.Stop(context.Background()); err != nil {
		return nil, err
	}
	return exec.Command("tar", "-C", dir, "-c", clusterFolder).Output()
})

// oldDir returns a data directory, at parts in a new one, with a cluster from an earlier start.
func oldDir(t *testing.T, parts ...string) string {
	t.Helper()
	archive, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(append([]string{openDir(t)}, parts...)...)
	if err := os.MkdirAll(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	extract := exec.Command("tar", "-C", dir, "-xp")
	extract.Stdin = bytes.NewReader(archive)
	if said, err := extract.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return dir
}

func startPrivate(t *testing.T, config Config) *Server {
	t.Helper()
	p, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopPrivate(t, p) })
	return p
}

func stopPrivate(t *testing.T, p *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func open(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, url, sql string) {
	t.Helper()
	if _, err := open(t, url).Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func ask(t *testing.T, url, sql string) (answer string) {
	t.Helper()
	if err := open(t, url).QueryRow(t.Context(), sql).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer
}

// refuses demands an error with all the words.
func refuses(t *testing.T, dir string, words ...string) {
	t.Helper()
	p, err := Start(t.Context(), Config{Dir: dir, Unsafe: true})
	if err == nil {
		stopPrivate(t, p)
		t.Fatalf("a cluster started in %s; want an error", dir)
	}
	contains(t, err.Error(), words...)
}

func contains(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("got %q, want it to say %q", text, word)
		}
	}
}

func postmaster(t *testing.T, dir string) int {
	t.Helper()
	pid, err := readPidFile(filepath.Join(dir, clusterFolder))
	if err != nil {
		t.Fatal(err)
	}
	return pid.number
}

// TestPrivateStartTimes is not parallel: it measures.
func TestPrivateStartTimes(t *testing.T) {
	dir := filepath.Join(openDirIn(t, "/tmp"), "data")          // on a disk, as a promise is about one
	longestFirst, longestLater := 15*time.Second, 2*time.Second // other tests share the machine
	if os.Getenv("HEADROOM_LONG") != "" {
		longestFirst, longestLater = 3*time.Second, 500*time.Millisecond
	}
	var best time.Duration
	for i := range 4 {
		began := time.Now()
		p, err := Start(t.Context(), Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		began = time.Now()
		stopPrivate(t, p)
		t.Logf("start %d took %s, stop %s", i, took.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
		if i == 0 && took > longestFirst {
			t.Errorf("the first start took %s, want %s", took, longestFirst)
		}
		if i == 1 || i > 1 && took < best {
			best = took
		}
	}
	if best > longestLater {
		t.Errorf("later starts took %s at best, want %s", best, longestLater)
	}
}

func TestPrivateIsClosedDurableAndFresh(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "a", "b") // made on the way
	p := startPrivate(t, Config{Dir: dir})
	for setting, want := range map[string]string{
		"listen_addresses": "", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "data_checksums": "on",
		"server_encoding": "UTF8", "lc_collate": "C", "lc_messages": "C", "TimeZone": "UTC", "max_connections": "100", "unix_socket_permissions": "0700",
	} {
		if got := ask(t, p.URL(""), "SELECT current_setting('"+setting+"')"); got != want {
			t.Errorf("%s: got %q, want %q", setting, got, want)
		}
	}
	if got := ask(t, p.URL(""), "SELECT current_user || '@' || current_database()"); got != "headroom@headroom" {
		t.Errorf("got %s", got)
	}
	if got := ask(t, p.URL("postgres"), "SELECT current_database()"); got != "postgres" {
		t.Errorf("got %s", got)
	}
	info, err := os.Stat(filepath.Join(dir, clusterFolder))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cluster's folder: %v, %v", info.Mode(), err)
	}
	pid := postmaster(t, dir)
	if group, err := syscall.Getpgid(pid); err != nil || group != pid {
		t.Errorf("Postgres is in the process group %d (%v): a terminal's Ctrl-C would stop it before us", group, err)
	}
	if os.Geteuid() == 0 && info.Sys().(*syscall.Stat_t).Uid == 0 {
		t.Error("the cluster belongs to root")
	}
}

func TestPrivateStop(t *testing.T) {
	t.Parallel()
	dir := oldDir(t)
	p := startPrivate(t, Config{Dir: dir, Unsafe: true})
	idle, busy := open(t, p.URL("")), open(t, p.URL(""))
	asleep := make(chan error, 1)
	go func() {
		_, err := busy.Exec(context.Background(), "SELECT pg_sleep(60)")
		asleep <- err
	}()
	await.Until(t, 10*time.Second, "the query runs", func() bool {
		return ask(t, p.URL(""), "SELECT count(*)::text FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND state = 'active'") == "1"
	})
	select {
	case <-p.Done():
		t.Fatal("it is done before it is stopped")
	default:
	}
	if p.Err() != nil {
		t.Error(p.Err())
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { stopPrivate(t, p) })
	}
	both.Wait()
	<-p.Done()
	if p.Err() != nil {
		t.Errorf("a clean stop left the error %v", p.Err())
	}
	if err := <-asleep; err == nil {
		t.Error("a query outlived the server")
	}
	if err := idle.Ping(t.Context()); err == nil {
		t.Error("a connection outlived the server")
	}
	stopPrivate(t, p)
	if _, err := os.Stat(filepath.Join(dir, clusterFolder, "postmaster.pid")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("postmaster.pid: %v", err)
	}
}

// A stop without time is hard, says so, and loses nothing.
func TestPrivateStopInNoTime(t *testing.T) {
	t.Parallel()
	dir := oldDir(t)
	p, err := Start(t.Context(), Config{Dir: dir, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	run(t, p.URL(""), "CREATE TABLE kept AS SELECT 42 AS answer")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(ctx); err == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cut off", err)
	}
	p = startPrivate(t, Config{Dir: dir, Unsafe: true})
	if got := ask(t, p.URL(""), "SELECT answer::text FROM kept"); got != "42" {
		t.Errorf("got %s", got)
	}
}

func TestPrivateStartIsCancelled(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan error, 1)
	go func() {
		_, err := Start(ctx, Config{Dir: dir, Unsafe: true})
		began <- err
	}()
	await.Until(t, 10*time.Second, "initdb works", func() bool {
		made, _ := filepath.Glob(filepath.Join(dir, makingPrefix+"*", "PG_VERSION"))
		return len(made) > 0
	})
	cancel()
	if err := <-began; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "postgres*")); len(files) > 0 {
		t.Errorf("it left %v", files)
	}
	startPrivate(t, Config{Dir: dir, Unsafe: true})
}

func TestPrivateSecondInstance(t *testing.T) {
	t.Parallel()
	dir := oldDir(t)
	p := startPrivate(t, Config{Dir: dir, Unsafe: true})
	refuses(t, dir, "another headroom", fmt.Sprintf("process %d", os.Getpid()), dir, "--data-dir")
	if got := ask(t, p.URL(""), "SELECT 'alive'"); got != "alive" {
		t.Errorf("the first one: got %s", got)
	}
	contains(t, startChild(t, dir, -1).says(), "another headroom", fmt.Sprintf("process %d", os.Getpid()))
}

// The first start makes the cluster; the other one gets an error, and harms nothing.
func TestPrivateTwoFirstStarts(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	a, b := startChild(t, dir, -1), startChild(t, dir, -1)
	lines := []string{a.says(), b.says()}
	winner := a
	if strings.HasPrefix(lines[1], "postgres://") {
		winner, lines[0], lines[1] = b, lines[1], lines[0]
	}
	contains(t, lines[1], "error: another headroom")
	if got := ask(t, lines[0], "SELECT 'alive'"); got != "alive" {
		t.Errorf("got %s", got)
	}
	winner.end()
}

func TestPrivateAttach(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	attached := func(want bool) string {
		t.Helper()
		url, running, err := Attach(dir)
		if err != nil || running != want || (url != "") != want {
			t.Fatalf("got %q, %t, %v; want running %t", url, running, err, want)
		}
		return url
	}
	attached(false)
	c := startChild(t, dir, -1)
	url := c.address()
	if got := attached(true); got != url {
		t.Errorf("got %s, want %s", got, url)
	}
	if got := ask(t, attached(true), "SELECT 'alive'"); got != "alive" {
		t.Errorf("got %s", got)
	}
	if err := syscall.Kill(postmaster(t, dir), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await.Until(t, 5*time.Second, "the postmaster is gone", func() bool {
		_, running, err := Attach(dir)
		return err == nil && !running
	})
	c.kill()
}

// The log has the facts an operator needs, and neither statements nor values.
func TestPrivateLog(t *testing.T) {
	t.Parallel()
	var lines syncBuffer
	dir := oldDir(t)
	log := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p, err := Start(t.Context(), Config{Dir: dir, Unsafe: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	conn := open(t, p.URL(""))
	for _, sql := range []string{
		"CREATE TABLE t (k text PRIMARY KEY)", "INSERT INTO t VALUES ('hush-hush')", "INSERT INTO t VALUES ('hush-hush')",
		"SELECT 1 / 0 -- hush-hush", "DO $$ BEGIN RAISE WARNING 'mind the gap'; END $$",
	} {
		_, _ = conn.Exec(t.Context(), sql)
	}
	_ = conn.Close(t.Context())
	stopPrivate(t, p)
	said := lines.String()
	if strings.Contains(said, "hush-hush") {
		t.Errorf("values are in the log:\n%s", said)
	}
	for _, pattern := range []string{
		`level=INFO msg="private postgres started"`, `level=DEBUG msg="postgres said" severity=LOG by=postmaster text="database system is ready`,
		`level=DEBUG msg="postgres said" severity=ERROR by="client backend" text="division by zero"`, `level=WARN msg="postgres said" severity=WARNING`,
	} {
		if !strings.Contains(said, pattern) {
			t.Errorf("the log lacks %s:\n%s", pattern, said)
		}
	}
	if strings.Contains(said, "level=ERROR") {
		t.Errorf("a good day has errors:\n%s", said)
	}
}

type syncBuffer struct {
	lock sync.Mutex
	b    bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.b.String()
}
