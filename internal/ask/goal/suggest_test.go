package goal

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
)

// suggested takes penalties out of an example and returns the hints of what is then refused.
func suggested(t *testing.T, name string, without func(class int) bool, change func(map[string]any)) map[string]*fault.Hint {
	t.Helper()
	text, err := os.ReadFile("../../../openapi/examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for i, c := range d["classes"].([]any) {
		if without(i) {
			delete(c.(map[string]any), "penalty")
		}
	}
	if change != nil {
		change(d)
	}
	if text, err = json.Marshal(d); err != nil {
		t.Fatal(err)
	}
	_, refused := capacity.ReadProblem(text, capacity.DefaultLimits())
	hints := map[string]*fault.Hint{}
	for _, f := range fault.Findings(SuggestPenalties(t.Context(), text, capacity.DefaultLimits(), refused)) {
		hints[f.Pointer] = f.Hint
	}
	return hints
}

// With the suggested penalty more jobs of the class are served than are promised, and with two cents less none: so much does
// one more job cost.
func TestPenaltiesAreSuggested(t *testing.T) {
	first := func(class int) bool { return class == 0 }
	for _, name := range []string{"nightly-etl.json", "several-vm-types.json"} {
		hints := suggested(t, name, first, nil)
		hint := hints["/classes/0/penalty"]
		if len(hints) != 1 || hint == nil || hint.Pointer != "/classes/0/penalty" || !strings.Contains(hint.Detail, "Suggested to begin with") {
			t.Fatalf("%s: %+v", name, hints)
		}
		start := decimal.RequireFromString(hint.Value.(string))
		for cents, want := range map[string]bool{start.String(): true, start.Sub(decimal.New(2, -2)).String(): false} {
			text, _ := os.ReadFile("../../../openapi/examples/" + name)
			p, err := capacity.ReadProblem(text, capacity.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			p.Options.Engine = capacity.EngineExact
			p.Classes[0].Penalty = money.Amount{Decimal: decimal.RequireFromString(cents)}
			a, err := plan.Solve(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := a.Classes[0].Admitted > p.Classes[0].Jobs.Min; got != want && strings.Contains(hint.Detail, "just above") {
				t.Errorf("%s: with a penalty of %s %g jobs are served", name, cents, a.Classes[0].Admitted)
			}
		}
	}
	// Where paid VMs would stand idle a job costs nothing; then it is what its VMs cost on demand.
	for pointer, hint := range suggested(t, "several-classes.json", func(int) bool { return true }, nil) {
		if hint == nil || !strings.Contains(hint.Detail, "on demand") || hint.Value == "0.00" {
			t.Errorf("%s: %+v", pointer, hint)
		}
	}
	// Other mistakes are told without a suggestion.
	for pointer, hint := range suggested(t, "nightly-etl.json", first, func(d map[string]any) { d["currency"] = 5 }) {
		if hint != nil && strings.Contains(hint.Detail, "Suggested") {
			t.Errorf("%s: %+v", pointer, hint)
		}
	}
}
