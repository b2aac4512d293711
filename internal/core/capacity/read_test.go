package capacity

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// nightly is the problem of docs/reference/problem.md.
func nightly(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("../../../openapi/examples/nightly-etl.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func findings(t *testing.T, err error) []fault.Finding {
	t.Helper()
	var input *fault.InputError
	if !errors.As(err, &input) || !errors.Is(err, fault.Invalid) {
		t.Fatalf("got error %v, want an InputError", err)
	}
	return input.Findings
}

func TestReadProblemReadsWhatIsWritten(t *testing.T) {
	got, err := ReadProblem([]byte(nightly(t)), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := Problem{
		Currency: "USD", PeriodSeconds: 3600,
		Supply: Supply{
			Contracts: []Contract{{Name: "three-year", VMs: 30, Price: money.Amount{Decimal: decimal.New(1, -1)}, Billing: BilledUsed}},
			OnDemand:  OnDemand{Price: money.Amount{Decimal: decimal.New(2, -1)}},
		},
		Classes: []Class{{
			Name: "nightly-etl",
			Profile: &Profile{MapTasks: 300, ReduceTasks: 40, MapAvgSeconds: 30, MapMaxSeconds: 60, FirstShuffleAvgSeconds: 12, FirstShuffleMaxSeconds: 20,
				ShuffleAvgSeconds: 40, ShuffleMaxSeconds: 90, ReduceAvgSeconds: 20, ReduceMaxSeconds: 50},
			DeadlineSeconds: 2700, SlotsPerVM: SlotsPerVM{Map: 2, Reduce: 2}, Jobs: JobRange{Min: 9, Max: 10}, Penalty: money.Amount{Decimal: decimal.New(5, 0)},
		}},
		Options: DefaultOptions(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problem (-want +got):\n%s", diff)
	}
}

func TestReadProblemDefaults(t *testing.T) {
	got, err := ReadProblem([]byte(`{"currency":"USD","supply":{"on_demand":{"price":0.2},"contracts":[{"name":"a","vms":1,"price":"0"}]},
		"classes":[{"name":"x","vms_per_job":1.5,"jobs":{"min":0,"max":-0},"penalty":-0}]}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got.PeriodSeconds != 3600 || got.Supply.OnDemand.Quota != nil || got.Supply.Contracts[0].Billing != BilledUsed {
		t.Errorf("got %+v, want the defaults", got)
	}
	if diff := cmp.Diff(DefaultOptions(), got.Options); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if s := got.Classes[0].Penalty.String(); s != "0.00" {
		t.Errorf("penalty -0 is %s, want 0.00", s)
	}
	if text, _ := json.Marshal(got.Classes[0].Jobs); string(text) != `{"min":0,"max":0}` {
		t.Errorf("jobs -0 are %s, want 0", text)
	}
}

// Each case changes the documentation's problem in one place and names the finding that must come, alone.
var refusals = []struct {
	name     string
	old, new string
	pointer  string
	code     string
	says     string // part of the sentence or of its hint
}{
	{"unknown member", `"deadline_s": 2700`, `"deadline_s": 2700, "deadlines": 3`, "/classes/0/deadlines", "unknown_member", `Did you mean "deadline_s"?`},
	{"a member of schedules", `"deadline_s": 2700`, `"deadline_s": 2700, "due_s": 3`, "/classes/0/due_s", "unknown_member", "schedules take it"},
	{"a member of the supply of schedules", `"supply": {`, `"supply": {"start": {"price": "1"}, `, "/supply/start", "unknown_member", "headroom whatif schedule"},
	{"unknown member far from all", `"period_s": 3600`, `"zebra": 1`, "/zebra", "unknown_member", `no member "zebra"`},
	{"unknown member with a path in its name", `"period_s": 3600`, `"a/b~c": 1`, "/a~1b~0c", "unknown_member", "A problem has no member"},
	{"duplicate member", `"period_s": 3600`, `"period_s": 3600, "period_s": 3600`, "/period_s", "duplicate_member", "twice"},
	{"escaped duplicate member", `"period_s": 3600`, `"period_s": 3600, "\u0070eriod_s": 3600`, "/period_s", "duplicate_member", "twice"},
	{"missing currency", `"currency": "USD",`, ``, "/currency", "missing", "needs it"},
	{"missing penalty", `,
    "penalty": "5.00"`, ``, "/classes/0/penalty", "missing", "a class needs it"},
	{"missing deadline", `"deadline_s": 2700,`, ``, "/classes/0/deadline_s", "missing", "a class with a profile"},
	{"missing slots", `"slots_per_vm": {"map": 2, "reduce": 2},`, ``, "/classes/0/slots_per_vm", "missing", "needs it"},
	{"missing reduce slots", `{"map": 2, "reduce": 2}`, `{"map": 2}`, "/classes/0/slots_per_vm/reduce", "missing", "needs it"},
	{"missing mean", `"map_avg_s": 30,`, ``, "/classes/0/profile/map_avg_s", "missing", "a profile needs it"},
	{"missing reduce figure", `"reduce_avg_s": 20,`, ``, "/classes/0/profile/reduce_avg_s", "missing", "with reduce tasks"},
	{"null", `"deadline_s": 2700`, `"deadline_s": null`, "/classes/0/deadline_s", "null", "not null"},
	{"null profile figure", `"map_avg_s": 30`, `"map_avg_s": null`, "/classes/0/profile/map_avg_s", "null", "not null"},
	{"null options", `{"integrality": "executable", "bound": "average", "engine": "cbc", "gap": 1e-6, "max_solve_ms": 2000, "one_slot_per_job": true, "sharing": "shared"}`, `null`, "/options", "null", "not null"},
	{"string for a number", `"map_avg_s": 30`, `"map_avg_s": "30"`, "/classes/0/profile/map_avg_s", "type", "not a string"},
	{"number for a name", `"name": "nightly-etl"`, `"name": 7`, "/classes/0/name", "type", "not a number"},
	{"array for an object", `{"min": 9, "max": 10}`, `[9, 10]`, "/classes/0/jobs", "type", "not an array"},
	{"object for an array", `[{"name": "three-year", "vms": 30, "price": "0.10", "billing": "used"}]`, `{"name": "three-year"}`, "/supply/contracts", "type", "not an object"},
	{"word for a flag", `"one_slot_per_job": true`, `"one_slot_per_job": 1`, "/options/one_slot_per_job", "type", "true or false"},
	{"flag for a count", `"vms": 30`, `"vms": true`, "/supply/contracts/0/vms", "type", "whole number"},
	{"NaN", `"map_max_s": 60`, `"map_max_s": NaN`, "/classes/0/profile/map_max_s", "not_finite", "NaN is not a number"},
	{"infinity", `"deadline_s": 2700`, `"deadline_s": -Infinity`, "/classes/0/deadline_s", "not_finite", "-Infinity"},
	{"beyond float64", `"deadline_s": 2700`, `"deadline_s": 1e309`, "/classes/0/deadline_s", "range", "1e309 is too large"},
	{"beyond int64", `"vms": 30`, `"vms": 99999999999999999999`, "/supply/contracts/0/vms", "range", "too large"},
	{"fraction of a task", `"map_tasks": 300`, `"map_tasks": 300.5`, "/classes/0/profile/map_tasks", "not_whole", "300.5 is not a whole number"},
	{"money with ten places", `"price": "0.10"`, `"price": "0.1000000001"`, "/supply/contracts/0/price", "precision", `Write "0.1"`},
	{"money with a comma", `"price": "0.10"`, `"price": "0,10"`, "/supply/contracts/0/price", "type", `Write "0.10"`},
	{"money in words", `"penalty": "5.00"`, `"penalty": "five"`, "/classes/0/penalty", "type", `"five" is not a decimal`},
	{"money with an absurd exponent", `"penalty": "5.00"`, `"penalty": "1e999999999"`, "/classes/0/penalty", "range", "too large"},
	{"negative money", `"penalty": "5.00"`, `"penalty": "-5.00"`, "/classes/0/penalty", "range", "cannot be negative"},
	{"too much money", `"price": "0.20"`, `"price": 1000000000.01`, "/supply/on_demand/price", "range", "at most"},
	{"empty name", `"name": "nightly-etl"`, `"name": ""`, "/classes/0/name", "text", "empty"},
	{"long name", `"name": "nightly-etl"`, `"name": "` + strings.Repeat("é", 201) + `"`, "/classes/0/name", "text", "201 characters"},
	{"NUL in a name", `"name": "nightly-etl"`, `"name": "nightly\u0000etl"`, "/classes/0/name", "text", "U+0000"},
	{"escape character in a contract's name", `"name": "three-year"`, `"name": "three\u001byear"`, "/supply/contracts/0/name", "text", "U+001B"},
	{"small currency", `"currency": "USD"`, `"currency": "usd"`, "/currency", "text", `Write "USD"`},
	{"long currency", `"currency": "USD"`, `"currency": "Dollar"`, "/currency", "text", "three capital letters"},
	{"period of nothing", `"period_s": 3600`, `"period_s": 0`, "/period_s", "range", "from 1 to 31622400"},
	{"period beyond a year", `"period_s": 3600`, `"period_s": 31622401`, "/period_s", "range", "The nearest is 31622400"},
	{"no map tasks", `"map_tasks": 300`, `"map_tasks": 0`, "/classes/0/profile/map_tasks", "range", "from 1 to"},
	{"negative reduce tasks", `"reduce_tasks": 40`, `"reduce_tasks": -1`, "/classes/0/profile/reduce_tasks", "range", "from 0 to"},
	{"too many tasks", `"reduce_tasks": 40`, `"reduce_tasks": 10000001`, "/classes/0/profile/reduce_tasks", "range", "10000000"},
	{"negative duration", `"map_avg_s": 30`, `"map_avg_s": -30`, "/classes/0/profile/map_avg_s", "range", "cannot be negative"},
	{"absurd duration", `"reduce_max_s": 50`, `"reduce_max_s": 10000001`, "/classes/0/profile/reduce_max_s", "range", "at most"},
	{"longest shorter than the mean", `"map_max_s": 60`, `"map_max_s": 20`, "/classes/0/profile/map_max_s", "premise", "Set it to 30 at least"},
	{"longest longer than all", `"shuffle_avg_s": 40, "shuffle_max_s": 90`, `"shuffle_avg_s": 2, "shuffle_max_s": 90`, "/classes/0/profile/shuffle_avg_s", "premise", "The mean must be 2.25 at least"},
	{"one task of two lengths", `"map_tasks": 300`, `"map_tasks": 1`, "/classes/0/profile/map_max_s", "premise", "With one task"},
	{"negative overhead", `"overhead_s": 0`, `"overhead_s": -1`, "/classes/0/profile/overhead_s", "range", "cannot be negative"},
	{"deadline of nothing", `"deadline_s": 2700`, `"deadline_s": 0`, "/classes/0/deadline_s", "range", "The deadline is 0"},
	{"no slots", `{"map": 2, "reduce": 2}`, `{"map": 0, "reduce": 2}`, "/classes/0/slots_per_vm/map", "range", "from 1 to 1000"},
	{"too many slots", `{"map": 2, "reduce": 2}`, `{"map": 2, "reduce": 1001}`, "/classes/0/slots_per_vm/reduce", "range", "The nearest is 1000"},
	{"half a slot", `{"map": 2, "reduce": 2}`, `{"map": 1.5, "reduce": 2}`, "/classes/0/slots_per_vm/map", "not_whole", "1.5"},
	{"more promised than asked for", `{"min": 9, "max": 10}`, `{"min": 11, "max": 10}`, "/classes/0/jobs/min", "order", "Promise at most 10"},
	{"all and half a job", `{"min": 9, "max": 10}`, `{"all": true, "max": 10.5}`, "/classes/0/jobs/max", "not_whole", "Give 10"},
	{"all without a number", `{"min": 9, "max": 10}`, `{"all": true}`, "/classes/0/jobs/max", "missing", "max"},
	{"all in words", `{"min": 9, "max": 10}`, `{"all": "yes", "max": 10}`, "/classes/0/jobs/all", "type", "true"},
	{"half a job", `{"min": 9, "max": 10}`, `{"min": 9, "max": 10.5}`, "/classes/0/jobs/max", "not_whole", "Give 10"},
	{"half a job promised", `{"min": 9, "max": 10}`, `{"min": 8.5, "max": 10}`, "/classes/0/jobs/min", "not_whole", "Give 9"},
	{"too many jobs", `{"min": 9, "max": 10}`, `{"min": 9, "max": 1000001}`, "/classes/0/jobs/max", "range", "1000000"},
	{"negative jobs", `{"min": 9, "max": 10}`, `{"min": -1, "max": 10}`, "/classes/0/jobs/min", "range", "cannot be negative"},
	{"too many VMs in a contract", `"vms": 30`, `"vms": 1000000001`, "/supply/contracts/0/vms", "range", "1000000000"},
	{"negative quota", `"quota": null`, `"quota": -1`, "/supply/on_demand/quota", "range", "from 0 to"},
	{"two needs", `"deadline_s": 2700,`, `"deadline_s": 2700, "vms_per_job": "4",`, "/classes/0", "one_of", `"profile" and "vms_per_job"`},
	{"word mistyped", `"billing": "used"`, `"billing": "allways"`, "/supply/contracts/0/billing", "choice", `Did you mean "always"?`},
	{"unknown engine", `"engine": "cbc"`, `"engine": "cplex"`, "/options/engine", "choice", "cbc, exact, auto"},
	{"unknown integrality", `"integrality": "executable"`, `"integrality": "Integer"`, "/options/integrality", "choice", `Did you mean "integer"?`},
	{"unknown bound", `"bound": "average"`, `"bound": "avg"`, "/options/bound", "choice", "lower, average, upper"},
	{"unknown sharing", `"sharing": "shared"`, `"sharing": ""`, "/options/sharing", "choice", "shared, dedicated"},
	{"gap too wide", `"gap": 1e-6`, `"gap": 0.11`, "/options/gap", "range", "0.1 at most"},
	{"no time", `"max_solve_ms": 2000`, `"max_solve_ms": 0`, "/options/max_solve_ms", "range", "from 1 to 600000"},
	{"previous plan of an unknown class", `"gap": 1e-6`, `"near": {"vms": 41, "jobs": {"nightly/etl": 10}}`, "/options/near/jobs/nightly~1etl", "unknown_name", `Did you mean "nightly-etl"?`},
	{"previous plan of negative jobs", `"gap": 1e-6`, `"near": {"vms": 41, "jobs": {"nightly-etl": -1}}`, "/options/near/jobs/nightly-etl", "range", "cannot be negative"},
	{"previous plan twice", `"gap": 1e-6`, `"near": {"vms": 41, "jobs": {"nightly-etl": 1, "nightly-etl": 1}}`, "/options/near/jobs/nightly-etl", "duplicate_member", "twice"},
}

func TestReadProblemRefuses(t *testing.T) {
	valid := nightly(t)
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			if strings.Count(valid, c.old) != 1 {
				t.Fatalf("%q stands %d times in the problem, want once", c.old, strings.Count(valid, c.old))
			}
			_, err := ReadProblem([]byte(strings.Replace(valid, c.old, c.new, 1)), DefaultLimits())
			got := findings(t, err)
			if len(got) != 1 || got[0].Pointer != c.pointer || got[0].Code != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v (%v), want %s at %s saying %q", got, err, c.code, c.pointer, c.says)
			}
			if h := got[0].Hint; h != nil && h.Value != nil && h.Pointer == "" {
				t.Errorf("the hint %+v has a value and no place for it", h)
			}
		})
	}
}
