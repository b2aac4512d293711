package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/service/auth"
)

// frontCookie names the cookie at the address of the tests, 127.0.0.1:8080.
const frontCookie = cookieName + "_8080"

// cookieIn returns the session's cookie in an answer.
func cookieIn(t *testing.T, w *httptest.ResponseRecorder) *http.Cookie {
	t.Helper()
	i := slices.IndexFunc(w.Result().Cookies(), func(c *http.Cookie) bool { return strings.Contains(c.Name, cookieName) })
	if i < 0 {
		t.Fatalf("the answer sets no session cookie: %v", w.Header())
	}
	return w.Result().Cookies()[i]
}

func (f *front) signIn(token string, headers ...string) *httptest.ResponseRecorder {
	return f.do("POST", "/v1/session", fmt.Sprintf(`{"token":%q}`, token), headers...)
}

// Browsers send cookies to every port of an address: each server has a name of its own for its cookie there.
func TestServersOnOneAddressKeepTheirSessions(t *testing.T) {
	t.Parallel()
	first, second := newFront(t), newFront(t)
	jar := ""
	for i, f := range []*front{first, second} {
		link, err := f.app.Auth.NewSignInLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cookie := f.signIn(link, "Host", fmt.Sprintf("127.0.0.1:808%d", i)).Result().Cookies()
		if len(cookie) != 1 || strings.Contains(jar, cookie[0].Name) {
			t.Fatalf("server %d sets %v beside %q", i, cookie, jar)
		}
		jar += cookie[0].Name + "=" + cookie[0].Value + "; "
	}
	for i, f := range []*front{first, second} {
		wantStatus(t, f.do("GET", "/v1/session", "", "Host", fmt.Sprintf("127.0.0.1:808%d", i), "Cookie", jar), http.StatusOK)
	}
	wantStatus(t, second.do("GET", "/v1/session", "", "Host", "127.0.0.1:8080", "Cookie", jar), http.StatusUnauthorized)
}

func TestSignInLink(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	link, err := f.app.Auth.NewSignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.pass(auth.LinkLife - time.Second)
	w := f.signIn(link)
	wantStatus(t, w, http.StatusCreated)
	cookie := cookieIn(t, w)
	want := http.Cookie{Name: frontCookie, Value: cookie.Value, Quoted: cookie.Quoted, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(auth.SessionLife.Seconds()), Expires: cookie.Expires, RawExpires: cookie.RawExpires, Raw: cookie.Raw}
	if diff := cmp.Diff(want, *cookie); diff != "" {
		t.Errorf("the cookie (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(cookie.Value, auth.SessionPrefix) || strings.Contains(w.Body.String(), cookie.Value) || strings.Contains(w.Body.String(), link) {
		t.Errorf("got the cookie %s and the body %s, want a session's token in the cookie alone", cookie.Value, w.Body)
	}
	f.store.mu.Lock()
	_, byHash := f.store.sessions[auth.HashOf(cookie.Value)]
	f.store.mu.Unlock()
	if !byHash {
		t.Error("the session is not stored under its hash")
	}

	who := f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+cookie.Value)
	wantStatus(t, who, http.StatusOK)
	var me whoami
	if err := json.Unmarshal(who.Body.Bytes(), &me); err != nil || me.Role != auth.Admin || me.ExpiresAt == nil {
		t.Errorf("got %s (%v), want an admin with an end", who.Body, err)
	}

	bad := f.signIn(link)
	wantStatus(t, bad, http.StatusUnauthorized)
	if len(bad.Result().Cookies()) > 0 {
		t.Error("a used link sets a cookie")
	}
	late, err := f.app.Auth.NewSignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.pass(auth.LinkLife)
	wantStatus(t, f.signIn(late), http.StatusUnauthorized)
	f.pass(-time.Minute)
	wantStatus(t, f.signIn(late), http.StatusUnauthorized) // asking too late uses it up

	out := f.do("DELETE", "/v1/session", "", "Cookie", frontCookie+"="+cookie.Value, "Origin", "http://127.0.0.1:8080")
	wantStatus(t, out, http.StatusNoContent)
	if ended := cookieIn(t, out); ended.MaxAge >= 0 || ended.Value != "" || ended.Path != "/" {
		t.Errorf("got the cookie %+v, want it taken back", ended)
	}
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+cookie.Value), http.StatusUnauthorized)
	t.Attr("S5", "a link works once, and not after five minutes; the cookie is HttpOnly and SameSite=Strict")
}

func TestSecureCookie(t *testing.T) {
	t.Parallel()
	f := newFront(t, func(c *Config) { c.SecureCookies = true })
	c := cookieIn(t, f.signIn(f.key(nil)))
	if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Name != "__Host-headroom_session" || c.Path != "/" || c.Domain != "" {
		t.Errorf("got the cookie %+v, want it Secure, HttpOnly and SameSite=Strict, of this host alone", c)
	}
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", c.Name+"="+c.Value), http.StatusOK)
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+c.Value), http.StatusUnauthorized) // another host may have set it
}

