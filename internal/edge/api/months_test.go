package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"github.com/xuri/excelize/v2"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/runs"
)

const (
	somePeriods = `[{"start":"2026-03-01T00:00:00Z","hours":8,"jobs":[0]},{"start":"2026-03-01T08:00:00Z","hours":16}]`
	someOffer   = `{"name":"day","price":"0.10","term_hours":24,"billing":"always","max":3}`
)

// TestMonthsOfACluster has a cluster whose price rises in the middle of an hour, with a contract that ends within the
// horizon, and adds everything up by hand.
func TestMonthsOfACluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ask(s.admin, "POST", "/v1/clusters", `{"name":"mine","options":{"engine":"exact"}}`).want(t, 201)
	at := "/v1/clusters/mine"
	for _, part := range [][2]string{
		{"/vm-types", `{"name":"small"}`},
		{"/prices", `{"vm_type":"small","price":"1.00","from":"2026-01-01T00:00:00Z","until":"2026-01-31T22:30:00Z"}`},
		{"/prices", `{"vm_type":"small","price":"2.00","from":"2026-01-31T22:30:00Z","until":"2026-02-02T00:00:00Z"}`},
		{"/contracts", `{"name":"old","vm_type":"small","vms":2,"price":"0.25","billing":"always","upfront":"10.00","from":"2026-01-31T21:00:00Z","until":"2026-01-31T23:00:00Z"}`},
		{"/classes", `{"name":"etl","vms_per_job":1,"jobs":{"min":0,"max":1},"penalty":"50"}`},
	} {
		s.ask(s.admin, "POST", at+part[0], part[1]).want(t, 201)
	}
	s.ask(s.admin, "PUT", at+"/forecasts", `{"rows":[{"class":"etl","hour":"2026-01-31T20:00:00Z","jobs":3},{"class":"etl","hour":"2026-01-31T21:00:00Z","jobs":2.5},{"class":"etl","hour":"2026-01-31T22:00:00Z","jobs":3}]}`).want(t, 200)
	const asked = `{"from":"2026-01-31T20:00:00Z","until":"2026-02-01T02:00:00Z"}`
	var a horizon.Answer
	s.ask(s.admin, "POST", at+"/horizons", asked).want(t, 200).into(t, &a)
	// 20:00 3 on demand; 21:00 3 (of 2.5 expected), 1 of them on demand, and so on until the price rises at 22:30.
	// 23:00
	// and two hours of February have no forecast, so one job at 2.
	for _, line := range []struct {
		name string
		got  money.Amount
		want string
	}{
		{"on demand", a.Total.Cost.OnDemand, "11.50"}, {"reserved", a.Total.Cost.Reserved, "1.00"}, {"upfront", a.Upfront, "10.00"},
		{"January", a.Months[0].Cost.Total, "18.50"}, {"February", a.Months[1].Cost.Total, "4.00"},
	} {
		if line.got.String() != line.want {
			t.Errorf("%s: got %s, want %s", line.name, line.got, line.want)
		}
	}
	if !a.Complete || a.Detail != horizon.DetailPeriods || len(a.Periods) != 4 || a.Periods[1].Hours != 1.5 || a.Periods[3].Hours != 3 || len(a.Days) != 2 || a.Total.Hours != 6 ||
		a.Classes[0].AdmittedHours != 12 || *a.Contracts[0].Utilisation != 1 || len(a.Situations) != 0 || !strings.Contains(a.Explanation, "22.50 USD") {
		t.Errorf("got %+v", a)
	}
	if len(a.Warnings) != 2 || a.Warnings[1].Code != "forecasts_end" || a.Warnings[0].Code != "forecast_holes" || !strings.Contains(a.Warnings[0].Detail, "in 3 of 6 hours, the first of them 2026-01-31T23:00:00Z") {
		t.Errorf("warned of %+v", a.Warnings)
	}

	// The same in every form, and by itself.
	for _, c := range []struct{ format, rows string }{{"csv", "5"}, {"csv&per=month", "3"}, {"focus", ""}} {
		got := s.ask(s.admin, "POST", at+"/horizons?format="+c.format, asked).want(t, 200)
		rows, err := csv.NewReader(bytes.NewReader(got.text)).ReadAll()
		if err != nil || c.rows != "" && fmt.Sprint(len(rows)) != c.rows || len(rows) < 3 {
			t.Errorf("%s: %d rows, %v", c.format, len(rows), err)
		}
	}
	sheet := s.ask(s.admin, "POST", at+"/horizons?format=xlsx", asked).want(t, 200)
	f, err := excelize.OpenReader(bytes.NewReader(sheet.text))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !slices.Contains(f.GetSheetList(), "periods") {
		t.Errorf("the sheets are %v", f.GetSheetList())
	}
	s.ask(s.admin, "POST", at+"/horizons?format=pdf", asked).want(t, 400)
	s.ask(s.admin, "POST", at+"/horizons", `{"from":"2026-01-31T20:00:00Z","until":"2026-02-01T02:00:00Z","detail":"classes"}`).want(t, 200).into(t, &a)
	if len(a.Situations) != a.Solved || a.Solved == 0 {
		t.Errorf("got %d situations of %d", len(a.Situations), a.Solved)
	}

	// A time without a price, with both ends of the gap.
	p := s.ask(s.admin, "POST", at+"/horizons", `{"from":"2026-02-01T00:00:00Z","until":"2026-02-03T00:00:00Z"}`).want(t, 422).problem(t)
	if len(p.Errors) != 1 || p.Errors[0].Code != "no_price" || !strings.Contains(p.Errors[0].Detail, "from 2026-02-02T00:00:00Z until 2026-02-03T00:00:00Z, 24 hours") {
		t.Errorf("got %+v", p.Errors)
	}
	// Half a minute does not begin an hour.
	p = s.ask(s.admin, "POST", at+"/horizons", `{"from":"2026-02-01T00:00:30Z"}`).want(t, 422).problem(t)
	if len(p.Errors) != 1 || *p.Errors[0].Pointer != "/from" || p.Errors[0].Hint == nil {
		t.Errorf("got %+v", p.Errors)
	}
}

