package dispatch

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"example.org/headroom/internal/core/perf"
)

// latestEnds bounds the ends of jobs in whole tasks from above. It holds where slots go by earliest deadline (EDF), and
// the slots and the times of tasks stay as they are known.
//
// Until the last task of a job starts, every usable slot is busy with tasks of jobs due no later. Others hold a slot
// only if they started while the job had nothing to start: before now, or before its last map ended. All that work
// counts in seconds of dedicated slots. A slot's speed is that for the task it slows most, so that no task is more
// work on any slot than on a dedicated one.
type latestEnds struct {
	*timetable
	speed [Kinds]float64 // by pool: of all usable slots
	alike [Kinds]float64 // by pool: the time of every task on every usable slot where it is the same; else 0
	due   []float64      // of all jobs, in order
	until []burdens      // of the jobs before an index
	from  []burdens      // of the others
}

type burdens [Kinds]burden // by pool

// burden is the work of some jobs on a pool, in seconds of dedicated slots.
type burden struct {
	seconds, tasks          float64 // of the tasks that have not ended
	runningSeconds, running float64 // of those that run
	longest                 float64 // task
}

// latestEnds adds up the jobs of a room by deadline. Jobs without one come last.
func (t *timetable) latestEnds(others []Commitment) *latestEnds {
	known := map[timedOn]times{}
	all := append(slices.Clone(t.accepted), t.candidate)
	for i := range others {
		of, _ := t.timesOf(&others[i], known)
		other := others[i]
		other.DueSeconds = math.Inf(1)
		all = append(all, accepted{&other, of})
	}
	slices.SortStableFunc(all, func(a, b accepted) int { return cmp.Compare(a.DueSeconds, b.DueSeconds) })
	l := &latestEnds{timetable: t, until: make([]burdens, len(all)+1), from: make([]burdens, len(all)+1)}
	used := map[timedOn]bool{}
	for i, a := range all {
		l.due = append(l.due, a.DueSeconds)
		l.until[i+1] = l.until[i]
		l.until[i+1].add(t.layout, a)
		for k, n := range a.Tasks {
			if n > 0 && a.Times[k] != nil {
				used[timedOn{*a.Times[k], t.layout.Of(Kind(k))}] = true
			}
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		l.from[i] = l.from[i+1]
		l.from[i].add(t.layout, all[i])
	}
	for p := range l.speed {
		l.measure(Pool(p), used)
	}
	return l
}

// add adds a job. A task of which nothing is known takes for ever.
func (b *burdens) add(l Layout, a accepted) {
	for k, n := range a.Tasks {
		if n > 0 {
			of, seconds := &b[l.Of(Kind(k))], cmp.Or(a.times[k].dedicated, math.Inf(1))
			of.tasks, of.seconds, of.longest = of.tasks+float64(n), of.seconds+float64(n)*seconds, max(of.longest, seconds)
			if running := float64(min(a.Running[k], n)); running > 0 {
				of.running, of.runningSeconds = of.running+running, of.runningSeconds+running*seconds
			}
		}
	}
}

// measure sets the speed of a pool's usable slots.
func (l *latestEnds) measure(p Pool, used map[timedOn]bool) {
	shortest, longest := math.Inf(1), 0.0
	for _, s := range l.slots[p] {
		speed := math.Inf(1)
		for on := range used {
			if on.Pool == p {
				seconds := on.Seconds(s.Residual)
				speed = min(speed, on.Seconds(1)/seconds)
				shortest, longest = min(shortest, seconds), max(longest, seconds)
			}
		}
		l.speed[p] += float64(s.Count) * speed
	}
	if shortest == longest {
		l.alike[p] = longest
	}
}

// of returns the latest end of a job, or +Inf if nothing bounds it.
func (l *latestEnds) of(a *accepted) (end float64) {
	i := sort.Search(len(l.due), func(i int) bool { return l.due[i] > a.DueSeconds })
	waits := a.Tasks[Map] > 0 && a.Tasks[Reduce] > 0 // its reduces for its maps
	for p := range l.speed {
		before, others := l.until[i][p], l.from[i][p]
		seconds, tasks := before.seconds, before.tasks // of the work before its last tasks
		last := 0.0                                    // seconds of these
		for k, n := range a.Tasks {
			if n > 0 && l.layout.Of(Kind(k)) == Pool(p) {
				seconds, tasks = seconds-a.times[k].dedicated, tasks-1
				last += l.slowest(Pool(p), a.Times[k])
			}
		}
		if tasks == before.tasks {
			continue
		}
		heldSeconds, held := others.runningSeconds, others.running
		if waits && l.layout.Of(Reduce) == Pool(p) && others.tasks > 0 { // by then each slot may have got one more
			heldSeconds = min(heldSeconds+l.count[p]*others.longest, others.seconds)
			held = min(held+l.count[p], others.tasks)
		}
		if same := l.alike[p]; same > 0 && seconds+heldSeconds < math.Inf(1) {
			end += math.Floor((tasks+held)/l.count[p])*same + last
		} else {
			end += (seconds+heldSeconds)/l.speed[p] + last
		}
	}
	return end
}

// slowest returns a task's time on the slot of a pool where it takes longest, or +Inf if nothing is known. Policies use slots that promises do not
// count.
func (l *latestEnds) slowest(p Pool, t *perf.TaskTime) (seconds float64) {
	if t == nil || l.count[p] == 0 {
		return math.Inf(1)
	}
	for _, s := range l.room.Slots[p] {
		if s.Count > 0 {
			seconds = max(seconds, t.Seconds(s.Residual))
		}
	}
	return seconds
}

// prove fills in what is certain of the ends of the job and of the accepted ones.
func (t *timetable) prove(v *DeadlineVerdict) {
	l := t.latestEnds(t.room.Others)
	inTime := func(a *accepted) (end float64, proved bool) {
		end = l.of(a)
		return end, end <= a.DueSeconds
	}
	if v.LatestSeconds, v.Proved = inTime(&t.candidate); !(v.LatestSeconds < math.Inf(1)) {
		v.LatestSeconds = 0
	}
	for i := range t.accepted {
		if _, proved := inTime(&t.accepted[i]); !proved {
			v.Unproved++
		}
	}
}
