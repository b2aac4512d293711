package proof

import (
	"cmp"
	"iter"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"example.org/headroom/internal/core/proof/exact"
)

// state is a selection of options for the first classes, represented by its last one.
type state struct {
	weight, cost, regret int64
	parent, option       int32
}

// finding is the result of a search for a plan cheaper than a threshold.
type finding struct {
	bound  *exact.Rat // no plan costs less; at least the threshold if there is none below it
	better *selection
	doubt  bool // a cheaper plan exists with stretched tolerances, but not certainly
	states int
}

// selection is one option for every class.
type selection struct {
	options   []option // by class; jobs alone if they are not whole
	jobs      []float64
	vms       *exact.Rat
	objective *exact.Rat
}

// search looks for a plan that costs less than the threshold, by dynamic programming over the classes. Of two
// selections for the same classes it drops the heavier one unless it is cheaper. It also drops one whose bound and
// regrets reach the threshold. States dropped for lack of room lower the bound.
func (m *model) search(s *choices, threshold *exact.Rat, nodes int) finding {
	target := mul(sub(threshold, m.fixed), s.scale)
	limit := target.Ceil()
	f := finding{bound: add(s.bound, m.fixed)}
	if f.bound.Cmp(threshold) >= 0 {
		return f
	}
	if far := big.NewInt(8 * maxMoney); limit.Cmp(far) > 0 {
		limit.Set(far) // all plans are below
	}
	budget := limit.Int64() - s.rootCost // regrets from here on cannot lead below the threshold
	base, open := s.reduce(budget)
	layers := [][]state{{{weight: base.weight, cost: base.cost}}}
	cut := int64(math.MaxInt64) // smallest regret of a state dropped for lack of room
	room, grain := max(256, nodes/max(1, len(open))), budget/1024+1
	var made []state // used again for each class
	for i := range open {
		before, options := layers[len(layers)-1], open[i].options
		extend := func(below int64) {
			made = made[:0]
			for p, st := range before {
				for k := range options {
					o := &options[k]
					if r := st.regret + o.regret; r < below {
						made = append(made, state{st.weight + o.weight, st.cost + o.cost, r, int32(p), int32(k)})
					}
				}
				if len(made) > 16*room {
					made, cut = trim(undominated(made), room, grain, cut)
				}
			}
			made = undominated(made)
		}
		likely := lowest(before, options, budget, 2*room)
		if extend(likely); likely < budget && len(made) <= room {
			extend(budget)
		}
		made, cut = trim(made, room, grain, cut)
		m.rest()
		f.states += len(made)
		layers = append(layers, slices.Clone(made))
	}
	ends := slices.Values(layers[len(layers)-1])
	f.better, f.doubt = m.finish(s, open, threshold, ends, func(at, layer int) (option, parent int) {
		st := layers[layer][at]
		return int(st.option), int(st.parent)
	})
	if cut < budget && f.better == nil {
		if d := newDense(open, base, nodes); d != nil { // all possible weights, so nothing is cut
			d.fill(m.rest)
			cut = math.MaxInt64
			f.states += d.cells * len(open)
			f.better, f.doubt = m.finish(s, open, threshold, d.ends(), d.back)
		}
	}
	switch {
	case f.better != nil:
		f.bound = smaller(f.bound, f.better.objective)
	case f.doubt:
	case cut >= budget:
		f.bound = threshold
	default:
		reached := quo(new(exact.Rat).SetInt64(s.rootCost+cut), s.scale)
		f.bound = larger(f.bound, smaller(threshold, add(reached, m.fixed)))
	}
	return f
}

// rest lets others go first in long work.
func (m *model) rest() {
	if m.pause != nil {
		m.pause()
	}
}

// reduce drops the options that a better plan cannot use. It returns the classes that this settles and the open ones,
// widest regrets first, so that states are given up early.
func (s *choices) reduce(budget int64) (base state, open []choice) {
	for i := range s.classes {
		ch := &s.classes[i]
		ch.options = slices.DeleteFunc(ch.options, func(o option) bool { return o.regret >= budget })
		if len(ch.options) == 1 {
			base.weight += ch.options[0].weight
			base.cost += ch.options[0].cost
		} else {
			open = append(open, *ch)
		}
	}
	second := func(ch choice) int64 {
		lowest := [2]int64{math.MaxInt64, math.MaxInt64}
		for _, o := range ch.options {
			if o.regret < lowest[0] {
				lowest = [2]int64{o.regret, lowest[0]}
			} else if o.regret < lowest[1] {
				lowest[1] = o.regret
			}
		}
		return lowest[1]
	}
	slices.SortStableFunc(open, func(x, y choice) int { return cmp.Compare(second(y), second(x)) })
	return base, open
}

