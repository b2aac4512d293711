package capacity

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// fleetText is a problem with two VM types and everything that can be said of them.
const fleetText = `{
  "currency": "USD",
  "supply": {"vm_types": [
    {"name": "small", "contracts": [{"name": "three-year", "vms": 30, "price": "0.10", "billing": "always"}], "on_demand": {"price": "0.20", "quota": 100}},
    {"name": "large", "contracts": [{"name": "one-year", "vms": 10, "price": "0.18"}], "on_demand": {"price": "0.38"}, "spot": {"price": "0.12", "max_share": 0.5}}
  ]},
  "classes": [
    {"name": "etl", "demand": {"map_work_s": 4500, "reduce_work_s": 1200, "fixed_s": 60}, "deadline_s": 2700, "slots_per_vm": {"small": {"map": 2, "reduce": 2}, "large": {"map": 4, "reduce": 3}}, "speed": {"large": 1.25}, "jobs": {"min": 9, "max": 10}, "penalty": "5.00"},
    {"name": "report", "vms_per_job": "1.5", "speed": {"small": 0}, "jobs": {"min": 0, "max": 4}, "penalty": "2"}
  ],
  "budget": {"vm_cost": "40.00", "total": null}
}`

func TestReadProblemReadsVMTypes(t *testing.T) {
	t.Parallel()
	got, err := ReadProblem([]byte(fleetText), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	cents := func(n int64) money.Amount { return money.Amount{Decimal: decimal.New(n, -2)} }
	quota, gamma, budget := int64(100), decimal.New(15, -1), cents(4000)
	want := Problem{
		Currency: "USD", PeriodSeconds: 3600, Options: DefaultOptions(), Budget: &Budget{VMCost: &budget},
		Supply: Supply{VMTypes: []VMTypeSupply{
			{Name: "small", Contracts: []Contract{{"three-year", 30, cents(10), BilledAlways}}, OnDemand: OnDemand{cents(20), &quota}},
			{Name: "large", Contracts: []Contract{{"one-year", 10, cents(18), BilledUsed}}, OnDemand: OnDemand{Price: cents(38)}, Spot: &Spot{cents(12), 0.5}},
		}},
		Classes: []Class{
			{Name: "etl", Demand: &Demand{4500, 1200, 60}, DeadlineSeconds: 2700, Speed: Speed{"large": 1.25}, Jobs: JobRange{Min: 9, Max: 10}, Penalty: cents(500),
				SlotsPerVM: SlotsPerVM{ByType: map[string]SlotsPerVM{"small": {Map: 2, Reduce: 2}, "large": {Map: 4, Reduce: 3}}}},
			{Name: "report", VMsPerJob: &gamma, Speed: Speed{"small": 0}, Jobs: JobRange{Min: 0, Max: 4}, Penalty: cents(200)},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problem (-want +got):\n%s", diff)
	}
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), `"supply":{"on_demand"`) {
		t.Errorf("written as %s, %v; want vm_types alone", text, err)
	}
}

