package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/service/app"
	"headroom/internal/service/telemetry"
)

// Metrics serves the metrics alone, to whoever reaches it: for an address of its own on loopback.
func Metrics(t *telemetry.Telemetry) http.Handler { return t.Handler() }

// readiness remembers for a moment whether reads can be answered, so that probes from many balancers
// are one question to the database.
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
	// One prober that goes away must not make the others believe that the database is.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
	defer cancel()
	r.err, r.asked = ready(ctx), time.Now()
	return r.err
}

// notReady is why no request should be sent here; "" is that reads can be answered. A server that shows
// the current plans can answer polls without the database, which is not even asked then.
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

// about is what the server is made of.
type about struct {
	Version  string             `json:"version"`
	Solver   *string            `json:"solver"` // null where none was needed yet
	Database *app.DatabaseAbout `json:"database"`
}

// aboutServer says what the server is made of; of a database that is away nothing is known.
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
	_ = json.NewEncoder(w).Encode(a) // who is gone does not want to know
}

// metrics are for viewers; Metrics serves them elsewhere without a key.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	s.telemetry.Handler().ServeHTTP(w, r)
}

const statusOK = "ok"

func writeStatus(w http.ResponseWriter, status string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"status": status}) // who is gone does not want to know
}
