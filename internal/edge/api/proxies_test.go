package api

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"example.org/headroom/internal/edge/api/entrance"
)

// Who sends no key may ask so often from an address, whatever is asked, and hears when to come again. Another client of
// the same proxy and a key at the same address are not concerned.
func TestRequestsOfAnAddressWithoutAKey(t *testing.T) {
	t.Parallel()
	f := newFront(t, func(c *Config) {
		c.OpenPerSecond, c.Proxies = 20, entrance.Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	})
	key := f.key(nil)
	refused := map[string]int{}
	for i := range 400 {
		path := []string{"/livez", "/v1/clusters", "/docs", "/v1/nothing"}[i%4]
		w := f.do("GET", path, "", "address", "10.0.0.1", "X-Forwarded-For", "203.0.113.5")
		if w.Code != http.StatusTooManyRequests {
			continue
		}
		refused[path]++
		if after, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || after < 1 {
			t.Fatalf("got Retry-After %q, want seconds", w.Header().Get("Retry-After"))
		}
		problemIn(t, w)
	}
	for _, path := range []string{"/livez", "/v1/clusters", "/docs", "/v1/nothing"} {
		if refused[path] < 50 {
			t.Errorf("%s was refused %d times of 100", path, refused[path])
		}
	}
	wantStatus(t, f.do("GET", "/livez", "", "address", "10.0.0.1", "X-Forwarded-For", "203.0.113.6"), http.StatusOK)
	wantStatus(t, f.do("GET", "/v1/session", "", "address", "10.0.0.1", "X-Forwarded-For", "203.0.113.5", "X-API-KEY", key), http.StatusOK)
}

// Of a request with a length beside its chunks nobody knows where it ends for a proxy: nothing after it is answered.
func TestLengthBesideChunks(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	server := httptest.NewServer(f.handler)
	t.Cleanup(server.Close)
	key := f.key(nil)
	const next = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for _, headers := range []string{
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
		"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: CHUNKED\r\nContent-Length: 0\r\n",
	} {
		in := phone(t, server.Listener.Addr().String(), fmt.Sprintf(
			"POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n%x\r\n{\"token\":%q}\r\n0\r\n\r\n%s", headers, len(key)+12, key, next))
		_ = in.SetDeadline(time.Now().Add(10 * time.Second))
		all := bufio.NewReader(in.in)
		answer, err := http.ReadResponse(all, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		rest, _ := io.ReadAll(all)
		if answer.StatusCode != http.StatusCreated || !answer.Close || len(rest) > 0 {
			t.Errorf("%q: got %s, which ends the connection: %t, and then %.100q", headers, answer.Status, answer.Close, rest)
		}
	}
}
