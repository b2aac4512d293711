package sim

import (
	"context"
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/slots/dispatch"
)

// Codes of events: the kind in the upper bits, and the slot, job, user, class or node in the lower. Events of one
// moment come in this order: slots are freed before jobs ask for them.
const (
	taskEnds uint64 = iota << kindShift
	jobReady        // its overhead is over
	userSubmits
	classSubmits
	nodeChanges // its background load
	nodeReports // its heartbeat

	kindShift = 60
	indexMask = 1<<kindShift - 1
)

// engine runs one replication.
type engine struct {
	*model
	policy   dispatch.Policy
	queue    queue
	now      float64
	end      float64  // of the last event, or the horizon
	slots    []place  // those of pool 0 first
	idle     [2][]int // by pool
	pending  [2]int   // tasks that could start, by pool
	classes  []running
	users    []user
	jobs     []*job // by index; free ones are listed in unused
	unused   []int
	open     int64 // jobs of open loads in the system
	events   int64
	finished func(Execution) // called for every execution that ends; may be nil
	stopped  Stopped
	mixed    *mixture // nil if slots are all alike
}

// place is a slot with its task.
type place struct {
	job   *job
	since float64
	next  int // the job's next slot that waits for its last map; -1 ends the list
	kind  dispatch.Kind
}

// job is an execution in progress.
type job struct {
	dispatch.Job
	user        int // -1: no user
	stage       int
	left        [2]int // unfinished tasks of the stage, and unfinished reduces
	released    bool   // its reduces may start
	mapsEnded   bool
	waiting     int // the first slot whose reduce waits for the last map
	firstSlot   float64
	drawn       drawn
	mapDraws    stream
	reduceDraws stream
}

// user is a user of a closed load.
type user struct {
	class int
	draws stream
}

// running is the state of a class.
type running struct {
	measures
	jobs      int64   // in the system
	since     float64 // start of that number
	open      bool
	submitted int64
	arrivals  stream
}

func newEngine(m *model, seed uint64) *engine {
	e := &engine{model: m, policy: m.policy(), classes: make([]running, len(m.classes))}
	number := 0
	for p, n := range m.pools {
		for i := range n {
			if m.fleet == nil {
				e.idle[p] = append(e.idle[p], number+n-1-i) // the last is taken first
			}
		}
		number += n
	}
	e.slots = make([]place, number)
	if m.fleet != nil {
		e.mixed = newMixed(e, seed)
	}
	for i := range m.classes {
		c := &e.classes[i]
		c.arrivals = child(seed, int64(i))
		c.open = m.classes[i].Load.Kind == Poisson
		e.begin(i)
	}
	return e
}

// begin queues the first submissions of a class.
func (e *engine) begin(class int) {
	c, spec := &e.classes[class], &e.model.classes[class]
	switch spec.Load.Kind {
	case Closed:
		for n := range spec.Load.Users {
			u := user{class, child(uint64(c.arrivals), n)}
			first := 0.0
			if spec.Load.SpreadSeconds > 0 {
				first = u.draws.unit() * spec.Load.SpreadSeconds
			}
			e.users = append(e.users, u)
			e.thinkAtLeast(len(e.users)-1, first)
		}
	case Poisson:
		e.nextArrival(class, 0)
	default:
		if len(spec.moments) > 0 {
			e.queue.put(event{spec.moments[0], classSubmits | uint64(class)})
		}
	}
}

func (e *engine) think(number int) { e.thinkAtLeast(number, 0) }

func (e *engine) thinkAtLeast(number int, shortest float64) {
	u := &e.users[number]
	load := &e.model.classes[u.class].Load
	seconds := load.ThinkSeconds
	if load.Think != ThinkConstant {
		seconds = u.draws.exponential(seconds)
	}
	e.queue.put(event{e.now + max(seconds, shortest), userSubmits | uint64(number)})
}

func (e *engine) nextArrival(class int, from float64) {
	spec := &e.model.classes[class]
	if spec.Load.PerHour > 0 {
		e.queue.put(event{from + e.classes[class].arrivals.exponential(3600/spec.Load.PerHour), classSubmits | uint64(class)})
	}
}