// drawn draws a small question about offers, and finds the cost of every purchase by trying all jobs and VMs.
func drawn(r *rand.Rand) (body string, cheapest decimal.Decimal) {
	hours, onDemand, penalty := 1+r.IntN(4), int64(1+r.IntN(9)), int64(r.IntN(12))
	jobs := make([]int64, hours)
	var periods []string
	for i := range jobs {
		jobs[i] = r.Int64N(4)
		periods = append(periods, fmt.Sprintf(`{"start":"2026-03-01T%02d:00:00Z","hours":1,"jobs":[%d]}`, i, jobs[i]))
	}
	type offer struct {
		price, upfront, most int64
		always               bool
	}
	var all []offer
	var said []string
	for k := range 1 + r.IntN(2) {
		o := offer{1 + r.Int64N(5), r.Int64N(8), r.Int64N(4), r.IntN(2) == 0}
		billing := "used"
		if o.always {
			billing = "always"
		}
		all = append(all, o)
		said = append(said, fmt.Sprintf(`{"name":"o%d","price":%d,"upfront":%d,"billing":"%s","term_hours":%d,"max":%d}`, k, o.price, o.upfront, billing, hours, o.most))
	}
	body = fmt.Sprintf(`{"problem":{"currency":"USD","supply":{"on_demand":{"price":%d}},"classes":[{"name":"a","vms_per_job":1,"jobs":{"min":0,"max":9},"penalty":%d}],"options":{"engine":"exact","gap":0}},"periods":[%s],"offers":[%s],"factors":[]}`,
		onDemand, penalty, strings.Join(periods, ","), strings.Join(said, ","))
	best := int64(1 << 60)
	var choose func(k int, bought []int64)
	choose = func(k int, bought []int64) {
		if k < len(all) {
			for n := range all[k].most + 1 {
				choose(k+1, append(bought, n))
			}
			return
		}
		cost := int64(0)
		for i, n := range bought {
			cost += n * all[i].upfront
			if all[i].always {
				cost += n * all[i].price * int64(hours)
			}
		}
		for _, j := range jobs {
			var prices []int64 // of a VM for a job of this hour, the cheapest first
			for i, n := range bought {
				for range n {
					if all[i].always {
						prices = append(prices, 0)
					} else {
						prices = append(prices, all[i].price)
					}
				}
			}
			slices.Sort(prices)
			for x := range j {
				price := onDemand
				if x < int64(len(prices)) {
					price = min(price, prices[x])
				}
				cost += min(price, penalty)
			}
		}
		best = min(best, cost)
	}
	choose(0, nil)
	return body, decimal.NewFromInt(best)
}

