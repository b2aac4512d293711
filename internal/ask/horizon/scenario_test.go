package horizon

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
)

// drawChanges draws changes of the things of an outlook.
func drawChanges(r *rand.Rand, o *Outlook, typed bool) (changes []whatif.ScenarioChange) {
	factor, value := []float64{0.5, 1.5, 2}[r.IntN(3)], cash(100*(1+r.IntN(6)))
	class := fmt.Sprintf("c%d", r.IntN(3))
	all := []whatif.ScenarioChange{
		{What: whatif.ChangeDemand, Factor: &factor}, {What: whatif.ChangeDemand, Class: class, Value: &value},
		{What: whatif.ChangePenalty, Class: class, Factor: &factor}, {What: whatif.ChangePrice, Factor: &factor},
		{What: whatif.ChangeQuota, Value: &value}, {What: whatif.ChangeBudget, Value: &value},
		{What: whatif.AddContract, VMType: "t0", Add: &whatif.AddedSupply{Contract: &capacity.Contract{Name: "added", VMs: 2, Price: cash(3), Billing: capacity.BilledUsed}}},
	}
	if !typed {
		all[len(all)-1].VMType = ""
	}
	for _, c := range o.Contracts {
		all = append(all, whatif.ScenarioChange{What: whatif.ChangeContract, Contract: c.Name, Factor: &factor},
			whatif.ScenarioChange{What: whatif.ChangePrice, Contract: c.Name, Value: &value}, whatif.ScenarioChange{What: whatif.DropContract, Contract: c.Name})
	}
	dropped := map[string]bool{}
	for range 1 + r.IntN(4) {
		ch := all[r.IntN(len(all))]
		if ch.Contract != "" && dropped[ch.Contract] || ch.Add != nil && dropped["added"] {
			continue
		}
		dropped[ch.Contract], dropped["added"] = ch.What == whatif.DropContract, dropped["added"] || ch.Add != nil
		changes = append(changes, ch)
	}
	return changes
}

// Every situation of a horizon under a scenario is the situation of that time with the changes laid over it.
func TestAScenarioHoldsInEveryPeriod(t *testing.T) {
	situations := 0
	for i := range 400 {
		r := rand.New(rand.NewPCG(27, uint64(i)))
		o := drawOutlook(r, 1+r.IntN(8))
		o.Series = slices.DeleteFunc(o.Series, func(s ForecastSeries) bool { return s.Arrives })
		before, _, err := o.Horizon()
		if err != nil {
			t.Fatal(err)
		}
		o.Scenario.Changes = drawChanges(r, &o, len(before.Problem.Supply.VMTypes) > 0)
		after, _, err := o.Horizon()
		if err != nil {
			t.Fatalf("case %d, %+v: %v", i, o.Scenario, err)
		}
		if err := after.Validate(); err != nil {
			t.Fatal(err)
		}
		was, is := newCalendar(&before, termsOf(before)), newCalendar(&after, termsOf(after))
		for quarter := range 4 * int(o.Until.Sub(o.From)/time.Hour) {
			moment := at(float64(quarter) / 4)
			got := problemAt(is, moment, after.Contracts)
			want := problemAt(was, moment, before.Contracts)
			var now []whatif.ScenarioChange
			for _, ch := range o.Scenario.Changes { // a contract that is not in force then is not there to be changed
				there := slices.ContainsFunc(want.Supply.Types(), func(v capacity.VMTypeSupply) bool {
					return slices.ContainsFunc(v.Contracts, func(c capacity.Contract) bool { return c.Name == ch.Contract })
				})
				if ch.Contract == "" || there {
					now = append(now, ch)
				}
			}
			if want, err = (whatif.Scenario{Changes: now}).Apply(want); err != nil {
				t.Fatalf("case %d: %v", i, err)
			}
			for k := range want.Classes { // a promise is kept as far as there is demand
				j := &want.Classes[k].Jobs
				j.Min = min(before.Problem.Classes[k].Jobs.Min, j.Max)
			}
			if diff := cmp.Diff(written(t, want), written(t, got)); diff != "" {
				t.Fatalf("case %d at %s, %+v: -want +got\n%s", i, moment, o.Scenario.Changes, diff)
			}
			situations++
		}
	}
	t.Logf("%d moments", situations)
}

func termsOf(h Horizon) (terms []term) {
	for _, c := range h.Contracts {
		terms = append(terms, term{c.From, c.Until})
	}
	return terms
}

// problemAt returns the problem of a moment.
func problemAt(c *calendar, moment time.Time, contracts []TermContract) capacity.Problem {
	at := slices.IndexFunc(c.stints, func(s stint) bool { return s.start.Add(time.Duration(s.seconds) * time.Second).After(moment) })
	return c.problem(&c.situations[c.stints[at].situation], contracts)
}

