package dispatch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/perf"
)

// progressShare serves the job with the smallest share: the worth of its slots as a part of the worth of all slots. A
// slot that suits another job much better goes there. A slot is worth to a job the rate of its node's type (paper 2,
// section 5). Until a type is measured, its computing units stand for its rate.
type progressShare struct {
	layout   Layout
	affinity float64 // theta
	maxSkips int     // 0: the number of slots

	types    []nodeType
	byName   map[string]int
	nodes    map[*Node]placed
	slots    [Kinds]int // by pool
	version  int        // of the nodes
	profiles map[*perf.Rates]*profile
	jobs     []*sharer
	byJob    map[*Job]*sharer

	last turnOf
}

// nodeType is a set of alike nodes.
type nodeType struct {
	name  string
	nodes []*Node
	slots [Kinds]int
	units float64 // rate of types that are not measured
}

// placed is a node's type and slots as last noted.
type placed struct {
	kind  int
	slots [Kinds]int
}

// profile holds the rates of jobs that were measured together.
type profile struct {
	rates    *perf.Rates
	jobs     int
	version  int // of the nodes it was made for; 0: stale
	made     int // number of computations
	rate     []float64
	measured []bool
	total    [Kinds]float64 // of all slots of a pool
}

// sharer is a job with the slots it holds.
type sharer struct {
	job     *Job
	at      int // among the jobs
	of      *profile
	running [Kinds][]int // by pool and type
	maps    []int        // by type
	skips   [Kinds]int   // in a row

	made  int            // the version of the profile behind share; 0: none
	share [Kinds]float64 // its progress share
}

// turnOf describes the last choice.
type turnOf struct {
	Choice
	rule        string
	slot        Slot
	job, passed *sharer // passed had the turn, if another job was chosen
	tie         Tie     // of the turn
	affinities  [2]float64
}

// ProgressShare serves jobs below their minimum share first, then the one with the least share for its weight. That
// follows section 2.3 of our specification; the paper has no rule for the slot of another. Before anything else a job
// gets one task on each type of node that it was not measured on.
func ProgressShare(l Layout, p PolicyConfig) Policy {
	p = p.Filled()
	s := &progressShare{layout: l, affinity: *p.AffinityThreshold, byName: map[string]int{}, nodes: map[*Node]placed{},
		version: 1, profiles: map[*perf.Rates]*profile{}, byJob: map[*Job]*sharer{}}
	if p.MaxSkips != nil {
		s.maxSkips = int(*p.MaxSkips)
	}
	return s
}

func (p *progressShare) Note(e Event) {
	switch e.What {
	case Joined, Reported:
		p.join(e.Node)
	case Gone:
		p.leave(e.Node)
	case Arrived:
		s := &sharer{job: e.Job, at: len(p.jobs)}
		p.jobs = append(p.jobs, s)
		p.byJob[e.Job] = s
	case Started:
		if s := p.byJob[e.Job]; s != nil {
			p.count(s, e, 1)
			pool := p.layout.Of(e.Task)
			s.skips[pool] = 0
			if p.last.passed != nil && p.last.Job == e.Job && p.last.slot == e.Slot {
				p.last.passed.skips[pool]++
			}
		}
		p.last = turnOf{}
	case Ended:
		if s := p.byJob[e.Job]; s != nil {
			p.count(s, e, -1)
		}
		if f := p.profiles[e.Job.Rates]; f != nil { // it may have been a measurement
			f.version = 0
		}
	case Left:
		if s := p.byJob[e.Job]; s != nil {
			p.link(s, nil)
			last := p.jobs[len(p.jobs)-1]
			p.jobs[s.at], last.at = last, s.at
			p.jobs = p.jobs[:len(p.jobs)-1]
			delete(p.byJob, e.Job)
		}
	}
}

// join counts a node's slots, or counts them again if they have changed.
func (p *progressShare) join(n *Node) {
	was, known := p.nodes[n]
	if known && was.slots == n.Slots {
		return
	}
	if known {
		p.leave(n)
	} else {
		was.kind = p.typeOf(n)
	}
	t := &p.types[was.kind]
	t.nodes = append(t.nodes, n)
	p.nodes[n] = placed{was.kind, n.Slots}
	p.resize(t, n.Slots, 1)
}

