package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/internal/service/auth"
)

const keyColumns = `id, name, role, clusters, created_at, created_by, expires_at, revoked_at, hash`

func keyOf(row pgx.CollectableRow) (auth.Key, error) {
	type columns struct {
		ID, Name, CreatedBy  string
		Role                 auth.Role
		Clusters             []string
		CreatedAt            time.Time
		ExpiresAt, RevokedAt *time.Time
		Hash                 []byte
	}
	r, err := pgx.RowToStructByName[columns](row)
	if err != nil {
		return auth.Key{}, err
	}
	return auth.Key{ID: r.ID, Name: r.Name, Role: r.Role, Clusters: r.Clusters, CreatedAt: r.CreatedAt, CreatedBy: r.CreatedBy,
		ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt, Hash: auth.Hash(r.Hash)}, nil
}

func keys(ctx context.Context, q querier, sql string, args pgx.NamedArgs) ([]auth.Key, error) {
	rows, err := q.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, keyOf)
}

// Keys lists all, the newest first.
func (s *Store) Keys(ctx context.Context, page storage.Page) (list storage.Listed[auth.Key], err error) {
	before := uuid.Max
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		found, err := keys(ctx, q, `SELECT `+keyColumns+` FROM keys WHERE id < @before ORDER BY id DESC LIMIT @limit`,
			pgx.NamedArgs{"before": before, "limit": limitOf(page) + 1})
		list = listed(found, page, func(k auth.Key) []any { return []any{k.ID} })
		return err
	})
	return list, err
}

// AllKeys returns the keys that may still be valid, with their hashes.
func (s *Store) AllKeys(ctx context.Context) (all []auth.Key, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		all, err = keys(ctx, q, `SELECT `+keyColumns+` FROM keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) ORDER BY id`, nil)
		return err
	})
	return all, err
}

// CreateKey stores a key by its hash, and notifies every process.
func (s *Store) CreateKey(ctx context.Context, k auth.Key) (auth.Key, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		created, err := keys(ctx, q, `
			INSERT INTO keys (id, name, role, clusters, created_by, expires_at, hash)
			VALUES (@id, @name, @role, @clusters, @created_by, @expires_at, @hash)
			RETURNING `+keyColumns,
			pgx.NamedArgs{"id": newID(), "name": k.Name, "role": k.Role, "clusters": k.Clusters, "created_by": auth.From(ctx).Name,
				"expires_at": k.ExpiresAt, "hash": k.Hash[:]})
		if err != nil {
			return at("", k, err)
		}
		k = created[0]
		return keyChanged(ctx, q, entry{Action: inputs.Create, Kind: inputs.KeyKind, Name: k.Name, After: k})
	})
	return k, err
}

// RevokeKey ends a key and its sessions; a second call is no error.
func (s *Store) RevokeKey(ctx context.Context, id string) error {
	missing := notFound("there is no key with the id %q", id)
	if uuid.Validate(id) != nil {
		return missing
	}
	return s.write(ctx, func(ctx context.Context, q querier) error {
		before, err := keys(ctx, q, `SELECT `+keyColumns+` FROM keys WHERE id = @id FOR UPDATE`, pgx.NamedArgs{"id": id})
		if err != nil {
			return err
		}
		if len(before) == 0 {
			return missing
		}
		if before[0].RevokedAt != nil {
			return nil
		}
		after, err := keys(ctx, q, `UPDATE keys SET revoked_at = now() WHERE id = @id RETURNING `+keyColumns, pgx.NamedArgs{"id": id})
		if err != nil {
			return err
		}
		if _, err := q.Exec(ctx, `DELETE FROM sessions WHERE key_id = @id`, pgx.NamedArgs{"id": id}); err != nil {
			return err
		}
		return keyChanged(ctx, q, entry{Action: "revoke", Kind: inputs.KeyKind, Name: before[0].Name, Before: before[0], After: after[0]})
	})
}

// keyChanged records a change and, after the commit, notifies all listeners.
func keyChanged(ctx context.Context, q querier, e entry) error {
	if err := record(ctx, q, e); err != nil {
		return err
	}
	_, err := q.Exec(ctx, `SELECT pg_notify(@channel, '')`, pgx.NamedArgs{"channel": auth.KeysChannel})
	return err
}

// Listen calls each for every notification on a channel, until the context ends or the connection is lost. It has a
// connection of its own. The first call, with "", means that listening has begun: the caller must read the state from
// before.
func (s *Store) Listen(ctx context.Context, channel string, each func(payload string)) error {
	conn, err := connection.Session(ctx, s.config.DirectURL)
	if err != nil {
		return err
	}
	defer connection.Close(ctx, conn)
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return kindOf(ctx, conn, err)
	}
	each("")
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return kindOf(ctx, conn, err)
		}
		each(n.Payload)
	}
}

// CreateSession stores a browser's session, and deletes those that are over.
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

// Session returns the session of a token's hash, unless it is over or its key is no longer valid.
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

// DeleteSession ends a session; one that is already over is no error.
func (s *Store) DeleteSession(ctx context.Context, hash auth.Hash) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `DELETE FROM sessions WHERE hash = @hash`, pgx.NamedArgs{"hash": hash[:]})
		return err
	})
}

// CreateLink stores a sign-in link, and deletes those that are over.
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
