package sim

import (
	"math"

	"example.org/headroom/internal/slots/dispatch"
)

// mixture is the state of a replication on nodes, beside the slots.
type mixture struct {
	*fleet
	nodes     []nodeAtWork
	tasks     []taskAtWork // by slot
	idle      [dispatch.Kinds]slotSet
	reporting []int // nodes that have reported at this moment; with heartbeats only their slots are offered

	coming   int // changes and heartbeats of nodes in the queue
	stale    int // queued ends of tasks that have moved to another moment
	standing int // tasks on nodes without residual
	quiet    int // moments since anything but nodes was queued
	patience int

	shares progress
	reads  reading
	before []float64                       // scratch space
	free   [dispatch.Kinds][]dispatch.Free // slots by the residual of their nodes
	fresh  bool                            // free is current
	types  []typeUse
	learns []learner // by class
}

// nodeAtWork is a node with the effects of its tasks and of other work.
type nodeAtWork struct {
	dispatch.Node
	*machine
	draws  stream
	steps  int       // changes of its background so far
	slow   []float64 // by class
	demand float64   // cores that its tasks keep busy
	since  float64   // end of the summed load average and use
	given  int64     // tasks since its last heartbeat
}

// taskAtWork is the progress of a slot's task. Its work is in seconds on a dedicated node of speed 1.
type taskAtWork struct {
	due  float64 // NaN while a reduce waits for the last map; infinite while it stands still
	left float64 // work
	from float64 // the moment of that remainder
}

// unbegun is the end of a task without work: never, because NaN equals no number.
var unbegun = math.NaN()

func newMixed(e *engine, seed uint64) *mixture {
	x := &mixture{fleet: e.model.fleet, nodes: make([]nodeAtWork, len(e.fleet.nodes)), tasks: make([]taskAtWork, len(e.slots))}
	x.types = make([]typeUse, len(x.fleet.types))
	for p := range x.idle {
		x.idle[p].words = make([]uint64, (len(e.slots)+63)/64)
	}
	for number, i := range x.slotNodes {
		p := dispatch.Pool(0)
		if number >= e.pools[0] {
			p = 1
		}
		x.idle[p].add(number)
		x.nodes[i].machine = &x.fleet.nodes[i]
	}
	x.shares.classes = make([]classProgress, len(e.classes))
	x.shares.warmUp, x.reads.warmUp, x.reads.cap = e.warmUp, e.warmUp, e.readCap
	x.learns = make([]learner, len(e.classes))
	for i := range e.classes {
		x.learns[i] = x.newLearner(&e.model.classes[i])
		x.shares.classes[i].part = e.model.classes[i].weight() / e.model.weights
	}
	slow := make([]float64, len(x.nodes)*len(e.classes))
	ofKind := make([]int, len(x.kinds))
	for i := range x.nodes {
		n := &x.nodes[i]
		n.machine = &x.fleet.nodes[i]
		n.Node = n.machine.Node
		n.draws = child(mix(seed), int64(i))
		b := x.kinds[n.kind].Background
		x.patience += 100
		if b != nil {
			x.patience += 4 * len(b.Steps)
		}
		var next float64
		n.Residual, next = b.begin(ofKind[n.kind], &n.draws)
		ofKind[n.kind]++
		x.changeComes(e, i, next)
		if x.heartbeat > 0 {
			x.coming++
			e.queue.put(event{x.heartbeat * float64(i) / float64(len(x.nodes)), nodeReports | uint64(i)})
		}
		n.slow = slow[i*len(e.classes) : (i+1)*len(e.classes)]
		for c := range n.slow {
			n.slow[c] = e.model.classes[c].slowness(n.kind, n.Residual)
			x.shares.classes[c].capacity += float64(n.Slots[0]) / n.slow[c]
		}
		n.tell()
	}
	x.patience += 10_000
	for c := range x.shares.classes {
		x.shares.classes[c].peak = x.shares.classes[c].capacity
	}
	for i := range x.nodes {
		e.policy.Note(dispatch.Event{What: dispatch.Joined, Node: &x.nodes[i].Node})
	}
	return x
}

func (x *mixture) changeComes(e *engine, i int, next float64) {
	if !math.IsInf(next, 1) {
		x.coming++
		e.queue.put(event{next, nodeChanges | uint64(i)})
	}
}

