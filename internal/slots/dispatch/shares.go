package dispatch

import "math"

// Share sets the slots of each pool that a class of jobs gets.
type Share struct {
	// Weight is its part of the shared slots, relative to the weights of the other classes. A class without a weight
	// gets slots that nobody else can use.
	Weight [Kinds]float64
	// Min is the number of slots it gets before classes that have their minimum get more.
	Min [Kinds]float64
	// Most is the number of slots it may hold, and MaxPerJob that of each of its jobs; 0 means no limit. Where they
	// are set, slots may stay idle while tasks wait.
	Most, MaxPerJob [Kinds]int
}

// shares serves classes by the slots they hold against their share. It takes nothing from running tasks: a freed slot
// goes to the class furthest below its share.
type shares struct {
	layout  Layout
	inOrder bool // a class's jobs are served in the order of submission
	classes []*shareholder
	ranks   [Kinds]ranking // by pool: classes with a task that may start
	last    Choice
	pool    Pool // of the last choice
}

type shareholder struct {
	Share
	running [Kinds]int
	seats   [Kinds]seat
	jobs    [Kinds]ranking // those with a task that may start
}

// Fair serves classes below their minimum first, beginning with the one that has the smallest part of it. Then it
// serves the class that holds the fewest slots for its weight, and within a class the job with the fewest running
// tasks.
//
// Classes that are even go by the submission of their next jobs. So no class waits for ever behind another that
// always has a job. Job.Class is an index into the shares; a class beyond them has none.
func Fair(l Layout, classes []Share) Policy { return newShares(l, classes, false) }

// Capacity treats classes as queues: the one that holds the smallest part of its share (Weight) is next. Within a
// class it serves jobs in the order of their submission.
func Capacity(l Layout, queues []Share) Policy { return newShares(l, queues, true) }

func newShares(l Layout, classes []Share, inOrder bool) *shares {
	f := &shares{layout: l, inOrder: inOrder}
	for _, s := range classes {
		f.classes = append(f.classes, &shareholder{Share: s})
	}
	return f
}

// class returns a job's class. A class without settings has no share.
func (f *shares) class(j *Job) *shareholder {
	for j.Class >= len(f.classes) {
		f.classes = append(f.classes, &shareholder{})
	}
	return f.classes[j.Class]
}

func (f *shares) Note(e Event) {
	if e.Job == nil {
		return
	}
	j, c := e.Job, f.class(e.Job)
	switch e.What {
	case Arrived:
		f.rank(c, j, f.layout.Of(Map))
		f.rank(c, j, f.layout.Of(Reduce))
	case Ready:
		f.rank(c, j, f.layout.Of(e.Task))
	case Started:
		p := f.layout.Of(e.Task)
		c.running[p]++
		f.rank(c, j, p)
	case Ended:
		p := f.layout.Of(e.Task)
		c.running[p]--
		f.rank(c, j, p)
	case Left:
		for p := range f.ranks {
			c.jobs[p].drop(&j.seats[p])
			f.rankClass(c, Pool(p))
		}
	}
}

// rank moves a job, and with it its class, to the places of their counts.
func (f *shares) rank(c *shareholder, j *Job, p Pool) {
	s, running := &j.seats[p], j.running(f.layout, p)
	if j.pending(f.layout, p) == 0 || c.MaxPerJob[p] > 0 && running >= c.MaxPerJob[p] {
		c.jobs[p].drop(s)
	} else if f.inOrder {
		c.jobs[p].put(s, j.SubmittedSeconds, j)
	} else {
		c.jobs[p].put(s, float64(running), j)
	}
	f.rankClass(c, p)
}

func (f *shares) rankClass(c *shareholder, p Pool) {
	if len(c.jobs[p]) == 0 || c.Most[p] > 0 && c.running[p] >= c.Most[p] {
		f.ranks[p].drop(&c.seats[p])
		return
	}
	f.ranks[p].put(&c.seats[p], c.key(p), c.jobs[p][0].job)
}

// key returns, below the minimum, the part of it that is held, less one: from -1 to 0. Beyond it returns slots by
// weight.
func (c *shareholder) key(p Pool) float64 {
	held := float64(c.running[p])
	switch {
	case held < c.Min[p]:
		return held/c.Min[p] - 1
	case c.Weight[p] > 0:
		return held / c.Weight[p]
	default:
		return math.MaxFloat64
	}
}

func (f *shares) Choose(_ float64, s Slot) Choice {
	f.last, f.pool = Choice{}, s.Pool
	if len(f.ranks[s.Pool]) > 0 {
		j := f.ranks[s.Pool][0].job
		f.last = Choice{j, j.next(f.layout, s.Pool)}
	}
	return f.last
}

func (f *shares) Why() Why {
	j, p := f.last.Job, f.pool
	if j == nil {
		return idle
	}
	c := f.class(j)
	held := float64(c.running[p])
	tie := Tie("")
	if next, ties := f.ranks[p].tied(); ties {
		tie = tieBetween(j, next.job)
	}
	w := Why{Rule: "lent", Tie: tie, InClass: f.inClass(c.jobs[p]), Figures: []Figure{{"held", held}, {"min", c.Min[p]}, {"weight", c.Weight[p]}}}
	if held < c.Min[p] {
		w.Rule = "minimum"
	} else if c.Weight[p] > 0 {
		w.Rule = "share"
	}
	if w.InClass != "" && !f.inOrder {
		w.Figures = append(w.Figures, Figure{"job_held", float64(j.running(f.layout, p))})
	}
	w.Reason = w.Say()
	return w
}

// inClass returns what puts the first of a class's jobs before the next.
func (f *shares) inClass(jobs ranking) InClass {
	next, ties := jobs.tied()
	switch {
	case ties:
		return InClass(tieBetween(jobs[0].job, next.job))
	case len(jobs) == 1:
		return ""
	case f.inOrder:
		return InClassOrder
	default:
		return InClassHeld
	}
}
