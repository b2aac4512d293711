package perf

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// This file computes times in a second, independent way: it runs the tasks. Slots are handed out one by one at each
// event, so that the formulas and the schedule share nothing.

// execution is one job on the simulated slots.
type execution struct {
	submit float64
	tasks  []float64 // in the order of their starts

	started, running int
	first, finish    float64 // first slot, last task's end
	starved          bool    // had tasks to start and none running after ramp from its first slot
}

// pending reports whether a job that has arrived has a task to start.
func (x *execution) pending(now float64) bool { return x.submit <= now && x.started < len(x.tasks) }

// done reports whether all its tasks have ended.
func (x *execution) done() bool { return x.started == len(x.tasks) && x.running == 0 }

// policy picks the job that gets a free slot among those with pending tasks, or -1 to leave it idle.
type policy func(jobs []*execution, now float64) int

// run executes all jobs on the slots. finished, if set, may append jobs (a closed system). ramp is the time after its
// first slot from which a job with tasks to start and none running counts as starved.
func run(slots int, jobs []*execution, pick policy, ramp float64, finished func(now float64) []*execution) []*execution {
	type task struct {
		end float64
		job int
	}
	var busy []task
	now := 0.0
	for {
		for len(busy) < slots {
			i := pick(jobs, now)
			if i < 0 {
				break
			}
			x := jobs[i]
			if x.started == 0 {
				x.first = now
			}
			busy = append(busy, task{now + x.tasks[x.started], i})
			x.started++
			x.running++
		}
		next := math.Inf(1)
		for _, b := range busy {
			next = min(next, b.end)
		}
		for _, x := range jobs {
			if x.submit > now {
				next = min(next, x.submit)
			}
		}
		if math.IsInf(next, 1) {
			return jobs
		}
		for _, x := range jobs {
			if x.started > 0 && x.started < len(x.tasks) && x.running == 0 && now < x.first+ramp {
				x.starved = true
			}
		}
		now = next
		kept := busy[:0]
		for _, b := range busy {
			if b.end > now {
				kept = append(kept, b)
				continue
			}
			x := jobs[b.job]
			x.running--
			if x.done() {
				x.finish = now
				if finished != nil {
					jobs = append(jobs, finished(now)...)
				}
			}
		}
		busy = kept
	}
}

// fewestFirst lends idle slots: the job with the fewest running tasks is next, the earlier one on ties.
func fewestFirst(jobs []*execution, now float64) int {
	best := -1
	for i, x := range jobs {
		if x.pending(now) && (best < 0 || x.running < jobs[best].running) {
			best = i
		}
	}
	return best
}

// oldestBelowShare lends idle slots, but a freed one goes to the oldest job that holds less than its share.
func oldestBelowShare(share int) policy {
	return func(jobs []*execution, now float64) int {
		below, any := -1, -1
		for i, x := range jobs {
			if !x.pending(now) {
				continue
			}
			if x.running < share && (below < 0 || x.submit < jobs[below].submit) {
				below = i
			}
			if any < 0 || x.submit < jobs[any].submit {
				any = i
			}
		}
		if below >= 0 {
			return below
		}
		return any
	}
}

// sharesFirst lends idle slots, but a job below its share is served before any other; beyond that the
// jobs take turns at random.
func sharesFirst(shares []int, r *rand.Rand) policy {
	return func(jobs []*execution, now float64) int {
		var below, any []int
		for i, x := range jobs {
			if !x.pending(now) {
				continue
			}
			any = append(any, i)
			if x.running < shares[i] {
				below = append(below, i)
			}
		}
		if len(below) > 0 {
			any = below
		}
		if len(any) == 0 {
			return -1
		}
		return any[r.IntN(len(any))]
	}
}

// partitioned lends nothing: each job has its own slots.
func partitioned(shares ...int) policy {
	return func(jobs []*execution, now float64) int {
		for i, x := range jobs {
			if x.pending(now) && x.running < shares[i%len(shares)] {
				return i
			}
		}
		return -1
	}
}

// trials returns the number of random cases of a test, ten times as many with HEADROOM_LONG=1.
func trials(short, long int) int {
	if os.Getenv("HEADROOM_LONG") == "1" {
		return long
	}
	return short
}

// seeded returns the random source of a test, the same at every run.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 4)) }

// randomTasks draws task lengths that stretch a schedule: alike, spread, one straggler, zero among them.
func randomTasks(r *rand.Rand, n int) []float64 {
	tasks := make([]float64, n)
	shape := r.IntN(4)
	for i := range tasks {
		switch shape {
		case 0:
			tasks[i] = 1 + r.Float64()/10
		case 1:
			tasks[i] = r.Float64() * 10
		case 2:
			tasks[i] = r.ExpFloat64()
		default:
			tasks[i] = float64(r.IntN(4))
		}
	}
	if r.IntN(3) == 0 {
		tasks[r.IntN(n)] *= 20
	}
	if r.IntN(3) == 0 { // the worst order on dedicated slots: the longest last
		longest := 0
		for i := range tasks {
			if tasks[i] > tasks[longest] {
				longest = i
			}
		}
		tasks[longest], tasks[n-1] = tasks[n-1], tasks[longest]
	}
	return tasks
}

// figures returns the mean and longest of these tasks, as in a profile.
func figures(tasks []float64) (mean, longest float64) {
	sum := 0.0
	for _, d := range tasks {
		sum += d
		longest = max(longest, d)
	}
	return sum / float64(len(tasks)), longest
}

// later reports whether a exceeds b by more than rounding.
func later(a, b float64) bool { return a > b+1e-9*(1+math.Abs(b)) }

// dedicated returns the makespan of tasks on slots of their own: a plain list schedule over slot clocks,
// apart from run.
func dedicated(slots int, tasks []float64) float64 {
	clocks := make([]float64, slots)
	end := 0.0
	for _, d := range tasks {
		soonest := 0
		for i := range clocks {
			if clocks[i] < clocks[soonest] {
				soonest = i
			}
		}
		clocks[soonest] += d
		end = max(end, clocks[soonest])
	}
	return end
}

func TestTheTwoSchedulersAgreeOnDedicatedSlots(t *testing.T) {
	r := seeded(1)
	for range trials(500, 5_000) {
		tasks, slots := randomTasks(r, 1+r.IntN(30)), 1+r.IntN(8)
		x := run(slots, []*execution{{tasks: tasks}}, fewestFirst, 0, nil)[0]
		if want := dedicated(slots, tasks); math.Abs(x.finish-want) > 1e-9 {
			t.Fatalf("%v on %d slots: events end at %g, slot clocks at %g", tasks, slots, x.finish, want)
		}
	}
}

// shuffled returns the same tasks in another order.
func shuffled(tasks []float64, r *rand.Rand) []float64 {
	other := make([]float64, len(tasks))
	for i, j := range r.Perm(len(tasks)) {
		other[i] = tasks[j]
	}
	return other
}
