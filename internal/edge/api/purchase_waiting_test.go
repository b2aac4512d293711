package api

import (
	"slices"
	"strings"
	"testing"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
)

// What a cluster is to buy where its jobs wait is what a document with its arrivals, prices and offers says. Two jobs arrive in each
// of two hours, and six hours are left: two VMs of an offer run one after the other what four rent on demand.
func TestPurchasesOfClustersWhereJobsWait(t *testing.T) {
	t.Parallel()
	s := works(t)
	const at = "/v1/clusters/lab"
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"lab","currency":"EUR","options":{"engine":"exact"}}`).want(t, 201)
	for _, part := range [][2]string{
		{"/vm-types", `{"name":"m"}`},
		{"/prices", `{"vm_type":"m","price":"4","from":"2026-03-02T00:00:00Z","until":null}`},
		{"/classes", `{"name":"etl","vms_per_job":"2","deadline_s":3600,"due_s":14400,"jobs":{"min":0,"max":3},"penalty":"50"}`},
		{"/offers", `{"name":"own","vm_type":"m","price":"1","billing":"always","term_hours":6,"max":9}`},
	} {
		s.ask(s.admin, "POST", at+part[0], part[1]).want(t, 201)
	}
	s.ask(s.admin, "PUT", at+"/forecasts", `{"rows":[{"class":"etl","hour":"2026-03-02T00:00:00Z","arrivals":2},{"class":"etl","hour":"2026-03-02T01:00:00Z","arrivals":2},
		{"class":"etl","hour":"2026-03-02T02:00:00Z","arrivals":0},{"class":"etl","hour":"2026-03-02T03:00:00Z","arrivals":0},{"class":"etl","hour":"2026-03-02T04:00:00Z","arrivals":0},{"class":"etl","hour":"2026-03-02T05:00:00Z","arrivals":0}]}`).want(t, 200)
	const span = `{"from":"2026-03-02T00:00:00Z","until":"2026-03-02T06:00:00Z"`
	var got, file, scenario, without horizon.PurchaseAnswer
	s.ask(s.admin, "POST", at+"/purchases", span+`}`).want(t, 200).into(t, &without)
	if !slices.ContainsFunc(without.Warnings, func(w capacity.Warning) bool { return w.Code == "windows_left_out" }) || without.WithWaiting != nil {
		t.Errorf("without waiting it warns of %v and says %+v", without.Warnings, without.WithWaiting)
	}
	s.ask(s.admin, "POST", at+"/purchases", span+`,"with_waiting":true}`).want(t, 200).into(t, &got)
	w := got.WithWaiting
	if w == nil || slices.ContainsFunc(got.Warnings, func(w capacity.Warning) bool { return w.Code == "windows_left_out" }) {
		t.Fatalf("got %+v, and warnings of %v", w, got.Warnings)
	}
	// Four jobs hold two VMs for an hour each: 32 on demand, and 12 on two VMs that cost 1 in each of six hours.
	if best := w.Tried[0]; !slices.Equal(best.VMs, []int64{2}) || best.Total.String() != "12.00" || w.Saved.String() != "20.00" || w.SavedAtLeast.Float() < 19.99 || w.Gap.Float() > 0.01 {
		t.Errorf("%v are bought for %s: %s saved, at least %s, with a gap of %s", best.VMs, best.Total, w.Saved, w.SavedAtLeast, w.Gap)
	}
	for _, part := range []string{`the cheapest of 2 purchases tried buys 2 VMs of "own"`, "Bill and value refused together are 20.00 lower than where jobs wait and nothing is bought."} {
		if !strings.Contains(got.Explanation, part) {
			t.Errorf("it does not say %q: %s", part, got.Explanation)
		}
	}
	document := `{"problem":{"currency":"EUR","options":{"engine":"exact"},"supply":{"on_demand":{"price":"4"}},"classes":[{"name":"etl","vms_per_job":"2","deadline_s":3600,"due_s":14400,"jobs":{"min":0,"max":3},"penalty":"50"}]},
	 "offers":[{"name":"own","price":"1","billing":"always","term_hours":6,"max":9}],"with_waiting":true,
	 "periods":[{"start":"2026-03-02T00:00:00Z","hours":2,"arrivals":[4]},{"start":"2026-03-02T02:00:00Z","hours":4,"arrivals":[0]}]}`
	s.ask(s.admin, "POST", "/v1/purchases", document).want(t, 200).into(t, &file)
	if f := file.WithWaiting; f == nil || !f.Tried[0].Total.Equal(w.Tried[0].Total.Decimal) || !slices.Equal(f.Tried[0].VMs, w.Tried[0].VMs) {
		t.Errorf("as a document it is %+v", file.WithWaiting)
	}
	// As a run it is the same.
	var later horizon.PurchaseAnswer
	run := s.over(s.ask(s.admin, "POST", at+"/purchases", span+`,"with_waiting":true}`, "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &later)
	if l := later.WithWaiting; l == nil || !l.Tried[0].Total.Equal(w.Tried[0].Total.Decimal) || later.Explanation != got.Explanation {
		t.Errorf("as a run it is %+v", l)
	}
	// With twice the arrivals four VMs are worth as much.
	s.ask(s.admin, "POST", at+"/purchases", span+`,"with_waiting":true,"scenario":{"changes":[{"what":"demand","class":"etl","factor":2}]}}`).want(t, 200).into(t, &scenario)
	if d := scenario.WithWaiting; d == nil || d.Tried[0].Total.String() != "24.00" || d.Saved.String() != "40.00" {
		t.Errorf("with twice the arrivals it is %+v", d)
	}
	// Months of the same time say what that scenario does: twice the work at the same price.
	var months horizon.Answer
	s.ask(s.admin, "POST", at+"/horizons", span+`,"with_waiting":true,"scenario":{"changes":[{"what":"demand","class":"etl","factor":2}]}}`).want(t, 200).into(t, &months)
	if c := months.WithWaiting; c == nil || c.Compared == nil || c.Compared.AsItIs.Total.String() != "32.00" || c.Compared.Total.String() != "32.00" || c.Compared.Least.Float() < 31.99 || c.Compared.Most.Float() > 32.01 {
		t.Errorf("months with twice the arrivals are %+v", c)
	}
	for wrong, want := range map[string]string{
		at + `/purchases` + span + `,"assume":"ends","with_waiting":true}`:                                             "Schedules look at the time of the forecasts",
		`/v1/purchases` + strings.Replace(document, `"with_waiting":true`, `"with_waiting":false`, 1):                  `Jobs count as they arrive.`,
		`/v1/purchases` + strings.Replace(document, `"arrivals":[0]`, `"jobs":[0]`, 1):                                 "arrivals",
		`/v1/purchases` + strings.Replace(document, `"hours":4,"arrivals":[0]`, `"hours":1,"arrivals":[0]`, 1):         "Add 2 hours without arrivals",
		`/v1/purchases` + strings.Replace(document, `"engine":"exact"`, `"engine":"exact","integrality":"relaxed"`, 1): "A schedule starts whole executions",
		`/v1/purchases` + strings.Replace(document, `"with_waiting":true`, `"with_waiting":"yes"`, 1):                  "with_waiting",
	} {
		path, body, _ := strings.Cut(wrong, "{")
		if a := s.ask(s.admin, "POST", path, "{"+body); a.StatusCode < 400 || !strings.Contains(string(a.text), want) {
			t.Errorf("%s is answered %d %s", body, a.StatusCode, a.text)
		}
	}
	// Offers are weighed without spot VMs, also where the cluster has some.
	vmType := s.ask(s.admin, "GET", at+"/vm-types/m", nil).want(t, 200)
	s.ask(s.admin, "PUT", at+"/vm-types/m", `{"name":"m","spot":{"max_share":0.5}}`, "If-Match", vmType.etag()).want(t, 200)
	s.ask(s.admin, "POST", at+"/prices", `{"vm_type":"m","purchase":"spot","price":"0.10","from":"2026-03-02T00:00:00Z","until":null}`).want(t, 201)
	var spotless horizon.PurchaseAnswer
	s.ask(s.admin, "POST", at+"/purchases", span+`,"with_waiting":true,"leave_out":["spot"]}`).want(t, 200).into(t, &spotless)
	if x := spotless.WithWaiting; x == nil || !x.Tried[0].Total.Equal(w.Tried[0].Total.Decimal) || !x.Saved.Equal(w.Saved.Decimal) || !strings.Contains(spotless.Explanation, "without spot VMs and where they wait") {
		t.Errorf("with spot VMs in the cluster it is %+v: %s", x, spotless.Explanation)
	}
}
