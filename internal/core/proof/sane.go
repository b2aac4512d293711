package proof

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// readable lists what makes a problem impossible to understand. It does not repeat the full rules of validity, only
// those that the checks rely on.
func readable(p capacity.Problem) []string {
	var f faults
	if p.PeriodSeconds <= 0 {
		f.addf("The period is %d s and must be positive.", p.PeriodSeconds)
	}
	price := func(what string, m money.Amount) {
		if !modest(m.Decimal) || m.IsNegative() {
			f.addf("%s is negative or beyond reason.", what)
		}
	}
	names, types := map[string]bool{}, map[string]bool{}
	for _, t := range p.Supply.Types() {
		if types[t.Name] || t.Name == "" && len(p.Supply.VMTypes) > 0 {
			f.addf("A VM type has no name, or another bears %q.", t.Name)
		}
		types[t.Name] = true
		price("The on-demand price", t.OnDemand.Price)
		if q := t.OnDemand.Quota; q != nil && *q < 0 {
			f.addf("The quota is negative.")
		}
		if s := t.Spot; s != nil {
			if price("The spot price", s.Price); !finite(s.MaxShare) || s.MaxShare < 0 || s.MaxShare > 1 {
				f.addf("The share of spot VMs, %g, is none.", s.MaxShare)
			}
		}
		for _, c := range t.Contracts {
			price("The price of contract "+c.Name, c.Price)
			if c.VMs < 0 || names[c.Name] {
				f.addf("Contract %s has a negative number of VMs, or another bears its name.", c.Name)
			}
			names[c.Name] = true
		}
	}
	if b := p.Budget; b != nil {
		for _, m := range []*money.Amount{b.VMCost, b.Total} {
			if m != nil {
				price("The budget", *m)
			}
		}
	}
	o := p.Options
	if o.Gap < 0 || !finite(o.Gap) {
		f.addf("The gap allowed, %g, is no proper number.", o.Gap)
	}
	switch o.Integrality {
	case "", capacity.Relaxed, capacity.Integer, capacity.Executable:
	default:
		f.addf("The integrality %q is not known here.", o.Integrality)
	}
	switch o.Bound {
	case "", capacity.LowerBound, capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound:
	default:
		f.addf("The bound %q is not known here.", o.Bound)
	}
	for i := range p.Classes {
		readableClass(&f, &p.Classes[i], o.Integrality == capacity.Relaxed, types)
	}
	return f
}

func readableClass(f *faults, c *capacity.Class, fractions bool, types map[string]bool) {
	if !modest(c.Penalty.Decimal) || c.Penalty.IsNegative() {
		f.addf("The penalty of %s is negative or beyond reason.", c.Name)
	}
	j := c.Jobs
	if !finite(j.Min, j.Max) || j.Min < 0 || j.Max < j.Min || j.Max > maxJobs {
		f.addf("The jobs of %s are not a range.", c.Name)
	} else if !fractions && (j.Min != math.Trunc(j.Min) || j.Max != math.Trunc(j.Max)) {
		f.addf("The jobs of %s are not whole, which only relaxed problems allow.", c.Name)
	}
	figures, ways := []float64{c.DeadlineSeconds}, 0
	if c.VMsPerJob != nil {
		ways++
		if !modest(*c.VMsPerJob) || c.VMsPerJob.IsNegative() {
			f.addf("The VMs per job of %s are negative or beyond reason.", c.Name)
		}
	}
	if d := c.Demand; d != nil {
		ways++
		figures = append(figures, d.MapWorkSeconds, d.ReduceWorkSeconds)
		if !finite(d.FixedSeconds) { // the lower bound's may be negative (erratum E7)
			f.addf("The fixed time of %s is no proper number.", c.Name)
		}
	}
	if p := c.Profile; p != nil {
		ways++
		figures = append(figures, float64(p.MapTasks), float64(p.ReduceTasks), p.MapAvgSeconds, p.MapMaxSeconds,
			p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds, p.ShuffleAvgSeconds, p.ShuffleMaxSeconds,
			p.ReduceAvgSeconds, p.ReduceMaxSeconds, p.OverheadSeconds)
		for _, s := range p.Stages {
			figures = append(figures, float64(s.Tasks), s.AvgSeconds, s.MaxSeconds)
		}
		if len(p.Stages) > 0 && (p.MapTasks != 0 || p.ReduceTasks != 0) {
			f.addf("The profile of %s has stages, and maps and reduces as well.", c.Name)
		}
	}
	if k := c.Calibration; k != nil {
		switch k.Bound {
		case capacity.LowerBound, capacity.AverageBound, capacity.UpperBound:
		default:
			f.addf("The calibration of %s is of the bound %q, which is not known here.", c.Name, k.Bound)
		}
		if !finite(k.Factor) || k.Factor <= 0 || c.Profile == nil {
			f.addf("The calibration of %s has no positive factor, or the class no profile.", c.Name)
		}
	}
	if k := c.PromiseOf(); k != nil && (!finite(k.Factor) || k.Factor <= 0 || c.Profile == nil) {
		f.addf("The promise of %s has no positive factor, or the class no profile.", c.Name)
	}
	if ways != 1 {
		f.addf("Class %s must have exactly one of profile, demand and vms_per_job.", c.Name)
	}
	for _, x := range figures {
		if !finite(x) || x < 0 {
			f.addf("A figure of %s is negative or no proper number.", c.Name)
			break
		}
	}
	for vmType := range types {
		if speed := c.Speed.On(vmType); !finite(speed) || speed < 0 {
			f.addf("The speed of %s is negative or no proper number.", c.Name)
			return
		}
		if s := c.SlotsPerVM.On(vmType); c.VMsPerJob == nil && (s.Map < 1 || s.Reduce < 1) && (c.RunsOn(vmType) || vmType == "") {
			f.addf("A VM must offer %s at least one map and one reduce slot.", c.Name)
		}
	}
}

