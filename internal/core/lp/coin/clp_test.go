//go:build cgo

package coin

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/headroom/internal/core/lp"
)

func linear(t *testing.T, p *lp.Program, o lp.Options) lp.Solution {
	t.Helper()
	s, err := Solve(p, o, 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != lp.Optimal {
		t.Fatalf("got %s, want optimal", s.Status)
	}
	return s
}

// min −3x −2y, x + y ≤ 4, x + 3y ≤ 7, 0 ≤ x ≤ 3: x = 3, y = 1. One more of the first limit gains 2.
func TestSignsOfPrices(t *testing.T) {
	p := new(lp.Program)
	sum, other := p.Row(math.Inf(-1), 4), p.Row(math.Inf(-1), 7)
	p.Column(-3, 0, 3, false, lp.Entry{Row: sum, Coefficient: 1}, lp.Entry{Row: other, Coefficient: 1})
	p.Column(-2, 0, inf, false, lp.Entry{Row: sum, Coefficient: 1}, lp.Entry{Row: other, Coefficient: 3})
	s := linear(t, p, lp.Options{Ranging: true})
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"x", s.X[0], 3}, {"y", s.X[1], 1}, {"objective", s.Objective, -11},
		{"price of the row that binds", s.RowDual[0], -2}, {"price of the one that does not", s.RowDual[1], 0},
		{"reduced cost at an upper bound", s.ReducedCost[0], -1}, {"in the basis", s.ReducedCost[1], 0},
		{"the row may sink to", s.Ranges.RowLimitLower[0], 3}, {"and rise to", s.Ranges.RowLimitUpper[0], 3 + 4.0/3},
		{"the free row may sink to", s.Ranges.RowLimitLower[1], 6}, {"and rise to", s.Ranges.RowLimitUpper[1], inf},
		{"x's cost may rise to", s.Ranges.CostUpper[0], -2}, {"and sink to", s.Ranges.CostLower[0], math.Inf(-1)},
		{"y's cost may sink to", s.Ranges.CostLower[1], -3}, {"and rise to", s.Ranges.CostUpper[1], 0},
	} {
		if c.got != c.want && !(math.Abs(c.got-c.want) <= 1e-6) {
			t.Errorf("%s: got %g, want %g", c.name, c.got, c.want)
		}
	}

	// A lower limit that binds has the opposite sign: one more of it costs.
	q := new(lp.Program)
	need := q.Row(5, inf)
	q.Column(2, 0, inf, false, lp.Entry{Row: need, Coefficient: 1})
	if s := linear(t, q, lp.Options{}); s.RowDual[0] != 2 {
		t.Errorf("price of a lower limit: got %g, want 2", s.RowDual[0])
	}
}

// random returns a bounded feasible linear program: x = 1 satisfies every row.
func random(seed uint64) *lp.Program {
	r := rand.New(rand.NewPCG(seed, 3))
	p := new(lp.Program)
	rows, columns := 2+r.IntN(6), 3+r.IntN(10)
	sums := make([]float64, rows)
	matrix := make([][]lp.Entry, columns)
	for j := range matrix {
		for i := range rows {
			if r.IntN(3) > 0 {
				a := float64(r.IntN(41)-20) + float64(r.IntN(97))/100
				matrix[j] = append(matrix[j], lp.Entry{Row: i, Coefficient: a})
				sums[i] += a
			}
		}
	}
	for _, sum := range sums {
		switch r.IntN(3) {
		case 0:
			p.Row(math.Inf(-1), sum+10*r.Float64())
		case 1:
			p.Row(sum-10*r.Float64(), inf)
		default:
			p.Row(sum-10*r.Float64(), sum+10*r.Float64())
		}
	}
	for _, entries := range matrix {
		p.Column(float64(r.IntN(200)-100)/10+r.Float64()/7, -5*r.Float64(), 1+9*r.Float64(), false, entries...)
	}
	return p
}

