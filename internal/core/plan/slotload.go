package plan

import (
	"math"
	"math/bits"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan/integer"
)

// slotLoads is the load of a class's jobs when slots are whole (exact), and of whole VMs when no
// VM may serve two classes (dedicated).
type slotLoads struct {
	classes   []class
	exact     bool // whole slots; otherwise gamma·jobs
	dedicated bool
	fine      integer.Grid // before VMs are made whole
	direct    []int64      // units per job of classes without known slots, or of all if not exact
	known     []bool       // direct is all of a given gamma, nothing was rounded away
	memo      [][]int64
	room      []int64            // for more tables
	rare      map[[2]int64]int64 // for classes with too many possible job counts for a table
}

// memoMost is the number of job counts of one class that are kept in a table.
const memoMost = 1 << 12

// memoRoom is the number of job counts for which room is made at once, for the tables of several classes.
const memoRoom = 1 << 10

// newOptions makes the program whose loads are not multiples of one job: with whole slots if exact,
// with whole VMs a class if they are dedicated.
func (m *model) newOptions(exact bool) *integer.Options {
	in := m.instance()
	s, need := m.newSlotLoads(&in, exact)
	g := s.fine
	if s.dedicated {
		g = integer.Grid{PerVM: 1}
	}
	return integer.NewOptions(s, g, in, need)
}

// newSlotLoads makes the loads of newOptions, and says how many VMs all jobs take at most.
func (m *model) newSlotLoads(in *integer.Instance, exact bool) (s *slotLoads, need int64) {
	s = &slotLoads{
		classes: m.classes, exact: exact,
		dedicated: m.Options.Sharing == capacity.Dedicated,
		memo:      make([][]int64, len(m.classes)), rare: make(map[[2]int64]int64),
	}
	s.fine, s.direct = integer.NewGrid(directGammas(m.classes, s.exact), in.High, m.rounded(exact))
	need = 1
	for i, g := range in.Gamma {
		need += int64(g*float64(in.High[i])) + mostRounding
	}
	if s.exact {
		s.refine(float64(need))
	}
	s.known = make([]bool, len(s.direct))
	for i := range s.direct {
		if c := &m.classes[i]; c.VMsPerJob != nil && !c.long {
			_, s.known[i] = integer.UnitsFor(c.gamma, s.fine.PerVM)
		}
	}
	return s, need
}

// mostRounding is more VMs than whole slots and whole VMs add to any class's gamma·jobs: less than
// a map slot, a reduce slot, a VM, and the fraction cut off.
const mostRounding = 4

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
// class's slots are rounded down on a fine one.
func (s *slotLoads) refine(most float64) {
	perVM := s.fine.PerVM
	for i := range s.classes {
		c := &s.classes[i]
		if !c.slotted {
			continue
		}
		for _, n := range [2]int64{c.SlotsPerVM.Map, c.SlotsPerVM.Reduce} {
			perVM = perVM / integer.GCD(perVM, n) * n
			if perVM > integer.FineGrid || float64(perVM)*most >= integer.MaxLoad {
				s.coarsen(most)
				return
			}
		}
	}
	for i := range s.direct {
		s.direct[i] *= perVM / s.fine.PerVM
	}
	s.fine.Tolerance *= perVM / s.fine.PerVM
	s.fine.Rounded *= perVM / s.fine.PerVM
	s.fine.PerVM = perVM
}

func (s *slotLoads) coarsen(most float64) {
	s.fine = integer.GridUpTo(most)
	for i, g := range directGammas(s.classes, s.exact) {
		s.direct[i], _ = integer.UnitsFor(g, s.fine.PerVM)
		c := &s.classes[i]
		if c.slotted {
			s.fine.Rounded += 2 // map slots and reduce slots
		} else {
			s.fine.Rounded += int64(c.high)
		}
	}
	s.fine.Tolerance = max(0, int64(integer.LoadNoise*float64(s.fine.PerVM))-s.fine.Rounded)
}

func (s *slotLoads) PerJob(class int) float64 { return s.classes[class].gamma }

func (s *slotLoads) Units(class int, jobs int64) int64 {
	if jobs == 0 {
		return 0
	}
	c := &s.classes[class]
	switch given := s.dedicated && c.VMsPerJob != nil; {
	case given && s.known[class]:
		return integer.CeilDiv(s.direct[class]*jobs, s.fine.PerVM)
	case !given && (!s.exact || !c.slotted):
		return s.wholeVMs(s.direct[class] * jobs)
	}
	first, width := int64(c.low), int64(c.high-c.low)+1
	if width > memoMost {
		key := [2]int64{int64(class), jobs}
		u, known := s.rare[key]
		if !known {
			u = s.worked(c, jobs)
			s.rare[key] = u
		}
		return u
	}
	if jobs < first || jobs >= first+width {
		return s.worked(c, jobs)
	}
	if s.memo[class] == nil {
		if int64(len(s.room)) < width {
			s.room = make([]int64, max(width, memoRoom))
		}
		s.memo[class], s.room = s.room[:width:width], s.room[width:]
	}
	at := &s.memo[class][jobs-first]
	if *at == 0 {
		*at = s.worked(c, jobs) + 1
	}
	return *at - 1
}

// other is the load of a class's jobs where its deadline is another, with whole slots or with whole VMs.
func (s *slotLoads) other(c *class, jobs int64) int64 {
	switch {
	case jobs == 0:
		return 0
	case s.exact:
		return s.worked(c, jobs)
	}
	return int64(max(0, math.Ceil(c.gamma*float64(jobs)-integer.LoadNoise))) // the grid may be too coarse for its gamma
}

// worked is the load that is worth keeping: of whole slots, or whole VMs of a given gamma.
func (s *slotLoads) worked(c *class, jobs int64) int64 {
	if !c.slotted {
		return c.ownVMs(jobs)
	}
	mapSlots, redSlots := c.shape.whole(jobs)
	return s.wholeVMs(slotUnitsOf(mapSlots, s.fine.PerVM, c.SlotsPerVM.Map) + slotUnitsOf(redSlots, s.fine.PerVM, max(1, c.SlotsPerVM.Reduce)))
}

// slotUnitsOf is slots·perVM/ofVM, rounded down once: rounding every slot would lose half a VM of 25 million.
func slotUnitsOf(slots, perVM, ofVM int64) int64 {
	if perVM%ofVM == 0 {
		return slots * (perVM / ofVM)
	}
	high, low := bits.Mul64(uint64(slots), uint64(perVM))
	units, _ := bits.Div64(high, low, uint64(ofVM))
	return int64(units)
}

// ownVMs is the whole VMs for jobs whose gamma is given, where they have VMs of their own.
func (c *class) ownVMs(jobs int64) int64 {
	need := c.VMsPerJob.Mul(decimal.NewFromInt(jobs))
	if c.long {
		need = need.Sub(decimal.NewFromFloat(integer.LoadNoise))
	}
	return max(0, need.Ceil().IntPart())
}

// wholeVMs rounds a load up to whole VMs where they are dedicated; the load is then counted in VMs.
func (s *slotLoads) wholeVMs(units int64) int64 {
	if s.dedicated {
		return integer.CeilDiv(max(0, units-s.fine.Tolerance), s.fine.PerVM)
	}
	return units
}
