package integer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// P2 solves the paper's integer program: jobs, reserved and on-demand VMs whole. The answer is
// proved without any solver; Gap says how far, and is at most target unless the effort limits or
// the context's deadline came first.
func P2(ctx context.Context, in Instance, target func(objective float64) float64) Result {
	r, _ := Solve(ctx, NewLinear(in), target)
	return r
}

// Within is a gap relative to the objective, never below what float64 sums can tell.
func Within(gap float64) func(objective float64) float64 {
	return func(objective float64) float64 { return max(gap, ProofResolution/10) * math.Abs(objective) }
}

// Yardstick returns the amount that the gap of a plan is a share of: its objective or, if that is less, its whole cost.
// Penalties that say "never" make an objective so large that the smallest share of it is more than all VMs cost.
func Yardstick(objective, wanted float64) float64 {
	return min(math.Abs(objective), max(0, objective+wanted))
}

// GapNoise is the float error of a gap of zero, relative to the penalties of all jobs.
const GapNoise = 3e-14

// complete is the gap at which nothing is left to prove.
func complete(objective, wanted float64) float64 {
	return ProofResolution / 10 * Yardstick(objective, wanted)
}

// wanted is the penalties of all jobs together: the objective plus this is the whole cost.
func (in Instance) wanted() (sum float64) {
	for i, p := range in.Penalty {
		sum += p * float64(in.High[i])
	}
	return sum
}

// ProofResolution is the relative gap below which float noise and truth cannot be told apart; a
// proof that reaches it is complete.
const ProofResolution = 1e-9

// Expired lets others go first and tells the inner loops that the context's time is up.
func Expired(ctx context.Context) func() bool {
	return func() bool { return capacity.Pause(ctx) != nil }
}

// Linear is an Instance on its grid: every job of a class costs the same load. It is the front of
// the integer program.
type Linear struct {
	Instance
	supply   Supply
	grid     Grid
	weight   []int64
	gamma    []float64 // weight / grid
	nu       float64
	base     []int64 // jobs at the Lagrangian point
	baseLoad int64
	slack    float64
	done     func() bool
	breaks   int     // the class that the linear program gives a part of a job more, or -1
	part     float64 // that part
	tie      float64 // classes tie up to this, besides noise

	// Of a fork:
	all   Supply    // before rent
	plain []float64 // penalties before tilt
	row   row       // whose price is taken off

	scratch
}

// scratch is room that one call of relax leaves to the next.
type scratch struct {
	inside []ratio
	demand []int64
	tied   []int
}

// tieShare: a class whose reduced cost is at most this share of its penalty counts as tied, which
// opens both directions to the search. What is rounded away is added to the gap (slack).
const tieShare = 1e-13

func NewLinear(in Instance) *Linear {
	l := &Linear{Instance: in}
	l.grid, l.weight = NewGrid(in.Gamma, in.High, in.Rounded)
	l.gamma = make([]float64, len(l.weight))
	for i, w := range l.weight {
		l.gamma[i] = float64(w) / float64(l.grid.PerVM)
	}
	l.supply = NewSupply(in.Supply).UpTo(VMsFor(l, in.High) + 1)
	return l
}

func (l *Linear) Load(jobs []int64) int64 {
	sum := -l.grid.Tolerance
	for i, w := range l.weight {
		sum += w * jobs[i]
	}
	return sum
}

func (l *Linear) Objective(jobs []int64, vms int64) float64 {
	return objective(l.supply, vms, l.Penalty, jobs)
}

func (l *Linear) Units(class int, jobs int64) int64 { return l.weight[class] * jobs }

func (l *Linear) PerVM() int64 { return l.grid.PerVM }

// objective is P2's: VM cost minus the penalties avoided.
func objective(s Supply, vms int64, penalty []float64, jobs []int64) float64 {
	var sum money.Sum
	for from := 0; from < len(penalty); from += blockSize {
		block := 0.0
		for i, p := range penalty[from:min(from+blockSize, len(penalty))] {
			block -= p * float64(jobs[from+i])
		}
		sum.Add(block)
	}
	sum.Add(s.Cost(vms))
	return sum.Value()
}

