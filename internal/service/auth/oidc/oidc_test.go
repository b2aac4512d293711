package oidc

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/oidctest"
)

type object = map[string]any

// trusting checks the tokens of an issuer, with a clock of its own.
type trusting struct {
	*Issuer
	ahead atomic.Int64 // ahead of the true time, in nanoseconds
	log   bytes.Buffer // read once nobody writes
}

func newTrusting(t *testing.T, issuer string, change ...func(*Config)) *trusting {
	t.Helper()
	own := &trusting{}
	c := Config{Issuer: issuer, Audience: oidctest.Audience, RolesClaim: "roles", NameClaim: "sub", Wait: 5 * time.Second,
		Clock: func() time.Time { return time.Now().Add(time.Duration(own.ahead.Load())) }, Log: slog.New(slog.NewTextHandler(&own.log, nil))}
	for _, change := range change {
		change(&c)
	}
	own.Issuer = New(c)
	return own
}

func (w *trusting) pass(d time.Duration) { w.ahead.Add(int64(d)) }

// watch keeps the keys until the test ends.
func (w *trusting) watch(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	done := w.Watch(ctx)
	t.Cleanup(func() { stop(); <-done })
}

func (w *trusting) want(t *testing.T, token string, want auth.Key) {
	t.Helper()
	got, err := w.Check(t.Context(), token)
	if err != nil || got.ID != want.ID || got.Name != want.Name || got.Role != want.Role || !slices.Equal(got.Clusters, want.Clusters) || (got.Clusters == nil) != (want.Clusters == nil) || got.ExpiresAt == nil {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func (w *trusting) refuses(t *testing.T, token, why string) {
	t.Helper()
	if got, err := w.Check(t.Context(), token); !errors.Is(err, auth.ErrToken) || err.Error() != why {
		t.Errorf("got %+v, %v; want it refused: %s", got, err, why)
	}
}

func TestGoodTokens(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	w := newTrusting(t, issuer.URL)
	if err := w.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	planner := auth.Key{ID: "oidc:ana", Name: "ana", Role: auth.Planner}
	claims := issuer.Claims(nil, "headroom:planner")
	for kind, token := range map[string]string{
		"RS256":            issuer.Token("headroom:planner"),
		"ES256":            oidctest.Sign(object{"alg": "ES256", "kid": "ec"}, claims, issuer.EC),
		"no kid":           oidctest.Sign(object{"alg": "ES256"}, claims, issuer.EC),
		"an access token":  oidctest.Sign(object{"alg": "RS256", "kid": "rsa", "typ": "at+JWT"}, claims, issuer.RSA),
		"several audience": oidctest.Sign(object{"alg": "RS256"}, issuer.Claims(object{"aud": []string{"x", oidctest.Audience}}, "headroom:planner"), issuer.RSA),
		"a clock ahead":    oidctest.Sign(object{"alg": "RS256"}, issuer.Claims(object{"iat": time.Now().Add(20 * time.Second).Unix(), "nbf": time.Now().Add(20 * time.Second).Unix()}, "headroom:planner"), issuer.RSA),
		"a clock behind":   oidctest.Sign(object{"alg": "RS256"}, issuer.Claims(object{"exp": float64(time.Now().Add(-20*time.Second).UnixMilli()) / 1000}, "headroom:planner"), issuer.RSA),
		"an end far away":  oidctest.Sign(object{"alg": "RS256"}, issuer.Claims(object{"exp": 1e300}, "headroom:planner"), issuer.RSA),
	} {
		t.Run(kind, func(t *testing.T) { w.want(t, token, planner) })
	}
	key, err := w.Check(t.Context(), issuer.Token("headroom:viewer"))
	if end := time.Until(*key.ExpiresAt); err != nil || end < 59*time.Minute || end > time.Hour+leeway {
		t.Errorf("it ends in %s, %v", end, err)
	}
}

func TestBadTokens(t *testing.T) {
	t.Parallel()
	issuer, other := oidctest.New(t), oidctest.New(t)
	w := newTrusting(t, issuer.URL)
	if err := w.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	good := issuer.Token("headroom:admin")
	parts := strings.Split(good, ".")
	rs, now := object{"alg": "RS256", "kid": "rsa"}, time.Now()
	sign := func(change object) string {
		return oidctest.Sign(rs, issuer.Claims(change, "headroom:admin"), issuer.RSA)
	}
	claims := issuer.Claims(nil, "headroom:admin")
	public := x509.MarshalPKCS1PublicKey(&issuer.RSA.PublicKey)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const unreadable, unsigned = "unreadable, or signed in a way that is not taken", "signed with no key of the issuer"
	for kind, c := range map[string]struct{ token, why string }{
		"nothing":                     {"", unreadable},
		"two dots":                    {"..", unreadable},
		"no signature":                {parts[0] + "." + parts[1] + ".", unsigned},
		"alg none":                    {oidctest.Sign(object{"alg": "none"}, claims, nil), unreadable},
		"alg None":                    {oidctest.Sign(object{"alg": "None"}, claims, nil), unreadable},
		"the public key as a secret":  {oidctest.Sign(object{"alg": "HS256", "kid": "rsa"}, claims, public), unreadable},
		"RS256 that is a secret's":    {oidctest.Sign(object{"alg": "RS256", "kid": "rsa"}, claims, public), unsigned},
		"ES256 with the key of RS256": {oidctest.Sign(object{"alg": "ES256", "kid": "rsa"}, claims, issuer.RSA), unsigned},
		"RS512":                       {oidctest.Sign(object{"alg": "RS512", "kid": "rsa"}, claims, issuer.RSA), unreadable},
		"P-384":                       {oidctest.Sign(object{"alg": "ES256", "kid": "ec"}, claims, p384), unsigned},
		"another issuer's key":        {oidctest.Sign(rs, claims, other.RSA), unsigned},
		"a key of its own":            {oidctest.Sign(object{"alg": "RS256", "kid": "own", "jwk": oidctest.JWK("own", &other.RSA.PublicKey)}, claims, other.RSA), unsigned},
		"a key elsewhere":             {oidctest.Sign(object{"alg": "RS256", "kid": "rsa", "jku": other.URL + "/keys"}, claims, other.RSA), unsigned},
		"something critical":          {oidctest.Sign(object{"alg": "RS256", "kid": "rsa", "crit": []string{"x"}, "x": 1}, claims, issuer.RSA), unsigned},
		"claims changed":              {parts[0] + "." + strings.Split(sign(object{"sub": "eve"}), ".")[1] + "." + parts[2], unsigned},
		"one bit changed":             {good[:len(good)-3] + flipped(good[len(good)-3]) + good[len(good)-2:], unsigned},
		"another kind":                {oidctest.Sign(object{"alg": "RS256", "kid": "rsa", "typ": "logout+jwt"}, claims, issuer.RSA), "of another kind"},
		"another issuer":              {sign(object{"iss": other.URL}), "of another issuer"},
		"the issuer with a slash":     {sign(object{"iss": issuer.URL + "/"}), "of another issuer"},
		"another audience":            {sign(object{"aud": "payroll"}), "for another audience"},
		"no audience":                 {sign(object{"aud": nil}), "for another audience"},
		"a number as audience":        {sign(object{"aud": 7}), "its claims cannot be read"},
		"over":                        {sign(object{"exp": now.Add(-leeway - time.Second).Unix()}), "over"},
		"over before 1970":            {sign(object{"exp": -1e300}), "over"},
		"no end":                      {sign(object{"exp": nil}), "without an end"},
		"an end in words":             {sign(object{"exp": "tomorrow"}), "its claims cannot be read"},
		"not yet":                     {sign(object{"nbf": now.Add(leeway + 10*time.Second).Unix()}), "not yet valid"},
		"from the future":             {sign(object{"iat": now.Add(leeway + 10*time.Second).Unix()}), "made out in the future"},
		"no subject":                  {sign(object{"sub": nil}), "without a subject that can be written down"},
		"a subject of two lines":      {sign(object{"sub": "ana\nroot"}), "without a subject that can be written down"},
		"an endless subject":          {sign(object{"sub": strings.Repeat("a", 300)}), "without a subject that can be written down"},
		"too large":                   {sign(object{"more": strings.Repeat("a", 8<<10)}), "too large"},
		"no role":                     {sign(object{"roles": []string{"headroom:root", "admin"}}), "without a role"},
	} {
		t.Run(kind, func(t *testing.T) { w.refuses(t, c.token, c.why) })
	}
	w.want(t, good, auth.Key{ID: "oidc:ana", Name: "ana", Role: auth.Admin})
}

// flipped returns another letter of the same alphabet.
func flipped(letter byte) string {
	if letter == 'A' {
		return "B"
	}
	return "A"
}

func TestRoles(t *testing.T) {
	t.Parallel()
	list := func(values ...any) any { return values }
	for _, c := range []struct {
		situation string
		value     any
		want      string // "" means none
	}{
		{"one", list("headroom:viewer"), "viewer on all"},
		{"a text", "openid headroom:planner profile", "planner on all"},
		{"one cluster", list("headroom:planner:analytics-eu"), "planner on [analytics-eu]"},
		{"clusters, one of them twice", list("headroom:planner:b", "headroom:planner:a", "headroom:planner:b"), "planner on [a b]"},
		{"a cluster and all", list("headroom:planner:a", "headroom:planner"), "planner on all"},
		{"all and a cluster", list("headroom:planner", "headroom:planner:a"), "planner on all"},
		{"the strongest, where it is given", list("headroom:viewer", "headroom:operator:a", "headroom:planner:b"), "operator on [a]"},
		{"in another order", list("headroom:operator:a", "headroom:planner:b", "headroom:viewer"), "operator on [a]"},
		{"agent beside others", list("headroom:agent", "headroom:viewer:a"), "viewer on [a]"},
		{"agent alone", list("headroom:agent:a"), "agent on [a]"},
		{"an empty cluster is not all", list("headroom:admin:"), ""},
		{"a pattern is not all", list("headroom:admin:*", "headroom:viewer"), "viewer on all"},
		{"names that no cluster has", list("headroom:admin:A B", "headroom:admin:a:b"), ""},
		{"others' values", list("planner", "headroomplanner", "HEADROOM:admin", "headroom:Admin", "headroom:", "", 7, nil, list("headroom:admin")), ""},
		{"an object", object{"headroom:admin": true}, ""},
		{"nothing", nil, ""},
	} {
		t.Run(c.situation, func(t *testing.T) {
			got := ""
			if role, clusters, ok := granted(c.value); ok {
				got = fmt.Sprintf("%s on %v", role, clusters)
				if clusters == nil {
					got = string(role) + " on all"
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestClaimsOfOtherNames(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	for _, c := range []struct {
		situation, roles, name string
		claims                 object
		want                   auth.Key
	}{
		{"inside another", "realm_access.roles", "email", object{"realm_access": object{"roles": []string{"headroom:viewer"}}, "email": "ana@example.com"}, auth.Key{Name: "ana@example.com", Role: auth.Viewer}},
		{"a name with dots", "https://example.com/roles", "email", object{"https://example.com/roles": "headroom:planner", "email": "ana@example.com", "email_verified": true}, auth.Key{Name: "ana@example.com", Role: auth.Planner}},
		{"a mailbox that is not verified", "roles", "email", object{"roles": "headroom:viewer", "email": "root@example.com", "email_verified": false}, auth.Key{Name: "ana", Role: auth.Viewer}},
		{"a name of two lines", "roles", "name", object{"roles": "headroom:viewer", "name": "Ana\nroot"}, auth.Key{Name: "ana", Role: auth.Viewer}},
		{"no name", "roles", "name", object{"roles": "headroom:viewer"}, auth.Key{Name: "ana", Role: auth.Viewer}},
	} {
		t.Run(c.situation, func(t *testing.T) {
			w := newTrusting(t, issuer.URL, func(o *Config) { o.RolesClaim, o.NameClaim = c.roles, c.name })
			if err := w.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.want.ID = "oidc:ana"
			w.want(t, oidctest.Sign(object{"alg": "RS256"}, issuer.Claims(c.claims), issuer.RSA), c.want)
		})
	}
}

// A new key causes a request, but a flood of unknown ones does not.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	w := newTrusting(t, issuer.URL, func(c *Config) { c.Every = time.Hour })
	w.watch(t)
	viewer := auth.Key{ID: "oidc:ana", Name: "ana", Role: auth.Viewer}
	before := issuer.Token("headroom:viewer")
	w.want(t, before, viewer)
	issuer.Rotate("rsa-2", "ec-2")
	after := oidctest.Sign(object{"alg": "RS256", "kid": "rsa-2"}, issuer.Claims(nil, "headroom:viewer"), issuer.RSA)
	w.refuses(t, after, "signed with no key of the issuer") // it was asked a moment ago
	w.want(t, before, viewer)
	w.pass(11 * time.Second)
	w.want(t, after, viewer)
	w.refuses(t, before, "signed with no key of the issuer")
	requests := issuer.Asked()
	for n := range 200 {
		w.refuses(t, oidctest.Sign(object{"alg": "RS256", "kid": fmt.Sprint(n)}, issuer.Claims(nil, "headroom:viewer"), issuer.RSA), "signed with no key of the issuer")
	}
	if requests != 2 || issuer.Asked() != requests {
		t.Errorf("it was asked %d times, and %d times more by tokens of unknown keys", requests, issuer.Asked()-requests)
	}
}

// An issuer that is away costs tokens with known keys nothing, for a day.
func TestAnIssuerThatIsAway(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	away := func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "", http.StatusBadGateway)
		return true
	}
	issuer.Answer(away)
	w := newTrusting(t, issuer.URL, func(c *Config) { c.Every = time.Hour })
	w.watch(t)
	token := issuer.Token("headroom:viewer")
	if _, err := w.Check(t.Context(), token); !errors.Is(err, auth.ErrIssuerAway) || errors.Is(err, auth.ErrToken) {
		t.Errorf("got %v, want that nothing can be said", err)
	}
	issuer.Answer(nil)
	w.pass(11 * time.Second)
	viewer := auth.Key{ID: "oidc:ana", Name: "ana", Role: auth.Viewer}
	w.want(t, token, viewer)
	issuer.Answer(away)
	far := oidctest.Sign(object{"alg": "RS256", "kid": "rsa"}, issuer.Claims(object{"exp": time.Now().Add(100 * time.Hour).Unix()}, "headroom:viewer"), issuer.RSA)
	w.pass(trusted - time.Minute)
	w.want(t, far, viewer)
	w.pass(2 * time.Minute)
	if _, err := w.Check(t.Context(), far); !errors.Is(err, auth.ErrIssuerAway) {
		t.Errorf("after a day got %v", err)
	}
}

// An issuer that hangs delays a token as long as allowed, and no longer.
func TestAnIssuerThatHangs(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	over := make(chan struct{})
	issuer.Answer(func(http.ResponseWriter, *http.Request) bool { <-over; return true })
	w := newTrusting(t, issuer.URL, func(c *Config) { c.Wait = 50 * time.Millisecond })
	w.watch(t)
	t.Cleanup(func() { close(over) })
	began := time.Now()
	if _, err := w.Check(t.Context(), issuer.Token("headroom:viewer")); !errors.Is(err, auth.ErrIssuerAway) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestIssuersThatSayNothingUseful(t *testing.T) {
	t.Parallel()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(text string) func(*oidctest.Issuer) {
		return func(i *oidctest.Issuer) {
			i.Answer(func(w http.ResponseWriter, _ *http.Request) bool { _, _ = w.Write([]byte(text)); return true })
		}
	}
	for kind, c := range map[string]struct {
		make func(*oidctest.Issuer)
		want string
	}{
		"another name":          {func(i *oidctest.Issuer) { i.Say("issuer", "https://evil.example") }, `calls itself "https://evil.example"`},
		"keys within":           {func(i *oidctest.Issuer) { i.Say("jwks_uri", "https://192.168.0.1/keys") }, "not a public address"},
		"keys in the clear":     {func(i *oidctest.Issuer) { i.Say("jwks_uri", "http://keys.example.com/") }, "for HTTPS only"},
		"keys in a file":        {func(i *oidctest.Issuer) { i.Say("jwks_uri", "file:///etc/passwd") }, "must begin with https://"},
		"no keys":               {func(i *oidctest.Issuer) { i.Publish() }, "no key that tokens may be signed with"},
		"a secret":              {func(i *oidctest.Issuer) { i.Publish(object{"kty": "oct", "k": "c2VjcmV0", "kid": "rsa"}) }, "no key that tokens may be signed with"},
		"a short key":           {func(i *oidctest.Issuer) { i.Publish(oidctest.JWK("rsa", &small.PublicKey)) }, "no key that tokens may be signed with"},
		"a key to encrypt with": {func(i *oidctest.Issuer) { k := oidctest.JWK("rsa", &i.RSA.PublicKey); k["use"] = "enc"; i.Publish(k) }, "no key that tokens may be signed with"},
		"no JSON":               {answer("<html>"), "is not the JSON"},
		"endless":               {answer(strings.Repeat(" ", maxDocument+1)), "more than 512 KiB"},
		"elsewhere": {func(i *oidctest.Issuer) {
			i.Answer(func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, "http://127.0.0.2:1/", http.StatusFound)
				return true
			})
		}, "another place"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			issuer := oidctest.New(t)
			c.make(issuer)
			w := newTrusting(t, issuer.URL)
			if err := w.Ask(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if !strings.Contains(w.log.String(), "level=WARN") {
				t.Errorf("the log says %q", w.log.String())
			}
		})
	}
}

// Keys of unknown kinds do no harm.
func TestKeysOfOtherKinds(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	issuer.Publish(object{"kty": "OKP", "crv": "Ed448", "x": "AA", "kid": "x"}, object{"kty": "PQ"}, object{}, oidctest.JWK("rsa", &issuer.RSA.PublicKey))
	w := newTrusting(t, issuer.URL)
	if err := w.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.want(t, issuer.Token("headroom:viewer"), auth.Key{ID: "oidc:ana", Name: "ana", Role: auth.Viewer})
}

func TestAddressesOfIssuers(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://sso.example.com/realms/a": "", "https://10.0.0.7": "", "http://localhost:8080/realms/a": "", "http://127.0.0.1:1": "", "http://[::1]:1": "",
		"http://sso.example.com": "over https://", "https://u:p@sso.example.com": "password", "https://sso.example.com?a=b": "query",
		"https://sso.example.com#a": "fragment", "sso.example.com": "must begin with https://", "ftp://sso.example.com": "must begin with https://", "http://127.0.0.1.example.com": "over https://",
	} {
		if fault := Fault(address); (want == "") != (fault == "") || !strings.Contains(fault, want) {
			t.Errorf("%s: got %q, want %q", address, fault, want)
		}
	}
}
