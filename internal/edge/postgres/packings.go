package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
)

const packingColumns = `p.id::text AS id, c.name AS cluster, p.created_at, p.created_by, p.algorithm, p.status, p.machines, p.vms, p.jobs, p.busy_s AS busy_seconds,
	p.end_s AS end_seconds, p.sequential_s AS sequential_seconds, p.lower_bound_s AS lower_bound_seconds, p.missed`

// SavePacking stores a packing with its batch.
func (s *Store) SavePacking(ctx context.Context, k pack.KeptPacking) (pack.KeptPacking, error) {
	err := s.write(ctx, func(ctx context.Context, q querier) error {
		cluster, err := lockCluster(ctx, q, k.Cluster)
		if err != nil {
			return err
		}
		var kept int64
		if err := q.QueryRow(ctx, `SELECT count(*) FROM packings WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": cluster}).Scan(&kept); err != nil {
			return err
		}
		if kept >= pack.MaxKeptPackings {
			return fmt.Errorf("the cluster has %d packings already, as many as it may; delete one first: %w", kept, fault.Conflict)
		}
		k.ID, k.CreatedBy = newID(), auth.From(ctx).Name
		err = q.QueryRow(ctx, `
			INSERT INTO packings (id, cluster_id, created_by, algorithm, status, machines, vms, jobs, busy_s, end_s, sequential_s, lower_bound_s, missed, batch, packing)
			VALUES (@id, @cluster, @created_by, @algorithm, @status, @machines, @vms, @jobs, @busy, @end, @sequential, @bound, @missed, @batch, @packing)
			RETURNING created_at`,
			pgx.NamedArgs{"id": k.ID, "cluster": cluster, "created_by": k.CreatedBy, "algorithm": k.Algorithm, "status": k.Status, "machines": k.Machines, "vms": k.VMs,
				"jobs": k.Jobs, "busy": k.BusySeconds, "end": k.EndSeconds, "sequential": k.SequentialSeconds, "bound": k.LowerBoundSeconds, "missed": k.Missed,
				"batch": string(k.Batch), "packing": string(k.Packing)}).Scan(&k.CreatedAt)
		if err != nil {
			return err
		}
		return record(ctx, q, entry{Cluster: k.Cluster, Action: inputs.Create, Kind: pack.PackingKind, Name: k.ID, After: k.PackingSummary})
	})
	return k, err
}

// Packings lists the newest first.
func (s *Store) Packings(ctx context.Context, cluster string, page storage.Page) (list storage.Listed[pack.PackingSummary], err error) {
	before := uuid.Max
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		items, err := collect[pack.PackingSummary](ctx, q, `
			SELECT `+packingColumns+` FROM packings p JOIN clusters c ON c.id = p.cluster_id
			WHERE p.cluster_id = @cluster AND p.id < @before ORDER BY p.id DESC LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "before": before.String(), "limit": limitOf(page) + 1})
		list = listed(items, page, func(p pack.PackingSummary) []any { return []any{p.ID} })
		return err
	})
	return list, err
}

// Packing returns a packing by its id.
func (s *Store) Packing(ctx context.Context, cluster, id string) (k pack.KeptPacking, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		number, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		k, err = keptPacking(ctx, q, number, cluster, id)
		return err
	})
	return k, err
}

func keptPacking(ctx context.Context, q querier, number int64, cluster, id string) (k pack.KeptPacking, err error) {
	missing := notFound("the cluster %q has no packing with the id %.60q", cluster, id)
	if uuid.Validate(id) != nil || len(id) != 36 {
		return k, missing
	}
	k, err = one[pack.KeptPacking](ctx, q, `
		SELECT `+packingColumns+`, p.batch, p.packing FROM packings p JOIN clusters c ON c.id = p.cluster_id
		WHERE p.cluster_id = @cluster AND p.id = @id`, pgx.NamedArgs{"cluster": number, "id": id})
	if errors.Is(err, pgx.ErrNoRows) {
		return k, missing
	}
	return k, err
}

// DeletePacking forgets one.
func (s *Store) DeletePacking(ctx context.Context, cluster, id string) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		number, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		k, err := keptPacking(ctx, q, number, cluster, id)
		if err != nil {
			return err
		}
		if _, err := q.Exec(ctx, `DELETE FROM packings WHERE id = @id`, pgx.NamedArgs{"id": k.ID}); err != nil {
			return err
		}
		return record(ctx, q, entry{Cluster: cluster, Action: inputs.Delete, Kind: pack.PackingKind, Name: k.ID, Before: k.PackingSummary})
	})
}
