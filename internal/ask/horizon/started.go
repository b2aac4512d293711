package horizon

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/plan"
)

// Hours that are planned by themselves might refuse a job in an hour and admit it in the next, or refuse one that runs. Where
// arrivals are refused anywhere, all hours are therefore planned once more, in their order: a job that was admitted keeps its
// VMs until it ends, and one that was refused stays away. Planned by themselves the hours cost no more, which is a bound.

// follow plans the hours in their order.
type follow struct {
	course   *Course
	calendar *calendar
	stints   []stint
	settled  []settlement
	known    map[string]plannedJobs // by situation and jobs
	admitted [][]perf.Arriving      // by class, what may still run,
	arrived  [][]perf.Arriving      // also of what was refused
	seconds  []float64
	arrives  []bool

	after       int64 // the seconds after a period in which its arrivals must fit in
	cost, apart decimal.Decimal
	unplanned   int64 // seconds without a plan
}

// refuses reports whether a class with arrivals is refused in some hour.
func (c *Course) refuses() bool {
	h := c.calendar.horizon
	if h.parts == nil {
		return false
	}
	for k := range h.asked {
		if len(h.arrivalsOf(k)) > 0 && slices.ContainsFunc(c.settled, func(s settlement) bool { return len(s.Classes) > 0 && s.Classes[k].Refused > 0 }) {
			return true
		}
	}
	return false
}

// inOrder plans all hours anew if one refuses arrivals. If the context ends, the answer ends with the last hour planned.
// The jobs that must fit in once a period's arrivals are there count at its very end, or over the hour after it, in which
// short jobs end. Neither is always cheaper.
func (c *Course) inOrder(ctx context.Context) error {
	if !c.refuses() {
		return nil
	}
	var best *follow
	for _, after := range []int64{1, 3600} {
		f, err := c.follow(ctx, after)
		if best == nil || err == nil && f.betters(best) {
			best = f
		}
		if best == f && err != nil {
			c.take(f)
			return err
		}
		if err != nil || best.unplanned == 0 && best.apart.LessThanOrEqual(best.cost.Mul(decimal.NewFromFloat(c.calendar.horizon.Problem.Options.Gap))) {
			break
		}
	}
	c.take(best)
	return nil
}

// follow plans all hours in their order, and adds up what they cost above those planned by themselves.
func (c *Course) follow(ctx context.Context, after int64) (f *follow, err error) {
	h := c.calendar.horizon
	f = &follow{course: c, after: after, known: map[string]plannedJobs{}, admitted: make([][]perf.Arriving, len(h.asked)), arrived: make([][]perf.Arriving, len(h.asked)),
		calendar: &calendar{horizon: h}}
	for k := range h.asked {
		f.arrives = append(f.arrives, len(h.arrivalsOf(k)) > 0)
		f.seconds = append(f.seconds, perf.HeldSeconds(h.asked[k], h.Problem.Supply, h.Problem.Options))
		for i := range h.Earlier {
			f.admitted[k] = append(f.admitted[k], Arriving(&h.Earlier[i], k)...)
		}
		f.arrived[k] = slices.Clone(f.admitted[k])
	}
	stints := c.calendar.stints
	for i := 0; i < len(stints) && err == nil; {
		n := i + 1
		for n < len(stints) && stints[n].period == stints[i].period {
			n++
		}
		err = f.period(ctx, stints[i:n])
		i = n
	}
	var bound decimal.Decimal
	for i := range f.stints {
		of, was := &f.stints[i], &c.settled[stints[i].situation]
		m := was.over(of.seconds, h.Problem.PeriodSeconds)
		bound = bound.Add(m.cost.Total.Decimal).Sub(m.gap)
		now := &f.settled[of.situation]
		f.cost = f.cost.Add(now.over(of.seconds, h.Problem.PeriodSeconds).cost.Total.Decimal)
		if now.status == capacity.InfeasibleStatus {
			f.unplanned += of.seconds
		}
	}
	rounding := decimal.New(2*int64(len(f.stints)), 0).Mul(decimal.NewFromFloat(money.Smallest)) // a unit of both costs of each time
	if apart := f.cost.Sub(bound); apart.GreaterThan(rounding) {
		f.apart = apart
	}
	return f, err
}

// betters reports whether less time is without a plan, or as much and the plans cost less.
func (f *follow) betters(other *follow) bool {
	return f.unplanned < other.unplanned || f.unplanned == other.unplanned && f.cost.LessThan(other.cost)
}

// take makes plans in the order of the hours those of the course.
func (c *Course) take(f *follow) {
	c.apart, c.solved = f.apart, len(f.settled)
	for _, rest := range c.calendar.stints[len(f.stints):] {
		rest.situation = c.solved
		f.stints = append(f.stints, rest)
	}
	f.calendar.stints = f.stints
	c.calendar, c.settled, c.ordered = f.calendar, append(f.settled, settlement{}), true
}

