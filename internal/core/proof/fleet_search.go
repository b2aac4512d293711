package proof

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof/exact"
)

// maxTypes is the largest number of VM types that are searched; loads of more are not kept apart.
const maxTypes = 4

// blend is one way to spread a class's jobs over types.
type blend struct {
	jobs   [maxTypes]int32
	load   [maxTypes]int64
	cost   float64 // minus the penalties avoided
	regret float64 // above the class's smallest at the prices
}

// spread holds a class with the blends that a better plan can use.
type spread struct {
	class  int
	blends []blend
	lowest [maxTypes]int64 // load
}

// mixture is a choice of blends for the first classes, represented by its last one.
type mixture struct {
	load           [maxTypes]int64
	cost, regret   float64
	parent, option int32
}

// hunt is a search for a plan below a threshold. It tries every sum of regrets from the prices' bound up to the
// threshold, class by class. Of two mixtures for the same classes it drops one that is heavier on every type and no
// cheaper.
type hunt struct {
	*program
	dual
	unit   [maxTypes]int64
	limit  [maxTypes]int64 // load of the existing VMs
	open   []spread
	base   mixture
	chosen []int     // per class, if settled: its blend
	fixed  []*spread // per class
	known  []map[int64]float64
}

// look bounds the cost of every plan, by prices first and then by trying all remaining mixes.
func (f *fleet) look(threshold *exact.Rat, nodes int) (finding, string) {
	relaxed := f.integrality == capacity.Relaxed
	return f.newProgram(relaxed, objective).look(threshold, nodes)
}

// noise returns the error of a sum in floating point.
func (p *program) noise(d dual) float64 {
	terms := 100.0
	for v := range p.types {
		terms += float64(4*len(p.classes) + 4*len(p.rented[v]))
	}
	return 2.3e-16 * terms * (1 + d.size)
}

// paid returns the costs that no decision changes.
func (p *program) paid() *exact.Rat {
	if p.aim != objective {
		return zero()
	}
	return p.model.fixed
}

func (p *program) look(threshold *exact.Rat, nodes int) (f finding, why string) {
	d := p.solve()
	if p.linear {
		return p.judge(d, threshold)
	}
	noise := p.noise(d)
	f.bound = add(p.paid(), new(exact.Rat).SetFloat64(d.value-noise))
	if f.bound.Cmp(threshold) >= 0 {
		return f, ""
	}
	if len(p.types) > maxTypes {
		return f, fmt.Sprintf("%d VM types are too many to try all", len(p.types))
	}
	for i := range p.classes {
		if p.weights[i] == nil && p.high[i].Sign() > 0 {
			return f, "there are too many jobs to try all"
		}
	}
	h := &hunt{program: p, dual: d}
	h.weigh()
	budget := float(sub(sub(threshold, p.paid()), new(exact.Rat).SetFloat64(d.value))) + 2*noise
	if !h.spread(budget) {
		return f, "the classes leave more open than is looked at one by one"
	}
	return h.run(threshold, budget, noise, nodes)
}

// judge decides the linear program from its two sides.
func (p *program) judge(d dual, threshold *exact.Rat) (f finding, why string) {
	f.bound = add(p.paid(), p.exactly(d.nu, d.mu))
	if f.bound.Cmp(threshold) >= 0 {
		return f, ""
	}
	if above := p.above(d); above != nil && less(above, threshold) {
		f.better = &selection{objective: above, vms: zero()}
	}
	return f, "its prices leave so much open"
}

// above returns the cost of the mixture of choices behind the prices, an upper limit of the linear program. It
// returns nil if the mixture breaks a row, as it does without an answer.
func (p *program) above(d dual) *exact.Rat {
	if !(d.missing < 1e-9) || math.IsInf(d.above, 0) {
		return nil
	}
	return add(p.paid(), new(exact.Rat).SetFloat64(max(d.above, d.value)+1e-11*(1+d.size)))
}

