package plan

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// P2 solves the paper's integer program: jobs, reserved and on-demand VMs whole. The answer is
// proved without any solver; Gap says how far, and is at most target unless the effort limits or
// the context's deadline came first.
func P2(ctx context.Context, in Instance, target func(objective float64) float64) Result {
	r, _ := newLinear(in).solve(ctx, target)
	return r
}

func (l *linear) solve(ctx context.Context, target func(objective float64) float64) (Result, *search) {
	if !l.relax() {
		return Result{}, nil
	}
	s := newSearch(l, l.supply.at(l.nu, l.grid), l.baseLoad, l.slack, expired(ctx))
	s.run(target(l.objective(l.base)), lightEffort, solidEffort, heavyEffort)
	return s.result(l, l.base), s
}

// Within is the usual target: a relative gap, never below what float64 sums can tell.
func Within(gap float64) func(objective float64) float64 {
	return func(objective float64) float64 { return max(gap, proofResolution/10) * math.Abs(objective) }
}

// proofResolution is the relative gap below which float noise and truth cannot be told apart; a
// proof that reaches it is complete.
const proofResolution = 1e-9

// expired tells the inner loops that the context's time is up.
func expired(ctx context.Context) func() bool {
	if ctx.Done() == nil {
		return func() bool { return false }
	}
	return func() bool { return ctx.Err() != nil }
}

// linear is an Instance on its grid: every job of a class costs the same load. It is the front of
// the integer program.
type linear struct {
	Instance
	supply   supply
	grid     int64
	weight   []int64
	gamma    []float64 // weight / grid
	nu       float64
	base     []int64 // jobs at the Lagrangian point
	baseLoad int64
	slack    float64
}

// tieShare: a class whose reduced cost is at most this share of its penalty counts as tied, which
// opens both directions to the search. What is rounded away is added to the gap (slack).
const tieShare = 1e-13

func newLinear(in Instance) *linear {
	l := &linear{Instance: in, supply: newSupply(in.Supply)}
	l.grid, l.weight = loads(in.Gamma, in.High)
	l.gamma = make([]float64, len(l.weight))
	for i, w := range l.weight {
		l.gamma[i] = float64(w) / float64(l.grid)
	}
	return l
}

func (l *linear) load(jobs []int64) int64 {
	sum := int64(0)
	for i, w := range l.weight {
		sum += w * jobs[i]
	}
	return sum
}

func (l *linear) objective(jobs []int64) float64 {
	return objective(l.supply, l.vms(jobs), l.Penalty, jobs)
}

// vms is the whole VMs that carry so many jobs.
func (l *linear) vms(jobs []int64) int64 { return ceilDiv(l.load(jobs), l.grid) }

func (l *linear) units(class int, jobs int64) int64 { return l.weight[class] * jobs }

func (l *linear) perVM() int64 { return l.grid }

// objective is P2's: VM cost minus the penalties avoided.
func objective(s supply, vms int64, penalty []float64, jobs []int64) float64 {
	var sum neumaier
	for i, p := range penalty {
		sum.add(-p * float64(jobs[i]))
	}
	sum.add(s.cost(vms))
	return sum.value()
}

// relax finds the Lagrangian point of the linear program and rounds its jobs down; false if not
// even the promised jobs fit.
func (l *linear) relax() bool {
	floor := l.load(l.Low)
	if ceilDiv(floor, l.grid) > l.supply.most() {
		return false
	}
	l.nu = l.crossing(floor)
	l.base = slices.Clone(l.Low)
	l.baseLoad = floor
	var tied []int
	for i, v := range l.gamma {
		width := l.High[i] - l.Low[i]
		if width == 0 {
			continue
		}
		switch reduced, tie := l.nu*v-l.Penalty[i], tieShare*l.Penalty[i]; {
		case l.weight[i] == 0 && l.Penalty[i] > 0 || reduced < -tie:
			l.base[i] = l.High[i]
			l.baseLoad += width * l.weight[i]
		case reduced <= tie && l.weight[i] > 0:
			l.slack += math.Abs(reduced) * float64(width)
			tied = append(tied, i)
		}
	}
	// Classes on the price itself fill what is left below the kink.
	less, _ := l.supply.below(l.nu)
	room := less*l.grid - l.baseLoad
	for _, i := range tied {
		if take := min(l.High[i]-l.Low[i], room/l.weight[i]); take > 0 {
			l.base[i] += take
			l.baseLoad += take * l.weight[i]
			room -= take * l.weight[i]
		}
	}
	return true
}

// crossing finds where demand, by falling ratio of penalty to VMs, meets supply by rising price,
// and answers the price there: a tier's, or the ratio of the class that does not fit whole.
func (l *linear) crossing(floor int64) float64 {
	tiers := len(l.supply.price)
	if tiers == 0 {
		return l.highestRatio()
	}
	// demand[k] is the load of all classes worth more than tier k's price.
	demand := make([]int64, tiers)
	for i, w := range l.weight {
		extra := w * (l.High[i] - l.Low[i])
		if extra == 0 {
			continue
		}
		for k := 0; k < tiers && l.Penalty[i] > l.supply.price[k]*l.gamma[i]; k++ {
			demand[k] += extra
		}
	}
	for k := range tiers {
		demand[k] += floor
		from, to := l.supply.tier(k)
		need := ceilDiv(demand[k], l.grid)
		if need > to {
			continue
		}
		if need > from || k == 0 || demand[k] == from*l.grid {
			return l.supply.price[k]
		}
		// Demand crosses between two tiers, at the ratio of some class.
		return l.ratioAt(l.supply.price[k-1], l.supply.price[k], from*l.grid-demand[k])
	}
	last := tiers - 1
	return l.ratioAt(l.supply.price[last], math.Inf(1), l.supply.most()*l.grid-floor)
}

