package perf

// Rates holds the speeds of types of nodes for one kind of job, from the tasks that have ended on them: CR(i,j) =
// T_ref / T_mean(i,j) (heterogeneity paper). Only their ratios matter: the slowest measured type has the rate 1. Its
// zero value is ready.
type Rates struct {
	Types map[string]Mean `json:"types"`
}

// Mean is a running mean.
type Mean struct {
	Count   int64   `json:"count"`
	Seconds float64 `json:"seconds"`
}

// Add counts a map that took the given seconds on a node of a type. Failed tasks and copies of others must not be
// added. It ignores values that are no times.
func (r *Rates) Add(kind string, seconds float64) (counted bool) {
	if !isTime(seconds) {
		return false
	}
	if r.Types == nil {
		r.Types = map[string]Mean{}
	}
	m := r.Types[kind]
	m.Count++
	m.Seconds += (seconds - m.Seconds) / float64(m.Count)
	r.Types[kind] = m
	return true
}

// Rate returns a type's rate, and whether it was measured.
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

// NodeType describes a type of nodes before tasks have run on it.
type NodeType struct {
	Name         string
	ComputeUnits float64 // its maker's figure for its speed; of one slot
	Slots        int64   // of one node
}

// TypeRate is a type's rate in a cluster.
type TypeRate struct {
	Type    string  `json:"type"`
	Rate    float64 `json:"rate"`    // of a slot
	Node    float64 `json:"node"`    // of a node: of all its slots
	Tasks   int64   `json:"tasks"`   // measured
	Imputed bool    `json:"imputed"` // no task has been measured: the compute units stand for it
}

// Of returns the rates of a cluster's types, in their order. For a type without measured tasks, the ratio of its
// compute units to those of the slowest measured type stands for its rate. If none was measured, the ratio is to the
// weakest type. Compute units of 0 count as 1.
func (r *Rates) Of(types []NodeType) []TypeRate {
	units := func(t NodeType) float64 {
		if t.ComputeUnits > 0 {
			return t.ComputeUnits
		}
		return 1
	}
	if r == nil {
		r = &Rates{}
	}
	reference, slowest, weakest := 0.0, 0.0, 0.0
	for i, t := range types {
		if i == 0 || units(t) < weakest {
			weakest = units(t)
		}
		m, measured := r.Types[t.Name]
		if measured && (m.Seconds > slowest || m.Seconds == slowest && units(t) < reference) {
			slowest, reference = m.Seconds, units(t)
		}
	}
	all := make([]TypeRate, len(types))
	for i, t := range types {
		m, measured := r.Types[t.Name]
		rate := TypeRate{Type: t.Name, Tasks: m.Count, Imputed: !measured}
		switch {
		case measured:
			rate.Rate = slowest / m.Seconds
		case reference > 0:
			rate.Rate = units(t) / reference
		default:
			rate.Rate = units(t) / weakest
		}
		rate.Node = rate.Rate * float64(t.Slots)
		all[i] = rate
	}
	return all
}

// Calibrating returns the types without measured tasks, in their order. A job is calibrating until there are none,
// and its first tasks go to them.
func (r *Rates) Calibrating(types []NodeType) (missing []string) {
	for _, t := range types {
		if _, measured := r.Rate(t.Name); !measured {
			missing = append(missing, t.Name)
		}
	}
	return missing
}
