package pack

import (
	"example.org/headroom/internal/core/perf"
)

// A phase fits a time when its jobs can be made plain, hosts and guests so that
//
//	plain VMs + host VMs ≤ N   and   extra VMs ≤ (P − ⌈plain VMs / k⌉) · G,
//
// because hosts then take every disk that the plain VMs leave. Hosts and guests trade against each other in whole
// numbers only, so lists of undominated choices decide.

// choice makes some jobs hosts, or guests. It holds the VMs they take beyond those of plain jobs (for hosts), or on
// extra VMs (for guests), and the plain VMs they give back.
type choice struct{ take, save int32 }

// fitter decides whether phases fit. It owns its memory, so each search needs one of its own.
type fitter struct {
	*batch
	*ladder
	hosts, guests choices
	effort        int // number of questions, as a measure of work
}

func newFitter(b *batch, l *ladder) *fitter { return &fitter{batch: b, ladder: l} }

// shortest returns the lowest rung, from low on, that the jobs fit, or never.
func (f *fitter) shortest(c contents, low int) int {
	rung := lowest(low, f.never(), func(rung int) bool { return f.plainFit(c, rung) })
	if !f.mixed(c) || rung == low || !f.rolesFit(c, rung-1) {
		return rung
	}
	// Roles help: stride down from the rung that plain jobs fit.
	fits := rung - 1
	for step := 1; fits > low; step *= 2 {
		at := max(low, fits-step)
		if !f.rolesFit(c, at) {
			return lowest(at+1, fits, func(rung int) bool { return f.rolesFit(c, rung) })
		}
		fits = at
	}
	return fits
}

// lowest returns the first number from low on, below never, that satisfies holds, or never if none does. holds must
// be true for all numbers above a true one. Answers near low need few questions.
func lowest(low, never int, holds func(int) bool) int {
	high := low
	for step := 1; high < never && !holds(high); step *= 2 {
		low = high + 1
		high += step
	}
	for high = min(high, never); low < high; {
		if middle := low + (high-low)/2; holds(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return high
}

// plainFit reports whether the jobs fit, all of them plain.
func (f *fitter) plainFit(c contents, rung int) bool {
	f.effort += len(c)
	plain, _ := f.at(rung)
	vms := 0
	for _, s := range c {
		vms += s.count * int(plain[s.kind])
	}
	return vms <= f.vms
}

// mixed reports whether roles could help at all.
func (f *fitter) mixed(c contents) bool {
	var host, guest bool
	for _, s := range c {
		host = host || f.kinds[s.kind].role == perf.HostRole
		guest = guest || f.kinds[s.kind].role == perf.GuestRole
	}
	return host && guest
}

// rolesFit reports whether the jobs fit with at least one host and one guest.
func (f *fitter) rolesFit(c contents, rung int) bool {
	if len(c) >= manyJobs {
		if fits, known := f.quick(c, rung); known || len(c)*f.vms > maxExactFit {
			return fits
		}
	}
	_, _, fits := f.roles(c, rung)
	return fits
}

// roles chooses hosts and guests: an entry in the last list of each.
func (f *fitter) roles(c contents, rung int) (host, guest choice, fits bool) {
	plain, special := f.at(rung)
	base := 0 // plain VMs, if all were plain
	f.hosts.reset()
	f.guests.reset()
	for _, s := range c {
		p, q := plain[s.kind], special[s.kind]
		if p == impossible {
			return host, guest, false // then no role helps
		}
		base += s.count * int(p)
		if q == impossible {
			continue
		}
		for range s.count {
			switch f.kinds[s.kind].role {
			case perf.HostRole:
				f.hosts.add(s.kind, int32(q-p), int32(p), int32(f.vms))
			case perf.GuestRole:
				f.guests.add(s.kind, int32(q), int32(p), int32(f.extras))
			}
		}
	}
	f.effort += f.hosts.looked + f.guests.looked
	hosts := f.hosts.last()
	at := -1
	for _, guest := range f.guests.last()[1:] { // the first one is empty
		room := f.vms - base + int(guest.save)
		for at+1 < len(hosts) && int(hosts[at+1].take) <= room {
			at++
		}
		if at < 0 || hosts[at].save == 0 {
			continue
		}
		left := base - int(guest.save) - int(hosts[at].save)
		if int(guest.take) <= (f.machines-ceilDiv(left, f.disks))*f.perMachine {
			return hosts[at], guest, true
		}
	}
	return host, guest, false
}

// choices lists the undominated choices among the jobs added so far, ascending by take: each saves more than the one
// before. The lists before each job are kept, to recover the jobs of a choice.
type choices struct {
	stages [][]choice
	jobs   []int // the kind of the job that each stage but the first added
	depth  int
	looked int // entries made, as a measure of work
}

func (s *choices) reset() {
	s.depth, s.jobs, s.looked = 1, s.jobs[:0], 1
	if len(s.stages) == 0 {
		s.stages = append(s.stages, []choice{{}})
	}
}

func (s *choices) last() []choice { return s.stages[s.depth-1] }

// add allows one more job to be chosen.
func (s *choices) add(kind int, take, save, limit int32) {
	if s.depth == len(s.stages) {
		s.stages = append(s.stages, nil)
	}
	without, merged := s.stages[s.depth-1], s.stages[s.depth][:0]
	best := int32(-1)
	keep := func(c choice) {
		if c.save > best {
			merged, best = append(merged, c), c.save
		}
	}
	i := 0
	for _, c := range without {
		with := choice{c.take + take, c.save + save}
		if with.take > limit {
			break
		}
		for ; i < len(without) && (without[i].take < with.take || without[i].take == with.take && without[i].save >= with.save); i++ {
			keep(without[i])
		}
		keep(with)
	}
	for ; i < len(without); i++ {
		keep(without[i])
	}
	s.stages[s.depth] = merged
	s.looked += len(merged)
	s.jobs = append(s.jobs, kind)
	s.depth++
}

// chosen returns the number of jobs of each kind in a choice of the last list.
func (s *choices) chosen(c choice, take, save func(kind int) int32) map[int]int {
	of := map[int]int{}
	for stage := s.depth - 1; stage > 0; stage-- {
		before := s.stages[stage-1]
		if containsChoice(before, c) {
			continue
		}
		kind := s.jobs[stage-1]
		of[kind]++
		c = choice{c.take - take(kind), c.save - save(kind)}
	}
	return of
}

func containsChoice(list []choice, c choice) bool {
	for _, has := range list {
		if has == c {
			return true
		}
	}
	return false
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
