package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/edge/api"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/web"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/auth/oidc"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/service/telemetry"
)

// ServeCommand returns the command that runs a server.
func ServeCommand() *cobra.Command {
	var demo demoWord
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP interface, with a database of its own unless DATABASE_URL names one",
		Long: `Starts the server. Without DATABASE_URL it keeps its data in a private Postgres in the data
directory, started from the installed binaries, and prints a link with which a browser on this machine
signs in. The other commands on this machine find the server by themselves.

A copy of the current plans and of the keys' hashes is kept on disk (HEADROOM_COPY): a server that is
started while the database is away answers polls from it, and refuses what needs the database. Whoever
can write to the file as the server's user could let keys of their own read, and solve, in an outage;
HEADROOM_COPY=none keeps no copy.

"headroom server config" shows every setting. SIGTERM and Ctrl-C end it gracefully.`,
		Example: "  headroom serve --demo\n  DATABASE_URL=postgres://headroom@db.example.com/headroom headroom serve --listen 0.0.0.0:8080",
		Args:    cobra.NoArgs,
	}
	serverFlags(c)
	shell.AddChoice(c, &demo, "demo", "", "make two small clusters, demo and demo-spot, so that no page is empty, once; still has no simulated nodes and one price", demoTour, demoStill)
	c.Flags().Lookup("demo").NoOptDefVal = string(demoTour)
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		settings, _, err := readConfig(c, surroundings{values: environment()})
		if err != nil {
			return err
		}
		shell.OutliveReaders()
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
func serve(ctx context.Context, settings config, demo demoWord, stdout, stderr io.Writer) (err error) {
	defer runtime.KeepAlive(make([]byte, ballast))
	s := &serving{settings: settings, stdout: stdout, keys: auth.NewKeyring(), stopping: make(chan struct{})}
	s.until = sync.OnceValue(func() time.Time { return time.Now().Add(wholeStop) })
	defer func() {
		err = errors.Join(err, s.close())
		if err != nil && !s.ready && ctx.Err() != nil { // a stop cut the start short, which is no failure
			fmt.Fprintln(stderr, "headroom: Stopped before it was ready.")
			err = nil
		}
	}()
	if err := s.openDoor(ctx, stderr); err != nil {
		return err
	}
	s.openSolver()
	if err := s.letIn(ctx); err != nil {
		return err
	}
	if err := s.openStore(ctx); err != nil || s.store.Store == nil {
		return err
	}
	if err := s.openApp(ctx, demo); err != nil {
		return err
	}
	if err := s.startWork(ctx); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	return s.untilStopped(ctx)
}

// serving is a server with everything that it has opened.
type serving struct {
	settings config
	stdout   io.Writer
	t        *telemetry.Telemetry
	door     *door
	keys     *auth.Keyring
	issuer   *oidc.Issuer // nil where there is none
	solver   lp.Solver
	store    openedDatabase
	copyOver func() // ends the answers from the copy of the last plans
	app      *app.App
	shown    *plans.PlanRecord // of the demonstration; nil without it
	played   *simulator        // likewise
	watching context.Context   // ends after the requests: what is answered at the end is still right
	unwatch  func()
	stopRuns func() error

	ready    bool
	draining atomic.Bool
	stopping chan struct{}
	until    func() time.Time // the end of the stop, counted from the first call
	opened   []func() error
}

// onClose adds a step to the end of the server. Steps run last first.
func (s *serving) onClose(step func() error) { s.opened = append(s.opened, step) }

// onCloseWait stops something at the end and waits until it has ended.
func (s *serving) onCloseWait(stop func(), ended <-chan struct{}) {
	s.onClose(func() error { stop(); <-ended; return nil })
}

// close closes what was opened, last first.
func (s *serving) close() (err error) {
	for _, step := range slices.Backward(s.opened) {
		err = errors.Join(err, step())
	}
	return err
}

// beyond says whether other machines can reach the server.
func (s *serving) beyond() bool { return !onLoopback(s.settings.Listen) }

// openDoor starts the log and the traces, and takes the addresses to serve on.
func (s *serving) openDoor(ctx context.Context, stderr io.Writer) error {
	if s.beyond() {
		if err := errors.Join(s.settings.sampleSecrets()...); err != nil {
			return err
		}
	}
	s.t = telemetry.New(stderr, s.settings.logLevel(shell.IsTerminal(stderr)))
	for _, said := range mistyped(environment()) {
		s.t.Log.Warn("a variable is no setting", "reason", said)
	}
	if tracer := s.settings.tracer(s.t.Log); tracer != nil {
		s.t.ShowTraces(tracer)
		s.onClose(func() error {
			flushing, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
			defer cancel()
			tracer.Close(flushing)
			return nil
		})
	}
	listener, err := listen(s.settings.Listen, "--listen")
	if err != nil {
		return err
	}
	s.onClose(func() error { _ = listener.Close(); return nil }) // the door has closed it already, as a rule
	s.door = newDoor(listener, s.settings.proxies(), s.t.Log)
	return nil
}

