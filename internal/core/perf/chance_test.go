package perf

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The distributions are those of gonum's package, which would bring matrices into the program.
func TestChancesAreThoseOfGonum(t *testing.T) {
	same := func(what string, got, want float64) {
		t.Helper()
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s: got %.17g, want %.17g", what, got, want)
		}
	}
	for n := 1.0; n < 300; n = math.Ceil(1.3 * n) {
		for _, p := range []float64{0.5001, 0.6, 0.9, 0.975, 0.9999} {
			same("Student", StudentQuantile(n, p), distuv.StudentsT{Sigma: 1, Nu: n}.Quantile(p))
			for k := 0.0; k <= n; k = math.Ceil(1.5*k + 0.1) {
				same("binomial", BinomialChance(n, k, p), distuv.Binomial{N: n, P: p}.CDF(k))
				same("beta", BetaQuantile(k+1, n, p), distuv.Beta{Alpha: k + 1, Beta: n}.Quantile(p))
			}
		}
	}
}
