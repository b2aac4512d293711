package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/test/oidctest"
)

// tampered changes a text in one of the ways open to somebody who has seen a good one, or two.
func tampered(r *rand.Rand, good, other string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	text := []byte(good)
	at := r.IntN(len(text))
	switch r.IntN(10) {
	case 0: // another letter
		text[at] = letters[r.IntN(len(letters))]
	case 1: // one bit
		text[at] ^= 1 << r.IntN(7)
	case 2: // the other case
		text[at] ^= 'a' - 'A'
	case 3: // cut off
		text = text[:at]
	case 4: // a letter less
		text = slices.Delete(text, at, at+1)
	case 5: // a letter more
		text = slices.Insert(text, at, letters[r.IntN(len(letters))])
	case 6: // two letters in each other's places
		to := r.IntN(len(text))
		text[at], text[to] = text[to], text[at]
	case 7: // the beginning of one and the end of another
		at = min(at, len(other))
		text = append(text[:at], other[at:]...)
	case 8: // text after it
		text = append(text, []string{"=", "==", "\x00", "%00", ",", ";", " x", "\u00ad", "\ufeff", good}[r.IntN(10)]...)
	default: // many letters
		for range 1 + r.IntN(8) {
			text[r.IntN(len(text))] = letters[r.IntN(len(letters))]
		}
	}
	return string(text)
}

// sameToken reports whether two tokens of an issuer are the same bytes: the last letter of a part in base64 has bits
// without meaning.
func sameToken(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	return len(x) == len(y) && slices.EqualFunc(x, y, func(a, b string) bool {
		p, err := base64.RawURLEncoding.DecodeString(a)
		q, wrong := base64.RawURLEncoding.DecodeString(b)
		return err == nil && wrong == nil && bytes.Equal(p, q)
	})
}

// Nothing that resembles a key, a session, a link or an issuer's token opens anything.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	f := newFrontFor(t, trust(t, issuer, nil))
	key, otherKey := f.key(nil), f.key(nil)
	session := cookieIn(t, f.signIn(key)).Value
	otherSession := cookieIn(t, f.signIn(otherKey)).Value
	link, err := f.app.Auth.NewSignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	otherLink, err := f.app.Auth.NewSignInLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	header := map[string]any{"alg": "RS256", "kid": "rsa"}
	rs := func(subject string) string {
		return oidctest.Sign(header, issuer.Claims(map[string]any{"sub": subject}, "headroom:admin"), issuer.RSA)
	}
	ways := []struct {
		good, other string
		ask         func(token, address string) int
	}{
		{key, otherKey, func(token, address string) int {
			return f.do("GET", "/v1/session", "", append(bearer(token), "address", address)...).Code
		}},
		{key, otherKey, func(token, address string) int {
			return f.do("GET", "/v1/session", "", "X-API-KEY", token, "address", address).Code
		}},
		{session, otherSession, func(token, address string) int {
			return f.do("GET", "/v1/session", "", "Cookie", frontCookie+"="+token, "address", address).Code
		}},
		{link, otherLink, func(token, address string) int {
			body, _ := json.Marshal(map[string]string{"token": token})
			return f.do("POST", "/v1/session", string(body), "address", address).Code
		}},
		{rs("ana"), rs("bob"), func(token, address string) int {
			return f.do("GET", "/v1/session", "", append(bearer(token), "address", address)...).Code
		}},
		{person(issuer, "ana", "headroom:admin"), person(issuer, "bob", "headroom:viewer"), func(token, address string) int {
			return f.do("GET", "/v1/session", "", append(bearer(token), "address", address)...).Code
		}},
	}
	const tries = 10_000
	r := rand.New(rand.NewPCG(4, 4))
	tried := 0
	for n := range tries {
		way := ways[n%len(ways)]
		token := tampered(r, way.good, way.other)
		if trimmed := strings.Trim(token, " \t"); trimmed == way.good || trimmed == way.other || sameToken(token, way.good) || sameToken(token, way.other) {
			continue
		}
		if way.good == session && strings.HasPrefix(token, session+";") { // a cookie, and another that has no name
			continue
		}
		tried++
		address := fmt.Sprintf("10.%d.%d.%d", n>>16, n>>8&255, n&255) // frequent guesses are refused anyway
		switch got := way.ask(token, address); got {
		case http.StatusUnauthorized:
		case http.StatusBadRequest, http.StatusUnprocessableEntity:
			if way.good != link {
				t.Errorf("%.80q: got %d", token, got)
			}
		default:
			t.Errorf("%.80q, of %.80q: got %d", token, way.good, got)
		}
	}
	if tried < tries*9/10 {
		t.Errorf("only %d of %d were forged", tried, tries)
	}
	for i, way := range ways { // the copied token is still valid
		if got := way.ask(way.good, fmt.Sprintf("11.0.0.%d", i)); got != http.StatusOK && got != http.StatusCreated {
			t.Errorf("the good one of way %d: got %d", i, got)
		}
	}
	t.Attr("S4", fmt.Sprintf("%d forged keys, sessions, links and issuer's tokens refused", tried))
}