func (p *progressShare) leave(n *Node) {
	was, known := p.nodes[n]
	if !known {
		return
	}
	delete(p.nodes, n)
	t := &p.types[was.kind]
	if i := slices.Index(t.nodes, n); i >= 0 {
		t.nodes[i] = t.nodes[len(t.nodes)-1]
		t.nodes = t.nodes[:len(t.nodes)-1]
	}
	p.resize(t, was.slots, -1)
}

func (p *progressShare) resize(t *nodeType, slots [Kinds]int, sign int) {
	for pool, n := range slots {
		t.slots[pool] += sign * n
		p.slots[pool] += sign * n
	}
	for i, n := range t.nodes { // the last node's slots are kept for the tasks that end after it
		if i == 0 || n.units() > t.units {
			t.units = n.units()
		}
	}
	p.version++
}

// units stands for a node's rate until it is measured.
func (n *Node) units() float64 {
	for _, x := range [...]float64{n.ComputeUnits, n.Cores} {
		if x > 0 && !math.IsInf(x, 1) {
			return x
		}
	}
	return 1
}

// typeOf returns the number of a node's type. A slot without a node is of a type without a name.
func (p *progressShare) typeOf(n *Node) int {
	if was, known := p.nodes[n]; known {
		return was.kind
	}
	name, units := "", 1.0
	if n != nil {
		name, units = n.Type, n.units()
	}
	i, known := p.byName[name]
	if !known {
		i = len(p.types)
		p.types = append(p.types, nodeType{name: name, units: units})
		p.byName[name] = i
		p.version++
	}
	return i
}

// count updates the running tasks after a start or an end.
func (p *progressShare) count(s *sharer, e Event, by int) {
	kind := p.typeOf(e.Slot.Node)
	add := func(counts *[]int) {
		for len(*counts) < len(p.types) {
			*counts = append(*counts, 0)
		}
		(*counts)[kind] = max(0, (*counts)[kind]+by)
	}
	add(&s.running[p.layout.Of(e.Task)])
	if e.Task == Map {
		add(&s.maps)
	}
	s.made = 0
}

// link joins a job to the profile of its rates; nil leaves all.
func (p *progressShare) link(s *sharer, to *profile) {
	if s.of != nil {
		if s.of.jobs--; s.of.jobs == 0 {
			delete(p.profiles, s.of.rates)
		}
	}
	s.of, s.made = to, 0
	if to != nil {
		to.jobs++
	}
}

// current updates a job's rates and share to the caller's measurements and nodes.
func (p *progressShare) current(s *sharer) {
	if s.of == nil || s.of.rates != s.job.Rates {
		to := p.profiles[s.job.Rates]
		if to == nil {
			to = &profile{rates: s.job.Rates}
			p.profiles[s.job.Rates] = to
		}
		p.link(s, to)
	}
	if s.of.version != p.version {
		p.measure(s.of)
	}
	if s.made == s.of.made {
		return
	}
	s.made = s.of.made
	for pool := range s.share {
		held := 0.0
		for kind, n := range s.running[pool] {
			if n > 0 {
				held += float64(n) * s.of.rate[kind]
			}
		}
		s.share[pool] = held
		if s.of.total[pool] > 0 { // otherwise no node is known, and the number of slots held compares jobs as well
			s.share[pool] = held / s.of.total[pool]
		}
	}
}

// measure computes the rates of all types. The slowest measured type that has nodes gets 1; unmeasured types get the
// units of their nodes relative to those of the slowest.
func (p *progressShare) measure(f *profile) {
	f.version = p.version
	f.made++
	f.rate, f.measured = f.rate[:0], f.measured[:0]
	slowest, units := 0.0, 0.0
	for i := range p.types {
		t := &p.types[i]
		seconds := f.seconds(t.name)
		f.rate, f.measured = append(f.rate, seconds), append(f.measured, seconds > 0)
		if len(t.nodes) > 0 && (seconds > slowest || seconds == slowest && seconds > 0 && t.units < units) {
			slowest, units = seconds, t.units
		}
	}
	if slowest == 0 {
		units = 1
	}
	f.total = [Kinds]float64{}
	for i := range p.types {
		t := &p.types[i]
		switch {
		case !f.measured[i]:
			f.rate[i] = t.units / units
		case slowest > 0:
			f.rate[i] = slowest / f.rate[i]
		default: // measured, but no existing node was
			f.rate[i] = t.units
		}
		for pool, n := range t.slots {
			f.total[pool] += float64(n) * f.rate[i]
		}
	}
}

