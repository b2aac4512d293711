package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.org/headroom/internal/data/fetch"
)

const (
	askWithin   = 5 * time.Second
	maxDocument = 512 << 10
	maxKeys     = 100
	minBits     = 2048 // of an RSA key
)

// everywhere allows all addresses, because the person who names the issuer may also name the database.
var everywhere = []string{"0.0.0.0/0", "::/0"}

// hostOf allows the issuer at any address, but plain HTTP on this machine alone. If its document sends to another
// host for the keys, that host must be public.
func (i *Issuer) hostOf(_ context.Context, host string, port int64) (fetch.AllowedHost, error) {
	allowed := fetch.AllowedHost{Host: host, Port: port, HTTP: onLoopback(host)}
	if own, _ := fetch.ParseTarget(i.config.Issuer); own.Host == host {
		allowed.Networks = everywhere
	}
	return allowed, nil
}

func onLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// Fault explains why an address cannot be an issuer's; "" if it can.
func Fault(issuer string) string {
	target, fault := fetch.ParseTarget(issuer)
	switch {
	case fault != "":
		return fault
	case strings.Contains(issuer, "?"):
		return "An issuer's address has no query (?…)."
	case target.Scheme != "https" && !onLoopback(target.Host):
		return "An issuer is asked over https://, so that nobody on the way can put keys of theirs in the place of its own; plain HTTP is for loopback alone."
	}
	return ""
}

// fetchKeys asks the issuer about itself, and fetches its keys.
func (i *Issuer) fetchKeys(ctx context.Context) (said about, keys []jose.JSONWebKey, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if err := i.document(ctx, strings.TrimSuffix(i.config.Issuer, "/")+"/.well-known/openid-configuration", &said); err != nil {
		return said, nil, err
	}
	if said.Issuer != i.config.Issuer {
		return said, nil, fmt.Errorf("the issuer calls itself %.200q, not %q; HEADROOM_OIDC_ISSUER must be written as it does", said.Issuer, i.config.Issuer)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := i.document(ctx, said.Keys, &set); err != nil {
		return said, nil, err
	}
	for _, text := range set.Keys[:min(len(set.Keys), maxKeys)] {
		if key, ok := usable(text); ok {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return said, nil, fmt.Errorf("the issuer has no key that tokens may be signed with: RS256 with at least %d bits, or ES256", minBits)
	}
	return said, keys, nil
}

// usable reads a key, and reports whether it can sign tokens in an accepted way. The algorithm follows from the key
// itself, not from the issuer's claims about it.
func usable(text []byte) (jose.JSONWebKey, bool) {
	var key jose.JSONWebKey
	if err := json.Unmarshal(text, &key); err != nil || !key.Valid() || key.Use != "" && key.Use != "sig" {
		return key, false // an issuer may have keys of unknown kinds
	}
	fits := ""
	switch k := key.Key.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() >= minBits {
			fits = string(jose.RS256)
		}
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			fits = string(jose.ES256)
		}
	}
	if fits == "" || key.Algorithm != "" && key.Algorithm != fits {
		return key, false
	}
	key.Algorithm = fits
	return key, true
}

// document reads one of the issuer's JSON documents.
func (i *Issuer) document(ctx context.Context, address string, into any) error {
	file, err := i.source.Get(ctx, address, 1<<40)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("the issuer does not answer within %s", askWithin)
		}
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("the issuer does not answer within %s", askWithin)
	case err != nil:
		return err
	case len(text) > maxDocument:
		return fmt.Errorf("the issuer answers with more than %d KiB", maxDocument>>10)
	case json.Unmarshal(text, into) != nil:
		return errors.New("the issuer's answer is not the JSON that it should be")
	}
	return nil
}
