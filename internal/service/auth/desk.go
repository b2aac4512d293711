package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
)

// Store keeps keys, sessions and sign-in links.
type Store interface {
	Keys(ctx context.Context, page storage.Page) (storage.Listed[Key], error) // all, revoked ones too, newest first
	CreateKey(ctx context.Context, k Key) (Key, error)
	RevokeKey(ctx context.Context, id string) error
	AllKeys(ctx context.Context) ([]Key, error) // with hashes: those that may still open something
	CreateSession(ctx context.Context, s Session) error
	Session(ctx context.Context, hash Hash) (Session, error) // NotFound when over, or its key revoked
	DeleteSession(ctx context.Context, hash Hash) error
	// CreateLink stores a sign-in link; TakeLink uses it up (NotFound when used, over or unknown, and where it ends after
	// the latest moment that one can).
	CreateLink(ctx context.Context, hash Hash, expires time.Time) error
	TakeLink(ctx context.Context, hash Hash, latest time.Time) error
}

// Config holds what a Desk works with.
type Config struct {
	Store    Store
	Listener storage.Listener
	Ring     *Keyring
	Now      func() time.Time
	Log      *slog.Logger // nil logs nothing

	Issuer Issuer // nil where none is trusted
}

// Issuer is an OpenID Connect issuer that knows people.
type Issuer interface {
	// Check returns the holder of a token, or ErrToken where it opens nothing.
	Check(ctx context.Context, token string) (Key, error)
	// HasPage reports whether people may sign in at a page of the issuer.
	HasPage() bool
	// Begin returns the address of the page where people sign in, and what must come back from there. It is ErrNoPage
	// where they do not, and ErrIssuerAway where the issuer has not been heard of.
	Begin(back string) (address string, a Attempt, err error)
	// End returns who has signed in, for the code that came back.
	End(ctx context.Context, a Attempt, back, code string) (Key, error)
}

// Attempt is one to sign in at an issuer's page. The browser keeps it in the meantime.
type Attempt struct {
	Issuer   string `json:"issuer"`   // may come back with the code
	State    string `json:"state"`    // comes back with the code
	Nonce    string `json:"nonce"`    // comes back in the token
	Verifier string `json:"verifier"` // proves to the issuer who began
}

// Desk makes and ends keys, keeps the keyring like the store, and opens sessions.
type Desk struct {
	Ring *Keyring

	config Config
}

func New(c Config) *Desk { return &Desk{Ring: c.Ring, config: c} }

// The longest that things which open the service live.
const (
	LinkLife    = 5 * time.Minute
	SessionLife = 12 * time.Hour
	clockSkew   = time.Minute // that servers' clocks may differ
)

// CreateKey creates a key and returns its token, which is stored nowhere.
func (d *Desk) CreateKey(ctx context.Context, k Key) (Key, string, error) {
	if err := unlimited(ctx); err != nil {
		return k, "", err
	}
	if err := d.checkKey(k); err != nil {
		return k, "", err
	}
	token, hash := NewToken(KeyPrefix)
	k.Hash = hash
	k, err := d.config.Store.CreateKey(ctx, k)
	if err != nil {
		return k, "", err
	}
	d.refreshKeys(ctx)
	return k, token, nil
}

// RevokeKey ends a key; a second call is no error.
func (d *Desk) RevokeKey(ctx context.Context, id string) error {
	if err := unlimited(ctx); err != nil {
		return err
	}
	if err := d.config.Store.RevokeKey(ctx, id); err != nil {
		return err
	}
	d.refreshKeys(ctx)
	return nil
}

// unlimited refuses principals that see some clusters alone: keys reach beyond them.
func unlimited(ctx context.Context) error {
	if From(ctx).Clusters == nil {
		return nil
	}
	return fmt.Errorf("keys are managed with an admin key that is not limited to clusters: %w", fault.Forbidden)
}

