package capacity

import "context"

// pausing is the key of a context's pause.
type pausing struct{}

// WithPause returns a context under which long work calls pause now and then, at the latest after 40 ms of processor
// time. Pause may take any time: others get the processor meanwhile.
func WithPause(ctx context.Context, pause func(context.Context)) context.Context {
	return context.WithValue(ctx, pausing{}, pause)
}

// Pause lets others go first where the context has a pause, and then is the context's error. Long work calls it
// wherever it looks whether it is still wanted, and never while it holds a lock.
func Pause(ctx context.Context) error {
	if pause, given := ctx.Value(pausing{}).(func(context.Context)); given {
		pause(ctx)
	}
	return ctx.Err()
}
