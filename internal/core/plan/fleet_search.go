package plan

import (
	"container/heap"
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/plan/mixes"
)

// The search of a fleet rests on the identity of one type's (see search.go), written for several. For
// any prices nu >= 0 of the types' capacity and mu >= 0 of the budget,
//
//	cost(plan) = bound + sum of extras + sum of the types' excess + mu·(the rest of the budget)
//
// A class's extra is the worth of its mix above its cheapest one. A type's excess is the cost of whole VMs above
// nu·load. No part is negative, so any prices give a bound. A best-first tree splits the mixes and the VM counts until
// the bounds meet the best plan. Every part of it gets prices of its own, and is looked at in full once few mixes cost
// less than the gap that is open.

// fleetPlan is a plan of a fleet: its classes' mixes and what they come to.
type fleetPlan struct {
	jobs  [][]int64 // of each class on each type
	vms   []int64   // of each type
	cost  float64   // P2's objective without what is paid in any case
	loads []int64   // of each type
}

// fleetSearch is the search for the best plan.
type fleetSearch struct {
	*fleet
	target   func(objective float64) float64
	paid     float64 // what is paid in any case
	all      float64 // the penalties of all jobs together
	best     *fleetPlan
	bound    float64 // no plan costs less
	open     openNodes
	root     *treeNode
	glances  bool // it does not look around in parts of the tree
	made     int  // parts of the tree so far, and one
	effort   int  // in all
	patience int  // likewise, while no plan has been found
	random   integer.SplitMix
	other    *fleetPlan // a plan beside the best that is improved, too
	still    int        // steps for which that stood still
	turn     int
	gained   [2]float64 // by dives and exchanges for their work, of late
}

// treeNode is a part of the search tree.
type treeNode struct {
	box
	bound float64
	nu    []float64
	mu    float64
	rank  int // of its making: ties fall by it
}

type openNodes []*treeNode

func (o openNodes) Len() int { return len(o) }
func (o openNodes) Less(a, b int) bool {
	if o[a].bound != o[b].bound {
		return o[a].bound < o[b].bound
	}
	return o[a].rank > o[b].rank
}
func (o openNodes) Swap(a, b int) { o[a], o[b] = o[b], o[a] }
func (o *openNodes) Push(x any)   { *o = append(*o, x.(*treeNode)) }
func (o *openNodes) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	return last
}

// fleetEffort limits the work of a search: one unit is ten to twenty nanoseconds. A limit on work and not on time gives
// the same plan on a busy machine. A problem of few classes gets more, since it can be decided. So does one that is
// given more time than usual. One without a plan so far gets all the time there is.
const (
	fleetEffort     = 20_000_000
	fewClassesShare = 8
	effortPerMs     = 50_000
	trialShare      = 20 // of a search that is one of many
)

// effortFor returns the work that a search with so much time may do once it has a plan.
func (f *fleet) effortFor() int {
	effort := max(fleetEffort, int(float64(f.Options.MaxSolveMs)/float64(capacity.DefaultOptions().MaxSolveMs)*fleetEffort))
	if len(f.penalty) <= fewClasses {
		effort *= fewClassesShare
	}
	return effort
}

// exhausted says that the search has to end.
func (s *fleetSearch) exhausted() bool {
	if s.best == nil {
		return s.work > s.patience || s.done()
	}
	return s.work > s.effort || s.done()
}

// search finds the best plan and the proof; best stays nil where there is none, or none was found.
// It is decided where open is empty.
func (f *fleet) search(ctx context.Context, target func(objective float64) float64, nu []float64) *fleetSearch {
	s := f.newSearch(ctx, target, nu)
	s.allow(1)
	s.run()
	return s
}

// newSearch prepares a search of everything.
func (f *fleet) newSearch(ctx context.Context, target func(objective float64) float64, nu []float64) *fleetSearch {
	f.done = integer.Expired(ctx)
	s := &fleetSearch{fleet: f, target: target, paid: f.committed(), all: f.wanted(), bound: math.Inf(-1), made: 1, random: 1}
	s.glances = len(f.penalty) > fewClasses && !slices.Contains(f.linear, false)
	s.root = &treeNode{box: f.everything(), bound: math.Inf(-1), nu: nu}
	s.open = openNodes{s.root}
	return s
}

