package integer

import (
	"cmp"
	"math"
	"slices"
)

// Loader tells what a class's jobs take when its slots, or its VMs, must be whole: not a multiple
// of one job any more.
type Loader interface {
	// Units returns the load of so many jobs.
	Units(class int, jobs int64) int64
	// PerJob returns gamma: jobs·gamma is never more than their load.
	PerJob(class int) float64
}

// Options is the front of the slot-exact program: every number of jobs of a class is an option
// with a load of its own. Options far from the straight line's optimum are never evaluated.
type Options struct {
	Loader
	supply    Supply
	Grid      Grid
	penalty   []float64
	low       []int64
	high      []int64
	plenty    bool // there are VMs for all jobs
	nu        float64
	base      []int64
	value     []float64 // what nu·load - penalty·jobs is at least
	baseLoad  int64
	slack     float64 // by how much the base's worth exceeds value, in all
	done      func() bool
	breaks    part    // the class that the linear program gives more jobs than the base, and how many; -1 for none
	extraLoad float64 // of those

	// Of a fork:
	all   Supply    // before rent
	spare bool      // plenty before rent
	plain []float64 // penalties before tilt
	row   row       // whose price is taken off
}

// NewOptions makes the program of an instance whose loads are a loader's, counted on a grid, where all jobs together
// take so many VMs at most.
func NewOptions(l Loader, g Grid, in Instance, need int64) *Options {
	s := NewSupply(in.Supply)
	return &Options{Loader: l, supply: s.UpTo(need), Grid: g, penalty: in.Penalty, low: in.Low, high: in.High, plenty: s.Most() >= need}
}

// HoldBack leaves out so many of the dearest VMs.
func (o *Options) HoldBack(vms int64) { o.supply, o.plenty = o.supply.without(vms), false }

// LineNoise, relative, keeps float noise from cutting off an option at the very end of its bound.
const LineNoise = 1e-9

// line returns the smallest cost of one more job at a price. A load may fall short of it by LoadNoise.
func (o *Options) line(class int, nu float64) (slope float64, from, step int64) {
	gamma := o.PerJob(class)
	slope = nu*gamma*(1-LineNoise) - o.penalty[class]
	if slope < 0 {
		return slope, o.high[class], -1
	}
	return slope, o.low[class], 1
}

// worth is nu·load - penalty·jobs.
func (o *Options) worth(class int, nu float64, jobs int64) float64 {
	return nu*float64(o.Units(class, jobs))/float64(o.Grid.PerVM) - o.penalty[class]*float64(jobs)
}

// optionsMostTried bounds the options of a class that are evaluated at a price: ties over a million
// jobs would take minutes. The straight line bounds those that are not.
const optionsMostTried = 2048

// patience returns the number of options of a class that may still be evaluated.
func (o *Options) patience() int {
	if o.done != nil && o.done() {
		return 1
	}
	return optionsMostTried
}

// cheapest is the class's best number of jobs at a price, the smallest load where several tie, and
// what no number of its jobs is worth less than.
func (o *Options) cheapest(class int, nu float64) (jobs, load int64, least float64) {
	slope, from, step := o.line(class, nu)
	jobs = from
	load, least = o.Units(class, jobs), o.worth(class, nu, jobs)
	noise := 1e-14 * math.Abs(o.penalty[class]) * float64(o.high[class]) // of the products a worth is the difference of
	try := func(h int64) {
		v := o.worth(class, nu, h)
		if u := o.Units(class, h); v < least-noise || v <= least+noise && u < load {
			jobs, load = h, u
		}
		least = min(least, v)
	}
	left := o.patience()
	for h := jobs + step; h >= o.low[class] && h <= o.high[class]; h += step {
		floor := slope*float64(h) - nu*LoadNoise
		if floor > least {
			break
		}
		if left--; left <= 0 {
			try(o.low[class] + o.high[class] - from) // the other end: all or nothing
			least = min(least, floor)
			break
		}
		try(h)
	}
	return jobs, load, least
}

// wanted is the penalties of all jobs together.
func (o *Options) wanted() (sum float64) {
	for i, p := range o.penalty {
		sum += p * float64(o.high[i])
	}
	return sum
}

// relax finds a Lagrangian point and the options that are cheapest there; false if not even the
// promised jobs fit.
func (o *Options) relax() bool {
	n := len(o.penalty)
	if !o.plenty && CeilDiv(o.Load(o.low), o.Grid.PerVM) > o.supply.Most() {
		return false
	}
	if o.base == nil {
		o.base, o.value = make([]int64, n), make([]float64, n)
	}
	o.nu = o.price()
	o.settle()
	return true
}

// settle finds each class's cheapest jobs at the price of capacity.
func (o *Options) settle() {
	o.baseLoad, o.slack = -o.Grid.Tolerance, 0
	for i := range o.base {
		jobs, load, value := o.cheapest(i, o.nu)
		o.base[i], o.value[i] = jobs, value
		o.baseLoad += load
		o.slack += o.worth(i, o.nu, jobs) - value
	}
}

