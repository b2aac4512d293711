package dispatch

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"headroom/internal/capacity"
	"headroom/internal/perf"
)

// LeastUsable is the least residual of a slot that promises may rest on.
const LeastUsable = 0.05

// Commitment is a job with a deadline: one that was admitted, or one that asks to be.
type Commitment struct {
	ID, Name   string
	DueSeconds float64 // from now; an accepted job may be overdue
	Tasks      int     // that have not ended well, running ones too
	// TaskTime is a task's time by residual; nil where nothing is known. Assumed says that it is the
	// same everywhere because nobody has measured it by load.
	TaskTime *perf.TaskTime
	Assumed  bool
}

// Constant is a task time that is the same on every slot.
func Constant(seconds float64) *perf.TaskTime { return &perf.TaskTime{A: seconds} }

// Room is what a new deadline is judged by.
type Room struct {
	Mode     capacity.AdmissionMode
	Slots    []Free
	Accepted []Commitment // jobs with a deadline, in any order; others take no part
}

// Free is slots that are alike, busy ones too.
type Free struct {
	Residual float64
	Count    int
}

// Judge says whether a job can be promised its deadline: whether it and the accepted jobs due no later
// need no more of all usable slots than there is time until then, where a job needs n·ΣTCT(r)/N² seconds
// of N slots (MIMP, eq. 6 and 7, deadlines from now). That is never less than what the slots take to do
// n tasks, because a mean is not less than a harmonic mean. Strict promises demand the same for every
// accepted job due later, and besides that the job alone could be done in whole tasks: n tasks on more
// than n slots need longer than eq. 6 says.
func (r *Room) Judge(c Commitment) capacity.DeadlineVerdict {
	t := newTimetable(r, c)
	v := t.judge(t.ask)
	if !v.Kept && v.Code() == capacity.DeadlineMissed {
		v.Cures = t.cures(v)
	}
	return v
}

// Admits is Judge without reasons.
func (r *Room) Admits(c Commitment) bool {
	t := newTimetable(r, c)
	return t.keeps(t.ask)
}

// timetable is the accepted jobs by deadline with what each needs, and the job that asks.
type timetable struct {
	mode      capacity.AdmissionMode
	slots     []Free // usable ones
	count     float64
	job       Commitment
	jobTimes  times
	seconds   []float64 // of the job's tasks, by slot
	accepted  []accepted
	uncounted int
	ask       question
	sums      []float64 // what the accepted jobs up to each need, beside sumsMore more dedicated slots
	sumsMore  int
}

type accepted struct {
	*Commitment
	times
}

// times is a job's task times over the usable slots, added up, and that on a dedicated slot.
type times struct{ sum, dedicated float64 }

// question is what is varied of the job that asks.
type question struct {
	due   float64
	tasks int
	more  int // dedicated slots beyond those there are
}

func newTimetable(r *Room, c Commitment) *timetable {
	t := &timetable{mode: r.Mode, job: c, ask: question{c.DueSeconds, c.Tasks, 0}, sumsMore: -1}
	for _, s := range r.Slots {
		if s.Residual >= LeastUsable && s.Count > 0 {
			t.slots = append(t.slots, s)
			t.count += float64(s.Count)
		}
	}
	known := map[perf.TaskTime]times{}    // jobs of a class share their times
	of := func(tt *perf.TaskTime) times { // none where they are unknown, or no times
		if tt == nil {
			return times{}
		}
		sum, seen := known[*tt]
		if !seen {
			for _, s := range t.slots {
				sum.sum += float64(s.Count) * tt.Seconds(s.Residual)
			}
			if sum.dedicated = tt.Seconds(1); !(sum.dedicated > 0 && sum.sum > 0 && sum.sum < math.Inf(1)) {
				sum = times{}
			}
			known[*tt] = sum
		}
		return sum
	}
	t.jobTimes = of(c.TaskTime)
	if t.jobTimes.sum > 0 {
		for _, s := range t.slots {
			t.seconds = append(t.seconds, c.TaskTime.Seconds(s.Residual))
		}
	}
	for i := range r.Accepted {
		a := &r.Accepted[i]
		if of := of(a.TaskTime); of.sum > 0 {
			t.accepted = append(t.accepted, accepted{a, of})
		} else {
			t.uncounted++
		}
	}
	slices.SortFunc(t.accepted, func(a, b accepted) int {
		return cmp.Or(cmp.Compare(a.DueSeconds, b.DueSeconds), cmp.Compare(a.ID, b.ID))
	})
	return t
}

