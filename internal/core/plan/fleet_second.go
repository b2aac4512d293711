package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// CBC helps with fleets in two ways. If our own search has proved its plan, CBC checks it and may find it wrong. If the
// search finds no plan, CBC gets the whole program and may use its cuts and its preprocessing. Its proposal is made to
// fit, added up by us and improved as ours are, and our own bound grades it.

const (
	// checkedClasses bounds the classes that CBC may choose for when it checks a plan.
	checkedClasses = 60
	// helpColumns bounds the program that CBC gets.
	helpColumns = 10_000
	// Of the time, the search gets glanceShare to find a plan and lastShare to prove it, and what improves plan and bound
	// polishShare: its units take half the time of the search's. CBC gets helpShare where there is no plan.
	glanceShare, polishShare, lastShare, helpShare = 0.02, 1.5, 0.1, 0.5
	// Of that work, firstShare is for all classes at once, poolShare for the plan of a pool, raiseShare for the
	// bound and sharpShare for that of spot VMs.
	firstShare, poolShare, raiseShare, sharpShare = 0.1, 0.03, 0.22, 0.07
	// raiseMost bounds the work for the bound: later steps win little.
	raiseMost = 10_000_000
)

// find searches for the best plan and the proof, with CBC's help or under its eyes where the options want it.
func (d *fleetDecision) find(ctx context.Context, solver lp.Solver) *fleetSearch {
	s := d.newSearch(ctx, d.target(), d.relaxed.nu)
	s.root.mu = d.relaxed.mu
	large := d.columns() > helpColumns
	many := large || s.glances
	if many {
		s.round(d.relaxed.prices)
	}
	switch {
	case large && s.best != nil: // one look at the whole tree takes longer than there is time
	case s.glances:
		s.grant(glanceShare)
		s.run()
	default:
		s.allow(1)
		s.run()
	}
	if s.best == nil && len(s.open) > 0 {
		s.round(d.relaxed.prices)
	}
	if large || math.IsInf(s.bound, -1) && len(s.open) > 0 { // there was no first look
		s.bound, s.root.bound = max(s.bound, d.relaxed.bound), max(s.root.bound, d.relaxed.bound)
	}
	if s.best == nil && len(s.open) > 0 && d.Options.Engine != capacity.EngineExact {
		d.help(ctx, solver, s)
	}
	if s.best != nil && !s.proved() {
		d.polish(ctx, s)
	}
	if many && !s.proved() {
		s.grant(lastShare)
		s.run()
	}
	if s.best != nil && s.proved() && d.Options.Engine == capacity.EngineCBC {
		d.check(ctx, solver, s)
	}
	return s
}

// polish improves the best plan, and the bound in between.
func (d *fleetDecision) polish(ctx context.Context, s *fleetSearch) {
	work := int(polishShare * float64(s.Options.MaxSolveMs) * effortPerMs)
	s.effort, s.most = s.work+work, s.work+work
	share := func(of float64) int { return int(of * float64(work)) }
	if !s.glances { // whole slots, or few classes
		s.first(share(firstShare))
		s.nearby(s.effort - s.work)
		return
	}
	a := s.setApart(s.best.vms)
	if s.columns() > helpColumns { // a step of the bound takes longer than all the rest
		s.nearby((s.effort - s.work) / 2)
		s.raise(ctx, a, 0)
		return
	}
	if s.pool(ctx, a) {
		s.exchange(share(poolShare))
	}
	s.raise(ctx, a, share(raiseShare/4))
	s.first(share(firstShare))
	s.nearby((s.effort - s.work) / 2)
	s.raise(ctx, a, min(share(raiseShare), raiseMost))
	s.sharpen(ctx, a, share(sharpShare))
	s.nearby(s.effort - s.work)
}

// proved says that nothing worth finding is left open.
func (s *fleetSearch) proved() bool {
	if s.best == nil {
		return len(s.open) == 0
	}
	allowed := max(s.Options.Gap, integer.ProofResolution) * integer.Yardstick(s.best.cost+s.paid, s.all)
	return s.best.cost-s.bound <= max(allowed, money.Smallest, integer.GapNoise*s.all)
}

// movable lists the classes that could change in a better plan than the best known, and those that would make it
// hardly dearer until there are enough: the cheapest to change first.
func (s *fleetSearch) movable(most int) []int {
	type changing struct {
		class int
		extra float64
	}
	var list []changing
	gap := s.best.cost - s.bound
	for i := range s.penalty {
		p := pricing{nu: s.root.nu, penalty: s.penalty[i]}
		_, _, least, _ := s.cheapest(i, p)
		below := max(gap, 1e-6, math.Abs(least))
		near, _ := s.alternatives(i, p, least, below, 2)
		if len(near) > 1 {
			list = append(list, changing{i, near[1].extra})
		}
	}
	slices.SortStableFunc(list, func(a, b changing) int { return cmp.Compare(a.extra, b.extra) })
	free := make([]int, 0, most)
	for k, c := range list[:min(len(list), most)] {
		if k < integer.MinFree || c.extra < gap {
			free = append(free, c.class)
		}
	}
	return free
}