// openSolver makes ready to start solver processes.
func (s *serving) openSolver() {
	var missing atomic.Bool // and the log says so
	miss := func(reason string) {
		if !missing.Swap(true) {
			s.t.Log.Warn("no solver can be started; plans rest on the core method alone", "reason", reason)
		}
	}
	pool := worker.New(worker.Config{Processes: s.settings.SolverProcesses, Report: func(e worker.Event) {
		s.t.SolverEvent(string(e.Kind))
		switch e.Kind {
		case worker.Started:
			missing.Store(false)
		case worker.Missing:
			miss(e.Detail)
		case worker.Crashed, worker.Refused:
			s.t.Log.Warn("solver process failed", "kind", string(e.Kind), "process", e.Process, "took", e.Took)
		}
	}})
	s.onClose(func() error { pool.Close(); return nil })
	s.solver = pool
	s.t.Gauge("headroom_solver_found", "1 while the program of the solver is there, 0 while plans rest on the core method alone.", func() float64 {
		_, err := worker.Find()
		return telemetry.Truth(err == nil)
	})
	if _, err := worker.Find(); err != nil {
		miss(err.Error())
	}
}

// letIn takes the keys of the settings and the tokens of their issuer, and shows metrics.
func (s *serving) letIn(ctx context.Context) error {
	s.onClose(func() error { _ = s.door.Close(); return nil }) // which has been stopped already, as a rule
	if s.settings.MetricsListen != "" {
		if err := s.door.showMetrics(s.settings.MetricsListen, s.t); err != nil {
			return err
		}
	}
	if key := s.settings.AdminKey; key != "" {
		s.keys.AddLocal(auth.Key{ID: auth.LocalID, Name: "HEADROOM_ADMIN_KEY", Role: auth.Admin, Hash: auth.HashOf(key)})
	}
	if s.issuer = s.settings.issuer(s.t.Log); s.issuer != nil {
		watching, stop := context.WithCancel(context.WithoutCancel(ctx))
		s.onCloseWait(stop, s.issuer.Watch(watching))
	}
	return nil
}

// openStore opens the database. While it is away the server answers from the copy of the last plans. The store is nil
// where the context ended meanwhile.
func (s *serving) openStore(ctx context.Context) (err error) {
	s.copyOver = func() {}
	s.store, err = openDatabase(ctx, s.settings, s.t.Log)
	if errors.Is(err, fault.Busy) && ctx.Err() == nil {
		w := waiting{
			settings: s.settings, t: s.t, door: s.door, keys: s.keys, issuer: s.issuer, solver: s.solver, draining: &s.draining, stdout: s.stdout,
		}
		s.store, s.copyOver, err = w.untilOpened(ctx, err)
	}
	if err == nil && s.store.Store != nil {
		s.onClose(func() error { return s.store.close(s.until()) })
	}
	return err
}

// openApp makes the service on the store, follows its keys, and makes the demonstration.
func (s *serving) openApp(ctx context.Context, demo demoWord) error {
	a := app.New(s.store.Store.Stores(), s.keys, app.Config{
		Solver: s.solver, Telemetry: s.t, Issuer: issuerOf(s.issuer), ImportBytes: s.settings.ImportMaxBytes,
		KeySolveTime: time.Duration(s.settings.KeySolveSeconds) * time.Second,
		Kept:         clusters.KeptLimits{Rows: s.settings.ClusterRows, Bytes: s.settings.ClusterBytes},
	})
	s.app = a
	measure(s.t, a, s.store)
	s.watching, s.unwatch = context.WithCancel(context.WithoutCancel(ctx))
	s.onClose(func() error { s.unwatch(); return nil })
	watched, err := a.Auth.Watch(s.watching)
	if err != nil {
		return err
	}
	s.onCloseWait(s.unwatch, watched)
	if s.beyond() && s.issuer == nil && s.keys.Len(a.Now()) == 0 {
		return fmt.Errorf("%s can be reached from other machines, and there is no key yet; make one with \"headroom server key create NAME --role "+
			"admin\" or set HEADROOM_ADMIN_KEY, or listen on 127.0.0.1", s.settings.Listen)
	}
	if demo == "" {
		return nil
	}
	d, more, err := readDemo()
	if err != nil {
		return err
	}
	record, err := makeDemo(ctx, a, d, more, demo)
	if s.shown = &record; demo == demoTour {
		s.played = &simulator{app: a, cluster: d.Cluster.Name, demo: more.Live, log: s.t.Log}
	}
	return err
}

