package whatif

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// same is a plan's decisions carried over to other figures, and what is not as it was.
type same struct {
	*capacity.Problem // with the new figures
	base              *Base
	uses              []use
	reasons           []string
}

// sameDecisions carries the base's decisions over to a scenario's problem: the same jobs of each class on the same
// VMs of each tier, as far as possible.
//
//   - Each class keeps its admitted jobs on the VM types they run on. It keeps fewer if fewer are asked for, if no
//     number of slots meets the new deadline, or if the type is gone.
//   - Each tier (contract, on demand, spot) keeps its VMs, needed or not, as far as contract, quota and share still
//     have them. To give some back would be a new decision.
//   - If the jobs need more VMs than that, because of a shorter deadline or a lost contract, just those are rented
//     besides, from the cheapest contracts and on demand. If there are none, jobs go: first those worth least per
//     VM, promised ones last.
//   - More demand is refused, higher promises are not kept, budgets are overdrawn: to act on them would be a new
//     decision.
//
// Every deviation has a sentence in reasons.
func (b *Base) sameDecisions(p *capacity.Problem) (*same, error) {
	types := p.Supply.Types()
	s := &same{Problem: p, base: b, uses: make([]use, len(types))}
	for t, of := range types {
		s.uses[t] = use{vmType: of.Name, contracts: make([]float64, len(of.Contracts)), jobs: make([]float64, len(p.Classes)), vms: make([]float64, len(p.Classes))}
		if before := b.useOn(of.Name); before != nil {
			copy(s.uses[t].jobs, before.jobs)
			copy(s.uses[t].vms, before.vms)
		}
	}
	s.keepJobs()
	for t, of := range types {
		if before := b.useOn(of.Name); before != nil {
			if err := s.keepVMs(of, before, &s.uses[t]); err != nil {
				return nil, err
			}
		}
	}
	for i := range p.Classes {
		if c := &p.Classes[i]; c.Jobs.Min > s.jobs(i) && c.Jobs.Min > b.Problem.Classes[i].Jobs.Min {
			s.say("Of class %q %s %s promised now, and the plan admitted %s.", c.Name, words.Jobs(c.Jobs.Min), words.IsAre(c.Jobs.Min), words.Number(b.Plan.Classes[i].Admitted))
		}
	}
	return s, nil
}

func (s *same) jobs(class int) float64 { return jobsOf(s.uses, class) }

func (s *same) say(sentence string, values ...any) {
	s.reasons = append(s.reasons, fmt.Sprintf(sentence, values...))
}

// useOn returns the base's use of a VM type, or nil for a type it does not have.
func (b *Base) useOn(vmType string) *use {
	for t := range b.uses {
		if name := b.uses[t].vmType; name == vmType || name == "" && vmType == SoleVMType {
			return &b.uses[t]
		}
	}
	return nil
}

// keepJobs takes away what is no longer asked for, from the last VM type backwards.
func (s *same) keepJobs() {
	for i := range s.Classes {
		c := &s.Classes[i]
		before := s.base.Plan.Classes[i].Admitted
		if gone := before - s.jobs(i); gone > 0 {
			s.say("%s of class %q ran on a VM type that is gone.", words.Jobs(gone), c.Name)
		}
		excess := s.jobs(i) - c.Jobs.Max
		if excess <= 0 {
			continue
		}
		if c.ArrivalsPerHour > 0 { // as many arrive, and each holds its VMs for less long
			s.say("Of class %q %s fewer run at once than had been admitted.", c.Name, words.Jobs(excess))
		} else {
			s.say("%s of class %q had been admitted and %s no longer asked for.", words.Jobs(excess), c.Name, words.IsAre(excess))
		}
		for t := len(s.uses) - 1; t >= 0; t-- {
			s.uses[t].take(i, min(excess, s.uses[t].jobs[i]))
			excess = s.jobs(i) - c.Jobs.Max
		}
	}
}

