package machines

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// poolTolerance is the share by which figures of a pool that are computed in two ways may differ, and work may be
// missing.
const poolTolerance = 1e-8

// Pool checks a plan of a pool against its problem: that existing instances do all work in time, that the data has a
// place, and that money and bound are right. It does not say whether a cheaper mix exists. An empty result means that
// the plan is right.
func Pool(p pool.PoolProblem, a pool.PoolPlan) []fault.Finding {
	if a.Status == pool.PoolInfeasible {
		if len(a.Conflicts) == 0 {
			return []fault.Finding{{Pointer: "/conflicts", Code: "pool", Detail: "The plan is called infeasible and does not say why."}}
		}
		return nil
	}
	c := &poolCheck{problem: p, outcome: a.PoolOutcome}
	c.all()
	for i, x := range a.Mix.Accelerators {
		if x.Hours > p.Hours {
			c.wrong(fmt.Sprintf("/mix/accelerators/%d/hours", i), "accelerators are kept for %d hours of a round of %d", x.Hours, p.Hours)
		}
	}
	c.limits()
	for i, j := range a.Jobs {
		if j.Late || j.FinishHours == nil {
			c.wrong(fmt.Sprintf("/jobs/%d/late", i), "the job %q misses its deadline", j.Name)
		}
	}
	if c.held < p.Storage.NeededGB()*(1-poolTolerance) {
		c.wrong("/disk_gb", "the disks hold %g GB of %g GB", c.held, p.Storage.NeededGB())
	}
	if a.LowerBound.IsNegative() || a.LowerBound.GreaterThan(a.Cost.Decimal) {
		c.wrong("/lower_bound", "nothing costs less than %s, it says, but this costs %s", a.LowerBound, a.Cost)
	}
	gap := 0.0
	if a.Cost.IsPositive() {
		gap = 1 - a.LowerBound.Float()/a.Cost.Float()
	}
	if math.Abs(gap-a.Gap) > poolTolerance {
		c.wrong("/gap", "the gap is said to be %g, but it is %g", a.Gap, gap)
	}
	if (a.Status == pool.PoolOptimal) != (a.Gap == 0) {
		c.wrong("/status", "the plan is called %s with a gap of %g", a.Status, a.Gap)
	}
	return c.findings
}

// PoolEvaluation checks the evaluation of a given mix.
func PoolEvaluation(p pool.PoolProblem, e pool.PoolEvaluation) []fault.Finding {
	c := &poolCheck{problem: p, outcome: e.PoolOutcome}
	c.all()
	met := true
	for _, j := range e.Jobs {
		met = met && !j.Late
	}
	if met != e.DeadlinesMet {
		c.wrong("/deadlines_met", "that deadlines are met is said to be %v", e.DeadlinesMet)
	}
	if e.StorageMet != (c.held >= p.Storage.NeededGB()) && !poolAlike(c.held, p.Storage.NeededGB()) {
		c.wrong("/storage_met", "the disks hold %g GB of %g GB", c.held, p.Storage.NeededGB())
	}
	if p.Mix == nil || len(p.Mix.Core) != len(e.Mix.Core) || len(p.Mix.Accelerators) != len(e.Mix.Accelerators) {
		c.wrong("/mix", "another mix was asked about")
		return c.findings
	}
	for i, x := range e.Mix.Core {
		if want := p.Mix.Core[i]; x.Type != want.Type || x.Count != want.Count {
			c.wrong(fmt.Sprintf("/mix/core/%d", i), "another mix was asked about")
		}
	}
	for i, x := range e.Mix.Accelerators {
		if want := p.Mix.Accelerators[i]; x.Type != want.Type || x.Count != want.Count || want.Hours > 0 && x.Hours != want.Hours {
			c.wrong(fmt.Sprintf("/mix/accelerators/%d", i), "another mix was asked about")
		}
	}
	return c.findings
}

// PoolFault returns findings about a pool as one error, which is no fault of the caller, or nil.
func PoolFault(wrong []fault.Finding) error {
	if len(wrong) == 0 {
		return nil
	}
	errs := []error{errors.New("the pool that was found is wrong, which is a fault of this program")}
	for _, f := range wrong {
		errs = append(errs, fmt.Errorf("%s: %s", f.Pointer, f.Detail))
	}
	return errors.Join(errs...)
}

