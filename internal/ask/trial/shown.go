package trial

import (
	"math"
	"slices"
	"sort"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/slots/sim"
)

// shown is the part of a class's executions that ended in time, and what they show with a confidence: that at least the
// part low does, and that at most the part high does.
type shown struct {
	executions, missed int64
	replications       int64
	refused            bool // the plan admits no job
	share, low, high   float64
	longer             float64 // than its bound says is an execution than which the target's part is shorter; 0 is not known
}

// keeps reports whether the executions show the class's target. Of too few for that, the part that ended in time decides.
func (x shown) keeps(c *capacity.Class) bool {
	if x.executions < fewestExecutions(c.Target, c.TargetConfidence()) {
		return x.refused || x.executions > 0 && x.share >= c.Target
	}
	return x.low >= c.Target
}

// certain reports whether the executions show the class's target with its confidence.
func (x shown) certain(c *capacity.Class) bool { return x.executions > 0 && x.low >= c.Target }

// fewestExecutions returns the number of faultless executions that show a target with a confidence.
func fewestExecutions(target, confidence float64) int64 {
	return int64(math.Ceil(math.Log(1-confidence)/math.Log(target) - 1e-9))
}

// shownOf returns what a trial's executions of a class show, on all types; nothing if there is no trial.
func (t *Trial) shownOf(class int, confidence float64) shown {
	if t == nil {
		return shown{}
	}
	whole := t.Whole()
	figures := make([]sim.Figures, len(whole))
	for _, p := range t.parts {
		for i := range p.classes {
			if p.classes[i].index != class {
				continue
			}
			for n, f := range p.work.FiguresOf(0, i, whole) {
				figures[n] = figures[n].And(f)
			}
		}
	}
	return show(figures, confidence)
}

// longerOf returns how much longer than its bound an execution of a class takes, as a multiple, than which the part of its target is
// shorter, as sure as its confidence.
func (t *Trial) longerOf(class int, c *capacity.Class) float64 {
	var all []float64
	for _, p := range t.parts {
		for i := range p.classes {
			if p.classes[i].index != class {
				continue
			}
			slots := p.classes[i].slots
			bound := perf.Time(perf.PlannedDemand(c.OnType(p.vmType), t.problem.Options), float64(p.input.Classes[i].Jobs), slots.Map, max(1, slots.Reduce))
			for _, took := range p.classes[i].took {
				for _, seconds := range took {
					all = append(all, seconds/bound)
				}
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	n := float64(len(all))
	return all[min(len(all)-1, sort.Search(len(all), func(i int) bool {
		return perf.BetaQuantile(float64(i+1), n-float64(i), 1-c.TargetConfidence()) >= c.Target
	}))]
}

// show returns what replications show. The limits are the wider of those of independent executions (Clopper and Pearson)
// and those of independent replications (Student), because executions of one replication depend on one another.
func show(replications []sim.Figures, confidence float64) shown {
	x := shown{replications: int64(len(replications))}
	for _, f := range replications {
		x.executions += f.Judged
		x.missed += f.Missed
	}
	if x.executions == 0 {
		return x
	}
	n, met := float64(x.executions), float64(x.executions-x.missed)
	x.share = met / n
	x.low, x.high = 0, 1
	if met > 0 {
		x.low = perf.BetaQuantile(met, n-met+1, 1-confidence)
	}
	if met < n {
		x.high = perf.BetaQuantile(met+1, n-met, confidence)
	}
	if r := float64(len(replications)); r > 1 {
		squares := 0.0
		for _, f := range replications {
			off := float64(f.Judged-f.Missed) - x.share*float64(f.Judged)
			squares += float64(off * off)
		}
		half := perf.StudentQuantile(r-1, confidence) * math.Sqrt(squares*r/(r-1)) / n
		x.low, x.high = max(0, min(x.low, x.share-half)), min(1, max(x.high, x.share+half))
	}
	return x
}