// take puts a task on a slot; the task does nothing before it begins.
func (x *mixture) take(e *engine, slot int, j *job, k dispatch.Kind, p dispatch.Pool) {
	n := &x.nodes[x.slotNodes[slot]]
	x.idle[p].remove(slot)
	x.tasks[slot] = taskAtWork{due: unbegun}
	n.average(e.now, e.warmUp, x)
	n.Running[k]++
	n.demand += e.model.classes[j.Class].cores()
	x.hold(e, n, j.Class, p, +1)
}

// leave takes the task off a slot.
func (x *mixture) leave(e *engine, slot int, j *job, k dispatch.Kind, p dispatch.Pool) *nodeAtWork {
	n := &x.nodes[x.slotNodes[slot]]
	x.idle[p].add(slot)
	n.average(e.now, e.warmUp, x)
	n.Running[k]--
	n.demand -= e.model.classes[j.Class].cores()
	if n.Running == [dispatch.Kinds]int{} {
		n.demand = 0 // remove rounding errors
	}
	x.types[x.typeOf[n.kind]].tasks++
	x.hold(e, n, j.Class, p, -1)
	return n
}

// hold counts a held or freed slot in the progress shares and the reads.
func (x *mixture) hold(e *engine, n *nodeAtWork, class int, p dispatch.Pool, change float64) {
	if p == 0 {
		x.shares.hold(class, e.now, change/n.slow[class])
	}
	x.reads.add(change * x.readsBy(e, n, class))
}

// readsBy returns a task's reads from each data node, which shrink as it slows.
func (x *mixture) readsBy(e *engine, n *nodeAtWork, class int) float64 {
	spec := &e.model.classes[class]
	switch {
	case spec.ReadMBPerSecond == 0 || n.Residual == 0:
		return 0
	case spec.TaskTime == nil:
		return spec.ReadMBPerSecond / x.data
	default:
		return spec.ReadMBPerSecond / x.data / spec.TaskTime.Normed(n.Residual)
	}
}

// begin starts a slot's task with the given work. It returns the factor by which the present state slows it.
func (x *mixture) begin(e *engine, slot int, work float64, draws *stream) float64 {
	class, n, t := e.slots[slot].job.Class, &x.nodes[x.slotNodes[slot]], &x.tasks[slot]
	factor := 1.0
	if noise := e.model.classes[class].Tasks.Noise; noise != nil {
		factor = noise.draw(draws, n.Residual)
	}
	t.left, t.from = work*factor, e.now
	x.due(e, slot, n.slow[class])
	if math.IsInf(t.due, 1) {
		return factor // it waits, which is no work
	}
	return factor * n.slow[class]
}

// due schedules the end of a slot's task at the slowness of its node.
func (x *mixture) due(e *engine, slot int, slow float64) {
	t := &x.tasks[slot]
	if math.IsInf(slow, 1) {
		t.due = slow
		x.standing++
		return
	}
	t.due = e.now + float64(t.left*slow)
	e.queue.put(event{t.due, taskEnds | uint64(slot)})
}

// ends reports whether the end of a slot's task has come. If not, that event was stale.
func (x *mixture) ends(slot int, j *job, now float64) bool {
	if j != nil && x.tasks[slot].due == now {
		return true
	}
	x.stale--
	return false
}

// change changes a node's background.
func (x *mixture) change(e *engine, i int) {
	n := &x.nodes[i]
	n.average(e.now, e.warmUp, x)
	residual, next := x.kinds[n.kind].Background.change(n.steps, e.now, &n.draws)
	n.steps++
	x.coming--
	x.changeComes(e, i, next)
	if residual == n.Residual {
		return
	}
	held := func(do func(slot int, s *place, p dispatch.Pool)) {
		for p := range dispatch.Kinds {
			for slot := n.first[p]; slot < n.first[p]+n.Slots[p]; slot++ {
				if s := &e.slots[slot]; s.job != nil {
					do(slot, s, dispatch.Pool(p))
				}
			}
		}
	}
	held(func(_ int, s *place, p dispatch.Pool) { x.hold(e, n, s.job.Class, p, -1) })
	before := append(x.before[:0], n.slow...)
	x.before = before
	n.Residual = residual
	x.fresh = false
	for c := range n.slow {
		n.slow[c] = e.model.classes[c].slowness(n.kind, residual)
		x.shares.grow(c, e.now, float64(n.Slots[0])*(1/n.slow[c]-1/before[c]))
	}
	held(func(slot int, s *place, p dispatch.Pool) {
		x.hold(e, n, s.job.Class, p, +1)
		t := &x.tasks[slot]
		if math.IsNaN(t.due) || n.slow[s.job.Class] == before[s.job.Class] {
			return
		}
		if math.IsInf(t.due, 1) {
			x.standing--
		} else {
			t.left = max(0, t.left-(e.now-t.from)/before[s.job.Class])
			x.stale++
		}
		t.from = e.now
		x.due(e, slot, n.slow[s.job.Class])
	})
	n.tell()
	e.policy.Note(dispatch.Event{What: dispatch.Reported, Now: e.now, Node: &n.Node})
}

