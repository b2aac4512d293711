package proof

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof/exact"
)

// market is the linear program from the point of view of one class: the VMs it finds at a worth per VM, with all
// other classes unchanged. Sums are exact and then rounded to floats once. Figures are compared with far more
// tolerance than that needs.
type market struct {
	m        *model
	relaxed  []float64  // each class's jobs in the plan's linear program
	promised float64    // VMs of all promised jobs
	own      []float64  // VMs of each class's promised jobs
	further  []float64  // VMs of its jobs beyond them
	worth    []float64  // of a VM, by class; infinite if its jobs take none
	ranked   []float64  // worths, ascending
	above    []float64  // VMs of the jobs beyond the promised ones, of classes from that place on
	sources  []offering // by ascending price
	low      *exact.Rat // of a VM of capacity less, as the plan states it
	high     *exact.Rat // of one more; nil if there is none
	size     float64    // sum of the VMs added up
}

// offering is a price and the VMs that cost no more.
type offering struct {
	price, vms float64
	contracts  float64 // those of them in contracts
}

func (m *model) market(relaxed []float64) *market {
	n := len(m.classes)
	k := &market{m: m, relaxed: relaxed, own: make([]float64, n), further: make([]float64, n), worth: make([]float64, n), ranked: make([]float64, 0, n), above: make([]float64, n+1)}
	promised := zero()
	order := make([]int, 0, n)
	for i := range m.classes {
		c := m.classes[i]
		k.worth[i] = math.Inf(1)
		if c.impossible {
			k.worth[i] = 0
			continue
		}
		own := mul(c.low, c.min)
		promised.Add(promised, own)
		k.own[i], k.further[i] = float(own), float(mul(c.low, sub(c.max, c.min)))
		if c.low.Sign() > 0 {
			k.worth[i] = float(quo(c.penalty, c.low))
			order = append(order, i)
		}
	}
	k.promised = promised.Float()
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(k.worth[i], k.worth[j]) })
	sum := zero()
	k.above = k.above[:len(order)+1]
	for at := len(order) - 1; at >= 0; at-- {
		c := m.classes[order[at]]
		sum.Add(sum, mul(c.low, sub(c.max, c.min)))
		k.above[at] = sum.Float()
	}
	for _, i := range order {
		k.ranked = append(k.ranked, k.worth[i])
	}
	var o offering
	for _, s := range m.supply {
		vms := math.Inf(1)
		if !s.unlimited {
			vms = s.vms.Float()
		}
		o.price = s.price.Float()
		if o.vms += vms; s.contract >= 0 {
			o.contracts += vms
		}
		k.sources = append(k.sources, o)
		if !math.IsInf(vms, 1) {
			k.size += vms
		}
	}
	k.size += k.promised + k.above[0] + 1
	return k
}

// span is a range of possible job counts: floats may have lost one of two.
type span struct{ lowest, highest float64 }

func (s span) with(o span) span {
	return span{math.Min(s.lowest, o.lowest), math.Max(s.highest, o.highest)}
}
func (s span) meets(o span) bool { return s.lowest <= o.highest && o.lowest <= s.highest }
func (s span) is(o span) bool    { return s == o && s.lowest == s.highest }

// wholes returns the whole jobs in a number that may be off. At the promised and the wanted number they stay exact.
func (c *class) wholes(jobs, off float64) span {
	lowest, highest := math.Floor(float(c.min)+1e-9), math.Floor(float(c.max)+1e-9)
	at := func(jobs float64) float64 { return math.Min(highest, math.Max(lowest, math.Floor(jobs))) }
	return span{at(jobs - off), at(jobs + off)}
}

// now returns the whole jobs in the linear program's answer.
func (c *class) now(jobs float64) span {
	switch near := 1e-13 * (1 + float(c.max)); { // a larger error may come from the classes' own figures
	case jobs >= float(c.max)-near:
		return c.wholes(math.Inf(1), 0)
	case jobs <= float(c.min)+near:
		return c.wholes(0, 0)
	}
	return c.wholes(jobs, 1e-8+1e-9*jobs)
}

