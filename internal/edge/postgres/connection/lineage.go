package connection

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lineage keeps the connections of a pool at the newest primary. A promoted standby begins another timeline. The first connection to it
// cuts off all those to the former primary, also in the middle of a request: one that hangs would hold each for seconds. It would not
// count as silent while the new primary answers. A former primary that comes back is refused.
type lineage struct {
	mu       sync.Mutex
	system   string // identifies the data, whose timelines can be compared
	timeline int64
	open     map[*pgconn.PgConn]bool
}

var errFormer = errors.New("this server is a former primary: another one has been promoted since")

// check asks a new connection for its timeline. One in recovery has none of its own.
func (l *lineage) check(ctx context.Context, c *pgconn.PgConn) error {
	answers, err := c.Exec(ctx, `SELECT system_identifier, CASE WHEN pg_is_in_recovery() THEN '0' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END FROM pg_control_system()`).ReadAll()
	var said *pgconn.PgError
	if errors.As(err, &said) { // no Postgres as we know it
		return nil
	}
	if err != nil {
		return err
	}
	system := string(answers[0].Rows[0][0])
	timeline, err := strconv.ParseInt(string(answers[0].Rows[0][1]), 16, 64)
	if err != nil || timeline == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case system == l.system && timeline < l.timeline:
		return errFormer
	case system != l.system || timeline > l.timeline:
		for former := range l.open {
			_ = former.Conn().Close() // a request that waits there ends at once
		}
		l.system, l.timeline, l.open = system, timeline, map[*pgconn.PgConn]bool{}
	}
	l.open[c] = true
	return nil
}

func (l *lineage) forget(c *pgx.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c.PgConn())
}
