//go:build cgo

package coin

import (
	"errors"
	"fmt"
	"math"

	"github.com/lanl/clp"

	"example.org/headroom/internal/core/lp"
)

const clpStopped clp.SimplexStatus = 3 // stopped by iterations or time

// solveLinear minimises with the dual simplex method, the second opinion with the primal one. RowDual[i] is the
// change of the optimum per unit by which row i's limit rises, so it is never positive for an upper limit that binds.
// ReducedCost is the cost minus the dual prices of the column.
func solveLinear(p *lp.Program, o lp.Options, variation int) (lp.Solution, error) {
	s := lp.Solution{Engine: clpVersion(), Bound: math.Inf(-1)}
	dual := variation == 0
	model, status := simplex(p, o, dual)
	if status == clp.Infeasible || status == clp.Unbounded {
		// Neither comes with a proof here: the other method must say the same.
		var second clp.SimplexStatus
		model, second = simplex(p, o, !dual)
		if second != status && second != clp.Optimal {
			return lp.Solution{}, fmt.Errorf("clp answered %d with one simplex method and %d with the other", status, second)
		}
		status = second
	}
	switch status {
	case clp.Optimal:
		s.Status = lp.Optimal
	case clp.Infeasible:
		s.Status = lp.Infeasible
		return s, nil
	case clp.Unbounded:
		s.Status = lp.Unbounded
		return s, nil
	case clpStopped:
		s.Status = lp.Stopped // its values satisfy nothing yet
		return s, nil
	default:
		return lp.Solution{}, fmt.Errorf("clp answered %d: it gave up over numerical difficulties", status)
	}
	s.X = model.PrimalColumnSolution()
	s.Objective = model.ObjectiveValue()
	s.Bound = s.Objective
	s.RowDual = model.DualRowSolution()
	s.ReducedCost = model.DualColumnSolution()
	if o.Ranging {
		ranges, err := ranging(model, p, &s)
		if err != nil {
			return lp.Solution{}, err
		}
		s.Ranges = ranges
	}
	return s, nil
}

func simplex(p *lp.Program, o lp.Options, dual bool) (*clp.Simplex, clp.SimplexStatus) {
	matrix := clp.NewPackedMatrix()
	matrix.Reserve(p.Columns(), len(p.RowIndex), false) // without it appending columns takes quadratic time
	var column []clp.Nonzero
	for j := range p.Columns() {
		column = column[:0]
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			column = append(column, clp.Nonzero{Index: p.RowIndex[k], Value: p.Coefficient[k]})
		}
		matrix.AppendColumn(column)
	}
	matrix.SetDimensions(p.Rows(), p.Columns())
	model := clp.NewSimplex()
	model.LoadProblem(matrix, clpBounds(p.Lower, p.Upper), p.Cost, clpBounds(p.RowLower, p.RowUpper), nil)
	model.SetOptimizationDirection(clp.Minimize)
	if o.Seconds > 0 {
		model.SetMaxSeconds(o.Seconds)
	}
	if dual {
		return model, model.Dual(clp.NoValuesPass, clp.NoStartFinishOptions)
	}
	return model, model.Primal(clp.NoValuesPass, clp.NoStartFinishOptions)
}

func clpBounds(lower, upper []float64) []clp.Bounds {
	lower, upper = finite(lower), finite(upper)
	bounds := make([]clp.Bounds, len(lower))
	for i := range bounds {
		bounds[i] = clp.Bounds{Lower: lower[i], Upper: upper[i]}
	}
	return bounds
}

// ranging returns the ranges of each cost, and of each row's limit, within which the same basis is optimal. Clp
// widens the costs by its tolerance of 1e-7.
//
// The limit of a row is the one it stands at. A row at neither limit prices nothing. Its range is then that of its
// upper limit if it has one (which may sink to the row's value), else of its lower limit.
func ranging(model *clp.Simplex, p *lp.Program, s *lp.Solution) (*lp.Ranges, error) {
	columns, rows := p.Columns(), p.Rows()
	r := &lp.Ranges{
		CostLower: make([]float64, columns), CostUpper: make([]float64, columns),
		RowLimitLower: make([]float64, rows), RowLimitUpper: make([]float64, rows),
	}
	if columns == 0 || rows == 0 {
		return nil, errors.New("ranges need at least one row and one column")
	}
	up, down := make([]float64, columns), make([]float64, columns)
	if status := model.DualRanging(columns, from(0, columns), up, make([]int, columns), down, make([]int, columns), nil, nil); status != 0 {
		return nil, fmt.Errorf("clp could not range the costs (answer %d)", status)
	}
	for j := range columns {
		r.CostLower[j] = unbounded(p.Cost[j] - down[j])
		r.CostUpper[j] = unbounded(p.Cost[j] + up[j])
	}
	up, down = make([]float64, rows), make([]float64, rows)
	if status := model.PrimalRanging(rows, from(columns, rows), up, make([]int, rows), down, make([]int, rows)); status != 0 {
		return nil, fmt.Errorf("clp could not range the rows (answer %d)", status)
	}
	activity := model.PrimalRowSolution()
	for i := range rows {
		switch {
		case s.RowDual[i] != 0 || activity[i] == p.RowLower[i] || activity[i] == p.RowUpper[i]:
			r.RowLimitLower[i] = unbounded(activity[i] - down[i])
			r.RowLimitUpper[i] = unbounded(activity[i] + up[i])
		case !math.IsInf(p.RowUpper[i], 1):
			r.RowLimitLower[i], r.RowLimitUpper[i] = activity[i], math.Inf(1)
		default:
			r.RowLimitLower[i], r.RowLimitUpper[i] = math.Inf(-1), activity[i]
		}
	}
	return r, nil
}

// from returns count indices from first on: columns first, then rows, as Clp numbers them.
func from(first, count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = first + i
	}
	return list
}

// unbounded turns Clp's values for infinity into infinities.
func unbounded(v float64) float64 {
	if math.Abs(v) > lp.Largest {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return v
}