// betweenLooks is the number of events between two checks of the context.
const betweenLooks = 1 << 12

// run runs the whole replication. Now and then it calls tell with the events and seconds done.
func (e *engine) run(ctx context.Context, tell func(events int64, now float64)) error {
	look := int64(betweenLooks)
	e.end = e.horizon
	for {
		if e.mixed != nil {
			if over, stuck := e.mixed.over(e); stuck {
				e.stick()
				break
			} else if over {
				e.end = min(e.end, e.now)
				break
			}
		}
		if e.queue.empty() {
			e.end = min(e.end, e.now)
			break
		}
		now := e.queue.at()
		if now > e.horizon {
			break
		}
		if e.events >= e.limits.Events {
			e.stop(StoppedEvents)
			break
		}
		if e.open > e.limits.Jobs {
			e.stop(StoppedJobs)
			break
		}
		e.now = now
		if e.mixed != nil {
			e.mixed.shares.advance(now)
			e.mixed.reads.advance(now)
		}
		for { // all events of this moment, before slots are offered
			code := e.queue.first().code
			e.queue.take()
			e.events++
			e.happen(code)
			if e.queue.empty() || e.queue.at() != now {
				break
			}
		}
		e.assign(0)
		e.assign(1)
		if e.mixed != nil {
			e.mixed.reporting = e.mixed.reporting[:0]
		}
		if e.events >= look {
			look = e.events + betweenLooks
			if capacity.Pause(ctx) != nil {
				return context.Cause(ctx)
			}
			tell(e.events, e.now)
		}
	}
	e.close()
	return nil
}

func (e *engine) stop(why Stopped) {
	e.stopped = why
	e.end = e.now
}

// stick ends a replication in which nothing will happen any more though tasks wait: they wait until the horizon.
func (e *engine) stick() {
	e.stopped = StoppedStuck
	if math.IsInf(e.horizon, 1) {
		e.end = e.now
	}
}

func (e *engine) happen(code uint64) {
	index := int(code & indexMask)
	switch code &^ indexMask {
	case taskEnds:
		e.taskEnded(index)
	case jobReady:
		e.ready(e.jobs[index])
	case userSubmits:
		u := &e.users[index]
		e.submit(u.class, index, u.draws.next())
	case classSubmits:
		c, spec := &e.classes[index], &e.model.classes[index]
		e.submit(index, -1, c.arrivals.next())
		if spec.Load.Kind == Poisson {
			e.nextArrival(index, e.now)
		} else if n := c.submitted; n < int64(len(spec.moments)) {
			e.queue.put(event{spec.moments[n], classSubmits | uint64(index)})
		}
	case nodeChanges:
		e.mixed.change(e, index)
	case nodeReports:
		e.mixed.report(e, index)
	}
}

func (e *engine) submit(class, user int, seed uint64) {
	c, spec := &e.classes[class], &e.model.classes[class]
	c.submitted++
	due := spec.due(e.now, c.submitted, seed)
	if e.mixed != nil {
		if e.admission != "" && !e.mixed.admits(e, class, due) {
			e.refuse(class, user)
			return
		}
		e.mixed.shares.count(class, e.now, +1)
	}
	c.count(e, +1)
	j := e.newJob()
	index := j.Index
	*j = job{user: user, waiting: -1, firstSlot: math.NaN(), mapDraws: stream(seed), reduceDraws: stream(mix(seed))}
	j.Index, j.Class, j.Name, j.Number, j.SubmittedSeconds = index, class, spec.Name, c.submitted, e.now
	j.DeadlineSeconds = due
	j.Wants = dispatch.Wants{Weight: spec.weight(), MinShare: spec.MinShare}
	if e.mixed != nil {
		j.Known = e.mixed.learns[class].Known
	}
	j.Unfinished, j.Maps = spec.tasks, spec.tasks-spec.reduces
	j.left = [2]int{spec.stages[0].tasks, spec.reduces}
	if spec.Profile.OverheadSeconds > 0 {
		e.policy.Note(dispatch.Event{What: dispatch.Arrived, Now: e.now, Job: &j.Job})
		e.queue.put(event{e.now + spec.Profile.OverheadSeconds, jobReady | uint64(index)})
		return
	}
	e.offer(j, dispatch.Map, j.left[dispatch.Map])
	e.release(j)
	e.policy.Note(dispatch.Event{What: dispatch.Arrived, Now: e.now, Job: &j.Job})
}

