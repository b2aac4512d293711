// Package exchange improves plans of a fleet: it looks for classes that trade places on VM types such that together they
// fill whole VMs. It knows loads, prices and penalties, and nothing of problems. It proves nothing.
package exchange

import (
	"math"

	"example.org/headroom/internal/core/plan/integer"
)

// Type is a VM type: how many VMs there are, and what so many cost.
type Type struct {
	Grid integer.Grid
	Most int64
	Cost func(vms int64) float64
}

// Class is a class of jobs and the places where they may be: types, and Outside for those that are refused.
type Class struct {
	Low, High int64
	Penalty   float64
	Places    []int
}

// Outside is the place of jobs that are refused.
const Outside = -1

// Fleet holds loads, costs and penalties, and prices near which good plans lie.
type Fleet struct {
	Types   []Type
	Classes []Class
	Units   func(class, kind int, jobs int64) int64 // the load of so many jobs
	Budget  float64                                 // on VMs; +Inf where there is none
	Nu      []float64                               // prices of a VM of each type,
	Mu      float64                                 // and of the budget's money
}

// Search improves a plan.
type Search struct {
	*Fleet
	Work    int // done so far: one unit is about ten nanoseconds
	random  integer.SplitMix
	jobs    [][]int64 // of each class on each type
	total   []int64   // of each class
	load    []int64   // of each type, less the tolerance
	vms     []int64
	rent    []float64
	spend   float64 // the sum of rent
	avoided float64 // penalties
	cost    float64
	best    [][]int64
	least   float64 // cost of the best
	narrow  float64 // see window
	room    room
}

// New begins at a plan that lacks neither VMs nor money. The jobs are the search's from now on.
func New(f *Fleet, jobs [][]int64) *Search {
	m := len(f.Types)
	s := &Search{
		Fleet: f, random: 1, jobs: jobs, total: make([]int64, len(jobs)), narrow: 1,
		load: make([]int64, m), vms: make([]int64, m), rent: make([]float64, m),
	}
	s.add()
	s.keep()
	return s
}

// add adds the plan up.
func (s *Search) add() {
	for v := range s.load {
		s.load[v] = -s.Types[v].Grid.Tolerance
	}
	s.avoided = 0
	for i, mix := range s.jobs {
		s.total[i] = 0
		for v, h := range mix {
			if h > 0 {
				s.total[i] += h
				s.load[v] += s.Units(i, v, h)
			}
		}
		s.avoided += s.Classes[i].Penalty * float64(s.total[i])
	}
	s.settle()
}

// settle rents VMs for the loads and adds up the cost.
func (s *Search) settle() {
	s.spend = 0
	for v := range s.load {
		s.vms[v] = integer.CeilDiv(max(0, s.load[v]), s.Types[v].Grid.PerVM)
		s.rent[v] = s.Types[v].Cost(s.vms[v])
		s.spend += s.rent[v]
	}
	s.cost = s.spend - s.avoided
}

const (
	// wander is the share of the gap by which plans on the way may cost more than the best, once settled attempts have
	// found no better one. After patience attempts it begins at the best plan again.
	wander   = 0.1
	settled  = 10
	patience = 40
)

// Improve looks for better plans until its work is done or the time is up. No plan costs less than the bound.
func (s *Search) Improve(bound float64, work int, ended func() bool) {
	work += s.Work
	for since := 0; s.Work < work && !ended(); since++ {
		gap := s.least - bound
		if gap <= noise {
			return
		}
		if since > patience {
			since = 0
			s.back()
		}
		allowed := -1e-12*math.Abs(s.cost) - noise
		if since > settled {
			allowed = s.least + wander*gap*s.fraction() - s.cost
		}
		s.join(gap, allowed)
		if s.cost < s.least-1e-12*math.Abs(s.least)-noise {
			since = 0
			s.keep()
		}
	}
}

// keep notes the plan as the best one, back returns to that.
func (s *Search) keep() {
	s.least = s.cost
	if s.best == nil {
		s.best = make([][]int64, len(s.jobs))
	}
	for i, mix := range s.jobs {
		s.best[i] = append(s.best[i][:0], mix...)
	}
}

func (s *Search) back() {
	for i, mix := range s.best {
		copy(s.jobs[i], mix)
	}
	s.add()
}

// Best returns the best plan and its cost.
func (s *Search) Best() (jobs [][]int64, cost float64) { return s.best, s.least }

// move carries a move out; settle adds it up.
func (s *Search) move(m *move) {
	for side, p := range [2]int{m.from, m.to} {
		by := m.jobs
		if side == 0 {
			by = -by
		}
		if p == Outside {
			s.total[m.class] -= by
			s.avoided -= s.Classes[m.class].Penalty * float64(by)
			continue
		}
		before := s.jobs[m.class][p]
		s.jobs[m.class][p] = before + by
		s.load[p] += s.Units(m.class, p, before+by) - s.Units(m.class, p, before)
	}
}

// has returns the jobs of a class in a place that may leave it.
func (s *Search) has(class, place int) int64 {
	if place == Outside {
		return s.Classes[class].High - s.total[class]
	}
	return s.jobs[class][place]
}

// fraction draws a number above 0 and up to 1.
func (s *Search) fraction() float64 { return (float64(s.random.Below(1<<53)) + 1) / (1 << 53) }

func (s *Search) infinite() bool { return math.IsInf(s.Budget, 1) }
