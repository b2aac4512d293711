// Package api is the HTTP API: it reads requests by openapi.yaml, calls app, and writes answers and problem
// documents. It decides nothing about planning and stores nothing.
package api

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/api/entrance"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/telemetry"
)

// Config configures the API. Zero values stand for the defaults.
type Config struct {
	App               *app.App
	Telemetry         *telemetry.Telemetry
	Hosts             []string         // names the server answers to besides loopback and addresses
	SecureCookies     bool             // behind TLS: cookies travel encrypted alone
	Limits            capacity.Limits  // of bodies and problems; default capacity.DefaultLimits
	SolvesPerSecond   int              // of a key; default 20
	RequestsPerSecond int              // of a key; default 1000
	OpenPerSecond     int              // requests without a key of an address; default 300
	ReadWithin        time.Duration    // a watcher that does not read for that long is cut off; default 10 s
	ImportBytes       int64            // of a price sheet or a history; default 8 GiB
	UploadWithin      time.Duration    // of an upload a piece must come within; default 30 s
	PaceWithin        time.Duration    // of another body, and of an answer, a piece must pass within; default 15 s
	Proxies           entrance.Proxies // say for whom they ask
	Peers             *heartbeat.Peers // that requests about their live clusters are sent on to; nil for none
	Version           string
	// answers addresses of the page, and reports whether it was one; may be nil
	Page     func(http.ResponseWriter, *http.Request) bool
	Draining *atomic.Bool    // set while the server stops: readyz reports it
	Stopping <-chan struct{} // closed when the server stops: it ends all waits for changes
}

// server implements the API.
type server struct {
	config      Config
	app         *app.App
	telemetry   *telemetry.Telemetry
	router      *chi.Mux
	operations  map[route]*operation
	rates       rateLimits
	sessions    sessions
	ready       readiness
	largeBodies chan struct{} // a place for each that is checked
	pages       pageCache
	watchers    watchers
	line        *http.Transport // to other servers
}

// New returns the handler of all requests.
func New(c Config) (http.Handler, error) {
	if c.Limits == (capacity.Limits{}) {
		c.Limits = capacity.DefaultLimits()
	}
	if c.SolvesPerSecond == 0 {
		c.SolvesPerSecond = 20
	}
	if c.RequestsPerSecond == 0 {
		c.RequestsPerSecond = 1000
	}
	if c.ReadWithin == 0 {
		c.ReadWithin = 10 * time.Second
	}
	if c.ImportBytes == 0 {
		c.ImportBytes = 8 << 30
	}
	if c.OpenPerSecond == 0 {
		c.OpenPerSecond = 300
	}
	if c.PaceWithin == 0 {
		c.PaceWithin = 15 * time.Second
	}
	if c.UploadWithin == 0 {
		c.UploadWithin = 30 * time.Second
	}
	s := &server{config: c, app: c.App, telemetry: c.Telemetry, router: chi.NewRouter(),
		rates: newRateLimits(c.SolvesPerSecond, c.RequestsPerSecond, c.OpenPerSecond), largeBodies: make(chan struct{}, 2), line: lineToPeers()}
	var err error
	if s.operations, err = readOperations(); err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	if err := s.renderPages(); err != nil {
		return nil, err
	}
	compress, err := newCompressor()
	if err != nil {
		return nil, err
	}
	s.routes(compress)
	return s.router, nil
}

// headAsGet leads HEAD to what answers GET. Go's server leaves the body out.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// routes puts the layers around the operations. The outer ones see every request, also those without an operation;
// the inner ones know the operation. Polled answers compress their texts themselves, once for all callers.
func (s *server) routes(compress func(http.Handler) http.Handler) {
	s.router.Use(codings, s.observe, s.recoverPanics, s.secureHeaders, s.checkHost, s.limitAddress, s.page, s.authenticate, s.limitRate, s.sameOrigin, headAsGet)
	s.router.NotFound(s.notFound)
	s.router.MethodNotAllowed(s.methodNotAllowed)
	known := s.router.With(compress, s.authorize, s.toOwner, s.validate, s.once)
	HandlerWithOptions(NewStrictHandler(s, s.fail), ChiServerOptions{BaseRouter: known, ErrorHandlerFunc: s.fail})
	polled := s.router.With(s.authorize)
	polled.Get("/v1/clusters/{cluster}/plans/current", s.currentPlan)
	polled.Get("/v1/clusters/{cluster}/plans/current/scaling", s.scaling)
	polled.Get("/v1/clusters/{cluster}/plans/events", s.planEvents)
	polled.Get("/v1/clusters/{cluster}/pool/plans/current", s.getCurrentPoolPlan)
	polled.Get("/v1/clusters/{cluster}/pool/plans/current/scaling", s.getPoolScaling)
	for address, q := range questions {
		known.Post(address, s.ask(q, address))
	}
	known.Get("/v1/runs/{id}", s.getRun)
	known.Get("/v1/runs/{id}/result", s.getRunResult)
	known.Get("/v1/runs/{id}/events", s.watchRun)
	known.Get("/v1/clusters/{cluster}/reports/{report}/file", s.getReportFile)
	known.Post("/v1/solve", s.solve)
	known.Post("/v1/bounds", s.bounds)
	known.Put("/v1/clusters/{cluster}/forecasts", s.putForecasts)
	known.Post("/v1/clusters/{cluster}/forecasts/weekly", s.putWeeklyForecast)
	known.Post("/v1/clusters/{cluster}/price-imports", s.importPrices)
	known.Post("/v1/clusters/{cluster}/history-imports", s.importHistory)
	known.Post("/v1/pools/vm-types", s.poolVMTypes)
	known.Post("/v1/clusters/{cluster}/nodes/{node}/heartbeats", s.heartbeat)
	known.Post("/v1/session", s.createSession)
	known.Get("/v1/session", s.getSession)
	known.Delete("/v1/session", s.deleteSession)
	known.Get("/livez", s.livez)
	known.Get("/readyz", s.readyz)
	known.Get("/metrics", s.metrics)
	known.Get("/v1/about", s.aboutServer)
	known.Get("/openapi.yaml", s.openapi)
	known.Get("/docs", s.docs)
	known.Get("/docs/{chapter}/{page}", s.guide)
	known.Get("/problems/{kind}", s.problemPage)
	known.Get("/sign-in", s.signIn)
	known.Get("/sign-in/issuer", s.beginSignIn)
	known.Get(backPath, s.endSignIn)
	known.Get("/assets/{file}", s.asset)
}
