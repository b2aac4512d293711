package plan

import (
	"math"

	"headroom/internal/capacity"
)

// slotLoads is the load of a class's jobs when slots are whole (exact), and of whole VMs when no
// VM may serve two classes (dedicated).
type slotLoads struct {
	classes   []class
	exact     bool // whole slots; otherwise gamma·jobs
	dedicated bool
	fine      int64   // units in one VM before VMs are made whole
	direct    []int64 // units per job of classes without known slots, or of all if not exact
	memo      [][]int64
	rare      map[[2]int64]int64 // for classes with too many possible job counts for a table
}

// memoMost is how many job counts of one class are kept in a table.
const memoMost = 1 << 12

// newOptions makes the slot-exact (or dedicated) program of the model.
func (m *model) newOptions() *options {
	in := m.instance()
	s := &slotLoads{
		classes: m.classes, exact: m.Options.Integrality == capacity.Executable,
		dedicated: m.Options.Sharing == capacity.Dedicated,
		memo:      make([][]int64, len(m.classes)), rare: make(map[[2]int64]int64),
	}
	s.fine, s.direct = loads(directGammas(m.classes, s.exact), in.High)
	if s.exact {
		s.refine()
	}
	o := &options{loader: s, supply: newSupply(in.Supply), penalty: in.Penalty, low: in.Low, high: in.High}
	o.grid = s.fine
	if s.dedicated {
		o.grid = 1
	}
	return o
}

// directGammas is the gammas of the classes whose load is a multiple of one job, 0 for others.
func directGammas(classes []class, exact bool) []float64 {
	gammas := make([]float64, len(classes))
	for i := range classes {
		if !exact || !classes[i].slotted {
			gammas[i] = classes[i].gamma
		}
	}
	return gammas
}

// refine makes the grid fine enough for every slot size. Where no common grid is small enough a
// slot's size is rounded up to nine decimals, so that a plan always fits.
func (s *slotLoads) refine() {
	grid := s.fine
	for i := range s.classes {
		c := &s.classes[i]
		if !c.slotted {
			continue
		}
		for _, slots := range [2]float64{c.shape.mapSlots, c.shape.redSlots} {
			n := int64(slots)
			grid = grid / gcd(grid, n) * n
			if grid > fineGrid {
				s.coarsen()
				return
			}
		}
	}
	for i := range s.direct {
		s.direct[i] *= grid / s.fine
	}
	s.fine = grid
}

func (s *slotLoads) coarsen() {
	for i, g := range directGammas(s.classes, s.exact) {
		s.direct[i] = int64(math.Ceil(g*fineGrid - roundUpSlack))
	}
	s.fine = fineGrid
}

func (s *slotLoads) perJob(class int) float64 { return s.classes[class].gamma }

func (s *slotLoads) units(class int, jobs int64) int64 {
	if jobs == 0 {
		return 0
	}
	c := &s.classes[class]
	if !s.exact || !c.slotted {
		return s.wholeVMs(s.direct[class] * jobs)
	}
	first, width := int64(c.low), int64(c.high-c.low)+1
	if width > memoMost {
		key := [2]int64{int64(class), jobs}
		u, known := s.rare[key]
		if !known {
			u = s.slotUnits(c, jobs)
			s.rare[key] = u
		}
		return u
	}
	if s.memo[class] == nil {
		s.memo[class] = make([]int64, width)
	}
	at := &s.memo[class][jobs-first]
	if *at == 0 {
		*at = s.slotUnits(c, jobs) + 1
	}
	return *at - 1
}

func (s *slotLoads) slotUnits(c *class, jobs int64) int64 {
	mapSlots, redSlots := c.shape.whole(jobs)
	up := func(n int64) int64 { return ceilDiv(s.fine, n) } // exact wherever the grid holds 1/n
	units := int64(0)
	if mapSlots > 0 {
		units += mapSlots * up(int64(c.shape.mapSlots))
	}
	if redSlots > 0 {
		units += redSlots * up(int64(c.shape.redSlots))
	}
	return s.wholeVMs(units)
}

// wholeVMs rounds a load up to whole VMs where they are dedicated; the load is then counted in VMs.
func (s *slotLoads) wholeVMs(units int64) int64 {
	if s.dedicated {
		return ceilDiv(units, s.fine)
	}
	return units
}
