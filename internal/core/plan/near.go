package plan

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan/integer"
)

// stayNear trades what the gap leaves open for calm: among the plans that are still within the
// gap, it takes one close to the previous plan, by VMs first and by jobs then. It walks both ways:
// from the best plan back to the previous one, and from the previous one towards the best. And it
// looks for the nearest plan there is, with bounded room.
func (d *decision) stayNear() {
	bound := d.best.Objective - d.best.Gap
	limit := max(d.best.Objective, d.within(bound, d.committed())) + integer.GapNoise*d.wanted() // a tie may be a float's last place above
	previous := slices.Clone(d.best.Jobs)
	for i := range d.classes {
		c := &d.classes[i]
		if jobs, known := d.Options.Near.Jobs[c.Name]; known {
			previous[i] = int64(math.Round(min(c.high, max(c.low, jobs))))
		}
	}
	chosen := d.distance(d.best.Jobs, previous)
	candidates := [][]int64{d.walk(d.best.Jobs, previous, limit, false), d.walk(previous, d.best.Jobs, limit, true), d.nearest(previous, limit)}
	for _, jobs := range candidates {
		n := integer.VMsFor(d.front, jobs)
		cost := d.front.Objective(jobs, n)
		if cost > limit {
			continue
		}
		if at := d.distance(jobs, previous); at.less(chosen) {
			chosen = at
			d.best.Gap = max(0, d.best.Gap+cost-d.best.Objective)
			d.best.Jobs, d.best.Objective, d.best.VMs = jobs, cost, n
		}
	}
}

// within is the most that a plan may cost that is no more than the gap above a bound.
func (m *model) within(bound, committed float64) float64 {
	return bound + m.Options.Gap*integer.Yardstick(bound+committed, m.wanted())/(1+m.Options.Gap)*(1-1e-9)
}

// away is the distance of a plan from the previous one.
type away struct{ vms, jobs float64 }

func (a away) less(b away) bool { return a.vms < b.vms || a.vms == b.vms && a.jobs < b.jobs }

func (d *decision) distance(jobs, previous []int64) away {
	a := away{vms: math.Abs(float64(integer.VMsFor(d.front, jobs)) - d.Options.Near.VMs)}
	for i := range jobs {
		a.jobs += math.Abs(float64(jobs[i] - previous[i]))
	}
	return a
}

// walk moves classes one by one from one plan to another. Wanting to stop, it ends at the first
// plan within the limit; otherwise it takes every step that stays within it.
func (d *decision) walk(from, to []int64, limit float64, stop bool) []int64 {
	w := d.newWalker(from)
	for moved := true; moved && !(stop && w.cost() <= limit); {
		moved = false
		for i, before := range w.jobs {
			if before == to[i] {
				continue
			}
			w.move(i, to[i])
			switch ok := w.cost() <= limit; {
			case stop && ok:
				return w.closer(to, limit)
			case stop || ok:
				moved = true
			default:
				w.move(i, before)
			}
		}
	}
	return w.closer(to, limit)
}

// walker is a plan that changes class by class, its cost kept up.
type walker struct {
	*decision
	supply integer.Supply
	jobs   []int64
	load   int64
	worth  money.Sum
}

func (d *decision) newWalker(from []int64) *walker {
	w := &walker{decision: d, supply: integer.NewSupply(d.tiers), jobs: slices.Clone(from), load: d.front.Load(from)}
	for i, h := range from {
		w.worth.Add(-d.classes[i].penalty * float64(h))
	}
	return w
}

func (w *walker) cost() float64 {
	return w.supply.Cost(integer.CeilDiv(w.load, w.front.PerVM())) + w.worth.Value()
}

func (w *walker) move(i int, h int64) {
	w.load += w.front.Units(i, h) - w.front.Units(i, w.jobs[i])
	w.worth.Add(-w.classes[i].penalty * float64(h-w.jobs[i]))
	w.jobs[i] = h
}

const (
	nearestMost    = 20_000 // plans that are looked at in any case
	nearestWork    = 50_000 // steps where there are more
	nearestChoices = 10_000 // numbers of jobs of all classes
)

// partly is the first classes' part of a plan.
type partly struct {
	load         int64
	worth        float64 // less the penalties avoided
	regret, away float64
	parent       int
	jobs         int64
}

