package api

import (
	"testing"

	"example.org/headroom/internal/service/auth"
)

// A problem whose classes have no penalties is refused with prices to begin with, that can be put in as they are.
func TestSolveSuggestsPenalties(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const supply = `"currency":"USD","supply":{"on_demand":{"price":"0.20"}},"options":{"integrality":"integer","engine":"exact"}`
	p := s.ask(s.key("p", auth.Planner, nil), "POST", "/v1/solve", `{`+supply+`,"classes":[{"name":"a","vms_per_job":"1.5","jobs":{"min":0,"max":4}},
		{"name":"b","vms_per_job":"3","jobs":{"min":0,"max":4},"penalty":"1"}]}`).want(t, 400).problem(t)
	if len(p.Errors) != 1 || p.Errors[0].Hint == nil || p.Errors[0].Hint.Pointer != "/classes/0/penalty" || p.Errors[0].Hint.Value != "0.41" {
		t.Errorf("%+v", p)
	}
}
