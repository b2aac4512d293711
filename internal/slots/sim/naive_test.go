package sim

import (
	"math"
	"slices"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// This file predicts the ends of jobs in a second, independent way: a clock that goes from moment to moment and
// visits every job and running task at each. It shares nothing with the engine, the queue and the policies.

type naiveJob struct {
	class       int
	submitted   float64
	overhead    float64
	stages      [][]float64 // each stage's tasks in the order of their starts; maps are the only one
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
	slot   int
	left   float64 // work from a moment on
	from   float64
	end    float64 // NaN while it waits for the last map
}

// naiveNode is a node: its residual over time, and the factor by which that slows a class's tasks.
type naiveNode struct {
	slots    [2]int
	residual func(now float64) float64
	changes  func(now float64) float64 // the next moment at which that may change
	slow     func(class int, residual float64) float64
}

// naive runs jobs until all have ended. Classes have the same weight.
func naive(jobs []*naiveJob, nodes []naiveNode, shared bool, kind dispatch.PolicyKind, classes int) {
	type slot struct{ node, pool int }
	var slots []slot
	for p := range 2 {
		for i, n := range nodes {
			for range n.slots[p] {
				slots = append(slots, slot{i, p})
			}
		}
	}
	var tasks []*naiveTask
	residual := make([]float64, len(nodes))
	for i, n := range nodes {
		residual[i] = n.residual(0)
	}
	begin := func(t *naiveTask, now, work float64) {
		node := slots[t.slot].node
		t.left, t.from, t.end = work, now, now+work*nodes[node].slow(t.job.class, residual[node])
	}
	choose := func(now float64, p int) *naiveJob {
		byClass := make([]int, classes)
		for _, t := range tasks {
			if slots[t.slot].pool == p {
				byClass[t.job.class]++
			}
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
		// Within a class the fewest tasks first, but in order of submission under capacity and fifo.
		within := func(a, b *naiveJob) bool {
			if kind == dispatch.PolicyFair && inPool(a) != inPool(b) {
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
			case kind == dispatch.PolicyFIFO || byClass[class] == byClass[best.class]:
				if next.submitted < best.submitted {
					best = next
				}
			case byClass[class] < byClass[best.class]:
				best = next
			}
		}
		return best
	}
	for now := 0.0; ; {
		for number, s := range slots {
			if residual[s.node] == 0 || slices.ContainsFunc(tasks, func(t *naiveTask) bool { return t.slot == number }) {
				continue
			}
			best := choose(now, s.pool)
			if best == nil {
				continue
			}
			t := &naiveTask{job: best, reduce: s.pool == 1 || best.mapsPending(now) == 0, slot: number}
			tasks = append(tasks, t)
			switch {
			case !t.reduce:
				begin(t, now, best.stages[best.stage][best.started])
				best.started++
				best.running[0]++
			default:
				best.reducesStarted++
				best.running[1]++
				if best.stage < len(best.stages) {
					t.end = math.NaN()
					best.waiting++
				} else {
					begin(t, now, best.late[best.latesDrawn%len(best.late)]+best.reduce[best.reduced])
					best.latesDrawn++
					best.reduced++
				}
			}
		}
		next := math.Inf(1)
		for _, t := range tasks {
			if t.end >= now { // not NaN
				next = min(next, t.end)
			}
		}
		for _, j := range jobs {
			if at := j.submitted + j.overhead; at > now {
				next = min(next, at)
			}
		}
		if !slices.ContainsFunc(jobs, func(j *naiveJob) bool { return j.finished == 0 }) {
			return
		}
		for _, n := range nodes {
			next = min(next, n.changes(now))
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
					// The last to begin waiting go on first, like a stack.
					for _, t := range slices.Backward(tasks) {
						if t.job == j { // waits
							begin(t, now, j.first[j.firstsDrawn%len(j.first)]+j.reduce[j.reduced])
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
		for i, n := range nodes {
			is := n.residual(now)
			for _, t := range tasks {
				was, slow := n.slow(t.job.class, residual[i]), n.slow(t.job.class, is)
				if slots[t.slot].node != i || math.IsNaN(t.end) || was == slow {
					continue
				}
				t.left -= (now - t.from) / was
				t.from = now
				t.end = now + t.left*slow
			}
			residual[i] = is
		}
	}
}

// alike returns slots on one dedicated node.
func alike(s Slots) []naiveNode {
	slots := [2]int{int(s.Map), int(s.Reduce)}
	if s.Shared > 0 {
		slots = [2]int{int(s.Shared), 0}
	}
	return []naiveNode{{slots: slots, residual: func(float64) float64 { return 1 },
		changes: func(float64) float64 { return math.Inf(1) }, slow: func(int, float64) float64 { return 1 }}}
}

// drawNodes draws nodes of some types with constant or stepped backgrounds, and the same for the naive simulation.
// Classes get rates, and some a task time, whose seconds are then those of their maps.
func drawNodes(s *stream, in *Input, shared bool) (nodes []naiveNode) {
	whole := func(a, b int) int { return a + int(s.next()%uint64(b-a+1)) }
	residuals := []float64{0, .125, .25, .5, .75, 1}
	for kind := range whole(1, 4) {
		n := NodeType{Type: string(rune('p' + kind)), Count: int64(whole(1, 3)), Speed: []float64{.5, 1, 1.5, 4}[s.next()%4]}
		n.Slots = Slots{Map: int64(whole(1, 3)), Reduce: int64(whole(1, 2))}
		if shared {
			n.Slots = Slots{Shared: int64(whole(1, 3))}
		}
		at := func(int, float64) float64 { return 1 }
		changes := func(float64) float64 { return math.Inf(1) }
		switch s.next() % 3 {
		case 0:
			b := &Background{Kind: ConstantBackground, Residual: []float64{residuals[whole(1, 5)]}}
			for range whole(0, 2) {
				b.Residual = append(b.Residual, residuals[whole(1, 5)])
			}
			n.Background = b
			at = func(i int, _ float64) float64 { return b.Residual[i%len(b.Residual)] }
		case 1:
			b := &Background{Kind: SteppedBackground}
			moment := float64(whole(0, 8)) / 4
			for range whole(1, 4) {
				b.Steps = append(b.Steps, Step{moment, residuals[whole(0, 5)]})
				moment += float64(whole(1, 60)) / 4
			}
			b.Steps = append(b.Steps, Step{moment, residuals[whole(1, 5)]})
			if s.next()%2 == 0 {
				b.RepeatSeconds = moment + float64(whole(1, 40))/4
			}
			n.Background = b
			at = func(_ int, now float64) float64 {
				if now < b.Steps[0].AtSeconds {
					return 1
				}
				if b.RepeatSeconds > 0 {
					now = math.Mod(now, b.RepeatSeconds)
				}
				is := b.Steps[len(b.Steps)-1].Residual // of the time before
				for _, step := range b.Steps {
					if step.AtSeconds <= now {
						is = step.Residual
					}
				}
				return is
			}
			changes = func(now float64) float64 {
				next := math.Inf(1)
				for _, step := range b.Steps {
					when := step.AtSeconds
					for b.RepeatSeconds > 0 && when <= now {
						when += b.RepeatSeconds
					}
					if when > now {
						next = min(next, when)
					}
				}
				return next
			}
		}
		in.Nodes = append(in.Nodes, n)
		for i := range int(n.Count) {
			nodes = append(nodes, naiveNode{slots: n.pools(), residual: func(now float64) float64 { return at(i, now) }, changes: changes,
				slow: func(class int, residual float64) float64 {
					c := &in.Classes[class]
					speed := n.Speed
					if own := c.Rates[n.Type]; own > 0 {
						speed = own
					}
					if residual == 0 {
						return math.Inf(1)
					}
					slow := 1 / speed
					if t := c.TaskTime; t != nil {
						r := max(residual, t.MinResidual)
						slow *= (t.A*math.Exp(t.B*r) + t.C*math.Exp(t.D*r)) / (t.A*math.Exp(t.B) + t.C*math.Exp(t.D))
					}
					return slow
				}})
		}
	}
	for i := range in.Classes {
		c := &in.Classes[i]
		if s.next()%2 == 0 {
			c.Rates = map[string]float64{"p": 3}
		}
		if s.next()%2 == 0 && (len(c.Tasks.MapSeconds) == 0 || whole(0, 1) == 0) {
			c.TaskTime = &perf.TaskTime{A: 6, B: -2, C: float64(whole(0, 40)), D: -8, MinResidual: .2}
			if len(c.Tasks.MapSeconds) > 0 { // all maps alike
				maps := make([]float64, len(c.Tasks.MapSeconds))
				for k := range maps {
					maps[k] = c.TaskTime.Seconds(1)
				}
				c.Tasks.MapSeconds = nil
				c.Profile.MapAvgSeconds, c.Profile.MapMaxSeconds = maps[0], maps[0]
			}
		}
	}
	return nodes
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
		kind := []dispatch.PolicyKind{dispatch.PolicyFair, dispatch.PolicyFIFO, dispatch.PolicyCapacity}[s.next()%3]
		slots := Slots{Map: int64(whole(1, 6)), Reduce: int64(whole(1, 5))}
		if s.next()%2 == 0 {
			slots = Slots{Shared: int64(whole(1, 9))}
		}
		after := []float64{0, .3, 1}[s.next()%3]
		onNodes := s.next()%2 == 0
		in := Input{Slots: slots, Policy: Policy{PolicyConfig: dispatch.PolicyConfig{Kind: kind}, ReducesAfter: &after}}
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
		nodes := alike(slots)
		if onNodes {
			nodes = drawNodes(&s, &in, slots.Shared > 0)
			in.Slots = Slots{}
			for _, j := range jobs {
				if c := in.Classes[j.class]; c.TaskTime != nil && c.Profile.Stages == nil {
					j.stages = [][]float64{make([]float64, c.Profile.MapTasks)}
					for i := range j.stages[0] {
						j.stages[0][i] = c.TaskTime.Seconds(1)
					}
				}
			}
		}
		naive(jobs, nodes, slots.Shared > 0, kind, len(in.Classes))
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
				t.Fatalf("%s on %+v%+v, reduces after %g: job %d of class %d ends at %g s, naively at %g: %+v", kind, slots, in.Nodes, after, number[j.class], j.class, x, j.finished, *j)
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
