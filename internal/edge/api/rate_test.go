package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/auth"
)

var errBusy = fmt.Errorf("the database does not answer: %w", fault.Busy)

// The window is a second of the wall clock, so the test must be fast: 40 requests take some milliseconds, and those
// in the next second are only let through in addition.
func TestRateLimitPerKey(t *testing.T) {
	t.Parallel()
	f := newFront(t, func(c *Config) { c.RequestsPerSecond, c.SolvesPerSecond = 20, 5 })
	one, two := f.key(nil), f.key(nil)
	w := f.do("GET", "/v1/session", "", "X-API-KEY", one)
	wantStatus(t, w, http.StatusOK)
	if w.Header().Get("X-RateLimit-Limit") != "20" || w.Header().Get("X-RateLimit-Remaining") != "19" || w.Header().Get("X-RateLimit-Reset") == "" {
		t.Errorf("got the headers %v, want the limit 20, 19 remaining and when it starts anew", w.Header())
	}
	limited := 0
	for range 100 {
		w := f.do("GET", "/v1/session", "", "X-API-KEY", one)
		switch w.Code {
		case http.StatusOK:
		case http.StatusTooManyRequests:
			limited++
			if after, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || after < 1 {
				t.Errorf("got Retry-After %q, want seconds", w.Header().Get("Retry-After"))
			}
			problemIn(t, w)
		default:
			t.Fatalf("got status %d", w.Code)
		}
	}
	if limited < 20 {
		t.Errorf("got %d of 100 requests refused, want those beyond 20 a second", limited)
	}
	wantStatus(t, f.do("GET", "/v1/session", "", "X-API-KEY", two), http.StatusOK) // another key is not concerned
	solves := f.do("POST", "/v1/solve", "{}", "X-API-KEY", two)
	if got := solves.Header().Get("X-RateLimit-Limit"); got != "5" {
		t.Errorf("got the limit %s for solves, want 5", got)
	}
}

func TestWhatTakesAPlaceForSolving(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/v1/solve": true, "/v1/clusters/a/plans": true, "/v1/clusters/a/plans/7/verify": true,
		"/v1/bounds": false, "/v1/clusters": false, "/v1/clusters/plans": false, "/v1/clusters/a/classes": false,
	} {
		r, err := http.NewRequest(http.MethodPost, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := solves(r); got != want {
			t.Errorf("POST %s: got %t, want %t", path, got, want)
		}
		r.Method = http.MethodGet
		if solves(r) {
			t.Errorf("GET %s takes a place for solving", path)
		}
	}
}

func TestGuessingIsSlow(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	good := f.key(nil)
	session := cookieIn(t, f.signIn(good)).Value
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+session), http.StatusOK)
	link, err := f.app.Auth.NewSignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for range 3 * failuresPerWindow { // an old key in a program does not keep out browsers at the same address
		guess, _ := auth.NewToken(auth.KeyPrefix)
		f.do("GET", "/v1/session", "", "X-API-KEY", guess)
	}
	fresh, err := f.app.Auth.NewSignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, f.signIn(fresh), http.StatusCreated)
	for range 3 * failuresPerWindow {
		guess, _ := auth.NewToken(auth.SessionPrefix)
		switch w := f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+guess); w.Code {
		case http.StatusUnauthorized:
		case http.StatusTooManyRequests:
			refused++
			if w.Header().Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		default:
			t.Fatalf("got status %d", w.Code)
		}
	}
	if refused < failuresPerWindow {
		t.Errorf("got %d guesses refused with 429, want most of those beyond %d", refused, failuresPerWindow)
	}
	// From the same address: guesses do not reach the store, and known sessions and keys still work.
	before := f.store.reads
	guess, _ := auth.NewToken(auth.SessionPrefix)
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+guess), http.StatusTooManyRequests)
	wantStatus(t, f.signIn(link), http.StatusTooManyRequests)
	if f.store.reads != before {
		t.Error("a guess reached the store")
	}
	wantStatus(t, f.do("GET", "/v1/session", "", "X-API-KEY", good), http.StatusOK)
	young := cookieIn(t, f.signIn(good)).Value
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+young), http.StatusOK)
	f.pass(2 * sessionsFor)
	for _, known := range []string{session, young} {
		wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+known), http.StatusOK)
	}
	// Another address is not concerned.
	wantStatus(t, f.signIn(link, "address", "10.9.9.9"), http.StatusCreated)
}

// The revocation of a key affects no other one, even if guesses come from the same address.
func TestRevokingAKeyKeepsOthersIn(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var revoked struct{ ID, Token string }
	s.ask(s.admin, "POST", "/v1/keys", `{"name":"other","role":"viewer"}`).want(t, 201).into(t, &revoked)
	signIn := func(token string) string {
		cookie, _, _ := strings.Cut(s.ask("", "POST", "/v1/session", fmt.Sprintf(`{"token":%q}`, token)).want(t, 201).Header.Get("Set-Cookie"), ";")
		s.ask("", "GET", "/v1/session", nil, "Cookie", cookie).want(t, 200)
		return cookie
	}
	mine, other := signIn(s.admin), signIn(revoked.Token)
	for range failuresPerWindow + 1 {
		guess, _ := auth.NewToken(auth.SessionPrefix)
		s.ask("", "GET", "/v1/session", nil, "Cookie", frontCookie+"="+guess)
	}
	s.ask(s.admin, "DELETE", "/v1/keys/"+revoked.ID, nil).want(t, 204)
	s.ask("", "GET", "/v1/session", nil, "Cookie", mine).want(t, 200)
	if a := s.ask("", "GET", "/v1/session", nil, "Cookie", other); a.StatusCode == 200 {
		t.Error("a session outlives its key")
	}
}
