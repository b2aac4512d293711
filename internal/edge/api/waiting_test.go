package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
)

// Each point of a cluster over a range is its schedule under a scenario of that value. So it is with a promise that a schedule leaves
// out, with jobs at once, with longer windows and with hours after the forecasts.
func TestSchedulesOverARangeAreThoseOfScenarios(t *testing.T) {
	t.Parallel()
	s := works(t)
	const at = "/v1/clusters/lab"
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"lab","currency":"EUR","time_zone":"Europe/Berlin","options":{"engine":"exact"}}`).want(t, 201)
	for _, part := range [][2]string{
		{"/vm-types", `{"name":"m"}`},
		{"/prices", `{"vm_type":"m","price":"1","from":"2026-03-02T00:00:00Z","until":"2026-03-02T01:00:00Z"}`},
		{"/prices", `{"vm_type":"m","price":"4","from":"2026-03-02T01:00:00Z","until":"2026-03-02T02:00:00Z"}`},
		{"/prices", `{"vm_type":"m","price":"2","from":"2026-03-02T02:00:00Z","until":"2026-03-02T08:00:00Z"}`},
		{"/prices", `{"vm_type":"m","price":"0.50","from":"2026-03-02T08:00:00Z","until":null}`},
		{"/classes", `{"name":"etl","vms_per_job":"2","deadline_s":3600,"due_s":7200,"jobs":{"min":0,"max":3},"penalty":"50"}`},
		{"/classes", `{"name":"web","vms_per_job":"0.5","deadline_s":3600,"jobs":{"min":1,"max":4},"penalty":"50"}`},
		{"/contracts", `{"name":"own","vm_type":"m","vms":2,"price":"0.10","billing":"used","from":"2026-03-01T00:00:00Z","until":"2027-03-01T00:00:00Z"}`},
	} {
		s.ask(s.admin, "POST", at+part[0], part[1]).want(t, 201)
	}
	s.ask(s.admin, "PUT", at+"/forecasts", `{"rows":[{"class":"etl","hour":"2026-03-02T00:00:00Z","arrivals":3},{"class":"etl","hour":"2026-03-02T01:00:00Z","arrivals":2},
		{"class":"web","hour":"2026-03-02T00:00:00Z","jobs":2},{"class":"web","hour":"2026-03-02T01:00:00Z","jobs":1}]}`).want(t, 200)
	const span = `"from":"2026-03-02T00:00:00Z","until":"2026-03-02T02:00:00Z"`
	type varied struct{ vary, change string }
	values := func(what, of string, all ...string) (v []varied) {
		for _, x := range all {
			v = append(v, varied{fmt.Sprintf(`{"what":%q,%s"by":"value","values":[%q]}`, what, of, x), fmt.Sprintf(`{"what":%q,%s"value":%q}`, what, of, x)})
		}
		return v
	}
	cases := slices.Concat(
		values("due", `"class":"etl",`, "0", "10800", "36000"), values("due", `"class":"web",`, "14400"), values("due", ``, "28800"),
		values("deadline", `"class":"etl",`, "7200"), values("demand", `"class":"etl",`, "5"), values("demand", `"class":"web",`, "4"),
		values("price", ``, "3"), values("contract", `"contract":"own",`, "6"), values("quota", ``, "5"), values("penalty", `"class":"etl",`, "1"))
	for _, c := range []string{`"what":"due"`, `"what":"demand"`, `"what":"deadline","class":"etl"`, `"what":"promised"`, `"what":"price"`} {
		cases = append(cases, varied{`{` + c + `,"values":[1.5]}`, `{` + c + `,"factor":1.5}`})
	}
	later := int64(0)
	for _, c := range cases {
		var a timetable.SweepAnswer
		var want timetable.Answer
		s.ask(s.admin, "POST", at+"/waiting", `{`+span+`,"schedules":true,"vary":[`+c.vary+`]}`).want(t, 200).into(t, &a)
		s.ask(s.admin, "POST", at+"/schedules", `{`+span+`,"scenario":{"changes":[`+c.change+`]}}`).want(t, 200).into(t, &want)
		p := &a.Points[0]
		if !p.Total.Equal(want.Cost.Total.Decimal) || p.Bound.Sub(want.Proof.Bound.Decimal).Abs().GreaterThan(decimal.New(1, -6)) || !slices.Equal(p.Schedule.Schedule, want.Schedule) {
			t.Errorf("%s: it comes to %s, at least %s: %s\nunder a scenario to %s, at least %s: %s", c.vary, p.Total, p.Bound, a.Explanation, want.Cost.Total, want.Proof.Bound, want.Explanation)
		}
		later += p.Later
	}
	if later == 0 {
		t.Error("nothing waits in any of them")
	}
	refused := func(address, body, pointer, says string) {
		t.Helper()
		if r := s.ask(s.admin, "POST", address, body).want(t, 422); !strings.Contains(string(r.text), fmt.Sprintf("%q", pointer)) || !strings.Contains(string(r.text), says) {
			t.Errorf("%s says %s, not %q at %s", body, r.text, says, pointer)
		}
	}
	refused(at+"/waiting", `{`+span+`,"vary":[{"what":"due","class":"nix","values":[1]}]}`, "/vary/0/class", "There is no class")
	refused(at+"/waiting", `{`+span+`,"vary":[{"what":"due","class":"web","values":[2]}]}`, "/vary/0", "do not wait")
	refused(at+"/waiting", `{`+span+`,"vary":[{"what":"due","by":"value","from":0,"to":86400,"steps":101}]}`, "/vary", "100 at most")
	refused(at+"/what-if", `{"scenarios":[{"changes":[{"what":"due","value":3600}]}]}`, "/scenarios/0/changes/0/what", "no plan of one moment")
	refused(at+"/horizons", `{`+span+`,"scenario":{"changes":[{"what":"due","value":3600}]}}`, "/scenario/changes/0/what", "Ask with waiting too")
	// Months with waiting take it.
	var months horizon.Answer
	s.ask(s.admin, "POST", at+"/horizons", `{`+span+`,"with_waiting":true,"scenario":{"changes":[{"what":"due","class":"etl","value":36000}]}}`).want(t, 200).into(t, &months)
	if w := months.WithWaiting; w == nil || w.Compared == nil || !w.Compared.Bill.IsNegative() || len(w.Compared.AsItIs.Prices) != len(w.Compared.UnderScenario.Prices) {
		t.Errorf("months with longer windows come to %+v", months.WithWaiting)
	}
	// As a run it is the same, and one value may have no schedule.
	var now, run timetable.SweepAnswer
	const several = `{` + span + `,"vary":[{"what":"due","class":"etl","by":"value","values":["0","600","36000"]}]}`
	s.ask(s.admin, "POST", at+"/waiting", several).want(t, 200).into(t, &now)
	made := s.over(s.ask(s.admin, "POST", at+"/waiting", several, "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
	s.ask(s.admin, "GET", "/v1/runs/"+made.ID+"/result", nil).want(t, 200).into(t, &run)
	if now.Explanation != run.Explanation || len(now.Points) != 3 || now.Points[1].Status != capacity.InfeasibleStatus || !strings.Contains(now.Explanation, "At 1 of them there is no schedule") {
		t.Errorf("at once: %s\nas a run: %s", now.Explanation, run.Explanation)
	}
	if !strings.Contains(now.Explanation, "The two are counted in two ways") {
		t.Errorf("it says %s", now.Explanation)
	}
}