// take removes jobs of a class, and their part of the VMs' use.
func (u *use) take(class int, jobs float64) {
	if jobs <= 0 {
		return
	}
	left := max(0, u.jobs[class]-jobs)
	u.vms[class] *= left / u.jobs[class]
	u.jobs[class] = left
}

// keepVMs rents on one VM type what the base rents there, and what the jobs need besides.
func (s *same) keepVMs(of capacity.VMTypeSupply, before, u *use) error {
	for _, c := range s.contractsOf(before.vmType) {
		if k := slices.IndexFunc(of.Contracts, func(now capacity.Contract) bool { return now.Name == c.name }); k >= 0 {
			u.contracts[k] = min(c.used, float64(of.Contracts[k].VMs))
		}
	}
	u.onDemand = before.onDemand
	if of.OnDemand.Quota != nil {
		u.onDemand = min(u.onDemand, float64(*of.OnDemand.Quota))
	}
	if of.Spot != nil {
		u.spot = min(before.spot, math.Floor(of.Spot.MaxShare*before.total()+integer.LoadNoise))
	}
	lost := before.total() - u.total()
	if lost > 0 {
		s.say("%s%s can no longer be had from where they came.", words.VMs(lost), words.OfType(of.Name))
	}
	rebound := s.Options.Bound != s.base.Problem.Options.Bound // other times: any class may need more
	tighter, changed := rebound, lost > 0 || rebound
	for i := range s.Classes {
		now, then := s.Classes[i].DeadlineSeconds, s.base.Problem.Classes[i].DeadlineSeconds
		if u.jobs[i] > 0 && now != then {
			changed, tighter = true, tighter || now < then
		}
		changed = changed || u.jobs[i] != before.jobs[i]
	}
	if !changed {
		return nil
	}
	needs, err := s.needsOn(of, u)
	if err != nil {
		return err
	}
	defer needs.Done()
	if tighter || lost > 0 {
		s.fit(needs, of, u)
	}
	for i := range s.Classes {
		given := &s.base.Problem.Classes[i]
		if rebound || s.Classes[i].DeadlineSeconds != given.DeadlineSeconds || u.jobs[i] != before.jobs[i] {
			u.vms[i] = needs.Share(i, u.jobs[i])
		}
	}
	return nil
}

// usedContract is a contract's VMs that the base uses.
type usedContract struct {
	name string
	used float64
}

func (s *same) contractsOf(vmType string) (all []usedContract) {
	for t, of := range s.base.Problem.Supply.Types() {
		if of.Name != vmType {
			continue
		}
		for k, c := range of.Contracts {
			all = append(all, usedContract{c.Name, s.base.uses[t].contracts[k]})
		}
	}
	return all
}

// needsOn prepares for just the jobs that are to be kept on a VM type, and lets those go whose deadline is impossible.
func (s *same) needsOn(of capacity.VMTypeSupply, u *use) (*plan.Needs, error) {
	needs, err := s.base.series.NeedsOn(*s.Problem, of, u.jobs)
	if err != nil {
		return nil, fmt.Errorf("carry the plan over: %w", err)
	}
	for _, i := range needs.ByName() {
		if needs.Impossible(i) && u.jobs[i] > 0 {
			s.say("No number of slots meets the new deadline of class %q.", s.Classes[i].Name)
			u.take(i, u.jobs[i])
		}
	}
	return needs, nil
}

// fit rents what the jobs need besides what is kept, or lets jobs go.
func (s *same) fit(needs *plan.Needs, of capacity.VMTypeSupply, u *use) {
	need, slack := needs.VMs(u.jobs), needs.Slack(u.total())
	if need <= u.total()+slack {
		return
	}
	if more := u.rentMore(of, need-u.total()); more > 0 {
		s.say("For the same jobs %s had to be rented anew%s.", words.VMs(more), words.OfType(of.Name))
	}
	if of.Spot != nil && of.Spot.MaxShare < 1 {
		u.spot = min(u.spot, math.Floor(of.Spot.MaxShare/(1-of.Spot.MaxShare)*(u.total()-u.spot)+integer.LoadNoise))
	}
	if need <= u.total()+slack {
		return
	}
	gone := shed(needs, u, s.Problem)
	for i, jobs := range gone {
		if jobs > 0 {
			s.say("There is no room any more for %s of class %q on the VMs there are%s.", words.Jobs(jobs), s.Classes[i].Name, words.OfType(of.Name))
		}
	}
}

