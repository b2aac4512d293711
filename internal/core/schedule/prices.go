package schedule

import (
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/lp"
)

// pricing looks for prices of VMs that give a high bound.
type pricing struct {
	*Problem
	best   float64
	prices []float64 // that give it
	worth  []float64 // of budgets, with them
	now    []float64 // what budgets are worth in the next try
	engine string
}

// try evaluates prices and keeps the best. It returns the bound and how much the load exceeds the VMs that pay at them.
func (p *pricing) try(prices []float64) (bound float64, excess []float64) {
	of := p.dearer(p.now)
	bound, load := of.Lagrange(prices)
	bound -= p.worthOf(p.now)
	offered := p.offered(prices)
	if bound > p.best || p.prices == nil {
		p.best, p.prices, p.worth = bound, slices.Clone(prices), p.now
	}
	excess = make([]float64, len(prices))
	more := p.pay(prices, offered)
	for t := range p.Supply {
		excess[t] = float64(load[t])/float64(p.Unit) - offered[t]
		of.tiers(t, func(vms, price float64) {
			if p.starting(t) != nil {
				return
			}
			switch unlimited := math.IsInf(vms, 1); {
			case !unlimited && price < prices[t]:
				excess[t] -= vms
			case unlimited && price <= prices[t]: // no price is higher
				excess[t] = min(excess[t], 0)
			}
		})
		if more != nil && more[t] {
			excess[t] = min(excess[t], 0)
		}
		if prices[t] == 0 { // nor lower
			excess[t] = max(excess[t], 0)
		}
	}
	return bound, excess
}

// offered returns the VMs of offers that pay at prices, by step.
func (p *Problem) offered(prices []float64) []float64 {
	vms := make([]float64, len(prices))
	for i := range p.Offers {
		o := &p.Offers[i]
		if o.worth(prices) >= 0 {
			continue
		}
		for t := o.From; t < o.Until; t++ {
			if o.Price < prices[t] {
				vms[t] += float64(o.Max)
			}
		}
	}
	return vms
}

const (
	climbs   = 300  // steps of prices towards a better bound
	patience = 12   // steps without a better bound before they become shorter
	higher   = 1e-7 // relative rise of a bound that counts
)

// climb raises the bound by subgradients, from the prices so far. The cost of a known plan says how far it may rise.
func (p *pricing) climb(ctx context.Context, cost float64) {
	at := slices.Clone(p.prices)
	p.now = p.worth
	length, since := 1.0, 0
	for range climbs {
		if ctx.Err() != nil {
			return
		}
		before := p.best
		bound, excess := p.try(at)
		if since++; bound > before+higher*math.Abs(before) {
			since = 0
		} else if since > patience {
			length, since = length/2, 0
			copy(at, p.prices)
			_, excess = p.try(at)
		}
		norm := 0.0
		for _, x := range excess {
			norm += x * x
		}
		if norm == 0 || cost <= bound {
			return
		}
		for t := range at {
			at[t] = max(0, at[t]+length*(cost-bound)/norm*excess[t])
		}
	}
}

// master is the linear program of the problem over some options of each arrival.
type master struct {
	p        *pricing
	arrivals []arrival
	known    []map[option]bool
	rounds   int       // of programs, at most
	budgets  int       // the first of their rows
	bought   []float64 // by offer, in the last program that was solved
	least    float64   // what that costs
}

func newMaster(p *pricing, arrivals []arrival) *master {
	m := &master{p: p, arrivals: arrivals, rounds: mostRounds, known: make([]map[option]bool, len(arrivals))}
	if len(p.Starting) > 0 {
		m.rounds = startRounds
	}
	for i := range m.known {
		m.known[i] = map[option]bool{}
	}
	return m
}

// nearShare is the part of a penalty by which an option of the first program may cost more than the cheapest one. Programs are
// solved until the bound is close to their optimum.
const (
	nearShare  = 0.002
	mostRounds = 3
	// Where starts of VMs cost something, what one hour costs depends on others, and prices settle more slowly.
	startRounds = 8
	// Where all that has no room is refused in the first program, each one finds the next cheapest hours.
	refusedRounds = 20
	mostColumns   = 300_000 // of a program that may be solved in seconds
	closed        = 5e-5    // relative difference of bound and program at which prices are good enough
)

// solve asks for the optimum of the linear program and adds options as its prices ask for them. It returns how many jobs of
// each arrival take which option, or nil where no engine answers.
func (m *master) solve(ctx context.Context, solver lp.Solver, seconds float64) []map[option]float64 {
	if solver == nil {
		return nil
	}
	var shares []map[option]float64
	climbed, limited, refused := false, false, false
	for round := 0; round < m.rounds; round++ {
		program, columns := m.program(limited)
		if len(columns) > mostColumns {
			return shares
		}
		answer, err := solver.Solve(ctx, program, lp.Options{Seconds: seconds})
		if err != nil && !limited { // perhaps since prices that are slightly off prove nothing of columns without a limit
			limited = true
			continue
		}
		if err == nil && answer.Status == lp.Infeasible && !refused { // quotas leave no room for all in the hours that are cheapest
			refused, m.rounds = true, max(m.rounds, refusedRounds)
			for i := range m.arrivals {
				m.known[i][option{Refused, 0}] = true
			}
			continue
		}
		if err != nil || answer.Status != lp.Optimal || len(answer.RowDual) != program.Rows() {
			return shares
		}
		m.p.engine = answer.Engine
		shares = make([]map[option]float64, len(m.arrivals))
		m.bought, m.least = answer.X[len(columns):len(columns)+len(m.p.Offers)], answer.Objective
		for j, c := range columns {
			if x := answer.X[j]; x > 1e-9 && c.arrival >= 0 {
				if shares[c.arrival] == nil {
					shares[c.arrival] = map[option]float64{}
				}
				shares[c.arrival][c.option] += x
			}
		}
		prices := make([]float64, len(m.p.Supply))
		for t := range prices {
			prices[t] = max(0, -answer.RowDual[t])
		}
		m.p.now = m.worth(answer.RowDual, m.budgets)
		bound, _ := m.p.try(prices)
		if answer.Objective-bound <= closed*math.Abs(answer.Objective) {
			return shares
		}
		if bound < 0 { // no plan costs less, and at such prices far too many options are cheap
			if climbed && !refused {
				return shares
			}
			if !climbed {
				m.p.climb(ctx, answer.Objective)
			}
			if climbed = true; !refused {
				copy(prices, m.p.prices)
			}
		}
		if m.add(prices, 0)+m.add(m.p.prices, 0) == 0 {
			return shares
		}
	}
	return shares
}

