package dispatch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"

	"example.org/headroom/internal/core/fault"
)

// Learned gives a node the task with the highest expected utility among those unlikely to overload it, judged by past
// choices on nodes in a like state (paper 1). It learns from heartbeats alone: a choice is judged by the state that
// its node reports a fixed number of heartbeats later.
//
// It counts the outcomes of its choices. A caller with a store keeps each choice (Decided, after it was started), its
// judgement (Judged, after a report) and the choices that nobody can judge (Dropped), together with the Memory after
// them. Relearn makes the same counts again from the judged choices.
type Learned struct {
	layout     Layout
	policy     PolicyConfig
	encoding   *encoding
	classifier classifier
	versions   Versions
	decisions  int64 // number of choices made
	judgements int64

	jobs    []*learning
	byJob   map[*Job]*learning
	nodes   map[*Node]*watched
	running int                                        // tasks in the cluster
	usage   [Kinds][usageFeatures][usageBins + 1]int64 // jobs submitted, by usage
	usual   [Kinds][usageFeatures]float64              // the usage of most jobs

	last    expected
	scratch []uint8
	decided *Decision
	judged  []Decision
	dropped []int64
}

// learning is a job as the policy knows it.
type learning struct {
	job *Job
	at  int // among the jobs
}

// watched is a node with the choices that wait to be judged.
type watched struct {
	node    *Node
	pending []Decision
}

// Versions counts replacements at run time: of the rules that judge nodes, and of the classifier.
type Versions struct {
	Rules      int64 `json:"rules"`
	Classifier int64 `json:"classifier"`
}

// Decision is a choice that was carried out, with all that is needed to learn from it again.
type Decision struct {
	Number     int64      `json:"number"` // from 1
	Node       string     `json:"node"`
	Job        string     `json:"job"`
	JobNumber  int64      `json:"job_number"`
	Task       Kind       `json:"task"`
	At         float64    `json:"at_s"`
	Heartbeat  int64      `json:"heartbeat"` // of the node, at which it was made
	Features   Features   `json:"features"`
	PGood      float64    `json:"p_good"`
	Utility    float64    `json:"utility"`
	Probe      bool       `json:"probe,omitempty"` // it looked bad, and the node was idle
	Classifier int64      `json:"classifier_version"`
	Judgement  *Judgement `json:"judgement,omitempty"` // nil while it is pending
}

// Judgement is the outcome of a choice.
type Judgement struct {
	Number  int64   `json:"number"` // from 1, in the order in which they were learned
	At      float64 `json:"at_s"`
	Metrics Metrics `json:"metrics"`
	Good    bool    `json:"good"` // the node is not overloaded
	Rules   int64   `json:"rules_version"`
}

// Knowledge holds everything learned so far.
type Knowledge struct {
	Versions
	Kind       ClassifierKind `json:"kind"`
	Decisions  int64          `json:"decisions"`  // made
	Judgements int64          `json:"judgements"` // of those
	Counts     Counts         `json:"counts"`
	// Usage counts the jobs submitted, by kind of task, resource and value used (0: not said).
	Usage [Kinds][usageFeatures][usageBins + 1]int64 `json:"usage"`
}

// expected describes the last choice.
type expected struct {
	Choice
	slot       Slot
	features   Features
	utility    float64
	pGood      float64
	probe      bool
	tie        Tie
	candidates int // with a utility above 0
}

// NewLearned returns a policy that has learned nothing yet and so takes everything for good.
func NewLearned(l Layout, p PolicyConfig) *Learned {
	d := &Learned{layout: l, byJob: map[*Job]*learning{}, nodes: map[*Node]*watched{}, versions: Versions{1, 1}}
	d.become(p.Filled())
	d.settle()
	return d
}

func (d *Learned) become(p PolicyConfig) {
	d.policy = p
	d.encoding = newEncoding(p)
	d.classifier = newClassifier(p.Classifier, d.encoding)
}

func (d *Learned) Note(e Event) {
	d.decided, d.judged, d.dropped = nil, d.judged[:0], d.dropped[:0]
	switch e.What {
	case Joined:
		d.watch(e.Node)
	case Reported:
		d.judge(d.watch(e.Node), e.Now)
	case Gone:
		if w := d.nodes[e.Node]; w != nil {
			d.drop(w)
			delete(d.nodes, e.Node)
		}
	case Arrived:
		j := &learning{e.Job, len(d.jobs)}
		d.jobs = append(d.jobs, j)
		d.byJob[e.Job] = j
		d.submitted(e.Job)
	case Started:
		d.running++
		if d.last.Job == e.Job && d.last.Task == e.Task && d.last.slot == e.Slot && e.Job != nil && e.Slot.Node != nil {
			d.decide(e)
		}
	case Ended:
		d.running = max(0, d.running-1)
	case Left:
		if j := d.byJob[e.Job]; j != nil {
			last := d.jobs[len(d.jobs)-1]
			d.jobs[j.at], last.at = last, j.at
			d.jobs[len(d.jobs)-1] = nil
			d.jobs = d.jobs[:len(d.jobs)-1]
			delete(d.byJob, e.Job)
		}
	}
	d.last = expected{}
}

