package telemetry

import (
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics holds the process's metrics. Labels take values from closed sets alone, so that no client can make the
// registry grow.
type metrics struct {
	requests      *prometheus.CounterVec
	requestTime   *prometheus.HistogramVec
	inFlight      prometheus.Gauge
	solves        *prometheus.CounterVec
	solveTime     *prometheus.HistogramVec
	solverEvents  *prometheus.CounterVec
	disagreements prometheus.Counter
	plans         *prometheus.CounterVec
	admissions    *prometheus.CounterVec
	attempts      *prometheus.CounterVec
	lag           prometheus.Histogram
	liveReads     prometheus.Counter
	sentOn        *prometheus.CounterVec
	build         *prometheus.GaugeVec
}

// Buckets in seconds: a poll takes well under a millisecond, a solve up to its time limit.
var (
	requestBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	lagBuckets     = []float64{0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300}
	solveBuckets   = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
)

func newMetrics() metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := metrics{
		requests:    counter("http_requests_total", "Requests answered, by method, route pattern and status.", "method", "route", "status"),
		requestTime: histogram("http_request_duration_seconds", "Time from the request's header to the end of its answer, by route pattern.", requestBuckets, "route"),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_requests_in_flight", Help: "Requests being answered."}),
		solves:       counter("headroom_solves_total", "Problems solved, by the status of the answer.", "status"),
		solveTime:    histogram("headroom_solve_duration_seconds", "Time of a whole solve, waiting for a place left out: stage core by our own method alone, milp with a solver's second opinion in it.", solveBuckets, "stage"),
		solverEvents: counter("headroom_solver_events_total", "What happened to solver processes: started, killed when its time was over, recycled, crashed (also while idle), refused an answer, missing (none could be started).", "kind"),
		disagreements: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "headroom_disagreements_total", Help: "Solves where a solver's second opinion differed from the proved plan."}),
		plans:      counter("headroom_plans_total", "Plans stored, by status.", "status"),
		admissions: counter("headroom_admissions_total", "Jobs that asked for a place, by the answer.", "outcome"),
		attempts:   counter("headroom_plan_attempts_total", "Times the planner looked at a cluster, by what came of it: planned anew, the plan confirmed, a plan that came too late, inputs that cannot be planned, failed and tried again.", "outcome"),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "headroom_planning_lag_seconds", Help: "Time from the first change of a cluster's inputs that no plan answered until a plan that answers them was current.", Buckets: lagBuckets}),
		liveReads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "headroom_live_reads_total", Help: "Times the whole state of a live cluster was read, because the memory of this server was not the latest."}),
		sentOn: counter("headroom_requests_sent_on_total", "Requests about live clusters of another server, by what came of it: answered there, answered here because it refused or was not reached, lost on the way and refused.", "outcome"),
		build: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "headroom_build_info", Help: "Always 1; the labels say what is running."}, []string{"version", "go"}),
	}
	// A series that starts at 0 makes the first event visible to rate() and to alerts.
	for _, s := range planStatuses {
		m.solves.WithLabelValues(s)
	}
	for _, k := range eventKinds {
		m.solverEvents.WithLabelValues(k)
	}
	for _, s := range planStatuses[:2] {
		m.plans.WithLabelValues(s)
	}
	for _, o := range admissionOutcomes {
		m.admissions.WithLabelValues(o)
	}
	for _, o := range sentOnOutcomes {
		m.sentOn.WithLabelValues(o)
	}
	for _, o := range attemptOutcomes {
		m.attempts.WithLabelValues(o)
	}
	return m
}

func (m *metrics) register(r *prometheus.Registry) {
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.requestTime, m.inFlight, m.solves, m.solveTime, m.solverEvents, m.disagreements, m.plans, m.admissions, m.attempts, m.lag, m.liveReads, m.sentOn, m.build)
}

// The closed sets. Other values are counted as "other".
var (
	methods      = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	planStatuses = []string{"optimal", "feasible", "infeasible"}
	eventKinds   = []string{"started", "killed", "recycled", "crashed", "refused", "missing"}

	admissionOutcomes = []string{"admitted", "full", "none_admitted", "not_planned", "deadline_missed", "no_slots", "unmeasured"}
	attemptOutcomes   = []string{"planned", "confirmed", "late", "infeasible", "failed"}
	sentOnOutcomes    = []string{"answered", "here", "lost"}
)

func oneOf(set []string, s string) string {
	if slices.Contains(set, s) {
		return s
	}
	return "other"
}

// RequestBegan counts a request in progress; RequestEnded must follow.
func (m *metrics) RequestBegan() { m.inFlight.Inc() }

// RequestEnded counts an answered request. route is the router's pattern, never the requested path, and "" if none
// matched.
func (m *metrics) RequestEnded(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "other"
	}
	code := "other"
	if status >= 100 && status <= 599 {
		code = strconv.Itoa(status)
	}
	m.inFlight.Dec()
	m.requests.WithLabelValues(oneOf(methods, method), route, code).Inc()
	m.requestTime.WithLabelValues(route).Observe(took.Seconds())
}

// Solved counts a solve by its plan's status; engine is the solver that gave a second opinion, ""
// for none.
func (m *metrics) Solved(status, engine string, took time.Duration) {
	stage := "core"
	if engine != "" {
		stage = "milp"
	}
	m.solves.WithLabelValues(oneOf(planStatuses, status)).Inc()
	m.solveTime.WithLabelValues(stage).Observe(took.Seconds())
}

// Disagreed counts a solver's second opinion that differed from the proved plan.
func (m *metrics) Disagreed() { m.disagreements.Inc() }

// PlanStored counts a stored plan.
func (m *metrics) PlanStored(status string) {
	m.plans.WithLabelValues(oneOf(planStatuses, status)).Inc()
}

// Admitted counts a job that asked for admission.
func (m *metrics) Admitted(outcome string) {
	m.admissions.WithLabelValues(oneOf(admissionOutcomes, outcome)).Inc()
}

// PlanAttempted counts an attempt of the planner to plan a cluster.
func (m *metrics) PlanAttempted(outcome string) {
	m.attempts.WithLabelValues(oneOf(attemptOutcomes, outcome)).Inc()
}

// PlanLagged records the time from a change of inputs to the plan that covers it.
func (m *metrics) PlanLagged(since time.Duration) { m.lag.Observe(since.Seconds()) }

// LiveRead counts a state of a live cluster that was read whole.
func (m *metrics) LiveRead() { m.liveReads.Inc() }

// SentOn counts a request for another server: "answered", "here" or "lost".
func (m *metrics) SentOn(outcome string) {
	m.sentOn.WithLabelValues(oneOf(sentOnOutcomes, outcome)).Inc()
}

// SolverEvent counts an event of a solver process.
func (m *metrics) SolverEvent(kind string) {
	m.solverEvents.WithLabelValues(oneOf(eventKinds, kind)).Inc()
}

// Running shows the running version.
func (m *metrics) Running(version string) {
	m.build.Reset()
	m.build.WithLabelValues(version, runtime.Version()).Set(1)
}

// Gauge shows a number that another package keeps, such as places taken in a pool. read is called from several
// goroutines and must be quick.
func (t *Telemetry) Gauge(name, help string, read func() float64) {
	t.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Handler serves the metrics in Prometheus' text format.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(t.Registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(t.Log.Handler(), slog.LevelError),
		DisableCompression:  true, // a scrape is small; not compressing avoids a bomb of open gzip writers
		MaxRequestsInFlight: 4,
		Timeout:             5 * time.Second,
	})
}
