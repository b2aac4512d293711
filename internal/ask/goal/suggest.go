package goal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
)

// A suggestion is a courtesy: it is computed for small problems, in little time.
const (
	suggestedClasses = 200
	suggestedTime    = time.Second
)

// SuggestPenalties completes an error about a problem whose classes lack penalties and that is right beside. To each
// it adds a hint: what one more job costs, which is a price to begin with. Other errors stay as they are.
func SuggestPenalties(ctx context.Context, data []byte, limits capacity.Limits, err error) error {
	var input *fault.InputError
	if !errors.As(err, &input) {
		return err
	}
	for _, f := range input.Findings {
		if f.Code != "missing" || !strings.HasSuffix(f.Pointer, "/penalty") || !strings.HasPrefix(f.Pointer, "/classes/") {
			return err
		}
	}
	p, some := withoutPenalties(data, limits)
	if !some {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, suggestedTime)
	defer cancel()
	answer, failed := plan.Solve(ctx, p, nil)
	if failed != nil || len(answer.Classes) != len(p.Classes) {
		return err
	}
	out := *input
	out.Findings = append([]fault.Finding{}, input.Findings...)
	for i := range out.Findings {
		f := &out.Findings[i]
		var class int
		if _, failed := fmt.Sscanf(f.Pointer, "/classes/%d/penalty", &class); failed != nil || class >= len(answer.Classes) {
			continue
		}
		cost, what := costOfOneMore(&answer.Classes[class]), "about what one more job costs"
		if answer.Classes[class].OneMore.Told() {
			what = "just above what one more job costs"
		}
		if cost != nil && !cost.IsPositive() { // VMs that are paid anyway would stand idle
			cost, what = rentedFor(p, &answer.Classes[class]), "about what the VMs of a job cost on demand"
		}
		if cost != nil && cost.IsPositive() {
			start := cost.RoundFloor(2).Add(decimal.New(1, -2)).StringFixed(2) // at the cost itself a job is a tie
			f.Hint = &fault.Hint{Pointer: f.Pointer, Value: start, Detail: fmt.Sprintf(
				"Suggested to begin with: %q, %s. Give more for jobs that are worth more to you.", start, what)}
		}
	}
	return &out
}

// costOfOneMore returns what one more job of a class costs that is worth nothing yet; nil if none can be served.
func costOfOneMore(c *capacity.ClassPlan) *money.Amount {
	if more := c.OneMore; more != nil {
		if !more.Fits {
			return nil
		}
		if more.Amount != nil {
			return more.Amount
		}
	}
	return c.BreakEvenPenalty
}

// rentedFor returns what the VMs of one job cost a period on demand; nil where nothing says it.
func rentedFor(p capacity.Problem, c *capacity.ClassPlan) *money.Amount {
	hours := decimal.New(p.PeriodSeconds, 0).Div(decimal.New(3600, 0))
	cost := p.Supply.OnDemand.Price.Mul(decimal.NewFromFloat(c.VMsPerJob)).Mul(hours)
	if len(p.Supply.VMTypes) > 0 || !cost.IsPositive() {
		return nil
	}
	return &money.Amount{Decimal: cost}
}

// withoutPenalties reads a problem whose missing penalties are 0, for the method that needs no solver.
func withoutPenalties(data []byte, limits capacity.Limits) (p capacity.Problem, read bool) {
	var document map[string]json.RawMessage
	var classes []map[string]json.RawMessage
	if json.Unmarshal(data, &document) != nil || json.Unmarshal(document["classes"], &classes) != nil || len(classes) > suggestedClasses {
		return p, false
	}
	for _, c := range classes {
		if c["penalty"] == nil {
			c["penalty"] = json.RawMessage(`"0"`)
		}
	}
	text, err := json.Marshal(classes)
	if err != nil {
		return p, false
	}
	document["classes"] = text
	if text, err = json.Marshal(document); err != nil {
		return p, false
	}
	p, err = capacity.ReadProblem(bytes.TrimSpace(text), limits, func(o *capacity.Options) {
		o.Engine, o.MaxSolveMs = capacity.EngineExact, suggestedTime.Milliseconds()
	})
	return p, err == nil
}
