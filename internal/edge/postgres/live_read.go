package postgres

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/slots/live"
)

// firstLiveVersion is the version of unchanged settings: one after those of deleted clusters of the name.
const firstLiveVersion = `SELECT coalesce(max((l.settings->>'version')::bigint), 0) + 1 FROM live_clusters l JOIN clusters c ON c.id = l.cluster_id WHERE c.name = @cluster`

// LiveSettings returns the settings, by default unchanged ones.
func (s *Store) LiveSettings(ctx context.Context, cluster string) (settings live.LiveSettings, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		err = q.QueryRow(ctx, `SELECT settings FROM live_clusters WHERE cluster_id = @cluster`, pgx.NamedArgs{"cluster": id}).Scan(&settings)
		if errors.Is(err, pgx.ErrNoRows) {
			settings = live.DefaultLiveSettings()
			err = q.QueryRow(ctx, firstLiveVersion, pgx.NamedArgs{"cluster": cluster}).Scan(&settings.Version)
		}
		return err
	})
	return settings, err
}

// OverdueNodes reports whether a node has been silent for too long and does not count as dead yet.
func (s *Store) OverdueNodes(ctx context.Context, cluster string, now time.Time) (overdue bool, err error) {
	if unstorable(cluster) {
		return false, noCluster(cluster)
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `
			SELECT EXISTS (
			    SELECT FROM clusters c JOIN live_clusters l ON l.cluster_id = c.id JOIN live_nodes n ON n.cluster_id = c.id
			    WHERE c.name = @cluster AND c.deleted_at IS NULL AND n.state = 'alive' AND n.heard_at < @now::timestamptz - make_interval(secs => (l.settings->>'node_timeout_s')::float8))`,
			pgx.NamedArgs{"cluster": cluster, "now": now}).Scan(&overdue)
	})
	return overdue, err
}

// LiveNodes lists by name.
func (s *Store) LiveNodes(ctx context.Context, cluster string, page storage.Page) (list storage.Listed[live.LiveNode], err error) {
	after := ""
	if err := readCursor(page.After, &after); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		found, err := collectAs(ctx, q, `SELECT `+liveNodeColumns+` FROM live_nodes WHERE cluster_id = @cluster AND name > @after ORDER BY name LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "after": after, "limit": limitOf(page) + 1}, liveNodeRow.shown)
		list = listed(found, page, func(n live.LiveNode) []any { return []any{n.Name} })
		return err
	})
	return list, err
}

// LiveNode returns a node by its name.
func (s *Store) LiveNode(ctx context.Context, cluster, name string) (n live.LiveNode, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		missing := notFound("the cluster %q has no live node %.60q", cluster, name)
		if unstorable(name) {
			return missing
		}
		row, err := one[liveNodeRow](ctx, q, `SELECT `+liveNodeColumns+` FROM live_nodes WHERE cluster_id = @cluster AND name = @name`, pgx.NamedArgs{"cluster": id, "name": name})
		if errors.Is(err, pgx.ErrNoRows) {
			return missing
		}
		if err == nil {
			n, err = row.shown()
		}
		return err
	})
	return n, err
}

// LiveJobs lists the newest first.
func (s *Store) LiveJobs(ctx context.Context, cluster string, of heartbeat.JobFilter, now time.Time, page storage.Page) (list storage.Listed[live.LiveJob], err error) {
	before := int64(math.MaxInt64)
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		found, err := collectAs(ctx, q, `
			SELECT `+liveJobColumns+` FROM live_jobs WHERE cluster_id = @cluster AND number < @before AND (@state = '' OR state = @state) ORDER BY number DESC LIMIT @limit`,
			pgx.NamedArgs{"cluster": id, "before": before, "state": string(of.State), "limit": limitOf(page) + 1}, shownJob(now))
		list = listed(found, page, func(j live.LiveJob) []any { return []any{j.Number} })
		return err
	})
	return list, err
}

func shownJob(now time.Time) func(liveJobRow) (live.LiveJob, error) {
	return func(r liveJobRow) (live.LiveJob, error) {
		j, err := r.job()
		return j.View(live.Seconds(now)), err
	}
}

// LiveJob returns a job by its number.
func (s *Store) LiveJob(ctx context.Context, cluster string, number int64, now time.Time) (j live.LiveJob, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		row, err := one[liveJobRow](ctx, q, `SELECT `+liveJobColumns+` FROM live_jobs WHERE cluster_id = @cluster AND number = @number`, pgx.NamedArgs{"cluster": id, "number": number})
		if errors.Is(err, pgx.ErrNoRows) {
			return notFound("the cluster %q has no live job %d, or it ended more than 7 days ago", cluster, number)
		}
		if err == nil {
			j, err = shownJob(now)(row)
		}
		return err
	})
	return j, err
}

// LiveDecisions lists the newest first.
func (s *Store) LiveDecisions(ctx context.Context, cluster string, of heartbeat.DecisionFilter, page storage.Page) (list storage.Listed[live.LiveDecision], err error) {
	before := int64(math.MaxInt64)
	if err := readCursor(page.After, &before); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		if unstorable(of.Node) {
			list.Items = []live.LiveDecision{}
			return nil
		}
		args := pgx.NamedArgs{"cluster": id, "before": before, "limit": limitOf(page) + 1, "from": nil, "until": nil, "node": of.Node, "job": of.Job, "outcome": string(of.Outcome)}
		if !of.From.IsZero() {
			args["from"] = of.From
		}
		if !of.Until.IsZero() {
			args["until"] = of.Until
		}
		found, err := collectAs(ctx, q, `
			SELECT `+liveRunColumns+` FROM live_runs
			WHERE cluster_id = @cluster AND id < @before AND (@node = '' OR node = @node) AND (@job::bigint = 0 OR job = @job) AND (@outcome = '' OR outcome = @outcome)
			      AND (@from::timestamptz IS NULL OR at >= @from) AND (@until::timestamptz IS NULL OR at < @until)
			ORDER BY id DESC LIMIT @limit`, args, func(r liveRunRow) (live.LiveDecision, error) {
			run, err := r.run()
			return run.Decision(), err
		})
		list = listed(found, page, func(d live.LiveDecision) []any { return []any{d.Assignment.Assignment} })
		return err
	})
	return list, err
}

// RenewServer lists a server for a while from now, and returns the others.
func (s *Store) RenewServer(ctx context.Context, self heartbeat.Server, lasts time.Duration) (others []heartbeat.Server, err error) {
	err = s.write(ctx, func(ctx context.Context, q querier) (err error) {
		others, err = collect[heartbeat.Server](ctx, q, `
			WITH mine AS (
			    INSERT INTO servers (address, token_hash, until) VALUES (@address, decode(@hash, 'hex'), clock_timestamp() + @lasts)
			    ON CONFLICT (address) DO UPDATE SET token_hash = excluded.token_hash, until = excluded.until
			), gone AS (
			    DELETE FROM servers WHERE address IN (SELECT address FROM servers WHERE until < clock_timestamp() - interval '1 minute' AND address <> @address FOR UPDATE SKIP LOCKED)
			)
			SELECT address, encode(token_hash, 'hex') AS hash FROM servers WHERE until > clock_timestamp() AND address <> @address ORDER BY address`,
			pgx.NamedArgs{"address": self.Address, "hash": self.Hash, "lasts": lasts})
		return err
	})
	return others, err
}
