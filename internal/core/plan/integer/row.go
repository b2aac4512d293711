package integer

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// row is a second whole number that plans have beside their load: the sum of a whole number for every job, such as the
// number of jobs. If penalties follow gamma (p = k·(gamma + 1)), the linear program wants a fraction of it. So one search
// covers the plans with at most so many, and another those with at least so many, each with a price for the part between.
// Together they see what the load alone does not show.
type row struct {
	counts []int64 // of a job, by class
	side   int64   // 1: plans with at most the target; -1: with at least that; 0: no row
	target int64
	price  float64 // of one more: at least 0 where there may be at most so many, at most 0 where at least
}

// excess returns the cost of a count above the bound: nothing at the target, and no plan on the wrong side.
func (r *row) excess(count int64) float64 {
	if r.side == 0 {
		return 0
	}
	left := (r.target - count) * r.side
	if left < 0 {
		return math.Inf(1)
	}
	return math.Abs(r.price) * float64(left)
}

// count returns the count of all jobs.
func (r *row) count(jobs []int64) (sum int64) {
	for i, c := range r.counts {
		sum += c * jobs[i]
	}
	return sum
}

// each returns the count of one job of the class.
func (r *row) each(class int) int64 {
	if r.counts == nil {
		return 0
	}
	return r.counts[class]
}

// takeOff leaves of plain penalties what they are beyond the row's price.
func (r *row) takeOff(penalty, plain []float64) {
	copy(penalty, plain)
	for i, c := range r.counts {
		penalty[i] -= r.price * float64(c)
	}
}

// over returns the distance of a count on the wrong side.
func (r *row) over(count float64) float64 {
	over := (count - float64(r.target)) * float64(r.side)
	if math.Abs(over) < countNoise {
		return 0
	}
	return over
}

// countNoise is the distance within which a count of the linear program is a whole number.
const countNoise = 1e-9

// rowWindow is the distance from the row's target in which joins look.
const rowWindow = 4

func (r *row) window() int64 {
	if r.side == 0 {
		return 0
	}
	return rowWindow
}

// splitRow opens two branches by the row that raises the bound most; false if none does.
func (t *tree) splitRow(b *branch, s *Search) bool {
	vms, parts := t.vms, slices.Clone(t.parts)
	var best [2]*branch
	bound := b.bound
	try := func(counts []int64, enough float64) bool {
		parts, least := t.byRow(b, counts)
		if least > bound {
			best, bound = parts, least
			t.counts = counts
		}
		return bound-b.bound > enough*(t.value-b.bound)
	}
	var first []int64
	if t.rounded {
		first = rounded(t.Terrain)
	}
	if first == nil || !try(first, enoughRounded) {
		proposed := [][]int64{t.counts}
		if b == t.root {
			voters, _ := t.leads(s.gap, votersMost, nil)
			proposed = rows(t.Terrain, voters)
		}
		for _, counts := range proposed {
			if counts != nil && try(counts, enoughRaised) {
				break
			}
		}
	}
	t.vms, t.parts = vms, parts
	for _, part := range best {
		if part != nil {
			heap.Push(&t.open, part)
		}
	}
	return bound > b.bound
}

// byRow makes the branches with at most, and with more than the whole part of what the linear program wants of a row. The
// least is the lower one of their bounds, or of b where the row is whole already.
func (t *tree) byRow(b *branch, counts []int64) (parts [2]*branch, least float64) {
	r := row{counts: counts}
	t.tilt(row{})
	t.relax()
	count := t.ideal(&r).count
	whole := math.Floor(count + countNoise)
	if count-whole < countNoise {
		return parts, b.bound
	}
	least = math.Inf(1)
	for k, side := range [2]int64{1, -1} {
		r.side, r.target = side, int64(whole)+int64(k)
		part := &branch{parent: b, class: theVMs, high: math.MaxInt64, row: r, bound: b.bound}
		if s := t.place(part); s != nil {
			part.bound = max(part.bound, t.value-t.gapOf(s)-s.slack)
			least = min(least, part.bound)
			parts[k] = part
		}
	}
	return parts, least
}

