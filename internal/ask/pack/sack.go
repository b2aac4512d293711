package pack

import (
	"cmp"
	"math"
	"slices"

	"example.org/headroom/internal/core/perf"
)

// The jobs of a phase that are worth most by their prices. Disks and extra VMs get prices, too. Jobs that fit are
// worth no more than two sums together: the cost of all disks and extra VMs, and the gains of jobs beyond their own
// cost. A search for jobs then closes most of the gap.

const (
	// shareSteps is the number of steps of the search for the share of extra VMs in all prices.
	shareSteps = 14
	// rounding covers the rounding errors of sums of worths, as a share.
	rounding = 1e-11
)

// way is a role in which a job may run, with its VMs, and their shares of all disks and of all extra VMs.
type way struct {
	role         perf.JobRole
	vms          int
	disks, extra float64
}

// offer is a kind of job that may run.
type offer struct {
	kind, count int
	price       float64
	ways        []way
	weight      float64 // what a job costs at least, by the last prices
	worth       float64 // price for weight
}

// sack chooses the jobs that are worth most, for one rung after another. It owns its memory.
type sack struct {
	*fitter
	mixed   bool  // hosts and guests can help each other
	left    []int // jobs of each kind
	choices int   // bounds the choices of a search

	offers   []offer
	ways     []way
	order    []int32 // of the offers, that with the highest worth first
	last     []int   // kinds, in the order of the rung before
	share    float64 // of extra VMs in all prices
	allDisks float64 // price of all disks
	allExtra float64 // price of all extra VMs
	search
}

func newSack(f *fitter, left []int) *sack {
	var hosts, guests bool
	for i := range f.kinds {
		hosts = hosts || left[i] > 0 && f.kinds[i].role == perf.HostRole
		guests = guests || left[i] > 0 && f.kinds[i].role == perf.GuestRole
	}
	s := &sack{fitter: f, left: left, mixed: f.extras > 0 && hosts && guests}
	for i, n := range left {
		if n > 0 {
			s.last = append(s.last, i)
		}
	}
	return s
}

// worth returns the most that jobs that fit a rung together can be worth, and the best jobs that were found. It looks
// only for jobs that are worth more than enough, and returns enough where there are none.
func (s *sack) worth(prices []float64, rung int, enough float64) (float64, contents) {
	s.offer(prices, rung)
	s.effort += len(s.offers)
	if len(s.offers) == 0 {
		return 0, nil
	}
	if most := s.bound(enough) * (1 + rounding); most > enough {
		return s.find(enough, most)
	}
	return enough, nil
}

// offer lists the kinds of jobs that may run in a rung.
func (s *sack) offer(prices []float64, rung int) {
	plain, special := s.at(rung)
	s.offers, s.ways, s.order = s.offers[:0], s.ways[:0], s.order[:0]
	disk, extra, beside := 1/float64(s.vms), 0.0, 0.0
	if s.mixed {
		extra = 1 / float64(s.extras)
		beside = float64(s.perMachine) / float64(s.disks) * extra // a machine of plain VMs carries no extra VMs
	}
	for _, i := range s.last {
		if prices[i] <= 0 || plain[i] == impossible {
			continue
		}
		from := len(s.ways)
		n := float64(plain[i])
		s.ways = append(s.ways, way{perf.PlainRole, int(plain[i]), n * disk, n * beside})
		if s.mixed && special[i] != impossible {
			switch n := float64(special[i]); s.kinds[i].role {
			case perf.HostRole:
				s.ways = append(s.ways, way{perf.HostRole, int(special[i]), n * disk, 0})
			case perf.GuestRole:
				s.ways = append(s.ways, way{perf.GuestRole, int(special[i]), 0, n * extra})
			}
		}
		s.order = append(s.order, int32(len(s.offers)))
		s.offers = append(s.offers, offer{kind: i, count: s.left[i], price: prices[i], ways: s.ways[from:len(s.ways):len(s.ways)]})
	}
}

// bound looks for the prices of disks and extra VMs that bound the jobs' worth best, and returns that bound. One up to
// enough need not be the best.
func (s *sack) bound(enough float64) (most float64) {
	good := func(most float64) bool { return most*(1+rounding) <= enough }
	value := func(share float64) float64 {
		most, _ := s.fill(share)
		return most
	}
	switch {
	case !s.mixed:
		s.share = 0
	case !good(value(s.share)): // the last one is not good enough again
		s.share = golden(value, shareSteps, good) // the bound first falls, then rises
	}
	most, all := s.fill(s.share)
	s.remember()
	s.allDisks, s.allExtra = (1-s.share)*all, s.share*all
	return most
}

// remember keeps the order of the kinds, so that the next rung's is nearly right.
func (s *sack) remember() {
	offered := make([]bool, len(s.kinds))
	now := make([]int, 0, len(s.last))
	for _, i := range s.order {
		now = append(now, s.offers[i].kind)
		offered[s.offers[i].kind] = true
	}
	for _, i := range s.last {
		if !offered[i] {
			now = append(now, i)
		}
	}
	s.last = now
}

