package api

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/httprate"

	"example.org/headroom/internal/edge/api/docs"
	"example.org/headroom/internal/service/auth"
)

// People sign in at their issuer's page: beginSignIn sends a browser there, and the page sends it back to endSignIn.
// In between the browser keeps the attempt in a cookie, so that nobody else can end it.

const (
	attemptLife = 10 * time.Minute
	backPath    = "/sign-in/back"
)

// troubles says why somebody came back from the issuer's page without a session.
var troubles = map[string]string{
	"":          "",
	"other":     "This sign-in was begun in another browser, or more than ten minutes ago. Begin again.",
	"refused":   "Your organisation's sign-in page did not let you in, or you left it. Begin again, or ask who keeps it.",
	"role":      "Your organisation knows you, but you have no role here. Ask who keeps its accounts for a role such as headroom:viewer.",
	"away":      "Your organisation's sign-in page cannot be reached at the moment. Try again soon, or use a key.",
	"none":      "Nobody signs in at an organisation's page here: the server has no name there (HEADROOM_OIDC_CLIENT_ID). Use a key.",
	"untrusted": "What your organisation's sign-in page sent is not to be trusted. The server's log says why.",
	"database":  "The database, which keeps sessions, does not answer at the moment. Try again soon.",
}

// renderSignIn makes the pages where people sign in: with nothing wrong, and with each trouble.
func (s *server) renderSignIn() error {
	s.pages.signIn = map[string]page{}
	for trouble, sentence := range troubles {
		said := struct {
			Elsewhere bool
			Trouble   string
		}{s.app.Auth.SignsInElsewhere(), sentence}
		var b bytes.Buffer
		if err := docs.Templates().ExecuteTemplate(&b, "sign-in.html", said); err != nil {
			return fmt.Errorf("render the sign-in page: %w", err)
		}
		s.pages.signIn[trouble] = newPage(b.Bytes(), htmlType, policyOfPages)
	}
	return nil
}

// signIn shows the page where people sign in, with what went wrong before.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) {
	s.oneOf(s.pages.signIn, r.URL.Query().Get("trouble"), w, r)
}

func (s *server) beginSignIn(w http.ResponseWriter, r *http.Request) {
	address, attempt, err := s.app.Auth.BeginSignIn(s.backAddress(r))
	if err != nil {
		s.unsigned(w, r, err)
		return
	}
	text, err := json.Marshal(attempt)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.SetCookie(w, s.attemptCookie(r, base64.RawURLEncoding.EncodeToString(text), int(attemptLife.Seconds())))
	leave(w, address)
}

func (s *server) endSignIn(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	attempt, found := s.attempt(r)
	http.SetCookie(w, s.attemptCookie(r, "", -1)) // it is used up
	switch {
	case !found || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(attempt.State)) != 1:
		s.unsigned(w, r, errOtherAttempt)
		return
	case query.Has("iss") && query.Get("iss") != attempt.Issuer: // RFC 9207
		s.unsigned(w, r, errOtherAttempt)
		return
	case query.Get("code") == "":
		s.unsigned(w, r, errNotLetIn)
		return
	case s.guesses(r):
		s.tooManyFailures(w, r)
		return
	}
	session, token, err := s.app.Auth.EndSignIn(r.Context(), attempt, s.backAddress(r), query.Get("code"))
	if err != nil {
		s.unsigned(w, r, err)
		return
	}
	s.sessions.keep(auth.HashOf(token), knownSession{Session: session})
	askedOf(r.Context()).principal = session.Principal // for the log
	http.SetCookie(w, s.cookie(r, token, session.ExpiresAt))
	leave(w, "/sign-in?done=true")
}

var (
	errOtherAttempt = errors.New("the browser did not begin this sign-in")
	errNotLetIn     = errors.New("the issuer's page sent no code")
)

// unsigned sends a browser back to the page where people sign in, which says what was wrong.
func (s *server) unsigned(w http.ResponseWriter, r *http.Request, err error) {
	trouble := "database"
	switch {
	case errors.Is(err, errOtherAttempt):
		trouble = "other"
	case errors.Is(err, errNotLetIn):
		trouble = "refused"
	case errors.Is(err, auth.ErrNoPage):
		trouble = "none"
	case errors.Is(err, auth.ErrNoRole):
		trouble = "role"
	case errors.Is(err, auth.ErrToken):
		trouble = "untrusted"
	case errors.Is(err, auth.ErrIssuerAway):
		trouble = "away"
	}
	askedOf(r.Context()).refused = err.Error()
	if errors.Is(err, auth.ErrToken) {
		s.rates.failures.OnLimit(w, r, httprate.CanonicalizeIP(askedOf(r.Context()).address))
	}
	leave(w, "/sign-in?trouble="+trouble)
}

// leave sends a browser to another address, which may be another the next time.
func leave(w http.ResponseWriter, address string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusSeeOther)
}

// backAddress is where the issuer's page sends people back to. The host was checked, and the issuer knows the address.
func (s *server) backAddress(r *http.Request) string {
	back := url.URL{Scheme: "http", Host: r.Host, Path: backPath}
	if s.config.SecureCookies {
		back.Scheme = "https"
	}
	return back.String()
}

// attemptCookie keeps an attempt. Other than a session's it comes along when the issuer's page sends somebody back.
func (s *server) attemptCookie(r *http.Request, value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: s.cookieName(r) + "_attempt", Value: value, Path: "/", HttpOnly: true, Secure: s.config.SecureCookies,
		SameSite: http.SameSiteLaxMode, MaxAge: seconds}
}

// attempt returns the one that a browser has begun.
func (s *server) attempt(r *http.Request) (a auth.Attempt, found bool) {
	cookies := r.CookiesNamed(s.cookieName(r) + "_attempt")
	if len(cookies) != 1 {
		return a, false
	}
	text, err := base64.RawURLEncoding.DecodeString(cookies[0].Value)
	return a, err == nil && json.Unmarshal(text, &a) == nil && a.State != "" && a.Nonce != ""
}
