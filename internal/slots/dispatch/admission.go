package dispatch

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"example.org/headroom/internal/core/perf"
)

// Commitment is a job with a deadline: one that was admitted, or one that asks to be.
type Commitment struct {
	ID, Name   string
	DueSeconds float64    // from now; an accepted job may be overdue
	Tasks      [Kinds]int // that have not ended well, running ones too
	Running    [Kinds]int
	// Times holds the fitted task times by residual; nil where nothing was measured. Sources names their origin.
	Times   [Kinds]*perf.TaskTime
	Sources [Kinds]TimesSource
}

// sources names the origin of the task times that the job uses.
func (c *Commitment) sources() (s []TaskTimesFrom, assumed bool) {
	s = []TaskTimesFrom{}
	for k, kind := range [Kinds]TaskKind{MapTask, ReduceTask} {
		if from := c.Sources[k]; c.Tasks[k] > 0 && c.Times[k] != nil && from.From != "" {
			s = append(s, TaskTimesFrom{Kind: kind, TimesSource: from})
			assumed = assumed || from.From == TimesOfProfile
		}
	}
	return s, assumed
}

// Constant returns a task time that is the same on every slot.
func Constant(seconds float64) *perf.TaskTime { return &perf.TaskTime{A: seconds} }

// Room holds the slots and the accepted jobs that a new deadline is judged against.
type Room struct {
	Mode     AdmissionMode
	Layout   Layout
	Slots    [Kinds][]Free // by pool
	Accepted []Commitment  // jobs with a deadline, in any order
	Others   []Commitment  // jobs without one: the rule leaves them out, and proofs count the slots that they hold
}

// Free is a group of alike slots, busy ones too. Slots of nodes that leave less than perf.DefaultLeastUsable to tasks
// do not count.
type Free struct {
	Residual float64
	Count    int
}

// Judge reports whether a job may be promised its deadline, and whether it is certain to keep it. The rule adds up the needs of the job and of the accepted jobs
// due no later, and compares the sum with the time left on all usable slots. There n tasks need n·ΣTCT(r)/N² seconds
// of N slots (MIMP paper, eq. 6 and 7, deadlines from now). That is an estimate: it counts work as fluid, and the tasks
// of other jobs beside it, so that a promise may fail.
//
// A strict promise demands the same for every accepted job due later. It also demands that the job alone could finish
// in whole tasks: fewer tasks than slots need longer than eq. 6 says. What is certain is said beside (latestEnds).
func (r *Room) Judge(c Commitment) DeadlineVerdict {
	t := newTimetable(r, c)
	v := t.judge()
	if v.Code() == DeadlineMissed {
		v.Cures = t.cures(v)
	}
	return v
}

// Admits is Judge without reasons.
func (r *Room) Admits(c Commitment) bool {
	t := newTimetable(r, c)
	return t.keeps(t.ask)
}

// timetable holds the accepted jobs by deadline with the needs of each, and the job to judge.
type timetable struct {
	room      *Room
	mode      AdmissionMode
	layout    Layout
	slots     [Kinds][]Free // usable ones, by pool
	count     [Kinds]float64
	candidate accepted
	seconds   [Kinds][]float64 // of the judged job's tasks, by slot of their pool
	slotless  bool             // no slot runs some of its tasks
	unknown   bool             // some of its tasks have no known time
	ask       question
	accepted  []accepted
	uncounted int
	sums      []float64 // cumulative needs of the accepted jobs, with sumsMore additional slots
	sumsMore  int
}

type accepted struct {
	*Commitment
	times [Kinds]times
}

// times holds a task's times, summed over the slots it may use, and its time on a dedicated slot.
type times struct{ sum, dedicated float64 }

// question holds the values of the judged job that cures vary.
type question struct {
	due   float64
	tasks [Kinds]int
	more  int // dedicated slots in each pool beyond the existing ones
}

