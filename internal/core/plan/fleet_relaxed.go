package plan

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/plan/mixes"
)

// fleetRelaxation is the fleet's linear program solved: fractional jobs and VMs, every job at its
// gamma.
type fleetRelaxation struct {
	jobs      [][]float64 // of each class on each type
	vms       []float64
	objective float64 // without what is paid in any case
	bound     float64 // by the identity, from the prices alone
	nu        []float64
	mu        float64
	// nuLow and nuHigh are the worth of a VM of each type, one less and one more. budgetWorth is the saving by one more
	// unit of the budget. nuHigh is +Inf if nothing more can be had.
	nuLow, nuHigh []float64
	budgetWorth   float64

	prices *mixes.Program
	box    box
}

// straight weighs the choices of a class in the linear program: all jobs or the promised ones alone, on
// the type where they cost least.
func (f *fleet) straight(i int, nu []float64, penalty float64) (kind int, jobs, worth float64) {
	c := &f.classes[i]
	kind = -1
	least := math.Inf(1)
	for _, v := range f.on[i] {
		if slope := nu[v] * f.types[v].classes[i].gamma; slope < least {
			kind, least = v, slope
		}
	}
	if kind < 0 {
		return -1, 0, 0
	}
	jobs = c.low
	if least < penalty {
		jobs = c.high
	}
	return kind, jobs, (least - penalty) * jobs
}

func (f *fleet) straightOracle(i int, nu []float64, penalty float64, c *mixes.Choice) (worth float64, ok bool) {
	kind, jobs, worth := f.straight(i, nu, penalty)
	clear(c.VMs)
	clear(c.Jobs)
	if c.All = jobs; kind >= 0 {
		c.VMs[kind], c.Jobs[kind] = jobs*f.types[kind].classes[i].gamma, jobs
	}
	return worth, true
}

// everything is the root of the search tree.
func (f *fleet) everything() box {
	var b box
	for v := range f.types {
		b.low, b.high = append(b.low, 0), append(b.high, f.types[v].rental.Limit)
	}
	return b
}

// box is the part of the search tree a linear program is for: VMs of each type, and the limits of the
// classes that have any.
type box struct {
	low, high []int64
	limits    map[int]*limits
	real      bool      // VMs need not be whole: the linear program itself
	more      []float64 // VMs of each type, and money, that are there besides; nil where none are
}

// line returns the cost of VMs of a type within a box.
func (f *fleet) line(b *box, v int, dst []mixes.Segment) (start float64, line []mixes.Segment) {
	r := &f.types[v].rental
	if b.real {
		return r.Straight(b.low[v], b.high[v], dst)
	}
	return r.Segments(b.low[v], min(b.high[v], r.Limit), dst)
}

// newPrices sets up the linear program of a box, its classes at what is cheapest at the given prices.
func (f *fleet) newPrices(b *box, best mixes.Oracle, nu []float64) (p *mixes.Program, ok bool) {
	budget := f.budget
	if b.more != nil {
		budget += b.more[len(f.types)]
	}
	return mixes.New(mixes.Parts{Penalty: f.penalty, Best: best, Nu: nu, Budget: budget, Work: &f.work, Ended: f.ended, Rent: func(v int, dst []mixes.Segment) (line mixes.Line, ok bool) {
		t := &f.types[v]
		if !b.real && b.low[v] > min(b.high[v], t.rental.Limit) {
			return line, false
		}
		line.Paid, line.More = f.line(b, v, dst)
		line.Free = float64(b.low[v]) + float64(t.loads.Grid.Tolerance)/float64(t.loads.Grid.PerVM)
		if b.more != nil {
			line.Besides = b.more[v]
		}
		return line, true
	}})
}

// linearly solves the fleet's linear program; false where not even the promised jobs fit.
func (f *fleet) linearly() (*mixes.Program, box, bool) {
	start := make([]float64, len(f.types))
	for v := range f.types {
		if line := f.types[v].rental.Lines(); len(line) > 0 {
			start[v] = line[len(line)-1].Price
		}
	}
	b := f.everything()
	b.real = true
	for v := range b.high {
		b.high[v] = f.types[v].rental.Need
	}
	p, _ := f.newPrices(&b, f.straightOracle, start)
	return p, b, p.Solve() == 0 || !f.provedMissing(&b, p)
}

// relax solves the fleet's linear program; nil where not even the promised jobs fit.
func (f *fleet) relax() *fleetRelaxation {
	p, b, ok := f.linearly()
	if !ok {
		return nil
	}
	r := &fleetRelaxation{prices: p, box: b, nu: slices.Clone(p.Nu), mu: p.Mu, jobs: make([][]float64, len(f.classes)), vms: make([]float64, len(f.types))}
	var sum money.Sum
	var list []mixes.Share
	for i := range r.jobs {
		r.jobs[i] = make([]float64, len(f.types))
		list = p.Shares(i, list[:0])
		for _, c := range list {
			for v, h := range c.Jobs {
				r.jobs[i][v] += h * c.Part
			}
		}
		for v, h := range r.jobs[i] {
			r.vms[v] += h * f.types[v].classes[i].gamma
			sum.Add(-f.penalty[i] * h)
		}
	}
	for v := range r.vms {
		if most := f.types[v].rental.Reach(); r.vms[v] > most { // by float noise
			r.vms[v] = most
		}
		sum.Add(along(0, f.types[v].rental.Lines(), r.vms[v]))
	}
	r.objective = sum.Value()
	r.bound = min(r.objective, f.boundAt(&b, f.straightWeigher, p.Nu, p.Mu, false))
	return r
}

