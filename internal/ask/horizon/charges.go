package horizon

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
)

// Stint is some time of a horizon in which nothing changes, within a day (UTC), and its money, rounded where
// the answer rounds it: stints add up to the answer's totals.
type Stint struct {
	Start     time.Time
	Seconds   int64
	Period    *PeriodAnswer
	Classes   []ClassShare
	Types     []TypeCharge     // by VM type in the problem's order; one without a name where there is one kind
	Contracts []ContractCharge // those in force
	Penalties money.Amount
}

// End returns the end of the stint.
func (s *Stint) End() time.Time { return s.Start.Add(time.Duration(s.Seconds) * time.Second) }

// TypeCharge holds the VMs of a type that are rented by the hour.
type TypeCharge struct {
	Name           string
	OnDemand, Spot RentCharge
}

// RentCharge is a number of VMs, the price of each per hour, and what they cost for the time.
type RentCharge struct {
	VMs    float64
	Price  money.Amount
	Amount money.Amount
}

// ContractCharge is a contract in a stint. Used and Idle are paid by the hour.
type ContractCharge struct {
	capacity.Contract
	Index   int // in the answer's contracts
	Type    int // in the stint's types
	UsedVMs float64
	Used    money.Amount
	Idle    money.Amount
	Upfront money.Amount // the stint's share of the upfront payment, by seconds
}

// Charges visits the stints of a horizon's answer in their order, and in the end holds them against the
// answer's totals. An answer that was not made of this very horizon is refused. A visitor must not keep the stint.
func Charges(h *Horizon, a *Answer, visit func(*Stint) error) error {
	terms := make([]term, len(h.Contracts))
	for i, c := range h.Contracts {
		terms[i] = term{c.From, c.Until}
	}
	w := charging{calendar: newCalendar(h, terms), answer: a, contracts: contractsOf(h), byName: make(map[string]int)}
	if len(a.Situations) != a.Solved || w.calendar.horizon.parts == nil && a.Solved != len(w.calendar.situations) || len(a.Contracts) != len(w.contracts) {
		return errOtherHorizon
	}
	for i, c := range w.contracts {
		if a.Contracts[i].Name != c.Name || !a.Contracts[i].Upfront.Equal(c.Upfront.Decimal) {
			return errOtherHorizon
		}
		w.byName[c.Name] = i
		w.total.add(&SpanCost{Total: c.Upfront, Bill: c.Upfront, Upfront: c.Upfront})
	}
	w.lasts, w.elapsed, w.upfront = make([]int64, len(w.contracts)), make([]int64, len(w.contracts)), make([]decimal.Decimal, len(w.contracts))
	whole, own := term{h.Start(), h.End()}, len(w.contracts)-len(terms)
	for i, t := range terms {
		w.lasts[own+i] = t.within(whole)
	}
	for i := range w.calendar.stints {
		if !w.next(i) {
			return errOtherHorizon
		}
		if err := visit(&w.stint); err != nil {
			return err
		}
	}
	if !w.closes() {
		return errOtherHorizon
	}
	return nil
}

var errOtherHorizon = fmt.Errorf("the answer is not one to this horizon; plan the horizon again: %w", fault.Conflict)

// charging goes through the stints of an answer. Money comes from the same settlements that made the answer.
type charging struct {
	calendar  *calendar
	answer    *Answer
	contracts []ContractTotal // added up anew on the way
	byName    map[string]int
	lasts     []int64           // by contract: the seconds of its term in the horizon,
	elapsed   []int64           // those that are over
	upfront   []decimal.Decimal // and their share of the upfront payment
	total     SpanCost
	periods   int // of the answer, that have begun
	problem   capacity.Problem
	settled   settlement
	stint     Stint
}

