package api

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/service/auth"
)

// asked holds the facts that the layers around a handler know of a request. It is filled on the way in and read on
// the way out.
type asked struct {
	id        string
	address   string // of the client, without its port
	principal auth.Principal
	expires   *time.Time    // when the principal's key or session ends
	cookie    bool          // the principal comes from a session's cookie
	refused   string        // the reason why a token is invalid, only for the log
	waited    time.Duration // for a change, as requested
	peer      bool          // another server has sent it on, and counted it
	sentOn    string        // the server it was sent on to
}

type askedKey struct{}

// askedOf returns the request's facts, or empty ones for a context that never passed observe.
func askedOf(ctx context.Context) *asked {
	if a, ok := ctx.Value(askedKey{}).(*asked); ok {
		return a
	}
	return &asked{}
}

// requestID returns the common id of a request's answer, problems and log lines.
func requestID(ctx context.Context) string { return askedOf(ctx).id }

// log writes lines that carry the request's id.
func (s *server) log(ctx context.Context) *slog.Logger {
	return s.telemetry.Log.With("request_id", requestID(ctx))
}

const requestIDHeader = "X-Request-Id"

var (
	saneRequestID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })
	likeAToken    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(hr[klps]_|eyJ)`) })
)

// newRequestID returns the client's id if it is harmless in headers and logs; a token sent there by mistake is not
// repeated. Otherwise it returns the trace's, so that one id finds both.
func newRequestID(sent, traced string) string {
	if saneRequestID().MatchString(sent) && !likeAToken().MatchString(sent) {
		return sent
	}
	if traced != "" {
		return traced
	}
	var drawn [16]byte
	binary.LittleEndian.PutUint64(drawn[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(drawn[8:], rand.Uint64())
	return hex.EncodeToString(drawn[:])
}

const traceparent = "Traceparent" // of W3C's Trace Context

// span returns the request's span, or nil if it is not traced: also for requests that come every few seconds.
func (s *server) span(r *http.Request) (context.Context, *trace.Span) {
	switch r.URL.Path {
	case "/livez", "/readyz", "/metrics":
		return r.Context(), nil
	}
	return s.telemetry.Tracer.Root(r.Context(), "", trace.Server, r.Header.Get(traceparent))
}

// endSpan names a request by the pattern of its address, which contains no names of things.
func endSpan(span *trace.Span, method, route string, status int) {
	if span == nil {
		return
	}
	if !slices.Contains(knownMethods, method) {
		method = "_OTHER"
	}
	span.Name(strings.TrimSpace(method + " " + route))
	span.Text("http.request.method", method)
	span.Text("http.route", route)
	span.Count("http.response.status_code", int64(status))
	if status >= 500 {
		span.Fail()
	}
	span.End()
}

var knownMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// observe gives a request its id, counts it and writes one line about it: no query, header or body.
func (s *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now() // a duration; moments come from the app's clock
		ctx, span := s.span(r)
		traced := span.Trace()
		if traced == "" {
			traced = trace.TraceIn(r.Header.Get(traceparent))
		}
		a := &asked{id: newRequestID(r.Header.Get(requestIDHeader), traced), address: s.config.Proxies.AddressOf(r)}
		if token := r.Header.Get(peerToken); token != "" && s.config.Peers != nil && s.config.Peers.Knows(token) {
			a.peer, a.address = true, r.Header.Get(peerClient)
		}
		r = r.WithContext(auth.WithKnownLater(context.WithValue(ctx, askedKey{}, a), &a.principal))
		answer := &answer{ResponseWriter: w, draining: s.draining, cacheable: r.Method == http.MethodGet || r.Method == http.MethodHead,
			control: http.NewResponseController(w), pace: pace{within: s.config.PaceWithin}, chunked: len(r.TransferEncoding) > 0}
		if r.ContentLength != 0 {
			answer.body = &received{ReadCloser: r.Body, control: answer.control, pace: answer.pace, small: r.ContentLength > 0 && r.ContentLength <= smallBody && r.Header.Get("Expect") == ""}
			r.Body = answer.body
		}
		w.Header()[requestIDHeader] = []string{a.id}
		s.telemetry.RequestBegan()
		defer func() {
			took := time.Since(began)
			route, status := s.route(r), answer.sent()
			s.telemetry.RequestEnded(r.Method, route, status, took-a.waited)
			endSpan(span, r.Method, route, status)
			level := level(status, route)
			if !s.telemetry.LogsRequests(r.Context(), level) {
				return
			}
			attrs := make([]slog.Attr, 0, 12)
			attrs = append(attrs,
				slog.String("request_id", a.id), slog.String("method", r.Method), slog.String("route", route),
				slog.Int("status", status), slog.Float64("duration_ms", float64(took.Microseconds())/1000), slog.Int64("bytes", answer.bytes))
			if a.principal.ID != "" {
				attrs = append(attrs, slog.String("key_id", a.principal.ID), slog.String("key_name", a.principal.Name))
			}
			if span != nil {
				attrs = append(attrs, slog.String("trace_id", span.Trace()))
			}
			if a.sentOn != "" {
				attrs = append(attrs, slog.String("sent_on", a.sentOn))
			}
			if a.refused != "" {
				attrs = append(attrs, slog.String("refused", a.refused))
			}
			if suspect(status) {
				attrs = append(attrs, slog.String("client", a.address))
			}
			s.telemetry.Request(r.Context(), level, attrs...)
		}()
		next.ServeHTTP(answer, r)
	})
}

// draining reports whether the server stops.
func (s *server) draining() bool { return s.config.Draining != nil && s.config.Draining.Load() }

// suspect reports whether the operator should know the origin of such an answer.
func suspect(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusTooManyRequests:
		return true
	}
	return false
}

func level(status int, route string) slog.Level {
	switch {
	case status == http.StatusServiceUnavailable:
		return slog.LevelWarn
	case status >= 500:
		return slog.LevelError
	case status >= 400:
	case route == "/livez", route == "/readyz", route == "/metrics", // requested every few seconds
		status == http.StatusNotModified, strings.HasSuffix(route, "/plans/current/scaling"): // polls, thousands a second
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// route returns the pattern that matches a request, also one that was refused before it was routed, or "".
func (s *server) route(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" {
		return c.RoutePattern()
	}
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return s.router.Find(chi.NewRouteContext(), method, path)
}

// answer records the answer.
type answer struct {
	http.ResponseWriter
	draining  func() bool
	cacheable bool      // an answer with an ETag may be cached and revalidated
	body      *received // of the request; nil without one
	control   *http.ResponseController
	pace      pace
	chunked   bool // the request's body came in chunks
	status    int
	bytes     int64
}

// asksAgain lets clients cache an answer and revalidate it each time.
var asksAgain = []string{"private, no-cache"}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
		h := a.Header()
		// A request with a length beside its chunks may be meant to smuggle another one in. The server has dropped the length,
		// so that every request with chunks is the last one of its connection.
		if a.draining() || a.chunked {
			h.Set("Connection", "close")
		}
		if cached := h["Cache-Control"]; a.cacheable && h["Etag"] != nil && len(cached) == 1 && cached[0] == noStore {
			h["Cache-Control"] = asksAgain
		}
		if a.body != nil && !a.body.ended {
			a.beforeItsBody()
		}
	}
	a.ResponseWriter.WriteHeader(status)
}

// beforeItsBody sends an answer that is ready before the request's body has come, such as a refusal. Otherwise it
// would wait for the body for as long as a request may take. A body that does not come soon is never read, so that
// none of it is taken for a request.
func (a *answer) beforeItsBody() {
	a.body.control = nil
	_ = a.control.SetReadDeadline(time.Now().Add(bodySoon))
	if a.body.small {
		if _, err := io.Copy(io.Discard, a.body); err == nil {
			return
		}
	}
	a.Header().Set("Connection", "close")
}

const bodySoon = 500 * time.Millisecond

// received is a request's body that must keep a pace, and records whether it has come to its end.
type received struct {
	io.ReadCloser
	control *http.ResponseController // nil where others set the time
	pace    pace
	small   bool // and on its way
	ended   bool
}

func (b *received) Read(p []byte) (int, error) {
	began := time.Now()
	if b.control != nil {
		_ = b.control.SetReadDeadline(b.pace.until(began))
	}
	n, err := b.ReadCloser.Read(p)
	b.pace.note(n, began)
	b.ended = b.ended || err != nil
	return n, err
}

// Write sends pieces, each of which the reader must take in time: a slow one would hold all of a large answer in memory.
// Streams of events have times of their own.
func (a *answer) Write(p []byte) (n int, err error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.Header().Get("Content-Type") == "text/event-stream" {
		n, err = a.ResponseWriter.Write(p)
		a.bytes += int64(n)
		return n, err
	}
	for first := true; err == nil && (first || n < len(p)); first = false {
		began, taken := time.Now(), 0
		_ = a.control.SetWriteDeadline(a.pace.until(began))
		taken, err = a.ResponseWriter.Write(p[n:min(n+minPassed, len(p))])
		a.pace.note(taken, began)
		n += taken
	}
	a.bytes += int64(n)
	return n, err
}

// Flush lets streams through.
func (a *answer) Flush() {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap serves http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) sent() int {
	if a.status == 0 {
		return http.StatusOK
	}
	return a.status
}

// recoverPanics answers a panic with the fixed sentence; only the log has the details.
func (s *server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			reason := recover()
			if reason == nil {
				return
			}
			if reason == http.ErrAbortHandler {
				panic(reason)
			}
			s.log(r.Context()).Error("panic", "reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
			if a, ok := w.(*answer); ok && a.status != 0 {
				panic(http.ErrAbortHandler) // the answer has begun: cut it off, so that nobody takes it for whole
			}
			s.refuse(w, r, internalProblem())
		}()
		next.ServeHTTP(w, r)
	})
}
