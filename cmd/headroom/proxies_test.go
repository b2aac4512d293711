package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const hostOfSamples = "headroom.example.com"

// certified writes a certificate for the samples' host and its key, and returns a pool that trusts it.
func certified(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{hostOfSamples}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &made, &made, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	secret := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for name, text := range map[string][]byte{"cert.pem": certificate, "key.pem": secret, "both.pem": append(secret, certificate...)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return pool
}

// sampleProxies start each proxy by its sample. Only addresses and files of the sample are others.
var sampleProxies = map[string]struct {
	sample, before, after string
	replaced              []string // pairs; PORT, DIR and SERVER stand for those of the test
	command               []string
}{
	"nginx": {
		"nginx.conf", "daemon off; master_process off; pid DIR/nginx.pid; error_log DIR/nginx.log; events {} http { access_log off; " +
			"client_body_temp_path DIR/b; proxy_temp_path DIR/p; fastcgi_temp_path DIR/f; uwsgi_temp_path DIR/u; scgi_temp_path DIR/s;\n", "}",
		[]string{"listen 443", "listen 127.0.0.1:PORT", "server 127.0.0.1:8080", "server SERVER",
			"/etc/ssl/headroom/fullchain.pem", "DIR/cert.pem", "/etc/ssl/headroom/privkey.pem", "DIR/key.pem"},
		[]string{"nginx", "-p", "DIR", "-c", "DIR/sample", "-e", "DIR/nginx.log"},
	},
	"haproxy": {
		"haproxy.cfg", "", "",
		[]string{"bind :443", "bind 127.0.0.1:PORT", "127.0.0.1:8080", "SERVER", "/etc/haproxy/headroom.pem", "DIR/both.pem"},
		[]string{"haproxy", "-db", "-f", "DIR/sample"},
	},
	"caddy": {
		"Caddyfile", "{\n\tadmin off\n\tauto_https disable_redirects\n}\n", "",
		[]string{hostOfSamples + " {", "https://" + hostOfSamples + ":PORT {\n\ttls DIR/cert.pem DIR/key.pem", "127.0.0.1:8080", "SERVER"},
		[]string{"caddy", "run", "--adapter", "caddyfile", "--config", "DIR/sample"},
	},
}

// startSample starts a proxy by its sample, before the server, and returns a client that comes through it from 127.0.0.9.
func startSample(t *testing.T, name, server string) *http.Client {
	t.Helper()
	p, dir, port := sampleProxies[name], t.TempDir(), testPort(t)
	pool := certified(t, dir)
	text, err := os.ReadFile(filepath.Join("../../deploy/proxy", p.sample))
	if err != nil {
		t.Fatal(err)
	}
	sample := string(text)
	for i := 0; i < len(p.replaced); i += 2 {
		if !strings.Contains(sample, p.replaced[i]) {
			t.Fatalf("the sample of %s has no %q", name, p.replaced[i])
		}
		sample = strings.Replace(sample, p.replaced[i], p.replaced[i+1], 1)
	}
	here := strings.NewReplacer("127.0.0.1:PORT", port, "PORT", strings.TrimPrefix(port, "127.0.0.1:"), "DIR", dir, "SERVER", server)
	if err := os.WriteFile(filepath.Join(dir, "sample"), []byte(here.Replace(p.before+sample+p.after)), 0o644); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, a := range p.command {
		args = append(args, here.Replace(a))
	}
	command := exec.Command(args[0], args[1:]...)
	command.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	words := &lockedBuffer{}
	command.Stdout, command.Stderr = words, words
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%s says:\n%s", name, words)
		}
	})
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}, Timeout: 10 * time.Second}
	transport := &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return from.DialContext(ctx, "tcp", port) },
		TLSClientConfig:   &tls.Config{RootCAs: pool, ServerName: hostOfSamples},
		ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	waits(t, name+" answers", 30*time.Second, func() bool {
		answer, err := client.Get("https://" + hostOfSamples + "/livez")
		if err == nil {
			answer.Body.Close()
		}
		return err == nil && answer.StatusCode == http.StatusOK
	})
	return client
}

// The samples of proxies speak TLS and HTTP/2, tell the server who asks, and keep cookies and origins. They pass large
// bodies, and each event at once. No request meets a connection that the server ends.
func TestProxySamples(t *testing.T) {
	besideOthers(t)
	for name := range sampleProxies {
		if _, err := exec.LookPath(name); err != nil && !wholeSamples {
			t.Skip(name + " is not installed: scripts/setup clients installs it, as make test-long does")
		}
	}
	s := startServingWith(t, madeDirectory(t), []string{"HEADROOM_PROXIES=127.0.0.1", "HEADROOM_HOSTS=" + hostOfSamples, "HEADROOM_SECURE_COOKIES=true"})
	key := s.key(t)
	for name := range sampleProxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behindProxy(t, s, "behind-"+name, key, startSample(t, name, s.address))
		})
	}
}

