package horizon

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// Hours with the same whole jobs differ in what these are worth, since arrivals are rounded up. Where all jobs are served at
// the least that they are worth, they are served at more: no plan of these jobs has a lower bill. That is solved once.

// sameJobs is a set of situations with the same jobs, prices and contracts.
type sameJobs struct {
	size      int
	penalties []money.Amount // the least of each class

	mutex  sync.Mutex
	solved bool
	plan   *capacity.Plan // in which all jobs run, proved the best; nil where there is none
}

// fewAlike are so few situations that each is solved by itself.
const fewAlike = 2

// alike finds situations with the same jobs, prices and contracts.
func (c *calendar) alike() []*sameJobs {
	all := make([]*sameJobs, len(c.situations))
	if o := &c.horizon.Problem.Options; c.filled == nil || o.Integrality == capacity.Relaxed || o.Gap > capacity.DefaultOptions().Gap { // within a wide gap other plans may be taken
		return all
	}
	known := map[string]*sameJobs{}
	for i := range c.situations {
		s := &c.situations[i]
		var key []byte
		for _, jobs := range c.jobs[s.demand] {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(jobs.Min))
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(jobs.Max))
		}
		for _, in := range s.inForce {
			key = append(key, map[bool]byte{true: 1}[in])
		}
		same := known[string(key)+s.prices.PriceKey()]
		if same == nil {
			same = &sameJobs{penalties: make([]money.Amount, len(c.jobs[s.demand]))}
			known[string(key)+s.prices.PriceKey()] = same
		}
		for k, jobs := range c.jobs[s.demand] {
			if same.size == 0 || jobs.Penalty.LessThan(same.penalties[k].Decimal) {
				same.penalties[k] = jobs.Penalty
			}
		}
		same.size++
		all[i] = same
	}
	for i, same := range all {
		if same.size <= fewAlike {
			all[i] = nil
		}
	}
	return all
}

// servesAll returns a plan that is proved the best of a situation without solving it, if one is known; nil otherwise.
func (c *Course) servesAll(ctx context.Context, situation int, p capacity.Problem) (*capacity.Plan, error) {
	same := c.alike[situation]
	if same == nil {
		return nil, nil
	}
	same.mutex.Lock()
	defer same.mutex.Unlock()
	if same.solved {
		return same.plan, nil
	}
	p.Classes = slices.Clone(p.Classes)
	for k := range p.Classes {
		p.Classes[k].Penalty = same.penalties[k]
	}
	pl, err := c.solve(ctx, p)
	if err != nil && fault.Findings(err) == nil {
		return nil, err
	}
	refuses := func(x capacity.ClassPlan) bool { return x.Refused != 0 }
	if err == nil && pl.Status == capacity.Optimal && pl.Proof != nil && pl.Objective.Equal(pl.Proof.Bound.Decimal) && !slices.ContainsFunc(pl.Classes, refuses) {
		same.plan = &pl
	}
	same.solved = true
	return same.plan, nil
}
