package storage

import (
	"context"
	"sync"
	"time"
)

// Listener hears what the store tells.
type Listener interface {
	// Listen calls each with every notification on a channel until the context ends or the connection
	// is lost, which is an error. The first call, with "", says that listening has begun: what happened
	// before it must be read.
	Listen(ctx context.Context, channel string, each func(payload string)) error
}

// Followed is a copy of stored data in memory, for Prometheus.
type Followed struct {
	Channel string // notifies of possible changes; "" where nothing does
	What    string // in the plural
	Read    func(ctx context.Context) error
	Warn    func(message string, err error)
}

const (
	followEvery = time.Minute      // at least so often all is read anew
	followAgain = time.Second      // after a lost connection
	followWait  = 10 * time.Second // for an answer of the store
)

// Follow reads at once, on every notification and every minute, at most once a second, until the context ends. done is closed when it is at rest.
func (f Followed) Follow(ctx context.Context, l Listener) (done <-chan struct{}, err error) {
	read := func() error {
		asking, cancel := context.WithTimeout(ctx, followWait)
		defer cancel()
		return f.Read(asking)
	}
	if err := read(); err != nil {
		return nil, err
	}
	wake := make(chan struct{}, 1)
	var both sync.WaitGroup
	both.Go(func() { listenTo(ctx, l, f.Channel, wake) })
	both.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-wake:
			}
			if err := read(); err != nil && ctx.Err() == nil {
				f.Warn(f.What+" not refreshed", err) // listening restarts within a minute, and wakes
			}
			Rest(ctx, followAgain)
		}
	})
	ended := make(chan struct{})
	go func() { both.Wait(); close(ended) }()
	return ended, nil
}

// listenTo wakes on each notification. It restarts every minute, which wakes in any case.
func listenTo(ctx context.Context, l Listener, channel string, wake chan<- struct{}) {
	changed := func(string) {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	for channel == "" && ctx.Err() == nil {
		Rest(ctx, followEvery)
		changed("")
	}
	for ctx.Err() == nil {
		listening, cancel := context.WithTimeout(ctx, followEvery)
		_ = l.Listen(listening, channel, changed) // the board of plans complains when the store is away
		over := listening.Err() != nil
		cancel()
		if !over {
			Rest(ctx, followAgain)
		}
	}
}

// Rest waits, unless the context ends.
func Rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