// lowest returns a regret, at most budget, below which there are at least so many of the states that follow others.
func lowest(before []state, options []option, budget int64, enough int) int64 {
	if len(before)*len(options) <= enough {
		return budget
	}
	var counts [1024]int
	shift := max(0, bits.Len64(uint64(budget))-10)
	for _, st := range before {
		for k := range options {
			if r := st.regret + options[k].regret; r < budget {
				counts[r>>shift]++
			}
		}
	}
	for k, n := range counts {
		if enough -= n; enough <= 0 {
			return min(budget, int64(k+1)<<shift)
		}
	}
	return budget
}

// undominated keeps of any two states the lighter and cheaper one, by ascending weight.
func undominated(states []state) []state {
	slices.SortFunc(states, func(x, y state) int {
		switch { // most states differ in weight, so that nothing else is compared
		case x.weight != y.weight:
			return cmp.Compare(x.weight, y.weight)
		case x.cost != y.cost:
			return cmp.Compare(x.cost, y.cost)
		case x.parent != y.parent:
			return cmp.Compare(x.parent, y.parent)
		}
		return cmp.Compare(x.option, y.option)
	})
	kept, lowest := states[:0], int64(math.MaxInt64)
	for _, st := range states {
		if st.cost < lowest {
			kept, lowest = append(kept, st), st.cost
		}
	}
	return kept
}

// trim keeps the states of smallest regret, at most room of them, by ascending weight as they come. Among near equals (by
// grain) the choice is scattered, so that many weights survive to fill the VMs.
func trim(states []state, room int, grain, cut int64) ([]state, int64) {
	if len(states) <= room {
		return states, cut
	}
	most := slices.MaxFunc(states, func(x, y state) int { return cmp.Compare(x.regret, y.regret) }).regret
	counts := make([]int, 1+most/grain)
	for _, st := range states {
		counts[st.regret/grain]++
	}
	last, left := int64(0), room // the grain of which only some have room
	for counts[last] <= left {
		left -= counts[last]
		last++
	}
	var order []uint64
	for _, st := range states {
		if st.regret/grain == last {
			order = append(order, scattered(st.weight))
		}
	}
	slices.Sort(order)
	kept := states[:0]
	for _, st := range states {
		if of := st.regret / grain; of < last || of == last && scattered(st.weight) < order[left] {
			kept = append(kept, st)
		} else {
			cut = min(cut, st.regret)
		}
	}
	return kept, cut
}

// scattered permutes 64-bit numbers in a fixed way without a pattern.
func scattered(n int64) uint64 {
	z := uint64(n) * 0x9E3779B97F4A7C15
	return (z ^ z>>29) * 0xBF58476D1CE4E5B9
}

// finish rents VMs for the complete selections and takes the cheapest that is below the threshold and can certainly
// be carried out. doubt means that some are below it and none is certain. back returns the option and the parent of a
// state, by its place in a layer.
func (m *model) finish(s *choices, open []choice, threshold *exact.Rat, states iter.Seq[state], back func(at, layer int) (option, parent int)) (better *selection, doubt bool) {
	type complete struct {
		cost int64
		at   int
	}
	var ends []complete
	limit, k := mul(sub(threshold, m.fixed), s.scale).Ceil(), -1
	for st := range states {
		k++
		if st.cost == math.MaxInt64 {
			continue
		}
		load := max(0, st.weight-s.spare)
		n := load / s.unit
		if load%s.unit > 0 {
			n++
		}
		if rent, ok := s.rent(n); ok && big.NewInt(st.cost+rent).Cmp(limit) < 0 {
			ends = append(ends, complete{st.cost + rent, k})
		}
	}
	slices.SortStableFunc(ends, func(x, y complete) int { return cmp.Compare(x.cost, y.cost) })
	for _, e := range ends[:min(len(ends), keepGoing)] {
		chosen := make([]option, len(m.classes))
		for _, ch := range s.classes {
			chosen[ch.class] = ch.options[0]
		}
		at := e.at
		for l := len(open); l > 0; l-- {
			var k int
			k, at = back(at, l)
			chosen[open[l-1].class] = open[l-1].options[k]
		}
		if sel, ok := m.carryOut(chosen); ok && less(sel.objective, threshold) {
			return sel, false
		}
	}
	return nil, len(ends) > 0
}

// carryOut rents VMs for a selection. It returns false if there are too few, or if the slots do not fit on them.
func (m *model) carryOut(chosen []option) (*selection, bool) {
	load, avoided := zero(), zero()
	for i := range chosen {
		load.Add(load, chosen[i].high)
		avoided.Add(avoided, mul(m.classes[i].penalty, whole(chosen[i].jobs)))
	}
	_, lacking := m.lacking()
	vms := upTo(load, lacking)
	if !m.packs(chosen, vms) {
		if vms.Add(vms, whole(1)); !m.packs(chosen, vms) {
			return nil, false
		}
	}
	cost, ok := m.rent(vms)
	if !ok {
		return nil, false
	}
	return &selection{options: chosen, vms: vms, objective: sub(cost, avoided)}, true
}
