package api

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/pgtest"
)

// Sessions and links on a real database, whose clock decides when they are over; the test moves the app's clock
// instead.
func TestSessionsOnADatabase(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	store := pgtest.Open(t)
	f.start(t, store.Stores())
	who := auth.With(t.Context(), auth.Principal{ID: auth.LocalID, Name: "test", Role: auth.Admin})
	link := func() string {
		t.Helper()
		token, err := f.app.Auth.NewSignInLink(who)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}

	// A link opens one session, for any number of concurrent requests.
	once, opened := link(), atomic.Int64{}
	var racing sync.WaitGroup
	for range 20 {
		racing.Go(func() {
			if f.signIn(once).Code == http.StatusCreated {
				opened.Add(1)
			}
		})
	}
	racing.Wait()
	if got := opened.Load(); got != 1 {
		t.Errorf("got %d sessions from one link, want 1", got)
	}

	now := time.Now()
	f.clock.Store(now.Add(-auth.LinkLife + time.Minute).UnixNano())
	young := link()
	f.clock.Store(now.Add(-auth.LinkLife - time.Second).UnixNano())
	old := link()
	f.clock.Store(now.UnixNano())
	wantStatus(t, f.signIn(young, "address", "10.0.0.1"), http.StatusCreated)
	wantStatus(t, f.signIn(old, "address", "10.0.0.1"), http.StatusUnauthorized)

	// A key's session ends with the key.
	key, token, err := f.app.Auth.CreateKey(who, auth.Key{Name: "dashboard", Role: auth.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	w := f.signIn(token, "address", "10.0.0.1")
	wantStatus(t, w, http.StatusCreated)
	cookie := frontCookie + "=" + cookieIn(t, w).Value
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", cookie), http.StatusOK)
	if err := f.app.Auth.RevokeKey(who, key.ID); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, f.do("GET", "/v1/session", "", "X-API-KEY", token, "address", "10.0.0.1"), http.StatusUnauthorized)
	f.pass(sessionsFor)
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", cookie, "address", "10.0.0.1"), http.StatusUnauthorized)

	// Signing out ends the session for every holder of the cookie.
	w = f.signIn(link(), "address", "10.0.0.1")
	wantStatus(t, w, http.StatusCreated)
	cookie = frontCookie + "=" + cookieIn(t, w).Value
	wantStatus(t, f.do("DELETE", "/v1/session", "", "Cookie", cookie, "Origin", "http://127.0.0.1:8080"), http.StatusNoContent)
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", cookie, "address", "10.0.0.1"), http.StatusUnauthorized)
	wantStatus(t, f.do("GET", "/readyz", ""), http.StatusOK)
}