// weigh chooses each type's unit of load: the smallest in which all loads are whole, or a coarser one.
func (h *hunt) weigh() {
	for v := range h.types {
		unit, fits := big.NewInt(1), true
		include := func(x *exact.Rat) {
			if d := x.Denom(); fits && new(big.Int).Rem(unit, d).Sign() != 0 {
				unit.Mul(unit, new(big.Int).Div(d, new(big.Int).GCD(nil, nil, unit, d)))
				fits = unit.Cmp(big.NewInt(maxUnit)) <= 0
			}
		}
		include(h.spare[v])
		for i := range h.classes {
			if h.weights[i] == nil {
				continue
			}
			for _, o := range h.weights[i][v] {
				include(o.low)
			}
		}
		if h.unit[v] = int64(coarse); fits {
			h.unit[v] = unit.Int64()
		}
		h.limit[v] = math.MaxInt64
		highest := h.types[v].limit(whole(noEnd))
		if units := mul(add(highest, h.spare[v]), whole(h.unit[v])); h.aim != missing && units.Cmp(whole(math.MaxInt64/4)) < 0 {
			h.limit[v] = units.Floor().Int64()
		}
		h.known = append(h.known, map[int64]float64{})
	}
}

// spread lists every class's blends of small regret; it returns false if there are too many.
func (h *hunt) spread(budget float64) bool {
	h.chosen, h.fixed = make([]int, len(h.classes)), make([]*spread, len(h.classes))
	total := 0
	for i := range h.classes {
		s := &spread{class: i}
		if h.high[i].Sign() > 0 && !h.blends(s, budget) {
			return false
		}
		if h.high[i].Sign() == 0 {
			s.blends = []blend{{}}
		}
		if total += len(s.blends); total > maxChoice {
			return false
		}
		h.fixed[i] = s
		if len(s.blends) == 1 {
			h.base.cost += s.blends[0].cost
			for v := range h.types {
				h.base.load[v] += s.blends[0].load[v]
			}
			continue
		}
		for v := range h.types {
			s.lowest[v] = math.MaxInt64
			for _, b := range s.blends {
				s.lowest[v] = min(s.lowest[v], b.load[v])
			}
		}
		h.open = append(h.open, *s)
	}
	second := func(s spread) float64 {
		if len(s.blends) < 2 {
			return math.Inf(1)
		}
		return s.blends[1].regret
	}
	slices.SortStableFunc(h.open, func(x, y spread) int { return cmp.Compare(second(y), second(x)) })
	return true
}

// blends lists one class's blends.
func (h *hunt) blends(s *spread, budget float64) bool {
	h.model.rest()
	i := s.class
	rows, penalty := h.mixes(i, h.nu), h.floats.penalty[i]
	low, high := int(h.floats.low[i]), int(h.floats.high[i])
	lowest := math.Inf(1)
	for n := low; n <= high; n++ {
		lowest = min(lowest, rows[0].lowest[n]-penalty*float64(n))
	}
	var b blend
	var place func(k, left, total int, sum float64) bool
	place = func(k, left, total int, sum float64) bool {
		r := &rows[k]
		from := 0
		if k == len(rows)-1 {
			from = left
		}
		for n := from; n <= left; n++ {
			rest := 0.0
			if k < len(rows)-1 {
				rest = rows[k+1].lowest[left-n]
			}
			x := sum + r.own[n]
			if x+rest-penalty*float64(total)-lowest > budget {
				continue
			}
			b.jobs[r.kind] = int32(n)
			b.load[r.kind] = mul(h.weights[i][r.kind][n].low, whole(h.unit[r.kind])).Floor().Int64()
			if k < len(rows)-1 {
				if !place(k+1, left-n, total, x) {
					return false
				}
				continue
			}
			b.regret = max(0, x-penalty*float64(total)-lowest)
			b.cost = -penalty * float64(total)
			if s.blends = append(s.blends, b); len(s.blends) > maxChoice {
				return false
			}
		}
		b.jobs[r.kind], b.load[r.kind] = 0, 0
		return true
	}
	for n := low; n <= high; n++ {
		if rows[0].lowest[n]-penalty*float64(n)-lowest <= budget && !place(0, n, n, 0) {
			return false
		}
	}
	slices.SortStableFunc(s.blends, func(x, y blend) int { return cmp.Compare(x.regret, y.regret) })
	return true
}

