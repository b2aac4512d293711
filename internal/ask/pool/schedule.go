package pool

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// justBegun is the time after a round's start in which it is still planned anew: machines take as long to follow.
const justBegun = 5 * time.Minute

// Under returns the current round of the current plan, which stays fixed because machines follow it already. It
// returns nil if the round has only just begun, the settings have changed, or the data known by now does not fit.
func Under(f PoolFacts, b PoolBasis) *ScheduledRound {
	if f.Current == nil || f.Version != b.Version || b.At.Sub(b.From) < justBegun {
		return nil
	}
	for _, r := range f.Current.Rounds {
		if r.From.Equal(b.From) && r.Until.Sub(r.From) == time.Duration(b.Problem.Hours)*time.Hour {
			data := b.Problem.Storage
			data.DataGB += b.Problem.IncomingGB[0]
			if data.NeededGB()*(1-storageRounding) > r.Plan.DiskGB {
				return nil
			}
			r.DecidedBy = cmp.Or(r.DecidedBy, f.Number)
			return &r
		}
	}
	return nil
}

// After returns the problem of the rounds after a fixed one.
func After(p PoolCourseProblem, under ScheduledRound) PoolCourseProblem {
	p.Storage.DataGB += p.IncomingGB[0]
	p.IncomingGB = p.IncomingGB[1:]
	p.Jobs = slices.Clone(p.Jobs)
	for i := range p.Jobs {
		p.Jobs[i].Submissions = p.Jobs[i].Submissions[1:]
	}
	if under.Plan.Status != PoolInfeasible {
		p.Running = []PoolRunning{}
		for _, x := range under.Plan.Mix.Core {
			p.Running = append(p.Running, PoolRunning{Type: x.Type, Count: x.Count})
		}
	}
	return p
}

// Schedule returns the targets of machines over time, and the steps that reach them from the running machines, for a
// course that answers a basis. under, if set, is the round before the course.
func Schedule(b PoolBasis, under *ScheduledRound, c PoolCourse) PoolSchedule {
	s := PoolSchedule{Status: c.Status, Cost: c.Cost, Currency: b.Problem.Currency, From: b.From, Sources: b.Sources,
		Rounds: []ScheduledRound{}, Targets: []PoolTarget{}, Steps: []PoolStep{}, Warnings: slices.Clone(c.Warnings)}
	first := b.From
	if under != nil {
		s.Rounds = append(s.Rounds, *under)
		first = under.Until
	} else if late := b.At.Sub(b.From); late > time.Minute {
		s.Warnings = append(s.Warnings, capacity.Warning{Code: "under_way", Detail: fmt.Sprintf("The round from %s on had been under way for %s when it was planned; what is rented now does its work that much later.", stamp(b.From), fault.Plural(int64(late.Minutes()), "minute"))})
	}
	for _, r := range c.Rounds {
		s.Rounds = append(s.Rounds, ScheduledRound{From: hours(first, r.FromHour), Until: hours(first, r.UntilHour), DataGB: r.DataGB, Plan: r.Plan})
	}
	s.Until = s.Rounds[len(s.Rounds)-1].Until
	s.Targets = targets(b, s.Rounds)
	kinds := []kind{}
	for _, t := range s.Targets {
		kinds = append(kinds, kind{t.Type, t.As})
	}
	slices.SortFunc(kinds, kind.compare)
	for _, k := range slices.Compact(kinds) {
		s.Steps = append(s.Steps, steps(b, s, k)...)
	}
	slices.SortStableFunc(s.Steps, func(a, b PoolStep) int { return a.At.Compare(b.At) })
	return s
}

func hours(from time.Time, n int64) time.Time { return from.Add(time.Duration(n) * time.Hour) }

// kind is a type of machines with one use.
type kind struct{ name, as string }

func (k kind) compare(other kind) int {
	return cmp.Or(cmp.Compare(k.name, other.name), -cmp.Compare(k.as, other.as)) // core first
}

