package connection

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.org/headroom/internal/edge/postgres/private"
)

// longestClose is the longest that a connection which Session made takes to end.
const longestClose = 2 * time.Second

// longestIdle is the longest time that a migration, or another transaction of the owner, may hold locks without a
// statement.
const longestIdle = time.Minute

// Session makes one connection, and refuses servers that are too old and poolers that keep no session.
func Session(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := connectionTo(url)
	if err != nil {
		return nil, err
	}
	conn, err := connected(ctx, config)
	if err != nil {
		return nil, err
	}
	if release := ServerRelease(conn); release > 0 && release < private.OldestPostgres {
		Close(ctx, conn)
		return nil, fmt.Errorf("the database is PostgreSQL %d; Headroom needs %d or newer", release, private.OldestPostgres)
	}
	pooled, err := shared(ctx, conn)
	if err == nil && !pooled {
		_, err = conn.Exec(ctx, IfGone(longestIdle))
	}
	switch {
	case err != nil:
		err = SetupError(ctx, "begin a session of the database", err)
	case pooled:
		err = errPooled
	default:
		return conn, nil
	}
	Close(ctx, conn)
	return nil, err
}

func connectionTo(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, &BadAddress{err}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 3 * time.Second
	}
	config.DialFunc = Dialer.DialContext
	return config, nil
}

func connected(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, &Busy{SentenceFor(err), err}
}

// Located adds to an error, for the operator alone, at which hosts the database was looked for and what became of it there.
// The driver's words name the user and the database, never the password.
func Located(url string, err error) error {
	var refused *pgconn.ConnectError
	config, wrong := pgx.ParseConfig(url)
	if wrong != nil || !errors.As(err, &refused) {
		return err
	}
	var reasons []string // of several hosts, or of one with and without TLS
	for line := range strings.Lines(refused.Unwrap().Error()) {
		reason := strings.TrimSpace(line)
		if _, dialled, ok := strings.Cut(reason, "dial error: "); ok {
			reason = dialled // which names host and port itself
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	said := strings.Join(reasons, "; ")
	if port := fmt.Sprint(config.Port); !strings.Contains(said, ":"+port) {
		said = net.JoinHostPort(config.Host, port) + ": " + said
	}
	return fmt.Errorf("%w: %s", err, said)
}

// ServerRelease returns 15 for "15.18 (Debian …)", or 0 if it cannot be read.
func ServerRelease(conn *pgx.Conn) (release int) {
	_, _ = fmt.Sscanf(conn.PgConn().ParameterStatus("server_version"), "%d", &release)
	return release
}

// Close ends a connection, also where its caller is gone.
func Close(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestClose)
	defer cancel()
	_ = conn.Close(ctx)
}
