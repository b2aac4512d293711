// Package entrance accepts a server's connections. It bounds those without a key, and knows for whom a proxy asks.
package entrance

import (
	queue "container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/go-chi/httprate"
	"golang.org/x/sys/unix"
)

// Entrance accepts connections, and bounds those on which no key has come: how many there are, and how long each request
// and its answer take. Where there are too many, the address that has the most of them loses the one that has waited
// longest. So whoever is quick gets in, and whoever asks once is served beside many who come from few addresses.
type Entrance struct {
	net.Listener
	proxies   Proxies
	bounds    Bounds
	mu        sync.Mutex
	strangers *queue.List    // *visitor, the one that has waited longest first
	from      map[string]int // strangers of an address
	leaving   chan struct{}  // a word for each that is cut off and not yet gone
}

// Bounds of connections on which no key has come.
type Bounds struct {
	Reads     time.Duration // for a request after its head, and between requests
	Writes    time.Duration // more, for the answer
	All       int           // connections at once
	OfAddress int           // of them
}

// Strangers bounds the connections of a server, whose heads have 3 s of their own: a request takes 15 s at most.
var Strangers = Bounds{Reads: 10 * time.Second, Writes: 2 * time.Second, All: 256, OfAddress: 64}

// New returns the entrance of a listener. Proxies may send for as many clients as they like.
func New(l net.Listener, proxies Proxies, b Bounds) *Entrance {
	return &Entrance{Listener: l, proxies: proxies, bounds: b, strangers: queue.New(), from: map[string]int{}, leaving: make(chan struct{}, b.All)}
}

// visitor is a connection.
type visitor struct {
	*net.TCPConn
	entrance *Entrance
	address  string         // the network of an IPv6 address
	place    *queue.Element // among strangers; nil for others
	since    time.Time      // it waits, as a stranger
	leaves   bool           // it was cut off and counts among those that leave
	gone     bool

	mu          sync.Mutex
	known       bool      // a key has come on it
	until       time.Time // the request without a key must have come by then; zero for others
	read, write time.Time // deadlines that the server has set
}

// Accept returns the next connection.
func (e *Entrance) Accept() (net.Conn, error) {
	c, err := e.Listener.Accept()
	tcp, ok := c.(*net.TCPConn)
	if err != nil || !ok {
		return c, err
	}
	send(tcp, unsentToStrangers)
	v := &visitor{TCPConn: tcp, entrance: e, until: time.Now().Add(e.bounds.Reads)}
	var from netip.Addr
	if peer, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
		from = peer.Addr().Unmap()
	}
	if !e.proxies.has(from) {
		v.address = httprate.CanonicalizeIP(from.String()) // an IPv6 network of 64 bits has one owner
		e.enter(v)
	}
	return v, nil
}

// JustCame is the time for which a stranger keeps its place while there are not twice too many, of its address or in
// all: many may come at once.
const JustCame = 200 * time.Millisecond

// send sets how much of an answer the system takes before the peer reads it; 0 is as much as usual, which is megabytes.
func send(c *net.TCPConn, most int) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most) })
	}
}

const unsentToStrangers = 128 << 10

// enter gives a stranger a place, if need be that of another one.
func (e *Entrance) enter(v *visitor) {
	e.mu.Lock()
	var cut *visitor
	v.since = time.Now()
	n, all := e.from[v.address], e.strangers.Len()
	switch {
	case all >= e.bounds.All:
		cut = e.crowding(v.address)
	case n >= e.bounds.OfAddress:
		for at := e.strangers.Front(); cut == nil && at != nil; at = at.Next() {
			if other := at.Value.(*visitor); other.address == v.address {
				cut = other
			}
		}
	}
	if cut != nil && n < 2*e.bounds.OfAddress && all < 2*e.bounds.All && v.since.Sub(cut.since) < JustCame {
		cut = nil
	}
	if cut != nil {
		e.remove(cut)
	}
	v.place = e.strangers.PushBack(v)
	e.from[v.address]++
	e.mu.Unlock()
	if cut != nil {
		e.cutOff(cut)
	}
}

