package dispatch

import (
	"math"
	"sort"
)

// Features holds the values that a choice is judged by before it is made, at that moment. They are kept as measured,
// so that lessons can be learned again with other ranges.
type Features struct {
	Usage      Usage              `json:"usage"` // of the task; unknown values are those of most jobs
	Load1      float64            `json:"load1"`
	Cores      float64            `json:"cpus"`
	Running    float64            `json:"running"` // tasks on the node
	CPUPercent float64            `json:"cpu_pct"`
	Numbers    map[string]float64 `json:"numbers,omitempty"` // of the features that the cluster adds
	Words      map[string]string  `json:"words,omitempty"`
}

// The features that every cluster has. Those of the task come first.
const (
	usageFeatures = 4
	usageBins     = 10
	loadFeature   = usageFeatures
	runningBins   = 25 // each number to 23, and more
	cpuBins       = 10
	ownFeatures   = usageFeatures + 3
)

// loadEdges begin the ranges of the load average per processor, as parts of its target.
var loadEdges = [...]float64{.25, .5, .7, .8, .9, 1, 1.1, 1.25, 1.5, 2, 3, 4}

// encoding puts features into ranges (bins), numbered from 0.
type encoding struct {
	load  []float64 // edges
	added []NodeFeature
	bins  []int  // number of ranges of each feature
	words []bool // a feature's ranges have no order
}

func newEncoding(p PolicyConfig) *encoding {
	e := &encoding{added: p.Features}
	for _, part := range loadEdges {
		e.load = append(e.load, part**p.Target)
	}
	e.bins = []int{usageBins, usageBins, usageBins, usageBins, len(e.load) + 1, runningBins, cpuBins}
	for _, f := range e.added {
		e.bins = append(e.bins, len(f.Edges)+len(f.Words)+2) // one more than edges, or for any other word; and one for missing values
	}
	e.words = make([]bool, len(e.bins))
	for i, f := range e.added {
		e.words[ownFeatures+i] = len(f.Words) > 0
	}
	return e
}

// task returns the bins of a task.
func (e *encoding) task(u *Usage) [usageFeatures]uint8 {
	return [...]uint8{usageBin(u.CPU), usageBin(u.Memory), usageBin(u.Disk), usageBin(u.Network)}
}

func usageBin(x float64) uint8 {
	switch {
	case !(x >= 1): // NaN too
		return 0
	case x >= usageBins:
		return usageBins - 1
	default:
		return uint8(x+0.5) - 1
	}
}

// node appends the bins of a node to bins, reusing its space.
func (e *encoding) node(bins []uint8, f *Features) []uint8 {
	bins = append(bins[:0], rangeOf(e.load, f.Load1/cores(f.Cores)), uint8(min(max(f.Running, 0), runningBins-1)), uint8(min(max(f.CPUPercent, 0)/10, cpuBins-1)))
	for i := range e.added {
		a := &e.added[i]
		bin := uint8(e.bins[ownFeatures+i] - 1) // missing
		if len(a.Words) > 0 {
			if word, there := f.Words[a.Name]; there {
				bin = uint8(len(a.Words))
				for k := range a.Words {
					if a.Words[k] == word {
						bin = uint8(k)
					}
				}
			}
		} else if x, there := f.Numbers[a.Name]; there && !math.IsNaN(x) {
			bin = rangeOf(a.Edges, x)
		}
		bins = append(bins, bin)
	}
	return bins
}

// rangeOf returns the number of edges that x has reached.
func rangeOf(edges []float64, x float64) uint8 {
	return uint8(sort.Search(len(edges), func(i int) bool { return !(edges[i] <= x) }))
}

// cores returns a node's processors, or 1 for a value that makes no sense.
func cores(n float64) float64 {
	if n > 0 && !math.IsInf(n, 1) {
		return n
	}
	return 1
}

// observe returns the current features of a node, without those of the task.
func (e *encoding) observe(n *Node) Features {
	if n == nil {
		return Features{Cores: 1}
	}
	return Features{Load1: finite(n.Report.Load1), Cores: cores(n.Cores), Running: float64(n.Running[Map] + n.Running[Reduce]), CPUPercent: finite(n.Report.CPUPercent),
		Numbers: n.Report.Numbers, Words: n.Report.Words}
}

// kept returns the features the encoding reads, in copies that the caller's maps do not change.
func (e *encoding) kept(f Features) Features {
	numbers, words := f.Numbers, f.Words
	f.Numbers, f.Words = nil, nil
	for _, a := range e.added {
		if x, there := numbers[a.Name]; there && len(a.Edges) > 0 && !math.IsNaN(x) && !math.IsInf(x, 0) {
			if f.Numbers == nil {
				f.Numbers = map[string]float64{}
			}
			f.Numbers[a.Name] = x
		}
		if word, there := words[a.Name]; there && len(a.Words) > 0 {
			if f.Words == nil {
				f.Words = map[string]string{}
			}
			f.Words[a.Name] = word
		}
	}
	return f
}

// finite returns x if it can be stored, else 0.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// Metrics is a node's state when a choice was judged.
type Metrics struct {
	Report
	Cores float64 `json:"cpus"`
}

func metricsOf(n *Node) Metrics {
	r := &n.Report
	return Metrics{Report{Load1: finite(r.Load1), CPUPercent: finite(r.CPUPercent), MemoryPercent: finite(r.MemoryPercent),
		NetMBPerSecond: finite(r.NetMBPerSecond), DiskMBPerSecond: finite(r.DiskMBPerSecond)}, cores(n.Cores)}
}

// overloaded reports whether one of the rules finds a node overloaded.
func overloaded(rules []OverloadRule, m *Metrics) bool {
	for i := range rules {
		r := &rules[i]
		var x float64
		switch r.Metric {
		case MetricLoad1:
			x = m.Load1
		case MetricCPU:
			x = m.CPUPercent
		case MetricMemory:
			x = m.MemoryPercent
		case MetricNet:
			x = m.NetMBPerSecond
		case MetricDisk:
			x = m.DiskMBPerSecond
		}
		if r.Per == PerCPU {
			x /= cores(m.Cores)
		}
		if x > r.Limit {
			return true
		}
	}
	return false
}
