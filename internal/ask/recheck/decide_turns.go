package recheck

import (
	"math"

	"example.org/headroom/internal/slots/dispatch"
)

// worth holds what the slots of each type of nodes are worth to the jobs of a class.
type worth struct {
	rate     map[string]float64
	measured map[string]bool
	total    float64 // of all slots like the free one
}

func unitsOf(n *dispatch.SnapshotNode) float64 {
	switch {
	case n.ComputeUnits > 0:
		return n.ComputeUnits
	case n.Cores > 0:
		return n.Cores
	}
	return 1
}

// worthTo measures slots by the rates of a class: the slowest measured type is worth 1, and types without measurements
// are compared with it by their units.
func (s *snapshot) worthTo(k *dispatch.SnapshotClass) worth {
	w := worth{rate: map[string]float64{"": 1}, measured: map[string]bool{}}
	units := map[string]float64{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		units[n.Type] = max(units[n.Type], unitsOf(n))
	}
	mean, slowest, some := map[string]float64{}, "", false
	for _, r := range k.Rates {
		mean[r.Type], w.measured[r.Type] = r.MeanSeconds, true
	}
	for kind, u := range units {
		if x, y := mean[kind], mean[slowest]; x > 0 && (!some || x > y || x == y && u < units[slowest]) {
			slowest, some = kind, true
		}
	}
	for kind, u := range units {
		switch {
		case some && w.measured[kind]:
			w.rate[kind] = mean[slowest] / mean[kind]
		case some:
			w.rate[kind] = u / units[slowest]
		default:
			w.rate[kind] = u
		}
	}
	for i := range s.Nodes {
		w.total += float64(s.slots(&s.Nodes[i])) * w.rate[s.Nodes[i].Type]
	}
	return w
}

// sharing is a job with the progress that its slots make.
type sharing struct {
	worth
	share, affinity float64
}

// turns gives the slot by progress shares: to the job with the least for its weight, unless it suits another much better.
func (s *snapshot) turns(p dispatch.PolicyConfig, waiting []*contender) (may []ruling) {
	kind, slots := "", int64(0)
	types := map[string]string{}
	for i := range s.Nodes {
		types[s.Nodes[i].Name] = s.Nodes[i].Type
		slots += s.slots(&s.Nodes[i])
	}
	if s.node != nil {
		kind = s.node.Type
	}
	of, byClass := map[*contender]sharing{}, map[string]worth{}
	mapped := map[string]bool{} // classes with a map that runs on this type of nodes
	for _, j := range s.jobs {
		w, there := byClass[j.class]
		if !there {
			w = s.worthTo(&j.known)
			byClass[j.class] = w
		}
		x := sharing{worth: w, affinity: 1}
		for node, tasks := range j.on {
			x.share += float64(s.count(tasks)) * w.rate[types[node]]
			mapped[j.class] = mapped[j.class] || tasks[0] > 0 && types[node] == kind
		}
		if w.total > 0 {
			x.share /= w.total
		}
		if slots > 0 {
			x.affinity = w.rate[kind] * float64(slots) / w.total
		}
		of[j] = x
	}
	var unmeasured []*contender
	for _, j := range waiting {
		if s.node != nil && s.kinds[0] == 0 && j.ready[0] > 0 && !of[j].measured[kind] && !mapped[j.class] {
			unmeasured = append(unmeasured, j)
		}
	}
	if len(unmeasured) > 0 {
		name := kind
		if name == "" {
			name = "this type"
		}
		j := leading(unmeasured, func(*contender) []float64 { return nil })[0]
		return []ruling{{job: j, rule: "calibration", of: name}}
	}
	below := func(j *contender) bool { return of[j].share < j.MinShare*(1-1e-12) }
	key := func(j *contender) []float64 {
		if below(j) {
			return []float64{0, of[j].share / j.MinShare}
		}
		return []float64{1, of[j].share / j.Weight}
	}
	for _, turn := range leading(waiting, key) {
		may = append(may, s.turn(p, turn, waiting, of, key, below, slots)...)
	}
	return may
}

