package pack

import (
	"context"
	"math"

	"example.org/headroom/internal/core/capacity"
)

// cover covers jobs by phases. It is the linear program
//
//	min Σ seconds·x   subject to   Σ count·x ≥ jobs of each kind,   x ≥ 0
//
// by augmented Lagrangians. Prices stay near good ones, the center: those of jobs that are covered too little are
// higher, by a part of them. So each round begins near the last, and few phases more make the prices good.
type cover struct {
	jobs   []float64 // of each kind
	center []float64
	prices []float64
	rise   []float64 // of each price, for each job that is not covered
	reach  float64   // the part of a price by which it rises if no job is covered

	phases []contents
	cost   []float64
	share  []float64 // x
	slope  []float64 // of a phase's cost beyond its prices, as its share grows
}

const (
	firstReach, leastReach, mostReach = 0.3, 0.001, 1
	// sweeps bounds those over the phases, of which one in wideSweep visits those without a share, too.
	sweeps, wideSweep = 64, 8
	// smallShare is a change of a share that is none.
	smallShare = 1e-4
)

func newCover(left []int, center []float64) *cover {
	n := len(left)
	c := &cover{jobs: make([]float64, n), center: make([]float64, n), prices: make([]float64, n), rise: make([]float64, n)}
	for i := range left {
		c.jobs[i] = float64(left[i])
	}
	c.move(center, firstReach)
	return c
}

func (c *cover) add(phase contents, cost float64) {
	c.phases, c.cost, c.share = append(c.phases, phase), append(c.cost, cost), append(c.share, 0)
	c.slope = append(c.slope, c.steepness(phase))
}

func (c *cover) steepness(phase contents) (sum float64) {
	for _, x := range phase {
		sum += float64(x.count*x.count) * c.rise[x.kind]
	}
	return sum
}

// move sets the center and the reach. The shares stay.
func (c *cover) move(center []float64, reach float64) {
	copy(c.center, center)
	c.reach = min(mostReach, max(leastReach, reach))
	for i, n := range c.jobs {
		c.rise[i] = 0
		if n > 0 {
			c.rise[i] = c.reach * max(center[i], math.SmallestNonzeroFloat32) / n
		}
		c.prices[i] = center[i] + c.rise[i]*n
	}
	for k, phase := range c.phases {
		c.slope[k] = c.steepness(phase)
		c.pay(phase, c.share[k])
	}
}

// pay lowers the prices of jobs that a share of a phase covers.
func (c *cover) pay(phase contents, share float64) {
	for _, x := range phase {
		c.prices[x.kind] -= c.rise[x.kind] * float64(x.count) * share
	}
}

// settle makes each share the best beside the others, until that changes little.
func (c *cover) settle(ctx context.Context) {
	var some []int
	for sweep := range sweeps {
		if capacity.Pause(ctx) != nil {
			return
		}
		if sweep%wideSweep != 0 {
			for _, k := range some {
				c.change(k)
			}
			continue
		}
		some = some[:0]
		most := 0.0
		for k := range c.phases {
			most = max(most, c.change(k))
			if c.share[k] > 0 {
				some = append(some, k)
			}
		}
		if most < smallShare {
			return
		}
	}
}

// change makes a share the best beside the others, and returns by how much it changed.
func (c *cover) change(k int) float64 {
	over := c.cost[k] - paid(c.prices, c.phases[k])
	share := max(0, c.share[k]-over/c.slope[k])
	by := share - c.share[k]
	if by != 0 {
		c.share[k] = share
		c.pay(c.phases[k], by)
	}
	return math.Abs(by)
}
