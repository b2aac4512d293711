package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"

	"example.org/headroom/internal/service/auth"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	for _, path := range []string{"/livez", "/readyz"} {
		w := f.do("GET", path, "")
		wantStatus(t, w, http.StatusOK)
		if got := w.Body.String(); got != "{\"status\":\"ok\"}\n" {
			t.Errorf("%s: got %s", path, got)
		}
	}
	before := f.store.reads
	for range 10 {
		f.do("GET", "/livez", "")
		f.do("GET", "/readyz", "")
	}
	if asked := f.store.reads - before; asked > 2 {
		t.Errorf("the database was asked %d times for 20 probes, want at most once a second", asked)
	}

	f.draining.Store(true)
	wantStatus(t, f.do("GET", "/livez", ""), http.StatusOK)
	w := f.do("GET", "/readyz", "")
	wantStatus(t, w, http.StatusServiceUnavailable)
	problemIn(t, w)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestReadinessWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.store.away = errBusy
	wantStatus(t, f.do("GET", "/livez", ""), http.StatusOK)
	w := f.do("GET", "/readyz", "")
	wantStatus(t, w, http.StatusServiceUnavailable)
	problemIn(t, w)
}

func TestWhatTheServerIsMadeOf(t *testing.T) {
	t.Parallel()
	s := newService(t)
	viewer := s.key("watcher", auth.Viewer, nil)
	var a about
	if err := json.Unmarshal(s.ask(viewer, "GET", "/v1/about", nil).want(t, 200).text, &a); err != nil {
		t.Fatal(err)
	}
	if a.Version == "" || a.Database == nil || !regexp.MustCompile(`^\d+\.\d+`).MatchString(a.Database.Version) || a.Database.Schema < 21 {
		t.Errorf("the server says that it is made of %+v", a)
	}
	s.ask("", "GET", "/v1/about", nil).want(t, 401)
}