// seconds returns the mean time measured on a type, or 0 if there is none that makes sense.
func (f *profile) seconds(kind string) float64 {
	if f.rates == nil {
		return 0
	}
	if m := f.rates.Types[kind]; m.Count > 0 && m.Seconds > 0 && !math.IsInf(m.Seconds, 1) {
		return m.Seconds
	}
	return 0
}

// affinityOf returns a slot's worth to a job relative to that of its mean slot.
func (p *progressShare) affinityOf(s *sharer, kind int, pool Pool) float64 {
	if p.slots[pool] == 0 {
		return 1
	}
	return s.of.rate[kind] * float64(p.slots[pool]) / s.of.total[pool]
}

// key orders jobs: those below their minimum by the part of it they have, others by share and weight.
func (s *sharer) key(pool Pool) [2]float64 {
	share := s.share[pool]
	if minShare := s.job.MinShare; s.below(pool) {
		return [2]float64{0, rounded(share / minShare)}
	}
	if w := s.job.Weight; w > 0 {
		share /= w
	}
	return [2]float64{1, rounded(share)}
}

// below reports whether a job has less than its minimum share.
func (s *sharer) below(pool Pool) bool { return s.share[pool] < s.job.MinShare*(1-tolerance) }

// turns compares jobs by turn.
func (s *sharer) turns(other *sharer, pool Pool) int {
	a, b := s.key(pool), other.key(pool)
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
}

// sooner orders jobs by turn; ties fall by submission.
func (s *sharer) sooner(other *sharer, pool Pool) bool {
	by := s.turns(other, pool)
	return by < 0 || by == 0 && s.job.before(other.job)
}

// earlier orders jobs by submission.
func (s *sharer) earlier(other *sharer) bool { return s.job.before(other.job) }

func (p *progressShare) Choose(_ float64, slot Slot) Choice {
	p.last = turnOf{slot: slot, rule: "idle"}
	kind, pool := p.typeOf(slot.Node), slot.Pool
	var turns first[*sharer]
	var unmeasured *sharer
	key := func(a, b *sharer) int { return a.turns(b, pool) }
	for _, s := range p.jobs {
		if s.job.pending(p.layout, pool) == 0 {
			continue
		}
		p.current(s)
		turns.offer(s, key, (*sharer).earlier)
		if p.unmeasured(s, kind, slot) && (unmeasured == nil || s.job.before(unmeasured.job)) {
			unmeasured = s
		}
	}
	turn := turns.best
	if turns.tied {
		p.last.tie = tieBetween(turn.job, turns.next.job)
	}
	switch {
	case turn == nil:
		return Choice{}
	case unmeasured != nil:
		return p.choose("calibration", unmeasured, Map)
	}
	best := turn
	highest := p.affinityOf(turn, kind, pool)
	p.last.affinities = [2]float64{highest, highest}
	threshold := highest * (1 + p.affinity) * (1 - tolerance)
	highest = rounded(highest)
	for _, s := range p.jobs {
		if s == turn || s.job.pending(p.layout, pool) == 0 {
			continue
		}
		a := p.affinityOf(s, kind, pool)
		if a < threshold {
			continue
		}
		if a = rounded(a); a > highest || a == highest && s.sooner(best, pool) {
			best, highest = s, a
		}
	}
	next := best.job.next(p.layout, pool)
	if best == turn {
		return p.choose("share", turn, next)
	}
	limit := p.maxSkips
	if limit == 0 {
		limit = max(1, p.slots[pool])
	}
	if turn.skips[pool] >= limit {
		return p.choose("skips", turn, turn.job.next(p.layout, pool))
	}
	p.last.passed = turn
	p.last.affinities[1] = highest
	return p.choose("affinity", best, next)
}

