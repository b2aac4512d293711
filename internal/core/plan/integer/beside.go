package integer

import (
	"cmp"
	"math"
	"slices"
)

// Beside finds the best plans of problems that differ from a solved one in a single class. A search begins at a
// Lagrangian point and looks only at what the change moves.
type Beside struct {
	first    *point // of the solved problem
	points   map[float64]*point
	supply   Supply
	ratios   []worth // of the classes, the highest first
	jobs     []int64 // the best plan of the solved problem
	load     int64   // of the best plan
	enough   float64 // the gap that is none: floats cannot tell
	lowest   []int64 // the promised jobs
	least    int64   // their load
	promised float64 // the same, in VMs
	work     int     // states that searches may still look at
	listWork int     // states that lists may still hold
	room     Search  // of the latest search: the next one takes it
	done     func() bool
}

// worth is a class's penalty per VM, and the VMs that its jobs may take beside the promised ones.
type worth struct {
	class      int
	perVM, vms float64
}

// point is a price of capacity at which every class has its cheapest number of jobs.
type point struct {
	*Beside
	front  Terrain
	kink   kink
	base   int64   // load of the point
	extra  float64 // what the best plan's jobs cost above the point
	slack  float64
	moved  []int  // classes with other jobs in the best plan than at the point
	leads  []lead // the cheapest moves below reach, cheapest first
	all    bool   // leads are all of them
	reach  float64
	target float64 // the gap at which a search ends
	others *others
	full   bool // lists of a higher limit are too long
}

// Own holds what one class is in the problem beside: its limits, its penalty, and the load of its jobs.
type Own struct {
	Class     int
	Low, High int64
	Penalty   float64
	PerJob    float64 // jobs·PerJob is never more than their load, in VMs
	Units     func(jobs int64) int64
}

// Found holds the best plan of a problem beside. Where it is not proved, there may be a better one; where there is none,
// VMs are those that are missing.
type Found struct {
	Feasible, Proved bool
	Jobs, VMs        int64 // jobs of the class
	Others           []Moved
}

// Moved tells how many jobs another class has that had a different number in the solved problem's plan.
type Moved struct {
	Class int
	Jobs  int64
}

// NewBeside prepares for problems beside the one that the terrain has solved, with the jobs of its best plan. The
// supply has the VMs that a job more might need too; a gap that is small enough counts as none. All searches together
// may look at so many states.
func NewBeside(f Terrain, supply Supply, jobs []int64, enough float64, work int, done func() bool) *Beside {
	b := &Beside{supply: supply, jobs: jobs, load: f.Load(jobs), done: done, enough: enough, work: work, listWork: listsWork, points: map[float64]*point{}}
	lowest, highest := f.limits()
	b.lowest, b.least = lowest, f.Load(lowest)
	penalties := f.fork().penalties()
	for i, low := range lowest {
		if gamma := f.PerJob(i); gamma > 0 {
			b.promised += gamma * float64(low)
			b.ratios = append(b.ratios, worth{i, penalties[i] / gamma, gamma * float64(highest[i]-low)})
		}
	}
	slices.SortFunc(b.ratios, func(x, y worth) int { return cmp.Or(cmp.Compare(y.perVM, x.perVM), cmp.Compare(x.class, y.class)) })
	b.first = b.pointOf(f)
	return b
}

// pointOf is a terrain's point.
func (b *Beside) pointOf(f Terrain) *point {
	s := f.begin()
	p := &point{Beside: b, front: f, kink: b.supply.at(s.kink.nu, s.kink.grid), base: s.base, slack: s.slack, reach: 2 * s.kink.nu}
	for i, h := range b.jobs {
		if h != f.standing()[i] {
			p.moved = append(p.moved, i)
			p.extra += f.extra(i, h)
		}
	}
	p.target = min(b.enough, complete(f.Objective(b.jobs, CeilDiv(b.load, f.PerVM())), f.wanted())/10)
	b.points[p.kink.nu] = p
	return p
}

// at is the point where a change of a class moves the price of capacity.
func (b *Beside) at(own *Own) *point {
	nu := b.crossing(own)
	if p, known := b.points[nu]; known {
		return p
	}
	if len(b.points) >= mostPoints {
		return b.first
	}
	return b.pointOf(b.first.front.at(nu, b.supply))
}

// mostPoints bounds the points that are kept, each of which knows all classes.
const mostPoints = 64

