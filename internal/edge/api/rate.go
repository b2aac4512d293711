package api

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/httprate"

	"example.org/headroom/internal/service/auth"
)

// rateLimits bounds the requests of one key, or of one address without a key.
type rateLimits struct {
	solves   *httprate.RateLimiter
	requests *httprate.RateLimiter
	open     *httprate.RateLimiter // requests without a key, per address
	failures *httprate.RateLimiter // bad tokens, per address
}

// Guessing a token of 256 bits is hopeless at any speed; the limit keeps the attempts from being a load. Good keys
// are checked first and are never locked out.
const (
	failuresPerWindow = 30
	failuresWindow    = time.Minute
)

func newRateLimits(solves, requests, open int) rateLimits {
	headers := httprate.ResponseHeaders{ // X-RateLimit-…, in the form that they have in a http.Header
		Limit: "X-Ratelimit-Limit", Remaining: "X-Ratelimit-Remaining", Reset: "X-Ratelimit-Reset", RetryAfter: "Retry-After"}
	return rateLimits{
		solves:   httprate.NewRateLimiter(solves, time.Second, httprate.WithResponseHeaders(headers)),
		requests: httprate.NewRateLimiter(requests, time.Second, httprate.WithResponseHeaders(headers)),
		open:     httprate.NewRateLimiter(open, time.Second, httprate.WithResponseHeaders(headers)),
		failures: httprate.NewRateLimiter(failuresPerWindow, failuresWindow, httprate.WithResponseHeaders(httprate.ResponseHeaders{RetryAfter: "Retry-After"})),
	}
}

// limitAddress refuses requests without a key above the rate of their address. Those that bring a token are counted by
// its key, or as failures.
func (s *server) limitAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, sent := sentToken(r)
		if asks := strings.HasPrefix(r.URL.Path, "/v1/") && (sent || s.sessionToken(r) != ""); !asks || isOpen(r) {
			if s.rates.open.OnLimit(w, r, httprate.CanonicalizeIP(askedOf(r.Context()).address)) {
				s.refuse(w, r, tooMany("Your address asks more often without a key than it may; X-RateLimit-Limit says how often that is in a second. Wait as many seconds as Retry-After says, or send a key."))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// limitRate refuses requests above the rate of the key.
func (s *server) limitRate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := askedOf(r.Context())
		who := a.principal.ID
		if who == "" || a.peer { // which limitAddress has counted, or the server that has sent it on
			next.ServeHTTP(w, r)
			return
		}
		limiter := s.rates.requests
		if solves(r) {
			limiter = s.rates.solves
		}
		if limiter.OnLimit(w, r, who) {
			s.refuse(w, r, tooMany("You ask more often than you may; X-RateLimit-Limit says how often that is in a second. Wait as many seconds as Retry-After says."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// solvingPath matches addresses of questions and of other work that solves problems.
var solvingPath = sync.OnceValue(func() *regexp.Regexp {
	all := []string{"/v1/solve", "/v1/clusters/{cluster}/plans", "/v1/clusters/{cluster}/plans/{plan}/verify"}
	for address, q := range questions {
		if q.Solves() {
			all = append(all, address)
		}
	}
	return regexp.MustCompile("^(" + regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(strings.Join(all, "|"), "[^/]+") + ")$")
})

// answeringPath matches addresses whose reading solves a problem.
var answeringPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/v1/clusters/[^/]+/scenarios/(compare|[^/]+/answer)$`)
})

// solves reports whether a request takes a place for solving.
func solves(r *http.Request) bool {
	if reading(r) {
		path := r.URL.EscapedPath()
		return strings.Contains(path, "/scenarios/") && answeringPath().MatchString(path) // polls are not to pay for the pattern
	}
	return r.Method == http.MethodPost && solvingPath().MatchString(r.URL.EscapedPath())
}

// badToken answers an invalid token, always alike for any fault, which only the log names if it is known. Keys are
// counted apart: a program with an old key must not lock out the browsers at the same address.
func (s *server) badToken(w http.ResponseWriter, r *http.Request, why error) {
	if why != auth.ErrToken {
		askedOf(r.Context()).refused = why.Error()
	}
	from := httprate.CanonicalizeIP(askedOf(r.Context()).address)
	if _, key := sentToken(r); key {
		from = "keys from " + from
	}
	if s.rates.failures.OnLimit(w, r, from) {
		s.tooManyFailures(w, r)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="headroom"`)
	s.refuse(w, r, unauthorized("This key, token, session or link opens nothing: it is unknown, used up, over or revoked, or gives no role. Send a key that is valid as \"Authorization: Bearer hrk_…\" or X-API-KEY."))
}

// guesses reports whether an address has sent so many bad sessions and links that the database is not queried for
// another one.
func (s *server) guesses(r *http.Request) bool {
	_, rate, err := s.rates.failures.Status(httprate.CanonicalizeIP(askedOf(r.Context()).address))
	return err != nil || rate >= failuresPerWindow
}

func (s *server) tooManyFailures(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "60")
	s.refuse(w, r, tooMany("Too many keys, tokens, sessions or links that open nothing came from your address. Wait a minute; a key that is valid still works."))
}

// sentToken returns the token in a request's headers; many reports that there is more than one, or one of an unknown
// form.
func sentToken(r *http.Request) (token string, sent bool) {
	authorization, apiKey := r.Header["Authorization"], r.Header["X-Api-Key"]
	switch {
	case len(authorization)+len(apiKey) == 0:
		return "", false
	case len(authorization)+len(apiKey) > 1: // it is unclear which one is meant
		return "", true
	case len(apiKey) == 1:
		return apiKey[0], true
	}
	scheme, token, _ := strings.Cut(authorization[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	return strings.TrimLeft(token, " "), true
}
