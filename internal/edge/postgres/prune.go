package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/postgres/connection"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/plans"
)

// Retention selects the plans that are old enough to be removed.
type Retention struct {
	OlderThan time.Duration
	Keep      int64 // the newest of each cluster stay, however old they are
	DryRun    bool
}

// Pruned counts the plans of a cluster that were removed, or would be.
type Pruned struct {
	Cluster string `json:"cluster"`
	Pool    bool   `json:"pool"` // plans of the cluster's pool
	Plans   int64  `json:"plans"`
	First   int64  `json:"first"` // the lowest number and the highest; between them plans may stay
	Last    int64  `json:"last"`
	Bytes   int64  `json:"bytes"` // as they were stored
}

// One transaction removes so many plans at most. It holds the lock of planning, so it aims at a time that nobody feels.
const (
	mostPruned  = 500
	firstPruned = 50
	leastPruned = 10
	pruneTime   = 25 * time.Millisecond
)

// pruned describes a kind of plans that can be removed.
type pruned struct {
	plans, removed string // tables
	candidates     string // clusters that may have some
	lock           string // the lock for making a plan of @cluster the current one
	old            string // plans of @cluster that are old enough and that nothing on record is about
	pool           bool
	of             string // their owner, in words
}

// For a cluster, the current, the newest and pinned plans stay. So do plans that were current lately, that a lease
// holds under or an observation was judged by, and plans whose texts the next one shares.
var clusterPlans = pruned{
	plans: "stored_plans", removed: "removed_plans", of: "the cluster",
	candidates: `SELECT id, name FROM clusters WHERE plans > @keep ORDER BY name, id`,
	lock:       `SELECT FROM clusters WHERE id = @cluster FOR NO KEY UPDATE`,
	old: `
	SELECT p.id, p.number, coalesce(pg_column_size(p.plan)::bigint + pg_column_size(p.problem), pg_column_size(p.own)) AS bytes
	FROM stored_plans p JOIN clusters c ON c.id = p.cluster_id
	WHERE p.cluster_id = @cluster AND p.created_at < clock_timestamp() - make_interval(secs => @age) AND p.number > @past AND p.number <= c.plans - @keep
	  AND NOT EXISTS (SELECT FROM planning g WHERE g.cluster_id = @cluster AND p.number IN (g.current_number, g.newest_number, g.pin_number))
	  AND NOT EXISTS (SELECT FROM plan_turns t WHERE t.cluster_id = @cluster AND t.number = p.number)
	  AND NOT EXISTS (SELECT FROM plan_reigns t WHERE t.cluster_id = @cluster AND t.number = p.number)
	  AND NOT EXISTS (SELECT FROM admissions a WHERE a.cluster_id = @cluster AND a.plan_number = p.number AND a.ended_at IS NULL)
	  AND NOT EXISTS (SELECT FROM observations o WHERE o.cluster_id = @cluster AND o.plan_number = p.number)
	  AND (p.base IS NOT NULL OR p.number IS DISTINCT FROM (
	      SELECT n.base FROM stored_plans n WHERE n.cluster_id = @cluster AND n.number > p.number ORDER BY n.number LIMIT 1))
	ORDER BY p.number`,
}

// For a pool, only the current and the newest plan stay: nothing else on record refers to one.
var poolPlans = pruned{
	plans: "pool_plans", removed: "removed_pool_plans", pool: true, of: "the pool of the cluster",
	candidates: `SELECT c.id, c.name FROM pools g JOIN clusters c ON c.id = g.cluster_id WHERE g.plans > @keep ORDER BY c.name, c.id`,
	lock:       `SELECT FROM pools WHERE cluster_id = @cluster FOR NO KEY UPDATE`,
	old: `
	SELECT p.id, p.number, pg_column_size(p.plan)::bigint + pg_column_size(p.basis) AS bytes
	FROM pool_plans p JOIN pools g ON g.cluster_id = p.cluster_id
	WHERE p.cluster_id = @cluster AND p.created_at < clock_timestamp() - make_interval(secs => @age) AND p.number > @past AND p.number <= g.plans - @keep
	  AND p.number IS DISTINCT FROM g.current_number
	ORDER BY p.number`,
}

// Prune removes old plans, as the owner of the tables: the service may not. It calls tell for each cluster that has
// some.
func Prune(ctx context.Context, url string, r Retention, tell func(Pruned) error) error {
	conn, err := connection.Session(ctx, url)
	if err != nil {
		return err
	}
	defer connection.Close(ctx, conn)
	for _, of := range []pruned{clusterPlans, poolPlans} {
		if err := of.prune(ctx, conn, r, tell); err != nil {
			return err
		}
	}
	return nil
}

