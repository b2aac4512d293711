package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
)

// SavePromises stores promises by class. Classes that are gone, or have no target any more, are passed over.
func (s *Store) SavePromises(ctx context.Context, cluster string, promises map[string]capacity.Promise) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		saved := false
		for _, name := range slices.Sorted(maps.Keys(promises)) {
			before, err := classes.get(ctx, q, id, cluster, name)
			if errors.Is(err, fault.NotFound) || err == nil && before.Target == 0 {
				continue
			}
			if err != nil {
				return err
			}
			after := before
			after.Promise = new(promises[name])
			if err := classes.exec(ctx, q, classes.update, id, after, pgx.NamedArgs{"name": name}); err != nil {
				return at(cluster, after, err)
			}
			if after, err = classes.get(ctx, q, id, cluster, name); err != nil {
				return err
			}
			if err := record(ctx, q, entry{Cluster: cluster, Action: inputs.Update, Kind: inputs.ClassKind, Name: name, Before: before, After: after}); err != nil {
				return err
			}
			saved = true
		}
		if !saved { // nothing to plan anew for
			return nil
		}
		return bump(ctx, q, id)
	})
}
