// Package queue does background work. It takes runs from the store, works on them beside any number of other servers,
// shows their progress and records their outcomes. kinds.go defines the work; app and api start, watch and end runs
// on request.
//
// A run's row in the store decides everything. River only hands out the job of looking at a row, so jobs that it
// loses, doubles or delays do no harm.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/report/reporting"
	"example.org/headroom/internal/service/runs"
	"example.org/headroom/internal/service/telemetry"
)

// Config configures a Runner. Zero values mean the defaults.
type Config struct {
	App       *app.App
	Pool      *pgxpool.Pool // of the store
	Schema    string        // of River's tables
	Telemetry *telemetry.Telemetry
	AtOnce    int             // concurrent runs; default one a processor
	StopWait  time.Duration   // time for which Stop lets runs go on; default 3 s
	Kinds     map[string]Kind // default Kinds and imports by address
	Fetch     *fetch.Client   // sends to webhooks and fetches imports; default one with App's list of allowed hosts
	Lease     time.Duration   // time after which a dead server's runs are free; default 15 s
}

const (
	usualLease = 15 * time.Second // renewed three times in it
	showEvery  = time.Second      // progress of a run
	sweepEvery = 2 * time.Second  // for runs that dead servers have left
	pollEvery  = 5 * time.Second  // for work, in case a notification was lost
	stopWait   = 3 * time.Second
	stopTime   = 2 * time.Second // to end the rest, beyond StopWait

	startAgain    = 300 * time.Millisecond
	startPatience = 20 * time.Second

	workKept    = time.Minute // after it is done: nobody reads it, and a backlog that is put off makes 60 each second
	forgetEvery = 6 * time.Hour
	forgetAfter = 30 * 24 * time.Hour
)

// Runner works on runs until it is stopped.
type Runner struct {
	config  Config
	app     *app.App
	log     *slog.Logger
	metrics metrics
	client  *river.Client[pgx.Tx]
	most    map[string]int // attempts, by kind
	stop    context.CancelFunc
	swept   sync.WaitGroup
}

// Start begins to work on runs.
func Start(ctx context.Context, c Config) (*Runner, error) {
	if c.AtOnce <= 0 {
		c.AtOnce = runtime.GOMAXPROCS(0)
	}
	if c.StopWait <= 0 {
		c.StopWait = stopWait
	}
	if c.Lease <= 0 {
		c.Lease = usualLease
	}
	if c.Fetch == nil {
		c.Fetch = fetch.New(fetch.Config{HostOf: c.App.Stores.Webhooks.HostOf})
	}
	if c.Kinds == nil {
		c.Kinds = maps.Clone(Kinds)
		c.Kinds[clusters.PriceImportRun] = priceImport(c.Fetch)
		c.Kinds[clusters.HistoryImportRun] = historyImport(c.Fetch)
	}
	r := &Runner{config: c, app: c.App, log: slog.New(slog.DiscardHandler), metrics: newMetrics(c.Kinds), most: map[string]int{}}
	for name, kind := range c.Kinds {
		r.most[name] = kind.Attempts
	}
	if c.Telemetry != nil {
		r.log = c.Telemetry.Log
		if err := r.metrics.register(c.Telemetry.Registry); err != nil {
			return nil, err
		}
	}
	d := duties{workers: river.NewWorkers(), queues: map[string]river.QueueConfig{}}
	for kind := range c.Kinds {
		takeUp(d, runs.RunWork{Of: kind}, c.AtOnce, r.look)
	}
	takeUp(d, forgetWork{}, 1, r.forget)
	takeUp(d, hooks.DeliveryWork{}, deliveriesAtOnce, r.deliver)

	client, err := river.NewClient(riverpgxv5.New(c.Pool), &river.Config{
		Schema: c.Schema, Workers: d.workers, Queues: d.queues, Logger: slog.New(warnings{r.log.With("part", "river").Handler()}),
		FetchOnlyKnownKinds: true, FetchPollInterval: pollEvery, SoftStopTimeout: c.StopWait, CompletedJobRetentionPeriod: workKept,
		ReindexerIndexNames: []string{}, // the owner of the tables is not the one who works on them
		PeriodicJobs: []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(forgetEvery), func() (river.JobArgs, *river.InsertOpts) {
			return forgetWork{}, &river.InsertOpts{Queue: forgetWork{}.Queue(), MaxAttempts: forgetWork{}.MaxAttempts()}
		}, &river.PeriodicJobOpts{RunOnStart: true})},
	})
	if err != nil {
		return nil, fmt.Errorf("make ready for background runs: %w", err)
	}
	r.client = client
	going, stop := context.WithCancel(context.WithoutCancel(ctx)) // Stop ends it, in its order
	if err := startPatiently(ctx, r.log, func() error { return client.Start(going) }); err != nil {
		stop()
		return nil, fmt.Errorf("start working on background runs: %w", err)
	}
	r.stop = stop
	r.swept.Go(func() { r.sweep(going) })
	return r, nil
}

