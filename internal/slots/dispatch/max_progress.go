package dispatch

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/perf"
)

// maxProgress serves jobs whose deadline is at risk first. It gives other slots to the job that suffers least from
// the other work on the slot's node (MIMP paper, section 4). Its sums follow the events, so that a decision visits
// each job once.
type maxProgress struct {
	layout      Layout
	paper       bool
	factor      float64 // sigma
	whole       bool
	minResidual float64
	cap         float64 // +Inf: none
	demote      bool

	slots  int // of all nodes
	places map[*Node]*workplace
	curves map[perf.TaskTime]*curve
	listed []*curve
	jobs   []*progressing
	byJob  map[*Job]*progressing
	load   exactSum // MB/s that running tasks read from each data node

	last decided
}

// workplace is a node with its running tasks. Slots without a node count as slots of a dedicated one.
type workplace struct {
	residual float64
	slots    int
	tasks    []together
}

// together is the tasks of one job on one node.
type together struct {
	job     *progressing
	count   int
	perTask float64 // tasks a second of each
	reads   float64 // MB/s of each
}

// curve is a fit of task times with its mean over the cluster's slots.
type curve struct {
	perf.TaskTime
	dedicated float64  // seconds
	normed    exactSum // over the slots of the cluster
	jobs      int
	place     int // index in the list

	residual      float64 // of the last slot
	seconds, norm float64 // there
}

// progressing is a job as the policy knows it.
type progressing struct {
	job    *Job
	at     int // among the jobs
	time   *perf.TaskTime
	fit    perf.TaskTime // the value of time when it was read
	curve  *curve        // nil without a usable fit
	reads  float64
	places []*workplace // nodes of its running tasks
	speed  exactSum     // sum of the tasks a second of its running tasks
}

// decided describes the last choice.
type decided struct {
	Choice
	rule     string
	residual float64
	job      *progressing
	passed   *progressing // at risk sooner, but a task here would end too late for it
	tie      Tie
	figures  [3]float64
}

// maxNormed is the largest factor by which a task may be slower than on a dedicated node.
const maxNormed = 1 << 22

// MaxProgress serves by deadlines at risk and then by progress (section 3.3 of our specification).
func MaxProgress(l Layout, p PolicyConfig) Policy {
	p = p.Filled()
	m := &maxProgress{layout: l, paper: p.Mode == ProgressPaper, factor: *p.TimeFactor, whole: *p.WholeTasks, minResidual: *p.MinResidual,
		cap: math.Inf(1), demote: p.Late == LateDemote,
		places: map[*Node]*workplace{nil: {residual: 1}}, curves: map[perf.TaskTime]*curve{}, byJob: map[*Job]*progressing{}}
	if p.IOCap != nil {
		m.cap = *p.IOCap
	}
	return m
}

func (m *maxProgress) Note(e Event) {
	switch e.What {
	case Joined, Reported:
		m.report(e.Node)
	case Gone:
		if w := m.places[e.Node]; w != nil {
			for len(w.tasks) > 0 { // they should have ended before
				m.end(w.tasks[0].job, w)
			}
			m.resize(w, w.residual, 0)
			delete(m.places, e.Node)
		}
	case Arrived:
		j := &progressing{job: e.Job, at: len(m.jobs)}
		m.jobs = append(m.jobs, j)
		m.byJob[e.Job] = j
		m.read(j)
	case Started:
		if j := m.byJob[e.Job]; j != nil {
			m.current(j)
			m.start(j, m.place(e.Slot.Node))
		}
	case Ended:
		if j, w := m.byJob[e.Job], m.places[e.Slot.Node]; j != nil && w != nil {
			m.end(j, w)
		}
	case Left:
		if j := m.byJob[e.Job]; j != nil {
			m.drop(j)
		}
	}
}

// residual returns the part of a node that is left for tasks.
func (n *Node) residual() float64 {
	switch {
	case n == nil:
		return 1
	case n.Residual > 0:
		return min(n.Residual, 1)
	default: // NaN too
		return 0
	}
}

// place returns a node's workplace. A node that was never noted has no slots.
func (m *maxProgress) place(n *Node) *workplace {
	w := m.places[n]
	if w == nil {
		w = &workplace{residual: n.residual()}
		m.places[n] = w
	}
	return w
}