func (f *fleet) straightWeigher(i int, nu []float64, penalty float64) (float64, bool) {
	_, _, worth := f.straight(i, nu, penalty)
	return worth, true
}

// provedMissing says that the prices of phase one prove that VMs or money is missing in a box.
func (f *fleet) provedMissing(b *box, p *mixes.Program) bool {
	nu, mu := make([]float64, len(p.Nu)), min(p.Mu, 1)
	for v, x := range p.Nu {
		nu[v] = min(x, 1)
	}
	return f.boundAt(b, f.straightWeigher, nu, mu, true) > integer.LoadNoise/2
}

// marginStep is the step of the linear program, in VMs or money, for the worth of one more. The prices are those of the
// piece of the line at its end.
const marginStep = 1e-6

// marginNoise is what may be missing for a step where nothing is.
const marginNoise = 1e-10

// margins finds what a little more or less is worth, from the linear program a little to either side of each
// type's capacity. Where the time is up, the prices themselves stand for both sides.
func (f *fleet) margins(r *fleetRelaxation) {
	moved := func(row int, by float64) (nu []float64, mu float64, ok bool) {
		if r.prices.Stands(row, by) {
			return r.nu, r.mu, true
		}
		more := make([]float64, len(f.types)+1)
		more[row] = by
		return f.moved(r, more, by)
	}
	for v := range f.types {
		low, high := r.nu[v], math.Inf(1)
		if nu, _, ok := moved(v, marginStep*(1+r.vms[v])); ok {
			low = min(low, nu[v])
		}
		if nu, _, ok := moved(v, -marginStep*(1+r.vms[v])); ok {
			high = max(r.nu[v], nu[v])
		}
		r.nuLow, r.nuHigh = append(r.nuLow, low), append(r.nuHigh, high)
	}
	if !math.IsInf(f.budget, 1) {
		if _, mu, ok := moved(len(f.types), marginStep*(1+math.Abs(f.budget))); ok {
			r.budgetWorth = min(r.mu, mu)
		}
	}
}

// moved returns the prices where there are more VMs of each type and more money, by steps of such a size.
func (f *fleet) moved(r *fleetRelaxation, more []float64, size float64) (nu []float64, mu float64, ok bool) {
	if f.ended() { // to set the program up takes time, too
		return r.nu, r.mu, true
	}
	near := r.box
	near.more = more
	p, _ := f.newPrices(&near, f.straightOracle, r.nu)
	// A step of VMs may lack no VM and a little money, which counts as none in a whole plan.
	if ok = !f.ended() && p.Solve() == 0 && p.Lacking <= marginNoise*(1+math.Abs(size)); f.ended() { // with any status, it is not the end
		return r.nu, r.mu, true
	}
	return p.Nu, p.Mu, ok
}

// prepaid returns the prices of a type's VMs and of money where the budget has paid for a little more of such VMs. Where it
// cannot, they are those of the program itself.
func (f *fleet) prepaid(r *fleetRelaxation, v int, price float64) (nu, mu float64, paid bool) {
	more := make([]float64, len(f.types)+1)
	vms, spot := f.types[v].rental.Brings(r.nuLow[v], r.mu)
	more[v], more[len(f.types)] = marginStep*vms, -marginStep*(price+spot)
	if nu, mu, ok := f.moved(r, more, marginStep); ok {
		return nu[v], mu, true
	}
	return r.nuLow[v], r.mu, false
}

// cheapestOn is the type on which one job of a class costs least at the prices, and that cost; no type
// where it runs on none.
func (f *fleet) cheapestOn(i int, nu []float64) (kind int, cost float64) {
	kind, cost = -1, math.Inf(1)
	for _, v := range f.on[i] {
		x := 0.0
		if gamma := f.types[v].classes[i].gamma; gamma > 0 { // a job that takes none is free even where there is none
			x = nu[v] * gamma
		}
		if kind < 0 || x < cost {
			kind, cost = v, x
		}
	}
	return kind, cost
}

func (f *fleet) relaxedSummary(r *fleetRelaxation) *capacity.RelaxedPlan {
	s := &capacity.RelaxedPlan{Objective: money.Round(r.objective + f.committed()), Jobs: make([]float64, len(f.classes))}
	for i := range f.classes {
		for _, h := range r.jobs[i] {
			s.Jobs[f.classes[i].index] += h
		}
	}
	for _, n := range r.vms {
		s.Capacity += n
	}
	return s
}