func (d *Learned) watch(n *Node) *watched {
	w := d.nodes[n]
	if w == nil {
		w = &watched{node: n}
		d.nodes[n] = w
	}
	return w
}

func (d *Learned) drop(w *watched) {
	for i := range w.pending {
		d.dropped = append(d.dropped, w.pending[i].Number)
	}
	w.pending = w.pending[:0]
}

// submitted counts a job's usage, which stands in for jobs of unknown usage.
func (d *Learned) submitted(j *Job) {
	for k := range j.Usage {
		for f, x := range j.Usage[k].values() {
			if x > 0 {
				d.usage[k][f][usageBin(x)+1]++
			} else {
				d.usage[k][f][0]++
			}
		}
	}
	d.settle()
}

// settle finds the most frequent usage of each resource: of equally frequent values the smallest, and 5 where nothing
// is said.
func (d *Learned) settle() {
	for k := range d.usage {
		for f := range d.usage[k] {
			d.usual[k][f] = 5
			var frequency int64
			for bin, jobs := range d.usage[k][f][1:] {
				if jobs > frequency {
					d.usual[k][f], frequency = float64(bin+1), jobs
				}
			}
		}
	}
}

func (u *Usage) values() [usageFeatures]float64 {
	return [...]float64{u.CPU, u.Memory, u.Disk, u.Network}
}

// known returns a task's usage, with the usual one for resources of unknown use.
func (d *Learned) known(j *Job, k Kind) Usage {
	u, usual := j.Usage[k], &d.usual[k]
	for f, x := range [...]*float64{&u.CPU, &u.Memory, &u.Disk, &u.Network} {
		if !(*x > 0) {
			*x = usual[f]
		}
		*x = min(*x, usageBins)
	}
	return u
}

func (d *Learned) Choose(now float64, s Slot) Choice {
	d.last = expected{slot: s, features: d.encoding.observe(s.Node)}
	d.scratch = d.encoding.node(d.scratch, &d.last.features)
	d.classifier.look(d.scratch)
	var good, bad first[candidate]
	for _, l := range d.jobs {
		j := l.job
		for k := range Kind(Kinds) {
			if j.Pending[k] == 0 || d.layout.Of(k) != s.Pool {
				continue
			}
			u := d.utility(j, k, now)
			if !(u > 0) {
				continue
			}
			d.last.candidates++
			usage := d.known(j, k)
			c := candidate{Choice: Choice{j, k}, utility: u, good: d.classifier.good(d.encoding.task(&usage))}
			if c.expected = rounded(u * c.good); isGood(c.good) {
				good.offer(c, candidate.compare, candidate.before)
			} else {
				c.expected = rounded(c.good)
				c.good = c.expected
				bad.offer(c, candidate.compare, candidate.before)
			}
		}
	}
	switch {
	case good.some:
		d.last.choose(&good)
	case !bad.some:
	case *d.policy.ProbeWhenIdle && (s.Node == nil || s.Node.Running[Map]+s.Node.Running[Reduce] == 0):
		d.last.choose(&bad)
		d.last.probe = true
	default:
		d.last.pGood = bad.best.good
	}
	return d.last.Choice
}

// candidate is a task that may start.
type candidate struct {
	Choice
	utility, good, expected float64
}

func (e *expected) choose(f *first[candidate]) {
	e.Choice, e.utility, e.pGood = f.best.Choice, f.best.utility, f.best.good
	if f.tied {
		e.tie = f.best.tie(f.next)
	}
}

func (c candidate) compare(other candidate) int { return cmp.Compare(other.expected, c.expected) }

// tie returns what puts a candidate before another of equal expectation.
func (c candidate) tie(other candidate) Tie {
	if c.Job.SubmittedSeconds == other.Job.SubmittedSeconds && c.Task != other.Task {
		return TieKind
	}
	return tieBetween(c.Job, other.Job)
}

func (c candidate) before(other candidate) bool {
	if c.tie(other) == TieKind {
		return c.Task < other.Task
	}
	return c.Job.before(other.Job)
}

