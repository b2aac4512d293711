package sim

import (
	"math"
	"slices"
	"testing"

	"headroom/internal/capacity"
)

// This file is the second, independent way to say when jobs end: a clock that goes from moment to moment and looks
// at every job and every running task at each. It shares nothing with the engine, the queue and the policies.

type naiveJob struct {
	class       int
	submitted   float64
	overhead    float64
	stages      [][]float64 // each stage's tasks in the order in which they start; maps are the only one
	first, late []float64   // shuffles of the first wave, and later ones
	reduce      []float64
	before      int // maps that must have ended before reduces start

	stage, started, ended            int // of the stage
	running                          [2]int
	reducesStarted, reducesEnded     int
	waiting                          int
	firstsDrawn, latesDrawn, reduced int
	finished                         float64
}

func (j *naiveJob) mapsPending(now float64) int {
	if now < j.submitted+j.overhead || j.stage == len(j.stages) {
		return 0
	}
	return len(j.stages[j.stage]) - j.started
}

func (j *naiveJob) reducesPending(now float64, shared bool) int {
	mapsDone := j.stage == len(j.stages)
	if now < j.submitted+j.overhead || !mapsDone && (j.ended < j.before || shared && j.mapsPending(now) > 0) {
		return 0
	}
	return len(j.reduce) - j.reducesStarted
}

type naiveTask struct {
	job    *naiveJob
	reduce bool
	end    float64 // NaN while it waits for the last map
}

// naive runs jobs until all have ended. Classes have the same weight.
func naive(jobs []*naiveJob, slots Slots, kind PolicyKind, classes int) {
	shared := slots.Shared > 0
	pools := [2]int{int(slots.Map), int(slots.Reduce)}
	if shared {
		pools = [2]int{int(slots.Shared), 0}
	}
	var tasks []*naiveTask
	pool := func(reduce bool) int {
		if reduce && !shared {
			return 1
		}
		return 0
	}
	for now := 0.0; ; {
		for p := range pools {
			for {
				held, byClass := 0, make([]int, classes)
				for _, t := range tasks {
					if pool(t.reduce) == p {
						held++
						byClass[t.job.class]++
					}
				}
				if held == pools[p] {
					break
				}
				pending := func(j *naiveJob) int {
					maps, reduces := j.mapsPending(now), j.reducesPending(now, shared)
					switch {
					case shared:
						return maps + reduces
					case p == 0:
						return maps
					default:
						return reduces
					}
				}
				inPool := func(j *naiveJob) int {
					if shared {
						return j.running[0] + j.running[1]
					}
					return j.running[p]
				}
				// Within a class fewest tasks first, but in order of submission under capacity and fifo.
				within := func(a, b *naiveJob) bool {
					if kind == Fair && inPool(a) != inPool(b) {
						return inPool(a) < inPool(b)
					}
					return a.submitted < b.submitted // no two alike
				}
				var best *naiveJob
				for class := range classes {
					var next *naiveJob
					for _, j := range jobs {
						if j.class == class && pending(j) > 0 && (next == nil || within(j, next)) {
							next = j
						}
					}
					switch {
					case next == nil:
					case best == nil:
						best = next
					case kind == FIFO || byClass[class] == byClass[best.class]:
						if next.submitted < best.submitted {
							best = next
						}
					case byClass[class] < byClass[best.class]:
						best = next
					}
				}
				if best == nil {
					break
				}
				t := &naiveTask{job: best, reduce: p == 1 || best.mapsPending(now) == 0}
				tasks = append(tasks, t)
				switch {
				case !t.reduce:
					t.end = now + best.stages[best.stage][best.started]
					best.started++
					best.running[0]++
				default:
					best.reducesStarted++
					best.running[1]++
					if best.stage < len(best.stages) {
						t.end = math.NaN()
						best.waiting++
					} else {
						t.end = now + (best.late[best.latesDrawn%len(best.late)] + best.reduce[best.reduced])
						best.latesDrawn++
						best.reduced++
					}
				}
			}
		}
		next := math.Inf(1)
		for _, t := range tasks {
			if t.end > now || t.end == now { // not NaN
				next = min(next, t.end)
			}
		}
		for _, j := range jobs {
			if at := j.submitted + j.overhead; at > now {
				next = min(next, at)
			}
		}
		if math.IsInf(next, 1) {
			return
		}
		now = next
		tasks = slices.DeleteFunc(tasks, func(t *naiveTask) bool {
			if t.end != now {
				return false
			}
			j := t.job
			if t.reduce {
				j.running[1]--
				j.reducesEnded++
			} else {
				j.running[0]--
				j.ended++
			}
			return true
		})
		for _, j := range jobs {
			if j.stage < len(j.stages) && j.ended == len(j.stages[j.stage]) {
				j.stage++
				j.started, j.ended = 0, 0
				if j.stage == len(j.stages) {
					for _, t := range tasks {
						if t.job == j { // waits
							t.end = now + (j.first[j.firstsDrawn%len(j.first)] + j.reduce[j.reduced])
							j.firstsDrawn++
							j.reduced++
						}
					}
				}
			}
			if j.stage == len(j.stages) && j.reducesEnded == len(j.reduce) && j.finished == 0 {
				j.finished = now
			}
		}
	}
}

