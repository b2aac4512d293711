package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/edge/api/entrance"
)

// entered serves a handler behind an entrance with bounds that tests can wait for.
func entered(t *testing.T, h http.Handler, b entrance.Bounds) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := entrance.New(l, nil, b)
	server := httptest.NewUnstartedServer(h)
	_ = server.Listener.Close()
	server.Listener = e
	server.Config.ConnContext, server.Config.ConnState = e.Context, e.Note
	server.Config.ReadTimeout, server.Config.IdleTimeout = time.Minute, time.Minute
	server.Start()
	t.Cleanup(server.Close)
	return l.Addr().String()
}

// caller is one connection.
type caller struct {
	net.Conn
	in *bufio.Reader
}

func phone(t *testing.T, address, text string) caller {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	_, _ = io.WriteString(conn, text)
	return caller{conn, bufio.NewReader(conn)}
}

// drip sends a byte every 50 ms, if it is to.
func drip(to io.Writer, wanted bool, over <-chan struct{}) {
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-tick.C:
			if wanted {
				_, _ = io.WriteString(to, " ")
			}
		case <-over:
			return
		}
	}
}

// Without a key a request that drips, an answer that nobody takes and a pause end soon. With a key they have the time of
// everybody.
func TestStrangersAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	key := f.key(nil)
	huge := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/huge" {
			welcomeIf(r)
			_, _ = w.Write(make([]byte, 64<<20))
			return
		}
		f.handler.ServeHTTP(w, r)
	})
	address := entered(t, huge, entrance.Bounds{Reads: 500 * time.Millisecond, Writes: 100 * time.Millisecond, All: 100, OfAddress: 100})
	const post = "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	get := func(path, headers string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n"
	}
	for _, c := range []struct {
		what, text string
		kept       bool
	}{
		{"a body that drips", post, false},
		{"nothing", "", false},
		{"a pause after an answer", get("/livez", ""), false},
		{"an answer that nobody takes", get("/huge", ""), false},
		{"a pause after an answer to a key", get("/v1/session", "X-API-KEY: "+key+"\r\n"), true},
		{"an answer to a key that nobody takes", get("/huge", "X-API-KEY: "+key+"\r\n"), true},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			in := phone(t, address, c.text)
			began := time.Now()
			if strings.Contains(c.what, "nobody takes") {
				time.Sleep(2 * time.Second) // time passes for a reader who does nothing
				_, err := io.CopyN(io.Discard, in.in, 60<<20)
				if cut := err != nil; cut == c.kept {
					t.Errorf("it was cut off: %t", cut)
				}
				return
			}
			if c.kept {
				_ = in.SetReadDeadline(time.Now().Add(2 * time.Second))
				_, err := io.Copy(io.Discard, in.in)
				if late, ok := err.(net.Error); !ok || !late.Timeout() {
					t.Errorf("it ended after %v: %v", time.Since(began), err)
				}
				return
			}
			over := make(chan struct{})
			go drip(in, c.text == post, over)
			text, _ := io.ReadAll(in.in)
			close(over)
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("it was kept for %v", took)
			}
			if c.text == post && !strings.HasPrefix(string(text), "HTTP/1.1 408") {
				t.Errorf("got %s", text)
			}
		})
	}
}

// welcomeIf stands for a layer that knows the key of a request.
func welcomeIf(r *http.Request) {
	if r.Header.Get("X-Api-Key") != "" {
		entrance.Welcome(r.Context())
	}
}

// Where too many wait without a key the one that has waited longest gives way; who has shown a key keeps its connection.
func TestStrangersGiveWay(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	address := entered(t, f.handler, entrance.Bounds{Reads: 20 * time.Second, Writes: time.Second, All: 8, OfAddress: 4})
	const head = "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	known := phone(t, address, "GET /v1/session HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: "+f.key(nil)+"\r\n\r\n")
	answer, err := http.ReadResponse(known.in, nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", answer, err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	var slow []caller
	for range 6 {
		time.Sleep(entrance.JustCame) // time is what this is about: so that none of them has just come
		slow = append(slow, phone(t, address, head))
		quick := phone(t, address, "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if answer, err := http.ReadResponse(quick.in, nil); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("who is quick got %v, %v", answer, err)
		}
	}
	for i, c := range slow {
		_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		_, err := c.in.ReadByte()
		late, ok := err.(net.Error)
		if kept := ok && late.Timeout(); i != 3 && kept != (i > 3) { // the fourth may give way to a quick one that is about to end
			t.Errorf("slow connection %d was kept: %t (%v)", i, kept, err)
		}
	}
	fmt.Fprintf(known, "GET /v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if answer, err := http.ReadResponse(known.in, nil); err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("who has shown a key got %v, %v", answer, err)
	}
}

// A caller with one connection keeps it beside many from few addresses, who come as fast as they can.
func TestOneCallerBesideMany(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	address := entered(t, f.handler, entrance.Bounds{Reads: 20 * time.Second, Writes: time.Second, All: 8, OfAddress: 8})
	const head = "POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	one := phone(t, address, "GET /livez HTTP/1.1\r\nHost: localhost\r\n")
	for n := range 24 {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(1+n%2))}}
		c, err := from.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprint(c, head)
		time.Sleep(10 * time.Millisecond) // in which the server takes it; a caller that gives way hears nothing of it
	}
	fmt.Fprint(one, "\r\n")
	if answer, err := http.ReadResponse(one.in, nil); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the one caller got %v, %v", answer, err)
	}
}
