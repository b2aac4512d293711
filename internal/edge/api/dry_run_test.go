package api

import (
	"testing"
)

// Every dry run into a cluster that does not exist is told so, as the same without a dry run is.
func TestDryRunsIntoNoCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const at = "/v1/clusters/absent"
	for _, c := range []struct {
		method, path, body string
		headers            []string
	}{
		{"POST", "/price-imports?dry_run=true&region=eu-central-1", `{"offerCode":"AmazonEC2","products":{},"terms":{}}`, nil},
		{"POST", "/price-imports?dry_run=true", "instance,region,price\nm5.large,eu,0.1\n", []string{"Content-Type", "text/csv"}},
		{"POST", "/price-imports/fetch", `{"url":"https://prices.example.com/a.csv","dry_run":true}`, nil},
		{"POST", "/history-imports?dry_run=true", "job,start\n", []string{"Content-Type", "application/octet-stream"}},
		{"POST", "/history-imports/fetch", `{"url":"https://history.example.com/a.csv","dry_run":true}`, nil},
		{"POST", "/executions?dry_run=true", `{"executions":[{"job":"nightly etl","execution":"job_x","outcome":"failed","refused":"It failed.","submitted_at":"2026-01-02T22:00:00Z"}]}`, nil},
		{"POST", "/executions?dry_run=true", `{"executions":[]}`, nil},
		{"POST", "/profiles/from-history", `{"profile":"etl","job":"etl","dry_run":true}`, nil},
		{"POST", "/classes/from-history", `{"dry_run":true}`, nil},
		{"PUT", "/forecasts?dry_run=true", `{"rows":[{"class":"nightly","hour":"2026-03-01T22:00:00Z","jobs":3}]}`, nil},
		{"PUT", "/forecasts?dry_run=true", "class,hour,jobs\nnightly,2026-03-01T22:00:00Z,3\n", []string{"Content-Type", "text/csv"}},
		{"POST", "/forecasts/weekly", `{"class":"nightly","from":"2026-03-01T22:00:00Z","until":"2026-03-02T22:00:00Z","week":"else 3","dry_run":true}`, nil},
		{"POST", "/forecasts/from-history", `{"class":"nightly","job":"etl","until":"2026-03-02T22:00:00Z","dry_run":true}`, nil},
		{"POST", "/live/dry-run", `{"policy":{"kind":"edf"}}`, nil},
	} {
		if a := s.ask(s.admin, c.method, at+c.path, c.body, c.headers...); a.StatusCode != 404 {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, a.StatusCode, a.text)
		}
	}
	// Applying makes a cluster, and its dry run says so.
	var applied struct {
		Changes []struct{ Kind, Action string }
	}
	s.ask(s.admin, "PUT", at+"/document?dry_run=true", `{"cluster":{"name":"absent"}}`).want(t, 200).into(t, &applied)
	if len(applied.Changes) != 1 || applied.Changes[0].Kind != "cluster" || applied.Changes[0].Action != "create" {
		t.Errorf("applying to a cluster that is not there changes %+v", applied.Changes)
	}
	s.ask(s.admin, "GET", at, nil).want(t, 404)
}
