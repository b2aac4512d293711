package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"example.org/headroom/internal/service/telemetry"
)

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	for sent, keep := range map[string]bool{
		"abc-123": true, "0195e2c4-1c1e-7c3e-9a55-1f0a3b5c7d9e": true, "a": true, "hr-1": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "two words": false, "a\nb": false, "-x": false, "é": false, `"quoted"`: false, "hrk_abcdefgh": false,
	} {
		got := f.do("GET", "/livez", "", "X-Request-Id", sent).Header().Get("X-Request-Id")
		if keep != (got == sent) || !saneRequestID().MatchString(got) {
			t.Errorf("sent %q: got the id %q, want it kept: %t", sent, got, keep)
		}
	}
	const traced = "0af7651916cd43dd8448eb211c80319c"
	for sent, want := range map[string]string{"": traced, "mine": "mine", "hrk_abcdefgh": traced} {
		if got := f.do("GET", "/livez", "", "X-Request-Id", sent, "Traceparent", "00-"+traced+"-b7ad6b7169203331-01").Header().Get("X-Request-Id"); got != want {
			t.Errorf("sent %q in a trace: got the id %q, want %q", sent, got, want)
		}
	}
	if one, two := f.do("GET", "/livez", ""), f.do("GET", "/livez", ""); one.Header().Get("X-Request-Id") == two.Header().Get("X-Request-Id") {
		t.Error("two requests have the same id")
	}
}

func TestOneLineARequest(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	key := f.key(nil)
	f.do("GET", "/v1/session?unknown=secret", "", "X-API-KEY", key, "X-Request-Id", "first")
	f.do("GET", "/v1/nothing/of/the/kind", "", "X-Request-Id", "second")
	f.do("GET", "/v1/clusters/night-batch/classes/x", "", "Host", "evil.example", "X-Request-Id", "third")
	f.do("HEAD", "/docs", "", "X-Request-Id", "fourth")
	lines := f.log.lines(t)
	if len(lines) != 4 {
		t.Fatalf("got %d lines for 4 requests:\n%s", len(lines), f.log)
	}
	for i, want := range []map[string]any{
		{"request_id": "first", "method": "GET", "route": "/v1/session", "key_id": "key-1", "key_name": "test"},
		{"request_id": "second", "method": "GET", "route": "", "status": 404.0},
		{"request_id": "third", "method": "GET", "route": "/v1/clusters/{cluster}/classes/{name}", "status": 421.0, "client": "127.0.0.1"},
		{"request_id": "fourth", "method": "HEAD", "route": "/docs", "status": 200.0},
	} {
		want["msg"] = "request"
		for name, value := range want {
			if lines[i][name] != value {
				t.Errorf("line %d: got %s %v, want %v", i+1, name, lines[i][name], value)
			}
		}
		for _, name := range []string{"duration_ms", "bytes", "status", "time", "level"} {
			if _, ok := lines[i][name]; !ok {
				t.Errorf("line %d lacks %s", i+1, name)
			}
		}
	}
	if strings.Contains(f.log.String(), "secret") {
		t.Errorf("the log has a query string:\n%s", f.log)
	}
}

func TestMetricsNameRoutesNeverPaths(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	key := f.key(nil)
	for _, path := range []string{"/v1/nothing-1", "/v1/nothing-2", "/wp-login.php"} {
		f.do("GET", path, "", "X-API-KEY", key)
	}
	f.do("GET", "/v1/clusters/secret-name", "", "Host", "evil.example")
	f.do("BREW", "/docs", "")
	w := f.do("GET", "/metrics", "", "X-API-KEY", key)
	wantStatus(t, w, http.StatusOK)
	for _, want := range []string{
		`http_requests_total{method="GET",route="other",status="404"} 3`,
		`http_requests_total{method="GET",route="/v1/clusters/{cluster}",status="421"} 1`,
		`http_requests_total{method="other",route="other",status="405"} 1`,
		`http_requests_in_flight 1`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	for _, path := range []string{"nothing-1", "wp-login", "secret-name", "BREW"} {
		if strings.Contains(w.Body.String(), path) {
			t.Errorf("the metrics name %s, which a client chose", path)
		}
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	log := &logged{}
	s := &server{telemetry: telemetry.New(log, slog.LevelInfo), router: chi.NewRouter()}
	s.router.Use(s.observe, s.recoverPanics)
	s.router.Get("/early", func(http.ResponseWriter, *http.Request) { panic("the reason") })
	s.router.Get("/late", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("half an ans"))
		panic("the reason")
	})
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, httptest.NewRequest("GET", "/early", nil))
	wantStatus(t, w, http.StatusInternalServerError)
	if p := problemIn(t, w); strings.Contains(w.Body.String(), "reason") || p.Detail != internalProblem().Detail {
		t.Errorf("got %s, want the fixed sentence", w.Body)
	}
	lines := log.lines(t)
	if len(lines) != 2 || lines[0]["msg"] != "panic" || lines[0]["reason"] != "the reason" || !strings.Contains(lines[0]["stack"].(string), "observe_test.go") || lines[0]["request_id"] != w.Header().Get("X-Request-Id") {
		t.Errorf("got the log %v, want the panic with its stack, then the request", lines)
	}

	// An answer that has begun is cut off, so that nobody takes it for whole.
	listening := httptest.NewServer(s.router)
	defer listening.Close()
	r, err := http.Get(listening.URL + "/late")
	if err == nil {
		_, err = r.Body.Read(make([]byte, 100))
		for err == nil {
			_, err = r.Body.Read(make([]byte, 100))
		}
		_ = r.Body.Close()
	}
	if err == nil || err.Error() == "EOF" {
		t.Errorf("got %v at the end of half an answer, want an error", err)
	}
}
