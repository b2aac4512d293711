package timetable

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/schedule"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
)

// checkStarts refuses what starting VMs costs where there are spot VMs as well: how many may be spot depends on how many stay.
func (q *Question) checkStarts(c *strict.Checker) {
	refuse := func(start *capacity.VMStart, spot *capacity.Spot) {
		if start != nil && spot != nil {
			c.Refuse("start", "not_taken", "What starting a VM costs is planned where there are no spot VMs. Leave this out, or spot.")
		}
	}
	c.Enter("problem")
	c.Enter("supply")
	refuse(q.Problem.Supply.Start, q.Problem.Supply.Spot)
	strict.Each(c, "vm_types", q.Problem.Supply.VMTypes, func(t *capacity.VMTypeSupply) { refuse(t.Start, t.Spot) })
	c.Leave()
	c.Leave()
}

// checkVMs refuses VMs that are there before the first hour, where those are not of each type.
func (q *Question) checkVMs(c *strict.Checker) {
	if q.Before.VMs == nil {
		return
	}
	if types := q.Problem.Supply.Types(); len(q.Before.VMs) != len(types) {
		c.Refuse("vms", "range", "Here are the VMs of %s; the supply has %d.", words.Counted(words.Number(float64(len(q.Before.VMs))), "type"), len(types))
	}
	c.Enter("vms")
	for v, n := range q.Before.VMs {
		c.Element(v)
		c.Whole("", "The number of VMs", "", n, 0, capacity.MaxVMs)
		c.Leave()
	}
	c.Leave()
}

// assumedLead is how long before its hour a VM is asked for where nobody says it, in seconds. Without it, schedules that plans follow
// would start VMs thrice as often, for pennies.
const assumedLead = 300

// takeStarts gives the types of VMs of a cluster what starting them costs. It says where schedules leave that out. Plans follow some.
func takeStarts(p *capacity.Problem, o *horizon.Outlook, follows bool, warn func(code, format string, values ...any)) {
	lead := int64(0)
	if follows {
		lead = assumedLead
	}
	take := func(start **capacity.VMStart, spot *capacity.Spot, said, counted capacity.VMStart) (left bool) {
		switch {
		case !counted.Costs():
		case p.Budget != nil || spot != nil:
			return said.Costs()
		default:
			*start = &counted
		}
		return false
	}
	var left []string
	for _, used := range o.UsedTypes() {
		of := func(t capacity.VMTypeSupply) bool { return t.Name == used.Name }
		s, out := &p.Supply, false
		if v := slices.IndexFunc(s.VMTypes, of); v >= 0 {
			out = take(&s.VMTypes[v].Start, s.VMTypes[v].Spot, used.Start(0), used.Start(lead))
		} else if len(s.VMTypes) == 0 {
			out = take(&s.Start, s.Spot, used.Start(0), used.Start(lead))
		}
		if out {
			left = append(left, fmt.Sprintf("%q", fault.Clip(used.Name)))
		}
	}
	if len(left) > 0 {
		warn("starts_left_out", "What starting a VM costs is planned without a budget and spot VMs. It is left out of %s.", words.Some(left))
	}
}

// thereBefore returns the VMs of each type in the hour before one by the schedule. Where it was made for that hour anew, those count that
// were there before it.
func (f *Followed) thereBefore(hour time.Time, types Types) []int64 {
	if f == nil {
		return nil
	}
	at := int(hour.Sub(f.Question.Start())/time.Hour) - 1
	if at < 0 && (f.Question.Before == nil || f.Question.Before.VMs == nil) || at >= len(f.Answer.Hours) {
		return nil
	}
	names := []string{""}
	if types.Named {
		names = types.Names
	} else if len(types.Names) == 0 { // they are the same
		names = nil
		for _, t := range f.Question.Problem.Supply.Types() {
			names = append(names, t.Name)
		}
	}
	all := make([]int64, len(names))
	for v, was := range f.Question.Problem.Supply.Types() {
		row := Start{Type: was.Name, RunSeconds: 1}
		f.rename(&row, types)
		to := slices.Index(names, row.Type)
		switch {
		case to < 0 || row.RunSeconds == 0: // it is used no more
		case at < 0 && v < len(f.Question.Before.VMs):
			all[to] += f.Question.Before.VMs[v]
		case at >= 0 && len(f.Answer.Hours[at].ByType) > v:
			all[to] += f.Answer.Hours[at].ByType[v].VMs
		case at >= 0:
			all[to] += f.Answer.Hours[at].VMs
		}
	}
	return all
}