// fill returns the bound for a share of extra VMs in all prices, and the best sum of these. Weights that count disks
// and extra VMs by these shares add up to 1 at most. So jobs are taken by price for weight until the last fits only
// in part.
func (s *sack) fill(share float64) (most, all float64) {
	for i := range s.offers {
		o := &s.offers[i]
		o.weight = math.Inf(1)
		for _, w := range o.ways {
			o.weight = min(o.weight, (1-share)*w.disks+share*w.extra)
		}
		o.worth = o.price / max(o.weight, math.SmallestNonzeroFloat64)
	}
	// The order of the share before is nearly right, so that inserting is quicker than sorting.
	for n := 1; n < len(s.order); n++ {
		i, at := s.order[n], n
		for ; at > 0 && s.offers[s.order[at-1]].worth < s.offers[i].worth; at-- {
			s.order[at] = s.order[at-1]
		}
		s.order[at] = i
	}
	room := 1.0
	for _, i := range s.order {
		o := &s.offers[i]
		taken := o.weight * float64(o.count)
		if taken >= room {
			return most + o.worth*room, o.worth
		}
		most += o.price * float64(o.count)
		room -= taken
	}
	return most, 0
}

// search is the state of a search for jobs.
type search struct {
	jobs    []*offer  // one for each job
	weights []float64 // of the jobs before
	prices  []float64 // of the jobs before
	gains   []float64 // of the jobs from one on, beyond their cost
	budget  int
	best    float64
	chosen  []int8 // 0: not, otherwise the way
	found   []int8
}

// find looks for jobs that are worth more than enough, and returns the most that any can be worth.
func (s *sack) find(enough, most float64) (float64, contents) {
	s.jobs, s.weights, s.prices = s.jobs[:0], append(s.weights[:0], 0), append(s.prices[:0], 0)
	for _, i := range s.order {
		o := &s.offers[i]
		slices.SortStableFunc(o.ways, func(x, y way) int { return cmp.Compare(s.cost(&x), s.cost(&y)) })
		for range o.count {
			n := len(s.jobs)
			s.jobs = append(s.jobs, o)
			s.weights = append(s.weights, s.weights[n]+o.weight)
			s.prices = append(s.prices, s.prices[n]+o.price)
		}
	}
	n := len(s.jobs)
	s.gains = slices.Grow(s.gains[:0], n+1)[:n+1]
	s.gains[n] = 0
	for i := n - 1; i >= 0; i-- {
		s.gains[i] = s.gains[i+1] + max(0, s.jobs[i].price-(s.allDisks+s.allExtra)*s.jobs[i].weight)
	}
	s.chosen = slices.Grow(s.chosen[:0], n)[:n]
	clear(s.chosen)
	s.found = s.found[:0]
	s.best, s.budget = enough, s.choices
	s.choose(0, taken{}, 1, 1, 0)
	s.effort += s.choices - max(0, s.budget)
	var c contents
	for i, way := range s.found {
		if way > 0 {
			c = append(c, some{s.jobs[i].kind, 1})
		}
	}
	if s.budget > 0 {
		most = min(most, s.best*(1+rounding))
	}
	return most, gathered(c)
}

// taken counts the VMs of chosen jobs.
type taken struct{ plain, hosts, extras int }

func (t taken) with(w *way) taken {
	switch w.role {
	case perf.HostRole:
		t.hosts += w.vms
	case perf.GuestRole:
		t.extras += w.vms
	default:
		t.plain += w.vms
	}
	return t
}

// fits reports whether the VMs fit; hosts then take every disk that plain VMs leave.
func (b *batch) fits(t taken) bool {
	return t.plain+t.hosts <= b.vms && (t.extras == 0 || t.extras <= (b.machines-ceilDiv(t.plain, b.disks))*b.perMachine)
}

func (s *sack) cost(w *way) float64 { return s.allDisks*w.disks + s.allExtra*w.extra }

// choose decides about the jobs from the i-th on, after others of a value that leave some disks and extra VMs.
func (s *sack) choose(i int, t taken, disks, extra, value float64) {
	for ; i < len(s.jobs); i++ {
		left := s.allDisks*disks + s.allExtra*extra
		s.budget--
		if s.budget < 0 || value+left+s.gains[i] <= s.best || value+s.upTo(i, (1-s.share)*disks+s.share*extra) <= s.best {
			return
		}
		o := s.jobs[i]
		for k := range o.ways {
			w := &o.ways[k]
			with := t.with(w)
			if !s.fits(with) || value+left+o.price-s.cost(w)+s.gains[i+1] <= s.best {
				continue
			}
			s.chosen[i] = int8(k + 1)
			s.choose(i+1, with, disks-w.disks, extra-w.extra, value+o.price)
			s.chosen[i] = 0
		}
	}
	if value > s.best {
		s.best = value
		s.found = append(s.found[:0], s.chosen...)
	}
}

// upTo returns the most that jobs from the i-th on are worth in a room, of which the last may be a part.
func (s *sack) upTo(i int, room float64) float64 {
	room += s.weights[i]
	at, _ := slices.BinarySearch(s.weights[i:], room)
	switch at += i; at {
	case i:
		return 0
	case len(s.weights):
		return s.prices[at-1] - s.prices[i]
	}
	part := (room - s.weights[at-1]) / (s.weights[at] - s.weights[at-1])
	return s.prices[at-1] - s.prices[i] + part*(s.prices[at]-s.prices[at-1])
}

// gathered adds up the jobs of each kind.
func gathered(c contents) (sum contents) {
	slices.SortStableFunc(c, func(x, y some) int { return x.kind - y.kind })
	for _, x := range c {
		if n := len(sum); n > 0 && sum[n-1].kind == x.kind {
			sum[n-1].count += x.count
		} else {
			sum = append(sum, x)
		}
	}
	return sum
}
