package plan

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	tables "example.org/headroom/internal/service/report"
)

// explainedExample explains an example of the contract.
func explainedExample(t *testing.T, name string, change func(*capacity.Problem)) string {
	t.Helper()
	text, err := os.ReadFile("../../../../openapi/examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := capacity.ReadProblem(text, shell.Limits, func(o *capacity.Options) { o.Engine = capacity.EngineExact })
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&p)
	}
	pl, err := plan.Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return explainedText(t, p, pl)
}

func explainedText(t *testing.T, p capacity.Problem, pl capacity.Plan) string {
	t.Helper()
	at := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
	r := record{PlanSummary: plans.PlanSummary{Number: 7, Cluster: "shop", At: at, CreatedAt: at, CreatedBy: "ops", InputsVersion: 12},
		Plan: pl}
	var b strings.Builder
	if err := explained(&b, explainPlan(p, r, "")); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlansAreExplained(t *testing.T) {
	t.Parallel()
	got := ""
	for _, name := range []string{"several-classes.json", "impossible-deadline.json", "demands-and-ratios.json", "map-only.json"} {
		got += "-- " + name + " --\n" + explainedExample(t, name, func(p *capacity.Problem) {
			if name == "map-only.json" {
				p.Options.Integrality = capacity.Relaxed
			}
			if name == "demands-and-ratios.json" {
				p.Classes[1].Name = "a \x1b[2J name"
			}
		})
	}
	golden(t, "testdata/explain.txt", got)
}

// A plan of several VM types is explained type by type, and its table adds up.
func TestPlansOfSeveralTypesAreExplained(t *testing.T) {
	t.Parallel()
	p, pl := solvedProblem(t, `{"currency": "USD", "supply": {"vm_types": [
		{"name": "general", "contracts": [{"name": "three-year", "vms": 10, "price": "0.10", "billing": "always"}], "on_demand": {"price": "0.20", "quota": 6}},
		{"name": "compute", "on_demand": {"price": "0.26", "quota": null}, "spot": {"price": "0.09", "max_share": 0.5}},
		{"name": "idle", "on_demand": {"price": "9.00", "quota": null}}]},
		"budget": {"vm_cost": "6.00"},
		"classes": [
		{"name": "etl", "demand": {"map_work_s": 9000, "reduce_work_s": 2000, "fixed_s": 30}, "deadline_s": 1800, "slots_per_vm": {"map": 2, "reduce": 2}, "speed": {"compute": 1.4, "idle": 0}, "jobs": {"min": 2, "max": 8}, "penalty": "1.50"},
		{"name": "reports", "vms_per_job": "1.5", "speed": {"general": 1, "compute": 0, "idle": 0}, "jobs": {"min": 0, "max": 4}, "penalty": "0.25"},
		{"name": "alone", "vms_per_job": "2.5", "jobs": {"min": 0, "max": 4}, "penalty": "0.40"}]}`)
	got := explainedText(t, p, pl) + "-- table --\n"
	var b strings.Builder
	pl.Proof.SolveMs = 3.1
	if err := tables.Plan(&b, p, pl); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/explain-types.txt", got+b.String())
}

func solvedProblem(t *testing.T, text string) (capacity.Problem, capacity.Plan) {
	t.Helper()
	p, err := capacity.ReadProblem([]byte(text), shell.Limits, func(o *capacity.Options) { o.Engine = capacity.EngineExact })
	if err != nil {
		t.Fatal(err)
	}
	pl, err := plan.Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, pl
}

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// golden compares with a file, or rewrites it with -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// The ends of a range that a sentence tells lie in it: they are rounded inwards.
func TestRangesAreRoundedInwards(t *testing.T) {
	t.Parallel()
	amount := func(text string) *money.Amount { return &money.Amount{Decimal: decimal.RequireFromString(text)} }
	number := func(x float64) *float64 { return &x }
	p := capacity.Problem{Currency: "EUR"}
	for want, got := range map[string]string{
		"a penalty of 0.5001 EUR or more":      amountRange("penalty", &capacity.MoneyRange{Low: amount("0.500000001")}, p),
		"a penalty up to 0.4999 EUR":           amountRange("penalty", &capacity.MoneyRange{High: amount("0.499999999")}, p),
		"a penalty of 0.50 EUR":                amountRange("penalty", &capacity.MoneyRange{Low: amount("0.5"), High: amount("0.5")}, p),
		"a penalty of about 0.5001 EUR":        amountRange("penalty", &capacity.MoneyRange{Low: amount("0.50006"), High: amount("0.50007")}, p),
		"a deadline from 297.31 s to 310.23 s": figureRange("deadline", &capacity.Range{Low: number(297.301), High: number(310.2399)}, 2, func(x float64) string { return shell.Figure(x) + " s" }),
		"a deadline from 297.3 s to 310.24 s":  figureRange("deadline", &capacity.Range{Low: number(297.3), High: number(310.24)}, 2, func(x float64) string { return shell.Figure(x) + " s" }),
		"a quota of 2 VMs":                     figureRange("quota", &capacity.Range{Low: number(2), High: number(2)}, 0, vms),
		"any price":                            amountRange("price", &capacity.MoneyRange{}, p),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Only what is planned with a calibration is said to be as measured.
func TestUncalibratedTimesAreNotMeasured(t *testing.T) {
	t.Parallel()
	text := explainedExample(t, "chain.json", nil)
	for class, want := range map[string]string{"sales-report": "as measured executions say", "nightly-etl": "on average"} {
		_, said, _ := strings.Cut(text, class+": ")
		if said, _, _ = strings.Cut(said, "\n"); !strings.Contains(said, "s ("+want+")") {
			t.Errorf("class %q: got %q, want it to say %q", class, said, want)
		}
	}
}

// A class without jobs in an hour is said to want none, once.
func TestEmptyHoursAreSaidOnce(t *testing.T) {
	t.Parallel()
	for _, deadline := range []float64{0, 0.001} { // the second is impossible
		text := explainedExample(t, "several-classes.json", func(p *capacity.Problem) {
			c := &p.Classes[0]
			c.Jobs = capacity.JobRange{}
			if deadline > 0 {
				c.DeadlineSeconds = deadline
			}
		})
		wanted, asked := strings.Count(text, "No jobs are wanted."), strings.Count(text, "No jobs are asked for.")
		if wanted+asked != 1 || (wanted == 1) != (deadline == 0) {
			t.Errorf("with a deadline of %v: %s", deadline, text)
		}
	}
}

// Several classes without jobs are said to want none in one sentence, with those that have jobs before it.
func TestClassesWithoutJobsAreSaidOnce(t *testing.T) {
	t.Parallel()
	for some, want := range map[int]string{1: "nightly-etl: No jobs are wanted.\n", 2: "\nNo jobs are wanted of nightly-etl and fraud-scores.\n", 3: "\n\nNo jobs are wanted.\n"} {
		text := explainedExample(t, "several-classes.json", func(p *capacity.Problem) {
			p.Classes = p.Classes[:3]
			for i := range some {
				p.Classes[i].Jobs = capacity.JobRange{}
			}
		})
		if strings.Count(text, "No jobs are wanted") != 1 || !strings.Contains(text, want) {
			t.Errorf("with %d of 3 without jobs got\n%s\nwant %q", some, text, want)
		}
	}
}

// Amounts far below a cent are told in digits that say something, and one VM more or less at a kink by what it is worth.
func TestSmallAmountsAreExplained(t *testing.T) {
	t.Parallel()
	said := func(of string) string {
		p, pl := solvedProblem(t, of)
		return explainedText(t, p, pl)
	}
	const small = `{"currency": "XBT", "supply": {"contracts": [{"name": "cheap", "vms": 5, "price": "0.000010"}], "on_demand": {"price": "0.000020", "quota": 12}},
		"classes": [{"name": "a", "vms_per_job": 1, "jobs": {"min": 0, "max": 8}, "penalty": "0.00003"}, {"name": "b", "vms_per_job": 3, "jobs": {"min": 0, "max": 8}, "penalty": "0.00005"}],
		"options": {"integrality": %q}}`
	tiny, whole := said(fmt.Sprintf(small, capacity.Relaxed)), said(fmt.Sprintf(small, capacity.Integer))
	if !strings.Contains(whole, "a price on demand from 0.0000167 XBT to 0.00003 XBT") {
		t.Errorf("whole VMs:\n%s", whole)
	}
	for _, want := range []string{"One VM of capacity is worth 0.00002 XBT", "an on-demand price of 0.0000167 instead of 0.00002 XBT"} {
		if !strings.Contains(tiny, want) {
			t.Errorf("tiny amounts: want %q in\n%s", want, tiny)
		}
	}
	if strings.Contains(tiny, " 0.00 ") {
		t.Errorf("an amount is told as nothing:\n%s", tiny)
	}
	kink := said(`{"currency": "USD", "supply": {"contracts": [{"name": "cheap", "vms": 5, "price": "0.10"}, {"name": "dear", "vms": 5, "price": "0.15"}], "on_demand": {"price": "0.20", "quota": null}},
		"classes": [{"name": "a", "vms_per_job": 1, "jobs": {"min": 0, "max": 10}, "penalty": "5"}], "options": {"integrality": "relaxed"}}`)
	if want := "One more VM of capacity is worth 0.15 USD an hour, and one less would cost 0.20."; !strings.Contains(kink, want) {
		t.Errorf("at a kink: want %q in\n%s", want, kink)
	}
}