// turn are the choices where it is a job's turn.
func (s *snapshot) turn(p dispatch.PolicyConfig, turn *contender, waiting []*contender, of map[*contender]sharing,
	key func(*contender) []float64, below func(*contender) bool, slots int64) (may []ruling) {
	figures := func(j, affine *contender) map[string]float64 {
		return map[string]float64{"progress_share": of[j].share, "weight": j.Weight, "affinity": of[affine].affinity}
	}
	var suited []*contender
	threshold, sure := of[turn].affinity*(1+*p.AffinityThreshold), false
	for _, j := range waiting {
		if a := of[j].affinity; j != turn && (a >= threshold || nearly(a, threshold)) {
			suited = append(suited, j)
			sure = sure || !nearly(a, threshold) || a == threshold
		}
	}
	if !sure || len(suited) == 0 {
		var alike []*contender
		for _, j := range waiting {
			if key(j)[0] == key(turn)[0] {
				alike = append(alike, j)
			}
		}
		r := ruling{job: turn, rule: "share", figures: figures(turn, turn)}
		r.ties = tied(turn, alike, func(j *contender) []float64 { return key(j)[1:] })
		if below(turn) {
			r.rule = "min_share"
			r.figures["min_share"] = turn.MinShare
		}
		may = append(may, r)
	}
	skips := int64(0)
	for _, x := range s.History.Skips {
		if x.Job == turn.Name {
			if skips = x.Times; s.kinds[0] == 1 {
				skips = x.Reduces
			}
		}
	}
	most := max(1, slots)
	if p.MaxSkips != nil {
		most = *p.MaxSkips
	}
	for _, j := range leading(suited, func(j *contender) []float64 { return append([]float64{-of[j].affinity}, key(j)...) }) {
		if skips >= most {
			r := ruling{job: turn, rule: "skips", figures: figures(turn, turn)}
			r.figures["skips"] = float64(skips)
			return append(may, r)
		}
		r := ruling{job: j, rule: "affinity", of: turn.Name, figures: figures(j, j)}
		r.figures["affinity_of_turn"], r.figures["skips"] = of[turn].affinity, float64(skips)
		may = append(may, r)
	}
	return may
}

// pace is a job's speed where it runs, and on the slot.
type pace struct {
	known          bool // its task time
	seconds, norm  float64
	average, reads float64
	dedicated      float64
	due            float64 // infinite without a deadline
	completable    float64 // tasks, by its running slots
}

// progress gives the slot by deadlines at risk, and then to the job that suffers least there.
func (s *snapshot) progress(p dispatch.PolicyConfig, waiting []*contender) (may []ruling) {
	residual := 1.0
	if s.node != nil {
		residual = s.node.Residual
	}
	if residual < *p.MinResidual {
		return []ruling{{rule: "residual", figures: map[string]float64{"residual": residual, "least_residual": *p.MinResidual}}}
	}
	if len(waiting) == 0 {
		return []ruling{{rule: "idle"}}
	}
	at := map[*contender]*pace{}
	load := 0.0
	for _, j := range s.jobs {
		var reads float64
		at[j], reads = s.paceOf(p, j, residual)
		load += reads
	}
	for _, side := range []float64{-near, near} { // counts that are too near to tell are tried both ways
		may = append(may, s.atRisk(p, waiting, at, side))
	}
	rest := s.calm(p, waiting, at, residual, load)
	for i, r := range may {
		if r.rule == "" { // no deadline at risk takes the slot
			may[i] = rest[0]
			may = append(may, rest[1:]...)
		}
	}
	return may
}

// paceOf also returns what the job's running tasks read.
func (s *snapshot) paceOf(p dispatch.PolicyConfig, j *contender, residual float64) (*pace, float64) {
	x := &pace{norm: 1, average: 1, reads: j.ReadMBPerSecond, due: math.Inf(1)}
	times := func(r float64) float64 { return min(secondsAt(j.known.TaskTime, r)/x.dedicated, 1<<22) }
	if x.known = j.known.TaskTime != nil; x.known {
		x.dedicated = secondsAt(j.known.TaskTime, 1)
		x.norm = times(residual)
		x.seconds = x.norm * x.dedicated
		x.reads /= x.norm
		sum, slots := 0.0, 0.0
		for i := range s.Nodes {
			n := float64(s.Nodes[i].Slots.Map + s.Nodes[i].Slots.Reduce)
			sum, slots = sum+n*times(s.Nodes[i].Residual), slots+n
		}
		if slots > 0 {
			x.average = sum / slots
		}
	}
	if late := *p.TimeFactor; j.DeadlineSeconds != 0 && !(p.Late == dispatch.LateDemote && j.DeadlineSeconds <= s.NowSeconds) {
		x.due = (j.DeadlineSeconds - s.NowSeconds) / late
	}
	reads := 0.0
	for node, tasks := range j.on {
		r, n := 1.0, float64(tasks[0]+tasks[1])
		for i := range s.Nodes {
			if s.Nodes[i].Name == node {
				r = s.Nodes[i].Residual
			}
		}
		if !x.known {
			reads += n * j.ReadMBPerSecond
			continue
		}
		reads += n * j.ReadMBPerSecond / times(r)
		if left := max(x.due, 0); r > 0 && !math.IsInf(left, 1) {
			tasks := left / (times(r) * x.dedicated)
			if *p.WholeTasks {
				tasks = math.Floor(tasks * (1 + 1e-12))
			}
			x.completable += n * tasks
		}
	}
	return x, reads
}

