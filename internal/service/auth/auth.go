// Package auth identifies callers and their rights: keys, roles, the principal in a context. It stores nothing (see
// postgres) and speaks no HTTP (see api).
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

	"example.org/headroom/internal/core/fault"
)

// Role sets the rights of a key.
type Role string

// Each of viewer, planner, operator and admin has the rights of those before it; agent stands apart.
const (
	Viewer   Role = "viewer"   // reads
	Planner  Role = "planner"  // also solves and creates plans
	Operator Role = "operator" // also edits inputs
	Admin    Role = "admin"    // also manages keys and reads the audit log
	Agent    Role = "agent"    // only places, heartbeats, what was measured, and reading the plan
)

// Roles lists them all, the weakest first, agent last.
var Roles = []Role{Viewer, Planner, Operator, Admin, Agent}

// May reports whether a key of this role may do work that needs the other role.
func (r Role) May(need Role) bool {
	if r == Agent || need == Agent {
		return r == need || r == Admin
	}
	have, want := slices.Index(Roles, r), slices.Index(Roles, need)
	return have >= 0 && want >= 0 && have >= want
}

// LocalID is the id of keys that live with the process and are not stored.
const LocalID = "local"

// IssuedID begins the ids of callers with an issuer's token; their subject follows.
const IssuedID = "oidc:"

// Principal is the caller of a request.
type Principal struct {
	ID       string // the key's id, or LocalID, or IssuedID and a subject
	Name     string // for people and the audit log
	Role     Role
	Clusters []string // the only clusters it may see; nil means all
}

// Sees reports whether the principal may know of a cluster.
func (p Principal) Sees(cluster string) bool {
	return p.Clusters == nil || slices.Contains(p.Clusters, cluster)
}

// Key is a stored key. Only its holder knows the token itself.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Role      Role       `json:"role"`
	Clusters  []string   `json:"clusters"` // null means all
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"`
	ExpiresAt *time.Time `json:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at"`
	Hash      Hash       `json:"-"`
}

// Principal returns the principal of the key's holder.
func (k Key) Principal() Principal {
	return Principal{ID: k.ID, Name: k.Name, Role: k.Role, Clusters: k.Clusters}
}

// Valid reports whether the key can be used at a moment.
func (k Key) Valid(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Hash is the stored form of a token: its SHA-256. Tokens are 256 random bits, so no slower hash is needed against
// guessing.
type Hash [sha256.Size]byte

// Prefixes of tokens, for people and secret scanners.
const (
	KeyPrefix     = "hrk_"
	SessionPrefix = "hrs_"
	LinkPrefix    = "hrl_"
	PeerPrefix    = "hrp_" // of a server, for the others of its database
)

// NewToken draws a token and its hash.
func NewToken(prefix string) (token string, hash Hash) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails (crypto/rand)
	token = prefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, HashOf(token)
}

// HashOf returns the hash of a token.
func HashOf(token string) Hash {
	var short [128]byte // on the stack
	return sha256.Sum256(append(short[:0], token...))
}

// Mark returns a part of the hash, to distinguish keys without an id.
func (h Hash) Mark() string { return hex.EncodeToString(h[:8]) }

// Session is a browser's session after a sign-in.
type Session struct {
	Hash      Hash
	Principal Principal
	KeyID     string // the key it was opened with; "" for a sign-in link. A revoked key ends it.
	ExpiresAt time.Time
}

type contextKey struct{}

// With returns a context with a principal.
func With(ctx context.Context, p Principal) context.Context { return WithKnownLater(ctx, &p) }

// WithKnownLater returns a context with a principal to be filled in later, before it is read.
func WithKnownLater(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From returns the context's principal; the zero Principal has no rights.
func From(ctx context.Context) Principal {
	if p, ok := ctx.Value(contextKey{}).(*Principal); ok {
		return *p
	}
	return Principal{}
}

// ErrIssuerAway means that a token cannot be checked, because its issuer has not published its keys.
var ErrIssuerAway = fmt.Errorf("tokens cannot be checked at the moment, because their issuer has not said with which keys it signs; try again soon, or ask with a key of Headroom's: %w", fault.Busy)

// ErrNoPage means that people do not sign in at an issuer's page.
var ErrNoPage = errors.New("nobody signs in at an issuer's page here: the server knows no issuer with one, or has no name there (HEADROOM_OIDC_CLIENT_ID)")

// ErrNoRole is an ErrToken of somebody whom the issuer knows, and who has no role here.
var ErrNoRole = errors.New("the issuer knows you, and has given you no role here")

// ErrToken covers every token that is not accepted, for any reason.
var ErrToken = errors.New("this key or link opens nothing: it is unknown, used up, over or revoked")
