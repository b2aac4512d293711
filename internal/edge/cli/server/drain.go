package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// drainer ends a server's kept connections without losing a request. http.Server.Shutdown closes a
// connection that is idle as far as it knows, although the next request may just have been read from
// it: that one is carried out, and its answer goes nowhere. The drainer only ends the reading side, so
// that what was read is answered, and what was not was never begun.
type drainer struct {
	mu       sync.Mutex
	conns    map[net.Conn]http.ConnState
	draining bool
	silent   bool          // connections without a request end
	empty    chan struct{} // closed once it drains and no connection is left
}

// lastRequest bounds the time for one more request on a kept connection. Its answer says that it was the last one,
// which is kinder than to end the connection in silence.
const lastRequest = 200 * time.Millisecond

func (d *drainer) note(c net.Conn, state http.ConnState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(d.conns, c)
	} else {
		d.conns[c] = state
	}
	if d.silent {
		hush(c, state)
	}
	if d.draining {
		d.look()
	}
}

// hush ends the reading side of a connection on which no request is being answered.
func hush(c net.Conn, state http.ConnState) {
	if tcp, ok := c.(interface{ CloseRead() error }); ok && (state == http.StateIdle || state == http.StateNew) {
		_ = tcp.CloseRead() // else it is gone already
	}
}

func (d *drainer) look() {
	if len(d.conns) == 0 {
		select {
		case <-d.empty:
		default:
			close(d.empty)
		}
	}
}

// drain answers what was begun, until the context ends. Nobody new is let in.
func (d *drainer) drain(ctx context.Context, listener net.Listener) {
	_ = listener.Close() // the server closes it again
	d.mu.Lock()
	d.draining = true
	d.look()
	d.mu.Unlock()
	last := time.NewTimer(lastRequest)
	defer last.Stop()
	for {
		select {
		case <-d.empty:
			return
		case <-ctx.Done():
			return
		case <-last.C:
			d.mu.Lock()
			d.silent = true
			for c, state := range d.conns {
				hush(c, state)
			}
			d.mu.Unlock()
		}
	}
}
