package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// The kinds of facts about a class.
const (
	DeadlineImpossible = "deadline_impossible"      // no number of slots meets the deadline
	NothingWanted      = "nothing_wanted"           // the class asks for no jobs
	TakesNoVMs         = "takes_no_vms"             // its jobs have no work
	RefusalCosts       = "refusal_costs"            // all run, and no more can
	DoesNotFit         = "one_more_does_not_fit"    // no plan within the limits serves one more
	CostsAsRefusal     = "one_more_costs_a_refusal" // a tie
	Costs              = "one_more_costs"           // against what refusing it costs
	CostsBetween       = "one_more_costs_between"   // the same, of which bounds are proved
	CostsAbout         = "one_more_costs_about"     // the same by the relaxation, beside a whole plan
	NoMoreCapacity     = "no_more_capacity"         // no VM can be had, and no job can give way
	PromisedOnly       = "promised_only"
)

// Reason explains why a class got its jobs. It is made of the plan's figures alone, so whoever has checked them can say
// its sentence again.
type Reason struct {
	kind, unit, period string
	penalty, amount    money.Amount
	change             *capacity.JobChange // of a cost that two proved plans tell
	limits             bool                // one more is said not to fit by proved plans
	full, promised     bool
	served             float64 // with one more, where that is not exactly one more; 0 otherwise
	quota              int64   // with which one more would fit; 0 where that is no cure
	budget             *capacity.Budget
	vmCost             *money.Amount // of the budget, if it pays for fewer VMs than there are
	refused            float64
	fixed, deadline    float64
	never              bool // refused: all jobs are promised
}

// neverRefused reports whether all jobs of a class are promised, and no value is given to one that is refused.
func neverRefused(class *capacity.Class) bool { return class.Jobs.All && class.Penalty.IsZero() }

// valued begins a sentence with the value of a refused job, or with the promise of all.
func valued(never bool, penalty string) string {
	if never {
		return "All jobs that arrive are promised"
	}
	return "A refused one is valued at " + penalty
}

// allPromised ends a sentence about a class whose jobs are never refused.
const allPromised = "; all jobs that arrive are promised."

// ReasonOf finds the reason; fixed is the time that no number of slots shortens.
func ReasonOf(p *capacity.Problem, class *capacity.Class, out *capacity.ClassPlan, fixed float64) Reason {
	period := PerPeriod(p.PeriodSeconds)
	r := Reason{
		kind: Costs, period: period, penalty: class.Penalty, refused: out.Refused,
		full: out.Verdict == capacity.VerdictFull, promised: out.Verdict == capacity.VerdictMinimum, never: neverRefused(class),
	}
	r.unit, r.budget, r.vmCost = p.Currency+" "+period, p.Budget, bindingBudget(p)
	var margin *money.Amount
	switch {
	case p.Options.Integrality == capacity.Relaxed:
		margin = out.BreakEvenPenalty
	case out.OneMore != nil:
		r.kind, margin = CostsAbout, out.OneMore.Amount
	}
	switch {
	case out.Verdict == capacity.VerdictImpossible:
		r.kind, r.fixed, r.deadline = DeadlineImpossible, fixed, class.DeadlineSeconds
	case class.Jobs.Max == 0:
		r.kind = NothingWanted
	case out.VMsPerJob == 0 && r.full:
		r.kind = TakesNoVMs
	case out.OneMore.Told():
		r.told(out.OneMore)
		r.quota = quotaWith(p, out.OneMore.VMs)
		if jobs := out.OneMore.Jobs; jobs != nil {
			r.served = out.Admitted + *jobs
		}
	case out.OneMore.Bounded():
		r.kind, r.change = CostsBetween, out.OneMore
	case margin == nil && r.full:
		r.kind = RefusalCosts
	case margin == nil:
		r.kind = NoMoreCapacity
	default:
		r.amount = *margin
	}
	return r
}

// told takes what two proved plans say of one more job.
func (r *Reason) told(more *capacity.JobChange) {
	r.kind, r.change = Costs, more
	switch {
	case !more.Fits && r.full:
		r.kind, r.limits = RefusalCosts, true
	case !more.Fits:
		r.kind, r.limits = DoesNotFit, true
	case !r.full && more.Amount.Equal(r.penalty.Decimal):
		r.kind, r.amount = CostsAsRefusal, *more.Amount
	default:
		r.amount = *more.Amount
	}
}