func (e *engine) newJob() *job {
	if n := len(e.unused); n > 0 {
		i := e.unused[n-1]
		e.unused = e.unused[:n-1]
		return e.jobs[i]
	}
	chunk := make([]job, 64)
	for i := range chunk {
		j := &chunk[i]
		j.Index = len(e.jobs)
		e.jobs = append(e.jobs, j)
		if i > 0 {
			e.unused = append(e.unused, j.Index)
		}
	}
	return &chunk[0]
}

// ready lets a job's first tasks start.
func (e *engine) ready(j *job) {
	e.offer(j, dispatch.Map, j.left[dispatch.Map])
	e.note(dispatch.Ready, j, dispatch.Map, dispatch.Slot{})
	if e.release(j) {
		e.note(dispatch.Ready, j, dispatch.Reduce, dispatch.Slot{})
	}
}

func (e *engine) offer(j *job, k dispatch.Kind, tasks int) {
	j.Pending[k] += tasks
	e.pending[e.layout.Of(k)] += tasks
}

// release lets a job's reduces start once enough of its maps have ended. On shared slots every map must have a slot
// first: reduces that wait for maps could otherwise keep them from starting.
func (e *engine) release(j *job) bool {
	spec := &e.model.classes[j.Class]
	if j.released || spec.reduces == 0 || j.stage < len(spec.stages)-1 {
		return false
	}
	if !j.mapsEnded && spec.stages[j.stage].tasks-j.left[dispatch.Map] < spec.mapsBefore {
		return false
	}
	if e.layout == dispatch.Shared && j.Pending[dispatch.Map] > 0 {
		return false
	}
	j.released = true
	e.offer(j, dispatch.Reduce, spec.reduces)
	return true
}

func (e *engine) note(what dispatch.What, j *job, k dispatch.Kind, s dispatch.Slot) {
	e.policy.Note(dispatch.Event{What: what, Now: e.now, Job: &j.Job, Task: k, Slot: s})
}

// assign offers a pool's idle slots while there are tasks. The slots are all alike, so once one stays idle all do.
func (e *engine) assign(p dispatch.Pool) {
	if e.mixed != nil {
		e.mixed.offer(e, p)
		return
	}
	for e.pending[p] > 0 && len(e.idle[p]) > 0 {
		last := len(e.idle[p]) - 1
		s := dispatch.Slot{Number: e.idle[p][last], Pool: p}
		choice := e.policy.Choose(e.now, s)
		if choice.Job == nil {
			return
		}
		e.idle[p] = e.idle[p][:last]
		e.start(e.jobs[choice.Job.Index], choice.Task, s)
	}
}

func (e *engine) start(j *job, k dispatch.Kind, s dispatch.Slot) {
	j.Pending[k]--
	j.Running[k]++
	e.pending[s.Pool]--
	if math.IsNaN(j.firstSlot) {
		j.firstSlot = e.now
	}
	slot := &e.slots[s.Number]
	*slot = place{job: j, since: e.now, kind: k, next: -1}
	if e.mixed != nil {
		e.mixed.take(e, s.Number, j, k, s.Pool)
	}
	switch {
	case k == dispatch.Map:
		stage := &e.model.classes[j.Class].stages[j.stage]
		seconds := stage.draw(&j.mapDraws, stage.tasks-j.Pending[k]-1)
		j.drawn.maps.add(seconds * e.work(s.Number, seconds, &j.mapDraws))
	case j.mapsEnded:
		seconds := e.model.classes[j.Class].shuffle.draw(&j.reduceDraws, j.drawn.shuffles.count)
		e.reduce(j, s.Number, seconds, &j.drawn.shuffles)
	default:
		slot.next = j.waiting
		j.waiting = s.Number
	}
	e.note(dispatch.Started, j, k, s)
	if k == dispatch.Map && e.layout == dispatch.Shared && j.Pending[dispatch.Map] == 0 && e.release(j) {
		e.note(dispatch.Ready, j, dispatch.Reduce, s)
	}
}

