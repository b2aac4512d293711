package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/edge/postgres/private"
)

// openedDatabase is the store, with the private Postgres it may stand on.
type openedDatabase struct {
	*postgres.Store
	stop func(until time.Time) error
	gone <-chan struct{} // closed when a private Postgres ended and cannot be started again
}

// openDatabase opens the database of the settings: theirs, or a private one in the data directory.
func openDatabase(ctx context.Context, settings config, log *slog.Logger) (openedDatabase, error) {
	d := openedDatabase{stop: func(time.Time) error { return nil }}
	at := postgres.Config{URL: settings.DatabaseURL, DirectURL: settings.DirectURL, MigrateURL: settings.MigrateURL, MaxConns: settings.Connections}
	if at.URL == "" {
		k, err := keepPrivate(ctx, private.Config{Dir: settings.DataDir, Log: log})
		if err != nil {
			return d, err
		}
		at.URL, at.DirectURL, at.MigrateURL = k.url, "", ""
		d.gone, d.stop = k.gone, k.end
	}
	var err error
	d.Store, err = postgres.Open(ctx, at)
	if err != nil {
		return d, errors.Join(err, d.stop(time.Now().Add(stopTime)))
	}
	return d, nil
}

// close ends the connections, then the private Postgres, by the hard way at the moment named, and at once
// where it says nothing any more.
func (d openedDatabase) close(until time.Time) error {
	d.Store.Close()
	if d.Store.Silent() {
		until = time.Now()
	}
	return d.stop(until)
}

// keeper starts a private Postgres again when it ends without having been asked to, so that a crash
// of the database costs a moment and not the service.
type keeper struct {
	config  private.Config
	url     string
	private *private.Server // the keeping goroutine's, until ended is closed
	asked   context.Context
	ask     context.CancelFunc
	ended   chan struct{}
	gone    chan struct{}
}

const (
	restartPause = 100 * time.Millisecond // doubles with every try
	longestPause = 2 * time.Second
	stopTime     = 5 * time.Second
)

func keepPrivate(ctx context.Context, config private.Config) (*keeper, error) {
	private, err := private.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	k := &keeper{config: config, url: private.URL(""), private: private, ended: make(chan struct{}), gone: make(chan struct{})}
	k.asked, k.ask = context.WithCancel(context.WithoutCancel(ctx))
	go k.keep()
	return k, nil
}

func (k *keeper) keep() {
	defer close(k.ended)
	for {
		select {
		case <-k.asked.Done():
			return
		case <-k.private.Done():
		}
		k.config.Log.Error("private postgres ended by itself; starting it again", "reason", fmt.Sprint(k.private.Err()))
		if !k.restart() {
			close(k.gone)
			return
		}
	}
}

// restart tries until it succeeds. Acknowledged writes are kept, and polls are answered meanwhile. The server works again
// as soon as the obstacle, such as a full disk, is gone.
func (k *keeper) restart() bool {
	for pause := restartPause; ; {
		private, err := private.Start(k.asked, k.config)
		if err == nil {
			k.private = private
			return private.URL("") == k.url // the store looks for it there
		}
		if k.asked.Err() != nil {
			return false // the server stops
		}
		k.config.Log.Error("private postgres does not start", "reason", err.Error())
		select {
		case <-time.After(pause):
			pause = min(2*pause, longestPause)
		case <-k.asked.Done():
			return false
		}
	}
}

// end stops Postgres for good, by the hard way at the moment named.
func (k *keeper) end(until time.Time) error {
	k.ask()
	<-k.ended
	select {
	case <-k.private.Done():
		return nil // it ended by itself, as the log says, and there is nothing to stop
	default:
	}
	ending, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	return k.private.Stop(ending)
}
