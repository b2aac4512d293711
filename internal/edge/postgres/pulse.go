package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pulse notices whether the database answers at all. A database that refuses is known at once. One that hangs, or
// whose network swallows everything, is silent, and without this everybody would wait for it as long as a slow
// statement may take.
type pulse struct {
	replies atomic.Int64 // of any kind, to anybody
	silent  atomic.Bool

	mu      sync.Mutex
	waiting context.Context // of callers that wait for an answer; it ends when silence lasts
	end     context.CancelCauseFunc
	lasting *time.Timer
}

const (
	// patience is the longest wait for an answer once the database is known to be silent, and the time for calls that
	// were already waiting.
	patience = time.Second
	// longestReady is the longest wait for an answer to the shortest question.
	longestReady = 3 * time.Second
)

var errSilent = errors.New("the database says nothing at all")

func newPulse() *pulse {
	p := &pulse{}
	p.waiting, p.end = context.WithCancelCause(context.Background())
	return p
}

// bound limits a wait for the database, and shortens it when the database falls silent.
func (p *pulse) bound(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc) {
	if p.silent.Load() {
		longest = min(longest, patience)
	}
	limited, release := context.WithTimeout(ctx, longest)
	bounded, cut := context.WithCancelCause(limited)
	p.mu.Lock()
	waiting := p.waiting
	p.mu.Unlock()
	stop := context.AfterFunc(waiting, func() { cut(errSilent) })
	return bounded, func() { stop(); cut(nil); release() }
}

// missed records a wait in vain. If nobody else got an answer since then either, the database is silent.
func (p *pulse) missed(since int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.replies.Load() != since || p.silent.Load() {
		return
	}
	p.silent.Store(true)
	p.lasting = time.AfterFunc(patience, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.silent.Load() {
			p.end(errSilent)
			p.waiting, p.end = context.WithCancelCause(context.Background())
		}
	})
}

// replied records a reply of the database.
func (p *pulse) replied() {
	p.replies.Add(1)
	if !p.silent.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent.Load() {
		p.silent.Store(false)
		p.lasting.Stop()
	}
}

// heard records the end of a statement: a refusal is a reply as well, and a statement that was given up has no tag.
func (p *pulse) heard(tag pgconn.CommandTag, err error) {
	var said *pgconn.PgError
	if err == nil && tag.String() != "" || errors.As(err, &said) {
		p.replied()
	}
}

// Of pgx.QueryTracer, pgx.BatchTracer and pgx.ConnectTracer.

func (p *pulse) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return beginStatement(ctx, data.SQL)
}

func (p *pulse) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	p.heard(data.CommandTag, data.Err)
	endStatement(ctx, data.Err)
}

func (p *pulse) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	return beginBatch(ctx, data.Batch)
}

func (p *pulse) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	p.heard(data.CommandTag, data.Err)
}

func (p *pulse) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	endStatement(ctx, data.Err)
}

func (p *pulse) TraceConnectStart(ctx context.Context, _ pgx.TraceConnectStartData) context.Context {
	return ctx
}

func (p *pulse) TraceConnectEnd(_ context.Context, data pgx.TraceConnectEndData) {
	if data.Err == nil {
		p.replied()
	}
}