// others returns the VMs of the classes that come before class i, with their promised ones; ties do not count. theirs
// is the worth above which others come first.
func (k *market) others(i int, theirs float64) float64 {
	others := k.promised + k.above[sort.SearchFloat64s(k.ranked, theirs)]
	if !k.m.classes[i].impossible {
		if others -= k.own[i]; k.worth[i] >= theirs && !math.IsInf(k.worth[i], 1) {
			others -= k.further[i]
		}
	}
	return others
}

// cheaper returns the VMs that cost less than worth.
func (k *market) cheaper(worth float64) offering {
	at := sort.Search(len(k.sources), func(s int) bool { return k.sources[s].price >= worth })
	if at == 0 {
		return offering{}
	}
	return k.sources[at-1]
}

// jobs returns the class's whole jobs if a job takes gamma VMs and a VM has this worth to it.
func (k *market) jobs(i int, worth, gamma float64) span {
	return k.carried(i, k.cheaper(worth).vms-k.others(i, worth), gamma)
}

// carried returns the whole jobs that these VMs carry.
func (k *market) carried(i int, vms, gamma float64) span {
	jobs := math.Max(0, vms) / gamma
	if math.IsInf(jobs, 1) {
		return k.m.classes[i].wholes(jobs, 0)
	}
	return k.m.classes[i].wholes(jobs, 1e-8+1e-9*jobs+1e-11*k.size/gamma)
}

// flips checks, for each class, the penalty from which one more job is worth its VMs. It also checks the nearest
// penalty, deadline and on-demand price that would change its jobs in the linear program. Just before such a value
// the jobs are unchanged, just beyond it they change, and equally far to the other side nothing changes either.
func (m *model) flips(pl capacity.Plan) []string {
	var f faults
	if pl.Relaxed == nil || pl.Prices == nil || len(pl.Relaxed.Jobs) != len(m.classes) {
		return nil // other checks refuse it
	}
	k := m.market(pl.Relaxed.Jobs)
	k.low = amount(pl.Prices.Capacity.Low.Decimal)
	if high := pl.Prices.Capacity.High; high != nil {
		k.high = amount(high.Decimal)
	}
	for i := range m.classes {
		c, stated := m.classes[i], &pl.Classes[i]
		m.rest()
		decided := !(math.Floor(float(c.max)+1e-9) > math.Floor(float(c.min)+1e-9))
		penalty, deadline := f.rangesOf(&m.problem.Classes[i], stated)
		if !penalty {
			k.breakEven(&f, i, stated)
			k.penalty(&f, i, stated, decided)
		}
		if !deadline {
			k.deadline(&f, i, stated, decided)
		}
		if pl.Stays != nil && pl.Stays.OnDemandPrice != nil {
			f.nearest(stated, "price on demand", stated.Flips.OnDemandPrice, pl.Stays.OnDemandPrice.Nearest(m.problem.Supply.OnDemand.Price))
		} else {
			k.onDemand(&f, i, stated, decided)
		}
		k.relaxedJobs(&f, i, stated)
	}
	return f
}

// nearest checks a figure that must be the nearer end of a range.
func (f *faults) nearest(stated *capacity.ClassPlan, what string, shown, end *money.Amount) {
	if (shown == nil) != (end == nil) || shown != nil && !shown.Equal(end.Decimal) {
		f.addf("%s: the %s is %v, and the end of its range is %v.", stated.Name, what, orNone(shown), orNone(end))
	}
}