// crossing is about the price at which demand meets supply with a class as given.
func (b *Beside) crossing(own *Own) float64 {
	mine := worth{own.Class, own.Penalty / own.PerJob, own.PerJob * float64(own.High-own.Low)}
	load := b.promised + own.PerJob*float64(own.Low) - b.first.front.PerJob(own.Class)*float64(b.lowest[own.Class])
	s, tier := &b.supply, 0
	for tier+1 < len(s.Price) && load > float64(s.Total[tier]) {
		tier++
	}
	nu, found := 0.0, false
	take := func(w *worth) bool {
		if w.perVM <= s.Price[tier] {
			return true
		}
		for load += w.vms; load > float64(s.Total[tier]); tier++ {
			if tier+1 == len(s.Price) || s.Price[tier+1] >= w.perVM {
				nu, found = w.perVM, true
				return true
			}
		}
		return false
	}
	pending := own.PerJob > 0
	for i := range b.ratios {
		w := &b.ratios[i]
		if pending && mine.perVM >= w.perVM {
			if pending = false; take(&mine) {
				break
			}
		}
		if w.class != own.Class && take(w) {
			break
		}
	}
	if !found && pending {
		take(&mine)
	}
	if !found {
		nu = s.Price[tier]
	}
	return nu
}

// ownWork is the least cost of a search, counted in states.
const ownWork = 50

// looked counts the states that the latest pass has made.
func (s *Search) looked() int {
	return s.nodes.count + len(s.halves[0].items) + len(s.halves[1].items)
}

func byExtra(a, b lead) int {
	return cmp.Or(cmp.Compare(a.extra, b.extra), cmp.Compare(a.class, b.class))
}

// PerJob is the VMs that a job of the class takes at least.
func (b *Beside) PerJob(class int) float64 { return b.first.front.PerJob(class) }

// Best finds the best plan where the class is as given. The search begins at the solved problem's plan or at another one
// that is known, whichever is better once the class's jobs are within its limits.
func (b *Beside) Best(own Own, known Found) Found {
	if own.Low > own.High {
		return Found{Proved: true}
	}
	if b.work <= 0 {
		return Found{}
	}
	f := b.first.best(&own, known, false)
	if f.Proved {
		return f
	}
	p := b.first
	if len(b.supply.Price) > 0 {
		if p = b.at(&own); p != b.first {
			if f.Feasible {
				known = f
			}
			if f = p.best(&own, known, false); f.Proved {
				return f
			}
		}
	}
	if f.Feasible {
		known = f
	}
	return p.best(&own, known, true)
}

// best finds it from a point: by the lists, or by a search besides.
func (b *point) best(own *Own, known Found, search bool) Found {
	v := varied{Terrain: b.front, beside: b, own: own}
	if !v.stand() {
		return Found{}
	}
	at := own.Class
	others := b.base - b.front.Units(at, b.front.standing()[at])
	s := &b.room
	s.begin(&v, b.kink, others+v.units, b.slack, b.done)
	first := Found{Jobs: b.jobs[at]}
	load, gap := b.started(&v, &first)
	if known.Feasible {
		if l, g := b.started(&v, &known); g < gap {
			first, load, gap = known, l, g
		}
	}
	kept := gap < s.gap
	if kept {
		s.gap = gap
	}
	proved := b.tryLists(&v)
	if math.IsInf(s.gap, 1) {
		if need := CeilDiv(b.least-b.front.Units(at, b.lowest[at])+own.Units(own.Low), b.kink.grid); need > b.kink.Most() {
			return Found{Proved: true, VMs: need - b.kink.Most()}
		}
		if s.shed(); math.IsInf(s.gap, 1) { // nothing is known that fits
			return Found{}
		}
	}
	if !proved && search {
		proved = b.search()
	}
	found := Found{Feasible: true, Proved: proved, Jobs: v.jobs}
	if kept && len(s.moves) == 0 {
		found.Jobs, found.Others, found.VMs = first.Jobs, first.Others, CeilDiv(load, b.kink.grid)
		return found
	}
	load = s.base
	left := slices.Clone(b.moved) // back to the point
	for _, m := range s.moves {
		load += m.load
		if m.class == at {
			found.Jobs = m.jobs
			continue
		}
		if m.jobs != b.jobs[m.class] {
			found.Others = append(found.Others, Moved{m.class, m.jobs})
		}
		left = slices.DeleteFunc(left, func(i int) bool { return i == m.class })
	}
	for _, i := range left {
		if i != at {
			found.Others = append(found.Others, Moved{i, b.front.standing()[i]})
		}
	}
	found.VMs = CeilDiv(load, b.kink.grid)
	return found
}

