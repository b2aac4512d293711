package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp/worker"
)

// printedPlan is the answer to the example problem as the documentation prints it: money and
// counts in full, other numbers rounded to the places shown.
const printedPlan = `{
  "status": "optimal",
  "objective": "-44.80",
  "cost": {"total": "5.20", "on_demand": "2.20", "reserved": "3.00", "reserved_idle": "0.00", "penalties": "0.00", "currency": "USD", "period_s": 3600, "per_hour": "5.20", "per_month": "3796.00"},
  "vms": {"total": 41, "reserved": 30, "on_demand": 11, "contracts": [{"name": "three-year", "vms": 30, "used": 30}], "rounding": 0.5},
  "classes": [{
    "name": "nightly-etl", "admitted": 10, "refused": 0, "vms": 40.5, "vms_per_job": 4.0315, "slots": {"map": 52, "reduce": 29},
    "time_s": {"lower": 2530.4, "average": 2694.5, "upper": 2858.7}, "verdict": "full",
    "reason": "One more job costs 0.80 an hour in VMs; refused, it is valued at 5.00.",
    "break_even_penalty": "0.80", "flips": {"penalty": "0.80", "deadline_s": 2719.8, "on_demand_price": "1.25"}
  }],
  "prices": {"capacity": {"low": "0.20", "high": "0.20"}, "contracts": [{"name": "three-year", "worth": "0.10"}]},
  "relaxed": {"objective": "-44.936956", "capacity": 40.3152, "jobs": [10]},
  "integer": {"objective": "-44.80", "vms": 41, "executable": true, "short_vms": 0},
  "proof": {"bound": "-44.80", "gap": 0, "agreed": true, "checked": true},
  "warnings": [],
  "conflicts": []
}`

// halfPlace returns half of the last printed place: the largest distance of a full number from the printed one.
func halfPlace(printed string) float64 {
	_, decimals, _ := strings.Cut(printed, ".")
	if decimals == "" {
		return 0
	}
	return 0.5000001 * math.Pow(10, -float64(len(decimals)))
}

// compare reports the differences of an answer from the printed one. Members that were not printed are free.
func compare(t *testing.T, at string, printed, got any) {
	t.Helper()
	switch want := printed.(type) {
	case map[string]any:
		members, is := got.(map[string]any)
		if !is {
			t.Errorf("%s: got %v, want an object", at, got)
			return
		}
		for name, value := range want {
			compare(t, at+"/"+name, value, members[name])
		}
	case []any:
		list, is := got.([]any)
		if !is || len(list) != len(want) {
			t.Errorf("%s: got %v, want %v", at, got, want)
			return
		}
		for i := range want {
			compare(t, fmt.Sprint(at, "/", i), want[i], list[i])
		}
	default:
		text := fmt.Sprint(want)
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			if want != got {
				t.Errorf("%s: got %v, want %v", at, got, want)
			}
			return
		}
		full, err := strconv.ParseFloat(fmt.Sprint(got), 64)
		if _, isText := got.(string); err != nil || math.Abs(full-number) > halfPlace(text) || isText != (fmt.Sprintf("%T", want) == "string") {
			t.Errorf("%s: got %v, want %s", at, got, text)
		}
	}
}

func document(t *testing.T, text []byte) (d any) {
	t.Helper()
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	if err := reader.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

// The example problem of the documentation gives the plan printed beside it, whoever solves it.
func TestExampleOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../openapi/examples/nightly-etl.json")
	if err != nil {
		t.Fatal(err)
	}
	pool := worker.New(worker.Config{Processes: 1})
	defer pool.Close()
	for _, engine := range []capacity.Engine{capacity.EngineCBC, capacity.EngineExact, capacity.EngineAuto} {
		t.Run(string(engine), func(t *testing.T) {
			p, err := capacity.ReadProblem(text, capacity.DefaultLimits(), func(o *capacity.Options) { o.Engine = engine })
			if err != nil {
				t.Fatal(err)
			}
			p.Options.MaxSolveMs = 20_000 // the solver has a part of it, also on busy machines
			pl, err := Solve(context.Background(), p, pool)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := json.Marshal(pl)
			if err != nil {
				t.Fatal(err)
			}
			want := document(t, []byte(printedPlan))
			if engine == capacity.EngineCBC {
				if !strings.HasPrefix(pl.Proof.Engine, "cbc 2.") {
					t.Errorf("the engine is %q, want cbc 2", pl.Proof.Engine)
				}
			} else { // nobody was asked
				want.(map[string]any)["proof"].(map[string]any)["agreed"] = nil
			}
			compare(t, "", want, document(t, answer))
		})
	}
}
