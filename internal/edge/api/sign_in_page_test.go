package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/auth/oidc"
	"example.org/headroom/internal/test/oidctest"
)

const back = "http://127.0.0.1:8080/sign-in/back"

// paged returns a front whose people sign in at an issuer's page.
func paged(t *testing.T, issuer *oidctest.Issuer, page *oidctest.Page, change func(*oidc.Config)) *front {
	t.Helper()
	issuer.Open(page)
	c := oidc.Config{Issuer: issuer.URL, Audience: oidctest.Audience, RolesClaim: "roles", NameClaim: "sub", ClientID: oidctest.ClientID, Wait: time.Millisecond}
	if !page.Public {
		c.ClientSecret = oidctest.ClientSecret
	}
	if change != nil {
		change(&c)
	}
	i := oidc.New(c)
	if err := i.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	return newFrontFor(t, i)
}

// leave begins a sign-in, and returns the cookie of the attempt and the address that the issuer's page sends back to.
func (f *front) leave(t *testing.T) (cookie string, returned *url.URL) {
	t.Helper()
	w := f.do("GET", "/sign-in/issuer", "")
	wantStatus(t, w, http.StatusSeeOther)
	kept := cookieIn(t, w)
	if kept.SameSite != http.SameSiteLaxMode || !kept.HttpOnly || kept.MaxAge != 600 {
		t.Errorf("the attempt's cookie is %+v", kept)
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.Get(w.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	returned, err = answer.Location()
	if err != nil {
		t.Fatalf("the issuer's page answers %s to %s: %v", answer.Status, w.Header().Get("Location"), err)
	}
	return kept.Name + "=" + kept.Value, returned
}

// Somebody signs in at the issuer's page, has the role of there, and stays signed in although the token is over.
func TestSignInAtTheIssuersPage(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	planner := map[string]any{"roles": []string{"headroom:planner:shop"}}
	for situation, page := range map[string]*oidctest.Page{
		"a secret":                 {Back: back, Identity: planner},
		"no secret":                {Back: back, Identity: planner, Public: true},
		"a role for programs only": {Back: back, Access: oidctest.Sign(map[string]any{"alg": "ES256", "kid": "ec"}, issuer.Claims(planner), issuer.EC)},
		"the party that asked":     {Back: back, Identity: map[string]any{"roles": planner["roles"], "azp": oidctest.ClientID, "aud": []string{"more", oidctest.ClientID}}},
	} {
		t.Run(situation, func(t *testing.T) {
			f := paged(t, issuer, page, nil)
			attempt, returned := f.leave(t)
			w := f.do("GET", returned.RequestURI(), "", "Cookie", attempt)
			wantStatus(t, w, http.StatusSeeOther)
			if to := w.Header().Get("Location"); to != "/sign-in?done=true" {
				t.Fatalf("the browser is sent to %s\n%s", to, f.log.String())
			}
			var cookie string
			for _, c := range w.Result().Cookies() {
				if c.Name == frontCookie {
					cookie = c.Name + "=" + c.Value
				}
			}
			f.pass(2 * time.Minute) // longer than the token lasts
			me := f.do("GET", "/v1/session", "", "Cookie", cookie)
			wantStatus(t, me, http.StatusOK)
			var who whoami
			if err := json.Unmarshal(me.Body.Bytes(), &who); err != nil || who.ID != "oidc:ana" || who.Role != auth.Planner || fmt.Sprint(who.Clusters) != "[shop]" {
				t.Errorf("who signed in is %+v, %v", who, err)
			}
			if again := f.do("GET", returned.RequestURI(), "", "Cookie", attempt); again.Header().Get("Location") != "/sign-in?trouble=untrusted" {
				t.Errorf("a code that was used sends to %s", again.Header().Get("Location"))
			}
			f.pass(12 * time.Hour)
			wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", cookie), http.StatusUnauthorized)
			if log := f.log.String(); strings.Contains(log, returned.Query().Get("code")) || strings.Contains(log, returned.Query().Get("state")) || strings.Contains(log, "eyJ") {
				t.Errorf("the log has a code, a state or a token:\n%s", log)
			}
		})
	}
}

// Whatever is wrong, nobody is signed in, and the page says why in words.
func TestSignInsThatFail(t *testing.T) {
	t.Parallel()
	planner := []string{"headroom:planner"}
	tamper := func(name, value string) func(string, *url.URL) (string, string) {
		return func(cookie string, u *url.URL) (string, string) {
			q := u.Query()
			q.Set(name, value)
			return cookie, "/sign-in/back?" + q.Encode()
		}
	}
	strangers := oidctest.New(t)
	for situation, c := range map[string]struct {
		page    oidctest.Page
		change  func(*oidc.Config)
		on      func(cookie string, u *url.URL) (string, string)
		trouble string
	}{
		"another browser": {on: func(_ string, u *url.URL) (string, string) { return "", u.RequestURI() }, trouble: "other"},
		"two attempts":    {on: func(c string, u *url.URL) (string, string) { return c + "; " + c, u.RequestURI() }, trouble: "other"},
		"no attempt": {on: func(c string, u *url.URL) (string, string) {
			return strings.SplitN(c, "=", 2)[0] + "=e30", u.RequestURI()
		}, trouble: "other"},
		"another state":        {on: tamper("state", "x"), trouble: "other"},
		"another issuer":       {on: tamper("iss", "https://elsewhere.example.com"), trouble: "other"},
		"a code that is none":  {on: tamper("code", "x"), trouble: "untrusted"},
		"not let in":           {page: oidctest.Page{Deny: "access_denied"}, trouble: "refused"},
		"no role":              {page: oidctest.Page{Identity: map[string]any{"roles": []string{"baker"}}}, trouble: "role"},
		"somebody else's role": {page: oidctest.Page{Identity: map[string]any{"roles": nil, "sub": "bob"}, Access: "of ana"}, trouble: "role"},
		"another sign-in":      {page: oidctest.Page{Identity: map[string]any{"roles": planner, "nonce": "x"}}, trouble: "untrusted"},
		"no nonce":             {page: oidctest.Page{Identity: map[string]any{"roles": planner, "nonce": nil}}, trouble: "untrusted"},
		"another audience":     {page: oidctest.Page{Identity: map[string]any{"roles": planner, "aud": oidctest.Audience}}, trouble: "untrusted"},
		"another party":        {page: oidctest.Page{Identity: map[string]any{"roles": planner, "azp": "other"}}, trouble: "untrusted"},
		"over":                 {page: oidctest.Page{Identity: map[string]any{"roles": planner, "exp": 1}}, trouble: "untrusted"},
		"another secret":       {change: func(c *oidc.Config) { c.ClientSecret = "guess" }, trouble: "untrusted"},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			issuer, page := oidctest.New(t), c.page
			page.Back = back
			if page.Access == "of ana" {
				page.Access = issuer.Token(planner...)
			}
			f := paged(t, issuer, &page, c.change)
			attempt, returned := f.leave(t)
			path := returned.RequestURI()
			if c.on != nil {
				attempt, path = c.on(attempt, returned)
			}
			w := f.do("GET", path, "", "Cookie", attempt)
			wantStatus(t, w, http.StatusSeeOther)
			if to := w.Header().Get("Location"); to != "/sign-in?trouble="+c.trouble || len(f.store.sessions) != 0 {
				t.Errorf("the browser is sent to %s with %d sessions, want the trouble %s\n%s", to, len(f.store.sessions), c.trouble, f.log.String())
			}
			shown := f.do("GET", w.Header().Get("Location"), "")
			wantStatus(t, shown, http.StatusOK)
			if sentence, _, _ := strings.Cut(troubles[c.trouble], "'"); !strings.Contains(shown.Body.String(), sentence) {
				t.Errorf("the page does not say %q", troubles[c.trouble])
			}
		})
	}
	t.Run("an issuer without a page", func(t *testing.T) {
		f := newFrontFor(t, trust(t, strangers, nil))
		for _, path := range []string{"/sign-in/issuer"} {
			if to := f.do("GET", path, "").Header().Get("Location"); to != "/sign-in?trouble=none" {
				t.Errorf("%s sends to %s", path, to)
			}
		}
		if page := f.do("GET", "/sign-in", "").Body.String(); strings.Contains(page, "/sign-in/issuer") {
			t.Error("the page offers to sign in elsewhere")
		}
		wantStatus(t, f.do("GET", "/sign-in?trouble=unknown", ""), http.StatusBadRequest)
	})
	t.Run("an issuer that was not heard of", func(t *testing.T) {
		f := newFrontFor(t, oidc.New(oidc.Config{Issuer: strangers.URL, Audience: "x", RolesClaim: "roles", ClientID: "x"}))
		if to := f.do("GET", "/sign-in/issuer", "").Header().Get("Location"); to != "/sign-in?trouble=away" {
			t.Errorf("it sends to %s", to)
		}
		if page := f.do("GET", "/sign-in", "").Body.String(); !strings.Contains(page, "/sign-in/issuer") {
			t.Error("the page does not offer to sign in elsewhere")
		}
	})
	t.Run("a page over plain HTTP", func(t *testing.T) {
		issuer := oidctest.New(t)
		f := paged(t, issuer, &oidctest.Page{Back: back}, nil)
		issuer.Say("authorization_endpoint", "http://sso.example.com/page")
		if err := f.issuer.(*oidc.Issuer).Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		if to := f.do("GET", "/sign-in/issuer", "").Header().Get("Location"); to != "/sign-in?trouble=none" {
			t.Errorf("it sends to %s", to)
		}
	})
	t.Run("many codes that are none", func(t *testing.T) {
		issuer := oidctest.New(t)
		f := paged(t, issuer, &oidctest.Page{Back: back}, nil)
		limited := false
		for range 40 {
			attempt, returned := f.leave(t)
			attempt, path := tamper("code", "x")(attempt, returned)
			limited = limited || f.do("GET", path, "", "Cookie", attempt).Code == http.StatusTooManyRequests
		}
		if !limited {
			t.Error("nobody who guesses codes is told to wait")
		}
	})
}