// placeRow finds the price of the row at which the linear program wants just the target; at is its answer where the row
// costs nothing. Two answers, one too far and one not, cost the same at one price. There is the next answer, until it
// costs no less than the two.
func (t *tree) placeRow(b *branch, at ideal) *Search {
	r := &b.row
	wanted := func(price float64) ideal {
		t.tilt(row{counts: r.counts, price: price})
		t.relax()
		return t.ideal(r)
	}
	price := r.price
	if price == 0 {
		price = float64(r.side) * t.guess(r.counts)
	}
	before, after := at, wanted(price)
	for range rowSteps { // longer and longer steps, until the price is high enough
		if r.over(after.count) <= 0 || t.done() {
			break
		}
		price *= 8
		before, after = after, wanted(price)
	}
	supply := t.begin().kink.Supply
	for range rowSteps {
		if r.over(after.count) >= 0 || t.done() {
			break
		}
		dearer, _ := t.dearer(&after, &before, supply)
		equal := float64(r.side) * max(0, dearer/math.Abs(before.count-after.count))
		x := wanted(equal)
		if dearer, noise := t.dearer(&x, &after, supply); dearer+equal*(x.count-after.count) >= -noise {
			price = equal
			break
		}
		if r.over(x.count) > 0 {
			before = x
		} else {
			price, after = equal, x
		}
	}
	wanted(price)
	r.price = price
	s := t.begin()
	if r.over(after.count) > 0 { // there is no such plan, or no time: the bound holds at any price
		t.mix(&after, &after, 0, s.kink.grid)
	} else {
		share := (after.count - float64(r.target)) / (after.count - before.count)
		t.mix(&after, &before, share, s.kink.grid)
		t.gather(&after, &before, r)
		jobs := slices.Clone(after.jobs)
		blend(t.Terrain, jobs, t.parts, r)
		t.stand(jobs)
		s = t.begin()
	}
	s.row, s.count = *r, r.count(t.standing())
	s.gap = s.kink.excess(s.base) + r.excess(s.count)
	return s
}

// gather moves the parts of jobs that lie between two answers together. Classes are ordered by what they count for their
// load. Those in the middle get all and the others nothing, such that load and count stay: two classes at most are broken.
func (t *tree) gather(a, b *ideal, r *row) {
	const few = 3
	if len(t.parts) <= few {
		return
	}
	parts := t.parts[:0]
	var spans []span
	whole, load, count := 0.0, 0.0, 0.0 // above the fewest jobs
	for _, p := range t.parts {
		x, y := a.of(p.class), b.of(p.class)
		s := span{class: p.class, low: min(x, y), gamma: t.PerJob(p.class)}
		s.load, s.count = math.Abs(x-y)*s.gamma, math.Abs(x-y)*float64(r.each(p.class))
		if s.load == 0 {
			parts = append(parts, p)
			continue
		}
		whole += s.load
		load += (p.jobs - s.low) * s.gamma
		count += (p.jobs - s.low) * float64(r.each(p.class))
		spans = append(spans, s)
	}
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(b.count*a.load, a.count*b.load), cmp.Compare(a.class, b.class))
	})
	from, to := 0.0, whole-load
	for range gatherSteps {
		middle, sum := (from+to)/2, 0.0
		for at, i := 0.0, 0; i < len(spans); i++ {
			sum += spans[i].share(at, middle, load) * spans[i].count
			at += spans[i].load
		}
		if sum > count {
			from = middle
		} else {
			to = middle
		}
	}
	at := 0.0
	for _, s := range spans {
		jobs := s.low + s.share(at, from, load)*s.load/s.gamma
		if whole := math.Round(jobs); math.Abs(jobs-whole) < countNoise {
			jobs = whole
		}
		parts = append(parts, part{s.class, jobs})
		at += s.load
	}
	t.parts = parts
}

