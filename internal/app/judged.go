package app

import (
	"context"
	"errors"
	"time"

	"headroom/internal/auth"
)

// How long work may take to be answered at once: what it will take is judged by its first pieces, and
// whatever has been judged, it is not waited for longer than mostAtOnce.
const (
	atOnce     = 2 * time.Second
	judgedFrom = 200 * time.Millisecond // of work
	mostAtOnce = 4 * time.Second
)

// errLong says that work takes too long to be waited for.
var errLong = errors.New("this takes too long to be waited for")

// judged does work that tells how far it is, unless that turns out to take long: then it is errLong.
func judged(ctx context.Context, work func(ctx context.Context, tell func(done, total int64)) error) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	patience := time.AfterFunc(mostAtOnce, func() { stop(errLong) })
	defer patience.Stop()
	began := time.Now()
	err := work(working, func(done, total int64) {
		if took := time.Since(began); took > judgedFrom && done < total && took.Seconds()*float64(total)/float64(max(1, done)) > atOnce.Seconds() {
			stop(errLong)
		}
	})
	if err != nil && errors.Is(context.Cause(working), errLong) {
		return errLong
	}
	return err
}

// turn is a place for one piece of work in the background. It waits like the planner, so that users, who come
// and go, get most places while both wait, and long work keeps none from them.
func (a *App) turn(ctx context.Context) (leave func(), err error) {
	return a.solves.enterAs(ctx, planner.ID)
}

// free takes so many places as are free and as nobody waits for, at most.
func (a *App) free(ctx context.Context, most int) (taken int, leave func()) {
	var leaves []func()
	for len(leaves) < most {
		one := a.solves.enterFree(auth.From(ctx).ID)
		if one == nil {
			break
		}
		leaves = append(leaves, one)
	}
	return len(leaves), func() {
		for _, one := range leaves {
			one()
		}
	}
}
