package api

import (
	"strings"
	"testing"

	"example.org/headroom/internal/data/history"
)

// A dry run into a cluster that does not exist is refused as the real one is, with a sentence that names the cluster.
func TestDryRunsNeedTheirCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const span = `"from":"2026-01-01T00:00:00Z","until":"2026-03-01T00:00:00Z"`
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{"PUT", "forecasts?dry_run=", map[string]any{"rows": []any{map[string]any{"class": "etl", "hour": "2026-01-01T00:00:00Z", "jobs": 1}}}},
		{"POST", "forecasts/weekly", `{"class":"etl",` + span + `,"week":"else 5","dry_run":`},
		{"POST", "forecasts/from-history", `{"class":"etl","job":"etl","statistic":"average","repeat":"weekly","until":"2026-06-01T00:00:00Z","dry_run":`},
		{"POST", "profiles/from-history", `{"job":"etl","dry_run":`},
		{"POST", "classes/from-history", `{"dry_run":`},
		{"POST", "executions?dry_run=", executionBatch{nightly(1)}},
		{"POST", "executions?dry_run=", executionBatch{[]history.Record{}}},
		{"POST", "price-imports?dry_run=", "instance,region,price\nm5.large,eu,0.1\n"},
		{"POST", "price-imports/fetch", `{"url":"https://example.com/sheet.json","region":"eu","dry_run":`},
		{"POST", "history-imports/fetch", `{"url":"https://example.com/history.json","dry_run":`},
		{"POST", "history-imports?dry_run=", "nothing"},
	} {
		for _, dry := range []string{"true", "false"} {
			path, body := "/v1/clusters/none/"+c.path, c.body
			if text, written := body.(string); written && strings.HasPrefix(text, "{") {
				body = text + dry + "}"
			} else {
				path += dry
			}
			if a := s.ask(s.admin, c.method, path, body); a.StatusCode != 404 || !strings.Contains(string(a.text), `no cluster \"none\"`) {
				t.Errorf("%s %s, dry run %s: got %d: %.300s", c.method, c.path, dry, a.StatusCode, a.text)
			}
		}
	}
}
