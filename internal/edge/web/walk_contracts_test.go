package web_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// spanCost holds the cost of some time, in decimals.
type spanCost struct {
	Total, Bill, Reserved, Penalties string
	ReservedIdle                     string `json:"reserved_idle"`
	OnDemand                         string `json:"on_demand"`
}

// horizonAnswer holds the part of the months ahead that the walk reads.
type horizonAnswer struct {
	Total struct {
		Hours float64
		Cost  spanCost
	}
	Months []struct {
		Start string
		Cost  spanCost
	}
	Contracts []struct {
		Name         string
		Hours        float64
		Utilisation  *float64
		ReservedIdle string `json:"reserved_idle"`
	}
	Periods []struct {
		Start string
		Cost  spanCost
	}
}

// month is the number of hours of a month.
var month = big.NewRat(730, 1)

// amountOf returns an amount times a factor in the form of the page's headline: from a thousand on without cents,
// except on request.
func amountOf(t *testing.T, amount string, factor *big.Rat, cents bool) string {
	t.Helper()
	x, ok := new(big.Rat).SetString(amount)
	if !ok {
		t.Fatalf("%q is no decimal", amount)
	}
	x.Mul(x, factor)
	digits := 2
	if !cents && x.Cmp(big.NewRat(1000, 1)) >= 0 {
		digits = 0
	}
	whole, part, _ := strings.Cut(x.FloatString(digits), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if part != "" {
		return "$" + whole + "." + part
	}
	return "$" + whole
}

// months creates a cluster with two contracts and a forecast, so that VMs are idle in some hours and missing in
// others.
func (s *server) months(t *testing.T, name string) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Hour)
	at := func(days int) string { return now.AddDate(0, 0, days).Format(time.RFC3339) }
	doc := map[string]any{
		"cluster":  map[string]any{"name": name, "currency": "USD"},
		"vm_types": []any{map[string]any{"name": "m", "in_use": true}},
		"prices":   []any{map[string]any{"vm_type": "m", "price": "0.384", "from": "2026-01-01T00:00:00Z"}},
		"contracts": []any{
			map[string]any{"name": "one-year", "vm_type": "m", "vms": 10, "price": "0.242", "billing": "used", "from": at(-324), "until": at(41)},
			map[string]any{"name": "three-year", "vm_type": "m", "vms": 14, "price": "0.157", "billing": "always", "from": at(-100), "until": at(900)},
		},
		"profiles": []any{map[string]any{"name": "etl", "version": 1, "profile": map[string]any{"map_tasks": 300, "reduce_tasks": 40, "map_avg_s": 30, "map_max_s": 60, "first_shuffle_avg_s": 12, "first_shuffle_max_s": 20, "shuffle_avg_s": 40, "shuffle_max_s": 90, "reduce_avg_s": 20, "reduce_max_s": 50, "overhead_s": 11}}},
		"classes":  []any{map[string]any{"name": "etl", "profile": map[string]any{"name": "etl", "version": 1}, "deadline_s": 2700, "slots_per_vm": map[string]any{"map": 4, "reduce": 4}, "jobs": map[string]any{"min": 1, "max": 12}, "penalty": "6.00"}},
	}
	body, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	s.text(t, http.MethodPut, "/v1/clusters/"+name+"/document", string(body), "If-None-Match", "*")
	s.send(t, http.MethodPost, "/v1/clusters/"+name+"/forecasts/weekly", rawJSON(fmt.Sprintf(`{"class":"etl","from":%q,"until":%q,"week":"mon-fri 8-18: 14; else 4","growth_per_year":0.2}`, at(0), at(200))), nil)
	// Now all contracts are in use, on any day.
	s.send(t, http.MethodPut, "/v1/clusters/"+name+"/forecasts", rawJSON(fmt.Sprintf(`{"rows":[{"class":"etl","hour":%q,"jobs":30},{"class":"etl","hour":%q,"jobs":30}]}`, at(0), now.Add(time.Hour).Format(time.RFC3339))), nil)
}

