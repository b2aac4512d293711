package sim

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/slots/dispatch"
)

// Execution is one job that has ended.
type Execution struct {
	Class, Number    int // Number counts the class's submissions, from 1
	SubmittedSeconds float64
	FirstSlotSeconds float64
	FinishedSeconds  float64
	// Own is the profile of its own tasks, as a history of it would give. That of a chain has all its tasks as maps.
	Own capacity.Profile
}

// drawn sums up the durations of a job's tasks.
type drawn struct{ maps, firstShuffles, shuffles, reduces figure }

type figure struct {
	count        int
	sum, longest float64
}

func (f *figure) add(seconds float64) {
	f.count++
	f.sum += seconds
	f.longest = max(f.longest, seconds)
}

func (f figure) mean() float64 { return f.sum / max(1, float64(f.count)) }

func (j *job) execution(now, overhead float64) Execution {
	d := &j.drawn
	return Execution{
		Class: j.Class, Number: int(j.Number), SubmittedSeconds: j.SubmittedSeconds, FirstSlotSeconds: j.firstSlot, FinishedSeconds: now,
		Own: capacity.Profile{
			MapTasks: int64(d.maps.count), MapAvgSeconds: d.maps.mean(), MapMaxSeconds: d.maps.longest,
			ReduceTasks:            int64(d.reduces.count),
			FirstShuffleAvgSeconds: d.firstShuffles.mean(), FirstShuffleMaxSeconds: d.firstShuffles.longest,
			ShuffleAvgSeconds: d.shuffles.mean(), ShuffleMaxSeconds: d.shuffles.longest,
			ReduceAvgSeconds: d.reduces.mean(), ReduceMaxSeconds: d.reduces.longest,
			OverheadSeconds: overhead,
		},
	}
}

// measures counts a class in one replication, after the warm-up.
type measures struct {
	ended                 int64 // also before the end of the warm-up
	unfinished            int64 // at the end
	late, unfinishedLate  int64 // missed deadlines of ended and of unfinished jobs
	response, fromFirst   series
	wait                  series
	submission, firstSlot Places
	inSystem              float64    // job seconds
	held                  [2]float64 // slot seconds by kind of task
	waited                float64    // of those, in reduces that wait for the last map
	judged                int64      // ended, with a deadline
	rejected              int64      // by admission
	lastEnd               float64    // end of the last job so far
}

// count updates the number of jobs in the system.
func (c *running) count(e *engine, change int64) {
	c.sum(e, e.now)
	c.jobs += change
	if c.open {
		e.open += change
	}
}

func (c *running) sum(e *engine, now float64) {
	if since := max(c.since, e.warmUp); now > since {
		c.inSystem += float64(float64(c.jobs) * (now - since))
	}
	c.since = now
}

func (c *running) finish(e *engine, j *job) {
	spec := &e.model.classes[j.Class]
	if e.finished != nil {
		e.finished(j.execution(e.now, spec.Profile.OverheadSeconds))
	}
	c.ended++
	c.lastEnd = e.now
	if e.now < e.warmUp {
		return
	}
	response := e.now - j.SubmittedSeconds
	fromFirst := e.now - j.firstSlot
	c.response.add(response)
	c.fromFirst.add(fromFirst)
	c.wait.add(j.firstSlot - j.SubmittedSeconds)
	if due := j.DeadlineSeconds; due > 0 {
		c.judged++
		allowed := spec.DeadlineSeconds
		if spec.Deadlines != nil {
			allowed = due - j.SubmittedSeconds
		}
		if response > allowed*(1+capacity.PremiseSlack) {
			c.late++
		}
	}
	if b := spec.bounds; b != nil {
		c.submission.add(b, response)
		// The bounds include the overhead, which passes before the first slot is requested.
		c.firstSlot.add(b, fromFirst+spec.Profile.OverheadSeconds)
	}
}

func (p *Places) add(b *Bounds, seconds float64) {
	switch {
	case seconds < b.LowerSeconds*(1-capacity.PremiseSlack):
		p.BelowLower++
	case seconds <= b.AverageSeconds*(1+capacity.PremiseSlack):
		p.ToAverage++
	case seconds <= b.UpperSeconds*(1+capacity.PremiseSlack):
		p.ToUpper++
	default:
		p.AboveUpper++
	}
}

