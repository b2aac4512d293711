package schedule

import (
	"math"
	"slices"

	"example.org/headroom/internal/core/lp"
)

// Starting says what it costs to start VMs of a type that has some steps of the supply. It has no spot VMs.
type Starting struct {
	First, Until int
	Prices       []float64 // by step, of each VM by which there are more than in the step before
	Before       int64     // VMs that are there before the first step
}

// startNoise bounds rounding errors of sums of prices, relative to that of a start.
const startNoise = 1e-9

// at is what starting a VM for a step costs.
func (s *Starting) at(step int) float64 { return s.Prices[step-s.First] }

// starting returns what starts of a step's type cost; nil is nothing.
func (p *Problem) starting(step int) *Starting {
	for i := range p.Starting {
		if s := &p.Starting[i]; step >= s.First && step < s.Until {
			return s
		}
	}
	return nil
}

// started returns how many VMs are started for a step with so many, after one with others.
func (s *Starting) started(step int, vms []int64) int64 {
	if step == s.First {
		return max(0, vms[step]-s.Before)
	}
	return max(0, vms[step]-vms[step-1])
}

// level is VMs of a type that cost alike in every step: those above From. Width is infinite where there is no limit.
type level struct {
	from, width float64
	prices      []float64 // by step of the type, infinite where there are none
}

// levels returns the VMs of a type by what they cost, the first ones first. Some numbers of VMs end a level.
func (p *Problem) levels(s *Starting, at ...int64) (all []level) {
	steps, ends := p.Supply[s.First:s.Until], []float64{float64(s.Before)}
	for _, n := range at {
		ends = append(ends, float64(n))
	}
	for _, tiers := range steps {
		sum := int64(0)
		for _, t := range tiers {
			if sum = min(Unlimited, sum+t.VMs); sum < Unlimited {
				ends = append(ends, float64(sum))
			}
		}
	}
	slices.Sort(ends)
	ends = append(slices.Compact(ends), math.Inf(1))
	from := 0.0
	for _, end := range ends {
		if end == from {
			continue
		}
		l := level{from, end - from, make([]float64, len(steps))}
		some := false
		for t, tiers := range steps {
			l.prices[t] = math.Inf(1)
			sum := int64(0)
			for _, tier := range tiers {
				if sum = min(Unlimited, sum+tier.VMs); float64(sum) > from {
					l.prices[t], some = tier.Price, true
					break
				}
			}
		}
		if some {
			all = append(all, l)
		}
		from = end
	}
	return all
}

// lower lowers prices of VMs, in place, until no VM that is started pays, however long it stays.
func (s *Starting) lower(l *level, prices []float64) {
	gained := math.Inf(-1) // at most, by a VM that is there, less what it and its start cost
	for t, cost := range l.prices {
		if math.IsInf(cost, 1) {
			gained = math.Inf(-1)
			continue
		}
		gained = max(gained, -s.Prices[t]) + prices[t] - cost
		if gained > 0 {
			prices[t] -= gained
			gained = 0
		}
	}
}

// limited reports by step whether a VM that is there then pays just what it and its start cost, so that there may be any number.
func (s *Starting) limited(l *level, prices []float64) []bool {
	all, gained := make([]bool, len(prices)), make([]float64, len(prices))
	sum := math.Inf(-1)
	for t, cost := range l.prices {
		sum = max(sum, -s.Prices[t]) + prices[t] - cost
		gained[t] = sum // by one that stays until after the step
	}
	sum = 0
	for t := len(prices) - 1; t >= 0; t-- {
		all[t] = gained[t]+sum >= -startNoise*s.Prices[t]
		sum = max(0, sum+prices[t]-l.prices[t])
	}
	return all
}

// rent returns what one VM of a level costs less than prices pay, at its best, and the steps in which it is then there. No sum over
// more steps is lower.
func (s *Starting) rent(l *level, prices []float64) (cost float64, there []bool) {
	steps := len(prices)
	stays := make([]bool, steps) // it was there in the step before, if it is there
	left := make([]bool, steps)  // it was there in the step before, if it is not
	off, on := 0.0, math.Inf(1)
	if l.from < float64(s.Before) {
		on = 0
	}
	for t, price := range l.prices {
		stays[t], left[t] = on <= off+s.Prices[t], on < off
		off, on = min(off, on), min(on, off+s.Prices[t])+price-prices[t]
	}
	there = make([]bool, steps)
	is := on < off
	for t := steps - 1; t >= 0; t-- {
		if there[t] = is; is {
			is = stays[t]
		} else {
			is = left[t]
		}
	}
	return min(off, on), there
}

