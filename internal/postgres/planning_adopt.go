package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"headroom/internal/capacity"
)

// nextBoundary is the first moment after @at that changes a price, a contract or a forecast of the
// cluster. Hours without forecasts are none, nor is what concerns a VM type that is not in use.
const nextBoundary = `(SELECT min(moment) FROM (
	SELECT unnest(ARRAY[lower(p.during), upper(p.during)]) AS moment FROM prices p JOIN vm_types v ON v.id = p.vm_type_id
	WHERE p.cluster_id = @cluster AND v.in_use AND (p.during @> @at::timestamptz OR lower(p.during) > @at)
	UNION ALL
	SELECT unnest(ARRAY[k.starts, k.ends]) FROM contracts k JOIN vm_types v ON v.id = k.vm_type_id
	WHERE k.cluster_id = @cluster AND v.in_use AND k.ends > @at
	UNION ALL
	SELECT turn FROM classes t CROSS JOIN LATERAL (
	    SELECT CASE WHEN f.hour > @at THEN f.hour ELSE f.hour + interval '1 hour' END AS turn FROM forecasts f
	    WHERE f.class_id = t.id AND f.hour > @at::timestamptz - interval '1 hour' ORDER BY f.hour LIMIT 1) f
	WHERE t.cluster_id = @cluster
) moments WHERE moment > @at)`

// adopt makes a stored plan for its own present the newest good one, and the current one unless another
// is pinned. A plan about older inputs than those already planned changes nothing. Whoever plans the
// cluster at the time has lost his claim.
func adopt(ctx context.Context, q querier, cluster int64, r capacity.PlanRecord) error {
	_, err := q.Exec(ctx, `
		UPDATE planning
		SET newest_number = @number, current_number = CASE WHEN pin_until > @at THEN current_number ELSE @number END,
		    pin_number = CASE WHEN pin_until > @at THEN pin_number END, pin_until = CASE WHEN pin_until > @at THEN pin_until END, pin_by = CASE WHEN pin_until > @at THEN pin_by END,
		    inputs_sum = @sum, confirmed_version = @version, tried_version = @version, confirmed_at = @at,
		    changing_since = CASE WHEN (SELECT inputs_version FROM clusters WHERE id = @cluster) = @version THEN NULL ELSE inputs_changed_at END,
		    boundary = `+nextBoundary+`, wake_at = least(`+nextBoundary+`, @at::timestamptz + make_interval(secs => @period), CASE WHEN pin_until > @at THEN pin_until END),
		    retry_at = NULL, failures = 0, claimed_by = NULL, claimed_until = NULL,
		    last_attempt = CASE WHEN pin_until > @at THEN last_attempt END
		WHERE cluster_id = @cluster AND coalesce(confirmed_version, 0) <= @version`,
		pgx.NamedArgs{"cluster": cluster, "number": r.Number, "at": r.At, "sum": r.Sum, "version": r.InputsVersion, "period": float64(r.PeriodSeconds)})
	if err != nil {
		return err
	}
	return plansChanged(ctx, q, r.Cluster)
}
