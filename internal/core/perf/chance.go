package perf

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// StudentQuantile returns the value that a variable with Student's t-distribution stays below with a probability of
// at least one half.
func StudentQuantile(freedom, probability float64) float64 {
	t := mathext.InvRegIncBeta(freedom/2, 0.5, 2*(1-probability))
	return math.Sqrt(freedom * (1 - t) / t)
}

// BetaQuantile returns the value that a variable with the beta distribution of two shapes stays below with a
// probability.
func BetaQuantile(alpha, beta, probability float64) float64 {
	return mathext.InvRegIncBeta(alpha, beta, probability)
}

// BinomialChance returns the probability of at most so many successes in trials, each of which succeeds with the same
// probability.
func BinomialChance(trials, successes, probability float64) float64 {
	if successes >= trials {
		return 1
	}
	return mathext.RegIncBeta(trials-successes, successes+1, 1-probability)
}
