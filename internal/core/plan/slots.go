package plan

import (
	"math"

	"example.org/headroom/internal/core/capacity"
)

// shape describes a class's executions for planning: their work, the time for it, and the slots of a VM.
type shape struct {
	work               capacity.Demand // A, B and C of T = A·h/s_M + B·h/s_R + C
	slack              float64         // deadline minus C; positive, or the class cannot be planned
	mapSlots, redSlots float64         // slots of each kind on one VM, c_M and c_R
	hasMap, hasReduce  bool            // the phases that need slots at all
	oneSlotPerJob      bool
	tried              int          // whole slots looked at so far
	latest             wholeSlots   // what whole has answered last
	all                []wholeSlots // the answers for the first counts of jobs, where many solves ask for them; never changed
	recent             []wholeSlots // what it has answered lately, where that is kept for other solves
}

// wholeSlots is the whole slots of so many jobs; of none where it has not been filled in.
type wholeSlots struct{ jobs, mapSlots, redSlots int64 }

// deadlineTolerance is the lateness that a plan's execution may have, relative to the deadline or to the time for the
// work, whichever is shorter. It is far below what any clock shows, and far above float noise. The promise to others
// is 1e-9.
const deadlineTolerance = 0.9e-9

// newShape is false where the deadline leaves no time: C >= D.
func newShape(c *capacity.Class, work capacity.Demand, oneSlotPerJob bool) (shape, bool) {
	return newShapeBy(c, c.DeadlineSeconds, work, oneSlotPerJob)
}

// newShapeBy is newShape with another deadline.
func newShapeBy(c *capacity.Class, deadline float64, work capacity.Demand, oneSlotPerJob bool) (shape, bool) {
	s := shape{
		work: work, slack: deadline - work.FixedSeconds,
		mapSlots: float64(c.SlotsPerVM.Map), redSlots: float64(c.SlotsPerVM.Reduce),
		hasMap: work.MapWorkSeconds > 0, hasReduce: work.ReduceWorkSeconds > 0,
		oneSlotPerJob: oneSlotPerJob,
	}
	if c.Profile != nil { // a phase with tasks needs a slot even where its clamped work is zero
		s.hasMap, s.hasReduce = true, c.Profile.ReduceTasks > 0
	}
	return s, s.slack > noSlack*deadline
}

// noSlack is the error of a sum of decimal seconds, relative to the deadline: a fixed time that is written as long as
// the deadline leaves nothing.
const noSlack = 1e-15

// latestSlack is the time for the work of an execution that is as late as may be. An average or
// optimistic fixed time can be negative, so that the work has more time than the deadline.
func (s *shape) latestSlack() float64 {
	return s.slack + deadlineTolerance*max(0, min(s.slack, s.slack+s.work.FixedSeconds))
}

// perJob is the real numbers of slots one job takes when its deadline is met exactly (paper
// eq. 29-30), raised to one slot of each kind where the options ask for it.
func (s *shape) perJob() (mapSlots, redSlots float64) {
	a, b, f := s.work.MapWorkSeconds, s.work.ReduceWorkSeconds, s.slack
	mapSlots = (a + math.Sqrt(a*b*s.mapSlots/s.redSlots)) / f
	redSlots = (b + math.Sqrt(a*b*s.redSlots/s.mapSlots)) / f
	if !s.oneSlotPerJob {
		return mapSlots, redSlots
	}
	switch {
	case s.hasMap && mapSlots < 1:
		mapSlots = 1
		if s.hasReduce {
			redSlots = max(1, b/(f-a))
		}
	case s.hasReduce && redSlots < 1:
		redSlots = 1
		if s.hasMap {
			mapSlots = max(1, a/(f-b))
		}
	}
	return mapSlots, redSlots
}

// gamma is the VMs one job takes: the conversion ratio of the paper.
func (s *shape) gamma() float64 {
	m, r := s.perJob()
	return s.size(m, r)
}

// size is the VMs that so many slots take: a VM's share is a map slot or a reduce slot (E16).
func (s *shape) size(mapSlots, redSlots float64) float64 {
	size := 0.0
	if mapSlots > 0 {
		size += mapSlots / s.mapSlots
	}
	if redSlots > 0 {
		size += redSlots / s.redSlots
	}
	return size
}

// inTime says that h jobs on so many slots meet the deadline. No division: at the limit the two
// sides are sums and products of the same few numbers.
func (s *shape) inTime(h, mapSlots, redSlots float64) bool {
	a, b, f := s.work.MapWorkSeconds, s.work.ReduceWorkSeconds, s.latestSlack()
	switch {
	case a == 0 && b == 0:
		return true
	case b == 0:
		return a*h <= f*mapSlots
	case a == 0:
		return b*h <= f*redSlots
	}
	return a*h*redSlots+b*h*mapSlots <= f*mapSlots*redSlots
}

// whole is the cheapest whole numbers of slots for h jobs (h >= 1), the fewest map slots where
// several cost the same. The answer is kept, because the same jobs are asked for by the search, by the
// layout and by the plan.
func (s *shape) whole(jobs int64) (mapSlots, redSlots int64) {
	if jobs < int64(len(s.all)) {
		return s.all[jobs].mapSlots, s.all[jobs].redSlots
	}
	answer := &s.latest
	if n := int64(len(s.recent)); n > 0 {
		answer = &s.recent[jobs%n]
	}
	if answer.jobs != jobs {
		mapSlots, redSlots = s.cheapestWhole(jobs)
		*answer = wholeSlots{jobs, mapSlots, redSlots}
	}
	return answer.mapSlots, answer.redSlots
}

