// Package auth says who is asking and what they may: keys, roles, the principal in a context. It
// stores nothing (see postgres) and speaks no HTTP (see api).
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"headroom/internal/core/fault"
)

// Role is what a key is for.
type Role string

// Each of viewer, planner, operator, admin may all that those before it may; agent stands apart.
const (
	Viewer   Role = "viewer"   // reads
	Planner  Role = "planner"  // also solves and creates plans
	Operator Role = "operator" // also edits inputs
	Admin    Role = "admin"    // also keys and the audit log
	Agent    Role = "agent"    // only heartbeats, measurements and admissions
)

// Roles lists them all, the weakest first, agent last.
var Roles = []Role{Viewer, Planner, Operator, Admin, Agent}

// May says whether a key of this role may do what needs the other.
func (r Role) May(need Role) bool {
	if r == Agent || need == Agent {
		return r == need || r == Admin
	}
	have, want := slices.Index(Roles, r), slices.Index(Roles, need)
	return have >= 0 && want >= 0 && have >= want
}

// LocalID is the id of keys that live with the process and are stored nowhere.
const LocalID = "local"

// IssuedID begins the ids of those whose tokens an issuer has made out; their subject follows.
const IssuedID = "oidc:"

// Principal is who asks.
type Principal struct {
	ID       string // the key's id, or LocalID, or IssuedID and a subject
	Name     string // for people and the audit log
	Role     Role
	Clusters []string // the only clusters it may see; nil is all
}

// Sees says whether the principal may know of a cluster.
func (p Principal) Sees(cluster string) bool {
	return p.Clusters == nil || slices.Contains(p.Clusters, cluster)
}

// Key is a stored key. The token itself is known to its holder alone.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Role      Role       `json:"role"`
	Clusters  []string   `json:"clusters"` // null is all
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"`
	ExpiresAt *time.Time `json:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at"`
	Hash      Hash       `json:"-"`
}

// Principal is who a holder of the key is.
func (k Key) Principal() Principal {
	return Principal{ID: k.ID, Name: k.Name, Role: k.Role, Clusters: k.Clusters}
}

// Valid says whether the key opens anything at a moment.
func (k Key) Valid(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Hash is what is stored of a token: its SHA-256. Tokens are 256 random bits, so nothing slower is
// needed to keep them from being guessed.
type Hash [sha256.Size]byte

// The tokens' first letters, so that people and secret scanners know them.
const (
	KeyPrefix     = "hrk_"
	SessionPrefix = "hrs_"
	LinkPrefix    = "hrl_"
)

// NewToken draws a token and its hash.
func NewToken(prefix string) (token string, hash Hash) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails (crypto/rand)
	token = prefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, HashOf(token)
}

// HashOf is the hash of a token.
func HashOf(token string) Hash {
	var short [128]byte // on the stack
	return sha256.Sum256(append(short[:0], token...))
}

// Mark is a part of the hash, to tell keys apart that have no id of their own.
func (h Hash) Mark() string { return hex.EncodeToString(h[:8]) }

// Session is a browser's stay after a sign-in.
type Session struct {
	Hash      Hash
	Principal Principal
	KeyID     string // the key it was opened with; "" for a sign-in link. A revoked key ends it.
	ExpiresAt time.Time
}

type contextKey struct{}

// With puts who asks into a context.
func With(ctx context.Context, p Principal) context.Context { return WithKnownLater(ctx, &p) }

// WithKnownLater puts who asks into a context before it is known; p is filled in before anybody asks for it.
func WithKnownLater(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From is who asks; the zero Principal may nothing.
func From(ctx context.Context) Principal {
	if p, ok := ctx.Value(contextKey{}).(*Principal); ok {
		return *p
	}
	return Principal{}
}

// ErrIssuerAway is a token about which nothing can be said, because its issuer has not said with which keys it signs.
var ErrIssuerAway = fmt.Errorf("tokens cannot be checked at the moment, because their issuer has not said with which keys it signs; try again soon, or ask with a key of Headroom's: %w", fault.Busy)

// ErrToken is every token that opens nothing, whatever is wrong with it.
var ErrToken = errors.New("this key or link opens nothing: it is unknown, used up, over or revoked")
