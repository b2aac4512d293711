package proof

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/words"
)

// warnings checks that the plan warns of what its figures call for, in the sentences for it, and of nothing else.
func (m *model) warnings(pl capacity.Plan, fleet bool) []string {
	var f faults
	var known, due []capacity.Warning
	for i := range m.classes {
		c, in := m.classes[i], &m.problem.Classes[i]
		if i < len(pl.Classes) && !samePromise(pl.Classes[i].Promise, in.PromiseOf()) {
			f.addf("%s: the promise is not that of the problem.", in.Name)
		}
		if in.Profile == nil {
			continue
		}
		at := fmt.Sprintf("/classes/%d", i)
		var of []capacity.Warning
		if m.problem.Options.Bound == capacity.CalibratedBound && in.Calibration == nil {
			of = append(of, words.Uncalibrated(in.Name, at+"/calibration"))
		}
		if p := in.Profile; p.ReduceTasks > 0 && p.FirstShuffleMaxSeconds > p.ShuffleMaxSeconds*(1+capacity.PremiseSlack) {
			of = append(of, words.LongFirstShuffle(at+"/profile"))
		}
		of = append(of, promiseWarnings(c, in, m.problem.Options, at)...)
		known = append(known, of...)
		if !fleet || !c.impossible {
			due = append(due, of...)
		}
	}
	if !fleet && len(pl.Conflicts) > 0 && pl.Conflicts[0].Pointer == totalPointer {
		due = nil // the plan that costs too much was warned of, and is not there
	}
	if pl.VMs.Spot > 0 {
		due = append(due, words.Interrupted(pl.VMs.Spot))
	}
	if pl.Proof != nil && pl.Proof.Engine != "" {
		known = append(known, words.Disagreed())
	}
	known = append(known, due...)
	for i, w := range pl.Warnings {
		unanswered := w.Code == words.SolverUnavailable && w.Pointer == "" && strings.HasSuffix(w.Detail, ".") &&
			strings.HasPrefix(w.Detail, strings.TrimSuffix(words.Unanswered("").Detail, "."))
		switch {
		case !unanswered && !slices.Contains(known, w):
			f.addf("The warning %.300v is none that the plan's figures call for.", w)
		case !fleet && slices.Contains(pl.Warnings[:i], w):
			f.addf("The warning %.300v stands there twice.", w)
		}
	}
	for _, w := range due {
		if !slices.Contains(pl.Warnings, w) {
			f.addf("The warning %q is missing: %.200s", w.Code, w.Detail)
		}
	}
	return f
}

var engineName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+ [0-9]+(\.[0-9]+)*$`) })
