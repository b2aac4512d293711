package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"example.org/headroom/internal/test/pgtest"
)

// proxy stands between servers and their database, and does to their words what networks do. It reads what the
// database says message by message, so that it can withhold one of them.
type proxy struct {
	address string // where it listens
	url     string // of the database, through it
	network string // of the database itself
	target  string

	latency atomic.Int64 // of every word, either way
	losing  atomic.Int64 // so many more commits are carried out and their answers lost
	lost    atomic.Int64

	mu   sync.Mutex
	hole chan struct{} // while a black hole is there: closed when it goes
	open map[net.Conn]bool
}

// startProxy stands before a database of a test.
func startProxy(t *testing.T, database string) *proxy {
	t.Helper()
	to, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: testPort(t), open: map[net.Conn]bool{}}
	p.network, p.target = pgconn.NetworkAddress(to.Host, to.Port)
	p.url = (&url.URL{Scheme: "postgres", User: url.UserPassword(to.User, to.Password), Host: p.address, Path: "/" + to.Database, RawQuery: "sslmode=disable"}).String()
	listener, err := net.Listen("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.carry(from) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		p.swallow()()
		p.reset()
		all.Wait()
	})
	return p
}

// carry carries the words of one connection both ways until either end is gone.
func (p *proxy) carry(from net.Conn) {
	defer from.Close()
	to, err := net.Dial(p.network, p.target)
	if err != nil {
		return
	}
	defer to.Close()
	p.mu.Lock()
	p.open[from], p.open[to] = true, true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.ask(to, from); from.Close(); to.Close() })
	both.Go(func() { p.answer(from, to); from.Close(); to.Close() })
	both.Wait()
	p.mu.Lock()
	delete(p.open, from)
	delete(p.open, to)
	p.mu.Unlock()
}

// hold keeps back what is about to be passed on.
func (p *proxy) hold() {
	lasts(time.Duration(p.latency.Load()))
	p.mu.Lock()
	hole := p.hole
	p.mu.Unlock()
	if hole != nil {
		<-hole
	}
}

func (p *proxy) ask(to io.Writer, from io.Reader) {
	words := make([]byte, 32<<10)
	for {
		n, err := from.Read(words)
		p.hold()
		if _, wrong := to.Write(words[:n]); err != nil || wrong != nil {
			return
		}
	}
}

// commandComplete is the message with which Postgres says that a statement was carried out; of a COMMIT it says so once
// the transaction is on the disk.
const commandComplete = 'C'

func (p *proxy) answer(to io.Writer, from io.Reader) {
	in := bufio.NewReaderSize(from, 32<<10)
	var out bytes.Buffer
	for {
		head, err := in.Peek(5)
		if err != nil {
			return
		}
		kind, size := head[0], 1+int64(binary.BigEndian.Uint32(head[1:]))
		start := out.Len()
		if _, err := io.CopyN(&out, in, size); err != nil {
			return
		}
		if kind == commandComplete && bytes.HasPrefix(out.Bytes()[start+5:], []byte("COMMIT\x00")) && p.losing.Add(-1) >= 0 {
			p.lost.Add(1)
			return
		}
		if in.Buffered() > 0 && out.Len() < 1<<20 {
			continue
		}
		p.hold()
		if _, err := to.Write(out.Bytes()); err != nil {
			return
		}
		out.Reset()
	}
}

// reset breaks every connection as a machine does that has forgotten it.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		conn.Close()
	}
}

// swallow passes nothing on until out is called: who listens hears nothing and is told of no end.
func (p *proxy) swallow() (out func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hole == nil {
		p.hole = make(chan struct{})
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.hole != nil {
			close(p.hole)
			p.hole = nil
		}
	}
}

// lose lets the answers of the next commits be lost, with their connections.
func (p *proxy) lose(commits int64) { p.losing.Store(commits) }

// The network between a server and its database becomes slow, falls silent, breaks, or loses the answer of a commit
// that was carried out. Who was told no may find it done, once; who asks again under the same key is told what
// was done (R2, R10).
func TestBrokenNetworksLoseNoWrite(t *testing.T) {
	t.Parallel()
	rounds := 4
	if wholeSamples {
		rounds = 120
	}
	p := startProxy(t, pgtest.Database(t))
	g := besiege(t, 24, onDatabase(t, dataDirectory(t), p.url))
	for round := range rounds {
		if g.late() {
			break
		}
		switch round % 4 {
		case 0:
			g.round("answers of commits lost", func() {
				few := int64(1 + g.random.IntN(6))
				before := p.lost.Load()
				p.lose(few)
				waits(t, "the answers are lost", 30*time.Second, func() bool { return p.lost.Load() > before })
				lasts(g.within(300 * time.Millisecond))
				p.lose(0)
			})
		case 1:
			g.round("connections reset", func() {
				p.reset()
				lasts(g.within(300 * time.Millisecond))
			})
		case 2:
			g.round("black holes", func() {
				out := p.swallow()
				lasts(g.within(5 * time.Second)) // silence is known after two
				if g.random.IntN(2) == 0 {
					p.reset()
				}
				out()
			})
		case 3:
			g.round("latencies", func() {
				p.latency.Store(int64(time.Millisecond) * int64(5+g.random.IntN(95)))
				g.moment(1)
				p.latency.Store(0)
			})
		}
	}
	all := g.lift(3)
	t.Attr("R2", "network to Postgres: "+all.String())
	t.Attr("R10", fmt.Sprintf("%d commits whose answers were lost: each has its effect once, and its key gives the same answer again", p.lost.Load()))
	t.Attr("R3", all.tellBack("writes again", "a fault of the network"))
}
