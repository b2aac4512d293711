package dispatch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	gomaps "maps"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// byLearning is the second implementation: it stores decisions as documents, and learns from all of them again for
// every slot.
type byLearning struct {
	t        *testing.T
	w        *world
	policy   PolicyConfig // filled
	pending  map[int64]string
	judged   []string // in the order of judgements
	arrived  []*Job
	rules    map[string]int
	relearns int
	checked  int
	chance   func(Features) float64 // after the judgements so far
	asOf     [2]int
}

func stored(t *testing.T, d Decision) string {
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b *byLearning) read(text string) (d Decision) {
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		b.t.Fatal(err)
	}
	return d
}

func (b *byLearning) all(yield func(*Decision, error) bool) {
	for i, text := range b.judged {
		d := b.read(text)
		if !yield(&d, nil) {
			return
		}
		b.judged[i] = stored(b.t, d) // with its new label
	}
}

// noted records the policy's decisions and checks that both policies report the same ones.
func (b *byLearning) noted(w *world, e Event) {
	p, again := w.policy.(*Learned), w.recalled.(*Learned)
	if e.What == Arrived {
		b.arrived = append(b.arrived, e.Job)
	}
	d, made := p.Decided()
	if made {
		b.pending[d.Number] = stored(b.t, d)
	}
	if made != (e.What == Started) {
		b.t.Fatalf("%v: a decision: %v", e.What, made)
	}
	for _, d := range p.Judged() {
		if overload := b.overload(&d.Judgement.Metrics); d.Judgement.Good == overload || d.Judgement.Number != int64(len(b.judged)+1) ||
			d.Judgement.Metrics.Load1 != e.Node.Report.Load1 || e.Node.Heartbeats < d.Heartbeat+*b.policy.EvaluationDelay {
			b.t.Fatalf("at %g %s is judged as %+v", w.now, e.Node.Name, d)
		}
		delete(b.pending, d.Number)
		b.judged = append(b.judged, stored(b.t, d))
	}
	for _, number := range p.Dropped() {
		delete(b.pending, number)
	}
	for number, text := range b.pending { // nothing waits too long
		if d := b.read(text); e.What == Reported && d.Node == e.Node.Name && e.Node.Heartbeats >= d.Heartbeat+*b.policy.EvaluationDelay {
			b.t.Fatalf("decision %d waits for its judgement", number)
		}
	}
	if diff := gocmp.Diff(p.Judged(), again.Judged(), cmpopts.EquateEmpty()); diff != "" {
		b.t.Fatalf("the policy that recalled judges (-one that lived on):\n%s", diff)
	}
	if !slices.Equal(slices.Sorted(slices.Values(p.Dropped())), slices.Sorted(slices.Values(again.Dropped()))) {
		b.t.Fatalf("dropped: %v, and %v by the policy that recalled", p.Dropped(), again.Dropped())
	}
}

func (b *byLearning) overload(m *Metrics) bool {
	for _, r := range b.policy.Rules {
		x := map[NodeMetric]float64{"load1": m.Load1, "cpu_pct": m.CPUPercent, "mem_pct": m.MemoryPercent}[r.Metric]
		if r.Per == PerCPU {
			x /= m.Cores
		}
		if x > r.Limit {
			return true
		}
	}
	return false
}