// span holds what the jobs of a class between two answers take, all together.
type span struct {
	class       int
	low         float64 // the fewest jobs
	gamma       float64
	load, count float64
}

// share returns the share of a span beginning at a load that lies in the middle, which begins at another and is so long.
func (s *span) share(at, middle, long float64) float64 {
	return max(0, min(at+s.load, middle+long)-max(at, middle)) / s.load
}

// gatherSteps halve what is open of the place where the middle begins.
const gatherSteps = 50

// dearer returns what one answer of the linear program costs more than another, and the float error of that.
func (t *tree) dearer(a, b *ideal, s Supply) (cost, noise float64) {
	sum := 0.0
	for i, p := range t.penalties() {
		if a.jobs[i] != b.jobs[i] || a.more.class == i || b.more.class == i {
			less := p * (a.of(i) - b.of(i))
			cost -= less
			sum += math.Abs(less)
		}
	}
	perVM := float64(t.PerVM())
	vms := s.CostReal(a.load/perVM) - s.CostReal(b.load/perVM)
	return cost + vms, dearerNoise * (sum + math.Abs(vms))
}

const (
	// rowSteps bounds the steps to a row's price, first longer and longer ones, then those between two answers.
	rowSteps = 40
	// dearerNoise, relative, is the float error of what one answer costs more than another.
	dearerNoise = 1e-14
	// enoughRaised is the share of what is open that a row must close for no other to be tried.
	enoughRaised = 0.25
	// enoughRounded is that share for the rounded row, which is tried first.
	enoughRounded = 0.75
)

// guess is a first price of a row: little of what jobs are worth for each that they count.
func (t *tree) guess(counts []int64) float64 {
	sum, n := 0.0, 0
	for i, p := range t.penalties() {
		if counts[i] != 0 {
			sum += math.Abs(p / float64(counts[i]))
			n++
		}
	}
	return sum / float64(max(1, n)) / 64
}

const (
	// votersMost bounds the classes whose penalties propose rows.
	votersMost = 64
	// rowMost bounds what a job may count.
	rowMost = 64
	// rowsMost bounds the rows proposed.
	rowsMost = 3
	// countMost bounds what all jobs count, which states add up in 32 bits.
	countMost = 1 << 30
	// onLine is the relative distance from a line that a penalty may have.
	onLine = 1e-9
)

// rows proposes counts, from the classes that may still move. Their penalties lie on lines p = a·gamma + b·count with
// whole counts, and voting finds the slope a; at last every job counts as one. Any row of whole numbers is allowed, so a
// bad proposal costs time only.
func rows(f Terrain, voters []lead) [][]int64 {
	penalty := f.penalties()
	var slopes []float64
	for x, a := range voters {
		for _, b := range voters[:x] {
			if run := f.PerJob(a.class) - f.PerJob(b.class); run != 0 {
				slopes = append(slopes, (penalty[a.class]-penalty[b.class])/run)
			}
		}
	}
	slices.Sort(slopes)
	type line struct {
		slope float64
		votes int
	}
	var lines []line
	for from := 0; from < len(slopes); {
		to := from + 1
		for to < len(slopes) && slopes[to]-slopes[to-1] <= onLine*math.Max(1, math.Abs(slopes[to])) {
			to++
		}
		if to-from >= 3 { // three pairs are three classes at least
			lines = append(lines, line{slopes[(from+to)/2], to - from})
		}
		from = to
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.votes, a.votes) })
	var list [][]int64
	for _, l := range lines[:min(len(lines), rowsMost)] {
		if counts := onLattice(f, l.slope, voters); counts != nil {
			list = append(list, counts)
		}
	}
	return append(list, onePerJob(f))
}

