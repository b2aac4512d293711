package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"headroom/internal/core/fault"
	"headroom/internal/data/inputs"
	"headroom/internal/service/auth"
)

// The longest that things which open the service live.
const (
	LinkLife    = 5 * time.Minute
	SessionLife = 12 * time.Hour
	clockSkew   = time.Minute // that servers' clocks may differ
)

// CreateKey makes a key and answers its token, which is stored nowhere.
func (a *App) CreateKey(ctx context.Context, k auth.Key) (auth.Key, string, error) {
	if err := unlimited(ctx); err != nil {
		return k, "", err
	}
	if err := a.checkKey(k); err != nil {
		return k, "", err
	}
	token, hash := auth.NewToken(auth.KeyPrefix)
	k.Hash = hash
	k, err := a.Stores.Access.CreateKey(ctx, k)
	if err != nil {
		return k, "", err
	}
	a.refreshKeys(ctx)
	return k, token, nil
}

// RevokeKey ends a key; doing it twice is no error.
func (a *App) RevokeKey(ctx context.Context, id string) error {
	if err := unlimited(ctx); err != nil {
		return err
	}
	if err := a.Stores.Access.RevokeKey(ctx, id); err != nil {
		return err
	}
	a.refreshKeys(ctx)
	return nil
}

// unlimited refuses principals that see some clusters alone: keys reach beyond them.
func unlimited(ctx context.Context) error {
	if auth.From(ctx).Clusters == nil {
		return nil
	}
	return fmt.Errorf("keys are managed with an admin key that is not limited to clusters: %w", fault.Forbidden)
}

func (a *App) checkKey(k auth.Key) error {
	var findings []fault.Finding
	refuse := func(pointer, code, detail string, values ...any) {
		findings = append(findings, fault.Finding{Pointer: pointer, Code: code, Detail: fmt.Sprintf(detail, values...)})
	}
	if err := (inputs.VMType{Name: k.Name}).Validate(); err != nil { // a name as all others are
		refuse("/name", "text", "%s", err.(*fault.InputError).Findings[0].Detail)
	}
	if !slices.Contains(auth.Roles, k.Role) {
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
	if k.ExpiresAt != nil && !k.ExpiresAt.After(a.Now()) {
		refuse("/expires_at", "range", "The key would end at %s, which is past; give a later time, or null for never.", k.ExpiresAt.UTC().Format(time.RFC3339))
	}
	if findings == nil {
		return nil
	}
	return &fault.InputError{Findings: findings}
}

// How a key that nobody here knows is looked for: it may have been made a moment ago, elsewhere.
const (
	lookAgainEvery = 200 * time.Millisecond // at most, so that guesses cost the database nothing
	lookAgainWait  = 500 * time.Millisecond
	drawnLength    = len(auth.KeyPrefix) + 43
)

// FindKey is the key that a token belongs to, or what an issuer's token is worth. Every one that opens nothing is
// auth.ErrToken. The word of a new key may not have come yet when its holder does; so the store is asked before a token
// that could be one is refused.
func (a *App) FindKey(ctx context.Context, token string) (auth.Key, error) {
	if a.config.Issued != nil && strings.Contains(token, ".") { // which no token of ours does
		return a.config.Issued(ctx, token)
	}
	key, ok := a.Keys.Find(token, a.Now())
	if ok {
		return key, nil
	}
	if len(token) != drawnLength || !strings.HasPrefix(token, auth.KeyPrefix) {
		return key, auth.ErrToken
	}
	a.Keys.Ask(lookAgainEvery, func() {
		asking, cancel := context.WithTimeout(ctx, lookAgainWait)
		defer cancel()
		a.refreshKeys(asking)
	})
	if key, ok = a.Keys.Find(token, a.Now()); !ok {
		return key, auth.ErrToken
	}
	return key, nil
}

// WatchKeys keeps the keyring like the store's keys until the context ends: at once when a key
// changes anywhere, and every minute in case that word was lost. It returns after the first load,
// with its error; the rest goes on in the background until done is closed.
func (a *App) WatchKeys(ctx context.Context) (done <-chan struct{}, err error) {
	keys, err := a.Stores.Access.AllKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	a.Keys.Replace(keys)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.watchKeys(ctx)
	}()
	return ended, nil
}