// Arriving returns the arrivals of a class in a period.
func Arriving(p *HorizonPeriod, class int) []perf.Arriving {
	if p.Arrivals == nil || p.Arrivals[class] == 0 {
		return nil
	}
	return []perf.Arriving{{From: p.Start.Unix(), Until: p.End().Unix(), Jobs: p.Arrivals[class]}}
}

// ranges returns the jobs of each class in some time that starts with a period. Those that run of the admitted ones must be
// served. Of the period's arrivals there is a share, some of which are owed. Of these and of the promised jobs so large a part
// must be served as well. With asked, the jobs are some of those that run at once on average in all.
func (f *follow) ranges(p *HorizonPeriod, from, until int64, share, owed []float64, part float64, asked []float64) (jobs []plan.ClassDemand, started, filled []float64) {
	h := f.calendar.horizon
	jobs, started, filled = make([]plan.ClassDemand, len(share)), make([]float64, len(share)), make([]float64, len(share))
	for k := range jobs {
		admitted, arriving := perf.NewArrivals(f.admitted[k]), perf.NewArrivals(Arriving(p, k))
		runs, fresh := admitted.Running(f.seconds[k], from, until), arriving.Running(f.seconds[k], from, until)
		all := runs + share[k]*fresh
		if asked != nil {
			all = asked[k]
		}
		filled[k] = h.filling(k, all)
		jobs[k].Max = h.heldOf(k, runs+share[k]*fresh, all)
		jobs[k].Penalty = h.worth(k, filled[k])
		started[k] = min(h.heldOf(k, runs, all), jobs[k].Max)
		jobs[k].Min = min(max(h.heldOf(k, runs+part*min(owed[k], share[k])*fresh, all), math.Ceil(part*h.Problem.Classes[k].Jobs.Min)), jobs[k].Max)
		if h.asked[k].Jobs.All {
			jobs[k].Min = jobs[k].Max
		}
	}
	return jobs, started, filled
}

// owed returns the least share of a period's arrivals that must be admitted, so that as many jobs as are promised, or as many
// as there are, can run until the last of them ends. All that arrives later may be admitted.
func (f *follow) owed(at, class int) (share float64) {
	h := f.calendar.horizon
	p := &h.Periods[at]
	promised := h.Problem.Classes[class].Jobs.Min / float64(h.parts[class])
	switch {
	case !f.arrives[class] || len(Arriving(p, class)) == 0:
		return 0
	case h.asked[class].Jobs.All:
		return 1
	case promised == 0:
		return 0
	}
	admitted, arrived, fresh := perf.NewArrivals(f.admitted[class]), perf.NewArrivals(f.arrived[class]), perf.NewArrivals(Arriving(p, class))
	for end := float64(p.End().Unix()) + f.seconds[class]; at < len(h.Periods) && float64(h.Periods[at].Start.Unix()) < end; at++ {
		x := &h.Periods[at]
		from, until := x.Start.Unix(), x.End().Unix()
		if of := fresh.Running(f.seconds[class], from, until); of > 0 && x.Arrivals != nil {
			later := x.Running[class] - arrived.Running(f.seconds[class], from, until) - of
			share = max(share, (min(promised, x.Running[class])-admitted.Running(f.seconds[class], from, until)-later)/of)
		}
	}
	return min(1, share)
}

// period plans the stints of a period, in which the same jobs run. Of its arrivals no more are admitted than fit in once
// all have arrived.
func (f *follow) period(ctx context.Context, stints []stint) error {
	h := f.calendar.horizon
	at := stints[0].period
	p := &h.Periods[at]
	from, until := p.Start.Unix(), p.End().Unix()
	share, owed := make([]float64, len(h.asked)), make([]float64, len(h.asked)) // of the arrivals: those that are admitted, and must be
	for k := range share {
		f.admitted[k], f.arrived[k] = f.running(f.admitted[k], k, from), f.running(f.arrived[k], k, from)
		share[k], owed[k] = 1, f.owed(at, k)
	}
	var jobs []plan.ClassDemand
	var started, filled []float64
	var later plannedJobs
	for part := 1.0; part >= 0; part -= 0.25 { // of the promises, as large a one as fits in
		jobs, started, filled = f.ranges(p, until, until+f.after, share, owed, part, nil)
		var err error
		if later, err = f.plan(ctx, stints[0].situation, jobs, filled, nil); err != nil {
			return err
		}
		if len(later.Classes) > 0 {
			owed = times(owed, part)
			break
		}
	}
	f.admit(share, &later, started, owed)
	now, err := f.hour(ctx, stints, share, owed)
	if err != nil {
		return err
	}
	for k := range now {
		for _, s := range Arriving(p, k) {
			f.arrived[k] = append(f.arrived[k], s)
			s.Jobs *= now[k]
			f.admitted[k] = append(f.admitted[k], s)
		}
	}
	return nil
}