// utility returns the product of the policy's utilities for a task.
func (d *Learned) utility(j *Job, k Kind, now float64) float64 {
	product := 1.0
	for i := range d.policy.Utilities {
		u := &d.policy.Utilities[i]
		switch u.Kind {
		case UtilityConstant:
			product *= *u.Value
		case UtilityFIFO:
			product *= max(0, now-j.SubmittedSeconds) + 1 // a job that was just submitted is worth something as well
		case UtilityMapsFirst:
			if k == Reduce && j.Maps > 0 && (j.MapsDone == 0 || float64(j.MapsDone) < *u.SlowStart*float64(j.Maps)*(1-tolerance)) {
				return 0
			}
		case UtilityBudget:
			if !(j.Balance > 0) {
				return 0
			}
			if j.Worth > 0 {
				product *= j.Worth
			}
		case UtilityDedicated: // the less of its share it has (the paper has the inverse)
			if !(j.Promised > 0) {
				return 0
			}
			held := 0.0
			if d.running > 0 {
				held = float64(j.Running[Map]+j.Running[Reduce]) / float64(d.running)
			}
			product *= max(0, (j.Promised-held)/j.Promised)
		case UtilityRevenue:
			product *= max(0, j.Revenue)
		}
	}
	return min(product, math.MaxFloat64)
}

// decide records the choice that was carried out.
func (d *Learned) decide(e Event) {
	n := e.Slot.Node
	w := d.watch(n)
	d.decisions++
	made := Decision{Number: d.decisions, Node: n.Name, Job: e.Job.Name, JobNumber: e.Job.Number, Task: e.Task, At: e.Now, Heartbeat: n.Heartbeats,
		Features: d.encoding.kept(d.last.features), PGood: d.last.pGood, Utility: d.last.utility, Probe: d.last.probe, Classifier: d.versions.Classifier}
	made.Features.Usage = d.known(e.Job, e.Task)
	w.pending = append(w.pending, made)
	d.decided = &w.pending[len(w.pending)-1]
}

// Decided returns the choice that the last event, a start, carried out; false if the choice was not the policy's.
func (d *Learned) Decided() (Decision, bool) {
	if d.decided == nil {
		return Decision{}, false
	}
	return *d.decided, true
}

// judge judges the choices of a node that have waited long enough.
func (d *Learned) judge(w *watched, now float64) {
	n := w.node
	kept := w.pending[:0]
	for _, p := range w.pending {
		switch beats := n.Heartbeats - p.Heartbeat; {
		case beats < 0: // it counts heartbeats anew; the time between is unknown
			d.dropped = append(d.dropped, p.Number)
		case beats < *d.policy.EvaluationDelay:
			kept = append(kept, p)
		default:
			d.judgements++
			p.Judgement = &Judgement{Number: d.judgements, At: now, Metrics: metricsOf(n)}
			d.learn(d.classifier, &p)
			d.judged = append(d.judged, p)
		}
	}
	w.pending = kept
}

// learn labels a choice by the rules of this moment and lets a classifier learn it.
func (d *Learned) learn(c classifier, p *Decision) {
	p.Judgement.Good = !overloaded(d.policy.Rules, &p.Judgement.Metrics)
	p.Judgement.Rules = d.versions.Rules
	d.lesson(c, &p.Features, p.Judgement.Good)
}

// lesson lets a classifier learn an outcome.
func (d *Learned) lesson(c classifier, f *Features, good bool) {
	d.scratch = d.encoding.node(d.scratch, f)
	c.learn(d.encoding.task(&f.Usage), d.scratch, good)
}

// good returns the probability that a choice with these features is a good one.
func (d *Learned) good(f *Features) float64 {
	d.scratch = d.encoding.node(d.scratch, f)
	d.classifier.look(d.scratch)
	return d.classifier.good(d.encoding.task(&f.Usage))
}

// Judged returns the choices that the last event, a report, judged. They are valid until the next event.
func (d *Learned) Judged() []Decision { return d.judged }

// Dropped returns the numbers of the choices that the last event has made impossible to judge: their node is gone, or
// counts its heartbeats anew.
func (d *Learned) Dropped() []int64 { return d.dropped }

// Knowledge returns a copy of everything learned so far.
func (d *Learned) Knowledge() Knowledge {
	k := d.knowledge()
	k.Counts.Weights = slices.Clone(k.Counts.Weights)
	k.Counts.Ranges = slices.Clone(k.Counts.Ranges)
	for f := range k.Counts.Ranges {
		k.Counts.Ranges[f] = slices.Clone(k.Counts.Ranges[f])
	}
	return k
}

func (d *Learned) knowledge() Knowledge {
	return Knowledge{Versions: d.versions, Kind: d.policy.Classifier, Decisions: d.decisions, Judgements: d.judgements, Counts: d.classifier.counts(), Usage: d.usage}
}

// Memory returns what was learned. It leaves out the choices that are not judged yet: they are many, and the caller
// that stores each of them gives them back with Resume.
func (d *Learned) Memory() ([]byte, error) { return json.Marshal(d.knowledge()) }

