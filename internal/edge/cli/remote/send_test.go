package remote

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"example.org/headroom/openapi"
)

// A question that is asked beside another one leaves no run behind.
func TestWhatTakesLongIsCancelled(t *testing.T) {
	t.Parallel()
	for _, long := range []bool{false, true} {
		var cancelled string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodDelete:
				cancelled = r.URL.Path
				w.WriteHeader(http.StatusNoContent)
			case long:
				w.WriteHeader(http.StatusAccepted)
				_, _ = io.WriteString(w, `{"id": "01a2", "kind": "horizon", "currency": "of a run"}`)
			default:
				_, _ = io.WriteString(w, `{"currency": "USD"}`)
			}
		}))
		dir := t.TempDir()
		if err := WriteClientAccess(filepath.Join(dir, ClientFile), ClientAccess{URL: server.URL, Key: "hrk_any"}); err != nil {
			t.Fatal(err)
		}
		to := Connection{DataDir: dir, Timeout: time.Minute}
		s, err := to.Open()
		if err != nil {
			t.Fatal(err)
		}
		var into struct {
			Currency string `json:"currency"`
		}
		there, err := s.CallAtOnce(t.Context(), openapi.ClusterHorizon("shop", nil), &into, JSONOf(struct{}{}))
		if err != nil || there == long || (into.Currency == "USD") == long || (cancelled == "/v1/runs/01a2") != long {
			t.Errorf("long %t: got %t, %+v, %v, cancelled %q", long, there, into, err, cancelled)
		}
		server.Close()
	}
}