func (of pruned) prune(ctx context.Context, conn *pgx.Conn, r Retention, tell func(Pruned) error) error {
	clusters, err := collect[struct {
		ID   int64
		Name string
	}](ctx, conn, of.candidates, pgx.NamedArgs{"keep": r.Keep})
	if err != nil {
		return connection.SetupError(ctx, "list the clusters", err)
	}
	removed := false
	for _, c := range clusters {
		total := Pruned{Cluster: c.Name, Pool: of.pool}
		args := pgx.NamedArgs{"cluster": c.ID, "age": r.OlderThan.Seconds(), "keep": r.Keep, "past": 0}
		if r.DryRun {
			err = conn.QueryRow(ctx, `SELECT count(*), coalesce(min(number), 0), coalesce(max(number), 0), coalesce(sum(bytes), 0)::bigint FROM (`+of.old+`) old`, args).
				Scan(&total.Plans, &total.First, &total.Last, &total.Bytes)
		} else {
			err = of.pruneCluster(ctx, conn, args, &total)
		}
		if err != nil {
			return connection.SetupError(ctx, "remove old plans of "+of.of+" "+c.Name, err)
		}
		if total.Plans == 0 {
			continue
		}
		removed = !r.DryRun
		if err := tell(total); err != nil {
			return err
		}
	}
	if removed { // so that their room is used again at once
		if _, err := conn.Exec(ctx, `VACUUM `+of.plans); err != nil {
			return connection.SetupError(ctx, "make the room of removed plans free", err)
		}
	}
	return nil
}

// pruneCluster removes batch after batch until nothing is left to remove. It finds the plans before it locks the
// cluster, and looks at them once more when it has.
func (of pruned) pruneCluster(ctx context.Context, conn *pgx.Conn, args pgx.NamedArgs, total *Pruned) error {
	ctx = auth.With(ctx, auth.Principal{Name: "retention"})
	for most := firstPruned; ; {
		args["batch"] = mostPruned
		var numbers []int64
		err := conn.QueryRow(ctx, `SELECT array_agg(number) FROM (`+of.old+` LIMIT @batch) old`, args).Scan(&numbers)
		if err != nil || len(numbers) == 0 {
			return err
		}
		for len(numbers) > 0 {
			some := numbers[:min(most, len(numbers))]
			began := time.Now()
			batch, err := of.pruneSome(ctx, conn, args, some, *total)
			if err != nil {
				return err
			}
			most = max(leastPruned, min(mostPruned, 2*most, int(float64(most)*pruneTime.Seconds()/time.Since(began).Seconds())))
			numbers = numbers[len(some):]
			args["past"] = some[len(some)-1] // or each batch would pass over the rows that those before it have removed
			if batch.Plans == 0 {
				continue
			}
			if total.Plans == 0 {
				total.First = batch.First
			}
			total.Plans, total.Last, total.Bytes = total.Plans+batch.Plans, batch.Last, total.Bytes+batch.Bytes
		}
	}
}

// pruneSome removes those of some plans that nothing on record is about any more, under the lock.
func (of pruned) pruneSome(ctx context.Context, conn *pgx.Conn, args pgx.NamedArgs, numbers []int64, total Pruned) (batch Pruned, err error) {
	batch = Pruned{Cluster: total.Cluster, Pool: total.Pool}
	args["numbers"] = numbers
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, of.lock, args); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `SET LOCAL headroom.retention = 'on'`); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `
			WITH old AS (SELECT * FROM (`+of.old+`) old WHERE number = ANY(@numbers)),
			     gone AS (DELETE FROM `+of.plans+` p USING old WHERE p.id = old.id RETURNING p.number, old.bytes),
			     noted AS (INSERT INTO `+of.removed+` (cluster_id, first, last)
			               SELECT @cluster, min(number), max(number) FROM (SELECT number, number - row_number() OVER (ORDER BY number) AS island FROM gone) numbers GROUP BY island)
			SELECT count(*), coalesce(min(number), 0), coalesce(max(number), 0), coalesce(sum(bytes), 0)::bigint FROM gone`, args).
			Scan(&batch.Plans, &batch.First, &batch.Last, &batch.Bytes)
		if err != nil || batch.Plans == 0 {
			return err
		}
		name := fmt.Sprintf("plans %d to %d", batch.First, batch.Last)
		if of.pool {
			name += " of the pool"
		}
		return record(ctx, tx, entry{Cluster: batch.Cluster, Action: inputs.Delete, Kind: inputs.PlanKind, Name: name, Before: batch})
	})
	return batch, err
}

// missing reports that a plan's number does not exist, or that retention has removed it.
func (of pruned) missing(ctx context.Context, q querier, id int64, cluster string, number int64) error {
	var at time.Time
	err := q.QueryRow(ctx, `SELECT removed_at FROM `+of.removed+` WHERE cluster_id = @cluster AND first <= @number AND last >= @number`,
		pgx.NamedArgs{"cluster": id, "number": number}).Scan(&at)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return notFound("%s %q has no plan number %d", of.of, cluster, number)
	case err != nil:
		return err
	}
	return notFound("plan %d of %s %q was removed by retention on %s", number, of.of, cluster, at.UTC().Format(time.DateOnly))
}

// RemovedPlans counts the plans that retention has removed, by the names of living clusters.
func (s *Store) RemovedPlans(ctx context.Context) (all map[string]plans.Removed, err error) {
	type named struct {
		Cluster string
		plans.Removed
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := collect[named](ctx, q, `
			SELECT c.name AS cluster, sum(r.last - r.first + 1)::bigint AS plans, max(r.removed_at) AS last
			FROM (SELECT * FROM removed_plans UNION ALL SELECT * FROM removed_pool_plans) r JOIN clusters c ON c.id = r.cluster_id
			WHERE c.deleted_at IS NULL GROUP BY c.name`, nil)
		all = make(map[string]plans.Removed, len(rows))
		for _, r := range rows {
			all[r.Cluster] = r.Removed
		}
		return err
	})
	return all, err
}