// walkMonthsUnderAScenario chooses a scenario, and reads both bills and their difference in the sentence, the table and the file.
func walkMonthsUnderAScenario(t *testing.T, s *server, ctx context.Context, name string) {
	t.Helper()
	const scenario = "twice as many jobs, as in the week before the holidays"
	s.send(t, http.MethodPost, "/v1/clusters/"+name+"/scenarios", rawJSON(`{"name":"`+scenario+`","changes":[{"what":"demand","factor":2}]}`), nil)
	s.open(t, ctx, "/c/"+name+"/commitments?tab=months")
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("From ")`)
	choice := `[...document.querySelectorAll("select")].find((s) => [...s.options].some((o) => o.value.startsWith("twice")))`
	until(t, ctx, choice)
	value[bool](t, ctx, `((e) => { e.value = "`+scenario+`"; e.dispatchEvent(new Event("change", {bubbles: true})); return true; })(`+choice+`)`)
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("With the scenario ")`)
	var h struct {
		horizonAnswer
		AsItIs horizonAnswer `json:"as_it_is"`
	}
	s.send(t, http.MethodPost, "/v1/clusters/"+name+"/horizons", rawJSON(`{"detail":"summary","scenario":{"saved":"`+scenario+`"}}`), &h)
	cents := func(x *big.Rat) string { return amountOf(t, x.FloatString(12), big.NewRat(1, 1), false) }
	with, was := amount(t, h.Total.Cost.Bill), amount(t, h.AsItIs.Total.Cost.Bill)
	by := new(big.Rat).Sub(with, was)
	if want, got := fmt.Sprintf(" is %s, %s more than as it is (%s)", cents(with), cents(by), cents(was)), value[string](t, ctx, `document.querySelector("h1").textContent`); by.Sign() <= 0 || !strings.Contains(got, scenario) || !strings.Contains(got, want) {
		t.Errorf("the page leads with %q, want %q", got, want)
	}
	until(t, ctx, `document.querySelectorAll(".axes .dot.open").length > 1`)
	value[bool](t, ctx, saved)
	press(t, ctx, "Export ▾")
	press(t, ctx, "CSV of months")
	until(t, ctx, `window.saved !== ""`)
	rows, err := csv.NewReader(strings.NewReader(value[string](t, ctx, `window.saved`))).ReadAll()
	if err != nil || len(rows) != len(h.Months)+1 {
		t.Fatalf("the file has %q, %v", rows, err)
	}
	sum := new(big.Rat)
	for _, row := range rows[1:] {
		sum.Add(sum, amount(t, row[slices.Index(rows[0], "bill_difference_USD")]))
	}
	if sum.Cmp(by) != 0 {
		t.Errorf("the months of the file differ by %s, want %s", sum.FloatString(9), by.FloatString(9))
	}
	calm(t, ctx, "contracts-months-scenario")
	looks(t, ctx, "contracts-months-scenario")
}

