//go:build cgo

package coin

// #include <stdlib.h>
// #include <coin/Cbc_C_Interface.h>
import "C"

import (
	"errors"
	"math"
	"strconv"
	"unsafe"

	"example.org/headroom/internal/core/lp"
)

// pinned lists the settings that no caller may change.
var pinned = []setting{
	{"timeMode", "elapsed"}, // otherwise seconds are the CPU seconds of the whole process
	{"logLevel", "0"},
	{"slogLevel", "0"},
}

// plain turns off CBC's preprocessing and cuts. With them, about 3 in 1,000 small planning programs came back
// "optimal" with a wrong optimum, and some came back "infeasible" that were not. Without them, none did.
var plain = []setting{{"preprocess", "off"}, {"cuts", "off"}}

// hasty finds good plans early: two rounds of cuts at the root instead of a hundred, and little strong branching.
var hasty = []setting{{"passCuts", "2"}, {"strongBranching", "1"}}

type setting struct{ name, value string }

// otherSeed is CBC's random seed for a second opinion (its own default is fixed as well).
const otherSeed = 20011

func settings(o lp.Options, variation int) []setting {
	list := append([]setting(nil), pinned...)
	if o.Cuts && variation == 0 {
		list = append(list, hasty...)
	} else {
		list = append(list, plain...)
	}
	number := func(name string, v float64) {
		list = append(list, setting{name, strconv.FormatFloat(v, 'g', -1, 64)})
	}
	number("ratioGap", o.Gap)
	number("allowableGap", o.AbsGap)
	if o.Seconds > 0 {
		number("seconds", o.Seconds)
	}
	if o.Nodes > 0 {
		list = append(list, setting{"maxNodes", strconv.Itoa(o.Nodes)})
	}
	if variation != 0 {
		list = append(list, setting{"randomCbcSeed", strconv.Itoa(otherSeed)}, setting{"heuristics", "off"})
	}
	return list
}

func solveMixed(p *lp.Program, o lp.Options, variation int) (lp.Solution, error) {
	model := C.Cbc_newModel()
	defer C.Cbc_deleteModel(model)
	loadMixed(model, p)
	if o.Start != nil && variation == 0 {
		C.Cbc_setInitialSolution(model, doubles(o.Start))
	}
	for _, s := range settings(o, variation) {
		setParameter(model, s)
	}
	C.Cbc_solve(model)
	return mixedSolution(model, p)
}

func loadMixed(model unsafe.Pointer, p *lp.Program) {
	starts := make([]C.CoinBigIndex, p.Columns()+1)
	for j, s := range p.Start {
		starts[j] = C.CoinBigIndex(s)
	}
	indices := make([]C.int, len(p.RowIndex)+1) // never empty, so that it has an address
	for k, i := range p.RowIndex {
		indices[k] = C.int(i)
	}
	C.Cbc_loadProblem(model, C.int(p.Columns()), C.int(p.Rows()), &starts[0], &indices[0], doubles(p.Coefficient),
		doubles(finite(p.Lower)), doubles(finite(p.Upper)), doubles(p.Cost), doubles(finite(p.RowLower)), doubles(finite(p.RowUpper)))
	C.Cbc_setObjSense(model, 1) // minimise
	for j, whole := range p.Whole {
		if whole {
			C.Cbc_setInteger(model, C.int(j))
		}
	}
}

func setParameter(model unsafe.Pointer, s setting) {
	name, value := C.CString(s.name), C.CString(s.value)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(value))
	C.Cbc_setParameter(model, name, value)
}

func mixedSolution(model unsafe.Pointer, p *lp.Program) (lp.Solution, error) {
	s := lp.Solution{Engine: cbcVersion(), Bound: math.Inf(-1)}
	best := C.Cbc_bestSolution(model)
	switch {
	case C.Cbc_isAbandoned(model) != 0:
		return lp.Solution{}, errors.New("cbc gave up over numerical difficulties")
	case C.Cbc_isContinuousUnbounded(model) != 0:
		s.Status = lp.Unbounded
		return s, nil
	case best != nil && C.Cbc_isProvenOptimal(model) != 0:
		s.Status = lp.Optimal
	case best != nil:
		s.Status = lp.Feasible
	case C.Cbc_isProvenInfeasible(model) != 0:
		s.Status = lp.Infeasible
		return s, nil
	default:
		s.Status = lp.Stopped
		return s, nil
	}
	s.X = make([]float64, p.Columns())
	copy(s.X, unsafe.Slice((*float64)(best), p.Columns()))
	s.Objective = float64(C.Cbc_getObjValue(model))
	s.Bound = float64(C.Cbc_getBestPossibleObjValue(model))
	return s, nil
}

// finite replaces infinities by the largest float64, which COIN-OR reads as infinite.
func finite(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = max(-math.MaxFloat64, min(math.MaxFloat64, v[i]))
	}
	return out
}

// doubles returns the address of a slice's values for C, which only reads them during the call.
func doubles(v []float64) *C.double {
	if len(v) == 0 {
		v = make([]float64, 1) // C needs an address even for no values
	}
	return (*C.double)(&v[0])
}
