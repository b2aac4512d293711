package horizon

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

const questionText = `{
 "problem": {"currency": "USD", "period_s": 3600, "supply": {"on_demand": {"price": "0.20", "quota": null}},
  "classes": [{"name": "etl", "vms_per_job": "1.5", "jobs": {"min": 1, "max": 10}, "penalty": "5.00"}],
  "options": {"integrality": "integer", "bound": "average", "engine": "exact", "gap": 1e-6, "max_solve_ms": 2000, "one_slot_per_job": true, "sharing": "shared"}},
 "contracts": [{"name": "2026", "vms": 3, "price": "0.10", "billing": "used", "upfront": "1200.00", "from": "2026-01-01T00:00:00Z", "until": "2027-01-01T00:00:00Z"}],
 "periods": [{"start": "2026-01-01T00:00:00Z", "hours": 1, "jobs": [4]}, {"start": "2026-01-01T01:00:00Z", "hours": 23, "on_demand_price": "0.25"}],
 "offers": [{"name": "year", "price": "0.04", "upfront": "400.00", "term_years": 1, "billing": "always", "max": 200}],
 "factors": [0.7, 1.3]
}`

func question(t *testing.T) PurchaseQuestion {
	t.Helper()
	var q PurchaseQuestion
	if err := json.Unmarshal([]byte(questionText), &q); err != nil {
		t.Fatal(err)
	}
	return q
}

// A documented question is read, and comes back unchanged when it is written.
func TestPurchaseQuestionIsWrittenAsItIsRead(t *testing.T) {
	q := question(t)
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	if q.Contracts[0].VMs != 3 || q.Contracts[0].Upfront.String() != "1200.00" || q.Periods[1].OnDemandPrice.String() != "0.25" || q.Offers[0].TermYears != 1 {
		t.Errorf("got %+v", q)
	}
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var again PurchaseQuestion
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(q, again, cmpopts.IgnoreUnexported(Horizon{}, HorizonPeriod{}, PurchaseQuestion{})); d != "" {
		t.Errorf("it changed (-before +after):\n%s", d)
	}
}

func TestQuestionsThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		name, pointer, code string
		spoil               func(q *PurchaseQuestion)
	}{
		{"no period", "/periods", "missing", func(q *PurchaseQuestion) { q.Periods = nil }},
		{"a gap", "/periods/1/start", "range", func(q *PurchaseQuestion) { q.Periods[1].Start = q.Periods[1].Start.Add(time.Hour) }},
		{"an overlap", "/periods/1/start", "range", func(q *PurchaseQuestion) { q.Periods[0].Hours = 2 }},
		{"no hours", "/periods/1/hours", "range", func(q *PurchaseQuestion) { q.Periods[1].Hours = 0 }},
		{"too many hours", "/periods/1/hours", "range", func(q *PurchaseQuestion) { q.Periods[1].Hours = math.MaxInt64 }},
		{"no start", "/periods/0/start", "missing", func(q *PurchaseQuestion) { q.Periods = q.Periods[:1]; q.Periods[0].Start = time.Time{} }},
		{"half a second", "/contracts/0/from", "range", func(q *PurchaseQuestion) { q.Contracts[0].From = q.Contracts[0].From.Add(time.Second / 2) }},
		{"jobs of other classes", "/periods/0/jobs", "range", func(q *PurchaseQuestion) { q.Periods[0].Jobs = []float64{1, 2} }},
		{"half a job", "/periods/0/jobs/0", "not_whole", func(q *PurchaseQuestion) { q.Periods[0].Jobs[0] = 1.5 }},
		{"no number of jobs", "/periods/0/jobs/0", "not_finite", func(q *PurchaseQuestion) { q.Periods[0].Jobs[0] = math.NaN() }},
		{"negative jobs", "/periods/0/jobs/0", "range", func(q *PurchaseQuestion) { q.Periods[0].Jobs[0] = -1 }},
		{"a negative price", "/periods/1/on_demand_price", "range", func(q *PurchaseQuestion) { q.Periods[1].OnDemandPrice = &money.Amount{Decimal: decimal.New(-1, 0)} }},
		{"a contract that ends first", "/contracts/0/until", "order", func(q *PurchaseQuestion) { q.Contracts[0].Until = q.Contracts[0].From.Add(-time.Hour) }},
		{"a contract of no type", "/contracts/0/vm_type", "unknown_name", func(q *PurchaseQuestion) { q.Contracts[0].VMType = "large" }},
		{"two of a name", "/offers/0/name", "duplicate_name", func(q *PurchaseQuestion) { q.Offers[0].Name = "2026" }},
		{"no offer", "/offers", "missing", func(q *PurchaseQuestion) { q.Offers = nil }},
		{"too many offers", "/offers", "too_many", func(q *PurchaseQuestion) { q.Offers = make([]capacity.Offer, MaxOffers+1) }},
		{"no term", "/offers/0/term_years", "missing", func(q *PurchaseQuestion) { q.Offers[0].TermYears = 0 }},
		{"two terms", "/offers/0/term_years", "one_of", func(q *PurchaseQuestion) { q.Offers[0].TermHours = 1 }},
		{"a century", "/offers/0/term_years", "range", func(q *PurchaseQuestion) { q.Offers[0].TermYears = 100 }},
		{"a negative number", "/offers/0/max", "range", func(q *PurchaseQuestion) { q.Offers[0].Max = -1 }},
		{"unknown billing", "/offers/0/billing", "choice", func(q *PurchaseQuestion) { q.Offers[0].Billing = "never" }},
		{"a budget", "/problem/budget", "not_taken", func(q *PurchaseQuestion) { q.Problem.Budget = &capacity.Budget{} }},
		{"spot VMs", "/problem/supply", "not_taken", func(q *PurchaseQuestion) { q.Problem.Supply.Spot = &capacity.Spot{} }},
		{"no demand at all", "/factors/0", "range", func(q *PurchaseQuestion) { q.Factors[0] = 0 }},
		{"too many factors", "/factors", "too_many", func(q *PurchaseQuestion) { q.Factors = make([]float64, MaxFactors+1) }},
		{"an invalid problem", "/problem/currency", "text", func(q *PurchaseQuestion) { q.Problem.Currency = "dollars" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := question(t)
			c.spoil(&q)
			err := q.Validate()
			var input *fault.InputError
			if !errors.As(err, &input) {
				t.Fatalf("got %v, want an input error", err)
			}
			if f := input.Findings[0]; !strings.HasPrefix(f.Pointer, c.pointer) || f.Code != c.code {
				t.Errorf("got %s at %s: %s; want %s at %s", f.Code, f.Pointer, f.Detail, c.code, c.pointer)
			}
		})
	}
}