// report updates a node's slots and residual.
func (m *maxProgress) report(n *Node) {
	w, r := m.place(n), n.residual()
	m.resize(w, r, max(0, n.Slots[0])+max(0, n.Slots[1]))
	if r == w.residual {
		return
	}
	w.residual = r
	for i := range w.tasks {
		m.recompute(w, &w.tasks[i])
	}
}

// resize updates every fit's sum for a node's new slots or residual.
func (m *maxProgress) resize(w *workplace, residual float64, slots int) {
	if residual == w.residual && slots == w.slots {
		return
	}
	for _, c := range m.listed {
		before, after := c.normedAt(w.residual), c.normedAt(residual)
		for range w.slots {
			c.normed.remove(before)
		}
		for range slots {
			c.normed.add(after)
		}
	}
	m.slots += slots - w.slots
	w.slots = slots
}

// recompute updates the speed and the reads of a job's tasks on a node.
func (m *maxProgress) recompute(w *workplace, t *together) {
	for range t.count {
		t.job.speed.remove(t.perTask)
		m.load.remove(t.reads)
	}
	t.perTask, t.reads = t.job.perTask(w.residual), t.job.readsAt(w.residual)
	for range t.count {
		t.job.speed.add(t.perTask)
		m.load.add(t.reads)
	}
}

func (m *maxProgress) start(j *progressing, w *workplace) {
	i := slices.IndexFunc(w.tasks, func(t together) bool { return t.job == j })
	if i < 0 {
		i = len(w.tasks)
		w.tasks = append(w.tasks, together{job: j, perTask: j.perTask(w.residual), reads: j.readsAt(w.residual)})
		j.places = append(j.places, w)
	}
	t := &w.tasks[i]
	t.count++
	j.speed.add(t.perTask)
	m.load.add(t.reads)
}

func (m *maxProgress) end(j *progressing, w *workplace) {
	i := slices.IndexFunc(w.tasks, func(t together) bool { return t.job == j })
	if i < 0 {
		return
	}
	t := &w.tasks[i]
	j.speed.remove(t.perTask)
	m.load.remove(t.reads)
	if t.count--; t.count == 0 {
		w.tasks = slices.Delete(w.tasks, i, i+1)
		at := slices.Index(j.places, w)
		j.places = slices.Delete(j.places, at, at+1)
	}
}

// drop forgets a job and its tasks that never ended.
func (m *maxProgress) drop(j *progressing) {
	for len(j.places) > 0 {
		m.end(j, j.places[0])
	}
	m.follow(j, nil)
	last := m.jobs[len(m.jobs)-1]
	m.jobs[j.at], last.at = last, j.at
	m.jobs[len(m.jobs)-1] = nil
	m.jobs = m.jobs[:len(m.jobs)-1]
	delete(m.byJob, j.job)
}

// current reads a job's measurements again if they have changed.
func (m *maxProgress) current(j *progressing) {
	if t := j.job.TaskTime; t == j.time && (t == nil || *t == j.fit) && j.job.ReadMBPerSecond == j.reads {
		return
	}
	m.read(j)
	for _, w := range j.places {
		for i := range w.tasks {
			if w.tasks[i].job == j {
				m.recompute(w, &w.tasks[i])
			}
		}
	}
}

func (m *maxProgress) read(j *progressing) {
	j.time, j.reads = j.job.TaskTime, j.job.ReadMBPerSecond
	var to *curve
	if j.time != nil {
		j.fit = *j.time
		to = m.curve(j.fit)
	}
	m.follow(j, to)
}

// curve returns the curve of a fit, or nil if its times make no sense.
func (m *maxProgress) curve(fit perf.TaskTime) *curve {
	if c := m.curves[fit]; c != nil {
		return c
	}
	c := &curve{TaskTime: fit, dedicated: fit.Seconds(1), residual: math.NaN(), place: len(m.listed)}
	for _, r := range [...]float64{0, 1} {
		if x := fit.Seconds(r); !(x > 0) || math.IsInf(x, 1) {
			return nil
		}
	}
	for _, w := range m.places {
		norm := c.normedAt(w.residual)
		for range w.slots {
			c.normed.add(norm)
		}
	}
	m.curves[fit] = c
	m.listed = append(m.listed, c)
	return c
}

