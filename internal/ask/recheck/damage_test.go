package recheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/test/plantest"
)

// Whatever is done to an answer, the check comes to an end and says something. The long form tries four times as many
// damages.
func TestDamagedAnswersDoNotCrash(t *testing.T) {
	months, aboutMonths := answerMonths(t, monthsText, horizon.DetailClasses)
	purchase, aboutPurchase := answerPurchase(t, purchaseText)
	whatIf, aboutWhatIf := answerWhatIf(t, `{"detail": "full", "problem": `+problemText+scenariosText)
	sweep, aboutSweep := answerSweep(t, `{"problem": `+fleetText+`, "vary": [{"what": "penalty", "values": ["1", "2"]}]}`)
	goal, aboutGoal := answerGoal(t, `{"problem": `+problemText+`, "question": "one_more_job", "class": "a"}`)
	arrivals, aboutArrivals := answerMonths(t, narrowText, horizon.DetailClasses)
	calibration, aboutCalibration := answeredCalibration(t, drawnCalibration(rand.New(rand.NewPCG(27, 3))))
	for i, c := range [][2][]byte{{months, aboutMonths}, {purchase, aboutPurchase}, {whatIf, aboutWhatIf}, {sweep, aboutSweep}, {goal, aboutGoal},
		{calibration, aboutCalibration}, {arrivals, aboutArrivals}} {
		root, known, n := tree(c[1]), map[string]proof.Least{}, 0
		try := func(at string) {
			if n++; n%([]int{17, 61, 29, 5, 5, 1, 17}[i]*plantest.Trials(20, 1)) != 0 {
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
