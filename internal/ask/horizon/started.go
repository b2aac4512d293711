package horizon

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/perf"
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
	admitted [][]perf.Arriving
	seconds  []float64
	arrives  []bool
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
func (c *Course) inOrder(ctx context.Context) error {
	if !c.refuses() {
		return nil
	}
	h := c.calendar.horizon
	f := follow{course: c, known: map[string]plannedJobs{}, admitted: make([][]perf.Arriving, len(h.asked)),
		calendar: &calendar{horizon: h}}
	for k := range h.asked {
		f.arrives = append(f.arrives, len(h.arrivalsOf(k)) > 0)
		f.seconds = append(f.seconds, perf.HeldSeconds(h.asked[k], h.Problem.Supply, h.Problem.Options))
		for i := range h.Earlier {
			f.admitted[k] = append(f.admitted[k], arriving(&h.Earlier[i], k)...)
		}
	}
	stints := c.calendar.stints
	var err error
	for i := 0; i < len(stints) && err == nil; {
		n := i + 1
		for n < len(stints) && stints[n].period == stints[i].period {
			n++
		}
		err = f.period(ctx, stints[i:n])
		i = n
	}
	var bound, cost decimal.Decimal
	for i := range f.stints {
		of, was := &f.stints[i], &c.settled[stints[i].situation]
		m := was.over(of.seconds, h.Problem.PeriodSeconds)
		bound = bound.Add(m.cost.Total.Decimal).Sub(m.gap)
		cost = cost.Add(f.settled[of.situation].over(of.seconds, h.Problem.PeriodSeconds).cost.Total.Decimal)
	}
	c.apart = decimal.Max(decimal.Zero, cost.Sub(bound))
	unfinished := len(f.settled)
	for _, rest := range stints[len(f.stints):] {
		rest.situation = unfinished
		f.stints = append(f.stints, rest)
	}
	f.calendar.stints = f.stints
	c.calendar, c.settled, c.ordered = f.calendar, append(f.settled, settlement{}), true
	c.solved = unfinished
	return err
}

// arriving returns the arrivals of a class in a period.
func arriving(p *HorizonPeriod, class int) []perf.Arriving {
	if p.Arrivals == nil || p.Arrivals[class] == 0 {
		return nil
	}
	return []perf.Arriving{{From: p.Start.Unix(), Until: p.End().Unix(), Jobs: p.Arrivals[class]}}
}

// ranges returns the jobs of each class in some time that starts with a period: those that run of the admitted ones, which
// must be served, and with a share of the period's arrivals.
func (f *follow) ranges(p *HorizonPeriod, from, until int64, share []float64) []capacity.JobRange {
	h := f.calendar.horizon
	jobs := make([]capacity.JobRange, len(share))
	for k := range jobs {
		started, fresh := perf.NewArrivals(f.admitted[k]), perf.NewArrivals(arriving(p, k))
		runs := started.Running(f.seconds[k], from, until)
		jobs[k].Max = h.held(k, runs+share[k]*fresh.Running(f.seconds[k], from, until))
		jobs[k].Min = min(max(h.inParts(k, runs), h.Problem.Classes[k].Jobs.Min), jobs[k].Max)
	}
	return jobs
}

// period plans the stints of a period, in which the same jobs run. Of its arrivals no more are admitted than fit in once
// all have arrived.
func (f *follow) period(ctx context.Context, stints []stint) error {
	h := f.calendar.horizon
	at := stints[0].period
	p := &h.Periods[at]
	from, until := p.Start.Unix(), p.End().Unix()
	share := make([]float64, len(h.asked)) // of the arrivals that are admitted
	for k := range share {
		share[k] = 1
		f.forget(k, from)
	}
	later, err := f.plan(ctx, stints[0].situation, f.ranges(p, until, until+3600, share), nil)
	if err != nil {
		return err
	}
	f.admit(share, &later)
	jobs, gone := f.ranges(p, from, until, share), make([]float64, len(share))
	for k := range jobs {
		own := h.JobsIn(at, k)
		if !f.arrives[k] || p.Jobs == nil && p.Arrivals == nil || p.Jobs != nil && p.Jobs[k] > 0 {
			jobs[k].Max, jobs[k].Min = own.Max, min(max(own.Min, jobs[k].Min), own.Max)
		}
		gone[k] = own.Max - jobs[k].Max
	}
	now := slices.Clone(share)
	for _, s := range stints {
		planned, err := f.plan(ctx, s.situation, jobs, gone)
		if err != nil {
			return err
		}
		s.situation = planned.situation
		f.stints = append(f.stints, s)
		for k, x := range f.admit(slices.Clone(share), &planned) {
			now[k] = min(now[k], x)
		}
	}
	for k := range now {
		for _, s := range arriving(p, k) {
			s.Jobs *= now[k]
			f.admitted[k] = append(f.admitted[k], s)
		}
	}
	return nil
}

// forget drops the arrivals that have ended at a moment.
func (f *follow) forget(class int, at int64) {
	of := &f.admitted[class]
	for len(*of) > 0 && float64((*of)[0].Until)+f.seconds[class] <= float64(at) {
		*of = (*of)[1:]
	}
}

// plannedJobs is a plan of some jobs.
type plannedJobs struct {
	jobs      []capacity.JobRange
	situation int // of those that are answered; -1 is none
	settlement
}

// admit lowers the shares of arrivals to what a plan admits of those that it might refuse. Where there is no plan it admits
// none of them.
func (f *follow) admit(share []float64, of *plannedJobs) []float64 {
	for k, jobs := range of.jobs {
		if free := jobs.Max - jobs.Min; free > 0 {
			admitted := jobs.Min
			if len(of.Classes) > 0 {
				admitted = of.Classes[k].Admitted * float64(f.calendar.horizon.parts[k])
			}
			share[k] *= min(1, max(0, (admitted-jobs.Min)/free))
		}
	}
	return share
}

// plan plans jobs with the supply of a situation, once. With gone, the jobs that were refused before, it is one of the answer.
func (f *follow) plan(ctx context.Context, base int, jobs []capacity.JobRange, gone []float64) (plannedJobs, error) {
	key := binary.LittleEndian.AppendUint64(nil, uint64(base))
	for k := range jobs {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(jobs[k].Min))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(jobs[k].Max))
		if gone != nil {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(gone[k]))
		}
	}
	if known, seen := f.known[string(key)]; seen {
		return known, nil
	}
	of := f.course.calendar.situations[base]
	of.demand = len(f.calendar.jobs)
	f.calendar.jobs = append(f.calendar.jobs, jobs)
	one, err := f.course.plan(ctx, f.calendar.problem(&of, f.course.contracts), gone)
	if err != nil {
		return plannedJobs{}, err
	}
	planned := plannedJobs{jobs, -1, one}
	if gone != nil {
		planned.situation = len(f.settled)
		f.settled, f.calendar.situations = append(f.settled, one), append(f.calendar.situations, of)
	}
	f.known[string(key)] = planned
	return planned, nil
}