type poolCheck struct {
	problem  pool.PoolProblem
	outcome  pool.PoolOutcome
	types    map[string]pool.PoolType
	held     float64
	findings []fault.Finding
}

func (c *poolCheck) wrong(pointer, sentence string, values ...any) {
	if len(c.findings) < fault.MaxFindings {
		c.findings = append(c.findings, fault.Finding{Pointer: pointer, Code: "pool", Detail: fmt.Sprintf(sentence, values...) + "."})
	}
}

func poolAlike(x, y float64) bool {
	return x == y || math.Abs(x-y) <= poolTolerance*max(math.Abs(x), math.Abs(y), poolTolerance)
}

func (c *poolCheck) all() {
	c.types = map[string]pool.PoolType{}
	for _, t := range c.problem.Types {
		c.types[t.Name] = t
	}
	c.money()
	if len(c.findings) == 0 {
		c.work()
	}
}

// money adds up the instances' cost and disks.
func (c *poolCheck) money() {
	o := c.outcome
	core, accelerators := decimal.Zero, decimal.Zero
	bill := func(at, name string, count, hours int64, stated money.Amount, may func(pool.PoolType) bool) decimal.Decimal {
		t, known := c.types[name]
		if !known || !may(t) {
			c.wrong(at+"/type", "there is no type %q that may be that", name)
			return decimal.Zero
		}
		if count < 0 || hours < 0 {
			c.wrong(at, "%d instances for %d hours cannot be", count, hours)
		}
		cost := decimal.NewFromInt(count).Mul(decimal.NewFromInt(hours)).Mul(t.PerHour.Decimal)
		if !cost.Equal(stated.Decimal) {
			c.wrong(at+"/cost", "the cost is said to be %s, but it is %s", stated, cost)
		}
		return cost
	}
	evaluated := c.problem.Mix != nil // a mix to evaluate may have any type
	for i, x := range o.Mix.Core {
		core = core.Add(bill(fmt.Sprintf("/mix/core/%d", i), x.Type, x.Count, c.problem.Hours, x.Cost, func(t pool.PoolType) bool { return t.Core || evaluated }))
		c.held += float64(x.Count) * c.types[x.Type].DiskGB
	}
	for i, x := range o.Mix.Accelerators {
		accelerators = accelerators.Add(bill(fmt.Sprintf("/mix/accelerators/%d", i), x.Type, x.Count, x.Hours, x.Cost, func(t pool.PoolType) bool { return t.Accelerator || evaluated }))
	}
	for _, m := range []struct {
		at   string
		said money.Amount
		is   decimal.Decimal
	}{{"/core_cost", o.CoreCost, core}, {"/accelerator_cost", o.AcceleratorCost, accelerators}, {"/cost", o.Cost, core.Add(accelerators)}} {
		if !m.said.Equal(m.is) {
			c.wrong(m.at, "the cost is said to be %s, but it is %s", m.said, m.is)
		}
	}
	if !poolAlike(o.DiskGB, c.held) {
		c.wrong("/disk_gb", "the disks hold %g GB, not %g", c.held, o.DiskGB)
	}
	if want := c.problem.Storage.DataGB * c.problem.Storage.Replication / c.problem.Storage.Fill; !poolAlike(o.NeededGB, want) {
		c.wrong("/needed_gb", "the data needs %g GB, not %g", want, o.NeededGB)
	}
}

// limits counts the concurrent instances of each type, which is the number at the start.
func (c *poolCheck) limits() {
	count := map[string]int64{}
	for _, x := range c.outcome.Mix.Core {
		count[x.Type] += x.Count
	}
	for _, x := range c.outcome.Mix.Accelerators {
		count[x.Type] += x.Count
	}
	for i, t := range c.problem.Types {
		if t.Most != nil && count[t.Name] > *t.Most {
			c.wrong("/mix", "there are %d instances of %s (type %d), but at most %d may be", count[t.Name], t.Name, i, *t.Most)
		}
	}
}

