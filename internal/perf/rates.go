package perf

// Rates is how fast types of nodes run the tasks of one kind of job, from the tasks that have ended on
// them. Only their ratios mean something: the slowest type that was measured has the rate 1.
type Rates struct {
	Types map[string]Mean `json:"types"`
}

// Mean is a running mean.
type Mean struct {
	Count   int64   `json:"count"`
	Seconds float64 `json:"seconds"`
}

// Add counts a task that ended well after so many seconds on a node of a type.
func (r *Rates) Add(kind string, seconds float64) {
	if r.Types == nil {
		r.Types = map[string]Mean{}
	}
	m := r.Types[kind]
	m.Count++
	m.Seconds += (seconds - m.Seconds) / float64(m.Count)
	r.Types[kind] = m
}

// Rate is a type's rate, and whether it was measured.
func (r *Rates) Rate(kind string) (rate float64, measured bool) {
	if r == nil {
		return 0, false
	}
	m, measured := r.Types[kind]
	if !measured {
		return 0, false
	}
	slowest := m.Seconds
	for _, other := range r.Types {
		slowest = max(slowest, other.Seconds)
	}
	return slowest / m.Seconds, true
}
