package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/test/pgtest"
)

// prunesAndHides stands before a server, removes plans once somebody reads plan 3, and knows nothing of one.
type prunesAndHides struct {
	*httputil.ReverseProxy
	hide  string
	prune func()
	once  sync.Once
}

func (p *prunesAndHides) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == p.hide {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"title":"Not found","status":404,"detail":"It is hidden."}`)
		return
	}
	if r.URL.Path == "/v1/clusters/demo/plans/3" && p.prune != nil {
		p.once.Do(p.prune)
	}
	p.ReverseProxy.ServeHTTP(w, r)
}

// Old plans are removed beside a running server, which goes on as before and says what is gone.
func TestPrune(t *testing.T) {
	database := pgtest.Database(t)
	s := startServingWith(t, dataDirectory(t), []string{"HEADROOM_ADMIN_KEY=" + crashKey}, "--demo=still", "--database-url", database)
	s.localKey = crashKey
	for range 6 {
		if status, answer, err := s.ask(t.Context(), crashKey, "/v1/clusters/demo/plans", "{}"); err != nil || status != http.StatusCreated {
			t.Fatalf("a plan: %d %s, %v", status, answer, err)
		}
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `SET headroom.retention = 'on'; UPDATE plans SET created_at = created_at - interval '500 days' WHERE number < 7; DELETE FROM plan_turns WHERE number < 7; DELETE FROM plan_reigns WHERE number < 7`); err != nil {
		t.Fatal(err)
	}
	before := s.get(t, "/v1/clusters/demo/plans/current")

	t.Setenv("DATABASE_URL", database)
	t.Setenv("MIGRATE_DATABASE_URL", "")
	for _, wrong := range [][]string{{}, {"--older-than", "12h"}, {"--older-than", "soon"}, {"--older-than", "400d", "--keep", "0"}} {
		if _, trouble := say(t, shell.ExitUsage, append([]string{"server", "prune"}, wrong...)...); trouble == "" {
			t.Errorf("%q is refused without a word", wrong)
		}
	}
	if out, _ := say(t, shell.ExitOK, "prune", "--older-than", "600d", "--keep", "2"); !strings.Contains(out, "No plan is older than 600d") {
		t.Errorf("got %q", out)
	}
	if out, _ := say(t, shell.ExitOK, "prune", "--older-than", "400d", "--keep", "2", "--dry-run"); !strings.Contains(out, "4 plans of 1 cluster would be removed") {
		t.Errorf("got %q", out)
	}
	between := &prunesAndHides{ReverseProxy: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.address}), hide: "/v1/clusters/demo/plans/6"}
	front := httptest.NewServer(between)
	defer front.Close()
	t.Setenv("HEADROOM_URL", front.URL)
	t.Setenv("HEADROOM_API_KEY", crashKey)
	if _, trouble := say(t, shell.ExitError, "verify", "--all"); !strings.Contains(trouble, "hidden") {
		t.Errorf("a plan that is listed and not there: %q", trouble)
	}
	var out string
	between.hide = ""
	between.prune = func() {
		out, _ = say(t, shell.ExitOK, "prune", "--older-than", "400d", "--keep", "2", "-o", "json")
	}
	if verified, _ := say(t, shell.ExitOK, "verify", "--all", "-o", "json"); !strings.Contains(verified, `"plans": 5,`) || !strings.Contains(verified, `"removed": 2,`) {
		t.Errorf("beside retention: %s", verified)
	}
	var did struct{ Clusters []postgres.Pruned }
	if err := json.Unmarshal([]byte(out), &did); err != nil || len(did.Clusters) != 1 || did.Clusters[0].Plans != 4 || did.Clusters[0].First != 1 || did.Clusters[0].Last != 5 {
		t.Errorf("got %s, %v", out, err)
	}

	gone := fmt.Sprintf("was removed by retention on %s", time.Now().UTC().Format(time.DateOnly))
	for _, path := range []string{"/v1/clusters/demo/plans/3", "/v1/clusters/demo/plans/3/problem", "/v1/clusters/demo/plans/3?format=csv", "/v1/clusters/demo/plans/diff?from=3&to=7"} {
		if status, answer, err := s.ask(t.Context(), crashKey, path, ""); err != nil || status != http.StatusNotFound || !strings.Contains(answer, "Plan 3 of the cluster") || !strings.Contains(answer, gone) {
			t.Errorf("%s: %d %s, %v", path, status, answer, err)
		}
	}
	if status, answer, err := s.ask(t.Context(), crashKey, "/v1/clusters/demo/plans/3/verify", "{}"); err != nil || status != http.StatusNotFound || !strings.Contains(answer, gone) {
		t.Errorf("verify: %d %s, %v", status, answer, err)
	}
	if list := s.get(t, "/v1/clusters/demo/plans"); strings.Count(list, `"number":`) != 3 { // the second has the text of those after it
		t.Errorf("the list is %s", list)
	}
	plan := func(text string) string { text, _, _ = strings.Cut(text, `,"freshness":`); return withoutVote(text) }
	if after := s.get(t, "/v1/clusters/demo/plans/current"); plan(after) != plan(before) {
		t.Errorf("the current plan was %s and is %s", before, after)
	}
	s.get(t, "/v1/clusters/demo/plans/diff?from=6&to=7")
	verifyStored(t, s)
	if status, answer, err := s.ask(t.Context(), crashKey, "/v1/clusters/demo/plans", "{}"); err != nil || status != http.StatusCreated || !strings.Contains(answer, `"number":8`) {
		t.Errorf("the next plan: %d %.300s, %v", status, answer, err)
	}
}
