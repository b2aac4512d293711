package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"example.org/headroom/internal/edge/api"
	"example.org/headroom/internal/edge/api/entrance"
	"example.org/headroom/internal/service/telemetry"
)

// door is the HTTP server, which can get another handler while it serves, with the one for metrics.
type door struct {
	*http.Server
	metrics  *http.Server // nil where they are not served without a key
	listener net.Listener
	handler  atomic.Pointer[http.Handler]
	opened   sync.Once
	kept     drainer
	failed   chan error // has room for two, so that nobody who ends waits
}

func newDoor(l net.Listener, proxies entrance.Proxies, log *slog.Logger) *door {
	in := entrance.New(l, proxies, entrance.Strangers)
	d := &door{listener: in, failed: make(chan error, 2), kept: drainer{conns: map[net.Conn]http.ConnState{}, empty: make(chan struct{})}}
	d.Server = newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*d.handler.Load()).ServeHTTP(w, r) }), log)
	d.ConnContext = in.Context
	d.ConnState = func(c net.Conn, state http.ConnState) {
		in.Note(c, state)
		d.kept.note(c, state)
	}
	return d
}

// showMetrics serves metrics at an address of their own, from the start on: also while the database is away.
func (d *door) showMetrics(address string, t *telemetry.Telemetry) error {
	l, err := listen(address, "HEADROOM_METRICS_LISTEN")
	if err != nil {
		return err
	}
	d.metrics = newServer(api.Metrics(t), t.Log)
	go func() { d.failed <- d.metrics.Serve(l) }()
	return nil
}

// Close cuts everything off.
func (d *door) Close() error {
	err := d.Server.Close()
	if d.metrics != nil {
		err = errors.Join(err, d.metrics.Close())
	}
	return err
}

// lead sends every request from now on to a handler, and opens the door the first time.
func (d *door) lead(to http.Handler) {
	d.handler.Store(&to)
	d.opened.Do(func() { go func() { d.failed <- d.Serve(d.listener) }() })
}

// stop lets what is being answered end, for a while, then the metrics.
func (d *door) stop(ctx context.Context) (err error) {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	d.kept.drain(ending, d.listener) // what it leaves is cut off below
	for _, s := range []*http.Server{d.Server, d.metrics} {
		if s == nil {
			continue
		}
		if late := s.Shutdown(ending); late != nil && !errors.Is(late, net.ErrClosed) { // which the listener may be by now
			_ = s.Close()
			err = errors.Join(err, fmt.Errorf("requests were still being answered after %s and were cut off", drainTime))
		}
	}
	return err
}

// listen takes the address of a setting before anything else is started.
func listen(address, setting string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		var op *net.OpError
		reason := err
		if errors.As(err, &op) {
			reason = op.Err
		}
		return nil, fmt.Errorf("cannot listen on %s: %v; choose another address with %s", address, reason, setting)
	}
	return l, nil
}

// newServer has the limits that keep slow and huge requests from hurting others.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 3 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 15 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
