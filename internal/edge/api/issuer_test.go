package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/auth/oidc"
	"example.org/headroom/internal/test/oidctest"
)

// trust returns a checker of tokens from an issuer whose keys are known.
func trust(t *testing.T, issuer *oidctest.Issuer, clock func() time.Time) *oidc.Issuer {
	t.Helper()
	i := oidc.New(oidc.Config{Issuer: issuer.URL, Audience: oidctest.Audience, RolesClaim: "roles", NameClaim: "email", Clock: clock, Wait: time.Millisecond})
	if err := i.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	return i
}

// person returns a token of somebody other than ana.
func person(i *oidctest.Issuer, subject string, roles ...string) string {
	return oidctest.Sign(map[string]any{"alg": "ES256", "kid": "ec"}, i.Claims(map[string]any{"sub": subject, "email": subject + "@example.com"}, roles...), i.EC)
}

// A token has exactly the rights of a key with its role and clusters: every tested operation of the contract answers
// both alike.
func TestTokensMayWhatKeysMay(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	s := newService(t, func(c *app.Config) { c.Issuer = trust(t, issuer, nil) })
	for _, cluster := range []string{"mine", "other"} {
		s.ask(s.admin, "POST", "/v1/clusters", fmt.Sprintf(`{"name":%q}`, cluster)).want(t, 201)
	}
	asks := [][3]string{
		{"GET", "/v1/clusters", ""}, {"GET", "/v1/clusters/mine", ""}, {"GET", "/v1/clusters/other", ""}, {"GET", "/v1/runs", ""}, {"GET", "/v1/audit", ""},
		{"GET", "/v1/keys", ""}, {"POST", "/v1/keys", `{"name":"x","role":"viewer"}`}, {"GET", "/v1/webhooks", ""}, {"GET", "/v1/allowed-hosts", ""},
		{"POST", "/v1/solve", smallProblem}, {"POST", "/v1/clusters/mine/plans", ""}, {"POST", "/v1/clusters/other/plans", ""},
		{"PUT", "/v1/clusters/mine/nodes/n", someNode}, {"PUT", "/v1/clusters/other/nodes/n", someNode}, {"POST", "/v1/clusters/mine/observations", `{"vms":1}`},
		{"POST", "/v1/clusters/mine/admissions", `{"class":"none"}`}, {"POST", "/v1/clusters/mine/nodes/n/heartbeats", `{"seq":1,"boot":"b","running":[]}`},
		{"GET", "/metrics", ""}, {"GET", "/v1/clusters/mine/plans/current/scaling", ""}, {"DELETE", "/v1/clusters/none", ""},
	}
	cells, refused := 0, 0
	for _, role := range auth.Roles {
		for _, clusters := range [][]string{nil, {"mine"}, {"mine", "other"}} {
			roles := []string{"headroom:" + string(role)}
			if clusters != nil {
				roles = nil
			}
			for _, name := range clusters {
				roles = append(roles, "headroom:"+string(role)+":"+name)
			}
			key, token := s.key("key", role, clusters), person(issuer, "ana", roles...)
			var byKey, byToken whoami
			s.ask(key, "GET", "/v1/session", nil).want(t, 200).into(t, &byKey)
			s.ask(token, "GET", "/v1/session", nil).want(t, 200).into(t, &byToken)
			if byKey.Role != byToken.Role || !slices.Equal(byKey.Clusters, byToken.Clusters) || byToken.ID != "oidc:ana" || byToken.Name != "ana@example.com" {
				t.Errorf("the key is %+v, the token %+v", byKey, byToken)
			}
			for _, a := range asks {
				body := any(a[2])
				if a[2] == "" {
					body = nil
				}
				want, got := s.ask(key, a[0], a[1], body), s.ask(token, a[0], a[1], body)
				cells++
				if want.StatusCode >= 400 {
					refused++
				}
				if got.StatusCode != want.StatusCode {
					t.Errorf("%s %s by %s of %v: got %d with a token, %d with a key: %.200s", a[0], a[1], role, clusters, got.StatusCode, want.StatusCode, got.text)
				}
			}
		}
	}
	if refused < 50 || cells-refused < 50 {
		t.Errorf("%d of %d were refused", refused, cells)
	}
	t.Attr("S1", fmt.Sprintf("%d cells answer tokens of an issuer as they answer keys", cells))
}