// fitting returns what is owed, or as large a part of it as a period has plans with.
func (f *follow) fitting(ctx context.Context, stints []stint, share, owed []float64) ([]float64, error) {
	p := &f.calendar.horizon.Periods[stints[0].period]
	for all, left := owed, 3.0; slices.Max(owed) > 0; left-- {
		jobs, _, filled := f.ranges(p, p.Start.Unix(), p.End().Unix(), share, owed, 1, p.Running)
		fits := true
		for _, s := range stints {
			of, err := f.plan(ctx, s.situation, jobs, filled, nil)
			if err != nil {
				return nil, err
			}
			fits = fits && len(of.Classes) > 0
		}
		if fits {
			break
		}
		owed = times(all, left/4)
	}
	return owed, nil
}

// hour plans the stints of a period with shares of its arrivals. It returns the shares that are admitted.
func (f *follow) hour(ctx context.Context, stints []stint, share, owed []float64) (now []float64, err error) {
	h := f.calendar.horizon
	at := stints[0].period
	p := &h.Periods[at]
	if owed, err = f.fitting(ctx, stints, share, owed); err != nil {
		return nil, err
	}
	jobs, started, filled := f.ranges(p, p.Start.Unix(), p.End().Unix(), share, owed, 1, p.Running)
	gone := make([]float64, len(share))
	for k := range jobs {
		own := h.JobsIn(at, k)
		if !f.arrives[k] || h.asked[k].Jobs.All || p.Jobs == nil && p.Arrivals == nil || p.Jobs != nil && p.Jobs[k] > 0 {
			jobs[k].Max, jobs[k].Min = own.Max, min(max(own.Min, jobs[k].Min), own.Max)
		}
		gone[k] = own.Max - jobs[k].Max
	}
	now = slices.Clone(share)
	for _, s := range stints {
		planned, err := f.plan(ctx, s.situation, jobs, filled, gone)
		if err != nil {
			return nil, err
		}
		s.situation = planned.situation
		f.stints = append(f.stints, s)
		for k, x := range f.admit(slices.Clone(share), &planned, started, owed) {
			now[k] = min(now[k], x)
		}
	}
	return now, nil
}

// running leaves out the arrivals that have ended at a moment.
func (f *follow) running(of []perf.Arriving, class int, at int64) []perf.Arriving {
	for len(of) > 0 && float64(of[0].Until)+f.seconds[class] <= float64(at) {
		of = of[1:]
	}
	return of
}

// plannedJobs is a plan of some jobs.
type plannedJobs struct {
	jobs      []plan.ClassDemand
	situation int // of those that are answered; -1 is none
	settlement
}

// admit lowers the shares of arrivals to what a plan admits beside the started jobs, and no further than to what is owed.
// Where there is no plan it admits none of them. Classes all of whose jobs are promised keep theirs in any case.
func (f *follow) admit(share []float64, of *plannedJobs, started, owed []float64) []float64 {
	for k, jobs := range of.jobs {
		if fresh := jobs.Max - started[k]; fresh > 0 && !f.calendar.horizon.asked[k].Jobs.All {
			admitted, least := started[k], 0.0
			if len(of.Classes) > 0 {
				admitted, least = of.Classes[k].Admitted/of.filled[k], min(owed[k], share[k])
				if f.calendar.horizon.Problem.Options.Integrality != capacity.Relaxed {
					admitted = math.Round(admitted)
				}
			}
			share[k] = max(least, share[k]*min(1, max(0, (admitted-started[k])/fresh)))
		}
	}
	return share
}

// plan plans jobs with the supply of a situation, once. With gone, the jobs that were refused before, it is one of the answer.
func (f *follow) plan(ctx context.Context, base int, jobs []plan.ClassDemand, filled, gone []float64) (plannedJobs, error) {
	key := binary.LittleEndian.AppendUint64(nil, uint64(base))
	for k := range jobs {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(jobs[k].Min))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(jobs[k].Max))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(filled[k]))
		if gone != nil {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(gone[k]))
		}
	}
	if known, seen := f.known[string(key)]; seen {
		return known, nil
	}
	of := f.course.calendar.situations[base]
	of.demand = len(f.calendar.jobs)
	f.calendar.jobs, f.calendar.filled = append(f.calendar.jobs, jobs), append(f.calendar.filled, filled)
	one := f.course.settled[base]
	if gone == nil || one.status != capacity.InfeasibleStatus { // otherwise promised jobs do not fit in, whatever was refused before
		var err error
		if one, err = f.course.plan(ctx, f.calendar.problem(&of, f.course.contracts), f.course.solve, filled, gone); err != nil {
			return plannedJobs{}, err
		}
		if one.status == capacity.InfeasibleStatus {
			one.conflict = "Jobs that were admitted before still run, and count as promised. " + one.conflict
		}
	}
	planned := plannedJobs{jobs, -1, one}
	if gone != nil {
		planned.situation = len(f.settled)
		f.settled, f.calendar.situations = append(f.settled, one), append(f.calendar.situations, of)
	}
	f.known[string(key)] = planned
	return planned, nil
}
