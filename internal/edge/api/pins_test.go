package api

import (
	"strings"
	"testing"

	"example.org/headroom/internal/service/plans"
)

func TestPins(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("night")
	const address, pin = "/v1/clusters/night/plans", "/v1/clusters/night/plans/pin"
	var first, second plans.PlanRecord
	s.ask(s.admin, "POST", address, nil).want(t, 201).into(t, &first)
	s.ask(s.admin, "POST", address, nil).want(t, 201).into(t, &second)
	if p := s.ask(s.admin, "GET", pin, nil).want(t, 404).problem(t); !strings.Contains(p.Detail, "is pinned") {
		t.Errorf("none: %q", p.Detail)
	}
	for body, want := range map[string]struct {
		status  int
		pointer string
	}{
		`{"until":"2099-01-01T00:00:00Z"}`: {422, ""},
		`{"number":1,"id":"019a0000-0000-7000-8000-000000000000","until":"2099-01-01T00:00:00Z"}`: {422, ""},
		`{"number":1,"until":"2020-01-01T00:00:00Z"}`:                                             {422, "/until"},
		`{"number":0,"until":"2099-01-01T00:00:00Z"}`:                                             {400, "/number"},
		`{"number":1}`: {400, "/until"},
	} {
		p := s.ask(s.admin, "PUT", pin, body).want(t, want.status).problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != want.pointer {
			t.Errorf("%s: got %+v, want one error at %q", body, p, want.pointer)
		}
	}
	s.ask(s.admin, "PUT", pin, `{"number":9,"until":"2099-01-01T00:00:00Z"}`).want(t, 404)
	s.ask(s.admin, "PUT", pin, `{"id":"019a0000-0000-7000-8000-000000000000","until":"2099-01-01T00:00:00Z"}`).want(t, 404)
	var got, again plans.Pin
	s.ask(s.admin, "PUT", pin, `{"id":"`+first.ID+`","until":"2099-01-01T00:00:00+01:00"}`).want(t, 200).into(t, &got)
	s.ask(s.admin, "GET", pin, nil).want(t, 200).into(t, &again)
	if got.Number != 1 || got.By != "root" || got != again {
		t.Errorf("got %+v, then %+v", got, again)
	}
	s.ask(s.admin, "DELETE", pin, nil).want(t, 204)
	s.ask(s.admin, "DELETE", pin, nil).want(t, 204)
	s.ask(s.admin, "GET", pin, nil).want(t, 404)
}
