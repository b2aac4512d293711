package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
)

// memoryRow stores a policy's memory.
type memoryRow struct {
	Kind   dispatch.PolicyKind
	Policy dispatch.PolicyConfig
	Memory []byte
}

// learnedRow is a choice of the policy learned, for the table.
type learnedRow struct {
	Number    int64             `json:"number"`
	Run       int64             `json:"run,omitempty"`
	Decision  dispatch.Decision `json:"decision"`
	Judgement int64             `json:"judgement,omitempty"`
	Good      bool              `json:"good"`
	Rules     int64             `json:"rules"`
}

// saveLearned stores the decisions and observations of the policy learned.
func saveLearned(b *pgx.Batch, cluster int64, w live.Changes, queue func(sql string) func(rows any, err error)) {
	if len(w.Decided) > 0 {
		rows := make([]learnedRow, len(w.Decided))
		for i, d := range w.Decided {
			rows[i] = learnedRow{Number: d.Decision.Number, Run: d.Run, Decision: d.Decision}
		}
		queue(`
			INSERT INTO live_learned (cluster_id, number, run, decision)
			SELECT @cluster, number, run, decision FROM json_to_recordset(@rows::json) AS x (number bigint, run bigint, decision json)`)(rows, nil)
	}
	if len(w.Judged) > 0 {
		rows := make([]learnedRow, len(w.Judged))
		for i, d := range w.Judged {
			rows[i] = learnedRow{Number: d.Number, Decision: d, Judgement: d.Judgement.Number, Good: d.Judgement.Good, Rules: d.Judgement.Rules}
		}
		queue(`
			UPDATE live_learned d SET decision = x.decision, judgement = x.judgement, good = x.good, rules = x.rules
			FROM json_to_recordset(@rows::json) AS x (number bigint, decision json, judgement bigint, good boolean, rules bigint)
			WHERE d.cluster_id = @cluster AND d.number = x.number`)(rows, nil)
	}
	if len(w.Dropped) > 0 { // nothing can be learned from them
		b.Queue(`DELETE FROM live_learned WHERE cluster_id = @cluster AND number = ANY(@numbers)`, pgx.NamedArgs{"cluster": cluster, "numbers": w.Dropped})
	}
	if r := w.Relearned; r != nil {
		b.Queue(`
			UPDATE live_learned SET rules = @rules, good = good <> (number = ANY(@flipped::bigint[]))
			WHERE cluster_id = @cluster AND judgement IS NOT NULL AND (rules <> @rules OR number = ANY(@flipped))`,
			pgx.NamedArgs{"cluster": cluster, "rules": r.Rules, "flipped": r.Flipped})
	}
}

// JudgedChoices reads the judged choices of a cluster, in the order in which they were learned.
func (s *Store) JudgedChoices(ctx context.Context, cluster string) iter.Seq2[*dispatch.Decision, error] {
	return func(yield func(*dispatch.Decision, error) bool) {
		var id int64
		if err := s.read(ctx, func(ctx context.Context, q querier) (err error) {
			id, err = clusterID(ctx, q, cluster)
			return err
		}); err != nil {
			yield(nil, err)
			return
		}
		judgedChoices(0, id, func(work func(context.Context, querier) error) error { return s.read(ctx, work) })(yield)
	}
}

// judgedChoices reads those after a judgement, in pages.
func judgedChoices(after, cluster int64, read func(work func(context.Context, querier) error) error) iter.Seq2[*dispatch.Decision, error] {
	const page = 5000
	type row struct {
		Decision  dispatch.Decision
		Judgement int64
		Good      bool
		Rules     int64
	}
	return func(yield func(*dispatch.Decision, error) bool) {
		for after := after; ; {
			var rows []row
			if err := read(func(ctx context.Context, q querier) (err error) {
				rows, err = collect[row](ctx, q, `
					SELECT decision, judgement, good, rules FROM live_learned WHERE cluster_id = @cluster AND judgement > @after ORDER BY judgement LIMIT @limit`,
					pgx.NamedArgs{"cluster": cluster, "after": after, "limit": page})
				return err
			}); err != nil {
				yield(nil, err)
				return
			}
			for i := range rows {
				r := &rows[i]
				if after = r.Judgement; r.Decision.Judgement == nil {
					yield(nil, fmt.Errorf("choice %d was judged and has no judgement", r.Decision.Number))
					return
				}
				r.Decision.Judgement.Good, r.Decision.Judgement.Rules = r.Good, r.Rules
				if !yield(&r.Decision, nil) {
					return
				}
			}
			if len(rows) < page {
				return
			}
		}
	}
}

// Classifier returns the knowledge of the policy learned.
func (s *Store) Classifier(ctx context.Context, cluster string) (k dispatch.Knowledge, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		id, err := clusterID(ctx, q, cluster)
		if err != nil {
			return err
		}
		var text []byte
		err = q.QueryRow(ctx, `SELECT memory FROM live_memories WHERE cluster_id = @cluster AND kind = @kind`,
			pgx.NamedArgs{"cluster": id, "kind": dispatch.PolicyLearned}).Scan(&text)
		if errors.Is(err, pgx.ErrNoRows) {
			return notFound("the policy %s has never decided for cluster %q, so nothing was learned", dispatch.PolicyLearned, cluster)
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &k); err != nil {
			return fmt.Errorf("read what was learned of cluster %s: %w", cluster, err)
		}
		return nil
	})
	return k, err
}
