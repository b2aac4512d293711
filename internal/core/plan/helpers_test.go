package plan

import (
	"testing"

	"example.org/headroom/internal/core/capacity"
)

// relax is the closed form's answer; nil where not even the promised jobs fit.
func relax(t testing.TB, p capacity.Problem) (*model, *relaxation) {
	t.Helper()
	m, err := newModel(&p)
	if err != nil {
		t.Fatal(err)
	}
	relaxed, _ := newRelaxation(m)
	return m, relaxed
}

// solved is a plan without a second engine.
func solved(t testing.TB, p capacity.Problem) capacity.Plan {
	t.Helper()
	pl, err := Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}
