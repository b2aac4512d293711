package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// solveFleet answers a problem of several types, of spot VMs, or both. One of a series is not told what would change it.
func solveFleet(ctx context.Context, p *capacity.Problem, solver lp.Solver, ofSeries bool) (capacity.Plan, error) {
	f, err := newFleet(p)
	if err != nil {
		return capacity.Plan{}, err
	}
	if conflicts := f.impossibleClasses(ctx); len(conflicts) > 0 {
		return f.infeasible(conflicts), nil
	}
	searching, cancel := f.sparing(ctx)
	defer cancel()
	f.done, f.most = integer.Expired(searching), int(relaxShare*float64(p.Options.MaxSolveMs)*pricesPerMs)
	relaxed := f.relax()
	d := fleetDecision{fleet: f, relaxed: relaxed, warnings: f.warnings, ofSeries: ofSeries}
	switch {
	case relaxed == nil:
		return f.infeasible(f.shortages(ctx)), nil
	case p.Options.Integrality == capacity.Relaxed && relaxed.prices.PhaseOne: // it is open whether the promised jobs fit
		return capacity.Plan{}, undecided(ctx)
	case p.Options.Integrality == capacity.Relaxed && f.overspends(relaxed.vms):
		if !relaxed.prices.Solved {
			return capacity.Plan{}, undecided(ctx)
		}
		return f.infeasible(f.shortages(ctx)), nil
	case p.Options.Integrality == capacity.Relaxed:
		d.takeRelaxed()
		d.cut = searching.Err() != nil
		d.settleRelaxed(ctx, solver)
	default:
		if decided := d.takeWhole(searching, solver); !decided {
			return capacity.Plan{}, undecided(ctx)
		}
		if d.jobs == nil {
			return f.infeasible(f.shortages(ctx)), nil
		}
	}
	f.most = math.MaxInt
	f.margins(relaxed)
	if p.Options.Integrality == capacity.Relaxed && relaxed.prices.Solved && !ofSeries {
		d.noneMore(ctx)
	}
	pl := d.plan()
	if errors.Is(ctx.Err(), context.Canceled) {
		return capacity.Plan{}, ctx.Err()
	}
	switch conflict, over := overTotal(p, &pl); {
	case over == certainly:
		return f.infeasible([]fault.Finding{conflict}), nil
	case over == perhaps:
		return capacity.Plan{}, openBudget(ctx, &pl, conflict)
	}
	if err := f.certify(&pl); err != nil {
		if p.Options.Integrality == capacity.Relaxed && !relaxed.prices.Solved { // the time ended in the middle of a step
			return capacity.Plan{}, undecided(ctx)
		}
		return capacity.Plan{}, fmt.Errorf("check the plan: %w", err)
	}
	pl.Proof.Checked = true
	return pl, nil
}

// relaxShare is the linear program's share of the time; what it has found by then is a start and a bound.
const relaxShare = 0.5

// pricesPerMs is the work of linear programs in a millisecond, where units are smaller than elsewhere.
const pricesPerMs = 4 * effortPerMs

// sparing ends a little before ctx does, so that there is time to put the plan into words and check it.
func (f *fleet) sparing(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	spared := time.Duration(len(f.classes)*len(f.types)) * wordsFor
	return context.WithDeadline(ctx, end.Add(-min(spared, time.Duration(f.Options.MaxSolveMs)*time.Millisecond/10)))
}

// wordsFor is the time of the words and the check for a class on a type.
const wordsFor = 2 * time.Microsecond

// undecided is the answer where the time was too short to find a plan or to prove that there is none.
func undecided(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf("the time was too short to find a plan or to prove that there is none; allow more by options.max_solve_ms: %w", fault.Busy)
}

