package dispatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
)

// DecideQuestion asks who gets a free slot of a cluster under each of some policies.
type DecideQuestion struct {
	Snapshot
	Slot     FreeSlot        `json:"slot"`
	Policies []PolicyConfig  `json:"policies,omitempty"` // default: all rules with their usual settings
	Shares   []SnapshotShare `json:"shares,omitempty"`   // under fair and capacity; an unnamed class has none
	History  DecisionHistory `json:"history,omitzero"`
}

// FreeSlot is the slot that is offered.
type FreeSlot struct {
	Node string   `json:"node,omitempty"` // "" where the snapshot has no nodes
	Kind TaskKind `json:"kind"`           // of separate slots; default map
}

// SnapshotShare holds the part of the slots that a class gets. Reduces, if given, is that of separate reduce slots.
type SnapshotShare struct {
	Class string `json:"class"`
	SlotsShare
	Reduces *SlotsShare `json:"reduces,omitempty"`
}

// SlotsShare is a part of slots: see Share.
type SlotsShare struct {
	Weight    float64 `json:"weight,omitempty"`
	Min       float64 `json:"min,omitempty"`
	Most      int64   `json:"most,omitempty"`
	MaxPerJob int64   `json:"most_per_job,omitempty"`
}

// DecisionHistory holds what policies remember beyond the jobs, nodes and running tasks.
type DecisionHistory struct {
	Skips     []SkippedTurns `json:"skips,omitempty"`     // under progress-share
	Knowledge *Knowledge     `json:"knowledge,omitempty"` // of learned
}

// SkippedTurns counts how often in a row a job has let others before it.
type SkippedTurns struct {
	Job     string `json:"job"`
	Times   int64  `json:"times,omitempty"`
	Reduces int64  `json:"reduces,omitempty"` // on separate reduce slots
}

// DecideAnswer tells who gets the slot.
type DecideAnswer struct {
	Decisions []SlotDecision `json:"decisions"` // by policy, in the order asked
}

// SlotDecision is the choice of a policy.
type SlotDecision struct {
	Policy PolicyConfig `json:"policy"` // with its defaults
	Job    string       `json:"job"`    // "": the slot stays idle
	Kind   TaskKind     `json:"kind,omitempty"`
	Why
	Facts words.Facts `json:"facts"` // the reason, as a fact about the job
}

// Decide offers the slot to each policy. Each is the policy of live clusters and of the simulator; it is told of the
// snapshot and given its history before.
func Decide(q DecideQuestion) (DecideAnswer, error) {
	a := DecideAnswer{Decisions: []SlotDecision{}}
	for i, config := range q.Policies {
		p, c, err := q.policy(config)
		if err != nil {
			return a, fault.At(fmt.Sprintf("/policies/%d", i), "premise", err.Error())
		}
		choice := p.Choose(q.NowSeconds, Slot{Number: -1, Pool: c.layout.Of(q.Slot.Kind.kind()), Node: c.nodes[q.Slot.Node]})
		d := SlotDecision{Policy: config.Filled(), Why: p.Why()}
		if choice.Job != nil {
			d.Job, d.Kind = choice.Job.Name, choice.Task.word()
		}
		d.Facts = d.Why.Facts(d.Job)
		a.Decisions = append(a.Decisions, d)
	}
	return a, nil
}

// policy returns a policy that knows the snapshot and its history.
func (q *DecideQuestion) policy(config PolicyConfig) (Policy, *scene, error) {
	setting := Setting{Layout: q.layout()}
	var classes []string
	for _, s := range q.Shares {
		classes = append(classes, s.Class)
		setting.Shares = append(setting.Shares, s.share())
	}
	p, err := New(config, setting)
	if err != nil {
		return nil, nil, err
	}
	c := q.scene(classes)
	q.told(c, p)
	return p, c, q.History.recall(config.Kind, p, c)
}

