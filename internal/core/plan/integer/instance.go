// Package integer solves the integer program of one VM type exactly: whole jobs of every class on whole VMs, with a
// proof of how far from the best plan it is at most. It knows loads, prices and penalties, and nothing of problems.
package integer

import (
	"math"
)

// Instance holds P2 as bare numbers: classes that take Gamma VMs a job, between Low and High jobs,
// and pay Penalty for each job below High; and the tiers VMs come from.
type Instance struct {
	Gamma   []float64
	Penalty []float64
	Low     []int64
	High    []int64
	Supply  []Tier
	Rounded bool // gammas are computed or rounded themselves: loads may exceed whole VMs by LoadNoise
}

// Grid counts loads in whole units of 1/PerVM VM, so that sums are exact and the same in any order.
type Grid struct {
	PerVM int64
	// Tolerance is the excess over whole VMs that a load may have, in units: 0 if every load is exact. Every load starts
	// at minus this.
	Tolerance int64
	// Rounded is the largest amount, in units, by which all loads together are rounded down.
	Rounded int64
}

const (
	MaxGridDigits = 9 // gammas that are decimals of at most so many digits keep their exact value
	// FineGrid is the number of parts of a VM to which other gammas are rounded down. There are more for small problems
	// and fewer for huge ones. It is a multiple of 2520, so that gammas such as 5/6 stay exact.
	FineGrid = 2520 * 4e8
	// decimalNoise is the relative distance at which a float64 counts as the decimal it was read
	// from: half a unit in its last place, and as much again for a product.
	decimalNoise = 2.3e-16
	// exactFloat bounds the units that a float64 tells apart in spite of decimalNoise.
	exactFloat = 2e15
	// MaxLoad keeps every sum of loads far from overflow.
	MaxLoad = float64(1 << 61)
	// LoadNoise is the excess over whole VMs, in VMs, that a load may have whose gammas are computed, or given with more
	// than MaxGridDigits places. It is absolute: relative to the load it would give away half a VM at a million classes (E15).
	LoadNoise = 1e-7
	// LoadSlack is the excess that checks allow: LoadNoise and the float error.
	LoadSlack = 1.001 * LoadNoise
)

// NewGrid turns gammas into whole weights on the coarsest grid that is exact, or on a fine one. There they are rounded
// down, so that a load that fits in truth fits here too, and a bound stays a bound. The tolerance is less by the sum of
// that. So a load that fits here exceeds the VMs by LoadNoise at most, or by Rounded if there are too many jobs for
// that. Gammas that are rounded themselves have the tolerance on every grid.
func NewGrid(gamma []float64, high []int64, rounded bool) (g Grid, weight []int64) {
	weight = make([]int64, len(gamma))
	most := 0.0
	for i, x := range gamma {
		most += x * float64(high[i])
	}
	scale := 1.0
	for range MaxGridDigits + 1 {
		if most*scale < MaxLoad && onGrid(gamma, scale, weight) {
			if g.PerVM = int64(scale); rounded {
				g.Tolerance = g.PerVM / int64(1/LoadNoise)
			}
			return g, weight
		}
		scale *= 10
	}
	g = GridUpTo(most)
	for i, x := range gamma {
		var exact bool
		if weight[i], exact = UnitsFor(x, g.PerVM); !exact {
			g.Rounded += high[i]
		}
	}
	g.Tolerance = max(0, int64(LoadNoise*float64(g.PerVM))-g.Rounded)
	return g, weight
}

// GridUpTo is the finest grid on which so many VMs can be counted.
func GridUpTo(most float64) Grid {
	scale := float64(FineGrid)
	for scale > 1 && most*scale >= MaxLoad {
		scale /= 10
	}
	for scale < FineGrid*1e3 && most*scale*10 < MaxLoad/4 {
		scale *= 10
	}
	return Grid{PerVM: int64(scale)}
}

// UnitsFor is the whole units in x, and whether they are all of it but for noise.
func UnitsFor(x float64, perVM int64) (units int64, exact bool) {
	v := x * float64(perVM)
	if whole := math.Round(v); math.Abs(v-whole) <= decimalNoise*v {
		return int64(whole), v < exactFloat
	}
	return int64(v), false
}

func onGrid(gamma []float64, scale float64, weight []int64) bool {
	for i, g := range gamma {
		x := g * scale
		whole := math.Round(x)
		if math.Abs(x-whole) > decimalNoise*x || x > exactFloat {
			return false
		}
		weight[i] = int64(whole)
	}
	return true
}

// Result is the answer to an Instance. Gap is an amount of money: no plan is cheaper than
// Objective by more.
type Result struct {
	Feasible  bool
	Jobs      []int64
	VMs       int64
	Objective float64
	Gap       float64
}
