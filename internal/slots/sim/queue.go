package sim

// queue holds future events, soonest first: a heap of plain values with four children a node. Events of one moment go
// by their codes, which are distinct, so the order is total.
type queue struct {
	events []event
	hole   bool // the first event was taken and its place is still empty
}

type event struct {
	at   float64
	code uint64
}

func (e event) before(other event) bool {
	return e.at < other.at || e.at == other.at && e.code < other.code
}

func (q *queue) empty() bool { return len(q.events) == 0 || q.hole && len(q.events) == 1 }

// len returns the number of queued events.
func (q *queue) len() int {
	if q.hole {
		return len(q.events) - 1
	}
	return len(q.events)
}

// first returns the soonest event; there must be one.
func (q *queue) first() event {
	if q.hole {
		q.hole = false
		last := len(q.events) - 1
		e := q.events[last]
		q.events = q.events[:last]
		q.down(e)
	}
	return q.events[0]
}

// at returns the time of the soonest event; there must be one. It keeps the hole open.
func (q *queue) at() float64 {
	if !q.hole {
		return q.events[0].at
	}
	soonest := q.events[1].at
	for c := 2; c < min(5, len(q.events)); c++ {
		soonest = min(soonest, q.events[c].at)
	}
	return soonest
}

// take removes the first event. Its place stays open, because the next event mostly follows from it.
func (q *queue) take() { q.hole = true }

func (q *queue) put(e event) {
	if q.hole {
		q.hole = false
		q.down(e)
		return
	}
	q.events = append(q.events, e)
	i := len(q.events) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(q.events[parent]) {
			break
		}
		q.events[i] = q.events[parent]
		i = parent
	}
	q.events[i] = e
}

// down puts an event at the top and lets it sink.
func (q *queue) down(e event) {
	events := q.events
	i := 0
	for {
		child := 4*i + 1
		if child >= len(events) {
			break
		}
		first := child
		for c := child + 1; c < min(child+4, len(events)); c++ {
			if events[c].before(events[first]) {
				first = c
			}
		}
		if !events[first].before(e) {
			break
		}
		events[i] = events[first]
		i = first
	}
	events[i] = e
}