// report sends a node's heartbeat.
func (x *mixture) report(e *engine, i int) {
	n := &x.nodes[i]
	n.average(e.now, e.warmUp, x)
	n.tell()
	n.Heartbeats++
	n.given = 0
	x.reporting = append(x.reporting, i)
	e.queue.put(event{e.now + x.heartbeat, nodeReports | uint64(i)})
	e.policy.Note(dispatch.Event{What: dispatch.Reported, Now: e.now, Node: &n.Node})
}

// average updates a node's load average and its type's use, before either changes.
func (n *nodeAtWork) average(now, warmUp float64, x *mixture) {
	const minute = 60
	passed := now - n.since
	if passed <= 0 {
		return
	}
	n.Report.Load1 = n.busy() + float64((n.Report.Load1-n.busy())*math.Exp(-passed/minute))
	if from := max(n.since, warmUp); now > from {
		t := &x.types[x.typeOf[n.kind]]
		t.residual += float64(n.Residual * (now - from))
		for k, running := range n.Running {
			t.held[k] += float64(float64(running) * (now - from))
		}
	}
	n.since = now
}

// busy returns the number of cores wanted by tasks and by other work.
func (n *nodeAtWork) busy() float64 { return n.demand + float64((1-n.Residual)*n.Cores) }

// tell makes the node's report.
func (n *nodeAtWork) tell() { n.Report.CPUPercent = 100 * min(1, n.busy()/n.Cores) }

// offer offers a pool's idle slots in order while there are tasks. Slots of one node are alike, so once one stays
// idle all do.
func (x *mixture) offer(e *engine, p dispatch.Pool) {
	if x.heartbeat == 0 {
		x.offerRange(e, p, 0, len(e.slots))
		return
	}
	for _, i := range x.reporting {
		n := &x.nodes[i]
		x.offerRange(e, p, n.first[p], n.first[p]+n.Slots[p])
	}
}

func (x *mixture) offerRange(e *engine, p dispatch.Pool, from, to int) {
	for e.pending[p] > 0 {
		slot := x.idle[p].next(from)
		if slot < 0 || slot >= to {
			return
		}
		n := &x.nodes[x.slotNodes[slot]]
		from = n.first[p] + n.Slots[p]
		if n.Residual == 0 {
			continue // a task there would not progress
		}
		if x.heartbeat > 0 && e.perHeartbeat > 0 && n.given >= e.perHeartbeat {
			continue
		}
		s := dispatch.Slot{Number: slot, Pool: p, Node: &n.Node}
		if choice := e.policy.Choose(e.now, s); choice.Job != nil {
			e.start(e.jobs[choice.Job.Index], choice.Task, s)
			n.given++
			from = slot + 1
		}
	}
}

// over reports whether only changes of nodes are left to come. stuck means that tasks still wait, after more moments
// than any node's course takes.
func (x *mixture) over(e *engine) (over, stuck bool) {
	if e.queue.len()-x.coming-x.stale > 0 {
		x.quiet = 0
		return false, false
	}
	stuck = e.pending[0]+e.pending[1]+x.standing > 0
	if x.quiet++; stuck && x.coming > 0 && x.quiet <= x.patience {
		return false, false
	}
	return true, stuck
}

// cores returns the number of cores that a task of the class keeps busy.
func (spec *classModel) cores() float64 {
	if spec.CPULoad == 0 {
		return 1
	}
	return spec.CPULoad
}