// nearest is the plan within the limit that is nearest to a previous one. It adds class after class, and of parts of the
// same load and worth keeps the nearest. Where they have no room, the nearest of all go on. A part whose regrets at the price
// of a VM are beyond the limit has no plan.
func (d *decision) nearest(previous []int64, limit float64) []int64 {
	supply, nu := integer.NewSupply(d.tiers), d.relaxed.nuLow
	_, free := supply.Below(nu)
	allowed := limit - (supply.Cost(free) - nu*float64(free))
	choices := 0.0
	for i := range d.classes {
		choices += d.classes[i].high - d.classes[i].low + 1
	}
	if choices > nearestChoices {
		return d.best.Jobs
	}
	options, plans, steps := make([][]partly, len(d.classes)), 1.0, 0
	load := d.front.Load(d.best.Jobs)
	for i := range d.classes {
		c := &d.classes[i]
		load -= d.front.Units(i, d.best.Jobs[i])
		least := math.Inf(1)
		for h := int64(c.low); h <= int64(c.high); h++ {
			o := partly{load: d.front.Units(i, h), worth: -c.penalty * float64(h), away: math.Abs(float64(h - previous[i])), jobs: h}
			o.regret = o.worth + nu*float64(o.load)/float64(d.front.PerVM())
			least = min(least, o.regret)
			options[i] = append(options[i], o)
		}
		allowed -= least
		for k := range options[i] {
			options[i][k].regret -= least
		}
	}
	allowed += 2 * integer.GapNoise * d.wanted()
	for i := range options {
		options[i] = slices.DeleteFunc(options[i], func(o partly) bool { return o.regret > allowed })
		plans *= float64(len(options[i]))
		steps += len(options[i])
	}
	room := nearestMost
	if plans > nearestMost {
		room = min(room, nearestWork/max(1, steps))
	}
	layers := [][]partly{{{load: load}}}
	grid := 1e12 / math.Max(1, d.wanted())
	for i := range options {
		type kind struct{ load, worth int64 }
		known, next := map[kind]int{}, []partly(nil)
		for p, from := range layers[i] {
			for _, o := range options[i] {
				if o.regret += from.regret; o.regret > allowed {
					continue
				}
				o.load, o.worth, o.away, o.parent = o.load+from.load, o.worth+from.worth, o.away+from.away, p
				of := kind{o.load, int64(math.Round(o.worth * grid))}
				switch at, is := known[of]; {
				case !is:
					known[of] = len(next)
					next = append(next, o)
				case o.away < next[at].away:
					next[at] = o
				}
			}
		}
		if len(next) > room {
			slices.SortStableFunc(next, func(x, y partly) int { return cmp.Compare(x.away, y.away) })
			next = next[:room]
		}
		layers = append(layers, next)
	}
	best, at := -1, away{math.Inf(1), math.Inf(1)}
	ends := layers[len(d.classes)]
	for k, end := range ends {
		n := integer.CeilDiv(end.load, d.front.PerVM())
		if n > supply.Most() || supply.Cost(n)+end.worth > limit {
			continue
		}
		if here := (away{math.Abs(float64(n) - d.Options.Near.VMs), end.away}); here.less(at) {
			best, at = k, here
		}
	}
	jobs := slices.Clone(d.best.Jobs)
	for i := len(d.classes); i > 0 && best >= 0; i-- {
		part := layers[i][best]
		jobs[i-1], best = part.jobs, part.parent
	}
	return jobs
}

// closerMost bounds the steps that closer tries.
const closerMost = 200_000

// closer takes single jobs, and pairs of them, towards a plan while the limit holds.
func (w *walker) closer(to []int64, limit float64) []int64 {
	budget := closerMost
	step := func(i int) int64 { // one job towards to
		switch {
		case w.jobs[i] < to[i]:
			return w.jobs[i] + 1
		case w.jobs[i] > to[i]:
			return w.jobs[i] - 1
		}
		return w.jobs[i]
	}
	for moved := true; moved; {
		moved = false
		for i := range w.jobs {
			before := w.jobs[i]
			if before == to[i] {
				continue
			}
			if budget--; budget < 0 {
				return w.jobs
			}
			if w.move(i, step(i)); w.cost() <= limit {
				moved = true
				continue
			}
			paired := false
			for k := i + 1; k < len(w.jobs) && !paired && budget > 0; k++ {
				budget--
				if second := w.jobs[k]; second != to[k] {
					if w.move(k, step(k)); w.cost() <= limit {
						paired = true
					} else {
						w.move(k, second)
					}
				}
			}
			if moved = moved || paired; !paired {
				w.move(i, before)
			}
		}
	}
	return w.jobs
}

// nearest is a plan within the gap that is nearer to the previous one, by VMs first and by jobs then: of
// the plans one or two changes away, again and again.
func (s *fleetSearch) nearest(best *fleetPlan) *fleetPlan {
	limit := max(best.cost, s.within(s.bound, s.paid)) + integer.GapNoise*s.all // a tie may be a float's last place above
	if s.Budget != nil && s.Budget.Total != nil {
		most := s.Budget.Total.Float() - s.paid - s.wanted()
		if limit = min(limit, most-1e-12*math.Abs(most)); best.cost > limit {
			return best
		}
	}
	at := s.away(best)
	for range roundsMost {
		next := best
		for i := range best.jobs {
			for _, v := range s.on[i] {
				for _, by := range [2]int64{1, -1} {
					jobs := cloneMixes(best.jobs)
					jobs[i][v] += by
					if jobs[i][v] < 0 || !s.allows(i, jobs[i]) {
						continue
					}
					if p := s.evaluate(jobs); p != nil && p.cost <= limit {
						if here := s.away(p); here.less(at) {
							next, at = p, here
						}
					}
				}
			}
		}
		if next == best {
			break
		}
		best = next
	}
	return best
}

func cloneMixes(jobs [][]int64) [][]int64 {
	c := make([][]int64, len(jobs))
	for i := range jobs {
		c[i] = append([]int64(nil), jobs[i]...)
	}
	return c
}

// allows says that a class may have so many jobs in all.
func (f *fleet) allows(i int, mix []int64) bool {
	total := int64(0)
	for _, h := range mix {
		total += h
	}
	return total >= f.low[i] && total <= f.high[i]
}

func (f *fleet) away(p *fleetPlan) (a away) {
	vms := 0.0
	for _, n := range p.vms {
		vms += float64(n)
	}
	a.vms = math.Abs(vms - f.Options.Near.VMs)
	for i, mix := range p.jobs {
		total := 0.0
		for _, h := range mix {
			total += float64(h)
		}
		if before, known := f.Options.Near.Jobs[f.classes[i].Name]; known {
			a.jobs += math.Abs(total - before)
		}
	}
	return a
}