func newTimetable(r *Room, c Commitment) *timetable {
	t := &timetable{room: r, mode: r.Mode, layout: r.Layout, ask: question{c.DueSeconds, c.Tasks, 0}, sumsMore: -1}
	for p, slots := range r.Slots {
		for _, s := range slots {
			if s.Residual >= perf.DefaultLeastUsable && s.Count > 0 {
				t.slots[p] = append(t.slots[p], s)
				t.count[p] += float64(s.Count)
			}
		}
	}
	known := map[timedOn]times{} // jobs of a class share their times
	t.candidate.Commitment = &c
	t.candidate.times, _ = t.timesOf(&c, known)
	for k := range Kind(Kinds) {
		if p := t.layout.Of(k); c.Tasks[k] > 0 {
			t.slotless = t.slotless || t.count[p] == 0
			t.unknown = t.unknown || t.candidate.times[k].dedicated == 0
			for _, s := range t.slots[p] {
				if t.candidate.times[k].dedicated > 0 {
					t.seconds[k] = append(t.seconds[k], c.Times[k].Seconds(s.Residual))
				}
			}
		}
	}
	for i := range r.Accepted {
		a := &r.Accepted[i]
		of, complete := t.timesOf(a, known)
		if !complete {
			t.uncounted++
		}
		t.accepted = append(t.accepted, accepted{a, of})
	}
	slices.SortFunc(t.accepted, func(a, b accepted) int {
		return cmp.Or(cmp.Compare(a.DueSeconds, b.DueSeconds), cmp.Compare(a.ID, b.ID))
	})
	return t
}

// timedOn is the time of a task in a pool.
type timedOn struct {
	perf.TaskTime
	Pool
}

// timesOf returns the times of a job's tasks. They are complete if all its tasks have times and slots.
func (t *timetable) timesOf(c *Commitment, known map[timedOn]times) (of [Kinds]times, complete bool) {
	complete = true
	for k, tt := range c.Times {
		p := t.layout.Of(Kind(k))
		if c.Tasks[k] > 0 && tt != nil {
			sum, seen := known[timedOn{*tt, p}]
			if !seen {
				for _, s := range t.slots[p] {
					sum.sum += float64(s.Count) * tt.Seconds(s.Residual)
				}
				if sum.dedicated = tt.Seconds(1); !(sum.dedicated > 0 && sum.sum >= 0 && sum.sum < math.Inf(1)) {
					sum = times{}
				}
				known[timedOn{*tt, p}] = sum
			}
			of[k] = sum
		}
		complete = complete && (c.Tasks[k] <= 0 || of[k].dedicated > 0 && t.count[p] > 0)
	}
	return of, complete
}

// needs returns the seconds that tasks need of all slots they may use (eq. 6).
func (t *timetable) needs(tasks [Kinds]int, of [Kinds]times, more int) (seconds float64) {
	for k, n := range tasks {
		if slots := t.count[t.layout.Of(Kind(k))] + float64(more); n > 0 && slots > 0 {
			seconds += float64(n) * (of[k].sum + float64(more)*of[k].dedicated) / (slots * slots)
		}
	}
	return seconds
}

// upTo returns, for each accepted job, the total need of the jobs up to it.
func (t *timetable) upTo(more int) []float64 {
	if t.sumsMore != more {
		t.sums, t.sumsMore = t.sums[:0], more
		total := 0.0
		for _, a := range t.accepted {
			total += t.needs(a.Tasks, a.times, more)
			t.sums = append(t.sums, total)
		}
	}
	return t.sums
}

// dueBy returns the number of accepted jobs due no later than due.
func (t *timetable) dueBy(due float64) int {
	return sort.Search(len(t.accepted), func(i int) bool { return t.accepted[i].DueSeconds > due })
}

// demand returns the total need of the judged job and of the accepted ones due no later.
func (t *timetable) demand(q question) float64 {
	need := t.needs(q.tasks, t.candidate.times, q.more)
	if k := t.dueBy(q.due); k > 0 {
		need += t.upTo(q.more)[k-1]
	}
	return need
}

