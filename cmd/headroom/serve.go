package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/core/capacity"
	"headroom/internal/core/fault"
	"headroom/internal/core/lp"
	"headroom/internal/core/lp/worker"
	"headroom/internal/core/money"
	"headroom/internal/edge/api"
	"headroom/internal/edge/web"
	"headroom/internal/service/app"
	"headroom/internal/service/auth"
	"headroom/internal/service/plans"
	runs "headroom/internal/service/run"
	"headroom/internal/service/telemetry"
)

func serveCommand() *cobra.Command {
	var demo bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP interface, with a database of its own unless DATABASE_URL names one",
		Long: `Starts the server. Without DATABASE_URL it keeps its data in a private Postgres in the data
directory, started from the installed binaries, and prints a link with which a browser on this machine
signs in. The other verbs on this machine find the server by themselves.

A copy of the current plans and of the keys' hashes is kept on disk (HEADROOM_COPY): a server that is
started while the database is away answers polls from it, and refuses what needs the database. Whoever
can write to the file as the server's user could let keys of their own read, and solve, in an outage;
HEADROOM_COPY=none keeps no copy.

"headroom config" shows every setting. SIGTERM and Ctrl-C end it gracefully.`,
		Example: "  headroom serve --demo\n  DATABASE_URL=postgres://headroom@db.example.com/headroom headroom serve --listen 0.0.0.0:8080",
		Args:    cobra.NoArgs,
	}
	serverFlags(c)
	c.Flags().BoolVar(&demo, "demo", false, "make two small clusters, demo and demo-spot, so that no page is empty; once")
	return command(c, func(c *cobra.Command, args []string) error {
		settings, _, err := readConfig(c, environment())
		if err != nil {
			return err
		}
		outliveReaders()
		return serve(c.Context(), settings, demo, c.OutOrStdout(), c.ErrOrStderr())
	})
}

// ballast lets the heap of a server, which is small, grow a little more between collections: a fifth less processor
// time for large solves. The collector counts it as living, but nobody touches it, so it takes no memory; a multiple
// of what lives (GOGC) would be too much garbage where many clients hold something.
const ballast = 16 << 20

// How long what is being done at the end may take: solves until they are ended, with an answer that
// says when to ask again, and requests until they are cut off. The whole must stay below
// the ten seconds after which many supervisors kill: a private database that has not ended at wholeStop
// is cut off.
const (
	solveEnd  = 3 * time.Second
	drainTime = 7 * time.Second
	wholeStop = 9 * time.Second
)

