package timetable

import (
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/schedule"
)

// Followed is a schedule that a cluster's plans follow: what runs in an hour are the executions that it starts. Unless leases tell
// what was started, it counts as followed.
type Followed struct {
	Question Question `json:"question"`
	Answer   Answer   `json:"answer"`
	// From Until on hours were planned alone; zero is never. What arrives from then on starts as it arrives.
	Until time.Time `json:"until,omitzero"`
	Types Types     `json:"types,omitzero"`
}

// Covers reports whether an hour is one of the schedule's.
func (f *Followed) Covers(hour time.Time) bool {
	return f != nil && !hour.Before(f.Question.Start()) && hour.Before(f.Question.End())
}

// waits reports whether executions of a class may wait.
func (f *Followed) waits(class string) bool {
	return slices.ContainsFunc(f.Answer.Classes, func(c Class) bool { return c.Waits && c.Name == class })
}

// starts calls with the rows of executions that may have waited, those first that had begun before the schedule was made.
func (f *Followed) starts(with func(s *Start, begun bool)) {
	if b := f.Question.Before; b != nil {
		for i := range b.Running {
			with(&b.Running[i], !b.stands(&b.Running[i], f.Question.Start()))
		}
	}
	waits := map[string]bool{}
	for _, c := range f.Answer.Classes {
		waits[c.Name] = c.Waits
	}
	for i := range f.Answer.Schedule {
		if s := &f.Answer.Schedule[i]; (waits[s.Class] || s.Arrived.Before(f.Question.Start())) && (f.Until.IsZero() || s.Arrived.Before(f.Until)) {
			with(s, false)
		}
	}
}

// Running returns the executions of classes that wait which run in an hour, by class.
func (f *Followed) Running(hour time.Time) map[string][]Start {
	running, _ := f.running(hour)
	return running
}

// running also returns those of them that had begun before the hour, or before the schedule was made.
func (f *Followed) running(hour time.Time) (all, begun map[string][]Start) {
	all, begun = map[string][]Start{}, map[string][]Start{}
	f.starts(func(s *Start, before bool) {
		if s.Start.After(hour) || s.Lasts(hour, 1) == 0 {
			return
		}
		all[s.Class] = append(all[s.Class], *s)
		if before || s.Start.Before(hour) {
			begun[s.Class] = append(begun[s.Class], *s)
		}
	})
	return all, begun
}

// ClassAhead counts the executions of a class that waits: those that run in the first hour of a schedule, those that have arrived
// before it and start later, and the next ones that start.
type ClassAhead struct {
	Name             string
	Running, Waiting int64
	NextStart        time.Time
	NextJobs         int64 // 0 where none starts
	Leases           bool  // tell what was started
	Asking, Missed   int64 // that asked and wait, and that could not end in time, by leases
}

// Outlook returns what comes of each class that waits.
func (f *Followed) Outlook() (all []ClassAhead) {
	start := f.Question.Start()
	running := f.Running(start)
	for _, c := range f.Answer.Classes {
		if !c.Waits {
			continue
		}
		x := ClassAhead{Name: c.Name}
		if b := f.Question.Before; b != nil {
			for _, r := range b.Leases {
				if r.Class == c.Name {
					x.Leases, x.Asking, x.Missed = true, x.Asking+r.Waiting, x.Missed+r.Missed
				}
			}
		}
		for _, r := range running[c.Name] {
			x.Running += r.Jobs
		}
		for _, s := range f.Answer.Schedule {
			if s.Class != c.Name || !s.Start.After(start) {
				continue
			}
			if s.Arrived.Before(start) {
				x.Waiting += s.Jobs
			}
			switch {
			case x.NextJobs == 0 || s.Start.Before(x.NextStart):
				x.NextStart, x.NextJobs = s.Start, s.Jobs
			case s.Start.Equal(x.NextStart):
				x.NextJobs += s.Jobs
			}
		}
		all = append(all, x)
	}
	return all
}

// Leaves returns what the schedule leaves to one that begins with a later hour, or with the same one. Its starts in that hour stand: VMs
// were asked for ahead of it. Executions of classes that are not there any more are left out, as are those that run on types of VMs which are not
// used any more. Of its first hour a plan admitted some jobs at once, by class; what it refused of the starts of that hour does not
// run. Leases tell what started; classes without any followed it.
func (f *Followed) Leaves(hour time.Time, types Types, classes []capacity.Class, admitted map[string]float64, leases []HourLeases) *Before {
	if f != nil && hour.Before(f.Question.Start()) {
		f = nil
	}
	b := &Before{Counted: make([]float64, len(classes)), Leases: f.leased(hour, classes, leases), atOnce: map[string]time.Time{}}
	ledgers := map[string]*ledger{}
	for k := range classes {
		name := classes[k].Name
		switch {
		case slices.ContainsFunc(b.Leases, func(r HourLeases) bool { return r.Class == name }):
			ledgers[name] = &ledger{class: &classes[k], hour: hour}
		case f == nil || !f.waits(name):
			b.atOnce[name] = time.Time{}
		case !f.Until.IsZero():
			b.atOnce[name] = f.Until
		}
	}
	waiting := map[WaitingJobs]int64{}
	b.VMs = f.thereBefore(hour, types)
	if f != nil {
		b.Settled = hour.After(f.Question.Start()) && f.Covers(hour) && f.Until.IsZero()
		f.leave(b, hour, types, classes, ledgers, waiting, f.refused(admitted))
	}
	for k := range classes {
		if l := ledgers[classes[k].Name]; l != nil {
			l.close(b, waiting)
		}
	}
	b.Waiting = rowsOf(waiting)
	return b
}

