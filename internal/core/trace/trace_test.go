package trace

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives traces and reads them with OpenTelemetry's own types. A TracesData has the form of a request.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	header http.Header
	got    []*otlp.ResourceSpans
	answer func(w http.ResponseWriter) bool // its own answer; true if it gave one
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var data otlp.TracesData
		if err == nil {
			err = proto.Unmarshal(text, &data)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Method != "POST" || r.Header.Get("Content-Type") != "application/x-protobuf" || len(data.ProtoReflect().GetUnknown()) > 0 {
			t.Errorf("%s %s of %s: %v", r.Method, r.URL.Path, r.Header.Get("Content-Type"), err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.header = r.Header
		if c.answer == nil || !c.answer(w) {
			c.got = append(c.got, data.ResourceSpans...)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) spans() (all []*otlp.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.got {
		for _, s := range r.ScopeSpans {
			all = append(all, s.Spans...)
		}
	}
	return all
}

func closeWithin(t *testing.T, tracer *Tracer, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	began := time.Now()
	tracer.Close(ctx)
	if took := time.Since(began); took > d+2*time.Second {
		t.Errorf("it took %s to end", took)
	}
}

func TestACollectorReadsWhatWasTold(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	tracer := New(Config{Endpoint: c.URL + "/", Headers: map[string]string{"x-tenant": "a b"}, Resource: map[string]string{"service.name": "headroom", "zone": "eu"}, Version: "1.2.3", Ratio: 1})
	before := time.Now()
	ctx, root := tracer.Root(t.Context(), "first", Server, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	_, below := Begin(ctx, "SELECT clusters", Client)
	below.Text("db.system.name", "postgresql")
	below.Count("n", -3)
	below.Seconds("queue_s", 1500*time.Millisecond)
	below.Fail()
	below.End()
	below.End()
	root.Name("GET /v1/clusters")
	root.End()
	after := time.Now()
	closeWithin(t, tracer, 5*time.Second)
	spans := c.spans()
	if len(spans) != 2 || tracer.Sent() != 2 || tracer.Dropped() != 0 {
		t.Fatalf("got %d spans, %g sent, %g dropped", len(spans), tracer.Sent(), tracer.Dropped())
	}
	child, parent := spans[0], spans[1]
	if hex.EncodeToString(parent.TraceId) != "0af7651916cd43dd8448eb211c80319c" || hex.EncodeToString(parent.ParentSpanId) != "b7ad6b7169203331" ||
		!bytes.Equal(child.TraceId, parent.TraceId) || !bytes.Equal(child.ParentSpanId, parent.SpanId) || bytes.Equal(child.SpanId, parent.SpanId) || len(child.SpanId) != 8 {
		t.Errorf("got %v below %v", child, parent)
	}
	if parent.Name != "GET /v1/clusters" || parent.Kind != otlp.Span_SPAN_KIND_SERVER || child.Name != "SELECT clusters" || child.Kind != otlp.Span_SPAN_KIND_CLIENT {
		t.Errorf("got %v and %v", parent, child)
	}
	if parent.StartTimeUnixNano < uint64(before.UnixNano()) || parent.EndTimeUnixNano > uint64(after.UnixNano()) || child.StartTimeUnixNano < parent.StartTimeUnixNano || child.EndTimeUnixNano > parent.EndTimeUnixNano || child.StartTimeUnixNano > child.EndTimeUnixNano {
		t.Error("the times are not those of the work")
	}
	if child.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR || parent.Status.GetCode() != otlp.Status_STATUS_CODE_UNSET {
		t.Errorf("got %v and %v", child.Status, parent.Status)
	}
	if a := child.Attributes; len(a) != 3 || a[0].Key != "db.system.name" || a[0].Value.GetStringValue() != "postgresql" || a[1].Value.GetIntValue() != -3 || a[2].Value.GetDoubleValue() != 1.5 {
		t.Errorf("got %v", a)
	}
	r := c.got[0]
	if a := r.Resource.Attributes; len(a) != 2 || a[0].Key != "service.name" || a[0].Value.GetStringValue() != "headroom" || r.ScopeSpans[0].Scope.Version != "1.2.3" || c.header.Get("X-Tenant") != "a b" {
		t.Errorf("got %v with %v", r.Resource, c.header)
	}
	if next, ok := readParent(root.Parent()); !ok || next.trace != root.trace || next.span != root.id || !next.sampled {
		t.Errorf("it hands on %q", root.Parent())
	}
}

// A collector that hangs, refuses or is away costs no more than the spans.
func TestCollectorsInTrouble(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	refusing, hanging, partial := newCollector(t), httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	})), newCollector(t)
	t.Cleanup(func() { close(over); hanging.Close() })
	refusing.answer = func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusServiceUnavailable); return true }
	partial.answer = func(w http.ResponseWriter) bool {
		_, _ = w.Write([]byte{0x0a, 0x05, 0x12, 0x01, 'x', 0x08, 0x03})
		return false
	} // 3 refused
	for kind, c := range map[string]struct {
		address string
		sent    float64 // of 100
	}{"refuses": {refusing.URL, 0}, "hangs": {hanging.URL, 0}, "away": {"http://127.0.0.1:1", 0}, "takes some": {partial.URL, 97}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			tracer := New(Config{Endpoint: c.address, Ratio: 1, Log: slog.New(slog.NewTextHandler(&log, nil)), Queue: 1000, Batch: 100})
			began := time.Now()
			for range 100 {
				_, s := tracer.Root(t.Context(), "x", Server, "")
				s.End()
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("spans took %s", took)
			}
			closeWithin(t, tracer, 300*time.Millisecond)
			_, late := tracer.Root(t.Context(), "late", Server, "")
			late.End()
			if tracer.Sent() != c.sent || tracer.Dropped() != 101-c.sent {
				t.Errorf("%g sent, %g dropped", tracer.Sent(), tracer.Dropped())
			}
			if n := strings.Count(log.String(), "level=WARN"); c.sent == 0 && n != 1 || c.sent > 0 && n != 0 {
				t.Errorf("the log says:\n%s", log.String())
			}
		})
	}
}