// serve runs the server until the context ends, then stops it in the reverse order of its start.
func serve(ctx context.Context, settings config, demo bool, stdout, stderr io.Writer) (err error) {
	defer runtime.KeepAlive(make([]byte, ballast))
	ready := false
	defer func() {
		if err != nil && !ready && ctx.Err() != nil { // a stop cut short what it was at, which is no failure
			fmt.Fprintln(stderr, "headroom: Stopped before it was ready.")
			err = nil
		}
	}()
	beyond := !onLoopback(settings.Listen)
	if beyond {
		if err := errors.Join(settings.sampleSecrets()...); err != nil {
			return err
		}
	}
	t := telemetry.New(stderr, settings.logLevel(isTerminal(stderr)))
	if tracer := settings.tracer(t.Log); tracer != nil {
		t.ShowTraces(tracer)
		defer func() {
			flushing, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
			defer cancel()
			tracer.Close(flushing)
		}()
	}
	listener, err := listen(settings.Listen, "--listen")
	if err != nil {
		return err
	}
	defer listener.Close()

	go api.ReadRequests() // while the database is opened
	pool := worker.New(worker.Config{Processes: settings.SolverProcesses, Report: func(e worker.Event) {
		t.SolverEvent(string(e.Kind))
		if e.Kind == worker.Crashed || e.Kind == worker.Refused {
			t.Log.Warn("solver process failed", "kind", string(e.Kind), "process", e.Process, "took", e.Took)
		}
	}})
	defer pool.Close()
	var solver lp.Solver = pool
	if _, missing := worker.Find(); missing != nil {
		t.Log.Warn("no solver is installed; plans rest on the core method alone", "reason", missing.Error())
	}

	var draining atomic.Bool
	keys, door := auth.NewKeyring(), newDoor(listener, t.Log)
	defer door.Close()
	if settings.MetricsListen != "" {
		if err := door.showMetrics(settings.MetricsListen, t); err != nil {
			return err
		}
	}
	if settings.AdminKey != "" {
		keys.AddLocal(auth.Key{ID: auth.LocalID, Name: "HEADROOM_ADMIN_KEY", Role: auth.Admin, Hash: auth.HashOf(settings.AdminKey)})
	}
	issuer := settings.issuer(t.Log)
	if issuer != nil {
		watching, stop := context.WithCancel(context.WithoutCancel(ctx))
		watched := issuer.Watch(watching)
		defer func() { stop(); <-watched }()
	}
	store, err := openDatabase(ctx, settings, t.Log)
	copyOver := func() {}
	if errors.Is(err, fault.Busy) && ctx.Err() == nil {
		w := waiting{settings: settings, t: t, door: door, keys: keys, issuer: issuer, solver: solver, draining: &draining, stdout: stdout}
		store, copyOver, err = w.untilOpened(ctx, err)
	}
	if err != nil || store.Store == nil {
		return err
	}
	until := sync.OnceValue(func() time.Time { return time.Now().Add(wholeStop) }) // from when the stop begins
	defer func() { err = errors.Join(err, store.close(until())) }()
	a := app.New(store.Store.Stores(), keys, app.Config{Solver: solver, Telemetry: t, Issued: issued(issuer), ImportBytes: settings.ImportMaxBytes})
	measure(t, a, store)
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx)) // what is answered at the end is still right
	watched, err := a.Auth.Watch(watching)
	if err != nil {
		stopWatching()
		return err
	}
	defer func() { stopWatching(); <-watched }()
	if beyond && issuer == nil && keys.Len(a.Now()) == 0 {
		return fmt.Errorf("%s can be reached from other machines, and there is no key yet; make one with \"headroom key create NAME --role admin\" or set HEADROOM_ADMIN_KEY, or listen on 127.0.0.1", settings.Listen)
	}
	var plan *plans.PlanRecord
	if demo {
		record, err := makeDemo(ctx, a)
		if err != nil {
			return err
		}
		plan = &record
	}

	shown, err := a.WatchPlans(watching)
	if err != nil {
		return err
	}
	defer func() { stopWatching(); <-shown }()
	if file := settings.copyFile(); file != "" {
		copied := a.Plans.KeepCopy(watching, file, settings.databaseMark())
		defer func() { stopWatching(); <-copied }()
	}
	planning, stopPlanning := context.WithCancel(ctx)
	planned := a.Plans.Start(planning)
	defer func() { stopPlanning(); <-planned }()
	heard := a.Runs.Watch(watching)
	defer func() { stopWatching(); <-heard }()
	connections, schema := store.River()
	runner, err := runs.Start(ctx, runs.Config{App: a, Pool: connections, Schema: schema, Telemetry: t, AtOnce: settings.Runs})
	if err != nil {
		return err
	}
	stopRuns := sync.OnceValue(func() error { return runner.Stop(ctx) })
	defer func() { err = errors.Join(err, stopRuns()) }()

	stopping := make(chan struct{})
	handler, err := api.New(settings.apiConfig(a, t, &draining, stopping))
	if err != nil {
		return err
	}
	door.lead(handler)
	copyOver()
	greet, err := introduce(ctx, a, settings, beyond, listener.Addr(), plan)
	if err != nil {
		return err
	}
	defer greet.leave()
	ready = true
	fmt.Fprint(stdout, greet.text)
	t.Log.Info("serving", "address", listener.Addr().String(), "version", version, "private_database", settings.DatabaseURL == "")
	if err := notify(notifyReady); err != nil {
		t.Log.Warn("the supervisor cannot be told", "error", err.Error())
	}

	select {
	case <-ctx.Done():
	case err = <-door.failed:
		t.Log.Error("server ended", "error", err.Error())
	case <-store.gone:
		err = errors.New("the private database ended and cannot be started again; the log says why")
	}
	until()
	draining.Store(true)
	close(stopping)
	a.Solver.Stop()
	go stopRuns() // beside the requests, for it may take as long; the deferred one waits for it
	defer time.AfterFunc(solveEnd, a.Solver.End).Stop()
	t.Log.Info("stopping")
	_ = notify(notifyStopping) // who could not be told that it is ready has been named
	return errors.Join(err, door.stop(ctx))
}

// apiConfig is how the interface works.
func (s config) apiConfig(a *app.App, t *telemetry.Telemetry, draining *atomic.Bool, stopping <-chan struct{}) api.Config {
	limits := capacity.DefaultLimits()
	limits.Bytes, limits.Classes = s.MaxBodyMB<<20, s.MaxClasses
	return api.Config{
		App: a, Telemetry: t, Hosts: s.Hosts, SecureCookies: s.SecureCookies, Limits: limits,
		SolvesPerSecond: s.SolvesPerSecond, RequestsPerSecond: s.RequestsPerSecond,
		ImportBytes: s.ImportMaxBytes,
		Draining:    draining, Stopping: stopping, Version: version, Page: web.New().Serve,
	}
}

