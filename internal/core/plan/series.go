package plan

import (
	"context"
	"slices"
	"sync"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
)

// Series solves problems that differ little from one, such as those of scenarios, in brief. A plan has its status,
// money, VMs, each class's jobs and slots, the proof and the price of capacity. It is checked as every plan is, and has
// the same figures as Solve finds. It has no times, reasons, flips, layout, relaxed or integer plan and no warnings.
// The needs of a class are not worked out again if nothing of it has changed. Plans of several VM types are full but for
// what would change them, which the relaxation says. Several goroutines may use it at once.
//
// Profiles, calibrations and demands count as unchanged if the pointers are: a changed one must be a new value.
type Series struct {
	base   capacity.Problem
	solver lp.Solver
	known  sync.Pool // *prepared, each used by one solve at a time
}

// NewSeries prepares for problems that differ little from base.
func NewSeries(base capacity.Problem, solver lp.Solver) *Series {
	return &Series{base: base, solver: solver}
}

// Solve is the plan in brief.
func (s *Series) Solve(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
	pl, err := s.brief(ctx, &p)
	return curesWithin(ctx, &p, pl), err
}

// brief is Solve with cures that nobody has tried.
func (s *Series) brief(ctx context.Context, p *capacity.Problem) (capacity.Plan, error) {
	if isFleet(p) {
		return solveFleet(ctx, p, s.solver, true)
	}
	k := s.take()
	defer s.known.Put(k)
	return solveWithin(ctx, p, s.solver, k)
}

// take returns what is known of the base's classes, for one use at a time.
func (s *Series) take() *prepared {
	if k, _ := s.known.Get().(*prepared); k != nil {
		return k
	}
	return prepare(&s.base)
}

// prepared holds what newModel has found about the classes of a problem.
type prepared struct {
	classes []preparedClass // in the order of the problem
	order   []int           // by name

	// What a solve works in and leaves behind for the next one; no plan refers to it.
	model   []class
	program lp.Program
	point   []float64
	kinds   []slotKind
}

// preparedClass holds the findings of newModel about a class, and their source.
type preparedClass struct {
	name     string
	profile  *capacity.Profile
	factor   *capacity.Calibration
	promise  *capacity.Promise
	demand   *capacity.Demand
	bound    capacity.Bound
	deadline float64
	mapSlots int64 // on a VM
	redSlots int64
	oneSlot  bool
	price    money.Amount

	demands  perf.JobDemands // of a profile
	work     capacity.Demand
	shape    shape
	possible bool
	gamma    float64
	penalty  float64
	recent   [recentWhole]wholeSlots
}

// recentWhole is the number of answers of shape.whole that a prepared class keeps: solves of like problems ask for few
// numbers of jobs.
const recentWhole = 16

func prepare(p *capacity.Problem) *prepared {
	k := &prepared{classes: make([]preparedClass, len(p.Classes)), order: byName(p.Classes)}
	for i := range p.Classes {
		c, from := &k.classes[i], &p.Classes[i]
		*c = preparedClass{
			name: from.Name, profile: from.Profile, factor: from.Calibration, promise: from.PromiseOf(), demand: from.Demand, bound: p.Options.Bound,
			deadline: from.DeadlineSeconds, mapSlots: from.SlotsPerVM.Map, redSlots: from.SlotsPerVM.Reduce, oneSlot: p.Options.OneSlotPerJob,
			price: from.Penalty, penalty: from.Penalty.Float(),
		}
		switch {
		case from.VMsPerJob != nil:
			continue
		case from.Profile != nil:
			c.demands = perf.Demands(*from.Profile)
			c.work = c.demands.Planned(p.Options.Bound, from)
		default:
			c.work = *from.Demand
		}
		if c.shape, c.possible = newShape(from, c.work, p.Options.OneSlotPerJob); c.possible {
			c.gamma = c.shape.gamma()
			c.shape.recent = c.recent[:]
		}
	}
	return k
}

// orderOf is the order of classes by name.
func (k *prepared) orderOf(classes []capacity.Class) []int {
	if k == nil || len(classes) != len(k.classes) {
		return byName(classes)
	}
	for i := range classes {
		if classes[i].Name != k.classes[i].name {
			return byName(classes)
		}
	}
	return k.order
}

// class returns the knowledge about the class at an index, or nil if the class needs something else than the known one.
// The penalty may differ.
func (k *prepared) class(c *capacity.Class, index int, o *capacity.Options) *preparedClass {
	if k == nil || index >= len(k.classes) || c.VMsPerJob != nil {
		return nil
	}
	known := &k.classes[index]
	if c.Profile != known.profile || c.Calibration != known.factor || c.PromiseOf() != known.promise || c.Demand != known.demand || o.Bound != known.bound || o.OneSlotPerJob != known.oneSlot {
		return nil
	}
	return known
}

// same says that the class has the deadline and the slots that are known, and so takes as many VMs.
func (k *preparedClass) same(c *capacity.Class) bool {
	return c.DeadlineSeconds == k.deadline && c.SlotsPerVM.Map == k.mapSlots && c.SlotsPerVM.Reduce == k.redSlots
}

// brief says that the plan is one of a series.
func (m *model) brief() bool { return m.known != nil }

// classesOf is room for a model's classes.
func (k *prepared) classesOf(n int) []class {
	if k == nil {
		return make([]class, n)
	}
	k.model = slices.Grow(k.model[:0], n)[:n]
	clear(k.model)
	return k.model
}
