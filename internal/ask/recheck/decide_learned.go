package recheck

import (
	"math"
	"slices"

	"example.org/headroom/internal/slots/dispatch"
)

// The ranges of what a classifier looks at.
const (
	usageRanges   = 10
	runningRanges = 25
	cpuRanges     = 10
)

// loadRanges begin at these parts of the target.
var loadRanges = []float64{.25, .5, .7, .8, .9, 1, 1.1, 1.25, 1.5, 2, 3, 4}

// ranged is a value's range among so many; word says that ranges have no order, missing that the last holds what is
// not told.
type ranged struct {
	in, of        int
	word, missing bool
}

func passed(edges []float64, x float64) (n int) {
	for _, e := range edges {
		if e <= x {
			n++
		}
	}
	return n
}

// usageOf is a task's range of a use of a resource.
func usageOf(x float64) ranged {
	return ranged{in: int(math.Floor(min(max(x, 1), usageRanges)+0.5)) - 1, of: usageRanges}
}

func uses(u *dispatch.Usage) [4]float64 { return [4]float64{u.CPU, u.Memory, u.Disk, u.Network} }

// usual is the most frequent use of each resource, by kind of task.
func (s *snapshot) usual() (most [2][4]float64) {
	for k := range most {
		for f := range most[k] {
			var jobs [usageRanges]int64
			if known := s.History.Knowledge; known != nil {
				copy(jobs[:], known.Usage[k][f][1:])
			} else {
				for _, j := range s.jobs {
					if x := uses([2]*dispatch.Usage{&j.Usage.Map, &j.Usage.Reduce}[k])[f]; x > 0 {
						jobs[usageOf(x).in]++
					}
				}
			}
			most[k][f] = 5
			if n := slices.Max(jobs[:]); n > 0 {
				most[k][f] = float64(slices.Index(jobs[:], n) + 1)
			}
		}
	}
	return most
}

// nodeRanges are those of the state of the slot's node.
func (s *snapshot) nodeRanges(p *dispatch.PolicyConfig) (all []ranged, runs float64) {
	n := dispatch.SnapshotNode{Cores: 1}
	if s.node != nil {
		n = *s.node
		for _, j := range s.jobs {
			runs += float64(j.on[n.Name][0] + j.on[n.Name][1])
		}
	}
	var edges []float64
	for _, part := range loadRanges {
		edges = append(edges, part**p.Target)
	}
	all = []ranged{{in: passed(edges, n.Report.Load1/n.Cores), of: len(edges) + 1}, {in: int(min(runs, runningRanges-1)), of: runningRanges},
		{in: int(min(n.Report.CPUPercent/10, cpuRanges-1)), of: cpuRanges}}
	for _, f := range p.Features {
		x := ranged{of: len(f.Edges) + len(f.Words) + 2, word: len(f.Words) > 0, missing: true}
		x.in = x.of - 1
		if word, told := n.Report.Words[f.Name]; x.word && told {
			if x.in = slices.Index(f.Words, word); x.in < 0 {
				x.in = len(f.Words)
			}
		} else if y, told := n.Report.Numbers[f.Name]; !x.word && told {
			x.in = passed(f.Edges, y)
		}
		all = append(all, x)
	}
	return all, runs
}

// good is the probability that a task with these ranges does not overload the node.
func good(kind dispatch.ClassifierKind, known *dispatch.Knowledge, all []ranged) float64 {
	if known == nil {
		return 0.5
	}
	odds, n := known.Counts.Bias, known.Counts.Outcomes
	if kind == dispatch.NaiveBayes {
		odds = math.Log(float64(n[1]+1) / float64(n[0]+1))
	}
	weight := 0
	for f, x := range all {
		switch {
		case kind == dispatch.NaiveBayes:
			of := known.Counts.Ranges[f][x.in]
			odds += math.Log(float64(of[1]+1) / float64(of[0]+1) * float64(n[0]+int64(x.of)) / float64(n[1]+int64(x.of)))
		case x.word:
			odds += known.Counts.Weights[weight+x.in]
			weight += x.of - 1
		case !x.missing:
			odds += known.Counts.Weights[weight] * float64(x.in) / float64(x.of-1)
		case x.in < x.of-1:
			odds += known.Counts.Weights[weight] * float64(x.in) / float64(x.of-2)
		}
		weight++
	}
	return 1 / (1 + math.Exp(-odds))
}