func TestPurchasesAreTheCheapest(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := rand.New(rand.NewPCG(6, 1))
	for i := range many(24, 500) {
		body, cheapest := drawn(r)
		var a horizon.PurchaseAnswer
		s.ask(s.admin, "POST", "/v1/purchases", body).want(t, 200).into(t, &a)
		if !a.Recommended.Total.Equal(cheapest) || a.Status != capacity.Optimal || a.Answer == "" || !strings.HasPrefix(a.Explanation, a.Answer) || len(a.Regret) != 0 {
			t.Fatalf("case %d: %s\ngot %s, want %s: %+v", i, body, a.Recommended.Total, cheapest, a)
		}
		// The horizon with the purchases costs the same.
		if sum := a.Horizon.Total.Cost.Total; !sum.Equal(cheapest) {
			t.Errorf("case %d: the horizon comes to %s", i, sum)
		}
	}
}

// TestPurchasesForACluster weighs a cluster's own offers and others, by VM type.
func TestPurchasesForACluster(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("mine")
	at := "/v1/clusters/mine"
	const when = `"from":"2026-03-01T00:00:00Z","until":"2026-03-02T00:00:00Z"`
	p := s.ask(s.admin, "POST", at+"/purchases", `{`+when+`}`).want(t, 422).problem(t)
	if p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != "/offers" {
		t.Errorf("without an offer: %+v", p.Errors)
	}
	s.ask(s.admin, "POST", at+"/offers", `{"name":"cheap day","vm_type":"small","price":"0.01","billing":"always","term_hours":24,"max":500}`).want(t, 201)
	s.ask(s.admin, "POST", at+"/offers", `{"name":"dear day","vm_type":"small","price":"9","term_hours":24,"max":500}`).want(t, 201)
	p = s.ask(s.admin, "POST", at+"/purchases", `{`+when+`}`).want(t, 422).problem(t)
	if *p.Errors[0].Pointer != "/assume" {
		t.Errorf("with a forecast of an hour: %+v", p.Errors)
	}
	s.ask(s.admin, "POST", at+"/forecasts/weekly", `{"class":"nightly",`+when+`,"week":"else 10"}`).want(t, 200)
	var own, named, inline horizon.PurchaseAnswer
	s.ask(s.admin, "POST", at+"/purchases", `{`+when+`,"factors":[1.2]}`).want(t, 200).into(t, &own)
	s.ask(s.admin, "POST", at+"/purchases", `{`+when+`,"named":["cheap day"]}`).want(t, 200).into(t, &named)
	s.ask(s.admin, "POST", at+"/purchases", `{`+when+`,"offers":[{"name":"cheap day","price":"0.01","billing":"always","term_hours":24,"max":500}]}`).want(t, 200).into(t, &inline)
	if len(own.Offers) != 2 || own.Offers[0].VMs == 0 || own.Offers[1].VMs != 0 || own.Saving == nil || !own.Saving.Amount.IsPositive() || len(own.Regret) != 1 {
		t.Errorf("got %+v", own)
	}
	if diff := cmp.Diff(named, inline); diff != "" || len(named.Offers) != 1 || len(named.Regret) != 7 || !named.Recommended.Total.Equal(own.Recommended.Total.Decimal) {
		t.Errorf("named: %+v; inline differs: %s", named.Offers, diff)
	}
	for _, format := range []string{"csv", "xlsx", "focus"} {
		s.ask(s.admin, "POST", at+"/purchases?format="+format, `{`+when+`}`).want(t, 200)
	}
	p = s.ask(s.admin, "POST", at+"/purchases", `{`+when+`,"named":["cheap dai"]}`).want(t, 422).problem(t)
	if *p.Errors[0].Pointer != "/named/0" || p.Errors[0].Hint == nil || p.Errors[0].Hint.Value != "cheap day" {
		t.Errorf("a name with a slip: %+v", p.Errors)
	}

	// With another type in use, and spot, the question names the type and the parts it leaves out.
	s.ask(s.admin, "POST", at+"/vm-types", `{"name":"x","in_use":true,"spot":{"max_share":0.9}}`).want(t, 201)
	s.ask(s.admin, "POST", at+"/prices", `{"vm_type":"x","price":"0.5","from":"2026-01-01T00:00:00Z"}`).want(t, 201)
	s.ask(s.admin, "POST", at+"/prices", `{"vm_type":"x","purchase":"spot","price":"0.1","from":"2026-01-01T00:00:00Z"}`).want(t, 201)
	p = s.ask(s.admin, "POST", at+"/purchases", `{`+when+`,"offers":[`+someOffer+`]}`).want(t, 422).problem(t)
	if *p.Errors[0].Pointer != "/vm_type" || p.Errors[0].Hint == nil || p.Errors[0].Hint.Value != "small" {
		t.Errorf("without a type: %+v", p.Errors)
	}
	p = s.ask(s.admin, "POST", at+"/purchases", `{`+when+`,"vm_type":"x","offers":[`+someOffer+`]}`).want(t, 422).problem(t)
	if *p.Errors[0].Pointer != "/leave_out" || p.Errors[0].Hint == nil || fmt.Sprint(p.Errors[0].Hint.Value) != "[spot]" {
		t.Errorf("with spot: %+v", p.Errors)
	}
	s.ask(s.admin, "POST", at+"/purchases", `{`+when+`,"vm_type":"x","leave_out":["spot"],"offers":[`+someOffer+`]}`).want(t, 200).into(t, &own)
	codes := []string{}
	for _, w := range own.Warnings {
		codes = append(codes, w.Code)
	}
	if !slices.Contains(codes, "spot_left_out") || !slices.Contains(codes, "one_vm_type") {
		t.Errorf("warned of %v", codes)
	}
	var both horizon.Answer
	s.ask(s.admin, "POST", at+"/horizons", `{`+when+`,"detail":"classes"}`).want(t, 200).into(t, &both)
	if both.Total.Cost.Spot.IsZero() || len(both.Situations[0].Types) != 2 {
		t.Errorf("the horizon of both types comes to %+v", both.Total)
	}

	// The cluster as it is has both types, with the purchase and without.
	own = horizon.PurchaseAnswer{}
	s.ask(s.admin, "POST", at+"/purchases", `{`+when+`,"vm_type":"small","factors":[],"named":["cheap day"]}`).want(t, 200).into(t, &own)
	found := own.Found
	if found == nil || fmt.Sprint(found.LeftOut) != "[other_types]" || found.VMs[0] == 0 || own.Offers[0].VMs == 0 || !own.Today.Bill.Equal(both.Total.Cost.Bill.Decimal) || !strings.Contains(own.Answer, "the other types of VMs") {
		t.Fatalf("found %+v; the months of both types come to %s\n%s", found, both.Total.Cost.Bill, own.Answer)
	}
	var later horizon.PurchaseAnswer // as a run
	run := s.over(s.ask(s.admin, "POST", at+"/purchases", `{`+when+`,"vm_type":"small","factors":[],"detail":"classes","named":["cheap day"]}`, "Prefer", "respond-async").want(t, 202).Header.Get("Location"))
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &later)
	if diff := cmp.Diff(own.Found, later.Found); diff != "" || later.Answer != own.Answer {
		t.Errorf("a run says %q; it found (-at once +run):\n%s", later.Answer, diff)
	}
	focus := s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result?format=focus", nil).want(t, 200).text
	if sum := billedOf(t, string(focus)); !sum.Equal(own.Recommended.Bill.Decimal) {
		t.Errorf("the rows of FOCUS come to %s, and the bill is %s", sum, own.Recommended.Bill)
	}
	s.ask(s.admin, "POST", at+"/contracts", fmt.Sprintf(`{"name":"bought","vm_type":"small","vms":%d,"price":"0.01","billing":"always",%s}`, own.Offers[0].VMs, when)).want(t, 201)
	s.ask(s.admin, "POST", at+"/horizons", `{`+when+`}`).want(t, 200).into(t, &both)
	if !own.Recommended.Bill.Equal(both.Total.Cost.Bill.Decimal) || !own.Recommended.Total.Equal(both.Total.Cost.Total.Decimal) {
		t.Errorf("with the purchase: %+v; its months come to %+v", own.Recommended, both.Total.Cost)
	}
}