// The audit log and version conflicts name the author of a change; idempotency and rates are counted for each person.
func TestWhoATokenIs(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	s := newService(t, func(c *app.Config) { c.Issuer = trust(t, issuer, nil) })
	ana, bob := person(issuer, "ana", "headroom:admin"), person(issuer, "bob", "headroom:operator")
	const cluster = `{"name":"shop"}`
	made := s.ask(ana, "POST", "/v1/clusters", cluster, "Idempotency-Key", "same").want(t, 201)
	s.ask(bob, "POST", "/v1/clusters", `{"name":"bobs"}`, "Idempotency-Key", "same").want(t, 201) // not ana's answer, nor a conflict with it
	if again := s.ask(person(issuer, "ana", "headroom:admin"), "POST", "/v1/clusters", cluster, "Idempotency-Key", "same").want(t, 201); again.Header.Get("Idempotency-Replayed") != "true" {
		t.Error("another token of the same subject is not answered again")
	}
	s.ask(bob, "PUT", "/v1/clusters/shop", cluster, "If-Match", made.etag()).want(t, 200)
	late := s.ask(ana, "PUT", "/v1/clusters/shop", cluster, "If-Match", made.etag()).want(t, 412).problem(t)
	if late.LastChange == nil || late.LastChange.By != "bob@example.com" {
		t.Errorf("who was faster is %+v", late.LastChange)
	}
	var entries list[app.AuditEntry]
	s.ask(ana, "GET", "/v1/audit?cluster=shop", nil).want(t, 200).into(t, &entries)
	var got []string
	for _, e := range entries.Items {
		got = append(got, e.Action+" by "+e.By+", "+e.KeyID)
	}
	if diff := cmp.Diff([]string{"update by bob@example.com, oidc:bob", "create by ana@example.com, oidc:ana"}, got); diff != "" {
		t.Errorf("the audit log (-want +got):\n%s", diff)
	}
	log := s.log.String()
	if !strings.Contains(log, `"key_id":"oidc:bob"`) || strings.Contains(log, "eyJ") {
		t.Error("the log does not name who asked, or repeats a token")
	}
}

func TestRateLimitPerSubject(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	f := newFrontFor(t, trust(t, issuer, nil), func(c *Config) { c.RequestsPerSecond = 20 })
	limited := 0
	for range 100 { // a new token does not reset the count
		if w := f.do("GET", "/v1/session", "", "Authorization", "Bearer "+person(issuer, "ana", "headroom:viewer")); w.Code == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < 20 {
		t.Errorf("got %d of 100 requests refused, want those beyond 20 a second", limited)
	}
	wantStatus(t, f.do("GET", "/v1/session", "", "Authorization", "Bearer "+person(issuer, "bob", "headroom:viewer")), http.StatusOK)
}

// Every bad token gets the same answer, whether it comes from an issuer or not.
func TestBadTokensOfAnIssuerAreRefusedAlike(t *testing.T) {
	t.Parallel()
	issuer, other := oidctest.New(t), oidctest.New(t)
	f := newFrontFor(t, trust(t, issuer, nil))
	header, now := map[string]any{"alg": "RS256", "kid": "rsa"}, time.Now()
	sign := func(change map[string]any) string {
		return oidctest.Sign(header, issuer.Claims(change, "headroom:admin"), issuer.RSA)
	}
	good := issuer.Token("headroom:admin")
	unknown, _ := auth.NewToken(auth.KeyPrefix)
	bad := map[string]string{
		"a key": unknown, "dots": "a.b.c", "cut off": good[:len(good)-9],
		"over": sign(map[string]any{"exp": now.Add(-time.Hour).Unix()}), "not yet": sign(map[string]any{"nbf": now.Add(time.Hour).Unix()}),
		"another audience": sign(map[string]any{"aud": "x"}), "another issuer": sign(map[string]any{"iss": other.URL}),
		"another's key": oidctest.Sign(header, issuer.Claims(nil, "headroom:admin"), other.RSA), "an unknown key": oidctest.Sign(map[string]any{"alg": "RS256", "kid": "x"}, issuer.Claims(nil, "headroom:admin"), other.RSA),
		"none": oidctest.Sign(map[string]any{"alg": "none"}, issuer.Claims(nil, "headroom:admin"), nil), "a secret": oidctest.Sign(map[string]any{"alg": "HS256"}, issuer.Claims(nil, "headroom:admin"), []byte("secret")),
		"no role": oidctest.Sign(header, issuer.Claims(nil, "headroom:king"), issuer.RSA), "too large": sign(map[string]any{"more": strings.Repeat("a", 9000)}),
	}
	answers, n := map[string][]string{}, 0
	for kind, token := range bad {
		for _, headers := range [][]string{{"Authorization", "Bearer " + token}, {"X-API-KEY", token}} {
			n++
			w := f.do("GET", "/v1/clusters", "", append(headers, "address", fmt.Sprint("10.0.0.", n))...)
			p := problemIn(t, w)
			p.Instance = ""
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			w.Header().Del(requestIDHeader)
			answers[fmt.Sprint(w.Code, w.Header(), string(text))] = append(answers[fmt.Sprint(w.Code, w.Header(), string(text))], kind)
		}
		if kind != "too large" { // which the contract does not take as a token
			wantStatus(t, f.signIn(token, "address", fmt.Sprint("10.1.0.", n)), http.StatusUnauthorized)
		}
	}
	if len(answers) != 1 {
		t.Errorf("got %d answers: %v", len(answers), answers)
	}
	reasons := map[string]bool{}
	for _, line := range f.log.lines(t) {
		if why, said := line["refused"].(string); said {
			reasons[why] = true
		}
	}
	if len(reasons) < 8 || strings.Contains(f.log.String(), "eyJ") {
		t.Errorf("the log says why %d times, or repeats a token: %v", len(reasons), reasons)
	}
	wantStatus(t, f.do("GET", "/v1/session", "", "Authorization", "Bearer "+good), http.StatusOK)
	if w := f.do("GET", "/v1/session?access_token="+good, ""); w.Code != http.StatusUnauthorized {
		t.Errorf("a token in an address: got %d", w.Code)
	}
	t.Attr("S4", fmt.Sprintf("%d kinds of bad token of an issuer refused as bad keys are", len(bad)-1))
}

// A refusal takes no longer than the check of the signature, for any fault: the issuer is not asked.
func TestBadTokensOfAnIssuerAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	trusted := trust(t, issuer, nil)
	header := map[string]any{"alg": "RS256", "kid": "rsa"}
	asked := issuer.Asked()
	for kind, token := range map[string]string{
		"signature": issuer.Token("headroom:admin") + "AA", "key": oidctest.Sign(map[string]any{"alg": "RS256", "kid": "x"}, issuer.Claims(nil), issuer.RSA),
		"over": oidctest.Sign(header, issuer.Claims(map[string]any{"exp": 1}), issuer.RSA), "role": issuer.Token(),
	} {
		fastest := time.Hour
		for range 50 {
			began := time.Now()
			if _, err := trusted.Check(t.Context(), token); err == nil {
				t.Errorf("%s: it opens", kind)
			}
			fastest = min(fastest, time.Since(began))
		}
		if fastest > 2*time.Millisecond {
			t.Errorf("%s: refused in %s", kind, fastest)
		}
	}
	if issuer.Asked() != asked {
		t.Error("the issuer was asked")
	}
}

