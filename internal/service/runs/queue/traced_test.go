package queue_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"

	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/service/hooks"
	"example.org/headroom/internal/service/runs/queue"
	"example.org/headroom/internal/service/telemetry"
	"example.org/headroom/internal/test/pgtest"
)

// A delivery names its span, which a collector receives; without tracing it names none.
func TestDeliveriesNameTheirTrace(t *testing.T) {
	t.Parallel()
	var received bytes.Buffer
	var mu sync.Mutex
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&received, r.Body)
	}))
	defer collector.Close()
	traced := telemetry.New(io.Discard, slog.LevelError)
	traced.ShowTraces(trace.New(trace.Config{Endpoint: collector.URL, Ratio: 1}))
	sent := func(c queue.Config) string {
		s := start(t, pgtest.Database(t), c)
		r := newReceiver(t, nil)
		w, _ := hook(t, s, "pager", r, hooks.PlanChanged)
		if _, err := s.Stores.Webhooks.PingWebhook(boss(t), w.ID); err != nil {
			t.Fatal(err)
		}
		header := r.wait(t, 1)[0].header
		deliveries(t, s, w, "delivered", allIn(hooks.DeliveryDelivered, 1))
		s.ended()
		return header.Get("traceparent")
	}
	if got := sent(queue.Config{}); got != "" {
		t.Errorf("without traces it is %q", got)
	}
	got := sent(queue.Config{Telemetry: traced})
	parts := regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-01$`).FindStringSubmatch(got)
	if parts == nil {
		t.Fatalf("got %q", got)
	}
	traced.Tracer.Close(t.Context())
	mu.Lock()
	defer mu.Unlock()
	for _, part := range parts[1:] {
		if id, _ := hex.DecodeString(part); !bytes.Contains(received.Bytes(), id) {
			t.Errorf("the collector was not told of %s", part)
		}
	}
}
