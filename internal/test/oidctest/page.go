package oidctest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// The name and the secret under which the page knows a server.
const (
	ClientID     = "headroom-page"
	ClientSecret = "a+secret/with%signs"
)

// visit is somebody who has signed in at the page, and whose code has not been taken.
type visit struct {
	back, nonce, challenge string
}

// Page describes the issuer's page, which lets everybody in at once.
type Page struct {
	Back     string         // where it sends people back to; others are refused
	Public   bool           // it asks for no secret
	Identity map[string]any // changes of the identity token's claims
	Access   string         // the access token that it gives
	Deny     string         // the error that it sends people back with, instead of a code

	codes map[string]visit
}

// Open opens a page, as its description then says.
func (i *Issuer) Open(p *Page) {
	p.codes = map[string]visit{}
	i.Say("authorization_endpoint", i.URL+"/page?theme=light")
	i.Say("token_endpoint", i.URL+"/tokens")
	i.Answer(func(w http.ResponseWriter, r *http.Request) bool {
		i.mu.Lock()
		defer i.mu.Unlock()
		switch r.URL.Path {
		case "/page":
			p.send(w, r)
		case "/tokens":
			i.give(p, w, r)
		default:
			return false
		}
		return true
	})
}

// send sends somebody back with a code, where everything about the request is in order.
func (p *Page) send(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	challenge, err := base64.RawURLEncoding.DecodeString(q.Get("code_challenge"))
	back, wrong := url.Parse(q.Get("redirect_uri"))
	switch {
	case q.Get("theme") != "light", q.Get("client_id") != ClientID, q.Get("redirect_uri") != p.Back, wrong != nil:
		http.Error(w, "who is this?", http.StatusBadRequest) // nobody is sent to an unknown address
		return
	case q.Get("response_type") != "code", q.Get("scope") != "openid", q.Get("code_challenge_method") != "S256", err != nil, len(challenge) != sha256.Size,
		len(q.Get("state")) < 16, len(q.Get("nonce")) < 16:
		p.Deny = "invalid_request"
	}
	answer := url.Values{"state": {q.Get("state")}, "session_state": {"x"}}
	if p.Deny != "" {
		answer.Set("error", p.Deny)
	} else {
		code := rand.Text()
		p.codes[code] = visit{p.Back, q.Get("nonce"), q.Get("code_challenge")}
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// give gives the tokens for a code, once, to whoever began the sign-in.
func (i *Issuer) give(p *Page, w http.ResponseWriter, r *http.Request) {
	id, secret, basic := r.BasicAuth()
	id, secret = unescaped(id), unescaped(secret)
	known := basic && id == ClientID && secret == ClientSecret
	if p.Public {
		known = !basic && r.PostFormValue("client_id") == ClientID
	}
	v, found := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	w.Header().Set("Content-Type", "application/json")
	switch {
	case !known:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
	case r.Method != http.MethodPost, r.PostFormValue("grant_type") != "authorization_code", !found, r.PostFormValue("redirect_uri") != v.back,
		base64.RawURLEncoding.EncodeToString(sum[:]) != v.challenge, len(r.PostFormValue("code_verifier")) < 43:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
	default:
		now := time.Now()
		claims := map[string]any{"iss": i.URL, "aud": ClientID, "sub": "ana", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "nonce": v.nonce}
		for name, value := range p.Identity {
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
		}
		token := Sign(map[string]any{"alg": "RS256", "kid": "rsa", "typ": "JWT"}, claims, i.RSA)
		_ = json.NewEncoder(w).Encode(map[string]any{"id_token": token, "access_token": p.Access, "token_type": "Bearer", "expires_in": 60})
	}
}

func unescaped(text string) string {
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return text
	}
	return plain
}
