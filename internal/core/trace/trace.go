// Package trace sends timings of requests, statements, solves and runs to a collector of OpenTelemetry. It has the
// parts of OpenTelemetry that Headroom uses: spans, W3C's traceparent, sampling and OTLP over HTTP. The SDK with its
// exporter would add 5 MB and sixteen modules. A nil span does nothing, and neither do its children. All spans are
// nil without tracing.
package trace

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync"
	"time"
)

// Kind is a span's relation to other services.
type Kind int

// The kinds, with OTLP's numbers.
const (
	Internal Kind = 1 // a part of the work
	Server   Kind = 2 // answers a request
	Client   Kind = 3 // sends a request
	Consumer Kind = 5 // does work that was requested earlier
)

// Span is a piece of work that takes time. It must not contain names or data of customers: names and texts are from
// closed sets. Its methods may be called on nil, by one goroutine at a time.
type Span struct {
	tracer       *Tracer
	trace        [16]byte
	id, parent   [8]byte
	kind         Kind
	name         string
	began, ended time.Time
	attributes   []attribute
	failed       bool
	once         sync.Once
}

type attribute struct {
	key   string
	value any // string, int64 or float64
}

// Name replaces the span's name.
func (s *Span) Name(name string) {
	if s != nil {
		s.name = name
	}
}

// Text sets a text from a closed set.
func (s *Span) Text(key, value string) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, value})
	}
}

// Count sets a whole number.
func (s *Span) Count(key string, value int64) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, value})
	}
}

// Seconds sets a duration.
func (s *Span) Seconds(key string, value time.Duration) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, value.Seconds()})
	}
}

// Fail marks the work as failed.
func (s *Span) Fail() {
	if s != nil {
		s.failed = true
	}
}

// End ends the span and hands it on. A second call does nothing.
func (s *Span) End() {
	if s != nil {
		s.once.Do(func() {
			s.ended = time.Now()
			s.tracer.take(s)
		})
	}
}

// Trace returns the id of the trace that the span belongs to; "" for nil.
func (s *Span) Trace() string {
	if s == nil {
		return ""
	}
	return hex.EncodeToString(s.trace[:])
}

// Parent returns the header traceparent for a request made within the span; "" for nil.
func (s *Span) Parent() string {
	if s == nil {
		return ""
	}
	return "00-" + s.Trace() + "-" + hex.EncodeToString(s.id[:]) + "-01"
}

type contextKey struct{}

// From returns the span of a context, or nil.
func From(ctx context.Context) *Span {
	s, _ := ctx.Value(contextKey{}).(*Span)
	return s
}

// Begin starts a child of the context's span, or returns nil without one. The caller ends it.
func Begin(ctx context.Context, name string, kind Kind) (context.Context, *Span) {
	above := From(ctx)
	if above == nil {
		return ctx, nil
	}
	s := &Span{tracer: above.tracer, trace: above.trace, parent: above.id, kind: kind, name: name, began: time.Now()}
	s.draw(s.id[:])
	return context.WithValue(ctx, contextKey{}, s), s
}

// Root starts a span of a new trace, or of the trace in the caller's header traceparent. It returns nil from a nil
// tracer, or if the tracer leaves this trace out.
func (t *Tracer) Root(ctx context.Context, name string, kind Kind, traceparent string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	above, there := readParent(traceparent)
	s := &Span{tracer: t, trace: above.trace, parent: above.span, kind: kind, name: name, began: time.Now()}
	if !there {
		s.draw(s.trace[:])
	}
	if !t.samples(s.trace, there, above.sampled) {
		return ctx, nil
	}
	s.draw(s.id[:])
	return context.WithValue(ctx, contextKey{}, s), s
}

// draw fills an id with random bytes that are not all zero. Ids are not secret.
func (s *Span) draw(id []byte) {
	for i := 0; i < len(id); i += 8 {
		binary.LittleEndian.PutUint64(id[i:], rand.Uint64()|1)
	}
}

// parent holds the content of a header traceparent.
type parent struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
}

// readParent reads a header traceparent (W3C Trace Context). An unreadable one counts as none.
func readParent(text string) (p parent, ok bool) {
	const length = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if len(text) < length || text[2] != '-' || text[35] != '-' || text[52] != '-' || text[:2] == "ff" || len(text) > length && (text[:2] == "00" || text[length] != '-') {
		return p, false
	}
	for _, letter := range text[:length] {
		if (letter < '0' || letter > '9') && (letter < 'a' || letter > 'f') && letter != '-' {
			return p, false
		}
	}
	var version, flags [1]byte
	for _, part := range []struct {
		into []byte
		text string
	}{{version[:], text[:2]}, {p.trace[:], text[3:35]}, {p.span[:], text[36:52]}, {flags[:], text[53:55]}} {
		if _, err := hex.Decode(part.into, []byte(part.text)); err != nil {
			return p, false
		}
	}
	p.sampled = flags[0]&1 != 0
	return p, p.trace != [16]byte{} && p.span != [8]byte{}
}

// TraceIn returns the id of the trace in a header traceparent, or "".
func TraceIn(traceparent string) string {
	p, ok := readParent(traceparent)
	if !ok {
		return ""
	}
	return hex.EncodeToString(p.trace[:])
}
