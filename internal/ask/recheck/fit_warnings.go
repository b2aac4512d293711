package recheck

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/core/words"
)

// told is a warning that is said where something holds.
type told struct {
	holds        bool
	code, detail string
}

// warnings are those that hold, as they stand in an answer.
func warnings(all ...told) any {
	said := []capacity.Warning{}
	for _, w := range all {
		if w.holds {
			said = append(said, capacity.Warning{Code: w.code, Detail: w.detail})
		}
	}
	return tree(marshalled(said))
}

const (
	enoughTasks = 3    // of a type of nodes, for their mean to say something
	apart       = 0.01 // parts of nodes that differ by less are told as one
	nearlyAlone = 0.9  // the part from which a node counts as dedicated
)

// beyondParts are the warnings of a prediction for a part of a node.
func beyondParts(f *perf.TaskTimeFit, part float64) any {
	most := f.MaxResidual
	if most == 0 {
		most = 1
	}
	return warnings(told{part < f.MinResidual-apart, words.ExtrapolatedWarning, words.LessThanMeasured(f.MinResidual)},
		told{part > most+apart, words.ExtrapolatedWarning, words.MoreThanMeasured(f.MaxResidual)})
}

// form adds the form of a curve of task times to what is wanted: how many parts of nodes it tells apart, whether its signs are
// bound, and the warnings.
func (c *checking) form(at string, method perf.FitChoice, parts, seconds []float64, f *perf.TaskTimeFit, want map[string]any) {
	if least, most := clusters(parts, apart+1e-9), clusters(parts, apart-1e-9); f.Residuals < least || f.Residuals > most {
		c.wrong(at+"/residuals", "is %d, and the parts of nodes are %d", f.Residuals, most)
		return
	}
	form, free := perf.OneExponential, method == perf.UnconstrainedChoice && f.Residuals >= 5
	switch {
	case f.Residuals == 1, f.B == 0 && f.D == 0:
		form = perf.ConstantTime
	case f.Residuals >= 5:
		form = perf.TwoExponentials
	}
	want["form"] = string(form)
	if !free {
		want["constrained"] = true
	}
	lowest, highest := slices.Min(parts), slices.Max(parts)
	mean := func(part float64) float64 {
		sum, n := 0.0, 0.0
		for i, r := range parts {
			if r == part {
				sum, n = sum+seconds[i], n+1
			}
		}
		return sum / n
	}
	first, last := mean(lowest), mean(highest)
	longer := form == perf.ConstantTime && f.Residuals > 1 && last > first
	if math.Abs(last-first) <= 1e-12*last { // which of two equal means is the larger is a matter of rounding
		longer = slices.ContainsFunc(f.Warnings, func(w capacity.Warning) bool { return w.Code == words.IncreasingWarning })
	}
	all := []told{{f.Residuals == 1, words.OneResidualWarning, words.OneResidual(lowest)},
		{f.Residuals > 1 && f.Residuals < 5, words.FewResidualsWarning, words.FewResiduals(f.Residuals)},
		{longer, words.IncreasingWarning, words.LongerWithMore(first, lowest, last, highest)},
		{highest < nearlyAlone && f.Residuals > 1, words.NotDedicatedWarning, words.NotDedicated(highest)}}
	if free && f.Constrained { // then it says which of two faults the curve without constraints has
		why := words.FallsToNothing
		if len(f.Warnings) > 0 && f.Warnings[0].Detail == words.Constrained(words.GrowsWithMore) {
			why = words.GrowsWithMore
		}
		all = append([]told{{true, words.ConstrainedWarning, words.Constrained(why)}}, all...)
	}
	want["warnings"] = warnings(all...)
}

// clusters counts the parts of nodes that differ: each begins so far above the least of the one before.
func clusters(parts []float64, apart float64) (n int) {
	first := math.Inf(-1)
	for _, r := range slices.Sorted(slices.Values(parts)) {
		if r-first >= apart {
			n, first = n+1, r
		}
	}
	return n
}
