package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"example.org/headroom/internal/service/telemetry"
)

// A body that stalls, drips or breaks off is the client's fault. The client gets an error, 408 if the body came too
// slowly, and no operator is woken. That needs no key.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	handler, err := New(Config{App: s.app, Telemetry: telemetry.New(s.log, slog.LevelDebug), PaceWithin: 500 * time.Millisecond, OpenPerSecond: 10_000, SolvesPerSecond: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	send := func(what, method, path, token, kind string) {
		t.Helper()
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: 100\r\n", method, path, kind)
		if token != "" {
			fmt.Fprintf(conn, "Authorization: Bearer %s\r\n", token)
		}
		fmt.Fprint(conn, "\r\n{")
		over := make(chan struct{})
		var dripping sync.WaitGroup
		switch what {
		case "drips":
			dripping.Go(func() {
				for drop := time.NewTicker(100 * time.Millisecond); ; {
					select {
					case <-drop.C:
						_, _ = io.WriteString(conn, " ")
					case <-over:
						return
					}
				}
			})
		case "breaks off":
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		close(over)
		dripping.Wait()
		if err != nil {
			t.Errorf("%s %s %s: %v", method, path, what, err)
			return
		}
		defer answer.Body.Close()
		var p problem
		text, _ := io.ReadAll(answer.Body)
		_ = json.Unmarshal(text, &p)
		want := http.StatusRequestTimeout
		if what == "breaks off" {
			want = http.StatusBadRequest
		}
		if answer.StatusCode != want || answer.Header.Get("Content-Type") != "application/problem+json" || p.Status != want {
			t.Errorf("%s %s, which %s: got %s %s, want %d", method, path, what, answer.Status, text, want)
		}
	}
	var all sync.WaitGroup
	each(s.doc, func(method, path string, _ *openapi3.PathItem, op *openapi3.Operation) {
		if op.RequestBody == nil {
			return
		}
		kind := "application/json"
		if content := op.RequestBody.Value.Content; content[kind] == nil || len(content) > 1 && content["text/csv"] == nil || strings.HasSuffix(path, "-imports") {
			return // files, which have times of their own
		}
		at := path
		for _, name := range []string{"cluster", "name", "id", "node", "job", "plan", "version", "kind", "engine"} {
			value := map[string]string{"cluster": "night", "job": "1", "plan": "1", "version": "1", "kind": "power", "engine": "slurm"}[name]
			if value == "" {
				value = "x"
			}
			at = strings.ReplaceAll(at, "{"+name+"}", value)
		}
		for _, p := range op.Parameters {
			if p.Value.In == "query" && p.Value.Required {
				at += "?" + p.Value.Name + "=x"
			}
		}
		for _, what := range []string{"stalls", "drips", "breaks off"} {
			if path == "/v1/session" {
				all.Go(func() { send(what, method, at, "", kind) })
			}
			all.Go(func() { send(what, method, at, s.admin, kind) })
		}
	})
	all.Go(func() { send("stalls", "PUT", "/v1/clusters/night/forecasts", s.admin, "text/csv") })
	all.Wait()
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, `"ERROR"`) {
			t.Errorf("slow bodies are logged as mistakes of the server: %s", line)
			break
		}
	}
}