// account adds the time that a slot was held, when it is freed or at the end.
func (e *engine) account(s *place, now float64) {
	if since := max(s.since, e.warmUp); now > since {
		e.classes[s.job.Class].held[s.kind] += now - since
	}
}

// close completes the sums at the end.
func (e *engine) close() {
	if e.mixed != nil {
		e.mixed.close(e)
	}
	for i := range e.slots {
		s := &e.slots[i]
		if s.job == nil {
			continue
		}
		e.account(s, e.end)
		if s.kind == dispatch.Reduce && !s.job.mapsEnded {
			if since := max(s.since, e.warmUp); e.end > since {
				e.classes[s.job.Class].waited += e.end - since
			}
		}
	}
	for i := range e.classes {
		c := &e.classes[i]
		c.sum(e, e.end)
		c.unfinished = c.jobs
	}
	if e.end <= e.warmUp {
		return // earlier events are not reported
	}
	free := make(map[int]bool, len(e.unused))
	for _, i := range e.unused {
		free[i] = true
	}
	for _, j := range e.jobs {
		if !free[j.Index] && j.DeadlineSeconds > 0 && j.DeadlineSeconds < e.end {
			e.classes[j.Class].unfinishedLate++
		}
	}
}

// series is a sample for quantiles. It counts numbers in bins a five-hundredth apart, so that its size depends on
// their range and not on their number.
type series struct {
	n               int64
	sum, squares    float64
	lowest, highest float64
	zeros           int64
	first           int // the bin of counts[0]
	counts          []int64
}

const (
	binWidth = 0.002 // of the logarithm: quantiles are right to a thousandth
	smallest = 1e-9  // seconds; smaller values count as 0
)

func (s *series) add(x float64) {
	if s.n == 0 || x < s.lowest {
		s.lowest = x
	}
	s.highest = max(s.highest, x)
	s.n++
	s.sum += x
	s.squares += float64(x * x)
	if x < smallest {
		s.zeros++
		return
	}
	s.bin(int(math.Floor(math.Log(x)/binWidth)), 1)
}

// bin adds to a bin, growing to hold it.
func (s *series) bin(i int, n int64) {
	switch {
	case len(s.counts) == 0:
		s.first, s.counts = i, make([]int64, 1, 64)
	case i < s.first:
		more := s.first - i
		s.counts = append(make([]int64, more, more+len(s.counts)), s.counts...)
		s.first = i
	}
	for i-s.first >= len(s.counts) {
		s.counts = append(s.counts, 0)
	}
	s.counts[i-s.first] += n
}

// merge adds another sample.
func (s *series) merge(other *series) {
	if other.n == 0 {
		return
	}
	if s.n == 0 || other.lowest < s.lowest {
		s.lowest = other.lowest
	}
	s.highest = max(s.highest, other.highest)
	s.n += other.n
	s.sum += other.sum
	s.squares += other.squares
	s.zeros += other.zeros
	for i, n := range other.counts {
		if n > 0 {
			s.bin(other.first+i, n)
		}
	}
}

func (s *series) mean() float64 { return s.sum / float64(s.n) }

// deviation returns the standard deviation of the sample.
func (s *series) deviation() float64 {
	if s.n < 2 {
		return 0
	}
	return math.Sqrt(max(0, s.squares-float64(s.sum*s.mean())) / float64(s.n-1))
}

// quantile returns the smallest number that the given part of the sample does not exceed, to a thousandth.
func (s *series) quantile(part float64) float64 {
	rank := max(1, int64(math.Ceil(part*float64(s.n))))
	if rank <= s.zeros {
		return max(0, s.lowest)
	}
	rank -= s.zeros
	for i, n := range s.counts {
		if rank -= n; rank <= 0 {
			middle := math.Exp((float64(s.first+i) + 0.5) * binWidth)
			return min(max(middle, s.lowest), s.highest)
		}
	}
	return s.highest
}
