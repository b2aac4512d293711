// Package postgres stores the service's data. It holds every SQL statement, and turns the database's refusals into
// errors of the kinds of fault, once. Its method Stores returns the stores of package app.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/service/app"
)

// Config configures the connection to the database. Zero values stand for the defaults.
type Config struct {
	URL            string
	DirectURL      string        // of the database itself, if URL leads through a pooler; default URL
	MigrateURL     string        // of the user who may change the schema; default DirectURL
	SkipMigrations bool          // the schema is known to exist
	MaxConns       int           // default 20; at most half of them carry idempotent requests
	AcquireTimeout time.Duration // to wait for a connection, and to make one at first; default 2 s
	Statement      time.Duration // the longest a statement may take; default 5 s (bulk work 30 s)
	Log            *slog.Logger  // for a schema newer than this release; default none
}

func (c Config) withDefaults() Config {
	c.DirectURL = cmp.Or(c.DirectURL, c.URL)
	c.MigrateURL = cmp.Or(c.MigrateURL, c.DirectURL)
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

// idle is the longest time that a transaction may wait for its next statement. It is longer than any method but bulk
// work takes in all. So only a server that was stopped or cut off loses a transaction, and with it the locks that
// others wait for.
func (c Config) idle() time.Duration { return c.Statement + beyond + time.Second }

// Store is a pool of connections to a migrated database. It is safe for concurrent use.
type Store struct {
	pool   *pgxpool.Pool
	direct *pgxpool.Pool // to the database itself, for what needs sessions; pool if there is no pooler
	config Config
	pooled string // settings that each transaction makes behind a pooler
	pulse  *connection.Pulse
	turns  *turns
	places chan struct{} // for idempotent requests, so that others always find a connection
	sweep  sweeper

	river  *river.Client[pgx.Tx] // hands work out
	schema string                // of River's tables

	limits     planLimits
	leaseSweep sweeper

	observationSweep sweeper
	liveSweep        sweeper

	open context.Context // of background work until the store is closed
	end  context.CancelFunc
}

// Open migrates the database and creates a pool of connections that work as the service's role. A user who may not
// migrate but may work as that role is accepted if the schema is up to date.
func Open(ctx context.Context, c Config) (*Store, error) {
	c = c.withDefaults()
	var refused *connection.OwnerNeeded
	if !c.SkipMigrations {
		err := schema.Migrate(ctx, c.MigrateURL)
		if err == nil {
			err = schema.Grant(ctx, c.MigrateURL, c.URL)
		}
		if err != nil && !errors.As(err, &refused) {
			return nil, err
		}
	}
	status, err := schema.StatusOf(ctx, c.DirectURL)
	switch {
	case err != nil:
		return nil, err
	case refused != nil && !status.Role:
		return nil, refused
	case status.Have == status.Known && status.Behind():
		return nil, fmt.Errorf("the database's tables of background runs have version %d and this release needs %d; run \"headroom server migrate up\"", status.River, status.KnownRiver)
	case status.Behind():
		return nil, fmt.Errorf("the database's schema has version %d and this release needs %d; run \"headroom server migrate up\"", status.Have, status.Known)
	case status.Have > status.Known:
		c.Log.Warn("schema newer than this release", "have", status.Have, "known", status.Known)
	}
	inserter, err := newInserter(status.RiverSchema)
	if err != nil {
		return nil, err
	}
	s := &Store{config: c, pulse: connection.NewPulse(), turns: newTurns(), places: make(chan struct{}, max(1, c.MaxConns/2)), river: inserter, schema: status.RiverSchema}
	if err := s.makePools(ctx, status.Role); err != nil {
		return nil, err
	}
	s.open, s.end = context.WithCancel(context.WithoutCancel(ctx))
	return s, nil
}

// makePools makes the pools of connections.
func (s *Store) makePools(ctx context.Context, role bool) (err error) {
	c := s.config
	settings := [][2]string{{"statement_timeout", milliseconds(c.Statement)}, {"lock_timeout", milliseconds(c.Statement * 4 / 5)}, {"timezone", "UTC"},
		{connection.IdleTimeout, milliseconds(c.idle())}}
	if role {
		settings = append(settings, [2]string{"role", schema.Role})
	}
	session := connection.OfSession(settings) + "; SET application_name = 'headroom'; " + connection.IfGone(c.idle())
	if c.DirectURL != c.URL {
		pooled, err := connection.Pooled(ctx, c.URL)
		if err != nil {
			return err
		}
		if pooled {
			s.pooled = connection.OfTransaction(settings)
		}
	}
	if s.pooled == "" {
		s.pool, err = s.poolOf(ctx, c.URL, c.MaxConns, session)
		s.direct = s.pool
		return err
	}
	if s.pool, err = s.poolOf(ctx, c.URL, c.MaxConns, ""); err != nil {
		return err
	}
	if s.direct, err = s.poolOf(ctx, c.DirectURL, directConns, session); err != nil {
		s.pool.Close()
	}
	return err
}

// poolOf returns a pool of connections, whose sessions begin with the settings. Without any they lead to a pooler.
func (s *Store) poolOf(ctx context.Context, url string, most int, settings string) (*pgxpool.Pool, error) {
	pool, err := connection.Pool(ctx, connection.Config{URL: url, Most: most, Settings: settings, Usual: s.config.AcquireTimeout, Pulse: s.pulse,
		OnNotice: noteUnconfirmed})
	if err != nil {
		return nil, &connection.BadAddress{Cause: err}
	}
	return pool, nil
}

// directConns is the number of connections beside a pooler: background work is fetched and notified through them.
const directConns = 4

// Away returns a store whose database cannot be reached: all its methods fail with fault.Busy.
func Away() *Store {
	open, end := context.WithCancel(context.Background())
	return &Store{open: open, end: end, config: Config{}.withDefaults(), pulse: connection.NewPulse(), turns: newTurns(), places: make(chan struct{}, 1)}
}

// longestClose is enough for every database that answers; one that hangs must not hold up the end of the process.
const longestClose = time.Second

// Close waits briefly for work in progress, and closes every connection.
func (s *Store) Close() {
	s.end()
	if s.pool == nil {
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.pool.Close()
		s.direct.Close() // once more does nothing
	}()
	longest := longestClose
	if s.Silent() { // its connections would never close
		longest = 0
	}
	late := time.NewTimer(longest)
	defer late.Stop()
	select {
	case <-closed:
	case <-late.C:
	}
}

// Stat returns the pool's figures, for metrics.
func (s *Store) Stat() *pgxpool.Stat { return s.pool.Stat() }

// longestReady is the longest wait for an answer to the shortest question.
const longestReady = 3 * time.Second

// Ready reports whether reads can be answered.
func (s *Store) Ready(ctx context.Context) error {
	return s.readWithin(ctx, min(longestReady, s.longest()), func(ctx context.Context, q querier) error {
		var one int
		return q.QueryRow(ctx, `SELECT 1`).Scan(&one)
	})
}

// DatabaseAbout returns the versions of Postgres and of the tables.
func (s *Store) DatabaseAbout(ctx context.Context) (about app.DatabaseAbout, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		about, err = one[app.DatabaseAbout](ctx, q, `
			SELECT current_setting('server_version') AS version, (SELECT max(version_id) FROM goose_db_version) AS schema`, nil)
		return err
	})
	return about, err
}

// Silent reports whether the database is known not to answer at all.
func (s *Store) Silent() bool { return s.pulse.Silent() }

// Stores returns the database as the stores that the service asks for, one a subject.
func (s *Store) Stores() app.Stores {
	return app.Stores{
		Inputs: s, Kept: s, Profiles: s, Forecasts: s, Plans: s, Access: s, Database: s, Admissions: s, Calibrations: s, Executions: s, Fits: s,
		Drivers: s, Live: s, Observations: s, Packings: s, Promises: s, Reports: s, Runs: s, Servers: s, StoredPools: s, Webhooks: s,
	}
}