// allow lets the search do a share of its work from now on.
func (s *fleetSearch) allow(share float64) {
	allowed := s.effortFor()
	patience := max(allowed, int(s.Options.MaxSolveMs)*effortPerMs)
	if s.trial {
		patience = allowed / trialShare
	}
	s.effort, s.patience = s.work+int(share*float64(allowed)), s.work+int(share*float64(patience))
	s.most = max(s.effort, s.patience)
	if s.trial {
		s.most = s.patience
	}
}

// grant lets the search work for a share of the time from now on, and for two whole searches at most. With a long
// time, plans that stay open would otherwise take seconds more.
func (s *fleetSearch) grant(share float64) {
	s.effort = s.work + min(int(share*float64(s.Options.MaxSolveMs)*effortPerMs), 2*s.effortFor())
	s.patience = s.work + int(s.Options.MaxSolveMs)*effortPerMs
	s.most = max(s.effort, s.patience)
}

// run goes on with the search for as long as it is allowed to.
func (s *fleetSearch) run() {
	dive := -1 // where in open the part stands that the last split leaned to
	for len(s.open) > 0 {
		s.bound = max(s.bound, min(s.open[0].bound, s.costOfBest()))
		if s.settled(s.open[0].bound) {
			s.open = s.open[:0]
			break
		}
		if s.exhausted() && s.made > 1 {
			return
		}
		n := heap.Remove(&s.open, max(dive, 0)).(*treeNode)
		dive = -1
		parts := s.visit(n)
		for k := len(parts) - 1; k >= 0; k-- { // the one to go on with is made last
			parts[k].rank = s.made
			s.made++
			heap.Push(&s.open, parts[k])
		}
		if len(parts) > 0 && !s.hopeless(parts[0].bound) {
			dive = slices.Index(s.open, parts[0])
		}
	}
	s.bound = max(s.bound, min(s.costOfBest(), s.closed()))
}

// closed returns the lower bound of the parts that were left for being hardly better than the best plan.
func (s *fleetSearch) closed() float64 {
	if s.best == nil {
		return math.Inf(1)
	}
	return s.best.cost - s.allowed()
}

func (s *fleetSearch) costOfBest() float64 {
	if s.best == nil {
		return math.Inf(1)
	}
	return s.best.cost
}

// allowed is the gap that is not worth closing: what float64 sums cannot tell from none.
func (s *fleetSearch) allowed() float64 {
	return 0.3 * max(money.Smallest, integer.ProofResolution*integer.Yardstick(s.best.cost+s.paid, s.all), integer.GapNoise*s.all)
}

// settled says that a part of the tree with this bound holds no plan worth finding.
func (s *fleetSearch) settled(bound float64) bool {
	return s.best != nil && s.best.cost-bound <= max(s.allowed(), s.target(s.best.cost))
}

// hopeless says it of one part: what is left out there is as good as the best plan.
func (s *fleetSearch) hopeless(bound float64) bool {
	return s.best != nil && s.best.cost-bound <= s.allowed()
}

// oracle finds cheapest mixes within a box.
func (f *fleet) oracle(b *box) mixes.Oracle {
	return func(i int, nu []float64, penalty float64, c *mixes.Choice) (worth float64, ok bool) {
		jobs, worth, _, ok := f.cheapest(i, pricing{nu, penalty, b.limits[i]})
		if !ok {
			return 0, false
		}
		c.All = 0
		for v, h := range jobs {
			if c.VMs[v], c.Jobs[v] = 0, float64(h); h > 0 {
				t := &f.types[v]
				c.VMs[v] = float64(t.loads.Units(i, h)) / float64(t.loads.Grid.PerVM)
				c.All += c.Jobs[v]
			}
		}
		return worth, true
	}
}

// weigher returns the least worth of any choice of a class; false if it has no choice.
type weigher func(class int, nu []float64, penalty float64) (least float64, ok bool)

// weigher weighs mixes within a box.
func (f *fleet) weigher(b *box) weigher {
	return func(i int, nu []float64, penalty float64) (float64, bool) {
		_, _, least, ok := f.cheapest(i, pricing{nu, penalty, b.limits[i]})
		return least, ok
	}
}

