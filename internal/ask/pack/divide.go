package pack

import (
	"context"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/perf"
)

// Two phases divided anew: the longer one takes the jobs that would need most in the shorter one. That moves many
// jobs at once, where the moves of single ones find nothing.

const (
	// divisions is the number of lengths of the longer phase that are tried.
	divisions = 14
	// divisionChoices bounds the choices of one of them.
	divisionChoices = 300
	// unwanted is the part of all machines that a job counts as taking where it cannot run: more than there are.
	unwanted = 10
)

// extraShares lists the shares of extra VMs in what a job takes of a phase.
var extraShares = []float64{0.25, 0.5, 0.75}

// redivide divides every two phases anew, and single ones in two, until none gets shorter.
func (s *seen) redivide(ctx context.Context, d *division, work int) {
	for better := true; better; {
		better = false
		for i := 0; i < len(d.phases); i++ {
			for j := i + 1; j <= len(d.phases); j++ { // the last one is a new phase
				if s.effort > work || capacity.Pause(ctx) != nil {
					return
				}
				var other contents
				before := s.times[d.rungs[i]]
				if j < len(d.phases) {
					other = d.phases[j]
					before += s.times[d.rungs[j]]
				}
				pair, ok := s.halves(ctx, d.phases[i], other, before)
				if !ok {
					continue
				}
				better = true
				if j == len(d.phases) {
					d.phases, d.rungs = append(d.phases, nil), append(d.rungs, 0)
				}
				d.phases[i], d.phases[j] = pair[0], pair[1]
				d.rungs[i], d.rungs[j] = s.look(pair[0], 0), s.look(pair[1], 0)
				s.settle(d)
				j = i
			}
		}
	}
}

// halves divides the jobs of two phases, of which one may be empty, so that they take less time than before.
func (s *seen) halves(ctx context.Context, a, b contents, before float64) (best [2]contents, ok bool) {
	left := make([]int, len(s.kinds))
	for _, c := range []contents{a, b} {
		for _, x := range c {
			left[x.kind] += x.count
		}
	}
	k := newSack(s.fitter, left)
	k.choices = divisionChoices
	shares := extraShares
	if !k.mixed {
		shares = []float64{0}
	}
	lowest := before * (1 - provedGap)
	for step := range divisions {
		long := before * (0.5 + 0.48*float64(step)/(divisions-1))
		for _, share := range shares {
			if capacity.Pause(ctx) != nil {
				return best, ok
			}
			_, c := k.worth(s.takes(k, s.upTo(lowest-long), share), s.upTo(long), 0)
			first := s.look(c, 0)
			if first < 0 || first == s.never() || s.times[first] >= lowest {
				continue
			}
			rest := without(left, c)
			second := s.look(rest, 0)
			if second != s.never() && s.times[first]+s.at(second) < lowest {
				best, lowest, ok = [2]contents{c, rest}, s.times[first]+s.at(second), true
			}
		}
	}
	return best, ok
}

// takes returns what each kind of job takes of a phase of a rung, if extra VMs make up a share.
func (s *seen) takes(k *sack, rung int, share float64) []float64 {
	plain, special := s.ladder.at(rung)
	disk, extra := (1-share)/float64(s.vms), share/float64(max(1, s.extras))
	each := disk + extra*float64(s.perMachine)/float64(s.disks)
	takes := make([]float64, len(s.kinds))
	for i, n := range k.left {
		switch {
		case n == 0:
			continue
		case plain[i] == impossible:
			takes[i] = unwanted
			continue
		}
		takes[i] = float64(plain[i]) * each
		if !k.mixed || special[i] == impossible {
			continue
		}
		switch s.kinds[i].role {
		case perf.HostRole:
			takes[i] = min(takes[i], float64(special[i])*disk)
		case perf.GuestRole:
			takes[i] = min(takes[i], float64(special[i])*extra)
		}
	}
	return takes
}

// upTo returns the highest rung of at most a time, or the lowest of all.
func (s *seen) upTo(seconds float64) int {
	return max(0, lowest(0, s.never(), func(rung int) bool { return s.times[rung] > seconds })-1)
}

// without returns the jobs that are left after some.
func without(left []int, c contents) (rest contents) {
	at := 0
	for i, n := range left {
		for ; at < len(c) && c[at].kind == i; at++ {
			n -= c[at].count
		}
		if n > 0 {
			rest = append(rest, some{i, n})
		}
	}
	return rest
}