// price finds where demand, which falls with the price of capacity, meets supply.
func (o *Options) price() float64 {
	o.breaks = part{class: theVMs}
	n := len(o.penalty)
	demand := make([]int64, n)
	evaluate := func(nu float64) int64 {
		sum := -o.Grid.Tolerance
		for i := range n {
			_, demand[i], _ = o.cheapest(i, nu)
			sum += demand[i]
		}
		return sum
	}
	low, end := 0.0, int64(0) // demand at low exceeds the supply that ends here
	var atLow []int64
	for k, price := range o.supply.Price {
		from, to := o.supply.Tier(k)
		sum := evaluate(price)
		if CeilDiv(sum, o.Grid.PerVM) > to {
			low, end = price, to
			atLow = append(atLow[:0], demand...)
			continue
		}
		if k == 0 || sum >= from*o.Grid.PerVM {
			return price
		}
		return o.bisect(low, price, atLow, demand, sum, end)
	}
	if atLow == nil { // no VM to be had: any price at which nobody wants one
		atLow = make([]int64, n)
		for i := range n {
			_, atLow[i], _ = o.cheapest(i, 0)
		}
	}
	high := low
	for i, p := range o.penalty {
		if gamma := o.PerJob(i); gamma > 0 {
			high = max(high, 2*p/gamma)
		}
	}
	sum := evaluate(high)
	for CeilDiv(sum, o.Grid.PerVM) > end && !math.IsInf(high, 1) {
		high *= 4
		sum = evaluate(high)
	}
	return o.bisect(low, high, atLow, demand, sum, end)
}

// bisect narrows the price between one at which demand exceeds the VMs and one at which it fits.
// Only classes whose demand still differs between the two are evaluated again.
func (o *Options) bisect(low, high float64, atLow, atHigh []int64, sum, vms int64) float64 {
	var active []int
	for i := range atLow {
		if atLow[i] != atHigh[i] {
			active = append(active, i)
		}
	}
	atMiddle := make([]int64, len(atLow))
	for len(active) > 0 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high || high-low < 1e-14*high {
			break
		}
		changed := int64(0)
		for _, i := range active {
			_, atMiddle[i], _ = o.cheapest(i, middle)
			changed += atMiddle[i] - atHigh[i]
		}
		target := atLow
		if CeilDiv(sum+changed, o.Grid.PerVM) <= vms {
			high, sum, target = middle, sum+changed, atHigh
		} else {
			low = middle
		}
		kept := active[:0]
		for _, i := range active {
			target[i] = atMiddle[i]
			if atLow[i] != atHigh[i] {
				kept = append(kept, i)
			}
		}
		active = kept
	}
	o.breakUp(active, low, high, vms*o.Grid.PerVM-sum)
	return high
}

// breakUp fills the room with jobs that the classes want at the lower of two prices next to each other, and
// notes the class that does not fit whole.
func (o *Options) breakUp(active []int, low, high float64, room int64) {
	for _, i := range active {
		fewer, less, _ := o.cheapest(i, high)
		more, load, _ := o.cheapest(i, low)
		if load -= less; load <= 0 {
			continue
		}
		if load > room {
			share := float64(room) / float64(load)
			o.breaks = part{i, float64(fewer) + share*float64(more-fewer)}
			o.extraLoad = float64(room)
			return
		}
		room -= load
	}
}

func (o *Options) count() int { return len(o.penalty) }

func (o *Options) leads(below float64, most int, dst []lead) ([]lead, bool) {
	g := gatherer{leads: dst, below: below, most: most, all: true}
	var list []choice
	for i := range o.penalty {
		if o.low[i] == o.high[i] {
			continue
		}
		if o.done != nil && o.done() {
			g.all = false
			break
		}
		tried := 0
		list, tried = o.tryChoices(i, g.below, list[:0])
		if tried >= optionsMostTried {
			g.all = false // the class has more moves than are looked at
		}
		if len(list) > 0 {
			g.add(lead{i, list[0].extra})
		}
	}
	return g.result()
}

func (o *Options) choices(class int, below float64, dst []choice) []choice {
	dst, _ = o.tryChoices(class, below, dst)
	return dst
}

// tryChoices says besides how many options it has looked at.
func (o *Options) tryChoices(class int, below float64, dst []choice) (found []choice, tried int) {
	slope, from, step := o.line(class, o.nu)
	base, value := o.base[class], o.value[class]
	baseUnits := o.Units(class, base)
	begin := len(dst)
	for h := from; h >= o.low[class] && h <= o.high[class] && tried < optionsMostTried && slope*float64(h)-value < below+o.nu*LoadNoise; h += step {
		tried++
		if h == base {
			continue
		}
		if extra := max(0, o.worth(class, o.nu, h)-value); extra < below {
			dst = append(dst, choice{h, o.Units(class, h) - baseUnits, (h - base) * o.row.each(class), extra})
		}
	}
	slices.SortFunc(dst[begin:], func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.extra, b.extra), cmp.Compare(a.jobs, b.jobs))
	})
	return dst, tried
}

// stretch finds the most jobs whose load fits by bisection: more jobs never take less.
func (o *Options) stretch(class int, room int64) (choice, bool) {
	base := o.base[class]
	baseUnits := o.Units(class, base)
	low, high := base, o.high[class]
	for low < high {
		middle := low + (high-low+1)/2
		if o.Units(class, middle)-baseUnits <= room {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return choice{low, o.Units(class, low) - baseUnits, (low - base) * o.row.each(class), max(0, o.worth(class, o.nu, low)-o.value[class])}, low > base
}

func (o *Options) Objective(jobs []int64, vms int64) float64 {
	return objective(o.supply, vms, o.penalty, jobs)
}

func (o *Options) PerVM() int64 { return o.Grid.PerVM }

func (o *Options) Load(jobs []int64) int64 {
	sum := -o.Grid.Tolerance
	for i, h := range jobs {
		sum += o.Units(i, h)
	}
	return sum
}