func TestSessionEndsWithItsKey(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	end := f.app.Now().Add(time.Hour).Truncate(time.Second)
	token := f.key(func(k *auth.Key) { k.ExpiresAt, k.Role, k.Clusters = &end, auth.Viewer, []string{"night-batch"} })
	w := f.signIn(token)
	wantStatus(t, w, http.StatusCreated)
	var me whoami
	if err := json.Unmarshal(w.Body.Bytes(), &me); err != nil {
		t.Fatal(err)
	}
	want := whoami{ID: "key-1", Name: "test", Role: auth.Viewer, Clusters: []string{"night-batch"}, ExpiresAt: &end}
	if diff := cmp.Diff(want, me); diff != "" {
		t.Errorf("who am I (-want +got):\n%s", diff)
	}
	cookie := frontCookie + "=" + cookieIn(t, w).Value
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", cookie), http.StatusOK)
	f.pass(time.Hour)
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", cookie), http.StatusUnauthorized)
}

// The store is queried for a session now and then, not with every request. A session that is gone there, as after its
// key was revoked, ends within that time.
func TestSessionsAreRememberedForAMoment(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	value := cookieIn(t, f.signIn(f.key(nil))).Value
	for range 20 {
		wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+value), http.StatusOK)
	}
	if f.store.reads != 1 {
		t.Errorf("got %d reads of the store for 20 requests, want 1", f.store.reads)
	}
	_ = f.store.DeleteSession(t.Context(), auth.HashOf(value))
	f.pass(sessionsFor)
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+value), http.StatusUnauthorized)
}

func TestSessionsWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	key := f.key(nil)
	value := cookieIn(t, f.signIn(key)).Value
	f.store.away = errBusy
	w := f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+value)
	wantStatus(t, w, http.StatusServiceUnavailable)
	if w.Header().Get("Retry-After") == "" || len(w.Result().Cookies()) > 0 {
		t.Errorf("got the headers %v, want Retry-After and the cookie left alone", w.Header())
	}
	wantStatus(t, f.do("GET", "/v1/session", "", "X-API-KEY", key), http.StatusOK)
	again := f.signIn(key)
	wantStatus(t, again, http.StatusServiceUnavailable)
	for _, w := range []*httptest.ResponseRecorder{w, again} {
		if p := problemIn(t, w); !strings.Contains(p.Detail, "sessions are kept in the database") || !strings.Contains(p.Detail, "ask with a key") {
			t.Errorf("got %q", p.Detail)
		}
	}
}

// badTokens returns the tokens that people and attackers send instead of a key; good is a valid key.
func badTokens(t *testing.T, f *front, good string) map[string]string {
	t.Helper()
	past := f.app.Now().Add(-time.Second)
	unknown, _ := auth.NewToken(auth.KeyPrefix)
	session := cookieIn(t, f.signIn(good)).Value
	link, err := f.app.Auth.NewSignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := "A"
	if strings.HasSuffix(good, last) {
		last = "E"
	}
	hash := auth.HashOf(good)
	return map[string]string{
		"unknown":                 unknown,
		"revoked":                 f.key(func(k *auth.Key) { k.RevokedAt = &past }),
		"over":                    f.key(func(k *auth.Key) { k.ExpiresAt = &past }),
		"its last letter wrong":   good[:len(good)-1] + last,
		"cut off":                 good[:len(good)-1],
		"longer":                  good + "A",
		"in capitals":             strings.ToUpper(good),
		"without its prefix":      strings.TrimPrefix(good, auth.KeyPrefix),
		"the prefix alone":        auth.KeyPrefix,
		"the hash that is stored": auth.KeyPrefix + fmt.Sprintf("%x", hash[:]),
		"a session's":             session,
		"a link's":                link,
		"endless":                 auth.KeyPrefix + strings.Repeat("A", 8000),
	}
}

