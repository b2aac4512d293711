package api

import (
	"encoding/json"
	"fmt"
	"testing"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
)

// What a question says of another deadline is what the plan made anew comes to, also where jobs arrive.
func TestWhatIfOfArrivalsIsThePlanMadeAnew(t *testing.T) {
	t.Parallel()
	s := newService(t, solved(t))
	const at, moment = "/v1/clusters/flow", "2026-03-03T10:00:00Z"
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"flow","options":{"engine":"exact"}}`).want(t, 201)
	for _, part := range [][2]string{{"/vm-types", `{"name":"small","quota":null}`}, {"/prices", somePrice}, {"/profiles", someProfile},
		{"/classes", `{"name":"nightly","profile":{"name":"etl"},"deadline_s":2700,"slots_per_vm":{"map":2,"reduce":2},"jobs":{"max":10,"all":true},"penalty":"0"}`}} {
		s.ask(s.admin, "POST", at+part[0], part[1]).want(t, 201)
	}
	s.ask(s.admin, "POST", at+"/forecasts/weekly", `{"class":"nightly","from":"2026-03-01T00:00:00Z","until":"2026-03-05T00:00:00Z","week":"else 7","counts":"arrivals"}`).want(t, 200)
	for _, deadline := range []float64{1500, 2000, 3600, 5400, 9000} {
		var answer whatif.Comparison
		s.ask(s.admin, "POST", at+"/what-if", fmt.Sprintf(`{"at":%q,"detail":"full","scenarios":[{"name":"other","changes":[{"what":"deadline","class":"nightly","value":%g}]}]}`, moment, deadline)).want(t, 200).into(t, &answer)
		was := s.ask(s.admin, "GET", at+"/classes/nightly", nil).want(t, 200)
		var class map[string]any
		if err := json.Unmarshal(was.text, &class); err != nil {
			t.Fatal(err)
		}
		given := class["deadline_s"]
		edited := map[string]any{"name": "nightly", "profile": map[string]any{"name": "etl"}, "deadline_s": deadline, "slots_per_vm": class["slots_per_vm"], "jobs": class["jobs"], "penalty": "0"}
		changed := s.ask(s.admin, "PUT", at+"/classes/nightly", edited, "If-Match", was.etag()).want(t, 200)
		var anew struct{ Plan capacity.Plan }
		s.ask(s.admin, "POST", at+"/plans", fmt.Sprintf(`{"at":%q}`, moment)).want(t, 201).into(t, &anew)
		if said := answer.Scenarios[0]; !said.Cost.Bill.Equal(anew.Plan.Cost.Bill.Decimal) || said.Admitted != anew.Plan.Classes[0].Admitted {
			t.Errorf("with the deadline %g the question says %s for %g jobs, and the plan made anew %s for %g", deadline, said.Cost.Bill, said.Admitted, anew.Plan.Cost.Bill, anew.Plan.Classes[0].Admitted)
		}
		edited["deadline_s"] = given
		s.ask(s.admin, "PUT", at+"/classes/nightly", edited, "If-Match", changed.etag()).want(t, 200)
	}
}