// follow gives a job a fit, and forgets a fit that no job uses any more.
func (m *maxProgress) follow(j *progressing, to *curve) {
	if to != nil {
		to.jobs++
	}
	if c := j.curve; c != nil {
		if c.jobs--; c.jobs == 0 {
			last := m.listed[len(m.listed)-1]
			m.listed[c.place], last.place = last, c.place
			m.listed = m.listed[:len(m.listed)-1]
			delete(m.curves, c.TaskTime)
		}
	}
	j.curve = to
}

// normedAt returns a task's time as a multiple of that on a dedicated node.
func (c *curve) normedAt(r float64) float64 {
	if x := c.Seconds(r) / c.dedicated; x > 0 {
		return min(x, maxNormed)
	}
	return maxNormed
}

// on returns a task's time on a slot, and its multiple; both are kept for the next job of the same fit.
func (c *curve) on(r float64) (seconds, norm float64) {
	if r != c.residual {
		c.residual, c.norm = r, c.normedAt(r)
		c.seconds = c.norm * c.dedicated
	}
	return c.seconds, c.norm
}

func (j *progressing) perTask(r float64) float64 {
	if j.curve == nil || r <= 0 {
		return 0
	}
	return 1 / (j.curve.normedAt(r) * j.curve.dedicated)
}

func (j *progressing) readsAt(r float64) float64 {
	if j.curve == nil {
		return j.reads
	}
	return j.reads / j.curve.normedAt(r)
}

// completable returns the number of tasks that a job's running slots complete until its deadline (eq. 3).
func (m *maxProgress) completable(j *progressing, now float64) float64 {
	left := (j.job.DeadlineSeconds - now) / m.factor
	if !(left > 0) {
		return 0
	}
	if !m.whole {
		return left * j.speed.value()
	}
	tasks := 0.0
	for _, w := range j.places {
		for i := range w.tasks {
			if t := &w.tasks[i]; t.job == j {
				tasks += float64(t.count) * math.Floor(left*t.perTask*(1+tolerance))
			}
		}
	}
	return tasks
}

// deadline returns a job's deadline, infinite without one. A late job that is demoted has none any more.
func (m *maxProgress) deadline(j *Job, now float64) float64 {
	if j.DeadlineSeconds == 0 || math.IsNaN(j.DeadlineSeconds) || m.demote && j.DeadlineSeconds <= now {
		return math.Inf(1)
	}
	return j.DeadlineSeconds
}

// rank compares jobs for a slot where no deadline is at risk.
type rank struct{ key, average, deadline float64 }

// ranked is a job with its rank.
type ranked struct {
	rank
	*progressing
}

func (a ranked) compare(b ranked) int { return cmp.Compare(a.key, b.key) }

// tie returns what puts a before b, which has the same key.
func (a ranked) tie(b ranked) Tie {
	switch {
	case a.average != b.average: // the job that suffers most elsewhere
		return TieSlowdown
	case a.deadline != b.deadline:
		return TieDeadline
	default:
		return tieBetween(a.job, b.job)
	}
}

func (a ranked) before(b ranked) bool {
	switch a.tie(b) {
	case TieSlowdown:
		return a.average > b.average
	case TieDeadline:
		return a.deadline < b.deadline
	default:
		return a.job.before(b.job)
	}
}

// billionth rounds, so that numbers equal but for rounding errors tie.
func billionth(x float64) float64 { return math.Round(x * 1e9) }

