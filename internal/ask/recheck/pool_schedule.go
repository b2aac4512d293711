package recheck

import (
	"slices"
	"time"

	"headroom/internal/ask/pool"
	"headroom/internal/core/fault"
	"headroom/internal/core/money"
)

// PoolSchedule checks the targets and steps of a schedule from its rounds and the machines that already run. The
// targets must meet the rounds' needs, and the steps must keep that many machines running. No more may run for longer
// than the paid hour, and the sum must be right. Each round's plan is checked when it is made.
func PoolSchedule(b pool.PoolBasis, s pool.PoolSchedule) []fault.Finding {
	c := &poolCheck{}
	type kind struct{ name, as string }
	kinds, moments := map[kind]bool{}, []time.Time{b.At}
	for _, m := range b.Machines {
		kinds[kind{m.Type, m.As}] = true
	}
	core := map[string]int64{}
	for _, m := range b.Machines {
		if m.As == pool.AsCore {
			core[m.Type] += m.Count
		}
	}
	cores := make([]map[string]int64, len(s.Rounds)) // of each round
	for n, r := range s.Rounds {
		if n > 0 && !r.From.Equal(s.Rounds[n-1].Until) || n == 0 && !r.From.Equal(s.From) || r.Until.Sub(r.From) != time.Duration(b.Problem.Hours)*time.Hour {
			c.wrong("/rounds", "the round from %s to %s does not follow the one before", r.From, r.Until)
		}
		if r.Plan.Status != pool.PoolInfeasible {
			core = map[string]int64{}
			for _, x := range r.Plan.Mix.Core {
				core[x.Type] += x.Count
				kinds[kind{x.Type, pool.AsCore}] = true
			}
		}
		cores[n] = core
		for h := r.From; !h.After(r.Until); h = h.Add(time.Hour) {
			moments = append(moments, h)
		}
		for _, x := range r.Plan.Mix.Accelerators {
			kinds[kind{x.Type, pool.AsAccelerator}] = true
		}
	}
	needed := func(k kind, at time.Time) (n int64) {
		if at.Before(s.From) {
			for _, m := range b.Machines {
				if m.Type == k.name && m.As == k.as {
					n += m.Count
				}
			}
			return n
		}
		for i, r := range s.Rounds {
			last := i == len(s.Rounds)-1 && !at.Before(r.Until)
			if !last && (at.Before(r.From) || !at.Before(r.Until)) {
				continue
			}
			if k.as == pool.AsCore {
				return cores[i][k.name]
			}
			for _, x := range r.Plan.Mix.Accelerators {
				if x.Type == k.name && at.Before(r.From.Add(time.Duration(x.Hours)*time.Hour)) {
					n += x.Count
				}
			}
		}
		return n
	}
	for _, t := range s.Targets {
		moments = append(moments, t.At)
	}
	for _, x := range s.Steps {
		if moments = append(moments, x.At); x.At.Before(b.At) || x.Count == 0 || !kinds[kind{x.Type, x.As}] {
			c.wrong("/steps", "%d machines of %s cannot change at %s", x.Count, x.Type, x.At)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	for k := range kinds {
		for n, at := range moments {
			want, stated := needed(k, at), int64(0)
			for _, t := range s.Targets {
				if t.Type == k.name && t.As == k.as && !t.At.After(at) {
					stated = t.Count
				}
			}
			if at.Before(b.At) && at.Before(s.From) {
				continue
			}
			if stated != want {
				c.wrong("/targets", "%d machines of %s as %s are to run at %s, not %d", want, k.name, k.as, at, stated)
			}
			if at.Before(b.At) {
				continue
			}
			runs, latest := int64(0), time.Time{}
			for _, m := range b.Machines {
				if m.Type == k.name && m.As == k.as {
					if runs += m.Count; m.PaidUntil != nil && m.PaidUntil.After(latest) {
						latest = *m.PaidUntil
					}
				}
			}
			for _, x := range s.Steps {
				if x.Type == k.name && x.As == k.as && !x.At.After(at) {
					runs += x.Count
				}
			}
			// Within the last hour, or as long as machines are paid for; a need of a moment holds until the next one.
			highest := want
			for i := n - 1; i >= 0 && moments[i+1].After(at.Add(-time.Hour)); i-- {
				highest = max(highest, needed(k, moments[i]))
			}
			paid := !at.After(b.At.Add(time.Hour)) || at.Before(latest)
			if runs < want || runs > highest && !paid {
				c.wrong("/steps", "%d machines of %s as %s run at %s, where %d are needed", runs, k.name, k.as, at, want)
			}
		}
	}
	status := pool.PoolOptimal
	total := money.Amount{}
	for _, r := range s.Rounds {
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
	if status != s.Status || !total.Equal(s.Cost.Decimal) {
		c.wrong("/cost", "the rounds are %s and cost %s", status, total)
	}
	return c.findings
}
