package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"headroom/internal/data/inputs"
	"headroom/internal/service/app"
	"headroom/internal/service/auth"
	"headroom/internal/service/plans"
)

// PinPlan keeps a plan current until a moment.
func (s *Store) PinPlan(ctx context.Context, cluster string, ref app.PlanRef, until time.Time) (pin plans.Pin, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		before, err := pinOf(ctx, q, id)
		if err != nil {
			return err
		}
		byID := uuid.NullUUID{}
		var missing error
		if ref.ID != "" {
			missing = notFound("the cluster %q has no plan with the id %q", cluster, ref.ID)
			byID.Valid = true
			if byID.UUID, err = uuid.Parse(ref.ID); err != nil {
				return missing
			}
		}
		var t planTurn
		err = q.QueryRow(ctx, `
			UPDATE planning g SET pin_number = p.number, pin_until = @until, pin_by = @by, current_number = p.number, wake_at = least(g.wake_at, @until)
			FROM plans p
			WHERE g.cluster_id = @cluster AND p.cluster_id = g.cluster_id AND (p.id = @id OR @id::uuid IS NULL AND p.number = @number)
`+returningTurn+`, g.pin_number, g.pin_until, g.pin_by`,
			pgx.NamedArgs{"cluster": id, "id": byID, "number": ref.Number, "until": until, "by": auth.From(ctx).Name}).
			Scan(&t.Current, &t.Previous, &t.Failures, &t.Heard, &pin.Number, &pin.Until, &pin.By)
		if errors.Is(err, pgx.ErrNoRows) && missing != nil {
			return missing
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return clusterPlans.missing(ctx, q, id, cluster, ref.Number)
		}
		if err != nil {
			return err
		}
		e := entry{Cluster: cluster, Action: inputs.Create, Kind: inputs.PinKind, Name: pinName(pin), After: pin}
		if before != nil {
			e.Action, e.Before = inputs.Update, *before
		}
		if err := record(ctx, q, e); err != nil {
			return err
		}
		if err := s.tellTurn(ctx, q, id, cluster, t, nil); err != nil {
			return err
		}
		return plansChanged(ctx, q, cluster)
	})
	return pin, err
}

// UnpinPlan makes the newest good plan current at once.
func (s *Store) UnpinPlan(ctx context.Context, cluster string) error {
	return s.write(ctx, func(ctx context.Context, q querier) error {
		id, err := lockCluster(ctx, q, cluster)
		if err != nil {
			return err
		}
		before, err := pinOf(ctx, q, id)
		if err != nil || before == nil {
			return err
		}
		t, err := turned(ctx, q, `
			UPDATE planning SET pin_number = NULL, pin_until = NULL, pin_by = NULL, current_number = coalesce(newest_number, current_number)
			WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": id})
		if err != nil {
			return err
		}
		if err := record(ctx, q, entry{Cluster: cluster, Action: inputs.Delete, Kind: inputs.PinKind, Name: pinName(*before), Before: *before}); err != nil {
			return err
		}
		if err := s.tellTurn(ctx, q, id, cluster, t, nil); err != nil {
			return err
		}
		return plansChanged(ctx, q, cluster)
	})
}

// PinOf is the pin of a cluster.
func (s *Store) PinOf(ctx context.Context, cluster string) (pin plans.Pin, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		found, err := pinOf(ctx, q, id)
		if err != nil {
			return err
		}
		if found == nil {
			return notFound("no plan of the cluster %q is pinned", cluster)
		}
		pin = *found
		return nil
	})
	return pin, err
}

func pinOf(ctx context.Context, q querier, cluster int64) (*plans.Pin, error) {
	var pin plans.Pin
	err := q.QueryRow(ctx, `SELECT pin_number, pin_until, pin_by FROM planning WHERE cluster_id = @cluster AND pin_number IS NOT NULL`,
		pgx.NamedArgs{"cluster": cluster}).Scan(&pin.Number, &pin.Until, &pin.By)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &pin, err
}

func pinName(p plans.Pin) string { return fmt.Sprintf("plan %d", p.Number) }
