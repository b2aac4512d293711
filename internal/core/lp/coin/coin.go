//go:build cgo

// Package coin solves programs with Clp and CBC of COIN-OR, through cgo. Only headroom-solver imports it, because an
// abort in C++ ends the whole process and CBC is not safe in two threads. Callers solve one program at a time.
package coin

// #cgo pkg-config: cbc clp
// #include <coin/Cbc_C_Interface.h>
// #include <coin/Clp_C_Interface.h>
import "C"

import (
	"fmt"
	"math"

	"example.org/headroom/internal/core/lp"
)

// Solve solves a valid program (it validates it again): with CBC if some column must be whole, with Clp otherwise.
// Variation 0 means the usual settings; any other asks for a second opinion, reached on another path. Answers are the
// solvers' claims; nothing is checked here.
func Solve(p *lp.Program, o lp.Options, variation int) (lp.Solution, error) {
	if err := p.Validate(); err != nil {
		return lp.Solution{}, fmt.Errorf("malformed program: %w", err)
	}
	if p.Columns() > math.MaxInt32 || p.Rows() > math.MaxInt32 || len(p.RowIndex) > math.MaxInt32 {
		return lp.Solution{}, fmt.Errorf("the program has more than %d columns, rows or entries", math.MaxInt32)
	}
	if o.Start != nil && len(o.Start) != p.Columns() {
		return lp.Solution{}, fmt.Errorf("the start has %d values for %d columns", len(o.Start), p.Columns())
	}
	if p.Mixed() {
		return solveMixed(p, o, variation)
	}
	return solveLinear(p, o, variation)
}

// Version returns the engines and their versions, such as "cbc 2.10.8, clp 1.17.6".
func Version() string { return cbcVersion() + ", " + clpVersion() }

func cbcVersion() string { return "cbc " + C.GoString(C.Cbc_getVersion()) }

func clpVersion() string { return "clp " + C.GoString(C.Clp_Version()) }
