package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.org/headroom/internal/service/runs"
)

// River returns connections whose sessions last, and the schema of River's tables, for a River client.
func (s *Store) River() (pool *pgxpool.Pool, schema string) { return s.direct, s.schema }

// notifyAgain is the time after a notification of new work until the next one may follow. River omits earlier ones,
// and work that was committed after the first was heard would wait for a poll.
const notifyAgain = time.Millisecond

// newInserter returns a client that only inserts.
func newInserter(schema string) (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(nil), &river.Config{Schema: schema, Logger: slog.New(slog.DiscardHandler), FetchCooldown: notifyAgain})
}

// dispatch hands work to whichever server has time, once the transaction has committed and the moment
// has come; the zero time is at once. It answers River's number for it.
func (s *Store) dispatch(ctx context.Context, q querier, work runs.Work, at time.Time) (id int64, err error) {
	tx, ok := q.(pgx.Tx)
	if !ok {
		return 0, errors.New("work is dispatched in a transaction")
	}
	inserted, err := s.river.InsertTx(ctx, tx, work, &river.InsertOpts{Queue: work.Queue(), MaxAttempts: work.MaxAttempts(), ScheduledAt: at})
	if err != nil {
		return 0, fmt.Errorf("dispatch %s: %w", work.Kind(), err)
	}
	return inserted.Job.ID, nil
}

// later returns the moment after a pause by the database's clock, which also decides when rows are due; the zero time
// is at once.
func later(ctx context.Context, q querier, after time.Duration) (at time.Time, err error) {
	if after > 0 {
		err = q.QueryRow(ctx, `SELECT clock_timestamp() + make_interval(secs => @after)`, pgx.NamedArgs{"after": after.Seconds()}).Scan(&at)
	}
	return at, err
}