func (h *hunt) run(threshold *exact.Rat, budget, noise float64, nodes int) (f finding, why string) {
	f.bound = add(h.paid(), new(exact.Rat).SetFloat64(h.value-noise))
	layers := [][]mixture{{h.base}}
	cut := math.Inf(1)
	room := max(256, nodes/max(1, len(h.open)))
	rest := make([][maxTypes]int64, len(h.open)+1)
	for l := len(h.open) - 1; l >= 0; l-- {
		for v := range h.types {
			rest[l][v] = rest[l+1][v] + h.open[l].lowest[v]
		}
	}
	for l, s := range h.open {
		var next []mixture
		for p, m := range layers[l] {
			if p%64 == 0 {
				h.model.rest()
			}
			for k := range s.blends {
				b := &s.blends[k]
				n := mixture{load: m.load, cost: m.cost + b.cost, regret: m.regret + b.regret, parent: int32(p), option: int32(k)}
				if n.regret > budget {
					break // by ascending regret
				}
				fits := true
				for v := range h.types {
					n.load[v] += b.load[v]
					fits = fits && n.load[v]+rest[l+1][v] <= h.limit[v]
				}
				if fits {
					next = append(next, n)
				}
			}
			if len(next) > 16*room {
				h.model.rest()
				next, cut = keep(light(next), room, cut)
			}
		}
		next, cut = keep(light(next), room, cut)
		f.states += len(next)
		layers = append(layers, next)
	}
	f.better, f.doubt = h.finish(layers, threshold, noise)
	switch {
	case f.better != nil:
		f.bound = smaller(f.bound, f.better.objective)
	case f.doubt:
		return f, "a better one would have to use the tolerances of deadlines or of irrational gammas"
	case cut > budget:
		f.bound = threshold
	default:
		f.bound = larger(f.bound, smaller(threshold, add(f.bound, new(exact.Rat).SetFloat64(max(0, cut-noise)))))
	}
	return f, fmt.Sprintf("the search stopped at %s", count(f.states, "state", "states"))
}

// light drops mixtures if another one is no heavier on any of the first two types, equally heavy on the others, and
// no dearer.
func light(ms []mixture) []mixture {
	slices.SortFunc(ms, func(x, y mixture) int {
		return cmp.Or(cmp.Compare(x.load[2], y.load[2]), cmp.Compare(x.load[3], y.load[3]), cmp.Compare(x.load[0], y.load[0]),
			cmp.Compare(x.load[1], y.load[1]), cmp.Compare(x.cost, y.cost), cmp.Compare(x.regret, y.regret),
			cmp.Compare(x.parent, y.parent), cmp.Compare(x.option, y.option))
	})
	type stair struct {
		load int64
		cost float64
	}
	var stairs []stair // ascending load, descending cost
	kept := ms[:0]
	for k, m := range ms {
		if k > 0 && (m.load[2] != kept[len(kept)-1].load[2] || m.load[3] != kept[len(kept)-1].load[3]) {
			stairs = stairs[:0]
		}
		at, _ := slices.BinarySearchFunc(stairs, m.load[1], func(s stair, load int64) int {
			if s.load <= load {
				return -1
			}
			return 1
		})
		if at > 0 && stairs[at-1].cost <= m.cost {
			continue
		}
		to := at
		for to < len(stairs) && stairs[to].cost >= m.cost {
			to++
		}
		if at > 0 && stairs[at-1].load == m.load[1] {
			at--
		}
		stairs = slices.Replace(stairs, at, to, stair{m.load[1], m.cost})
		kept = append(kept, m)
	}
	return kept
}

// keep returns the mixtures of smallest regret, at most room of them.
func keep(ms []mixture, room int, cut float64) ([]mixture, float64) {
	if len(ms) <= room {
		return ms, cut
	}
	slices.SortStableFunc(ms, func(x, y mixture) int { return cmp.Compare(x.regret, y.regret) })
	return ms[:room], min(cut, ms[room].regret)
}