// written returns a problem as text, with its contracts by name.
func written(t *testing.T, p capacity.Problem) string {
	byName := func(all []capacity.Contract) []capacity.Contract {
		return slices.SortedFunc(slices.Values(all), func(a, b capacity.Contract) int { return strings.Compare(a.Name, b.Name) })
	}
	p.Supply.Contracts = byName(p.Supply.Contracts)
	p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
	for i := range p.Supply.VMTypes {
		p.Supply.VMTypes[i].Contracts = byName(p.Supply.VMTypes[i].Contracts)
	}
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Arrivals take factors, also those before the horizon. A number of jobs takes their place.
func TestAScenarioChangesArrivals(t *testing.T) {
	twice, three := 2.0, cash(300)
	start := at(0)
	h := Horizon{Periods: []HorizonPeriod{{Start: start, Hours: 2, Arrivals: []float64{1.5, 0.25}}}, Earlier: []HorizonPeriod{{Start: at(-1), Hours: 1, Arrivals: []float64{1, 2}}}}
	o := drawOutlook(rand.New(rand.NewPCG(1, 1)), 1)
	drawn, _, err := o.Horizon()
	if err != nil {
		t.Fatal(err)
	}
	h.Problem = drawn.Problem
	h.Problem.Classes = h.Problem.Classes[:2]
	got, err := h.Under(whatif.Scenario{Changes: []whatif.ScenarioChange{{What: whatif.ChangeDemand, Factor: &twice}, {What: whatif.ChangeDemand, Class: "c1", Value: &three}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	p := got.Periods[0]
	if fmt.Sprint(p.Arrivals, p.Jobs, got.Earlier[0].Arrivals, h.Periods[0].Arrivals) != "[3 0] [0 3] [2 0] [1.5 0.25]" {
		t.Errorf("got %v arrivals, %v jobs, %v earlier; before %v", p.Arrivals, p.Jobs, got.Earlier[0].Arrivals, h.Periods[0].Arrivals)
	}
}

// The upfront payment of a contract follows its VMs.
func TestAScenarioChangesUpfront(t *testing.T) {
	half := 0.5
	h := Horizon{Periods: []HorizonPeriod{{Start: at(0), Hours: 1}}, Contracts: []TermContract{{Contract: capacity.Contract{Name: "k", VMs: 4, Price: cash(5), Billing: capacity.BilledUsed}, Upfront: cash(1000), From: at(0), Until: at(1)}}}
	h.Problem.Supply.OnDemand.Price = cash(20)
	got, err := h.Under(whatif.Scenario{Changes: []whatif.ScenarioChange{{What: whatif.ChangeContract, Contract: "k", Factor: &half}}}, false)
	if err != nil || len(got.Contracts) != 1 || got.Contracts[0].VMs != 2 || got.Contracts[0].Upfront.String() != "5.00" || len(got.Problem.Supply.Contracts) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Purchases pass over changes of what is not weighed, and refuse those with which nothing can be weighed.
func TestPurchasesUnderAScenario(t *testing.T) {
	o := drawOutlook(rand.New(rand.NewPCG(9, 9)), 6)
	o.VMTypes = append(o.VMTypes[:1], inputs.VMType{Name: "other", InUse: true})
	o.VMTypes[0].Spot, o.Contracts = nil, nil
	o.Prices = []inputs.PricePeriod{{VMType: "t0", Price: cash(20), From: at(-5)}, {VMType: "other", Price: cash(30), From: at(-5)}}
	twice := 2.0
	o.Scenario.Changes = []whatif.ScenarioChange{{What: whatif.ChangePrice, VMType: "other", Factor: &twice}, {What: whatif.ChangePrice, VMType: "t0", Factor: &twice}}
	if q, _, err := o.Purchase(ClusterPurchaseQuestion{VMType: "t0"}); err != nil || q.Periods[0].OnDemandPrice.String() != "0.40" {
		t.Errorf("got %+v, %v", q.Periods, err)
	}
	o.Scenario.Changes = append(o.Scenario.Changes, whatif.ScenarioChange{What: whatif.ChangeBudget}, whatif.ScenarioChange{What: whatif.DropVMType, VMType: "t0"})
	_, _, err := o.Purchase(ClusterPurchaseQuestion{VMType: "t0"})
	var places []string
	for _, f := range fault.Findings(err) {
		places = append(places, f.Pointer)
	}
	if fmt.Sprint(places) != "[/scenario/changes/2/what /scenario/changes/3/what]" {
		t.Errorf("refused at %v: %v", places, err)
	}
}
