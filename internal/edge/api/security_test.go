package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/api/docs"
	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/telemetry"
)

// front is a server whose store holds only sessions and links, enough for the layers in front of the operations.
type front struct {
	handler  http.Handler
	app      *app.App
	store    *sessionStore
	clock    *atomic.Int64 // nanoseconds; the app's present time
	log      *logged
	draining atomic.Bool
	keys     []auth.Key
	issuer   auth.Issuer // nil where none is trusted
}

func newFront(t *testing.T, change ...func(*Config)) *front {
	t.Helper()
	return newFrontFor(t, nil, change...)
}

// newFrontFor takes tokens of an issuer as well.
func newFrontFor(t *testing.T, issuer auth.Issuer, change ...func(*Config)) *front {
	t.Helper()
	f := &front{issuer: issuer, store: &sessionStore{sessions: map[auth.Hash]auth.Session{}, links: map[auth.Hash]time.Time{}}, clock: &atomic.Int64{}, log: &logged{}}
	f.clock.Store(time.Now().UnixNano())
	f.store.now = func() time.Time { return time.Unix(0, f.clock.Load()) }
	f.start(t, app.Stores{Access: f.store, Database: f.store}, change...)
	return f
}

// start makes the server on a store.
func (f *front) start(t *testing.T, stores app.Stores, change ...func(*Config)) {
	t.Helper()
	tel := telemetry.New(f.log, slog.LevelDebug)
	f.app = app.New(stores, auth.NewKeyring(), app.Config{Clock: f.store.now, Telemetry: tel, Issuer: f.issuer})
	c := Config{App: f.app, Telemetry: tel, Hosts: []string{"plans.example.com"}, Draining: &f.draining, Version: "test"}
	for _, change := range change {
		change(&c)
	}
	var err error
	if f.handler, err = New(c); err != nil {
		t.Fatal(err)
	}
}

// key adds a key and answers its token.
func (f *front) key(change func(*auth.Key)) string {
	token, hash := auth.NewToken(auth.KeyPrefix)
	k := auth.Key{ID: fmt.Sprint("key-", len(f.keys)+1), Name: "test", Role: auth.Admin, Hash: hash}
	if change != nil {
		change(&k)
	}
	f.keys = append(f.keys, k)
	f.app.Auth.Ring.Replace(f.keys)
	return token
}

func (f *front) pass(d time.Duration) { f.clock.Add(int64(d)) }

