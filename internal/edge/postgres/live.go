package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// liveRow is the row that is locked for every change of a live cluster.
type liveRow struct {
	ClusterID int64
	Stamp     int64
	LastBeat  int64
}

// ChangeLive lets work change a live cluster (see app.Live). It takes two round trips if the caller's state is the
// latest and nothing goes to the audit log.
func (s *Store) ChangeLive(ctx context.Context, cluster string, seen heartbeat.Stamp, bulk bool, work func(ctx context.Context, stored *live.State, judged live.Judged) (heartbeat.Work, error)) (stamp heartbeat.Stamp, err error) {
	if unstorable(cluster) {
		return stamp, noCluster(cluster)
	}
	s.sweepLive()
	var row liveRow
	err = s.writeBetween(ctx, bulk, func(first *pgx.Batch) { row.lock(first, cluster) }, func(ctx context.Context, q querier) (*pgx.Batch, error) {
		if row.ClusterID == 0 {
			if err := row.make(ctx, q, cluster); err != nil {
				return nil, err
			}
		}
		stamp = heartbeat.Stamp{Cluster: row.ClusterID, Stamp: row.Stamp}
		var stored *live.State
		if stamp != seen {
			if stored, err = loadLive(ctx, q, row.ClusterID); err != nil {
				return nil, fmt.Errorf("read the live cluster %s: %w", cluster, err)
			}
		}
		done, err := work(ctx, stored, live.Judged{After: func(judgement int64) iter.Seq2[*dispatch.Decision, error] {
			return judgedChoices(judgement, row.ClusterID, func(work func(context.Context, querier) error) error { return work(ctx, q) })
		}})
		if err != nil || done.Empty() && len(done.Heartbeats) == 0 {
			return nil, err
		}
		entries := make([]entry, len(done.Deeds))
		for i, d := range done.Deeds {
			entries[i] = entry{Cluster: cluster, Action: d.Action, Kind: d.Kind, Name: d.Name, Before: d.Before, After: d.After}
		}
		if len(entries) > 0 {
			if err := record(ctx, q, entries...); err != nil {
				return nil, err
			}
		}
		stamp.Stamp = rand.Int64()
		return saveLive(row, stamp.Stamp, done)
	})
	return stamp, err
}

// InOnce reports whether a context comes from Once.
func (s *Store) InOnce(ctx context.Context) bool {
	_, joins := joined(ctx)
	return joins
}

