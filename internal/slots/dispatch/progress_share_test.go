package dispatch

import (
	"fmt"
	"math"
	"testing"

	"example.org/headroom/internal/core/perf"
)

// byProgressShare implements the rule of section 2.3 literally: it computes everything anew for every slot.
type byProgressShare struct {
	theta    float64
	maxSkips int
	skips    map[*Job]*[Kinds]int
	slot     Slot
	passed   *Job // by its last choice
	rules    map[string]int
}

// rates returns the worth of each type of node to a job.
func (b *byProgressShare) rates(w *world, j *Job) (rate map[string]float64, measured map[string]bool) {
	var types []perf.NodeType
	at := map[string]int{}
	for _, n := range w.nodes {
		units := n.ComputeUnits
		if units == 0 {
			units = n.Cores
		}
		i, known := at[n.Type]
		if !known {
			i = len(types)
			at[n.Type] = i
			types = append(types, perf.NodeType{Name: n.Type})
		}
		types[i].ComputeUnits = max(types[i].ComputeUnits, units)
	}
	sane := &perf.Rates{Types: map[string]perf.Mean{}}
	if j.Rates != nil {
		for name, m := range j.Rates.Types {
			if m.Seconds > 0 {
				sane.Types[name] = m
			}
		}
	}
	rate, measured = map[string]float64{}, map[string]bool{}
	for _, t := range sane.Of(types) {
		rate[t.Type], measured[t.Type] = t.Rate, !t.Imputed
	}
	return rate, measured
}

func (b *byProgressShare) choose(w *world, s Slot) (*Job, Kind) {
	b.slot, b.passed = s, nil
	slots := 0
	for _, n := range w.nodes {
		slots += n.Slots[s.Pool]
	}
	// First, a task on each type that a job was not measured on.
	var first *Job
	for _, j := range w.jobs {
		_, measured := b.rates(w, j)
		if j.Pending[Map] == 0 || w.layout.Of(Map) != s.Pool || measured[s.Node.Type] {
			continue
		}
		about := false
		for _, h := range w.held {
			same := h.job == j || j.Rates != nil && h.job.Rates == j.Rates
			about = about || same && h.kind == Map && h.slot.Node.Type == s.Node.Type
		}
		if !about && (first == nil || less(nil, nil, j, first)) {
			first = j
		}
	}
	if first != nil {
		b.rules["calibration"]++
		return first, Map
	}
	// Then the job that has the turn.
	affinity := map[*Job]float64{}
	keys := func(j *Job) []float64 {
		rate, _ := b.rates(w, j)
		held, all := 0.0, 0.0
		for _, h := range w.held {
			if h.job == j && h.slot.Pool == s.Pool {
				held += rate[h.slot.Node.Type]
			}
		}
		for _, n := range w.nodes {
			all += rate[n.Type] * float64(n.Slots[s.Pool])
		}
		affinity[j] = rate[s.Node.Type] * float64(slots) / all
		weight := j.Weight
		if weight == 0 {
			weight = 1
		}
		if share := held / all; j.MinShare > 0 && share < j.MinShare*(1-1e-9) {
			return []float64{0, digits(share / j.MinShare)}
		} else {
			return []float64{1, digits(share / weight)}
		}
	}
	var turn *Job
	for _, j := range w.jobs {
		if j.pending(w.layout, s.Pool) > 0 && (turn == nil || less(keys(j), keys(turn), j, turn)) {
			turn = j
		}
	}
	if turn == nil {
		return nil, 0
	}
	keys(turn)
	// Then the job that the slot suits much better.
	best := turn
	for _, j := range w.jobs {
		if j.pending(w.layout, s.Pool) == 0 || j == turn {
			continue
		}
		k := keys(j)
		if affinity[j] < (1+b.theta)*affinity[turn]*(1-1e-9) {
			continue
		}
		if best == turn || less(append([]float64{-digits(affinity[j])}, k...), append([]float64{-digits(affinity[best])}, keys(best)...), j, best) {
			best = j
		}
	}
	limit := b.maxSkips
	if limit == 0 {
		limit = slots
	}
	switch skips := b.of(turn)[s.Pool]; {
	case best == turn:
		b.rules["share"]++
	case skips >= limit:
		b.rules["skips"]++
		best = turn
	default:
		b.rules["affinity"]++
		b.passed = turn
	}
	return best, best.next(w.layout, s.Pool)
}