func (p *progressShare) choose(rule string, s *sharer, k Kind) Choice {
	p.last.rule, p.last.job, p.last.Choice = rule, s, Choice{s.job, k}
	return p.last.Choice
}

// unmeasured reports whether a map of the job should run here to be measured. That is so if no map of it, nor of a
// job measured together with it, has run or is running on this type.
func (p *progressShare) unmeasured(s *sharer, kind int, slot Slot) bool {
	if slot.Node == nil || s.job.Pending[Map] == 0 || p.layout.Of(Map) != slot.Pool || s.of.measured[kind] || s.runs(kind) {
		return false
	}
	if s.job.Rates == nil { // measured with no other
		return true
	}
	return !slices.ContainsFunc(p.jobs, func(other *sharer) bool { return other.job.Rates == s.job.Rates && other.runs(kind) })
}

func (s *sharer) runs(kind int) bool { return kind < len(s.maps) && s.maps[kind] > 0 }

// tolerance forgives the rounding errors of two numbers that are equal.
const tolerance = 1e-12

// rounded drops the last digits, so that numbers equal but for rounding errors tie.
func rounded(x float64) float64 {
	const digits = 1 << 14 // of the 53 binary ones
	return math.Float64frombits((math.Float64bits(x) + digits/2) &^ (digits - 1))
}

// shown rounds a figure for people, to a number that JSON can hold.
func shown(x float64) float64 {
	if y := math.Round(x*1e9) / 1e9; y == finite(y) {
		return y
	}
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, -math.MaxFloat64), math.MaxFloat64)
}

func (p *progressShare) Why() Why {
	t, pool := &p.last, p.last.slot.Pool
	if t.Job == nil {
		return idle
	}
	kind := "this type"
	if n := t.slot.Node; n != nil && n.Type != "" {
		kind = n.Type
	}
	if t.rule == "calibration" {
		return because(t.rule, kind)
	}
	share, weight, minShare := t.job.share[pool], t.job.job.Weight, t.job.job.MinShare
	if !(weight > 0) {
		weight = 1
	}
	figures := []Figure{{"progress_share", shown(share)}, {"weight", shown(weight)}, {"affinity", shown(t.affinities[1])}}
	switch {
	case t.rule == "affinity":
		return because(t.rule, t.passed.job.Name, append(figures, Figure{"affinity_of_turn", shown(t.affinities[0])},
			Figure{"skips", float64(t.passed.skips[pool])})...)
	case t.rule == "skips":
		return because(t.rule, "", append(figures, Figure{"skips", float64(t.job.skips[pool])})...)
	case t.job.below(pool):
		return decidedBy("min_share", "", t.tie, append(figures, Figure{"min_share", shown(minShare)})...)
	default:
		return decidedBy(t.rule, "", t.tie, figures...)
	}
}

// passedTurns is progress share's memory of a job.
type passedTurns struct {
	Job       string     `json:"job"`
	Number    int64      `json:"number"`
	Submitted float64    `json:"submitted_s"`
	Skips     [Kinds]int `json:"skips"` // by pool
}

func (p *progressShare) Memory() ([]byte, error) {
	turns := []passedTurns{}
	for _, s := range slices.SortedFunc(slices.Values(p.jobs), func(a, b *sharer) int { return a.job.compare(b.job) }) {
		if s.skips != [Kinds]int{} {
			turns = append(turns, passedTurns{s.job.Name, s.job.Number, s.job.SubmittedSeconds, s.skips})
		}
	}
	return json.Marshal(turns)
}

func (p *progressShare) Recall(memory []byte) error {
	var turns []passedTurns
	if err := json.Unmarshal(memory, &turns); err != nil {
		return fmt.Errorf("recall passed turns: %w", err)
	}
	for _, t := range turns {
		for _, s := range p.jobs {
			if s.job.Name == t.Job && s.job.Number == t.Number && s.job.SubmittedSeconds == t.Submitted {
				s.skips = t.Skips
			}
		}
	}
	return nil
}