// atRisk is the choice for a deadline at risk; its rule is empty where none takes the slot.
func (s *snapshot) atRisk(p dispatch.PolicyConfig, waiting []*contender, at map[*contender]*pace, side float64) ruling {
	var risk, helped *contender
	var atRisk, helpable []*contender
	calm := false
	sooner := func(j, o *contender) bool {
		return o == nil || j.DeadlineSeconds < o.DeadlineSeconds || j.DeadlineSeconds == o.DeadlineSeconds && j.before(o)
	}
	left := func(j *contender) float64 { return j.DeadlineSeconds - s.NowSeconds }
	for _, j := range waiting {
		x := at[j]
		if math.IsInf(x.due, 1) || x.completable >= unfinished(j)*(1+side) {
			calm = true
			continue
		}
		atRisk = append(atRisk, j)
		if sooner(j, risk) {
			risk = j
		}
		if !x.known || x.seconds <= left(j)*(1+1e-12) || left(j) <= x.dedicated*(1+1e-12) {
			helpable = append(helpable, j)
			if sooner(j, helped) {
				helped = j
			}
		}
	}
	chosen, of := risk, ""
	if p.Mode != dispatch.ProgressPaper && (helped != nil || calm) {
		if chosen = helped; helped != nil && helped != risk {
			of, atRisk = risk.Name, helpable
		}
	}
	if chosen == nil {
		return ruling{}
	}
	figures := map[string]float64{"unfinished": unfinished(chosen), "left_s": left(chosen)}
	if at[chosen].known {
		figures["completable"] = at[chosen].completable
	}
	return ruling{job: chosen, kind: s.next(chosen), rule: "deadline", of: of, figures: figures,
		ties: tied(chosen, atRisk, func(j *contender) []float64 { return []float64{j.DeadlineSeconds} })}
}

func unfinished(j *contender) float64 {
	return float64(j.Maps.Total - j.Maps.Done + j.Reduces.Total - j.Reduces.Done)
}

// calm are the choices where no deadline takes the slot.
func (s *snapshot) calm(p dispatch.PolicyConfig, waiting []*contender, at map[*contender]*pace, residual, load float64) (may []ruling) {
	limit, least := math.Inf(1), math.Inf(1)
	if p.IOCap != nil {
		limit = *p.IOCap
	}
	var within []*contender
	for _, j := range waiting {
		least = min(least, at[j].reads)
		if load+at[j].reads <= limit*(1+1e-12) {
			within = append(within, j)
		}
	}
	if len(within) == 0 {
		return []ruling{{rule: "io_cap", figures: map[string]float64{"load_mb_s": load, "io_cap_mb_s": limit, "least_mb_s": least}}}
	}
	here := func(j *contender) (string, float64) {
		if p.Mode == dispatch.ProgressPaper {
			return "slowdown", at[j].norm
		}
		return "relative_slowdown", at[j].norm / at[j].average
	}
	keys := func(j *contender) []float64 {
		_, x := here(j)
		due := j.DeadlineSeconds
		if math.IsInf(at[j].due, 1) {
			due = math.Inf(1)
		}
		return []float64{x, -at[j].average, due}
	}
	for _, j := range leading(within, keys) {
		name, x := here(j)
		may = append(may, ruling{job: j, kind: s.next(j), rule: "progress", ties: tied(j, within, keys, dispatch.TieSlowdown, dispatch.TieDeadline),
			figures: map[string]float64{"residual": residual, name: x, "average_slowdown": at[j].average, "load_mb_s": load}})
	}
	return may
}