// rate returns the speed of an instance of a type on a job.
func (c *poolCheck) rate(j pool.PoolJob, t pool.PoolType) (rate float64, imputed bool) {
	if j.MemoryGiBPerTask*float64(t.Slots) > t.MemoryGiB {
		return 0, false
	}
	if r, stated := j.Rates[t.Name]; stated {
		return r, false
	}
	if len(j.Rates) == 0 {
		return t.ComputeUnits, t.ComputeUnits > 0
	}
	perUnit, slowest := 0.0, math.Inf(1)
	for _, other := range c.problem.Types {
		if r := j.Rates[other.Name]; r > 0 && other.ComputeUnits > 0 && r < slowest {
			slowest, perUnit = r, r/other.ComputeUnits
		}
	}
	return perUnit * t.ComputeUnits, perUnit > 0 && t.ComputeUnits > 0
}

// worked returns the instance-hours of a type until a moment. In a mix to evaluate, accelerators without hours stay.
func (c *poolCheck) worked(name string, until float64) (hours float64) {
	startup := c.problem.StartupHours
	if own := c.types[name].StartupHours; own != nil {
		startup = *own
	}
	for _, x := range c.outcome.Mix.Core {
		if x.Type == name {
			hours += float64(x.Count) * max(0, until-startup)
		}
	}
	for i, x := range c.outcome.Mix.Accelerators {
		if x.Type == name {
			end := min(until, float64(x.Hours))
			if m := c.problem.Mix; m != nil && i < len(m.Accelerators) && m.Accelerators[i].Hours == 0 {
				end = until
			}
			hours += float64(x.Count) * max(0, end-startup)
		}
	}
	return hours
}

