// Package worker solves programs in solver processes, so that a crash, an endless loop or a memory blow-up in C++
// costs one process and never the service. It starts, feeds, limits, kills and replaces them, and returns no answer
// that it has not checked. It also holds the solver program's side of the protocol (Serve). It runs on Linux.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/trace"
)

// Config configures a Pool. Zero values mean the defaults.
type Config struct {
	Program   string        // the solver program; default: from Find
	Processes int           // concurrent solver processes; default: one a processor
	Queue     int           // callers that may wait; default 64, negative: none
	Solves    int           // solves after which a process is replaced; default 2,000
	RecycleMB int           // memory above which it is replaced; default 512
	MemoryMB  int           // memory limit of a process; default 2,048
	Longest   time.Duration // time limit of a solve; default 60 s
	Grace     time.Duration // time that a solver may overrun before it is killed; default 500 ms
	Report    func(Event)   // called for events of processes, from several goroutines; must be quick
}

// Pool is an lp.Solver that solves in separate processes. It is safe for concurrent use. Processes start when they
// are first needed (or by Warm) and then stay.
type Pool struct {
	config  Config
	waiting chan struct{}   // holds one token per caller that waits or solves
	slots   chan *process   // an idle process, or nil if none is started
	closed  context.Context // ends with Close
	close   context.CancelFunc
	once    sync.Once
	ending  sync.WaitGroup // processes being ended in the background
	version atomic.Value   // version of the engine in the last started process, a string
}

var errClosed = fmt.Errorf("the pool of solvers is closed: %w", lp.ErrUnavailable)

// New makes a pool without starting anything. Close it when done.
func New(c Config) *Pool {
	c.Processes = cmp.Or(c.Processes, runtime.GOMAXPROCS(0)) // respects a container's limit
	c.Queue = max(0, cmp.Or(c.Queue, 64))
	c.Solves = cmp.Or(c.Solves, 2000)
	c.RecycleMB = cmp.Or(c.RecycleMB, 512)
	c.MemoryMB = cmp.Or(c.MemoryMB, 2048)
	c.Longest = cmp.Or(c.Longest, time.Minute)
	c.Grace = cmp.Or(c.Grace, 500*time.Millisecond)
	if c.Report == nil {
		c.Report = func(Event) {}
	}
	p := &Pool{config: c, waiting: make(chan struct{}, c.Processes+c.Queue), slots: make(chan *process, c.Processes)}
	p.closed, p.close = context.WithCancel(context.Background())
	for range c.Processes {
		p.slots <- nil
	}
	return p
}

// Warm starts every process that is not running yet, so that no caller waits for it.
func (p *Pool) Warm(ctx context.Context) error {
	var failed error
	var taken []*process
	for range p.config.Processes {
		process, err := p.take(ctx)
		if err != nil {
			failed = err
			break
		}
		if process, err = p.running(ctx, process); err != nil {
			failed = err
		}
		taken = append(taken, process)
	}
	for _, process := range taken {
		p.give(process)
	}
	return failed
}

// Close kills every solver, even busy ones, and waits until all are gone. Callers that still wait get
// lp.ErrUnavailable.
func (p *Pool) Close() {
	p.once.Do(func() {
		p.close()
		for range p.config.Processes {
			if process := <-p.slots; process != nil {
				process.end()
			}
		}
	})
	p.ending.Wait()
}