func (s *SnapshotShare) share() (all Share) {
	reduces := &s.SlotsShare
	if s.Reduces != nil {
		reduces = s.Reduces
	}
	for k, of := range [Kinds]*SlotsShare{&s.SlotsShare, reduces} {
		all.Weight[k], all.Min[k], all.Most[k], all.MaxPerJob[k] = of.Weight, of.Min, int(of.Most), int(of.MaxPerJob)
	}
	return all
}

// recall gives a policy its history, in the form that it gives away itself.
func (h *DecisionHistory) recall(kind PolicyKind, p Policy, c *scene) error {
	var memory any
	switch {
	case kind == PolicyProgressShare && len(h.Skips) > 0:
		turns := []passedTurns{}
		for _, s := range h.Skips {
			j := c.jobs[s.Job]
			turns = append(turns, passedTurns{j.Name, j.Number, j.SubmittedSeconds, [Kinds]int{int(s.Times), int(s.Reduces)}})
		}
		memory = turns
	case kind == PolicyLearned && h.Knowledge != nil:
		memory = h.Knowledge
	default:
		return nil
	}
	text, err := json.Marshal(memory)
	if err != nil {
		return fmt.Errorf("write what the policy %s remembers: %w", kind, err)
	}
	return p.(Memory).Recall(text)
}

// maxPoliciesAsked bounds the policies of a question.
const maxPoliciesAsked = 10

var (
	decideShape = strict.NewShape("a question of who gets a slot", []string{"jobs", "slot"}, "now_s", "separate", "nodes", "classes",
		"running", "policies", "shares", "history")
	freeSlotShape   = strict.NewShape("the slot", nil, "node", "kind")
	classShareShape = strict.NewShape("a share", []string{"class"}, "weight", "min", "most", "most_per_job", "reduces")
	slotsShareShape = strict.NewShape("a share", nil, "weight", "min", "most", "most_per_job")
	historyShape    = strict.NewShape("the history", nil, "skips", "knowledge")
	skipsShape      = strict.NewShape("skipped turns", []string{"job"}, "times", "reduces")
)

// ReadDecide reads a question of who gets a slot, as strictly as ReadProblem reads a problem. Each complete changes
// it before it is checked.
func ReadDecide(data []byte, complete ...func(*DecideQuestion)) (DecideQuestion, error) {
	q := DecideQuestion{Slot: FreeSlot{Kind: MapTask}}
	for _, kind := range PolicyKinds {
		q.Policies = append(q.Policies, PolicyConfig{Kind: kind})
	}
	r := strict.NewReader(data)
	r.Object(decideShape, func(name string) {
		switch name {
		case "slot":
			r.Fields(freeSlotShape, &q.Slot)
		case "policies":
			q.Policies = strict.List(r, "of policies", maxPoliciesAsked, readPolicy)
		case "shares":
			q.Shares = strict.List(r, "of shares", maxSnapshotClasses, readClassShare)
		case "history":
			r.Object(historyShape, func(name string) {
				if name == "knowledge" {
					q.History.Knowledge = new(Knowledge)
					readKnowledge(r, q.History.Knowledge)
				} else {
					q.History.Skips = strict.List(r, "of skipped turns", maxSnapshotJobs, readSkipped)
				}
			})
		default:
			q.read(r, name)
		}
	})
	r.End()
	for _, change := range complete {
		change(&q)
	}
	if err := r.Result(q.check); err != nil {
		return DecideQuestion{}, err
	}
	return q, nil
}

func readSkipped(r *strict.Reader, s *SkippedTurns) { r.Fields(skipsShape, s) }

func readClassShare(r *strict.Reader, s *SnapshotShare) {
	r.Object(classShareShape, func(name string) {
		if name == "reduces" {
			s.Reduces = new(SlotsShare)
			r.Fields(slotsShareShape, s.Reduces)
		} else {
			r.Field(s, name)
		}
	})
}

