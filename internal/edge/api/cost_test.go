package api

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/telemetry"
)

// bench returns an API without a database, for operations that need none.
func bench(b testing.TB) (http.Handler, string) {
	b.Helper()
	keys := auth.NewKeyring()
	token, hash := auth.NewToken(auth.KeyPrefix)
	keys.AddLocal(auth.Key{ID: auth.LocalID, Role: auth.Admin, Hash: hash})
	tel := telemetry.New(io.Discard, nil)
	h, err := New(Config{App: app.New(app.Stores{}, keys, app.Config{Telemetry: tel}), Telemetry: tel, SolvesPerSecond: 1_000_000, RequestsPerSecond: 1_000_000})
	if err != nil {
		b.Fatal(err)
	}
	return h, token
}

// thousandClasses returns the body of a request to solve a problem with a profile for each of 1,000 classes.
func thousandClasses(b testing.TB, integrality capacity.Integrality) string {
	b.Helper()
	drawn, err := study.Generate("table2", 1000, 1)
	if err != nil {
		b.Fatal(err)
	}
	p, err := drawn.Profiled()
	if err != nil {
		b.Fatal(err)
	}
	p.Options.Engine, p.Options.Integrality = capacity.EngineExact, integrality
	text, err := json.Marshal(p)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// unread discards an answer, so that only writing it counts.
type unread struct {
	header http.Header
	status int
}

func (u *unread) Header() http.Header    { return u.header }
func (u *unread) WriteHeader(status int) { u.status = status }
func (u *unread) Write(p []byte) (int, error) {
	if u.status == 0 {
		u.status = http.StatusOK
	}
	return len(p), nil
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkAnswers(b *testing.B) {
	empty := chi.NewRouter()
	empty.Get("/v1/clusters/{cluster}/plans/{plan}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 200)) })
	serve := func(h http.Handler, r func() *http.Request, want int) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			began := cpu()
			for b.Loop() {
				w := &unread{header: http.Header{}}
				h.ServeHTTP(w, r())
				if w.status != want {
					b.Fatalf("got %d, want %d", w.status, want)
				}
			}
			b.ReportMetric(float64((cpu()-began).Microseconds())/float64(b.N), "cpu-us/op")
		}
	}
	b.Run("empty", serve(empty, func() *http.Request { return httptest.NewRequest("GET", "/v1/clusters/night/plans/1", nil) }, 200))

	s := newService(b)
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(b, 201)
	h, err := New(Config{App: s.app, Telemetry: telemetry.New(io.Discard, nil), SolvesPerSecond: 1_000_000, RequestsPerSecond: 1_000_000})
	if err != nil {
		b.Fatal(err)
	}
	get := func(etag string) func() *http.Request {
		return func() *http.Request {
			r := httptest.NewRequest("GET", "http://localhost/v1/clusters/night/plans/1", nil)
			r.Header.Set("Authorization", "Bearer "+s.admin)
			if etag != "" {
				r.Header.Set("If-None-Match", etag)
			}
			return r
		}
	}
	b.Run("plan", serve(h, get(""), 200))
	b.Run("plan-304", serve(h, get(`"1"`), 304))
	// A poll without traces, with all of them, and with none sampled.
	s.shows("night", 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer collector.Close()
	for name, ratio := range map[string]float64{"scaling": -1, "scaling-traced": 1, "scaling-not-kept": 0} {
		told := telemetry.New(io.Discard, nil)
		if ratio >= 0 {
			tracer := trace.New(trace.Config{Endpoint: collector.URL, Ratio: ratio, Queue: 1 << 20})
			defer tracer.Close(b.Context())
			told.ShowTraces(tracer)
		}
		h, err := New(Config{App: s.app, Telemetry: told, SolvesPerSecond: 1_000_000, RequestsPerSecond: 100_000_000})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, serve(h, func() *http.Request {
			r := httptest.NewRequest("GET", "http://localhost"+scalingOfNight, nil)
			r.Header.Set("Authorization", "Bearer "+s.admin)
			return r
		}, 200))
	}
	h, token := bench(b)
	b.Run("bounds", serve(h, func() *http.Request {
		r := httptest.NewRequest("POST", "http://localhost/v1/bounds", strings.NewReader(`{"kind":"phase","tasks":3,"mean_s":1,"max_s":2,"slots":2}`))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		return r
	}, 200))
	for _, integrality := range []capacity.Integrality{capacity.Integer, capacity.Executable} {
		body := thousandClasses(b, integrality)
		b.Run("solve-1000-"+string(integrality), serve(h, func() *http.Request {
			r := httptest.NewRequest("POST", "http://localhost/v1/solve", strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			return r
		}, 200))
	}
}
