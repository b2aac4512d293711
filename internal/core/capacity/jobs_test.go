package capacity

import (
	"encoding/json"
	"testing"
)

// With all every job is promised, whatever number is given beside it; both readers say so.
func TestAllJobsArePromised(t *testing.T) {
	for text, want := range map[string]JobRange{
		`{"max": 5, "all": true}`:             {5, 5, true},
		`{"all": true, "min": 2, "max": 5}`:   {5, 5, true},
		`{"all": true, "min": 9, "max": 5}`:   {5, 5, true},
		`{"all": true, "max": 0}`:             {0, 0, true},
		`{"all": false, "min": 2, "max": 5}`:  {2, 5, false},
		`{"max": 5}`:                          {0, 5, false},
		`{"min": 2.5, "max": 5, "all": true}`: {5, 5, true},
	} {
		p, err := ReadProblem([]byte(`{"currency": "USD", "supply": {"on_demand": {"price": 1}}, "classes": [{"name": "a", "vms_per_job": 1, "penalty": 0, "jobs": `+text+`}]}`), Limits{})
		if err != nil || p.Classes[0].Jobs != want {
			t.Errorf("%s: got %+v and %v, want %+v", text, p.Classes[0].Jobs, err, want)
			continue
		}
		var stored JobRange
		if err := json.Unmarshal([]byte(text), &stored); err != nil || stored != want {
			t.Errorf("%s: stored as %+v and %v, want %+v", text, stored, err, want)
		}
		if back, err := json.Marshal(stored); err != nil || json.Unmarshal(back, &stored) != nil || stored != want {
			t.Errorf("%s: %s gives %+v", text, back, stored)
		}
	}
	p, _ := ReadProblem([]byte(`{"currency": "USD", "supply": {"on_demand": {"price": 1}}, "classes": [{"name": "a", "vms_per_job": 1, "penalty": 0, "jobs": {"max": 5, "all": true}}]}`), Limits{})
	p.Classes[0].Jobs.Min = 4
	if got := findings(t, p.Validate()); len(got) != 1 || got[0].Pointer != "/classes/0/jobs/min" {
		t.Errorf("all and 4 of 5: got %+v", got)
	}
	for jobs, want := range map[float64]JobRange{3: {3, 3, true}, 8: {8, 8, true}} {
		if got := (JobRange{5, 5, true}).Of(jobs); got != want {
			t.Errorf("all of %v: got %+v", jobs, got)
		}
	}
	for jobs, want := range map[float64]JobRange{1: {1, 1, false}, 8: {2, 8, false}} {
		if got := (JobRange{2, 5, false}).Of(jobs); got != want {
			t.Errorf("2 of %v: got %+v", jobs, got)
		}
	}
}
