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
// regrets reach the threshold. States dropped for lack of room lower the bound. Where a plan is expected below the
// threshold, a search with little room comes first.
func (m *model) search(s *choices, threshold *exact.Rat, nodes int, expected bool) finding {
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
	cut := int64(math.MinInt64)
	if expected {
		cut = m.extend(&f, s, base, open, threshold, budget, littleRoom)
	}
	if cut < budget && f.better == nil {
		cut = m.extend(&f, s, base, open, threshold, budget, max(256, nodes/max(1, len(open))))
	}
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

// littleRoom is the number of states of a class in a search for a plan that is expected.
const littleRoom = 32

// extend selects options class by class, with room for so many states of each, and notes the plan found and the states. It
// returns the smallest regret of a state dropped for lack of room.
func (m *model) extend(f *finding, s *choices, base state, open []choice, threshold *exact.Rat, budget int64, room int) (cut int64) {
	layers := [][]state{{{weight: base.weight, cost: base.cost}}}
	cut = math.MaxInt64
	grain := budget/1024 + 1
	var made, spare []state // used again for each class
	for i := range open {
		before, options := layers[len(layers)-1], open[i].options
		follow := func(below int64) {
			if len(before)*len(options) <= 16*room {
				made, spare = followers(before, options, below, made[:0], spare[:0])
				return
			}
			made = made[:0]
			for p, st := range before {
				for k := range options {
					if r := st.regret + options[k].regret; r < below {
						made = append(made, st.with(p, k, &options[k]))
					}
				}
				if len(made) > 16*room {
					made, cut = trim(undominated(made), room, grain, cut)
				}
			}
			made = undominated(made)
		}
		likely := lowest(before, options, budget, 2*room)
		if follow(likely); likely < budget && len(made) <= room {
			follow(budget)
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
	return cut
}

// with is the state at a place, and an option of the next class.
func (st state) with(place, k int, o *option) state {
	return state{st.weight + o.weight, st.cost + o.cost, st.regret + o.regret, int32(place), int32(k)}
}

// before orders states by weight, and of one weight by cost.
func (st *state) before(other *state) bool {
	switch { // most states differ in weight, so that nothing else is compared
	case st.weight != other.weight:
		return st.weight < other.weight
	case st.cost != other.cost:
		return st.cost < other.cost
	case st.parent != other.parent:
		return st.parent < other.parent
	}
	return st.option < other.option
}

// followers returns the undominated states that follow others with a regret below a limit. With one option they are in order
// as the others are, so that two by two options are merged. Both buffers are returned for the next class.
func followers(before []state, options []option, below int64, made, spare []state) (states, other []state) {
	runs := make([]int, 1, len(options)+1) // where the states of an option, or of several, begin
	for k := range options {
		o := &options[k]
		for p := range before {
			if before[p].regret+o.regret < below {
				made = append(made, before[p].with(p, k, o))
			}
		}
		runs = append(runs, len(made))
	}
	for len(runs) > 2 {
		spare = spare[:0]
		merged := runs[:1]
		for i := 0; i+1 < len(runs); i += 2 {
			if i+2 < len(runs) {
				spare = merge(spare, made[runs[i]:runs[i+1]], made[runs[i+1]:runs[i+2]])
			} else {
				spare = append(spare, made[runs[i]:runs[i+1]]...)
			}
			merged = append(merged, len(spare))
		}
		made, spare, runs = spare, made, merged
	}
	return made, spare
}

// merge appends the undominated states of two lists of such states.
func merge(to, x, y []state) []state {
	lowest := int64(math.MaxInt64)
	for len(x)+len(y) > 0 {
		from := &x
		if len(x) == 0 || len(y) > 0 && y[0].before(&x[0]) {
			from = &y
		}
		if st := (*from)[0]; st.cost < lowest {
			to, lowest = append(to, st), st.cost
		}
		*from = (*from)[1:]
	}
	return to
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
		switch {
		case x.before(&y):
			return -1
		case y.before(&x):
			return 1
		}
		return 0
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
