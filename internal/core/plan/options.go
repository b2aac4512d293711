package plan

import (
	"cmp"
	"math"
	"slices"
)

// loader says what a class's jobs cost when its slots, or its VMs, must be whole: not a multiple
// of one job any more.
type loader interface {
	// units is the load of so many jobs.
	units(class int, jobs int64) int64
	// perJob is gamma: jobs·gamma is never more than their load.
	perJob(class int) float64
}

// options is the front of the slot-exact program: every number of jobs of a class is an option
// with a load of its own. Options far from the straight line's optimum are never evaluated.
type options struct {
	loader
	supply    supply
	grid      grid
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
	all   supply    // before rent
	spare bool      // plenty before rent
	plain []float64 // penalties before tilt
	row   row       // whose price is taken off
}

// lineNoise, relative, keeps float noise from cutting off an option at the very end of its bound.
const lineNoise = 1e-9

// line is what one more job costs at least, at a price; a load may fall short of it by loadNoise.
func (o *options) line(class int, nu float64) (slope float64, from, step int64) {
	gamma := o.perJob(class)
	slope = nu*gamma*(1-lineNoise) - o.penalty[class]
	if slope < 0 {
		return slope, o.high[class], -1
	}
	return slope, o.low[class], 1
}

// worth is nu·load - penalty·jobs.
func (o *options) worth(class int, nu float64, jobs int64) float64 {
	return nu*float64(o.units(class, jobs))/float64(o.grid.perVM) - o.penalty[class]*float64(jobs)
}

// optionsMostTried bounds the options of a class that are evaluated at a price: ties over a million
// jobs would take minutes. The straight line bounds those that are not.
const optionsMostTried = 2048

// patience is how many options of a class may still be evaluated.
func (o *options) patience() int {
	if o.done != nil && o.done() {
		return 1
	}
	return optionsMostTried
}

// cheapest is the class's best number of jobs at a price, the smallest load where several tie, and
// what no number of its jobs is worth less than.
func (o *options) cheapest(class int, nu float64) (jobs, load int64, least float64) {
	slope, from, step := o.line(class, nu)
	jobs = from
	load, least = o.units(class, jobs), o.worth(class, nu, jobs)
	noise := 1e-14 * math.Abs(o.penalty[class]) * float64(o.high[class]) // of the products a worth is the difference of
	try := func(h int64) {
		v := o.worth(class, nu, h)
		if u := o.units(class, h); v < least-noise || v <= least+noise && u < load {
			jobs, load = h, u
		}
		least = min(least, v)
	}
	left := o.patience()
	for h := jobs + step; h >= o.low[class] && h <= o.high[class]; h += step {
		floor := slope*float64(h) - nu*loadNoise
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
func (o *options) wanted() (sum float64) {
	for i, p := range o.penalty {
		sum += p * float64(o.high[i])
	}
	return sum
}

// relax finds a Lagrangian point and the options that are cheapest there; false if not even the
// promised jobs fit.
func (o *options) relax() bool {
	n := len(o.penalty)
	if !o.plenty && ceilDiv(o.load(o.low), o.grid.perVM) > o.supply.most() {
		return false
	}
	if o.base == nil {
		o.base, o.value = make([]int64, n), make([]float64, n)
	}
	o.nu = o.price()
	o.baseLoad, o.slack = -o.grid.tolerance, 0
	for i := range n {
		jobs, load, value := o.cheapest(i, o.nu)
		o.base[i], o.value[i] = jobs, value
		o.baseLoad += load
		o.slack += o.worth(i, o.nu, jobs) - value
	}
	return true
}

// price finds where demand, which falls with the price of capacity, meets supply.
func (o *options) price() float64 {
	o.breaks = part{class: theVMs}
	n := len(o.penalty)
	demand := make([]int64, n)
	evaluate := func(nu float64) int64 {
		sum := -o.grid.tolerance
		for i := range n {
			_, demand[i], _ = o.cheapest(i, nu)
			sum += demand[i]
		}
		return sum
	}
	low, end := 0.0, int64(0) // demand at low exceeds the supply that ends here
	var atLow []int64
	for k, price := range o.supply.price {
		from, to := o.supply.tier(k)
		sum := evaluate(price)
		if ceilDiv(sum, o.grid.perVM) > to {
			low, end = price, to
			atLow = append(atLow[:0], demand...)
			continue
		}
		if k == 0 || sum >= from*o.grid.perVM {
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
		if gamma := o.perJob(i); gamma > 0 {
			high = max(high, 2*p/gamma)
		}
	}
	sum := evaluate(high)
	for ceilDiv(sum, o.grid.perVM) > end && !math.IsInf(high, 1) {
		high *= 4
		sum = evaluate(high)
	}
	return o.bisect(low, high, atLow, demand, sum, end)
}

// bisect narrows the price between one at which demand exceeds the VMs and one at which it fits.
// Only classes whose demand still differs between the two are evaluated again.
func (o *options) bisect(low, high float64, atLow, atHigh []int64, sum, vms int64) float64 {
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
		if ceilDiv(sum+changed, o.grid.perVM) <= vms {
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
	o.breakUp(active, low, high, vms*o.grid.perVM-sum)
	return high
}

// breakUp fills the room with jobs that the classes want at the lower of two prices next to each other, and
// notes the class that does not fit whole.
func (o *options) breakUp(active []int, low, high float64, room int64) {
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

func (o *options) count() int { return len(o.penalty) }

func (o *options) leads(below float64, most int, dst []lead) ([]lead, bool) {
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

func (o *options) choices(class int, below float64, dst []choice) []choice {
	dst, _ = o.tryChoices(class, below, dst)
	return dst
}

// tryChoices says besides how many options it has looked at.
func (o *options) tryChoices(class int, below float64, dst []choice) (found []choice, tried int) {
	slope, from, step := o.line(class, o.nu)
	base, value := o.base[class], o.value[class]
	baseUnits := o.units(class, base)
	begin := len(dst)
	for h := from; h >= o.low[class] && h <= o.high[class] && tried < optionsMostTried && slope*float64(h)-value < below+o.nu*loadNoise; h += step {
		tried++
		if h == base {
			continue
		}
		if extra := max(0, o.worth(class, o.nu, h)-value); extra < below {
			dst = append(dst, choice{h, o.units(class, h) - baseUnits, (h - base) * o.row.each(class), extra})
		}
	}
	slices.SortFunc(dst[begin:], func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.extra, b.extra), cmp.Compare(a.jobs, b.jobs))
	})
	return dst, tried
}

// stretch finds the most jobs whose load fits by bisection: more jobs never take less.
func (o *options) stretch(class int, room int64) (choice, bool) {
	base := o.base[class]
	baseUnits := o.units(class, base)
	low, high := base, o.high[class]
	for low < high {
		middle := low + (high-low+1)/2
		if o.units(class, middle)-baseUnits <= room {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return choice{low, o.units(class, low) - baseUnits, (low - base) * o.row.each(class), max(0, o.worth(class, o.nu, low)-o.value[class])}, low > base
}

func (o *options) objective(jobs []int64, vms int64) float64 {
	return objective(o.supply, vms, o.penalty, jobs)
}

func (o *options) perVM() int64 { return o.grid.perVM }

func (o *options) load(jobs []int64) int64 {
	sum := -o.grid.tolerance
	for i, h := range jobs {
		sum += o.units(i, h)
	}
	return sum
}