// candidate is a task that may start, with what is expected of it.
type candidate struct {
	job           *contender
	kind          int
	good, utility float64
}

// before orders candidates of whom as much is expected.
func (x *candidate) before(o *candidate) bool {
	switch {
	case x.job.SubmittedSeconds != o.job.SubmittedSeconds:
		return x.job.SubmittedSeconds < o.job.SubmittedSeconds
	case x.kind != o.kind:
		return x.kind < o.kind
	}
	return x.job.before(o.job)
}

// learned gives the slot to the task of which most is expected among those unlikely to overload the node.
func (s *snapshot) learned(p dispatch.PolicyConfig) []ruling {
	node, runs := s.nodeRanges(&p)
	usual := s.usual()
	var all []candidate
	likely := false
	for _, j := range s.jobs {
		for _, k := range s.kinds {
			x := candidate{job: j, kind: k, utility: s.utility(&p, j, k)}
			if j.ready[k] == 0 || !(x.utility > 0) {
				continue
			}
			var ranges []ranged
			for f, u := range uses([2]*dispatch.Usage{&j.Usage.Map, &j.Usage.Reduce}[k]) {
				if u == 0 {
					u = usual[k][f]
				}
				ranges = append(ranges, usageOf(u))
			}
			x.good = good(p.Classifier, s.History.Knowledge, append(ranges, node...))
			likely = likely || x.good >= 0.5-1e-12
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return []ruling{{rule: "idle"}}
	}
	worth := func(x *candidate) float64 {
		switch {
		case !likely:
			return x.good
		case x.good < 0.5-1e-12:
			return -1
		}
		return x.good * x.utility
	}
	best := 0
	for i := range all {
		if a, b := worth(&all[i]), worth(&all[best]); a > b && !nearly(a, b) || a == b && all[i].before(&all[best]) {
			best = i
		}
	}
	var may []ruling
	var same []rival
	for i := range all {
		if x := &all[i]; worth(x) >= 0 {
			same = append(same, rival{x.job, x.kind, []float64{worth(x)}})
		}
	}
	for i := range all {
		x := &all[i]
		if a, b := worth(x), worth(&all[best]); i != best && (!nearly(a, b) || a == b) {
			continue
		}
		r := ruling{job: x.job, kind: x.kind, rule: "expected_utility", figures: map[string]float64{"p_good": x.good, "utility": x.utility,
			"candidates": float64(len(all))}, ties: further(nil).ties(rival{x.job, x.kind, []float64{worth(x)}}, same)}
		switch {
		case likely:
		case *p.ProbeWhenIdle && runs == 0:
			r.rule = "probe"
		default:
			r.job, r.rule, r.ties = nil, "overload", nil
			delete(r.figures, "utility")
		}
		may = append(may, r)
	}
	return may
}

// utility is the product of the policy's utilities.
func (s *snapshot) utility(p *dispatch.PolicyConfig, j *contender, k int) float64 {
	product := 1.0
	for _, u := range p.Utilities {
		switch u.Kind {
		case dispatch.UtilityConstant:
			product *= *u.Value
		case dispatch.UtilityFIFO:
			product *= 1 + max(0, s.NowSeconds-j.SubmittedSeconds)
		case dispatch.UtilityMapsFirst:
			if done := float64(j.Maps.Done); k == 1 && j.Maps.Total > 0 && (done == 0 || done < *u.SlowStart*float64(j.Maps.Total)*(1-1e-12)) {
				return 0
			}
		case dispatch.UtilityBudget:
			if j.Balance <= 0 {
				return 0
			}
			if j.Worth > 0 {
				product *= j.Worth
			}
		case dispatch.UtilityDedicated:
			if j.Promised <= 0 {
				return 0
			}
			all := int64(0)
			for _, o := range s.jobs {
				all += o.running[0] + o.running[1]
			}
			held := float64(j.running[0]+j.running[1]) / float64(max(all, 1))
			product *= max(0, 1-held/j.Promised)
		case dispatch.UtilityRevenue:
			product *= j.Revenue
		}
	}
	return product
}
