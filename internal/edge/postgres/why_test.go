package postgres_test

import (
	"testing"
	"time"

	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/test/pgtest"
)

// The previous release stores plans without reasons, and reads those that have one.
func TestPlansOfThePreviousReleaseSayNothingOfWhy(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	ctx := filled(t, s)
	r := record(night)
	r.At, r.Why = time.Now(), "Asked."
	must(s.SavePlan(ctx, r))(t)
	conn := raw(t, url)
	execute(t, conn, `UPDATE clusters SET plans = 2 WHERE name = '`+night+`'`)
	execute(t, conn, `INSERT INTO plans (id, cluster_id, number, at, created_by, inputs_version, status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost,
		penalties, currency, period_seconds, vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now, problem, plan)
		SELECT gen_random_uuid(), cluster_id, 2, at, created_by, inputs_version, status, objective, total_cost, on_demand_cost, spot_cost, reserved_cost,
		penalties, currency, period_seconds, vms, vms_on_demand, vms_spot, vms_reserved, admitted, refused, gap, for_now, problem, plan FROM plans`)
	execute(t, conn, `UPDATE planning SET newest_number = 2, current_number = 2`)
	plans := must(s.Plans(ctx, night, storage.Page{}))(t).Items
	if len(plans) != 2 || plans[0].Why != "" || plans[1].Why != "Asked." {
		t.Errorf("got %+v", plans)
	}
	if got := must(s.Current(ctx, night))(t); got.Record.Number != 2 || got.Record.Why != "" {
		t.Errorf("got %+v", got.Record.PlanSummary)
	}
	t.Attr("R19", "plans of the previous release are stored and read beside the reasons of this one")
}
