package integer

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
)

// The gap that one Lagrangian point leaves open is split into branches. They are the plans with at most so many jobs of a
// class that the linear program breaks, and those with more. Others split the number of VMs, or a row, likewise. Every
// branch has a Lagrangian point of its own, and the narrower it is, the higher its bound. The branches with the lowest
// bounds are taken first, and all share the best plan.

// Terrain is a front whose Lagrangian point can be moved.
type Terrain interface {
	Modeller
	// relax finds the Lagrangian point; false if not even the promised jobs fit.
	relax() bool
	// until tells the terrain when the time is up.
	until(done func() bool)
	// begin is a search at the point.
	begin() *Search
	// fork is a copy that the tree may change.
	fork() Terrain
	// at is the same classes at another price of capacity, with another supply.
	at(nu float64, supply Supply) Terrain
	// limits are the jobs that classes may have.
	limits() (low, high []int64)
	// rent limits the VMs.
	rent(least, most int64)
	// tilt takes the price of what jobs count in a row off the penalties.
	tilt(r row)
	// standing is the jobs at the point.
	standing() []int64
	// stand makes other jobs, as good in the linear program, the ones at the point.
	stand(jobs []int64)
	// broken is a class to which the linear program gives more than its jobs at the point, how many, and what
	// load they add.
	broken() (class int, jobs, load float64, found bool)
	// extra returns the cost of a class's jobs above those at the point: below 0 only if they are outside its limits.
	extra(class int, jobs int64) float64
	// wanted is the penalties of all jobs together.
	wanted() float64
	penalties() []float64
	PerJob(class int) float64
}

// The branches next to the root are glanced at, which is to search them lightly. Where the light search of the whole has
// proved less than half of the gap, the rounded row is tried before the middling search, and voted ones after it. Otherwise
// the rounded row comes after it. Where a row sees what the load does not, this costs less than a search of the whole.
// Where everything ties, or with many thousand classes, it costs more than it proves.
const (
	firstVisits  = 4
	glanceVisits = 8     // more, if the first have halved the gap
	roundedLeast = 50    // classes, for the rounded row
	glanceMost   = 5_000 // classes
	glanceShare  = 4     // searches in the branches have a target so much smaller, so that plans are no worse for it
	tiesMost     = 16    // classes that cost nothing more in either direction
)

// Solve solves P2 on a terrain as far as a light search leaves something open. Then come a glance at the nearest branches,
// a middling search, another glance, a solid search, and the tree.
func Solve(ctx context.Context, f Terrain, target func(objective float64) float64) (Result, *Search) {
	f.until(Expired(ctx))
	if !f.relax() {
		return Result{}, nil
	}
	s := f.begin()
	objective := f.Objective(f.standing(), CeilDiv(s.base, f.PerVM()))
	goal := target(objective)
	s.run(min(complete(objective, f.wanted()), goal), lightEffort) // most give the complete proof away for little
	if math.IsInf(s.gap, 1) {
		s.thin(f)
	}
	r := s.result(f, f.standing())
	goal = min(goal, target(r.Objective)) // far below the first where the best plan is much cheaper
	enough := func() bool { return r.Gap <= goal || s.done() }
	if enough() {
		return r, s
	}
	many := f.count() >= roundedLeast
	early := many && s.proven < s.gap/2 && !s.ties()
	if early {
		if t := glance(f, r, goal, true, s.done); t != nil {
			return t.result(f, s), s
		}
	}
	s.run(goal, middleEffort)
	if r = s.result(f, f.standing()); enough() {
		return r, s
	}
	if t := glance(f, r, goal, many && !early, s.done); t != nil {
		return t.result(f, s), s
	}
	s.run(goal, solidEffort)
	if r = s.result(f, f.standing()); enough() {
		return r, s
	}
	t := newTree(f.fork(), r, goal, s.done)
	t.prove()
	return t.result(f, s), s
}

// glance visits the branches next to the root; it returns the tree if that proves enough, or if the time is up.
func glance(f Terrain, r Result, goal float64, rounded bool, done func() bool) *tree {
	if f.count() > glanceMost {
		return nil
	}
	t := newTree(f.fork(), r, goal, done)
	t.rounded, t.fine = rounded, goal/glanceShare
	if t.explore(lightEffort, firstVisits); t.gap() <= r.Gap/2 {
		t.explore(lightEffort, glanceVisits)
	}
	if t.gap() > goal && !done() {
		return nil
	}
	return t
}

// ties says whether many classes cost nothing more in either direction.
func (s *Search) ties() bool {
	free := 0
	for _, l := range s.found {
		if l.extra == 0 {
			free++
		}
	}
	return free > tiesMost
}

