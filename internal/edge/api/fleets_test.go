package api

import (
	"strings"
	"testing"
)

// Faults in the members of fleets are reported at their place.
func TestFleetsAreRefusedWithTheirPlace(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"fleet","budget":{"vm_cost":250.5,"total":null}}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/fleet/vm-types", `{"name":"small","spot":{"max_share":0.5}}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/fleet/vm-types", `{"name":"large","spot":null}`).want(t, 201)
	s.ask(s.admin, "POST", "/v1/clusters/fleet/prices", `{"vm_type":"small","purchase":"spot","price":"0.1","from":"2026-01-01T00:00:00Z"}`).want(t, 201)
	class := func(name, members string) string {
		return `{"name":"` + name + `","demand":{"map_work_s":10,"reduce_work_s":0,"fixed_s":50},"deadline_s":60,"jobs":{"min":1,"max":1},"penalty":1,` + members + `}`
	}
	s.ask(s.admin, "POST", "/v1/clusters/fleet/classes", class("a", `"slots_per_vm":{"small":{"map":1,"reduce":1}},"speed":{"small":1.5}`)).want(t, 201)
	for _, c := range []struct {
		path, body string
		status     int
		says       []string
	}{
		{"/v1/clusters", `{"name":"b","budget":{"vm_cost":-1}}`, 400, []string{"/budget/vm_cost", "negative"}},
		{"/v1/clusters", `{"name":"b","budget":{"total":"0.1234567891"}}`, 400, []string{"/budget/total", "decimal places"}},
		{"/v1/clusters/fleet/vm-types", `{"name":"b","spot":{"max_share":1.5}}`, 400, []string{"/spot/max_share", "from 0 to 1"}},
		{"/v1/clusters/fleet/vm-types", `{"name":"b","spot":{}}`, 400, []string{"/spot/max_share", "missing"}},
		{"/v1/clusters/fleet/prices", `{"vm_type":"small","purchase":"sport","price":1,"from":"2026-01-01T00:00:00Z"}`, 400, []string{"/purchase", "Did you mean"}},
		{"/v1/clusters/fleet/prices", `{"vm_type":"small","purchase":"spot","price":1,"from":"2026-02-01T00:00:00Z"}`, 422, []string{"/from", "overlaps"}},
		{"/v1/clusters/fleet/classes", class("b", `"slots_per_vm":{"smal":{"map":1,"reduce":1}}`), 422, []string{"/slots_per_vm/smal", "Did you mean", "small"}},
		{"/v1/clusters/fleet/classes", class("b", `"slots_per_vm":{"small":{"map":1}}`), 400, []string{"/slots_per_vm/small/reduce", "missing"}},
		{"/v1/clusters/fleet/classes", class("b", `"slots_per_vm":{"map":1,"redcue":1}`), 400, []string{"/slots_per_vm/redcue", "Did you mean"}},
		{"/v1/clusters/fleet/classes", class("b", `"slots_per_vm":{}`), 400, []string{"/slots_per_vm/map", "missing"}},
		{"/v1/clusters/fleet/classes", class("b", `"slots_per_vm":{"map":1,"reduce":1},"speed":{"small":-1}`), 400, []string{"/speed/small", "from 0 to 1000"}},
		{"/v1/clusters/fleet/classes", class("b", `"slots_per_vm":{"map":1,"reduce":1},"speed":{"small":0.0001}`), 422, []string{"/speed/small", "at least 0.001"}},
		{"/v1/clusters/fleet/classes", class("b", `"slots_per_vm":{"small":{"map":1,"reduce":1}},"speed":{"small":0}`), 422, []string{"/speed", "runs on none"}},
	} {
		got := s.ask(s.admin, "POST", c.path, c.body)
		for _, word := range c.says {
			if !strings.Contains(string(got.text), word) {
				t.Errorf("%s: got %s, want %q in it", c.body, got.text, word)
			}
		}
		if got.StatusCode != c.status {
			t.Errorf("%s: got %d, want %d", c.body, got.StatusCode, c.status)
		}
	}
}