// keeps reports whether the job can be promised the deadline of q.
func (t *timetable) keeps(q question) bool {
	if t.slotless || t.unknown || !(q.due > 0 && t.demand(q) <= q.due) { // NaN is no promise
		return false
	}
	if t.mode == AdmissionPaper {
		return true
	}
	need, sums := t.needs(q.tasks, t.candidate.times, q.more), t.upTo(q.more)
	for i := t.dueBy(q.due); i < len(t.accepted); i++ {
		if !(sums[i]+need <= t.accepted[i].DueSeconds) {
			return false
		}
	}
	return t.ends(q, Map, q.due) && t.ends(q, Reduce, q.due)
}

// ends reports whether the job's tasks of a kind all end in the given time if the job has every slot.
func (t *timetable) ends(q question, k Kind, within float64) bool {
	left := float64(q.tasks[k])
	if q.more > 0 && left > 0 {
		left -= math.Floor(within/t.candidate.times[k].dedicated) * float64(q.more)
	}
	for i, s := range t.slots[t.layout.Of(k)] {
		if left <= 0 {
			break
		}
		left -= math.Floor(within/t.seconds[k][i]) * float64(s.Count)
	}
	return left <= 0
}

// alone returns the shortest time in which the job's tasks of a kind end if the job has every slot.
func (t *timetable) alone(k Kind) float64 {
	if t.ask.tasks[k] <= 0 {
		return 0
	}
	low, high := 0.0, t.seconds[k][0]*math.Ceil(float64(t.ask.tasks[k])/float64(t.slots[t.layout.Of(k)][0].Count))
	for !t.ends(t.ask, k, high) { // the quotient may be rounded down
		high = math.Nextafter(high, math.Inf(1))
	}
	for {
		middle := low + (high-low)/2
		switch {
		case middle <= low || middle >= high:
			return high
		case t.ends(t.ask, k, middle):
			high = middle
		default:
			low = middle
		}
	}
}

func (t *timetable) judge() DeadlineVerdict {
	from, assumed := t.candidate.sources()
	v := DeadlineVerdict{
		Mode: t.mode, DeadlineSeconds: t.ask.due, Times: from, Assumed: assumed, UsableSlots: int64(t.count[Map] + t.count[Reduce]),
		Accepted: int64(len(t.accepted)), Uncounted: int64(t.uncounted), Missed: []LateJob{},
		Separate: t.layout == Separate,
	}
	t.prove(&v)
	if t.slotless {
		v.UsableSlots = 0
	}
	if t.slotless || t.unknown {
		return v
	}
	v.Kept, v.DemandSeconds, v.AloneSeconds = t.keeps(t.ask), t.demand(t.ask), max(t.alone(Map), t.alone(Reduce))
	total := 0.0
	for k, n := range t.ask.tasks {
		if n > 0 {
			v.TaskSeconds += float64(n) * t.candidate.times[k].sum / t.count[t.layout.Of(Kind(k))]
			total += float64(n)
		}
	}
	v.TaskSeconds /= max(total, 1)
	v.LateSeconds = max(0, v.DemandSeconds-t.ask.due)
	if t.mode == AdmissionStrict {
		v.LateSeconds = max(v.LateSeconds, v.AloneSeconds-t.ask.due)
	}
	need, sums := t.needs(t.ask.tasks, t.candidate.times, 0), t.upTo(0)
	for i := t.dueBy(t.ask.due); i < len(t.accepted); i++ {
		if a := t.accepted[i]; !(sums[i]+need <= a.DueSeconds) {
			v.Missed = append(v.Missed, LateJob{ID: a.ID, Name: a.Name, DueSeconds: a.DueSeconds,
				LateSeconds: sums[i] + need - a.DueSeconds, AnywaySeconds: max(0, sums[i]-a.DueSeconds)})
		}
	}
	return v
}