// thin makes a first plan where the time is up before the jobs at the point have been brought down to the VMs in supply.
// Classes keep their promised jobs alone, which fit: those first that lose least by the load.
func (s *Search) thin(f Terrain) {
	var moves []move
	low, _ := f.limits()
	for i, at := range f.standing() {
		if load := f.Units(i, low[i]) - f.Units(i, at); load < 0 {
			moves = append(moves, move{i, choice{jobs: low[i], load: load, extra: f.extra(i, low[i])}})
		}
	}
	slices.SortFunc(moves, func(a, b move) int {
		return cmp.Or(cmp.Compare(a.extra*float64(-b.load), b.extra*float64(-a.load)), cmp.Compare(a.class, b.class))
	})
	over, n := s.base-s.kink.Most()*s.kink.grid, 0
	for ; n < len(moves) && over > 0; n++ {
		over += moves[n].load
	}
	s.accept(moves[:n])
}

// result is the tree's best plan, which the search that it began with learns the gap of.
func (t *tree) result(f Terrain, s *Search) Result {
	s.gap += t.value
	n := VMsFor(f, t.jobs)
	return Result{Feasible: true, Jobs: t.jobs, VMs: n, Objective: f.Objective(t.jobs, n), Gap: t.gap()}
}

// branch is the plans of its parent in which a class, or the number of VMs, is narrowed.
type branch struct {
	parent    *branch
	class     int // theVMs for the number of VMs
	low, high int64
	row       row
	bound     float64 // no plan in it costs less, counted like tree.value
}

// theVMs stands in the place of a class where the number of VMs is narrowed.
const theVMs = -1

// tree looks for the best plan, and proves how far from it the best one found is.
type tree struct {
	Terrain
	supply  Supply
	target  float64
	fine    float64 // target of searches in branches
	done    func() bool
	jobs    []int64 // the best plan
	value   float64 // what it costs more than the first: at most 0
	root    *branch
	open    branches
	closed  float64 // the lowest bound of branches that nothing more is done about
	counts  []int64 // of the row by which a branch was split last
	rounded bool    // rounded rows are tried first

	// Of the branch that is visited:
	least, most int64   // VMs
	vms         float64 // of the linear program
	parts       []part  // classes to which it gives parts of jobs
}

// part is a class and its jobs in the linear program.
type part struct {
	class int
	jobs  float64
}

// branches is a heap, the lowest bound on top.
type branches []*branch

func (b branches) Len() int           { return len(b) }
func (b branches) Less(i, j int) bool { return b[i].bound < b[j].bound }
func (b branches) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *branches) Push(x any)        { *b = append(*b, x.(*branch)) }
func (b *branches) Pop() any {
	last := len(*b) - 1
	x := (*b)[last]
	*b = (*b)[:last]
	return x
}

func newTree(f Terrain, r Result, target float64, done func() bool) *tree {
	root := &branch{class: theVMs, high: math.MaxInt64, bound: -r.Gap}
	return &tree{
		Terrain: f, supply: f.begin().kink.Supply, target: target, fine: target, done: done,
		jobs: slices.Clone(r.Jobs), root: root, open: branches{root}, closed: math.Inf(1),
	}
}

// The visits of the tree: many light ones first; then all that the Pareto program can do about the whole;
// then fewer heavier ones.
const (
	lightVisits = 100
	solidVisits = 120
)

// prove explores until the gap is at most the target or the effort is spent.
func (t *tree) prove() {
	t.explore(lightEffort, lightVisits)
	if t.gap() <= t.target || t.done() {
		return
	}
	t.look(t.root, heavyEffort)
	t.explore(solidEffort, solidVisits)
}

// gap returns an upper bound on the best plan's distance from the optimum.
func (t *tree) gap() float64 {
	bound := t.closed
	if len(t.open) > 0 {
		bound = min(bound, t.open[0].bound)
	}
	return max(0, t.value-max(bound, t.root.bound))
}

// explore visits so many branches, or fewer if that proves enough.
func (t *tree) explore(e effort, visits int) {
	for ; visits > 0 && len(t.open) > 0 && t.gap() > t.target && !t.done(); visits-- {
		b := heap.Pop(&t.open).(*branch)
		s := t.look(b, e)
		switch {
		case s == nil: // there is no plan
		case t.value-b.bound <= t.target:
			t.closed = min(t.closed, b.bound)
		default:
			leave := t.enter(b)
			t.split(b, s)
			leave()
		}
	}
}

// enter narrows the terrain to the branch; the answer undoes that.
func (t *tree) enter(b *branch) (leave func()) {
	low, high := t.limits()
	type limit struct {
		class     int
		low, high int64
	}
	var before []limit
	t.least, t.most = 0, t.supply.Most()
	for ; b != nil; b = b.parent {
		if b.class == theVMs {
			t.least, t.most = max(t.least, b.low), min(t.most, b.high)
			continue
		}
		before = append(before, limit{b.class, low[b.class], high[b.class]})
		low[b.class], high[b.class] = max(low[b.class], b.low), min(high[b.class], b.high)
	}
	t.rent(t.least, t.most)
	return func() {
		for _, l := range slices.Backward(before) {
			low[l.class], high[l.class] = l.low, l.high
		}
	}
}