// reduce schedules the end of a reduce, after its shuffle and its own time.
func (e *engine) reduce(j *job, slot int, shuffle float64, shuffles *figure) {
	seconds := e.model.classes[j.Class].reduce.draw(&j.reduceDraws, j.drawn.reduces.count)
	times := e.work(slot, shuffle+seconds, &j.reduceDraws)
	shuffles.add(shuffle * times)
	j.drawn.reduces.add(seconds * times)
}

// work schedules the end of a slot's task after the given work, and returns the factor by which the slot slows it.
func (e *engine) work(slot int, seconds float64, draws *stream) float64 {
	if e.mixed != nil {
		return e.mixed.begin(e, slot, seconds, draws)
	}
	e.queue.put(event{e.now + seconds, taskEnds | uint64(slot)})
	return 1
}

func (e *engine) taskEnded(number int) {
	slot := &e.slots[number]
	j, k := slot.job, slot.kind
	if e.mixed != nil && !e.mixed.ends(number, j, e.now) {
		return
	}
	p := e.layout.Of(k)
	e.account(slot, e.now)
	slot.job = nil
	j.Running[k]--
	j.left[k]--
	j.Unfinished--
	if k == dispatch.Map {
		j.MapsDone++
	}
	ended := dispatch.Event{What: dispatch.Ended, Now: e.now, Job: &j.Job, Task: k, Slot: dispatch.Slot{Number: number, Pool: p}, Seconds: e.now - slot.since}
	if e.mixed != nil {
		n := e.mixed.leave(e, number, j, k, p)
		ended.Slot.Node = &n.Node
		e.mixed.learn(e, j.Class, n, ended)
	} else {
		e.idle[p] = append(e.idle[p], number)
	}
	e.policy.Note(ended)
	if k == dispatch.Map {
		e.mapEnded(j)
	} else if j.left[dispatch.Reduce] == 0 {
		e.finish(j)
	}
}

func (e *engine) mapEnded(j *job) {
	spec := &e.model.classes[j.Class]
	if j.left[dispatch.Map] == 0 {
		if j.stage++; j.stage < len(spec.stages) {
			j.left[dispatch.Map] = spec.stages[j.stage].tasks
			e.offer(j, dispatch.Map, j.left[dispatch.Map])
			e.note(dispatch.Ready, j, dispatch.Map, dispatch.Slot{})
			return
		}
		j.stage--
		j.mapsEnded = true
		if spec.reduces == 0 {
			e.finish(j)
			return
		}
		e.firstWave(j)
	}
	if e.release(j) {
		e.note(dispatch.Ready, j, dispatch.Reduce, dispatch.Slot{})
	}
}

// firstWave continues the reduces that waited for the last map: each ends its first shuffle from now.
func (e *engine) firstWave(j *job) {
	for at := j.waiting; at >= 0; at = e.slots[at].next {
		if since := max(e.slots[at].since, e.warmUp); e.now > since {
			e.classes[j.Class].waited += e.now - since
		}
		seconds := e.model.classes[j.Class].firstShuffle.draw(&j.reduceDraws, j.drawn.firstShuffles.count)
		e.reduce(j, at, seconds, &j.drawn.firstShuffles)
	}
	j.waiting = -1
}

func (e *engine) finish(j *job) {
	c := &e.classes[j.Class]
	if e.mixed != nil {
		e.mixed.shares.count(j.Class, e.now, -1)
	}
	c.count(e, -1)
	c.finish(e, j)
	e.note(dispatch.Left, j, 0, dispatch.Slot{})
	if j.user >= 0 {
		e.think(j.user)
	}
	e.unused = append(e.unused, j.Index)
}