// lock queues the query for a cluster's row, which also locks it. Without a row, r stays empty.
func (r *liveRow) lock(b *pgx.Batch, cluster string) {
	b.Queue(`
		SELECT l.cluster_id, l.stamp, l.last_beat FROM live_clusters l JOIN clusters c ON c.id = l.cluster_id
		WHERE c.name = @cluster AND c.deleted_at IS NULL FOR UPDATE OF l`, pgx.NamedArgs{"cluster": cluster}).QueryRow(func(found pgx.Row) error {
		if err := found.Scan(&r.ClusterID, &r.Stamp, &r.LastBeat); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
}

// make inserts the row of a cluster that has none yet, and locks it.
func (r *liveRow) make(ctx context.Context, q querier, cluster string) error {
	var b pgx.Batch
	b.Queue(`
		INSERT INTO live_clusters (cluster_id, stamp, settings)
		SELECT id, @stamp, jsonb_set(@settings, '{version}', to_jsonb((`+firstLiveVersion+`))) FROM clusters WHERE name = @cluster AND deleted_at IS NULL
		ON CONFLICT DO NOTHING`, pgx.NamedArgs{"cluster": cluster, "stamp": rand.Int64(), "settings": live.DefaultLiveSettings()})
	r.lock(&b, cluster)
	err := q.SendBatch(ctx, &b).Close()
	if err == nil && r.ClusterID == 0 {
		err = noCluster(cluster)
	}
	return err
}

// liveNodeRow is a stored node.
type liveNodeRow struct {
	Name         string          `json:"name"`
	Type         string          `json:"type"`
	Cores        float64         `json:"cores"`
	SlotsMap     int64           `json:"slots_map"`
	SlotsReduce  int64           `json:"slots_reduce"`
	Dedicated    bool            `json:"dedicated"`
	ComputeUnits float64         `json:"compute_units"`
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`
	State        string          `json:"state"`
	HeardAt      *time.Time      `json:"heard_at"`
	Beats        int64           `json:"beats"`
	Seq          int64           `json:"seq"`
	Boot         string          `json:"boot"`
	Boots        json.RawMessage `json:"boots"`
	Residual     float64         `json:"residual"`
	Report       json.RawMessage `json:"report"`
	Running      int64           `json:"running"`
	Digest       string          `json:"digest"`
	Answer       string          `json:"answer"`
}

const liveNodeColumns = `name, type, cores, slots_map, slots_reduce, dedicated, compute_units, created_at, updated_at, state, heard_at, beats, seq, boot, boots, residual, report, running, digest, answer`

func liveNodeRowOf(n live.Node) (r liveNodeRow, err error) {
	r = liveNodeRow{Name: n.Name, Type: n.Type, Cores: n.Cores, SlotsMap: n.Slots.Map, SlotsReduce: n.Slots.Reduce, Dedicated: n.Dedicated, ComputeUnits: n.ComputeUnits,
		CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt, State: string(n.State), HeardAt: n.LastHeartbeatAt, Beats: n.Beats, Seq: n.Seq, Boot: n.Boot, Residual: n.Residual,
		Running: n.Running, Digest: n.Digest, Answer: string(n.Answer)}
	if n.Boots == nil {
		n.Boots = []string{}
	}
	if r.Boots, err = json.Marshal(n.Boots); err == nil && n.Report != nil {
		r.Report, err = json.Marshal(n.Report)
	}
	return r, err
}

// shown returns the node for answers.
func (r liveNodeRow) shown() (n live.LiveNode, err error) {
	n = live.LiveNode{Name: r.Name, Type: r.Type, Cores: r.Cores, Slots: live.NodeSlots{Map: r.SlotsMap, Reduce: r.SlotsReduce}, Dedicated: r.Dedicated,
		ComputeUnits: r.ComputeUnits, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, State: live.NodeHealth(r.State), LastHeartbeatAt: r.HeardAt,
		Seq: r.Seq, Boot: r.Boot, Residual: r.Residual, Running: r.Running}
	if len(r.Report) > 0 {
		err = json.Unmarshal(r.Report, &n.Report)
	}
	return n, err
}

func (r liveNodeRow) node() (n live.Node, err error) {
	n = live.Node{Beats: r.Beats, Digest: r.Digest, Answer: []byte(r.Answer)}
	if r.HeardAt != nil {
		n.Heard = live.Seconds(*r.HeardAt)
	}
	if n.LiveNode, err = r.shown(); err == nil {
		err = json.Unmarshal(r.Boots, &n.Boots)
	}
	return n, err
}

// liveJobRow is a stored job.
type liveJobRow struct {
	Number      int64           `json:"number"`
	Request     json.RawMessage `json:"request"`
	State       string          `json:"state"`
	Reason      string          `json:"reason"`
	SubmittedAt time.Time       `json:"submitted_at"`
	SubmittedBy string          `json:"submitted_by"`
	DeadlineAt  *time.Time      `json:"deadline_at"`
	EndedAt     *time.Time      `json:"ended_at"`
	Counts      json.RawMessage `json:"counts"`
	DoneMaps    []byte          `json:"done_maps"` // in base64
	DoneReduces []byte          `json:"done_reduces"`
	Tries       json.RawMessage `json:"tries"`
}

const liveJobColumns = `number, request, state, reason, submitted_at, submitted_by, deadline_at, ended_at, counts, done_maps, done_reduces, tries`

func momentOrNone(seconds float64) *time.Time {
	if seconds == 0 {
		return nil
	}
	at := live.Moment(seconds)
	return &at
}

func secondsOrNone(at *time.Time) float64 {
	if at == nil {
		return 0
	}
	return live.Seconds(*at)
}

func liveJobRowOf(j live.Job) (r liveJobRow, err error) {
	r = liveJobRow{Number: j.Number, State: string(j.State), Reason: j.Reason, SubmittedAt: live.Moment(j.Submitted), SubmittedBy: j.SubmittedBy,
		DeadlineAt: momentOrNone(j.Deadline), EndedAt: momentOrNone(j.Ended), DoneMaps: j.Done[dispatch.Map], DoneReduces: j.Done[dispatch.Reduce]}
	var errs [3]error
	r.Request, errs[0] = json.Marshal(j.Request)
	r.Counts, errs[1] = json.Marshal(j.Counts)
	r.Tries, errs[2] = json.Marshal(j.Tries)
	return r, errors.Join(errs[:]...)
}

func (r liveJobRow) job() (j live.Job, err error) {
	j = live.Job{Number: r.Number, State: live.JobState(r.State), Reason: r.Reason, Submitted: live.Seconds(r.SubmittedAt), SubmittedBy: r.SubmittedBy,
		Deadline: secondsOrNone(r.DeadlineAt), Ended: secondsOrNone(r.EndedAt), Done: [dispatch.Kinds][]byte{r.DoneMaps, r.DoneReduces}}
	return j, errors.Join(json.Unmarshal(r.Request, &j.Request), json.Unmarshal(r.Counts, &j.Counts), json.Unmarshal(r.Tries, &j.Tries))
}

// liveRunRow is a stored assignment.
type liveRunRow struct {
	ID              int64           `json:"id"`
	At              time.Time       `json:"at"`
	Node            string          `json:"node"`
	Job             int64           `json:"job"`
	JobName         string          `json:"job_name"`
	Kind            int16           `json:"kind"`
	Task            int64           `json:"task"`
	Attempt         int64           `json:"attempt"`
	Local           bool            `json:"local"`
	Why             json.RawMessage `json:"why"`
	Policy          string          `json:"policy"`
	SettingsVersion int64           `json:"settings_version"`
	Outcome         string          `json:"outcome"`
	Open            bool            `json:"open"`
	Cause           string          `json:"cause"`
	EndedAt         *time.Time      `json:"ended_at"`
	Seconds         *float64        `json:"seconds"`
}

const liveRunColumns = `id, at, node, job, job_name, kind, task, attempt, local, why, policy, settings_version, outcome, open, cause, ended_at, seconds`

func liveRunRowOf(r live.Run) (row liveRunRow, err error) {
	row = liveRunRow{ID: r.ID, At: live.Moment(r.At), Node: r.Node, Job: r.Job, JobName: r.JobName, Kind: int16(r.Kind), Task: r.Task, Attempt: r.Attempt, Local: r.Local,
		Policy: string(r.Policy), SettingsVersion: r.Version, Outcome: string(r.Outcome), Open: r.Open, Cause: r.Cause, EndedAt: momentOrNone(r.Ended)}
	if r.Outcome == live.TaskDone {
		row.Seconds = &r.Seconds
	}
	row.Why, err = json.Marshal(r.Why)
	return row, err
}

func (r liveRunRow) run() (out live.Run, err error) {
	out = live.Run{ID: r.ID, At: live.Seconds(r.At), Node: r.Node, Job: r.Job, JobName: r.JobName, Kind: dispatch.Kind(r.Kind), Task: r.Task, Attempt: r.Attempt, Local: r.Local,
		Policy: dispatch.PolicyKind(r.Policy), Version: r.SettingsVersion, Outcome: live.TaskOutcome(r.Outcome), Open: r.Open, Cause: r.Cause, Ended: secondsOrNone(r.EndedAt)}
	if r.Seconds != nil {
		out.Seconds = *r.Seconds
	}
	return out, json.Unmarshal(r.Why, &out.Why)
}

// loadLive reads the whole of a live cluster.
func loadLive(ctx context.Context, q querier, cluster int64) (*live.State, error) {
	args := pgx.NamedArgs{"cluster": cluster}
	head, err := one[struct {
		Settings         live.LiveSettings
		Clock            *time.Time
		LastJob, LastRun int64
	}](ctx, q, `SELECT settings, clock, last_job, last_run FROM live_clusters WHERE cluster_id = @cluster`, args)
	if err != nil {
		return nil, err
	}
	s := &live.State{Settings: head.Settings, Counters: live.Counters{Clock: secondsOrNone(head.Clock), LastJob: head.LastJob, LastRun: head.LastRun},
		Memories: map[dispatch.PolicyKind]live.Memory{}, Measured: map[string]live.Measured{}}
	memories, err := collect[memoryRow](ctx, q, `SELECT kind, policy, memory FROM live_memories WHERE cluster_id = @cluster`, args)
	for _, m := range memories {
		s.Memories[m.Kind] = live.Memory{Policy: m.Policy, Text: m.Memory}
	}
	errs := [5]error{err}
	s.Pending, errs[1] = collectAs(ctx, q, `SELECT decision FROM live_learned WHERE cluster_id = @cluster AND judgement IS NULL ORDER BY number`, args,
		func(r struct{ Decision dispatch.Decision }) (dispatch.Decision, error) { return r.Decision, nil })
	s.Nodes, errs[2] = collectAs(ctx, q, `SELECT `+liveNodeColumns+` FROM live_nodes WHERE cluster_id = @cluster ORDER BY name`, args, liveNodeRow.node)
	s.Jobs, errs[3] = collectAs(ctx, q, `SELECT `+liveJobColumns+` FROM live_jobs WHERE cluster_id = @cluster AND ended_at IS NULL ORDER BY number`, args, liveJobRow.job)
	s.Runs, errs[4] = collectAs(ctx, q, `SELECT `+liveRunColumns+` FROM live_runs WHERE cluster_id = @cluster AND open ORDER BY id`, args, liveRunRow.run)
	measured, err := collect[measuredRow](ctx, q, `SELECT class, measured FROM live_measured WHERE cluster_id = @cluster ORDER BY class`, args)
	for _, m := range measured {
		s.Measured[m.Class] = m.Measured
	}
	return s, errors.Join(append(errs[:], err)...)
}

// collectAs reads rows and converts each.
func collectAs[R, T any](ctx context.Context, q querier, sql string, args pgx.NamedArgs, as func(R) (T, error)) ([]T, error) {
	rows, err := collect[R](ctx, q, sql, args)
	if err != nil {
		return nil, err
	}
	return mapped(rows, as)
}

func mapped[A, B any](items []A, as func(A) (B, error)) (out []B, err error) {
	out = make([]B, len(items))
	for i, item := range items {
		if out[i], err = as(item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// The rows on their way into the tables, as JSON.
const (
	nodesIn = `json_to_recordset(@rows::json) AS x (name text, type text, cores float8, slots_map bigint, slots_reduce bigint, dedicated boolean, compute_units float8,
		created_at timestamptz, updated_at timestamptz, state text, heard_at timestamptz, beats bigint, seq bigint, boot text, boots jsonb, residual float8, report jsonb, running bigint, digest text, answer text)`
	jobsIn = `json_to_recordset(@rows::json) AS x (number bigint, request jsonb, state text, reason text, submitted_at timestamptz, submitted_by text, deadline_at timestamptz,
		ended_at timestamptz, counts jsonb, done_maps text, done_reduces text, tries jsonb)`
	runsIn = `json_to_recordset(@rows::json) AS x (id bigint, at timestamptz, node text, job bigint, job_name text, kind smallint, task bigint, attempt bigint, local boolean, why jsonb,
		policy text, settings_version bigint, outcome text, open boolean, cause text, ended_at timestamptz, seconds float8)`
)

// saveLive returns the statements that store changes.
func saveLive(row liveRow, stamp int64, w heartbeat.Work) (*pgx.Batch, error) {
	b := &pgx.Batch{}
	var failed error
	queue := func(sql string) func(rows any, err error) {
		return func(rows any, unread error) {
			text, err := json.Marshal(rows)
			failed = errors.Join(failed, unread, err)
			b.Queue(sql, pgx.NamedArgs{"cluster": row.ClusterID, "rows": string(text)})
		}
	}
	args := pgx.NamedArgs{"cluster": row.ClusterID, "stamp": stamp, "clock": live.Moment(w.Clock), "last_job": w.LastJob, "last_run": w.LastRun, "beats": len(w.Heartbeats)}
	set := ""
	if w.Settings != nil {
		set += `, settings = @settings`
		args["settings"] = *w.Settings
	}
	b.Queue(`UPDATE live_clusters SET stamp = @stamp, clock = @clock, last_job = @last_job, last_run = @last_run, last_beat = last_beat + @beats`+set+` WHERE cluster_id = @cluster`, args)
	if m := w.Memory; m != nil {
		b.Queue(`
			INSERT INTO live_memories (cluster_id, kind, policy, memory) VALUES (@cluster, @kind, @policy, @memory)
			ON CONFLICT (cluster_id, kind) DO UPDATE SET policy = excluded.policy, memory = excluded.memory`,
			pgx.NamedArgs{"cluster": row.ClusterID, "kind": m.Policy.Kind, "policy": m.Policy, "memory": m.Text})
	}
	if len(w.Removed) > 0 {
		b.Queue(`DELETE FROM live_nodes WHERE cluster_id = @cluster AND name = ANY(@names)`, pgx.NamedArgs{"cluster": row.ClusterID, "names": w.Removed})
	}
	if len(w.Nodes) > 0 {
		queue(`
			INSERT INTO live_nodes (cluster_id, ` + liveNodeColumns + `) SELECT @cluster, ` + liveNodeColumns + ` FROM ` + nodesIn + `
			ON CONFLICT (cluster_id, name) DO UPDATE SET type = excluded.type, cores = excluded.cores, slots_map = excluded.slots_map, slots_reduce = excluded.slots_reduce,
			    dedicated = excluded.dedicated, compute_units = excluded.compute_units, updated_at = excluded.updated_at, state = excluded.state, heard_at = excluded.heard_at,
			    beats = excluded.beats, seq = excluded.seq, boot = excluded.boot, boots = excluded.boots, residual = excluded.residual, report = excluded.report, running = excluded.running,
			    digest = excluded.digest, answer = excluded.answer`)(mapped(w.Nodes, liveNodeRowOf))
	}
	if len(w.Jobs) > 0 {
		queue(`
			INSERT INTO live_jobs (cluster_id, ` + liveJobColumns + `)
			SELECT @cluster, number, request, state, reason, submitted_at, submitted_by, deadline_at, ended_at, counts, coalesce(decode(done_maps, 'base64'), ''), coalesce(decode(done_reduces, 'base64'), ''), tries FROM ` + jobsIn + `
			ON CONFLICT (cluster_id, number) DO UPDATE SET state = excluded.state, reason = excluded.reason, ended_at = excluded.ended_at, counts = excluded.counts,
			    done_maps = excluded.done_maps, done_reduces = excluded.done_reduces, tries = excluded.tries`)(mapped(w.Jobs, liveJobRowOf))
	}
	if ended := endedJobs(w.Jobs); len(ended) > 0 {
		b.Queue(endLeasesOfJobs, pgx.NamedArgs{"cluster": row.ClusterID, "jobs": ended})
	}
	var over, again []live.Run // first those that end, so that no task runs twice in between
	for _, r := range w.Ended {
		if r.Outcome == live.TaskRunning {
			again = append(again, r)
		} else {
			over = append(over, r)
		}
	}
	for _, runs := range [][]live.Run{over, again} {
		if len(runs) > 0 {
			queue(`
				UPDATE live_runs r SET outcome = x.outcome, open = x.open, cause = x.cause, ended_at = x.ended_at, seconds = x.seconds FROM ` + runsIn + `
				WHERE r.cluster_id = @cluster AND r.id = x.id`)(mapped(runs, liveRunRowOf))
		}
	}
	if len(w.Started) > 0 {
		queue(`INSERT INTO live_runs (cluster_id, ` + liveRunColumns + `) SELECT @cluster, ` + liveRunColumns + ` FROM ` + runsIn)(mapped(w.Started, liveRunRowOf))
	}
	if len(w.Measured) > 0 {
		var rows []measuredRow
		for class, m := range w.Measured {
			rows = append(rows, measuredRow{class, m})
		}
		queue(`
			INSERT INTO live_measured (cluster_id, class, measured) SELECT @cluster, class, measured FROM json_to_recordset(@rows::json) AS x (class text, measured jsonb)
			ON CONFLICT (cluster_id, class) DO UPDATE SET measured = excluded.measured`)(rows, nil)
	}
	saveLearned(b, row.ClusterID, w.Changes, queue)
	if len(w.Heartbeats) > 0 {
		saveHeartbeats(b, row, w.Heartbeats)
	}
	return b, failed
}

// measuredRow is a class with its measured task times.
type measuredRow struct {
	Class    string        `json:"class"`
	Measured live.Measured `json:"measured"`
}

// saveHeartbeats stores heartbeats and their answers, with numbers after the last one.
func saveHeartbeats(b *pgx.Batch, row liveRow, beats []heartbeat.KeptHeartbeat) {
	n := len(beats)
	at, nodes, bodies, answers := make([]time.Time, n), make([]string, n), make([]string, n), make([]string, n)
	for i, h := range beats {
		at[i], nodes[i], bodies[i], answers[i] = h.At, h.Node, h.Body, h.Answer
	}
	b.Queue(`
		INSERT INTO live_heartbeats (cluster_id, number, at, node, body, answer)
		SELECT @cluster, @last + place, at, node, body, answer
		FROM unnest(@at::timestamptz[], @nodes::text[], @bodies::text[], @answers::text[]) WITH ORDINALITY AS x (at, node, body, answer, place)`,
		pgx.NamedArgs{"cluster": row.ClusterID, "last": row.LastBeat, "at": at, "nodes": nodes, "bodies": bodies, "answers": answers})
}

// Limits of stored history: its age, and its amount for each cluster.
const (
	keepDecisions  = "7 days"
	maxDecisions   = 2_000_000
	keepHeartbeats = "24 hours"
	maxHeartbeats  = 1_000_000
	maxLearned     = 100_000 // choices that can be learned again
)

// sweepLive now and then deletes old history. Nobody waits for it, and a failure is left for the next time.
func (s *Store) sweepLive() {
	if s.liveSweep.due() {
		go func() { _ = s.forgetLive(s.open) }()
	}
}

func (s *Store) forgetLive(ctx context.Context) error {
	var all []error
	for _, old := range []struct{ table, key, rows string }{
		{"live_heartbeats", "cluster_id, number", `FROM live_heartbeats WHERE at < clock_timestamp() - interval '` + keepHeartbeats + `' ORDER BY at`},
		{"live_heartbeats", "cluster_id, number", `FROM live_clusters l JOIN live_heartbeats h USING (cluster_id) WHERE h.number <= l.last_beat - ` + strconv.Itoa(maxHeartbeats)},
		{"live_runs", "cluster_id, id", `FROM live_runs WHERE at < clock_timestamp() - interval '` + keepDecisions + `' AND NOT open ORDER BY at`},
		{"live_runs", "cluster_id, id", `FROM live_clusters l JOIN live_runs r USING (cluster_id) WHERE r.id <= l.last_run - ` + strconv.Itoa(maxDecisions) + ` AND NOT r.open`},
		{"live_learned", "cluster_id, number", `FROM live_memories m JOIN live_learned d USING (cluster_id) WHERE m.kind = 'learned'
			AND d.number <= (SELECT max(number) FROM live_learned x WHERE x.cluster_id = m.cluster_id) - ` + strconv.Itoa(maxLearned) + ` AND d.judgement IS NOT NULL`},
		{"live_jobs", "cluster_id, number", `FROM live_jobs WHERE ended_at < clock_timestamp() - interval '` + keepDecisions + `' ORDER BY ended_at`},
	} {
		_, err := s.forget(ctx, old.table, old.key, old.rows, nil)
		all = append(all, err)
	}
	return errors.Join(all...)
}