// relaxedJobs checks what one job more costs and one less saves where the linear program says so.
func (k *market) relaxedJobs(f *faults, i int, stated *capacity.ClassPlan) {
	c := k.m.classes[i]
	check := func(what string, shown *capacity.JobChange, price *exact.Rat) {
		switch {
		case shown == nil || shown.Exact:
		case price == nil && c.low.Sign() > 0:
			f.relaxedJob(stated, what, shown, nil, func(distance *exact.Rat) bool { return distance.Sign() > 0 })
		default:
			f.relaxedJob(stated, what, shown, k.worthOf(c, price), func(distance *exact.Rat) bool { return k.far(c, price, distance) })
		}
	}
	check("more", stated.OneMore, k.high)
	check("less", stated.OneLess, k.low)
	if c.impossible && (stated.OneMore != nil || stated.OneLess != nil) {
		f.addf("%s: no job can run, and one more or less is said to change something.", stated.Name)
	}
}

// worthOf returns what a job's VMs are worth at a price. Without a price it is nothing.
func (k *market) worthOf(c *class, price *exact.Rat) *exact.Rat {
	if price == nil {
		return zero()
	}
	return mul(c.low, price)
}

// far reports whether a figure is farther from a job's worth than it may be: half a unit and more.
func (k *market) far(c *class, price, distance *exact.Rat) bool {
	if distance.Cmp(halfUnit) <= 0 {
		return false
	}
	slack := add(halfUnit, mul(halfUnit, c.low))
	if price != nil {
		slack.Add(slack, mul(relative, mul(c.low, price)))
		slack.Add(slack, mul(c.doubt(), price))
	}
	return distance.Cmp(slack) > 0
}

func (k *market) breakEven(f *faults, i int, stated *capacity.ClassPlan) {
	c := k.m.classes[i]
	switch shown := stated.BreakEvenPenalty; {
	case c.impossible || k.high == nil:
		if shown != nil {
			f.addf("%s: there is no penalty for which one more job is worth its VMs, and %s is said.", stated.Name, shown)
		}
	default:
		worth := k.worthOf(c, k.high)
		if shown == nil || k.far(c, k.high, abs(sub(amount(shown.Decimal), worth))) {
			f.addf("%s: one more job is worth its VMs from a penalty of %s on, not %s.", stated.Name, amountOf(worth), orNone(shown))
		}
	}
}

func orNone[T any](x *T) any {
	if x == nil {
		return "none"
	}
	return *x
}

// crossing is a value that should change a class's jobs, with the means to test it.
type crossing struct {
	value, own float64              // the stated value, and the problem's
	off        float64              // error of the value
	jobs       func(x float64) span // at a value
	now        span
}

// holds reports whether jobs change at the value and at none nearer.
func (c crossing) holds() bool {
	before, beyond := c.jobs(c.value-c.off), c.jobs(c.value+c.off)
	if c.value < c.own {
		before, beyond = beyond, before
	}
	distance := math.Abs(c.value - c.own)
	if distance <= 2*c.off {
		return !(before.is(c.now) && beyond.is(c.now))
	}
	other := c.own + distance - 2*c.off
	if c.value > c.own {
		other = c.own - distance + 2*c.off
	}
	return before.meets(c.now) && !beyond.is(c.now) && c.jobs(other).meets(c.now)
}

func (k *market) penalty(f *faults, i int, stated *capacity.ClassPlan, decided bool) {
	c, shown := k.m.classes[i], stated.Flips.Penalty
	gamma := float(c.low)
	wrong := func() {
		f.addf("%s: its jobs do not change at a penalty of %v, or at a nearer one.", stated.Name, orNone(shown))
	}
	now := c.now(k.relaxed[i])
	switch {
	case c.impossible || decided:
		if shown != nil {
			wrong()
		}
	case gamma == 0: // applies to any penalty
		if shown == nil || !shown.IsZero() {
			wrong()
		}
	case shown == nil:
		if !k.jobs(i, -1, gamma).meets(now) || !k.jobs(i, math.Inf(1), gamma).meets(now) {
			wrong()
		}
	default:
		x := shown.Float() / gamma
		flip := crossing{value: x, own: k.worth[i], off: 1e-8*x + 1e-9/gamma, now: now, jobs: func(worth float64) span { return k.jobs(i, worth, gamma) }}
		if !flip.holds() {
			wrong()
		}
	}
}

