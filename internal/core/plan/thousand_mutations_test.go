package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"headroom/internal/core/capacity"
	"headroom/internal/core/proof"
	"headroom/internal/test/plantest"
)

type harmlessMutation struct {
	how, at *regexp.Regexp
	why     string
}

// harmless lists the mutations that pass and may, with the reason.
var harmless = []harmlessMutation{
	{regexp.MustCompile(`^null$`), regexp.MustCompile(`/(conflicts|warnings|facts|figures|contracts|classes|slots)$`), "null says the same as the empty list that stood there"},
	{regexp.MustCompile(`^(null|deleted)$`), regexp.MustCompile(`/stays($|/)|/one_(more|less)(/vms)?$`), "it says less: where time ends, the planner leaves such a statement out"},
	{regexp.MustCompile(`^deleted$`), regexp.MustCompile(`^/cost/bill$|^/facts$`), "older plans lack it, and nothing else of the plan tells its age"},
	{regexp.MustCompile(`^number$`), regexp.MustCompile(`^/proof/solve_ms$`), "how long the planner worked is no statement about the plan"},
	{regexp.MustCompile(`^swapped$`), regexp.MustCompile(`^/layout$`), "the same VMs in another order"},
}

// leaf is a place in a document at which it may be changed.
type leaf struct {
	at      string
	x       any
	set     func(any)
	deleted func() // nil for an entry of a list
}

// leaves lists all places of a document but its root.
func leaves(document any) (all []leaf) {
	var walk func(l leaf)
	walk = func(l leaf) {
		if l.at != "" {
			all = append(all, l)
		}
		switch x := l.x.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				walk(leaf{l.at + "/" + name, x[name], func(v any) { x[name] = v }, func() { delete(x, name) }})
			}
		case []any:
			for i := range x {
				walk(leaf{fmt.Sprintf("%s/%d", l.at, i), x[i], func(v any) { x[i] = v }, nil})
			}
		}
	}
	walk(leaf{x: document})
	return all
}

// mutate changes a place in one of the ways that its value allows; "" where it stays as it was.
func (l leaf) mutate(r *rand.Rand) (how string) {
	switch way := r.IntN(6); {
	case way == 0 && l.deleted != nil:
		l.deleted()
		return "deleted"
	case way == 1 && l.x != nil:
		l.set(nil)
		return "null"
	}
	switch x := l.x.(type) {
	case bool:
		l.set(!x)
		return "bool"
	case json.Number:
		f, _ := x.Float64()
		by := f / 100
		if f == float64(int64(f)) {
			by = 1
		}
		l.set(json.Number(strconv.FormatFloat(f+by*float64(2*r.IntN(2)-1), 'g', -1, 64)))
		return "number"
	case string:
		return l.mutateText(r, x)
	case []any:
		if len(x) > 1 {
			i, swapped := r.IntN(len(x)-1), slices.Clone(x)
			swapped[i], swapped[i+1] = x[i+1], x[i]
			l.set(swapped)
			return "swapped"
		}
	}
	return ""
}

// mutateText changes a digit, loses a word, or changes a letter.
func (l leaf) mutateText(r *rand.Rand, x string) string {
	var digits []int
	for i := range len(x) {
		if x[i] >= '0' && x[i] <= '9' {
			digits = append(digits, i)
		}
	}
	text, words := []byte(x), strings.Fields(x)
	switch way := r.IntN(3); {
	case len(digits) > 0 && (way > 0 || len(words) < 2): // the first digits, so that no figure changes by a hair alone
		i := digits[r.IntN(min(len(digits), 3))]
		text[i] = '0' + (text[i]-'0'+byte(1+r.IntN(9)))%10
		l.set(string(text))
		return "digit"
	case len(words) > 1:
		i := r.IntN(len(words))
		l.set(strings.Join(slices.Delete(words, i, i+1), " "))
		return "word"
	}
	l.set(x + "x")
	return "letter"
}

// Of a thousand mutations of plans as they are stored, words included, at most five pass, beside the harmless ones.
func TestAThousandMutationsOfPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 2))
	trials := plantest.Trials(200, 1000)
	var plans []mutatedPlan
	draw := func(n int, draw func() capacity.Problem) {
		for last := len(plans) + n; len(plans) < last; {
			p := draw()
			if pl, err := Solve(context.Background(), p, nil); p.Validate() == nil && err == nil && pl.Status != capacity.InfeasibleStatus {
				plans = append(plans, mutatedPlan{p, capacity.AppendPlan(nil, pl)})
			}
		}
	}
	draw(trials/10, func() capacity.Problem {
		p := plantest.DrawAny(r)
		p.Options.Integrality = []capacity.Integrality{capacity.Executable, capacity.Integer}[r.IntN(2)]
		return p
	})
	for _, kind := range []string{"budget", "spot", "types", "mixed"} {
		draw(trials/40, func() capacity.Problem { return plantest.DrawFleet(r, plantest.FleetKinds[kind], 3, 3) })
	}
	allowed, wrong := map[string]int{}, 0
	for i := 0; i < trials; {
		of := plans[r.IntN(len(plans))]
		at, how, text := of.mutant(t, r)
		if text == nil {
			continue
		}
		i++
		changed, err := capacity.ReadPlan(text)
		if err != nil || !proof.Verify(of.problem, changed, proof.Options{}).Accepted() {
			continue
		}
		if k := slices.IndexFunc(harmless, func(h harmlessMutation) bool { return h.how.MatchString(how) && h.at.MatchString(at) }); k >= 0 {
			allowed[harmless[k].why]++
			continue
		}
		wrong++
		t.Logf("passes: %s at %s", how, at)
	}
	t.Logf("%d mutations of %d plans: %d pass wrongly; harmless: %v", trials, len(plans), wrong, allowed)
	if wrong > trials/200 {
		t.Errorf("%d of %d mutations pass wrongly, want at most %d", wrong, trials, trials/200)
	}
}

// mutatedPlan is a plan to be mutated, with its problem.
type mutatedPlan struct {
	problem capacity.Problem
	text    []byte
}

// mutant is the plan with one place changed; no text where the draw changes nothing.
func (m mutatedPlan) mutant(t *testing.T, r *rand.Rand) (at, how string, text []byte) {
	t.Helper()
	var document any
	decoder := json.NewDecoder(bytes.NewReader(m.text))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	same, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	all := leaves(document)
	l := all[r.IntN(len(all))]
	how = l.mutate(r)
	text, err = json.Marshal(document)
	if err != nil || bytes.Equal(same, text) {
		return "", "", nil
	}
	return l.at, how, text
}
