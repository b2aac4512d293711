package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/edge/api"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/auth/oidc"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/telemetry"
)

// copyFile returns the file for the copy of the last plans, "" if none is kept.
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

// untilOpened answers polls from the copy until the database can be opened. Without a copy it returns cause, the reason
// why the database is away. It goes on answering until over is called, which sends watchers to the server that is ready
// then. A store that is nil says that the context ended first.
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
	a := app.New(postgres.Away().Stores(), w.keys, app.Config{Solver: w.solver, Telemetry: w.t, Issuer: issuerOf(w.issuer)})
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
	fmt.Fprintf(w.stdout, "The database is away; current plans are answered from a copy of %s until it is back.\n"+
		"%s", copied.WrittenAt.Format(time.RFC3339), greet.text)
	w.t.Log.Warn("the database is away; current plans are answered from a copy", "file", file, "written_at", copied.WrittenAt, "clusters",
		len(copied.Plans), "error", cause.Error())
	if err := shell.Notify(shell.NotifyReady); err != nil {
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
			_ = shell.Notify(shell.NotifyStopping) // who could not be told that it is ready has been named
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
