package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
)

const (
	longestTurn = 10 * time.Second // to wait for a copy of a request, or for a place
	longestOnce = 20 * time.Minute // limit of the transaction's wait for a solver
	sweepEvery  = time.Minute
)

// Once does something at most once per principal and key (see app.Store). Copies of a request in this process wait in
// memory. Copies elsewhere wait in the database, where the record comes first.
func (s *Store) Once(ctx context.Context, key app.OnceKey, do func(context.Context) (app.Answer, error)) (answer app.Answer, replayed bool, err error) {
	s.sweepOld(ctx)
	waiter, cancel := context.WithTimeout(ctx, longestTurn)
	defer cancel()
	leave, err := s.turns.enter(waiter, key.Principal+"\x00"+key.Key)
	if err != nil {
		return answer, false, busyUnlessGone(ctx, connection.Waiting, err)
	}
	defer leave()
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-waiter.Done():
		return answer, false, busyUnlessGone(ctx, connection.Exhausted, waiter.Err())
	}

	conn, err := s.acquire(ctx)
	if err != nil {
		return answer, false, err
	}
	defer conn.Release()
	var failed error // the error of do, which already has its kind
	err = kindOf(ctx, conn.Conn(), func() error {
		tx, err := s.begin(ctx, conn, pgx.TxOptions{})
		if err != nil {
			return err
		}
		defer rollback(ctx, tx) // does nothing after the commit, and everything after a panic
		// do has bounds of its own, and solving may take long; the rest must not hang.
		before, cancel := s.bound(ctx, s.longest())
		defer cancel()
		first, err := s.reserve(before, tx, key)
		if err != nil {
			return err
		}
		if !first {
			answer, err = recall(before, tx, key)
			replayed = err == nil
			return err
		}
		if answer, failed = do(context.WithValue(ctx, joinKey{}, tx)); failed != nil || !answer.Keep {
			return nil
		}
		after, cancel := s.bound(ctx, s.longest())
		defer cancel()
		if err := keep(after, tx, key, answer); err != nil {
			return err
		}
		return tx.Commit(after)
	}())
	if failed != nil {
		return app.Answer{}, false, failed
	}
	if err != nil {
		return app.Answer{}, false, err
	}
	return answer, replayed, nil
}

func busyUnlessGone(ctx context.Context, sentence string, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return &connection.Busy{Sentence: sentence, Cause: err}
}

// reserve writes the record without an answer. It waits for a running transaction that wrote the same one, and takes
// over a record older than a day. Until something else is written, only copies of the request wait for this
// transaction, so it may be idle while a solver works.
func (s *Store) reserve(ctx context.Context, tx pgx.Tx, key app.OnceKey) (first bool, err error) {
	var asked pgx.Batch
	asked.Queue(`
		INSERT INTO idempotency AS i (principal, key, fingerprint) VALUES (@principal, @key, @fingerprint)
		ON CONFLICT (principal, key) DO UPDATE SET fingerprint = @fingerprint, created_at = now(), status = NULL, header = NULL, body = NULL
		WHERE i.created_at < now() - interval '24 hours'`,
		pgx.NamedArgs{"principal": key.Principal, "key": key.Key, "fingerprint": key.Fingerprint[:]}).
		Exec(func(done pgconn.CommandTag) error { first = done.RowsAffected() == 1; return nil })
	asked.Queue(`SELECT set_config('idle_in_transaction_session_timeout', $1, true)`, milliseconds(longestOnce))
	return first, tx.SendBatch(ctx, &asked).Close()
}

func recall(ctx context.Context, tx pgx.Tx, key app.OnceKey) (app.Answer, error) {
	type row struct {
		Fingerprint []byte
		Status      int
		Header      json.RawMessage
		Body        []byte
	}
	r, err := one[row](ctx, tx, `SELECT fingerprint, status, header, body FROM idempotency WHERE principal = @principal AND key = @key`,
		pgx.NamedArgs{"principal": key.Principal, "key": key.Key})
	if err != nil {
		return app.Answer{}, err
	}
	if auth.Hash(r.Fingerprint) != key.Fingerprint {
		return app.Answer{}, invalid("this Idempotency-Key was used for another request within the last 24 hours; give a new request a key of its own")
	}
	a := app.Answer{Status: r.Status, Body: r.Body, Keep: true}
	return a, json.Unmarshal(r.Header, &a.Header)
}

func keep(ctx context.Context, tx pgx.Tx, key app.OnceKey, a app.Answer) error {
	header, err := json.Marshal(a.Header)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE idempotency SET status = @status, header = @header, body = @body WHERE principal = @principal AND key = @key`,
		pgx.NamedArgs{"principal": key.Principal, "key": key.Key, "status": a.Status, "header": header, "body": a.Body})
	return err
}

// sweeper remembers the last deletion of old records.
type sweeper struct {
	mu   sync.Mutex
	last time.Time
}

// sweepOld now and then deletes records older than a day. It waits for nobody; a failure is left for the next time.
func (s *Store) sweepOld(ctx context.Context) {
	s.sweep.mu.Lock()
	due := time.Since(s.sweep.last) > sweepEvery
	if due {
		s.sweep.last = time.Now()
	}
	s.sweep.mu.Unlock()
	if !due {
		return
	}
	_ = s.write(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `
			DELETE FROM idempotency WHERE (principal, key) IN (
			    SELECT principal, key FROM idempotency WHERE created_at < now() - interval '24 hours' LIMIT 10000 FOR UPDATE SKIP LOCKED)`)
		return err
	})
}

// forgottenAtOnce is the maximum number of old rows that one transaction deletes, so that nobody waits for one.
const forgottenAtOnce = 10_000

// forget deletes rows of a table in many transactions; key are the columns of its primary key, and rows selects what is old.
func (s *Store) forget(ctx context.Context, table, key, rows string, args pgx.NamedArgs) (deleted int64, err error) {
	for {
		var some int64
		err := s.write(ctx, func(ctx context.Context, q querier) error {
			done, err := q.Exec(ctx, `DELETE FROM `+table+` WHERE (`+key+`) IN (SELECT `+key+` `+rows+` LIMIT `+strconv.Itoa(forgottenAtOnce)+`)`, args)
			some = done.RowsAffected()
			return err
		})
		if deleted += some; err != nil || some < forgottenAtOnce {
			return deleted, err
		}
	}
}

// turns lets one caller at a time in for each key.
type turns struct {
	mu   sync.Mutex
	keys map[string]*turn
}

type turn struct {
	free    chan struct{} // holds one token while free
	callers int           // in or connection.Waiting
}

func newTurns() *turns { return &turns{keys: map[string]*turn{}} }

func (t *turns) enter(ctx context.Context, key string) (leave func(), err error) {
	t.mu.Lock()
	mine := t.keys[key]
	if mine == nil {
		mine = &turn{free: make(chan struct{}, 1)}
		mine.free <- struct{}{}
		t.keys[key] = mine
	}
	mine.callers++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		if mine.callers--; mine.callers == 0 {
			delete(t.keys, key)
		}
		t.mu.Unlock()
	}
	select {
	case <-mine.free:
		return func() { mine.free <- struct{}{}; forget() }, nil
	case <-ctx.Done():
		forget()
		return nil, ctx.Err()
	}
}
