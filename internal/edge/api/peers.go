package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"example.org/headroom/internal/core/trace"
	"example.org/headroom/internal/service/heartbeat"
)

// Headers of a request that a server sends on to another one.
const (
	peerToken  = "Headroom-Peer"   // with this, whatever it holds, nobody sends it on again
	peerClient = "Headroom-Client" // the address of the caller; only servers that are listed are believed
)

const (
	longestDial   = 500 * time.Millisecond
	longestAnswer = 3 * time.Second  // to a request that may be repeated
	longestChange = 10 * time.Second // to another one; a change takes less
	longestBulk   = 3 * time.Minute  // where much may be learned again
	largestAnswer = 64 << 20
)

// lineToPeers returns connections to other servers, which notice within 5 s that the other end is gone.
func lineToPeers() *http.Transport {
	dialer := net.Dialer{Timeout: longestDial, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 2 * time.Second, Interval: time.Second, Count: 3},
		Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 5000) })
		}}
	return &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 100, IdleConnTimeout: time.Minute, DisableCompression: true}
}

// toOwner sends a request on to the owner of its live cluster. If that one cannot be reached, it is answered here:
// that is right as well, and only dearer.
func (s *server) toOwner(next http.Handler) http.Handler {
	if s.config.Peers == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := s.operationOf(r)
		if !o.owned || r.Header[peerToken] != nil {
			next.ServeHTTP(w, r)
			return
		}
		owner := s.config.Peers.Owner(pathValue(r, "cluster"))
		if owner == nil {
			next.ServeHTTP(w, r)
			return
		}
		var text []byte
		if o.Sends {
			var err error
			if text, err = s.takeBody(w, r, o); err != nil {
				s.fail(w, r, err)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(text))
		}
		promises := o.ID != "createAdmission" || bytes.Contains(text, []byte("deadline_s")) // others lock no live cluster
		if !promises || !s.sendOn(w, r, owner, o, text) {
			next.ServeHTTP(w, r)
		}
	})
}

// sendOn lets another server answer a request. It returns false if that one has surely not done it, or if it does no
// harm to do it again.
func (s *server) sendOn(w http.ResponseWriter, r *http.Request, to *heartbeat.Peer, o *operation, text []byte) (answered bool) {
	repeatable := reading(r) || o.ID == "sendHeartbeat" || o.creates && r.Header.Get(idempotencyKey) != "" // it has one effect
	longest := longestChange
	switch {
	case repeatable:
		longest = longestAnswer
	case o.ID == "relearn" || o.ID == "replaceLiveSettings":
		longest = longestBulk
	}
	ctx, cancel := context.WithTimeout(r.Context(), longest)
	defer cancel()
	defer context.AfterFunc(to.Listed, cancel)()
	answer, body, err := s.askPeer(ctx, r, to, text)
	switch {
	case err == nil && !slices.Contains(atTheDoor, answer.StatusCode):
		askedOf(r.Context()).sentOn = to.Address
		s.telemetry.SentOn("answered")
		for name, values := range answer.Header {
			if !slices.Contains(ofOneServer, name) {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(body) // a client that is gone needs no error
		return true
	case r.Context().Err() != nil:
		s.fail(w, r, r.Context().Err())
		return true
	case err != nil:
		s.config.Peers.PassOver(to)
	}
	if failed := (*net.OpError)(nil); err == nil || repeatable || errors.As(err, &failed) && failed.Op == "dial" {
		s.telemetry.SentOn("here")
		return false
	}
	s.telemetry.SentOn("lost")
	s.refuse(w, r, unavailable("The server that decides for this live cluster went away before it answered. Look whether your change was made before you repeat it; with an Idempotency-Key you can repeat it at once."))
	return true
}

// atTheDoor lists the statuses of requests that another server has refused before it looked at what they ask for: it may
// not know a key of this one's settings, or a name.
var atTheDoor = []int{http.StatusUnauthorized, http.StatusMisdirectedRequest, http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge}

// ofOneServer lists headers of an answer that are not passed on, and betweenTwo those of a request.
var (
	ofOneServer = []string{"Connection", "Date", "Keep-Alive", "Vary", requestIDHeader, "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}
	betweenTwo  = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", acceptEncoding}
)

// askPeer sends a request to another server with the caller's own key, and reads the whole answer.
func (s *server) askPeer(ctx context.Context, r *http.Request, to *heartbeat.Peer, text []byte) (answer *http.Response, body []byte, err error) {
	u, header := *r.URL, r.Header.Clone()
	u.Scheme, u.Host = "http", to.Address
	for _, name := range betweenTwo {
		delete(header, name)
	}
	header.Set(peerToken, s.config.Peers.Token())
	header.Set(peerClient, askedOf(ctx).address)
	header.Set(requestIDHeader, requestID(ctx))
	if span := trace.From(ctx); span != nil {
		header.Set(traceparent, span.Parent())
	}
	request := (&http.Request{Method: r.Method, URL: &u, Host: r.Host, Header: header, ContentLength: int64(len(text))}).WithContext(ctx)
	if len(text) > 0 {
		request.Body = io.NopCloser(bytes.NewReader(text))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	}
	if answer, err = s.line.RoundTrip(request); err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if body, err = io.ReadAll(io.LimitReader(answer.Body, largestAnswer+1)); err == nil && len(body) > largestAnswer {
		err = errors.New("the answer is too large")
	}
	return answer, body, err
}