// bindingBudget is the budget for VMs of one price on demand, if it pays for fewer than there are; nil otherwise.
func bindingBudget(p *capacity.Problem) *money.Amount {
	s := &p.Supply
	if p.Budget == nil || p.Budget.VMCost == nil || s.Spot != nil || len(s.VMTypes) > 0 {
		return nil
	}
	unlimited, hourly := s.OnDemand.Quota == nil && s.OnDemand.Price.IsPositive(), decimal.Zero
	if s.OnDemand.Quota != nil {
		hourly = s.OnDemand.Price.Mul(decimal.NewFromInt(*s.OnDemand.Quota))
	}
	for _, c := range s.Contracts {
		hourly = hourly.Add(c.Price.Mul(decimal.NewFromInt(c.VMs)))
	}
	if unlimited || !p.Budget.PaysForVMs(hourly, p.PeriodSeconds) {
		return p.Budget.VMCost
	}
	return nil
}

// quotaWith is the quota that lets missing VMs in; 0 where it takes more than that.
func quotaWith(p *capacity.Problem, missing *float64) int64 {
	quota := p.Supply.OnDemand.Quota
	if missing == nil || quota == nil || p.Budget != nil || p.Supply.Spot != nil || len(p.Supply.VMTypes) > 0 {
		return 0
	}
	if with := *quota + int64(math.Ceil(*missing)); with <= capacity.MaxVMs {
		return with
	}
	return 0
}

// String says the reason.
func (r Reason) String() string {
	if r.promised && r.compares() {
		return r.say() + " " + promisedOnly
	}
	return r.say()
}

// compares reports whether the reason speaks of money.
func (r *Reason) compares() bool {
	return r.kind != DeadlineImpossible && r.kind != NothingWanted && r.kind != TakesNoVMs
}

// NoneWanted is the reason of a class that asks for no jobs.
const NoneWanted = "No jobs are wanted."

// noneWantedNamed bounds the classes that are named as wanting no jobs.
const noneWantedNamed = 8

// NoneWantedOf says once that these classes, of so many, ask for no jobs.
func NoneWantedOf(classes []string, of int) string {
	if len(classes) == of {
		return NoneWanted
	}
	if more := len(classes) - noneWantedNamed; more > 1 {
		classes = append(classes[:noneWantedNamed:noneWantedNamed], strconv.Itoa(more)+" other classes")
	}
	return "No jobs are wanted of " + List(classes) + "."
}

// OnNoType is the reason of a class whose deadline no slots of any VM type meet.
func OnNoType(deadline float64) string {
	return "On no VM type can an execution end by the deadline of " + Number(deadline) + " s, whatever the number of slots."
}

// noCapacity is the reason of a class that cannot have more: no VM can be rented, and no job gives way.
func noCapacity(none, penalty string) string {
	return strings.ToUpper(none[:1]) + none[1:] + "; a refused one is valued at " + penalty + "."
}

// noMore says that no more VMs can be had; vmCost is the budget if it is the limit.
func noMore(vmCost *money.Amount, unit string) string {
	if vmCost != nil {
		return fmt.Sprintf("the budget for VMs, %s %s, pays for no more capacity", *vmCost, unit)
	}
	return "there is no more capacity to be had"
}

const promisedOnly = "Only the promised jobs run."

