package postgres_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/test/pgtest"
)

func TestPackingsAreKeptAndForgotten(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := pgtest.OpenWith(t, configOf(url))
	conn := raw(t, url)
	ctx := filled(t, s)
	some := pack.KeptPacking{
		PackingSummary: pack.PackingSummary{Cluster: night, Algorithm: pack.PackMulti, Status: pack.PackingFeasible, Machines: 2, VMs: 8, Jobs: 3,
			BusySeconds: 10.25, EndSeconds: 12, SequentialSeconds: 20, LowerBoundSeconds: 9.5, Missed: 1},
		Batch:   json.RawMessage(`{ "jobs":[{"name":"näme \u0000"}] }`),
		Packing: json.RawMessage(`{"phases" : []}`),
	}
	first := must(s.SavePacking(ctx, some))(t)
	second := must(s.SavePacking(ctx, some))(t)
	if diff := cmp.Diff(first, must(s.Packing(ctx, night, first.ID))(t)); diff != "" {
		t.Errorf("it is read as something else: %s", diff)
	}
	page := must(s.Packings(ctx, night, storage.Page{Limit: 1}))(t)
	rest := must(s.Packings(ctx, night, storage.Page{Limit: 1, After: page.Next}))(t)
	if diff := cmp.Diff([]pack.PackingSummary{second.PackingSummary, first.PackingSummary}, append(page.Items, rest.Items...)); diff != "" || rest.Next != "" {
		t.Errorf("the pages are something else: %s", diff)
	}
	check(t, s.DeletePacking(ctx, night, first.ID))
	if _, err := s.Packing(ctx, night, first.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("a deleted one is read with %v", err)
	}
	if err := s.DeletePacking(ctx, night, first.ID); !errors.Is(err, fault.NotFound) {
		t.Errorf("it is deleted twice with %v", err)
	}
	if _, err := conn.Exec(ctx, `UPDATE packings SET jobs = 4`); err == nil {
		t.Error("a packing was changed")
	}
	execute(t, conn, `INSERT INTO packings (id, cluster_id, created_by, algorithm, status, machines, vms, jobs, busy_s, end_s, sequential_s, lower_bound_s, missed, batch, packing)
		SELECT gen_random_uuid(), cluster_id, created_by, algorithm, status, machines, vms, jobs, busy_s, end_s, sequential_s, lower_bound_s, missed, batch, packing
		FROM packings, generate_series(2, $1)`, pack.MaxKeptPackings)
	if _, err := s.SavePacking(ctx, some); !errors.Is(err, fault.Conflict) {
		t.Errorf("one too many is kept with %v", err)
	}
	var told int
	check(t, conn.QueryRow(ctx, `SELECT count(*) FROM audit WHERE kind = 'packing'`).Scan(&told))
	if told != 3 {
		t.Errorf("the audit log has %d entries, want two made and one deleted", told)
	}
}
