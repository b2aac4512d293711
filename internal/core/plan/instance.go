package plan

import (
	"math"
)

// Instance is P2 as bare numbers: classes that take Gamma VMs a job, between Low and High jobs,
// and pay Penalty for each job below High; and the tiers VMs come from.
type Instance struct {
	Gamma   []float64
	Penalty []float64
	Low     []int64
	High    []int64
	Supply  []Tier
	Rounded bool // gammas are computed or rounded themselves: loads may exceed whole VMs by loadNoise
}

// grid counts loads in whole units of 1/perVM VM, so that sums are exact and the same in any order.
type grid struct {
	perVM int64
	// tolerance, in units, is how far a load may exceed whole VMs: 0 where every load is exact. Every
	// load starts at minus this.
	tolerance int64
	// rounded, in units, is how much all loads together may have been rounded down.
	rounded int64
}

const (
	maxGridDigits = 9 // gammas that are decimals of at most so many digits keep their exact value
	// fineGrid parts of a VM, more for small problems and fewer for huge ones, are what others are
	// rounded down to. It is a multiple of 2520, so that gammas such as 5/6 stay exact.
	fineGrid = 2520 * 4e8
	// decimalNoise is the relative distance at which a float64 counts as the decimal it was read
	// from: half a unit in its last place, and as much again for a product.
	decimalNoise = 2.3e-16
	// exactFloat bounds the units that a float64 tells apart in spite of decimalNoise.
	exactFloat = 2e15
	// maxLoad keeps every sum of loads far from overflow.
	maxLoad = float64(1 << 61)
	// loadNoise, in VMs, is how far the load of gammas that are computed, or given with more than maxGridDigits places,
	// may exceed whole VMs. It is absolute: relative to the load it would give away half a VM at a million classes (E15).
	loadNoise = 1e-7
	// loadSlack is what checks allow: loadNoise and what floats are off.
	loadSlack = 1.001 * loadNoise
)

// newGrid turns gammas into whole weights on the coarsest grid that is exact, or on a fine one. There
// they are rounded down, so that whatever fits in truth fits here too and a bound stays a bound;
// and the tolerance is less by what that may add up to, so that what fits here exceeds the VMs
// by loadNoise at most (by rounded, where there are too many jobs for that). Gammas that are rounded themselves have
// the tolerance on every grid.
func newGrid(gamma []float64, high []int64, rounded bool) (g grid, weight []int64) {
	weight = make([]int64, len(gamma))
	most := 0.0
	for i, x := range gamma {
		most += x * float64(high[i])
	}
	scale := 1.0
	for range maxGridDigits + 1 {
		if most*scale < maxLoad && onGrid(gamma, scale, weight) {
			if g.perVM = int64(scale); rounded {
				g.tolerance = g.perVM / int64(1/loadNoise)
			}
			return g, weight
		}
		scale *= 10
	}
	g = fine(most)
	for i, x := range gamma {
		var exact bool
		if weight[i], exact = unitsFor(x, g.perVM); !exact {
			g.rounded += high[i]
		}
	}
	g.tolerance = max(0, int64(loadNoise*float64(g.perVM))-g.rounded)
	return g, weight
}

// fine is the finest grid on which so many VMs can be counted.
func fine(most float64) grid {
	scale := float64(fineGrid)
	for scale > 1 && most*scale >= maxLoad {
		scale /= 10
	}
	for scale < fineGrid*1e3 && most*scale*10 < maxLoad/4 {
		scale *= 10
	}
	return grid{perVM: int64(scale)}
}

// unitsFor is the whole units in x, and whether they are all of it but for noise.
func unitsFor(x float64, perVM int64) (units int64, exact bool) {
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
