package machines

import (
	"slices"
	"time"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// PoolSchedule checks the targets and steps of a schedule from its rounds and the machines that already run. The
// targets must meet the rounds' needs, and the steps must keep that many machines running. No more may run for longer
// than the paid hour, and the sum must be right. Each round's plan is checked when it is made.
func PoolSchedule(b pool.PoolBasis, s pool.PoolSchedule) []fault.Finding {
	c := &scheduleCheck{basis: b, schedule: s, kinds: map[machineKind]bool{}, moments: []time.Time{b.At}}
	c.rounds()
	c.changes()
	for k := range c.kinds {
		for n := range c.moments {
			c.moment(k, n)
		}
	}
	c.sum()
	return c.findings
}

// machineKind is a type of machine in one of its two uses.
type machineKind struct{ name, as string }

// scheduleCheck compares a schedule with its rounds, kind by kind and moment by moment.
type scheduleCheck struct {
	poolCheck
	basis    pool.PoolBasis
	schedule pool.PoolSchedule
	kinds    map[machineKind]bool
	moments  []time.Time        // at which something may change, in order
	cores    []map[string]int64 // of each round, by type
}

// rounds checks that the rounds follow each other, and notes their core machines, kinds and hours.
func (c *scheduleCheck) rounds() {
	core := map[string]int64{}
	for _, m := range c.basis.Machines {
		c.kinds[machineKind{m.Type, m.As}] = true
		if m.As == pool.AsCore {
			core[m.Type] += m.Count
		}
	}
	s := c.schedule
	c.cores = make([]map[string]int64, len(s.Rounds))
	for n, r := range s.Rounds {
		if n > 0 && !r.From.Equal(s.Rounds[n-1].Until) || n == 0 && !r.From.Equal(s.From) || r.Until.Sub(r.From) != time.Duration(c.basis.Problem.Hours)*time.Hour {
			c.wrong("/rounds", "the round from %s to %s does not follow the one before", r.From, r.Until)
		}
		if r.Plan.Status != pool.PoolInfeasible {
			core = map[string]int64{}
			for _, x := range r.Plan.Mix.Core {
				core[x.Type] += x.Count
				c.kinds[machineKind{x.Type, pool.AsCore}] = true
			}
		}
		c.cores[n] = core
		for h := r.From; !h.After(r.Until); h = h.Add(time.Hour) {
			c.moments = append(c.moments, h)
		}
		for _, x := range r.Plan.Mix.Accelerators {
			c.kinds[machineKind{x.Type, pool.AsAccelerator}] = true
		}
	}
}

// changes checks that each step can be taken, and notes the moments of targets and steps.
func (c *scheduleCheck) changes() {
	for _, t := range c.schedule.Targets {
		c.moments = append(c.moments, t.At)
	}
	for _, x := range c.schedule.Steps {
		if c.moments = append(c.moments, x.At); x.At.Before(c.basis.At) || x.Count == 0 || !c.kinds[machineKind{x.Type, x.As}] {
			c.wrong("/steps", "%d machines of %s cannot change at %s", x.Count, x.Type, x.At)
		}
	}
	slices.SortFunc(c.moments, time.Time.Compare)
}

// needed counts the machines of a kind that the rounds need at a moment.
func (c *scheduleCheck) needed(k machineKind, at time.Time) (n int64) {
	if at.Before(c.schedule.From) {
		for _, m := range c.basis.Machines {
			if m.Type == k.name && m.As == k.as {
				n += m.Count
			}
		}
		return n
	}
	for i, r := range c.schedule.Rounds {
		last := i == len(c.schedule.Rounds)-1 && !at.Before(r.Until)
		if !last && (at.Before(r.From) || !at.Before(r.Until)) {
			continue
		}
		if k.as == pool.AsCore {
			return c.cores[i][k.name]
		}
		for _, x := range r.Plan.Mix.Accelerators {
			if x.Type == k.name && at.Before(r.From.Add(time.Duration(x.Hours)*time.Hour)) {
				n += x.Count
			}
		}
	}
	return n
}

// moment checks the target of a kind at a moment, and how many machines the steps leave running.
func (c *scheduleCheck) moment(k machineKind, n int) {
	at := c.moments[n]
	if at.Before(c.basis.At) && at.Before(c.schedule.From) {
		return
	}
	want, stated := c.needed(k, at), int64(0)
	for _, t := range c.schedule.Targets {
		if t.Type == k.name && t.As == k.as && !t.At.After(at) {
			stated = t.Count
		}
	}
	if stated != want {
		c.wrong("/targets", "%d machines of %s as %s are to run at %s, not %d", want, k.name, k.as, at, stated)
	}
	if at.Before(c.basis.At) {
		return
	}
	runs, paidUntil := c.running(k, at)
	// Within the last hour, or as long as machines are paid for; a need of a moment holds until the next one.
	highest := want
	for i := n - 1; i >= 0 && c.moments[i+1].After(at.Add(-time.Hour)); i-- {
		highest = max(highest, c.needed(k, c.moments[i]))
	}
	paid := !at.After(c.basis.At.Add(time.Hour)) || at.Before(paidUntil)
	if runs < want || runs > highest && !paid {
		c.wrong("/steps", "%d machines of %s as %s run at %s, where %d are needed", runs, k.name, k.as, at, want)
	}
}

// running counts the machines of a kind after the steps until a moment. It returns until when those that ran before
// are paid for at the latest.
func (c *scheduleCheck) running(k machineKind, at time.Time) (runs int64, paidUntil time.Time) {
	for _, m := range c.basis.Machines {
		if m.Type == k.name && m.As == k.as {
			if runs += m.Count; m.PaidUntil != nil && m.PaidUntil.After(paidUntil) {
				paidUntil = *m.PaidUntil
			}
		}
	}
	for _, x := range c.schedule.Steps {
		if x.Type == k.name && x.As == k.as && !x.At.After(at) {
			runs += x.Count
		}
	}
	return runs, paidUntil
}

// sum checks the status and the cost of all rounds together.
func (c *scheduleCheck) sum() {
	status := pool.PoolOptimal
	total := money.Amount{}
	for _, r := range c.schedule.Rounds {
		if r.DecidedBy != 0 {
			continue
		}
		if r.Plan.Status == pool.PoolInfeasible || r.Plan.Status == pool.PoolFeasible && status == pool.PoolOptimal {
			status = r.Plan.Status
		}
		if r.Plan.Status != pool.PoolInfeasible {
			total.Decimal = total.Add(r.Plan.Cost.Decimal)
		}
	}
	if status != c.schedule.Status || !total.Equal(c.schedule.Cost.Decimal) {
		c.wrong("/cost", "the rounds are %s and cost %s", status, total)
	}
}