// figure notes numbers that are none.
func (f *faults) figure(what string, xs ...float64) {
	if !finite(xs...) {
		f.addf("%s has a figure that is no proper number.", what)
	}
}

// figureOf is figure for those that are there.
func (f *faults) figureOf(what string, xs ...*float64) {
	for _, x := range xs {
		if x != nil {
			f.figure(what, *x)
		}
	}
}

func (f *faults) ranged(what string, r *capacity.Range) {
	if r != nil {
		f.figureOf(what, r.Low, r.High)
	}
}

func (f *faults) amounts(what string, ms ...*money.Amount) {
	for _, m := range ms {
		if m != nil && !modest(m.Decimal) {
			f.addf("%s has an amount beyond reason.", what)
		}
	}
}

func (f *faults) amountRange(what string, r *capacity.MoneyRange) {
	if r != nil {
		f.amounts(what, r.Low, r.High)
	}
}

// need notes slots and times that are no proper numbers.
func (f *faults) need(class string, s *capacity.Slots, t *capacity.Times) {
	if s != nil {
		f.figure("Class "+class, s.Map, s.Reduce)
	}
	if t != nil {
		f.figureOf("The time of class "+class, t.Lower, t.Average, t.Upper, t.Calibrated, t.Promised)
	}
}

// sane lists the figures of a plan that cannot be calculated with.
func sane(pl capacity.Plan) []string {
	var f faults
	c := &pl.Cost
	f.amounts("The cost", &pl.Objective, &c.Total, &c.Bill, &c.OnDemand, &c.Reserved, &c.ReservedIdle, &c.Spot, &c.Penalties, &c.PerHour, &c.PerMonth)
	f.figure("The rental", pl.VMs.Total, pl.VMs.Reserved, pl.VMs.OnDemand, pl.VMs.Spot, pl.VMs.Rounding)
	for _, t := range pl.VMs.Types {
		f.figure("Type "+t.Name, t.Total, t.Reserved, t.OnDemand, t.Spot, t.Rounding)
	}
	for _, u := range pl.VMs.Contracts {
		f.figure("Contract "+u.Name, u.VMs, u.Used)
	}
	for i := range pl.Classes {
		f.saneClass(&pl.Classes[i])
	}
	if s := pl.Stays; s != nil {
		for _, of := range append([]capacity.TypeStays{{OnDemandPrice: s.OnDemandPrice, Quota: s.Quota}}, s.Types...) {
			f.amountRange("The range of prices", of.OnDemandPrice)
			f.ranged("The range of quotas", of.Quota)
		}
	}
	if p := pl.Prices; p != nil {
		f.amounts("The prices", &p.Capacity.Low, p.Capacity.High, p.Budget)
		for i := range p.Types {
			f.amounts("The prices", &p.Types[i].Low, p.Types[i].High)
		}
		for i := range p.Contracts {
			f.amounts("The prices", &p.Contracts[i].Worth)
		}
	}
	if x := pl.Relaxed; x != nil {
		f.amounts("The relaxation", &x.Objective)
		f.figure("The relaxation", append([]float64{x.Capacity}, x.Jobs...)...)
	}
	if x := pl.Integer; x != nil {
		f.amounts("The integer answer", &x.Objective)
		f.figure("The integer answer", x.VMs, x.ShortVMs)
	}
	if x := pl.Proof; x != nil {
		f.amounts("The proof", &x.Bound)
		f.figure("The proof", x.Gap)
	}
	return f
}

func (f *faults) saneClass(c *capacity.ClassPlan) {
	what := "Class " + c.Name
	f.figure(what, c.Admitted, c.Refused, c.VMs, c.VMsPerJob)
	for _, change := range [...]*capacity.JobChange{c.OneMore, c.OneLess} {
		if change != nil {
			const of = "A job more or less of class "
			f.amounts(of+c.Name, change.Amount, change.Bill, change.ValueRefused, change.Low, change.High)
			f.figureOf(of+c.Name, change.VMs)
		}
	}
	f.amounts(what, c.BreakEvenPenalty, c.Flips.Penalty, c.Flips.OnDemandPrice)
	if r := c.Stays; r != nil {
		f.amountRange(what, r.Penalty)
		f.ranged(what, r.DeadlineSeconds)
	}
	f.need(c.Name, c.Slots, c.Time)
	for i := range c.Types {
		on := &c.Types[i]
		f.figure(what+" on "+on.VMType, on.Admitted, on.VMs, on.VMsPerJob)
		f.need(c.Name, on.Slots, on.Time)
	}
}
