package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// gate limits the number of connections made at once. A server that has lost all of them, after a failover or a crash
// of the database, would ask for as many as it may have. On a busy machine none of them would be ready in time, and
// all would be asked for again, for ever.
//
// One of the places is patient: its limit doubles with every time-out, so that a slow database is reached in the end.
// The others keep the usual limit, because an unanswered connection must not hold up one that would be answered. For the same
// reason they try a database's addresses from the end.
type gate struct {
	least  time.Duration
	places chan *connecting

	mu      sync.Mutex
	patient time.Duration // the limits; the time of a successful connection sets both
	usual   time.Duration
	wave    *wave // the callers that wait for a place now
}

// wave holds all callers that wait for a place. If the database refuses one, all get the refusal.
type wave struct {
	refused chan struct{} // closed when err is there
	err     error
}

const (
	connectsAtOnce = 2
	longestConnect = 16 * time.Second
	shortestPause  = 50 * time.Millisecond // after a connection that was not made, and up to three times that
)

// connecting holds a place in the gate, and traces the connection made in it.
type connecting struct {
	*pulse
	gate    *gate
	patient bool
	limit   time.Duration
	began   time.Time
}

func newGate(least time.Duration, heart *pulse) *gate {
	g := &gate{least: least, places: make(chan *connecting, connectsAtOnce), patient: least, usual: least, wave: &wave{refused: make(chan struct{})}}
	for i := range connectsAtOnce {
		g.places <- &connecting{pulse: heart, gate: g, patient: i == 0}
	}
	return g
}

// before waits for a place to connect. It is pgxpool's BeforeConnect, whose context ends with the pool.
func (g *gate) before(ctx context.Context, c *pgx.ConnConfig) error {
	g.mu.Lock()
	mine := g.wave
	g.mu.Unlock()
	select {
	case place := <-g.places:
		g.mu.Lock()
		defer g.mu.Unlock()
		now := *place
		if now.limit = g.usual; now.patient {
			now.limit = g.patient
		}
		now.began = time.Now()
		c.Tracer, c.ConnectTimeout = &now, now.limit
		if !now.patient {
			fromTheEnd(c)
		}
		return nil
	case <-mine.refused:
		return mine.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

type placeKey struct{}

// TraceConnectStart lets the dialer know the place.
func (c *connecting) TraceConnectStart(ctx context.Context, _ pgx.TraceConnectStartData) context.Context {
	return context.WithValue(ctx, placeKey{}, c)
}

// dialling reports whether the dialer makes a connection, not a request to end a statement. It begins its time anew at each address: the
// wait for one that hangs says nothing about the next.
func dialling(ctx context.Context) bool {
	c, ok := ctx.Value(placeKey{}).(*connecting)
	if ok {
		c.began = time.Now()
	}
	return ok
}

// TraceConnectEnd returns the place if no connection was made; otherwise the place is returned when the connection is
// ready.
func (c *connecting) TraceConnectEnd(ctx context.Context, data pgx.TraceConnectEndData) {
	c.pulse.TraceConnectEnd(ctx, data)
	if data.Err != nil {
		c.done(data.Err)
	}
}

// done returns the place, after a pause if no connection was made.
func (c *connecting) done(err error) {
	g := c.gate
	took := time.Since(c.began)
	free := func() { g.places <- &connecting{pulse: c.pulse, gate: g, patient: c.patient} }
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err == nil:
		g.usual = min(max(g.least, 2*took), longestConnect)
		g.patient = g.usual
		free()
		return
	case pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded):
		if g.usual = g.least; c.patient {
			g.patient = min(2*c.limit, longestConnect)
		}
	default:
		g.wave.err = err
		close(g.wave.refused)
		g.wave = &wave{refused: make(chan struct{})}
	}
	time.AfterFunc(shortestPause+rand.N(2*shortestPause), free)
}