// fleetDecision is a chosen plan of a fleet and what is known about it.
type fleetDecision struct {
	*fleet
	relaxed  *fleetRelaxation
	jobs     [][]float64 // of each class on each type
	vms      []float64
	gap      float64
	method   string
	cut      bool // the search, by the clock
	second   second
	warnings []capacity.Warning
	layouts  [][]capacity.VMLayout // of each type
	ofSeries bool                  // the plan is one of many
	beside   *counterfactual       // what would change the plan; nil where that was not worked out
}

func (d *fleetDecision) takeRelaxed() {
	d.jobs, d.vms, d.method = d.relaxed.jobs, d.relaxed.vms, methodLP
	d.gap = d.relaxed.objective - d.relaxed.bound
}

// noneMore tells of which classes no plan has more jobs, whatever they are worth, and which budget would pay for one.
func (d *fleetDecision) noneMore(ctx context.Context) {
	k := &counterfactual{model: d.model, ctx: ctx, out: make([]classChanges, len(d.classes))}
	for i := range d.classes {
		c, admitted := &d.classes[i], d.total(d.jobs[i])
		if _, more := d.cheapestOn(i, d.relaxed.nuHigh); !c.impossible && math.IsInf(more, 1) {
			k.out[i].more = &capacity.JobChange{Exact: true, Budget: k.budgetFor(i, admitted+1, max(c.high, admitted+1))}
		}
	}
	d.beside = k
}

// takeWhole searches for the best whole plan; false where it is open whether there is one.
func (d *fleetDecision) takeWhole(ctx context.Context, solver lp.Solver) (decided bool) {
	s := d.find(ctx, solver)
	if s.best == nil && len(s.open) > 0 {
		return false
	}
	if s.best == nil {
		return true
	}
	d.method = methodCore
	best := s.best
	d.gap = max(0, best.cost-s.bound)
	if d.Options.Near != nil {
		best = s.nearest(best)
		d.gap = max(0, best.cost-s.bound)
	}
	if d.Options.Integrality == capacity.Executable {
		laidOut, decided := d.laidOut(ctx, best)
		if laidOut == nil {
			return decided
		}
		best = laidOut
		d.gap = max(0, best.cost-s.bound)
	}
	d.jobs = make([][]float64, len(d.classes))
	for i := range d.jobs {
		d.jobs[i] = make([]float64, len(d.types))
		for v, h := range best.jobs[i] {
			d.jobs[i][v] = float64(h)
		}
	}
	for _, n := range best.vms {
		d.vms = append(d.vms, float64(n))
	}
	d.cut = d.cut || ctx.Err() != nil
	d.lookBeside(ctx, best, s.root)
	return true
}

// heldMost bounds the VMs that are held back because slots do not lay out.
const heldMost = 3

// laidOut returns a plan whose slots have been put onto VMs. If those of the promised jobs do not fit, a VM is held back
// of the type that is short, so that the search finds them other places. It returns nil if the search finds none, and
// says if that is decided.
func (d *fleetDecision) laidOut(ctx context.Context, best *fleetPlan) (laidOut *fleetPlan, decided bool) {
	g := *d.fleet
	g.types = slices.Clone(d.types)
	for range heldMost {
		laidOut, short := d.layOut(best)
		if short == shortNone {
			return laidOut, true
		}
		if short == shortMoney {
			break
		}
		r := &g.types[short].rental
		if r.MostVMs == 0 {
			break
		}
		r.MostVMs--
		r.Limit = min(r.Limit, r.MostVMs)
		s := g.search(ctx, g.target(), d.relaxed.nu)
		if s.best == nil {
			return nil, len(s.open) == 0
		}
		best = s.best
	}
	return nil, true
}

// What layOut can be short of, beside VMs of a type.
const (
	shortNone  = -1
	shortMoney = -2
)