// The number of waiting spans is bounded, and End never waits.
func TestMoreSpansThanTheCollectorTakes(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	release := make(chan struct{})
	c.answer = func(http.ResponseWriter) bool { <-release; return false }
	tracer := New(Config{Endpoint: c.URL, Ratio: 1, Queue: 50, Batch: 10})
	const all = 5000
	began := time.Now()
	for range all {
		_, s := tracer.Root(t.Context(), "x", Server, "")
		s.End()
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	close(release)
	closeWithin(t, tracer, 20*time.Second)
	if sent := tracer.Sent(); sent < 50 || sent > 100 || sent+tracer.Dropped() != all || len(c.spans()) != int(sent) {
		t.Errorf("%g sent, %g dropped, %d taken", sent, tracer.Dropped(), len(c.spans()))
	}
}

func TestWhichTracesAreKept(t *testing.T) {
	t.Parallel()
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0"
	for _, c := range []struct {
		ratio  float64
		ignore bool
		from   string
		want   float64 // the share kept
	}{
		{1, false, "", 1}, {0, false, "", 0}, {0.25, false, "", 0.25}, {0, false, parent + "1", 1}, {1, false, parent + "0", 0}, {1, true, parent + "0", 1}, {0, true, parent + "1", 0},
	} {
		tracer := New(Config{Endpoint: "http://127.0.0.1:1", Ratio: c.ratio, IgnoreAskers: c.ignore})
		const tries = 10_000
		kept := 0
		for range tries {
			ctx, s := tracer.Root(t.Context(), "x", Server, c.from)
			if _, below := Begin(ctx, "y", Internal); (below == nil) != (s == nil) {
				t.Fatal("a part is kept without the whole, or the whole without its part")
			}
			if s != nil {
				kept++
			}
		}
		if share := float64(kept) / tries; math.Abs(share-c.want) > 0.03 {
			t.Errorf("%+v: %g are kept", c, share)
		}
		closeWithin(t, tracer, time.Second)
	}
}

func TestReadingTraceparent(t *testing.T) {
	t.Parallel()
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for text, want := range map[string]bool{
		good: true, good[:len(good)-2] + "00": true, "01" + good[2:] + "-more": true, "cc" + good[2:]: true,
		"": false, good[1:]: false, good + "-more": false, "ff" + good[2:]: false, strings.ToUpper(good): false, "01" + good[2:] + "more": false,
		"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01": false, "00-0af7651916cd43dd8448eb211c80319c-" + strings.Repeat("0", 16) + "-01": false,
		strings.Replace(good, "a", "g", 1): false, strings.Replace(good, "a", "-", 1): false, "00_" + good[3:]: false, strings.Replace(good, "f", "é", 1): false,
	} {
		if got := TraceIn(text) != ""; got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// Without tracing nothing is made, and nothing can go wrong.
func TestOffIsNothing(t *testing.T) {
	var tracer *Tracer
	tracer.Close(t.Context())
	did := testing.AllocsPerRun(100, func() {
		ctx, root := tracer.Root(t.Context(), "x", Server, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		_, s := Begin(ctx, "y", Client)
		s.Name("z")
		s.Text("a", "b")
		s.Count("a", 1)
		s.Seconds("a", time.Second)
		s.Fail()
		s.End()
		root.End()
		if s.Trace()+s.Parent()+root.Trace() != "" {
			t.Error("a span that is none has an id")
		}
	})
	if did > 0 {
		t.Errorf("%g things are made", did)
	}
}