func TestPricesProveTheOptimum(t *testing.T) {
	for seed := range uint64(200) {
		p := random(seed)
		s := linear(t, p, lp.Options{})
		if err := lp.Check(p, s.X, s.Objective); err != nil {
			t.Errorf("program %d: %v", seed, err)
		}
		if bound := lp.DualBound(p, s.RowDual); !(math.Abs(bound-s.Objective) <= 1e-7*max(1, math.Abs(bound))) {
			t.Errorf("program %d: objective %.12g, its prices prove %.12g", seed, s.Objective, bound)
		}
		for j := range p.Columns() {
			reduced := p.Cost[j]
			for k := p.Start[j]; k < p.Start[j+1]; k++ {
				reduced -= s.RowDual[p.RowIndex[k]] * p.Coefficient[k]
			}
			if math.Abs(reduced-s.ReducedCost[j]) > 1e-9 {
				t.Errorf("program %d, column %d: reduced cost %g, want %g", seed, j, s.ReducedCost[j], reduced)
			}
		}
		other, err := Solve(p, lp.Options{}, 1)
		if err != nil || math.Abs(other.Objective-s.Objective) > 1e-7 {
			t.Errorf("program %d: %g by the primal method (%v), %g by the dual one", seed, other.Objective, err, s.Objective)
		}
	}
}

// Inside a cost's range the solution stays optimal, outside it does not; inside a limit's range its price holds.
func TestRangesHoldWhenSolvedAgain(t *testing.T) {
	costs, limits := 0, 0
	for seed := range uint64(40) {
		p := random(seed)
		s := linear(t, p, lp.Options{Ranging: true})
		for j := range p.Columns() {
			for _, side := range []struct{ limit, sign float64 }{{s.Ranges.CostLower[j], -1}, {s.Ranges.CostUpper[j], 1}} {
				if math.IsInf(side.limit, 0) {
					continue
				}
				costs++
				was := p.Cost[j]
				kept := func(cost float64) float64 { // the cost of keeping x above the best answer
					p.Cost[j] = cost
					value := s.Objective + (cost-was)*s.X[j]
					return value - linear(t, p, lp.Options{}).Objective
				}
				if lost := kept(was + 0.99*(side.limit-was)); lost > 1e-6 {
					t.Errorf("program %d, column %d: inside its cost range the solution loses %g", seed, j, lost)
				}
				if lost := kept(side.limit + side.sign*1000); lost < 1e-6 {
					t.Errorf("program %d, column %d: far outside its cost range the solution is still the best", seed, j)
				}
				p.Cost[j] = was
			}
		}
		for i := range p.Rows() {
			y := s.RowDual[i]
			if y == 0 {
				continue
			}
			limit := &p.RowUpper[i] // the binding limit
			if y > 0 {
				limit = &p.RowLower[i]
			}
			for _, end := range []float64{s.Ranges.RowLimitLower[i], s.Ranges.RowLimitUpper[i]} {
				if math.IsInf(end, 0) {
					continue
				}
				was := *limit
				to := was + 0.99*(end-was)
				if to < p.RowLower[i] || to > p.RowUpper[i] && limit == &p.RowLower[i] {
					continue // past the row's other limit
				}
				limits++
				*limit = to
				if got, want := linear(t, p, lp.Options{}).Objective, s.Objective+y*(to-was); math.Abs(got-want) > 1e-6 {
					t.Errorf("program %d, row %d: with limit %g the optimum is %g, its price says %g", seed, i, to, got, want)
				}
				*limit = was
			}
		}
	}
	if costs < 100 || limits < 50 {
		t.Errorf("only %d cost ranges and %d limit ranges were tried", costs, limits)
	}
}

// Without reserving, appending this many columns takes a minute.
func TestManyColumnsTakeLinearTime(t *testing.T) {
	began := time.Now()
	p := hard(100_000, 9)
	p.Whole = nil
	linear(t, p, lp.Options{})
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}

// Memory stays bounded although only finalizers free the memory of lanl/clp.
func TestMemoryStaysBounded(t *testing.T) {
	for _, size := range []int{300, 30_000} {
		solves := 300_000 / size
		p := hard(size, 9)
		p.Whole = nil
		early := 0
		for n := range solves {
			linear(t, p, lp.Options{})
			if n == solves/4 {
				early = resident(t)
			}
		}
		late := resident(t)
		t.Logf("%d columns: %d MB after %d solves, %d MB after %d", size, early, solves/4, late, solves)
		if late > early+64 {
			t.Errorf("%d columns: %d MB after %d solves, %d MB after %d", size, early, solves/4, late, solves)
		}
	}
}

// resident returns the memory in use in MB.
func resident(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}