// startWork starts what the server does in the background: it follows plans and runs, keeps a copy, plans and works.
func (s *serving) startWork(ctx context.Context) error {
	shown, err := s.app.WatchPlans(s.watching)
	if err != nil {
		return err
	}
	s.onCloseWait(s.unwatch, shown)
	if file := s.settings.copyFile(); file != "" {
		s.onCloseWait(s.unwatch, s.app.Plans.KeepCopy(s.watching, file, s.settings.databaseMark()))
	}
	planning, stopPlanning := context.WithCancel(ctx)
	s.onCloseWait(stopPlanning, s.app.StartPlanner(planning))
	s.onCloseWait(s.unwatch, s.app.Runs.Watch(s.watching))
	if s.played != nil {
		playing, stop := context.WithCancel(ctx)
		s.onCloseWait(stop, s.played.start(playing))
	}
	connections, schema := s.store.River()
	runner, err := queue.Start(ctx, queue.Config{App: s.app, Pool: connections, Schema: schema, Telemetry: s.t, AtOnce: s.settings.Runs})
	if err != nil {
		return err
	}
	s.stopRuns = sync.OnceValue(func() error { return runner.Stop(ctx) })
	s.onClose(s.stopRuns)
	return nil
}

// begin answers requests from now on, and says so.
func (s *serving) begin(ctx context.Context) error {
	c := s.settings.apiConfig(s.app, s.t, &s.draining, s.stopping)
	if address := s.settings.PeerAddress; address != "" {
		host, port, _ := net.SplitHostPort(address) // which was checked
		c.Peers = heartbeat.NewPeers(s.app.Stores.Servers, net.JoinHostPort(host, port), s.t.Log)
		s.t.Gauge("headroom_peers", "Other servers that requests about their live clusters are sent on to.", func() float64 { return float64(c.Peers.Count()) })
		s.t.Gauge("headroom_live_clusters_owned", "Live clusters in memory that this server owns: the others send requests about them on to it.", func() float64 {
			return float64(s.app.Live.Held(func(cluster string) bool { return c.Peers.Owner(cluster) == nil }))
		})
	}
	handler, err := api.New(c)
	if err != nil {
		return err
	}
	s.door.lead(handler)
	if c.Peers != nil {
		listed, leave := context.WithCancel(ctx)
		s.onCloseWait(leave, c.Peers.Start(listed, s.app.Live))
	}
	s.copyOver()
	address := s.door.listener.Addr()
	greet, err := introduce(ctx, s.app, s.settings, s.beyond(), address, s.shown)
	if err != nil {
		return err
	}
	s.onClose(func() error { greet.leave(); return nil })
	s.ready = true
	fmt.Fprint(s.stdout, greet.text)
	s.t.Log.Info("serving", "address", address.String(), "version", shell.Version, "private_database", s.settings.DatabaseURL == "")
	if err := shell.Notify(shell.NotifyReady); err != nil {
		s.t.Log.Warn("the supervisor cannot be told", "error", err.Error())
	}
	return nil
}

// untilStopped waits for the end, and lets requests and solves end.
func (s *serving) untilStopped(ctx context.Context) (err error) {
	select {
	case <-ctx.Done():
	case err = <-s.door.failed:
		s.t.Log.Error("server ended", "error", err.Error())
	case <-s.store.gone:
		err = errors.New("the private database ended and cannot be started again; the log says why")
	}
	s.until()
	s.draining.Store(true)
	close(s.stopping)
	s.app.Solver.Stop()
	go s.stopRuns() // beside the requests, for it may take as long; closing waits for it
	defer time.AfterFunc(solveEnd, s.app.Solver.End).Stop()
	s.t.Log.Info("stopping")
	_ = shell.Notify(shell.NotifyStopping) // who could not be told that it is ready has been named
	return errors.Join(err, s.door.stop(ctx))
}

// apiConfig returns the settings of the HTTP interface.
func (s config) apiConfig(a *app.App, t *telemetry.Telemetry, draining *atomic.Bool, stopping <-chan struct{}) api.Config {
	limits := capacity.DefaultLimits()
	limits.Bytes, limits.Classes = s.MaxBodyMB<<20, s.MaxClasses
	return api.Config{
		App: a, Telemetry: t, Hosts: s.Hosts, SecureCookies: s.SecureCookies, Limits: limits,
		SolvesPerSecond: s.SolvesPerSecond, RequestsPerSecond: s.RequestsPerSecond, OpenPerSecond: s.OpenPerSecond, Proxies: s.proxies(),
		ImportBytes: s.ImportMaxBytes,
		Draining:    draining, Stopping: stopping, Version: shell.Version, Page: web.New().Serve,
	}
}

// measure adds what is only known here to the metrics.
func measure(t *telemetry.Telemetry, a *app.App, store openedDatabase) {
	t.Running(shell.Version)
	t.Registry.MustRegister(a.Solver)
	t.Gauge("headroom_solves_running", "Solves that run.", func() float64 { running, _ := a.Solver.Count(); return float64(running) })
	t.Gauge("headroom_solves_waiting", "Solves that wait for a place.",
		func() float64 { _, waiting := a.Solver.Count(); return float64(waiting) })
	t.Gauge("headroom_database_connections", "Connections to the database that are open.",
		func() float64 { return float64(store.Stat().TotalConns()) })
	t.Gauge("headroom_database_connections_busy", "Connections to the database that are in use.",
		func() float64 { return float64(store.Stat().AcquiredConns()) })
}