func (d *Desk) checkKey(k Key) error {
	var findings []fault.Finding
	refuse := func(pointer, code, detail string, values ...any) {
		findings = append(findings, fault.Finding{Pointer: pointer, Code: code, Detail: fmt.Sprintf(detail, values...)})
	}
	if err := (inputs.VMType{Name: k.Name}).Validate(); err != nil { // a name as all others are
		refuse("/name", "text", "%s", err.(*fault.InputError).Findings[0].Detail)
	}
	if !slices.Contains(Roles, k.Role) {
		refuse("/role", "choice", "%q is no role; choose viewer, planner, operator, admin or agent.", string(k.Role))
	}
	if k.Clusters != nil && len(k.Clusters) == 0 {
		refuse("/clusters", "missing", "The list of clusters is empty, so that the key would open nothing; name clusters, or give null for all.")
	}
	for i, name := range k.Clusters {
		if err := inputs.NewCluster(name).Validate(); err != nil {
			refuse(fmt.Sprintf("/clusters/%d", i), "text", "%s", err.(*fault.InputError).Findings[0].Detail)
		}
	}
	if k.ExpiresAt != nil && !k.ExpiresAt.After(d.config.Now()) {
		refuse("/expires_at", "range", "The key would end at %s, which is past; give a later time, or null for never.", k.ExpiresAt.UTC().Format(time.RFC3339))
	}
	if findings == nil {
		return nil
	}
	return &fault.InputError{Findings: findings}
}

// Limits of the search for an unknown key, which may have been created elsewhere a moment ago.
const (
	lookAgainEvery = 200 * time.Millisecond // minimum interval, so that guesses cost the database nothing
	lookAgainWait  = 500 * time.Millisecond
	drawnLength    = len(KeyPrefix) + 43
)

// FindKey returns the key of a token, or the rights of an issuer's token. Every invalid token gives ErrToken.
// The notification of a new key may come later than its holder, so the store is queried before a plausible token is
// refused.
func (d *Desk) FindKey(ctx context.Context, token string) (Key, error) {
	if d.config.Issuer != nil && strings.Contains(token, ".") { // which no token of ours contains
		return d.config.Issuer.Check(ctx, token)
	}
	key, ok := d.Ring.Find(token, d.config.Now())
	if ok {
		return key, nil
	}
	if len(token) != drawnLength || !strings.HasPrefix(token, KeyPrefix) {
		return key, ErrToken
	}
	d.Ring.Ask(lookAgainEvery, func() {
		asking, cancel := context.WithTimeout(ctx, lookAgainWait)
		defer cancel()
		d.refreshKeys(asking)
	})
	if key, ok = d.Ring.Find(token, d.config.Now()); !ok {
		return key, ErrToken
	}
	return key, nil
}

// Watch keeps the keyring in step with the store's keys until the context ends: at once when a key changes
// anywhere, and every minute in case a notification was lost. It returns after the first load, with its error; the
// rest continues in the background until done is closed.
func (d *Desk) Watch(ctx context.Context) (done <-chan struct{}, err error) {
	keys, err := d.config.Store.AllKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	d.Ring.Replace(keys)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.watchKeys(ctx)
	}()
	return ended, nil
}

const (
	keysEvery = time.Minute
	keysAgain = time.Second // after a lost connection
)

func (d *Desk) watchKeys(ctx context.Context) {
	for ctx.Err() == nil {
		listening, cancel := context.WithTimeout(ctx, keysEvery)
		err := d.config.Listener.Listen(listening, KeysChannel, func(string) { d.refreshKeys(listening) })
		over := listening.Err() != nil
		cancel()
		if err != nil && !over {
			select {
			case <-time.After(keysAgain):
			case <-ctx.Done():
			}
		}
		if ctx.Err() == nil {
			d.refreshKeys(ctx)
		}
	}
}

// refreshKeys reads the keys again. In an outage the last known ones stay valid.
func (d *Desk) refreshKeys(ctx context.Context) {
	keys, err := d.config.Store.AllKeys(ctx)
	if err == nil {
		d.Ring.Replace(keys)
	} else if log := d.config.Log; log != nil && ctx.Err() == nil {
		log.Warn("keys not refreshed", "error", err.Error())
	}
}

