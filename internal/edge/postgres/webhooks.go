package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/fetch"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/hooks"
)

const webhookColumns = `id::text, name, url, events, clusters, enabled, disabled_reason, failing_since, version, created_at, updated_at`

// Webhooks lists by name.
func (s *Store) Webhooks(ctx context.Context, page storage.Page) (list storage.Listed[hooks.Webhook], err error) {
	after := ""
	if err := readCursor(page.After, &after); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		found, err := collect[hooks.Webhook](ctx, q, `SELECT `+webhookColumns+` FROM webhooks WHERE name > @after ORDER BY name LIMIT @limit`,
			pgx.NamedArgs{"after": after, "limit": limitOf(page) + 1})
		list = listed(found, page, func(w hooks.Webhook) []any { return []any{w.Name} })
		return err
	})
	return list, err
}

// Webhook returns a webhook by its id.
func (s *Store) Webhook(ctx context.Context, id string) (w hooks.Webhook, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		w, err = webhook(ctx, q, id, "")
		return err
	})
	return w, err
}

// webhook reads a webhook; lock is the locking clause.
func webhook(ctx context.Context, q querier, id, lock string) (w hooks.Webhook, err error) {
	missing := notFound("there is no webhook with the id %q", id)
	if uuid.Validate(id) != nil {
		return w, missing
	}
	w, err = one[hooks.Webhook](ctx, q, `SELECT `+webhookColumns+` FROM webhooks WHERE id = @id `+lock, pgx.NamedArgs{"id": id})
	if errors.Is(err, pgx.ErrNoRows) {
		return w, missing
	}
	return w, err
}

// lockWebhook keeps others from changing a webhook, and lets deliveries for it be made.
const lockWebhook = `FOR NO KEY UPDATE`

func webhookArgs(w hooks.Webhook) pgx.NamedArgs {
	return pgx.NamedArgs{"id": w.ID, "name": w.Name, "url": w.URL, "events": w.Events, "clusters": w.Clusters, "enabled": w.Enabled}
}

// CreateWebhook stores a webhook with its secret.
func (s *Store) CreateWebhook(ctx context.Context, w hooks.Webhook, secret string) (hooks.Webhook, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		var there int
		if err := q.QueryRow(ctx, `SELECT count(*) FROM webhooks`).Scan(&there); err != nil {
			return err
		}
		if there >= hooks.MaxWebhooks {
			return conflict("there are %d webhooks, as many as are kept; delete some", there)
		}
		w.ID = newID()
		created, err := one[hooks.Webhook](ctx, q, `
			INSERT INTO webhooks (id, name, url, events, clusters, enabled) VALUES (@id, @name, @url, @events, @clusters, @enabled)
			RETURNING `+webhookColumns, webhookArgs(w))
		if err != nil {
			return at("", w, err)
		}
		w = created
		if _, err := q.Exec(ctx, `INSERT INTO webhook_secrets (webhook_id, secret) VALUES (@id, @secret)`, pgx.NamedArgs{"id": w.ID, "secret": secret}); err != nil {
			return err
		}
		return record(ctx, q, entry{Action: inputs.Create, Kind: hooks.WebhookKind, Name: w.Name, After: w})
	})
	return w, err
}

// ReplaceWebhook changes a webhook. One that is enabled has not failed yet.
func (s *Store) ReplaceWebhook(ctx context.Context, version int64, w hooks.Webhook) (hooks.Webhook, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		before, err := webhook(ctx, q, w.ID, lockWebhook)
		if err != nil {
			return err
		}
		if before.Version != version {
			return &storage.VersionError{Have: before.Version}
		}
		after, err := one[hooks.Webhook](ctx, q, `
			UPDATE webhooks SET name = @name, url = @url, events = @events, clusters = @clusters, enabled = @enabled,
			       disabled_reason = CASE WHEN @enabled THEN '' ELSE disabled_reason END,
			       failing_since = CASE WHEN @enabled AND NOT enabled OR url <> @url THEN NULL ELSE failing_since END,
			       version = version + 1, updated_at = now()
			WHERE id = @id
			RETURNING `+webhookColumns, webhookArgs(w))
		if err != nil {
			return at("", w, err)
		}
		w = after
		return record(ctx, q, entry{Action: inputs.Update, Kind: hooks.WebhookKind, Name: w.Name, Before: before, After: w})
	})
	return w, err
}

// DeleteWebhook deletes a webhook with its secrets and deliveries.
func (s *Store) DeleteWebhook(ctx context.Context, id string, version int64) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		before, err := webhook(ctx, q, id, "FOR UPDATE")
		if err != nil {
			return err
		}
		if before.Version != version {
			return &storage.VersionError{Have: before.Version}
		}
		if _, err := q.Exec(ctx, `DELETE FROM webhooks WHERE id = @id`, pgx.NamedArgs{"id": id}); err != nil {
			return err
		}
		return record(ctx, q, entry{Action: inputs.Delete, Kind: hooks.WebhookKind, Name: before.Name, Before: before})
	})
}