// search looks for better plans until none is, or until that takes too long.
func (b *point) search() (proved bool) {
	s := &b.room
	for _, e := range [2]effort{lightEffort, middleEffort} {
		s.run(b.target, e)
		b.work -= s.looked() + len(b.leads) + ownWork
		if s.bestGap() <= b.enough || s.done() || b.work <= 0 {
			break
		}
	}
	return s.bestGap() <= b.enough
}

// tryLists looks for a better plan in the lists of what the other classes can do; true where it is proved.
func (b *point) tryLists(v *varied) bool {
	s := &b.room
	if b.others == nil && !b.full {
		b.raise(max(2*(b.first.extra+b.first.kink.excess(b.load)), b.kink.nu/256))
	}
	if b.others == nil {
		return false
	}
	for {
		margin := 0.0
		if !math.IsInf(s.gap, 1) {
			margin = max(b.target*marginShare, s.gap*floatNoise)
		}
		moves, proven := b.others.best(v, s.gap-margin)
		if len(moves) > 0 {
			s.accept(moves)
		}
		if max(0, s.gap-proven)+s.slack <= b.enough {
			return true
		}
		if s.gap <= b.others.limit || b.full || proven == 0 {
			return false
		}
		b.raise(min(s.gap*1.01, 4*b.others.limit))
	}
}

// raise makes lists up to a higher limit, or notes that they would be too long. The first ones may have a lower one.
func (b *point) raise(limit float64) {
	for range limitSteps {
		o := newOthers(b, limit)
		if b.full = b.full || o == nil; o != nil {
			b.others = o
		}
		if b.others != nil {
			return
		}
		limit /= 4
	}
}

// limitSteps bounds how often the limit of the first lists is lowered until they are short enough.
const limitSteps = 4

// started is the load and the gap of a plan, whose jobs of the class are moved within its limits.
func (b *point) started(v *varied, f *Found) (load int64, gap float64) {
	at := v.own.Class
	f.Jobs = min(max(f.Jobs, v.own.Low), v.own.High)
	load = b.load - b.front.Units(at, b.jobs[at]) + v.own.Units(f.Jobs)
	gap = b.extra + max(0, v.worth(f.Jobs)-v.least)
	standing := b.front.standing()
	if b.jobs[at] != standing[at] {
		gap -= b.front.extra(at, b.jobs[at])
	}
	for _, m := range f.Others {
		load += b.front.Units(m.Class, m.Jobs) - b.front.Units(m.Class, b.jobs[m.Class])
		if b.jobs[m.Class] != standing[m.Class] {
			gap -= b.front.extra(m.Class, b.jobs[m.Class])
		}
		if m.Jobs != standing[m.Class] {
			gap += b.front.extra(m.Class, m.Jobs)
		}
	}
	return load, gap + b.kink.excess(load)
}

// Between bounds the cost of the best plan, where the class is as given, above that of the solved problem's. The least is
// the bound at the Lagrangian point. The most is the cost of the solved problem's plan with as few changes to the class
// as may be; it is infinite where that does not fit.
func (b *Beside) Between(own Own) (least, most float64) { return b.first.between(&own) }

func (b *point) between(own *Own) (least, most float64) {
	v := varied{Terrain: b.front, beside: b, own: own}
	if own.Low > own.High || !v.stand() {
		return math.Inf(-1), math.Inf(1)
	}
	at := own.Class
	standing := b.front.standing()[at]
	was := b.kink.perUnit*float64(b.front.Units(at, standing)) - own.Penalty*float64(standing)
	least = v.least - was - (b.extra + b.kink.excess(b.load)) - b.slack
	first := min(max(b.jobs[at], own.Low), own.High)
	before, after := CeilDiv(b.load, b.kink.grid), CeilDiv(b.load-b.front.Units(at, b.jobs[at])+own.Units(first), b.kink.grid)
	if after > b.kink.Most() {
		return least, math.Inf(1)
	}
	return least, b.kink.between(before, after) - own.Penalty*float64(first-b.jobs[at])
}

