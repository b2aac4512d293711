// Package trace tells a collector of OpenTelemetry what took how long: requests, statements, solves, runs. It has the
// parts of OpenTelemetry that Headroom uses, spans, W3C's traceparent, sampling and OTLP over HTTP, because the SDK with
// its exporter would add 5 MB and sixteen modules. A span that is nil, as all are where nobody asked for traces, does
// nothing, and neither does anything below it.
package trace

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync"
	"time"
)

// Kind is what a span is to others.
type Kind int

// The kinds, with OTLP's numbers.
const (
	Internal Kind = 1 // a part of the work
	Server   Kind = 2 // answers a request
	Client   Kind = 3 // asks somebody
	Consumer Kind = 5 // does what was asked for earlier
)

// Span is a piece of work that takes time. Nothing of what customers name or keep may stand in it: names and texts are
// from closed sets. Its methods may be called on nil, by one goroutine at a time.
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

// Text notes a text from a closed set.
func (s *Span) Text(key, value string) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, value})
	}
}

// Count notes a whole number.
func (s *Span) Count(key string, value int64) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, value})
	}
}

// Seconds notes a duration.
func (s *Span) Seconds(key string, value time.Duration) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, value.Seconds()})
	}
}

// Fail says that the work came to nothing.
func (s *Span) Fail() {
	if s != nil {
		s.failed = true
	}
}

// End says that the work is over, and hands the span on. Doing it twice is no mistake.
func (s *Span) End() {
	if s != nil {
		s.once.Do(func() {
			s.ended = time.Now()
			s.tracer.take(s)
		})
	}
}

// Trace is the id that the span shares with all that belongs to the same request; "" for nil.
func (s *Span) Trace() string {
	if s == nil {
		return ""
	}
	return hex.EncodeToString(s.trace[:])
}

// Parent is the header traceparent for whom the span asks; "" for nil.
func (s *Span) Parent() string {
	if s == nil {
		return ""
	}
	return "00-" + s.Trace() + "-" + hex.EncodeToString(s.id[:]) + "-01"
}

type contextKey struct{}

// From is the span that a context belongs to; nil where there is none.
func From(ctx context.Context) *Span {
	s, _ := ctx.Value(contextKey{}).(*Span)
	return s
}

// Begin makes a span below the one of the context; below none it makes none. Its end is the caller's.
func Begin(ctx context.Context, name string, kind Kind) (context.Context, *Span) {
	above := From(ctx)
	if above == nil {
		return ctx, nil
	}
	s := &Span{tracer: above.tracer, trace: above.trace, parent: above.id, kind: kind, name: name, began: time.Now()}
	s.draw(s.id[:])
	return context.WithValue(ctx, contextKey{}, s), s
}

// Root makes a span of a new trace, or of the one in the header traceparent of whoever asks. A tracer that is nil makes
// none, nor does one that leaves this trace out.
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

// draw fills an id, which is no secret, with a random one that is not zero.
func (s *Span) draw(id []byte) {
	for i := 0; i < len(id); i += 8 {
		binary.LittleEndian.PutUint64(id[i:], rand.Uint64()|1)
	}
}

// parent is what a header traceparent says.
type parent struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
}

// readParent reads a header traceparent (W3C Trace Context). One that cannot be read is as good as none.
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

// TraceIn is the id of the trace that a header traceparent names; "" where it names none.
func TraceIn(traceparent string) string {
	p, ok := readParent(traceparent)
	if !ok {
		return ""
	}
	return hex.EncodeToString(p.trace[:])
}