// crowding returns the stranger that has waited longest, of the address that has the most once one more came from the new one.
func (e *Entrance) crowding(newcomer string) (crowding *visitor) {
	most := 0
	for at := e.strangers.Front(); at != nil; at = at.Next() {
		other := at.Value.(*visitor)
		n := e.from[other.address]
		if other.address == newcomer {
			n++
		}
		if n > most {
			most, crowding = n, other
		}
	}
	return crowding
}

// cutOff closes a visitor's connection. Where too many are on their way out already, it first waits for one of them: a busy machine is
// slower to let go than others are to come.
func (e *Entrance) cutOff(v *visitor) {
	counted := false
	select {
	case e.leaving <- struct{}{}:
		counted = true
	case <-time.After(JustCame):
	}
	e.mu.Lock()
	if v.leaves = counted && !v.gone; counted && v.gone {
		<-e.leaving
	}
	e.mu.Unlock()
	go v.Close() // which waits for whoever reads from it, as nobody at the entrance should
}

// remove takes a visitor's place away, if it has one.
func (e *Entrance) remove(v *visitor) {
	if v.place == nil {
		return
	}
	e.strangers.Remove(v.place)
	v.place = nil
	if e.from[v.address]--; e.from[v.address] == 0 {
		delete(e.from, v.address)
	}
}

// Note follows what http.Server tells of a connection: its ConnState.
func (e *Entrance) Note(c net.Conn, state http.ConnState) {
	v, ok := c.(*visitor)
	if !ok {
		return
	}
	switch state {
	case http.StateClosed, http.StateHijacked:
		e.mu.Lock()
		e.remove(v)
		if v.gone = true; v.leaves {
			v.leaves = false
			<-e.leaving
		}
		e.mu.Unlock()
	case http.StateActive, http.StateIdle:
		e.mu.Lock()
		if v.place != nil {
			e.strangers.MoveToBack(v.place)
			v.since = time.Now()
		}
		e.mu.Unlock()
		v.mu.Lock()
		if v.until = time.Now().Add(e.bounds.Reads); v.known && state == http.StateIdle {
			v.until = time.Time{}
		}
		v.bound()
		v.mu.Unlock()
	}
}

type visitorKey struct{}

// Context lets the handlers of a connection say that a key has come: http.Server's ConnContext.
func (e *Entrance) Context(ctx context.Context, c net.Conn) context.Context {
	if v, ok := c.(*visitor); ok {
		return context.WithValue(ctx, visitorKey{}, v)
	}
	return ctx
}

// Welcome lets the request that a context belongs to take its time: a key has come with it.
func Welcome(ctx context.Context) {
	v, ok := ctx.Value(visitorKey{}).(*visitor)
	if !ok {
		return
	}
	v.mu.Lock()
	first := !v.known
	v.known, v.until = true, time.Time{}
	v.bound()
	v.mu.Unlock()
	if first {
		send(v.TCPConn, 0)
		v.entrance.mu.Lock()
		v.entrance.remove(v)
		v.entrance.mu.Unlock()
	}
}

// bound sets the deadlines that hold now.
func (v *visitor) bound() {
	_ = v.TCPConn.SetReadDeadline(earlier(v.read, v.until))
	_ = v.TCPConn.SetWriteDeadline(v.lastWrite())
}

func (v *visitor) lastWrite() time.Time {
	if v.until.IsZero() {
		return v.write
	}
	return earlier(v.write, v.until.Add(v.entrance.bounds.Writes))
}

// earlier returns the earlier of two deadlines; zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// SetReadDeadline sets the deadline, or the one of a request without a key.
func (v *visitor) SetReadDeadline(t time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.read = t
	return v.TCPConn.SetReadDeadline(earlier(t, v.until))
}

// SetWriteDeadline sets the deadline, or the one of an answer to a request without a key.
func (v *visitor) SetWriteDeadline(t time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.write = t
	return v.TCPConn.SetWriteDeadline(v.lastWrite())
}

// SetDeadline sets both.
func (v *visitor) SetDeadline(t time.Time) error {
	_ = v.SetReadDeadline(t)
	return v.SetWriteDeadline(t)
}
