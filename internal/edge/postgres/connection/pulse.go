package connection

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Pulse notices whether the database answers at all. A database that refuses is known at once. One that hangs, or
// whose network swallows everything, is silent, and without this everybody would wait for it as long as a slow
// statement may take.
type Pulse struct {
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
)

// ErrSilent is the cause of a wait that ended because the database was silent.
var ErrSilent = errors.New("the database says nothing at all")

// NewPulse returns one of a database that answers.
func NewPulse() *Pulse {
	p := &Pulse{}
	p.waiting, p.end = context.WithCancelCause(context.Background())
	return p
}

// Bound limits a wait for the database, and shortens it when the database falls silent.
func (p *Pulse) Bound(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc) {
	if p.silent.Load() {
		longest = min(longest, patience)
	}
	limited, release := context.WithTimeout(ctx, longest)
	bounded, cut := context.WithCancelCause(limited)
	p.mu.Lock()
	waiting := p.waiting
	p.mu.Unlock()
	stop := context.AfterFunc(waiting, func() { cut(ErrSilent) })
	return bounded, func() { stop(); cut(nil); release() }
}

// Missed records a wait in vain. If nobody else got an answer since then either, the database is silent.
func (p *Pulse) Missed(since int64) {
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
			p.end(ErrSilent)
			p.waiting, p.end = context.WithCancelCause(context.Background())
		}
	})
}

// Replies counts replies of any kind, for Missed.
func (p *Pulse) Replies() int64 { return p.replies.Load() }

// Silent reports whether the database is known not to answer at all.
func (p *Pulse) Silent() bool { return p.silent.Load() }

// replied records a reply of the database.
func (p *Pulse) replied() {
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
func (p *Pulse) heard(tag pgconn.CommandTag, err error) {
	var said *pgconn.PgError
	if err == nil && tag.String() != "" || errors.As(err, &said) {
		p.replied()
	}
}

// Of pgx.QueryTracer, pgx.BatchTracer and pgx.ConnectTracer.

func (p *Pulse) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return beginStatement(ctx, data.SQL)
}

func (p *Pulse) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	p.heard(data.CommandTag, data.Err)
	endStatement(ctx, data.Err)
}

func (p *Pulse) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	return beginBatch(ctx, data.Batch)
}

func (p *Pulse) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	p.heard(data.CommandTag, data.Err)
}

func (p *Pulse) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	endStatement(ctx, data.Err)
}

func (p *Pulse) TraceConnectStart(ctx context.Context, _ pgx.TraceConnectStartData) context.Context {
	return ctx
}

func (p *Pulse) TraceConnectEnd(_ context.Context, data pgx.TraceConnectEndData) {
	if data.Err == nil {
		p.replied()
	}
}
