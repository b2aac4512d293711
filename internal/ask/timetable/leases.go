package timetable

import (
	"cmp"
	"math"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
)

// HourLeases tells what leases show of executions of a class in an hour. Started counts those that got one in it, and Running those
// of them that still run. Waiting counts those that asked for one in it first, and have none. Missed counts executions that arrived
// in it and wait no longer, because no run ends before they are due.
type HourLeases struct {
	Class   string    `json:"class"`
	Hour    time.Time `json:"hour"`
	Started int64     `json:"started"`
	Running int64     `json:"running"`
	Waiting int64     `json:"waiting"`
	Missed  int64     `json:"missed"`
}

func readLeases(r *strict.Reader, of *HourLeases) {
	r.Object(leasesShape, func(name string) {
		switch name {
		case "class":
			of.Class, _ = r.Text()
		case "hour":
			r.Moment(&of.Hour)
		case "started":
			r.Whole(&of.Started)
		case "running":
			r.Whole(&of.Running)
		case "waiting":
			r.Whole(&of.Waiting)
		case "missed":
			r.Whole(&of.Missed)
		}
	})
}

// checkLeases refuses leases of no class that waits, and those of another time.
func (b *Before) checkLeases(c *strict.Checker, start time.Time, class func(string) *capacity.Class, hour func(string, time.Time)) {
	strict.Each(c, "leases", b.Leases, func(r *HourLeases) {
		if of := class(r.Class); of != nil && !of.MayWait() {
			c.Refuse("class", "not_taken", "Executions of %q do not wait: the class has no due_s and no due.", fault.Clip(r.Class))
		}
		if hour("hour", r.Hour); !r.Hour.Before(start) {
			c.Refuse("hour", "order", "The hour is not over when the first period begins, at %s.", start.UTC().Format(time.RFC3339))
		}
		for _, n := range []struct {
			member string
			jobs   int64
		}{{"started", r.Started}, {"running", r.Running}, {"waiting", r.Waiting}, {"missed", r.Missed}} {
			c.Whole(n.member, "The number of executions", "", n.jobs, 0, maxExecutions)
		}
	})
}

// LeasesKept is the time for which leases tell what started. Of a class without a lease or an ask in this time, and where the last
// schedule is older, the schedule counts as followed.
const LeasesKept = 24 * time.Hour

// LeasesSince returns from when on leases are to be told for a schedule that begins with an hour.
func (f *Followed) LeasesSince(hour time.Time) time.Time {
	since := hour.Add(-LeasesKept)
	if f != nil && f.Question.Start().After(since) {
		return f.Question.Start()
	}
	return since
}

// leased returns what leases show of classes that may wait, where they tell what came of a schedule until an hour. Of a class of
// which they show nothing new, those that the schedule knew are enough for a day.
func (f *Followed) leased(hour time.Time, classes []capacity.Class, leases []HourLeases) (used []HourLeases) {
	if f != nil && (!f.Until.IsZero() || hour.Sub(f.Question.Start()) > LeasesKept) {
		return nil
	}
	add := func(r HourLeases) {
		if r.Hour.Before(hour) && slices.ContainsFunc(classes, func(c capacity.Class) bool { return c.Name == r.Class && c.MayWait() }) {
			used = append(used, r)
		}
	}
	for _, r := range leases {
		add(r)
	}
	if f == nil || f.Question.Before == nil {
		return used
	}
	for _, r := range slices.Backward(f.Question.Before.Leases) {
		known := slices.ContainsFunc(used, func(x HourLeases) bool { return x.Class == r.Class })
		if !known && hour.Sub(r.Hour) <= LeasesKept {
			add(HourLeases{Class: r.Class, Hour: r.Hour})
		}
	}
	return used
}

// ledger has the executions of a class with leases that a schedule leaves. Some run, and some are to start in the hour of the next one.
// Of those that were due to start since it was made nobody knows yet, and the others waited.
type ledger struct {
	class                       *capacity.Class
	settled                     bool      // what starts in the hour stands
	since, hour                 time.Time // when the schedule began, and the hour of the next one
	refused                     int64     // of those that it started in its first hour, by the plan of that hour
	running, stand, due, waited []Start
}

