package goal

import (
	"context"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
)

// alone plans without a second engine.
func alone(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
	return plan.Solve(ctx, p, nil)
}

func solved(t testing.TB, p capacity.Problem) capacity.Plan {
	t.Helper()
	pl, err := plan.Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}
