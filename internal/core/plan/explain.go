package plan

import (
	"math"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// explain fills in verdicts, reasons, break-even penalties, flips and prices. What was found by planning anew goes
// before what the relaxation says, since the integer program has no prices.
func (m *model) explain(pl *capacity.Plan, r *relaxation, beside *counterfactual) {
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
		out.Flips = flips.of(i)
		if m.Options.Integrality != capacity.Relaxed && !c.impossible {
			more := 0.0
			if c.gamma > 0 {
				more = c.gamma * r.nuHigh
			}
			besideRelaxed(out, more, c.gamma*r.nuLow)
		}
		if m.Options.Integrality == capacity.Relaxed {
			out.OneMore = m.noneMore(i, out, r)
		}
		if beside != nil {
			beside.tell(i, out)
		}
	}
	m.tellReasons(pl)
	if beside != nil {
		pl.Stays = beside.plan
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

// noneMore is one job more of a class where the relaxation uses up all VMs for promised jobs, so that no plan has it. It
// tells the VMs that are missing.
func (m *model) noneMore(i int, out *capacity.ClassPlan, r *relaxation) *capacity.JobChange {
	c, most := &m.classes[i], float64(r.supply.Most())
	need := r.floor + c.gamma*(out.Admitted+1-c.low)
	if c.impossible || !math.IsInf(r.nuHigh, 1) || need-most <= sumNoise*(1+most) {
		return nil
	}
	return &capacity.JobChange{Exact: true, VMs: new(need - most)}
}

// tellReasons fills in the reasons, and the facts that they say.
func (m *model) tellReasons(pl *capacity.Plan) {
	fixed := make([]float64, len(m.classes))
	for i := range m.classes {
		fixed[m.classes[i].index] = m.classes[i].shape.work.FixedSeconds
	}
	said, facts := words.Reasons(m.Problem, pl.Classes, func(class int) float64 { return fixed[class] })
	for i := range said {
		pl.Classes[i].Reason = said[i]
	}
	pl.Facts = facts
}

func (r *relaxation) capacityPrice() capacity.CapacityPrice {
	return capacity.CapacityPrice{Low: money.Round(r.nuLow), High: money.Finite(r.nuHigh)}
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
