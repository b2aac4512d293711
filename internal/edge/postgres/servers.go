package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/service/auth"
	"headroom/internal/service/heartbeat"
)

// RenewServer lists a server for a while from now, and returns the others.
func (s *Store) RenewServer(ctx context.Context, self heartbeat.Server, lasts time.Duration) (others []heartbeat.Server, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		others, err = collectAs(ctx, q, `
			WITH mine AS (
			    INSERT INTO servers (address, token_hash, until) VALUES (@address, @hash, clock_timestamp() + @lasts)
			    ON CONFLICT (address) DO UPDATE SET token_hash = excluded.token_hash, until = excluded.until
			), gone AS (
			    DELETE FROM servers WHERE address IN (SELECT address FROM servers WHERE until < clock_timestamp() - interval '1 minute' AND address <> @address FOR UPDATE SKIP LOCKED)
			)
			SELECT address, token_hash FROM servers WHERE until > clock_timestamp() AND address <> @address ORDER BY address`,
			pgx.NamedArgs{"address": self.Address, "hash": self.Hash[:], "lasts": lasts}, func(r struct {
				Address   string
				TokenHash []byte
			}) (heartbeat.Server, error) {
				return heartbeat.Server{Address: r.Address, Hash: auth.Hash(r.TokenHash)}, nil
			})
		return err
	})
	return others, err
}

// RemoveServer takes a server off the list.
func (s *Store) RemoveServer(ctx context.Context, self heartbeat.Server) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `DELETE FROM servers WHERE address = @address AND token_hash = @hash`, pgx.NamedArgs{"address": self.Address, "hash": self.Hash[:]})
		return err
	})
}
