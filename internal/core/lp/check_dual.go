package lp

import "math"

// PriceTolerance is how far a reduced cost may stand on the wrong side of zero for a column (or a
// dual for a row) that has no limit there, relative to the costs it is made of.
const PriceTolerance = 1e-9

// DualBound is a lower bound on the objective of every feasible solution, computed from row prices
// alone (weak duality). It holds whatever the prices are and wherever they come from, which makes
// it a proof: a solution whose objective equals it is optimal. It is -Inf where the prices prove
// nothing. Whole columns only raise the optimum, so it also bounds mixed-integer programs.
func DualBound(p *Program, rowDual []float64) float64 {
	if len(rowDual) != p.Rows() {
		return math.Inf(-1)
	}
	bound := 0.0
	price := make([]float64, len(rowDual))
	for i, y := range rowDual {
		if math.IsNaN(y) {
			return math.Inf(-1)
		}
		limit := p.RowLower[i]
		if y < 0 {
			limit = p.RowUpper[i]
		}
		if y == 0 || math.IsInf(limit, 0) {
			continue // a price for a limit that is not there is none
		}
		price[i] = y
		bound += y * limit
	}
	for j, cost := range p.Cost {
		reduced, magnitude := cost, math.Abs(cost)
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			term := price[p.RowIndex[k]] * p.Coefficient[k]
			reduced -= term
			magnitude += math.Abs(term)
		}
		limit := p.Lower[j]
		if reduced < 0 {
			limit = p.Upper[j]
		}
		switch {
		case reduced == 0:
		case !math.IsInf(limit, 0):
			bound += reduced * limit
		case math.Abs(reduced) > PriceTolerance*max(1, magnitude):
			return math.Inf(-1)
		}
	}
	if math.IsNaN(bound) {
		return math.Inf(-1)
	}
	return bound
}
