package schedule

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// search holds a plan of whole jobs and VMs while it is improved.
type search struct {
	*Problem
	arrivals []arrival
	taken    [][]share  // by arrival
	near     [][]option // by arrival: those that cost little more than the cheapest at the prices
	load     []int64    // parts of a VM, by step and type
	random   *rand.Rand
	steep    float64     // price of VMs that are not there, as it counts now
	full     float64     // the price of them that no penalty is worth
	dear     float64     // the highest price of VMs
	mean     float64     // the mean price of the dearest VMs by step
	smooth   float64     // part of the price of the last VM that counts by how full it is, 0 to 1
	step     []float64   // cost of each step as it stands
	before   []float64   // the same of some steps, before a move
	starts   []*Starting // by step, or nil
	spending *spending   // nil where there are no budgets
}

// share counts the jobs of an arrival that take an option.
type share struct {
	option
	jobs int64
}

func newSearch(p *Problem, arrivals []arrival) *search {
	s := &search{Problem: p, arrivals: arrivals, taken: make([][]share, len(arrivals)), near: make([][]option, len(arrivals)), random: rand.New(rand.NewPCG(1, 2)),
		load: make([]int64, len(p.Supply)), step: make([]float64, len(p.Supply))}
	for _, tiers := range p.Supply {
		dearest := 0.0
		for _, tier := range tiers {
			dearest = max(dearest, tier.Price)
		}
		s.dear = max(s.dear, dearest)
		s.mean += dearest / float64(len(p.Supply))
	}
	for _, spot := range p.Spot {
		s.dear = max(s.dear, spot.Price)
	}
	s.full = s.dear
	for k := range p.Classes {
		c := &p.Classes[k]
		for _, r := range c.Runs {
			parts := int64(1)
			for _, x := range r.Load { // none where it ended before the first step
				parts = max(parts, x)
			}
			s.full = max(s.full, 2*c.Penalty*float64(p.Unit)/float64(parts))
		}
	}
	s.steep = s.full
	if len(p.Starting) > 0 {
		s.starts = make([]*Starting, len(p.Supply))
		for t := range s.starts {
			s.starts[t] = p.starting(t)
		}
	}
	s.spending = newSpending(p)
	s.again(0)
	return s
}

// cost returns what a step's load costs. Of the last VM a smooth part counts by how full it is, along a curve that rewards
// filling full VMs up and emptying those with little.
func (s *search) cost(t int) float64 {
	vms := s.whole(s.load[t])
	if vms == 0 {
		return 0
	}
	all := s.rented(t, vms, s.steep)
	if s.starts != nil {
		all += s.startCost(t, vms)
	}
	if s.smooth == 0 {
		return all
	}
	full := 1 - float64(vms*s.Unit-s.load[t])/float64(s.Unit)
	return all - s.smooth*(all-s.rented(t, vms-1, s.steep))*(1-full)*(1-full/2)
}

// put adds jobs of an arrival in an option, or takes them away, and returns by how much that raises the cost.
func (s *search) put(i int, o option, jobs int64) (more float64) {
	c := &s.Classes[s.arrivals[i].class]
	if o.run == Refused {
		return float64(jobs) * c.Penalty
	}
	s.lay(i, o, jobs)
	first, until := s.span(i, o)
	for t := first; t < until; t++ {
		more += s.renew(t)
	}
	return more
}

// span returns the steps whose cost jobs of an arrival in an option may change.
func (s *search) span(i int, o option) (first, until int) {
	if o.run == Refused {
		return 0, 0
	}
	r := &s.Classes[s.arrivals[i].class].Runs[o.run]
	first = r.First + o.at
	until = first + len(r.Load)
	if s.starts != nil && len(r.Load) > 0 { // what later starts cost depends on two steps before
		until = min(len(s.load), until+2)
	}
	return first, until
}

// lay adds the load of jobs in an option, or takes it away.
func (s *search) lay(i int, o option, jobs int64) {
	if o.run == Refused {
		return
	}
	r := &s.Classes[s.arrivals[i].class].Runs[o.run]
	load := s.load[r.First+o.at:]
	for d, x := range r.Load {
		load[d] += x * jobs
	}
}

// renew finds the cost of a step anew, and returns by how much it is higher.
func (s *search) renew(t int) (more float64) {
	now := s.cost(t)
	more = now - s.step[t]
	s.step[t] = now
	if s.spending != nil {
		more += s.spending.pay(s.Problem, t, s.rented(t, s.whole(s.load[t]), s.steep))
	}
	return more
}

// note records that jobs of an arrival take an option, or no longer do.
func (s *search) note(i int, o option, jobs int64) {
	for n := range s.taken[i] {
		if x := &s.taken[i][n]; x.option == o {
			if x.jobs += jobs; x.jobs == 0 {
				s.taken[i] = slices.Delete(s.taken[i], n, n+1)
			}
			return
		}
	}
	s.taken[i] = append(s.taken[i], share{o, jobs})
}