// rounded counts what a job takes in jobs of the class that the linear program breaks. It is rounded as in a mixed-integer
// rounding cut, seen from the jobs at the point: down where the rest is at most the broken part, else up. It is nil if no
// class is broken.
func rounded(f Terrain) []int64 {
	broken, jobs, _, found := f.broken()
	if !found {
		return nil
	}
	part := jobs - math.Floor(jobs)
	low, high := f.limits()
	counts, all := make([]int64, f.count()), 0.0
	for i, h := range f.standing() {
		ratio := f.PerJob(i) / f.PerJob(broken)
		if all += ratio * float64(high[i]); all > countMost {
			return nil
		}
		down := math.Floor(ratio)
		rest := ratio - down
		full := h == high[i] && h > low[i]
		if full {
			rest = 1 - rest // of a job less
		}
		if counts[i] = int64(down); rest > 0 && rest < 1 && (rest > part) != full {
			counts[i]++
		}
	}
	counts[broken] = 1
	return counts
}

// onePerJob counts jobs.
func onePerJob(f Terrain) []int64 {
	counts := make([]int64, f.count())
	for i := range counts {
		if f.PerJob(i) > 0 {
			counts[i] = 1
		}
	}
	return counts
}

// onLattice returns the rest of penalties above a slope, in the largest unit of which the voters have whole numbers.
// Classes that are no small whole number of it count nothing. It is nil if nothing is left.
func onLattice(f Terrain, slope float64, voters []lead) []int64 {
	penalty := f.penalties()
	rest := func(i int) (left, noise float64) {
		return penalty[i] - slope*f.PerJob(i), onLine * math.Max(math.Abs(penalty[i]), math.Abs(slope*f.PerJob(i)))
	}
	// Voters that stand alone have no say: what is left must be the same for two at least.
	var common []float64
	lefts := make([]float64, 0, len(voters))
	noise := 0.0
	for _, v := range voters {
		left, n := rest(v.class)
		lefts, noise = append(lefts, math.Abs(left)), max(noise, n)
	}
	slices.Sort(lefts)
	for k := 1; k < len(lefts); k++ {
		if last := len(common) - 1; lefts[k]-lefts[k-1] <= 4*noise && (last < 0 || lefts[k]-common[last] > 4*noise) {
			common = append(common, lefts[k])
		}
	}
	unit := 0.0
	for _, x := range common {
		for unit, x = x, unit; x > 8*noise; {
			unit, x = x, math.Mod(unit, x)
			if unit-x <= 8*noise {
				x = 0
			}
		}
	}
	if unit <= 16*noise {
		return nil
	}
	counts, any := make([]int64, f.count()), false
	for i := range counts {
		left, noise := rest(i)
		n := math.Round(left / unit)
		if f.PerJob(i) > 0 && math.Abs(n) <= rowMost && math.Abs(left-n*unit) <= 64*noise {
			counts[i] = int64(n)
			any = any || n != 0
		}
	}
	if !any {
		return nil
	}
	return counts
}

// blend rounds the linear program's parts of jobs, the heaviest class first, so that what is rounded away of
// the load and of the row's count adds up to little.
func blend(f Terrain, jobs []int64, parts []part, r *row) {
	heaviest := slices.Clone(parts)
	slices.SortFunc(heaviest, func(a, b part) int {
		return cmp.Or(cmp.Compare(f.PerJob(b.class), f.PerJob(a.class)), cmp.Compare(a.class, b.class))
	})
	load, count := 0.0, 0.0 // what the jobs have too much
	for _, p := range heaviest {
		down := math.Floor(p.jobs)
		up := down
		if p.jobs > down {
			up++
		}
		gamma, each := f.PerJob(p.class), float64(r.each(p.class))
		score := func(h float64) float64 {
			l, c := (load+(h-p.jobs)*gamma)/gamma, (count+(h-p.jobs)*each)/max(1, math.Abs(each))
			return l*l + c*c
		}
		h := down
		if score(up) < score(down) {
			h = up
		}
		load += (h - p.jobs) * gamma
		count += (h - p.jobs) * each
		jobs[p.class] = int64(h)
	}
}