// maxSecrets sign at once: each takes room in the header of every message.
const maxSecrets = 5

// RotateSecret replaces the present secret. The audit log records only that it was done.
func (s *Store) RotateSecret(ctx context.Context, id, secret string, grace time.Duration) (until time.Time, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		w, err := webhook(ctx, q, id, lockWebhook)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"id": id, "secret": secret, "grace": grace.Seconds()}
		if _, err := q.Exec(ctx, `DELETE FROM webhook_secrets WHERE webhook_id = @id AND signs_until <= clock_timestamp()`, args); err != nil {
			return err
		}
		var signing int
		if err := q.QueryRow(ctx, `SELECT count(*) FROM webhook_secrets WHERE webhook_id = @id`, args).Scan(&signing); err != nil {
			return err
		}
		if signing >= maxSecrets {
			return conflict("the webhook has %d secrets that still sign; wait until one of them has ended", signing)
		}
		err = q.QueryRow(ctx, `
			UPDATE webhook_secrets SET signs_until = clock_timestamp() + make_interval(secs => @grace) WHERE webhook_id = @id AND signs_until IS NULL
			RETURNING signs_until`, args).Scan(&until)
		if err != nil {
			return err
		}
		if _, err := q.Exec(ctx, `INSERT INTO webhook_secrets (webhook_id, secret) VALUES (@id, @secret)`, args); err != nil {
			return err
		}
		return record(ctx, q, entry{Action: inputs.Update, Kind: hooks.WebhookSecretKind, Name: w.Name})
	})
	return until, err
}

const hostColumns = `id::text, host, port, http, networks, created_at, created_by`

// AllowedHosts lists by host and port.
func (s *Store) AllowedHosts(ctx context.Context, page storage.Page) (list storage.Listed[fetch.AllowedHost], err error) {
	host, port := "", int64(0)
	if err := readCursor(page.After, &host, &port); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		found, err := collect[fetch.AllowedHost](ctx, q, `
			SELECT `+hostColumns+` FROM allowed_hosts WHERE (host, port) > (@host, @port::bigint) ORDER BY host, port LIMIT @limit`,
			pgx.NamedArgs{"host": host, "port": port, "limit": limitOf(page) + 1})
		list = listed(found, page, func(h fetch.AllowedHost) []any { return []any{h.Host, h.Port} })
		return err
	})
	return list, err
}

// HostOf returns the entry for a host and a port.
func (s *Store) HostOf(ctx context.Context, host string, port int64) (h fetch.AllowedHost, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		h, err = one[fetch.AllowedHost](ctx, q, `SELECT `+hostColumns+` FROM allowed_hosts WHERE host = @host AND port = @port`,
			pgx.NamedArgs{"host": host, "port": port})
		if errors.Is(err, pgx.ErrNoRows) {
			return notFound("the host %q is not on the list for port %d", host, port)
		}
		return err
	})
	return h, err
}

// AllowHost puts a host on the list.
func (s *Store) AllowHost(ctx context.Context, h fetch.AllowedHost) (fetch.AllowedHost, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		allowed, err := one[fetch.AllowedHost](ctx, q, `
			INSERT INTO allowed_hosts (id, host, port, http, networks, created_by) VALUES (@id, @host, @port, @http, coalesce(@networks::text[], '{}'), @by)
			RETURNING `+hostColumns,
			pgx.NamedArgs{"id": newID(), "host": h.Host, "port": h.Port, "http": h.HTTP, "networks": h.Networks, "by": auth.From(ctx).Name})
		if err != nil {
			return at("", h, err)
		}
		h = allowed
		return record(ctx, q, entry{Action: inputs.Create, Kind: hooks.HostKind, Name: h.Label(), After: h})
	})
	return h, err
}

// DenyHost takes a host off the list.
func (s *Store) DenyHost(ctx context.Context, id string) error {
	missing := notFound("there is no allowed host with the id %q", id)
	if uuid.Validate(id) != nil {
		return missing
	}
	return s.write(ctx, func(ctx context.Context, q querier) error {
		h, err := one[fetch.AllowedHost](ctx, q, `DELETE FROM allowed_hosts WHERE id = @id RETURNING `+hostColumns, pgx.NamedArgs{"id": id})
		if errors.Is(err, pgx.ErrNoRows) {
			return missing
		}
		if err != nil {
			return err
		}
		return record(ctx, q, entry{Action: inputs.Delete, Kind: hooks.HostKind, Name: h.Label(), Before: h})
	})
}
