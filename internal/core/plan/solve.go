// Package plan decides how many VMs to rent and which jobs to admit, and explains the decision.
package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// Solve answers a valid problem: what to rent, whom to admit, and the proof. The context's
// deadline is the time budget; when it passes, the best plan so far comes back with its gap. The
// solver is asked as the problem's engine says and may be nil, which costs a warning at most. An
// infeasible problem is an answer, not an error. Proof.SolveMs is left to the caller, who has a clock.
func Solve(ctx context.Context, p capacity.Problem, solver lp.Solver) (capacity.Plan, error) {
	if isFleet(&p) {
		pl, err := solveFleet(ctx, &p, solver, false)
		return curesWithin(ctx, &p, pl), err
	}
	pl, err := solveWithin(ctx, &p, solver, nil)
	return curesWithin(ctx, &p, pl), err
}

// solveWithin answers a problem with one kind of VM, in brief where something is known of like ones.
func solveWithin(ctx context.Context, p *capacity.Problem, solver lp.Solver, known *prepared) (capacity.Plan, error) {
	pl, err := solveOne(ctx, p, solver, known)
	if err != nil || pl.Status == capacity.InfeasibleStatus {
		return pl, err
	}
	conflict, over := overTotal(p, &pl)
	if over == perhaps { // what the gap leaves open decides
		p.Options.Gap = 0
		if pl, err = solveOne(ctx, p, solver, known); err != nil {
			return pl, err
		}
		conflict, over = overTotal(p, &pl)
	}
	switch over {
	case certainly:
		return (&model{Problem: p}).infeasible([]fault.Finding{conflict}), nil
	case perhaps:
		return capacity.Plan{}, openBudget(ctx, &pl, conflict)
	}
	return pl, nil
}

// solveOne answers a problem with one kind of VM, but for the budget that counts penalties too.
func solveOne(ctx context.Context, p *capacity.Problem, solver lp.Solver, known *prepared) (capacity.Plan, error) {
	m, err := newModelFrom(p, known)
	if err != nil {
		return capacity.Plan{}, err
	}
	if conflicts := m.conflicts(); len(conflicts) > 0 {
		return m.infeasible(conflicts), nil
	}
	relaxed, _ := newRelaxation(m)
	var pl capacity.Plan
	if p.Options.Integrality == capacity.Relaxed {
		pl = m.relaxedPlan(ctx, solver, relaxed)
	} else {
		pl = m.wholePlan(ctx, solver, relaxed)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return capacity.Plan{}, ctx.Err()
	}
	if err := m.certify(&pl); err != nil {
		return capacity.Plan{}, fmt.Errorf("check the plan: %w", err)
	}
	pl.Proof.Checked = true
	return pl, nil
}

// wholePlan is the integer, dedicated or slot-exact plan.
func (m *model) wholePlan(ctx context.Context, solver lp.Solver, relaxed *relaxation) capacity.Plan {
	target := m.target()
	var f integer.Modeller
	var s *integer.Search
	d := decision{model: m, relaxed: relaxed, warnings: m.warnings}
	switch {
	case m.brief() && m.Options.Integrality == capacity.Executable: // it would only be shown
	case m.Options.Sharing == capacity.Dedicated:
		o := m.newOptions(false)
		f = o
		d.integer, s = integer.Solve(ctx, o, target)
	default:
		l := integer.NewLinear(m.instance())
		f = l
		d.integer, s = integer.Solve(ctx, l, target)
	}
	if m.Options.Integrality == capacity.Integer {
		d.settle(ctx, solver, f, s, d.integer)
		d.explore(ctx, func() { d.integer = d.best })
		return d.plan()
	}
	o := m.newOptions(true)
	result, search := integer.Solve(ctx, o, target)
	d.settle(ctx, solver, o, search, result)
	d.explore(ctx, func() { d.layOut(ctx, o, target) })
	return d.plan()
}

// explore completes the plan and works out what would change it, while the second engine looks at a proved one. If that
// finds a better plan after all, it does so again.
func (d *decision) explore(ctx context.Context, complete func()) {
	complete()
	d.lookBeside(ctx)
	if d.opinion == nil {
		return
	}
	if d.second = d.opinion(); d.second.warning != nil {
		d.warnings = append(d.warnings, *d.second.warning)
	}
	if d.second.jobs == nil {
		return
	}
	// Our own proof has been refuted: say so rather than hide it.
	d.take(d.searched)
	d.best.Gap = math.Abs(d.searched.Objective - d.best.Objective)
	d.warnings = append(d.warnings, words.Disagreed())
	if d.Options.Near != nil {
		d.stayNear()
	}
	d.beside = nil
	complete()
	d.lookBeside(ctx)
}