// bins is features in ranges, by names.
func (b *byLearning) bins(f Features) (at []string, size []int, scaled []float64) {
	add := func(name string, bin, bins int) {
		at, size, scaled = append(at, fmt.Sprint(name, bin)), append(size, bins), append(scaled, float64(bin)/float64(bins-1))
	}
	for i, x := range []float64{f.Usage.CPU, f.Usage.Memory, f.Usage.Disk, f.Usage.Network} {
		add(fmt.Sprint("usage", i, " "), int(min(max(math.Round(x), 1), 10))-1, 10)
	}
	load := 0
	for _, edge := range []float64{.25, .5, .7, .8, .9, 1, 1.1, 1.25, 1.5, 2, 3, 4} {
		if edge**b.policy.Target <= f.Load1/f.Cores {
			load++
		}
	}
	add("load ", load, 13)
	add("running ", min(int(f.Running), 24), 25)
	add("cpu ", min(int(f.CPUPercent/10), 9), 10)
	for _, a := range b.policy.Features {
		if a.Words != nil {
			bin := len(a.Words)
			if word, there := f.Words[a.Name]; !there {
				bin++
			} else if i := slices.Index(a.Words, word); i >= 0 {
				bin = i
			}
			add(a.Name+" ", bin, len(a.Words)+2)
			scaled[len(scaled)-1] = 1
			continue
		}
		x, there := f.Numbers[a.Name]
		if !there {
			add(a.Name+" ", len(a.Edges)+1, len(a.Edges)+2)
			scaled[len(scaled)-1] = 0
			continue
		}
		bin := 0
		for _, edge := range a.Edges {
			if edge <= x {
				bin++
			}
		}
		add(a.Name+" ", bin, len(a.Edges)+2)
		scaled[len(scaled)-1] = float64(bin) / float64(len(a.Edges))
	}
	return at, size, scaled
}

// learned returns the probability that something with these features is good.
func (b *byLearning) learned() func(Features) float64 {
	if b.policy.Classifier == Perceptron {
		weights, bias := map[string]float64{}, 0.0
		key := func(at string, i int) string {
			for _, a := range b.policy.Features {
				if a.Words != nil && len(at) > len(a.Name) && at[:len(a.Name)] == a.Name {
					return at // words have a weight each
				}
			}
			return fmt.Sprint(i)
		}
		good := func(f Features) float64 {
			at, _, scaled := b.bins(f)
			x := bias
			for i := range at {
				x += weights[key(at[i], i)] * scaled[i]
			}
			return 1 / (1 + math.Exp(-x))
		}
		for _, text := range b.judged {
			d := b.read(text)
			label := !b.overload(&d.Judgement.Metrics)
			if (good(d.Features) >= 0.5-1e-12) == label {
				continue
			}
			y := -1.0
			if label {
				y = 1
			}
			bias += y
			at, _, scaled := b.bins(d.Features)
			for i := range at {
				weights[key(at[i], i)] += y * scaled[i]
			}
		}
		return good
	}
	count, n := [2]map[string]float64{{}, {}}, [2]float64{}
	for _, text := range b.judged {
		d := b.read(text)
		label := 1
		if b.overload(&d.Judgement.Metrics) {
			label = 0
		}
		n[label]++
		at, _, _ := b.bins(d.Features)
		for _, name := range at {
			count[label][name]++
		}
	}
	return func(f Features) float64 {
		at, size, _ := b.bins(f)
		var joint [2]float64
		for label := range joint {
			joint[label] = (n[label] + 1) / (n[0] + n[1] + 2)
			for i := range at {
				joint[label] *= (count[label][at[i]] + 1) / (n[label] + float64(size[i]))
			}
		}
		return joint[1] / (joint[0] + joint[1])
	}
}

func (b *byLearning) utility(j *Job, k Kind) float64 {
	product := 1.0
	for _, u := range b.policy.Utilities {
		product *= map[UtilityKind]func() float64{
			UtilityConstant: func() float64 { return *u.Value },
			UtilityFIFO:     func() float64 { return b.w.now - j.SubmittedSeconds + 1 },
			UtilityMapsFirst: func() float64 {
				if k == Map || j.Maps == 0 || j.MapsDone > 0 && float64(j.MapsDone) >= *u.SlowStart*float64(j.Maps) {
					return 1
				}
				return 0
			},
			UtilityBudget: func() float64 {
				if j.Balance <= 0 {
					return 0
				}
				return cmp.Or(j.Worth, 1)
			},
			UtilityDedicated: func() float64 {
				if j.Promised == 0 {
					return 0
				}
				current := 0.0
				for _, h := range b.w.held {
					if h.job == j {
						current += 1 / float64(len(b.w.held))
					}
				}
				return max(0, (j.Promised-current)/j.Promised)
			},
			UtilityRevenue: func() float64 { return j.Revenue },
		}[u.Kind]()
	}
	return product
}

