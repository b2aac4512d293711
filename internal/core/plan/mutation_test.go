package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/proof"
	"headroom/internal/test/plantest"
)

// unchecked matches the places at which a plan may be changed and stay accepted, as proof.NotChecked says in words.
var unchecked = regexp.MustCompile(`^/facts$|^/warnings(/|$)|^/conflicts(/|$)|^/integer/short_vms$|^/relaxed/capacity$|^/proof/(engine|agreed|solve_ms)$|^/stays(/quota)?$|^/stays/types/\d+/(quota|on_demand_price)$|^/classes/\d+/(stays|one_more|one_less|(one_more|one_less)/(vms|low|high))$`)

// uncheckedHere is the same of what depends on the plan.
func uncheckedHere(p capacity.Problem, pl capacity.Plan, at string) bool {
	switch parts := strings.Split(at, "/"); {
	case unchecked.MatchString(at), strings.HasSuffix(at, "/reason") && isFleet(&p):
		return true
	case strings.HasSuffix(at, "/worth") && p.Budget != nil && p.Budget.VMCost != nil:
		var contracts []capacity.Contract
		for _, s := range p.Supply.Types() {
			contracts = append(contracts, s.Contracts...)
		}
		i, _ := strconv.Atoi(parts[3])
		return contracts[i].Billing == capacity.BilledAlways && !p.Budget.VMCost.GreaterThan(pl.Cost.Reserved.Add(pl.Cost.ReservedIdle.Decimal))
	case strings.HasPrefix(at, "/classes/") && len(parts) > 3:
		i, _ := strconv.Atoi(parts[2])
		c := &pl.Classes[i]
		tie := c.BreakEvenPenalty != nil && c.BreakEvenPenalty.Sub(p.Classes[i].Penalty.Decimal).Abs().LessThan(decimal.New(1, -8))
		least := c.Slots != nil && (c.Slots.Map > 0 && c.Slots.Map < 1e-9 || c.Slots.Reduce > 0 && c.Slots.Reduce < 1e-9)
		return parts[3] == "flips" && tie || parts[3] == "time_s" && least
	}
	return false
}

// mutant is a plan's text with one thing changed.
type mutant struct {
	at, how string
	text    []byte
}

const (
	removed = "(removed)"
	hair    = 1e-5 // no figure is changed by less: floats leave such differences, and so little is nobody's wrong
)

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
			by := float64(2*r.IntN(2) - 1)
			if f == float64(int64(f)) {
				try(at, "one more or less", x, json.Number(strconv.FormatFloat(f+float64(2*r.IntN(2)-1), 'g', -1, 64)), set)
			}
			if f != 0 {
				try(at, "a thousandth more or less", x, json.Number(strconv.FormatFloat(f+by*max(math.Abs(f)/1000, hair), 'g', -1, 64)), set)
			}
		case string:
			if f, err := strconv.ParseFloat(x, 64); err == nil {
				cent := 0.01
				if strings.HasPrefix(at, "/prices/") { // slopes, known to a hundred-thousandth of the money at stake
					cent = max(5*cent, math.Abs(f)/1000)
				}
				try(at, "a cent more or less", x, strconv.FormatFloat(f+cent*float64(2*r.IntN(2)-1), 'f', 9, 64), set)
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

// Any change of a plan is found when it is read or when it is checked, except for those that the check itself names as
// not checked. The short form changes a plan of each of 13 kinds, the long one 200 of each.
func TestEveryChangeOfAPlanIsFound(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("HEADROOM_LONG") != "" {
		seeds = 200
	}
	tried, allowed, plans := 0, 0, 0
	for seed := range seeds {
		changes, spared, of := everyChangeIsFound(t, seed)
		tried, allowed, plans = tried+changes, allowed+spared, plans+of
	}
	t.Logf("%d changes of %d plans: all found but %d of what is not checked", tried, plans, allowed)
	t.Attr("R4", fmt.Sprintf("%d changes of the text of %d plans: all found but %d of what the check says it does not look at", tried, plans, allowed))
}

// everyChangeIsFound changes a plan of every kind.
func everyChangeIsFound(t *testing.T, seed uint64) (tried, allowed, plans int) {
	r := rand.New(rand.NewPCG(20, seed))
	kinds := map[string]capacity.Problem{}
	for len(kinds) < 10 {
		p := plantest.DrawAny(r)
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
			p := plantest.DrawFleet(r, plantest.FleetKinds[kind], 3, 3)
			if pl, err := Solve(context.Background(), p, nil); p.Validate() == nil && err == nil && pl.Status != capacity.InfeasibleStatus {
				kinds[kind] = p
				break
			}
		}
	}
	missed := map[string][]string{}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		p := kinds[kind]
		pl, err := Solve(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := capacity.AppendPlan(nil, pl)
		if report := proof.Verify(p, pl, proof.Options{}); !report.Accepted() {
			t.Fatalf("%s: %s\n%s", kind, report, text)
		}
		for _, m := range mutants(t, r, text, seed == 0 && os.Getenv("HEADROOM_LONG") != "") {
			tried++
			changed, err := capacity.ReadPlan(m.text)
			if err != nil || !proof.Verify(p, changed, proof.Options{}).Accepted() {
				continue
			}
			if uncheckedHere(p, pl, m.at) || m.at == "/cost/bill" && m.how == "removed" { // a reader of older plans adds it up
				allowed++
				continue
			}
			what := m.how + " at " + regexp.MustCompile(`\d+`).ReplaceAllString(m.at, "#")
			missed[what] = append(missed[what], kind+" "+m.at)
		}
	}
	for what, where := range missed {
		t.Errorf("seed %d: %s: is not found in %q", seed, what, where[:min(3, len(where))])
	}
	return tried, allowed, len(kinds)
}
