package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
)

// exampleText reads the problem of docs/reference/problem.md.
func exampleText(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("../../../openapi/examples/nightly-etl.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func foundBy(t *testing.T, err error) []fault.Finding {
	t.Helper()
	var input *fault.InputError
	if !errors.As(err, &input) {
		t.Fatalf("got %v, want findings", err)
	}
	return input.Findings
}

// laidOver is a problem of one kind of machine that scenarios in these tests are laid over.
func laidOver(t testing.TB) capacity.Problem {
	t.Helper()
	p, err := capacity.ReadProblem([]byte(`{
		"currency": "USD",
		"supply": {
			"contracts": [{"name": "one-year", "vms": 10, "price": "0.12"}, {"name": "three-year", "vms": 20, "price": "0.10", "billing": "always"}],
			"on_demand": {"price": "0.20", "quota": 30}
		},
		"classes": [
			{"name": "etl", "demand": {"map_work_s": 900, "reduce_work_s": 100, "fixed_s": 10}, "deadline_s": 2700, "slots_per_vm": {"map": 2, "reduce": 2}, "jobs": {"min": 3, "max": 10}, "penalty": "5.00"},
			{"name": "reports", "demand": {"map_work_s": 400, "reduce_work_s": 40, "fixed_s": 5}, "deadline_s": 600, "slots_per_vm": {"map": 2, "reduce": 1}, "jobs": {"min": 0, "max": 7}, "penalty": "0.333333333"},
			{"name": "adhoc", "vms_per_job": "1.5", "jobs": {"min": 1, "max": 4}, "penalty": "0.20"}
		]}`), capacity.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// withTypes is the same with two VM types, one of which has spot.
func withTypes(t testing.TB) capacity.Problem {
	p := laidOver(t)
	quota := int64(8)
	p.Supply = capacity.Supply{VMTypes: []capacity.VMTypeSupply{
		{Name: "small", Contracts: p.Supply.Contracts, OnDemand: p.Supply.OnDemand},
		{Name: "large", OnDemand: capacity.OnDemand{Price: money.Round(0.4), Quota: &quota}, Spot: &capacity.Spot{Price: money.Round(0.15), MaxShare: 0.25}},
	}}
	p.Classes[0].SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{"small": {Map: 2, Reduce: 2}, "large": {Map: 4, Reduce: 4}}}
	p.Classes[1].Speed = capacity.Speed{"large": 1.5}
	return p
}

func readChanges(t testing.TB, text string) Scenario {
	t.Helper()
	var s Scenario
	if err := json.Unmarshal([]byte(text), &s.Changes); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// differences is the members in which two problems differ, as "pointer before → after".
func differences(before, after capacity.Problem) string {
	var all []string
	for _, f := range capacity.DifferentMembers(before, after) {
		from, _ := json.Marshal(f.Before)
		to, _ := json.Marshal(f.After)
		all = append(all, fmt.Sprintf("%s %s → %s", f.Pointer, from, to))
	}
	return strings.Join(all, "\n")
}

func TestScenarioChangesWhatItSays(t *testing.T) {
	for _, c := range []struct{ name, changes, want string }{
		{"nothing", `[]`, ""},
		{"one deadline", `[{"what":"deadline","class":"etl","factor":0.8}]`, "/classes/etl/deadline_s 2700 → 2160"},
		{"all deadlines, but not of a class that has none", `[{"what":"deadline","factor":2}]`, "/classes/etl/deadline_s 2700 → 5400\n/classes/reports/deadline_s 600 → 1200"},
		{"a deadline's value", `[{"what":"deadline","class":"etl","value":"1800.5"}]`, "/classes/etl/deadline_s 2700 → 1800.5"},
		{"more demand, whole jobs", `[{"what":"demand","factor":1.1}]`, "/classes/etl/jobs/max 10 → 11\n/classes/reports/jobs/max 7 → 8"},
		{"less demand than promised", `[{"what":"demand","class":"etl","value":2}]`, "/classes/etl/jobs/max 10 → 2\n/classes/etl/jobs/min 3 → 2"},
		{"no demand", `[{"what":"demand","class":"adhoc","factor":0}]`, "/classes/adhoc/jobs/max 4 → 0\n/classes/adhoc/jobs/min 1 → 0"},
		{"promised", `[{"what":"promised","class":"reports","value":4}]`, "/classes/reports/jobs/min 0 → 4"},
		{"penalty", `[{"what":"penalty","class":"reports","factor":3}]`, `/classes/reports/penalty "0.333333333" → "0.999999999"`},
		{"penalty, to the last place", `[{"what":"penalty","class":"reports","factor":0.1}]`, `/classes/reports/penalty "0.333333333" → "0.033333333"`},
		{"price", `[{"what":"price","factor":1.5}]`, `/supply/on_demand/price "0.20" → "0.30"`},
		{"price of a contract", `[{"what":"price","contract":"one-year","value":"0.09"}]`, `/supply/contracts/one-year/price "0.12" → "0.09"`},
		{"quota", `[{"what":"quota","factor":0.5}]`, "/supply/on_demand/quota 30 → 15"},
		{"no quota", `[{"what":"quota"}]`, "/supply/on_demand/quota 30 → null"},
		{"a contract's VMs", `[{"what":"contract","contract":"three-year","value":25}]`, "/supply/contracts/three-year/vms 20 → 25"},
		{"budget", `[{"what":"budget","value":"12"},{"what":"total","value":"20"}]`, `/budget null → {"total":"20.00","vm_cost":"12.00"}`},
		{"budget and none again", `[{"what":"budget","value":"12"},{"what":"budget"}]`, ""},
		{"in order", `[{"what":"quota","value":10},{"what":"quota","factor":3}]`, ""},
		{"a contract more", `[{"what":"add_contract","add":{"contract":{"name":"new","vms":5,"price":"0.08"}}}]`, `/supply/contracts/new null → {"billing":"used","name":"new","price":"0.08","vms":5}`},
		{"a contract less", `[{"what":"drop_contract","contract":"one-year"}]`, `/supply/contracts/one-year {"billing":"used","name":"one-year","price":"0.12","vms":10} → null`},
	} {
		p := laidOver(t)
		before, _ := json.Marshal(p)
		got, err := readChanges(t, c.changes).Apply(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := differences(p, got); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		if after, _ := json.Marshal(p); string(after) != string(before) {
			t.Errorf("%s: the problem itself has changed", c.name)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Of a class all of whose jobs are promised, demand moves both numbers, and a number of promised jobs ends that.
func TestScenarioChangesAll(t *testing.T) {
	p := laidOver(t)
	p.Classes[2].Jobs = capacity.JobRange{All: true}.Of(4)
	for _, c := range []struct{ name, changes, want string }{
		{"demand of all", `[{"what":"demand","class":"adhoc","factor":1.5}]`, "/classes/adhoc/jobs/max 4 → 6\n/classes/adhoc/jobs/min 4 → 6"},
		{"less demand of all", `[{"what":"demand","class":"adhoc","value":0}]`, "/classes/adhoc/jobs/max 4 → 0\n/classes/adhoc/jobs/min 4 → 0"},
		{"promised of all", `[{"what":"promised","class":"adhoc","value":3}]`, "/classes/adhoc/jobs/all true → null\n/classes/adhoc/jobs/min 4 → 3"},
		{"promised of all, then more demand", `[{"what":"promised","class":"adhoc","value":3},{"what":"demand","class":"adhoc","value":5}]`,
			"/classes/adhoc/jobs/all true → null\n/classes/adhoc/jobs/max 4 → 5\n/classes/adhoc/jobs/min 4 → 3"},
	} {
		got, err := readChanges(t, c.changes).Apply(p)
		if err != nil || got.Validate() != nil || differences(p, got) != c.want {
			t.Errorf("%s: got %v\n%s\nwant\n%s", c.name, err, differences(p, got), c.want)
		}
	}
}

func TestScenarioChangesVMTypes(t *testing.T) {
	for _, c := range []struct{ name, changes, want string }{
		{"cautious times", `[{"what":"bound","bound":"upper"}]`, `/options/bound "average" → "upper"`},
		{"prices of all", `[{"what":"price","factor":2}]`, "/supply/vm_types/large/on_demand/price \"0.40\" → \"0.80\"\n/supply/vm_types/small/on_demand/price \"0.20\" → \"0.40\""},
		{"spot price", `[{"what":"price","purchase":"spot","factor":2}]`, `/supply/vm_types/large/spot/price "0.15" → "0.30"`},
		{"spot share", `[{"what":"spot_share","vm_type":"large","value":0.5}]`, `/supply/vm_types/large/spot/max_share 0.25 → 0.5`},
		{"one quota", `[{"what":"quota","vm_type":"large","value":9}]`, `/supply/vm_types/large/on_demand/quota 8 → 9`},
		{"a contract", `[{"what":"contract","contract":"one-year","value":9}]`, `/supply/vm_types/small/contracts/one-year/vms 10 → 9`},
		{"a type less", `[{"what":"drop_vm_type","vm_type":"large"}]`, strings.Join([]string{
			`/classes/etl/slots_per_vm/large {"map":4,"reduce":4} → null`, `/classes/reports/speed {"large":1.5} → null`,
			`/supply/vm_types/large {"name":"large","on_demand":{"price":"0.40","quota":8},"spot":{"max_share":0.25,"price":"0.15"}} → null`}, "\n")},
	} {
		p := withTypes(t)
		before, _ := json.Marshal(p)
		got, err := readChanges(t, c.changes).Apply(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := differences(p, got); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		if after, _ := json.Marshal(p); string(after) != string(before) {
			t.Errorf("%s: the problem itself has changed", c.name)
		}
	}
}

func TestScenarioAddsAVMType(t *testing.T) {
	const add = `[{"what":"add_vm_type","add":{"vm_type":{"name":"big","on_demand":{"price":"0.5","quota":null}},"speed":{"adhoc":2}}}]`
	p := laidOver(t)
	got, err := readChanges(t, add).Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Supply.VMTypes) != 2 || got.Supply.VMTypes[0].Name != SoleVMType || got.Supply.VMTypes[1].Name != "big" || got.Supply.Contracts != nil {
		t.Errorf("got the supply %+v", got.Supply)
	}
	if diff := cmp.Diff(p.Supply.Contracts, got.Supply.VMTypes[0].Contracts); diff != "" {
		t.Error(diff)
	}
	if s := got.Classes[1].SlotsPerVM; s.On("big").Map != 2 {
		t.Errorf("reports: got the slots %+v", s)
	}
	if s := got.Classes[2].Speed; s.On("big") != 2 || s.On(SoleVMType) != 1 {
		t.Errorf("adhoc: got the speed %+v", s)
	}
}

func TestScenarioRefusals(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ name, changes, want string }{
		{"unknown kind", `[{"what":"deadlines","factor":1}]`, `/changes/0/what choice "deadlines" is none of the words that can stand here: deadline, demand, promised, penalty, price, quota, contract, budget, total, spot_share, due, bound, add_contract, drop_contract, add_vm_type, drop_vm_type. Did you mean "deadline"?`},
		{"no kind", `[{}]`, `/changes/0/what choice`},
		{"unknown class", `[{"what":"demand","factor":1},{"what":"deadline","class":"report","factor":1}]`, `/changes/1/class unknown_name There is no class "report". Did you mean "reports"?`},
		{"every class is no name", `[{"what":"deadline","class":"*","factor":1}]`, `/changes/0/class unknown_name There is no class "*". To change all classes, leave "class" out.`},
		{"unknown contract", `[{"what":"contract","contract":"one-yaer","value":1}]`, `/changes/0/contract unknown_name There is no contract "one-yaer". Did you mean "one-year"?`},
		{"a type where there are none", `[{"what":"quota","vm_type":"small","value":1}]`, `/changes/0/vm_type unknown_name There is one kind of machine here, without a name; leave "vm_type" out.`},
		{"factor and value", `[{"what":"deadline","factor":1,"value":"2"}]`, `/changes/0/value one_of`},
		{"neither", `[{"what":"deadline"}]`, `/changes/0 one_of`},
		{"negative factor", `[{"what":"deadline","factor":-1}]`, `/changes/0/factor range The factor is -1; it cannot be negative.`},
		{"huge factor", `[{"what":"deadline","factor":2700}]`, `/changes/0/factor range The factor is 2700; it can be 1000 at most. If this is the new figure itself, give it as "value".`},
		{"negative value", `[{"what":"penalty","value":"-1"}]`, `/changes/0/value range`},
		{"huge value", `[{"what":"penalty","value":"1e10"}]`, `/changes/0/value range`},
		{"a class for a price", `[{"what":"price","class":"etl","factor":1}]`, `/changes/0/class not_taken A change of prices has no member "class"; leave it out.`},
		{"a contract for a class", `[{"what":"penalty","contract":"etl","factor":1}]`, `/changes/0/contract not_taken`},
		{"a purchase of a contract", `[{"what":"price","contract":"one-year","purchase":"spot","factor":1}]`, `/changes/0/purchase one_of`},
		{"no bound", `[{"what":"bound"}]`, `/changes/0/bound missing`},
		{"unknown bound", `[{"what":"bound","bound":"uper"}]`, `/changes/0/bound choice`},
		{"a bound for a deadline", `[{"what":"deadline","factor":1,"bound":"upper"}]`, `/changes/0/bound not_taken`},
		{"unknown purchase", `[{"what":"price","purchase":"ondemand","factor":1}]`, `/changes/0/purchase choice`},
		{"spot that is not there", `[{"what":"price","purchase":"spot","factor":1}]`, `/changes/0 not_taken`},
		{"a share that is not there", `[{"what":"spot_share","value":"0.5"}]`, `/changes/0 not_taken`},
		{"something added to a deadline", `[{"what":"deadline","factor":1,"add":{}}]`, `/changes/0/add not_taken`},
		{"no deadline left", `[{"what":"deadline","class":"etl","factor":0}]`, `/changes/0/factor range The deadline of class "etl" would be 0 s; a job needs some time.`},
		{"too late a deadline", `[{"what":"deadline","value":"1e8"}]`, `/changes/0/value range`},
		{"no class with a deadline", `[{"what":"deadline","class":"adhoc","factor":2}]`, `/changes/0/class not_taken`},
		{"half a job", `[{"what":"demand","class":"etl","value":"2.5"}]`, `/changes/0/value not_whole There would be 2.5 jobs; give a whole number. Give 3.`},
		{"more promised than asked for", `[{"what":"promised","class":"etl","value":11}]`, `/changes/0/value order Of class "etl" 11 jobs would be promised, but only 10 are asked for. Promise at most 10, or raise the demand in a change before this one.`},
		{"too many jobs", `[{"what":"demand","class":"etl","value":1000001}]`, `/changes/0/value range`},
		{"no budget to multiply", `[{"what":"budget","factor":2}]`, `/changes/0/factor not_taken`},
		{"no quota to multiply", `[{"what":"quota"},{"what":"quota","factor":2}]`, `/changes/1/factor not_taken`},
		{"half a VM", `[{"what":"quota","value":"0.5"}]`, `/changes/0/value not_whole`},
		{"nothing added", `[{"what":"add_contract"}]`, `/changes/0/add missing`},
		{"no contract added", `[{"what":"add_contract","add":{}}]`, `/changes/0/add/contract missing`},
		{"a type as a contract", `[{"what":"add_contract","add":{"contract":{"name":"x","vms":1,"price":"1"},"speed":{"etl":1}}}]`, `/changes/0/add not_taken`},
		{"a contract twice", `[{"what":"add_contract","add":{"contract":{"name":"one-year","vms":1,"price":"1"}}}]`, `/changes/0 duplicate_name`},
		{"a contract without a name", `[{"what":"add_contract","add":{"contract":{"name":"","vms":1,"price":"1"}}}]`, `/changes/0 text`},
		{"a type for an unknown class", `[{"what":"add_vm_type","add":{"vm_type":{"name":"x","on_demand":{"price":"1"}},"speed":{"elt":1}}}]`, `/changes/0/add/speed/elt unknown_name There is no class "elt"; leave it out. Did you mean "etl"?`},
		{"slots for VMs per job", `[{"what":"add_vm_type","add":{"vm_type":{"name":"x","on_demand":{"price":"1"}},"slots_per_vm":{"adhoc":{"map":1,"reduce":1}}}}]`, `/changes/0/add/slots_per_vm/adhoc not_taken`},
		{"drop what is not there", `[{"what":"drop_vm_type","vm_type":"x"}]`, `/changes/0/vm_type unknown_name`},
		{"a contract dropped twice", `[{"what":"drop_contract","contract":"one-year"},{"what":"drop_contract","contract":"one-year"}]`, `/changes/1/contract unknown_name`},
	} {
		_, err := readChanges(t, c.changes).Apply(laidOver(t))
		if err == nil {
			t.Errorf("%s: not refused", c.name)
			continue
		}
		f := foundBy(t, err)[0]
		got := f.Pointer + " " + f.Code + " " + f.Detail
		if f.Hint != nil {
			got += " " + f.Hint.Detail
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for name, s := range map[string]Scenario{
		"/changes/0/factor not_finite": {Changes: []ScenarioChange{{What: ChangeDeadline, Factor: &nan}}},
		"/changes too_many":            {Changes: make([]ScenarioChange, maxScenarioChanges+1)},
	} {
		_, err := s.Apply(laidOver(t))
		if f := foundBy(t, err)[0]; f.Pointer+" "+f.Code != name {
			t.Errorf("got %s %s, want %s", f.Pointer, f.Code, name)
		}
	}
}

func TestVMTypesThatAreNeededStay(t *testing.T) {
	p := withTypes(t)
	for _, c := range []struct{ changes, want string }{
		{`[{"what":"drop_vm_type","vm_type":"larger"}]`, `Did you mean "large"?`},
		{`[{"what":"drop_vm_type","vm_type":"large"},{"what":"drop_vm_type","vm_type":"small"}]`, `"small" is the only VM type`},
		{`[{"what":"add_contract","add":{"contract":{"name":"x","vms":1,"price":"1"}}}]`, `say of which`},
		{`[{"what":"spot_share","vm_type":"large","factor":5}]`, `The share of spot VMs would be 1.25`},
	} {
		if _, err := readChanges(t, c.changes).Apply(p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.changes, err, c.want)
		}
	}
	p.Classes[0].SlotsPerVM = capacity.SlotsPerVM{ByType: map[string]capacity.SlotsPerVM{"large": {Map: 4, Reduce: 4}}}
	if _, err := readChanges(t, `[{"what":"drop_vm_type","vm_type":"large"}]`).Apply(p); err == nil || !strings.Contains(err.Error(), `Class "etl" runs on VMs of type "large" alone`) {
		t.Errorf("a type that a class needs: got %v", err)
	}
}

// TestScenariosUndoThemselves: factors multiply as decimals do.
func TestScenariosUndoThemselves(t *testing.T) {
	p := laidOver(t)
	p.Options.Integrality = capacity.Relaxed // fractions of jobs
	p.Classes[1].Penalty = money.Round(0.32)
	both := readChanges(t, `[{"what":"deadline","factor":0.8},{"what":"demand","factor":1.6},{"what":"penalty","factor":1.25},{"what":"price","factor":0.5},
		{"what":"price","factor":2},{"what":"penalty","factor":0.8},{"what":"demand","factor":0.625},{"what":"deadline","factor":1.25},
		{"what":"add_contract","add":{"contract":{"name":"x","vms":1,"price":"1"}}},{"what":"drop_contract","contract":"x"},{"what":"budget","value":"1"},{"what":"budget"}]`)
	got, err := both.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(p, got); d != "" {
		t.Errorf("there and back again: got %s", d)
	}
}

// TestOrderOfIndependentChanges: changes of different members commute.
func TestOrderOfIndependentChanges(t *testing.T) {
	changes := readChanges(t, `[{"what":"deadline","class":"etl","factor":0.9},{"what":"deadline","class":"reports","factor":1.1},{"what":"demand","factor":1.3},
		{"what":"penalty","class":"etl","value":"4"},{"what":"price","factor":1.1},{"what":"price","contract":"one-year","factor":0.9},{"what":"quota","value":40},
		{"what":"contract","contract":"three-year","value":12},{"what":"budget","value":"30"}]`)
	p := laidOver(t)
	want, err := changes.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		r.Shuffle(len(changes.Changes), func(i, j int) {
			changes.Changes[i], changes.Changes[j] = changes.Changes[j], changes.Changes[i]
		})
		got, err := changes.Apply(p)
		if err != nil {
			t.Fatal(err)
		}
		if d := differences(want, got); d != "" {
			t.Errorf("in another order: %s", d)
		}
	}
}

func TestKeptScenariosAreChecked(t *testing.T) {
	s := readChanges(t, `[{"what":"deadline","factor":0.9}]`)
	s.Name = "tight"
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	s.Name, s.Note = " tight", strings.Repeat("x", strict.MaxDescription+1)
	s.Changes[0].Factor = nil
	want := "/name text\n/note too_long\n/changes/0 one_of"
	var got []string
	for _, f := range foundBy(t, s.Validate()) {
		got = append(got, f.Pointer+" "+f.Code)
	}
	if strings.Join(got, "\n") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkApply(b *testing.B) {
	p := laidOver(b)
	one := p.Classes[0]
	p.Classes = nil
	for i := range 100 {
		one.Name = fmt.Sprintf("class-%d", i)
		one.Penalty = money.Amount{Decimal: decimal.New(int64(i), -2)}
		p.Classes = append(p.Classes, one)
	}
	for _, what := range []What{ChangeDeadline, ChangeDemand, ChangePenalty, ChangePrice} {
		b.Run(string(what), func(b *testing.B) {
			s := readChanges(b, `[{"what":"`+string(what)+`","factor":1.1}]`)
			for b.Loop() {
				if _, err := s.Apply(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestWhatIfIsReadStrictly(t *testing.T) {
	problem := exampleText(t)
	for _, c := range []struct{ name, text, want string }{
		{"whole", `{"problem":` + problem + `,"scenarios":[{"name":"a","changes":[{"what":"deadline","factor":0.9}]},{"changes":[]}]}`, ""},
		{"everything", `{"problem":` + problem + `,"detail":"summary","scenarios":[{"changes":[
			{"what":"price","purchase":"on_demand","value":"0.3"},
			{"what":"add_vm_type","add":{"vm_type":{"name":"x","on_demand":{"price":1,"quota":3},"spot":{"price":"0.1","max_share":0.5},"contracts":[{"name":"y","vms":1,"price":1}]},"speed":{"nightly-etl":2},"slots_per_vm":{"nightly-etl":{"map":1,"reduce":1}}}},
			{"what":"add_contract","add":{"contract":{"name":"z","vms":1,"price":"1","billing":"always"}}}]}]}`, ""},
		{"no problem", `{"scenarios":[{"changes":[]}]}`, "/problem missing"},
		{"no scenario", `{"problem":` + problem + `,"scenarios":[]}`, "/scenarios missing"},
		{"unknown member", `{"problem":` + problem + `,"scenarios":[{"changes":[{"what":"deadline","factor":1,"clas":"x"}]}]}`, "/scenarios/0/changes/0/clas unknown_member"},
		{"a member twice", `{"problem":` + problem + `,"scenarios":[{"changes":[{"what":"deadline","factor":1,"factor":2}]}]}`, "/scenarios/0/changes/0/factor duplicate_member"},
		{"a class twice", `{"problem":` + problem + `,"scenarios":[{"changes":[{"what":"add_vm_type","add":{"vm_type":{"name":"x","on_demand":{"price":"1"}},"speed":{"a":1,"a":2}}}]}]}`, "/scenarios/0/changes/0/add/speed/a duplicate_member"},
		{"a text for a factor", `{"problem":` + problem + `,"scenarios":[{"changes":[{"what":"deadline","factor":"1.1"}]}]}`, "/scenarios/0/changes/0/factor type"},
		{"wrong kind", `{"problem":` + problem + `,"scenarios":[{"changes":[{"what":"dedline","factor":1}]}]}`, "/scenarios/0/changes/0/what choice"},
		{"a saved one without a cluster", `{"problem":` + problem + `,"scenarios":[{"saved":"x"}]}`, "/scenarios/0/saved unknown_member\n/scenarios/0/changes missing"},
		{"an error in the problem", `{"problem":` + strings.Replace(problem, `"USD"`, `"usd"`, 1) + `,"scenarios":[{"changes":[]}]}`, "/problem/currency text"},
		{"full for five", `{"problem":` + problem + `,"detail":"full","scenarios":[{"changes":[]},{"changes":[]},{"changes":[]},{"changes":[]},{"changes":[]}]}`, "/detail too_many"},
		{"too many", `{"problem":` + problem + `,"scenarios":[` + strings.Repeat(`{"changes":[]},`, maxScenarios) + `{"changes":[]}]}`, "/scenarios too_many"},
		{"no JSON", `{"problem":`, " syntax"},
	} {
		q, err := ReadWhatIf([]byte(c.text), capacity.DefaultLimits())
		var got []string
		if err != nil {
			for _, f := range foundBy(t, err) {
				if f.Code == "syntax" {
					f.Pointer = ""
				}
				got = append(got, f.Pointer+" "+f.Code)
			}
		} else if len(q.Scenarios) == 0 || q.Problem.Options.Engine != capacity.EngineAuto && !strings.Contains(problem, `"engine"`) {
			t.Errorf("%s: got %+v", c.name, q)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestClusterWhatIfIsReadStrictly(t *testing.T) {
	q, err := ReadClusterWhatIf([]byte(`{"at":"2026-03-01T22:00:00Z","scenarios":[{"saved":"tight"},{"name":"x","changes":[{"what":"quota"}]}]}`))
	if err != nil || q.At.IsZero() || q.Detail != DetailFull || q.Scenarios[0].Saved != "tight" || q.Scenarios[1].Changes[0].What != ChangeQuota {
		t.Fatalf("got %+v, %v", q, err)
	}
	for text, want := range map[string]string{
		`{"scenarios":[{"saved":"a","changes":[]}]}`:        "/scenarios/0 one_of",
		`{"scenarios":[{"name":"a"}]}`:                      "/scenarios/0 one_of",
		`{"scenarios":[{}]}`:                                "/scenarios/0/changes missing",
		`{"at":"today","scenarios":[{"saved":"a"}]}`:        "/at time",
		`{"problem":{},"scenarios":[{"saved":"a"}]}`:        "/problem unknown_member",
		`{"scenarios":[{"changes":[{"what":"deadline"}]}]}`: "/scenarios/0/changes/0 one_of",
	} {
		_, err := ReadClusterWhatIf([]byte(text))
		if f := foundBy(t, err)[0]; f.Pointer+" "+f.Code != want {
			t.Errorf("%s: got %s %s, want %s", text, f.Pointer, f.Code, want)
		}
	}
}

func FuzzReadScenario(f *testing.F) {
	f.Add(`{"name":"a","note":"b","changes":[{"what":"deadline","class":"etl","factor":0.9},{"what":"add_vm_type","add":{"vm_type":{"name":"x","on_demand":{"price":"1"}},"speed":{"etl":2}}}]}`)
	p := laidOver(f)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ReadScenario([]byte(text))
		if err != nil {
			return
		}
		changed, err := s.Apply(p)
		if err == nil && changed.Validate() != nil {
			t.Errorf("%s makes an invalid problem: %v", text, changed.Validate())
		}
	})
}