// blockSize is the number of terms that are summed plainly before a compensated step: fast, and as exact as sixteen
// terms.
const blockSize = 16

// relax finds the Lagrangian point of the linear program and rounds its jobs down; false if not
// even the promised jobs fit.
func (l *Linear) relax() bool {
	floor := l.Load(l.Low)
	if CeilDiv(floor, l.grid.PerVM) > l.supply.Most() {
		return false
	}
	nu, found := l.near(floor)
	if !found {
		nu = l.crossing(floor)
	}
	l.nu = nu
	l.settle(floor)
	return true
}

// settle finds each class's cheapest jobs at the price of capacity.
func (l *Linear) settle(floor int64) {
	l.slack, l.tie, l.breaks = 0, 0, -1
	l.base = append(l.base[:0], l.Low...)
	l.baseLoad = floor
	tied := l.tied[:0]
	for i, v := range l.gamma {
		width := l.High[i] - l.Low[i]
		if width == 0 {
			continue
		}
		switch reduced, tie := l.nu*v-l.Penalty[i], l.noise(i); {
		case l.weight[i] == 0 && l.Penalty[i] > 0 || reduced < -tie:
			l.base[i] = l.High[i]
			l.baseLoad += width * l.weight[i]
		case reduced <= tie && l.weight[i] > 0:
			l.slack += math.Abs(reduced) * float64(width)
			tied = append(tied, i)
		}
	}
	l.tied = tied
	// Classes on the price itself fill what is left below the kink.
	less, atMost := l.supply.Below(l.nu)
	room := less*l.grid.PerVM - l.baseLoad
	for _, i := range tied {
		if take := min(l.High[i]-l.Low[i], room/l.weight[i]); take > 0 {
			l.base[i] += take
			l.baseLoad += take * l.weight[i]
			room -= take * l.weight[i]
		}
		if less == atMost && l.breaks < 0 && room > 0 && l.base[i] < l.High[i] {
			l.breaks, l.part = i, float64(room)/float64(l.weight[i])
		}
	}
}

// near finds the price of a fork where it is close to the latest one, and to none of the tiers'.
func (l *Linear) near(floor int64) (nu float64, found bool) {
	const close = 1.0 / 32
	from, to := l.nu*(1-close), l.nu*(1+close)
	vms, _ := l.supply.Below(from)
	if _, atMost := l.supply.Below(to); l.plain == nil || l.nu <= 0 || atMost != vms {
		return 0, false
	}
	room, inside := vms*l.grid.PerVM-floor, l.inside[:0]
	gamma, penalty, low, high := l.gamma, l.Penalty, l.Low, l.High
	for i, w := range l.weight {
		load := w * (high[i] - low[i])
		if p := penalty[i]; load > 0 && p >= from*gamma[i] {
			if p > to*gamma[i] {
				room -= load
			} else {
				inside = append(inside, ratio{p / gamma[i], load})
			}
		}
	}
	l.inside = inside
	return crossingRatio(inside, room)
}

// crossing finds where demand, by falling ratio of penalty to VMs, meets supply by rising price,
// and answers the price there: a tier's, or the ratio of the class that does not fit whole.
func (l *Linear) crossing(floor int64) float64 {
	tiers := len(l.supply.Price)
	if tiers == 0 {
		return l.highestRatio()
	}
	// demand[k] is the load of all classes worth more than tier k's price.
	demand := append(l.demand[:0], make([]int64, tiers)...)
	l.demand = demand
	for i, w := range l.weight {
		extra := w * (l.High[i] - l.Low[i])
		if extra == 0 {
			continue
		}
		for k := 0; k < tiers && l.Penalty[i] > l.supply.Price[k]*l.gamma[i]; k++ {
			demand[k] += extra
		}
	}
	for k := range tiers {
		demand[k] += floor
		from, to := l.supply.Tier(k)
		need := CeilDiv(demand[k], l.grid.PerVM)
		if need > to {
			continue
		}
		if need > from || k == 0 || demand[k] == from*l.grid.PerVM {
			return l.supply.Price[k]
		}
		// Demand crosses between two tiers, at the ratio of some class.
		return l.ratioAt(l.supply.Price[k-1], l.supply.Price[k], from*l.grid.PerVM-demand[k])
	}
	last := tiers - 1
	return l.ratioAt(l.supply.Price[last], math.Inf(1), l.supply.Most()*l.grid.PerVM-floor)
}