// bound returns what all VMs of a type cost less than prices of them pay, at their best. Prices at which any number of VMs would pay are
// lowered, in place. Where vms is given, it adds those VMs by step, and returns in which of them there may be any number.
func (s *Starting) bound(p *Problem, prices, vms []float64) (cost float64, more []bool) {
	levels := p.levels(s)
	prices = prices[s.First:s.Until]
	if l := &levels[len(levels)-1]; math.IsInf(l.width, 1) {
		if s.lower(l, prices); vms != nil {
			more = s.limited(l, prices)
		}
		levels = levels[:len(levels)-1]
	}
	for i := range levels {
		each, there := s.rent(&levels[i], prices)
		cost += levels[i].width * each
		for t, is := range there {
			if is && vms != nil {
				vms[s.First+t] += levels[i].width
			}
		}
	}
	return cost, more
}

// pay adds to VMs by step those that pay at prices, of types whose starts cost something. In some steps there may be any number more.
func (p *Problem) pay(prices, vms []float64) (more []bool) {
	for i := range p.Starting {
		s := &p.Starting[i]
		if more == nil {
			more = make([]bool, len(prices))
		}
		_, without := s.bound(p, prices, vms)
		copy(more[s.First:], without)
	}
	return more
}

// Held raises VMs by step, in place, where it is cheaper that some are there without work than to start them again. VMs that are needed
// cost the same in any case.
func (p *Problem) Held(vms []int64) {
	for i := range p.Starting {
		s := &p.Starting[i]
		needed := slices.Clone(vms[s.First:s.Until])
		for _, l := range p.levels(s, needed...) {
			s.hold(&l, needed, vms[s.First:s.Until])
		}
	}
}

// hold raises VMs of a type by those of a level that are there although nothing needs them: until they are needed again, or because starting
// them earlier is cheaper.
func (s *Starting) hold(l *level, needed, vms []int64) {
	last := -1 // the step in which they were needed
	was := l.from < float64(s.Before)
	for t, n := range needed {
		if float64(n) <= l.from {
			continue
		}
		from, best, idle := t, s.Prices[t], 0.0
		for at := t - 1; at > last; at-- {
			idle += l.prices[at]
			if cost := idle + s.Prices[at]; cost < best*(1-startNoise) {
				from, best = at, cost
			}
		}
		if was && idle < best*(1-startNoise) {
			from = last + 1
		}
		for at := from; at < t; at++ {
			vms[at] = max(vms[at], int64(l.from+l.width))
		}
		last, was = t, true
	}
}

// held returns the VMs by step for the load as it stands, and what they cost with their starts. Those beyond the supply cost as much
// as steep says.
func (s *search) held(steep float64) (vms []int64, cost float64) {
	vms = make([]int64, len(s.load))
	for t := range vms {
		vms[t] = s.whole(s.load[t])
	}
	s.Held(vms)
	for t, n := range vms {
		if cost += s.rented(t, n, steep); s.starts != nil && s.starts[t] != nil {
			cost += s.starts[t].at(t) * float64(s.starts[t].started(t, vms))
		}
	}
	if s.spending != nil && steep > 0 {
		cost += s.spending.most * s.beyond(vms, steep)
	}
	return vms, cost
}

// startCost returns what the starts of VMs for a step cost. Those that were needed two steps before may have stayed, and then cost as much as
// they do in the step between. VMs that stay longer count as started here.
func (s *search) startCost(t int, vms int64) float64 {
	of := s.starts[t]
	if of == nil {
		return 0
	}
	needed := func(step int) int64 {
		if step < of.First {
			return of.Before
		}
		return s.whole(s.load[step])
	}
	before := needed(t - 1)
	if vms <= before {
		return 0
	}
	price := of.at(t)
	if t == of.First {
		return price * float64(vms-before)
	}
	stay := max(before, min(vms, needed(t-2)))
	cost := price * float64(vms-stay)
	if stay > before {
		cost += min(price*float64(stay-before), s.rented(t-1, stay, s.steep)-s.rented(t-1, before, s.steep))
	}
	return cost
}

// changes adds by step a row that counts the VMs started for it: there are no more VMs beside those than in the step before. It is -1
// where starts cost nothing.
func (m *master) changes(program *lp.Program) (all []int) {
	for t := range m.p.Supply {
		row := -1
		if s := m.p.starting(t); s != nil {
			most := 0.0
			if t == s.First {
				most = float64(s.Before)
			}
			row = program.Row(math.Inf(-1), most)
		}
		all = append(all, row)
	}
	return all
}

// change returns the entries in them of VMs of a step.
func (m *master) change(rows []int, t int) (entries []lp.Entry) {
	s := m.p.starting(t)
	if s == nil {
		return nil
	}
	entries = append(entries, lp.Entry{Row: rows[t], Coefficient: 1})
	if t+1 < s.Until {
		entries = append(entries, lp.Entry{Row: rows[t+1], Coefficient: -1})
	}
	return entries
}

// start adds the VMs that are started, by step.
func (m *master) start(program *lp.Program, changes []int) {
	for t, row := range changes {
		if row >= 0 {
			program.Column(m.p.starting(t).at(t), 0, math.Inf(1), false, lp.Entry{Row: row, Coefficient: -1})
		}
	}
}
