// Package oidc checks bearer tokens of an OpenID Connect issuer: signature, issuer, audience and times. It turns
// their claims into a role and clusters. It fetches the issuer's keys and stores nothing.
package oidc

import (
	"context"
	"crypto/tls"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/service/auth"
)

// Config names the issuer of accepted tokens, and their required claims. Zero values mean the defaults.
type Config struct {
	Issuer     string // its address, exactly as in its tokens' iss
	Audience   string // required in aud
	RolesClaim string // claim with the roles, perhaps inside another, such as realm_access.roles
	NameClaim  string // claim with a person's name

	// People sign in at the issuer's page where it knows this server by a name.
	ClientID     string
	ClientSecret string // "" where the issuer asks for none
	Scopes       string // default openid

	Log   *slog.Logger     // default none
	Clock func() time.Time // default time.Now
	TLS   *tls.Config      // default the machine's authorities

	Every time.Duration // between checks for changed keys; default 5 min
	Again time.Duration // shortest time between requests to the issuer, for any tokens; default 10 s
	Wait  time.Duration // for the issuer's answer about an unknown key; default 2 s
}

const (
	// leeway is the allowed difference between clocks.
	leeway = 30 * time.Second
	// maxToken bounds the size of a token; the server accepts headers of 16 KiB.
	maxToken = 8 << 10
	// maxTokens bounds what an issuer gives for a code: two tokens, one to ask again with, and words.
	maxTokens = 64 << 10
	// trusted is the time for which keys count without the issuer's confirmation.
	trusted = 24 * time.Hour
)

// algorithms lists the accepted signatures. All have a public key, so nobody can sign a token with that key.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256}

// kinds lists the accepted types of tokens. Others of the same issuer, such as those that end a session, have other
// purposes.
var kinds = []string{"", "jwt", "at+jwt", "application/at+jwt", "application/jwt"}

// Issuer checks tokens. It is safe for concurrent use.
type Issuer struct {
	config Config
	source *fetch.Client

	wanted chan struct{} // signals that a request is wanted

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	about    about
	read     time.Time     // time of the issuer's last confirmation of these keys
	lastAsk  time.Time     // time of the last request
	asking   bool          // a request is running
	answered chan struct{} // closed with its next answer
	trouble  string        // last logged trouble
}

// New returns an Issuer without any request.
func New(c Config) *Issuer {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Scopes == "" {
		c.Scopes = "openid"
	}
	if c.Every <= 0 {
		c.Every = 5 * time.Minute
	}
	if c.Again <= 0 {
		c.Again = 10 * time.Second
	}
	if c.Wait <= 0 {
		c.Wait = 2 * time.Second
	}
	i := &Issuer{config: c, wanted: make(chan struct{}, 1), answered: make(chan struct{})}
	i.source = fetch.New(fetch.Config{HostOf: i.hostOf, Connections: 4, Stall: askWithin, Excerpt: maxTokens, TLS: c.TLS})
	return i
}

// Watch keeps the issuer's keys in memory until the context ends, and then closes done. A token with an unknown key
// causes a request at once, but not more often than every Again.
func (i *Issuer) Watch(ctx context.Context) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			next := i.config.Every
			if err := i.Ask(ctx); err != nil {
				next = min(next, i.again())
			}
			i.rest(ctx, next)
		}
	}()
	return ended
}

// rest waits until the issuer is to be asked again.
func (i *Issuer) rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-i.wanted:
			if i.due() {
				return
			}
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// due reports whether a token may cause another request.
func (i *Issuer) due() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.config.Clock().Sub(i.lastAsk) >= i.pause()
}

func (i *Issuer) again() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.pause()
}

// pause returns the shortest time between requests. It is shorter while the issuer has never answered and no token
// can be checked.
func (i *Issuer) pause() time.Duration {
	if i.read.IsZero() {
		return i.config.Again / 10
	}
	return i.config.Again
}

// refusal is the reason for refusing a token, for the log and not for its sender.
type refusal string

func (r refusal) Error() string { return string(r) }
func (r refusal) Is(target error) bool {
	return target == auth.ErrToken || target == auth.ErrNoRole && r == errNoRole
}

const errNoRole = refusal("without a role")

// Check returns the key that a token stands for. Every refused token gives auth.ErrToken, with a text for the log.
// While the issuer's keys are unknown, it returns auth.ErrIssuerAway.
func (i *Issuer) Check(ctx context.Context, token string) (auth.Key, error) {
	text, err := i.verified(ctx, token)
	if err != nil {
		return auth.Key{}, err
	}
	key, err := i.holder(text, i.config.Audience)
	if err != nil {
		return auth.Key{}, err
	}
	return key, nil
}

// verified returns the claims of a token that the issuer has signed.
func (i *Issuer) verified(ctx context.Context, token string) ([]byte, error) {
	if len(token) > maxToken {
		return nil, refusal("too large")
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return nil, refusal("unreadable, or signed in a way that is not taken")
	}
	header := signed.Signatures[0].Header
	if kind, _ := header.ExtraHeaders[jose.HeaderType].(string); !slices.Contains(kinds, strings.ToLower(kind)) {
		return nil, refusal("of another kind")
	}
	keys, err := i.keysFor(ctx, header)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if text, err := signed.Verify(key.Key); err == nil {
			return text, nil
		}
	}
	return nil, refusal("signed with no key of the issuer")
}

// keysFor returns the issuer's keys that may have made a signature. Without one it asks the issuer again.
func (i *Issuer) keysFor(ctx context.Context, header jose.Header) ([]jose.JSONWebKey, error) {
	keys, known := i.fitting(header)
	if len(keys) == 0 {
		i.lookAgain(ctx)
		keys, known = i.fitting(header)
	}
	if !known {
		return nil, auth.ErrIssuerAway
	}
	return keys, nil
}

func (i *Issuer) fitting(header jose.Header) (keys []jose.JSONWebKey, known bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.read.IsZero() || i.config.Clock().Sub(i.read) > trusted {
		return nil, false
	}
	for _, k := range i.keys {
		if (header.KeyID == "" || header.KeyID == k.KeyID) && k.Algorithm == header.Algorithm {
			keys = append(keys, k)
		}
	}
	return keys, true
}

// lookAgain waits briefly for a request for the issuer's keys, unless there was one a moment ago.
func (i *Issuer) lookAgain(ctx context.Context) {
	i.mu.Lock()
	answered, asking := i.answered, i.asking
	i.mu.Unlock()
	if !asking {
		if !i.due() {
			return
		}
		select {
		case i.wanted <- struct{}{}:
		default: // already signalled
		}
	}
	timer := time.NewTimer(i.config.Wait)
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Ask fetches the issuer's keys. After an error the last known ones remain.
func (i *Issuer) Ask(ctx context.Context) error {
	i.mu.Lock()
	i.lastAsk, i.asking = i.config.Clock(), true
	i.mu.Unlock()
	said, keys, err := i.fetchKeys(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asking = false
	close(i.answered)
	i.answered = make(chan struct{})
	switch {
	case err == nil:
		if i.trouble != "" {
			i.config.Log.Info("the issuer of tokens answers again", "issuer", i.config.Issuer)
		}
		i.about, i.keys, i.read, i.trouble = said, keys, i.config.Clock(), ""
	case ctx.Err() == nil && err.Error() != i.trouble:
		i.trouble = err.Error()
		i.config.Log.Warn("the issuer of tokens does not say with which keys it signs; the last known ones go on, for a day", "issuer", i.config.Issuer, "error", i.trouble)
	}
	return err
}
