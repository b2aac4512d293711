package sim

import (
	"math"

	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/dispatch"
)

// NodeType is a set of nodes that differ only in their background load. A cluster of them has no other slots.
type NodeType struct {
	Type  string `json:"type"`
	Count int64  `json:"count,omitzero"` // 0: one
	Slots Slots  `json:"slots"`          // of each node

	Cores float64 `json:"cores,omitzero"` // 0: its number of slots
	// ComputeUnits stands for its speed in policies until that is measured; 0: its cores.
	ComputeUnits float64 `json:"compute_units,omitzero"`
	// Speed is the factor by which tasks run faster than in the profile, unless their class sets another; 0 is 1.
	Speed      float64     `json:"speed,omitzero"`
	Background *Background `json:"background,omitempty"` // default: the nodes are dedicated to tasks
}

// Background sets the part of a node that other work leaves to its tasks: from 0, when they stand still, to 1.
type Background struct {
	Kind BackgroundKind `json:"kind"`

	// constant: of each node, repeated for more nodes.
	Residual []float64 `json:"residual,omitempty"`
	// steps: the residual from each moment on, in order; before the first it is 1. RepeatSeconds is the time after
	// which the steps come again; 0: the last one stays.
	Steps         []Step  `json:"steps,omitempty"`
	RepeatSeconds float64 `json:"repeat_s,omitzero"`
	// uniform: each node draws from low to high, anew after EverySeconds on average; 0: once.
	Low          float64 `json:"low,omitzero"`
	High         float64 `json:"high,omitzero"`
	EverySeconds float64 `json:"every_s,omitzero"`
}

// Step is the residual from a moment on.
type Step struct {
	AtSeconds float64 `json:"at_s"`
	Residual  float64 `json:"residual"`
}

// BackgroundKind names a kind of background load.
type BackgroundKind string

// The background loads.
const (
	ConstantBackground BackgroundKind = "constant"
	SteppedBackground  BackgroundKind = "steps"
	UniformBackground  BackgroundKind = "uniform"
)

// Noise varies tasks by a factor of mean 1. Its logarithm deviates by Dedicated on a node without other work, and by
// up to Loaded more as the residual falls to 0.
type Noise struct {
	Dedicated float64 `json:"dedicated,omitzero"`
	Loaded    float64 `json:"loaded,omitzero"`
}

// DataNodes hold the data that tasks read.
type DataNodes struct {
	Count int64 `json:"count,omitzero"` // 0: one
	// CapMBPerSecond is the limit for each data node that some policies keep to; 0: none.
	CapMBPerSecond float64 `json:"cap_mb_s,omitzero"`
}

// Knowledge is the source of the rates and task times that policies use.
type Knowledge string

// The sources.
const (
	KnownLearned Knowledge = "learned" // from the tasks that have ended in the simulation, as live
	KnownGiven   Knowledge = "given"   // the true ones
)

// fleet holds the prepared nodes of an input.
type fleet struct {
	nodes     []machine
	kinds     []NodeType
	slotNodes []int32 // the node of each slot
	data      float64 // data nodes
	heartbeat float64
	known     Knowledge
	types     []string // each once, in the order of the input
	typeOf    []int    // of a NodeType
}

// machine is a node in its initial state.
type machine struct {
	dispatch.Node
	kind  int // its NodeType
	first [dispatch.Kinds]int
}

// totals returns the slots of the whole cluster.
func (in *Input) totals() Slots {
	if len(in.Nodes) == 0 {
		return in.Slots
	}
	var all Slots
	for i := range in.Nodes {
		n := &in.Nodes[i]
		all.Map += n.count() * n.Slots.Map
		all.Reduce += n.count() * n.Slots.Reduce
		all.Shared += n.count() * n.Slots.Shared
	}
	return all
}

func (n *NodeType) count() int64 { return max(1, n.Count) }

func (n *NodeType) speed() float64 {
	if n.Speed == 0 {
		return 1
	}
	return n.Speed
}

func (n *NodeType) pools() [dispatch.Kinds]int {
	if n.Slots.Shared > 0 {
		return [dispatch.Kinds]int{int(n.Slots.Shared), 0}
	}
	return [dispatch.Kinds]int{int(n.Slots.Map), int(n.Slots.Reduce)}
}

// makeFleet numbers nodes and slots in the order of the input; slots of pool 0 come first.
func makeFleet(in *Input) *fleet {
	if len(in.Nodes) == 0 {
		return nil
	}
	f := &fleet{kinds: in.Nodes, data: 1, heartbeat: in.HeartbeatSeconds, known: in.Known}
	if in.DataNodes != nil {
		f.data = float64(max(1, in.DataNodes.Count))
	}
	seen := map[string]int{}
	for kind := range in.Nodes {
		n := &in.Nodes[kind]
		t, known := seen[n.Type]
		if !known {
			t = len(f.types)
			seen[n.Type] = t
			f.types = append(f.types, n.Type)
		}
		f.typeOf = append(f.typeOf, t)
		slots := n.pools()
		cores := n.Cores
		if cores == 0 {
			cores = float64(slots[0] + slots[1])
		}
		for range n.count() {
			m := machine{kind: kind}
			m.Index = len(f.nodes)
			m.Type, m.Cores, m.Slots, m.ComputeUnits = n.Type, cores, slots, n.ComputeUnits
			f.nodes = append(f.nodes, m)
		}
	}
	for p := range dispatch.Kinds {
		for i := range f.nodes {
			m := &f.nodes[i]
			m.first[p] = len(f.slotNodes)
			for range m.Slots[p] {
				f.slotNodes = append(f.slotNodes, int32(i))
			}
		}
	}
	return f
}

// slowness returns the factor by which a class's tasks take longer on a kind of node with a residual than on a
// dedicated node of speed 1; infinite without residual.
func (spec *classModel) slowness(kind int, residual float64) float64 {
	if residual <= 0 {
		return math.Inf(1)
	}
	slow := 1 / spec.speeds[kind]
	if spec.TaskTime != nil {
		slow *= spec.TaskTime.Normed(residual)
	}
	return slow
}

// addSpeeds adds the speed of a class's tasks on each kind of node.
func (f *fleet) addSpeeds(spec *classModel) {
	for i := range f.kinds {
		speed := f.kinds[i].speed()
		if own, given := spec.Rates[f.kinds[i].Type]; given {
			speed = own
		}
		spec.speeds = append(spec.speeds, speed)
	}
}

// truth returns a class's true rates, for policies that need not learn them.
func (f *fleet) truth(spec *classModel) *perf.Rates {
	var r perf.Rates
	for i, speed := range spec.speeds {
		if _, known := r.Types[f.kinds[i].Type]; !known {
			r.Add(f.kinds[i].Type, 1/speed)
		}
	}
	return &r
}

// draw returns a factor of mean 1 for a task that begins with this residual.
func (n *Noise) draw(s *stream, residual float64) float64 {
	spread := n.Dedicated + float64(n.Loaded*(1-residual))
	z := math.Sqrt2 * math.Erfinv(float64(2*s.unit())-1)
	return math.Exp(float64(spread*z) - float64(spread*spread)/2)
}