// highestRatio is a price at which no class is worth a VM.
func (l *linear) highestRatio() float64 {
	high := 0.0
	for i, v := range l.gamma {
		if v > 0 {
			high = max(high, l.Penalty[i]/v)
		}
	}
	return high
}

// ratioAt fills room with the classes whose ratio lies above low and at most high, best first, and
// answers the ratio of the class that does not fit any more.
func (l *linear) ratioAt(low, high float64, room int64) float64 {
	type ratio struct {
		value float64
		load  int64
	}
	const buckets = 4096
	least, most := math.Inf(1), 0.0
	within := func(i int) (float64, int64, bool) {
		load := l.weight[i] * (l.High[i] - l.Low[i])
		if load == 0 || l.Penalty[i] <= low*l.gamma[i] || l.Penalty[i] > high*l.gamma[i] {
			return 0, 0, false
		}
		return l.Penalty[i] / l.gamma[i], load, true
	}
	for i := range l.weight {
		if v, _, ok := within(i); ok {
			least, most = min(least, v), max(most, v)
		}
	}
	bucketOf := func(v float64) int {
		if most <= least {
			return 0
		}
		return min(buckets-1, int((v-least)/(most-least)*buckets))
	}
	var sums [buckets]int64
	for i := range l.weight {
		if v, load, ok := within(i); ok {
			sums[bucketOf(v)] += load
		}
	}
	b := buckets - 1
	for b > 0 && sums[b] <= room {
		room -= sums[b]
		b--
	}
	var inside []ratio
	for i := range l.weight {
		if v, load, ok := within(i); ok && bucketOf(v) == b {
			inside = append(inside, ratio{v, load})
		}
	}
	if most > least {
		slices.SortFunc(inside, func(a, b ratio) int { return cmp.Compare(b.value, a.value) })
	}
	nu := low
	for _, c := range inside {
		nu = c.value
		if room -= c.load; room < 0 {
			break
		}
	}
	return nu
}

// reduced is what one more job of the class costs at the price of capacity, 0 for ties.
func (l *linear) reduced(class int) float64 {
	r := l.nu*l.gamma[class] - l.Penalty[class]
	if math.Abs(r) <= tieShare*l.Penalty[class] {
		return 0
	}
	return r
}

func (l *linear) leads(below float64, most int, dst []lead) ([]lead, bool) {
	all := true
	for i := range l.gamma {
		extra := math.Abs(l.nu*l.gamma[i] - l.Penalty[i])
		if extra <= tieShare*l.Penalty[i] {
			extra = 0
		}
		if extra >= below || l.High[i] == l.Low[i] || l.weight[i] == 0 {
			continue
		}
		dst = append(dst, lead{i, extra})
		if len(dst) == 2*most {
			dst, below = cheapest(dst, most)
			all = false
		}
	}
	if len(dst) > most {
		dst, _ = cheapest(dst, most)
		all = false
	}
	return dst, all
}

// cheapest keeps the cheapest leads and says below which extra another one would be wanted.
func cheapest(leads []lead, most int) ([]lead, float64) {
	slices.SortFunc(leads, func(a, b lead) int {
		return cmp.Or(cmp.Compare(a.extra, b.extra), cmp.Compare(a.class, b.class))
	})
	return leads[:most], leads[most-1].extra
}

func (l *linear) choices(class int, below float64, dst []choice) []choice {
	reduced, w := l.reduced(class), l.weight[class]
	low, high, base := l.Low[class], l.High[class], l.base[class]
	add := func(jobs int64, extra float64) {
		dst = append(dst, choice{jobs, (jobs - base) * w, extra})
	}
	switch {
	case reduced > 0:
		for k := int64(1); k <= high-low && float64(k)*reduced < below; k++ {
			add(low+k, float64(k)*reduced)
		}
	case reduced < 0:
		for k := int64(1); k <= high-low && float64(k)*-reduced < below; k++ {
			add(high-k, float64(k)*-reduced)
		}
	default:
		for k := int64(1); k <= max(high-base, base-low); k++ {
			if base+k <= high {
				add(base+k, 0)
			}
			if base-k >= low {
				add(base-k, 0)
			}
		}
	}
	return dst
}

// neumaier is a compensated sum: its error does not grow with the number of terms.
type neumaier struct{ sum, rest float64 }

func (n *neumaier) add(x float64) {
	t := n.sum + x
	if math.Abs(n.sum) >= math.Abs(x) {
		n.rest += (n.sum - t) + x
	} else {
		n.rest += (x - t) + n.sum
	}
	n.sum = t
}

func (n *neumaier) value() float64 { return n.sum + n.rest }
