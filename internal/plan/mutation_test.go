package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"headroom/internal/capacity"
	"headroom/internal/proof"
)

// unchecked is where a plan may be changed and stay accepted: what proof.NotChecked says in words.
var unchecked = regexp.MustCompile(`^/classes/\d+/reason$|^/warnings(/|$)|^/conflicts(/|$)|^/integer/(objective|vms)$|^/relaxed/capacity$|^/proof/(engine|agreed|solve_ms)$`)

// mutant is a plan's text with one thing changed.
type mutant struct {
	at, how string
	text    []byte
}

const removed = "(removed)"

// mutants changes every leaf, member and entry of a document in its turn, of what stands at like places one of each.
func mutants(t *testing.T, r *rand.Rand, text []byte, all bool) (made []mutant) {
	t.Helper()
	var document any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	index := regexp.MustCompile(`/\d+`)
	var walk func(at string, x any, set func(any))
	try := func(at, how string, x, instead any, set func(any)) {
		pattern := how + index.ReplaceAllString(at, "/#")
		if seen[pattern]++; !all && seen[pattern] > 1 && r.IntN(seen[pattern]) > 0 {
			return
		}
		set(instead)
		changed, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		set(x)
		if i := slices.IndexFunc(made, func(m mutant) bool { return m.how+index.ReplaceAllString(m.at, "/#") == pattern }); !all && i >= 0 {
			made[i] = mutant{at, how, changed}
			return
		}
		made = append(made, mutant{at, how, changed})
	}
	walk = func(at string, x any, set func(any)) {
		switch x := x.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				child := x[name]
				walk(at+"/"+name, child, func(v any) { x[name] = v })
				try(at+"/"+name, "removed", child, removed, func(v any) {
					if x[name] = v; v == removed {
						delete(x, name)
					}
				})
			}
		case []any:
			for i := range x {
				walk(fmt.Sprintf("%s/%d", at, i), x[i], func(v any) { x[i] = v })
			}
			if len(x) > 0 {
				i := r.IntN(len(x))
				try(at, "an entry dropped", x, slices.Delete(slices.Clone(x), i, i+1), set)
				try(at, "an entry doubled", x, slices.Insert(slices.Clone(x), i, x[i]), set)
			}
		case json.Number:
			f, _ := x.Float64()
			by := []float64{1.001, 0.999}[r.IntN(2)]
			if f == float64(int64(f)) {
				try(at, "one more or less", x, json.Number(strconv.FormatFloat(f+float64(2*r.IntN(2)-1), 'g', -1, 64)), set)
			}
			if f != 0 {
				try(at, "a thousandth more or less", x, json.Number(strconv.FormatFloat(f*by, 'g', -1, 64)), set)
			}
		case string:
			if f, err := strconv.ParseFloat(x, 64); err == nil {
				try(at, "a cent more or less", x, strconv.FormatFloat(f+0.01*float64(2*r.IntN(2)-1), 'f', 9, 64), set)
				return
			}
			try(at, "another text", x, x+"x", set)
		case bool:
			try(at, "turned round", x, !x, set)
		case nil:
			try(at, "a figure where there is none", x, "0.5", set)
		}
	}
	walk("", document, func(v any) { document = v })
	return made
}

// Whatever is changed in a plan is found, be it when it is read or when it is checked, but for what the check itself
// says it does not look at.
func TestEveryChangeOfAPlanIsFound(t *testing.T) {
	long := os.Getenv("HEADROOM_LONG") != ""
	r := rand.New(rand.NewPCG(20, 26))
	kinds := map[string]capacity.Problem{}
	for len(kinds) < 10 {
		p := drawn(r)
		if p.Validate() != nil || len(p.Classes) < 2 {
			continue
		}
		pl, err := Solve(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		kind := fmt.Sprintf("%s %s", p.Options.Integrality, p.Options.Sharing)
		if pl.Status == capacity.InfeasibleStatus {
			kind = "infeasible " + string(p.Options.Integrality)
		} else if len(p.Supply.Contracts) == 0 {
			continue
		}
		if _, known := kinds[kind]; !known && len(kinds) < 9 || strings.HasPrefix(kind, "infeasible") && len(kinds) == 9 {
			kinds[kind] = p
		}
		if len(kinds) == 9 {
			break
		}
	}
	for _, kind := range []string{"budget", "spot", "types", "mixed"} {
		for {
			p := drawFleet(r, fleetKinds[kind], 3, 3)
			if pl, err := Solve(context.Background(), p, nil); p.Validate() == nil && err == nil && pl.Status != capacity.InfeasibleStatus {
				kinds[kind] = p
				break
			}
		}
	}
	tried, allowed, missed := 0, 0, map[string][]string{}
	for kind, p := range kinds {
		pl, err := Solve(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := capacity.AppendPlan(nil, pl)
		if report := proof.Verify(p, pl, proof.Options{}); !report.Accepted() {
			t.Fatalf("%s: %s\n%s", kind, report, text)
		}
		for _, m := range mutants(t, r, text, long) {
			tried++
			changed, err := capacity.ReadPlan(m.text)
			if err != nil || !proof.Verify(p, changed, proof.Options{}).Accepted() {
				continue
			}
			if unchecked.MatchString(m.at) {
				allowed++
				continue
			}
			what := m.how + " at " + regexp.MustCompile(`\d+`).ReplaceAllString(m.at, "#")
			missed[what] = append(missed[what], kind+" "+m.at)
		}
	}
	for what, where := range missed {
		t.Errorf("%s: is not found in %q", what, where[:min(3, len(where))])
	}
	t.Logf("%d changes of %d plans: all found but %d of what is not checked", tried, len(kinds), allowed)
	t.Attr("R4", fmt.Sprintf("%d changes of the text of %d plans: all found but %d of what the check says it does not look at", tried, len(kinds), allowed))
}