// leave adds what the schedule leaves of classes without leases, and enters the others into their ledgers.
func (f *Followed) leave(b *Before, hour time.Time, types Types, classes []capacity.Class, ledgers map[string]*ledger, waiting map[WaitingJobs]int64, refused map[string]int64) {
	class := func(name string) *capacity.Class {
		if k := slices.IndexFunc(classes, func(c capacity.Class) bool { return c.Name == name }); k >= 0 {
			return &classes[k]
		}
		return nil
	}
	for name, l := range ledgers {
		l.since, l.refused, l.settled = f.Question.Start(), refused[name], b.Settled
	}
	same := hour.Equal(f.Question.Start())
	f.starts(func(told *Start, begun bool) {
		row := *told
		s := &row
		f.rename(s, types)
		c, l := class(s.Class), ledgers[s.Class]
		waits := s.Start.After(hour) || s.Start.Equal(hour) && !same
		switch {
		case l != nil:
			l.add(*s, begun)
		case c == nil || !begun && !s.Arrived.Before(hour):
		case waits && !c.MayWait(): // nothing of it waits any more
		case waits && !(b.Settled && s.Start.Equal(hour) && fits(c, s)):
			waiting[WaitingJobs{Class: s.Class, Arrived: s.Arrived.UTC()}] += s.Jobs
		case s.Lasts(hour, 1) > 0 && fits(c, s):
			if s.Start.Equal(f.Question.Start()) {
				n := min(refused[s.Class], row.Jobs)
				row.Jobs -= n
				refused[s.Class] -= n
			}
			if row.Jobs > 0 {
				b.Running = append(b.Running, row)
			}
		}
	})
	for k := range classes {
		b.Counted[k] = f.counted(classes[k].Name, hour)
	}
}

// refused returns the executions that the plan of the first hour did not admit, by class.
func (f *Followed) refused(admitted map[string]float64) map[string]int64 {
	refused := map[string]int64{}
	for class, rows := range f.Running(f.Question.Start()) {
		if n, known := admitted[class]; known {
			refused[class] = max(0, (atOnce(rows)-int64(n))*turnsOf(rows[0].RunSeconds))
		}
	}
	return refused
}

// atOnce returns how many executions of a class run at once that run in an hour.
func atOnce(rows []Start) int64 {
	sum := 0.0
	for _, s := range rows {
		sum += float64(s.Jobs) / float64(turnsOf(s.RunSeconds))
	}
	return int64(capacity.WholeJobs(sum))
}

// fits reports whether the slots of executions that run are still slots of their class.
func fits(c *capacity.Class, s *Start) bool {
	if s.RunSeconds == 0 || s.Type != "" && !c.RunsOn(s.Type) {
		return false
	}
	if c.VMsPerJob != nil {
		return s.MapSlots+s.ReduceSlots == 0
	}
	slots := c.SlotsPerVM.On(s.Type)
	return s.MapSlots+s.ReduceSlots > 0 && (s.MapSlots == 0 || slots.Map > 0) && (s.ReduceSlots == 0 || slots.Reduce > 0)
}

// counted returns which part of an execution counts as arrived before an hour and has not arrived.
func (f *Followed) counted(class string, hour time.Time) float64 {
	k := slices.IndexFunc(f.Question.Problem.Classes, func(c capacity.Class) bool { return c.Name == class })
	if k < 0 {
		return 0
	}
	sum := -f.Question.Before.counted(k)
	for i := range f.Question.Periods {
		p := &f.Question.Periods[i]
		if hours := hour.Sub(p.Start).Hours(); hours > 0 {
			sum += p.Arrivals[k] * min(1, hours/float64(p.Length()/3600))
		}
	}
	return min(1, max(0, max(0, capacity.WholeJobs(sum))-sum))
}

