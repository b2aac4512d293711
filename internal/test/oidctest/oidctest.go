// Package oidctest provides an OpenID Connect issuer for tests: a real server with real keys. It signs with the
// standard library alone, so that the checking code is tested against other code.
package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Audience is the audience of its tokens.
const Audience = "headroom-test"

// Issuer is a running issuer.
type Issuer struct {
	URL string
	RSA *rsa.PrivateKey   // signs with RS256, as kid "rsa"
	EC  *ecdsa.PrivateKey // signs with ES256, as kid "ec"

	t      testing.TB
	server *httptest.Server
	mu     sync.Mutex
	keys   []map[string]any
	about  map[string]any
	answer func(w http.ResponseWriter, r *http.Request) bool
	asked  int
}

// New starts an issuer on loopback.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t}
	i.server = httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(i.server.Close)
	i.URL = i.server.URL
	i.about = map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"}
	i.Rotate("rsa", "ec")
	return i
}

// Rotate draws new keys, with these kids.
func (i *Issuer) Rotate(ofRSA, ofEC string) {
	i.t.Helper()
	one, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.t.Fatal(err)
	}
	two, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.RSA, i.EC = one, two
	i.keys = []map[string]any{JWK(ofRSA, &one.PublicKey), JWK(ofEC, &two.PublicKey)}
}

// Publish replaces the published keys.
func (i *Issuer) Publish(keys ...map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// Say replaces a member of its description of itself.
func (i *Issuer) Say(member string, value any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.about[member] = value
}

// Answer lets a test answer requests; do reports whether it has answered. nil ends that.
func (i *Issuer) Answer(do func(w http.ResponseWriter, r *http.Request) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = do
}

// Asked returns the number of requests for its keys.
func (i *Issuer) Asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	answer, about, keys := i.answer, maps.Clone(i.about), i.keys
	if r.URL.Path == "/keys" {
		i.asked++
	}
	i.mu.Unlock()
	switch {
	case answer != nil && answer(w, r):
	case r.URL.Path == "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(about)
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

// JWK returns a public key in the form that issuers publish.
func JWK(kid string, public crypto.PublicKey) map[string]any {
	encode := base64.RawURLEncoding.EncodeToString
	switch k := public.(type) {
	case *rsa.PublicKey:
		return map[string]any{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": encode(k.N.Bytes()), "e": encode([]byte{byte(k.E >> 16), byte(k.E >> 8), byte(k.E)})}
	case *ecdsa.PublicKey:
		point, _ := k.Bytes()
		half := (len(point) - 1) / 2
		return map[string]any{"kty": "EC", "use": "sig", "crv": k.Curve.Params().Name, "kid": kid, "x": encode(point[1 : 1+half]), "y": encode(point[1+half:])}
	}
	panic("no such key")
}

// Claims returns the claims of a good token with these roles, with changes; nil removes a claim.
func (i *Issuer) Claims(change map[string]any, roles ...string) map[string]any {
	now := time.Now()
	c := map[string]any{"iss": i.URL, "aud": Audience, "sub": "ana", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "roles": roles}
	for name, value := range change {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

// Token returns a good token with these roles.
func (i *Issuer) Token(roles ...string) string {
	return Sign(map[string]any{"alg": "RS256", "kid": "rsa", "typ": "JWT"}, i.Claims(nil, roles...), i.RSA)
}

// Sign makes any token, even a senseless one: with a private key, with a secret (HS256), or with nil for no
// signature.
func Sign(header, claims map[string]any, key any) string {
	part := func(x any) string {
		text, err := json.Marshal(x)
		if err != nil {
			panic(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(header) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	var signature []byte
	switch k := key.(type) {
	case *rsa.PrivateKey:
		signature, _ = rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
	case *ecdsa.PrivateKey:
		r, s, _ := ecdsa.Sign(rand.Reader, k, sum[:])
		size := (k.Curve.Params().BitSize + 7) / 8
		signature = append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	case []byte:
		h := hmac.New(sha256.New, k)
		h.Write([]byte(text))
		signature = h.Sum(nil)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}