const (
	keysEvery = time.Minute
	keysAgain = time.Second // after a lost connection
)

func (a *App) watchKeys(ctx context.Context) {
	for ctx.Err() == nil {
		listening, cancel := context.WithTimeout(ctx, keysEvery)
		err := a.Stores.Database.Listen(listening, KeysChannel, func(string) { a.refreshKeys(listening) })
		over := listening.Err() != nil
		cancel()
		if err != nil && !over {
			select {
			case <-time.After(keysAgain):
			case <-ctx.Done():
			}
		}
		if ctx.Err() == nil {
			a.refreshKeys(ctx)
		}
	}
}

// refreshKeys reads the keys anew. In an outage the last known ones go on to open the service.
func (a *App) refreshKeys(ctx context.Context) {
	keys, err := a.Stores.Access.AllKeys(ctx)
	if err == nil {
		a.Keys.Replace(keys)
	} else if t := a.config.Telemetry; t != nil && ctx.Err() == nil {
		t.Log.Warn("keys not refreshed", "error", err.Error())
	}
}

// NewSignInLink makes a token that opens one session, once, for a short while.
func (a *App) NewSignInLink(ctx context.Context) (token string, err error) {
	token, hash := auth.NewToken(auth.LinkPrefix)
	return token, a.Stores.Access.CreateLink(ctx, hash, a.Now().Add(LinkLife))
}

// localSession begins the principal's id of sessions opened with a key that lives with the process;
// the key's mark ends it.
const localSession = auth.LocalID + ":"

// Session is the stay a token's hash stands for. One that was opened with a key that lives with the
// process is over when no such key is there any longer: its value was changed, or taken back. One that was opened with
// an issuer's token is over where no issuer is trusted any longer.
func (a *App) Session(ctx context.Context, hash auth.Hash) (auth.Session, error) {
	s, err := a.Stores.Access.Session(ctx, hash)
	if mark, local := strings.CutPrefix(s.Principal.ID, localSession); err == nil && local && !a.Keys.HasLocal(mark) {
		return auth.Session{}, fmt.Errorf("the key the session was opened with is gone; sign in again: %w", fault.NotFound)
	}
	if err == nil && a.config.Issued == nil && strings.HasPrefix(s.Principal.ID, auth.IssuedID) {
		return auth.Session{}, fmt.Errorf("the session was opened with a token, and no issuer of tokens is trusted any longer; sign in again: %w", fault.NotFound)
	}
	if err == nil && s.ExpiresAt.After(a.Now().Add(SessionLife+clockSkew)) { // the clock was wrong when it was opened
		return auth.Session{}, fmt.Errorf("the session was opened in the future; sign in again: %w", fault.NotFound)
	}
	return s, err
}

// SignIn opens a session with a key, an issuer's token or a sign-in link. Every token that opens nothing is auth.ErrToken.
func (a *App) SignIn(ctx context.Context, token string) (auth.Session, string, error) {
	now := a.Now()
	s := auth.Session{ExpiresAt: now.Add(SessionLife)}
	if strings.HasPrefix(token, auth.LinkPrefix) {
		switch err := a.Stores.Access.TakeLink(ctx, auth.HashOf(token), now.Add(LinkLife+clockSkew)); {
		case err == nil:
		case errors.Is(err, fault.NotFound):
			return s, "", auth.ErrToken
		default:
			return s, "", err
		}
		s.Principal = auth.Principal{ID: "link", Name: "sign-in link", Role: auth.Admin}
	} else {
		key, err := a.FindKey(ctx, token)
		if err != nil {
			return s, "", err
		}
		s.Principal = key.Principal()
		switch {
		case key.ID == auth.LocalID: // which is not stored
			s.Principal.ID = localSession + key.Hash.Mark()
		case !strings.HasPrefix(key.ID, auth.IssuedID):
			s.KeyID = key.ID
		}
		if end := key.ExpiresAt; end != nil && end.Before(s.ExpiresAt) {
			s.ExpiresAt = *end
		}
	}
	cookie, hash := auth.NewToken(auth.SessionPrefix)
	s.Hash = hash
	return s, cookie, a.Stores.Access.CreateSession(ctx, s)
}
