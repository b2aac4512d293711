// Package oidc checks bearer tokens that an OpenID Connect issuer has made out: signature, issuer, audience and
// times, and which role and clusters their claims stand for. It asks the issuer for its keys and stores nothing.
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

	"headroom/internal/data/fetch"
	"headroom/internal/service/auth"
)

// Config is whose tokens open the service, and what they must say. Zero values mean the defaults named.
type Config struct {
	Issuer     string           // its address, exactly as its tokens have it in iss
	Audience   string           // what they must have in aud
	RolesClaim string           // where roles stand: a claim, or one inside another such as realm_access.roles
	NameClaim  string           // where a person's name stands
	Log        *slog.Logger     // default none
	Clock      func() time.Time // default time.Now
	TLS        *tls.Config      // default the machine's authorities

	Every time.Duration // between two looks for changed keys; default 5 min
	Again time.Duration // the issuer is asked no sooner again, whatever tokens come; default 10 s
	Wait  time.Duration // for the issuer's answer, of a token whose key is unknown; default 2 s
}

const (
	// leeway is how far clocks may differ.
	leeway = 30 * time.Second
	// longestToken is the size of a token at most; the server takes headers of 16 KiB.
	longestToken = 8 << 10
	// trusted is how long keys count that the issuer has not confirmed.
	trusted = 24 * time.Hour
)

// algorithms are those that a token may be signed with: both ask for a public key, so that none can be signed with it.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256}

// kinds are what a token may call itself. Others of the same issuer, such as those that end a session, are for something else.
var kinds = []string{"", "jwt", "at+jwt", "application/at+jwt", "application/jwt"}

// Issuer checks tokens. It is safe for concurrent use.
type Issuer struct {
	config Config
	source *fetch.Client

	wanted chan struct{} // somebody wants it to be asked

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	read     time.Time     // when the issuer last said that these are its keys
	asked    time.Time     // when it was asked last
	asking   bool          // it is being asked
	answered chan struct{} // closed with its next answer
	trouble  string        // why it has not said anything, as was logged
}

// New makes an Issuer without asking anybody.
func New(c Config) *Issuer {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = time.Now
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
	i.source = fetch.New(fetch.Config{HostOf: i.hostOf, Connections: 1, Stall: askWithin, TLS: c.TLS})
	return i
}

// Watch keeps the issuer's keys in memory until the context ends; done is closed then. A token whose key is unknown
// makes it look at once, but not more often than every Again.
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

// due says whether the issuer may be asked again because of a token.
func (i *Issuer) due() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.config.Clock().Sub(i.asked) >= i.pause()
}

func (i *Issuer) again() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.pause()
}

// pause is how soon the issuer may be asked again: sooner while it has never answered and no token can be checked.
func (i *Issuer) pause() time.Duration {
	if i.read.IsZero() {
		return i.config.Again / 10
	}
	return i.config.Again
}

// refusal is why a token opens nothing: for the log, not for who sent it.
type refusal string

func (r refusal) Error() string        { return string(r) }
func (r refusal) Is(target error) bool { return target == auth.ErrToken }

// Check is whom a token stands for. Every token that opens nothing is auth.ErrToken; the error's text is for the log.
// While the issuer's keys are unknown nothing can be said of any, which is auth.ErrIssuerAway.
func (i *Issuer) Check(ctx context.Context, token string) (auth.Key, error) {
	if len(token) > longestToken {
		return auth.Key{}, refusal("too large")
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return auth.Key{}, refusal("unreadable, or signed in a way that is not taken")
	}
	header := signed.Signatures[0].Header
	if kind, _ := header.ExtraHeaders[jose.HeaderType].(string); !slices.Contains(kinds, strings.ToLower(kind)) {
		return auth.Key{}, refusal("of another kind")
	}
	keys, err := i.keysFor(ctx, header)
	if err != nil {
		return auth.Key{}, err
	}
	for _, key := range keys {
		if text, err := signed.Verify(key.Key); err == nil {
			return i.holder(text)
		}
	}
	return auth.Key{}, refusal("signed with no key of the issuer")
}

// keysFor are the issuer's keys that a signature may be of. It is asked anew where there is none.
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

// lookAgain waits a little while the issuer is asked for its keys, unless it was asked a moment ago.
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
		default: // somebody else has said so
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

// Ask asks the issuer for its keys. After an error the last known ones go on.
func (i *Issuer) Ask(ctx context.Context) error {
	i.mu.Lock()
	i.asked, i.asking = i.config.Clock(), true
	i.mu.Unlock()
	keys, err := i.fetchKeys(ctx)
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
		i.keys, i.read, i.trouble = keys, i.config.Clock(), ""
	case ctx.Err() == nil && err.Error() != i.trouble:
		i.trouble = err.Error()
		i.config.Log.Warn("the issuer of tokens does not say with which keys it signs; the last known ones go on, for a day", "issuer", i.config.Issuer, "error", i.trouble)
	}
	return err
}
