package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.org/headroom/internal/edge/postgres/connection"
)

// querier is a connection, in a transaction or not.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

type joinKey struct{}

// joined returns the transaction that a context from Once carries.
func joined(ctx context.Context) (pgx.Tx, bool) {
	tx, ok := ctx.Value(joinKey{}).(pgx.Tx)
	return tx, ok
}

// beyond is the additional time of a method beyond one statement: a server that accepts and then never answers must
// not hold its callers. Bulk work gets more.
const (
	beyond          = 2 * time.Second
	longestBulk     = 2 * time.Minute
	longestRollback = 2 * time.Second
	longestLook     = 5 * time.Second // for the reason of a refused change
)

func (s *Store) longest() time.Duration { return s.config.Statement + beyond }

// bound limits a method's wait for the database, and shortens it when the database falls silent. Bulk work that has
// begun keeps its time.
func (s *Store) bound(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc) {
	if longest > s.longest() {
		return context.WithTimeout(ctx, longest)
	}
	return s.pulse.Bound(ctx, longest)
}

// read runs single statements on one connection.
func (s *Store) read(ctx context.Context, work func(context.Context, querier) error) error {
	return s.readWithin(ctx, s.longest(), work)
}

func (s *Store) readWithin(ctx context.Context, longest time.Duration, work func(context.Context, querier) error) error {
	if _, within := joined(ctx); !within && s.pooled != "" {
		return s.transact(ctx, longest, pgx.TxOptions{}, work)
	}
	since := s.pulse.Replies()
	bounded, cancel := s.bound(ctx, longest)
	defer cancel()
	if tx, ok := joined(ctx); ok {
		return s.ended(ctx, bounded, since, kindOf(ctx, tx.Conn(), savepoint(bounded, tx, "", work)))
	}
	conn, err := s.acquire(bounded)
	if err != nil {
		return err
	}
	defer conn.Release()
	return s.ended(ctx, bounded, since, kindOf(ctx, conn.Conn(), work(bounded, conn)))
}

// ended records a method without any answer in all its time.
func (s *Store) ended(ctx, bounded context.Context, since int64, err error) error {
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		s.pulse.Missed(since)
	}
	return err
}

