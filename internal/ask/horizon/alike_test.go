package horizon

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/test/plantest"
)

// Hours with the same whole jobs get the same answer, byte by byte, as if each were solved by itself, and most are not solved.
func TestHoursWithTheSameJobsAreSolvedOnce(t *testing.T) {
	all := [2]int{} // problems solved of horizons in which no job is refused
	refused, whole := 0, 0
	for seed := range uint64(plantest.Trials(60, 1000)) {
		var texts [2]string
		var solves [2]int
		for by := range texts {
			r := rand.New(rand.NewPCG(seed, 120))
			h := drawnValue(r, 1+seed%2)
			h.Problem.Options = capacity.DefaultOptions()
			h.Problem.Options.Integrality = []capacity.Integrality{capacity.Integer, capacity.Executable}[r.IntN(2)]
			if r.IntN(2) == 0 {
				h.Problem.Supply.Spot = &capacity.Spot{Price: money.Round(0.07), MaxShare: 0.5}
			}
			at := h.Start()
			h.Periods = nil
			for range 60 {
				p := HorizonPeriod{Start: at, Hours: 1}
				for range h.Problem.Classes {
					p.Arrivals = append(p.Arrivals, float64(1+r.IntN(6))+r.Float64())
				}
				h.Periods, at = append(h.Periods, p), at.Add(time.Hour)
			}
			series := plan.NewSeries(h.Carried().Problem, nil)
			c := NewCourse(h, func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
				solves[by]++
				return series.Solve(ctx, p)
			})
			if by == 0 {
				clear(c.alike)
			}
			if err := c.Work(t.Context()); err != nil {
				t.Fatal(err)
			}
			a := c.Answer()
			if by == 1 && a.Total.RefusedHours > 0 {
				refused++
			} else if by == 1 {
				whole++
			}
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			texts[by] = string(text)
		}
		if solves[0] == 60 {
			all[0], all[1] = all[0]+solves[0], all[1]+solves[1]
		}
		if texts[0] != texts[1] {
			t.Fatalf("seed %d: hour by hour it is\n%s\nand with what is alike\n%s", seed, texts[0], texts[1])
		}
	}
	if t.Log(all, refused, whole); refused < 5 || whole < 5 || 4*all[1] > 3*all[0] {
		t.Errorf("%v problems are solved; of the horizons %d refuse jobs and %d do not", all, refused, whole)
	}
}
