package trace

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a Tracer. Zero values mean the defaults.
type Config struct {
	Endpoint string            // the collector's address, to which /v1/traces is added
	Headers  map[string]string // sent along; may be secret
	Resource map[string]string // attributes of all spans, such as service.name
	Version  string            // of this program

	Ratio         float64 // part of the traces to keep
	IgnoreAskers  bool    // callers cannot decide that a trace is kept
	Log           *slog.Logger
	Queue, Batch  int           // spans that may wait, and that a batch holds; default 2048 and 512
	Every, Within time.Duration // a batch goes after Every and is given up after Within; default 5 s and 10 s
}

// Tracer makes spans and sends them to a collector. It drops and counts those it cannot send in time: nobody waits
// for it. It is safe for concurrent use.
type Tracer struct {
	config  Config
	address string
	client  *http.Client
	queue   chan *Span
	stop    chan struct{}
	stopped sync.Once
	ended   chan struct{}
	sending context.Context
	cut     context.CancelFunc

	sent, dropped atomic.Int64
	trouble       string // as last logged; used by the sending goroutine alone
}

// New starts a tracer. Close ends it.
func New(c Config) *Tracer {
	if c.Queue <= 0 {
		c.Queue = 2048
	}
	if c.Batch <= 0 {
		c.Batch = 512
	}
	if c.Every <= 0 {
		c.Every = 5 * time.Second
	}
	if c.Within <= 0 {
		c.Within = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	t := &Tracer{config: c, address: strings.TrimSuffix(c.Endpoint, "/") + "/v1/traces", queue: make(chan *Span, c.Queue), stop: make(chan struct{}), ended: make(chan struct{})}
	t.client = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10}, // no proxy, regardless of the environment
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.sending, t.cut = context.WithCancel(context.Background())
	go t.send()
	return t
}

// samples reports whether to keep a trace, by its id, so that every service with the same ratio decides alike.
func (t *Tracer) samples(id [16]byte, decided, sampled bool) bool {
	if decided && !t.config.IgnoreAskers {
		return sampled
	}
	return float64(binary.BigEndian.Uint64(id[8:])>>1) < t.config.Ratio*(1<<63)
}

// take queues a finished span, unless too many wait.
func (t *Tracer) take(s *Span) {
	select {
	case <-t.stop:
		t.dropped.Add(1)
		return
	default:
	}
	select {
	case t.queue <- s:
	default:
		t.dropped.Add(1)
	}
}

// Sent and Dropped return the numbers of spans that the collector has accepted, and that it has not.
func (t *Tracer) Sent() float64    { return float64(t.sent.Load()) }
func (t *Tracer) Dropped() float64 { return float64(t.dropped.Load()) }

// Close sends the waiting spans, until the context ends.
func (t *Tracer) Close(ctx context.Context) {
	if t == nil {
		return
	}
	t.stopped.Do(func() { close(t.stop) })
	defer context.AfterFunc(ctx, t.cut)()
	<-t.ended
	t.client.CloseIdleConnections()
}

func (t *Tracer) send() {
	defer close(t.ended)
	defer t.cut()
	ticker := time.NewTicker(t.config.Every)
	defer ticker.Stop()
	var batch []*Span
	hand := func() {
		if len(batch) > 0 {
			t.deliver(batch)
			batch = batch[:0]
		}
	}
	for {
		select {
		case s := <-t.queue:
			if batch = append(batch, s); len(batch) >= t.config.Batch {
				hand()
			}
		case <-ticker.C:
			hand()
		case <-t.stop:
			for {
				select {
				case s := <-t.queue:
					if batch = append(batch, s); len(batch) >= t.config.Batch {
						hand()
					}
					continue
				default:
				}
				hand()
				return
			}
		}
	}
}

// deliver sends a batch once: a collector in trouble gets no more requests because of it.
func (t *Tracer) deliver(batch []*Span) {
	refused, err := t.post(t.encode(batch))
	if err != nil {
		refused = int64(len(batch))
	}
	refused = min(max(refused, 0), int64(len(batch)))
	t.dropped.Add(refused)
	t.sent.Add(int64(len(batch)) - refused)
	switch {
	case err != nil && err.Error() != t.trouble:
		t.trouble = err.Error()
		t.config.Log.Warn("the collector of traces does not take them; they are dropped and counted", "error", t.trouble)
	case err == nil && t.trouble != "":
		t.trouble = ""
		t.config.Log.Info("the collector takes traces again")
	}
}

// post sends a request of OTLP, and returns the number of its refused spans.
func (t *Tracer) post(body []byte) (refused int64, err error) {
	ctx, cancel := context.WithTimeout(t.sending, t.config.Within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.address, bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("its address cannot be used")
	}
	for name, value := range t.config.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "headroom/"+t.config.Version)
	response, err := t.client.Do(r)
	if err != nil {
		var outer *url.Error // its text repeats the address
		if errors.As(err, &outer) {
			err = outer.Err
		}
		return 0, err
	}
	defer response.Body.Close()
	const longest = 64 << 10
	text, _ := io.ReadAll(io.LimitReader(response.Body, longest)) // the status gives the outcome
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return 0, fmt.Errorf("it answers %d", response.StatusCode)
	}
	return refusedIn(text), nil
}
