package horizon

import (
	"context"
	"fmt"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/words"
)

// AsItIs compares a purchase with today where nothing is left out: its hours are planned as months are. A purchase that
// costs more there is not recommended.
type AsItIs struct {
	LeftOut []LeftOut    `json:"left_out"` // what the offers were weighed without
	VMs     []int64      `json:"vms"`      // by offer: the best purchase without that
	Today   PurchaseCost `json:"today"`
	Bought  PurchaseCost `json:"bought"`
	Dearer  bool         `json:"dearer"` // the purchase raises bill and value refused together, or breaks promises
}

// asItIs plans the horizon with all that the question leaves out, today and with a purchase.
func (q *PurchaseQuestion) asItIs(ctx context.Context, bought []int64, solve plan.Planner, crew Crew, steps *steps) (*AsItIs, error) {
	whole, vmType := *q, ""
	if q.cluster != nil {
		whole.Horizon, vmType = *q.cluster, q.vmType
	}
	if whole.LeaveOut = nil; q.Assume != "" {
		whole.Horizon = whole.Weighed()
	}
	with := withOffers(&whole, bought)
	for i := len(whole.Contracts); i < len(with.Contracts); i++ {
		with.Contracts[i].VMType = vmType
	}
	a := &AsItIs{LeftOut: q.leftOut(), VMs: slices.Clone(bought)}
	for _, part := range [...]struct {
		to   *PurchaseCost
		with Horizon
	}{{&a.Today, whole.Horizon}, {&a.Bought, with}} {
		told := steps.begin(horizonSteps)
		found, err := planWith(ctx, part.with, solve, crew, func(done, total int) { told(float64(done) / float64(total)) })
		if err != nil {
			return nil, err
		}
		*part.to = costOf(&found)
	}
	if a.Today.Status != capacity.InfeasibleStatus {
		a.Dearer = a.Bought.Status == capacity.InfeasibleStatus || a.Bought.Total.GreaterThan(a.Today.Total.Decimal)
	}
	return a, nil
}

// words names what was left out.
func (a *AsItIs) words() string {
	var said []string
	for _, l := range a.LeftOut {
		said = append(said, map[LeftOut]string{WithoutTypes: "the other types of VMs", WithoutSpot: "spot VMs", WithoutBudget: "the budget"}[l])
	}
	return words.List(said)
}

// adviseAgainst says why nothing is bought though offers lower the bill without what is left out.
func (a *PurchaseAnswer) adviseAgainst(span string) {
	as := a.AsItIs
	figures := []capacity.Figure{words.Money("bill_today", as.Today.Bill, a.Currency)}
	said := fmt.Sprintf("Buy none of the offers: %s, with %s as the cluster has it, %s would", span, as.words(), a.numbers(as.VMs))
	if as.Bought.Status == capacity.InfeasibleStatus {
		why := " leave promised jobs without a place."
		if slices.Contains(as.LeftOut, WithoutBudget) {
			why = " leave hours without a plan: the budget does not pay for the contracts and all promised jobs."
		}
		a.Facts.Say("buy_nothing_as_it_is", "", said+why, figures...)
		return
	}
	said += " " + raise(&as.Today, &as.Bought, a.Currency)
	a.Facts.Say("buy_nothing_as_it_is", "", fmt.Sprintf("%s; only without %s would that be the best purchase. Fewer may still pay: plan the months with them as a contract.", said, as.words()),
		append(figures, words.Money("bill_bought", as.Bought.Bill, a.Currency))...)
}

// raise says by how much a purchase is dearer than today, where it is.
func raise(today, bought *PurchaseCost, currency string) string {
	was, is, by := closing(today.Bill, bought.Bill)
	if bought.Bill.GreaterThan(today.Bill.Decimal) {
		return fmt.Sprintf("raise the VM bill by %s %s, from %s to %s", by, currency, was, is)
	}
	was, is, by = closing(today.Total, bought.Total)
	return fmt.Sprintf("raise bill and value refused together by %s %s, from %s to %s", by, currency, was, is)
}