// moment returns the moment when a type has worked this many instance-hours, by halving; infinite if it never has.
func (c *poolCheck) moment(name string, hours float64) float64 {
	enough := hours * (1 - poolTolerance/10)
	low, high := 0.0, 1.0
	for c.worked(name, high) < enough {
		if high *= 2; high > 1e18 {
			return math.Inf(1)
		}
	}
	for range 200 {
		if middle := (low + high) / 2; c.worked(name, middle) < enough {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// work checks the places and ends of jobs.
func (c *poolCheck) work() {
	p, o := c.problem, c.outcome
	if len(o.Jobs) != len(p.Jobs) {
		c.wrong("/jobs", "there are %d jobs, not %d", len(p.Jobs), len(o.Jobs))
		return
	}
	order := make([]int, len(p.Jobs))
	for i := range order {
		order[i] = i
		deadline := p.Jobs[i].DeadlineHours
		if deadline == 0 {
			deadline = float64(p.Hours)
		}
		if o.Jobs[i].Name != p.Jobs[i].Name || o.Jobs[i].DeadlineHours != deadline {
			c.wrong(fmt.Sprintf("/jobs/%d", i), "the job %q is due after %g hours", p.Jobs[i].Name, deadline)
			return
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		switch dx, dy := o.Jobs[x].DeadlineHours, o.Jobs[y].DeadlineHours; {
		case dx < dy:
			return -1
		case dx > dy:
			return 1
		}
		return 0
	})
	needed := map[string]float64{}
	all := 0.0
	for _, i := range order {
		job, stated, at := p.Jobs[i], o.Jobs[i], fmt.Sprintf("/jobs/%d", i)
		done, finish := 0.0, 0.0
		for k, on := range stated.On {
			t, known := c.types[on.Type]
			rate, imputed := c.rate(job, t)
			if !known || !(rate > 0) || !poolAlike(rate, on.Rate) || imputed != on.Imputed || !(on.InstanceHours > 0) {
				c.wrong(fmt.Sprintf("%s/on/%d", at, k), "the job has the rate %g on %q, not %g, and cannot work there for %g hours", rate, on.Type, on.Rate, on.InstanceHours)
				continue
			}
			needed[on.Type] += on.InstanceHours
			done += rate * on.InstanceHours
			finish = max(finish, c.moment(on.Type, needed[on.Type]))
		}
		if done > job.Work*(1+poolTolerance) {
			c.wrong(at+"/on", "%g of the work is done, but there is %g", done, job.Work)
		}
		if done < job.Work*(1-poolTolerance) {
			finish = math.Inf(1)
		}
		all = max(all, finish)
		c.moments(at, finish, stated)
	}
	switch {
	case o.Hours == nil && !math.IsInf(all, 1), o.Hours != nil && !poolMoments(*o.Hours, all):
		c.wrong("/hours", "all jobs are done after %g hours", all)
	}
}

// poolMoments reports whether two computations of a moment agree. If few instances follow many, a rounding error in
// work is more time.
func poolMoments(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-6*min(x, y) }

func (c *poolCheck) moments(at string, finish float64, stated pool.PoolJobDone) {
	switch {
	case stated.FinishHours == nil && !math.IsInf(finish, 1):
		c.wrong(at+"/finish_hours", "the job is done after %g hours", finish)
	case stated.FinishHours != nil && !poolMoments(*stated.FinishHours, finish):
		c.wrong(at+"/finish_hours", "the job is done after %g hours, not %g", finish, *stated.FinishHours)
	}
	if late := finish > stated.DeadlineHours; late != stated.Late && !poolMoments(finish, stated.DeadlineHours) {
		c.wrong(at+"/late", "the job ends after %g hours and is due after %g", finish, stated.DeadlineHours)
	}
}

// PoolCourse checks a course against its problem. Rounds must follow each other, rented and returned instances must
// give each round's mix, and the data and the sum must be right. Each round's plan is checked when it is made.
func PoolCourse(p pool.PoolCourseProblem, a pool.PoolCourse) []fault.Finding {
	c := &poolCheck{}
	if len(a.Rounds) != p.Rounds() {
		c.wrong("/rounds", "there are %d rounds, not %d", p.Rounds(), len(a.Rounds))
		return c.findings
	}
	core := map[string]int64{}
	for _, x := range p.Running {
		core[x.Type] = x.Count
	}
	data, cost := p.Storage.DataGB, decimal.Zero
	for n, r := range a.Rounds {
		at := fmt.Sprintf("/rounds/%d", n)
		if n < len(p.IncomingGB) {
			data += p.IncomingGB[n]
		}
		if r.FromHour != int64(n)*p.Hours || r.UntilHour != r.FromHour+p.Hours || !poolAlike(r.DataGB, data) {
			c.wrong(at, "the round is from hour %d to %d with %g GB", int64(n)*p.Hours, int64(n+1)*p.Hours, data)
		}
		c.roundMix(p, r, at, core, data)
		if r.Plan.Status != pool.PoolInfeasible {
			cost = cost.Add(r.Plan.Cost.Decimal)
		}
	}
	if !a.Cost.Equal(cost) {
		c.wrong("/cost", "the rounds cost %s, not %s", cost, a.Cost)
	}
	return c.findings
}

// roundMix checks the changes of a round, which must lead to its plan's mix, and the disks for its data. core counts
// the core instances before the round, and afterwards those after it.
func (c *poolCheck) roundMix(p pool.PoolCourseProblem, r pool.PoolRound, at string, core map[string]int64, data float64) {
	accelerators := map[string]int64{} // instance-hours
	left := map[string]int64{}
	for _, x := range r.Changes {
		if x.Hour < r.FromHour || x.Hour > r.UntilHour || x.Count == 0 || x.As == pool.AsCore && x.Hour != r.FromHour {
			c.wrong(at+"/changes", "%d instances of %s cannot change at hour %d", x.Count, x.Type, x.Hour)
		}
		if x.As == pool.AsCore {
			core[x.Type] += x.Count
			continue
		}
		left[x.Type] += x.Count
		accelerators[x.Type] += x.Count * (r.UntilHour - x.Hour)
	}
	if r.Plan.Status == pool.PoolInfeasible {
		if len(r.Changes) > 0 {
			c.wrong(at+"/changes", "a round that cannot be done changes nothing")
		}
		return
	}
	disks := 0.0
	for _, t := range p.Types {
		planned, hours := int64(0), int64(0)
		for _, x := range r.Plan.Mix.Core {
			if x.Type == t.Name {
				planned += x.Count
			}
		}
		for _, x := range r.Plan.Mix.Accelerators {
			if x.Type == t.Name {
				hours += x.Count * x.Hours
			}
		}
		if core[t.Name] != planned || accelerators[t.Name] != hours || left[t.Name] != 0 {
			c.wrong(at+"/changes", "they leave %d core instances of %s and %d hours of accelerators, but the plan has %d and %d",
				core[t.Name], t.Name, accelerators[t.Name], planned, hours)
		}
		disks += float64(planned) * t.DiskGB
	}
	if disks < data*p.Storage.Replication/p.Storage.Fill*(1-poolTolerance) {
		c.wrong(at+"/plan", "the disks hold %g GB of %g GB", disks, data*p.Storage.Replication/p.Storage.Fill)
	}
}