// columns returns the number of columns for jobs in the whole program.
func (f *fleet) columns() (n int) {
	for i := range f.on {
		n += len(f.on[i])
	}
	return n
}

// help asks CBC for a first plan, and makes what it proposes fit.
func (d *fleetDecision) help(ctx context.Context, solver lp.Solver, s *fleetSearch) {
	if d.columns() > helpColumns {
		return
	}
	free := s.everyClass()
	p := d.program(averaged, free, nil)
	sol, ok := d.consult(ctx, solver, &p.Program, lp.Options{
		Gap: max(d.Options.Gap, integer.ProofResolution), Cuts: true, Seconds: helpShare * float64(d.Options.MaxSolveMs) / 1000,
	})
	d.cut = ok && cut(sol)
	if !ok || len(sol.X) == 0 || lp.CheckAdvice(&p.Program, sol.X, sol.Objective) != nil {
		return
	}
	proposed := make([][]int64, len(d.classes))
	for i := range proposed {
		proposed[i] = make([]int64, len(d.types))
	}
	p.read(sol.X, free, proposed)
	for i := range proposed {
		if !d.allows(i, proposed[i]) {
			return
		}
	}
	s.thin(proposed, s.root.nu)
	s.consider(proposed)
}

// check asks CBC whether a plan that has been proved is the best one.
func (d *fleetDecision) check(ctx context.Context, solver lp.Solver, s *fleetSearch) {
	scale := math.Max(1, math.Abs(s.best.cost+s.paid))
	within := max(d.Options.Gap, integer.ProofResolution) * scale
	free := s.movable(checkedClasses)
	p := d.program(faithful, free, s.best.jobs)
	sol, ok := d.consult(ctx, solver, &p.Program, lp.Options{
		Gap: max(d.Options.Gap, integer.ProofResolution), AbsGap: integer.ProofResolution * scale, Start: p.start,
		Seconds: provedShare * float64(d.Options.MaxSolveMs) / 1000, Nodes: provedNodes,
	})
	if !ok || len(sol.X) == 0 {
		if ok && (sol.Status == lp.Infeasible || sol.Status == lp.Unbounded) { // we hold a plan: it is wrong
			d.second.agreed = new(bool)
		}
		return
	}
	if lp.CheckAdvice(&p.Program, sol.X, sol.Objective) != nil { // no answer to what was asked
		d.second.agreed = new(bool)
		return
	}
	jobs := cloneMixes(s.best.jobs)
	p.read(sol.X, free, jobs)
	for i := range jobs {
		if !d.allows(i, jobs[i]) {
			return
		}
	}
	found := d.evaluate(jobs)
	if found == nil {
		return
	}
	better := s.best.cost - found.cost
	if sol.Status == lp.Optimal {
		agreed := math.Abs(better) <= within
		if agreed || found.cost <= claimed(&p.Program, sol, p.start, s.best.cost)+within {
			d.second.agreed = &agreed
		}
	}
	if better > within { // our own proof has been refuted: say so rather than hide it
		s.best, s.bound = found, found.cost-better
		d.warnings = append(d.warnings, words.Disagreed())
	}
}

// consult asks the solver; false where no answer came, which costs a warning.
func (d *fleetDecision) consult(ctx context.Context, solver lp.Solver, p *lp.Program, o lp.Options) (lp.Solution, bool) {
	err := error(lp.ErrUnavailable)
	var sol lp.Solution
	if solver != nil {
		sol, err = solver.Solve(ctx, p, o)
	}
	if err != nil {
		if w := *unavailable(err); !slices.Contains(d.warnings, w) {
			d.warnings = append(d.warnings, w)
		}
		return sol, false
	}
	d.second.engine = sol.Engine
	return sol, true
}

// settleRelaxed compares the linear program with Clp's answer.
func (d *fleetDecision) settleRelaxed(ctx context.Context, solver lp.Solver) {
	if d.Options.Engine != capacity.EngineCBC {
		return
	}
	all := make([]int, len(d.classes))
	for i := range all {
		all[i] = i
	}
	p := d.program(fractional, all, nil)
	sol, ok := d.consult(ctx, solver, &p.Program, lp.Options{})
	if ok && (sol.Status == lp.Optimal || sol.Status == lp.Infeasible) {
		agreed := sol.Status == lp.Optimal && sameOptimum(sol, d.relaxed.objective)
		d.second.agreed = &agreed
	}
}
