package pack

import (
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
)

// columns looks for phases that cover some jobs together, and for the prices that bound every packing of these jobs.
type columns struct {
	*seen
	cover *cover
	left  []int
	sack  *sack
	has   map[string]bool
	pool  []column // in the order of the cover's phases
	bound float64
	guess float64 // of the best bound, by the center's prices
}

// levels lists how hard phases are looked for: the rungs tried and the choices of each. Once nothing more is found it
// is the next one's turn.
var levels = []struct{ tries, choices int }{{60, 300}, {500, 3_000}, {4_000, 30_000}}

const (
	// diveRounds bounds the rounds of prices after each phase that is fixed.
	diveRounds = 8
	// patience is the number of rounds without a better guess after which prices stay nearer to the center.
	patience = 3
	// nearBound is the share by which a bound may fall short of the best.
	nearBound = 3e-4
)

func (s *seen) columns(left []int, center []float64) *columns {
	c := &columns{seen: s, cover: newCover(left, center), left: left, sack: newSack(s.fitter, left), has: map[string]bool{}}
	for i, n := range left {
		if n > 0 {
			c.meet(contents{{i, 1}})
		}
	}
	return c
}

// meet adds a phase of the jobs that are left, and reports whether it is new.
func (c *columns) meet(phase contents) bool {
	var part contents
	for _, x := range phase {
		if n := min(x.count, c.left[x.kind]); n > 0 {
			part = append(part, some{x.kind, n})
		}
	}
	if len(part) == 0 || c.has[string(c.key(part))] {
		return false
	}
	c.has[string(c.key(part))] = true
	rung := c.look(part, 0)
	if rung == c.never() {
		return false
	}
	c.pool = append(c.pool, column{part, rung})
	c.cover.add(part, c.times[rung])
	return true
}

// known returns the smallest time / prices of the pool's phases.
func (c *columns) known(prices []float64) float64 {
	known := math.Inf(1)
	for _, x := range c.pool {
		if p := paid(prices, x.contents); p > 0 {
			known = min(known, c.times[x.rung]/p)
		}
	}
	return known
}

// generate adds phases until the bound is enough, or nothing more is found, or the rounds or the work are over.
func (c *columns) generate(ctx context.Context, enough float64, hardest, rounds, work int) {
	level, late := 0, 0
	for ; rounds > 0 && c.effort < work && capacity.Pause(ctx) == nil; rounds-- {
		c.cover.settle(ctx)
		prices, sum := slices.Clone(c.cover.prices), 0.0
		for i := range prices {
			prices[i] = max(0, prices[i])
			sum += prices[i] * c.cover.jobs[i]
		}
		p := c.try(ctx, prices, level)
		added := c.meetAll(p.short)
		if p.guess > c.guess {
			c.guess, late = p.guess, 0
			for i := range prices {
				prices[i] *= p.guess / sum
			}
			c.cover.move(prices, c.cover.reach*1.2)
		} else if late++; late == patience {
			late = 0
			c.cover.move(c.cover.center, c.cover.reach/1.5)
		}
		if added && sum > c.guess*(1+nearBound) {
			continue
		}
		if level == hardest {
			// The center's prices are the best. What they prove counts, and the phases that prove less go on.
			p := c.try(ctx, c.cover.center, level)
			if c.guess = p.guess; c.bound >= enough || !c.meetAll(p.short) {
				return
			}
			continue
		}
		level++
		c.guess = c.try(ctx, c.cover.center, level).guess
	}
}

// try looks for phases by prices.
func (c *columns) try(ctx context.Context, prices []float64, level int) priced {
	c.sack.choices = levels[level].choices
	p := c.price(ctx, c.sack, prices, c.known(prices), levels[level].tries)
	c.bound = max(c.bound, p.bound)
	return p
}

func (c *columns) meetAll(phases []contents) (added bool) {
	for _, p := range phases {
		added = c.meet(p) || added
	}
	return added
}

// dive fixes one phase after another, that with the largest share of the time, and looks for phases for the rest. It
// returns none if the time ends before.
func (c *columns) dive(ctx context.Context, work int) (phases []contents) {
	for {
		best := c.largest()
		if best < 0 {
			return phases
		}
		phases = append(phases, c.pool[best].contents)
		left := slices.Clone(c.left)
		for _, x := range c.pool[best].contents {
			left[x.kind] -= x.count
		}
		rest := c.seen.columns(left, c.cover.center)
		for _, x := range c.pool {
			if capacity.Pause(ctx) != nil {
				return nil
			}
			rest.meet(x.contents)
		}
		rest.generate(ctx, math.Inf(1), 0, diveRounds, work)
		c = rest
	}
}

// largest returns the phase with the largest share of the time, or if none has a share the one that is worth its time
// most. It returns -1 if no job is left.
func (c *columns) largest() int {
	best, most := -1, 0.0
	for k, x := range c.pool {
		if size := min(1, c.cover.share[k]) * c.times[x.rung]; size > most {
			best, most = k, size
		}
	}
	if best >= 0 {
		return best
	}
	for k, x := range c.pool {
		if worth := paid(c.cover.center, x.contents) / c.times[x.rung]; best < 0 || worth > most {
			best, most = k, worth
		}
	}
	return best
}
