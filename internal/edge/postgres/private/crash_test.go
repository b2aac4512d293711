package private

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"

	"github.com/jackc/pgx/v5"
)

// rounds is the number of crashes.
func rounds() int {
	if os.Getenv("HEADROOM_LONG") != "" {
		return 20
	}
	return 3
}

// longestGoing is the longest time for Postgres to end after us: two seconds, if other tests do not keep the disk
// busy.
func longestGoing() time.Duration {
	if os.Getenv("HEADROOM_LONG") != "" {
		return 2 * time.Second
	}
	return 10 * time.Second
}

// write commits rows 1, 2, 3… in a goroutine until the server is gone; then the channel has the last acknowledged
// one.
func write(t *testing.T, url string, from int) <-chan int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	last := make(chan int, 1)
	go func() {
		defer conn.Close(context.Background())
		for n := from; ; n++ {
			if _, err := conn.Exec(context.Background(), "INSERT INTO rows VALUES ($1)", n); err != nil {
				last <- n - 1
				return
			}
		}
	}()
	return last
}

// kept checks that every acknowledged row exists, and returns the next number.
func kept(t *testing.T, url string, acknowledged int) int {
	t.Helper()
	got := ask(t, url, "SELECT count(*) FILTER (WHERE n <= "+strconv.Itoa(acknowledged)+") || ' ' || coalesce(max(n), 0) FROM rows")
	count, newest, _ := strings.Cut(got, " ")
	if count != strconv.Itoa(acknowledged) {
		t.Errorf("got %s rows, want all %d acknowledged ones", count, acknowledged)
	}
	n, _ := strconv.Atoi(newest)
	return n + 1
}

func written(t *testing.T, url string) func() bool {
	before := ask(t, url, "SELECT count(*)::text FROM rows")
	return func() bool { return ask(t, url, "SELECT count(*)::text FROM rows") != before }
}

// When our process is killed, Postgres ends by itself, cleanly. The next start finds everything, even without
// waiting.
func TestPrivateSurvivesOurDeath(t *testing.T) {
	t.Parallel()
	dir := oldDir(t)
	next, acknowledged, sum := 1, 0, time.Duration(0)
	for round := range rounds() {
		c := startChild(t, dir, -1, "HEADROOM_TEST_PRIVATE_DURABLE=1")
		url := c.address()
		if round == 0 {
			run(t, url, "CREATE TABLE rows (n bigint PRIMARY KEY)")
		} else {
			next = kept(t, url, acknowledged)
		}
		pid := postmaster(t, dir)
		last := write(t, url, next)
		await.Until(t, 20*time.Second, "a row is written", written(t, url))
		c.kill()
		killed := time.Now()
		acknowledged = <-last
		if round%2 == 1 {
			continue // the next one starts at once, while Postgres is still going
		}
		await.Until(t, longestGoing(), "Postgres is gone", func() bool {
			_, err := os.Stat(filepath.Join(dir, clusterFolder, "postmaster.pid"))
			return os.IsNotExist(err) && !(pidFile{number: pid}).runs(filepath.Join(dir, clusterFolder))
		})
		sum += time.Since(killed)
	}
	t.Logf("%d rows; Postgres was gone after %s on average", acknowledged, (sum / time.Duration((rounds()+1)/2)).Round(time.Millisecond))
	c := startChild(t, dir, -1, "HEADROOM_TEST_PRIVATE_DURABLE=1")
	kept(t, c.address(), acknowledged)
	c.end()
}

// When Postgres is killed we get an error, and the next start recovers every committed row.
func TestPrivateRecovers(t *testing.T) {
	t.Parallel()
	dir := oldDir(t)
	next, acknowledged := 1, 0
	for round := range rounds() {
		began := time.Now()
		p, err := Start(t.Context(), Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			run(t, p.URL(""), "CREATE TABLE rows (n bigint PRIMARY KEY)")
		} else {
			t.Logf("recovery took %s", time.Since(began).Round(time.Millisecond))
			next = kept(t, p.URL(""), acknowledged)
		}
		last := write(t, p.URL(""), next)
		await.Until(t, 20*time.Second, "a row is written", written(t, p.URL("")))
		go func() { // a backend that does not notice at once
			if conn, err := pgx.Connect(context.Background(), p.URL("")); err == nil {
				_, _ = conn.Exec(context.Background(), "SELECT count(*) FROM generate_series(1, 3000000) a")
				_ = conn.Close(context.Background())
			}
		}()
		if err := syscall.Kill(postmaster(t, dir), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("nobody noticed that Postgres was killed")
		}
		if p.Err() == nil {
			t.Error("Postgres was killed and there is no error")
		} else {
			contains(t, p.Err().Error(), "Postgres ended", "killed")
		}
		acknowledged = <-last
	}
	p := startPrivate(t, Config{Dir: dir})
	kept(t, p.URL(""), acknowledged)
	t.Logf("%d rows", acknowledged)
	t.Attr("R2", fmt.Sprintf("%d kills of the postmaster, %d acknowledged rows, 0 lost", rounds(), acknowledged))
}

// initdb killed in the middle leaves nothing that harms the next start. It is not parallel: what initdb has started
// must be gone by then.
func TestPrivateHalfMade(t *testing.T) {
	dir := openDir(t)
	c := startChild(t, dir, -1)
	half := filepath.Join(dir, makingPrefix+"*")
	await.Until(t, 20*time.Second, "initdb works", func() bool {
		made, _ := filepath.Glob(filepath.Join(half, "PG_VERSION"))
		return len(made) > 0
	})
	c.kill()
	if left, _ := filepath.Glob(half); len(left) != 1 {
		t.Errorf("got %v, want half a cluster", left)
	}
	p := startPrivate(t, Config{Dir: dir, Unsafe: true})
	if got := ask(t, p.URL(""), "SELECT 'whole'"); got != "whole" {
		t.Errorf("got %s", got)
	}
	if left, _ := filepath.Glob(half); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

// In a container, the number in postmaster.pid is another program's after a restart.
func TestPrivateStalePid(t *testing.T) {
	t.Parallel()
	dir := oldDir(t)
	cluster := filepath.Join(dir, clusterFolder)
	info, err := os.Stat(cluster)
	if err != nil {
		t.Fatal(err)
	}
	stranger := exec.Command("sleep", "60")
	stranger.Dir = "/"
	if os.Geteuid() == 0 { // Postgres takes processes of other users for stale anyway
		owner := info.Sys().(*syscall.Stat_t)
		stranger.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stranger.Process.Kill()
		_ = stranger.Wait()
	}()
	text := strconv.Itoa(stranger.Process.Pid) + "\n" + cluster + "\n1763708400\n5432\n" + cluster + "\n\n\nready   \n"
	if err := os.WriteFile(filepath.Join(cluster, "postmaster.pid"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, running, err := Attach(dir); running || err != nil {
		t.Errorf("a stranger is taken for Postgres: %t, %v", running, err)
	}
	startPrivate(t, Config{Dir: dir, Unsafe: true})
}
