package plan

import (
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan/integer"
)

// Needs tells which VMs given jobs take on VMs of one type, apart from any plan. Classes go by their index in the
// problem. One goroutine uses it at a time, and Done ends its use.
type Needs struct {
	model    *model
	position []int // of a class in the model
	series   *Series
}

// NeedsOn prepares for a problem like the series', of which just so many jobs of each class run on a VM type. What the
// series' problem has in common with it is not worked out again.
func (s *Series) NeedsOn(p capacity.Problem, of capacity.VMTypeSupply, jobs []float64) (*Needs, error) {
	p.Supply = capacity.Supply{OnDemand: of.OnDemand}
	p.Budget = nil
	p.Classes = slices.Clone(p.Classes)
	for i := range p.Classes {
		if c := &p.Classes[i]; jobs[i] > 0 {
			*c = onType(*c, of.Name)
			c.Jobs = capacity.JobRange{Min: jobs[i], Max: jobs[i]}
		} else { // takes nothing
			*c = capacity.Class{Name: c.Name, VMsPerJob: new(decimal.Decimal), Penalty: c.Penalty}
		}
	}
	known := s.take()
	m, err := newModelFrom(&p, known)
	if err != nil {
		s.known.Put(known)
		return nil, err
	}
	n := &Needs{model: m, position: make([]int, len(m.classes)), series: s}
	for k := range m.classes {
		n.position[m.classes[k].index] = k
	}
	return n, nil
}

// Done gives back what the series works in. The needs must not be used any more.
func (n *Needs) Done() { n.series.known.Put(n.model.known) }

// ByName returns the classes in the order of their names, in which plans let ties fall.
func (n *Needs) ByName() []int {
	order := make([]int, len(n.model.classes))
	for k := range n.model.classes {
		order[k] = n.model.classes[k].index
	}
	return order
}

// Impossible reports whether no number of slots meets a class's deadline.
func (n *Needs) Impossible(class int) bool { return n.of(class).impossible }

// PerJob returns the VMs that one job of a class takes (gamma), 0 where its deadline is impossible.
func (n *Needs) PerJob(class int) float64 { return n.of(class).gamma }

func (n *Needs) of(class int) *class { return &n.model.classes[n.position[class]] }

// VMs returns the VMs that just these jobs need.
func (n *Needs) VMs(jobs []float64) float64 {
	m := n.model
	for i := range m.classes {
		c := &m.classes[i]
		c.low, c.high = jobs[c.index], jobs[c.index]
	}
	return m.promised(m.classes)
}

// Slack returns how far a load may exceed so many VMs and still count as carried by them.
func (n *Needs) Slack(vms float64) float64 {
	return n.model.lack(vms, n.model.Options.Integrality == capacity.Executable)
}

// Share returns a class's part of the VMs for so many jobs, as plans count it.
func (n *Needs) Share(class int, jobs float64) float64 {
	c, o := n.of(class), &n.model.Options
	size := c.gamma * jobs
	if o.Integrality == capacity.Executable && c.slotted && jobs > 0 && !c.impossible {
		mapSlots, redSlots := c.shape.whole(int64(jobs))
		size = c.shape.size(float64(mapSlots), float64(redSlots))
	}
	if o.Integrality != capacity.Relaxed && o.Sharing == capacity.Dedicated {
		if c.VMsPerJob != nil {
			return float64(c.ownVMs(int64(jobs)))
		}
		size = math.Ceil(size - integer.LoadNoise)
	}
	return size
}
