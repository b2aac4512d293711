// Package fetch is the one way out: whatever the server sends to an address that somebody named goes
// through this client. An admin's list says which hosts may be reached; each address that a name stands
// for is looked at when the connection is made, not before, so that nothing can change in between; no
// redirect leads off a host, no proxy is asked, and everything has a limit. It decides nothing about when
// and what to send.
package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"headroom/internal/core/fault"
)

// Config is how a client works. Zero values mean the defaults named.
type Config struct {
	// HostOf is the allowed host of a name and a port; capacity.NotFound where there is none. It is
	// asked at every use.
	HostOf func(ctx context.Context, host string, port int64) (AllowedHost, error)

	Connections int           // at once; default 64
	Timeout     time.Duration // of a Post, from the first step to the last; default 10 s
	Stall       time.Duration // a Get whose answer, or so much more of it, takes longer is ended; default 30 s
	Pause       time.Duration // before a history server that did not answer is asked again; it doubles; default 500 ms
	Resolver    *net.Resolver // default the machine's
	TLS         *tls.Config   // default the machine's authorities
	UserAgent   string        // default "headroom"
}

// Client sends. It is safe for concurrent use.
type Client struct {
	config Config
	places chan struct{}
}

// Limits of what a target may answer.
const (
	longestHeader  = 16 << 10
	longestExcerpt = 1 << 10
	excerptWait    = time.Second // for the body of an answer whose status is there
)

// New makes a client.
func New(c Config) *Client {
	if c.Connections <= 0 {
		c.Connections = 64
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Stall <= 0 {
		c.Stall = 30 * time.Second
	}
	if c.Pause <= 0 {
		c.Pause = 500 * time.Millisecond
	}
	if c.UserAgent == "" {
		c.UserAgent = "headroom"
	}
	return &Client{c, make(chan struct{}, c.Connections)}
}

// Answer is what a target said.
type Answer struct {
	Status     int
	RetryAfter time.Duration // what it asks for; 0 is nothing
	Excerpt    string        // the beginning of its body, as text
}

// Error is why nothing was sent or no answer came: a sentence. It names the host and never the rest of
// an address, which may be a secret.
type Error struct {
	Sentence string
	Refused  bool          // by our own rules
	Final    bool          // the same would come of another try
	After    time.Duration // what the target asks for before another try; 0 is nothing
	cause    error
}

func (e *Error) Error() string { return e.Sentence }
func (e *Error) Unwrap() error { return e.cause }

func refused(sentence string) *Error { return &Error{Sentence: sentence, Refused: true, Final: true} }

// Post sends a body with headers. Every answer is one, whatever its status; an error is an *Error,
// unless the caller went away or the list could not be read.
func (c *Client) Post(ctx context.Context, address string, header http.Header, body string) (Answer, error) {
	target, host, err := c.allowed(ctx, address)
	if err != nil {
		return Answer{}, err
	}
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	bounded, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	transport := c.transport(host, 1)
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(bounded, http.MethodPost, target.URL, strings.NewReader(body))
	if err != nil {
		return Answer{}, refused(fmt.Sprintf("The address of %s cannot be used.", target.Label()))
	}
	maps.Copy(r.Header, header)
	r.Header.Set("User-Agent", c.config.UserAgent)
	response, err := transport.RoundTrip(r) // which follows no redirect
	if err != nil {
		return Answer{}, c.failed(ctx, target, c.config.Timeout, err)
	}
	defer response.Body.Close()
	stop := time.AfterFunc(excerptWait, cancel)
	defer stop.Stop()
	text, _ := io.ReadAll(io.LimitReader(response.Body, longestExcerpt)) // the status says what came of it
	return Answer{Status: response.StatusCode, RetryAfter: retryAfter(response.Header.Get("Retry-After")), Excerpt: plainText(text)}, nil
}

// allowed is an address and the entry of the list that lets it be used.
func (c *Client) allowed(ctx context.Context, address string) (Target, AllowedHost, error) {
	target, wrong := ParseTarget(address)
	if wrong != "" {
		return target, AllowedHost{}, refused(wrong)
	}
	host, err := c.config.HostOf(ctx, target.Host, target.Port)
	if errors.Is(err, fault.NotFound) {
		return target, host, refused(target.NotAllowed())
	}
	if err == nil {
		if fault := host.Allows(target); fault != "" {
			err = refused(fault)
		}
	}
	return target, host, err
}

// transport serves one request, or a visit with so many at once: what it may connect to is this host's alone.
func (c *Client) transport(host AllowedHost, atOnce int) *http.Transport {
	settings := &tls.Config{}
	if c.config.TLS != nil {
		settings = c.config.TLS.Clone()
	}
	settings.MinVersion = tls.VersionTLS12
	dialer := &net.Dialer{Resolver: c.config.Resolver, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || int64(at.Port()) != host.Port {
			return refused(fmt.Sprintf("%s stands for something that is no address.", host.Label()))
		}
		if fault := host.Reaches(at.Addr()); fault != "" {
			return refused(fault)
		}
		return nil
	}}
	return &http.Transport{
		Proxy: nil, // whatever the environment says
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, net.JoinHostPort(host.Host, strconv.FormatInt(host.Port, 10)))
		},
		TLSClientConfig: settings, DisableKeepAlives: atOnce == 1, DisableCompression: true,
		MaxConnsPerHost: atOnce, MaxIdleConnsPerHost: atOnce, MaxResponseHeaderBytes: longestHeader,
	}
}

// failed says why no answer came.
func (c *Client) failed(ctx context.Context, t Target, within time.Duration, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var own *Error
	var dns *net.DNSError
	var op *net.OpError
	var slow net.Error
	var certificate *tls.CertificateVerificationError
	say := func(format string, values ...any) error {
		return &Error{Sentence: t.Label() + fmt.Sprintf(format, values...), cause: err}
	}
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &dns) && dns.IsNotFound:
		return say(" is a name that nobody knows.")
	case errors.As(err, &dns) && !dns.IsTimeout:
		return say(": the name cannot be looked up at the moment.")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return say(" did not answer within %s.", within)
	case errors.As(err, &certificate):
		return say(" has a certificate that is not to be trusted: %s.", certificate.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return say(" refuses the connection.")
	case errors.As(err, &op) && op.Op == "dial":
		return say(" cannot be reached: %s.", op.Err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return say(" closed the connection without an answer.")
	case errors.As(err, &op) && op.Op == "remote error", errors.As(err, new(tls.RecordHeaderError)):
		return say(" does not speak TLS 1.2 or newer as it should.")
	}
	return say(" gave an answer that is no HTTP, or too long.")
}

// retryAfter reads the header; dates are not worth the trouble.
func retryAfter(value string) time.Duration {
	seconds, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// plainText is the beginning of a body as text that can be stored and shown.
func plainText(b []byte) string {
	const unreadable = "\uFFFD"
	s := strings.ReplaceAll(strings.ToValidUTF8(string(b), unreadable), "\x00", unreadable)
	for i := range s {
		if i > longestExcerpt-utf8.UTFMax {
			return s[:i]
		}
	}
	return s
}
