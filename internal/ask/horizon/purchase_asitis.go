package horizon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
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
	Dearer  bool         `json:"dearer"` // the purchase raises bill and value refused together, or leaves more hours without a plan

	TodayWithout  *WithoutPlan `json:"today_without_plan"` // null where every hour has a plan
	BoughtWithout *WithoutPlan `json:"bought_without_plan"`
}

// WithoutPlan tells of hours in which promised jobs do not fit, and what would do.
type WithoutPlan struct {
	Hours    float64     `json:"hours"`
	First    time.Time   `json:"first"`
	Conflict string      `json:"conflict"` // of the first
	Cure     *fault.Hint `json:"cure"`     // a budget with which every hour has a plan, which was tried; null where none was found
}

// asItIs plans the horizon with all that the question leaves out, today and with a purchase.
func (q *PurchaseQuestion) asItIs(ctx context.Context, bought []int64, solve plan.Planner, crew Crew, steps *steps) (*AsItIs, error) {
	whole, vmType := *q, ""
	if q.Whole != nil {
		whole.Horizon, vmType = q.Whole.Horizon, q.Whole.VMType
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
		to      *PurchaseCost
		without **WithoutPlan
		with    Horizon
	}{{&a.Today, &a.TodayWithout, whole.Horizon}, {&a.Bought, &a.BoughtWithout, with}} {
		told := steps.begin(horizonSteps)
		cures := budgetCures{solve: solve}
		found, err := planWith(ctx, part.with, cures.plan, crew, func(done, total int) { told(float64(done) / float64(total)) })
		if err != nil {
			return nil, err
		}
		*part.to = costOf(&found)
		if len(found.Infeasible) == 0 {
			continue
		}
		first := &found.Infeasible[0]
		hours := max(found.Total.InfeasibleHours, first.Hours) // a plan with too few VMs is none
		*part.without = &WithoutPlan{Hours: hours, First: first.Start, Conflict: first.Conflict}
		if (*part.without).Cure, err = cures.tried(ctx, part.with, crew); err != nil {
			return nil, err
		}
	}
	a.Dearer = a.leavesMore() || a.Today.Status != capacity.InfeasibleStatus && a.Bought.Total.GreaterThan(a.Today.Total.Decimal)
	return a, nil
}

// leavesMore says whether the purchase leaves more hours without a plan than today's contracts.
func (a *AsItIs) leavesMore() bool {
	return a.BoughtWithout != nil && (a.TodayWithout == nil || a.BoughtWithout.Hours > a.TodayWithout.Hours)
}

// budgetCures plans as solve does, and notes the largest of the budgets that cure problems without a plan.
type budgetCures struct {
	solve plan.Planner
	mu    sync.Mutex
	hint  *fault.Hint
	most  money.Amount
}

func (c *budgetCures) plan(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
	pl, err := c.solve(ctx, p)
	for _, f := range slices.Concat(pl.Conflicts, fault.Findings(err)) {
		if f.Hint == nil || f.Hint.Pointer != "/budget/vm_cost" && f.Hint.Pointer != "/budget/total" {
			continue
		}
		text, _ := f.Hint.Value.(string)
		if value, err := money.Parse(text); err == nil {
			c.mu.Lock()
			if c.hint == nil || value.GreaterThan(c.most.Decimal) {
				c.hint, c.most = f.Hint, value
			}
			c.mu.Unlock()
		}
	}
	return pl, err
}

// tried returns the noted budget if every hour has a plan with it.
func (c *budgetCures) tried(ctx context.Context, h Horizon, crew Crew) (*fault.Hint, error) {
	if c.hint == nil {
		return nil, nil
	}
	budget := *h.Problem.Budget
	if c.hint.Pointer == "/budget/total" {
		budget.Total = &c.most
	} else {
		budget.VMCost = &c.most
	}
	h.Problem.Budget = &budget
	found, err := planWith(ctx, h, c.solve, crew, nil)
	if err != nil || len(found.Infeasible) > 0 {
		return nil, err
	}
	return &fault.Hint{Detail: c.hint.Detail, Pointer: "/problem" + c.hint.Pointer, Value: c.hint.Value}, nil
}

// words names what was left out.
func (a *AsItIs) words() string {
	var said []string
	for _, l := range a.LeftOut {
		said = append(said, map[LeftOut]string{WithoutTypes: "the other types of VMs", WithoutSpot: "spot VMs", WithoutBudget: "the budget"}[l])
	}
	return words.List(said)
}

// said tells of the hours without a plan from the first on.
func (w *WithoutPlan) said() string {
	text := fmt.Sprintf("The first is at %s: %s", moment(w.First), w.Conflict)
	if w.Cure != nil {
		text += " " + strings.TrimSuffix(w.Cure.Detail, ".") + ", and every hour has a plan."
	}
	return text
}

// tellWithout says in which hours promised jobs do not fit with what was left out, and what would do; the purchase is bought.
func (a *PurchaseAnswer) tellWithout() {
	as := a.AsItIs
	if as.TodayWithout == nil {
		return
	}
	today, left := as.TodayWithout, as.BoughtWithout
	figures := []capacity.Figure{words.Count("hours_today", today.Hours, "hours")}
	begin := fmt.Sprintf("With %s as the cluster has it, ", as.words())
	if left == nil {
		a.Facts.Say("today_without_plan", "", fmt.Sprintf("%stoday's contracts leave %s without a plan. %s This purchase leaves none.", begin, hourCount(today.Hours), today.said()), figures...)
		return
	}
	a.Facts.Say("bought_without_plan", "", fmt.Sprintf("%sthis purchase leaves %s without a plan; today's contracts leave %s. %s", begin, hourCount(left.Hours), hourCount(today.Hours), left.said()),
		append(figures, words.Count("hours_bought", left.Hours, "hours"))...)
}

// adviseAgainst says why nothing is bought though offers lower the bill without what is left out.
func (a *PurchaseAnswer) adviseAgainst(span string) {
	as := a.AsItIs
	figures := []capacity.Figure{words.Money("bill_today", as.Today.Bill, a.Currency)}
	said := fmt.Sprintf("Buy none of the offers: %s, with %s as the cluster has it, %s would", span, as.words(), a.numbers(as.VMs))
	if left := as.BoughtWithout; left != nil {
		than := ""
		if as.TodayWithout != nil {
			than = fmt.Sprintf(" where today's contracts leave %s", hourCount(as.TodayWithout.Hours))
		}
		a.Facts.Say("buy_nothing_as_it_is", "", fmt.Sprintf("%s leave %s without a plan%s. %s", said, hourCount(left.Hours), than, left.said()), append(figures, words.Count("hours_bought", left.Hours, "hours"))...)
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
