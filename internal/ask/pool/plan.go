package pool

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
)

const (
	// advisedShare is the share of the time budget that CBC may take, and advisedMost its largest number of seconds.
	// By then it has usually found its best, and the rest is for the proof.
	advisedShare, advisedMost = 0.3, 2.0
	// provedGap is the gap below which a plan counts as proved: the rounding error.
	provedGap = 1e-9
	// lackTimes is the cost in bounds of leaving a job undone, as a multiple of a plan's cost.
	lackTimes = 1e5
	// storageRounding is the share of the data by which the disks may be too small: the rounding error of fill and
	// replication.
	storageRounding = 1e-12
)

// Plan returns the cheapest mix that does all work in time and holds the data. A solver advises it. Every mix is
// checked here, and the bound is computed here too. Without a solver it returns fault.Busy. At the context's
// deadline the answer is the best mix so far with its gap; only a cancelled caller gets an error.
func Plan(ctx context.Context, p PoolProblem, solver lp.Solver) (PoolPlan, error) {
	m, err := ready(p)
	if err != nil {
		return PoolPlan{}, err
	}
	if p.Mix != nil {
		return PoolPlan{}, &fault.InputError{Findings: []fault.Finding{{Pointer: "/mix", Code: "not_taken", Detail: "A plan finds the mix; leave \"mix\" out, or evaluate it."}}}
	}
	if conflicts := m.impossible(); len(conflicts) > 0 {
		return PoolPlan{Status: PoolInfeasible, Conflicts: conflicts, PoolOutcome: m.empty()}, nil
	}
	if solver == nil {
		return PoolPlan{}, noSolver(lp.ErrUnavailable)
	}
	conflicts, err := m.tooFew(ctx, solver)
	if err == nil && len(conflicts) > 0 {
		return PoolPlan{Status: PoolInfeasible, Conflicts: conflicts, PoolOutcome: m.empty()}, nil
	}
	var best finding
	if err == nil {
		best, err = m.best(ctx, solver)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return PoolPlan{}, context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return PoolPlan{}, noSolver(err)
	}
	if best.division == nil {
		return PoolPlan{}, fmt.Errorf("no mix was found in the time that there was; allow more of it by max_solve_ms: %w", fault.Busy)
	}
	return m.plan(best), nil
}

// noSolver turns a solver's error into the caller's.
func noSolver(err error) error {
	for _, known := range []error{lp.ErrBusy, lp.ErrCrashed, lp.ErrUnavailable} {
		if errors.Is(err, known) {
			return fmt.Errorf("pools are planned with a solver, and it gave no answer: %w: %w", known, fault.Busy)
		}
	}
	return err
}

// unsolved returns the reason why a program with a solution has none in an answer: the time was up, or the solver failed.
func unsolved(answer lp.Solution) error {
	if answer.Status == lp.Stopped || answer.Status == lp.Feasible {
		return context.DeadlineExceeded
	}
	return lp.ErrCrashed
}

// finding is the best mix so far.
type finding struct {
	mix       mix
	division  division // nil: none was found
	cost      money.Amount
	instances int64 // instance-hours in total, which break ties in cost
	bound     money.Amount
}

// best looks for the cheapest mix and a lower bound of all costs.
func (m *model) best(ctx context.Context, solver lp.Solver) (best finding, err error) {
	offer := func(a mix) error {
		cost, instances := m.cost(a), m.instances(a)
		if best.division != nil && (cost.GreaterThan(best.cost.Decimal) || cost.Equal(best.cost.Decimal) && instances >= best.instances) {
			return nil
		}
		if !m.within(a) || m.disks(a) < m.needed*(1-storageRounding) {
			return nil
		}
		d, met, _, err := m.divide(ctx, solver, m.supplies(a))
		if err == nil && met {
			best.mix, best.division, best.cost, best.instances = a, d, cost, instances
		}
		return err
	}
	exact := m.program(0)
	relaxed := exact.Program
	relaxed.Whole = nil
	answer, err := solver.Solve(ctx, &relaxed, lp.Options{})
	if err != nil {
		return best, err
	}
	if answer.Status != lp.Optimal || len(answer.X) != exact.Columns() {
		return best, unsolved(answer)
	}
	bound := lp.DualBound(&relaxed, answer.RowDual)
	rounded := exact.mix(answer.X, up)
	if err := offer(rounded); err != nil {
		return best, err
	}
	if m.instances(rounded) == 0 { // a solver's tolerance hides very little work
		for a := range exact.singles() {
			if err := offer(a); err != nil {
				return best, err
			}
		}
	}
	step := m.step()
	if best.bound = step.up(bound); best.division == nil || best.bound.LessThan(best.cost.Decimal) {
		if err := m.advised(ctx, solver, exact, answer.X, rounded, offer); err != nil {
			return best, err
		}
	}
	if best.division != nil && best.bound.LessThan(best.cost.Decimal) {
		p := m.program(lackTimes * max(best.cost.Float(), 1))
		proof := search{program: &p.Program, lower: best.bound.Float(), nodes: maxNodes,
			cost:  func() float64 { return best.cost.Float() },
			up:    func(bound float64) float64 { return step.up(bound).Float() },
			offer: func(x []float64) error { return offer(p.mix(x, up)) }}
		lowest, failed := proof.prove(ctx, solver)
		if lower := step.up(lowest); lower.GreaterThan(best.bound.Decimal) {
			best.bound = lower
		}
		err = failed
	}
	if err == nil && best.division != nil {
		err = m.trim(ctx, solver, &best)
	}
	if best.division != nil && errors.Is(err, lp.ErrCrashed) {
		err = nil // the mix and its bound stand by themselves
	}
	return best, err
}