func (b *byLearning) usual(k Kind, of func(Usage) float64) float64 {
	jobs := map[float64]int{}
	for _, j := range b.arrived {
		if x := of(j.Usage[k]); x > 0 {
			jobs[min(max(math.Round(x), 1), 10)]++
		}
	}
	if len(jobs) == 0 {
		return 5
	}
	return slices.MinFunc(slices.Collect(gomaps.Keys(jobs)), func(x, y float64) int {
		return cmp.Or(cmp.Compare(jobs[y], jobs[x]), cmp.Compare(x, y))
	})
}

func (b *byLearning) choose(w *world, s Slot) (*Job, Kind) {
	if asOf := [2]int{len(b.judged) + 1, b.relearns}; asOf != b.asOf {
		b.chance, b.asOf = b.learned(), asOf
	}
	type candidate struct {
		job      *Job
		kind     Kind
		p, value float64
	}
	var good, bad []candidate
	for _, j := range w.jobs {
		for k := range Kind(Kinds) {
			u := b.utility(j, k)
			if j.Pending[k] == 0 || w.layout.Of(k) != s.Pool || u <= 1e-12 {
				continue
			}
			f := Features{Usage: j.Usage[k], Load1: s.Node.Report.Load1, Cores: s.Node.Cores, CPUPercent: s.Node.Report.CPUPercent, Numbers: s.Node.Report.Numbers, Words: s.Node.Report.Words}
			for _, h := range w.held {
				if h.slot.Node == s.Node {
					f.Running++
				}
			}
			f.Usage.CPU = cmp.Or(f.Usage.CPU, b.usual(k, func(u Usage) float64 { return u.CPU }))
			f.Usage.Memory = cmp.Or(f.Usage.Memory, b.usual(k, func(u Usage) float64 { return u.Memory }))
			f.Usage.Disk = cmp.Or(f.Usage.Disk, b.usual(k, func(u Usage) float64 { return u.Disk }))
			f.Usage.Network = cmp.Or(f.Usage.Network, b.usual(k, func(u Usage) float64 { return u.Network }))
			c := candidate{j, k, b.chance(f), 0}
			if c.value = digits(u * c.p); c.p >= 0.5-1e-9 {
				good = append(good, c)
			} else {
				c.value = digits(c.p)
				bad = append(bad, c)
			}
		}
	}
	best := func(c []candidate) (*Job, Kind) {
		slices.SortFunc(c, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.job.SubmittedSeconds, b.job.SubmittedSeconds), cmp.Compare(a.kind, b.kind), order(nil, nil, a.job, b.job))
		})
		return c[0].job, c[0].kind
	}
	switch {
	case len(good) > 0:
		b.rules["expected_utility"]++
		return best(good)
	case len(bad) == 0:
		return nil, 0
	case *b.policy.ProbeWhenIdle && s.Node.Running == [Kinds]int{}:
		b.rules["probe"]++
		return best(bad)
	default:
		b.rules["overload"]++
		return nil, 0
	}
}

// relearn replaces the policies amid other events.
func (b *byLearning) relearn(p PolicyConfig) {
	b.policy = p.Filled()
	before := b.w.policy.(*Learned).Knowledge()
	known := before.Versions
	if b.relearns%3 == 2 { // the versions of another moment
		known.Classifier--
	}
	var flipped [2][]int64
	ahead, err := LearnAhead(p, known, func(yield func(*Decision, error) bool) {
		for d := range b.all {
			seen, judgement := *d, *d.Judgement
			seen.Judgement = &judgement
			if d.Judgement.Number > before.Judgements/2 || !yield(&seen, nil) {
				return
			}
		}
	})
	if err == nil { // before the other policy, which relabels the choices
		flipped[1], err = b.w.recalled.(*Learned).RelearnAfter(ahead, p, func(after int64) iter.Seq2[*Decision, error] {
			if want := before.Judgements / 2; known == before.Versions && after != want || known != before.Versions && after != 0 {
				b.t.Errorf("what was learned ahead of %+v until %d is used until %d by %+v", known, want, after, before.Versions)
			}
			return func(yield func(*Decision, error) bool) {
				for d := range b.all {
					seen, judgement := *d, *d.Judgement
					seen.Judgement = &judgement
					if d.Judgement.Number > after && !yield(&seen, nil) {
						return
					}
				}
			}
		})
	}
	if err == nil {
		flipped[0], err = b.w.policy.(*Learned).RelearnAfter(nil, p, func(int64) iter.Seq2[*Decision, error] { return b.all })
	}
	if err != nil || !slices.Equal(flipped[0], flipped[1]) {
		b.t.Fatalf("%v; other labels have %v, and where some was learned ahead %v", err, flipped[0], flipped[1])
	}
	b.relearns++
	if after := b.w.policy.(*Learned).Knowledge(); after.Classifier != before.Classifier+1 || after.Decisions != before.Decisions || after.Judgements != before.Judgements {
		b.t.Fatalf("learning again made %+v of %+v", after.Versions, before.Versions)
	}
}

