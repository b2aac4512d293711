// Package fetch is the only way out: the server sends everything to user-supplied addresses through this client. An
// admin's list names the hosts that may be reached. Each address behind a name is checked when the connection is
// made, not before, so that nothing can change in between. No redirect leads to another host, no proxy is used, and
// everything has a limit. The package does not decide when to send, or what.
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

	"example.org/headroom/internal/core/fault"
)

// Config configures a client. Zero values mean the defaults.
type Config struct {
	// HostOf returns the allowed host of a name and a port, or fault.NotFound. It is called at every use.
	HostOf func(ctx context.Context, host string, port int64) (AllowedHost, error)

	Connections int           // concurrent; default 64
	Timeout     time.Duration // of a whole Post; default 10 s
	Stall       time.Duration // a Get ends if its answer, or the next part of it, takes longer; default 30 s
	Excerpt     int           // bytes of the answer to a Post that are kept; default 1 KiB
	Pause       time.Duration // before a silent history server is asked again; it doubles; default 500 ms
	Resolver    *net.Resolver // default the machine's
	TLS         *tls.Config   // default the machine's authorities
	UserAgent   string        // default "headroom"
}

// Client sends requests. It is safe for concurrent use.
type Client struct {
	config Config
	places chan struct{}
}

// Limits of a target's answer.
const (
	maxHeader   = 16 << 10
	excerptWait = time.Second // for the body of an answer whose status has arrived
)

// New returns a client.
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
	if c.Excerpt <= 0 {
		c.Excerpt = 1 << 10
	}
	if c.Pause <= 0 {
		c.Pause = 500 * time.Millisecond
	}
	if c.UserAgent == "" {
		c.UserAgent = "headroom"
	}
	return &Client{c, make(chan struct{}, c.Connections)}
}

// Answer is a target's answer.
type Answer struct {
	Status     int
	RetryAfter time.Duration // requested by the target; 0 means none
	Excerpt    string        // the beginning of its body, as text
}

// Error is a sentence on why nothing was sent or no answer came. It names the host and never the rest of an address,
// which may be a secret.
type Error struct {
	Sentence string
	Refused  bool          // by our own rules
	Final    bool          // another try would fail the same way
	After    time.Duration // wait before another try that the target asks for; 0 means none
	cause    error
}

func (e *Error) Error() string { return e.Sentence }
func (e *Error) Unwrap() error { return e.cause }

func refused(sentence string) *Error { return &Error{Sentence: sentence, Refused: true, Final: true} }

// Post sends a body with headers. An answer of any status is an answer. An error is an *Error, unless the caller went
// away or the list could not be read.
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
	response, err := transport.RoundTrip(r) // follows no redirect
	if err != nil {
		return Answer{}, c.failed(ctx, target, c.config.Timeout, err)
	}
	defer response.Body.Close()
	stop := time.AfterFunc(excerptWait, cancel)
	defer stop.Stop()
	text, _ := io.ReadAll(io.LimitReader(response.Body, int64(c.config.Excerpt))) // the status gives the outcome
	return Answer{Status: response.StatusCode, RetryAfter: retryAfter(response.Header.Get("Retry-After")), Excerpt: plainText(text, c.config.Excerpt)}, nil
}

// allowed returns an address, and the entry of the list that permits it.
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
		if wrong := host.Allows(target); wrong != "" {
			err = refused(wrong)
		}
	}
	return target, host, err
}

// transport serves one request, or a visit with this many concurrent ones. It may connect to this host alone.
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
		if fault := host.reaches(at.Addr()); fault != "" {
			return refused(fault)
		}
		return nil
	}}
	return &http.Transport{
		Proxy: nil, // regardless of the environment
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, net.JoinHostPort(host.Host, strconv.FormatInt(host.Port, 10)))
		},
		TLSClientConfig: settings, DisableKeepAlives: atOnce == 1, DisableCompression: true,
		MaxConnsPerHost: atOnce, MaxIdleConnsPerHost: atOnce, MaxResponseHeaderBytes: maxHeader,
	}
}

// failed explains why no answer came.
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

// plainText returns the beginning of a body as text that can be stored and shown.
func plainText(b []byte, most int) string {
	const unreadable = "\uFFFD"
	s := strings.ReplaceAll(strings.ToValidUTF8(string(b), unreadable), "\x00", unreadable)
	for i := range s {
		if i > most-utf8.UTFMax {
			return s[:i]
		}
	}
	return s
}