// boundAt is the identity's bound: what no plan in the box costs less than. Without penalties and at a
// price of 1 for a VM, or an amount of money, that is missing it is the least that must be missing.
func (f *fleet) boundAt(b *box, weigh weigher, nu []float64, mu float64, missing bool) float64 {
	var sum money.Sum
	for i, penalty := range f.penalty {
		if missing {
			penalty = 0
		}
		least, ok := weigh(i, nu, penalty)
		if !ok {
			return math.Inf(1)
		}
		sum.Add(least)
	}
	for v := range f.types {
		t := &f.types[v]
		sum.Add(-nu[v] * float64(t.loads.Grid.Tolerance) / float64(t.loads.Grid.PerVM))
		price := 1 + mu
		if missing {
			price = mu
		}
		start, line := f.line(b, v, nil)
		sum.Add(price*start - nu[v]*float64(b.low[v]))
		for _, s := range line {
			if gain := price*s.Price - nu[v]; gain < 0 {
				sum.Add(gain * s.Length)
			}
		}
	}
	if mu > 0 {
		sum.Add(-mu * f.budget)
	}
	return sum.Value()
}

// visit prices a part of the tree, looks for plans in it, and splits it; no parts where it is done.
func (s *fleetSearch) visit(n *treeNode) []*treeNode {
	p, ok := s.newPrices(&n.box, s.oracle(&n.box), n.nu)
	if !ok {
		return nil
	}
	missing := p.Solve()
	if s.best != nil && s.ended() {
		return []*treeNode{n} // as open as before
	}
	if missing > 0 {
		for v := range p.Nu {
			p.Nu[v] = min(p.Nu[v], 1)
		}
		p.Mu = min(p.Mu, 1)
		if s.boundAt(&n.box, s.weigher(&n.box), p.Nu, p.Mu, true) > integer.LoadNoise/2 {
			return nil
		}
	} else {
		n.nu, n.mu = slices.Clone(p.Nu), p.Mu
		if n.bound = max(n.bound, s.boundAt(&n.box, s.weigher(&n.box), p.Nu, p.Mu, false)); s.hopeless(n.bound) {
			return nil
		}
		if s.lookAround(n, p) || s.hopeless(n.bound) {
			return nil
		}
	}
	return s.split(n, p)
}

// evaluate is the plan of the mixes; nil where it takes more than there is.
func (f *fleet) evaluate(jobs [][]int64) *fleetPlan {
	plan := &fleetPlan{jobs: jobs, vms: make([]int64, len(f.types))}
	loads := make([]int64, len(f.types))
	var sum money.Sum
	for i, mix := range jobs {
		for v, h := range mix {
			if h > 0 {
				loads[v] += f.types[v].loads.Units(i, h)
				sum.Add(-f.penalty[i] * float64(h))
			}
		}
	}
	plan.loads = loads
	if !f.rent(plan, loads) {
		return nil
	}
	for v, n := range plan.vms {
		sum.Add(f.types[v].rental.Cost(n))
	}
	plan.cost = sum.Value()
	return plan
}

// rent finds the VMs that carry the loads; false where there are not so many, or not the money.
func (f *fleet) rent(plan *fleetPlan, loads []int64) bool {
	for v := range f.types {
		g := &f.types[v].loads.Grid
		plan.vms[v] = integer.CeilDiv(max(0, loads[v]-g.Tolerance), g.PerVM)
		if plan.vms[v] > f.types[v].rental.MostVMs {
			return false
		}
	}
	return f.affordable(plan.vms)
}

// consider takes a plan if it is the best so far.
func (s *fleetSearch) consider(jobs [][]int64) bool {
	p := s.evaluate(jobs)
	if p == nil || s.best != nil && p.cost >= s.best.cost {
		return false
	}
	p.jobs = cloneMixes(jobs)
	s.best = p
	return true
}

