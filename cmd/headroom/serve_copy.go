package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/core/lp"
	"headroom/internal/edge/api"
	"headroom/internal/edge/postgres"
	"headroom/internal/service/app"
	"headroom/internal/service/auth"
	"headroom/internal/service/oidc"
	"headroom/internal/service/plans"
	"headroom/internal/service/telemetry"
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

func newDoor(l net.Listener, log *slog.Logger) *door {
	d := &door{listener: l, failed: make(chan error, 2)}
	d.Server = newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*d.handler.Load()).ServeHTTP(w, r) }), log)
	d.kept.attach(d.Server)
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

// copyFile is where a copy of the last plans is kept; "" is nowhere.
func (s config) copyFile() string {
	switch {
	case s.Copy == "none":
		return ""
	case s.Copy == "" && s.DataDir == "":
		return ""
	case s.Copy == "":
		return filepath.Join(s.DataDir, "last-plans")
	}
	return s.Copy
}

// databaseMark is the same for two servers of the same database, and says nothing of who may use it.
func (s config) databaseMark() string {
	place := "private " + s.DataDir
	if u, err := url.Parse(s.DatabaseURL); s.DatabaseURL != "" && err == nil {
		given, kept := u.Query(), url.Values{}
		for _, name := range []string{"host", "port", "dbname"} {
			if given.Has(name) {
				kept[name] = given[name]
			}
		}
		place = u.Host + u.Path + "?" + kept.Encode()
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(place)))
}

// The database is asked again so often whether it is there.
const (
	databaseAgain = 300 * time.Millisecond
	privateAgain  = time.Second // starting it costs more than asking
)

// waiting is a server that was started while its database is away and answers from the copy.
type waiting struct {
	settings config
	t        *telemetry.Telemetry
	door     *door
	keys     *auth.Keyring
	issuer   *oidc.Issuer // nil where there is none
	solver   lp.Solver
	draining *atomic.Bool
	stdout   io.Writer
	stopping chan struct{}
}

// untilOpened answers polls from the copy until the database can be opened. cause is why it cannot,
// and the error where there is no copy. It goes on answering until over is called, which sends who
// watches to the server that is ready then. A store that is nil says that the context ended first.
func (w *waiting) untilOpened(ctx context.Context, cause error) (store openedDatabase, over func(), err error) {
	over = func() {}
	file := w.settings.copyFile()
	if file == "" {
		return store, over, cause
	}
	copied, err := plans.ReadCopy(file, w.settings.databaseMark())
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.t.Log.Warn("the copy of the last plans is not used", "file", file, "error", err.Error())
		}
		return store, over, cause
	}
	a := app.New(postgres.Away().Stores(), w.keys, app.Config{Solver: w.solver, Telemetry: w.t, Issued: issued(w.issuer)})
	hide, err := a.Plans.ShowCopy(copied)
	if err != nil {
		return store, over, errors.Join(cause, err)
	}
	defer hide()
	w.stopping = make(chan struct{})
	handler, err := api.New(w.settings.apiConfig(a, w.t, w.draining, w.stopping))
	if err != nil {
		return store, over, err
	}
	w.door.lead(handler)
	greet, err := introduce(ctx, a, w.settings, !onLoopback(w.settings.Listen), w.door.listener.Addr(), nil)
	if err != nil {
		return store, over, err
	}
	defer greet.leave()
	fmt.Fprintf(w.stdout, "The database is away; current plans are answered from a copy of %s until it is back.\n%s", copied.WrittenAt.Format(time.RFC3339), greet.text)
	w.t.Log.Warn("the database is away; current plans are answered from a copy", "file", file, "written_at", copied.WrittenAt, "clusters", len(copied.Plans), "error", cause.Error())
	if err := notify(notifyReady); err != nil {
		w.t.Log.Warn("the supervisor cannot be told", "error", err.Error())
	}
	again := databaseAgain
	if w.settings.DatabaseURL == "" {
		again = privateAgain
	}
	for said := cause.Error(); ; {
		select {
		case <-ctx.Done():
			w.draining.Store(true)
			close(w.stopping)
			_ = notify(notifyStopping) // who could not be told that it is ready has been named
			return openedDatabase{}, over, w.door.stop(ctx)
		case err := <-w.door.failed:
			return store, over, err
		case <-time.After(again):
		}
		store, err := openDatabase(ctx, w.settings, w.t.Log)
		switch {
		case err == nil:
			w.t.Log.Info("the database is back")
			return store, func() { close(w.stopping) }, nil
		case ctx.Err() != nil:
		case !errors.Is(err, fault.Busy):
			return store, over, err
		case err.Error() != said:
			said = err.Error()
			w.t.Log.Warn("the database is still away", "error", said)
		}
	}
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