// measure adds what is only known here to the metrics.
func measure(t *telemetry.Telemetry, a *app.App, store openedDatabase) {
	t.Running(version)
	t.Gauge("headroom_solves_running", "Solves that run.", func() float64 { running, _ := a.Solver.Count(); return float64(running) })
	t.Gauge("headroom_solves_waiting", "Solves that wait for a place.", func() float64 { _, waiting := a.Solver.Count(); return float64(waiting) })
	t.Gauge("headroom_database_connections", "Connections to the database that are open.", func() float64 { return float64(store.Stat().TotalConns()) })
	t.Gauge("headroom_database_connections_busy", "Connections to the database that are in use.", func() float64 { return float64(store.Stat().AcquiredConns()) })
}

// listen takes the address of a setting before anything else is started.
func listen(address, setting string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		var op *net.OpError
		reason := err
		if errors.As(err, &op) {
			reason = op.Err
		}
		return nil, fmt.Errorf("cannot listen on %s: %v; choose another address with %s", address, reason, setting)
	}
	return l, nil
}

// newServer has the limits that keep slow and huge requests from hurting others.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 3 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 15 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// greeting is what a server says when it is there, and how it is taken back.
type greeting struct {
	text  string
	leave func()
}

// introduce says where the server is and how to get in. With a private database on this machine it
// gives browsers a link that works once, and the other verbs a key that lives as long as the server.
func introduce(ctx context.Context, a *app.App, settings config, beyond bool, address net.Addr, plan *plans.PlanRecord) (greeting, error) {
	g := greeting{leave: func() {}}
	base := "http://" + address.String()
	var text strings.Builder
	fmt.Fprintf(&text, "Headroom serves on %s\n", base)
	if settings.DatabaseURL == "" && !beyond {
		link, err := a.Auth.NewSignInLink(ctx)
		away := errors.Is(err, fault.Busy)
		if err != nil && !away {
			return g, err
		}
		token, hash := auth.NewToken(auth.KeyPrefix)
		a.Auth.Ring.AddLocal(auth.Key{ID: auth.LocalID, Name: "this machine", Role: auth.Admin, Hash: hash})
		file := filepath.Join(settings.DataDir, clientFile)
		if err := writeClientAccess(file, clientAccess{URL: base, Key: token}); err != nil {
			return g, err
		}
		g.leave = func() { _ = os.Remove(file) }
		if !away {
			fmt.Fprintf(&text, "\nSign in with a browser (once, within %d minutes):\n  %s/sign-in#%s\n", int(auth.LinkLife.Minutes()), base, link)
		}
	}
	if plan != nil {
		fmt.Fprintf(&text, "\nThe cluster %q has a plan: %g VMs for %s %s an hour and %s in penalties, %s.\n", plan.Cluster, plan.VMs,
			money.Amount{Decimal: plan.OnDemandCost.Add(plan.ReservedCost.Decimal)}, plan.Currency, plan.Penalties, provedWord(plan.Status))
		verbs, to, key := clientLine(settings, beyond, base)
		fmt.Fprintf(&text, "%s  %s plan get %s%s\n  %s plan explain %s%s\n", key, verbs, shellWord(plan.Cluster), to, verbs, shellWord(plan.Cluster), to)
	}
	fmt.Fprintf(&text, "\nReference: %s/docs\n", base)
	g.text = text.String()
	return g, nil
}

// clientLine is how other verbs are started so that they reach this server, from any directory: the program, the flags
// that say where it is, and what else is needed.
func clientLine(settings config, beyond bool, base string) (program, to, key string) {
	program = shellWord(startedAs())
	if settings.DatabaseURL != "" || beyond {
		return program, " --server " + shellWord(base), "With a key in HEADROOM_API_KEY:\n"
	}
	dir := settings.DataDir
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return program, " --data-dir " + shellWord(dir), ""
}

// startedAs is the path of this program as it was started; links stay links.
func startedAs() string {
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			return path
		}
	}
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// shellWord is a text as one word of a shell.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func provedWord(s capacity.Status) string {
	if s == capacity.Optimal {
		return "proved optimal"
	}
	return "with a proved gap"
}

// writeClientAccess writes the file whole or not at all, readable by its owner alone.
func writeClientAccess(file string, access clientAccess) error {
	text, err := json.Marshal(access)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".client-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err = temporary.Write(append(text, '\n'))
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