// rentMore rents so many VMs more from the cheapest contracts and on demand, and says how many it got.
func (u *use) rentMore(of capacity.VMTypeSupply, vms float64) (got float64) {
	type spare struct {
		used  *float64
		vms   float64
		price money.Amount // at the margin
	}
	var spares []spare
	for k, c := range of.Contracts {
		if c.Billing == capacity.BilledAlways {
			c.Price = money.Amount{}
		}
		spares = append(spares, spare{&u.contracts[k], float64(c.VMs), c.Price})
	}
	most := math.Inf(1)
	if of.OnDemand.Quota != nil {
		most = float64(*of.OnDemand.Quota)
	}
	spares = append(spares, spare{&u.onDemand, most, of.OnDemand.Price})
	slices.SortStableFunc(spares, func(a, b spare) int { return a.price.Cmp(b.price.Decimal) })
	for _, from := range spares {
		more := max(0, min(vms-got, from.vms-*from.used))
		*from.used += more
		got += more
	}
	return got
}

// shed takes the fewest jobs away that make the rest fit what is rented: those worth least per VM first,
// promised ones last.
func shed(needs *plan.Needs, u *use, p *capacity.Problem) (gone []float64) {
	type place struct {
		class    int
		worth    float64 // of a VM
		jobs     float64
		promised bool
	}
	var places []place
	for _, i := range needs.ByName() {
		if jobs, each := u.jobs[i], needs.PerJob(i); jobs > 0 && each > 0 {
			floor, worth := min(jobs, p.Classes[i].Jobs.Min), p.Classes[i].Penalty.Float()/each
			places = append(places, place{i, worth, jobs - floor, false}, place{i, worth, floor, true})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		if a.promised != b.promised {
			if b.promised {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.worth, b.worth)
	})
	without := func(n float64) []float64 {
		jobs := slices.Clone(u.jobs)
		for _, from := range places {
			less := min(n, from.jobs)
			jobs[from.class] -= less
			n -= less
		}
		return jobs
	}
	low, high := 0.0, 0.0 // too few go at low
	for _, from := range places {
		high += from.jobs
	}
	step := 1.0
	if p.Options.Integrality == capacity.Relaxed {
		step = integer.LoadNoise
	}
	most := u.total() + needs.Slack(u.total())
	for high-low > step {
		middle := low + (high-low)/2
		if step == 1 {
			middle = math.Floor(middle)
		}
		if needs.VMs(without(middle)) <= most {
			high = middle
		} else {
			low = middle
		}
	}
	kept := without(math.Ceil(high/step) * step)
	gone = make([]float64, len(u.jobs))
	for i := range kept {
		gone[i] = u.jobs[i] - kept[i]
		u.take(i, gone[i])
	}
	return gone
}

// mostReasons bounds the sentences about what could not be kept.
const mostReasons = 5

// because gives the reasons why the base's decisions cannot be carried out unchanged.
func (s *same) because(kept *bill) []string {
	if b := s.Budget; b != nil {
		if !b.PaysForVMs(kept.hourly, s.PeriodSeconds) {
			s.say("Its VMs would cost %s %s, and the budget for VMs is %s.", money.Amount{Decimal: kept.vmCost()}, s.Currency, *b.VMCost)
		}
		if b.Total != nil && kept.total().GreaterThan(b.Total.Decimal) {
			s.say("Bill and value refused would come to %s %s, and the budget for both is %s.", kept.total(), s.Currency, *b.Total)
		}
	}
	if more := len(s.reasons) - mostReasons; more > 0 {
		return append(s.reasons[:mostReasons:mostReasons], fmt.Sprintf("And %d more.", more))
	}
	return append([]string{}, s.reasons...)
}
