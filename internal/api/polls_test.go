package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"headroom/internal/telemetry"
)

// perSecond is how many requests a second a server answers to 64 connections that are kept alive.
// The load is sent by bare sockets, so that the measure is of the server.
func perSecond(b *testing.B, address, path, header string, want string, d time.Duration) float64 {
	b.Helper()
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n")
	var done sync.WaitGroup
	var mu sync.Mutex
	total, end := 0, time.Now().Add(d)
	for range 64 {
		done.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				b.Error(err)
				return
			}
			defer conn.Close()
			in, n := bufio.NewReaderSize(conn, 8192), 0
			for time.Now().Before(end) {
				if _, err := conn.Write(request); err != nil {
					b.Error(err)
					return
				}
				status, length := "", 0
				for {
					line, err := in.ReadSlice('\n')
					if err != nil {
						b.Error(err)
						return
					}
					if text := string(line); status == "" {
						status = text[9:12]
					} else if strings.HasPrefix(text, "Content-Length: ") {
						fmt.Sscan(text[16:], &length)
					}
					if len(line) <= 2 {
						break
					}
				}
				if _, err := in.Discard(length); err != nil || status != want {
					b.Errorf("got %s (%v), want %s", status, err, want)
					return
				}
				n++
			}
			mu.Lock()
			total += n
			mu.Unlock()
		})
	}
	done.Wait()
	return float64(total) / d.Seconds()
}

// Polls against a bare route that writes 200 bytes, in the same run; the goal is 60 %.
func BenchmarkPolls(b *testing.B) {
	bare := chi.NewRouter()
	bare.Get("/v1/clusters/{cluster}/plans/current/scaling", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 200)) })
	empty := httptest.NewServer(bare)
	defer empty.Close()

	s := newService(b)
	s.cluster("night")
	s.ask(s.admin, "POST", "/v1/clusters/night/plans", nil).want(b, 201)
	s.shows("night", 1)
	h, err := New(Config{App: s.app, Telemetry: telemetry.New(io.Discard, nil), SolvesPerSecond: 1_000_000, RequestsPerSecond: 100_000_000})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	key := "Authorization: Bearer " + s.admin + "\r\n"
	etag := "If-None-Match: " + s.ask(s.admin, "GET", "/v1/clusters/night/plans/current", nil).etag() + "\r\n"

	const round = time.Second
	address := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	var base, scaling, unchanged float64
	for b.Loop() {
		base += perSecond(b, address(empty), scalingOfNight, "", "200", round)
		scaling += perSecond(b, address(server), scalingOfNight, key, "200", round)
		unchanged += perSecond(b, address(server), "/v1/clusters/night/plans/current", key+etag, "304", round)
	}
	n := float64(b.N)
	b.ReportMetric(base/n, "bare/s")
	b.ReportMetric(scaling/n, "scaling/s")
	b.ReportMetric(unchanged/n, "304/s")
	b.ReportMetric(100*scaling/base, "scaling-%")
	b.ReportMetric(100*unchanged/base, "304-%")
}