// add takes a row of a schedule in. Some had begun before it was made.
func (l *ledger) add(s Start, begun bool) {
	known := begun && (s.Start.Before(l.since) || s.Arrived.Equal(s.Start)) // to run: by a lease, or by the schedule before
	if s.Start.Equal(l.since) && !known {
		n := min(l.refused, s.Jobs)
		l.refused -= n
		s.Jobs -= n
	}
	switch {
	case s.Jobs == 0 || !known && !s.Arrived.Before(l.hour):
	case known:
		l.running = append(l.running, s)
	case s.Start.Equal(l.hour) && (l.hour.Equal(l.since) || l.settled && fits(l.class, &s)):
		l.stand = append(l.stand, s)
	case s.Start.Before(l.hour):
		l.due = append(l.due, s)
	default:
		l.waited = append(l.waited, s)
	}
}

// close adds what the ledger leaves. So many executions started as leases show, those first that were to start and arrived first;
// the others wait on. Of those that started the ones run whose leases do.
func (l *ledger) close(b *Before, waiting map[WaitingJobs]int64) {
	started := int64(0)
	for _, r := range b.Leases {
		if r.Class == l.class.Name && !r.Hour.Before(l.since) {
			started += r.Started
		}
	}
	for _, rows := range [][]Start{l.due, l.waited} {
		slices.SortStableFunc(rows, func(a, b Start) int { return cmp.Or(a.Arrived.Compare(b.Arrived), a.Start.Compare(b.Start)) })
		for _, s := range rows {
			n := min(started, s.Jobs)
			if rest := s.Jobs - n; rest > 0 {
				waiting[WaitingJobs{Class: s.Class, Arrived: s.Arrived.UTC()}] += rest
			}
			if started, s.Jobs = started-n, n; n > 0 {
				l.running = append(l.running, s)
			}
		}
	}
	for _, s := range l.stand {
		n := min(started, s.Jobs) // some started earlier
		early := s
		if started, s.Jobs, early.Jobs = started-n, s.Jobs-n, n; n > 0 {
			l.running = append(l.running, early)
		}
		if s.Jobs > 0 && fits(l.class, &s) {
			b.Running = append(b.Running, s)
		}
	}
	l.match(b)
}

// match gives executions whose leases run the slots of those that started, of the same hour first. What ends last still runs.
func (l *ledger) match(b *Before) {
	ends := func(s *Start) time.Time { return s.Start.Add(time.Duration(math.Ceil(s.RunSeconds/3600)) * time.Hour) }
	slices.SortStableFunc(l.running, func(a, b Start) int { return cmp.Or(ends(&b).Compare(ends(&a)), b.Start.Compare(a.Start)) })
	given := make([][]Start, len(b.Leases))
	left := make([]int64, len(b.Leases))
	for i, r := range b.Leases {
		if r.Class == l.class.Name {
			left[i] = r.Running
		}
	}
	for _, same := range []bool{true, false} {
		for i := range slices.Backward(b.Leases) {
			for k := range l.running {
				from := &l.running[k]
				n := min(left[i], from.Jobs)
				if n == 0 || same && !from.Start.Equal(b.Leases[i].Hour) {
					continue
				}
				s := Start{Class: from.Class} // without a run, which QuestionOf gives it
				if fits(l.class, from) {
					s = *from
				}
				s.Jobs = n
				given[i], left[i], from.Jobs = append(given[i], s), left[i]-n, from.Jobs-n
			}
		}
	}
	for i, r := range slices.Backward(b.Leases) {
		if left[i] > 0 {
			given[i] = append(given[i], Start{Class: r.Class, Jobs: left[i]})
		}
		for _, s := range given[i] {
			s.Arrived, s.Start = r.Hour.UTC(), r.Hour.UTC()
			b.Running = append(b.Running, s)
		}
	}
}

