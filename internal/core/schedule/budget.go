package schedule

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/lp"
)

// Budget is the most that the VMs of some steps may cost together.
type Budget struct {
	Steps []int
	Most  float64
}

// budgetNoise bounds rounding errors of what steps cost together, relative to a budget or to a unit of money.
const budgetNoise = 1e-12

// over returns by how much steps cost more than a budget.
func (b *Budget) over(spent float64) float64 {
	if spent <= b.Most+budgetNoise*max(1, b.Most) {
		return 0
	}
	return spent - b.Most
}

// dearer returns the problem in which each unit of money of a budget's steps costs its worth more. What no plan costs less than in it, less the
// worth of the budgets, is a bound.
func (p *Problem) dearer(worth []float64) *Problem {
	if len(p.Budgets) == 0 || worth == nil {
		return p
	}
	times := slices.Repeat([]float64{1}, len(p.Supply))
	for i, b := range p.Budgets {
		for _, t := range b.Steps {
			times[t] += worth[i]
		}
	}
	q := *p
	q.Supply, q.Spot = slices.Clone(p.Supply), slices.Clone(p.Spot)
	for t := range q.Supply {
		q.Supply[t] = slices.Clone(q.Supply[t])
		for i := range q.Supply[t] {
			q.Supply[t][i].Price *= times[t]
		}
		if q.Spot != nil {
			q.Spot[t].Price *= times[t]
		}
	}
	return &q
}

// worthOf returns what budgets are worth, which is no part of the cost.
func (p *Problem) worthOf(worth []float64) (sum float64) {
	for i, w := range worth {
		sum += w * p.Budgets[i].Most
	}
	return sum
}

// budgetRows adds the rows of a program that keep budgets, after all others, and returns them by step.
func (p *Problem) budgetRows(program *lp.Program) [][]int {
	rows := make([][]int, len(p.Supply))
	for _, b := range p.Budgets {
		row := program.Row(math.Inf(-1), b.Most)
		for _, t := range b.Steps {
			rows[t] = append(rows[t], row)
		}
	}
	return rows
}

// worth returns what the duals of a program say that budgets are worth.
func (m *master) worth(duals []float64, first int) (worth []float64) {
	for i := range m.p.Budgets {
		worth = append(worth, max(0, -duals[first+i]))
	}
	return worth
}

// spending follows what a plan in the making costs in the steps of each budget.
type spending struct {
	of     [][]int   // budgets by step
	cost   []float64 // by step
	spent  []float64 // by budget
	strict float64   // what a unit of money beyond a budget costs
	most   float64   // the same, that no penalty is worth
}

// newSpending returns nil where there are no budgets.
func newSpending(p *Problem) *spending {
	if len(p.Budgets) == 0 {
		return nil
	}
	x := &spending{of: make([][]int, len(p.Supply)), cost: make([]float64, len(p.Supply)), spent: make([]float64, len(p.Budgets)), most: leastStrict}
	for i, b := range p.Budgets {
		for _, t := range b.Steps {
			x.of[t] = append(x.of[t], i)
		}
	}
	cheapest := math.Inf(1)
	for _, tiers := range p.Supply {
		for _, tier := range tiers {
			if tier.Price > 0 {
				cheapest = min(cheapest, tier.Price)
			}
		}
	}
	for _, s := range p.Spot {
		if s.Price > 0 {
			cheapest = min(cheapest, s.Price)
		}
	}
	for k := range p.Classes {
		for _, r := range p.Classes[k].Runs {
			parts := int64(1)
			for _, load := range r.Load {
				parts += load
			}
			if !math.IsInf(cheapest, 1) {
				x.most = max(x.most, partBeyond*p.Classes[k].Penalty*float64(p.Unit)/(float64(parts)*cheapest))
			}
		}
	}
	x.strict = x.most
	return x
}

// What a unit of money beyond a budget costs in the search: so much at least, and more than refusing a run that costs a few of them. In the
// end nothing is worth it.
const (
	leastStrict = 10
	partBeyond  = 20
	strictest   = 1e15
)

// pay notes what a step costs now, and returns by how much that raises what is beyond budgets.
func (x *spending) pay(p *Problem, t int, cost float64) (more float64) {
	change := cost - x.cost[t]
	x.cost[t] = cost
	for _, i := range x.of[t] {
		before := p.Budgets[i].over(x.spent[i])
		x.spent[i] += change
		more += x.strict * (p.Budgets[i].over(x.spent[i]) - before)
	}
	return more
}

// beyond returns by how much VMs cost more than the budgets, all together.
func (p *Problem) beyond(vms []int64, steep float64) (sum float64) {
	for i := range p.Budgets {
		b, spent := &p.Budgets[i], 0.0
		for _, t := range b.Steps {
			spent += p.rented(t, vms[t], steep)
		}
		sum += b.over(spent)
	}
	return sum
}

// spareParts are the parts of executions that are alike which are refused, or taken back, together.
const spareParts = 16

// spare refuses executions until all budgets are kept, those with the smallest penalty for what they hold in their steps first. Those
// that find a place for what is left are taken back, as long as there is time.
func (s *search) spare(ctx context.Context) {
	if s.spending == nil {
		return
	}
	s.again(0)
	s.spending.strict = strictest
	for i := range s.Budgets {
		if s.Budgets[i].over(s.spending.spent[i]) > 0 {
			s.keep(i)
		}
	}
	for i := range s.arrivals {
		refused := s.refused(i)
		for part := max(1, refused/spareParts); refused > 0 && ctx.Err() == nil; refused -= part {
			part = min(part, refused)
			s.note(i, option{Refused, 0}, -part)
			s.insert(i, part)
		}
	}
}

// refused counts the refused executions of an arrival.
func (s *search) refused(i int) int64 {
	for _, x := range s.taken[i] {
		if x.run == Refused {
			return x.jobs
		}
	}
	return 0
}

// held is executions that start together, with the penalty of one for what it holds in the steps of a budget.
type held struct {
	arrival int
	share
	penalty float64
}

// keep refuses executions that hold VMs in the steps of a budget until it is kept.
func (s *search) keep(budget int) {
	in := make([]bool, len(s.load))
	for _, t := range s.Budgets[budget].Steps {
		in[t] = true
	}
	var all []held
	for i := range s.taken {
		c := &s.Classes[s.arrivals[i].class]
		for _, x := range s.taken[i] {
			if x.run == Refused {
				continue
			}
			r, parts := &c.Runs[x.run], int64(0)
			for d, load := range r.Load {
				if in[r.First+x.at+d] {
					parts += load
				}
			}
			if parts > 0 {
				all = append(all, held{i, x, c.Penalty / float64(parts)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b held) int { return cmp.Compare(a.penalty, b.penalty) })
	for _, x := range all {
		for left, part := x.jobs, max(1, x.jobs/spareParts); left > 0; left -= part {
			if s.Budgets[budget].over(s.spending.spent[budget]) == 0 {
				return
			}
			part = min(part, left)
			s.put(x.arrival, x.option, -part)
			s.note(x.arrival, x.option, -part)
			s.note(x.arrival, option{Refused, 0}, part)
		}
	}
}
