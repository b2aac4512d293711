package sim

// NodesReport reports the use of mixed nodes.
type NodesReport struct {
	Types []NodeTypeReport `json:"types"`
	// ShareSum is the sum of the classes' progress shares while there were jobs. BelowOne is the part of that time
	// with a sum below 1: each class alone would have got more of an even part of every node.
	ShareSum  Estimate         `json:"share_sum"`
	BelowOne  Estimate         `json:"below_one"`
	DataNodes *DataNodesReport `json:"data_nodes"` // null if nothing is read
}

// NodeTypeReport reports the use of a type's nodes.
type NodeTypeReport struct {
	Type     string   `json:"type"`
	Nodes    int64    `json:"nodes"`
	Slots    int64    `json:"slots"`
	Use      Estimate `json:"use"`      // part of the time that a slot was held
	Tasks    Estimate `json:"tasks"`    // ended, per replication
	Residual Estimate `json:"residual"` // part of a node left by other work
}

// DataNodesReport reports the reads from each data node.
type DataNodesReport struct {
	MBPerSecond Estimate `json:"mb_s"`      // over time
	Most        float64  `json:"most_mb_s"` // of all replications
	OverCap     Estimate `json:"over_cap"`  // part of the time above the cap
}

// ClassOnNodes holds further results of a class on mixed nodes.
type ClassOnNodes struct {
	Rejected    int64    `json:"rejected"`   // by admission; neither met nor missed
	TaskSeconds Estimate `json:"task_s"`     // slot seconds in which its tasks worked, per replication
	LastEnd     Estimate `json:"last_end_s"` // end of its last job
	Share       Estimate `json:"share"`      // its progress share while it had jobs
	BelowPart   Estimate `json:"below_part"` // part of that time below its part by weight
}

// nodesOutcome holds the results of a replication on nodes.
type nodesOutcome struct {
	types  []typeUse
	shares progress
	reads  reading
}

func (x *mixture) outcome() *nodesOutcome { return &nodesOutcome{x.types, x.shares, x.reads} }

// close completes the sums at the end.
func (x *mixture) close(e *engine) {
	x.shares.advance(e.end)
	x.reads.advance(e.end)
	for i := range x.shares.classes {
		x.shares.catchUp(i, e.end)
	}
	for i := range x.nodes {
		x.nodes[i].average(e.end, e.warmUp, x)
	}
}

func (m *model) reportNodes(outcomes []outcome) *NodesReport {
	f := m.fleet
	if f == nil {
		return nil
	}
	over := func(figure func(*nodesOutcome) (part, whole float64)) Estimate {
		return estimate(outcomes, func(o *outcome) (float64, bool) { return ratio(figure(o.nodes)) })
	}
	r := &NodesReport{
		ShareSum: over(func(n *nodesOutcome) (float64, float64) { return n.shares.sums, n.shares.busy }),
		BelowOne: over(func(n *nodesOutcome) (float64, float64) { return n.shares.below, n.shares.busy }),
	}
	for t, name := range f.types {
		row := NodeTypeReport{Type: name}
		for i := range f.kinds {
			if f.typeOf[i] == t {
				slots := f.kinds[i].pools()
				row.Nodes += f.kinds[i].count()
				row.Slots += f.kinds[i].count() * int64(slots[0]+slots[1])
			}
		}
		row.Use = estimate(outcomes, func(o *outcome) (float64, bool) {
			held := o.nodes.types[t].held
			return ratio(held[0]+held[1], float64(row.Slots)*o.span(m))
		})
		row.Tasks = estimate(outcomes, func(o *outcome) (float64, bool) { return float64(o.nodes.types[t].tasks), true })
		row.Residual = estimate(outcomes, func(o *outcome) (float64, bool) {
			return ratio(o.nodes.types[t].residual, float64(row.Nodes)*o.span(m))
		})
		r.Types = append(r.Types, row)
	}
	reads := &DataNodesReport{
		MBPerSecond: estimate(outcomes, func(o *outcome) (float64, bool) { return ratio(o.nodes.reads.amount, o.span(m)) }),
		OverCap:     estimate(outcomes, func(o *outcome) (float64, bool) { return ratio(o.nodes.reads.over, o.span(m)) }),
	}
	for _, o := range outcomes {
		reads.Most = max(reads.Most, o.nodes.reads.peak)
	}
	for i := range m.classes {
		if m.classes[i].ReadMBPerSecond > 0 {
			r.DataNodes = reads
		}
	}
	return r
}

func (m *model) classOnNodes(i int, outcomes []outcome) *ClassOnNodes {
	if m.fleet == nil {
		return nil
	}
	c := &ClassOnNodes{}
	for n := range outcomes {
		c.Rejected += outcomes[n].classes[i].rejected
	}
	c.TaskSeconds = estimate(outcomes, func(o *outcome) (float64, bool) { return o.classes[i].worked(), true })
	c.LastEnd = estimate(outcomes, func(o *outcome) (float64, bool) { return o.classes[i].lastEnd, o.classes[i].ended > 0 })
	share := func(figure func(*classProgress) float64) Estimate {
		return estimate(outcomes, func(o *outcome) (float64, bool) {
			p := &o.nodes.shares.classes[i]
			return ratio(figure(p), p.present)
		})
	}
	c.Share = share(func(p *classProgress) float64 { return p.shares })
	c.BelowPart = share(func(p *classProgress) float64 { return p.below })
	return c
}

// worked returns the slot seconds of tasks that did not wait for others.
func (s *measures) worked() float64 { return s.held[0] + s.held[1] - s.waited }
