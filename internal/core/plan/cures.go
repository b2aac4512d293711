package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// curesWithin takes away the cures with which the promised jobs fit, and the cheapest plan costs more than the budget
// for everything. It solves the cured problem to see so.
func curesWithin(ctx context.Context, p *capacity.Problem, pl capacity.Plan) capacity.Plan {
	if pl.Status != capacity.InfeasibleStatus || p.Budget == nil || p.Budget.Total == nil {
		return pl
	}
	pl.Conflicts = slices.Clone(pl.Conflicts)
	for i := range pl.Conflicts {
		c := &pl.Conflicts[i]
		if c.Hint == nil || c.Code == words.CodeOverBudget {
			continue
		}
		q, err := cured(p, c.Hint)
		if err != nil || ctx.Err() != nil {
			c.Hint = nil
			continue
		}
		q.Options.Engine, q.Options.Near = capacity.EngineExact, nil
		then, err := NewSeries(q, nil).brief(ctx, &q)
		switch {
		case err != nil:
			c.Hint = nil
		case len(then.Conflicts) == 1 && then.Conflicts[0].Code == words.CodeOverBudget:
			c.Detail += words.FitsWith(c.Hint.Value) + then.Conflicts[0].Detail
			c.Hint = nil
		}
	}
	return pl
}

// cured is a problem with the value of a cure in its place.
func cured(p *capacity.Problem, h *fault.Hint) (capacity.Problem, error) {
	var document any
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		return capacity.Problem{}, err
	}
	steps := strings.Split(h.Pointer, "/")[1:]
	at := document
	for i, step := range steps {
		switch of := at.(type) {
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(of) {
				return capacity.Problem{}, fmt.Errorf("nothing stands at %s", h.Pointer)
			}
			at = of[n]
		case map[string]any:
			if i == len(steps)-1 {
				of[step] = h.Value
			}
			at = of[step]
		}
	}
	if text, err = json.Marshal(document); err != nil {
		return capacity.Problem{}, err
	}
	return capacity.ReadProblem(text, capacity.Limits{Classes: len(p.Classes), Contracts: math.MaxInt32, VMTypes: capacity.MaxVMTypes})
}