func TestTheEngineAgreesWithANaiveOne(t *testing.T) {
	s := stream(77)
	whole := func(a, b int) int { return a + int(s.next()%uint64(b-a+1)) }
	seconds := func(n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = float64(whole(1, 40)) / 4 // many events of one moment
		}
		return list
	}
	compared := 0
	for range trials(600) {
		kind := []PolicyKind{Fair, FIFO, Capacity}[s.next()%3]
		slots := Slots{Map: int64(whole(1, 6)), Reduce: int64(whole(1, 5))}
		if s.next()%2 == 0 {
			slots = Slots{Shared: int64(whole(1, 9))}
		}
		after := []float64{0, .3, 1}[s.next()%3]
		in := Input{Slots: slots, Policy: Policy{Kind: kind, ReducesAfter: &after}}
		var jobs []*naiveJob
		for class := range whole(1, 3) {
			c := Class{Name: string(rune('a' + class)), Load: Load{Kind: Trace}, Tasks: Tasks{Kind: Recorded}}
			j := naiveJob{class: class, overhead: float64(whole(0, 2))}
			if s.next()%3 == 0 {
				for range whole(1, 3) {
					j.stages = append(j.stages, seconds(whole(1, 6)))
					c.Profile.Stages = append(c.Profile.Stages, stageOf(j.stages[len(j.stages)-1]))
				}
				c.Tasks.StageSeconds = j.stages
			} else {
				j.stages, j.reduce = [][]float64{seconds(whole(1, 9))}, seconds(whole(0, 6))
				j.first, j.late = seconds(whole(1, 6)), seconds(whole(1, 6))
				m := stageOf(j.stages[0])
				c.Profile = capacity.Profile{MapTasks: m.Tasks, MapAvgSeconds: m.AvgSeconds, MapMaxSeconds: m.MaxSeconds, ReduceTasks: int64(len(j.reduce))}
				c.Tasks.MapSeconds, c.Tasks.ReduceSeconds, c.Tasks.FirstShuffleSeconds, c.Tasks.ShuffleSeconds = j.stages[0], j.reduce, j.first, j.late
				j.before = int(math.Ceil(after*float64(m.Tasks) - 1e-9))
			}
			c.Profile.OverheadSeconds = j.overhead
			at := float64(class) / 1024
			for range whole(1, 4) {
				one := j
				one.submitted = at
				jobs = append(jobs, &one)
				c.Load.AtSeconds = append(c.Load.AtSeconds, at)
				at += float64(whole(1, 60)) / 4
			}
			in.Classes = append(in.Classes, c)
		}
		naive(jobs, slots, kind, len(in.Classes))
		sim, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		got := map[[2]int]float64{}
		sim.Finished = func(_ int, x Execution) { got[[2]int{x.Class, x.Number}] = x.FinishedSeconds }
		if err := sim.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		number := map[int]int{}
		for _, j := range jobs {
			number[j.class]++
			if x := got[[2]int{j.class, number[j.class]}]; math.Abs(x-j.finished) > 1e-9 {
				t.Fatalf("%s on %+v, reduces after %g: job %d of class %d ends at %g s, naively at %g: %+v", kind, slots, after, number[j.class], j.class, x, j.finished, *j)
			}
			compared++
		}
	}
	if compared < 1000 {
		t.Errorf("%d jobs compared; too few to say", compared)
	}
}

func stageOf(tasks []float64) capacity.Stage {
	st := capacity.Stage{Tasks: int64(len(tasks)), MaxSeconds: slices.Max(tasks)}
	for _, x := range tasks {
		st.AvgSeconds += x / float64(len(tasks))
	}
	return st
}