// Nothing that resembles an ETag overwrites somebody's change. Nothing that resembles a cursor causes an error of
// ours or leads out of a list.
func TestForgedVersionsAndCursors(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, name := range []string{"mine", "hidden"} {
		s.ask(s.admin, "POST", "/v1/clusters", fmt.Sprintf(`{"name":%q}`, name)).want(t, 201)
		for i := range 5 {
			s.ask(s.admin, "POST", "/v1/clusters/"+name+"/vm-types", fmt.Sprintf(`{"name":"%s-%d"}`, name, i)).want(t, 201)
		}
	}
	const at = "/v1/clusters/mine/vm-types/mine-0"
	for i := range 11 { // so that shorter and longer numbers are old and future versions
		s.ask(s.admin, "PUT", at, fmt.Sprintf(`{"name":"mine-0","description":"%d"}`, i), "If-Match", fmt.Sprintf(`"%d"`, i+1)).want(t, 200)
	}
	before := s.ask(s.admin, "GET", at, nil).want(t, 200)
	etag := `"12"`
	if before.Header.Get("ETag") != etag {
		t.Fatalf("the ETag is %s", before.Header.Get("ETag"))
	}
	r := rand.New(rand.NewPCG(12, 12))
	tags := []string{"*", `W/"12"`, "12", `"012"`, `"+12"`, `"12.0"`, `"0xc"`, `"12","12"`, `"12" `, `"-12"`, `"1e1"`, `"9223372036854775807"`, `"9223372036854775808"`, `""`, `'12'`, `"١٢"`}
	for len(tags) < 250 {
		if forged := strings.Trim(tampered(r, etag, `"11"`), " \t"); forged != etag && !strings.ContainsFunc(forged, unicode.IsControl) { // which no client sends
			tags = append(tags, forged)
		}
	}
	for i, tag := range tags {
		if strings.TrimSpace(tag) == etag {
			continue // space around a header's value is no part of it
		}
		method, body := "PUT", any(fmt.Sprintf(`{"name":"mine-0","description":"forged %d"}`, i))
		if i%2 == 1 {
			method, body = "DELETE", nil
		}
		if got := s.ask(s.admin, method, at, body, "If-Match", tag).StatusCode; got != 412 && got != 400 && got != 428 {
			t.Errorf("%s with If-Match: %s: got %d", method, tag, got)
		}
	}
	if after := s.ask(s.admin, "GET", at, nil).want(t, 200); string(after.text) != string(before.text) || after.Header.Get("ETag") != etag {
		t.Errorf("it was %s and is %s", before.text, after.text)
	}

	limited := s.key("limited", auth.Viewer, []string{"mine"})
	const list = "/v1/clusters/mine/vm-types?limit=2"
	var page struct {
		Next string `json:"next_cursor"`
	}
	s.ask(limited, "GET", list, nil).want(t, 200).into(t, &page)
	keys := []string{`["hidden-0"]`, `["a","b"]`, `[]`, `[null]`, `[1]`, `{}`, `"x"`, `[["x"]]`, `["\u0000"]`, `["' OR 1=1 --"]`, `[` + strings.Repeat("[", 5000), `["` + strings.Repeat("x", 5000) + `"]`}
	cursors := []string{}
	for _, key := range keys {
		cursors = append(cursors, base64.RawURLEncoding.EncodeToString([]byte(key)))
	}
	for len(cursors) < 250 {
		cursors = append(cursors, tampered(r, page.Next, cursors[0]))
	}
	for _, cursor := range cursors {
		answer := s.ask(limited, "GET", list+"&cursor="+url.QueryEscape(cursor), nil)
		if answer.StatusCode != 200 && answer.StatusCode != 400 || strings.Contains(string(answer.text), `"name":"hidden`) {
			t.Errorf("the cursor %.80q: got %d %.200s", cursor, answer.StatusCode, answer.text)
		}
	}
	t.Attr("R11", fmt.Sprintf("%d forged ETags changed nothing, and %d forged cursors led nowhere", len(tags), len(cursors)))
}
