package dispatch

import "math"

// ordered serves jobs one after another, by a key that never changes. A slot goes to the first job
// that has a task for it.
type ordered struct {
	layout Layout
	rule   string
	key    func(*Job) float64
	jobs   [Kinds]ranking // by pool: those with tasks to start
	last   Choice
	pool   Pool // of the last choice
}

// FIFO serves jobs in the order of their submission.
func FIFO(l Layout) Policy {
	return &ordered{layout: l, rule: "order", key: func(j *Job) float64 { return j.SubmittedSeconds }}
}

// EDF serves the job with the earliest deadline first; jobs without one come last.
func EDF(l Layout) Policy {
	return &ordered{layout: l, rule: "deadline", key: func(j *Job) float64 {
		if j.DeadlineSeconds == 0 {
			return math.Inf(1)
		}
		return j.DeadlineSeconds
	}}
}

func (o *ordered) Note(e Event) {
	switch e.What { // events of nodes change no order
	case Arrived:
		o.rank(e.Job, o.layout.Of(Map))
		o.rank(e.Job, o.layout.Of(Reduce))
	case Ready, Started:
		o.rank(e.Job, o.layout.Of(e.Task))
	case Left:
		for p := range o.jobs {
			o.jobs[p].drop(&e.Job.seats[p])
		}
	}
}

func (o *ordered) rank(j *Job, p Pool) {
	if s := &j.seats[p]; j.pending(o.layout, p) == 0 {
		o.jobs[p].drop(s)
	} else if s.place == 0 {
		o.jobs[p].put(s, o.key(j), j)
	}
}

func (o *ordered) Choose(_ float64, s Slot) Choice {
	o.last, o.pool = Choice{}, s.Pool
	if len(o.jobs[s.Pool]) > 0 {
		j := o.jobs[s.Pool][0].job
		o.last = Choice{j, j.next(o.layout, s.Pool)}
	}
	return o.last
}

func (o *ordered) Why() Why {
	j := o.last.Job
	if j == nil {
		return idle
	}
	tie := Tie("")
	if next, ties := o.jobs[o.pool].tied(); ties {
		tie = tieBetween(j, next.job)
	}
	if o.rule == "deadline" && j.DeadlineSeconds > 0 {
		return decidedBy(o.rule, "", tie, Figure{"deadline_s", j.DeadlineSeconds})
	}
	if tie == TieOrder { // without deadlines the order of submission is the rule
		tie = ""
	}
	return decidedBy("order", "", tie, Figure{"submitted_s", j.SubmittedSeconds})
}
