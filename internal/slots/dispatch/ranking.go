package dispatch

// seat is a place in a ranking, of a job or of a class of jobs.
type seat struct {
	job   *Job // of a class: its next
	place int  // in the ranking, from 1; 0 where it is not in it
}

// ranking keeps seats in order: a heap with the next one at its root. It allocates only while it grows.
type ranking []entry

type entry struct {
	key float64
	*seat
}

// before orders entries by key; ties fall by submission.
func (e entry) before(other entry) bool {
	if e.key != other.key {
		return e.key < other.key
	}
	return e.job.before(other.job)
}

// tied returns the next entry if it has the key of the root, which must be there.
func (r ranking) tied() (next entry, ties bool) {
	for _, e := range r[1:min(len(r), 3)] {
		if e.key == r[0].key && (!ties || e.before(next)) {
			next, ties = e, true
		}
	}
	return next, ties
}

// put gives a seat its key and the job that breaks ties, whether the seat was in the ranking or not.
func (r *ranking) put(s *seat, key float64, j *Job) {
	if s.place == 0 {
		s.job = j
		*r = append(*r, entry{key, s})
		s.place = len(*r)
		r.up(s.place-1, entry{key, s})
		return
	}
	if i := s.place - 1; (*r)[i].key != key || s.job != j {
		s.job = j
		r.move(i, entry{key, s})
	}
}

// move puts an entry at i, then lets it rise or sink.
func (r ranking) move(i int, e entry) {
	if i > 0 && e.before(r[(i-1)/2]) {
		r.up(i, e)
	} else {
		r.down(i, e)
	}
}

// drop takes a seat out, if it is in the ranking.
func (r *ranking) drop(s *seat) {
	if s.place == 0 {
		return
	}
	i, last := s.place-1, len(*r)-1
	s.place = 0
	moved := (*r)[last]
	(*r)[last] = entry{}
	*r = (*r)[:last]
	if i == last {
		return
	}
	r.move(i, moved)
}

func (r ranking) set(i int, e entry) {
	r[i] = e
	e.place = i + 1
}

func (r ranking) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(r[parent]) {
			break
		}
		r.set(i, r[parent])
		i = parent
	}
	r.set(i, e)
}

func (r ranking) down(i int, e entry) {
	for {
		child := 2*i + 1
		if child >= len(r) {
			break
		}
		if child+1 < len(r) && r[child+1].before(r[child]) {
			child++
		}
		if !r[child].before(e) {
			break
		}
		r.set(i, r[child])
		i = child
	}
	r.set(i, e)
}
