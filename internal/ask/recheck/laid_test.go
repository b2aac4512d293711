package recheck

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// typedText has two VM types with prices of their own, spot, contracts of both, and arrivals.
const typedText = `{"problem": {"currency": "EUR", "period_s": 3600, "options": {"integrality": "integer"},
	"supply": {"vm_types": [
	  {"name": "small", "contracts": [{"name": "own", "vms": 2, "price": "0.06"}], "on_demand": {"price": "0.2", "quota": 30}},
	  {"name": "large", "on_demand": {"price": "0.5"}, "spot": {"price": "0.1", "max_share": 0.5}}]},
	"classes": [
	  {"name": "a", "demand": {"map_work_s": 9000, "reduce_work_s": 2500, "fixed_s": 30}, "deadline_s": 1800, "slots_per_vm": {"small": {"map": 2, "reduce": 2}, "large": {"map": 4, "reduce": 4}}, "jobs": {"min": 1, "max": 5}, "penalty": "4"},
	  {"name": "b", "demand": {"map_work_s": 5000, "reduce_work_s": 500, "fixed_s": 30}, "deadline_s": 1500, "slots_per_vm": {"map": 2, "reduce": 2}, "jobs": {"min": 0, "max": 3}, "penalty": "3"}]},
	"contracts": [{"name": "half", "vm_type": "large", "vms": 3, "price": "0.2", "billing": "always", "upfront": "10.01", "from": "2026-01-31T20:00:00Z", "until": "2026-02-01T03:00:00Z"}],
	"periods": [
	  {"start": "2026-01-31T20:00:00Z", "hours": 2, "arrivals": [3, 0.5]},
	  {"start": "2026-01-31T22:00:00Z", "hours": 4, "arrivals": [1, 4], "prices": {"large": {"on_demand": "0.7", "spot": "0.2"}}},
	  {"start": "2026-02-01T02:00:00Z", "hours": 2, "arrivals": [0, 2], "prices": {"small": {"on_demand": "0.3"}}}],
	"earlier": [{"start": "2026-01-31T19:00:00Z", "hours": 1, "arrivals": [2, 1]}]}`

// drawnOverTime draws changes that any of the two horizons has the things for.
func drawnOverTime(r *rand.Rand, typed bool) (changes []whatif.ScenarioChange) {
	factor, value := []float64{0.5, 1.3, 2}[r.IntN(3)], plantest.Amount(fmt.Sprintf("%d.5", 1+r.IntN(6)))
	whole := plantest.Amount(fmt.Sprint(1 + r.IntN(6)))
	added := &whatif.AddedSupply{Contract: &capacity.Contract{Name: "added", VMs: 2, Price: plantest.Amount("0.03"), Billing: capacity.BilledUsed}}
	all := []whatif.ScenarioChange{
		{What: whatif.ChangeDemand, Factor: &factor}, {What: whatif.ChangeDemand, Class: "a", Factor: &factor}, {What: whatif.ChangeDemand, Class: "b", Value: &whole},
		{What: whatif.ChangePenalty, Class: "a", Factor: &factor}, {What: whatif.ChangePrice, Factor: &factor}, {What: whatif.ChangePrice, Contract: "half", Value: &value},
		{What: whatif.ChangeQuota, Value: &whole}, {What: whatif.ChangeContract, Contract: "half", Factor: &factor}, {What: whatif.ChangeContract, Contract: "own", Value: &whole},
		{What: whatif.DropContract, Contract: "half"}, {What: whatif.ChangeDeadline, Class: "b", Factor: &factor}, {What: whatif.ChangePromised, Class: "a", Factor: &factor},
		{What: whatif.ChangeBudget, Value: &value},
	}
	if typed {
		all = append(all, whatif.ScenarioChange{What: whatif.DropVMType, VMType: "small"}, whatif.ScenarioChange{What: whatif.ChangePrice, Purchase: capacity.PurchaseSpot, Factor: &factor},
			whatif.ScenarioChange{What: whatif.AddContract, VMType: "large", Add: added})
	} else {
		all = append(all, whatif.ScenarioChange{What: whatif.AddContract, Add: added},
			whatif.ScenarioChange{What: whatif.AddVMType, Add: &whatif.AddedSupply{VMType: &capacity.VMTypeSupply{Name: "new", OnDemand: capacity.OnDemand{Price: plantest.Amount("0.11")}}}})
	}
	for range 1 + r.IntN(4) {
		changes = append(changes, all[r.IntN(len(all))])
	}
	return changes
}

