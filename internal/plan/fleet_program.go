package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"headroom/internal/capacity"
	"headroom/internal/lp"
)

// fleetProgram is a fleet as a program for Clp or CBC: VMs of every tier of every type, spot VMs, and for
// each class and type either its jobs or, where whole slots make them cost different amounts, one
// yes or no for every number of them.
type fleetProgram struct {
	lp.Program
	start   []float64
	columns []jobColumn
}

// jobColumn is a column that puts so many jobs of a class on a type for each unit of it.
type jobColumn struct {
	index, class, kind int
	jobs               float64
}

// program leaves the free classes to choose and holds the others where they are.
func (f *fleet) program(whole bool, free []int, jobs [][]int64) *fleetProgram {
	p := &fleetProgram{}
	rows := f.addSupplies(p, whole, free, jobs)
	for _, i := range free {
		total := p.Row(float64(f.classes[i].low), f.classes[i].high)
		for _, v := range f.on[i] {
			if !whole || f.linear[i] {
				p.addJobs(f, i, v, 1, f.classes[i].high, whole, float64(at(jobs, i, v)),
					lp.Entry{Row: rows[v], Coefficient: f.types[v].classes[i].gamma}, lp.Entry{Row: total, Coefficient: 1})
				continue
			}
			one := p.Row(0, 1)
			perVM := float64(f.types[v].loads.grid.perVM)
			for h := int64(1); h <= min(f.high[i], optionsMost); h++ {
				chosen := 0.0
				if h == at(jobs, i, v) {
					chosen = 1
				}
				p.addJobs(f, i, v, float64(h), 1, true, chosen,
					lp.Entry{Row: rows[v], Coefficient: float64(f.types[v].loads.units(i, h)) / perVM},
					lp.Entry{Row: total, Coefficient: float64(h)}, lp.Entry{Row: one, Coefficient: 1})
			}
		}
	}
	return p
}

func at(jobs [][]int64, i, v int) int64 {
	if jobs == nil {
		return 0
	}
	return jobs[i][v]
}

func (p *fleetProgram) addJobs(f *fleet, class, kind int, jobs, upper float64, whole bool, start float64, entries ...lp.Entry) {
	index := p.Column(-f.penalty[class]*jobs, 0, upper, whole, entries...)
	p.columns = append(p.columns, jobColumn{index, class, kind, jobs})
	p.start = append(p.start, start)
}

// addSupplies adds the VMs of all types with their rows of capacity, shares of spot and the budget, and
// answers the rows of capacity.
func (f *fleet) addSupplies(p *fleetProgram, whole bool, free []int, jobs [][]int64) (rows []int) {
	budget := -1
	if !math.IsInf(f.budget, 1) {
		budget = p.Row(math.Inf(-1), f.budget)
	}
	for v := range f.types {
		t := &f.types[v]
		held, total := 0.0, int64(0)
		for i := range jobs {
			units := t.loads.units(i, jobs[i][v])
			total += units
			if !slices.Contains(free, i) {
				held += float64(units)
			}
		}
		row := p.Row(math.Inf(-1), -(held-float64(t.loads.grid.tolerance))/float64(t.loads.grid.perVM))
		rows = append(rows, row)
		n := ceilDiv(max(0, total-t.loads.grid.tolerance), t.loads.grid.perVM)
		spot := t.rental.spotOf(n)
		share := -1
		if t.rental.spot != nil {
			share = p.Row(math.Inf(-1), 0)
		}
		add := func(price, most, ofShare, start float64) {
			entries := []lp.Entry{{Row: row, Coefficient: -1}}
			if share >= 0 && ofShare != 0 {
				entries = append(entries, lp.Entry{Row: share, Coefficient: ofShare})
			}
			if budget >= 0 && price != 0 {
				entries = append(entries, lp.Entry{Row: budget, Coefficient: price})
			}
			p.Column(price, 0, most, whole, entries...)
			p.start = append(p.start, start)
		}
		left := n - spot
		for k, price := range t.rental.supply.price {
			from, to := t.rental.supply.tier(k)
			used := min(left, to-from)
			left -= used
			most := math.Min(float64(to-from), float64(t.rental.limit))
			if share >= 0 {
				add(price, most, -t.rental.spot.share, float64(used))
			} else {
				add(price, most, 0, float64(used))
			}
		}
		if share >= 0 {
			add(t.rental.spot.price, float64(t.rental.limit), 1-t.rental.spot.share, float64(spot))
		}
	}
	return rows
}