// look searches a branch for better plans and raises its bound; nil if there is no plan in it.
func (t *tree) look(b *branch, e effort) *Search {
	defer t.enter(b)()
	s := t.place(b)
	if s == nil {
		return nil
	}
	gap := t.gapOf(s)
	b.bound = max(b.bound, t.value-gap-s.slack)
	if t.value-b.bound <= t.target {
		return s
	}
	s.gap = min(s.gap, gap)
	s.run(t.fine, e)
	if s.gap < gap {
		was := t.jobs
		t.jobs = slices.Clone(t.standing())
		for _, m := range s.moves {
			t.jobs[m.class] = m.jobs
		}
		if found := t.gapOf(s); found < gap {
			t.value -= gap - found
		} else { // but for rounding
			t.jobs = was
		}
	}
	b.bound = max(b.bound, t.value-s.bestGap())
	return s
}

// gapOf returns the cost of the best plan above the bound of a search, but for rounding. It is below 0 if that plan is
// outside the branch and cheaper than all in it.
func (t *tree) gapOf(s *Search) float64 {
	sum := 0.0
	for i, jobs := range t.jobs {
		sum += t.extra(i, jobs)
	}
	load, k := t.Load(t.jobs), &s.kink
	n := CeilDiv(load, k.grid)
	near := min(max(n, t.least), t.most) // outside the branch VMs cost what they cost
	sum += k.awayFromKink(near) + t.supply.between(near, n) - k.nu*float64(n-near) + k.perUnit*float64(n*k.grid-load)
	if s.row.side != 0 {
		sum += s.row.price * float64(s.row.target-s.row.count(t.jobs))
	}
	return sum
}

// split opens two branches of a branch: by a row, by the VMs, or by the class that weighs most of those which
// the linear program breaks.
func (t *tree) split(b *branch, s *Search) {
	if s.row.side == 0 && t.splitRow(b, s) {
		return
	}
	n, noise := math.Floor(t.vms), 1e-9+1e-13*t.vms
	if at := int64(n); t.vms-n > noise && t.vms-n < 1-noise && at >= t.least && at < t.most { // below the least some stand idle
		t.halve(b, theVMs, 0, at, math.MaxInt64)
		return
	}
	low, high := t.limits()
	class, at, heaviest := theVMs, int64(0), 0.0
	for _, p := range t.parts {
		if low[p.class] == high[p.class] {
			continue
		}
		down := math.Floor(p.jobs)
		if weight := min(p.jobs-down, down+1-p.jobs) * t.PerJob(p.class); weight > heaviest {
			class, at, heaviest = p.class, min(max(int64(down), low[p.class]), high[p.class]-1), weight
		}
	}
	if class == theVMs { // nothing is broken
		t.closed = min(t.closed, b.bound)
		return
	}
	t.halve(b, class, low[class], at, high[class])
}

// halve opens the branches from low to at, and above.
func (t *tree) halve(b *branch, class int, low, at, high int64) {
	for _, half := range [2]branch{{low: low, high: at}, {low: at + 1, high: high}} {
		half.parent, half.class, half.row, half.bound = b, class, b.row, b.bound
		heap.Push(&t.open, &half)
	}
}

// place finds the Lagrangian point of a branch; nil if there is no plan in it.
func (t *tree) place(b *branch) *Search {
	t.tilt(row{})
	if t.least > t.most || !t.relax() {
		return nil
	}
	at := t.ideal(&b.row)
	if b.row.over(at.count) <= 0 {
		s := t.begin()
		t.mix(&at, &at, 0, s.kink.grid)
		return s
	}
	return t.placeRow(b, at)
}

// ideal is the answer of the linear program at a point: so many jobs, and a part of a job more of one class.
type ideal struct {
	jobs  []int64
	more  part
	load  float64
	count float64 // in the row
}

func (t *tree) ideal(r *row) ideal {
	at := ideal{jobs: slices.Clone(t.standing()), more: part{class: theVMs}}
	at.load, at.count = float64(t.Load(at.jobs)), float64(r.count(at.jobs))
	if class, jobs, load, found := t.broken(); found {
		at.more = part{class, jobs - float64(at.jobs[class])}
		at.load += load
		at.count += at.more.jobs * float64(r.each(class))
	}
	return at
}

func (x *ideal) of(class int) float64 {
	if x.more.class == class {
		return float64(x.jobs[class]) + x.more.jobs
	}
	return float64(x.jobs[class])
}

// mix sets parts and vms to what lies between two points that are equally good, a share of the way from a to b.
func (t *tree) mix(a, b *ideal, share float64, perVM int64) {
	t.parts = t.parts[:0]
	for i := range a.jobs {
		if a.jobs[i] != b.jobs[i] || a.more.class == i || b.more.class == i {
			t.parts = append(t.parts, part{i, a.of(i)*(1-share) + b.of(i)*share})
		}
	}
	t.vms = (a.load*(1-share) + b.load*share) / float64(perVM)
}
