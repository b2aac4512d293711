package plan

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/plan/integer"
)

// A class's choice in a fleet is a mix: the number of its jobs on each type. For any prices of capacity its worth is
// the price of the mix's loads less the penalties it avoids. The worth of the cheapest mix is found exactly, by adding
// type after type over the numbers of jobs that can still matter. Whole slots round up, so a job costs at least its
// gamma. So a mix that strays from the cheapest type, or from all or none of the jobs, by more than rounding can repay
// is never cheapest.

// limits is the mixes of a class that one part of the search tree may still choose from; nil: all.
type limits struct {
	low, high int64   // jobs in all
	from, to  []int64 // on each type
}

// pricing holds the prices with which mixes are weighed.
type pricing struct {
	nu       []float64 // of a VM of each type
	penalty  float64   // of a job refused
	boundary *limits
}

// mixScratch is room that is used again and again.
type mixScratch struct {
	jobs         []int64
	order        []int
	slope        []float64
	from, to     []int64
	value, after []float64
	pick         [][]int64
}

// mixesTried bounds the pairs of job counts that are tried for one class; where there are more, the
// straight line bounds the worth of those left out.
const mixesTried = 1 << 17

// worthOn returns the worth of so many jobs of a class on a type.
func (f *fleet) worthOn(i, v int, jobs int64, nu float64) float64 {
	if jobs == 0 || nu == 0 {
		return 0
	}
	t := &f.types[v]
	tried := &t.classes[i].shape.tried
	before := *tried
	units := t.loads.Units(i, jobs)
	f.work += *tried - before
	return nu * float64(units) / float64(t.loads.Grid.PerVM)
}

// window is the mixes of a class that can be worth at most a limit, seen from the straight line.
type window struct {
	order     []int // of types, the cheapest line first
	slope     []float64
	from, to  []int64 // jobs on each of the order
	low, high int64   // jobs in all
	net       float64 // of one job more on the cheapest line
	line      float64 // no mix is worth less
	all       bool    // nothing was left out but what exceeds the limit
}

