package question

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/plans/solving"
)

// TestScenariosShareFreePlaces answers a question in one place and in three: the answers must be the same,
// and every place must be given back.
func TestScenariosShareFreePlaces(t *testing.T) {
	drawn, err := study.Generate("mixed", 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := drawn.Profiled()
	if err != nil {
		t.Fatal(err)
	}
	p.Options.Engine = capacity.EngineExact
	q := whatif.WhatIfQuestion{Problem: p, Detail: whatif.DetailSummary}
	whats := []whatif.What{whatif.ChangeDeadline, whatif.ChangeDemand, whatif.ChangePrice, whatif.ChangePenalty}
	for i := range 60 {
		factor := 0.8 + float64(i)/100
		q.Scenarios = append(q.Scenarios, whatif.AskedScenario{Name: fmt.Sprint(i), Changes: []whatif.ScenarioChange{{What: whats[i%4],
			Factor: &factor}}})
	}
	var texts []string
	for _, places := range []int{1, 3} {
		d := &Desk{Solver: solving.New(nil, places, 0, nil)}
		_, w, err := WhatIf.atOnce(context.Background(), d, Request{}, func() (whatif.WhatIfQuestion, error) { return q, nil })
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
		if passing, waiting := d.Solver.Count(); passing != 0 || waiting != 0 {
			t.Errorf("of %d places %d are still taken, and %d wait", places, passing, waiting)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("one place answers\n%s\nthree answer\n%s", texts[0], texts[1])
	}
}