// near lists the known options of each arrival.
func (m *master) near() [][]option {
	all := make([][]option, len(m.arrivals))
	for i, a := range m.arrivals {
		add := func(o option) {
			if m.known[i][o] {
				all[i] = append(all[i], o)
			}
		}
		add(option{Refused, 0})
		m.p.Classes[a.class].options(a.at, add)
	}
	return all
}

// add makes the options known that cost at most a share more than the cheapest of their arrival, and counts the new ones.
func (m *master) add(prices []float64, share float64) (added int) {
	costs := make([][][]float64, len(m.p.Classes))
	for k := range m.p.Classes {
		costs[k] = m.p.costs(&m.p.Classes[k], prices)
	}
	for i, a := range m.arrivals {
		c := &m.p.Classes[a.class]
		least := c.Penalty
		c.options(a.at, func(o option) { least = min(least, costs[a.class][o.run][o.at]) })
		most := least + share*c.Penalty
		add := func(o option, cost float64) {
			if cost <= most && !m.known[i][o] {
				m.known[i][o] = true
				added++
			}
		}
		add(option{Refused, 0}, c.Penalty)
		c.options(a.at, func(o option) { add(o, costs[a.class][o.run][o.at]) })
	}
	return added
}

// column tells what a column of the program counts: jobs of an arrival in an option, or VMs where the arrival is negative.
type column struct {
	arrival int
	option  option
}

// program returns the linear program over the known options: rows of capacity first, one for each step, then one for each
// arrival. Columns of options may be limited to the jobs of their arrival, which the rows say too.
func (m *master) program(limited bool) (*lp.Program, []column) {
	var program lp.Program
	var columns []column
	for range m.p.Supply {
		program.Row(math.Inf(-1), 0)
	}
	for _, a := range m.arrivals {
		program.Row(float64(a.jobs), float64(a.jobs))
	}
	changes := m.changes(&program)
	m.budgets = program.Rows()
	spent := m.p.budgetRows(&program)
	for t := range m.p.Supply {
		m.p.tiers(t, func(vms, price float64) {
			entries := append(m.change(changes, t), lp.Entry{Row: t, Coefficient: -1})
			for _, row := range spent[t] {
				entries = append(entries, lp.Entry{Row: row, Coefficient: price})
			}
			program.Column(price, 0, vms, false, entries...)
			columns = append(columns, column{arrival: -1})
		})
	}
	for i, a := range m.arrivals {
		c := &m.p.Classes[a.class]
		add := func(o option, cost float64) {
			if !m.known[i][o] {
				return
			}
			entries := []lp.Entry{{Row: len(m.p.Supply) + i, Coefficient: 1}}
			if o.run != Refused {
				r := &c.Runs[o.run]
				for d, x := range r.Load {
					entries = append(entries, lp.Entry{Row: r.First + o.at + d, Coefficient: float64(x) / float64(m.p.Unit)})
				}
			}
			most := math.Inf(1)
			if limited {
				most = float64(a.jobs)
			}
			program.Column(cost, 0, most, false, entries...)
			columns = append(columns, column{i, o})
		}
		add(option{Refused, 0}, c.Penalty)
		c.options(a.at, func(o option) { add(o, 0) })
	}
	m.offer(&program)
	m.start(&program, changes)
	return &program, columns
}

// offer adds the offers, in their order, and then what is used of those that cost something when they are used.
func (m *master) offer(program *lp.Program) {
	used := make([]int, len(m.p.Offers)) // the first row that says that no more is used than bought
	for i := range m.p.Offers {
		o := &m.p.Offers[i]
		var entries []lp.Entry
		used[i] = program.Rows()
		for t := o.From; t < o.Until; t++ {
			if o.Price == 0 {
				entries = append(entries, lp.Entry{Row: t, Coefficient: -1})
			} else {
				entries = append(entries, lp.Entry{Row: program.Row(math.Inf(-1), 0), Coefficient: -1})
			}
		}
		program.Column(o.Fixed, 0, float64(o.Max), false, entries...)
	}
	for i := range m.p.Offers {
		o := &m.p.Offers[i]
		for t := o.From; o.Price > 0 && t < o.Until; t++ {
			program.Column(o.Price, 0, math.Inf(1), false, lp.Entry{Row: t, Coefficient: -1}, lp.Entry{Row: used[i] + t - o.From, Coefficient: 1})
		}
	}
}