// window prepares the search of a class's mixes up to a worth of beyond above the best single type's.
func (f *fleet) window(i int, p pricing, beyond float64) window {
	s := &f.mixScratch
	w := window{order: append(s.order[:0], f.on[i]...), slope: s.slope[:0], from: s.from[:0], to: s.to[:0], low: f.low[i], high: f.high[i], all: true}
	slope := func(v int) float64 { return p.nu[v] * f.types[v].classes[i].gamma * (1 - integer.LineNoise) }
	slices.SortStableFunc(w.order, func(a, b int) int {
		switch x, y := slope(a), slope(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	noise := 1e-13 * p.penalty * float64(f.high[i])
	for _, v := range w.order {
		w.slope = append(w.slope, slope(v))
		w.from, w.to = append(w.from, 0), append(w.to, f.high[i])
		noise += p.nu[v] * integer.LoadNoise
	}
	defer func() { s.order, s.slope, s.from, s.to = w.order, w.slope, w.from, w.to }()
	if len(w.order) == 0 {
		return w
	}
	if b := p.boundary; b != nil {
		w.low, w.high = b.low, b.high
		for k, v := range w.order {
			w.from[k], w.to[k] = b.from[v], b.to[v]
		}
		w.line = math.Inf(-1)
		return w
	}
	net := w.slope[0] - p.penalty
	w.net = net
	end := w.low
	if net < 0 {
		end = w.high
	}
	least := math.Inf(1)
	for _, v := range w.order {
		least = min(least, f.worthOn(i, v, end, p.nu[v])-p.penalty*float64(end))
	}
	w.line = net*float64(end) - noise
	slack := max(0, least-w.line)*(1+1e-9) + beyond
	if span := slack / math.Abs(net); span < float64(w.high-w.low) {
		w.low, w.high = max(w.low, end-int64(span)), min(w.high, end+int64(span))
	}
	for k := 1; k < len(w.order); k++ {
		switch more := slack / (w.slope[k] - w.slope[0]); {
		case f.linear[i] && beyond == 0:
			w.to[k] = 0
		case more < float64(w.to[k]):
			w.to[k] = int64(more)
		}
	}
	return w
}

// shrink leaves out mixes until the others can all be tried.
func (w *window) shrink() {
	for {
		others := int64(0)
		for _, to := range w.to[1:] {
			others += to
		}
		tried := (w.high - w.low + 1) * (min(others, w.high) + 1)
		for _, to := range w.to[1:] {
			tried += (to + 1) * min(others, w.high)
		}
		if tried <= mixesTried {
			return
		}
		w.all = false
		for k := 1; k < len(w.to); k++ {
			w.to[k] /= 2
		}
		if half := (w.high - w.low) / 2; w.net < 0 {
			w.low = w.high - half
		} else {
			w.high = w.low + half
		}
	}
}

// cheapest is the class's mix that is worth least, valid until the next call; its worth; and what no
// mix is worth less than. False if the limits leave no mix.
func (f *fleet) cheapest(i int, p pricing) (jobs []int64, worth, least float64, ok bool) {
	if f.linear[i] {
		jobs, worth, ok = f.cheapestLinear(i, p)
		return jobs, worth, worth, ok
	}
	s := &f.mixScratch
	s.jobs = append(s.jobs[:0], make([]int64, len(f.types))...)
	w := f.window(i, p, 0)
	if len(w.order) == 0 {
		return s.jobs, 0, 0, true
	}
	if f.ended() {
		return f.alongLine(i, p, &w)
	}
	if p.boundary == nil {
		w.shrink()
	}
	stop := f.work + listWork
	if jobs, worth, ok = f.cheapestIn(i, p, &w, stop); f.work > stop {
		return f.alongLine(i, p, &w)
	}
	if !ok {
		return nil, 0, 0, false
	}
	if least = worth; !w.all {
		least = min(worth, w.line)
	}
	return jobs, worth, least, true
}

// cheapestLinear is cheapest for a class whose jobs cost the same each: as many as may be on the cheapest types first.
func (f *fleet) cheapestLinear(i int, p pricing) (jobs []int64, worth float64, ok bool) {
	s := &f.mixScratch
	for len(s.jobs) < len(f.types) {
		s.jobs = append(s.jobs, 0)
	}
	clear(s.jobs)
	on := f.on[i]
	f.work += 1 + len(on)/2
	s.order, s.slope = s.order[:0], s.slope[:0]
	total, low, high := int64(0), f.low[i], f.high[i]
	if p.boundary != nil {
		low, high = p.boundary.low, p.boundary.high
	}
	for _, v := range on {
		g := &f.types[v].loads.Grid
		each := p.nu[v] * float64(f.types[v].loads.Units(i, 1)) / float64(g.PerVM)
		if p.boundary != nil {
			s.jobs[v] = p.boundary.from[v]
			total += s.jobs[v]
			worth += each * float64(s.jobs[v])
		}
		at := len(s.slope)
		s.order, s.slope = append(s.order, v), append(s.slope, each)
		for ; at > 0 && s.slope[at-1] > each; at-- {
			s.order[at], s.slope[at] = s.order[at-1], s.slope[at-1]
		}
		s.order[at], s.slope[at] = v, each
	}
	for k, v := range s.order {
		most := high
		if p.boundary != nil {
			most = p.boundary.to[v]
		}
		room := low - total
		if s.slope[k] < p.penalty {
			room = high - total
		}
		if more := min(room, most-s.jobs[v]); more > 0 {
			s.jobs[v] += more
			total += more
			worth += s.slope[k] * float64(more)
		}
		if room <= 0 {
			break
		}
	}
	return s.jobs, worth - p.penalty*float64(total), len(on) == 0 || total >= low && total <= high
}

// alongLine is the mix in a window that the straight lines make cheapest, and what they say it is worth at
// least: for classes whose mixes are too many to be tried.
func (f *fleet) alongLine(i int, p pricing, w *window) (jobs []int64, worth, least float64, ok bool) {
	s := &f.mixScratch
	clear(s.jobs)
	total := int64(0)
	for k, v := range w.order {
		s.jobs[v] = w.from[k]
		total += w.from[k]
	}
	noise := 1e-13 * p.penalty * float64(f.high[i])
	for k, v := range w.order {
		room := w.low - total // the cheapest lines first
		if w.slope[k] < p.penalty {
			room = w.high - total
		}
		more := max(0, min(room, w.to[k]-w.from[k]))
		s.jobs[v] += more
		total += more
		worth += f.worthOn(i, v, s.jobs[v], p.nu[v])
		least += w.slope[k] * float64(s.jobs[v])
		noise += p.nu[v] * integer.LoadNoise
	}
	avoided := p.penalty * float64(total)
	return s.jobs, worth - avoided, min(worth, least) - avoided - noise, total >= w.low && total <= w.high
}

// cheapestIn is the mix in a window that is worth least; what it answers counts for nothing once the work
// exceeds stop.
func (f *fleet) cheapestIn(i int, p pricing, w *window, stop int) (jobs []int64, worth float64, ok bool) {
	s := &f.mixScratch
	clear(s.jobs)
	f.work += 10 * len(w.order)
	// value[k] is the least worth of k jobs on the types after the first.
	s.value = append(s.value[:0], 0)
	for len(s.pick) < len(w.order) {
		s.pick = append(s.pick, nil)
	}
	for k := len(w.order) - 1; k > 0; k-- {
		v := w.order[k]
		size := min(int64(len(s.value))-1+w.to[k], w.high)
		s.after = s.after[:0]
		s.pick[k] = s.pick[k][:0]
		for range size + 1 {
			s.after = append(s.after, math.Inf(1))
			s.pick[k] = append(s.pick[k], 0)
		}
		for h := w.from[k]; h <= min(w.to[k], size) && f.work <= stop; h++ {
			own := f.worthOn(i, v, h, p.nu[v])
			f.work += 1 + len(s.value)/8
			for rest, x := range s.value {
				if at := int64(rest) + h; at <= size && x+own < s.after[at] {
					s.after[at], s.pick[k][at] = x+own, h
				}
			}
		}
		s.value, s.after = s.after, s.value
	}
	worth = math.Inf(1)
	if f.work > stop {
		return nil, 0, false
	}
	first, total, others := w.order[0], int64(0), int64(0)
	for h := w.from[0]; h <= min(w.to[0], w.high) && f.work <= stop; h++ {
		if h+int64(len(s.value))-1 < w.low {
			h = w.low - int64(len(s.value)) // the next that can be enough
			continue
		}
		own := f.worthOn(i, first, h, p.nu[first])
		for k := max(0, w.low-h); k < int64(len(s.value)) && h+k <= w.high; k++ {
			if x := s.value[k] + own - p.penalty*float64(h+k); x < worth {
				worth, total, others = x, h+k, k
			}
		}
	}
	if math.IsInf(worth, 1) {
		return nil, 0, false
	}
	s.jobs[first] = total - others
	for k := 1; k < len(w.order); k++ {
		h := s.pick[k][others]
		s.jobs[w.order[k]] = h
		others -= h
	}
	return s.jobs, worth, true
}

// alternative is a mix and what it is worth above the cheapest one.
type alternative struct {
	jobs  []int64
	loads []int64
	total int64
	extra float64
}

// triesMost bounds the mixes of a class that are looked at to list the alternatives.
const triesMost = 20_000

// listWork bounds the work of listing a class's alternatives, of which there are few where every number of
// jobs has millions of slots.
const listWork = 2_000_000

// alternatives lists the mixes that are worth less than below more than least, the cheapest first, at
// most so many, and says whether these are all.
func (f *fleet) alternatives(i int, p pricing, least, below float64, most int) ([]alternative, bool) {
	w := f.window(i, p, below)
	w = window{slices.Clone(w.order), slices.Clone(w.slope), slices.Clone(w.from), slices.Clone(w.to), w.low, w.high, w.net, w.line, w.all}
	if len(w.order) == 0 {
		return []alternative{{jobs: make([]int64, len(f.types)), loads: make([]int64, len(f.types))}}, true
	}
	var list []alternative
	limit, all := least+below, true
	jobs := make([]int64, len(f.types))
	tries, stop := 0, f.work+listWork
	cut := false
	ended := func() bool {
		cut = cut || tries >= triesMost || f.work > stop || f.ended()
		return cut
	}
	net := w.slope[0] - p.penalty
	end := w.low
	if net < 0 {
		end = w.high
	}
	line := net * float64(end) // for any excess of the other types
	noise := 0.0
	for _, v := range w.order {
		noise += p.nu[v]*integer.LoadNoise + 1e-13*p.penalty*float64(f.high[i])
	}
	var visit func(k int, total int64, worth, excess float64)
	visit = func(k int, total int64, worth, excess float64) {
		if ended() {
			return
		}
		v := w.order[k]
		if k == 0 {
			// From the end that is cheaper on, for as long as the line allows.
			h, step := max(w.from[0], w.low-total), int64(1)
			if net < 0 {
				h, step = min(w.to[0], w.high-total), -1
			}
			for ; h >= max(w.from[0], w.low-total) && h <= min(w.to[0], w.high-total); h += step {
				if excess+net*float64(total+h)-noise >= limit || ended() {
					break
				}
				tries++
				jobs[v] = h
				if x := worth + f.worthOn(i, v, h, p.nu[v]) - p.penalty*float64(total+h); x < limit {
					if list = append(list, alternative{jobs: slices.Clone(jobs), total: total + h, extra: max(0, x-least)}); len(list) == 2*most {
						list, all = cheapestOf(list, most), false
						limit = least + list[most-1].extra
					}
				}
			}
			jobs[v] = 0
			return
		}
		for h := w.from[k]; h <= min(w.to[k], w.high-total) && !ended(); h++ {
			own := f.worthOn(i, v, h, p.nu[v])
			above := excess + own - w.slope[0]*float64(h)
			if excess+(w.slope[k]-w.slope[0])*float64(h)+line-noise >= limit {
				break
			}
			tries++
			if above+line-noise >= limit {
				continue
			}
			jobs[v] = h
			visit(k-1, total+h, worth+own, above)
		}
		jobs[v] = 0
	}
	visit(len(w.order)-1, 0, 0, 0)
	f.work += 20 * tries
	all = all && !cut && len(list) <= most
	list = cheapestOf(list, most)
	for k := range list {
		list[k].loads = f.loadsOf(i, list[k].jobs)
	}
	return list, all
}

// cheapestOf is at most so many of the alternatives, in order.
func cheapestOf(list []alternative, most int) []alternative {
	slices.SortStableFunc(list, func(a, b alternative) int { return cmp.Compare(a.extra, b.extra) })
	return list[:min(len(list), most)]
}

// loadsOf is the load of a mix on each type, in units of the type's grid.
func (f *fleet) loadsOf(i int, jobs []int64) []int64 {
	loads := make([]int64, len(jobs))
	for v, h := range jobs {
		if h > 0 {
			loads[v] = f.types[v].loads.Units(i, h)
		}
	}
	return loads
}