// billedOf adds up what rows of FOCUS bill.
func billedOf(t *testing.T, rows string) (sum decimal.Decimal) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(rows)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(all[0], "BilledCost")
	for _, row := range all[1:] {
		sum = sum.Add(decimal.RequireFromString(row[at]))
	}
	return sum
}

// hoursOf returns a question about many hours, all of them different, with too few VMs for all jobs.
func hoursOf(hours, classes int, offers string) string {
	r := rand.New(rand.NewPCG(8, 760))
	var b strings.Builder
	fmt.Fprintf(&b, `{"problem":{"currency":"USD","supply":{"on_demand":{"price":"0.20","quota":%d}},"classes":[`, 20*classes)
	for i := range classes {
		fmt.Fprintf(&b, `%s{"name":"c%d","demand":{"map_work_s":%d,"reduce_work_s":%d,"fixed_s":60},"deadline_s":1800,"slots_per_vm":{"map":2,"reduce":2},"jobs":{"min":0,"max":30},"penalty":"%d.%02d"}`,
			[]string{"", ","}[min(i, 1)], i, 2000+37*i, 500+11*i, r.IntN(2), r.IntN(100))
	}
	b.WriteString(`]},"periods":[`)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for hour := range hours {
		fmt.Fprintf(&b, `%s{"start":"%s","hours":1,"jobs":[`, []string{"", ","}[min(hour, 1)], start.Add(time.Duration(hour)*time.Hour).Format(time.RFC3339))
		for i := range classes {
			fmt.Fprintf(&b, "%s%d", []string{"", ","}[min(i, 1)], r.IntN(31))
		}
		b.WriteString("]}")
	}
	b.WriteString(`]` + offers + `}`)
	return b.String()
}