// take makes the second engine's plan the best one, with the bound of the search.
func (d *decision) take(searched integer.Result) {
	d.best.Jobs = d.second.jobs
	d.best.VMs = integer.VMsFor(d.front, d.second.jobs)
	d.best.Objective = d.front.Objective(d.second.jobs, d.best.VMs)
	d.best.Gap = max(0, d.best.Objective-(searched.Objective-searched.Gap))
}

// layOut puts the slots onto VMs. In rare cases odd slots of five or more sizes take a VM more than their sum. It is
// rented or, if none is left, jobs give way: the fewest, or those that a search with VMs held back gives up. The bound
// stays that of the plan without it, so the gap holds the possible cost.
func (d *decision) layOut(ctx context.Context, o *integer.Options, target func(float64) float64) {
	bound := d.best.Objective - d.best.Gap
	supply := integer.NewSupply(d.tiers)
	for {
		var need int64
		if d.brief() {
			need = d.vmsFor(d.best.Jobs)
		} else {
			d.layout, need = d.pack(d.best.Jobs)
		}
		extra := need - d.best.VMs
		switch {
		case extra <= 0:
		case need <= supply.Most():
			d.best.Objective += supply.Cost(need) - supply.Cost(d.best.VMs)
			d.best.VMs = need
		default:
			jobs := d.thinned(supply.Most())
			n := integer.VMsFor(o, jobs)
			d.best.Jobs, d.best.VMs, d.best.Objective = jobs, n, o.Objective(jobs, n)
			o.HoldBack(extra)
			if r, _ := integer.Solve(ctx, o, target); r.Feasible && r.Objective < d.best.Objective {
				d.best = r
			}
			continue
		}
		break
	}
	d.best.Gap = max(0, d.best.Objective-bound)
}

// thinnedTries bounds the classes whose job is tried before the cheapest one goes in any case.
const thinnedTries = 32

// thinned is the chosen jobs less few of little penalty, so that their slots fit most VMs: the job of
// least penalty whose going is enough, or else the cheapest and on. The promised jobs alone do fit:
// conflicts has seen to it.
func (d *decision) thinned(most int64) []int64 {
	jobs := slices.Clone(d.best.Jobs)
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.classes[a].penalty, d.classes[b].penalty) })
	for {
		order = slices.DeleteFunc(order, func(i int) bool { return !d.classes[i].slotted || jobs[i] <= int64(d.classes[i].low) })
		if len(order) == 0 {
			break
		}
		for _, i := range order[:min(len(order), thinnedTries)] {
			jobs[i]--
			if d.vmsFor(jobs) <= most {
				return jobs
			}
			jobs[i]++
		}
		jobs[order[0]]--
	}
	return jobs // the promised slots, whose layout fits, beside loads that fitted before
}

// decision is a chosen plan and what is known about it.
type decision struct {
	*model
	relaxed  *relaxation
	integer  integer.Result // with whole jobs and VMs alone: the paper's program
	front    integer.Modeller
	best     integer.Result
	searched integer.Result // before another engine or another plan that is near counted
	second   second
	cut      bool          // the search, by the clock
	opinion  func() second // of the second engine about a proved plan; nil if it was not asked
	warnings []capacity.Warning

	beside *counterfactual // what would change the plan; nil where that was not worked out

	load   int64 // of the chosen jobs
	layout []capacity.VMLayout
}

// settle asks the second engine where the options want it, and keeps the better plan. Where the search has proved its own,
// the answer is awaited later.
func (d *decision) settle(ctx context.Context, solver lp.Solver, f integer.Modeller, s *integer.Search, r integer.Result) {
	d.front, d.best, d.searched = f, r, r
	defer func() { d.cut = d.second.cut || ctx.Err() != nil }()
	proved := r.Gap <= max(d.tolerance(r.Objective), money.Smallest, integer.GapNoise*d.wanted())
	if d.Options.Near != nil {
		defer d.stayNear()
	}
	if d.Options.Engine == capacity.EngineExact || d.Options.Engine == capacity.EngineAuto && proved {
		return
	}
	answer := d.ask(ctx, solver, f, s, r, proved)
	if proved {
		d.opinion = answer
		return
	}
	if d.second = answer(); d.second.warning != nil {
		d.warnings = append(d.warnings, *d.second.warning)
	}
	if d.second.jobs != nil {
		d.take(r)
	}
}