// needs is eq. 6: the seconds that n tasks need of all slots.
func (t *timetable) needs(of times, n, more int) float64 {
	slots := t.count + float64(more)
	return float64(n) * (of.sum + float64(more)*of.dedicated) / (slots * slots)
}

// upTo are what the accepted jobs up to each need together.
func (t *timetable) upTo(more int) []float64 {
	if t.sumsMore != more {
		t.sums, t.sumsMore = t.sums[:0], more
		total := 0.0
		for _, a := range t.accepted {
			total += t.needs(a.times, a.Tasks, more)
			t.sums = append(t.sums, total)
		}
	}
	return t.sums
}

// dueBy is how many accepted jobs are due no later.
func (t *timetable) dueBy(due float64) int {
	return sort.Search(len(t.accepted), func(i int) bool { return t.accepted[i].DueSeconds > due })
}

// demand is what the job and the accepted ones due no later need.
func (t *timetable) demand(q question) float64 {
	need := t.needs(t.jobTimes, q.tasks, q.more)
	if k := t.dueBy(q.due); k > 0 {
		need += t.upTo(q.more)[k-1]
	}
	return need
}

// keeps says whether the job can be promised what is asked.
func (t *timetable) keeps(q question) bool {
	if len(t.seconds) == 0 || !(t.demand(q) <= q.due) { // NaN is no promise
		return false
	}
	if t.mode == capacity.AdmissionPaper {
		return true
	}
	need, sums := t.needs(t.jobTimes, q.tasks, q.more), t.upTo(q.more)
	for i := t.dueBy(q.due); i < len(t.accepted); i++ {
		if !(sums[i]+need <= t.accepted[i].DueSeconds) {
			return false
		}
	}
	return t.ends(q, q.due)
}

// ends says whether so many whole tasks end within a time if the job has every slot.
func (t *timetable) ends(q question, within float64) bool {
	left := float64(q.tasks)
	if q.more > 0 {
		left -= math.Floor(within/t.jobTimes.dedicated) * float64(q.more)
	}
	for i, s := range t.slots {
		if left <= 0 {
			break
		}
		left -= math.Floor(within/t.seconds[i]) * float64(s.Count)
	}
	return left <= 0
}

// alone is the least time in which the job's tasks end if it has every slot.
func (t *timetable) alone(q question) float64 {
	low, high := 0.0, t.seconds[0]*math.Ceil(float64(q.tasks)/float64(t.slots[0].Count))
	for !t.ends(q, high) { // the quotient may be rounded down
		high = math.Nextafter(high, math.Inf(1))
	}
	for {
		middle := low + (high-low)/2
		switch {
		case middle <= low || middle >= high:
			return high
		case t.ends(q, middle):
			high = middle
		default:
			low = middle
		}
	}
}

func (t *timetable) judge(q question) capacity.DeadlineVerdict {
	v := capacity.DeadlineVerdict{
		Mode: t.mode, DeadlineSeconds: q.due, Assumed: t.job.Assumed, UsableSlots: int64(t.count),
		Accepted: int64(len(t.accepted)), Uncounted: int64(t.uncounted), Missed: []capacity.LateJob{},
	}
	if len(t.seconds) == 0 {
		return v
	}
	v.Kept, v.DemandSeconds, v.AloneSeconds, v.TaskSeconds = t.keeps(q), t.demand(q), t.alone(q), t.jobTimes.sum/t.count
	need, sums := t.needs(t.jobTimes, q.tasks, q.more), t.upTo(q.more)
	v.LateSeconds = max(0, v.DemandSeconds-q.due)
	if t.mode == capacity.AdmissionStrict {
		v.LateSeconds = max(v.LateSeconds, v.AloneSeconds-q.due)
	}
	for i := t.dueBy(q.due); i < len(t.accepted); i++ {
		if a := t.accepted[i]; !(sums[i]+need <= a.DueSeconds) {
			v.Missed = append(v.Missed, capacity.LateJob{ID: a.ID, Name: a.Name, DueSeconds: a.DueSeconds,
				LateSeconds: sums[i] + need - a.DueSeconds, AnywaySeconds: max(0, sums[i]-a.DueSeconds)})
		}
	}
	return v
}
