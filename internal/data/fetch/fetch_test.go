package fetch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/core/fault"
)

// names returns a name server on loopback, which gives a name's answers in order and repeats the last one for ever.
func names(t *testing.T, answers map[string][][]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		requests := map[string]int{}
		buffer := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(answerName(buffer[:n], answers, requests), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func answerName(question []byte, answers map[string][][]string, requests map[string]int) []byte {
	name, at := "", 12
	for question[at] != 0 {
		length := int(question[at])
		name += string(question[at+1:at+1+length]) + "."
		at += 1 + length
	}
	at++
	kind := binary.BigEndian.Uint16(question[at:])
	reply := bytes.Clone(question[:at+4])
	reply[2], reply[3] = 0x81, 0x80 // an answer, recursion as requested
	binary.BigEndian.PutUint16(reply[8:], 0)
	binary.BigEndian.PutUint16(reply[10:], 0)
	turns := answers[strings.TrimSuffix(name, ".")]
	if turns == nil {
		reply[3] |= 3 // no such name
		return reply
	}
	turn := min(requests[fmt.Sprint(name, kind)], len(turns)-1)
	requests[fmt.Sprint(name, kind)]++
	count := uint16(0)
	for _, text := range turns[turn] {
		a := netip.MustParseAddr(text)
		if a.Is4() != (kind == 1) || a.Is6() != (kind == 28) {
			continue
		}
		count++
		reply = append(reply, 0xc0, 12)
		reply = binary.BigEndian.AppendUint16(reply, kind)
		reply = append(reply, 0, 1, 0, 0, 0, 0, 0, byte(len(a.AsSlice())))
		reply = append(reply, a.AsSlice()...)
	}
	binary.BigEndian.PutUint16(reply[6:], count)
	return reply
}

// list returns an allow-list.
func list(hosts ...AllowedHost) func(context.Context, string, int64) (AllowedHost, error) {
	return func(_ context.Context, host string, port int64) (AllowedHost, error) {
		for _, h := range hosts {
			if h.Host == host && h.Port == port {
				return h, nil
			}
		}
		return AllowedHost{}, fault.NotFound
	}
}

func portOf(t *testing.T, address string) int64 {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(u.Port(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// receiver returns a server on loopback that counts its requests.
func receiver(t *testing.T, h http.HandlerFunc) (port int64, came *atomic.Int64) {
	t.Helper()
	came = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Add(1)
		if h != nil {
			h(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return portOf(t, s.URL), came
}

func refusedWith(t *testing.T, situation string, err error, words string) {
	t.Helper()
	var own *Error
	if !errors.As(err, &own) || !own.Refused || !strings.Contains(own.Sentence, words) || !strings.HasSuffix(own.Sentence, ".") {
		t.Errorf("%s: got %v, want a refusal with %q", situation, err, words)
	}
}

// Names of this machine or its surroundings are refused when the connection is made, and nothing arrives.
func TestPrivateAddressesBehindNames(t *testing.T) {
	t.Parallel()
	port, came := receiver(t, nil)
	private := map[string][][]string{
		"loopback.example": {{"127.0.0.1"}}, "loopback6.example": {{"::1"}}, "mapped.example": {{"::ffff:127.0.0.1"}}, "unspecified.example": {{"0.0.0.0"}},
		"metadata.example": {{"169.254.169.254"}}, "lan.example": {{"192.168.0.10"}}, "cgnat.example": {{"100.64.0.1"}}, "nat64.example": {{"64:ff9b::7f00:1"}},
		"6to4.example": {{"2002:7f00:1::1"}}, "both.example": {{"10.0.0.1", "127.0.0.1", "fd00::1"}}, "multicast.example": {{"224.0.0.1"}}, "local6.example": {{"fe80::1"}},
	}
	resolver := names(t, private)
	for name := range private {
		c := New(Config{Resolver: resolver, HostOf: list(AllowedHost{Host: name, Port: port, HTTP: true})})
		_, err := c.Post(t.Context(), fmt.Sprintf("http://%s:%d/", name, port), nil, "{}")
		refusedWith(t, name, err, "not a public address")
	}
	for _, address := range []string{"127.0.0.1", "::1", "169.254.169.254"} {
		c := New(Config{HostOf: list(AllowedHost{Host: address, Port: port, HTTP: true})})
		_, err := c.Post(t.Context(), "http://"+net.JoinHostPort(address, strconv.FormatInt(port, 10))+"/", nil, "{}")
		refusedWith(t, address, err, "not a public address")
	}
	if came.Load() != 0 {
		t.Errorf("%d connections were made", came.Load())
	}
	c := New(Config{Resolver: resolver, HostOf: list(AllowedHost{Host: "loopback.example", Port: port, HTTP: true, Networks: []string{"127.0.0.0/8"}})})
	if a, err := c.Post(t.Context(), fmt.Sprintf("http://loopback.example:%d/", port), nil, "{}"); err != nil || a.Status != 200 {
		t.Errorf("a listed network: got %+v, %v", a, err)
	}
}

// A name that changes its address is checked each time, at the connection itself.
func TestNamesThatChange(t *testing.T) {
	t.Parallel()
	port, came := receiver(t, nil)
	entry := AllowedHost{Host: "changing.example", Port: port, HTTP: true, Networks: []string{"127.0.0.1/32"}}
	c := New(Config{Resolver: names(t, map[string][][]string{"changing.example": {{"127.0.0.1"}, {"127.0.0.2"}}}), HostOf: list(entry)})
	address := fmt.Sprintf("http://changing.example:%d/", port)
	if _, err := c.Post(t.Context(), address, nil, "{}"); err != nil {
		t.Fatal(err)
	}
	_, err := c.Post(t.Context(), address, nil, "{}")
	refusedWith(t, "the second time", err, "none of the networks")
	if came.Load() != 1 {
		t.Errorf("%d requests arrived, want 1", came.Load())
	}
}

func TestWhatIsNotOnTheList(t *testing.T) {
	t.Parallel()
	port, came := receiver(t, nil)
	loopback := AllowedHost{Host: "127.0.0.1", Port: port, HTTP: false, Networks: []string{"127.0.0.0/8"}}
	c := New(Config{HostOf: list(loopback)})
	for _, one := range []struct{ situation, address, words string }{
		{"another host", fmt.Sprintf("http://localhost:%d/", port), "not on the list"},
		{"another port", "http://127.0.0.1:1/", "not on the list"},
		{"plain HTTP", fmt.Sprintf("http://127.0.0.1:%d/", port), "HTTPS only"},
		{"another way to write it", fmt.Sprintf("http://127.1:%d/", port), "four decimal numbers"},
		{"a number", fmt.Sprintf("http://2130706433:%d/", port), "four decimal numbers"},
		{"mapped", fmt.Sprintf("http://[::ffff:127.0.0.1]:%d/", port), "IPv4 address written as IPv6"},
		{"userinfo", fmt.Sprintf("http://127.0.0.1:%d@other.example/", port), "user or password"},
		{"fragment", fmt.Sprintf("http://127.0.0.1:%d/#a", port), "fragment"},
		{"no address", "gopher://127.0.0.1/", "must begin with"},
	} {
		_, err := c.Post(t.Context(), one.address, nil, "{}")
		refusedWith(t, one.situation, err, one.words)
	}
	if came.Load() != 0 {
		t.Errorf("%d requests arrived", came.Load())
	}
	away := errors.New("the database is away")
	c = New(Config{HostOf: func(context.Context, string, int64) (AllowedHost, error) {
		return AllowedHost{}, away
	}})
	if _, err := c.Post(t.Context(), fmt.Sprintf("http://127.0.0.1:%d/", port), nil, ""); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
}

// local returns a client that may use one receiver on loopback.
func local(port int64, change func(*Config)) (*Client, string) {
	c := Config{HostOf: list(AllowedHost{Host: "127.0.0.1", Port: port, HTTP: true, Networks: []string{"127.0.0.0/8"}})}
	if change != nil {
		change(&c)
	}
	return New(c), fmt.Sprintf("http://127.0.0.1:%d/path?query=1", port)
}

func TestWhatArrives(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	var got *http.Request
	var body []byte
	port, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(503)
		_, _ = io.WriteString(w, "no room \xff\x00 here")
	})
	c, address := local(port, nil)
	a, err := c.Post(t.Context(), address, http.Header{"Webhook-Id": {"7"}, "Content-Type": {"application/json"}}, `{"a":1}`)
	if err != nil || a.Status != 503 || a.RetryAfter != 2*time.Minute || a.Excerpt != "no room \uFFFD\uFFFD here" {
		t.Errorf("got %+v, %v", a, err)
	}
	if string(body) != `{"a":1}` || got.Method != "POST" || got.URL.String() != "/path?query=1" || got.Header.Get("Webhook-Id") != "7" || got.UserAgent() != "headroom" || got.Header.Get("Accept-Encoding") != "" {
		t.Errorf("got %s %s %v %q", got.Method, got.URL, got.Header, body)
	}
}

func TestRedirectsAreAnswers(t *testing.T) {
	t.Parallel()
	other, came := receiver(t, nil)
	port, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("http://127.0.0.1:%d/", other), http.StatusTemporaryRedirect)
	})
	c, address := local(port, nil)
	if a, err := c.Post(t.Context(), address, nil, "{}"); err != nil || a.Status != 307 {
		t.Errorf("got %+v, %v", a, err)
	}
	if came.Load() != 0 {
		t.Error("the redirect was followed")
	}
}

// However much a target sends, little of it is read, in no more time than allowed.
func TestTargetsThatSendTooMuch(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 20<<20))
	_ = z.Close()
	for _, c := range []struct {
		situation string
		answer    http.HandlerFunc
		status    int
		longest   int
	}{
		{"an endless body", func(w http.ResponseWriter, r *http.Request) {
			for _, err := w.Write(make([]byte, 1<<16)); err == nil; _, err = w.Write(make([]byte, 1<<16)) {
			}
		}, 200, 1 << 10},
		{"a gzip bomb", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, 200, 1 << 10},
		{"a slow body", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the client goes
			_, _ = io.WriteString(w, "so far")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, 200, 6},
	} {
		t.Run(c.situation, func(t *testing.T) {
			t.Parallel()
			port, _ := receiver(t, c.answer)
			client, address := local(port, nil)
			began := time.Now()
			a, err := client.Post(t.Context(), address, nil, "{}")
			if err != nil || a.Status != c.status || len(a.Excerpt) > c.longest {
				t.Errorf("got %d, %d bytes, %v", a.Status, len(a.Excerpt), err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// raw gives its answer to any input on a connection on loopback.
func raw(t *testing.T, answer func(net.Conn)) int64 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answer(conn)
			_ = conn.Close()
		}
	}()
	return int64(l.Addr().(*net.TCPAddr).Port)
}

func TestTargetsInTrouble(t *testing.T) {
	t.Parallel()
	readRequest := func(c net.Conn) {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, _ = http.ReadRequest(bufio.NewReader(c))
	}
	hang := func(c net.Conn) { // until the client goes
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.Copy(io.Discard, c)
	}
	nobody := raw(t, hang)
	for _, c := range []struct {
		situation string
		port      int64
		words     string
	}{
		{"it hangs", raw(t, hang), "did not answer within 300ms"},
		{"it closes", raw(t, readRequest), "closed the connection without an answer"},
		{"a long header", raw(t, func(c net.Conn) {
			readRequest(c)
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nA: %s\r\n\r\n", strings.Repeat("a", 100<<10))
		}), "too long"},
		{"no HTTP", raw(t, func(c net.Conn) { readRequest(c); _, _ = io.WriteString(c, "SSH-2.0-x\r\n") }), "no HTTP"},
		{"an endless header", raw(t, func(c net.Conn) {
			readRequest(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for _, err := io.WriteString(c, "A: b\r\n"); err == nil; _, err = io.WriteString(c, "A: b\r\n") {
			}
		}), "too long"},
	} {
		client, address := local(c.port, func(c *Config) { c.Timeout = 300 * time.Millisecond })
		_, err := client.Post(t.Context(), address, nil, "{}")
		var own *Error
		if !errors.As(err, &own) || own.Refused || !strings.Contains(own.Sentence, c.words) || strings.Contains(own.Sentence, "query") {
			t.Errorf("%s: got %v, want %q", c.situation, err, c.words)
		}
	}
	client, address := local(1, nil)
	if _, err := client.Post(t.Context(), address, nil, "{}"); err == nil || !strings.Contains(err.Error(), "refuses the connection") {
		t.Errorf("nobody listens: got %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	client, address = local(nobody, nil)
	if _, err := client.Post(gone, address, nil, "{}"); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller is gone: got %v", err)
	}
	unknown := New(Config{Resolver: names(t, nil), HostOf: list(AllowedHost{Host: "nobody.example", Port: 443})})
	if _, err := unknown.Post(t.Context(), "https://nobody.example/", nil, "{}"); err == nil || !strings.Contains(err.Error(), "nobody knows") {
		t.Errorf("an unknown name: got %v", err)
	}
}

func TestCertificatesAndVersions(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	quiet := log.New(io.Discard, "", 0)
	s.Config.ErrorLog = quiet
	s.StartTLS()
	t.Cleanup(s.Close)
	authorities := x509.NewCertPool()
	authorities.AddCert(s.Certificate())
	old := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.Config.ErrorLog = quiet
	old.StartTLS()
	t.Cleanup(old.Close)
	resolver := names(t, map[string][][]string{"example.com": {{"127.0.0.1"}}, "other.org": {{"127.0.0.1"}}}) // the certificate is example.com's
	ask := func(server *httptest.Server, host string, trusted *x509.CertPool) (Answer, error) {
		port := portOf(t, server.URL)
		c := New(Config{Resolver: resolver, TLS: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS10},
			HostOf: list(AllowedHost{Host: host, Port: port, Networks: []string{"127.0.0.0/8"}})})
		return c.Post(t.Context(), fmt.Sprintf("https://%s:%d/", host, port), nil, "{}")
	}
	if a, err := ask(s, "example.com", authorities); err != nil || a.Status != 200 {
		t.Errorf("got %+v, %v", a, err)
	}
	for situation, err := range map[string]error{
		"not to be trusted": second(ask(s, "example.com", nil)),
		"not other.org":     second(ask(s, "other.org", authorities)),
		"TLS 1.2 or newer":  second(ask(old, "example.com", authorities)),
	} {
		if err == nil || !strings.Contains(err.Error(), situation) {
			t.Errorf("got %v, want %q", err, situation)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The number of connections is bounded, and each waits for its turn.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	var now, highest atomic.Int64
	port, came := receiver(t, func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := highest.Load(); n > m && !highest.CompareAndSwap(m, n); m = highest.Load() {
		}
	})
	client, address := local(port, func(c *Config) { c.Connections = 2 })
	errs := make(chan error, 20)
	for range cap(errs) {
		go func() { errs <- second(client.Post(t.Context(), address, nil, "{}")) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if came.Load() != 20 || highest.Load() > 2 {
		t.Errorf("%d came, %d at once", came.Load(), highest.Load())
	}
}
