package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/internal/test/await"
)

// PoolerVariable puts PgBouncer before the database of all stores of a test run, in transaction mode.
const PoolerVariable = "HEADROOM_TEST_POOLER"

// Pooler starts PgBouncer before the server of a database, in a mode such as "transaction". It returns the database's
// address through it. Each transaction takes the session that was used least recently.
func Pooler(t testing.TB, address, mode string) string {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // where Debian has it, which may not be on the path
	}
	dir, err := os.MkdirTemp("/tmp", "headroom-pooler-") // its user can reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := freePort(t)
	host, serverPort := at.Query().Get("host"), at.Query().Get("port")
	if host == "" {
		host, serverPort = at.Hostname(), at.Port()
	}
	settings := fmt.Sprintf(`[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = %s
server_round_robin = 1
default_pool_size = 4
server_login_retry = 1
server_idle_timeout = 5
min_pool_size = 2
max_client_conn = 1000
`, host, serverPort, port, filepath.Join(dir, "users"), mode)
	users := strconv.Quote(at.User.Username()) + ` ""` + "\n"
	for name, text := range map[string]string{"settings": settings, "users": users} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "-q", filepath.Join(dir, "settings"))
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if as, err := user.Lookup("postgres"); err == nil && os.Getuid() == 0 { // it refuses to work as root
		uid, _ := strconv.Atoi(as.Uid)
		gid, _ := strconv.Atoi(as.Gid)
		command.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	var said strings.Builder
	command.Stderr = &said
	ended, err := startBound(command)
	if err != nil {
		t.Fatalf("start PgBouncer: %v", err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	reached := fmt.Sprintf("127.0.0.1:%d", port)
	for last := range await.Tries(maxSetup) {
		conn, err := net.Dial("tcp", reached)
		if err == nil {
			_ = conn.Close()
			break
		}
		if last {
			t.Fatalf("PgBouncer does not answer: %v\n%s", err, said.String())
		}
	}
	return "postgres://" + at.User.Username() + "@" + reached + at.Path + "?sslmode=disable"
}

// made holds the addresses that Database returned. A test that changes one has a purpose of its own.
var made sync.Map

// behindPooler puts PgBouncer before the database of a store if the test run asks for it.
func behindPooler(t testing.TB, c *postgres.Config) {
	t.Helper()
	if _, plain := made.Load(c.URL); os.Getenv(PoolerVariable) == "" || c.DirectURL != "" || !plain {
		return
	}
	c.DirectURL, c.URL = c.URL, Pooler(t, c.URL, "transaction")
	if pooled, err := connection.Pooled(t.Context(), c.URL); err != nil || !pooled {
		t.Fatalf("the store is not behind a pooler: %v", err)
	}
}

// startBound starts a program that ends with this process, and returns a channel that is closed when it has ended.
func startBound(c *exec.Cmd) (ended chan struct{}, err error) {
	started := make(chan error)
	ended = make(chan struct{})
	go func() { // it ends with the thread that has started it
		runtime.LockOSThread()
		defer close(ended)
		started <- c.Start()
		_ = c.Wait()
	}()
	return ended, <-started
}

func freePort(t testing.TB) int {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	return free.Addr().(*net.TCPAddr).Port
}