// advised asks CBC for a mix.
func (m *model) advised(ctx context.Context, solver lp.Solver, p *program, x []float64, rounded mix, offer func(mix) error) error {
	o := lp.Options{Seconds: min(advisedMost, advisedShare*float64(m.Options.MaxSolveMs)/1000), Gap: provedGap}
	if m.within(rounded) {
		o.Start = p.start(x, rounded)
	}
	answer, err := solver.Solve(ctx, &p.Program, o)
	if err != nil {
		return err
	}
	if len(answer.X) == 0 || lp.CheckAdvice(&p.Program, answer.X, answer.Objective) != nil {
		return nil // no use in it
	}
	return offer(p.mix(answer.X, math.Round))
}

// trim removes free instances that nobody needs.
func (m *model) trim(ctx context.Context, solver lp.Solver, best *finding) error {
	for i, t := range m.Types {
		if !t.PerHour.IsZero() {
			continue
		}
		for _, part := range [][]int64{best.mix.core[i : i+1], best.mix.hours[i]} {
			for h := range part {
				low, high := int64(0), part[h] // high is enough
				for low < high {
					middle := (low + high) / 2
					was := append([]int64(nil), part...)
					part[h] = middle
					for k := h + 1; k < len(part); k++ {
						part[k] = min(part[k], middle)
					}
					if m.disks(best.mix) < m.needed*(1-storageRounding) {
						copy(part, was)
						low = middle + 1
						continue
					}
					d, met, _, err := m.divide(ctx, solver, m.supplies(best.mix))
					if err != nil || !met {
						copy(part, was)
						if err != nil {
							return err
						}
						low = middle + 1
						continue
					}
					best.division, high = d, middle
				}
			}
		}
	}
	return nil
}

// cost returns a mix's bill.
func (m *model) cost(a mix) money.Amount {
	total := decimal.Zero
	for i, t := range m.Types {
		hours := a.core[i] * m.Hours
		for _, n := range a.hours[i] {
			hours += n
		}
		total = total.Add(t.PerHour.Mul(decimal.NewFromInt(hours)))
	}
	return money.Amount{Decimal: total}
}

func (m *model) instances(a mix) (hours int64) {
	for i := range m.Types {
		hours += a.core[i] * m.Hours
		for _, n := range a.hours[i] {
			hours += n
		}
	}
	return hours
}

// disks returns the data that the core instances hold.
func (m *model) disks(a mix) (gb float64) {
	for i, t := range m.Types {
		gb += float64(a.core[i]) * t.DiskGB
	}
	return gb
}

// plan turns a finding into an answer.
func (m *model) plan(f finding) PoolPlan {
	supplies := m.supplies(f.mix)
	a := PoolPlan{Status: PoolFeasible, LowerBound: f.bound, PoolOutcome: m.outcome(m.asMix(f.mix), supplies, f.division)}
	if a.LowerBound.GreaterThan(a.Cost.Decimal) {
		a.LowerBound = a.Cost
	}
	if a.Cost.IsPositive() {
		a.Gap = a.Cost.Sub(a.LowerBound.Decimal).InexactFloat64() / a.Cost.Float()
	}
	if a.Gap <= provedGap {
		a.Gap, a.Status = 0, PoolOptimal
	}
	return a
}

// asMix returns a mix with its bill; accelerators that are kept equally long stand together, those kept longest
// first.
func (m *model) asMix(a mix) PoolMix {
	out := PoolMix{Core: []PoolCore{}, Accelerators: []PoolAccelerator{}}
	for i, t := range m.Types {
		if n := a.core[i]; n > 0 {
			out.Core = append(out.Core, PoolCore{Type: t.Name, Count: n, Cost: times(t.PerHour, n*m.Hours)})
		}
		for h := len(a.hours[i]) - 1; h >= 0; h-- {
			n := a.hours[i][h]
			if h+1 < len(a.hours[i]) {
				n -= a.hours[i][h+1]
			}
			if hours := int64(h + 1); n > 0 {
				out.Accelerators = append(out.Accelerators, PoolAccelerator{Type: t.Name, Count: n, Hours: hours, Cost: times(t.PerHour, n*hours)})
			}
		}
	}
	return out
}

func times(price *money.Amount, hours int64) money.Amount {
	return money.Amount{Decimal: price.Mul(decimal.NewFromInt(hours))}
}
