package recheck

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
)

// planned asks proof about the plan of a situation: one for its cost exists, also with just its jobs, and none is
// cheaper by more than its gap.
func (c *checking) planned(at string, p *capacity.Problem, s *settled) {
	if s.none {
		c.nowhere(at, p)
		return
	}
	c.holds(at, p, s.cost, s.gap, s.off)
	if s.classes == nil {
		return
	}
	pinned := *p
	pinned.Classes = slices.Clone(p.Classes)
	for i := range pinned.Classes {
		pinned.Classes[i].Jobs = capacity.JobRange{Min: s.classes[i].Admitted, Max: p.Classes[i].Jobs.Max}
	}
	if l, looked := c.cheapest(&pinned, s.cost, new(big.Rat)); looked && l.Holds(add(s.cost, s.off), nil) == proof.Failed {
		c.wrong(at, "costs %s, and its VMs do not carry its jobs", trimmed(s.cost))
	}
}

// holds asks proof whether a cost and its gap are right.
func (c *checking) holds(at string, p *capacity.Problem, cost, gap, off *big.Rat) proof.Least {
	l, looked := c.cheapest(p, cost, gap)
	if looked && off.Sign() > 0 && l.Slack != nil {
		l.Slack = add(l.Slack, off)
	}
	if looked {
		c.judge(at, l, cost, gap)
	}
	return l
}

// judge says what a bracket says of a cost.
func (c *checking) judge(at string, l proof.Least, cost, gap *big.Rat) {
	switch l.Holds(cost, gap) {
	case proof.Failed:
		switch {
		case l.None:
			c.wrong(at, "costs %s, and there is no plan", trimmed(cost))
		case l.Low != nil && add(cost, l.Slack).Cmp(l.Low) < 0:
			c.wrong(at, "costs %s, and no plan costs less than %s", trimmed(cost), trimmed(l.Low))
		default:
			c.wrong(at, "costs %s, and there is a plan for %s", trimmed(cost), trimmed(l.High))
		}
	case proof.NotProved:
		c.doubt(at, "costs %s: whether that is the least is left open", trimmed(cost))
	}
}

// nowhere asks proof whether there is no plan.
func (c *checking) nowhere(at string, p *capacity.Problem) {
	switch l, looked := c.cheapest(p, nil, nil); {
	case !looked || l.None:
	case l.High != nil:
		c.wrong(at, "has a plan, for %s, and none is said to be there", trimmed(l.High))
	default:
		c.doubt(at, "has no plan, it says: that is left open")
	}
}

// mostKnown bounds the brackets that are kept.
const mostKnown = 50_000

// cheapest brackets the cost of a problem, within the work that is allowed.
func (c *checking) cheapest(p *capacity.Problem, near, gap *big.Rat) (l proof.Least, looked bool) {
	if c.looks <= 0 {
		c.passed++
		return l, false
	}
	if c.options.Pause != nil {
		c.options.Pause()
	}
	text, err := json.Marshal(p)
	key := fmt.Sprint(string(text), near, gap)
	if known, seen := c.known[key]; err == nil && seen {
		return known, true
	}
	l = proof.Cheapest(*p, near, gap, proof.Options{Pause: c.options.Pause})
	if c.looks -= 1 + l.Looks; len(c.known) < mostKnown {
		c.known[key] = l
	}
	return l, true
}

// spanned brackets what a horizon comes to by month; where none is false, a situation has a plan or may have one.
type spanned struct {
	months []proof.Least
	total  proof.Least
	none   []bool // by situation
	all    bool   // every situation was looked at
}

// span brackets all cells of a calendar.
func (c *checking) span(k *calendar) *spanned {
	s := &spanned{all: true}
	known := make([]proof.Least, len(k.cases))
	for i := range k.cases {
		l, looked := c.cheapest(&k.cases[i].problem, nil, nil)
		s.all = s.all && looked
		s.none = append(s.none, l.None)
		known[i] = l
	}
	if !s.all {
		return s
	}
	var month time.Time
	var seconds [][]int64 // by month and situation
	rounded := make([]int64, 0)
	for _, x := range k.cells {
		if at := time.Date(x.start.Year(), x.start.Month(), 1, 0, 0, 0, 0, time.UTC); at.After(month) || len(seconds) == 0 {
			month = at
			seconds, rounded = append(seconds, make([]int64, len(k.cases))), append(rounded, 0)
		}
		if !s.none[x.situation] {
			seconds[len(seconds)-1][x.situation] += x.seconds
			rounded[len(rounded)-1] += int64(len(k.contracts) + len(k.h.Problem.Classes) + 2)
		}
	}
	for m := range seconds {
		sum := proof.Least{Low: new(big.Rat), High: new(big.Rat), Slack: big.NewRat(rounded[m], 1e9)}
		for i, n := range seconds[m] {
			if n > 0 {
				sum.Add(known[i], big.NewRat(n, k.h.Problem.PeriodSeconds))
			}
		}
		s.months = append(s.months, sum)
	}
	for _, m := range s.months {
		s.total.Add(m, whole(1))
	}
	return s
}
