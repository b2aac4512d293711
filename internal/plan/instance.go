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
}

// grid counts loads in whole units of 1/perVM VM, so that sums are exact and the same in any order.
type grid struct {
	perVM int64
	// tolerance, in units, is how far a load may exceed whole VMs: 0 where every load is exact, and
	// loadNoise where gammas had to be rounded. Every load starts at minus this.
	tolerance int64
}

const (
	maxGridDigits = 9 // gammas that are decimals of at most so many digits keep their exact value
	// fineGrid parts of a VM, or fewer for huge problems, are what others are rounded up to. It is a
	// multiple of 2520, so that gammas such as 5/6 stay exact.
	fineGrid = 2520 * 4e8
	// decimalNoise is the relative distance at which a float64 counts as the decimal it was read from.
	decimalNoise = 1.6e-15
	// maxLoad keeps every sum of loads far from overflow.
	maxLoad = float64(1 << 61)
	// loadNoise, in VMs, is how far the load of gammas that are no decimals may exceed whole VMs. It
	// is absolute: relative to the load it would give away half a VM at a million classes (E15).
	loadNoise = 1e-7
)

// newGrid turns gammas into whole weights on the coarsest grid that is exact, or the fine grid.
func newGrid(gamma []float64, high []int64) (g grid, weight []int64) {
	weight = make([]int64, len(gamma))
	most := 0.0
	for i, x := range gamma {
		most += x * float64(high[i])
	}
	scale := 1.0
	for range maxGridDigits + 1 {
		if most*scale < maxLoad && onGrid(gamma, scale, weight) {
			return grid{perVM: int64(scale)}, weight
		}
		scale *= 10
	}
	for scale = fineGrid; scale > 1 && most*scale >= maxLoad; {
		scale /= 10
	}
	for i, x := range gamma {
		weight[i] = unitsFor(x, scale)
	}
	return grid{int64(scale), int64(loadNoise * scale)}, weight
}

// unitsFor is the whole units that hold x, which is no whole number for noise alone.
func unitsFor(x, scale float64) int64 {
	if whole := math.Round(x * scale); math.Abs(x*scale-whole) <= decimalNoise*x*scale {
		return int64(whole)
	}
	return int64(math.Ceil(x * scale))
}

func onGrid(gamma []float64, scale float64, weight []int64) bool {
	for i, g := range gamma {
		x := g * scale
		whole := math.Round(x)
		if math.Abs(x-whole) > decimalNoise*x {
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
	Price     float64 // of one VM of capacity, where the bound was taken
}
