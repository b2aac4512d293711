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

// A question that is asked beside another one waits for its run as long as it was told to, and leaves none behind.
func TestWhatTakesLongIsCancelled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		long             bool
		takes, patience  time.Duration
		there, cancelled bool
	}{
		{name: "at once", there: true},
		{name: "a run", long: true, takes: time.Hour, cancelled: true},
		{name: "a short run", long: true, patience: time.Minute, there: true},
		{name: "a long run", long: true, takes: time.Hour, patience: time.Second, cancelled: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var cancelled string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodDelete:
					cancelled = r.URL.Path
					w.WriteHeader(http.StatusNoContent)
				case r.URL.Path == "/v1/runs/01a2":
					state := "running"
					select {
					case <-time.After(c.takes):
						state = "succeeded"
					case <-r.Context().Done():
					}
					_, _ = io.WriteString(w, `{"id": "01a2", "kind": "horizon", "state": "`+state+`"}`)
				case c.long && r.Method == http.MethodPost:
					w.WriteHeader(http.StatusAccepted)
					_, _ = io.WriteString(w, `{"id": "01a2", "kind": "horizon", "currency": "of a run"}`)
				default:
					_, _ = io.WriteString(w, `{"currency": "USD"}`)
				}
			}))
			defer server.Close()
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
			there, err := s.CallWithin(t.Context(), io.Discard, c.patience, openapi.ClusterHorizon("shop", nil), &into, JSONOf(struct{}{}))
			if err != nil || there != c.there || (into.Currency == "USD") != c.there || (cancelled == "/v1/runs/01a2") != c.cancelled {
				t.Errorf("got %t, %+v, %v, cancelled %q", there, into, err, cancelled)
			}
		})
	}
}