// Each case changes fleetText in one place and names the finding that must come, alone.
func TestReadProblemRefusesVMTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new, pointer, code, says string }{
		{"types and on-demand supply", `{"vm_types": [`, `{"on_demand": {"price": "0"}, "vm_types": [`, "/supply/on_demand", "not_here", `every type has its own "on_demand"`},
		{"types and contracts", `{"vm_types": [`, `{"contracts": [], "vm_types": [`, "/supply/contracts", "not_here", "move this one into the type"},
		{"types and spot supply", `{"vm_types": [`, `{"spot": {"price": 1, "max_share": 1}, "vm_types": [`, "/supply/spot", "not_here", "move this one into the type"},
		{"duplicate type", `"name": "large"`, `"name": "small"`, "/supply/vm_types/1/name", "duplicate_name", "VM type with index 0"},
		{"empty type name", `"name": "large"`, `"name": ""`, "/supply/vm_types/1/name", "text", "empty"},
		{"type name of another kind", `"name": "large"`, `"name": 7`, "/supply/vm_types/1/name", "type", "not a number"},
		{"type without a price", `"on_demand": {"price": "0.38"}, `, ``, "/supply/vm_types/1/on_demand", "missing", "a VM type needs it"},
		{"mistyped member of a type", `"spot": {"price": "0.12"`, `"spott": {"price": "0.12"`, "/supply/vm_types/1/spott", "unknown_member", `Did you mean "spot"?`},
		{"contract of two types", `"name": "one-year"`, `"name": "three-year"`, "/supply/vm_types/1/contracts/0/name", "duplicate_name", `The VM type "small" has a contract called "three-year" as well`},
		{"contract twice in a type", `"name": "one-year", "vms": 10, "price": "0.18"}`, `"name": "x", "vms": 1, "price": 1}, {"name": "x", "vms": 1, "price": 1}`, "/supply/vm_types/1/contracts/1/name", "duplicate_name", "The contract with index 0"},
		{"share above everything", `"max_share": 0.5`, `"max_share": 1.01`, "/supply/vm_types/1/spot/max_share", "range", "1 at most"},
		{"negative share", `"max_share": 0.5`, `"max_share": -0.5`, "/supply/vm_types/1/spot/max_share", "range", "cannot be negative"},
		{"share in words", `"max_share": 0.5`, `"max_share": "half"`, "/supply/vm_types/1/spot/max_share", "type", "not a string"},
		{"no share", `, "max_share": 0.5`, ``, "/supply/vm_types/1/spot/max_share", "missing", "spot supply needs it"},
		{"no spot price", `"price": "0.12", `, ``, "/supply/vm_types/1/spot/price", "missing", "spot supply needs it"},
		{"negative spot price", `"0.12"`, `"-0.12"`, "/supply/vm_types/1/spot/price", "range", "cannot be negative"},
		{"spot supply that is null", `{"price": "0.12", "max_share": 0.5}`, `null`, "/supply/vm_types/1/spot", "null", "not null"},
		{"negative budget", `"vm_cost": "40.00"`, `"vm_cost": "-40.00"`, "/budget/vm_cost", "range", "cannot be negative"},
		{"budget with ten places", `"total": null`, `"total": "0.1234567891"`, "/budget/total", "precision", `Write "0.123456789"`},
		{"budget beyond all bounds", `"total": null`, `"total": 1e10`, "/budget/total", "range", "at most"},
		{"budget that is null", `{"vm_cost": "40.00", "total": null}`, `null`, "/budget", "null", "not null"},
		{"mistyped budget", `"vm_cost"`, `"vm-cost"`, "/budget/vm-cost", "unknown_member", `Did you mean "vm_cost"?`},
		{"slots on an unknown type", `"large": {"map"`, `"lrage": {"map"`, "/classes/0/slots_per_vm/lrage", "unknown_name", `Did you mean "large"?`},
		{"speed on an unknown type", `{"large": 1.25}`, `{"laptop": 1.25}`, "/classes/0/speed/laptop", "unknown_name", `no VM type "laptop"`},
		{"no slots on a type", `"large": {"map": 4`, `"large": {"map": 0`, "/classes/0/slots_per_vm/large/map", "range", "from 1 to 1000"},
		{"half the slots of a type", `{"map": 4, "reduce": 3}`, `{"map": 4}`, "/classes/0/slots_per_vm/large/reduce", "missing", "needs it"},
		{"slots and slots by type", `"large": {"map": 4, "reduce": 3}`, `"reduce": 3`, "/classes/0/slots_per_vm/reduce", "type", "not a number"},
		{"slots of a type twice", `"large": {"map"`, `"small": {"map"`, "/classes/0/slots_per_vm/small", "duplicate_member", "The VM type \"small\" is given twice"},
		{"negative speed", `1.25`, `-1.25`, "/classes/0/speed/large", "range", "cannot be negative"},
		{"absurd speed", `1.25`, `1000.5`, "/classes/0/speed/large", "range", "1000 at most"},
		{"speed of next to nothing", `1.25`, `1e-300`, "/classes/0/speed/large", "range", "at least 0.001, or 0"},
		{"speed that is no number", `1.25`, `NaN`, "/classes/0/speed/large", "not_finite", "NaN"},
		{"speed beyond float64", `1.25`, `1e999`, "/classes/0/speed/large", "range", "too large"},
		{"speed that is an array", `{"large": 1.25}`, `[1.25]`, "/classes/0/speed", "type", "not an array"},
		{"class that runs nowhere", `{"small": 0}`, `{"small": 0, "large": 0}`, "/classes/1", "no_type", "runs on none of the VM types"},
		{"class whose types do not fit its speeds", `"small": {"map": 2, "reduce": 2}, "large": {"map": 4, "reduce": 3}}, "speed": {"large": 1.25}`, `"large": {"map": 4, "reduce": 3}}, "speed": {"large": 0}`, "/classes/0", "no_type", "runs on none"},
		{"more VMs than can be planned at this speed", `"vms_per_job": "1.5", "speed": {"small": 0}`, `"vms_per_job": "500000", "speed": {"small": 0.001}`, "/classes/1/vms_per_job", "range", "the most that can be planned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Count(fleetText, c.old) != 1 {
				t.Fatalf("%q stands %d times in the problem, want once", c.old, strings.Count(fleetText, c.old))
			}
			_, err := ReadProblem([]byte(strings.Replace(fleetText, c.old, c.new, 1)), DefaultLimits())
			got := findings(t, err)
			if len(got) != 1 || got[0].Pointer != c.pointer || got[0].Code != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v (%v), want %s at %s saying %q", got, err, c.code, c.pointer, c.says)
			}
		})
	}
}

func TestTypesNeedNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new, want string }{
		{"speed", `"penalty": "5.00"`, `"penalty": "5.00", "speed": {"small": 2}`, "/classes/0/speed unknown_name\n"},
		{"slots", `{"map": 2, "reduce": 2}`, `{"small": {"map": 2, "reduce": 2}}`, "/classes/0/slots_per_vm unknown_name\n"},
		{"no types", `"on_demand": {"price": "0.20", "quota": null}`, `"vm_types": []`, "/supply/vm_types missing\n/supply/contracts not_here\n"},
	} {
		text := nightly(t)
		if strings.Count(text, c.old) != 1 {
			t.Fatalf("%s: %q stands %d times in the problem", c.name, c.old, strings.Count(text, c.old))
		}
		_, err := ReadProblem([]byte(strings.Replace(text, c.old, c.new, 1)), DefaultLimits())
		if got := allOf(findings(t, err)); got != c.want {
			t.Errorf("%s: got\n%s\nwant %s", c.name, got, c.want)
		}
	}
	// A type that cannot be read is not unknown as well.
	for broken, want := range map[string]string{
		`"vm_types": 5, "x": [`: "/supply/vm_types type\n/supply/x unknown_member\n",
		`"vm_types": [7, `:      "/supply/vm_types/0 type\n",
		`"vm_type": [`:          "/supply/vm_type unknown_member\n/supply/on_demand missing\n",
	} {
		_, err := ReadProblem([]byte(strings.Replace(fleetText, `"vm_types": [`, broken, 1)), DefaultLimits())
		if got := allOf(findings(t, err)); got != want {
			t.Errorf("%s: got\n%s\nwant %s", broken, got, want)
		}
	}
}

func allOf(found []fault.Finding) string {
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.Pointer + " " + f.Code + "\n")
	}
	return b.String()
}