// layOut puts the slots onto VMs, type by type. In rare cases odd slots of five or more sizes take a VM
// more than their sum; it is rented if it can be, and jobs that are not promised give way otherwise.
// Where that is not enough it answers what is short.
func (d *fleetDecision) layOut(best *fleetPlan) (laidOut *fleetPlan, short int) {
	d.layouts = make([][]capacity.VMLayout, len(d.types))
	for {
		rented := slices.Clone(best.vms)
		for v := range d.types {
			layout, need := d.types[v].packed(best.jobs, v)
			d.layouts[v], rented[v] = layout, max(rented[v], need)
		}
		short = shortNone
		if !d.affordable(rented) {
			short = shortMoney
		}
		for v := range rented {
			if rented[v] > d.types[v].rental.MostVMs {
				short = v
			}
		}
		if short == shortNone {
			plan := &fleetPlan{jobs: best.jobs, vms: rented, cost: best.cost}
			for v, n := range rented {
				plan.cost += d.types[v].rental.Cost(n) - d.types[v].rental.Cost(best.vms[v])
			}
			return plan, shortNone
		}
		if best = d.without(best, short); best == nil {
			return nil, short
		}
	}
}

// without is a plan less the job of least penalty that is not promised, on the type that is short or, where
// money is, on any; nil if there is none.
func (d *fleetDecision) without(best *fleetPlan, short int) *fleetPlan {
	class, kind := -1, -1
	for i := range best.jobs {
		total := int64(0)
		for _, h := range best.jobs[i] {
			total += h
		}
		if total <= d.low[i] || class >= 0 && d.penalty[i] >= d.penalty[class] {
			continue
		}
		for v, h := range best.jobs[i] {
			if h > 0 && (short == shortMoney || v == short) {
				class, kind = i, v
			}
		}
	}
	if class < 0 {
		return nil
	}
	jobs := cloneMixes(best.jobs)
	jobs[class][kind]--
	return d.evaluate(jobs)
}

// packed lays out the whole slots of the jobs on one type.
func (t *vmType) packed(mixes [][]int64, v int) ([]capacity.VMLayout, int64) {
	jobs := make([]int64, len(mixes))
	for i := range mixes {
		jobs[i] = mixes[i][v]
	}
	return (&decision{model: t.model}).pack(jobs)
}

// impossibleClasses is the promised classes whose deadline no number of slots of any type meets. Where it is one
// alone, the deadline offered is one at which all promised jobs can run.
func (f *fleet) impossibleClasses(ctx context.Context) (found []fault.Finding) {
	promises := f.impossiblePromises()
	for _, i := range promises {
		finding := f.impossible(i)
		if finding.Hint != nil && len(promises) == 1 {
			finding.Hint = f.deadlineCure(ctx, i)
		}
		found = append(found, finding)
	}
	return found
}

// impossible is a promised class whose deadline no number of slots of any type meets.
func (f *fleet) impossible(i int) fault.Finding {
	c := &f.classes[i]
	finding := fault.Finding{
		Pointer: c.pointer("deadline_s"), Code: words.CodeImpossible,
		Detail: words.TooLongEverywhere(c.Name, c.DeadlineSeconds, 0),
	}
	alone := f.copied()
	alone.Classes = []capacity.Class{*c.Class}
	deadline, ok := leastThat(earliest(c.DeadlineSeconds), capacity.MaxSeconds, func(seconds int64) bool {
		alone.Classes[0].DeadlineSeconds = float64(seconds)
		other, err := newFleet(alone)
		return err == nil && !other.classes[0].impossible
	})
	if ok {
		finding.Detail = words.TooLongEverywhere(c.Name, c.DeadlineSeconds, float64(deadline))
		finding.Hint = allow(c, deadline)
	}
	return finding
}

// gapOf is the relative gap of a plan and its bound, rounded down so that it stays one.
func gapOf(pl *capacity.Plan, gap float64) (bound money.Amount, relative float64) {
	bound = pl.Objective
	if gap > money.Smallest {
		bound = money.Amount{Decimal: pl.Objective.Sub(decimal.NewFromFloat(gap)).RoundFloor(money.Places)}
		relative = relativeGap(pl.Objective.Sub(bound.Decimal).InexactFloat64(), pl)
	}
	return bound, relative
}