// split divides a part of the tree in two, at a VM count or a class's jobs of which the linear program
// takes a fraction; no parts where it takes none.
func (s *fleetSearch) split(n *treeNode, p *mixes.Program) []*treeNode {
	at, far := -1, 1e-6
	for v := range s.types {
		r := &s.types[v].rental
		if n.low[v] >= min(n.high[v], r.Limit) {
			continue
		}
		x := float64(n.low[v]) + p.Rented(v)
		distance := math.Abs(x - math.Round(x))
		if r.Spot != nil && distance < 1e-6 && n.low[v] < n.high[v] {
			// Whole, but where the line lies below what so many VMs cost.
			k := int64(math.Round(x))
			if start, line := r.Segments(n.low[v], min(n.high[v], r.Limit), nil); k > n.low[v] && k < min(n.high[v], r.Limit) && r.Cost(k) > along(start, line, float64(k-n.low[v]))+1e-9*(1+start) {
				distance = 0.25
			}
		}
		if weighed := distance * (p.Nu[v] + 1e-9); distance > 1e-6 && weighed > far*1e-3 && (at < 0 || weighed > far) {
			at, far = v, weighed
		}
	}
	if at < 0 {
		if parts := s.splitClass(n, p); parts != nil {
			return parts
		}
		// All is whole and yet no plan that has been taken: float noise. VM counts settle it.
		if s.best != nil && s.best.cost <= n.bound+s.allowed() {
			return nil
		}
		for v := range n.low {
			if n.low[v] < min(n.high[v], s.types[v].rental.Limit) {
				at = v
			}
		}
		if at < 0 {
			return nil
		}
	}
	whole := int64(math.Floor(float64(n.low[at]) + p.Rented(at) + 1e-6))
	whole = min(max(whole, n.low[at]), min(n.high[at], s.types[at].rental.Limit)-1)
	below, above := n.child(), n.child()
	below.high[at], above.low[at] = whole, whole+1
	if float64(n.low[at])+p.Rented(at)-float64(whole) > 0.5 {
		return []*treeNode{above, below}
	}
	return []*treeNode{below, above}
}

// along is a convex line's value so far along it.
func along(start float64, line []mixes.Segment, x float64) float64 {
	for _, s := range line {
		start += s.Price * min(x, s.Length)
		if x -= s.Length; x <= 0 {
			break
		}
	}
	return start
}

// splitClass splits at the jobs of the class and type that the linear program divides most.
func (s *fleetSearch) splitClass(n *treeNode, p *mixes.Program) []*treeNode {
	class, kind, at, far, up := -1, -1, int64(0), 0.0, false
	var list []mixes.Share
	for i := range s.penalty {
		if list = p.Shares(i, list[:0]); len(list) == 1 {
			continue
		}
		for _, v := range s.on[i] {
			least, most, mean := math.Inf(1), 0.0, 0.0
			for _, c := range list {
				if c.Part > 1e-9 {
					least, most = min(least, c.Jobs[v]), max(most, c.Jobs[v])
				}
				mean += c.Part * c.Jobs[v]
			}
			if most <= least {
				continue
			}
			spread := 0.0
			for _, c := range list {
				spread += c.Part * math.Abs(c.Jobs[v]-mean)
			}
			if spread *= s.types[v].classes[i].gamma*p.Nu[v] + 1e-9; spread > far {
				class, kind, far = i, v, spread
				at = int64(min(max(math.Floor(mean), least), most-1))
				up = mean-float64(at) > 0.5
			}
		}
	}
	if class < 0 {
		return nil
	}
	below, above := n.child(), n.child()
	below.limit(s.fleet, class).to[kind] = at
	above.limit(s.fleet, class).from[kind] = at + 1
	if up {
		return []*treeNode{above, below}
	}
	return []*treeNode{below, above}
}

func (n *treeNode) child() *treeNode {
	c := &treeNode{bound: n.bound, nu: n.nu, mu: n.mu}
	c.low, c.high = slices.Clone(n.low), slices.Clone(n.high)
	c.limits = make(map[int]*limits, len(n.limits)+1)
	for i, l := range n.limits {
		c.limits[i] = l
	}
	return c
}

// limit is the limits of a class, its own from now on.
func (n *treeNode) limit(f *fleet, class int) *limits {
	l := limits{low: f.low[class], high: f.high[class]}
	if old := n.limits[class]; old != nil {
		l.from, l.to = slices.Clone(old.from), slices.Clone(old.to)
	} else {
		l.from, l.to = make([]int64, len(f.types)), make([]int64, len(f.types))
		for _, v := range f.on[class] {
			l.to[v] = f.high[class]
		}
	}
	n.limits[class] = &l
	return &l
}
