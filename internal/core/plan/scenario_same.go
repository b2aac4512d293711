package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/core/words"
)

// same is a plan's decisions carried over to other figures, and what is not as it was.
type same struct {
	*capacity.Problem // with the new figures
	base              *Base
	uses              []use
	reasons           []string
}

// sameDecisions carries the base's decisions over to a scenario's problem: the same jobs of each class on
// the same VMs of each tier, as far as that can be.
//
//   - Each class keeps its admitted jobs on the VM types they run on: fewer only where fewer are asked for,
//     where no number of slots meets the new deadline, or where the type is gone.
//   - Each tier (contract, on demand, spot) keeps its VMs, needed or not, as far as contract, quota and
//     share still have them. To give some back would be a new decision.
//   - Where the jobs need more VMs than that, because of a shorter deadline or a lost contract, just those
//     are rented besides, from the cheapest contracts and on demand. Where there are none, jobs go: those
//     worth least per VM first, promised ones last.
//   - More demand is refused, higher promises are not kept, budgets are overdrawn: to act on them would
//     be a new decision.
//
// Whatever is not as it was, or may not be so, is said in reasons.
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

// useOn is what the base does on a VM type; nil where it does not know the type.
func (b *Base) useOn(vmType string) *use {
	for t := range b.uses {
		if name := b.uses[t].vmType; name == vmType || name == "" && vmType == capacity.SoleVMType {
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
		s.say("%s of class %q %s no longer asked for.", words.Jobs(excess), c.Name, words.IsAre(excess))
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
		u.spot = min(before.spot, math.Floor(of.Spot.MaxShare*before.total()+loadNoise))
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
	known, _ := s.base.known.Get().(*prepared)
	if known == nil {
		known = prepare(&s.base.Problem)
	}
	defer s.base.known.Put(known)
	m, err := s.modelOn(of, u, known)
	if err != nil {
		return err
	}
	if tighter || lost > 0 {
		s.fit(m, of, u)
	}
	for i := range m.classes {
		if c := &m.classes[i]; rebound || c.DeadlineSeconds != s.base.Problem.Classes[c.index].DeadlineSeconds || u.jobs[c.index] != before.jobs[c.index] {
			u.vms[c.index] = m.share(c, u.jobs[c.index])
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

// modelOn is the problem of one VM type alone: just the jobs that are to be kept on it.
func (s *same) modelOn(of capacity.VMTypeSupply, u *use, known *prepared) (*model, error) {
	p := *s.Problem
	p.Supply = capacity.Supply{OnDemand: of.OnDemand}
	p.Budget = nil
	p.Classes = slices.Clone(p.Classes)
	for i := range p.Classes {
		if c := &p.Classes[i]; u.jobs[i] > 0 {
			*c = onType(*c, of.Name)
			c.Jobs = capacity.JobRange{Min: u.jobs[i], Max: u.jobs[i]}
		} else { // takes nothing
			*c = capacity.Class{Name: c.Name, VMsPerJob: new(decimal.Decimal), Penalty: c.Penalty}
		}
	}
	m, err := newModelFrom(&p, known)
	if err != nil {
		return nil, fmt.Errorf("carry the plan over: %w", err)
	}
	for i := range m.classes {
		if c := &m.classes[i]; c.impossible && u.jobs[c.index] > 0 {
			s.say("No number of slots meets the new deadline of class %q.", c.Name)
			u.take(c.index, u.jobs[c.index])
		}
	}
	return m, nil
}

// fit rents what the jobs need besides what is kept, or lets jobs go.
func (s *same) fit(m *model, of capacity.VMTypeSupply, u *use) {
	need, lack := m.needOf(u.jobs), m.lack(u.total(), m.Options.Integrality == capacity.Executable)
	if need <= u.total()+lack {
		return
	}
	if more := u.rentMore(of, need-u.total()); more > 0 {
		s.say("The same jobs need %s more%s.", words.VMs(more), words.OfType(of.Name))
	}
	if of.Spot != nil && of.Spot.MaxShare < 1 {
		u.spot = min(u.spot, math.Floor(of.Spot.MaxShare/(1-of.Spot.MaxShare)*(u.total()-u.spot)+loadNoise))
	}
	if need <= u.total()+lack {
		return
	}
	gone := m.shed(u, s.Problem)
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

// needOf is the VMs that just these jobs need.
func (m *model) needOf(jobs []float64) float64 {
	for i := range m.classes {
		c := &m.classes[i]
		c.low, c.high = jobs[c.index], jobs[c.index]
	}
	return m.promised(m.classes)
}

// share is a class's part of the VMs for so many jobs, as plans count it.
func (m *model) share(c *class, jobs float64) float64 {
	size := c.gamma * jobs
	if m.Options.Integrality == capacity.Executable && c.slotted && jobs > 0 && !c.impossible {
		mapSlots, redSlots := c.shape.whole(int64(jobs))
		size = c.shape.size(float64(mapSlots), float64(redSlots))
	}
	if m.Options.Integrality != capacity.Relaxed && m.Options.Sharing == capacity.Dedicated {
		if c.VMsPerJob != nil {
			return float64(c.ownVMs(int64(jobs)))
		}
		size = math.Ceil(size - loadNoise)
	}
	return size
}

// shed takes the fewest jobs away that make the rest fit what is rented: those worth least per VM first,
// promised ones last.
func (m *model) shed(u *use, p *capacity.Problem) (gone []float64) {
	type place struct {
		class    *class
		jobs     float64
		promised bool
	}
	var places []place
	for i := range m.classes {
		c := &m.classes[i]
		if jobs := u.jobs[c.index]; jobs > 0 && c.gamma > 0 {
			floor := min(jobs, p.Classes[c.index].Jobs.Min)
			places = append(places, place{c, jobs - floor, false}, place{c, floor, true})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		if a.promised != b.promised {
			if b.promised {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.class.penalty/a.class.gamma, b.class.penalty/b.class.gamma)
	})
	without := func(n float64) []float64 {
		jobs := slices.Clone(u.jobs)
		for _, from := range places {
			less := min(n, from.jobs)
			jobs[from.class.index] -= less
			n -= less
		}
		return jobs
	}
	low, high := 0.0, 0.0 // too few go at low
	for _, from := range places {
		high += from.jobs
	}
	step := 1.0
	if m.Options.Integrality == capacity.Relaxed {
		step = loadNoise
	}
	most := u.total() + m.lack(u.total(), m.Options.Integrality == capacity.Executable)
	for high-low > step {
		middle := low + (high-low)/2
		if step == 1 {
			middle = math.Floor(middle)
		}
		if m.needOf(without(middle)) <= most {
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

// because is why the base's decisions cannot be carried out as they were; empty where they can.
func (s *same) because(kept *bill) []string {
	if b := s.Budget; b != nil {
		if b.VMCost != nil && kept.vmCost().GreaterThan(b.VMCost.Decimal) {
			s.say("Its VMs would cost %s %s, and the budget for VMs is %s.", money.Amount{Decimal: kept.vmCost()}, s.Currency, *b.VMCost)
		}
		if b.Total != nil && kept.total().GreaterThan(b.Total.Decimal) {
			s.say("It would cost %s %s in all, and the budget is %s.", kept.total(), s.Currency, *b.Total)
		}
	}
	if more := len(s.reasons) - mostReasons; more > 0 {
		return append(s.reasons[:mostReasons:mostReasons], fmt.Sprintf("And %d more.", more))
	}
	return append([]string{}, s.reasons...)
}
