package connection

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// gate limits the number of connections made at once. A server that has lost all of them, after a failover or a crash
// of the database, would ask for as many as it may have. On a busy machine none of them would be ready in time, and
// all would be asked for again, for ever.
//
// One of the places is patient, so that a slow database is reached. The others keep the usual limit, because an unanswered connection
// must not hold up one that would be answered. Of several addresses the others, which are used while the patient place is taken, try the
// last one first. Then all places are patient at their first address, and no place is at the others.
type gate struct {
	least  time.Duration
	places chan *connecting

	mu    sync.Mutex
	usual time.Duration // limit, which the time of a successful connection sets
	wave  *wave         // the callers that wait for a place now

	waitsAt string // address of the patient place; another that comes there later hardly waits
	since   time.Time
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
	*Pulse
	gate    *gate
	patient bool
	limit   time.Duration
	first   string // address
	began   time.Time
}

func newGate(least time.Duration, heart *Pulse) *gate {
	g := &gate{least: least, places: make(chan *connecting, connectsAtOnce), usual: least, wave: &wave{refused: make(chan struct{})}}
	for i := range connectsAtOnce {
		g.places <- &connecting{Pulse: heart, gate: g, patient: i == 0}
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
		select {
		case other := <-g.places: // the patient one is free, and goes first
			if other.patient {
				place, other = other, place
			}
			g.places <- other
		default:
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		now := *place
		several := !now.patient && fromTheEnd(c)
		if now.limit = g.usual; now.patient || several {
			now.limit = longestConnect
		}
		now.began = time.Now()
		c.Tracer, c.ConnectTimeout = &now, now.limit
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

// dialling returns the longest time at an address, which may be dialled to end a statement. The time of a connection begins anew at each
// address: the wait for one that hangs says nothing about the next.
func dialling(ctx context.Context, address string) (limit time.Duration) {
	c, connects := ctx.Value(placeKey{}).(*connecting)
	if !connects {
		return farewell
	}
	g := c.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	c.began = time.Now()
	if c.patient {
		g.waitsAt, g.since = address, c.began
	}
	switch {
	case cmp.Or(c.first, address) == address:
		c.first = address
		return c.limit
	case g.waitsAt == address && c.began.Sub(g.since) > farewell:
		return farewell
	}
	return g.least
}

// TraceConnectEnd returns the place if no connection was made; otherwise the place is returned when the connection is
// ready.
func (c *connecting) TraceConnectEnd(ctx context.Context, data pgx.TraceConnectEndData) {
	c.Pulse.TraceConnectEnd(ctx, data)
	if data.Err != nil {
		c.done(data.Err)
	}
}

// done returns the place, after a pause if no connection was made.
func (c *connecting) done(err error) {
	g := c.gate
	took := time.Since(c.began)
	free := func() { g.places <- &connecting{Pulse: c.Pulse, gate: g, patient: c.patient} }
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.patient {
		g.waitsAt = ""
	}
	switch {
	case err == nil:
		g.usual = min(max(g.least, 2*took), longestConnect)
		free()
		return
	case pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded):
		g.usual = g.least
	default:
		g.wave.err = err
		close(g.wave.refused)
		g.wave = &wave{refused: make(chan struct{})}
	}
	time.AfterFunc(shortestPause+rand.N(2*shortestPause), free)
}

// fromTheEnd turns the order of a database's addresses, so that one that hangs does not delay everybody. It reports whether there are
// several.
func fromTheEnd(c *pgx.ConnConfig) (several bool) {
	all := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	at := func(f *pgconn.FallbackConfig) string { return f.Host + " " + strconv.Itoa(int(f.Port)) }
	var turned []*pgconn.FallbackConfig
	for begin := 0; begin < len(all); { // an address may be tried with TLS and without
		end := begin + 1
		for end < len(all) && at(all[end]) == at(all[begin]) {
			end++
		}
		turned = slices.Concat(all[begin:end], turned)
		begin = end
	}
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = turned[0].Host, turned[0].Port, turned[0].TLSConfig, turned[1:]
	return at(turned[0]) != at(all[0])
}