// Solve returns a checked solution, or a status that has none. The check is lp.CheckAdvice; a caller that acts on
// whole columns repairs the solution and calls lp.Check. Whole columns are rounded and the objective recomputed. If a
// solver crashes or answers wrongly, a second one is asked with other settings, once. An infeasible start is left
// out.
//
// If ctx has a deadline, the solver gets a slightly earlier time limit, so that the best solution so far is returned.
// A solver that does not stop is killed and the status is lp.Stopped.
func (p *Pool) Solve(ctx context.Context, program *lp.Program, o lp.Options) (answer lp.Solution, err error) {
	ctx, span := trace.Begin(ctx, "solver process", trace.Client)
	defer func() {
		if err != nil {
			span.Fail()
		} else {
			span.Text("headroom.solver.engine", answer.Engine)
			span.Text("headroom.status", string(answer.Status))
		}
		span.End()
	}()
	began := time.Now()
	if err := validate(program, o); err != nil {
		return lp.Solution{}, fmt.Errorf("solve a program: %w", err)
	}
	if o.Start != nil && lp.Check(program, o.Start, dot(program.Cost, o.Start)) != nil {
		o.Start = nil // CBC believes any start
	}
	process, err := p.take(ctx)
	if err != nil {
		return lp.Solution{}, fmt.Errorf("solve a program: %w", err)
	}
	defer func() { p.give(process) }()
	span.Seconds("headroom.queue_s", time.Since(began))
	longest := p.config.Longest
	if o.Seconds > 0 && o.Seconds < longest.Seconds() {
		longest = time.Duration(o.Seconds * float64(time.Second))
	}
	end := time.Now().Add(longest)
	ctx, cancel := p.until(ctx, end.Add(p.config.Grace))
	defer cancel()

	var failures []error
	for variation := range 2 {
		var s lp.Solution
		if process, err = p.running(ctx, process); err == nil {
			if o.Seconds, err = p.seconds(ctx, end); err == nil {
				s, err = p.ask(ctx, process, request{program, o, variation})
			}
		}
		cause := context.Cause(ctx)
		switch {
		case err == nil:
			return s, nil
		case cause != nil:
			return stopped(cause)
		case errors.Is(err, errOvertime):
			return stopped(err)
		}
		failures = append(failures, err)
	}
	if errors.Is(err, lp.ErrUnavailable) {
		return lp.Solution{}, fmt.Errorf("solve a program: %w", err)
	}
	return lp.Solution{}, fmt.Errorf("solve a program: %w (%w)", lp.ErrCrashed, errors.Join(failures...))
}

func validate(program *lp.Program, o lp.Options) error {
	if err := program.Validate(); err != nil {
		return err
	}
	if size := requestSize(program, o); size > maxPayload {
		return fmt.Errorf("%d columns with %d entries are too large to send to a solver (%d bytes, at most %d)", program.Columns(), len(program.RowIndex), size, maxPayload)
	}
	if o.Start != nil && len(o.Start) != program.Columns() {
		return fmt.Errorf("the start has %d values for %d columns", len(o.Start), program.Columns())
	}
	if !(o.Gap >= 0 && o.AbsGap >= 0 && o.Seconds >= 0) || o.Nodes < 0 {
		return fmt.Errorf("gaps, seconds and nodes must not be negative (they are %g, %g, %g and %d)", o.Gap, o.AbsGap, o.Seconds, o.Nodes)
	}
	return nil
}

// errOvertime is the cause when a solver that overran its own time is killed.
var errOvertime = errors.New("the solver overran its time")

// until returns the context that ends when the solver must be killed: when ctx ends, when the pool closes, or when
// the solve's own time and the grace are over.
func (p *Pool) until(ctx context.Context, end time.Time) (context.Context, context.CancelFunc) {
	timed, cancelTime := context.WithDeadlineCause(ctx, end, errOvertime)
	both, cancel := context.WithCancelCause(timed)
	stop := context.AfterFunc(p.closed, func() { cancel(errClosed) })
	return both, func() { stop(); cancel(nil); cancelTime() }
}

// stopped separates a time limit, which is an answer, from a caller or a pool that went away.
func stopped(cause error) (lp.Solution, error) {
	if errors.Is(cause, errOvertime) || errors.Is(cause, context.DeadlineExceeded) {
		return lp.Solution{Status: lp.Stopped}, nil
	}
	return lp.Solution{}, fmt.Errorf("solve a program: %w", cause)
}

