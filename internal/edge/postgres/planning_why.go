package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"headroom/internal/data/inputs"
	"headroom/internal/service/app"
	"headroom/internal/service/plans"
)

// inputKinds are what plans are made from: every change of some in one transaction makes one version of a cluster's inputs.
var inputKinds = []string{inputs.ClusterKind, inputs.VMTypeKind, inputs.PriceKind, inputs.ContractKind, inputs.ProfileKind, inputs.ClassKind, inputs.ForecastKind}

// changesBetween reads the changes of inputs after one version up to another one. The version that a change made follows from
// how many others came after it.
const changesBetween = `
	SELECT by, action, kind, name FROM (
	    SELECT a.era, a.txid, a.id, a.by, a.action, a.kind, a.name, dense_rank() OVER (ORDER BY a.era DESC, a.txid DESC) AS back
	    FROM audit a WHERE a.cluster = @name AND a.kind = ANY(@kinds)) ranked
	WHERE back <= @oldest AND back > @newest
	ORDER BY era, txid, id`

// turnsBetween reads what began or ended after one moment up to another one, of the VM types in use.
const turnsBetween = `
	SELECT kind, name, ended FROM (
	    SELECT 'price' AS kind, v.name, lower(p.during) AS moment, false AS ended
	    FROM prices p JOIN vm_types v ON v.id = coalesce(p.vm_type_id, p.spot_vm_type_id) WHERE p.cluster_id = @cluster AND v.in_use
	    UNION ALL
	    SELECT 'contract', k.name, unnest(ARRAY[k.starts, k.ends]), unnest(ARRAY[false, true])
	    FROM contracts k JOIN vm_types v ON v.id = k.vm_type_id WHERE k.cluster_id = @cluster AND v.in_use
	    UNION ALL
	    SELECT 'forecast', '', unnest(ARRAY[f.hour, f.hour + interval '1 hour']), false
	    FROM forecasts f JOIN classes t ON t.id = f.class_id
	    WHERE t.cluster_id = @cluster AND f.hour > @after::timestamptz - interval '1 hour' AND f.hour <= @at
	) turns WHERE moment > @after AND moment <= @at
	GROUP BY kind, name, ended ORDER BY min(moment), kind, name, ended`

// why says why a plan is made of a cluster that is locked: what has happened since the cluster was last seen to ask for
// its newest good plan.
func why(ctx context.Context, q querier, cluster int64, r plans.PlanRecord, reason string) (string, error) {
	causes := app.Causes{Reason: reason}
	failed := func(err error) (string, error) {
		return "", fmt.Errorf("look why cluster %s is planned: %w", r.Cluster, err)
	}
	var version int64
	var confirmed *int64
	var since *time.Time
	err := q.QueryRow(ctx, `
		SELECT g.newest_number IS NULL, c.inputs_version, g.confirmed_version, g.confirmed_at
		FROM planning g JOIN clusters c ON c.id = g.cluster_id WHERE g.cluster_id = @cluster`, pgx.NamedArgs{"cluster": cluster}).
		Scan(&causes.First, &version, &confirmed, &since)
	if err != nil {
		return failed(err)
	}
	if confirmed != nil && *confirmed < r.InputsVersion {
		causes.Changes, err = collect[app.InputChange](ctx, q, changesBetween,
			pgx.NamedArgs{"name": r.Cluster, "kinds": inputKinds, "oldest": version - *confirmed, "newest": version - r.InputsVersion})
		if err != nil {
			return failed(err)
		}
	}
	if since != nil {
		if causes.Turns, err = collect[app.Turn](ctx, q, turnsBetween, pgx.NamedArgs{"cluster": cluster, "after": *since, "at": r.At}); err != nil {
			return failed(err)
		}
	}
	return causes.Why(), nil
}