// cheapestWhole finds the answer of whole. For so many map slots the reduce slots follow. A number of map slots whose
// cost with real reduce slots already exceeds a known cost cannot do better. That leaves a short window around the real
// optimum.
func (s *shape) cheapestWhole(jobs int64) (mapSlots, redSlots int64) {
	h := float64(jobs)
	leastMap, leastRed := s.least(jobs)
	f := s.latestSlack()
	a, b := s.work.MapWorkSeconds*h/f, s.work.ReduceWorkSeconds*h/f
	if a == 0 || b == 0 {
		return max(leastMap, s.atLeast(a, h, true)), max(leastRed, s.atLeast(b, h, false))
	}
	q := math.Sqrt(a * b / (s.mapSlots * s.redSlots))
	start := max(leastMap, int64(math.Ceil(a+q*s.mapSlots)), int64(math.Floor(a))+1)
	reduceFor := func(m int64) int64 {
		x := b * float64(m) / (float64(m) - a)
		r := max(1, int64(math.Ceil(min(x, 1e15))))
		if s.inTime(h, float64(m), float64(r-1)) {
			r--
		} else if !s.inTime(h, float64(m), float64(r)) {
			r++
		}
		return max(r, leastRed)
	}
	mapSlots, redSlots = start, reduceFor(start)
	cost := s.size(float64(mapSlots), float64(redSlots))
	gap := max(0, cost-(a/s.mapSlots+b/s.redSlots+2*q))
	reach := math.Sqrt(q*gap + gap*gap/4)
	from := max(leastMap, int64(math.Floor(a))+1, int64(math.Floor(a+s.mapSlots*(q+gap/2-reach))))
	to := int64(math.Ceil(a + s.mapSlots*(q+gap/2+reach)))
	s.tried += int(to - from)
	for m := from; m <= to; m++ {
		if !(float64(m) > a) {
			continue
		}
		r := reduceFor(m)
		if c := s.size(float64(m), float64(r)); c < cost-sizeNoise || m < mapSlots && c <= cost+sizeNoise {
			mapSlots, redSlots, cost = m, r, c
		}
		if r == leastRed { // more map slots cannot save any reduce slot
			break
		}
	}
	return mapSlots, redSlots
}

// sizeNoise tells equal sizes apart from different ones: two sums of m/c_M + r/c_R with c up to
// 1000 differ by 1e-6 or not at all.
const sizeNoise = 1e-9

// least is the fewest slots a class with jobs may have.
func (s *shape) least(jobs int64) (mapSlots, redSlots int64) {
	least := int64(1)
	if s.oneSlotPerJob {
		least = jobs
	}
	if s.hasMap {
		mapSlots = least
	}
	if s.hasReduce {
		redSlots = least
	}
	return mapSlots, redSlots
}

// atLeast is the whole slots a phase alone needs for its work.
func (s *shape) atLeast(slots, h float64, isMap bool) int64 {
	n := int64(math.Ceil(slots))
	fits := func(n int64) bool {
		if isMap {
			return s.work.MapWorkSeconds*h <= s.latestSlack()*float64(n)
		}
		return s.work.ReduceWorkSeconds*h <= s.latestSlack()*float64(n)
	}
	if n > 0 && fits(n-1) {
		n--
	}
	return n
}

// leastSlack is the shortest time for the work of jobs on as many slots as there is room for; infinite where there is none
// for the fewest. With so many map slots the others are for reduce tasks. A number of map slots that takes longer with
// real reduce slots cannot do better.
func (s *shape) leastSlack(jobs, room, perVM int64) float64 {
	least, leastRed := s.least(jobs)
	ofMap, ofRed := perVM/max(1, int64(s.mapSlots)), perVM/max(1, int64(s.redSlots))
	a, b := s.work.MapWorkSeconds*float64(jobs), s.work.ReduceWorkSeconds*float64(jobs)
	most := (room - leastRed*ofRed) / ofMap
	if room < leastRed*ofRed || most < least {
		return math.Inf(1)
	}
	time := func(m int64) float64 {
		t := 0.0
		if a > 0 {
			t = a / float64(m)
		}
		if b > 0 {
			t += b / float64((room-m*ofMap)/ofRed)
		}
		return t
	}
	best := math.Inf(1)
	switch {
	case a == 0:
		best = time(least)
	case b == 0:
		best = time(most)
	default:
		from := float64(room) / (float64(ofMap) + math.Sqrt(b/a*float64(ofMap)*float64(ofRed))) // where the time is least
		middle := min(max(int64(from), least), most)
		for _, step := range [2]int64{-1, 1} {
			for m := middle + max(0, step); m >= least && m <= most; m += step {
				if a/float64(m)+b*float64(ofRed)/float64(room-m*ofMap) > best {
					break
				}
				best = min(best, time(m))
			}
		}
	}
	f := s.work.FixedSeconds // see latestSlack
	if slack := best / (1 + deadlineTolerance); f >= 0 {
		return slack
	}
	return min(best, (best-deadlineTolerance*f)/(1+deadlineTolerance))
}