// rentOf returns the cost of VMs of a type for a load; +Inf if there are not that many.
func (h *hunt) rentOf(v int, load int64) float64 {
	n := -floorDiv(-(load - mul(h.spare[v], whole(h.unit[v])).Floor().Int64()), h.unit[v])
	n = max(0, n)
	if h.counted[v] != nil && n < int64(len(h.counted[v])) {
		return h.counted[v][n]
	}
	cost, known := h.known[v][n]
	if !known {
		cost = math.Inf(1)
		if rent, ok := h.rent(&h.types[v], whole(n)); ok {
			cost = float(rent)
		}
		h.known[v][n] = cost
	}
	return cost
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y != 0 && x < 0 {
		q--
	}
	return q
}

// finish rents VMs for the complete mixtures, and returns the cheapest that is certainly below the threshold.
func (h *hunt) finish(layers [][]mixture, threshold *exact.Rat, noise float64) (better *selection, doubt bool) {
	type end struct {
		cost float64
		at   int
	}
	var ends []end
	limit := float(sub(threshold, h.paid())) + noise
	for at, m := range layers[len(layers)-1] {
		cost, spent := m.cost, 0.0
		for v := range h.types {
			rent := h.rentOf(v, m.load[v])
			cost += rent
			spent += rent
		}
		if cost <= limit && (h.purse == nil || spent <= h.floats.purse+noise) {
			ends = append(ends, end{cost, at})
		}
	}
	slices.SortStableFunc(ends, func(x, y end) int { return cmp.Compare(x.cost, y.cost) })
	for _, e := range ends[:min(len(ends), keepGoing)] {
		blends := make([]*blend, len(h.classes))
		for i, s := range h.fixed {
			blends[i] = &s.blends[0]
		}
		at := e.at
		for l := len(h.open); l > 0; l-- {
			m := layers[l][at]
			blends[h.open[l-1].class] = &h.open[l-1].blends[m.option]
			at = int(m.parent)
		}
		sel, below, certain := h.carryOut(blends, threshold)
		if certain && below {
			return sel, false
		}
		doubt = doubt || below || !certain
	}
	return nil, doubt || len(ends) > keepGoing
}

// carryOut rents VMs for a choice exactly. below means below the threshold with tolerances used up, and certain means
// so without them.
func (h *hunt) carryOut(blends []*blend, threshold *exact.Rat) (sel *selection, below, certain bool) {
	avoided := zero()
	sel = &selection{vms: zero()}
	for i, b := range blends {
		jobs := int64(0)
		for _, n := range b.jobs {
			jobs += int64(n)
		}
		sel.jobs = append(sel.jobs, float64(jobs))
		avoided.Add(avoided, mul(h.worth(i), whole(jobs)))
	}
	loose, tight := zero(), zero()
	certain = true
	for v := range h.types {
		t := &h.types[v]
		low, high := zero(), zero()
		chosen := make([]option, len(blends))
		for i, b := range blends {
			if n := b.jobs[v]; n > 0 {
				chosen[i] = *h.weights[i][v][n]
				low.Add(low, chosen[i].low)
				high.Add(high, chosen[i].high)
			}
		}
		highest, surely := t.lacking()
		vms := upTo(high, surely)
		if !t.packs(chosen, vms) {
			if vms.Add(vms, whole(1)); !t.packs(chosen, vms) {
				certain = false
			}
		}
		sel.vms.Add(sel.vms, vms)
		lowest, ok := h.rent(t, upTo(low, highest))
		if !ok {
			return nil, false, true
		}
		loose.Add(loose, lowest)
		cost, ok := h.rent(t, vms)
		if certain = certain && ok; ok {
			tight.Add(tight, cost)
		}
	}
	affordable := func(x *exact.Rat) bool { return h.purse == nil || x.Cmp(h.purse) <= 0 }
	sel.objective = add(h.paid(), sub(tight, avoided))
	below = less(add(h.paid(), sub(loose, avoided)), threshold) && affordable(loose)
	certain = certain && (!below || less(sel.objective, threshold) && affordable(tight))
	return sel, below, certain
}