// walkContracts reads the contracts, the cost of the months ahead and the recommended purchases. It compares every
// figure with the service's.
func walkContracts(t *testing.T, s *server, browser context.Context) {
	const name = "with-contracts"
	if rest := time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)); rest < time.Minute {
		<-time.After(rest) // answers and files are of the same hours
	}
	s.months(t, name)
	ctx := s.tab(t, browser)
	// Have.
	var w struct {
		Base      struct{ Cost monthly }
		Scenarios []struct{ Cost monthly }
	}
	s.open(t, ctx, "/c/"+name+"/contracts")
	until(t, ctx, `document.querySelector("h1").textContent.includes("Without it")`)
	s.send(t, http.MethodPost, "/v1/clusters/"+name+"/what-if", rawJSON(`{"scenarios":[{"changes":[{"what":"drop_contract","contract":"one-year"}]}]}`), &w)
	more := new(big.Rat).Sub(w.Scenarios[0].Cost.bill(t), w.Base.Cost.bill(t))
	want := fmt.Sprintf("one-year ends in 40 days. Without it the bill rises by %s a month.", amountOf(t, more.FloatString(12), month, false))
	if got := value[string](t, ctx, `document.querySelector("h1").textContent`); got != want && got != strings.Replace(want, "40 days", "41 days", 1) {
		t.Errorf("the page leads with %q, want %q", got, want)
	}
	var h horizonAnswer
	s.send(t, http.MethodPost, "/v1/clusters/"+name+"/horizons", rawJSON(`{"detail":"summary"}`), &h)
	until(t, ctx, `[...document.querySelectorAll("main figure .axes svg")].length === 2`)
	for i, c := range h.Contracts {
		idle := amountOf(t, c.ReservedIdle, new(big.Rat).Quo(month, new(big.Rat).SetFloat64(c.Hours)), true)
		row := fmt.Sprintf(`[...document.querySelectorAll("table.data tbody tr:nth-child(%d) td")].map((c) => c.lastChild.textContent)`, i+1)
		if got := value[[]string](t, ctx, row); got[0] != c.Name || got[7] != idle {
			t.Errorf("the contract %q is shown as %q, want %s idle a month", c.Name, got, idle)
		}
	}
	if *h.Contracts[1].Utilisation >= 1 {
		t.Error("no VM of the contract is idle: the walk proves nothing")
	}
	calm(t, ctx, "contracts")
	looks(t, ctx, "contracts")

	// Months.
	do(t, ctx, chromedp.Focus(chromedp.CSS(`[role="tab"][aria-selected="true"]`)), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft)) // from the first to the last but one
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("From ")`)
	if got := value[string](t, ctx, `document.querySelector("h1").textContent`); !strings.Contains(got, "the VM bill") || !strings.Contains(got, " is "+amountOf(t, h.Total.Cost.Bill, big.NewRat(1, 1), false)) {
		t.Errorf("the months are said to be %q, the service says %s", got, h.Total.Cost.Bill)
	}
	until(t, ctx, `document.querySelector(".axes path.line")`)
	do(t, ctx, chromedp.Focus(chromedp.CSS(".plot")), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.Enter))
	second := h.Months[1]
	until(t, ctx, fmt.Sprintf(`document.querySelector(".readout").textContent.includes("%s · reserved %s · reserved but idle %s")`,
		amountOf(t, second.Cost.Bill, big.NewRat(1, 1), true), amountOf(t, second.Cost.Reserved, big.NewRat(1, 1), true), amountOf(t, second.Cost.ReservedIdle, big.NewRat(1, 1), true)))
	until(t, ctx, `document.querySelector("#month") && document.querySelector("table.data tbody tr")`)
	start, err := time.Parse(time.RFC3339, second.Start)
	if err != nil {
		t.Fatal(err)
	}
	var of horizonAnswer
	s.send(t, http.MethodPost, "/v1/clusters/"+name+"/horizons", rawJSON(fmt.Sprintf(`{"from":%q,"until":%q,"detail":"periods"}`, second.Start, start.AddDate(0, 1, 0).Format(time.RFC3339))), &of)
	if of.Total.Cost.Total != second.Cost.Total {
		t.Errorf("the hours of the month cost %s, the month %s", of.Total.Cost.Total, second.Cost.Total)
	}
	value[bool](t, ctx, saved)
	press(t, ctx, "CSV")
	until(t, ctx, `window.saved !== ""`)
	sum, rows := new(big.Rat), strings.Split(strings.TrimSpace(value[string](t, ctx, `window.saved`)), "\n")
	for _, row := range rows[1:] {
		x, ok := new(big.Rat).SetString(strings.Split(row, ",")[7])
		if !ok {
			t.Fatalf("the row %q has no bill", row)
		}
		sum.Add(sum, x)
	}
	if total, _ := new(big.Rat).SetString(second.Cost.Bill); len(rows) != len(of.Periods)+1 || sum.Cmp(total) != 0 {
		t.Errorf("%d rows of hours come to %s, the service has %d and %s", len(rows)-1, sum.FloatString(9), len(of.Periods), second.Cost.Bill)
	}
	// The files of Export come to the months: a row each month, and the rows of FOCUS, of which each is a charge.
	export := func(text string) [][]string {
		t.Helper()
		value[bool](t, ctx, saved)
		press(t, ctx, "Export ▾")
		press(t, ctx, text)
		until(t, ctx, `window.saved !== ""`)
		rows, err := csv.NewReader(strings.NewReader(value[string](t, ctx, `window.saved`))).ReadAll()
		if err != nil {
			t.Fatalf("%s is no table: %v", text, err)
		}
		return rows
	}
	comesTo := func(rows [][]string, column string) *big.Rat {
		t.Helper()
		i, sum := slices.Index(rows[0], column), new(big.Rat)
		if i < 0 {
			t.Fatalf("there is no column %s in %q", column, rows[0])
		}
		for _, row := range rows[1:] {
			sum.Add(sum, amount(t, row[i]))
		}
		return sum
	}
	whole := amount(t, h.Total.Cost.Bill)
	if rows := export("CSV of months"); len(rows) != len(h.Months)+1 || comesTo(rows, "bill_USD").Cmp(whole) != 0 {
		t.Errorf("%d months come to %s in the file, want %s", len(rows)-1, comesTo(rows, "bill_USD").FloatString(9), h.Total.Cost.Bill)
	}
	if rows := export("CSV of hours"); comesTo(rows, "bill_USD").Cmp(whole) != 0 {
		t.Errorf("%d rows of hours come to %s in the file, want %s", len(rows)-1, comesTo(rows, "bill_USD").FloatString(9), h.Total.Cost.Bill)
	}
	if rows := export("FOCUS"); comesTo(rows, "BilledCost").Cmp(whole) != 0 {
		t.Errorf("%d charges come to %s, want %s", len(rows)-1, comesTo(rows, "BilledCost").FloatString(9), h.Total.Cost.Bill)
	}
	calm(t, ctx, "contracts-months")
	looks(t, ctx, "contracts-months")

	walkMonthsUnderAScenario(t, s, ctx, name)

	// Buy: nothing to weigh, an offer, the answer.
	press(t, ctx, "Buy")
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("There is nothing to weigh yet.")`)
	for field, text := range map[string]string{"name": "one more year", "price": "0.05", "upfront": "100", "max": "60"} {
		value[bool](t, ctx, fmt.Sprintf(`((e) => { e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); return true; })(document.querySelector("#field-%s"))`, text, field))
	}
	press(t, ctx, "Add an offer")
	until(t, ctx, `document.querySelector("h1").textContent.startsWith("Buy ") && document.querySelector(".figures")`)
	var p struct {
		BillSaving struct{ Amount string } `json:"bill_saving"`
		Offers     []struct{ VMs int }
		Horizon    horizonAnswer
	}
	s.send(t, http.MethodPost, "/v1/clusters/"+name+"/purchases", rawJSON(`{}`), &p)
	falls := amountOf(t, p.BillSaving.Amount, new(big.Rat).Quo(month, new(big.Rat).SetFloat64(p.Horizon.Total.Hours)), false)
	if got, want := value[string](t, ctx, `document.querySelector("h1").textContent`), fmt.Sprintf("Buy %d VMs of \"one more year\". The VM bill falls by %s a month (", p.Offers[0].VMs, falls); !strings.HasPrefix(got, want) || p.Offers[0].VMs == 0 {
		t.Errorf("the answer is %q, want %q", got, want)
	}
	if got := value[string](t, ctx, `document.querySelector(".figures .value").textContent`); got != falls {
		t.Errorf("the bill falls by %q, want %q", got, falls)
	}
	until(t, ctx, `document.querySelector(".axes path.line")`)
	if rows := export("CSV"); len(rows) < 2 {
		t.Errorf("the purchase is the table %q", rows)
	}
	if rows := export("FOCUS"); !slices.Contains(rows[0], "BilledCost") || len(rows) < 2 {
		t.Errorf("the purchase has %d charges of %q", len(rows)-1, rows[0])
	}
	calm(t, ctx, "contracts-buy")
	looks(t, ctx, "contracts-buy")

	// Between two dates: the months of the address, and the answer is about them.
	begin := time.Date(start.Year(), start.Month(), 1, 0, 0, 0, 0, time.UTC)
	span := fmt.Sprintf("from=%s&until=%s", begin.Format(time.DateOnly), begin.AddDate(0, 1, 0).Format(time.DateOnly))
	s.open(t, ctx, "/c/"+name+"/contracts?tab=months&horizon=dates&"+span)
	until(t, ctx, fmt.Sprintf(`document.querySelector("h1").textContent.includes(%q) && document.querySelector("input[type=date]").value === %q`, amountOf(t, second.Cost.Bill, big.NewRat(1, 1), false), begin.Format(time.DateOnly)))
	calm(t, ctx, "contracts-dates")
	looks(t, ctx, "contracts-dates")

	// A viewer's page says that it may only read.
	var key struct{ Token string }
	s.send(t, http.MethodPost, "/v1/keys", rawJSON(`{"name":"reader of contracts","role":"viewer"}`), &key)
	reader := &server{address: s.address, key: key.Token}
	ctx = s.tab(t, browser)
	reader.open(t, ctx, "/c/"+name+"/contracts?tab=months")
	until(t, ctx, fmt.Sprintf(`document.querySelector(".banner.error")?.textContent === "Your key may read %s but not change it. Ask an administrator for the role planner."`, name))
	reader.open(t, ctx, "/c/"+name+"/contracts")
	until(t, ctx, `/^one-year ends in 4[01] days\.$/.test(document.querySelector("h1").textContent)`)
}

// monthly holds the cost of an hour.
type monthly struct{ Total, Penalties string }

// bill returns the part for VMs.
func (m monthly) bill(t *testing.T) *big.Rat {
	t.Helper()
	total, ok := new(big.Rat).SetString(m.Total)
	penalties, also := new(big.Rat).SetString(m.Penalties)
	if !ok || !also {
		t.Fatalf("no decimals: %+v", m)
	}
	return total.Sub(total, penalties)
}
