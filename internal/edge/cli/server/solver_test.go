package server

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/service/telemetry"
)

// The log says once that there is no solver, however often one is asked for, and metrics say it as long as that lasts.
func TestAMissingSolverIsTold(t *testing.T) {
	t.Setenv(worker.ProgramVariable, "")
	var log bytes.Buffer
	s := &serving{t: telemetry.New(&log, slog.LevelInfo)}
	s.openSolver()
	for range 2 {
		if _, err := s.solver.Solve(t.Context(), smallLP().program, lp.Options{}); !errors.Is(err, lp.ErrUnavailable) {
			t.Errorf("got %v, want that no solver can be started", err)
		}
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "no solver can be started; plans rest on the core method alone"); n != 1 {
		t.Errorf("the log says %d times that the solver is missing: %s", n, &log)
	}
	w := httptest.NewRecorder()
	s.t.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{"\nheadroom_solver_found 0\n", "\nheadroom_solver_events_total{kind=\"missing\"} 4\n"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
}
