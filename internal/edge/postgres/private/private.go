// Package private runs a Postgres of our own: its folder, its programs, its server process.
package private

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/fault"
)

const (
	// longestPrivateStart bounds a start. A healthy one takes a second or two the first time and a tenth of one
	// later; after a crash Postgres first replays its log.
	longestPrivateStart = 60 * time.Second
	// privateUser is the superuser that initdb creates and all connections use. privateDatabase holds Headroom's
	// tables. privatePort is only a part of the socket's name.
	privateUser     = "headroom"
	privateDatabase = "headroom"
	privatePort     = "5432"
)

// Config configures a private cluster.
type Config struct {
	// Dir is the data directory; the cluster has a folder of its own in it. When root starts Headroom, Postgres runs
	// as another user, who must be able to reach the directory.
	Dir string
	// Unsafe trades durability for speed: a crash of the machine may destroy the cluster, one of
	// processes does not. For tests.
	Unsafe bool
	// Log gets Postgres' messages; nil drops them.
	Log *slog.Logger
}

// Server is a running Postgres of our own. It listens on a unix socket that only its user and root can open, and it
// ends with this process, however that ends.
type Server struct {
	server *server
	socket string // the directory of its socket
	stop   sync.Once
	done   chan struct{}
	err    error // set before done is closed
}

// Start starts the cluster of a data directory and creates a missing one. It returns once the cluster accepts
// connections and has the database headroom. The context bounds only the start; Stop ends the cluster. Errors are
// sentences for the person who chose the directory.
func Start(ctx context.Context, config Config) (_ *Server, err error) {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, longestPrivateStart,
		fmt.Errorf("it was not ready within %.0f s", longestPrivateStart.Seconds()))
	defer cancel()
	log := config.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	home, err := openHome(config.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			home.close()
		}
	}()
	programs, err := findPrograms(os.Getenv("PATH"), programFolders, home.version)
	if err != nil {
		return nil, err
	}
	if err := home.checkAccess(ctx, programs); err != nil {
		return nil, err
	}
	first := home.version == ""
	if first {
		if err := home.makeCluster(ctx, programs, config.Unsafe); err != nil {
			return nil, err
		}
	}
	socket, err := home.makeSocketFolder()
	if err != nil {
		return nil, err
	}
	p := &Server{socket: socket, done: make(chan struct{})}
	p.server, err = startServer(ctx, home, programs, socket, config.Unsafe, log)
	if err != nil {
		return nil, busy{err} // the cluster exists, and may start another time
	}
	go func() {
		<-p.server.ended
		p.err = p.server.err
		home.close()
		close(p.done)
	}()
	if err := p.makeDatabase(ctx); err != nil {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, p.Stop(end))
		return nil, busy{err}
	}
	log.Info("private postgres started", "dir", home.dir, "version", programs.version, "made", first,
		"pid", p.server.command.Process.Pid, "duration_ms", time.Since(began).Milliseconds())
	return p, nil
}

// URL returns the address of a database in the cluster; "" is Headroom's own.
func (p *Server) URL(database string) string { return privateURL(p.socket, database) }

func privateURL(socket, database string) string {
	if database == "" {
		database = privateDatabase
	}
	query := url.Values{"host": {socket}, "port": {privatePort}, "sslmode": {"disable"}}.Encode()
	// A space is written %20, because some readers of such addresses do not decode a +.
	return "postgres://" + privateUser + "@/" + url.PathEscape(database) + "?" + strings.ReplaceAll(query, "+", "%20")
}

// Done is closed when Postgres has ended, asked to or not; then Err has the reason.
func (p *Server) Done() <-chan struct{} { return p.done }

// Err returns nil while Postgres runs and after a clean stop.
func (p *Server) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// lastWait is the time for Postgres to drop everything after the time for a clean stop is over.
const lastWait = 500 * time.Millisecond

// Stop ends Postgres: it cuts off open connections, and everything committed is on disk. When the context ends first,
// Postgres is killed. That loses nothing either, but the next start replays the log. Stop returns once Postgres is
// gone; a second call waits for the first.
func (p *Server) Stop(ctx context.Context) error {
	p.stop.Do(func() { p.server.signal(syscall.SIGINT) })
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
	}
	p.server.cutOff()
	<-p.done
	return fmt.Errorf("the private Postgres did not stop in time and was cut off; its next start repairs that: %w", context.Cause(ctx))
}

// makeDatabase creates Headroom's database if it is missing: on the first start, or after an interrupted one.
func (p *Server) makeDatabase(ctx context.Context) error {
	connection, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connect to the private Postgres: %w", err)
	}
	defer connection.Close(context.WithoutCancel(ctx))
	var there bool
	if err := connection.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", privateDatabase).Scan(&there); err != nil {
		return fmt.Errorf("look for the database %s: %w", privateDatabase, err)
	}
	if there {
		return nil
	}
	if _, err := connection.Exec(ctx, "CREATE DATABASE "+privateDatabase); err != nil {
		return fmt.Errorf("create the database %s: %w", privateDatabase, err)
	}
	return nil
}

// busy marks a failed start that may succeed another time.
type busy struct{ error }

func (e busy) Is(target error) bool { return target == fault.Busy }
func (e busy) Unwrap() error        { return e.error }