// ofTwoTypes turns the VMs of hoursOf into two types, which takes longer to plan.
func ofTwoTypes(body string) string {
	const from, to = `"supply":{"on_demand":`, `,"classes":[{`
	before, rest, _ := strings.Cut(body, from)
	terms, after, _ := strings.Cut(rest, to)
	terms = strings.TrimSuffix(terms, "}")
	return before + `"supply":{"vm_types":[{"name":"one","on_demand":` + terms + `},{"name":"two","on_demand":{"price":"0.31"}}]}` + to + `"speed":{"two":1.5},` + after
}

const yearOffers = `,"offers":[{"name":"one-year","price":"0.12","billing":"always","term_years":1,"max":5000},{"name":"all upfront","upfront":"900","billing":"always","term_years":1,"max":5000}]`

// TestLongMonthsAreRuns has a horizon and a purchase worked on in the background, ended, and read in every form.
func TestLongMonthsAreRuns(t *testing.T) {
	t.Parallel()
	s := works(t)
	s.cluster("mine")
	const asked = `{"from":"2026-03-01T00:00:00Z","until":"2026-03-03T00:00:00Z"}`
	started := s.ask(s.admin, "POST", "/v1/clusters/mine/horizons?format=xlsx", asked, "Prefer", "respond-async", "Idempotency-Key", "k1").want(t, 202)
	again := s.ask(s.admin, "POST", "/v1/clusters/mine/horizons?format=xlsx", asked, "Prefer", "respond-async", "Idempotency-Key", "k1").want(t, 202)
	if started.Header.Get("Location") != again.Header.Get("Location") || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same key began another run: %v, %v", started.Header, again.Header)
	}
	run := s.over(started.Header.Get("Location"))
	var a, at horizon.Answer
	s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result", nil).want(t, 200).into(t, &a)
	s.ask(s.admin, "POST", "/v1/clusters/mine/horizons", `{"from":"2026-03-01T00:00:00Z","until":"2026-03-03T00:00:00Z","detail":"classes"}`).want(t, 200).into(t, &at)
	if diff := cmp.Diff(at, a); diff != "" || run.Kind != "horizon" || run.Progress.Unit != "steps" || run.Progress.Done != run.Progress.Total {
		t.Errorf("got %+v; the run found something else than the answer at once: %s", run, diff)
	}
	for _, format := range []string{"csv", "xlsx", "focus"} {
		here := s.ask(s.admin, "POST", "/v1/clusters/mine/horizons?format="+format, asked).want(t, 200)
		there := s.ask(s.admin, "GET", "/v1/runs/"+run.ID+"/result?format="+format, nil).want(t, 200)
		if format != "xlsx" && !bytes.Equal(here.text, there.text) || len(there.text) == 0 {
			t.Errorf("as %s the run has %d bytes, the answer at once %d", format, len(there.text), len(here.text))
		}
	}

	// The test does not wait for every hour of a year. A cancelled run stores its partial result.
	if testing.Short() {
		return
	}
	limited := s.key("limited", auth.Planner, []string{"mine"})
	for _, c := range []struct {
		ask, body string
		steps     int64 // that are waited for: enough for several workers to be past the first hour
	}{
		{"horizons", hoursOf(8760, many(80, 200), ""), 50},
		{"horizons?format=focus", ofTwoTypes(hoursOf(many(1, 3)*8760, 15, "")), 50},
		{"purchases", hoursOf(8760, many(20, 60), yearOffers), 1},
	} {
		s.ask(limited, "POST", "/v1/"+c.ask, c.body, "Prefer", "respond-async").want(t, 403)
		began := time.Now()
		started := s.ask(s.admin, "POST", "/v1/"+c.ask, c.body, "Prefer", "respond-async").want(t, 202)
		t.Logf("%s: %d bytes were made a run after %s", c.ask, len(c.body), time.Since(began))
		location := started.Header.Get("Location")
		s.until(location, func(r runs.Run) bool { return r.Progress.Done >= c.steps || r.State.Over() })
		began = time.Now()
		s.ask(s.admin, "DELETE", location, nil)
		run := s.over(location)
		t.Logf("%s: ended %s after it was cancelled, at %d of %d", c.ask, time.Since(began), run.Progress.Done, run.Progress.Total)
		if run.State != runs.RunCancelled {
			t.Errorf("%s: got %+v", c.ask, run)
		}
		switch c.ask {
		case "horizons":
			s.summaryThatWasEnded(location, run)
		case "horizons?format=focus":
			s.exportsThatWereEnded(location)
		}
	}
}

