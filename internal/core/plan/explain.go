package plan

import (
	"math"
	"strconv"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/core/plan/integer"
	"headroom/internal/core/words"
)

// oneMore says what admitting one more job of a class would cost in VMs, all else as planned; the
// cost is +Inf where so many VMs more would be needed than there are.
type oneMore func(class int) (vms int64, cost float64)

// next is oneMore for a whole plan.
func (d *decision) next(i int) (vms int64, cost float64) {
	supply := &d.relaxed.supply
	load := d.load + d.front.Units(i, d.best.Jobs[i]+1) - d.front.Units(i, d.best.Jobs[i])
	n := max(d.best.VMs, integer.CeilDiv(load, d.front.PerVM()))
	if most := supply.Most(); n > most {
		return n - most, math.Inf(1)
	}
	return n - d.best.VMs, supply.Cost(n) - supply.Cost(d.best.VMs)
}

// explain fills in verdicts, reasons, break-even penalties, flips and prices. All but the reasons
// for refused jobs come from the relaxation, since the integer program has no prices.
func (m *model) explain(pl *capacity.Plan, r *relaxation, next oneMore) {
	n := len(m.classes)
	breakEven := make([]money.Amount, 0, n)
	flips := flipper{relaxation: r, model: m, amounts: make([]money.Amount, 0, 2*n), seconds: make([]float64, 0, n)}
	for i := range m.classes {
		c := &m.classes[i]
		out := &pl.Classes[c.index]
		out.Verdict = verdict(c, out.Admitted)
		if !c.impossible && !math.IsInf(r.nuHigh, 1) {
			out.BreakEvenPenalty = amount(&breakEven, c.gamma*r.nuHigh)
		}
		out.Reason = m.reason(c, out, r, i, next, pl.Proof != nil && pl.Proof.Gap == 0)
		out.Flips = flips.of(i)
	}
	prices := &capacity.Prices{Capacity: r.capacityPrice()}
	prices.Contracts = make([]capacity.ContractWorth, len(m.Supply.Contracts))
	for i, c := range m.Supply.Contracts {
		worth := r.nuLow - c.Price.Float()*m.hours
		if c.Billing != capacity.BilledAlways {
			worth = max(0, worth) // one that is not used costs nothing
		}
		prices.Contracts[i] = capacity.ContractWorth{Name: c.Name, Worth: money.Round(worth)}
	}
	prices.Budget = m.budgetWorth(r)
	pl.Prices = prices
}

func (r *relaxation) capacityPrice() capacity.CapacityPrice {
	price := capacity.CapacityPrice{Low: money.Round(r.nuLow)}
	if !math.IsInf(r.nuHigh, 1) {
		high := money.Round(r.nuHigh)
		price.High = &high
	}
	return price
}

func verdict(c *class, admitted float64) capacity.Verdict {
	switch {
	case c.impossible:
		return capacity.VerdictImpossible
	case admitted >= c.Jobs.Max*(1-sumNoise): // of parts on several types
		return capacity.VerdictFull
	case admitted == 0:
		return capacity.VerdictNone
	case admitted <= c.Jobs.Min:
		return capacity.VerdictMinimum
	default:
		return capacity.VerdictPartial
	}
}

// reason says in a sentence why the class got what it got. It speaks of a tie only where one more job of a proved plan
// costs what refusing it does, in whole VMs: the relaxation's prices prove none.
func (m *model) reason(c *class, out *capacity.ClassPlan, r *relaxation, i int, next oneMore, proved bool) string {
	period := words.PerPeriod(m.PeriodSeconds)
	penalty := words.Cents(c.penalty)
	margin := c.gamma * r.nuHigh
	switch {
	case c.impossible:
		return "An execution takes " + words.Number(c.shape.work.FixedSeconds) + " s even with any number of slots, and the deadline is " + words.Number(c.DeadlineSeconds) + " s."
	case c.Jobs.Max == 0:
		return "No jobs are wanted."
	case c.gamma == 0 && out.Verdict == capacity.VerdictFull:
		return "Its jobs take no VMs."
	case out.Verdict == capacity.VerdictFull && math.IsInf(margin, 1):
		return "Refusing one costs " + penalty + " " + period + ", and there is no more capacity to be had."
	case out.Verdict == capacity.VerdictFull:
		return m.compared(margin, c.penalty, "in VMs")
	}
	floor := ""
	if out.Verdict == capacity.VerdictMinimum {
		floor = " Only the promised jobs run."
	}
	if next == nil {
		if math.IsInf(margin, 1) {
			return "All VMs are in use by jobs that cost more to refuse (" + penalty + " " + period + " here)." + floor
		}
		return m.compared(margin, c.penalty, "in VMs") + floor
	}
	vms, cost := next(i)
	switch {
	case math.IsInf(cost, 1):
		return "One more job would need " + counted(vms, "VM") + " more than there are, and refusing others to make room would cost more." + floor
	case vms == 0:
		return "One more job would fit, but refusing it costs nothing that would pay for it." + floor
	case proved && money.Round(cost).Equal(c.Penalty.Decimal):
		return "One more job needs " + counted(vms, "VM") + " for " + words.Cents(cost) + " " + period + ", as much as refusing it costs: a tie, and no VMs are rented that save nothing." + floor
	case cost < c.penalty && !tied(cost, c.penalty):
		return "One more job would pay for its " + counted(vms, "VM") + ", but the plan as a whole is cheaper without it." + floor
	default:
		more, less := apart(cost, c.penalty)
		return "One more job needs " + counted(vms, "VM") + " for " + more + " " + period + ", refusing it costs " + less + "." + floor
	}
}

// compared sets what one more job costs by the relaxation's prices against refusing it.
func (m *model) compared(more, penalty float64, in string) string {
	a, b := apart(more, penalty)
	only := ""
	if more > penalty && !tied(more, penalty) {
		only = "only "
	}
	return "One more job costs " + About(m.Options.Integrality) + a + " " + words.PerPeriod(m.PeriodSeconds) + " " + in + ", refusing it " + only + b + "."
}

// tied says that two amounts are the same but for the noise of float64.
func tied(a, b float64) bool { return a > 0 && math.Abs(a-b) <= 1e-9*b }

// apart is two amounts for one sentence, with more places where two do not tell them apart.
func apart(a, b float64) (string, string) {
	x, y := words.Cents(a), words.Cents(b)
	for places := 3; x == y && !tied(a, b) && a != b && places <= money.Places; places++ {
		x, y = strconv.FormatFloat(a, 'f', places, 64), strconv.FormatFloat(b, 'f', places, 64)
	}
	return x, y
}

func counted(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.FormatInt(n, 10) + " " + word + "s"
}

// About is the word before a price of the relaxation: a plan of whole VMs or slots only comes near it.
func About(i capacity.Integrality) string {
	if i == capacity.Relaxed {
		return ""
	}
	return "about "
}