func (r *Reason) say() string {
	penalty := CentsOf(r.penalty) + " " + r.period
	switch r.kind {
	case DeadlineImpossible:
		return "An execution takes " + Number(r.fixed) + " s even with any number of slots, and the deadline is " + Number(r.deadline) + " s."
	case NothingWanted:
		return NoneWanted
	case TakesNoVMs:
		return "Its jobs take no VMs."
	case RefusalCosts:
		if r.limits {
			return valued(r.never, penalty) + ", and one more cannot be served within " + r.missing()
		}
		return valued(r.never, penalty) + ", and " + noMore(r.vmCost, r.unit) + "."
	case DoesNotFit:
		return "One more job cannot be served within " + r.missing()
	case NoMoreCapacity:
		return noCapacity(noMore(r.vmCost, r.unit), penalty)
	case CostsAsRefusal:
		return "One more job " + r.costs(CentsOf(r.amount)) + ", as much as it is valued at when refused: a tie."
	case CostsBetween:
		refused := "; refused, it is valued at " + CentsOf(r.penalty) + "."
		if r.never {
			refused = allPromised
		}
		return "One more job takes between " + bound(*r.change.Low, -1) + " and " + bound(*r.change.High, 1) + " " + r.period + refused
	case CostsAbout:
		return Compared(r.amount.Float(), r.penalty.Float(), "about ", r.period, " in VMs", r.never)
	}
	if r.change == nil {
		return Compared(r.amount.Float(), r.penalty.Float(), "", r.period, " in VMs", r.never)
	}
	more, refused := compared(r.amount.Float(), r.penalty.Float(), r.full, r.never)
	return "One more job " + r.costs(more) + refused
}

// bound writes the end of a range with as many places as Cents, rounded outwards.
func bound(end money.Amount, side int) string {
	places := int32(2)
	for !end.IsZero() && places < money.Places && end.Abs().LessThan(decimal.New(1, -places)) {
		places += 2
	}
	if side < 0 {
		return end.RoundFloor(places).StringFixed(places)
	}
	return end.RoundCeil(places).StringFixed(places)
}

// Compared sets what one more job takes against refusing it, which never may be. By the linear program alone the VMs have a worth, which
// is on no bill.
func Compared(more, penalty float64, about, period, made string, never bool) string {
	a, refused := compared(more, penalty, true, never)
	if made == " in VMs" && about == "" {
		return "One more job takes VMs worth " + a + " " + period + refused
	}
	return "One more job takes " + about + a + " " + period + made + refused
}

// compared writes what one more job costs, and what it is valued at when refused, unless it never is. If only is set, it stresses a
// refusal that is cheaper.
func compared(more, penalty float64, only, never bool) (cost, refused string) {
	a, b := Apart(more, penalty)
	if never {
		return a, allPromised
	}
	if only && more > penalty && !Tied(more, penalty) {
		b = "only " + b
	}
	return a, "; refused, it is valued at " + b + "."
}

// costs says what one more job costs, of which together is written.
func (r *Reason) costs(together string) string {
	bill, value := r.change.Bill.Float(), r.change.ValueRefused.Float()
	written := Cents(math.Abs(bill))
	if value == 0 {
		written = strings.TrimPrefix(together, "-")
	}
	return OneMore(bill, value, written, Cents(math.Abs(value)), together, r.period, r.served)
}

// OneMore says what one more job costs. The bill comes first, then how many jobs of its class are served where that is not
// exactly one more. The value of other jobs stands apart. Amounts are written without their signs.
func OneMore(bill, value float64, billed, valued, together, period string, served float64) string {
	said := "costs " + billed + " " + period + " in VMs"
	if bill < 0 {
		said = "cuts the VM bill by " + billed + " " + period
	}
	if served > 0 {
		said += ", for " + Number(served) + " of its class are then served"
	}
	switch {
	case value > 0:
		said += ", and " + valued + " more value is refused: " + together + " together"
	case value < 0:
		said += ", and " + valued + " less value is refused: " + together + " together"
	}
	return said
}

// missing names the limit that one more job exceeds.
func (r *Reason) missing() string {
	switch {
	case r.change.VMs == nil && r.change.Budget != nil: // so no other limit is in the way
		return "the budget" + r.budgetNeeded()
	case r.change.VMs == nil && r.budget != nil:
		return "the limits and the budget" + r.budgetNeeded()
	case r.change.VMs == nil:
		return "the limits."
	case r.vmCost != nil:
		return fmt.Sprintf("the budget for VMs: beside what is promised it needs %s more than %s %s buys", VMs(*r.change.VMs), *r.vmCost, r.unit) + r.budgetNeeded()
	}
	said := "the limits: beside what is promised it needs " + VMs(*r.change.VMs) + " more than there are"
	if r.quota > 0 {
		said += fmt.Sprintf("; a quota of %d on demand would do", r.quota)
	}
	return said + "."
}

