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

// Grid sizes: loads are counted in whole units of 1/grid VM, so that sums are exact.
const (
	maxGridDigits = 6   // gammas that are decimals of at most so many digits keep their exact value
	fineGrid      = 1e9 // all others are rounded up to nine decimals, so that a plan always fits
	// decimalNoise is the relative distance at which a float64 counts as the decimal it was read from.
	decimalNoise = 1.6e-15
	// roundUpSlack, in units of the fine grid, absorbs the same noise when rounding up (1e-12 VM).
	roundUpSlack = 1e-3
	// maxLoad keeps every sum of loads far from overflow.
	maxLoad = float64(1 << 61)
)

// loads turns gammas into whole weights on the coarsest grid that is exact, or the fine grid.
func loads(gamma []float64, high []int64) (grid int64, weight []int64) {
	weight = make([]int64, len(gamma))
	scale := 1.0
	for digits := 0; digits <= maxGridDigits; digits++ {
		if onGrid(gamma, scale, weight) && total(gamma, high)*scale < maxLoad {
			return int64(scale), weight
		}
		scale *= 10
	}
	scale = fineGrid
	for scale > 1 && total(gamma, high)*scale >= maxLoad {
		scale /= 10
	}
	for i, g := range gamma {
		weight[i] = int64(math.Ceil(g*scale - roundUpSlack))
	}
	return int64(scale), weight
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

func total(gamma []float64, high []int64) float64 {
	sum := 0.0
	for i, g := range gamma {
		sum += g * float64(high[i])
	}
	return sum
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
	Method    string  // MethodLP or MethodCore
}