// The check lays changes over time by itself, as the question does.
func TestChangesAreLaidOverTimeAlike(t *testing.T) {
	agreed := map[whatif.What]int{}
	for _, text := range []string{monthsText, typedText} {
		q, err := horizon.ReadHorizon([]byte(text), capacity.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		for i := range plantest.Trials(200, 3000) {
			changes := drawnOverTime(rand.New(rand.NewPCG(61, uint64(i))), text == typedText)
			want, err := q.Under(whatif.Scenario{Changes: changes}, false)
			got, ok := laid(q.Horizon, changes)
			if ok != (err == nil) {
				t.Fatalf("%+v: laid %t, and the question says %v", changes, ok, err)
			}
			if !ok {
				continue
			}
			if diff := cmp.Diff(situationsOf(want), situationsOf(got)); diff != "" {
				t.Fatalf("%+v: -question +check\n%s", changes, diff)
			}
			for _, ch := range changes {
				agreed[ch.What]++
			}
		}
	}
	if len(agreed) < 12 {
		t.Errorf("only these changes were laid: %v", agreed)
	}
}

// situationsOf writes the problems of a horizon with their times, and what arrives.
func situationsOf(h horizon.Horizon) (all []string) {
	k := cut(&h)
	for i := range k.cells {
		x := &k.cells[i]
		p := k.cases[x.situation].problem
		byName := func(list []capacity.Contract) {
			slices.SortFunc(list, func(a, b capacity.Contract) int { return strings.Compare(a.Name, b.Name) })
		}
		byName(p.Supply.Contracts)
		for n := range p.Supply.VMTypes {
			byName(p.Supply.VMTypes[n].Contracts)
		}
		all = append(all, fmt.Sprintf("%s %d %s %.12g", x.start, x.seconds, marshalled(p), h.Periods[x.period].Arrivals))
	}
	for i := range h.Earlier {
		all = append(all, fmt.Sprintf("%.12g", h.Earlier[i].Arrivals))
	}
	for i := range h.Contracts {
		all = append(all, string(marshalled(h.Contracts[i])))
	}
	slices.Sort(all[len(k.cells)+len(h.Earlier):])
	return all
}

// scenarioText puts a scenario into a question about months.
func scenarioText(question, changes string) string {
	return strings.Replace(question, `{"problem"`, `{"scenario": {"name": "fewer, \"dearer\" VMs", "changes": `+changes+`}, "problem"`, 1)
}

// besideEachOther answers a question with a scenario.
func besideEachOther(t *testing.T, q *horizon.HorizonQuestion) horizon.Answer {
	t.Helper()
	under, err := q.Laid()
	if err != nil {
		t.Fatal(err)
	}
	var answers [2]horizon.Answer
	for i, h := range []horizon.Horizon{*under, q.Horizon} {
		if answers[i], err = horizon.Plan(t.Context(), h, nil, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	answers[0].Beside(q.Scenario.Name, answers[1], under.Start(), under.End())
	answers[0].Show(q.Detail)
	return answers[0]
}

func readMonths(t *testing.T, text string) horizon.HorizonQuestion {
	t.Helper()
	q, err := horizon.ReadHorizon([]byte(text), capacity.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// scenariosOfMonths change a price alone, double jobs, leave hours without a plan, and give others one.
var scenariosOfMonths = map[string]string{
	"price":   `[{"what": "price", "contract": "own", "factor": 2}]`,
	"jobs":    `[{"what": "demand", "class": "b", "factor": 2}]`,
	"no plan": `[{"what": "quota", "value": "0"}, {"what": "drop_contract", "contract": "own"}]`,
	"a plan":  `[{"what": "quota"}]`,
	"nothing": `[{"what": "price", "factor": 1}]`,
}

func TestMonthsUnderAScenario(t *testing.T) {
	possible := strings.Replace(monthsText, `"jobs": [8, 1]`, `"jobs": [4, 1]`, 1)
	for name, changes := range scenariosOfMonths {
		for _, text := range []string{monthsText, possible, typedText} {
			q := readMonths(t, scenarioText(text, changes))
			want := proof.OK
			if text == typedText && name == "no plan" { // of arrivals, some of whose hours have none
				want = proof.NotProved
			}
			if r := verified(t, marshalled(q), marshalled(besideEachOther(t, &q))); r.Outcome != want {
				t.Errorf("%s: %s\n%s", name, r, marshalled(q))
			}
		}
	}
	q := readMonths(t, scenarioText(possible, scenariosOfMonths["price"]))
	q.Detail = horizon.DetailSummary
	allMutationsFail(t, marshalled(q), marshalled(besideEachOther(t, &q)), plantest.Trials(7, 1), "/classes/0/asked_vm_hours", "/classes/1/asked_vm_hours", "/gap")
}

// An answer that sets the wrong things beside each other is found out, also where its sentences say just that.
func TestPlantedFaultsOfMonthsUnderAScenario(t *testing.T) {
	q := readMonths(t, scenarioText(strings.Replace(monthsText, `"jobs": [8, 1]`, `"jobs": [4, 1]`, 1), `[{"what": "price", "contract": "own", "factor": 2}]`))
	under, err := q.Laid()
	if err != nil {
		t.Fatal(err)
	}
	spans := func(a *horizon.Answer, change func(s *horizon.SpanTotal)) {
		change(&a.Total)
		for _, list := range [][]horizon.SpanTotal{a.Months, a.Days} {
			for i := range list {
				change(&list[i])
			}
		}
	}
	negative := func(m *money.Amount) { m.Decimal = m.Neg() }
	again := func(a *horizon.Answer) { *a = a.Retold(under.Start(), under.End()) }
	for name, fault := range map[string]func(a *horizon.Answer){
		"the wrong sign": func(a *horizon.Answer) {
			spans(a, func(s *horizon.SpanTotal) {
				d := s.Difference
				negative(&d.Bill)
				negative(&d.ValueRefused)
				d.VMHours, d.AdmittedHours = -d.VMHours, -d.AdmittedHours
			})
			again(a)
		},
		"the bill for the value refused": func(a *horizon.Answer) {
			spans(a, func(s *horizon.SpanTotal) {
				s.Difference.Bill, s.Difference.ValueRefused = s.Difference.ValueRefused, s.Difference.Bill
			})
			again(a)
		},
		"bill and value together for the bill": func(a *horizon.Answer) {
			spans(a, func(s *horizon.SpanTotal) {
				s.Difference.Bill.Decimal = s.Difference.Bill.Add(s.Difference.ValueRefused.Decimal)
			})
			again(a)
		},
		"the difference of another month": func(a *horizon.Answer) {
			a.Months[0].Difference, a.Months[1].Difference = a.Months[1].Difference, a.Months[0].Difference
			again(a)
		},
		"another month is said to change most": func(a *horizon.Answer) {
			for i := range a.Facts {
				if f := &a.Facts[i]; f.Kind == "changes_most" {
					f.Subject = a.Months[0].Start.Format("2006-01")
				}
			}
		},
		"the months as it is in another order": func(a *horizon.Answer) {
			m := a.AsItIs.Months
			m[0].Cost, m[1].Cost = m[1].Cost, m[0].Cost
			for i := range a.Months {
				a.Months[i].Difference.Bill.Decimal = a.Months[i].Cost.Bill.Sub(m[i].Cost.Bill.Decimal)
				a.Months[i].Difference.ValueRefused.Decimal = a.Months[i].Cost.Penalties.Sub(m[i].Cost.Penalties.Decimal)
			}
			*a.AsItIs = a.AsItIs.Retold(under.Start(), under.End())
			again(a)
		},
		"the scenario on both sides": func(a *horizon.Answer) {
			both := *a
			both.Scenario, both.AsItIs = nil, nil
			decoded(t, marshalled(both), &both)
			spans(&both, func(s *horizon.SpanTotal) { s.Difference = nil })
			both = both.Retold(under.Start(), under.End())
			a.Beside(*a.Scenario, both, under.Start(), under.End())
		},
		"the time as it is on both sides": func(a *horizon.Answer) {
			was, err := horizon.Plan(t.Context(), q.Horizon, nil, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			was.Show(q.Detail)
			was.Beside(*a.Scenario, *a.AsItIs, under.Start(), under.End())
			*a = was
		},
		"another scenario": func(a *horizon.Answer) { *a.Scenario = "b"; again(a) },
		"no scenario": func(a *horizon.Answer) {
			a.Scenario, a.AsItIs = nil, nil
			spans(a, func(s *horizon.SpanTotal) { s.Difference = nil })
			again(a)
		},
		"as it is without a reason for its absence": func(a *horizon.Answer) {
			a.AsItIs = nil
			spans(a, func(s *horizon.SpanTotal) { s.Difference = nil })
		},
		"zeros in place of what was not planned": func(a *horizon.Answer) {
			spans(a.AsItIs, func(s *horizon.SpanTotal) { s.Cost = horizon.SpanCost{} })
			*a.AsItIs = a.AsItIs.Retold(under.Start(), under.End())
			a.Beside(*a.Scenario, *a.AsItIs, under.Start(), under.End())
		},
	} {
		a := besideEachOther(t, &q)
		before := string(marshalled(a))
		fault(&a)
		if string(marshalled(a)) == before {
			t.Errorf("%s changes nothing", name)
			continue
		}
		if r := verified(t, marshalled(q), marshalled(a)); r.Accepted() {
			t.Errorf("%s passes:\n%s", name, r)
		}
	}
	a := besideEachOther(t, &q)
	var without horizon.HorizonQuestion
	if err := json.Unmarshal(marshalled(q), &without); err != nil {
		t.Fatal(err)
	}
	without.Scenario = nil
	if r := verified(t, marshalled(without), marshalled(a)); r.Accepted() {
		t.Errorf("an answer under a scenario passes where none was asked for:\n%s", r)
	}
}