// A browser's session lasts no longer than the token that opened it, nor than the trust in its issuer.
func TestSessionsOfTokens(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	f := newFrontFor(t, trust(t, issuer, nil))
	w := f.signIn(person(issuer, "ana", "headroom:planner:shop"))
	wantStatus(t, w, http.StatusCreated)
	var me whoami
	if err := json.Unmarshal(w.Body.Bytes(), &me); err != nil || me.ID != "oidc:ana" || me.Role != auth.Planner || !slices.Equal(me.Clusters, []string{"shop"}) || time.Until(*me.ExpiresAt) > 61*time.Minute {
		t.Errorf("who signed in is %+v, %v", me, err)
	}
	cookie := frontCookie + "=" + cookieIn(t, w).Value
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", cookie), http.StatusOK)
	f.pass(59 * time.Minute)
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", cookie), http.StatusOK)
	without := newFront(t)
	without.store.sessions = f.store.sessions
	wantStatus(t, without.do("GET", "/v1/session", "", "Cookie", cookie), http.StatusUnauthorized)
	f.pass(2 * time.Minute)
	wantStatus(t, f.do("GET", "/v1/session", "", "Cookie", cookie), http.StatusUnauthorized)
}

// Until the issuer is reached for the first time, no token is judged, and keys still work.
func TestTokensBeforeTheIssuerIsReached(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	away := oidc.New(oidc.Config{Issuer: issuer.URL, Audience: oidctest.Audience, RolesClaim: "roles", Wait: time.Millisecond})
	f := newFrontFor(t, away)
	for _, token := range []string{issuer.Token("headroom:admin"), issuer.Token("headroom:admin") + "AA"} {
		w := f.do("GET", "/v1/session", "", "Authorization", "Bearer "+token)
		wantStatus(t, w, http.StatusServiceUnavailable)
		if p := problemIn(t, w); !strings.Contains(p.Detail, "issuer") || w.Header().Get("Retry-After") == "" {
			t.Errorf("got %+v", p)
		}
		wantStatus(t, f.signIn(token), http.StatusServiceUnavailable)
	}
	wantStatus(t, f.do("GET", "/v1/session", "", "X-API-KEY", f.key(nil)), http.StatusOK)
}
