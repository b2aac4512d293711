package proof

import (
	"math"

	"headroom/internal/capacity"
)

// readable says what keeps a problem from being understood at all. The full rules of validity are
// not repeated here: this is what the checks stand on.
func readable(p capacity.Problem) []string {
	var f faults
	if p.PeriodSeconds <= 0 {
		f.addf("The period is %d s and must be positive.", p.PeriodSeconds)
	}
	price := func(what string, m capacity.Money) {
		if !modest(m.Decimal) || m.IsNegative() {
			f.addf("%s is negative or beyond reason.", what)
		}
	}
	price("The on-demand price", p.Supply.OnDemand.Price)
	if q := p.Supply.OnDemand.Quota; q != nil && *q < 0 {
		f.addf("The quota is negative.")
	}
	names := map[string]bool{}
	for _, c := range p.Supply.Contracts {
		price("The price of contract "+c.Name, c.Price)
		if c.VMs < 0 || names[c.Name] {
			f.addf("Contract %s has a negative number of VMs, or another bears its name.", c.Name)
		}
		names[c.Name] = true
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
	case "", capacity.LowerBound, capacity.AverageBound, capacity.UpperBound:
	default:
		f.addf("The bound %q is not known here.", o.Bound)
	}
	for i := range p.Classes {
		readableClass(&f, &p.Classes[i], o.Integrality == capacity.Relaxed)
	}
	return f
}

func readableClass(f *faults, c *capacity.Class, fractions bool) {
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
	if s := c.SlotsPerVM; c.VMsPerJob == nil && (s.Map < 1 || s.Reduce < 1) {
		f.addf("A VM must offer %s at least one map and one reduce slot.", c.Name)
	}
}

// sane says which figures of a plan are no numbers one can calculate with.
func sane(pl capacity.Plan) []string {
	var f faults
	figure := func(what string, xs ...float64) {
		if !finite(xs...) {
			f.addf("%s has a figure that is no proper number.", what)
		}
	}
	amounts := func(what string, ms ...*capacity.Money) {
		for _, m := range ms {
			if m != nil && !modest(m.Decimal) {
				f.addf("%s has an amount beyond reason.", what)
			}
		}
	}
	c := &pl.Cost
	amounts("The cost", &pl.Objective, &c.Total, &c.OnDemand, &c.Reserved, &c.ReservedIdle, &c.Penalties, &c.PerHour, &c.PerMonth)
	figure("The rental", pl.VMs.Total, pl.VMs.Reserved, pl.VMs.OnDemand, pl.VMs.Rounding)
	for _, u := range pl.VMs.Contracts {
		figure("Contract "+u.Name, u.VMs, u.Used)
	}
	for i := range pl.Classes {
		c := &pl.Classes[i]
		figure("Class "+c.Name, c.Admitted, c.Refused, c.VMs, c.VMsPerJob)
		if c.Slots != nil {
			figure("Class "+c.Name, c.Slots.Map, c.Slots.Reduce)
		}
		if t := c.Time; t != nil {
			for _, x := range []*float64{t.Lower, t.Average, t.Upper} {
				if x != nil {
					figure("The time of class "+c.Name, *x)
				}
			}
		}
	}
	if p := pl.Prices; p != nil {
		amounts("The prices", &p.Capacity.Low, p.Capacity.High)
		for i := range p.Contracts {
			amounts("The prices", &p.Contracts[i].Worth)
		}
	}
	if x := pl.Relaxed; x != nil {
		amounts("The relaxation", &x.Objective)
		figure("The relaxation", append([]float64{x.Capacity}, x.Jobs...)...)
	}
	if x := pl.Integer; x != nil {
		amounts("The integer answer", &x.Objective)
		figure("The integer answer", x.VMs, x.ShortVMs)
	}
	if x := pl.Proof; x != nil {
		amounts("The proof", &x.Bound)
		figure("The proof", x.Gap)
	}
	return f
}