func TestBadTokensAreRefusedAlike(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	good := f.key(nil)
	bad := badTokens(t, f, good)
	if len(bad) != 13 {
		t.Fatalf("got %d kinds, want 13", len(bad))
	}
	ways := map[string]func(token, address string) *httptest.ResponseRecorder{
		"Authorization": func(token, address string) *httptest.ResponseRecorder {
			return f.do("GET", "/v1/session", "", "Authorization", "Bearer "+token, "address", address)
		},
		"X-API-KEY": func(token, address string) *httptest.ResponseRecorder {
			return f.do("GET", "/v1/session", "", "X-API-KEY", token, "address", address)
		},
		"an operation it may not know": func(token, address string) *httptest.ResponseRecorder {
			return f.do("DELETE", "/v1/clusters/nothing", "", "Authorization", "Bearer "+token, "address", address)
		},
	}
	var first []byte
	n := 0
	for way, ask := range ways {
		for kind, token := range bad {
			n++
			w := ask(token, fmt.Sprintf("10.0.%d.%d", n/200, n%200))
			if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s, %s: got status %d, want 401", way, kind, w.Code)
			}
			p := problemIn(t, w)
			p.Instance = ""
			body, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = body
			}
			if diff := cmp.Diff(string(first), string(body)); diff != "" {
				t.Errorf("%s, %s: the body differs from the others':\n%s", way, kind, diff)
			}
		}
	}
	// In cookies and at the sign-in, other kinds are right and wrong.
	for kind, token := range bad {
		n++
		address := fmt.Sprintf("10.1.%d.%d", n/200, n%200)
		if kind != "a session's" && kind != "endless" { // which no browser keeps
			wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+token, "address", address), http.StatusUnauthorized)
		}
		if kind != "a link's" && kind != "endless" { // no token by the contract
			wantStatus(t, f.signIn(token, "address", address), http.StatusUnauthorized)
		}
	}
	for name, headers := range map[string][]string{
		"both headers":      {"Authorization", "Bearer " + good, "X-API-KEY", good},
		"the header twice":  {"X-API-KEY", good, "X-API-KEY", good},
		"another scheme":    {"Authorization", "Basic " + good},
		"no scheme":         {"Authorization", good},
		"an empty header":   {"X-API-KEY", ""},
		"a key as a cookie": {"Cookie", frontCookie + "=" + good},
	} {
		if w := f.do("GET", "/v1/session", "", headers...); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: got status %d, want 401", name, w.Code)
		}
	}
	for _, headers := range [][]string{{"Authorization", "Bearer " + good}, {"Authorization", "bearer  " + good}, {"X-API-KEY", good}} {
		wantStatus(t, f.do("GET", "/v1/session", "", headers...), http.StatusOK)
	}
	// A key in an address opens nothing.
	for _, query := range []string{"?key=", "?token=", "?access_token=", "?api_key="} {
		if w := f.do("GET", "/v1/session"+query+good, ""); w.Code != http.StatusUnauthorized {
			t.Errorf("GET /v1/session%s…: got status %d, want 401", query, w.Code)
		}
	}
	t.Attr("S4", fmt.Sprintf("%d kinds of bad token refused alike", len(bad)))
}

// Refusing any kind of bad token takes the same time. The fastest of many tries is compared, because everything else
// on the machine only ever adds to it.
func TestBadTokensTakeTheSameTime(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	good := f.key(nil)
	fastest := map[string]time.Duration{}
	bad := badTokens(t, f, good)
	const tries = 300
	for i := range tries {
		for kind, token := range bad {
			began := time.Now()
			f.app.Auth.Ring.Find(token, f.app.Now())
			if took := time.Since(began); i == 0 || took < fastest[kind] {
				fastest[kind] = took
			}
		}
	}
	var all []time.Duration
	for _, took := range fastest {
		all = append(all, took)
	}
	if least, most := slices.Min(all), slices.Max(all); most > 3*least+time.Microsecond {
		t.Errorf("the kinds take between %s and %s: %v", least, most, fastest)
	}
}

func TestNoSecretsInTheLog(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	key := f.key(nil)
	link, err := f.app.Auth.NewSignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cookie := cookieIn(t, f.signIn(link)).Value
	unknown, _ := auth.NewToken(auth.KeyPrefix)
	secrets := []string{key, link, cookie, unknown}
	answers := []*httptest.ResponseRecorder{}
	for _, secret := range secrets {
		answers = append(answers,
			f.signIn(secret),
			f.do("POST", "/v1/session", `{"token":"`+secret),
			f.do("POST", "/v1/session", `{"token":{"`+secret+`":1}}`),
			f.do("GET", "/v1/session", "", "Authorization", "Bearer "+secret),
			f.do("GET", "/v1/session", "", "Authorization", secret),
			f.do("GET", "/v1/session", "", "X-API-KEY", secret),
			f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+secret),
			f.do("GET", "/v1/session", "", "X-Request-Id", secret),
			f.do("GET", "/sign-in?token="+secret, ""),
			f.do("GET", "/"+secret, "", "Authorization", "Bearer "+key),
			f.do("GET", "/livez", "", "Host", strings.ToLower(secret)+".example"),
			f.do("DELETE", "/v1/session", "", "Authorization", "Bearer "+key, "Origin", "http://"+secret),
			f.do(secret[:20], "/docs", "", "Referer", "http://localhost/"+secret, "User-Agent", secret),
		)
	}
	log := f.log.String()
	if n := len(f.log.lines(t)); n < len(answers) {
		t.Fatalf("got %d lines for %d requests", n, len(answers))
	}
	for _, secret := range secrets {
		if strings.Contains(strings.ToLower(log), strings.ToLower(secret[:12])) {
			t.Errorf("the log repeats %s…", secret[:12])
		}
	}
	for _, w := range answers {
		// A drawn request id may contain any three letters, those of a driver too.
		body := strings.ReplaceAll(w.Body.String(), w.Header().Get("X-Request-Id"), "")
		for _, secret := range secrets {
			body = strings.ReplaceAll(body, secret, "")
		}
		for _, inside := range []string{"SQLSTATE", "goroutine", ".go:", "pgx", "/internal/"} {
			if strings.Contains(body, inside) {
				t.Errorf("an answer tells of the inside: %s", w.Body)
			}
		}
	}
	t.Attr("S2", fmt.Sprintf("%d secrets in none of %d answers and their log lines", len(secrets), len(answers)))
}
