package server

import (
	"log/slog"
	"net"
	"net/http"
	"testing"
)

// lateListener is one whose Accept returns only once it has been closed twice.
type lateListener struct {
	net.Listener
	asked, again chan struct{}
}

func (l lateListener) Accept() (net.Conn, error) {
	close(l.asked)
	c, err := l.Listener.Accept()
	<-l.again
	return c, err
}

func (l lateListener) Close() error {
	err := l.Listener.Close()
	if err != nil {
		close(l.again)
	}
	return err
}

// A server to which nobody speaks stops well, also where it notices late that its listener is closed.
func TestStopsWithNobodyThere(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	late := lateListener{listener, make(chan struct{}), make(chan struct{})}
	d := newDoor(late, nil, slog.New(slog.DiscardHandler))
	d.lead(http.NotFoundHandler())
	<-late.asked
	if err := d.stop(t.Context()); err != nil {
		t.Error(err)
	}
}