// ask asks one process once. After an error other than a refusal the process is killed.
func (p *Pool) ask(ctx context.Context, process *process, q request) (lp.Solution, error) {
	frame := encodeRequest(q)
	began := time.Now()
	s, err := process.ask(ctx, frame, solutionLimit(q.program))
	if err == nil {
		if err = settle(q.program, q.options, &s); err == nil {
			return s, nil
		}
		p.report(process, Refused, began, err.Error())
		process.kill()
		return lp.Solution{}, fmt.Errorf("a wrong answer: %w", err)
	}
	switch gaveUp := (refusal{}); {
	case context.Cause(ctx) != nil:
		process.kill()
		p.report(process, Killed, began, context.Cause(ctx).Error())
	case errors.As(err, &gaveUp):
		p.report(process, Refused, began, gaveUp.reason)
	default:
		process.kill()
		<-process.ended // so that all its output is there
		p.crashed(process, began)
	}
	return lp.Solution{}, err
}

// seconds returns the time limit for the solver: until its own time is over, or until shortly before ctx ends, so
// that it can still send its best solution.
func (p *Pool) seconds(ctx context.Context, end time.Time) (float64, error) {
	killed, _ := ctx.Deadline() // until always sets one
	left := time.Until(killed)
	left = min(time.Until(end), left-min(p.config.Grace, left/8))
	if left <= 0 {
		return 0, errOvertime
	}
	return left.Seconds(), nil
}

// take waits for a place: an idle process, or nil if none is started yet.
func (p *Pool) take(ctx context.Context) (*process, error) {
	if p.closed.Err() != nil {
		return nil, errClosed
	}
	select {
	case p.waiting <- struct{}{}:
	default:
		return nil, lp.ErrBusy
	}
	select {
	case process := <-p.slots:
		if p.closed.Err() != nil {
			p.give(process)
			return nil, errClosed
		}
		return process, nil
	case <-p.closed.Done():
		<-p.waiting
		return nil, errClosed
	case <-ctx.Done():
		<-p.waiting
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("%w (none became free in time: %w)", lp.ErrBusy, ctx.Err())
		}
		return nil, ctx.Err()
	}
}

// give returns a place. A process that is dead, old or large leaves it empty.
func (p *Pool) give(process *process) {
	if process != nil {
		memory, alive := process.memoryMB(), process.alive()
		worn := process.solves >= p.config.Solves || memory > p.config.RecycleMB
		if worn && alive {
			p.report(process, Recycled, time.Now(), fmt.Sprintf("after %d solves, with %d MB", process.solves, memory))
		}
		if worn || !alive {
			p.ending.Go(process.end)
			process = nil
		}
	}
	p.slots <- process
	<-p.waiting
}

// running returns the process if it is alive, else a new one. On an error it returns nil.
func (p *Pool) running(ctx context.Context, old *process) (_ *process, err error) {
	if old != nil {
		if old.alive() {
			return old, nil
		}
		old.end()
	}
	began := time.Now()
	defer func() {
		if err != nil && ctx.Err() == nil {
			p.config.Report(Event{Kind: Missing, Took: time.Since(began), Detail: err.Error()})
		}
	}()
	path := p.config.Program
	if path == "" {
		if path, err = Find(); err != nil {
			return nil, err
		}
	}
	process, err := start(ctx, path, p.config.MemoryMB)
	if err != nil {
		return nil, fmt.Errorf("%w (%s: %w)", lp.ErrUnavailable, path, err)
	}
	p.version.Store(process.version)
	p.report(process, Started, began, process.version)
	p.ending.Go(func() {
		if <-process.ended; !process.killed {
			p.crashed(process, began)
		}
	})
	return process, nil
}

// Version returns the engine's version, such as "cbc 2.10.8, clp 1.17.6"; "" before the first process was started.
func (p *Pool) Version() string {
	version, _ := p.version.Load().(string)
	return version
}
