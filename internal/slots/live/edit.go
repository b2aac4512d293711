package live

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/slots/dispatch"
)

// Settings returns the current settings.
func (c *Cluster) Settings() LiveSettings { return c.settings }

// SetSettings changes the settings of decisions from now on. Running tasks go on. The lessons of the policy learned
// are kept while another policy decides. They are learned again if its ranges, rules or classifier change.
func (c *Cluster) SetSettings(now float64, s LiveSettings, judged Judged) error {
	if _, err := newPolicy(s, nil); err != nil {
		return err
	}
	c.advance(now)
	before := c.settings
	s.Version, s.UpdatedAt = before.Version+1, Moment(c.Clock)
	if s.Shares == nil {
		s.Shares = []SlotShare{}
	}
	c.settings, c.changes.Settings, c.nextDeath = s, &s, 0
	switch {
	case before.Slots == s.Slots && reflect.DeepEqual(before.Policy, s.Policy) && slices.Equal(before.Shares, s.Shares):
		return nil
	case before.Policy.Kind == s.Policy.Kind:
		return c.resetPolicyAs(before.Policy, judged)
	case s.Policy.Kind == dispatch.PolicyLearned:
		if memory, learned := c.memories[s.Policy.Kind]; learned {
			return broken(c.resetPolicy(&memory, judged))
		}
	case before.Policy.Kind == dispatch.PolicyLearned: // nobody will judge the waiting choices
		c.dropped(slices.Sorted(maps.Keys(c.pending)))
	}
	return broken(c.resetPolicy(nil, judged))
}

// Relearn makes the policy learned learn again from the judged choices, as far as they are stored.
func (c *Cluster) Relearn(now float64, judged Judged) error {
	if c.policy.learned == nil {
		return fmt.Errorf("the policy of the cluster is %s, which does not learn: %w", c.settings.Policy.Kind, fault.Conflict)
	}
	c.advance(now)
	return broken(c.relearn(judged))
}

// resetPolicyAs makes the policy anew, with its memory under the document that was valid before.
func (c *Cluster) resetPolicyAs(as dispatch.PolicyConfig, judged Judged) error {
	var memory *Memory
	if keeper, remembers := c.policy.Policy.(dispatch.Memory); remembers {
		text, err := keeper.Memory()
		if err != nil {
			return Broken{err}
		}
		memory = &Memory{as, text}
	}
	return broken(c.resetPolicy(memory, judged))
}

func broken(err error) error {
	if err != nil {
		return Broken{err}
	}
	return nil
}

// PutNode declares a node or changes its declaration. It also returns the node before the change, nil if it is new.
func (c *Cluster) PutNode(now float64, declared LiveNode) (after LiveNode, before *LiveNode, err error) {
	n := c.nodes[declared.Name]
	if n == nil && len(c.nodes) >= maxLiveNodes {
		return after, nil, fmt.Errorf("the cluster has %d nodes already, as many as it may; take one out first: %w", len(c.nodes), fault.Conflict)
	}
	c.advance(now)
	if n == nil {
		n = c.addNode(Node{LiveNode: LiveNode{Name: declared.Name, State: NodeNew, Residual: 1, CreatedAt: Moment(c.Clock)}})
	} else {
		was := n.LiveNode
		before = &was
		if was.Type == declared.Type && was.Cores == declared.Cores && was.Slots == declared.Slots && was.Dedicated == declared.Dedicated && was.ComputeUnits == declared.ComputeUnits {
			return was, before, nil
		}
	}
	n.Type, n.Cores, n.Slots, n.Dedicated, n.ComputeUnits, n.UpdatedAt = declared.Type, declared.Cores, declared.Slots, declared.Dedicated, declared.ComputeUnits, Moment(c.Clock)
	c.touchNode(n)
	if n.State == NodeAlive { // policies count with the old declaration
		err = c.resetPolicyAs(c.settings.Policy, Judged{})
	}
	return n.LiveNode, before, err
}

// RemoveNode takes a node out; its tasks wait again.
func (c *Cluster) RemoveNode(now float64, name string) (before LiveNode, err error) {
	n := c.nodes[name]
	if n == nil {
		return before, noNode(name)
	}
	c.advance(now)
	before = n.LiveNode
	for _, r := range ordered(n.runs) {
		c.lose(r, CauseRemoved, false)
	}
	for _, r := range ordered(c.lost) {
		if r.node == n {
			r.Open = false
			delete(c.lost, r.ID)
			c.touchRun(r)
		}
	}
	if n.State == NodeAlive {
		c.noteNode(dispatch.Gone, n)
	}
	delete(c.nodes, name)
	c.indexed[n.d.Index] = nil
	c.changes.Removed = append(c.changes.Removed, name)
	return before, nil
}

// Submit takes in a job.
func (c *Cluster) Submit(now float64, r LiveJobRequest, by string) (Job, error) {
	if len(c.jobs) >= maxLiveJobs {
		return Job{}, fmt.Errorf("the cluster has %d active jobs already, as many as it may; try again when some have ended: %w", len(c.jobs), fault.Conflict)
	}
	c.advance(now)
	c.LastJob++
	kept := Job{Number: c.LastJob, Request: r, State: JobActive, Submitted: c.Clock, SubmittedBy: by}
	kept.Deadline = Due(r, c.Clock)
	j := c.addJob(kept)
	c.place(j)
	c.noteJob(dispatch.Arrived, j, 0)
	c.touchJob(j)
	return j.kept(), nil
}

// Kill ends a job before its time.
func (c *Cluster) Kill(now float64, number int64, by string) (before, after Job, err error) {
	j := c.jobs[number]
	if j == nil {
		return before, after, fmt.Errorf("the cluster has no active job %d: %w", number, fault.NotFound)
	}
	c.advance(now)
	before = j.kept()
	c.endJob(j, JobKilled, "Killed by "+by+".")
	return before, j.kept(), nil
}
