package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/plans"
)

// billedUntil selects what the plans in force of cluster c came to from a moment on that the sum counts from, until another.
const billedUntil = `(
	SELECT t.counted, t.billed + (p.total_cost - p.penalties) * greatest(extract(epoch FROM %[1]s - t.since), 0) / p.period_seconds AS sum
	FROM plan_reigns t JOIN stored_plans p ON p.cluster_id = t.cluster_id AND p.number = t.number
	WHERE t.cluster_id = c.id AND %[2]s ORDER BY t.since DESC LIMIT 1)`

// soFar selects the bill of a month until now: a difference of sums, so that its length does not matter.
var soFar = fmt.Sprintf(`
	SELECT json_build_object('from', greatest(e.counted, @month), 'until', @now::timestamptz, 'bill', trim_scale(round(e.sum - coalesce(b.sum, 0), 9))::text)::text AS month
	FROM %s e LEFT JOIN %s b ON b.counted = e.counted`,
	fmt.Sprintf(billedUntil, "@now::timestamptz", "true"), fmt.Sprintf(billedUntil, "@month::timestamptz", "t.since <= @month"))

// Overview sums up clusters by name. A day's bill is that of the plan that was current then, pinned or not, converted to
// the period of the current plan; plans in another currency count as none. The last one is the current plan's.
func (s *Store) Overview(ctx context.Context, only []string, now time.Time, page storage.Page) (list storage.Listed[plans.Overview], err error) {
	after := ""
	if err := readCursor(page.After, &after); err != nil {
		return list, err
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		lines, err := collectAs(ctx, q, `
			SELECT c.name, g.last_attempt::text AS attempt, d.bills, m.month, k.contract
			FROM clusters c JOIN planning g ON g.cluster_id = c.id
			LEFT JOIN stored_plans now ON now.cluster_id = c.id AND now.number = g.current_number
			CROSS JOIN LATERAL (
			    SELECT json_agg(trim_scale(round(p.bill * now.period_seconds / p.period_seconds, 9))::text ORDER BY back DESC)::text AS bills
			    FROM generate_series(0, @days::int - 1) back LEFT JOIN LATERAL (
			        SELECT p.total_cost - p.penalties AS bill, p.period_seconds, p.currency FROM stored_plans p
			        WHERE p.cluster_id = c.id AND p.number = CASE WHEN back = 0 THEN g.current_number ELSE (
			            SELECT t.number FROM plan_reigns t WHERE t.cluster_id = c.id AND t.since <= @now::timestamptz - back * interval '1 day'
			            ORDER BY t.since DESC LIMIT 1) END) p ON p.currency = now.currency) d
			LEFT JOIN LATERAL (`+soFar+`) m ON now.number IS NOT NULL
			LEFT JOIN LATERAL (
			    SELECT json_build_object('name', k.name, 'vms', k.vms, 'ends', k.ends)::text AS contract FROM contracts k
			    WHERE k.cluster_id = c.id AND k.starts <= @now AND k.ends > @now ORDER BY k.ends, k.name LIMIT 1) k ON true
			WHERE c.deleted_at IS NULL AND c.name > @after AND (@only::text[] IS NULL OR c.name = ANY(@only))
			ORDER BY c.name LIMIT @limit`,
			pgx.NamedArgs{"after": after, "only": only, "now": now, "month": time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC), "days": plans.OverviewDays, "limit": limitOf(page) + 1}, overviewOf)
		if err != nil {
			return fmt.Errorf("read the overview: %w", err)
		}
		list = listed(lines, page, func(o plans.Overview) []any { return []any{o.Cluster} })
		return addCurrents(ctx, q, list.Items, now)
	})
	return list, err
}

// overviewLine is a cluster's line as stored, without its plan.
type overviewLine struct {
	Name     string
	Attempt  *string
	Bills    string
	Month    *string
	Contract *string
}

func overviewOf(r overviewLine) (plans.Overview, error) {
	o := plans.Overview{Cluster: r.Name}
	attempt, err := attemptOf(r.Attempt)
	if err != nil {
		return o, err
	}
	if attempt != nil && attempt.Failed {
		o.Failure = &attempt.Detail
		if len(attempt.Conflicts) > 0 {
			o.Failure = &attempt.Conflicts[0].Detail
		}
	}
	if r.Month != nil {
		if err := json.Unmarshal([]byte(*r.Month), &o.Month); err != nil {
			return o, fmt.Errorf("read the bill of this month: %w", err)
		}
		o.Month.From, o.Month.Until = o.Month.From.UTC(), o.Month.Until.UTC()
	}
	if r.Contract != nil {
		if err := json.Unmarshal([]byte(*r.Contract), &o.ContractEnd); err != nil {
			return o, fmt.Errorf("read the next end of a contract: %w", err)
		}
		o.ContractEnd.Ends = o.ContractEnd.Ends.UTC()
	}
	return o, json.Unmarshal([]byte(r.Bills), &o.Days)
}

// addCurrents adds to each line the summary of the current plan, and whether that is stale.
func addCurrents(ctx context.Context, q querier, lines []plans.Overview, now time.Time) error {
	place := map[string]int{}
	names := make([]string, len(lines))
	for i, o := range lines {
		place[o.Cluster], names[i] = i, o.Cluster
	}
	withoutPlan := strings.Replace(selectCurrent, "p.plan::text", "'null'", 1)
	found, err := currents(ctx, q, withoutPlan+` WHERE c.deleted_at IS NULL AND c.name = ANY(@names)`, pgx.NamedArgs{"names": names})
	if err != nil {
		return fmt.Errorf("read the current plans of the overview: %w", err)
	}
	for _, c := range found {
		line := &lines[place[c.Record.Cluster]]
		line.Plan, line.Stale, line.Pin, line.Waiting = &c.Record.PlanSummary, c.Stale(now), c.Pin, c.Waiting
	}
	return nil
}