// targets returns the number of machines of each kind from each moment on. Before the first round these are the
// running ones. An impossible round leaves core instances as they were.
func targets(b PoolBasis, rounds []ScheduledRound) []PoolTarget {
	now, all := map[kind]int64{}, []PoolTarget{}
	set := func(at time.Time, wanted map[kind]int64) {
		kinds := []kind{}
		for k := range wanted {
			kinds = append(kinds, k)
		}
		for k := range now {
			if _, is := wanted[k]; !is {
				kinds = append(kinds, k)
			}
		}
		slices.SortFunc(kinds, kind.compare)
		for _, k := range kinds {
			if n, known := now[k]; !known || n != wanted[k] {
				all = append(all, PoolTarget{At: at, Type: k.name, As: k.as, Count: wanted[k]})
				now[k] = wanted[k]
			}
		}
	}
	runs := map[kind]int64{}
	for _, m := range b.Machines {
		runs[kind{m.Type, m.As}] += m.Count
	}
	set(earlier(b.At, b.From), runs)
	core := map[kind]int64{}
	for k, n := range runs {
		if k.as == AsCore {
			core[k] = n
		}
	}
	for _, r := range rounds {
		if r.Plan.Status != PoolInfeasible {
			core = map[kind]int64{}
			for _, x := range r.Plan.Mix.Core {
				core[kind{x.Type, AsCore}] += x.Count
			}
		}
		turns := []int64{0}
		for _, x := range r.Plan.Mix.Accelerators {
			turns = append(turns, x.Hours)
		}
		slices.Sort(turns)
		for _, hour := range slices.Compact(turns) {
			at := hours(r.From, hour)
			if !at.Before(r.Until) {
				break // the next round decides what runs then
			}
			wanted := map[kind]int64{}
			for k, n := range core {
				wanted[k] = n
			}
			for _, x := range r.Plan.Mix.Accelerators {
				if x.Hours > hour {
					wanted[kind{x.Type, AsAccelerator}] += x.Count
				}
			}
			set(at, wanted)
		}
	}
	wanted := map[kind]int64{} // after the last round
	for k, n := range core {
		wanted[k] = n
	}
	set(rounds[len(rounds)-1].Until, wanted)
	return all
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// machine is a group of machines that run, or will, some of which leave.
type machine struct {
	count int64
	paid  time.Time // a moment when a paid hour ends; zero means unknown
	given bool      // the time it is paid until was given
	goes  []leaving
}

// leaving is a number of machines returned at a moment.
type leaving struct {
	at    time.Time
	count int64
	why   string
}

// until returns the first moment from at on when a paid hour ends.
func (m machine) until(at time.Time) time.Time {
	switch {
	case m.paid.IsZero():
		return at
	case m.given && m.paid.After(at):
		return m.paid
	}
	part := at.Sub(m.paid) % time.Hour
	if part < 0 {
		part += time.Hour
	}
	if part == 0 {
		return at
	}
	return at.Add(time.Hour - part)
}

func (m machine) stays() int64 {
	n := m.count
	for _, x := range m.goes {
		n -= x.count
	}
	return n
}

// steps returns the actions for the machines of a kind. A machine that is no longer needed leaves when its paid hour
// ends. If more are needed before, it stays.
func steps(b PoolBasis, s PoolSchedule, k kind) []PoolStep {
	all := []PoolStep{}
	machines := runningMachines(b, k)
	own := []PoolTarget{}
	for _, t := range s.Targets {
		if t.Type == k.name && t.As == k.as {
			own = append(own, t)
		}
	}
	for i, t := range own {
		if i+1 < len(own) && !own[i+1].At.After(b.At) {
			continue // it is over
		}
		at := t.At
		if at.Before(b.At) {
			at = b.At
		}
		stay := keepMachines(machines, t.Count, at)
		if more := t.Count - stay; more > 0 {
			machines = append(machines, &machine{count: more, paid: at})
			all = append(all, PoolStep{At: at, Type: k.name, As: k.as, Count: more, Why: needs(s, t)})
			continue
		}
		slices.SortStableFunc(machines, func(x, y *machine) int { return x.until(at).Compare(y.until(at)) })
		for _, m := range machines {
			if n := min(m.stays(), stay-t.Count); n > 0 {
				stay -= n
				m.goes = append(m.goes, leaving{m.until(at), n, why(s, t, at, m.until(at))})
			}
		}
	}
	return append(all, leavingSteps(machines, k)...)
}

// runningMachines returns the machines of a kind that run at the beginning.
func runningMachines(b PoolBasis, k kind) []*machine {
	machines := []*machine{}
	for _, m := range b.Machines {
		if m.Type != k.name || m.As != k.as || m.Count == 0 {
			continue
		}
		runs := &machine{count: m.Count}
		if m.PaidUntil != nil {
			runs.paid, runs.given = *m.PaidUntil, true
		} else if m.Since != nil {
			runs.paid = *m.Since
		}
		machines = append(machines, runs)
	}
	return machines
}

// keepMachines lets machines stay that would leave after a moment, until as many stay as are needed. It returns the
// number of machines that stay.
func keepMachines(machines []*machine, needed int64, at time.Time) (stay int64) {
	for _, m := range machines {
		stay += m.stays()
	}
	for _, m := range slices.Backward(machines) { // the last to leave stay first
		for n := len(m.goes) - 1; n >= 0 && stay < needed; n-- {
			if x := &m.goes[n]; x.at.After(at) {
				kept := min(x.count, needed-stay)
				x.count -= kept
				stay += kept
			}
		}
	}
	return stay
}

// leavingSteps returns the steps in which machines leave; those at one moment for one reason are one step.
func leavingSteps(machines []*machine, k kind) (all []PoolStep) {
	for _, m := range machines {
		for _, x := range m.goes {
			if x.count == 0 {
				continue
			}
			if n := slices.IndexFunc(all, func(y PoolStep) bool { return y.At.Equal(x.at) && y.Why == x.why }); n >= 0 {
				all[n].Count -= x.count
				continue
			}
			all = append(all, PoolStep{At: x.at, Type: k.name, As: k.as, Count: -x.count, Why: x.why})
		}
	}
	return all
}

// roundOf returns the round of a target, or nil after the last one and before the first.
func roundOf(s PoolSchedule, t PoolTarget) *ScheduledRound {
	for i, r := range s.Rounds {
		if !t.At.Before(r.From) && t.At.Before(r.Until) {
			return &s.Rounds[i]
		}
	}
	return nil
}

// needs explains why machines are rented.
func needs(s PoolSchedule, t PoolTarget) string {
	r := roundOf(s, t)
	if r == nil {
		return fmt.Sprintf("%d are to run.", t.Count)
	}
	sentence := fmt.Sprintf("The round from %s on takes %d of them as %s", stamp(r.From), t.Count, t.As)
	if t.As == AsCore {
		sentence += fmt.Sprintf(": it has %s GB of data", number(r.DataGB))
	}
	jobs := 0
	for _, j := range r.Plan.Jobs {
		if slices.ContainsFunc(j.On, func(x PoolWorkOn) bool { return x.Type == t.Type }) {
			jobs++
		}
	}
	work := fmt.Sprintf("%d jobs work", jobs)
	if jobs == 1 {
		work = "one job works"
	}
	switch {
	case jobs == 0:
		return sentence + "."
	case t.As == AsCore:
		return sentence + " and " + work + " there."
	}
	return sentence + ", on which " + work + "."
}

// why explains why machines are returned at a moment.
func why(s PoolSchedule, t PoolTarget, from, at time.Time) string {
	sentence := fmt.Sprintf("From %s on %d are enough", stamp(from), t.Count)
	if r := roundOf(s, t); r != nil && t.At.Equal(r.From) {
		sentence = fmt.Sprintf("For the round from %s on %d are enough", stamp(r.From), t.Count)
	}
	if at.After(from) {
		return sentence + "; they are paid until then."
	}
	return sentence + "."
}