// settleVMs drops VMs that are there before where they are of other types.
func (q *Question) settleVMs() {
	if q.Before != nil && len(q.Before.VMs) != len(q.Problem.Supply.Types()) {
		q.Before.VMs = nil
	}
}

// startsCost reports whether starting VMs of some type costs something.
func startsCost(s *capacity.Supply) bool {
	return slices.ContainsFunc(s.Types(), func(t capacity.VMTypeSupply) bool { return t.Start.Costs() })
}

// WithoutStarts leaves out what starting VMs costs, and reports whether that was something.
func (q *Question) WithoutStarts() (costs bool) {
	s := &q.Problem.Supply
	costs = startsCost(s)
	s.Start, s.VMTypes = nil, slices.Clone(s.VMTypes)
	for v := range s.VMTypes {
		s.VMTypes[v].Start = nil
	}
	return costs
}

// startings returns what starting VMs costs, of the types where it costs something.
func (g *grid) startings() (all []schedule.Starting) {
	for v := range g.types {
		if g.types[v].Start.Costs() {
			s := schedule.Starting{First: v * g.hours, Until: (v + 1) * g.hours, Before: g.before(v)}
			for row := s.First; row < s.Until; row++ {
				s.Prices = append(s.Prices, g.starts[row].InexactFloat64())
			}
			all = append(all, s)
		}
	}
	return all
}

// before returns how many VMs of a type are there before the first hour.
func (g *grid) before(v int) int64 {
	if b := g.question.Before; b != nil && v < len(b.VMs) {
		return b.VMs[v]
	}
	return 0
}

// rentAndStart rents the VMs of a type in an hour, and starts those that were not there before. These are told where they cost something.
func (g *grid) rentAndStart(row int, vms []int64) Rented {
	r, v := g.rent(row, vms[row]), row/g.hours
	was := g.before(v)
	if row%g.hours > 0 {
		was = vms[row-1]
	}
	if n := vms[row] - was; n > 0 && g.types[v].Start != nil {
		r.Started, r.StartCost = n, &money.Amount{Decimal: g.starts[row].Mul(decimal.NewFromInt(n))}
		r.Cost.Decimal = r.Cost.Add(r.StartCost.Decimal)
	}
	return r
}

// startPrice returns what starting a VM of a type for an hour costs. It is asked for in the hour before, at the price of that one.
func (g *grid) startPrice(supply *capacity.VMTypeSupply, row int) decimal.Decimal {
	s := supply.Start
	if s == nil {
		return decimal.Zero
	}
	price := supply.OnDemand.Price.Decimal
	if row%g.hours > 0 {
		price = g.demand[row-1]
	}
	return s.Price.Add(price.Mul(decimal.NewFromFloat(s.LeadSeconds)).DivRound(decimal.NewFromInt(3600), money.Places))
}

// explainStarts says how many VMs are started, and what that costs.
func (a *Answer) explainStarts(q *Question) {
	n, cost := 0.0, money.Amount{}
	for i := range a.Hours {
		if x := &a.Hours[i]; x.StartCost != nil {
			n, cost.Decimal = n+float64(x.Started), cost.Add(x.StartCost.Decimal)
		}
	}
	if n > 0 {
		asked := ""
		if lead := a.leadAlone(q); lead > 0 {
			asked = fmt.Sprintf(", as they are paid from %s s before their hour", words.Number(lead))
		}
		a.Facts.Say("starts", "", fmt.Sprintf("Of that, starting VMs %s costs %s%s.", words.Counted(words.Number(n), "time"), words.CentsOf(cost), asked),
			words.Count("starts", n, "VMs"), words.Money("starts", cost, a.Currency))
	}
}

// leadAlone returns how long before its hour each VM is asked for that is started, or 0 where they differ or have a price beside.
func (a *Answer) leadAlone(q *Question) (lead float64) {
	types := q.Problem.Supply.Types()
	for i := range a.Hours {
		for v := range types {
			row := &a.Hours[i].Rented
			if len(a.Hours[i].ByType) > v {
				row = &a.Hours[i].ByType[v].Rented
			}
			switch s := types[v].Start; {
			case row.StartCost == nil:
			case s.Price.IsPositive() || s.LeadSeconds == 0 || lead > 0 && s.LeadSeconds != lead:
				return 0
			default:
				lead = s.LeadSeconds
			}
		}
	}
	return lead
}