// budgetNeeded ends a sentence that names a budget with the cure.
func (r *Reason) budgetNeeded() string {
	if r.change.Budget == nil {
		return ". No larger budget is known to do."
	}
	return fmt.Sprintf(". A budget of %s %s, %s more, would do.", *r.change.Budget, r.unit, r.budgetMore())
}

// budgetMore returns the amount that the budget lacks.
func (r *Reason) budgetMore() money.Amount {
	now := r.budget.VMCost
	if now == nil {
		now = r.budget.Total
	}
	if now == nil {
		return *r.change.Budget
	}
	return money.Amount{Decimal: r.change.Budget.Sub(now.Decimal)}
}

// namesBudget reports whether one more job is said to exceed a budget.
func (r *Reason) namesBudget() bool {
	return r.limits && r.budget != nil && (r.change.VMs == nil || r.vmCost != nil)
}

// Facts returns the reason as facts about a class.
func (r Reason) Facts(class string) Facts {
	f := capacity.Fact{Kind: r.kind, Subject: class, Figures: []capacity.Figure{}, Claim: r.say()}
	add := func(name, value, unit string) {
		f.Figures = append(f.Figures, capacity.Figure{Name: name, Value: value, Unit: unit})
	}
	switch r.kind {
	case DeadlineImpossible:
		add("least_time", Number(r.fixed), "s")
		add("deadline", Decimal(r.deadline), "s")
	case Costs, CostsAbout, CostsAsRefusal:
		add("amount", r.amount.String(), r.unit)
		if r.change != nil {
			add("bill", r.change.Bill.String(), r.unit)
			add("value_refused", r.change.ValueRefused.String(), r.unit)
			if r.served > 0 {
				add("served", Decimal(r.served), "jobs")
			}
		}
	case CostsBetween:
		add("low", r.change.Low.String(), r.unit)
		add("high", r.change.High.String(), r.unit)
	case RefusalCosts, DoesNotFit, NoMoreCapacity:
		if r.limits && r.change.VMs != nil {
			add("vms_missing", Decimal(*r.change.VMs), "VMs")
			if r.quota > 0 {
				add("quota", Decimal(float64(r.quota)), "VMs")
			}
		}
		if r.vmCost != nil && (!r.limits || r.change.VMs != nil) {
			add("budget", r.vmCost.String(), r.unit)
		}
		if r.namesBudget() && r.change.Budget != nil {
			add("budget_needed", r.change.Budget.String(), r.unit)
			add("budget_more", r.budgetMore().String(), r.unit)
		}
	}
	if !r.compares() {
		return Facts{f}
	}
	add("penalty", r.penalty.String(), r.unit)
	add("refused", Decimal(r.refused), "jobs")
	if !r.promised {
		return Facts{f}
	}
	return Facts{f, {Kind: PromisedOnly, Subject: class, Figures: []capacity.Figure{}, Claim: promisedOnly}}
}

// Decimal writes a number for programs.
func Decimal(x float64) string { return money.Round(x).Decimal.String() }

// Reasons tells each class's reason, in the order of the problem, and which of them are listed as facts: all of a few
// classes, and of many those whose changes were worked out. fixed returns the time of a class that no number of slots
// shortens.
func Reasons(p *capacity.Problem, classes []capacity.ClassPlan, fixed func(class int) float64) (said []string, listed Facts) {
	said = make([]string, len(classes))
	for i := range classes {
		r := ReasonOf(p, &p.Classes[i], &classes[i], fixed(i))
		if len(classes) > capacity.MaxFacts && !classes[i].OneMore.Told() {
			said[i] = r.String()
			continue
		}
		facts := r.Facts(classes[i].Name)
		said[i], listed = facts.Text(), append(listed, facts...)
	}
	return said, listed
}

// Tied says that two amounts are the same but for the noise of float64.
func Tied(a, b float64) bool { return a > 0 && math.Abs(a-b) <= 1e-9*b }

// Apart is two amounts for one sentence, with more places where two do not tell them apart.
func Apart(a, b float64) (string, string) {
	x, y := Cents(a), Cents(b)
	for places := int32(3); x == y && !Tied(a, b) && a != b && places <= money.Places; places++ {
		x, y = fixed(a, places), fixed(b, places)
	}
	return x, y
}