func (b *byProgressShare) of(j *Job) *[Kinds]int {
	if b.skips[j] == nil {
		b.skips[j] = new([Kinds]int)
	}
	return b.skips[j]
}

func (b *byProgressShare) noted(w *world, e Event) {
	if e.What == Started {
		b.of(e.Job)[w.layout.Of(e.Task)] = 0
		if b.passed != nil {
			b.of(b.passed)[w.layout.Of(e.Task)]++
		}
	}
}

// digits keeps nine digits.
func digits(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 9-math.Ceil(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

func TestProgressShareChoosesByItsRule(t *testing.T) {
	theta, skips := 0.3, int64(3)
	for name, p := range map[string]PolicyConfig{
		"default": {Kind: PolicyProgressShare},
		"eager":   {Kind: PolicyProgressShare, AffinityThreshold: &theta, MaxSkips: &skips},
	} {
		for _, layout := range []Layout{Separate, Shared} {
			t.Run(fmt.Sprintf("%s/%d", name, layout), func(t *testing.T) {
				rules := map[string]int{}
				chosen, recalls := 0, 0
				for seed := range uint64(wholeSamples(8, 300)) {
					f := p.Filled()
					b := &byProgressShare{theta: *f.AffinityThreshold, skips: map[*Job]*[Kinds]int{}, rules: rules}
					if f.MaxSkips != nil {
						b.maxSkips = int(*f.MaxSkips)
					}
					w := newWorld(t, seed, layout, func() Policy { return ProgressShare(layout, p) })
					w.choose, w.noted = b.choose, b.noted
					known := families(w.r)
					for range 300 {
						w.step(known)
					}
					chosen, recalls = chosen+w.chosen, recalls+w.recalls
				}
				t.Logf("%d choices, %d policies that recalled, %v", chosen, recalls, rules)
				for _, rule := range []string{"calibration", "share", "affinity"} {
					if rules[rule] < 20 {
						t.Errorf("%d choices by %s: the test decides nothing", rules[rule], rule)
					}
				}
				if name == "eager" && rules["skips"] < 20 {
					t.Errorf("%d choices by skips: the test decides nothing", rules["skips"])
				}
			})
		}
	}
}

// example plays the example of section 2.3: two slots of N1 and four of N2, two jobs of 60 maps each. A's maps take a
// third of their time on N1, B's take the same everywhere. It returns the end of each job, and the progress shares
// between the first choices and the first end of a job.
func example(p Policy) (ends [2]float64, shares [][2]float64) {
	nodes := []*Node{{Index: 0, Name: "fast", Type: "N1", Cores: 2, Slots: [Kinds]int{2}, Residual: 1}, {Index: 1, Name: "slow", Type: "N2", Cores: 4, Slots: [Kinds]int{4}, Residual: 1}}
	seconds := [2]map[string]float64{{"N1": 2, "N2": 6}, {"N1": 6, "N2": 6}}
	for _, n := range nodes {
		p.Note(Event{What: Joined, Node: n})
	}
	var jobs [2]*Job
	for i, name := range []string{"A", "B"} {
		r := &perf.Rates{}
		r.Add("N1", seconds[i]["N1"])
		r.Add("N2", seconds[i]["N2"])
		jobs[i] = &Job{Index: i, Class: i, Name: name, Pending: [Kinds]int{60}, Unfinished: 60, Known: Known{Rates: r}}
		p.Note(Event{What: Arrived, Job: jobs[i]})
	}
	type work struct {
		job  *Job
		slot Slot
		ends float64
	}
	var slots []Slot
	for _, n := range nodes {
		for range n.Slots[0] {
			slots = append(slots, Slot{Number: len(slots), Node: n})
		}
	}
	running := make([]*work, len(slots))
	for now := 0.0; jobs[0].Unfinished+jobs[1].Unfinished > 0; {
		for i, w := range running {
			if w != nil && w.ends == now {
				running[i] = nil
				w.job.Running[Map]--
				w.job.Unfinished--
				p.Note(Event{What: Ended, Now: now, Job: w.job, Slot: w.slot, Seconds: seconds[w.job.Index][w.slot.Node.Type]})
				if w.job.Unfinished == 0 {
					ends[w.job.Index] = now
				}
			}
		}
		for i, s := range slots {
			if running[i] != nil {
				continue
			}
			if c := p.Choose(now, s); c.Job != nil {
				c.Job.Pending[c.Task]--
				c.Job.Running[c.Task]++
				running[i] = &work{c.Job, s, now + seconds[c.Job.Index][s.Node.Type]}
				p.Note(Event{What: Started, Now: now, Job: c.Job, Slot: s})
			}
		}
		var held [2]float64
		now = math.Inf(1)
		for _, w := range running {
			if w != nil {
				held[w.job.Index] += 6 / seconds[w.job.Index][w.slot.Node.Type]
				now = min(now, w.ends)
			}
		}
		if ends == [2]float64{} {
			shares = append(shares, [2]float64{held[0] / 10, held[1] / 6})
		}
	}
	return ends, shares
}

func TestTheWorkedExample(t *testing.T) {
	ends, shares := example(Fair(Shared, []Share{{Weight: [Kinds]float64{1, 1}}, {Weight: [Kinds]float64{1, 1}}}))
	if want := [2]float64{72, 96}; ends != want {
		t.Errorf("slot by slot the jobs end at %v, want %v", ends, want)
	}
	if got, want := shares[0], [2]float64{0.5, 0.5}; got != want { // three slots each, one of A's is fast
		t.Errorf("slot by slot the progress shares are %v, want %v", got, want)
	}
	ends, shares = example(ProgressShare(Shared, PolicyConfig{Kind: PolicyProgressShare}))
	if want := [2]float64{60, 84}; ends != want {
		t.Errorf("by progress share the jobs end at %v, want %v", ends, want)
	}
	for _, got := range shares {
		if want := [2]float64{0.6, 4 / 6.0}; math.Abs(got[0]-want[0]) > 1e-12 || math.Abs(got[1]-want[1]) > 1e-12 {
			t.Errorf("the progress shares are %v, want %v", got, want)
		}
	}
}

// A on none, one or both of the fast slots, with three slots, has the shares .3, .5 and .7; B always .5.
func TestProgressSharesOfTheExample(t *testing.T) {
	for fast, want := range []float64{0.3, 0.5, 0.7} {
		p := ProgressShare(Shared, PolicyConfig{Kind: PolicyProgressShare}).(*progressShare)
		nodes := map[string]*Node{"N1": {Type: "N1", Slots: [Kinds]int{2}}, "N2": {Type: "N2", Slots: [Kinds]int{4}}}
		p.Note(Event{What: Joined, Node: nodes["N1"]})
		p.Note(Event{What: Joined, Node: nodes["N2"]})
		jobs := []*Job{{Name: "A", Known: Known{Rates: new(perf.Rates)}}, {Name: "B", Known: Known{Rates: new(perf.Rates)}}}
		for i, onFast := range []int{fast, 2 - fast} {
			j := jobs[i]
			j.Rates.Add("N1", []float64{2, 6}[i])
			j.Rates.Add("N2", 6)
			p.Note(Event{What: Arrived, Job: j})
			for n := range 3 {
				kind := "N2"
				if n < onFast {
					kind = "N1"
				}
				p.Note(Event{What: Started, Job: j, Slot: Slot{Node: nodes[kind]}})
			}
			p.current(p.byJob[j])
		}
		if got := [2]float64{p.byJob[jobs[0]].share[0], p.byJob[jobs[1]].share[0]}; math.Abs(got[0]-want) > 1e-12 || got[1] != 0.5 {
			t.Errorf("with %d fast slots of A the shares are %v, want %g and 0.5", fast, got, want)
		}
	}
}

// A slot goes to another job if it suits that job by exactly the threshold, though neither affinity has an exact
// binary form.
func TestTheThresholdItselfIsEnough(t *testing.T) {
	p := ProgressShare(Shared, PolicyConfig{Kind: PolicyProgressShare})
	fast, slow := &Node{Type: "t1", Slots: [Kinds]int{3}}, &Node{Type: "t2", Slots: [Kinds]int{2}}
	p.Note(Event{What: Joined, Node: fast})
	p.Note(Event{What: Joined, Node: slow})
	for i, seconds := range [][2]float64{{8, 8.5}, {13.0 / 3, 34}} {
		j := &Job{Name: fmt.Sprint(i), Pending: [Kinds]int{1}, Known: Known{Rates: new(perf.Rates)}}
		j.Rates.Add("t1", seconds[0])
		j.Rates.Add("t2", seconds[1])
		p.Note(Event{What: Arrived, Job: j})
	}
	if c := p.Choose(0, Slot{Node: fast}); c.Job.Name != "1" {
		t.Errorf("it goes to job %s: %+v", c.Job.Name, p.Why())
	}
}