func (k *market) deadline(f *faults, i int, stated *capacity.ClassPlan, decided bool) {
	c, shown := k.m.classes[i], stated.Flips.DeadlineSeconds
	wrong := func() {
		f.addf("%s: its jobs do not change at a deadline of %v s, or at a nearer one.", stated.Name, orNone(shown))
	}
	penalty, fixed := float(c.penalty), 0.0
	now := c.now(k.relaxed[i])
	if !c.given {
		fixed = float(c.plan.c)
	}
	idle := !c.given && c.plan.a.Sign() == 0 && c.plan.b.Sign() == 0
	if c.impossible {
		now = span{}
	}
	at := func(deadline float64) span {
		slack := math.Max(deadline, 0) - fixed
		if slack <= 1e-12*fixed+1e-9 { // no number of slots is enough
			return c.wholes(0, 0)
		}
		gamma := float(c.gamma(c.plan.a, c.plan.b, new(exact.Rat).SetFloat64(slack), false))
		s := k.jobs(i, penalty/gamma*(1-1e-7), gamma) // both readings of a tie, which more time need not break
		return s.with(k.jobs(i, penalty/gamma*(1+1e-7), gamma))
	}
	switch {
	case c.given || penalty == 0 || decided && !c.impossible || c.low.Sign() == 0 && !c.impossible:
		if shown != nil {
			wrong()
		}
	case idle: // any time is enough but none, which no promise survives
		changes := fixed > 0 && (c.impossible || now.highest > 0)
		if shown == nil && changes && (c.impossible || !now.is(c.wholes(0, 0))) || shown != nil && (!changes || math.Abs(*shown-fixed) > 1e-9*(1+fixed)) {
			wrong()
		}
	case shown == nil:
		if !at(fixed).meets(now) || !at(capacity.MaxSeconds).meets(now) {
			wrong()
		}
	case *shown <= 0:
		wrong()
	default:
		off := 1e-7*math.Abs(*shown-fixed) + 1e-9*math.Max(*shown, fixed) + 2e-9
		if flip := (crossing{value: *shown, own: float(c.deadline), off: off, jobs: at, now: now}); !flip.holds() {
			wrong()
		}
	}
}

// onDemand checks the on-demand price: below a VM's worth to the class such VMs serve it, and above they do not.
func (k *market) onDemand(f *faults, i int, stated *capacity.ClassPlan, decided bool) {
	c, shown := k.m.classes[i], stated.Flips.OnDemandPrice
	wrong := func() {
		f.addf("%s: its jobs do not change at a price on demand of %v, or at a nearer one.", stated.Name, orNone(shown))
	}
	worth, gamma := k.worth[i], float(c.low)
	if c.impossible || decided || gamma == 0 || worth == 0 {
		if shown != nil {
			wrong()
		}
		return
	}
	var with, without span
	first := true
	for _, theirs := range [...]float64{worth * (1 - 1e-9), worth * (1 + 1e-9)} { // classes that tie come before it, or after
		others := k.others(i, theirs)
		for _, mine := range [...]float64{worth * (1 - 1e-9), worth * (1 + 1e-9)} {
			contracts := k.cheaper(mine).contracts
			a := k.carried(i, contracts+k.rent()-others, gamma)
			b := k.carried(i, contracts-others, gamma)
			if first {
				with, without, first = a, b, false
				continue
			}
			with, without = with.with(a), without.with(b)
		}
	}
	if shown == nil {
		if !with.meets(without) {
			wrong()
		}
		return
	}
	exact := worth / float(k.m.hours)
	if with.is(without) || math.Abs(shown.Float()-exact) > 1e-9+1e-9*exact {
		wrong()
	}
}

// rent returns the number of VMs on demand.
func (k *market) rent() float64 {
	for _, s := range k.m.supply {
		if s.contract < 0 && s.unlimited {
			return math.Inf(1)
		} else if s.contract < 0 {
			return float(s.vms)
		}
	}
	return 0
}