// behindProxy asks a server through a proxy what its users ask.
func behindProxy(t *testing.T, s *served, cluster, key string, client *http.Client) {
	send := func(method, path, body string, headers ...string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "https://"+hostOfSamples+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	bearer := []string{"Authorization", "Bearer " + key}
	demo, err := os.ReadFile("../../internal/edge/cli/server/demo.json")
	if err != nil {
		t.Fatal(err)
	}
	document := strings.Replace(string(demo), `"name": "demo"`, `"name": "`+cluster+`"`, 1)
	// A document of 5 MiB passes, over HTTP/2.
	put := send("PUT", "/v1/clusters/"+cluster+"/document", document+strings.Repeat(" ", 5<<20), append(bearer, "If-None-Match", "*")...)
	if said, _ := io.ReadAll(put.Body); put.StatusCode != http.StatusOK || put.ProtoMajor != 2 {
		t.Fatalf("a document: %s over %s: %.300s", put.Status, put.Proto, said)
	}
	// An event comes at once.
	began := time.Now()
	events := bufio.NewReader(send("GET", "/v1/clusters/"+cluster+"/plans/events", "", bearer...).Body)
	for line := ""; !strings.HasPrefix(line, "data:"); {
		if line, err = events.ReadString('\n'); err != nil {
			t.Fatalf("no event of a plan: %v", err)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("an event took %v", took)
	}
	// The server knows the client's own address, whatever the client says of it.
	for _, header := range []string{"X-Forwarded-For", "Forwarded"} {
		forged := "203.0.113.9"
		if header == "Forwarded" {
			forged = "for=203.0.113.9"
		}
		if refused := send("GET", "/v1/clusters", "", "Authorization", "Bearer hrk_"+strings.Repeat("0", 64), header, forged); refused.StatusCode != http.StatusUnauthorized {
			t.Errorf("a guess: %s", refused.Status)
		}
	}
	// A browser signs in, and its cookie and origin are taken.
	origin := []string{"Origin", "https://" + hostOfSamples}
	signed := send("POST", "/v1/session", `{"token":"`+key+`"}`, origin...)
	cookies := signed.Cookies()
	if signed.StatusCode != http.StatusCreated || len(cookies) != 1 || !strings.HasPrefix(cookies[0].Name, "__Host-") || !cookies[0].Secure {
		t.Fatalf("a session: %s, cookies %v", signed.Status, cookies)
	}
	cookie := []string{"Cookie", cookies[0].Name + "=" + cookies[0].Value}
	if again := send("GET", "/v1/session", "", cookie...); again.StatusCode != http.StatusOK {
		t.Errorf("the session is not known: %s", again.Status)
	}
	if other := send("DELETE", "/v1/session", "", append(cookie, "Origin", "https://example.org")...); other.StatusCode != http.StatusForbidden {
		t.Errorf("another origin may end a session: %s", other.Status)
	}
	// Pauses about as long as the server waits for the next request end in no bad answer.
	pauses := []time.Duration{0}
	if wholeSamples {
		for at := 7900 * time.Millisecond; at <= 10200*time.Millisecond; at += 250 * time.Millisecond {
			pauses = append(pauses, at)
		}
	}
	for _, pause := range pauses {
		lasts(pause)
		for _, method := range []string{"GET", "POST"} {
			path, want := "/livez", http.StatusOK
			if method == "POST" {
				path, want = "/v1/session", http.StatusUnauthorized
			}
			if got := send(method, path, `{"token":"hrk_`+strings.Repeat("1", 64)+`"}`, origin...); got.StatusCode != want && got.StatusCode != http.StatusTooManyRequests {
				t.Errorf("%s after a pause of %v: %s", path, pause, got.Status)
			}
		}
	}
	known := 0
	for line := range strings.SplitSeq(s.stderr.String(), "\n") {
		var entry struct{ Client, Path string }
		switch err := json.Unmarshal([]byte(line), &entry); {
		case err != nil || entry.Client == "":
		case entry.Client == "127.0.0.9":
			known++
		default:
			t.Errorf("the log has another client: %s", line)
		}
	}
	if known < 3 { // this proxy's two guesses and a sign-in, at least
		t.Errorf("the log has %d requests of the client", known)
	}
}
