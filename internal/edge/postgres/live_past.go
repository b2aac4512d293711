package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// LivePast returns the state of a live cluster at a past moment, as far as it is stored (see app.Live).
func (s *Store) LivePast(ctx context.Context, cluster string, from, until time.Time) (past heartbeat.Past, err error) {
	err = s.readAll(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		exists := false
		if err := q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM live_clusters WHERE cluster_id = @cluster)`, pgx.NamedArgs{"cluster": id}).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			past.State.Settings = live.DefaultLiveSettings()
			return nil
		}
		now, err := loadLive(ctx, q, id)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"cluster": id, "from": from, "until": until, "since": from.Add(-time.Duration(now.Settings.NodeTimeoutSeconds * float64(time.Second)))}
		if past.Jobs, err = collectAs(ctx, q, `
			SELECT `+liveJobColumns+` FROM live_jobs
			WHERE cluster_id = @cluster AND submitted_at < @until AND (ended_at IS NULL OR ended_at > @from) ORDER BY number`, args, liveJobRow.job); err != nil {
			return err
		}
		past.State = live.State{Settings: now.Settings, Measured: now.Measured, Counters: live.Counters{Clock: live.Seconds(from)}}
		if past.State.Nodes, err = nodesAt(ctx, q, args, now.Nodes); err != nil {
			return err
		}
		there := map[string]*live.Node{}
		for i := range past.State.Nodes {
			there[past.State.Nodes[i].Name] = &past.State.Nodes[i]
		}
		if past.State.Jobs, err = jobsAt(ctx, q, args, past.Jobs, from); err != nil {
			return err
		}
		runs, err := collectAs(ctx, q, `
			SELECT `+liveRunColumns+` FROM live_runs
			WHERE cluster_id = @cluster AND at < @from AND (ended_at IS NULL OR ended_at > @from) ORDER BY id`, args, liveRunRow.run)
		active := map[int64]bool{}
		for _, j := range past.State.Jobs {
			active[j.Number] = true
		}
		for _, r := range runs {
			n := there[r.Node]
			if n == nil || !active[r.Job] {
				continue
			}
			if n.State != live.NodeAlive { // it had tasks, so it had been heard of
				n.State, n.Heard = live.NodeAlive, live.Seconds(from)
			}
			r.Outcome, r.Open, r.Cause, r.Ended, r.Seconds = live.TaskRunning, true, "", 0, 0
			past.State.Runs = append(past.State.Runs, r)
		}
		return err
	})
	return past, err
}

// nodesAt returns nodes with their last reports before a moment.
func nodesAt(ctx context.Context, q querier, args pgx.NamedArgs, nodes []live.Node) ([]live.Node, error) {
	type last struct {
		Node string
		At   time.Time
		Body string
	}
	found, err := collect[last](ctx, q, `
		SELECT DISTINCT ON (node) node, at, body FROM live_heartbeats
		WHERE cluster_id = @cluster AND at >= @since AND at < @from ORDER BY node, at DESC, number DESC`, args)
	if err != nil {
		return nil, err
	}
	heard := map[string]last{}
	for _, l := range found {
		heard[l.Node] = l
	}
	for i, n := range nodes {
		if l, some := heard[n.Name]; some {
			nodes[i] = n.HeardOf(live.Seconds(l.At), []byte(l.Body))
		} else {
			nodes[i] = n.HeardOf(0, nil)
		}
	}
	return nodes, nil
}

// jobsAt returns those jobs that were active at a moment, in their state then.
func jobsAt(ctx context.Context, q querier, args pgx.NamedArgs, jobs []live.Job, from time.Time) (then []live.Job, err error) {
	var numbers []int64
	for _, j := range jobs {
		if j.Submitted < live.Seconds(from) {
			numbers = append(numbers, j.Number)
			then = append(then, j)
		}
	}
	args["jobs"] = numbers
	type tasks struct {
		Job   int64
		Kind  int16
		Tasks []int64
	}
	done, err := collect[tasks](ctx, q, `
		SELECT job, kind, array_agg(task) AS tasks FROM live_runs
		WHERE cluster_id = @cluster AND job = ANY(@jobs) AND outcome = 'done' AND ended_at <= @from GROUP BY job, kind`, args)
	if err != nil {
		return nil, err
	}
	type tried struct {
		Job          int64
		Kind         int16
		Task         int64
		Failed, Lost int64
	}
	vain, err := collect[tried](ctx, q, `
		SELECT job, kind, task, count(*) FILTER (WHERE outcome = 'failed') AS failed, count(*) FILTER (WHERE outcome = 'lost') AS lost FROM live_runs
		WHERE cluster_id = @cluster AND job = ANY(@jobs) AND outcome IN ('failed', 'lost') AND ended_at <= @from GROUP BY job, kind, task ORDER BY job, kind, task`, args)
	if err != nil {
		return nil, err
	}
	doneOf, triesOf := map[int64][dispatch.Kinds][]int64{}, map[int64][]live.Tries{}
	for _, d := range done {
		of := doneOf[d.Job]
		of[d.Kind] = d.Tasks
		doneOf[d.Job] = of
	}
	for _, v := range vain {
		triesOf[v.Job] = append(triesOf[v.Job], live.Tries{Kind: dispatch.Kind(v.Kind), Task: v.Task, Failed: v.Failed, Lost: v.Lost})
	}
	for i, j := range then {
		then[i] = j.At(doneOf[j.Number], triesOf[j.Number])
	}
	return then, nil
}

// PastHeartbeats returns a limited number of heartbeats after a number, in the order of their answers. number is that
// of the last one.
func (s *Store) PastHeartbeats(ctx context.Context, cluster string, after int64, from, until time.Time, most int) (beats []heartbeat.KeptHeartbeat, number int64, err error) {
	type row struct {
		Number       int64
		At           time.Time
		Node         string
		Body, Answer string
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := collect[row](ctx, q, `
			SELECT h.number, h.at, h.node, h.body, h.answer FROM live_heartbeats h
			WHERE h.cluster_id = `+ofCluster+` AND h.number > @after AND h.at >= @from AND h.at < @until ORDER BY h.number LIMIT @most`,
			pgx.NamedArgs{"cluster": cluster, "after": after, "from": from, "until": until, "most": most})
		for _, r := range rows {
			beats, number = append(beats, heartbeat.KeptHeartbeat{At: r.At, Node: r.Node, Body: r.Body, Answer: r.Answer}), r.Number
		}
		return err
	})
	return beats, number, err
}