// Lay makes a problem of an hour one of the executions that the schedule runs in it. Those of a class that run for different
// times count with the one time for which they need as many VMs. The plan decides which of them are worth their VMs; as many as
// kept returns for a class, of those that started before, are promised, or nothing without it. They run on their type of VMs.
func (f *Followed) Lay(p *capacity.Problem, hour time.Time, kept func(class string, started float64) float64) {
	running, begun := f.running(hour)
	for k := range p.Classes {
		c := &p.Classes[k]
		if !f.waits(c.Name) {
			beside(c, &p.Supply, running[c.Name], kept)
			continue
		}
		rates, sum, shortest, longest, changed := 0.0, 0.0, math.Inf(1), 0.0, false
		onlyOn(c, &p.Supply, typeOf(running[c.Name]))
		on := c.OnType(typeOf(running[c.Name]))
		demand := perf.PlannedDemand(on, p.Options)
		fixed := demand.FixedSeconds
		for _, s := range running[c.Name] {
			n := float64(s.Jobs) / float64(turnsOf(s.RunSeconds))
			sum += n
			if rest := s.RunSeconds - fixed; endsWithin(s, &demand, rest) {
				rates += n / rest
				shortest, longest = min(shortest, s.RunSeconds), max(longest, s.RunSeconds)
			} else {
				rates, changed = rates+n*rateOf(s, &on, &demand), true
			}
		}
		c.ArrivalsPerHour = 0
		jobs := atOnce(running[c.Name])
		promise(c, float64(jobs), 0, float64(atOnce(begun[c.Name])), kept)
		switch {
		case jobs == 0 || c.VMsPerJob != nil:
		case shortest == longest && !changed:
			c.DeadlineSeconds = longest
		default:
			c.DeadlineSeconds = fixed + sum/rates
		}
	}
}

// promise asks for jobs of a class. So many are promised, and of those that started before as many as kept returns.
func promise(c *capacity.Class, jobs, promised, started float64, kept func(class string, started float64) float64) {
	if c.Jobs.Max = jobs; kept == nil {
		c.Jobs.All, c.Jobs.Min = false, min(promised, jobs)
		return
	}
	c.Jobs = c.Jobs.Of(jobs)
	c.Jobs.Min = min(jobs, max(c.Jobs.Min, promised+kept(c.Name, started)))
}

// LayBeside adds to a problem of an hour that is planned alone what runs in it and arrived while the schedule was followed.
func (f *Followed) LayBeside(p *capacity.Problem, hour time.Time, kept func(class string, started float64) float64) {
	running := f.Running(hour)
	for k := range p.Classes {
		beside(&p.Classes[k], &p.Supply, running[p.Classes[k].Name], kept)
	}
}

// beside adds executions that run to those that are forecast of a class, which stays on their type of VMs until they end.
func beside(c *capacity.Class, s *capacity.Supply, running []Start, kept func(class string, started float64) float64) {
	jobs := float64(atOnce(running))
	if jobs == 0 {
		return
	}
	c.ArrivalsPerHour = 0
	onlyOn(c, s, typeOf(running))
	promise(c, c.Jobs.Max+jobs, c.Jobs.Min, jobs, kept)
}

// startedAtOnce adds executions that run to what the time before leaves: of classes that wait now and started as they arrived
// until then. One that arrived in an hour counts from the next one on, for its longest run.
func (q *Question) startedAtOnce() {
	if q.Before == nil || len(q.Before.atOnce) == 0 || len(q.Earlier) == 0 {
		return
	}
	g := newGrid(q)
	if g.tooMany() {
		return
	}
	for k := range q.Problem.Classes {
		c := &q.Problem.Classes[k]
		since, is := q.Before.atOnce[c.Name]
		one, runs := g.longest(k)
		if !is || !runs || !g.classes[k].waits {
			continue
		}
		sum, whole := 0.0, 0.0
		for i := range q.Earlier {
			p := &q.Earlier[i]
			if p.Start.Before(since) || p.Arrivals[k] == 0 {
				continue
			}
			sum += p.Arrivals[k]
			now := capacity.WholeJobs(sum)
			s := one
			s.Arrived, s.Start, s.Jobs = p.End(), p.End(), int64(now-whole)
			if whole = now; s.Jobs > 0 && s.Lasts(q.Start(), 1) > 0 {
				q.Before.Running = append(q.Before.Running, s)
			}
		}
	}
}

// endsWithin reports whether executions end with their slots within some seconds. They may not where their class has changed since.
func endsWithin(s Start, d *capacity.Demand, seconds float64) bool {
	took := 0.0
	for _, phase := range [][2]float64{{d.MapWorkSeconds, float64(s.MapSlots)}, {d.ReduceWorkSeconds, float64(s.ReduceSlots)}} {
		if phase[0] > 0 {
			took += phase[0] / phase[1]
		}
	}
	return seconds > 0 && took <= seconds*(1+1e-6)
}

// rateOf is one over the seconds in which an execution of a class takes as many VMs as these do, besides its fixed ones.
func rateOf(s Start, c *capacity.Class, d *capacity.Demand) float64 {
	root := 0.0
	for _, phase := range [][2]float64{{d.MapWorkSeconds, float64(c.SlotsPerVM.Map)}, {d.ReduceWorkSeconds, float64(c.SlotsPerVM.Reduce)}} {
		root += math.Sqrt(max(0, phase[0]) / max(1, phase[1]))
	}
	if root == 0 {
		return 1
	}
	return slotVMs(c, schedule.Slots{Map: s.MapSlots, Reduce: s.ReduceSlots}) / (root * root)
}