func TestVMTypesAreLimited(t *testing.T) {
	t.Parallel()
	problem := func(types, contracts int) string {
		var b strings.Builder
		for i := range types {
			name := strings.Repeat("t", i+1)
			b.WriteString(`,{"name":"` + name + `","on_demand":{"price":1},"contracts":[`)
			for j := range contracts {
				b.WriteString(strings.Repeat(",", min(1, j)) + `{"name":"` + name + strings.Repeat("c", j+1) + `x","vms":1,"price":1}`)
			}
			b.WriteString(`]}`)
		}
		return `{"currency":"USD","supply":{"vm_types":[` + b.String()[1:] + `]},"classes":[{"name":"a","vms_per_job":1,"jobs":{"min":0,"max":1},"penalty":1}]}`
	}
	for _, c := range []struct {
		text, want string
	}{
		{problem(MaxVMTypes, 0), ""},
		{problem(MaxVMTypes+1, 0), "/supply/vm_types too_many\n"},
		{problem(3, 3), ""},
		{problem(3, 4), "/supply/vm_types too_many\n"},
	} {
		limits := DefaultLimits()
		limits.Contracts = 9
		_, err := ReadProblem([]byte(c.text), limits)
		got := ""
		if err != nil {
			got = allOf(findings(t, err))
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Problems made in Go may hold what no text can say.
func TestValidateRefusesFleetsNoTextCanSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Problem)
		want   string
	}{
		{"NaN speed", func(p *Problem) { p.Classes[0].Speed = Speed{"large": math.NaN()} }, "/classes/0/speed/large not_finite\n"},
		{"infinite speed", func(p *Problem) { p.Classes[0].Speed = Speed{"large": math.Inf(1)} }, "/classes/0/speed/large not_finite\n"},
		{"NaN share", func(p *Problem) { p.Supply.VMTypes[1].Spot.MaxShare = math.NaN() }, "/supply/vm_types/1/spot/max_share not_finite\n"},
		{"slots in slots", func(p *Problem) {
			p.Classes[0].SlotsPerVM.ByType["large"] = SlotsPerVM{ByType: map[string]SlotsPerVM{"small": {1, 1, nil}}}
		}, "/classes/0/slots_per_vm/large/map range\n/classes/0/slots_per_vm/large/reduce range\n"},
		{"slots of no type", func(p *Problem) { p.Classes[0].SlotsPerVM.ByType = map[string]SlotsPerVM{} }, "/classes/0 no_type\n"},
		{"both forms", func(p *Problem) { p.Supply.Spot = &Spot{}; p.Supply.OnDemand.Quota = new(int64) }, "/supply/on_demand not_here\n/supply/spot not_here\n"},
	} {
		p, err := ReadProblem([]byte(fleetText), DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		c.change(&p)
		got := ""
		if err := p.Validate(); err != nil {
			got = allOf(findings(t, err))
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A class of a stored cluster is read by encoding/json, which leaves its slots to us.
func TestSlotsPerVMAreReadInEitherForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*SlotsPerVM{
		`{"map": 2, "reduce": 4}`: {Map: 2, Reduce: 4},
		` { "a\"b" : { "map":1,"reduce":2}, "map": {"reduce": 3, "map": 4} }`: {ByType: map[string]SlotsPerVM{`a"b`: {Map: 1, Reduce: 2}, "map": {Map: 4, Reduce: 3}}},
		`{"a": {"map": 1}}`:                        nil,
		`{"a": {"map": 1, "reduce": 1.5}}`:         nil,
		`{"a": 1}`:                                 nil,
		`{"map": 1, "a": {"map": 1, "reduce": 1}}`: nil,
		`{}`: nil,
		`7`:  nil,
	} {
		var got struct{ S SlotsPerVM }
		err := json.Unmarshal([]byte(`{"S": `+text+`}`), &got)
		if (err == nil) != (want != nil) {
			t.Errorf("%s: got %+v, %v", text, got.S, err)
		} else if want != nil {
			if diff := cmp.Diff(*want, got.S); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		}
	}
}
