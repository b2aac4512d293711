package recheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"headroom/internal/ask/horizon"
	"headroom/internal/core/capacity"
	"headroom/internal/core/proof"
	"headroom/internal/test/plantest"
)

// Whatever is done to an answer, the check comes to an end and says something. The long form tries four times as many
// damages.
func TestDamagedAnswersDoNotCrash(t *testing.T) {
	months, aboutMonths := answerMonths(t, monthsText, horizon.DetailClasses)
	purchase, aboutPurchase := answerPurchase(t, purchaseText)
	whatIf, aboutWhatIf := answerWhatIf(t, `{"detail": "full", "problem": `+problemText+scenariosText)
	sweep, aboutSweep := answerSweep(t, `{"problem": `+fleetText+`, "vary": [{"what": "penalty", "values": ["1", "2"]}]}`)
	goal, aboutGoal := answerGoal(t, `{"problem": `+problemText+`, "question": "one_more_job", "class": "a"}`)
	for i, c := range [][2][]byte{{months, aboutMonths}, {purchase, aboutPurchase}, {whatIf, aboutWhatIf}, {sweep, aboutSweep}, {goal, aboutGoal}} {
		root, known, n := tree(c[1]), map[string]proof.Least{}, 0
		try := func(at string) {
			if n++; n%([]int{17, 61, 29, 5, 5}[i]*plantest.Trials(4, 1)) != 0 {
				return
			}
			text, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if said := recover(); said != nil {
					t.Errorf("%s: %v", at, said)
				}
			}()
			_, _ = check(c[0], text, Options{Limits: capacity.DefaultLimits(), Looks: 2000}, known)
		}
		damages := []any{nil, []any{}, map[string]any{}, json.Number("-1"), json.Number("1e300"), "", "-7", "infeasible", false}
		var walk func(at string, x any, set func(any))
		walk = func(at string, x any, set func(any)) {
			for _, d := range damages {
				set(d)
				try(fmt.Sprintf("%d%s: %v", i, at, d))
			}
			set(x)
			switch x := x.(type) {
			case map[string]any:
				for _, name := range slices.Sorted(maps.Keys(x)) {
					walk(at+"/"+name, x[name], func(v any) { x[name] = v })
				}
			case []any:
				for k := range x {
					walk(fmt.Sprintf("%s/%d", at, k), x[k], func(v any) { x[k] = v })
				}
			}
		}
		walk("", root, func(v any) { root = v })
	}
}

// A word or a figure changed in any sentence of a sweep or of an answer to a goal is found.
func TestEverySentenceOfSweepsAndGoalsIsChecked(t *testing.T) {
	var cases [][2][]byte
	relaxed := `"options": {"integrality": "relaxed"}, "classes"`
	for _, problem := range []string{problemText, fleetText, strings.Replace(problemText, `"classes"`, relaxed, 1)} {
		for _, q := range []string{`"question": "one_more_job", "class": "a"`, `"question": "most_for_budget", "budget": {"amount": "0.5"}`,
			`"question": "most_for_budget", "budget": {"amount": "90", "of": "total"}`, `"question": "cheapest_for_all"`, `"question": "cheapest_deadline"`} {
			if strings.Contains(q, "deadline") { // only a class of the first problem has one, and its jobs are refused
				if problem == fleetText {
					continue
				}
				problem = strings.Replace(problem, `"penalty": "0.55"`, `"penalty": "5"`, 1)
			}
			asked, answer := answerGoal(t, `{"problem": `+problem+`, `+q+`}`)
			cases = append(cases, [2][]byte{asked, answer})
		}
		asked, answer := answerSweep(t, `{"problem": `+problem+`, "vary": [{"what": "penalty", "values": ["0.1", "1", "2"]}]}`)
		cases = append(cases, [2][]byte{asked, answer})
	}
	changed := 0
	for i, c := range cases {
		root, known := tree(c[1]).(map[string]any), map[string]proof.Least{}
		try := func(at, sentence string, set func(any)) {
			for _, wrong := range []string{sentence + " Not so.", strings.Replace(sentence, " ", " not ", 1), digits.ReplaceAllString(sentence, "7")} {
				if wrong == sentence {
					continue
				}
				set(wrong)
				text, err := json.Marshal(root)
				if err != nil {
					t.Fatal(err)
				}
				r, err := check(c[0], text, Options{Limits: capacity.DefaultLimits(), Looks: 2000}, known)
				if changed++; err != nil || r.Outcome != proof.Failed {
					t.Errorf("%d%s: %q passes: %s, %v", i, at, wrong, r.Outcome, err)
				}
			}
			set(sentence)
		}
		for _, name := range []string{"answer", "explanation"} {
			if s, is := root[name].(string); is {
				try("/"+name, s, func(v any) { root[name] = v })
			}
		}
		facts, _ := root["facts"].([]any)
		for k := range facts {
			f := facts[k].(map[string]any)
			try(fmt.Sprintf("/facts/%d", k), f["claim"].(string), func(v any) { f["claim"] = v })
		}
	}
	t.Logf("%d sentences changed", changed)
	if changed < 200 {
		t.Errorf("only %d sentences are changed", changed)
	}
}

var digits = regexp.MustCompile(`[0-689]`)