// The data for a form may be too large to store, for a time whose days and months are not.
func TestFormsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	s := newService(t)
	body := hoursOf(8760, 80, "")
	p := s.ask(s.admin, "POST", "/v1/horizons?format=xlsx", body, "Prefer", "respond-async").want(t, 413).problem(t)
	if e := p.Errors[0]; e.Parameter != "format" || e.Pointer != nil || e.Hint == nil || !strings.Contains(e.Hint.Detail, "per=day and per=month") || !strings.Contains(e.Detail, "classes of all 8760 periods") {
		t.Errorf("got %+v", p.Errors)
	}
	location := s.ask(s.admin, "POST", "/v1/horizons?format=csv&per=month", body, "Prefer", "respond-async").want(t, 202).Header.Get("Location")
	s.ask(s.admin, "DELETE", location, nil).want(t, 204)
}

// summaryThatWasEnded is stored with days and months, and explains how to get forms that need more.
func (s *service) summaryThatWasEnded(location string, run runs.Run) {
	t := s.TB
	t.Helper()
	var part horizon.Answer
	result := s.ask(s.admin, "GET", location+"/result", nil).want(t, 200)
	result.into(t, &part)
	if part.Complete || !run.Partial || part.Total.Hours == 0 || part.Total.Hours >= 8760 || part.Detail != horizon.DetailSummary || len(part.Periods) != 0 || len(result.text) > 1<<20 {
		t.Errorf("the part has %g hours in %d bytes: %.300s", part.Total.Hours, len(result.text), result.text)
	}
	days := s.ask(s.admin, "GET", location+"/result?format=csv&per=day", nil).want(t, 200)
	if rows, err := csv.NewReader(bytes.NewReader(days.text)).ReadAll(); err != nil || len(rows) != 1+len(part.Days) {
		t.Errorf("%d days are %d rows (%v)", len(part.Days), len(rows), err)
	}
	for _, form := range []string{"csv", "xlsx", "focus"} {
		p := s.ask(s.admin, "GET", location+"/result?format="+form, nil).want(t, 400).problem(t)
		want := "Ask the same of POST /v1/horizons?format=" + form
		if e := p.Errors[0]; e.Parameter != "format" || e.Code != "not_kept" || e.Hint == nil || !strings.HasPrefix(e.Hint.Detail, want) {
			t.Errorf("a summary as %s: got %+v, want %q", form, p.Errors, want)
		}
	}
}