func (d *Learned) Recall(memory []byte) error {
	var k Knowledge
	if err := json.Unmarshal(memory, &k); err != nil {
		return fmt.Errorf("recall what was learned: %w", err)
	}
	if err := d.take(&k); err != nil {
		return fmt.Errorf("recall what was learned: %w: learn again from its decisions", err)
	}
	return nil
}

// take makes knowledge the policy's own.
func (d *Learned) take(k *Knowledge) error {
	if k.Kind != d.policy.Classifier {
		return fmt.Errorf("it is of %s, and the policy learns by %s", k.Kind, d.policy.Classifier)
	}
	if err := d.classifier.recall(k.Counts); err != nil {
		return err
	}
	d.versions, d.decisions, d.judgements, d.usage = k.Versions, k.Decisions, k.Judgements, k.Usage
	d.settle()
	return nil
}

// Resume takes back choices that wait to be judged, in the order of their numbers, after their nodes were noted. It
// returns the numbers of those whose node is gone.
func (d *Learned) Resume(pending []Decision) (dropped []int64) {
	named := map[string]*watched{}
	for _, w := range d.nodes {
		named[w.node.Name] = w
	}
	for _, p := range pending {
		if w := named[p.Node]; w != nil {
			w.pending = append(w.pending, p)
		} else {
			dropped = append(dropped, p.Number)
		}
	}
	return dropped
}

// Relearn replaces the policy, with its classifier and rules, and learns again from the judged choices in the order
// of their judgements. Each gets the label of the new rules, which the caller stores. Unjudged choices go on waiting.
// If the policy is refused or reading fails, nothing changes.
func (d *Learned) Relearn(p PolicyConfig, judged iter.Seq2[*Decision, error]) error {
	_, err := d.RelearnAfter(nil, p, func(int64) iter.Seq2[*Decision, error] { return judged })
	return err
}

// Ahead holds the lessons of the choices up to a judgement, learned while others were still being judged. Of a
// hundred thousand choices only a few are then left to learn while everything else must wait.
type Ahead struct {
	learned *Learned
	from    Versions
	flipped []int64
}

// LearnAhead learns from judged choices on behalf of a policy with this document and these versions.
func LearnAhead(p PolicyConfig, known Versions, judged iter.Seq2[*Decision, error]) (*Ahead, error) {
	a := &Ahead{learned: NewLearned(Shared, p), from: known}
	var err error
	a.flipped, err = a.learned.RelearnAfter(nil, p, func(int64) iter.Seq2[*Decision, error] { return judged })
	return a, err
}

// RelearnAfter is Relearn that starts from ahead, unless that is out of date, and then reads only the choices after
// its last judgement. It returns the numbers of the choices whose label changed.
func (d *Learned) RelearnAfter(ahead *Ahead, p PolicyConfig, judged func(after int64) iter.Seq2[*Decision, error]) (flipped []int64, err error) {
	if err := p.Validate(""); err != nil {
		return nil, err
	}
	if p.Kind != PolicyLearned {
		return nil, fmt.Errorf("learn again: the policy is %s: %w", p.Kind, fault.Invalid)
	}
	before := *d
	d.become(p.Filled())
	d.versions.Classifier++
	if !slices.Equal(d.policy.Rules, before.policy.Rules) {
		d.versions.Rules++
	}
	d.judgements, d.last = 0, expected{}
	if ahead != nil && ahead.from == before.versions && reflect.DeepEqual(ahead.learned.policy, d.policy) {
		d.classifier, d.judgements, flipped = ahead.learned.classifier, ahead.learned.judgements, ahead.flipped
	}
	for decision, err := range judged(d.judgements) {
		if err == nil && decision.Judgement == nil {
			err = fmt.Errorf("decision %d has no judgement: %w", decision.Number, fault.Invalid)
		}
		if err != nil {
			*d = before
			return nil, fmt.Errorf("learn again: %w", err)
		}
		was := decision.Judgement.Good
		d.judgements = max(d.judgements, decision.Judgement.Number)
		d.learn(d.classifier, decision)
		if decision.Judgement.Good != was {
			flipped = append(flipped, decision.Number)
		}
	}
	d.judgements = max(d.judgements, before.judgements)
	return flipped, nil
}

func (d *Learned) Why() Why {
	e := &d.last
	figures := []Figure{{"p_good", shown(e.pGood)}, {"utility", shown(e.utility)}, {"candidates", float64(e.candidates)}}
	switch {
	case e.Job == nil && e.candidates == 0:
		return idle
	case e.Job == nil:
		return because("overload", "", figures[0], figures[2])
	case e.probe:
		return decidedBy("probe", "", e.tie, figures...)
	default:
		return decidedBy("expected_utility", "", e.tie, figures...)
	}
}
