package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"example.org/headroom/internal/test/pgtest"
)

const traceKey = "hrk_tracetracetracetracetracetracetracetracetra"

// takesTraces is a collector.
type takesTraces struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*otlp.Span
	texts []string // all of what came
}

func newTakesTraces(t *testing.T) *takesTraces {
	c := &takesTraces{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var data otlp.TracesData // which has the form of a request
		if err == nil {
			err = proto.Unmarshal(text, &data)
		}
		if err != nil || r.Header.Get("Authorization") != "Bearer let me in" {
			t.Errorf("%v: %v", r.Header, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.texts = append(c.texts, string(text))
		for _, resource := range data.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// A server tells of its requests, statements, solves, solver processes and runs, the last when it stops, and names
// nothing of its customers'.
func TestServeTellsACollector(t *testing.T) {
	t.Parallel()
	c := newTakesTraces(t)
	s := startServingWith(t, dataDirectory(t), []string{"DATABASE_URL=" + pgtest.Database(t), "HEADROOM_ADMIN_KEY=" + traceKey, "HEADROOM_LOG_LEVEL=info",
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20let%20me%20in", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment=test"}, "--demo=still")
	const traced = "0af7651916cd43dd8448eb211c80319c"
	ask := func(method, path, body string, header ...string) (int, http.Header) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+traceKey)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Traceparent", "00-"+traced+"-b7ad6b7169203331-01")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		_, _ = io.Copy(io.Discard, a.Body)
		return a.StatusCode, a.Header
	}
	if status, header := ask("POST", "/v1/clusters/demo/plans", ""); status != http.StatusCreated || header.Get("X-Request-Id") != traced {
		t.Errorf("got %d, %v", status, header)
	}
	if status, _ := ask("GET", "/v1/clusters/hidden-name/classes/hidden-class", "", "X-Request-Id", "mine"); status != http.StatusNotFound {
		t.Errorf("got %d", status)
	}
	var classes []string
	for i := range 25 { // a solver is asked where the search leaves so many open
		classes = append(classes, fmt.Sprintf(`{"name":"hidden-%d","vms_per_job":"%.2f","jobs":{"min":0,"max":%d},"penalty":"%.2f"}`, i, 1.37+0.61*float64(i%7), 3+i%5, 0.2+0.37*float64(i%11)))
	}
	solve := `{"currency":"USD","supply":{"on_demand":{"price":"0.2"}},"classes":[` + strings.Join(classes, ",") + `],"options":{"engine":"cbc"}}`
	if status, _ := ask("POST", "/v1/solve", solve); status != http.StatusOK {
		t.Errorf("got %d", status)
	}
	status, header := ask("POST", "/v1/clusters/demo/plans", "", "Prefer", "respond-async")
	if status != http.StatusAccepted {
		t.Errorf("got %d", status)
	}
	waits(t, "the run is over", 30*time.Second, func() bool {
		_, answer, err := s.ask(context.WithoutCancel(t.Context()), traceKey, header.Get("Location"), "")
		return err == nil && strings.Contains(answer, `"succeeded"`)
	})
	if _, metrics, err := s.ask(t.Context(), traceKey, "/metrics", ""); err != nil || !strings.Contains(metrics, `headroom_trace_spans_total{outcome="dropped"} 0`) {
		t.Errorf("the metrics do not count spans:\n%s", metrics)
	}
	began := time.Now()
	s.stop(t)
	if took := time.Since(began); took > patience(12*time.Second) {
		t.Errorf("the stop took %s", took)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	parents, names := map[string]*otlp.Span{}, map[string]int{}
	for _, span := range c.spans {
		parents[string(span.SpanId)] = span
		names[span.Name]++
	}
	above := func(span *otlp.Span) (path []string) {
		for ; span != nil; span = parents[string(span.ParentSpanId)] {
			path = append(path, span.Name)
		}
		return path
	}
	for name, under := range map[string]string{
		"POST /v1/clusters/{cluster}/plans": "", "GET /v1/clusters/{cluster}/classes/{name}": "", "POST /v1/solve": "", "run plan": "",
		"solve": "POST /v1/clusters/{cluster}/plans", "wait for a place to solve": "POST /v1/solve", "solver process": "solve", "COMMIT": "run plan",
	} {
		found := slices.ContainsFunc(c.spans, func(span *otlp.Span) bool {
			return span.Name == name && (under == "" || slices.Contains(above(span), under)) && (hex.EncodeToString(span.TraceId) == traced || strings.Contains(name+under, "run plan"))
		})
		if !found {
			t.Errorf("there is no %q below %q among %v", name, under, names)
		}
	}
	for _, text := range c.texts {
		for _, secret := range []string{"hidden", "demo", traceKey, "local", "127.0.0.1"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q stands in a trace", secret)
			}
		}
	}
	if log := s.stderr.String(); !strings.Contains(log, `"request_id":"`+traced+`"`) || !strings.Contains(log, `"request_id":"mine"`) || !strings.Contains(log, `"trace_id":"`+traced+`"`) {
		t.Errorf("the log does not name the trace:\n%s", log)
	}
}
