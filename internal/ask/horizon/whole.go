package horizon

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
)

// WholeJobs holds the figures of some time if every hour has the plan that is made for it alone, which holds whole jobs. Months
// count jobs in parts, as they begin and end within hours.
type WholeJobs struct {
	Bill            money.Amount `json:"bill"` // with the share of upfront payments
	ValueRefused    money.Amount `json:"value_refused"`
	Gap             money.Amount `json:"gap"` // both together are at most so much more than necessary
	InfeasibleHours float64      `json:"infeasible_hours,omitzero"`
}

// wholePlans holds the plans of situations in whole jobs. Those with the same jobs, prices and contracts share one.
type wholePlans struct {
	plans []*wholePlan // by situation
}

type wholePlan struct {
	mutex sync.Mutex
	jobs  []capacity.JobRange
	found *settlement
}

// newWholePlans is nil where no class is planned in parts of jobs.
func (c *Course) newWholePlans() *wholePlans {
	h := c.calendar.horizon
	if h.parts == nil || slices.Max(h.parts) == 1 {
		return nil
	}
	all, known := &wholePlans{}, map[string]*wholePlan{}
	for i := range c.calendar.situations {
		s := &c.calendar.situations[i]
		jobs, key := make([]capacity.JobRange, len(h.asked)), []byte(s.prices.PriceKey())
		for k := range jobs {
			jobs[k] = h.asked[k].Jobs.Of(capacity.WholeJobs(h.Periods[s.period].Running[k]))
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(jobs[k].Max))
		}
		for _, in := range s.inForce {
			key = append(key, map[bool]byte{true: 1}[in])
		}
		of := known[string(key)]
		if of == nil {
			of = &wholePlan{jobs: jobs}
			known[string(key)] = of
		}
		all.plans = append(all.plans, of)
	}
	return all
}

// planWhole plans a situation's problem in whole jobs, once for all that share it.
func (c *Course) planWhole(ctx context.Context, situation int, p capacity.Problem) error {
	of := c.whole.plans[situation]
	of.mutex.Lock()
	defer of.mutex.Unlock()
	if of.found != nil {
		return nil
	}
	p.Classes = slices.Clone(c.calendar.horizon.asked)
	for k := range p.Classes {
		p.Classes[k].Jobs = of.jobs[k]
	}
	found, err := c.plan(ctx, p, c.solve, nil, nil)
	if err == nil {
		of.found = &found
	}
	return err
}

// totalInWholeJobs returns the figures of a horizon in whole jobs, with a share of upfront payments; nil where nothing is planned in parts.
func totalInWholeJobs(ctx context.Context, h Horizon, upfront money.Amount, solve plan.Planner, crew Crew) (*WholeJobs, error) {
	c := NewCourse(h, solve)
	if c.whole == nil {
		return nil, nil
	}
	err := each(ctx, c.total(), crew, nil, func(ctx context.Context, i int) error {
		return c.planWhole(ctx, i, c.calendar.problem(&c.calendar.situations[i], c.contracts))
	})
	if err != nil {
		return nil, err
	}
	var total SpanTotal
	for _, s := range c.calendar.stints {
		total.addWhole(c.whole.plans[s.situation].found, s.seconds, c.calendar.horizon.Problem.PeriodSeconds)
	}
	total.payUpfront(upfront)
	return total.InWholeJobs, nil
}

// addWhole adds so many seconds of a plan in whole jobs.
func (t *SpanTotal) addWhole(s *settlement, seconds, period int64) {
	if t.InWholeJobs == nil {
		t.InWholeJobs = &WholeJobs{}
	}
	if s.status == capacity.InfeasibleStatus {
		t.InWholeJobs.InfeasibleHours += float64(seconds) / 3600
		return
	}
	m, of := s.over(seconds, period), t.InWholeJobs
	of.Bill.Decimal = of.Bill.Add(m.cost.Bill.Decimal)
	of.ValueRefused.Decimal = of.ValueRefused.Add(m.cost.Penalties.Decimal)
	of.Gap.Decimal = of.Gap.Add(m.gap)
}

// payUpfront adds a share of an upfront payment.
func (t *SpanTotal) payUpfront(share money.Amount) {
	t.Cost.add(&SpanCost{Total: share, Bill: share, Upfront: share})
	if of := t.InWholeJobs; of != nil {
		of.Bill.Decimal = of.Bill.Add(share.Decimal)
	}
}