// do sends a request; headers come in pairs. The header Host is the server's name, and the pair "address" is the
// client's.
func (f *front) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		switch headers[i] {
		case "Host":
			r.Host = headers[i+1]
		case "address":
			r.RemoteAddr = headers[i+1] + ":50000"
		default:
			r.Header.Add(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

// problemIn reads a problem document and checks the members common to all.
func problemIn(t *testing.T, w *httptest.ResponseRecorder) problem {
	t.Helper()
	var p problem
	if got := w.Header().Get("Content-Type"); got != docs.ProblemType {
		t.Errorf("got content type %q, want %q; body %s", got, docs.ProblemType, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	if p.Status != w.Code || p.Instance != w.Header().Get("X-Request-Id") || p.Instance == "" || p.Detail == "" || problemHelps[strings.TrimPrefix(p.Type, "/problems/")].Cure == "" {
		t.Errorf("got the problem %+v with status %d and request id %q, want them to agree and a type that is explained", p, w.Code, w.Header().Get("X-Request-Id"))
	}
	return p
}

func wantStatus(t *testing.T, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	if w.Code != want {
		t.Fatalf("got status %d, want %d: %s", w.Code, want, w.Body)
	}
}

// lines returns the log's lines, each as its members.
func (l *logged) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(l.String()) {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatalf("the log has a line that is no JSON: %s", line)
		}
		lines = append(lines, members)
	}
	return lines
}

// sessionStore holds sessions and links in memory. It lacks all other methods of a store.
type sessionStore struct {
	auth.Store
	app.DatabaseStore
	now      func() time.Time
	mu       sync.Mutex
	sessions map[auth.Hash]auth.Session
	links    map[auth.Hash]time.Time
	reads    int
	away     error
}

// AllKeys fails: the keys of these tests live in the keyring alone.
func (s *sessionStore) AllKeys(context.Context) ([]auth.Key, error) {
	return nil, fmt.Errorf("no keys are stored here: %w", fault.Busy)
}

func (s *sessionStore) CreateSession(_ context.Context, session auth.Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[session.Hash] = session
	return s.away
}

func (s *sessionStore) Session(_ context.Context, hash auth.Hash) (auth.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	session, ok := s.sessions[hash]
	if s.away != nil {
		return auth.Session{}, s.away
	}
	if !ok || !s.now().Before(session.ExpiresAt) {
		return auth.Session{}, fmt.Errorf("there is no such session: %w", fault.NotFound)
	}
	return session, nil
}

func (s *sessionStore) DeleteSession(_ context.Context, hash auth.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, hash)
	return s.away
}

func (s *sessionStore) CreateLink(_ context.Context, hash auth.Hash, expires time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[hash] = expires
	return s.away
}

func (s *sessionStore) TakeLink(_ context.Context, hash auth.Hash, latest time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	expires, ok := s.links[hash]
	delete(s.links, hash)
	if !ok || !s.now().Before(expires) || expires.After(latest) {
		return fmt.Errorf("there is no such link: %w", fault.NotFound)
	}
	return s.away
}

func (s *sessionStore) Ready(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return s.away
}

func TestEveryAnswerCarriesTheSecurityHeaders(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	doc, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	asked := [][2]string{{"GET", "/"}, {"GET", "/v1/nothing"}, {"DELETE", "/docs"}, {"TRACE", "/v1/clusters"}, {"GET", "/assets/style.css"}, {"GET", "/assets/docs.js"}, {"GET", "/problems/invalid"}}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			asked = append(asked, [2]string{method, path})
		}
	}
	for _, a := range asked {
		w := f.do(a[0], strings.NewReplacer("{", "", "}", "").Replace(a[1]), "")
		want := map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		}
		for name, value := range want {
			if got := w.Header().Get(name); got != value {
				t.Errorf("%s %s: got %s %q, want %q", a[0], a[1], name, got, value)
			}
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s %s: got the content policy %q", a[0], a[1], policy)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" && (w.Header().Get("ETag") == "" || got != "private, no-cache") {
			t.Errorf("%s %s: got Cache-Control %q with ETag %q", a[0], a[1], got, w.Header().Get("ETag"))
		}
		for _, name := range []string{"Server", "X-Powered-By", "Access-Control-Allow-Origin"} {
			if got := w.Header().Get(name); got != "" {
				t.Errorf("%s %s: got %s %q, want none", a[0], a[1], name, got)
			}
		}
		if w.Code >= 400 {
			problemIn(t, w)
		}
	}
}

func TestNoDebugRoutes(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	key := f.key(nil)
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/vars", "/debug/requests", "/.git/config", "/.env", "/assets/", "/assets/docs.html", "/assets/..%2fdocs.go", "/assets/../docs.go", "/v1", "/internal"} {
		if w := f.do("GET", path, "", "Authorization", "Bearer "+key); w.Code != http.StatusNotFound {
			t.Errorf("GET %s: got status %d, want 404", path, w.Code)
		}
	}
	wantStatus(t, f.do("GET", "/metrics", ""), http.StatusUnauthorized)
	wantStatus(t, f.do("GET", "/metrics", "", "Authorization", "Bearer "+key), http.StatusOK)
}