// again sets how smooth costs are.
func (s *search) again(smooth float64) {
	s.smooth = smooth
	if s.spending != nil { // anew, without rounding errors of moves
		clear(s.spending.cost)
		clear(s.spending.spent)
	}
	for t := range s.step {
		s.step[t] = s.cost(t)
		if s.spending != nil {
			s.spending.pay(s.Problem, t, s.rented(t, s.whole(s.load[t]), s.steep))
		}
	}
}

// insert places jobs of an arrival where they cost least now.
func (s *search) insert(i int, jobs int64) {
	c := &s.Classes[s.arrivals[i].class]
	best, least := option{Refused, 0}, float64(jobs)*c.Penalty
	c.options(s.arrivals[i].at, func(o option) {
		if cost := s.put(i, o, jobs); cost < least {
			best, least = o, cost
		}
		s.put(i, o, -jobs)
	})
	s.put(i, best, jobs)
	s.note(i, best, jobs)
}

// alwaysWeighed is the number of options that are weighed even where no time is left. Small problems have a plan by that.
const alwaysWeighed = 20_000

// greedy places all executions one arrival after the other, those with the fewest options first.
func (s *search) greedy(ctx context.Context) {
	s.again(1)
	order := make([]int, len(s.arrivals))
	slack := make([]int, len(s.arrivals))
	for i, a := range s.arrivals {
		order[i] = i
		s.Classes[a.class].options(a.at, func(option) { slack[i]++ })
	}
	slices.SortStableFunc(order, func(a, b int) int { return slack[a] - slack[b] })
	weighed := 0
	for _, i := range order {
		n := s.arrivals[i].jobs
		if weighed += slack[i]; weighed > alwaysWeighed && ctx.Err() != nil { // no time is left to weigh them
			s.note(i, option{Refused, 0}, n)
			continue
		}
		for piece := max(1, n/8); n > 0; n -= piece {
			piece = min(piece, n)
			s.insert(i, piece)
		}
	}
}

// round takes the shares of a linear program: whole jobs of each, and what is left where it costs least.
func (s *search) round(shares []map[option]float64) {
	s.again(1)
	left := make([]int64, len(s.arrivals))
	for i, a := range s.arrivals {
		left[i] = a.jobs
		c := &s.Classes[a.class]
		take := func(o option) {
			if n := min(left[i], int64(math.Floor(shares[i][o]+1e-6))); n > 0 {
				left[i] -= n
				s.put(i, o, n)
				s.note(i, o, n)
			}
		}
		take(option{Refused, 0})
		c.options(a.at, take)
	}
	for i, n := range left {
		for ; n > 0; n-- {
			s.insert(i, 1)
		}
	}
}

// total returns the cost of the plan as it stands.
func (s *search) total() (cost float64) {
	_, cost = s.held(s.full)
	for i := range s.taken {
		for _, x := range s.taken[i] {
			if x.run == Refused {
				cost += float64(x.jobs) * s.Classes[s.arrivals[i].class].Penalty
			}
		}
	}
	return cost
}

// Moves of the search, and how it cools down.
const (
	coolings  = 60
	warm      = 0.05 // of the mean price of a VM in a step: where the linear program's plan is mended
	hot       = 3    // where all is still open
	coldest   = 0.001
	nearMoves = 6    // of eight moves go to an option that is cheap at the prices
	gentle    = 2    // times the highest price of VMs: what missing ones cost at first
	lookEvery = 1024 // moves between looks at the time

	neverAccepted = 37 // exp(-37) is below 2^-53
)

// anneal moves executions at random: always where that costs less, and sometimes where it costs more, which grows rarer. The
// best plan it meets is kept. Gently, VMs that are not there cost little at first, so that executions pass through full steps.
func (s *search) anneal(ctx context.Context, moves int, hottest float64, gently bool) {
	var movable []int
	for i, a := range s.arrivals {
		if len(s.Classes[a.class].Runs) > 0 {
			movable = append(movable, i)
		}
	}
	if len(movable) == 0 {
		return
	}
	best, kept := s.total(), s.copied()
	for n := range coolings {
		cold := float64(n) / (coolings - 1)
		heat := s.mean * hottest * math.Pow(coldest/hottest, cold)
		if gently && s.dear > 0 {
			softer := math.Pow(min(1, gentle*s.dear/s.full), (1-cold)*(1-cold))
			if s.steep = s.full * softer; s.spending != nil {
				s.spending.strict = max(leastStrict, s.spending.most*softer)
			}
		}
		s.again(0.8 * (1 - cold))
		for m := range moves / coolings {
			if m%lookEvery == 0 && ctx.Err() != nil {
				break
			}
			s.move(movable[s.random.IntN(len(movable))], heat)
		}
		if now := s.total(); now < best {
			best, kept = now, s.copied()
		}
		if ctx.Err() != nil {
			break
		}
	}
	if s.steep = s.full; s.spending != nil {
		s.spending.strict = s.spending.most
	}
	s.restore(kept)
}

