package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
)

// focusRules lists FOCUS 1.2's columns in their order: level, whether a value may be missing, and the kind of value.
const focusRules = `
AvailabilityZone recommended nullable text
BilledCost mandatory never-null number
BillingAccountId mandatory never-null text
BillingAccountName mandatory nullable text
BillingAccountType conditional never-null text
BillingCurrency mandatory never-null text
BillingPeriodEnd mandatory never-null time
BillingPeriodStart mandatory never-null time
CapacityReservationId conditional nullable text
CapacityReservationStatus conditional nullable text
ChargeCategory mandatory never-null text
ChargeClass mandatory nullable text
ChargeDescription mandatory nullable text
ChargeFrequency recommended never-null text
ChargePeriodEnd mandatory never-null time
ChargePeriodStart mandatory never-null time
CommitmentDiscountCategory conditional nullable text
CommitmentDiscountId conditional nullable text
CommitmentDiscountName conditional nullable text
CommitmentDiscountQuantity conditional nullable number
CommitmentDiscountStatus conditional nullable text
CommitmentDiscountType conditional nullable text
CommitmentDiscountUnit conditional nullable text
ConsumedQuantity conditional nullable number
ConsumedUnit conditional nullable text
ContractedCost mandatory never-null number
ContractedUnitPrice conditional nullable number
EffectiveCost mandatory never-null number
InvoiceId recommended nullable text
InvoiceIssuerName mandatory never-null text
ListCost mandatory never-null number
ListUnitPrice conditional nullable number
PricingCategory conditional nullable text
PricingCurrency conditional nullable text
PricingCurrencyContractedUnitPrice conditional nullable number
PricingCurrencyEffectiveCost conditional nullable number
PricingCurrencyListUnitPrice conditional nullable number
PricingQuantity mandatory nullable number
PricingUnit mandatory nullable text
ProviderName mandatory never-null text
PublisherName mandatory never-null text
RegionId conditional nullable text
RegionName conditional nullable text
ResourceId conditional nullable text
ResourceName conditional nullable text
ResourceType conditional nullable text
ServiceCategory mandatory never-null text
ServiceName mandatory never-null text
ServiceSubcategory recommended never-null text
SkuId conditional nullable text
SkuMeter conditional nullable text
SkuPriceDetails conditional nullable object
SkuPriceId conditional nullable text
SubAccountId conditional nullable text
SubAccountName conditional nullable text
SubAccountType conditional nullable text
Tags conditional nullable object
`

// focusValues lists the allowed values of FOCUS 1.2 that a planner may need.
var focusValues = map[string][]string{
	"ChargeCategory": {"Usage", "Purchase", "Tax", "Credit", "Adjustment"}, "ChargeClass": {"", "Correction"},
	"ChargeFrequency": {"One-Time", "Recurring", "Usage-Based"}, "PricingCategory": {"", "Standard", "Dynamic", "Committed", "Other"},
	"CommitmentDiscountCategory": {"", "Spend", "Usage"}, "CommitmentDiscountStatus": {"", "Used", "Unused"},
	"CapacityReservationStatus": {"", "Used", "Unused"}, "ServiceCategory": {"Compute"}, "ServiceSubcategory": {"Virtual Machines"}, "x_IsForecast": {"true"},
}

