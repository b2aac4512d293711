package api

import (
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/test/await"
)

// While the database is away everything that needs it is 503 with Retry-After and reveals nothing of the inside;
// operations without it still work.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	s.store.Close()
	for _, r := range [][3]string{
		{"GET", "/v1/clusters", ""}, {"GET", "/v1/clusters/night/classes", ""}, {"GET", "/v1/clusters/night/classes?format=csv", ""}, {"GET", "/v1/clusters/night/plans/current", ""},
		{"POST", "/v1/clusters", `{"name":"day"}`}, {"POST", "/v1/clusters/night/plans", `{}`}, {"PUT", "/v1/clusters/night/forecasts", `{"rows":[{"class":"ad-hoc","hour":"2026-01-01T00:00:00Z","jobs":1}]}`},
		{"POST", "/v1/clusters/night/nodes/a/heartbeats", `{"seq":1,"running":[]}`}, {"GET", "/v1/clusters/night/nodes", ""}, {"POST", "/v1/clusters/night/jobs", `{"name":"a","maps":1}`},
		{"GET", "/v1/keys", ""}, {"GET", "/v1/audit", ""},
	} {
		var body any
		if r[2] != "" {
			body = r[2]
		}
		for _, headers := range [][]string{nil, {"Idempotency-Key", "k"}} {
			a := s.ask(s.admin, r[0], r[1], body, headers...).want(t, 503)
			if p := a.problem(t); a.Header.Get("Retry-After") == "" || p.Type != "/problems/unavailable" || inside.MatchString(string(a.text)) {
				t.Errorf("%s %s: %v %s", r[0], r[1], a.Header, a.text)
			}
		}
	}
	s.ask(s.admin, "GET", "/livez", nil).want(t, 200)
	await.Until(t, 10*time.Second, "readyz says that the database is away", func() bool {
		a := s.ask("", "GET", "/readyz", nil).want(t, 200) // polls of a planned cluster can be answered
		return strings.Contains(string(a.text), "the database is away")
	})
	s.ask(s.admin, "POST", "/v1/bounds", `{"kind":"phase","tasks":3,"mean_s":1,"max_s":2,"slots":2}`).want(t, 200)
	s.ask(s.admin, "POST", "/v1/clusters", `{"nme":"day"}`).want(t, 400)
	if strings.Contains(s.log.String(), s.admin) {
		t.Error("the log holds a token")
	}
}