// settleLeases makes what the time before leaves agree with what leases show. Executions whose leases run hold their VMs through
// the hour. Those that wait are the ones that ask, and as many more as the schedule before knows of: the first of them arrived with
// the first that asks, or before. Those that cannot end in time any more are missed.
func (q *Question) settleLeases() {
	b := q.Before
	if b == nil || len(b.Leases) == 0 {
		return
	}
	g := newGrid(q)
	if g.tooMany() {
		return
	}
	left := remaining{g, map[int]*dueTimes{}}
	for k := range q.Problem.Classes {
		c := &q.Problem.Classes[k]
		asked := slices.ContainsFunc(b.Leases, func(r HourLeases) bool { return r.Class == c.Name })
		one, runs := g.longest(k)
		switch {
		case !asked:
		case runs && g.classes[k].waits:
			b.giveSlots(one, q.Start())
			shortest := g.hours
			for _, r := range g.runs(k, g.hours) {
				shortest = min(shortest, len(r.load))
			}
			b.settleWaiting(c.Name, q.Start(), func(arrived time.Time) bool { return left.hours(k, arrived) < shortest })
		default:
			b.Leases = slices.DeleteFunc(b.Leases, func(r HourLeases) bool { return r.Class == c.Name })
			b.Running = slices.DeleteFunc(b.Running, func(s Start) bool { return s.Class == c.Name && s.RunSeconds == 0 })
		}
	}
}

// giveSlots gives executions of a class, whose leases run, the longest run where no schedule gave them one. One that should have
// ended counts as started so late that it lasts through the hour.
func (b *Before) giveSlots(longest Start, hour time.Time) {
	for i := range b.Running {
		s := &b.Running[i]
		if s.Class != longest.Class || !s.Arrived.Equal(s.Start) {
			continue
		}
		if s.RunSeconds == 0 {
			s.RunSeconds, s.Type, s.MapSlots, s.ReduceSlots = longest.RunSeconds, longest.Type, longest.MapSlots, longest.ReduceSlots
		}
		if last := hour.Add(time.Hour - time.Duration(math.Ceil(s.RunSeconds/3600))*time.Hour); s.Start.Before(last) {
			s.Arrived, s.Start = last.UTC(), last.UTC()
		}
	}
}

// settleWaiting joins executions of a class that wait with those that ask. Starts that stand in the hour are of some that ask.
func (b *Before) settleWaiting(class string, hour time.Time, late func(arrived time.Time) bool) {
	var known, ask, rest []WaitingJobs
	missed := map[time.Time]int64{}
	for _, w := range b.Waiting {
		switch {
		case w.Class != class:
			rest = append(rest, w)
		case late(w.Arrived):
			missed[w.Arrived.UTC()] += w.Jobs
		default:
			known = append(known, w)
		}
	}
	stand := int64(0)
	for _, s := range b.Running {
		if s.Class == class && s.Start.Equal(hour) && s.Arrived.Before(s.Start) {
			stand += s.Jobs
		}
	}
	for i := range b.Leases {
		r := &b.Leases[i]
		switch {
		case r.Class != class || r.Waiting == 0:
		case late(r.Hour):
			missed[r.Hour.UTC()] = max(missed[r.Hour.UTC()], r.Waiting)
			r.Waiting = 0
		default:
			n := min(stand, r.Waiting)
			if stand -= n; r.Waiting > n {
				ask = append(ask, WaitingJobs{Class: class, Arrived: r.Hour.UTC(), Jobs: r.Waiting - n})
			}
		}
	}
	b.Waiting = append(rest, together(known, ask)...)
	slices.SortStableFunc(b.Waiting, func(x, y WaitingJobs) int { return cmp.Compare(x.Class, y.Class) })
	for at, n := range missed {
		b.Leases = append(b.Leases, HourLeases{Class: class, Hour: at, Missed: n})
	}
	slices.SortStableFunc(b.Leases, func(x, y HourLeases) int { return cmp.Or(cmp.Compare(x.Class, y.Class), x.Hour.Compare(y.Hour)) })
}

// together pairs executions with others, both in the order of their arrivals. Of each pair the earlier arrival counts.
func together(some, others []WaitingJobs) (all []WaitingJobs) {
	add := func(w WaitingJobs, jobs int64) {
		if n := len(all); n > 0 && all[n-1].Arrived.Equal(w.Arrived) {
			all[n-1].Jobs += jobs
			return
		}
		w.Jobs = jobs
		all = append(all, w)
	}
	for len(some) > 0 && len(others) > 0 {
		first, second := &some[0], &others[0]
		if second.Arrived.Before(first.Arrived) {
			first, second = second, first
		}
		n := min(first.Jobs, second.Jobs)
		add(*first, n)
		for _, rows := range []*[]WaitingJobs{&some, &others} {
			if (*rows)[0].Jobs -= n; (*rows)[0].Jobs == 0 {
				*rows = (*rows)[1:]
			}
		}
	}
	for _, w := range append(some, others...) {
		add(w, w.Jobs)
	}
	return all
}
