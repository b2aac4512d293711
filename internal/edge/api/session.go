package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/api/entrance"
	"example.org/headroom/internal/service/auth"
)

// cookieName names the cookie of a session's token.
const cookieName = "headroom_session"

// cookieName is the name of the cookie for a request. Behind TLS browsers refuse one of this name that another host has
// set, or that came without TLS. Browsers send cookies to every port of an address, so that without TLS the port is in the
// name: of two servers on one machine neither signs the other's people out.
func (s *server) cookieName(r *http.Request) string {
	if s.config.SecureCookies {
		return "__Host-" + cookieName
	}
	if _, port, err := net.SplitHostPort(r.Host); err == nil && port != "" {
		return cookieName + "_" + port
	}
	return cookieName
}

// authenticate identifies the caller: by the key in a header, otherwise by the session's cookie. Holders of bad
// tokens may still call operations that are open to everybody. It does not decide on rights.
func (s *server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isOpen(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := askedOf(r.Context())
		if token, sent := sentToken(r); sent {
			key, err := s.app.Auth.FindKey(r.Context(), token)
			switch {
			case errors.Is(err, auth.ErrToken):
				s.badToken(w, r, err)
				return
			case err != nil:
				s.fail(w, r, err)
				return
			}
			a.principal, a.expires = key.Principal(), key.ExpiresAt
			entrance.Welcome(r.Context())
		} else if token := s.sessionToken(r); token != "" {
			session, err := s.findSession(r, token)
			switch {
			case errors.Is(err, errGuesses):
				s.tooManyFailures(w, r)
				return
			case errors.Is(err, auth.ErrToken):
				s.endCookie(w, r)
				s.badToken(w, r, err)
				return
			case err != nil:
				s.fail(w, r, err)
				return
			}
			a.principal, a.expires, a.cookie = session.Principal, &session.ExpiresAt, true
			entrance.Welcome(r.Context())
		}
		next.ServeHTTP(w, r)
	})
}

// isOpen matches the operations with the role open, before the router does: a browser whose session is over must
// still reach the sign-in page.
func isOpen(r *http.Request) bool {
	switch p := r.URL.Path; p {
	case "/livez", "/readyz", "/openapi.yaml", "/docs", "/sign-in", "/sign-in/issuer", backPath:
		return true
	case "/v1/session":
		return r.Method == http.MethodPost
	default:
		return strings.HasPrefix(p, "/assets/") || strings.HasPrefix(p, "/problems/") || strings.HasPrefix(p, "/docs/")
	}
}

func (s *server) sessionToken(r *http.Request) string {
	cookies := r.CookiesNamed(s.cookieName(r))
	if len(cookies) != 1 { // two of the same name: another site's page may have set one of them
		return ""
	}
	return cookies[0].Value
}

// sessions remembers for a moment which sessions the store knows, so that frequent requests of a page do not query it
// each time. A session that ends, or whose key is revoked, lives that much longer on other replicas at most.
type sessions struct {
	mu    sync.Mutex
	known map[auth.Hash]knownSession
}

type knownSession struct {
	auth.Session
	read time.Time // when the store was queried
}

const (
	sessionsFor  = 2 * time.Second
	sessionsKept = 10_000
)

var errGuesses = errors.New("too many bad tokens from this address")

// findSession returns the session of a cookie. Every invalid token gives auth.ErrToken.
func (s *server) findSession(r *http.Request, token string) (auth.Session, error) {
	if !strings.HasPrefix(token, auth.SessionPrefix) || len(token) > 128 {
		return auth.Session{}, auth.ErrToken
	}
	hash, now := auth.HashOf(token), s.app.Now()
	k, seen := s.sessions.get(hash)
	if age := now.Sub(k.read); seen && age >= 0 && age < sessionsFor && now.Before(k.ExpiresAt) {
		return k.Session, nil
	}
	if !seen && s.guesses(r) {
		return auth.Session{}, errGuesses
	}
	session, err := s.app.Auth.Session(r.Context(), hash)
	if err == nil && !now.Before(session.ExpiresAt) {
		err = fault.NotFound
	}
	switch {
	case errors.Is(err, fault.NotFound):
		s.sessions.forget(hash)
		return auth.Session{}, auth.ErrToken
	case errors.Is(err, fault.Busy):
		return auth.Session{}, sessionsAway{err}
	case err == nil:
		s.sessions.keep(hash, knownSession{session, now})
	}
	return session, err
}