func (m *maxProgress) Choose(now float64, s Slot) Choice {
	r := s.Node.residual()
	m.last = decided{rule: "idle", residual: r}
	if r < m.minResidual {
		m.last.rule = "residual"
		return Choice{}
	}
	for _, j := range m.jobs {
		m.current(j)
	}
	var risk, fitting first[*progressing]
	var best first[ranked]
	calm, ready := false, false // calm: some job is not at risk; ready: some job has a task
	load, minReads := m.load.value(), math.Inf(1)
	for _, j := range m.jobs {
		if j.job.pending(m.layout, s.Pool) == 0 {
			continue
		}
		ready = true
		seconds, norm, average, reads := 0.0, 1.0, 1.0, j.reads
		if c := j.curve; c != nil {
			seconds, norm = c.on(r)
			reads = j.reads / norm
			if m.slots > 0 {
				average = c.normed.value() / float64(m.slots)
			}
		}
		deadline := m.deadline(j.job, now)
		if !math.IsInf(deadline, 1) && !perf.OnTrack(m.completable(j, now), float64(j.job.Unfinished)) {
			risk.offer(j, (*progressing).due, (*progressing).earlier)
			if j.fits(now, seconds) {
				fitting.offer(j, (*progressing).due, (*progressing).earlier)
			}
		} else {
			calm = true
		}
		if minReads = min(minReads, reads); load+reads > m.cap*(1+tolerance) {
			continue
		}
		key := rank{billionth(norm), billionth(average), deadline}
		if !m.paper {
			key.key = billionth(norm / average)
		}
		best.offer(ranked{key, j}, ranked.compare, ranked.before)
	}
	if !m.paper && (fitting.some || calm) && fitting.best != risk.best {
		m.last.passed = risk.best
		risk = fitting
	}
	switch {
	case risk.some:
		if risk.tied {
			m.last.tie = tieBetween(risk.best.job, risk.next.job)
		}
		j := risk.best
		return m.choose("deadline", j, s.Pool, [3]float64{m.completable(j, now), float64(j.job.Unfinished), j.job.DeadlineSeconds - now})
	case best.some:
		if best.tied {
			m.last.tie = best.best.tie(best.next)
		}
		return m.choose("progress", best.best.progressing, s.Pool, [3]float64{best.best.key / 1e9, best.best.average / 1e9, load})
	case ready:
		m.last.rule = "io_cap"
		m.last.figures = [3]float64{load, m.cap, minReads}
	}
	return Choice{}
}

// due compares jobs by deadline.
func (j *progressing) due(other *progressing) int {
	return cmp.Compare(j.job.DeadlineSeconds, other.job.DeadlineSeconds)
}

// earlier orders jobs by submission.
func (j *progressing) earlier(other *progressing) bool { return j.job.before(other.job) }

// fits reports whether a task that starts now ends before the deadline, or could not even on a dedicated node. It is
// true for a job without a fit.
func (j *progressing) fits(now, seconds float64) bool {
	left := j.job.DeadlineSeconds - now
	return j.curve == nil || seconds <= left*(1+tolerance) || left <= j.curve.dedicated*(1+tolerance)
}

func (m *maxProgress) choose(rule string, j *progressing, p Pool, figures [3]float64) Choice {
	m.last.rule, m.last.job, m.last.figures = rule, j, figures
	m.last.Choice = Choice{j.job, j.job.next(m.layout, p)}
	return m.last.Choice
}

func (m *maxProgress) Why() Why {
	d, f := &m.last, m.last.figures
	switch d.rule {
	case "residual":
		return because(d.rule, "", Figure{"residual", d.residual}, Figure{"least_residual", m.minResidual})
	case "io_cap":
		return because(d.rule, "", Figure{"load_mb_s", shown(f[0])}, Figure{"io_cap_mb_s", f[1]}, Figure{"least_mb_s", shown(f[2])})
	case "deadline":
		figures := []Figure{{"unfinished", f[1]}, {"left_s", shown(f[2])}}
		if d.job.curve != nil {
			figures = append([]Figure{{"completable", shown(f[0])}}, figures...)
		}
		passed := ""
		if d.passed != nil {
			passed = d.passed.job.Name
		}
		return decidedBy(d.rule, passed, d.tie, figures...)
	case "progress":
		here := "relative_slowdown" // to that on the mean slot
		if m.paper {
			here = "slowdown"
		}
		return decidedBy(d.rule, "", d.tie, Figure{"residual", d.residual}, Figure{here, shown(f[0])}, Figure{"average_slowdown", shown(f[1])},
			Figure{"load_mb_s", shown(f[2])})
	default:
		return idle
	}
}
