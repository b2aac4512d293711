package connection

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A pooler such as PgBouncer in transaction mode gives each transaction another session of the database. Through it
// the store keeps nothing in a session: settings and the role belong to a transaction, and statements have no names.
// What needs a session goes to the database itself: migrations, notifications and the fetching of background work.

// lookForPooler is the longest that one of the questions about a pooler may take.
const lookForPooler = 3 * time.Second

var errPooled = errors.New("this address of the database leads through a connection pooler that gives each transaction another session, " +
	"such as PgBouncer in transaction mode. Set DATABASE_DIRECT_URL to the address of the database itself as well")

// session returns the database's session that works for a connection. The question is none of a prepared statement.
func session(ctx context.Context, conn *pgx.Conn) (id uint32, err error) {
	err = conn.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&id)
	return id, err
}

// shared reports whether a connection leads to a pooler that gives transactions other sessions. Without a pooler the
// database names the session when the connection begins. Behind one that keeps sessions, two connections always have
// the same two.
func shared(ctx context.Context, conn *pgx.Conn) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookForPooler)
	defer cancel()
	own, err := session(ctx, conn)
	if err != nil || own == conn.PgConn().PID() {
		return false, err
	}
	config := conn.Config().Copy()
	config.AfterConnect = nil
	second, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer Close(ctx, second)
	other, err := session(ctx, second)
	if err != nil || other == own {
		return true, err
	}
	for _, c := range []*pgx.Conn{second, conn, conn, second, conn} {
		id, err := session(ctx, c)
		if err != nil {
			return false, err
		}
		if c == conn && id != own || c == second && id != other {
			return true, nil
		}
	}
	return false, nil
}

// Pooled reports whether an address leads to a pooler that gives each transaction another session of the database.
func Pooled(ctx context.Context, url string) (bool, error) {
	config, err := connectionTo(url)
	if err != nil {
		return false, err
	}
	conn, err := connected(ctx, config)
	if err != nil {
		return false, err
	}
	defer Close(ctx, conn)
	pooled, err := shared(ctx, conn)
	if err != nil {
		return false, SetupError(ctx, "look for a connection pooler", err)
	}
	return pooled, nil
}

// OfTransaction is a statement that makes settings for the rest of a transaction.
func OfTransaction(settings [][2]string) string {
	var calls []string
	for _, s := range settings {
		calls = append(calls, "set_config('"+s[0]+"', '"+s[1]+"', true)")
	}
	return "SELECT " + strings.Join(calls, ", ")
}

// OfSession is a statement that makes settings for the rest of a session.
func OfSession(settings [][2]string) string {
	return strings.ReplaceAll(OfTransaction(settings), ", true)", ", false)")
}

// IfGone makes the database notice within half a minute that we are gone, as the dialer does for it.
func IfGone(idle time.Duration) string {
	return OfSession([][2]string{{IdleTimeout, strconv.FormatInt(idle.Milliseconds(), 10)}, {"tcp_keepalives_idle", "10"}, {"tcp_keepalives_interval", "5"},
		{"tcp_keepalives_count", "3"}, {"tcp_user_timeout", "25000"}})
}

// IdleTimeout names the setting that ends a transaction whose next statement does not come.
const IdleTimeout = "idle_in_transaction_session_timeout"
