package api

import (
	"testing"
	"time"

	"example.org/headroom/internal/service/auth"
)

// Errors about a changed thing or a deleted cluster name the author and the time. For a thing that never existed they
// name nobody.
func TestWhoChangedItAndWhen(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	s.cluster("day")
	class := s.ask(s.admin, "GET", "/v1/clusters/night/classes/ad-hoc", nil).want(t, 200)
	other := s.key("ops-2", auth.Operator, nil)
	s.ask(other, "PUT", "/v1/clusters/night/classes/ad-hoc", class.text, "If-Match", class.etag()).want(t, 200)
	check := func(a answered, by string) {
		t.Helper()
		switch p := a.problem(t); {
		case by == "" && p.LastChange != nil:
			t.Errorf("got %+v; nobody has changed it", p.LastChange)
		case by != "" && (p.LastChange == nil || p.LastChange.By != by || time.Since(p.LastChange.At).Abs() > time.Minute):
			t.Errorf("got %+v, want %s now: %s", p.LastChange, by, a.text)
		}
	}
	check(s.ask(s.admin, "PUT", "/v1/clusters/night/classes/ad-hoc", class.text, "If-Match", class.etag()).want(t, 412), "ops-2")
	check(s.ask(s.admin, "DELETE", "/v1/clusters/night/classes/ad-hoc", nil, "If-Match", class.etag()).want(t, 412), "ops-2")
	check(s.ask(s.admin, "DELETE", "/v1/clusters/night", nil, "If-Match", `"99"`).want(t, 412), "root")

	document := s.ask(s.admin, "GET", "/v1/clusters/night/document", nil).want(t, 200)
	s.ask(other, "PUT", "/v1/clusters/night/classes/ad-hoc", class.text, "If-Match", `"2"`).want(t, 200)
	whole := s.ask(s.admin, "PUT", "/v1/clusters/night/document", document.text, "If-Match", document.etag()).want(t, 412)
	check(whole, "ops-2")
	if last := whole.problem(t).LastChange; last.Kind != "class" || last.Name != "ad-hoc" {
		t.Errorf("got %+v, want the class that was changed last", last)
	}

	cluster := s.ask(s.admin, "GET", "/v1/clusters/day", nil).want(t, 200)
	deleter := s.key("ops-3", auth.Admin, nil)
	s.ask(deleter, "DELETE", "/v1/clusters/day", nil, "If-Match", cluster.etag()).want(t, 204)
	for _, path := range []string{"/v1/clusters/day", "/v1/clusters/day/classes", "/v1/clusters/day/plans/current", "/v1/clusters/day/plans/events"} {
		check(s.ask(s.admin, "GET", path, nil).want(t, 404), "ops-3")
	}
	check(s.ask(s.admin, "GET", "/v1/clusters/dusk", nil).want(t, 404), "")
}