// NewSignInLink returns a token that opens one session, once, for a short while.
func (d *Desk) NewSignInLink(ctx context.Context) (token string, err error) {
	token, hash := NewToken(LinkPrefix)
	return token, d.config.Store.CreateLink(ctx, hash, d.config.Now().Add(LinkLife))
}

// localSession begins the principal's id of sessions opened with a key that lives with the process;
// the key's mark ends it.
const localSession = LocalID + ":"

// Session returns the session of a token's hash. A session of a key that lives with the process is over when that key
// is gone: its value was changed, or removed. A session of an issuer's token is over when no issuer is trusted any
// longer.
func (d *Desk) Session(ctx context.Context, hash Hash) (Session, error) {
	s, err := d.config.Store.Session(ctx, hash)
	if mark, local := strings.CutPrefix(s.Principal.ID, localSession); err == nil && local && !d.Ring.hasLocal(mark) {
		return Session{}, fmt.Errorf("the key the session was opened with is gone; sign in again: %w", fault.NotFound)
	}
	if err == nil && d.config.Issuer == nil && strings.HasPrefix(s.Principal.ID, IssuedID) {
		return Session{}, fmt.Errorf("the session was opened with a token, and no issuer of tokens is trusted any longer; sign in again: %w", fault.NotFound)
	}
	if err == nil && s.ExpiresAt.After(d.config.Now().Add(SessionLife+clockSkew)) { // the clock was wrong when it was opened
		return Session{}, fmt.Errorf("the session was opened in the future; sign in again: %w", fault.NotFound)
	}
	return s, err
}

// SignIn opens a session with a key, an issuer's token or a sign-in link. Every token that opens nothing is ErrToken.
func (d *Desk) SignIn(ctx context.Context, token string) (Session, string, error) {
	now := d.config.Now()
	s := Session{ExpiresAt: now.Add(SessionLife)}
	if strings.HasPrefix(token, LinkPrefix) {
		switch err := d.config.Store.TakeLink(ctx, HashOf(token), now.Add(LinkLife+clockSkew)); {
		case err == nil:
		case errors.Is(err, fault.NotFound):
			return s, "", ErrToken
		default:
			return s, "", err
		}
		s.Principal = Principal{ID: "link", Name: "sign-in link", Role: Admin}
	} else {
		key, err := d.FindKey(ctx, token)
		if err != nil {
			return s, "", err
		}
		s.Principal = key.Principal()
		switch {
		case key.ID == LocalID: // which is not stored
			s.Principal.ID = localSession + key.Hash.Mark()
		case !strings.HasPrefix(key.ID, IssuedID):
			s.KeyID = key.ID
		}
		if end := key.ExpiresAt; end != nil && end.Before(s.ExpiresAt) {
			s.ExpiresAt = *end
		}
	}
	return d.open(ctx, s)
}

// open stores a session, and draws its token.
func (d *Desk) open(ctx context.Context, s Session) (Session, string, error) {
	token, hash := NewToken(SessionPrefix)
	s.Hash = hash
	return s, token, d.config.Store.CreateSession(ctx, s)
}

// SignsInElsewhere reports whether people may sign in at an issuer's page.
func (d *Desk) SignsInElsewhere() bool { return d.config.Issuer != nil && d.config.Issuer.HasPage() }

// BeginSignIn sends somebody to the issuer's page, which sends them back to an address of ours.
func (d *Desk) BeginSignIn(back string) (address string, a Attempt, err error) {
	if d.config.Issuer == nil {
		return "", a, ErrNoPage
	}
	return d.config.Issuer.Begin(back)
}

// EndSignIn opens a session for whoever came back from the issuer's page with a code.
func (d *Desk) EndSignIn(ctx context.Context, a Attempt, back, code string) (Session, string, error) {
	if d.config.Issuer == nil {
		return Session{}, "", ErrNoPage
	}
	key, err := d.config.Issuer.End(ctx, a, back, code)
	if err != nil {
		return Session{}, "", err
	}
	return d.open(ctx, Session{Principal: key.Principal(), ExpiresAt: d.config.Now().Add(SessionLife)})
}

// KeysChannel notifies of changed keys.
const KeysChannel = "headroom_keys"