// tracer returns the tracer, or nil without tracing.
func (r *Runner) tracer() *trace.Tracer {
	if r.config.Telemetry == nil {
		return nil
	}
	return r.config.Telemetry.Tracer
}

// startPatiently tries again for a while. The database was there a moment ago, so one that cannot be reached now is
// busy, as after its crash, when all clients return at once.
func startPatiently(ctx context.Context, log *slog.Logger, start func() error) error {
	for end := time.Now().Add(startPatience); ; {
		err := start()
		if err == nil || time.Now().After(end) {
			return err
		}
		log.Warn("background runs cannot be started yet, because the database does not answer; it is tried again") // the error names its user and address
		select {
		case <-time.After(startAgain):
		case <-ctx.Done():
			return err
		}
	}
}

// Stop takes no more runs, lets running ones finish for a while, then ends the rest, which other servers take up at
// once.
func (r *Runner) Stop(ctx context.Context) error {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.config.StopWait+stopTime)
	defer cancel()
	err := r.client.Stop(ending)
	r.stop()
	r.swept.Wait()
	if err != nil {
		return errors.New("background runs did not end in time; other servers take them up when their leases have passed")
	}
	return nil
}

// duties holds a server's jobs for River.
type duties struct {
	workers *river.Workers
	queues  map[string]river.QueueConfig
}

// takeUp adds one kind of work, with a number of concurrent jobs in its queue. River retries after an error from do
// as often as the work asks for.
func takeUp[T runs.Work](d duties, work T, atOnce int, do func(context.Context, T) error) {
	river.AddWorkerArgs(d.workers, work, &worker[T]{do: do}) // runs of all kinds have one type
	d.queues[work.Queue()] = river.QueueConfig{MaxWorkers: atOnce}
}

type worker[T runs.Work] struct {
	river.WorkerDefaults[T]
	do func(context.Context, T) error
}

func (w *worker[T]) Work(ctx context.Context, job *river.Job[T]) error { return w.do(ctx, job.Args) }

// Timeout returns no limit: work with a time limit sets its own.
func (w *worker[T]) Timeout(*river.Job[T]) time.Duration { return -1 }

// forgetWork makes one of the servers delete old runs.
type forgetWork struct{}

func (forgetWork) Kind() string     { return "forget_runs" }
func (forgetWork) Queue() string    { return "upkeep" }
func (forgetWork) MaxAttempts() int { return 3 }

func (r *Runner) forget(ctx context.Context, _ forgetWork) error {
	deleted, err := r.app.Stores.Runs.ForgetRuns(ctx, forgetAfter)
	if deleted > 0 {
		r.log.Info("old runs deleted", "count", deleted)
	}
	if err != nil {
		return err
	}
	_, err = r.app.Stores.Webhooks.ForgetDeliveries(ctx, forgetDelivery)
	return err
}

// sweep hands out the work of dead servers again.
func (r *Runner) sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	forgotten := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		failed, err := r.app.Stores.Runs.SweepRuns(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.Debug("looking for runs of dead servers failed", "error", err.Error())
		}
		for _, kind := range failed {
			r.metrics.ended(kind, "failed")
		}
		if _, known := r.config.Kinds[reporting.RunKind]; known {
			r.sweepReports(ctx, &forgotten)
		}
		if err := r.app.Stores.Webhooks.SweepDeliveries(ctx); err != nil && ctx.Err() == nil {
			r.log.Debug("looking for deliveries of dead servers failed", "error", err.Error())
		}
	}
}

// warnings passes only warnings and errors, without those of a stop in the middle of work. It rewrites them, because
// River's errors name the database, its user and its address.
type warnings struct{ slog.Handler }

func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	kind, stopped, failed := "other", false, false
	r.Attrs(func(a slog.Attr) bool {
		err, is := a.Value.Any().(error)
		text := a.Value.String()
		failed = failed || is || strings.HasPrefix(a.Key, "err")
		switch {
		case strings.Contains(text, context.Canceled.Error()), strings.Contains(text, poolClosed):
			stopped = true
		case strings.Contains(text, "closed"), strings.Contains(text, "unexpected EOF"), strings.Contains(text, "terminating connection"):
			kind = "closed"
		case strings.Contains(text, "failed to connect"), errors.Is(err, context.DeadlineExceeded), strings.Contains(text, context.DeadlineExceeded.Error()):
			kind = "away"
		}
		return true
	})
	if stopped || strings.Contains(r.Message, poolClosed) {
		return nil
	}
	if !failed && r.Level < slog.LevelError {
		return w.Handler.Handle(ctx, r)
	}
	record := slog.NewRecord(r.Time, r.Level, "background work had trouble with the database; it is tried again", r.PC)
	record.AddAttrs(slog.String("kind", kind))
	return w.Handler.Handle(ctx, record)
}

// poolClosed is River's error when it is stopped in the middle of work.
const poolClosed = "underlying driver pool is closed"

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