func (q *DecideQuestion) check(c *strict.Checker) {
	nodes, jobs := q.Snapshot.check(c)
	jobNames := slices.Sorted(maps.Keys(jobs))
	if len(q.Jobs) == 0 {
		c.Refuse("jobs", "too_few", "There is no job that could get the slot; give at least one.")
	}
	c.Enter("slot")
	strict.OneOf(c, "kind", q.Slot.Kind, taskKindWords)
	q.checkNode(c, q.Slot.Node, nodes, slices.Sorted(maps.Keys(nodes)))
	if at, known := nodes[q.Slot.Node]; known && c.Sound() {
		q.checkFree(c, at)
	}
	c.Leave()
	if len(q.Policies) == 0 {
		c.Refuse("policies", "too_few", "There is no policy; give at least one, or leave the list out for all.")
	}
	named := map[string]bool{}
	strict.Each(c, "shares", q.Shares, func(s *SnapshotShare) {
		c.Label("class", s.Class)
		if named[s.Class] {
			c.Refuse("class", "duplicate", "The class %q is there twice; keep one.", fault.Clip(s.Class))
		}
		named[s.Class] = true
		s.SlotsShare.check(c)
		if s.Reduces != nil {
			c.Enter("reduces")
			s.Reduces.check(c)
			c.Leave()
		}
	})
	c.Enter("history")
	skipping := map[string]bool{}
	strict.Each(c, "skips", q.History.Skips, func(s *SkippedTurns) {
		if _, known := jobs[s.Job]; !known {
			unknown(c, "job", "job", s.Job, jobNames)
		} else if skipping[s.Job] {
			c.Refuse("job", "duplicate", "The job %q is there twice; keep one.", fault.Clip(s.Job))
		}
		skipping[s.Job] = true
		c.Whole("times", "The number of turns", "", s.Times, 0, maxSkipsOfJob)
		c.Whole("reduces", "The number of turns", "", s.Reduces, 0, maxSkipsOfJob)
	})
	if k := q.History.Knowledge; k != nil {
		c.Enter("knowledge")
		k.check(c)
		c.Leave()
	}
	c.Leave()
	for i := range q.Policies {
		c.Enter("policies")
		c.Element(i)
		checkPolicyAsked(c, q.Policies[i], q.History.Knowledge)
		c.Leave()
		c.Leave()
	}
}

// checkPolicyAsked checks a policy, and that it can read what was learned before.
func checkPolicyAsked(c *strict.Checker, p PolicyConfig, known *Knowledge) {
	before := len(c.Findings)
	p.Check(c)
	if known != nil && p.Kind == PolicyLearned && len(c.Findings) == before {
		if err := NewLearned(Shared, p).take(known); err != nil {
			c.Refuse("", "premise", "The policy cannot go on from the given knowledge: %s.", err)
		}
	}
}

func (s *SlotsShare) check(c *strict.Checker) {
	c.Number("weight", "The weight", "", s.Weight, maxWish)
	c.Number("min", "The minimum", "slots", s.Min, maxWish)
	c.Whole("most", "The most slots", "", s.Most, 0, maxSnapshotTasks)
	c.Whole("most_per_job", "The most slots of a job", "", s.MaxPerJob, 0, maxSnapshotTasks)
}

// checkFree refuses a slot of a node that has none left.
func (q *DecideQuestion) checkFree(c *strict.Checker, at int) {
	l := q.layout()
	pool := l.Of(q.Slot.Kind.kind())
	left := int64(q.Nodes[at].node(l).Slots[pool])
	for _, t := range q.Running {
		if t.Node == q.Slot.Node && l.Of(t.Kind.kind()) == pool {
			left -= t.Tasks
		}
	}
	if left <= 0 {
		c.Refuse("node", "premise", "The node %q has no such slot left beside its running tasks; give it one more, or name another node.",
			fault.Clip(q.Slot.Node))
	}
}