// rebuilt compares the policy's counts with those relearned from the stored decisions.
func (b *byLearning) rebuilt() {
	p := b.w.policy.(*Learned)
	anew := NewLearned(b.w.layout, b.policy)
	if err := anew.Relearn(b.policy, b.all); err != nil {
		b.t.Fatal(err)
	}
	if diff := gocmp.Diff(p.Knowledge().Counts, anew.Knowledge().Counts); diff != "" {
		b.t.Fatalf("what was learned differs from what is learned from the stored decisions (-learned):\n%s", diff)
	}
	b.checked++
}

func TestLearnedChoosesByItsRule(t *testing.T) {
	documents := []string{
		`{"kind":"learned","evaluation_delay_heartbeats":1}`,
		`{"kind":"learned","classifier":"perceptron","evaluation_delay_heartbeats":3,"utilities":[{"kind":"constant","value":2},{"kind":"map_before_reduce","slow_start":0.5}],"features":[{"name":"rack","words":["a","b"]},{"name":"gpu","edges":[0.3,0.6]}]}`,
		`{"kind":"learned","evaluation_delay_heartbeats":1,"target":1.5,"rules":[{"metric":"load1","limit":1.2,"per":"cpu"},{"metric":"cpu_pct","limit":80}],"probe_when_idle":false,"utilities":[{"kind":"budget"},{"kind":"dedicated_capacity"}]}`,
		`{"kind":"learned","classifier":"perceptron","evaluation_delay_heartbeats":1,"target":0.8,"utilities":[{"kind":"revenue"},{"kind":"fifo"}]}`,
	}
	var policies []PolicyConfig
	for _, document := range documents {
		p, err := ReadPolicy([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		policies = append(policies, p)
	}
	for i := range policies {
		for _, layout := range []Layout{Separate, Shared} {
			t.Run(fmt.Sprintf("%d/%d", i, layout), func(t *testing.T) {
				rules := map[string]int{}
				chosen, recalls, judged, relearns, checked := 0, 0, 0, 0, 0
				for seed := range uint64(wholeSamples(2, 60)) {
					b := &byLearning{t: t, pending: map[int64]string{}, rules: rules, policy: policies[i].Filled()}
					w := newWorld(t, seed, layout, func() Policy { return NewLearned(layout, b.policy) })
					b.w, w.choose, w.noted = w, b.choose, b.noted
					w.resume = func(p Policy) {
						var pending []Decision
						for _, number := range slices.Sorted(gomaps.Keys(b.pending)) {
							pending = append(pending, b.read(b.pending[number]))
						}
						if dropped := p.(*Learned).Resume(pending); dropped != nil {
							t.Fatalf("dropped %v", dropped)
						}
					}
					known := families(w.r)
					for n := range 200 {
						if n%50 == 49 {
							b.rebuilt()
						}
						if n == 120 {
							b.relearn(policies[(i+1)%len(policies)])
						}
						w.step(known)
					}
					chosen, recalls, judged, relearns, checked = chosen+w.chosen, recalls+w.recalls, judged+len(b.judged), relearns+b.relearns, checked+b.checked
				}
				t.Logf("%d choices, %d judged, %d policies that recalled, %d learned again, %d rebuilt, %v", chosen, judged, recalls, relearns, checked, rules)
				if rules["expected_utility"] < 50 || rules["overload"] < 5 || judged < 50 || recalls < 5 {
					t.Error("the test decides nothing")
				}
			})
		}
	}
}
