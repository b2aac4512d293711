package lp_test

import (
	"fmt"
	"math"

	"example.org/headroom/internal/core/lp"
)

// cheapest is: minimise 2x + 3y with x + y ≥ 4 and 0 ≤ x ≤ 3.
func cheapest() *lp.Program {
	p := &lp.Program{}
	need := p.Row(4, math.Inf(1))
	p.Column(2, 0, 3, false, lp.Entry{Row: need, Coefficient: 1})
	p.Column(3, 0, math.Inf(1), false, lp.Entry{Row: need, Coefficient: 1})
	return p
}

// x = 3 and y = 1 cost 2·3 + 3·1 = 9. What does not add up is refused, whoever says it.
func ExampleCheck() {
	p := cheapest()
	fmt.Println(lp.Check(p, []float64{3, 1}, 9))
	fmt.Println(lp.Check(p, []float64{3, 1}, 8) != nil)
	fmt.Println(lp.Check(p, []float64{3, 0}, 6) != nil)
	// Output:
	// <nil>
	// true
	// true
}

// Any price of the row gives a bound. At 3 it is 3·4 + (2−3)·3 = 9, the optimum; at 2 it is 2·4.
func ExampleDualBound() {
	p := cheapest()
	fmt.Println(lp.DualBound(p, []float64{3}), lp.DualBound(p, []float64{2}))
	// Output:
	// 9 8
}

func ExampleProgram_Column() {
	p := cheapest()
	z := p.Column(1, 0, 1, true, lp.Entry{Row: 0, Coefficient: 2})
	fmt.Println(p.Columns(), p.Rows(), z, p.Mixed())
	// Output:
	// 3 1 2 true
}
