package pgtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/internal/test/await"
)

// Pair is a Postgres and its standby, each at a port of its own. The primary acknowledges a commit once the standby has it.
type Pair struct {
	t        testing.TB
	programs string
	dir      string
	as       *syscall.Credential
	ports    [2]int
	servers  [2]*exec.Cmd
	ended    [2]chan struct{}
	Primary  int // its place
}

// NewPair starts a primary with an empty database, and its standby.
func NewPair(t testing.TB) *Pair {
	t.Helper()
	programs, _, err := private.Installed()
	if err != nil {
		t.Fatal(err)
	}
	p := &Pair{t: t, programs: programs}
	if p.dir, err = os.MkdirTemp(RoomyMemory(), clusterPrefix+"pair-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after all that uses the two
		p.End(0)
		p.End(1)
		_ = os.RemoveAll(p.dir)
	})
	if as, err := user.Lookup("postgres"); err == nil && os.Getuid() == 0 { // it refuses to work as root
		uid, _ := strconv.Atoi(as.Uid)
		gid, _ := strconv.Atoi(as.Gid)
		p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(p.dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	for i := range p.ports {
		for p.ports[i] == 0 { // below the ports of clients: one that tries again and again may reach itself
			port := 15000 + rand.IntN(5000)
			if free, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
				_ = free.Close()
				p.ports[i] = port
			}
		}
	}
	p.run("initdb", "-D", p.folder(0), "-U", "headroom", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	p.start(0, false)
	p.Ask(0, "CREATE DATABASE headroom")
	p.StandBy()
	return p
}

// URL is the address of whichever of the two is the primary.
func (p *Pair) URL() string {
	return fmt.Sprintf("postgres://headroom@127.0.0.1:%d,127.0.0.1:%d/headroom?sslmode=disable&target_session_attrs=read-write", p.ports[0], p.ports[1])
}

// processes are those of one of the two, the postmaster first. Each child of it leads a group of its own.
func (p *Pair) processes(i int) []int {
	postmaster := p.servers[i].Process.Pid
	all := []int{postmaster}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", postmaster, postmaster)) // none where it is gone
	for _, word := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(word); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// Promote makes the standby the primary, whatever the primary does.
func (p *Pair) Promote() {
	p.t.Helper()
	p.Primary = 1 - p.Primary
	p.Ask(p.Primary, "SELECT pg_promote(true, 600)")
}

// StandBy makes the standby anew, as a copy of the primary, after its process has ended. It returns when each commit waits for it.
func (p *Pair) StandBy() {
	p.t.Helper()
	standby := 1 - p.Primary
	if err := os.RemoveAll(p.folder(standby)); err != nil {
		p.t.Fatal(err)
	}
	p.run("pg_basebackup", "-D", p.folder(standby), "-X", "stream", "-c", "fast", "--no-sync", "-U", "headroom", "-h", "127.0.0.1", "-p", fmt.Sprint(p.ports[p.Primary]))
	p.write(standby, "standby.signal", "")
	p.start(standby, false)
	p.configure(p.Primary, true)
	p.Ask(p.Primary, "SELECT pg_reload_conf()")
	await.Until(p.t, 2*maxSetup, "commits wait for the standby", func() bool {
		return p.Ask(p.Primary, "SELECT count(*)::text FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
	})
}

// Hang stops all processes of one of the two until goOn is called.
func (p *Pair) Hang(i int) (goOn func()) {
	all := p.processes(i)
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // one that is just gone needs none
	}
	return func() {
		for _, pid := range all {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

// End kills one of the two with all its processes, and waits for their end.
func (p *Pair) End(i int) {
	if p.servers[i] == nil {
		return
	}
	for _, pid := range p.processes(i) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // some are gone with others
	}
	<-p.ended[i]
	p.servers[i] = nil
}

func (p *Pair) folder(i int) string { return filepath.Join(p.dir, strconv.Itoa(i)) }

// run runs a program of Postgres to its end.
func (p *Pair) run(name string, arguments ...string) {
	p.t.Helper()
	c := exec.Command(filepath.Join(p.programs, name), arguments...)
	c.Dir, c.Env = "/", []string{"LC_ALL=C", "TZ=UTC"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	if said, err := c.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", name, err, said)
	}
}

func (p *Pair) write(i int, name, text string) {
	p.t.Helper()
	path := filepath.Join(p.folder(i), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// configure writes all settings of one of the two. With synchronous its commits wait for a standby.
func (p *Pair) configure(i int, synchronous bool) {
	p.t.Helper()
	names := ""
	if synchronous {
		names = "*"
	}
	p.write(i, "postgresql.conf", fmt.Sprintf(`
listen_addresses = '127.0.0.1'
port = %d
unix_socket_directories = ''
max_connections = 200
shared_buffers = 64MB
max_wal_size = 256MB
fsync = off # the disk is memory
jit = off
timezone = UTC
log_min_messages = warning
primary_conninfo = 'host=127.0.0.1 port=%d user=headroom'
synchronous_standby_names = '%s'
`, p.ports[i], p.ports[1-i], names))
}

// start starts one of the two, and returns when it answers.
func (p *Pair) start(i int, synchronous bool) {
	p.t.Helper()
	p.configure(i, synchronous)
	said, err := os.Create(filepath.Join(p.dir, fmt.Sprintf("log-%d", i)))
	if err != nil {
		p.t.Fatal(err)
	}
	defer said.Close()
	c := exec.Command(filepath.Join(p.programs, "postgres"), "-D", p.folder(i))
	c.Dir, c.Env, c.Stderr = "/", []string{"LC_ALL=C", "TZ=UTC"}, said
	c.SysProcAttr = &syscall.SysProcAttr{Credential: p.as, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	ended, err := startBound(c)
	if err != nil {
		p.t.Fatal(err)
	}
	p.servers[i], p.ended[i] = c, ended
	await.Until(p.t, 2*maxSetup, "Postgres answers", func() bool {
		conn, err := p.connect(i)
		if err == nil {
			_ = conn.Close(context.Background())
		}
		return err == nil
	})
}

func (p *Pair) connect(i int) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxSetup)
	defer cancel()
	return pgx.Connect(ctx, fmt.Sprintf("postgres://headroom@127.0.0.1:%d/postgres?sslmode=disable", p.ports[i]))
}

// Ask runs a statement on one of the two, and returns the first value.
func (p *Pair) Ask(i int, sql string) (value string) {
	p.t.Helper()
	conn, err := p.connect(i)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*maxSetup)
	defer cancel()
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	if err == nil {
		for rows.Next() {
			value = string(rows.RawValues()[0])
		}
		err = rows.Err()
	}
	if err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
	return value
}
