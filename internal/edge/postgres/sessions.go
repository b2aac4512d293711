package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/service/auth"
)

// CreateSession stores a browser's stay, and forgets those that are over.
func (s *Store) CreateSession(ctx context.Context, session auth.Session) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		if _, err := q.Exec(ctx, `DELETE FROM sessions WHERE expires_at <= now()`); err != nil {
			return err
		}
		p := session.Principal
		_, err := q.Exec(ctx, `
			INSERT INTO sessions (hash, principal_id, principal_name, role, clusters, key_id, expires_at)
			VALUES (@hash, @principal_id, @principal_name, @role, @clusters, nullif(@key_id, '')::uuid, @expires_at)`,
			pgx.NamedArgs{"hash": session.Hash[:], "principal_id": p.ID, "principal_name": p.Name, "role": p.Role, "clusters": p.Clusters,
				"key_id": session.KeyID, "expires_at": session.ExpiresAt})
		return err
	})
}

// Session is the stay a token's hash stands for, unless it is over or its key no longer opens anything.
func (s *Store) Session(ctx context.Context, hash auth.Hash) (session auth.Session, err error) {
	type row struct {
		PrincipalID, PrincipalName, KeyID string
		Role                              auth.Role
		Clusters                          []string
		ExpiresAt                         time.Time
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		r, err := one[row](ctx, q, `
			SELECT s.principal_id, s.principal_name, s.role, s.clusters, coalesce(s.key_id::text, '') AS key_id, s.expires_at
			FROM sessions s LEFT JOIN keys k ON k.id = s.key_id
			WHERE s.hash = @hash AND s.expires_at > now() AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`,
			pgx.NamedArgs{"hash": hash[:]})
		if errors.Is(err, pgx.ErrNoRows) {
			return notFound("the session is over; sign in again")
		}
		session = auth.Session{Hash: hash, KeyID: r.KeyID, ExpiresAt: r.ExpiresAt,
			Principal: auth.Principal{ID: r.PrincipalID, Name: r.PrincipalName, Role: r.Role, Clusters: r.Clusters}}
		return err
	})
	return session, err
}

// DeleteSession ends a stay; one that is over already is no error.
func (s *Store) DeleteSession(ctx context.Context, hash auth.Hash) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `DELETE FROM sessions WHERE hash = @hash`, pgx.NamedArgs{"hash": hash[:]})
		return err
	})
}

// CreateLink stores a sign-in link, and forgets those that are over.
func (s *Store) CreateLink(ctx context.Context, hash auth.Hash, expires time.Time) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		if _, err := q.Exec(ctx, `DELETE FROM sign_in_links WHERE expires_at <= now()`); err != nil {
			return err
		}
		_, err := q.Exec(ctx, `INSERT INTO sign_in_links (hash, expires_at) VALUES (@hash, @expires_at)`, pgx.NamedArgs{"hash": hash[:], "expires_at": expires})
		return err
	})
}

// TakeLink uses a sign-in link up (see app.Store).
func (s *Store) TakeLink(ctx context.Context, hash auth.Hash, latest time.Time) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		done, err := q.Exec(ctx, `DELETE FROM sign_in_links WHERE hash = @hash AND expires_at > now() AND expires_at <= @latest`, pgx.NamedArgs{"hash": hash[:], "latest": latest})
		if err == nil && done.RowsAffected() == 0 {
			return notFound("the sign-in link is used up, over or unknown")
		}
		return err
	})
}