// sessionsAway is the error of a database that can neither find nor store sessions at the moment.
type sessionsAway struct{ error }

func (sessionsAway) Error() string {
	return "browsers' sessions are kept in the database, which does not answer at the moment; try again soon, or ask with a key, which is known without it"
}
func (e sessionsAway) Unwrap() error { return e.error }

func (c *sessions) get(hash auth.Hash) (knownSession, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.known[hash]
	return k, ok
}

func (c *sessions) keep(hash auth.Hash, k knownSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= sessionsKept || c.known == nil {
		c.known = map[auth.Hash]knownSession{}
	}
	c.known[hash] = k
}

func (c *sessions) forget(hash auth.Hash) {
	c.mu.Lock()
	delete(c.known, hash)
	c.mu.Unlock()
}

// doubtAll makes every session be checked again in the store. They stay known: the holder of one does not guess.
func (c *sessions) doubtAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for hash, k := range c.known {
		k.read = time.Time{}
		c.known[hash] = k
	}
}

func (s *server) cookie(r *http.Request, token string, expires time.Time) *http.Cookie {
	return &http.Cookie{Name: s.cookieName(r), Value: token, Path: "/", HttpOnly: true, Secure: s.config.SecureCookies,
		SameSite: http.SameSiteStrictMode, Expires: expires, MaxAge: max(1, int(expires.Sub(s.app.Now()).Seconds()))}
}

func (s *server) endCookie(w http.ResponseWriter, r *http.Request) {
	ended := s.cookie(r, "", time.Unix(1, 0))
	ended.MaxAge = -1
	http.SetCookie(w, ended)
}

// whoami describes the caller.
type whoami struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Role      auth.Role  `json:"role"`
	Clusters  []string   `json:"clusters"` // null is all
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

func writeWhoami(w http.ResponseWriter, status int, p auth.Principal, expires *time.Time) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(whoami{p.ID, p.Name, p.Role, p.Clusters, expires}) // a client that is gone needs no error
}

// createSession exchanges a key, an issuer's token or that of a sign-in link for a cookie.
func (s *server) createSession(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		s.fail(w, r, fmt.Errorf("read the token: %w", err))
		return
	}
	if strings.HasPrefix(body.Token, auth.LinkPrefix) && s.guesses(r) {
		s.tooManyFailures(w, r)
		return
	}
	session, token, err := s.app.Auth.SignIn(r.Context(), body.Token)
	switch {
	case errors.Is(err, auth.ErrToken):
		s.badToken(w, r, err)
		return
	case errors.Is(err, auth.ErrIssuerAway):
		s.fail(w, r, err)
		return
	case errors.Is(err, fault.Busy):
		s.fail(w, r, sessionsAway{err})
		return
	case err != nil:
		s.fail(w, r, err)
		return
	}
	s.sessions.keep(auth.HashOf(token), knownSession{Session: session}) // is no guess; the store is still queried
	askedOf(r.Context()).principal = session.Principal                  // for the log
	http.SetCookie(w, s.cookie(r, token, session.ExpiresAt))
	writeWhoami(w, http.StatusCreated, session.Principal, &session.ExpiresAt)
}

// getSession describes the caller, also to holders of keys.
func (s *server) getSession(w http.ResponseWriter, r *http.Request) {
	a := askedOf(r.Context())
	writeWhoami(w, http.StatusOK, a.principal, a.expires)
}

// deleteSession ends the session of the cookie. Holders of keys have none to end.
func (s *server) deleteSession(w http.ResponseWriter, r *http.Request) {
	if askedOf(r.Context()).cookie {
		hash := auth.HashOf(s.sessionToken(r))
		s.sessions.forget(hash)
		if err := s.app.Stores.Access.DeleteSession(r.Context(), hash); err != nil && !errors.Is(err, fault.NotFound) {
			s.fail(w, r, err)
			return
		}
	}
	s.endCookie(w, r)
	w.WriteHeader(http.StatusNoContent)
}
