package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A refusal does not wait for the body that it is not about, and the connection can be used again when the rest
// comes soon.
func TestRefusalsDoNotWaitForTheBody(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	server := httptest.NewUnstartedServer(f.handler)
	server.Config.ReadTimeout, server.Config.IdleTimeout = time.Minute, time.Minute
	server.Start()
	t.Cleanup(server.Close)
	for _, c := range []struct {
		what, head string
		rest       int // bytes that come
		again      bool
	}{
		{"a body that never comes", "Content-Length: 1000\r\n", 0, false},
		{"a large body that never comes", "Content-Length: 1000000\r\n", 0, false},
		{"a body of no length that never comes", "Transfer-Encoding: chunked\r\n", 0, false},
		{"a body that is asked for first", "Content-Length: 1000\r\nExpect: 100-continue\r\n", 0, false},
		{"a body that comes", "Content-Length: 1000\r\n", 1000, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			in := bufio.NewReader(conn)
			ask := func() {
				began := time.Now()
				fmt.Fprintf(conn, "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n%s", c.head, make([]byte, c.rest))
				answer, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusUnauthorized {
					t.Errorf("got %s, %v", answer.Status, err)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("the refusal came after %v", took)
				}
			}
			ask()
			if c.again {
				ask()
				return
			}
			// The next bytes are the body, and no request.
			_, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
			began := time.Now()
			if text, _ := io.ReadAll(in); len(text) > 0 {
				t.Errorf("a body was taken for a request: %s", text)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the connection was kept for %v", took)
			}
		})
	}
}

// A reader that takes a large answer too slowly is cut off; one just fast enough gets it whole.
func TestSlowReadersOfLargeAnswers(t *testing.T) {
	t.Parallel()
	const size = 64 << 20 // more than any system keeps for a connection
	failed := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, draining: func() bool { return false }, control: http.NewResponseController(w), pace: pace{within: 500 * time.Millisecond}}
		_, err := a.Write(make([]byte, size))
		failed <- err
	}))
	t.Cleanup(server.Close)
	ask := func() io.ReadCloser {
		answer, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Body
	}
	body := ask()
	defer body.Close()
	if err := <-failed; err == nil {
		t.Error("who reads nothing is not cut off")
	}
	slow := ask()
	defer slow.Close()
	next := time.Tick(50 * time.Millisecond)
	for n := 0; n < size; n += 4 << 20 { // longer in all than a piece may take
		if _, err := io.CopyN(io.Discard, slow, 4<<20); err != nil {
			t.Fatalf("who reads slowly was cut off after %d bytes: %v", n, err)
		}
		<-next
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}