// shed finds a first plan where the base needs more VMs than there are: moves that take load away, the cheapest first.
func (s *Search) shed() {
	over := s.base - s.kink.Most()*s.kink.grid
	leads, _ := s.front.leads(math.Inf(1), coreMost, nil)
	slices.SortFunc(leads, byExtra)
	var moves []move
	var list []choice
	for _, l := range leads {
		if over <= 0 {
			break
		}
		list = s.front.choices(l.class, math.Inf(1), list[:0])
		best := choice{}
		for _, c := range list {
			if c.load < best.load && best.load > -over { // the cheapest that is enough, or else what takes most away
				best = c
			}
		}
		if best.load < 0 {
			over += best.load
			moves = append(moves, move{l.class, best})
		}
	}
	s.accept(moves)
}

// varied is the front of a problem beside: the class has choices of its own.
type varied struct {
	Terrain
	beside *point
	own    *Own
	jobs   int64 // cheapest at the price of capacity
	units  int64
	least  float64
}

// worth returns the cost of so many jobs of the class at the price of capacity.
func (v *varied) worth(jobs int64) float64 {
	return v.beside.kink.perUnit*float64(v.own.Units(jobs)) - v.own.Penalty*float64(jobs)
}

// line returns the least cost of one more job, and where the cheapest number of jobs is looked for first.
func (v *varied) line() (slope float64, from, step int64) {
	slope = v.beside.kink.nu*v.own.PerJob*(1-LineNoise) - v.own.Penalty
	if slope < 0 {
		return slope, v.own.High, -1
	}
	return slope, v.own.Low, 1
}

// stand finds the cheapest number of jobs; false if that takes too long.
func (v *varied) stand() bool {
	slope, from, step := v.line()
	v.jobs, v.least = from, v.worth(from)
	tried := 0
	for h := from + step; h >= v.own.Low && h <= v.own.High; h += step {
		if slope*float64(h)-v.beside.kink.nu*LoadNoise > v.least {
			break
		}
		if tried++; tried > optionsMostTried {
			return false
		}
		if w := v.worth(h); w < v.least {
			v.jobs, v.least = h, w
		}
	}
	v.units = v.own.Units(v.jobs)
	return true
}

func (v *varied) choices(class int, below float64, dst []choice) []choice {
	if class != v.own.Class {
		return v.Terrain.choices(class, below, dst)
	}
	dst, _ = v.tried(below, dst)
	return dst
}

// tried is the class's choices, and whether they are all of them.
func (v *varied) tried(below float64, dst []choice) (found []choice, all bool) {
	slope, from, step := v.line()
	begin, tried := len(dst), 0
	for h := from; h >= v.own.Low && h <= v.own.High && slope*float64(h)-v.least < below+v.beside.kink.nu*LoadNoise; h += step {
		if tried++; tried > optionsMostTried {
			return dst, false
		}
		if extra := max(0, v.worth(h)-v.least); h != v.jobs && extra < below {
			dst = append(dst, choice{jobs: h, load: v.own.Units(h) - v.units, extra: extra})
		}
	}
	slices.SortFunc(dst[begin:], func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.extra, b.extra), cmp.Compare(a.jobs, b.jobs))
	})
	return dst, true
}

func (v *varied) leads(below float64, most int, dst []lead) ([]lead, bool) {
	b := v.beside
	if b.leads == nil {
		b.leads, b.all = b.front.leads(b.reach, len(b.jobs), []lead{})
		slices.SortFunc(b.leads, byExtra)
	}
	known, all := b.leads, b.all
	if below > b.reach {
		known, all = v.Terrain.leads(below, most, nil)
		slices.SortFunc(known, byExtra)
	}
	own, whole := v.tried(below, nil)
	all = all && whole
	mine := lead{v.own.Class, math.Inf(1)}
	if len(own) > 0 {
		mine.extra = own[0].extra
	}
	for _, l := range known {
		if byExtra(mine, l) < 0 && mine.extra < below {
			dst, mine.extra = append(dst, mine), math.Inf(1)
		}
		if l.extra >= below || len(dst) > most {
			break
		}
		if l.class != v.own.Class {
			dst = append(dst, l)
		}
	}
	if mine.extra < below {
		dst = append(dst, mine)
	}
	if len(dst) > most {
		dst, all = dst[:most], false
	}
	return dst, all
}

func (v *varied) stretch(class int, room int64) (choice, bool) {
	if class != v.own.Class {
		return v.Terrain.stretch(class, room)
	}
	all, _ := v.tried(math.Inf(1), nil)
	best := choice{}
	for _, c := range all {
		if c.load <= room && c.load > best.load {
			best = c
		}
	}
	return best, best.load > 0
}
