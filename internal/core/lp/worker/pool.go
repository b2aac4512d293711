// Package worker solves programs in solver processes, so that a crash, an endless loop or a memory
// blow-up in C++ costs one process and never the service. It starts them, feeds them, limits them,
// kills them and replaces them, and lets no answer out that it has not checked. It also holds the
// solver program's side of the protocol (Serve). It runs on Linux.
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

	"headroom/internal/core/lp"
	"headroom/internal/core/trace"
)

// Config is how a Pool works. Every zero value means the default named.
type Config struct {
	Program   string        // the solver program; default: what Find finds
	Processes int           // solver processes at once; default: one a processor
	Queue     int           // callers that may wait for one; default 64, negative: none
	Solves    int           // a process is replaced after this many; default 2,000
	RecycleMB int           // or when it uses more memory than this; default 512
	MemoryMB  int           // more than this it never gets; default 2,048
	Longest   time.Duration // no solve takes longer; default 60 s
	Grace     time.Duration // how long a solver may overrun its time before it is killed; default 500 ms
	Report    func(Event)   // told what happens to processes, from several goroutines; must be quick
}

// Pool is a lp.Solver that solves in processes of their own. It is safe for concurrent use.
// Processes start when they are first needed (or by Warm) and then stay.
type Pool struct {
	config  Config
	waiting chan struct{}   // holds one token per caller that waits or solves
	slots   chan *process   // an idle process, or nil where none is started
	closed  context.Context // the pool's own life: ends with Close
	close   context.CancelFunc
	once    sync.Once
	ending  sync.WaitGroup // processes being ended in the background
	version atomic.Value   // of the engine in the process that was started last, a string
}

var errClosed = fmt.Errorf("the pool of solvers is closed: %w", lp.ErrUnavailable)

// New makes a pool without starting anything. Close it when done.
func New(c Config) *Pool {
	c.Processes = cmp.Or(c.Processes, runtime.GOMAXPROCS(0)) // which knows a container's limit
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

// Close kills every solver, also those at work, and waits until all are gone. Callers that still
// wait get lp.ErrUnavailable.
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

// Solve answers with a checked solution (see lp.CheckAdvice; whoever acts on whole columns repairs
// it and calls lp.Check), or a status that has none. Whole columns come rounded, the objective
// recomputed. A solver that crashes or answers wrongly is asked again, differently, once. A start
// that is not feasible is left out.
// When ctx has a deadline the solver is told to stop a little earlier, so that the best solution so
// far comes back; one that does not stop is killed and the status is lp.Stopped.
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
	asked := time.Now()
	if err := validate(program, o); err != nil {
		return lp.Solution{}, fmt.Errorf("solve a program: %w", err)
	}
	if o.Start != nil && lp.Check(program, o.Start, dot(program.Cost, o.Start)) != nil {
		o.Start = nil // CBC believes whatever start it is given
	}
	process, err := p.take(ctx)
	if err != nil {
		return lp.Solution{}, fmt.Errorf("solve a program: %w", err)
	}
	defer func() { p.give(process) }()
	span.Seconds("headroom.queue_s", time.Since(asked))
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

// errOvertime is why a solver that overran its own time is killed.
var errOvertime = errors.New("the solver overran its time")

// until is the context at whose end the solver is killed: when ctx ends, when the pool closes, or
// when the solve's own time and the grace are over.
func (p *Pool) until(ctx context.Context, end time.Time) (context.Context, context.CancelFunc) {
	timed, cancelTime := context.WithDeadlineCause(ctx, end, errOvertime)
	both, cancel := context.WithCancelCause(timed)
	stop := context.AfterFunc(p.closed, func() { cancel(errClosed) })
	return both, func() { stop(); cancel(nil); cancelTime() }
}

// stopped tells a time limit, which is an answer, from a caller or a pool that went away.
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
		p.report(process, Refused, began, gaveUp.said)
	default:
		process.kill()
		<-process.ended // so that all it said is there
		p.report(process, Crashed, began, process.errors.String())
	}
	return lp.Solution{}, err
}

// seconds is what the solver is told it may take: until its own time is over, or until shortly
// before ctx ends, so that it can still send what it has.
func (p *Pool) seconds(ctx context.Context, end time.Time) (float64, error) {
	killed, _ := ctx.Deadline() // until always sets one
	left := time.Until(killed)
	left = min(time.Until(end), left-min(p.config.Grace, left/8))
	if left <= 0 {
		return 0, errOvertime
	}
	return left.Seconds(), nil
}

// take waits for a place: an idle process, or nil where none is started yet.
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

// running is the process itself if it is alive, else a new one. On an error it is nil.
func (p *Pool) running(ctx context.Context, old *process) (*process, error) {
	if old != nil {
		if old.alive() {
			return old, nil
		}
		old.end()
	}
	path := p.config.Program
	if path == "" {
		var err error
		if path, err = Find(); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	process, err := start(ctx, path, p.config.MemoryMB)
	if err != nil {
		return nil, fmt.Errorf("%w (%s: %w)", lp.ErrUnavailable, path, err)
	}
	p.version.Store(process.version)
	p.report(process, Started, began, process.version)
	return process, nil
}

// Version is the engine's, such as "cbc 2.10.8, clp 1.17.6"; "" before the first process was started.
func (p *Pool) Version() string {
	version, _ := p.version.Load().(string)
	return version
}
