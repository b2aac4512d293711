// Package pgtest gives a test a migrated database of its own, in tens of milliseconds: a copy of a template. A
// package whose tests use it calls Main:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
// The server is the one at HEADROOM_TEST_DATABASE_URL, whose user must be able to create databases, or else a private
// one that lives as long as the tests.
package pgtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/test/await"
)

// ServerVariable names the server that tests use instead of one of their own.
const ServerVariable = "HEADROOM_TEST_DATABASE_URL"

const maxSetup = 60 * time.Second

// server is shared by all tests of the process. It starts with the first test that needs it.
var server struct {
	once     sync.Once
	err      error
	url      func(database string) string
	template string
	copying  string // option for copying a database
	stop     func()
}

// Main runs the tests of a package and ends the private server, if one was started. If the tests pass, it checks that
// they left no goroutine behind.
func Main(m *testing.M) { os.Exit(Clean(Run(m))) }

// Run is Main for a package whose tests have other things to clean up; it returns the exit code, for Clean.
func Run(m interface{ Run() int }) int {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	return code
}

// Clean turns an exit code into a failure if a goroutine is left.
func Clean(code int) int {
	if code != 0 {
		return code
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := goleak.Find(goleak.IgnoreTopFunction("testing.runFuzzing")); err != nil {
		fmt.Fprintln(os.Stderr, "the tests have left behind:", err)
		return 1
	}
	return code
}

// TheyWait lets more tests run at once than there are processors, for a package whose tests mostly wait. The flag
// -parallel overrides it.
func TheyWait() {
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
}

// Database makes a migrated database and returns its address. It is dropped if the test passes, and otherwise kept
// with its name in the log.
func Database(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), maxSetup)
	defer cancel()
	server.once.Do(func() { server.err = start(ctx) })
	if server.err != nil {
		t.Fatalf("no database for tests: %v", server.err)
	}
	name := "headroom_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if err := administer(ctx, "CREATE DATABASE "+name+" TEMPLATE "+server.template+server.copying); err != nil {
		t.Fatalf("make a database: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the database is kept as long as its server runs: %s", name)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), maxSetup)
		defer cancel()
		if err := administer(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	made.Store(server.url(name), true)
	return server.url(name)
}

// Open makes a migrated database and a store on it.
func Open(t testing.TB) *postgres.Store {
	t.Helper()
	return OpenWith(t, postgres.Config{})
}

// OpenWith is Open with a configuration. It fills in the URL if there is none.
func OpenWith(t testing.TB, c postgres.Config) *postgres.Store {
	t.Helper()
	if c.URL == "" {
		c.URL = Database(t)
	}
	c.SkipMigrations = true
	behindPooler(t, &c)
	store, err := postgres.Open(context.Background(), c)
	if err != nil {
		t.Fatalf("open the database: %v", err)
	}
	t.Cleanup(store.Close)
	return store
}

// Empty makes a database without a schema.
func Empty(t testing.TB) string {
	t.Helper()
	address := Database(t)
	ctx, cancel := context.WithTimeout(context.Background(), maxSetup)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS river CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public"); err != nil {
		t.Fatal(err)
	}
	return address
}

// Outlast waits until every transaction that had begun before is over, in all databases of the server. Only then does
// the audit log list everything written before. It waits for other tests, however busy the machine is.
func Outlast(t testing.TB) {
	t.Helper()
	const longest = 5 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	conn, err := pgx.Connect(ctx, server.url(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var now string
	if err := conn.QueryRow(ctx, "SELECT pg_current_xact_id()::text").Scan(&now); err != nil {
		t.Fatal(err)
	}
	for range await.Tries(longest) {
		var settled bool
		if err := conn.QueryRow(ctx, "SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8", now).Scan(&settled); err != nil { // or the time is over
			t.Fatalf("another test's transaction is still open: %v", err)
		}
		if settled {
			return
		}
	}
	t.Fatal("another test's transaction is still open")
}

// start finds or starts the server and makes the template.
func start(ctx context.Context) error {
	if address := os.Getenv(ServerVariable); address != "" {
		at, err := url.Parse(address)
		if err != nil {
			return fmt.Errorf("%s is no address such as postgres://user@host/name", ServerVariable)
		}
		server.url = func(database string) string {
			if database == "" {
				return address
			}
			other := *at
			other.Path = "/" + database
			return other.String()
		}
	} else if err := startPrivate(ctx); err != nil {
		return err
	}
	return makeTemplate(ctx)
}

func startPrivate(ctx context.Context) error {
	base := RoomyMemory()
	removeAbandoned(base)
	dir, err := os.MkdirTemp(base, clusterPrefix)
	if err != nil {
		return err
	}
	private, err := private.Start(ctx, private.Config{Dir: dir, Unsafe: true})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	server.url = private.URL
	server.copying = " STRATEGY FILE_COPY" // the faster way if a checkpoint costs nothing
	server.stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), maxSetup)
		defer cancel()
		if err := errors.Join(private.Stop(ctx), os.RemoveAll(dir)); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest:", err)
		}
	}
	return nil
}

// RoomyMemory returns a directory for clusters whose disk does not matter. It is in memory, where copying a database
// takes 40 ms instead of several hundred, unless there is too little of it.
func RoomyMemory() string {
	const memory, enough = "/dev/shm", 1 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err == nil && uint64(fs.Bsize)*fs.Bavail >= enough {
		return memory
	}
	return "/tmp" // the user of Postgres can reach it
}

const clusterPrefix = "headroom-pgtest-"

// removeAbandoned removes the directories of killed test processes; their servers are gone.
func removeAbandoned(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, clusterPrefix+"*")) // the pattern is a good one
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < time.Hour {
			continue // perhaps just being made
		}
		if _, running, err := private.Attach(dir); err == nil && !running {
			_ = os.RemoveAll(dir) // another process may be doing the same
		}
	}
}

// makeTemplate migrates a database to copy from, unless there is one for exactly these migrations. Test processes
// that share a server wait for each other here.
func makeTemplate(ctx context.Context) error {
	server.template = "headroom_template_" + schema.Sum()
	conn, err := pgx.Connect(ctx, server.url(""))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	const templateLock = 0x70677465737421                                                         // "pgtest!"
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(templateLock)); err != nil { // until the connection ends
		return err
	}
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", server.template).Scan(&exists); err != nil || exists {
		return err
	}
	making := server.template + "_making" // a process that dies leaves nothing that looks finished
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + making + " WITH (FORCE)", "CREATE DATABASE " + making + " TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := schema.Migrate(ctx, server.url(making)); err != nil {
		return err
	}
	for _, statement := range []string{
		"ALTER DATABASE " + making + " WITH ALLOW_CONNECTIONS false", // a database with connections cannot be copied
		"ALTER DATABASE " + making + " RENAME TO " + server.template,
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// administer runs one statement in the server's own database.
func administer(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, server.url(""))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