// readAll runs statements that all see the same moment.
func (s *Store) readAll(ctx context.Context, work func(context.Context, querier) error) error {
	return s.transact(ctx, s.longest(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, work)
}

// write runs statements that take effect together or not at all.
func (s *Store) write(ctx context.Context, work func(context.Context, querier) error) error {
	return s.transact(ctx, s.longest(), pgx.TxOptions{}, work)
}

// joining wraps work that calls other methods with its context; they become part of its transaction.
func joining(work func(context.Context, querier) error) func(context.Context, querier) error {
	return func(ctx context.Context, q querier) error {
		if tx, within := q.(pgx.Tx); within {
			ctx = context.WithValue(ctx, joinKey{}, tx)
		}
		return work(ctx, q)
	}
}

// writeMuch is write for work on a hundred thousand rows.
func (s *Store) writeMuch(ctx context.Context, work func(context.Context, querier) error) error {
	return s.transact(ctx, longestBulk, pgx.TxOptions{}, func(ctx context.Context, q querier) error {
		return s.slowly(ctx, q, work)
	})
}

// slowly lets statements take as long as bulk work needs. Between them it takes no longer than other work.
func (s *Store) slowly(ctx context.Context, q querier, work func(context.Context, querier) error) error {
	const factor = 6
	if _, err := q.Exec(ctx, `SELECT set_config('statement_timeout', $1, true)`, milliseconds(factor*s.config.Statement)); err != nil {
		return err
	}
	if err := work(ctx, q); err != nil {
		return err
	}
	_, err := q.Exec(ctx, `SELECT set_config('statement_timeout', $1, true)`, milliseconds(s.config.Statement)) // for what joins this transaction later
	return err
}

// writeBetween is write in two round trips to the database: the queries of first go with the transaction's beginning,
// and the statements that work returns go with its end; nil is none. Work may use the transaction besides, and its
// context joins it.
func (s *Store) writeBetween(ctx context.Context, bulk bool, first func(*pgx.Batch), work func(context.Context, querier) (last *pgx.Batch, err error)) error {
	if _, within := joined(ctx); within || bulk {
		write := s.write
		if bulk {
			write = s.writeMuch
		}
		return write(ctx, joining(func(ctx context.Context, q querier) error {
			var asked pgx.Batch
			first(&asked)
			if err := q.SendBatch(ctx, &asked).Close(); err != nil {
				return err
			}
			last, err := work(ctx, q)
			if err != nil || last == nil {
				return err
			}
			return q.SendBatch(ctx, last).Close()
		}))
	}
	since := s.pulse.Replies()
	bounded, cancel := s.bound(ctx, s.longest())
	defer cancel()
	conn, err := s.acquire(bounded)
	if err != nil {
		return err
	}
	defer conn.Release()
	return s.ended(ctx, bounded, since, kindOf(ctx, conn.Conn(), func() error {
		var asked pgx.Batch
		asked.BeginTx(pgx.TxOptions{})
		if s.pooled != "" {
			asked.Queue(s.pooled)
		}
		first(&asked)
		answers := conn.SendBatch(bounded, &asked)
		tx := answers.Tx()
		defer func() {
			if conn.Conn().PgConn().TxStatus() != 'I' { // it is open still
				rollback(ctx, tx)
			}
		}()
		if err := answers.Close(); err != nil {
			return err
		}
		last, err := work(context.WithValue(bounded, joinKey{}, tx), tx)
		if err != nil {
			return err
		}
		if last == nil { // joined work takes effect all the same
			return tx.Commit(bounded)
		}
		last.Queue("commit")
		return tx.SendBatch(bounded, last).Close()
	}()))
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func (s *Store) transact(ctx context.Context, within time.Duration, options pgx.TxOptions, work func(context.Context, querier) error) error {
	since := s.pulse.Replies()
	bounded, cancel := s.bound(ctx, within)
	defer cancel()
	if tx, ok := joined(ctx); ok {
		setting := ""
		if options.AccessMode != pgx.ReadOnly { // others may need its locks: from here on the transaction is soon over
			setting = "SET LOCAL " + connection.IdleTimeout + " = " + milliseconds(s.config.idle())
		}
		return s.ended(ctx, bounded, since, kindOf(ctx, tx.Conn(), savepoint(bounded, tx, setting, work)))
	}
	conn, err := s.acquire(bounded)
	if err != nil {
		return err
	}
	defer conn.Release()
	return s.ended(ctx, bounded, since, kindOf(ctx, conn.Conn(), func() error {
		tx, err := s.begin(bounded, conn, options)
		if err != nil {
			return err
		}
		defer rollback(ctx, tx) // does nothing after the commit
		if err := work(bounded, tx); err != nil {
			return err
		}
		return tx.Commit(bounded)
	}()))
}

// begin starts a transaction, which takes no time even if its work may take long: a database that does not answer
// here does not answer at all.
func (s *Store) begin(ctx context.Context, conn *pgxpool.Conn, options pgx.TxOptions) (pgx.Tx, error) {
	bounded, cancel := s.bound(ctx, s.longest())
	defer cancel()
	if s.pooled != "" {
		options.BeginQuery = beginning(options, s.pooled)
	}
	return conn.BeginTx(bounded, options)
}

// savepoint makes a method's effect one unit inside a bigger transaction. Its settings remain unless the effect is
// undone.
func savepoint(ctx context.Context, outer pgx.Tx, setting string, work func(context.Context, querier) error) error {
	if _, err := outer.Exec(ctx, "SAVEPOINT method; "+setting); err != nil {
		return err
	}
	if err := work(ctx, outer); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRollback)
		defer cancel()
		_, _ = outer.Exec(ctx, "ROLLBACK TO method; RELEASE method") // a connection that cannot even do this is closed
		return err
	}
	_, err := outer.Exec(ctx, "RELEASE method")
	return err
}

// rollback ends a transaction that was not committed, also when its caller is gone or panics.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRollback)
	defer cancel()
	_ = tx.Rollback(ctx) // a connection that cannot even do this is closed, which rolls back as well
}

var errAway = errors.New("there is no connection to it yet")

// acquire waits for a connection, but not for long.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if s.pool == nil {
		return nil, &connection.Busy{Sentence: connection.Away, Cause: errAway}
	}
	silent, since := s.pulse.Silent(), s.pulse.Replies()
	bounded, cancel := s.bound(ctx, s.config.AcquireTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(bounded)
	if err == nil {
		return conn, nil
	}
	if ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		s.pulse.Missed(since)
	}
	switch {
	case errors.Is(context.Cause(bounded), connection.ErrSilent), silent && errors.Is(bounded.Err(), context.DeadlineExceeded):
		return nil, &connection.Busy{Sentence: connection.Slow, Cause: err}
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, &connection.Busy{Sentence: fmt.Sprintf("the database had no connection to give within %s; try again in a moment", s.config.AcquireTimeout), Cause: err}
	}
	return nil, &connection.Busy{Sentence: connection.SentenceFor(err), Cause: err}
}

// beginning returns a statement that begins a transaction with settings of its own.
func beginning(options pgx.TxOptions, settings string) string {
	begin := "BEGIN"
	if options.IsoLevel != "" {
		begin += " ISOLATION LEVEL " + string(options.IsoLevel)
	}
	if options.AccessMode != "" {
		begin += " " + string(options.AccessMode)
	}
	return begin + "; " + settings
}
