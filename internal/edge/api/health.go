package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/telemetry"
)

// Metrics serves only the metrics, without a key: for an address of its own on loopback.
func Metrics(t *telemetry.Telemetry) http.Handler { return t.Handler() }

// readiness remembers for a moment whether reads can be answered, so that probes from many balancers cause one query.
type readiness struct {
	mu    sync.Mutex
	asked time.Time
	err   error
}

const (
	readyFor     = time.Second
	readyTimeout = 2 * time.Second
)

func (r *readiness) check(ctx context.Context, ready func(context.Context) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.IsZero() && time.Since(r.asked) < readyFor {
		return r.err
	}
	// One prober that leaves must not make the others believe that the database has left.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
	defer cancel()
	r.err, r.asked = ready(ctx), time.Now()
	return r.err
}

// notReady explains why no request should be sent here; "" means ready. A server that shows the current plans can
// answer polls without the database, which is then not even queried.
func (s *server) notReady(ctx context.Context) string {
	if s.draining() {
		return "The server is stopping; ask another one, or this one again in a few seconds."
	}
	if s.app.Plans.Board.Running() {
		return ""
	}
	if err := s.ready.check(ctx, s.app.Stores.Database.Ready); err != nil {
		s.log(ctx).Warn("not ready", "error", err.Error())
		return "The database does not answer; reads will be answered again when it does."
	}
	return ""
}

func (s *server) livez(w http.ResponseWriter, _ *http.Request) { writeStatus(w, statusOK) }

func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	if reason := s.notReady(r.Context()); reason != "" {
		w.Header().Set("Retry-After", "2")
		s.refuse(w, r, unavailable(reason))
		return
	}
	status := statusOK
	if !s.reachable() {
		status = "the database is away; current plans are answered from memory, marked stale"
	}
	writeStatus(w, status)
}

// about describes the components of the server.
type about struct {
	Version  string             `json:"version"`
	Solver   *string            `json:"solver"` // null until the first use
	Database *app.DatabaseAbout `json:"database"`
}

// aboutServer describes the components of the server; the parts about an unreachable database are null.
func (s *server) aboutServer(w http.ResponseWriter, r *http.Request) {
	a := about{Version: s.config.Version}
	if v := s.app.Solver.Version(); v != "" {
		a.Solver = &v
	}
	db, err := s.app.Stores.Database.DatabaseAbout(r.Context())
	switch {
	case err == nil:
		a.Database = &db
	case !errors.Is(err, fault.Busy):
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // a client that is gone needs no error
}

// metrics serves viewers; Metrics serves without a key elsewhere.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	s.telemetry.Handler().ServeHTTP(w, r)
}

const statusOK = "ok"

func writeStatus(w http.ResponseWriter, status string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"status": status}) // a client that is gone needs no error
}
