// Package postgres keeps what the service keeps: every SQL statement stands here, and what the
// database refuses becomes an error of the kinds of fault here, once. Its method Stores returns the stores of package app.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"headroom/internal/service/app"
)

// Role is the database role the service works as where it exists: it may neither change nor delete
// plans and the audit log.
const Role = "headroom_service"

// Config is how a store reaches its database. Zero values mean the defaults named.
type Config struct {
	URL            string
	MigrateURL     string        // who may change the schema; default URL
	SkipMigrations bool          // the schema is known to be there
	MaxConns       int           // default 20; at most half of them carry idempotent requests
	AcquireTimeout time.Duration // to wait for a connection, and to make one at first; default 2 s
	Statement      time.Duration // the longest a statement may take; default 5 s (bulk work 30 s)
	Log            *slog.Logger  // told about a schema newer than this release; default none
}

func (c Config) withDefaults() Config {
	if c.MigrateURL == "" {
		c.MigrateURL = c.URL
	}
	if c.MaxConns <= 0 {
		c.MaxConns = 20
	}
	if c.AcquireTimeout <= 0 {
		c.AcquireTimeout = 2 * time.Second
	}
	if c.Statement <= 0 {
		c.Statement = 5 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// idle is how long a transaction may wait for its next statement: longer than any method but bulk work takes in all, so
// that only a server that was stopped or cut off loses one, and with it the locks that others wait for.
func (c Config) idle() time.Duration { return c.Statement + beyond + time.Second }

// dialer notices within half a minute that nobody is at the other end any longer; ifGone makes the database do so too.
var dialer = net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}

func ifGone(idle time.Duration) string {
	return "SET idle_in_transaction_session_timeout = " + milliseconds(idle) +
		"; SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 25000"
}

// Store is a pool of connections to a migrated database. It is safe for concurrent use.
type Store struct {
	pool   *pgxpool.Pool
	config Config
	pulse  *pulse
	turns  *turns
	places chan struct{} // for idempotent requests, so that others always find a connection
	sweep  sweeper

	river  *river.Client[pgx.Tx] // hands work out
	schema string                // of River's tables

	limits     planLimits
	leaseSweep sweeper

	observationSweep sweeper
	liveSweep        sweeper

	open context.Context // of what goes on by itself until the store is closed
	end  context.CancelFunc
}

// Open migrates the database and makes a pool of connections that work as the service's role. A user who may not
// migrate but may work as that role is let in where the schema is up to date.
func Open(ctx context.Context, c Config) (*Store, error) {
	c = c.withDefaults()
	var refused *ownerNeeded
	if !c.SkipMigrations {
		err := Migrate(ctx, c.MigrateURL)
		if err == nil {
			err = grantTo(ctx, c.MigrateURL, c.URL)
		}
		if err != nil && !errors.As(err, &refused) {
			return nil, err
		}
	}
	status, err := StatusOf(ctx, c.URL)
	switch {
	case err != nil:
		return nil, err
	case refused != nil && !status.Role:
		return nil, refused
	case status.Have == status.Known && status.Behind():
		return nil, fmt.Errorf("the database's tables of background runs have version %d and this release needs %d; run \"headroom migrate up\"", status.River, status.KnownRiver)
	case status.Behind():
		return nil, fmt.Errorf("the database's schema has version %d and this release needs %d; run \"headroom migrate up\"", status.Have, status.Known)
	case status.Have > status.Known:
		c.Log.Warn("schema newer than this release", "have", status.Have, "known", status.Known)
	}
	config, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, &badAddress{err}
	}
	config.MaxConns = int32(min(c.MaxConns, 1000))
	dial := dialer
	dial.Timeout = c.AcquireTimeout // a busy machine still accepts; what does not is not there
	config.ConnConfig.DialFunc = dial.DialContext
	heart := newPulse()
	connects := newGate(c.AcquireTimeout, heart)
	config.BeforeConnect = connects.before
	setting := fmt.Sprintf("SET statement_timeout = %d; SET lock_timeout = %d; SET timezone = 'UTC'; SET application_name = 'headroom'; ",
		c.Statement.Milliseconds(), c.Statement.Milliseconds()*4/5) + ifGone(c.idle())
	if status.Role {
		setting += "; SET ROLE " + Role
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		timesInUTC(conn.TypeMap())
		place := conn.Config().Tracer.(*connecting)
		ctx, cancel := context.WithTimeout(ctx, place.limit)
		defer cancel()
		_, err := conn.Exec(ctx, setting)
		place.done(err)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, &badAddress{err}
	}
	inserter, err := newInserter(status.RiverSchema)
	if err != nil {
		pool.Close()
		return nil, err
	}
	open, end := context.WithCancel(context.WithoutCancel(ctx))
	return &Store{open: open, end: end, pool: pool, config: c, pulse: heart, turns: newTurns(), places: make(chan struct{}, max(1, c.MaxConns/2)), river: inserter, schema: status.RiverSchema}, nil
}

// timesInUTC makes times come out in UTC, not in the zone this process happens to run in.
func timesInUTC(m *pgtype.Map) {
	m.RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
}

// Away is a store whose database cannot be reached: everything is fault.Busy.
func Away() *Store {
	open, end := context.WithCancel(context.Background())
	return &Store{open: open, end: end, config: Config{}.withDefaults(), pulse: newPulse(), turns: newTurns(), places: make(chan struct{}, 1)}
}

// longestClose is enough for all that a database answers; one that hangs must not hold up the end of
// the process.
const longestClose = time.Second

// Close waits for what is going on, though not for long, and closes every connection.
func (s *Store) Close() {
	s.end()
	if s.pool == nil {
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.pool.Close()
	}()
	longest := longestClose
	if s.Silent() { // whose connections are not closed in any time
		longest = 0
	}
	late := time.NewTimer(longest)
	defer late.Stop()
	select {
	case <-closed:
	case <-late.C:
	}
}

// Stat is what the pool is doing, for metrics.
func (s *Store) Stat() *pgxpool.Stat { return s.pool.Stat() }

// Ready says whether reads can be answered.
func (s *Store) Ready(ctx context.Context) error {
	return s.readWithin(ctx, min(longestReady, s.longest()), func(ctx context.Context, q querier) error {
		var one int
		return q.QueryRow(ctx, `SELECT 1`).Scan(&one)
	})
}

// DatabaseAbout is the version of Postgres and that of the tables.
func (s *Store) DatabaseAbout(ctx context.Context) (about app.DatabaseAbout, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		about, err = one[app.DatabaseAbout](ctx, q, `
			SELECT current_setting('server_version') AS version, (SELECT max(version_id) FROM goose_db_version) AS schema`, nil)
		return err
	})
	return about, err
}

// Silent says whether the database is known to say nothing at all.
func (s *Store) Silent() bool { return s.pulse.silent.Load() }

// badAddress keeps what was wrong with a database's address, which may hold a password, out of sight.
type badAddress struct{ cause error }

func (e *badAddress) Error() string {
	return "the database's address cannot be used; give one such as postgres://user:password@host:5432/name"
}
func (e *badAddress) Unwrap() error { return e.cause }

// Stores returns the database as the stores that the service asks for, one a subject.
func (s *Store) Stores() app.Stores {
	return app.Stores{
		Inputs: s, Profiles: s, Forecasts: s, Plans: s, Access: s, Database: s, Admissions: s, Calibrations: s, Executions: s, Fits: s,
		Live: s, Observations: s, Packings: s, Reports: s, Runs: s, StoredPools: s, Webhooks: s,
	}
}
