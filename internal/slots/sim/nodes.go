package sim

import (
	"math"

	"headroom/internal/core/perf"
	"headroom/internal/slots/dispatch"
)

// NodeType is nodes that are alike but for their background load. A cluster of them has no slots besides
// theirs.
type NodeType struct {
	Type  string `json:"type"`
	Count int64  `json:"count,omitzero"` // 0: one
	Slots Slots  `json:"slots"`          // of each node

	Cores float64 `json:"cores,omitzero"` // 0: as many as it has slots
	// ComputeUnits stands for its speed in policies until that is measured; 0: its cores do.
	ComputeUnits float64 `json:"compute_units,omitzero"`
	// Speed is how many times as fast as the profile says its tasks go, where their class says nothing
	// else; 0 is 1.
	Speed      float64     `json:"speed,omitzero"`
	Background *Background `json:"background,omitempty"` // left out: the nodes are dedicated to tasks
}

// Background is what other work leaves of a node to its tasks: from 0, when they stand still, to 1.
type Background struct {
	Kind BackgroundKind `json:"kind"`

	// constant: of each node, and of more nodes from the beginning again.
	Residual []float64 `json:"residual,omitempty"`
	// steps: what is left from each moment on, in their order; before the first it is all. RepeatSeconds
	// is the time after which the steps come again; 0: the last one stays.
	Steps         []Step  `json:"steps,omitempty"`
	RepeatSeconds float64 `json:"repeat_s,omitzero"`
	// uniform: each node draws from low to high, anew after EverySeconds on average; 0: once.
	Low          float64 `json:"low,omitzero"`
	High         float64 `json:"high,omitzero"`
	EverySeconds float64 `json:"every_s,omitzero"`
}

// Step is what is left from a moment on.
type Step struct {
	AtSeconds float64 `json:"at_s"`
	Residual  float64 `json:"residual"`
}

// BackgroundKind is how a background load goes.
type BackgroundKind string

// The background loads.
const (
	ConstantBackground BackgroundKind = "constant"
	SteppedBackground  BackgroundKind = "steps"
	UniformBackground  BackgroundKind = "uniform"
)

// Noise is what tasks take besides what is expected: a factor of mean 1 whose logarithm deviates by
// Dedicated on a node without other work, and by Loaded more where other work leaves nothing.
type Noise struct {
	Dedicated float64 `json:"dedicated,omitzero"`
	Loaded    float64 `json:"loaded,omitzero"`
}

// DataNodes serve what tasks read.
type DataNodes struct {
	Count int64 `json:"count,omitzero"` // 0: one
	// CapMBPerSecond is what policies that know of it keep each data node below; 0: there is no cap.
	CapMBPerSecond float64 `json:"cap_mb_s,omitzero"`
}

// Knowledge is where policies know rates and task times from.
type Knowledge string

// The ways to know.
const (
	KnownLearned Knowledge = "learned" // from the tasks that have ended in the simulation, as live
	KnownGiven   Knowledge = "given"   // as they are
)

// fleet is the nodes of an input made ready.
type fleet struct {
	nodes     []machine
	kinds     []NodeType
	slotNodes []int32 // the node of each slot
	data      float64 // data nodes
	heartbeat float64
	known     Knowledge
	types     []string // each once, in the order of the input
	typeOf    []int    // of a kind
}

// machine is a node as it begins.
type machine struct {
	dispatch.Node
	kind  int // its NodeType
	first [dispatch.Kinds]int
}

// totals is the slots of the whole cluster.
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

// slowness is how many times as long as on a dedicated node of speed 1 a class's tasks take on a kind of
// node with so much left to them; infinite where nothing is.
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

// addSpeeds is how fast a class's tasks go on each kind of node.
func (f *fleet) addSpeeds(spec *classModel) {
	for i := range f.kinds {
		speed := f.kinds[i].speed()
		if own, given := spec.Rates[f.kinds[i].Type]; given {
			speed = own
		}
		spec.speeds = append(spec.speeds, speed)
	}
}

// truth is a class's rates as they are: policies read them where nothing needs to be learned.
func (f *fleet) truth(spec *classModel) *perf.Rates {
	var r perf.Rates
	for i, speed := range spec.speeds {
		if _, known := r.Types[f.kinds[i].Type]; !known {
			r.Add(f.kinds[i].Type, 1/speed)
		}
	}
	return &r
}

// normal is a factor of mean 1 for a task that begins where so much is left to it.
func (n *Noise) draw(s *stream, residual float64) float64 {
	spread := n.Dedicated + float64(n.Loaded*(1-residual))
	z := math.Sqrt2 * math.Erfinv(float64(2*s.unit())-1)
	return math.Exp(float64(spread*z) - float64(spread*spread)/2)
}