// read puts a solution's jobs of the free classes into a plan's.
func (p *fleetProgram) read(x []float64, free []int, jobs [][]int64) {
	for _, i := range free {
		clear(jobs[i])
	}
	for _, c := range p.columns {
		jobs[c.class][c.kind] += int64(math.Round(x[c.index] * c.jobs))
	}
}

// fleetSecondMost bounds the classes of a fleet that are handed over; each brings columns for every type.
const fleetSecondMost = 60

// freeClasses is the classes that could still change in a better plan, and the cheapest to change besides
// until there are enough.
func (s *fleetSearch) freeClasses() []int {
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
	free := make([]int, 0, fleetSecondMost)
	for k, c := range list[:min(len(list), fleetSecondMost)] {
		if k < secondClasses || c.extra < gap {
			free = append(free, c.class)
		}
	}
	return free
}

// settle asks the second engine where the options want it, and keeps the better plan.
func (d *fleetDecision) settle(ctx context.Context, solver lp.Solver, s *fleetSearch) {
	gap := s.best.cost - s.bound
	scale := math.Max(1, math.Abs(s.best.cost+s.paid))
	proved := gap <= max(max(d.Options.Gap, proofResolution)*yardstick(s.best.cost+s.paid, s.all), smallestMoney, gapNoise*s.all)
	if !d.asks(proved) {
		return
	}
	free := s.freeClasses()
	p := d.program(true, free, s.best.jobs)
	o := lp.Options{Gap: max(d.Options.Gap, proofResolution), AbsGap: proofResolution * scale, Start: p.start}
	if proved {
		o.Seconds, o.Nodes = provedShare*float64(d.Options.MaxSolveMs)/1000, provedNodes
	}
	sol, ok := d.consult(ctx, solver, &p.Program, o)
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
	before := s.best.cost
	jobs := cloneMixes(s.best.jobs)
	p.read(sol.X, free, jobs)
	within := max(d.Options.Gap, proofResolution) * scale
	for i := range jobs {
		if !d.allows(i, jobs[i]) {
			return
		}
	}
	if found := d.evaluate(jobs); found != nil {
		if sol.Status == lp.Optimal {
			agreed := math.Abs(found.cost-before) <= within
			if agreed || found.cost <= claimed(&p.Program, sol, p.start, before)+within {
				d.second.agreed = &agreed
			}
		}
		switch better := before - found.cost; {
		case proved && better > within: // our own proof has been refuted: say so rather than hide it
			s.best, s.bound = found, found.cost-better
			d.warnings = append(d.warnings, enginesDisagree)
		case !proved && better > 0:
			s.best = found
		}
	}
}

// asks says whether the second engine is to be asked at all.
func (d *fleetDecision) asks(proved bool) bool {
	return d.Options.Engine == capacity.EngineCBC || d.Options.Engine == capacity.EngineAuto && !proved
}

// consult asks the solver; false where no answer came, which costs a warning.
func (d *fleetDecision) consult(ctx context.Context, solver lp.Solver, p *lp.Program, o lp.Options) (lp.Solution, bool) {
	err := error(lp.ErrUnavailable)
	var sol lp.Solution
	if solver != nil {
		sol, err = solver.Solve(ctx, p, o)
	}
	if err != nil {
		d.warnings = append(d.warnings, *unavailable(err))
		return sol, false
	}
	d.second.engine = sol.Engine
	return sol, true
}

// settleRelaxed compares the linear program with Clp's answer.
func (d *fleetDecision) settleRelaxed(ctx context.Context, solver lp.Solver) {
	if !d.asks(true) {
		return
	}
	all := make([]int, len(d.classes))
	for i := range all {
		all[i] = i
	}
	p := d.program(false, all, nil)
	sol, ok := d.consult(ctx, solver, &p.Program, lp.Options{})
	if ok && (sol.Status == lp.Optimal || sol.Status == lp.Infeasible) {
		agreed := sol.Status == lp.Optimal && sameOptimum(sol, d.relaxed.objective)
		d.second.agreed = &agreed
	}
}