// move tries one random move of an arrival.
func (s *search) move(i int, heat float64) {
	random := s.random
	from := s.taken[i][random.IntN(len(s.taken[i]))]
	jobs := int64(1)
	if from.jobs > 1 && random.IntN(4) == 0 {
		jobs += random.Int64N(from.jobs)
	}
	a := s.arrivals[i]
	c := &s.Classes[a.class]
	to := option{Refused, 0}
	if near := s.near[i]; random.IntN(8) < nearMoves && len(near) > 0 {
		to = near[random.IntN(len(near))]
	} else if from.run == Refused || random.IntN(16) > 0 {
		to.run = random.IntN(len(c.Runs))
		starts := c.starts(a.at, to.run)
		if starts == 0 {
			return
		}
		to.at = a.at + c.First + random.IntN(starts)
		if !c.may(to.run, to.at) {
			return
		}
	}
	if to == from.option {
		return
	}
	fromFirst, fromUntil := s.span(i, from.option)
	toFirst, toUntil := s.span(i, to)
	s.before = append(append(s.before[:0], s.step[fromFirst:fromUntil]...), s.step[toFirst:toUntil]...)
	more := s.put(i, from.option, -jobs) + s.put(i, to, jobs)
	if more <= 0 || accepts(random.Float64(), more/heat) {
		s.note(i, from.option, -jobs)
		s.note(i, to, jobs)
		return
	}
	if s.spending != nil { // which follows every change
		s.put(i, to, -jobs)
		s.put(i, from.option, jobs)
		return
	}
	s.lay(i, to, -jobs)
	s.lay(i, from.option, jobs)
	copy(s.step[fromFirst:fromUntil], s.before)
	copy(s.step[toFirst:toUntil], s.before[fromUntil-fromFirst:])
}

// accepts reports whether a move that costs more is made. A drawn number is 0 or at least 2^-53, so that few need the exponential.
func accepts(drawn, more float64) bool {
	return (more < neverAccepted || drawn == 0) && drawn < math.Exp(-more)
}

// hottest returns the heat where all is still open: executions are refused as easily as VMs are rented.
func (s *search) hottest() float64 {
	penalties, jobs := 0.0, 0.0
	for _, a := range s.arrivals {
		penalties += float64(a.jobs) * s.Classes[a.class].Penalty
		jobs += float64(a.jobs)
	}
	if s.mean > 0 && jobs > 0 {
		return max(hot, penalties/jobs/s.mean)
	}
	return hot
}

func (s *search) copied() [][]share {
	all := make([][]share, len(s.taken))
	for i := range all {
		all[i] = slices.Clone(s.taken[i])
	}
	return all
}

// restore takes a plan that was copied.
func (s *search) restore(kept [][]share) {
	s.taken = kept
	clear(s.load)
	for i := range kept {
		for _, x := range kept[i] {
			if x.run != Refused {
				r := &s.Classes[s.arrivals[i].class].Runs[x.run]
				for d, parts := range r.Load {
					s.load[r.First+x.at+d] += parts * x.jobs
				}
			}
		}
	}
	s.again(0)
}

// repair refuses executions until no step needs more VMs than there are, those with the smallest penalty for their VMs first.
func (s *search) repair() {
	for t := range s.load {
		room := s.room(t)
		for s.whole(s.load[t]) > room {
			worst, least := -1, math.Inf(1)
			var which share
			for i := range s.taken {
				c := &s.Classes[s.arrivals[i].class]
				for _, x := range s.taken[i] {
					if x.run == Refused {
						continue
					}
					r := &c.Runs[x.run]
					step := t - r.First - x.at
					if step < 0 || step >= len(r.Load) {
						continue
					}
					if each := c.Penalty / float64(max(1, r.Load[step])); each < least {
						worst, least, which = i, each, x
					}
				}
			}
			if worst < 0 {
				return
			}
			s.put(worst, which.option, -1)
			s.note(worst, which.option, -1)
			s.note(worst, option{Refused, 0}, 1)
		}
	}
}

// Limits of how much forward tries.
const (
	forwardPasses = 4
	forwardParts  = 16   // of the executions that start together
	forwardNoise  = 1e-9 // rounding errors, relative to the price of a VM
)

// forward lets executions start earlier where that costs nothing: nobody waits in vain.
func (s *search) forward() {
	for range forwardPasses {
		moved := false
		for i := range s.arrivals {
			for _, x := range slices.Clone(s.taken[i]) {
				moved = x.run != Refused && s.earlier(i, x) || moved
			}
		}
		if !moved {
			return
		}
	}
}

// earlier moves executions that start together to the earliest steps that cost nothing more.
func (s *search) earlier(i int, x share) (moved bool) {
	a := s.arrivals[i]
	for at := a.at + s.Classes[a.class].First; at < x.at && x.jobs > 0; at++ {
		to := option{x.run, at}
		if !s.Classes[a.class].may(x.run, at) {
			continue
		}
		for part := range int64(min(forwardParts, x.jobs)) {
			n := x.jobs - part
			if s.put(i, x.option, -n)+s.put(i, to, n) <= forwardNoise*s.dear {
				s.note(i, x.option, -n)
				s.note(i, to, n)
				x.jobs, moved = part, true
				break
			}
			s.put(i, to, -n)
			s.put(i, x.option, n)
		}
	}
	return moved
}