// Scaled rounds up, keeps promises within the demand, and leaves the horizon it is made from alone.
func TestScaledHorizon(t *testing.T) {
	q := question(t)
	q.Problem.Classes[0].Jobs.Min = 3
	q.Periods[1].Jobs = q.Periods[0].Jobs
	small := q.Scaled(0.3)
	if got := small.Periods[0].Jobs[0]; got != 2 || &small.Periods[0].Jobs[0] != &small.Periods[1].Jobs[0] || q.Periods[0].Jobs[0] != 4 {
		t.Errorf("0.3 times 4 jobs: got %g and %g, want 2 and one slice", got, small.Periods[1].Jobs[0])
	}
	if got := q.Scaled(0.3).Problem.Classes[0].Jobs; got != (capacity.JobRange{Min: 3, Max: 3}) {
		t.Errorf("0.3 times 3 to 10 jobs: got %+v", got)
	}
	q.Periods = append(q.Periods, HorizonPeriod{Start: q.End(), Hours: 1})
	if got := q.Scaled(0.2); got.JobsIn(len(q.Periods)-1, 0) != (capacity.JobRange{Min: 2, Max: 2}) {
		t.Errorf("in a period without jobs: got %+v, want 2 to 2", got.JobsIn(len(q.Periods)-1, 0))
	}
	if got := small.JobsIn(0, 0); got != (capacity.JobRange{Min: 2, Max: 2}) {
		t.Errorf("in a period: got %+v, want 2 to 2", got)
	}
	q.Problem.Classes[0].Jobs.Max = 3 // the class's own demand, which no period with jobs has
	small = q.Scaled(0.6)
	if got := small.JobsIn(0, 0); got != (capacity.JobRange{Min: 3, Max: 3}) {
		t.Errorf("3 promised jobs, 0.6 times 4: got %+v, want 3 to 3", got)
	}
	q.Problem.Options.Integrality = capacity.Relaxed
	if got := q.Scaled(0.3).Periods[0].Jobs[0]; got != 1.2 {
		t.Errorf("relaxed: got %g, want 1.2", got)
	}
}

// Terms of years are the calendar's.
func TestOfferTerm(t *testing.T) {
	start := time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		offer capacity.Offer
		hours float64
	}{{capacity.Offer{TermYears: 1}, 366 * 24}, {capacity.Offer{TermYears: 3}, 1096 * 24}, {capacity.Offer{TermHours: 8760}, 8760}} {
		if from, until := c.offer.Term(start); until.Sub(from).Hours() != c.hours {
			t.Errorf("%+v from %v: got %v, want %g hours", c.offer, start, until.Sub(from), c.hours)
		}
	}
	from := start.Add(time.Hour)
	if got, _ := (capacity.Offer{TermYears: 1, From: &from}).Term(start); !got.Equal(from) {
		t.Errorf("got %v, want %v", got, from)
	}
}

// Periods that cannot be read leave nothing to extend by an assumption; reading them once crashed.
func TestAnAssumptionAboutUnreadablePeriodsIsRefused(t *testing.T) {
	_, err := ReadPurchase([]byte(`{"problem": {"currency": "USD", "supply": {"on_demand": {"price": "0.2"}}, "classes": [{"name": "a", "vms_per_job": 1, "jobs": {"min": 0, "max": 2}, "penalty": "5"}]},
		"periods": {}, "assume": "flat", "offers": [{"name": "year", "price": "0.04", "term_years": 1, "max": 2}]}`), capacity.DefaultLimits())
	if all := fault.Findings(err); len(all) != 1 || all[0].Pointer != "/periods" {
		t.Errorf("got %v", err)
	}
}