// exportsThatWereEnded end with the work, in every form, and still add up.
func (s *service) exportsThatWereEnded(location string) {
	t := s.TB
	t.Helper()
	var part horizon.Answer
	s.ask(s.admin, "GET", location+"/result", nil).want(t, 200).into(t, &part)
	hours := int(part.Total.Hours)
	if part.Complete || hours == 0 || hours >= 3*8760 || len(part.Periods) != hours {
		t.Fatalf("the part has %d hours and %d periods, complete %v", hours, len(part.Periods), part.Complete)
	}
	end := part.Total.Start.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339)
	rows := s.ask(s.admin, "GET", location+"/result?format=csv", nil).want(t, 200)
	if records, err := csv.NewReader(bytes.NewReader(rows.text)).ReadAll(); err != nil || len(records) != 1+hours {
		t.Errorf("%d hours are %d rows (%v)", hours, len(records), err)
	}
	focus := s.ask(s.admin, "GET", location+"/result?format=focus", nil).want(t, 200)
	records, err := csv.NewReader(bytes.NewReader(focus.text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sum, last := decimal.Zero, ""
	for _, record := range records[1:] {
		for _, column := range []string{"EffectiveCost", "x_RejectionPenalty"} {
			if text := record[slices.Index(records[0], column)]; text != "" {
				sum = sum.Add(decimal.RequireFromString(text))
			}
		}
		last = max(last, record[slices.Index(records[0], "ChargePeriodEnd")])
	}
	if !sum.Equal(part.Total.Cost.Total.Decimal) || last != end {
		t.Errorf("the rows end at %s and come to %s, want %s and %s", last, sum, end, part.Total.Cost.Total)
	}
	book, err := excelize.OpenReader(bytes.NewReader(s.ask(s.admin, "GET", location+"/result?format=xlsx", nil).want(t, 200).text))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	if words, err := book.GetCellValue("summary", "C2"); words != part.Explanation || !strings.Contains(words, "The work was ended before it was done") || err != nil {
		t.Errorf("the workbook says %q (%v)", words, err)
	}
}

func TestMonthsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.cluster("mine")
	horizon := func(periods string) string { return `{"problem":` + smallProblem + `,"periods":` + periods + `}` }
	purchase := func(rest string) string {
		return `{"problem":` + smallProblem + `,"periods":` + somePeriods + `,` + rest + `}`
	}
	offer := func(rest string) string { return purchase(`"offers":[{"name":"o","max":1,` + rest + `}]`) }
	hour := func(n int, rest string) string {
		return fmt.Sprintf(`{"start":"2026-03-29T%02d:00:00Z","hours":1%s}`, n, rest)
	}
	for _, c := range []struct {
		path, body, want string
		status           int
		cure             string
	}{
		{"/v1/horizons", horizon(`[]`), "/periods", 400, ""},
		{"/v1/horizons", horizon(`[` + hour(0, "") + `,` + hour(2, "") + `]`), "/periods/1/start", 422, "Begin at 2026-03-29T01:00:00Z"},                                                        // a hole
		{"/v1/horizons", horizon(`[` + hour(1, "") + `,` + hour(1, "") + `]`), "/periods/1/start", 422, "Begin at 2026-03-29T02:00:00Z"},                                                        // doubled
		{"/v1/horizons", horizon(`[{"start":"2026-03-29T01:00:00+01:00","hours":1},{"start":"2026-03-29T03:00:00+01:00","hours":1}]`), "/periods/1/start", 422, "Begin at 2026-03-29T02:00:00"}, // clocks that change
		{"/v1/horizons", horizon(`[{"start":"2026-03-29T01:00:00","hours":1}]`), "/periods/0/start", 400, ""},
		{"/v1/horizons", horizon(`[{"start":"2026-03-29T01:00:00Z"}]`), "/periods/0/hours", 400, ""},
		{"/v1/horizons", horizon(`[{"start":"2026-03-29T01:00:00Z","hours":1,"seconds":5}]`), "/periods/0/seconds", 422, ""},
		{"/v1/horizons", horizon(`[` + hour(1, `,"jobs":[1,2]`) + `]`), "/periods/0/jobs", 422, ""},
		{"/v1/horizons", horizon(`[` + hour(1, `,"jobs":[-1]`) + `]`), "/periods/0/jobs/0", 422, ""},
		{"/v1/horizons", horizon(`[` + hour(1, `,"jobs":[0.5]`) + `]`), "/periods/0/jobs/0", 422, ""},
		{"/v1/horizons", horizon(`[` + hour(1, `,"spot_price":1`) + `]`), "/periods/0/spot_price", 422, ""},
		{"/v1/horizons", horizon(`[` + hour(1, `,"prices":{"x":{"on_demand":1}}`) + `]`), "/periods/0/prices", 422, ""},
		{"/v1/horizons", horizon(`[` + hour(1, `,"on_demand_price":-1`) + `]`), "/periods/0/on_demand_price", 422, ""},
		{"/v1/horizons", horizon(`[{"start":"2026-01-01T00:00:00Z","hours":90000}]`), "/periods/0/hours", 422, ""},
		{"/v1/horizons", `{"problem":{},"periods":` + somePeriods + `}`, "/problem/currency", 400, ""},
		{"/v1/purchases", offer(`"price":1`), "/offers/0/term_years", 400, "Give 1"},
		{"/v1/purchases", offer(`"price":1,"term_years":1,"term_hours":1`), "/offers/0/term_years", 422, ""},
		{"/v1/purchases", offer(`"price":1,"term_years":0`), "/offers/0/term_years", 400, ""},
		{"/v1/purchases", offer(`"term_years":1`), "/offers/0/price", 422, ""},
		{"/v1/purchases", offer(`"price":0,"upfront":"0.00","term_years":1`), "/offers/0/price", 422, ""},
		{"/v1/purchases", offer(`"price":-1,"term_years":1`), "/offers/0/price", 422, ""},
		{"/v1/purchases", purchase(`"offers":[]`), "/offers", 400, ""},
		{"/v1/purchases", purchase(`"offers":[` + someOffer + `,` + someOffer + `]`), "/offers/1/name", 422, ""},
		{"/v1/purchases", purchase(`"offers":[` + strings.Repeat(someOffer+",", 8) + someOffer + `]`), "/offers", 422, ""},
		{"/v1/purchases", purchase(`"offers":[` + someOffer + `],"factors":[0]`), "/factors/0", 422, ""},
		{"/v1/clusters/mine/horizons", `{"until":"2026-03-01T00:00:00Z","from":"2026-03-02T00:00:00Z"}`, "/until", 422, ""},
		{"/v1/clusters/mine/horizons", `{"until":"1999-03-01T00:00:00Z"}`, "/until", 422, ""},
		{"/v1/clusters/mine/horizons", `{"from":"2026-03-01T00:00:00Z","until":"2056-03-01T00:00:00Z"}`, "/until", 422, "2036-03-01T00:00:00Z"},
		{"/v1/clusters/mine/horizons", `{"detail":"all"}`, "/detail", 422, ""},
		{"/v1/clusters/mine/purchases", `{"offers":[` + someOffer + `],"gap":-1}`, "/gap", 422, ""},
		{"/v1/clusters/mine/purchases", `{"offers":[` + someOffer + `],"vm_type":"smal"}`, "/vm_type", 422, `"small"`},
		{"/v1/clusters/mine/purchases", `{"offers":[` + someOffer + `],"leave_out":["cost"]}`, "/leave_out/0", 422, ""},
		{"/v1/clusters/mine/purchases", `{"offers":[` + someOffer + `],"named":["x"]}`, "/named", 422, ""},
	} {
		p := s.ask(s.admin, "POST", c.path, c.body).want(t, c.status).problem(t)
		if len(p.Errors) == 0 || p.Errors[0].Pointer == nil || *p.Errors[0].Pointer != c.want {
			text, _ := json.Marshal(p.Errors)
			t.Errorf("%.400s: got %s, want one about %s", c.body, text, c.want)
			continue
		}
		if h := p.Errors[0].Hint; c.cure != "" && (h == nil || !strings.Contains(h.Detail, c.cure)) {
			t.Errorf("%.400s: the cure is %+v, want %q", c.body, h, c.cure)
		}
	}
	s.ask(s.admin, "POST", "/v1/clusters/none/horizons", `{}`).want(t, 404)
	s.ask(s.admin, "POST", "/v1/clusters/none/purchases", `{}`).want(t, 404)
	s.ask(s.key("v", auth.Viewer, nil), "POST", "/v1/clusters/mine/horizons", `{}`).want(t, 403)
}

// The contract's example of a purchase is the file that people try, and works.
func TestAYearWithOffers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text, err := os.ReadFile("../../../openapi/examples/year-with-offers.json")
	if err != nil {
		t.Fatal(err)
	}
	var file any
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	example := contract(t).Paths.Value("/v1/purchases").Post.RequestBody.Value.Content["application/json"].Example
	if diff := cmp.Diff(file, example); diff != "" {
		t.Errorf("the contract's example is not the file: %s", diff)
	}
	var a horizon.PurchaseAnswer
	s.ask(s.admin, "POST", "/v1/purchases", text).want(t, 200).into(t, &a)
	if a.Status != capacity.Optimal || a.BreakEven == nil || len(a.Curves) != 3 || len(a.Horizon.Months) != 12 || a.Curves[1].Means == "" || !strings.Contains(a.Explanation, "demand must last until") {
		t.Errorf("got %+v", a)
	}
}