// isOpen, which decides before routing, agrees with the contract.
func TestOpenOperationsAreTheContracts(t *testing.T) {
	t.Parallel()
	doc, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			r := httptest.NewRequest(method, strings.NewReplacer("{", "", "}", "").Replace(path), nil)
			if got, want := isOpen(r), op.Extensions["x-role"] == "open"; got != want {
				t.Errorf("%s %s: open %t, want %t as its x-role says", method, path, got, want)
			}
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	for host, want := range map[string]int{
		"localhost": 200, "localhost:8080": 200, "LOCALHOST.:8080": 200, "a.localhost": 200, "127.0.0.1": 200, "127.0.0.1:9": 200, "[::1]:8080": 200, "[::1]": 200,
		"10.1.2.3:80": 200, "plans.example.com": 200, "Plans.Example.Com:443": 200, "": 200,
		"evil.example": 421, "plans.example.com.evil.example": 421, "xplans.example.com": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example:8080": 421, "[evil.example]": 421, "user@localhost": 421,
	} {
		w := f.do("GET", "/livez", "", "Host", host)
		if w.Code != want {
			t.Errorf("Host %q: got status %d, want %d", host, w.Code, want)
		}
		if w.Code == 421 && !strings.Contains(problemIn(t, w).Detail, "HEADROOM_HOSTS") {
			t.Errorf("Host %q: the problem does not name the setting: %s", host, w.Body)
		}
	}
	t.Attr("S5", "names under which the server is not known refused")
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	plain, secure := newFront(t), newFront(t, func(c *Config) { c.SecureCookies = true })
	const here, host = "http://127.0.0.1:8080", "127.0.0.1:8080"
	type request struct {
		secure, cookie bool
		method         string
		headers        string // "name: value" by "; "
	}
	for name, c := range map[string]struct {
		request
		want int
	}{
		"a program with a key":             {request{method: "DELETE"}, 204},
		"a program with a key, same page":  {request{method: "DELETE", headers: "Origin: " + here}, 204},
		"a key from a foreign page":        {request{method: "DELETE", headers: "Origin: http://evil.example"}, 403},
		"a cookie from its page":           {request{cookie: true, method: "DELETE", headers: "Origin: " + here}, 204},
		"a cookie, the browser says same":  {request{cookie: true, method: "DELETE", headers: "Sec-Fetch-Site: same-origin"}, 204},
		"a cookie alone":                   {request{cookie: true, method: "DELETE"}, 403},
		"a cookie from a foreign page":     {request{cookie: true, method: "DELETE", headers: "Origin: http://evil.example"}, 403},
		"a cookie from no page":            {request{cookie: true, method: "DELETE", headers: "Origin: null"}, 403},
		"a cookie from another port":       {request{cookie: true, method: "DELETE", headers: "Origin: http://127.0.0.1:8081"}, 403},
		"a cookie from another scheme":     {request{cookie: true, method: "DELETE", headers: "Origin: https://" + host}, 403},
		"a cookie from a longer name":      {request{cookie: true, method: "DELETE", headers: "Origin: http://127.0.0.1:80800"}, 403},
		"a cookie with two origins":        {request{cookie: true, method: "DELETE", headers: "Origin: " + here + "; Origin: http://evil.example"}, 403},
		"the browser says another site":    {request{cookie: true, method: "DELETE", headers: "Origin: " + here + "; Sec-Fetch-Site: cross-site"}, 403},
		"the browser says a sibling":       {request{cookie: true, method: "DELETE", headers: "Sec-Fetch-Site: same-site"}, 403},
		"reading with a cookie":            {request{cookie: true, method: "GET"}, 200},
		"reading from a foreign page":      {request{cookie: true, method: "GET", headers: "Origin: http://evil.example"}, 200}, // which may not see the answer
		"TLS before the server":            {request{secure: true, cookie: true, method: "DELETE", headers: "Origin: https://" + host}, 204},
		"TLS before the server, but plain": {request{secure: true, cookie: true, method: "DELETE", headers: "Origin: " + here}, 403},
	} {
		f := plain
		if c.secure {
			f = secure
		}
		headers := []string{}
		for h := range strings.SplitSeq(c.headers, "; ") {
			if key, value, ok := strings.Cut(h, ": "); ok {
				headers = append(headers, key, value)
			}
		}
		if c.cookie {
			session, token, err := f.app.Auth.SignIn(t.Context(), f.key(nil))
			if err != nil {
				t.Fatalf("%s: %v for %+v", name, err, session)
			}
			name := frontCookie
			if c.secure {
				name = "__Host-" + cookieName
			}
			headers = append(headers, "Cookie", name+"="+token)
		} else {
			headers = append(headers, "Authorization", "Bearer "+f.key(nil))
		}
		w := f.do(c.method, "/v1/session", "", headers...)
		if w.Code != c.want {
			t.Errorf("%s: got status %d, want %d: %s", name, w.Code, c.want, w.Body)
		}
	}
	// A foreign page may not sign a browser in as somebody else, either.
	body := fmt.Sprintf(`{"token":%q}`, plain.key(nil))
	wantStatus(t, plain.do("POST", "/v1/session", body, "Origin", "http://evil.example"), http.StatusForbidden)
	wantStatus(t, plain.do("POST", "/v1/session", body, "Origin", here), http.StatusCreated)
	t.Attr("S5", "unsafe methods of other origins refused, with cookies and with keys")
}

func TestAnswersWithAnETagMayBeKept(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	w := f.do("GET", "/docs", "")
	wantStatus(t, w, http.StatusOK)
	if diff := cmp.Diff("private, no-cache", w.Header().Get("Cache-Control")); diff != "" {
		t.Error(diff)
	}
	again := f.do("GET", "/docs", "", "If-None-Match", w.Header().Get("ETag"))
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("got status %d with %d bytes, want 304 without a body", again.Code, again.Body.Len())
	}
}
