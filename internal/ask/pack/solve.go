package pack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/perf"
)

// Pack divides a batch into phases. The solver is an adviser for batches that are too large for the exact method.
// Without it, or if it fails, they are packed with a larger gap and a warning. At the context's deadline the answer
// is the best packing so far with its gap; only a cancelled caller gets an error.
func Pack(ctx context.Context, p PackingProblem, solver lp.Solver) (Packing, error) {
	b, err := ready(p)
	if err != nil {
		return Packing{}, err
	}
	return b.pack(ctx, p.Options, solver)
}

// found is an algorithm's result: phases, and a lower bound for all divisions of its kind.
type found struct {
	phases []contents
	bound  float64
	proved bool
}

func (b *batch) pack(ctx context.Context, o PackingOptions, solver lp.Solver) (Packing, error) {
	f := newFitter(b, newLadder(ctx, b))
	var (
		plan found
		err  error
	)
	switch o.Algorithm {
	case PackSequential:
		plan = found{phases: b.oneByOne(), proved: true}
	case PackPair:
		plan, err = b.paired(ctx)
	case PackSwarm:
		return b.packSwarm(ctx, o)
	default:
		plan, err = b.multi(ctx, f, o.Seed, solver)
	}
	if err = cancelled(ctx, err); err != nil {
		return Packing{}, err
	}
	phases := f.phases(plan.phases)
	if plan.proved {
		plan.bound = total(phases)
	}
	proved := b.order(phases)
	basis := "Every order of these phases."
	if !proved {
		basis = "The phases in the order of their deadlines, and what moving single ones changes."
	}
	// If phases wait for jobs that are released later, longer ones may end sooner.
	if c := b.course(phases); o.Algorithm == PackMulti && (c.missed > 0 || c.end > total(phases)*(1+provedGap)) {
		if phases, proved, basis, err = b.inTime(ctx, f, phases, basis); err != nil {
			return Packing{}, err
		}
	}
	answer := b.assemble(o, phases, plan.bound)
	answer.Deadlines = b.deadlines(phases, proved, basis)
	return answer, nil
}

// cancelled returns the error of a cancelled caller; a passed deadline is none.
func cancelled(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// oneByOne returns every job by itself.
func (b *batch) oneByOne() (phases []contents) {
	for i := range b.kinds {
		for range b.kinds[i].count {
			phases = append(phases, contents{{i, 1}})
		}
	}
	return phases
}

// paired returns the cheapest pairing, or a quick one if the time ends before.
func (b *batch) paired(ctx context.Context) (found, error) {
	phases, err := b.pairs(ctx, match)
	if errors.Is(err, context.DeadlineExceeded) {
		phases, err = b.pairs(ctx, matchGreedily)
		return found{phases: phases, bound: b.weakBound()}, err
	}
	return found{phases: phases, proved: true}, err
}

// multi returns the shortest packing with any number of jobs at once. It is exact if the batch is small or its jobs
// are alike; otherwise it searches and combines the phases seen.
func (b *batch) multi(ctx context.Context, f *fitter, seed uint64, solver lp.Solver) (found, error) {
	if p, few := newParts(b); few && f.whole {
		phases, err := exact(ctx, f, p)
		if !errors.Is(err, context.DeadlineExceeded) {
			return found{phases: phases, proved: true}, err
		}
	}
	return b.large(ctx, f, seed, solver)
}

// phases allocates the VMs of phases.
func (f *fitter) phases(all []contents) (phases []phase) {
	for _, c := range all {
		phases = append(phases, f.phase(f.allocate(c)))
	}
	return phases
}

// total returns the sum of the phases' times.
func total(phases []phase) (t float64) {
	for i := range phases {
		t += phases[i].seconds
	}
	return t
}

// weakBound returns a lower bound of all packings: the longest job alone, and the work of all jobs at their most
// efficient size, spread over all possible VMs.
func (b *batch) weakBound() float64 {
	longest, work := 0.0, 0.0
	for i := range b.kinds {
		k := &b.kinds[i]
		lowest := math.Inf(1)
		for n := k.minVMs; n < len(k.times); n++ {
			lowest = min(lowest, float64(n)*k.times[n])
		}
		longest = max(longest, k.alone())
		work += float64(k.count) * lowest
	}
	return max(longest, work/float64(b.vms+b.extras))
}

// assemble writes an answer.
func (b *batch) assemble(o PackingOptions, phases []phase, bound float64) Packing {
	a := Packing{
		Algorithm: o.Algorithm, Status: PackingFeasible, SequentialSeconds: b.sequential(),
		Jobs: b.jobs, Phases: make([]PackedPhase, 0, len(phases)), Warnings: slices.Clone(b.warnings),
	}
	number := make([]int64, len(b.kinds))
	for i := range phases {
		p := &phases[i]
		start := p.start(a.EndSeconds)
		packed := PackedPhase{StartSeconds: start, EndSeconds: start + p.seconds, Seconds: p.seconds}
		for _, m := range p.members {
			number[m.kind]++
			packed.Jobs = append(packed.Jobs, PhaseJob{
				Job: b.kinds[m.kind].name, Number: number[m.kind], Role: m.role, VMs: int64(m.vms),
				Seconds: b.seconds(m), EndSeconds: start + b.seconds(m), Late: b.late(m, start),
			})
		}
		if o.Placement {
			packed.Placement = b.place(p.members)
		}
		a.Phases = append(a.Phases, packed)
		a.BusySeconds += p.seconds
		a.EndSeconds = packed.EndSeconds
	}
	a.Warnings = append(a.Warnings, b.extrapolated(phases)...)
	if saved := 1 - a.BusySeconds/a.SequentialSeconds; math.Abs(saved) > provedGap { // otherwise a rounding error
		a.Saving = saved
	}
	a.LowerBoundSeconds = min(bound, a.BusySeconds)
	if a.BusySeconds > 0 {
		a.Gap = (a.BusySeconds - a.LowerBoundSeconds) / a.BusySeconds
	}
	if a.Gap <= provedGap {
		a.Gap, a.Status = 0, PackingOptimal
	}
	return a
}

// extrapolated warns of jobs that run on more or fewer VMs than they were measured on, once for each kind, with the
// number furthest beyond.
func (b *batch) extrapolated(phases []phase) (all []capacity.Warning) {
	furthest := make([]float64, len(b.kinds))
	beyond := func(f *perf.PowerFit, vms float64) float64 { return max(vms/f.MaxVMs, f.MinVMs/vms) }
	for _, p := range phases {
		for _, m := range p.members {
			f := b.jobs[m.kind].Fit
			if vms := float64(m.vms); f != nil && perf.Extrapolated(*f, vms) != nil && (furthest[m.kind] == 0 || beyond(f, vms) > beyond(f, furthest[m.kind])) {
				furthest[m.kind] = vms
			}
		}
	}
	for i, vms := range furthest {
		if vms == 0 {
			continue
		}
		w := perf.Extrapolated(*b.jobs[i].Fit, vms)
		w.Pointer, w.Detail = fmt.Sprintf("/jobs/%d/measurements", i), b.kinds[i].name+": "+w.Detail
		all = append(all, *w)
	}
	return all
}

// provedGap is the gap below which a packing counts as proved: the rounding error.
const provedGap = 1e-9
