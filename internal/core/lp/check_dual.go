package lp

import "math"

// priceTolerance bounds the part of a reduced cost on the wrong side of zero for a column (or of a dual for a row)
// without a limit there. It is relative to the costs behind it.
const priceTolerance = 1e-9

// DualBound returns a lower bound on the objective of every feasible solution, computed from row prices alone (weak
// duality). It holds for any prices from any source, which makes it a proof: a solution whose objective equals it is
// optimal. It is -Inf if the prices prove nothing. Whole columns only raise the optimum, so it also bounds
// mixed-integer programs.
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
			continue // there is no such limit to price
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
		case math.Abs(reduced) > priceTolerance*max(1, magnitude):
			return math.Inf(-1)
		}
	}
	if math.IsNaN(bound) {
		return math.Inf(-1)
	}
	return bound
}
