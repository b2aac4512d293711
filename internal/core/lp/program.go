// Package lp holds a linear or mixed-integer program as plain data, a solver's answer to it, and the check of one
// solution. It knows no solver and no capacity planning.
package lp

import "context"

// Program is: minimise Cost·x subject to row and column bounds, some columns whole.
// Infinite bounds are math.Inf. The matrix is held by columns: column j's entries are
// RowIndex[Start[j]:Start[j+1]] with Coefficient[...] beside them; len(Start) = columns + 1.
type Program struct {
	Cost        []float64
	Lower       []float64
	Upper       []float64
	Whole       []bool // nil: a linear program
	RowLower    []float64
	RowUpper    []float64
	Start       []int
	RowIndex    []int
	Coefficient []float64
}

// Columns returns the number of variables.
func (p *Program) Columns() int { return len(p.Cost) }

// Rows returns the number of constraints.
func (p *Program) Rows() int { return len(p.RowLower) }

// Column appends a variable with its entries and returns its index. Rows must exist already.
func (p *Program) Column(cost, lower, upper float64, whole bool, entries ...Entry) int {
	if len(p.Start) == 0 {
		p.Start = append(p.Start, 0)
	}
	j := len(p.Cost)
	p.Cost = append(p.Cost, cost)
	p.Lower = append(p.Lower, lower)
	p.Upper = append(p.Upper, upper)
	if whole && p.Whole == nil {
		p.Whole = make([]bool, j, j+1)
	}
	if p.Whole != nil {
		p.Whole = append(p.Whole, whole)
	}
	for _, e := range entries {
		p.RowIndex = append(p.RowIndex, e.Row)
		p.Coefficient = append(p.Coefficient, e.Coefficient)
	}
	p.Start = append(p.Start, len(p.RowIndex))
	return j
}

// Row appends a constraint without entries and returns its index.
func (p *Program) Row(lower, upper float64) int {
	p.RowLower = append(p.RowLower, lower)
	p.RowUpper = append(p.RowUpper, upper)
	return len(p.RowLower) - 1
}

// Entry is one coefficient of a column.
type Entry struct {
	Row         int
	Coefficient float64
}

// Options limits one solve. The zero value means no limit but the context's.
type Options struct {
	Gap     float64   // relative gap at which a mixed-integer search may stop
	AbsGap  float64   // the same as an amount
	Nodes   int       // largest number of search nodes; 0 for no limit
	Seconds float64   // elapsed time; 0: only the context limits
	Start   []float64 // a feasible point to start from, or nil
	Cuts    bool      // let CBC preprocess and cut: good plans come early, but its "optimal" and "infeasible" may be false
	Ranging bool      // linear programs: also return the ranges of costs and right-hand sides
}

// Status is a solver's claim about its answer. None is believed without a check.
type Status string

const (
	Optimal    Status = "optimal"
	Feasible   Status = "feasible"   // stopped by a limit with a solution
	Infeasible Status = "infeasible" // the solver claims there is none
	Unbounded  Status = "unbounded"
	Stopped    Status = "stopped" // stopped by a limit without a solution
)

// Solution is one answer.
type Solution struct {
	Status      Status
	Objective   float64
	Bound       float64 // the solver's own lower bound; advice, never proof
	X           []float64
	RowDual     []float64 // linear programs only
	ReducedCost []float64 // linear programs only
	Ranges      *Ranges
	Engine      string // name and version, such as "cbc 2.10.8"
}

// Ranges holds the limits within which the optimal basis of a linear program stays optimal.
type Ranges struct {
	CostLower, CostUpper         []float64
	RowLimitLower, RowLimitUpper []float64
}

// Solver solves programs: Clp for linear ones, CBC for those with whole columns. It returns an error if there is no
// answer (no solver, a crash, a full queue). A limit that was reached is a Status.
type Solver interface {
	Solve(ctx context.Context, p *Program, o Options) (Solution, error)
}
