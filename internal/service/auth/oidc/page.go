package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"example.org/headroom/internal/service/auth"
)

// about holds an issuer's description of itself.
type about struct {
	Issuer  string   `json:"issuer"`
	Keys    string   `json:"jwks_uri"`
	Page    string   `json:"authorization_endpoint"`
	Codes   string   `json:"token_endpoint"` // takes codes for tokens
	Methods []string `json:"token_endpoint_auth_methods_supported"`
}

// HasPage reports whether the issuer knows this server by a name.
func (i *Issuer) HasPage() bool { return i.config.ClientID != "" }

// Begin returns the address of the issuer's page where somebody signs in, and what must come back from there. It is
// the authorization code flow with PKCE. Nothing is stored here, so that any server of several may end it.
func (i *Issuer) Begin(back string) (string, auth.Attempt, error) {
	if !i.HasPage() {
		return "", auth.Attempt{}, auth.ErrNoPage
	}
	known, err := i.described()
	if err != nil {
		return "", auth.Attempt{}, err
	}
	page, err := url.Parse(known.Page)
	if err != nil || known.Codes == "" || Fault(withoutQuery(known.Page)) != "" {
		i.config.Log.Warn("the issuer says of no page to sign in at over https, or of no place that takes codes", "issuer", i.config.Issuer)
		return "", auth.Attempt{}, auth.ErrNoPage
	}
	a := auth.Attempt{Issuer: i.config.Issuer, State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text()}
	sum := sha256.Sum256([]byte(a.Verifier))
	query := page.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": i.config.ClientID, "redirect_uri": back, "scope": i.config.Scopes,
		"state": a.State, "nonce": a.Nonce, "code_challenge_method": "S256", "code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]),
	} {
		query.Set(name, value)
	}
	page.RawQuery = query.Encode()
	return page.String(), a, nil
}

func withoutQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}

// described returns what the issuer said of itself when it was asked for its keys.
func (i *Issuer) described() (about, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.read.IsZero() {
		return about{}, auth.ErrIssuerAway
	}
	return i.about, nil
}

// End takes a code that the issuer's page gave a browser, and returns who signed in.
func (i *Issuer) End(ctx context.Context, a auth.Attempt, back, code string) (auth.Key, error) {
	known, err := i.described()
	if err != nil {
		return auth.Key{}, err
	}
	given, err := i.exchange(ctx, known, a, back, code)
	if err != nil {
		return auth.Key{}, err
	}
	text, err := i.verified(ctx, given.Identity)
	if err != nil {
		return auth.Key{}, err
	}
	var bound struct {
		Nonce string `json:"nonce"`
		Party string `json:"azp"`
	}
	_ = json.Unmarshal(text, &bound) // holder says whether it can be read
	if subtle.ConstantTimeCompare([]byte(bound.Nonce), []byte(a.Nonce)) != 1 || bound.Party != "" && bound.Party != i.config.ClientID {
		return auth.Key{}, refusal("made out for another sign-in")
	}
	key, err := i.holder(text, i.config.ClientID)
	if err == errNoRole { // some issuers put roles only into tokens for programs
		if byAccess, wrong := i.Check(ctx, given.Access); wrong == nil && byAccess.ID == key.ID {
			key, err = byAccess, nil
		}
	}
	key.ExpiresAt = nil // the token's end is not the session's
	return key, err
}

// tokens holds an issuer's answer to a code.
type tokens struct {
	Identity string `json:"id_token"`
	Access   string `json:"access_token"`
}

// exchange gives the issuer a code, and proves that we began the sign-in.
func (i *Issuer) exchange(ctx context.Context, known about, a auth.Attempt, back, code string) (given tokens, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {back}, "code_verifier": {a.Verifier}}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}}
	switch id, secret := i.config.ClientID, i.config.ClientSecret; {
	case secret == "":
		form.Set("client_id", id)
	case len(known.Methods) == 1 && known.Methods[0] == "client_secret_post":
		form.Set("client_id", id)
		form.Set("client_secret", secret)
	default: // which every issuer takes
		name, word := url.QueryEscape(id), url.QueryEscape(secret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(name+":"+word)))
	}
	answer, err := i.source.Post(ctx, known.Codes, header, form.Encode())
	switch {
	case err != nil:
		i.config.Log.Warn("the issuer does not take codes of people who sign in", "issuer", i.config.Issuer, "error", err.Error())
		return given, auth.ErrIssuerAway
	case answer.Status == http.StatusOK && json.Unmarshal([]byte(answer.Excerpt), &given) == nil:
		return given, nil
	}
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal([]byte(answer.Excerpt), &said)
	i.config.Log.Warn("the issuer refuses the code of somebody who signs in", "issuer", i.config.Issuer, "status", answer.Status, "error", fmt.Sprintf("%.100s", said.Error))
	return given, refusal("no tokens for its code")
}