// highestRatio is a price at which no class is worth a VM.
func (l *Linear) highestRatio() float64 {
	high := 0.0
	for i, v := range l.gamma {
		if v > 0 {
			high = max(high, l.Penalty[i]/v)
		}
	}
	return high
}

// ratioAt fills room with the classes whose ratio lies above low and at most high, best first, and
// answers the ratio of the class that does not fit any more. It is a weighted selection: of the
// classes left, those above a sampled pivot are counted, and the side that holds the answer stays.
func (l *Linear) ratioAt(low, high float64, room int64) float64 {
	within := func(i int) bool {
		return l.weight[i] > 0 && l.High[i] > l.Low[i] && l.Penalty[i] > low*l.gamma[i] && l.Penalty[i] <= high*l.gamma[i]
	}
	from, to := l.bracket(room, within)
	for {
		inside := l.inside[:0]
		left := room
		for i, w := range l.weight {
			if p, g := l.Penalty[i], l.gamma[i]; within(i) {
				switch load := w * (l.High[i] - l.Low[i]); {
				case p > to*g:
					left -= load
				case p >= from*g:
					inside = append(inside, ratio{p / g, load})
				}
			}
		}
		l.inside = inside
		all := from == 0 && math.IsInf(to, 1)
		if nu, found := crossingRatio(inside, left); found || all {
			return max(nu, low)
		}
		from, to = 0, math.Inf(1) // the sample misled
	}
}

// ratio is a class's penalty per VM and the load of its jobs that may be refused.
type ratio struct {
	value float64
	load  int64
}

// bracket guesses, from a sample of the classes, two ratios between which room is used up.
func (l *Linear) bracket(room int64, within func(int) bool) (from, to float64) {
	const size, enough = 1024, 256
	stride := max(1, len(l.weight)/size)
	var sample []ratio
	for i := 0; i < len(l.weight); i += stride {
		if within(i) {
			sample = append(sample, ratio{l.Penalty[i] / l.gamma[i], l.weight[i] * (l.High[i] - l.Low[i])})
		}
	}
	from, to = 0, math.Inf(1)
	if stride == 1 || len(sample) < enough {
		return from, to
	}
	slices.SortFunc(sample, func(a, b ratio) int { return cmp.Compare(b.value, a.value) })
	at := 0
	for left := room / int64(stride); at < len(sample) && left >= sample[at].load; at++ {
		left -= sample[at].load
	}
	margin := 2 * int(math.Sqrt(float64(len(sample)))) // four standard deviations of the sample's rank
	if at+margin < len(sample) {
		from = sample[at+margin].value
	}
	if at-margin >= 0 {
		to = sample[at-margin].value
	}
	return from, to
}

// crossingRatio is the ratio of the first class, best first, that does not fit into room any more;
// the lowest ratio, and false, if all fit. It reorders the classes.
func crossingRatio(inside []ratio, room int64) (nu float64, found bool) {
	if room < 0 {
		return 0, false
	}
	for len(inside) > 0 {
		pivot := inside[len(inside)/2].value
		above, below := 0, len(inside) // [0, above) exceed the pivot, [below, end) fall short of it
		aboveLoad, equalLoad := int64(0), int64(0)
		for i := 0; i < below; {
			switch r := inside[i]; {
			case r.value > pivot:
				inside[i], inside[above] = inside[above], r
				aboveLoad += r.load
				above++
				i++
			case r.value < pivot:
				below--
				inside[i], inside[below] = inside[below], r
			default:
				equalLoad += r.load
				i++
			}
		}
		switch {
		case aboveLoad > room:
			inside = inside[:above]
		case aboveLoad+equalLoad > room:
			return pivot, true
		default:
			room -= aboveLoad + equalLoad
			nu = pivot
			inside = inside[below:]
		}
	}
	return nu, false
}

