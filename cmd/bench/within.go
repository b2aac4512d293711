package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// within does some work until it has used so much processor time, that of its solvers included, and returns what it used.
// An elapsed time would say more of the machine than of the solver.
func within(ctx context.Context, limit time.Duration, work func(context.Context) error) (took time.Duration, err error) {
	before, err := familyCPU()
	if err != nil {
		return 0, err
	}
	own, err := ownCPU()
	if err != nil {
		return 0, err
	}
	w := &working{Context: ctx, over: make(chan struct{})}
	watching, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.watch(watching, own, max(0, before-own), limit)
	}()
	err = work(w)
	stop()
	<-ended
	if err != nil {
		return 0, err
	}
	after, err := familyCPU()
	return after - before, err
}

// working is a context that ends with its processor time.
type working struct {
	context.Context
	ended atomic.Bool
	over  chan struct{}
}

func (w *working) Done() <-chan struct{} { return w.over }

func (w *working) Err() error {
	if w.ended.Load() {
		return context.DeadlineExceeded
	}
	return w.Context.Err()
}

// watch ends the work when the processor time is used up, or with its context. It looks for the time of solvers less often,
// because that takes some.
func (w *working) watch(ctx context.Context, own, solvers, limit time.Duration) {
	defer close(w.over)
	until := own + solvers + limit
	for look := 0; ; look++ {
		time.Sleep(2 * time.Millisecond)
		own, err := ownCPU()
		if err == nil && look%50 == 49 {
			var all time.Duration
			if all, err = familyCPU(); err == nil {
				solvers = max(solvers, all-own)
			}
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil || own+solvers >= until:
			w.ended.Store(true)
			return
		}
	}
}

// familyCPU returns the time that this process and its solvers have used, those included that have ended.
func familyCPU() (time.Duration, error) {
	var ended syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ended); err != nil {
		return 0, fmt.Errorf("read the CPU time of ended solvers: %w", err)
	}
	running, err := cpuOf(os.Getpid())
	return running + time.Duration(ended.Utime.Nano()+ended.Stime.Nano()), err
}
