package postgres

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"headroom/internal/data/fetch"
	"headroom/internal/data/inputs"
	"headroom/internal/data/storage"
	"headroom/internal/service/auth"
	"headroom/internal/service/hooks"
)

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

// HostOf is the entry for a host and a port.
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