// ties says whether a class costs so little that it counts as nothing.
func (l *Linear) ties(class int, reduced float64) bool {
	return reduced <= max(l.tie, l.noise(class))
}

// noise returns the float error of a class's cost of zero.
func (l *Linear) noise(class int) float64 {
	if l.plain != nil {
		return tieShare * max(math.Abs(l.Penalty[class]), l.plain[class])
	}
	return tieShare * l.Penalty[class]
}

// reduced returns the cost of one more job of the class at the price of capacity, 0 for ties.
func (l *Linear) reduced(class int) float64 {
	r := l.nu*l.gamma[class] - l.Penalty[class]
	if l.ties(class, math.Abs(r)) {
		return 0
	}
	return r
}

func (l *Linear) count() int { return len(l.gamma) }

func (l *Linear) stretch(class int, room int64) (choice, bool) {
	if l.weight[class] == 0 {
		return choice{}, false
	}
	more := min(l.High[class]-l.base[class], room/l.weight[class])
	return choice{l.base[class] + more, more * l.weight[class], more * l.row.each(class), max(0, l.reduced(class)) * float64(more)}, more > 0
}

func (l *Linear) leads(below float64, most int, dst []lead) ([]lead, bool) {
	n := len(l.gamma)
	g := gatherer{leads: dst, below: below, most: most, all: true}
	extra := func(i int) float64 {
		x := math.Abs(l.nu*l.gamma[i] - l.Penalty[i])
		if l.ties(i, x) {
			return 0
		}
		return x
	}
	movable := func(i int) bool { return l.High[i] > l.Low[i] && l.weight[i] > 0 }
	if n > 16*most {
		// Too many to collect: a sample says below which extra about as many as wanted lie.
		sample := make([]float64, 0, 2048)
		for i := 0; i < n; i += n/2048 + 1 {
			if movable(i) {
				sample = append(sample, extra(i))
			}
		}
		slices.Sort(sample)
		if at := len(sample)*most/n + 8; at < len(sample) && sample[at] < g.below {
			g.below, g.all = max(sample[at], math.SmallestNonzeroFloat64), false
		}
	}
	for i := range n {
		x := extra(i)
		if x >= g.below || !movable(i) {
			continue
		}
		if float64(l.High[i]-l.Low[i]) > movesMost && x*movesMost < g.below {
			g.all = false // the class has more moves than are looked at
		}
		g.add(lead{i, x})
	}
	return g.result()
}

// movesMost bounds the moves of one class that are looked at.
const movesMost = 4096

func (l *Linear) choices(class int, below float64, dst []choice) []choice {
	reduced, w, each := l.reduced(class), l.weight[class], l.row.each(class)
	low, high, base := l.Low[class], l.High[class], l.base[class]
	add := func(jobs int64, extra float64) {
		dst = append(dst, choice{jobs, (jobs - base) * w, (jobs - base) * each, extra})
	}
	switch {
	case reduced > 0:
		for k := int64(1); k <= min(high-low, movesMost) && float64(k)*reduced < below; k++ {
			add(low+k, float64(k)*reduced)
		}
	case reduced < 0:
		for k := int64(1); k <= min(high-low, movesMost) && float64(k)*-reduced < below; k++ {
			add(high-k, float64(k)*-reduced)
		}
	default:
		for k := int64(1); k <= min(max(high-base, base-low), movesMost); k++ {
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
