package api

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/service/app"
	"example.org/headroom/internal/service/clusters"
)

// Nothing more is added to a cluster that keeps more than it may, until it keeps less. All else goes on: reading, deleting,
// changing what is there, admissions, and its planner; other clusters notice nothing.
func TestClustersKeepWhatTheyMay(t *testing.T) {
	t.Parallel()
	s := newService(t, func(c *app.Config) { c.Kept = clusters.KeptLimits{Rows: 400, Bytes: 200_000} })
	s.cluster("mine")
	s.cluster("other")
	conn, err := pgx.Connect(t.Context(), s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	measure := func() {
		t.Helper()
		if _, err := conn.Exec(t.Context(), `UPDATE kept_measured SET began = '-infinity'`); err != nil {
			t.Fatal(err)
		}
		if err := s.store.MeasureKept(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.app.Usage.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(a answered, words ...string) {
		t.Helper()
		p := a.want(t, 429).problem(t)
		for _, w := range append(words, `Cluster "mine" keeps `) {
			if !strings.Contains(p.Detail, w) {
				t.Errorf("%q does not say %q", p.Detail, w)
			}
		}
		if a.Header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
		}
	}
	const observation = `{"vms":4}`
	measure()
	s.ask(s.admin, "POST", "/v1/clusters/mine/executions", someExecution).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters/mine/observations", observation).want(t, 201)
	execution := s.executionInMine()

	if _, err := conn.Exec(t.Context(), `
		INSERT INTO observations SELECT (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid()))).* FROM observations o, generate_series(1, 500)`); err != nil {
		t.Fatal(err)
	}
	s.ask(s.admin, "POST", "/v1/clusters/mine/observations", observation).want(t, 201) // it is not known yet
	measure()
	refused(s.ask(s.admin, "POST", "/v1/clusters/mine/observations", observation), " rows, and may keep 400.", "HEADROOM_CLUSTER_ROWS", "observations ")
	refused(s.ask(s.admin, "POST", "/v1/clusters/mine/executions", someExecution))
	refused(s.ask(s.admin, "POST", "/v1/clusters/mine/plans", nil))
	refused(s.ask(s.admin, "POST", "/v1/clusters/mine/sweeps", `{}`, "Prefer", "respond-async"))
	s.ask(s.admin, "POST", "/v1/clusters/mine/sweeps", `{}`).want(t, 400) // of an answer nothing stays
	s.ask(s.admin, "POST", "/v1/clusters/other/observations", observation).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/mine/admissions", `{"class":"etl"}`).want(t, 409) // for want of a plan
	s.ask(s.admin, "GET", "/v1/clusters/mine/executions/"+execution, nil).want(t, 200)
	s.ask(s.admin, "DELETE", "/v1/clusters/mine/executions?job=nightly%20etl", nil).want(t, 200)

	if _, err := conn.Exec(t.Context(), `DELETE FROM observations`); err != nil {
		t.Fatal(err)
	}
	measure()
	s.ask(s.admin, "POST", "/v1/clusters/mine/observations", observation).want(t, 201)
	if _, err := conn.Exec(t.Context(), `
		UPDATE observations SET observed_by = (SELECT string_agg(sha256(n::text::bytea)::text, '') FROM generate_series(1, 6000) n) WHERE cluster_id = (SELECT id FROM clusters WHERE name = 'mine')`); err != nil {
		t.Fatal(err)
	}
	measure()
	refused(s.ask(s.admin, "POST", "/v1/clusters/mine/observations", observation), " MB, and may keep 0.2 MB.", "HEADROOM_CLUSTER_BYTES")
}
