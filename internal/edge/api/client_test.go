package api

import (
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/openapi"
)

// asked sends a request made from the contract.
func (s *service) asked(r openapi.Request, body any) answered {
	s.Helper()
	path := r.Path
	if query := r.Query.Encode(); query != "" {
		path += "?" + query
	}
	return s.ask(s.admin, r.Method, path, body)
}

// Requests made from the contract reach the operations that they name, for any names in their addresses.
func TestRequestsMadeFromTheContract(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var cluster inputs.Cluster
	s.asked(openapi.CreateCluster(), map[string]any{"name": "night"}).want(t, 201).into(t, &cluster)
	if cluster.Currency != "USD" {
		t.Errorf("got the cluster %+v", cluster)
	}
	for _, name := range []string{"odd/name", "a b", "100%", "%2F", "ä?&=#"} {
		s.asked(openapi.CreateVMType("night"), map[string]any{"name": name}).want(t, 201)
		var got inputs.VMType
		s.asked(openapi.GetVMType("night", name), nil).want(t, 200).into(t, &got)
		if got.Name != name || !got.InUse {
			t.Errorf("got the VM type %+v, want the name %q", got, name)
		}
	}
	var page struct {
		Items []inputs.VMType `json:"items"`
		Next  string          `json:"next_cursor"`
	}
	s.asked(openapi.ListVMTypes("night").Page("2", "", ""), nil).want(t, 200).into(t, &page)
	if len(page.Items) != 2 || page.Next == "" {
		t.Errorf("got the page %+v", page)
	}
	s.asked(openapi.ListVMTypes("night").Page("4", page.Next, ""), nil).want(t, 200).into(t, &page)
	if len(page.Items) != 3 {
		t.Errorf("got the last page %+v", page)
	}
	problem := `{"currency":"USD","supply":{"on_demand":{"price":"0.20"}},
		"classes":[{"name":"a","vms_per_job":"4.5","jobs":{"min":2,"max":2},"penalty":"1"}]}`
	var solved capacity.Plan
	s.asked(openapi.Solve(), problem).want(t, 200).into(t, &solved)
	if solved.Cost.OnDemand.String() != "1.80" {
		t.Errorf("got the cost %s", solved.Cost.OnDemand)
	}
	if p := s.asked(openapi.GetCluster("absent"), nil).want(t, 404).problem(t); p.Type != "/problems/not-found" {
		t.Errorf("an absent cluster is answered with %+v", p)
	}
}
