package app

import (
	"context"
	"sync"
)

// followed is something that is kept in memory for Prometheus, like it is in the store.
type followed struct {
	channel string // on which the store tells that there may be others
	what    string // in the plural
	read    func(ctx context.Context) error
}

// follow reads, and reads anew whenever there is word of a change and every minute, at most once a second,
// until the context ends.
func (a *App) follow(ctx context.Context, f followed) (done <-chan struct{}, err error) {
	read := func() error {
		asking, cancel := context.WithTimeout(ctx, plansWait)
		defer cancel()
		return f.read(asking)
	}
	if err := read(); err != nil {
		return nil, err
	}
	wake := make(chan struct{}, 1)
	var both sync.WaitGroup
	both.Go(func() { a.listenTo(ctx, f.channel, wake) })
	both.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-wake:
			}
			if err := read(); err != nil && ctx.Err() == nil {
				a.Board.warn(f.what+" not refreshed", err) // listening begins anew within a minute, and wakes
			}
			rest(ctx, plansAgain)
		}
	})
	ended := make(chan struct{})
	go func() { both.Wait(); close(ended) }()
	return ended, nil
}

// listenTo wakes at each word. It starts anew every minute, which wakes in any case.
func (a *App) listenTo(ctx context.Context, channel string, wake chan<- struct{}) {
	for ctx.Err() == nil {
		listening, cancel := context.WithTimeout(ctx, plansEvery)
		_ = a.Stores.Database.Listen(listening, channel, func(string) { // the board complains when the store is away
			select {
			case wake <- struct{}{}:
			default:
			}
		})
		over := listening.Err() != nil
		cancel()
		if !over {
			rest(ctx, plansAgain)
		}
	}
}