var (
	plainNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	plainTime   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`)
)

type focusRow map[string]string

func (r focusRow) number(t rapid.TB, column string) decimal.Decimal {
	t.Helper()
	if r[column] == "" {
		return decimal.Zero
	}
	d, err := decimal.NewFromString(r[column])
	if err != nil {
		t.Fatalf("%s is %q", column, r[column])
	}
	return d
}

func (r focusRow) time(t rapid.TB, column string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, r[column])
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// focusRows reads an export without the code that wrote it, and checks every row against the rules.
func focusRows(t rapid.TB, text io.Reader) []focusRow {
	t.Helper()
	in := csv.NewReader(text)
	header, err := in.Read()
	if err != nil {
		t.Fatal(err)
	}
	rules := strings.Split(strings.TrimSpace(focusRules), "\n")
	var want []string
	for _, rule := range rules {
		want = append(want, strings.Fields(rule)[0])
	}
	own := []string{"x_PlanId", "x_Scenario", "x_JobClass", "x_IsForecast", "x_RejectionPenalty"}
	if d := cmp.Diff(append(want, own...), header); d != "" {
		t.Fatalf("columns (-want +got):\n%s", d)
	}
	var rows []focusRow
	for {
		record, err := in.Read()
		if err == io.EOF {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		row := focusRow{}
		for i, name := range header {
			row[name] = record[i]
		}
		for i, rule := range rules {
			checkFocusValue(t, row, strings.Fields(rule), record[i])
		}
		for name, allowed := range focusValues {
			if !slices.Contains(allowed, row[name]) {
				t.Fatalf("%s is %q, want one of %q", name, row[name], allowed)
			}
		}
		for _, text := range record {
			if inputs.StartsFormula(text) {
				t.Fatalf("%q begins as a formula", text)
			}
		}
		checkFocusRow(t, row)
		rows = append(rows, row)
	}
}

func checkFocusValue(t rapid.TB, row focusRow, rule []string, value string) {
	t.Helper()
	switch {
	case value == "" && rule[2] == "never-null":
		t.Fatalf("%s is null in %v", rule[0], row)
	case value == "":
	case rule[3] == "number" && !plainNumber.MatchString(value), rule[3] == "time" && !plainTime.MatchString(value):
		t.Fatalf("%s is %q, which is no %s", rule[0], value, rule[3])
	case rule[3] == "object":
		var object map[string]any
		if err := json.Unmarshal([]byte(value), &object); err != nil {
			t.Fatalf("%s is %q: %v", rule[0], value, err)
		}
	}
}

// checkFocusRow checks a row's columns against each other.
func checkFocusRow(t rapid.TB, r focusRow) {
	t.Helper()
	usage, purchase := r["ChargeCategory"] == "Usage", r["ChargeCategory"] == "Purchase"
	status, priced := r["CommitmentDiscountStatus"], usage || purchase
	committed := r["CommitmentDiscountId"] != ""
	for _, rule := range []struct {
		name string
		ok   bool
	}{
		{"what is used or bought has a price and a quantity", priced == (r["PricingQuantity"] != "") && priced == (r["PricingUnit"] != "") && priced == (r["PricingCategory"] != "") &&
			priced == (r["ListUnitPrice"] != "") && priced == (r["ContractedUnitPrice"] != "") && priced == (r["SkuId"] != "") && priced == (r["SkuPriceId"] != "")},
		{"the price times the quantity is the cost", !priced ||
			r.number(t, "ListUnitPrice").Mul(r.number(t, "PricingQuantity")).Equal(r.number(t, "ListCost")) &&
				r.number(t, "ContractedUnitPrice").Mul(r.number(t, "PricingQuantity")).Equal(r.number(t, "ContractedCost"))},
		{"what is consumed is used", (usage && status != "Unused") == (r["ConsumedQuantity"] != "") && (r["ConsumedQuantity"] != "") == (r["ConsumedUnit"] != "")},
		{"a contract has a category, a name, a type, a quantity and a unit", committed == (r["CommitmentDiscountCategory"] == "Usage") && committed == (r["CommitmentDiscountName"] != "") &&
			committed == (r["CommitmentDiscountType"] != "") && committed == (r["CommitmentDiscountQuantity"] != "") && committed == (r["CommitmentDiscountUnit"] == "Hours")},
		{"a status belongs to the use of a contract", (status != "") == (committed && usage) && (status != "") == (r["PricingCategory"] == "Committed")},
		{"a purchase has no effective cost and is not by use", !purchase || r["EffectiveCost"] == "0" && committed && r["ChargeFrequency"] != "Usage-Based"},
		{"use is charged by use", !usage || r["ChargeFrequency"] == "Usage-Based"},
		{"a penalty is no cost", (r["ChargeCategory"] == "Adjustment") == (r["x_RejectionPenalty"] != "") &&
			(priced || r["BilledCost"] == "0" && r["EffectiveCost"] == "0" && r["ListCost"] == "0" && r["ContractedCost"] == "0")},
		{"a resource has a type", (r["ResourceId"] != "") == (r["ResourceType"] != "")},
		{"an account or region with an id has a name", (r["SubAccountId"] != "") == (r["SubAccountName"] != "") && (r["SubAccountId"] != "") == (r["SubAccountType"] != "") && (r["RegionId"] != "") == (r["RegionName"] != "")},
	} {
		if !rule.ok {
			t.Fatalf("%s: not so in %v", rule.name, r)
		}
	}
	start, end, from, until := r.time(t, "ChargePeriodStart"), r.time(t, "ChargePeriodEnd"), r.time(t, "BillingPeriodStart"), r.time(t, "BillingPeriodEnd")
	if !start.Before(end) || from.Day() != 1 || !from.Truncate(24*time.Hour).Equal(from) || !until.Equal(from.AddDate(0, 1, 0)) ||
		start.Before(from) || !start.Before(until) || end.After(until) && r["ChargeFrequency"] != "One-Time" {
		t.Fatalf("charged from %v to %v in the month from %v to %v", start, end, from, until)
	}
}

// checkFocusSums adds the rows up and compares them with the answer, to the last place.
func checkFocusSums(t rapid.TB, h *horizon.Horizon, a *horizon.Answer, rows []focusRow) {
	t.Helper()
	type sums struct{ billed, effective, bought, used, unused, monthly, once, byUse decimal.Decimal }
	var all, onDemand, spot sums
	penalties := decimal.Zero
	contracts := make(map[string]*sums)
	for _, r := range rows {
		billed, effective, quantity := r.number(t, "BilledCost"), r.number(t, "EffectiveCost"), r.number(t, "CommitmentDiscountQuantity")
		all.billed, all.effective = all.billed.Add(billed), all.effective.Add(effective)
		penalties = penalties.Add(r.number(t, "x_RejectionPenalty"))
		switch {
		case r["CommitmentDiscountId"] != "":
			c := contracts[r["CommitmentDiscountId"]]
			if c == nil {
				c = new(sums)
				contracts[r["CommitmentDiscountId"]] = c
			}
			c.billed, c.effective = c.billed.Add(billed), c.effective.Add(effective)
			switch r["CommitmentDiscountStatus"] + r["ChargeFrequency"] {
			case "UsedUsage-Based":
				c.used, c.byUse = c.used.Add(quantity), c.byUse.Add(billed)
			case "UnusedUsage-Based":
				c.unused, c.byUse = c.unused.Add(quantity), c.byUse.Add(billed)
			case "Recurring":
				c.monthly, c.bought = c.monthly.Add(quantity), c.bought.Add(billed)
			case "One-Time":
				c.once, c.bought = c.once.Add(quantity), c.bought.Add(billed)
			}
		case r["PricingCategory"] == "Standard":
			onDemand.billed, onDemand.effective = onDemand.billed.Add(billed), onDemand.effective.Add(effective)
		case r["PricingCategory"] == "Dynamic":
			spot.billed, spot.effective = spot.billed.Add(billed), spot.effective.Add(effective)
		}
	}
	same := func(what string, got, want decimal.Decimal) {
		t.Helper()
		if !got.Equal(want) {
			t.Fatalf("%s: the rows add up to %s, want %s", what, got, want)
		}
	}
	cost := a.Total.Cost
	whole := cost.Bill.Decimal
	same("billed", all.billed, whole)
	same("effective", all.effective, whole)
	same("on demand, billed", onDemand.billed, cost.OnDemand.Decimal)
	same("on demand, effective", onDemand.effective, cost.OnDemand.Decimal)
	same("spot", spot.effective, cost.Spot.Decimal)
	same("penalties", penalties, cost.Penalties.Decimal)
	billing := make(map[string]capacity.Billing)
	for _, v := range h.Problem.Supply.Types() {
		for _, c := range v.Contracts {
			billing[c.Name] = c.Billing
		}
	}
	for _, c := range h.Contracts {
		billing[c.Name] = c.Billing
	}
	for _, c := range a.Contracts {
		got := contracts[inputs.GuardFormula(c.Name)]
		if got == nil {
			got = new(sums)
		}
		same(c.Name+", effective", got.effective, decimal.Sum(c.Reserved.Decimal, c.ReservedIdle.Decimal, c.Upfront.Decimal))
		if billing[c.Name] == capacity.BilledAlways {
			same(c.Name+", purchases", got.bought, got.effective)
			same(c.Name+", used and unused", got.used.Add(got.unused), got.monthly)
			same(c.Name+", billed by use", got.byUse, decimal.Zero)
		} else {
			same(c.Name+", purchases", got.bought, c.Upfront.Decimal)
			same(c.Name+", purchases and use", got.billed, got.effective)
		}
		if !c.Upfront.IsZero() {
			same(c.Name+", used and unused of what was bought", got.used.Add(got.unused), got.once)
		}
		if used, unused := got.used.InexactFloat64(), got.unused.InexactFloat64(); math.Abs(used-c.UsedHours)+math.Abs(unused-c.IdleHours) > 1e-5+1e-12*(used+unused) {
			t.Fatalf("%s: %g VM-hours used and %g unused, want %g and %g", c.Name, used, unused, c.UsedHours, c.IdleHours)
		}
	}
}

var hostileNames = []string{"=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "＝1", "\u202egnp.exe", "夜間バッチ", "🧮 etl", `a "quoted", name`, strings.Repeat("x", 200), "plain", "'=1", " padded "}

// drawHorizon draws a few periods of a small problem, with contracts that begin and end at any second.
func drawHorizon(t *rapid.T) horizon.Horizon {
	cents := func(most int, what string) money.Amount {
		return amountIn(int64(rapid.IntRange(0, most).Draw(t, what)))
	}
	names := rapid.Permutation(hostileNames).Draw(t, "names")
	name := func() string {
		first := names[0]
		names = names[1:]
		return first
	}
	billing := rapid.SampledFrom([]capacity.Billing{capacity.BilledUsed, capacity.BilledAlways})
	contract := func() capacity.Contract {
		return capacity.Contract{Name: name(), VMs: rapid.Int64Range(0, 6).Draw(t, "vms"), Price: cents(30, "price"), Billing: billing.Draw(t, "billing")}
	}
	p := capacity.Problem{Currency: "USD", PeriodSeconds: rapid.SampledFrom([]int64{3600, 1800, 86400}).Draw(t, "period"), Options: capacity.DefaultOptions()}
	p.Options.Integrality, p.Options.Engine = rapid.SampledFrom([]capacity.Integrality{capacity.Integer, capacity.Relaxed}).Draw(t, "integrality"), capacity.EngineExact
	p.Supply.OnDemand.Price = money.Amount{Decimal: decimal.New(rapid.Int64Range(1, 99999).Draw(t, "on demand"), -rapid.Int32Range(2, 9).Draw(t, "places"))}
	for range rapid.IntRange(0, 2).Draw(t, "own contracts") {
		p.Supply.Contracts = append(p.Supply.Contracts, contract())
	}
	typed := rapid.IntRange(0, 4).Draw(t, "types") == 0
	if typed || rapid.IntRange(0, 3).Draw(t, "spot") == 0 {
		p.Supply.Spot = &capacity.Spot{Price: cents(10, "spot price"), MaxShare: 0.5}
	}
	if typed {
		small := capacity.VMTypeSupply{Name: "=small", OnDemand: capacity.OnDemand{Price: cents(30, "small")}}
		p.Supply = capacity.Supply{VMTypes: []capacity.VMTypeSupply{{Name: "large", Contracts: p.Supply.Contracts, OnDemand: p.Supply.OnDemand, Spot: p.Supply.Spot}, small}}
	}
	for range rapid.IntRange(1, 4).Draw(t, "classes") {
		each := decimal.New(rapid.Int64Range(1, 300).Draw(t, "per job"), -2)
		p.Classes = append(p.Classes, capacity.Class{Name: name(), VMsPerJob: &each, Penalty: cents(100, "penalty"), Jobs: capacity.JobRange{Max: float64(rapid.IntRange(0, 8).Draw(t, "jobs"))}})
	}
	h := horizon.Horizon{Problem: p}
	at := time.Date(2026, 1, 30, 20, 0, rapid.SampledFrom([]int{0, 0, 7}).Draw(t, "second"), 0, time.FixedZone("", 3600))
	for range rapid.IntRange(1, 5).Draw(t, "periods") {
		period := horizon.HorizonPeriod{Start: at, Hours: rapid.SampledFrom([]int64{1, 1, 2, 24, 60}).Draw(t, "hours")}
		for range p.Classes {
			period.Jobs = append(period.Jobs, float64(rapid.IntRange(0, 8).Draw(t, "jobs")))
		}
		if !typed && rapid.IntRange(0, 3).Draw(t, "own price") == 0 {
			price := cents(30, "price")
			period.OnDemandPrice = &price
		}
		h.Periods = append(h.Periods, period)
		at = period.End()
	}
	seconds := rapid.SampledFrom([]int64{3600, 3600, 60, 1})
	for range rapid.IntRange(0, 3).Draw(t, "terms") {
		step, most := seconds.Draw(t, "step"), (h.End().Unix()-h.Start().Unix())/3600
		from := h.Start().Add(time.Duration(rapid.Int64Range(-most, most).Draw(t, "from")*3600+step) * time.Second)
		c := horizon.TermContract{Contract: contract(), From: from, Until: from.Add(time.Duration(rapid.Int64Range(1, 2*most+1).Draw(t, "lasts")*step) * time.Second), Upfront: cents(100000, "upfront")}
		if typed {
			c.VMType = "large"
		}
		h.Contracts = append(h.Contracts, c)
	}
	return h
}

// TestFocusRowsCloseWithTheAnswer exports random horizons and adds them up.
func TestFocusRowsCloseWithTheAnswer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHorizon(rt)
		if err := h.Validate(); err != nil {
			rt.Fatal(err)
		}
		a, err := horizon.Plan(t.Context(), h, nil, 1, nil)
		if err != nil {
			rt.Fatal(err)
		}
		names := FocusNames{}
		if rapid.Bool().Draw(rt, "named") {
			names = FocusNames{BillingAccountID: "=1", BillingAccountName: "+x", Provider: "@y", RegionID: "-eu", SubAccountID: "＝z", PlanID: "\t4", Scenario: "=s\n", Tags: map[string]string{"=a": "\"", "b": "\u202e"}}
		}
		var b bytes.Buffer
		if err := Focus(&b, h, a, names); err != nil {
			rt.Fatal(err)
		}
		rows := focusRows(rt, &b)
		checkFocusSums(rt, &h, &a, rows)
		checkFocusClasses(rt, &h, &a, rows)
	})
}

// The largest contract and prices of nine places for a few days of odd seconds lose nothing.
func TestFocusOfTheLargestNumbers(t *testing.T) {
	q := twoMonths(t)
	each := decimal.NewFromInt(333)
	q.Problem.Supply.OnDemand = capacity.OnDemand{Price: money.Amount{Decimal: decimal.RequireFromString("999999.999999999")}}
	q.Problem.Classes = append(q.Problem.Classes, capacity.Class{Name: "large", VMsPerJob: &each, Penalty: amountIn(1_000_000_000_00), Jobs: capacity.JobRange{Max: 1_000_000}})
	q.Periods = []horizon.HorizonPeriod{{Start: q.Start(), Hours: 70, Jobs: []float64{7, 1_000_000}}}
	huge := horizon.TermContract{Contract: capacity.Contract{Name: "huge", VMs: capacity.MaxVMs, Price: money.Amount{Decimal: decimal.RequireFromString("99.123456789")}, Billing: capacity.BilledAlways},
		Upfront: money.Amount{Decimal: decimal.RequireFromString("987654321.123456789")}, From: q.Start().Add(7 * time.Second), Until: q.Start().Add(69*time.Hour + 11*time.Second)}
	q.Contracts = append(q.Contracts, huge)
	if err := q.Horizon.Validate(); err != nil {
		t.Fatal(err)
	}
	a := plannedHorizon(t, q.Horizon)
	var b bytes.Buffer
	if err := Focus(&b, q.Horizon, a, FocusNames{}); err != nil {
		t.Fatal(err)
	}
	checkFocusSums(t, &q.Horizon, &a, focusRows(t, &b))
}

// checkFocusClasses compares the part of each class with its share of the used VMs.
func checkFocusClasses(t rapid.TB, h *horizon.Horizon, a *horizon.Answer, rows []focusRow) {
	t.Helper()
	got, want := make(map[string]float64), make(map[string]float64)
	for _, r := range rows {
		if q := r.number(t, "ConsumedQuantity"); r["x_JobClass"] != "" {
			got[r["x_JobClass"]] += q.InexactFloat64()
		} else if !q.IsZero() {
			t.Fatalf("VMs that are used have no class in %v", r)
		}
	}
	for i := range a.Periods {
		p := &a.Periods[i]
		shares := a.Situations[p.Situation]
		for v := range h.Problem.Supply.Types() {
			sum, used := 0.0, p.VMs.Total
			for _, c := range shares.Classes {
				sum += c.VMs[v]
			}
			if len(shares.Types) > 0 {
				used = shares.Types[v].Total
			}
			for k, c := range shares.Classes {
				if sum > 0 {
					want[inputs.GuardFormula(h.Problem.Classes[k].Name)] += used * c.VMs[v] / sum * p.Hours
				}
			}
		}
	}
	for name, hours := range want {
		if math.Abs(got[name]-hours) > 1e-5*(1+hours) {
			t.Fatalf("class %q has %g VM-hours, want %g", name, got[name], hours)
		}
	}
}