// next makes the i-th stint; false says that the answer has none such.
func (w *charging) next(i int) bool {
	p := w.calendar.stints[i]
	if i == 0 || w.calendar.stints[i-1].period != p.period || w.calendar.stints[i-1].situation != p.situation {
		if w.periods++; w.periods > len(w.answer.Periods) || !w.settle(&w.answer.Periods[w.periods-1], p) {
			return false
		}
	}
	m := w.settled.over(p.seconds, w.problem.PeriodSeconds)
	w.total.add(&m.cost)
	w.stint = Stint{Start: p.start, Seconds: p.seconds, Period: &w.answer.Periods[w.periods-1], Classes: w.settled.Classes,
		Types: w.stint.Types[:0], Contracts: w.stint.Contracts[:0], Penalties: m.cost.Penalties}
	s := &w.stint
	onDemand, spot := runningCharge{seconds: p.seconds}, runningCharge{seconds: p.seconds}
	for v, t := range w.problem.Supply.Types() {
		rented := capacity.TypeVMs{OnDemand: s.Period.VMs.OnDemand, Spot: s.Period.VMs.Spot}
		if len(w.settled.Types) > 0 {
			rented = w.settled.Types[v]
		}
		charge := TypeCharge{Name: t.Name, OnDemand: onDemand.of(rented.OnDemand, t.OnDemand.Price)}
		if t.Spot != nil {
			charge.Spot = spot.of(rented.Spot, t.Spot.Price)
		}
		s.Types = append(s.Types, charge)
		for _, c := range t.Contracts {
			k := w.byName[c.Name]
			w.contracts[k].add(&w.settled, m, k, float64(p.seconds)/3600)
			charge := ContractCharge{Contract: c, Index: k, Type: v, UsedVMs: w.settled.used[k], Used: m.used[k], Idle: m.idle[k]}
			if w.lasts[k] > 0 {
				w.elapsed[k] += p.seconds
				share := proRata(w.contracts[k].Upfront.Decimal, w.elapsed[k], w.lasts[k])
				charge.Upfront.Decimal = share.Sub(w.upfront[k])
				w.upfront[k] = share.Decimal
			}
			s.Contracts = append(s.Contracts, charge)
		}
	}
	return true
}

// settle makes a period's money from its counts.
func (w *charging) settle(period *PeriodAnswer, p stint) bool {
	w.problem = w.calendar.problem(&w.calendar.situations[p.situation], w.calendar.horizon.Contracts)
	if period.Situation < 0 || period.Situation >= len(w.answer.Situations) || w.calendar.horizon.parts == nil && period.Situation != p.situation {
		return false
	}
	shares := w.answer.Situations[period.Situation]
	if !period.Start.Equal(p.start) || len(period.Used) != len(w.contracts) {
		return false
	}
	pl := capacity.Plan{Status: period.Status, VMs: capacity.VMs{OnDemand: period.VMs.OnDemand, Spot: period.VMs.Spot, Types: shares.Types}}
	if pl.Status != capacity.InfeasibleStatus && (len(shares.Classes) != len(w.problem.Classes) || len(shares.Types) != len(w.problem.Supply.VMTypes)) {
		return false
	}
	for i, c := range shares.Classes {
		if w.calendar.horizon.parts != nil {
			w.problem.Classes[i].Penalty = w.calendar.horizon.asked[i].Penalty
		}
		pl.Classes = append(pl.Classes, capacity.ClassPlan{Name: w.problem.Classes[i].Name, Admitted: c.Admitted, Refused: c.Refused})
	}
	for k, c := range w.contracts {
		pl.VMs.Contracts = append(pl.VMs.Contracts, capacity.ContractUse{Name: c.Name, Used: period.Used[k]})
	}
	w.settled = settle(&w.problem, &pl, w.contracts, nil)
	w.settled.SituationAnswer = shares
	return true
}

// closes says whether the stints came to what the answer says.
func (w *charging) closes() bool {
	t := &w.answer.Total.Cost
	for _, line := range [...][2]money.Amount{
		{t.Total, w.total.Total}, {t.Bill, w.total.Bill}, {t.OnDemand, w.total.OnDemand}, {t.Spot, w.total.Spot},
		{t.Reserved, w.total.Reserved}, {t.ReservedIdle, w.total.ReservedIdle}, {t.Upfront, w.total.Upfront}, {t.Penalties, w.total.Penalties},
	} {
		if !line[0].Equal(line[1].Decimal) {
			return false
		}
	}
	for k := range w.contracts {
		said, found := &w.answer.Contracts[k], &w.contracts[k]
		if !said.Reserved.Equal(found.Reserved.Decimal) || !said.ReservedIdle.Equal(found.ReservedIdle.Decimal) {
			return false
		}
	}
	return w.periods == len(w.answer.Periods)
}

// runningCharge shares an amount that was rounded once among the types that make it up.
type runningCharge struct {
	seconds int64
	perHour decimal.Decimal
	amount  decimal.Decimal
}

func (r *runningCharge) of(vms float64, price money.Amount) RentCharge {
	r.perHour = r.perHour.Add(price.Mul(decimal.NewFromFloat(vms)))
	before := r.amount
	r.amount = proRata(r.perHour, r.seconds, 3600).Decimal
	return RentCharge{vms, price, money.Amount{Decimal: r.amount.Sub(before)}}
}
