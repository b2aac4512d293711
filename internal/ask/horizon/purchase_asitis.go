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

	FewerTried int64        `json:"fewer_tried"` // smaller purchases that were planned as well
	Fewer      *FewerBought `json:"fewer"`       // the best of them, where it is better than the purchase and than none
}

// FewerBought is a smaller purchase in the cluster as it is, with which every hour has a plan.
type FewerBought struct {
	VMs  []int64      `json:"vms"` // by offer
	Cost PurchaseCost `json:"cost"`
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
	today, with := q.whole(bought)
	a := &AsItIs{LeftOut: q.leftOut(), VMs: slices.Clone(bought)}
	for _, part := range [...]struct {
		to      *PurchaseCost
		without **WithoutPlan
		with    Horizon
	}{{&a.Today, &a.TodayWithout, today}, {&a.Bought, &a.BoughtWithout, with}} {
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

// whole is the horizon of the cluster as it is, today and with a purchase.
func (q *PurchaseQuestion) whole(bought []int64) (today, with Horizon) {
	whole, vmType := *q, ""
	if q.Whole != nil {
		whole.Horizon, vmType = q.Whole.Horizon, q.Whole.VMType
	}
	if whole.LeaveOut = nil; q.Assume != "" {
		whole.Horizon = whole.Weighed()
	}
	with = withOffers(&whole, bought)
	for i := len(whole.Contracts); i < len(with.Contracts); i++ {
		with.Contracts[i].VMType = vmType
	}
	return whole.Horizon, with
}

// mostTries bounds the smaller purchases that are planned in the cluster as it is.
const mostTries = 8

// tryFewer plans smaller purchases in the cluster as it is: all offers in the same proportion, first in quarters and then ever closer
// around the best. What was tried before the work is ended stays.
func (q *PurchaseQuestion) tryFewer(ctx context.Context, a *AsItIs, solve plan.Planner, crew Crew, steps *steps) error {
	most := slices.Max(a.VMs)
	tried := map[int64]*PurchaseCost{0: &a.Today, most: &a.Bought}
	best := most
	if !better(&a.Bought, &a.Today) {
		best = 0
	}
	told := steps.begin(horizonSteps)
	step := (most + 3) / 4
	for next := []int64{step, 2 * step, 3 * step}; ; next = []int64{best - step, best + step} {
		was := best
		for _, n := range next {
			if n <= 0 || n >= most || tried[n] != nil || a.FewerTried == mostTries {
				continue
			}
			bought := make([]int64, len(a.VMs))
			for k := range bought {
				bought[k] = a.VMs[k] * n / most
			}
			_, with := q.whole(bought)
			found, err := planWith(ctx, with, solve, crew, nil)
			if err != nil {
				return err
			}
			cost := costOf(&found)
			tried[n] = &cost
			a.FewerTried++
			told(float64(a.FewerTried) / mostTries)
			if better(&cost, tried[best]) {
				best, a.Fewer = n, &FewerBought{bought, cost}
			}
		}
		if step == 1 && best == was {
			return nil
		}
		step = (step + 1) / 2
	}
}

// better reports whether every hour has a plan, and at a lower cost.
func better(a, than *PurchaseCost) bool {
	return a.Status != capacity.InfeasibleStatus && (than.Status == capacity.InfeasibleStatus || a.Total.LessThan(than.Total.Decimal))
}

// tellFewer says what smaller purchases come to in the cluster as it is.
func (a *PurchaseAnswer) tellFewer() {
	as := a.AsItIs
	tried := []capacity.Figure{words.Count("tried", float64(as.FewerTried), "purchases")}
	of := words.Counted(words.Number(float64(as.FewerTried)), "smaller purchase")
	if as.Fewer == nil {
		if as.FewerTried > 0 {
			a.Facts.Say("no_fewer_as_it_is", "", fmt.Sprintf("In the cluster as it is, none of %s that %s tried is better.", of, wasWere(as.FewerTried)), tried...)
		}
		return
	}
	cost := &as.Fewer.Cost
	said := fmt.Sprintf("the VM bill is then %s %s, and every hour has a plan", words.CentsOf(cost.Bill), a.Currency)
	if as.Today.Status != capacity.InfeasibleStatus {
		said = "that " + billSentence(&as.Today, cost, a.Currency)
	}
	figures := append(tried, words.Money("bill", cost.Bill, a.Currency))
	if as.Bought.Status != capacity.InfeasibleStatus {
		less := money.Amount{Decimal: as.Bought.Total.Sub(cost.Total.Decimal)}
		said += fmt.Sprintf(". Bill and value refused together are then %s lower than with %s", words.CentsOf(less), a.numbers(as.VMs))
		figures = append(figures, words.Money("less", less, a.Currency))
	}
	a.Facts.Say("fewer_as_it_is", "", fmt.Sprintf("In the cluster as it is, %s would be better: %s. Of %s that %s tried it is the best.", a.numbers(as.Fewer.VMs), said, of, wasWere(as.FewerTried)), figures...)
}

func wasWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
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

// adviseAgainst says why nothing is bought, or less, though offers lower the bill without what is left out.
func (a *PurchaseAnswer) adviseAgainst(span string) {
	as := a.AsItIs
	figures := []capacity.Figure{words.Money("bill_today", as.Today.Bill, a.Currency)}
	kind, none := "buy_nothing_as_it_is", "Buy none of the offers"
	if as.Fewer != nil {
		kind, none = "buy_fewer_as_it_is", "Buy fewer than "+a.numbers(as.VMs)
	}
	said := fmt.Sprintf("%s: %s, with %s as the cluster has it, %s would", none, span, as.words(), a.numbers(as.VMs))
	if left := as.BoughtWithout; left != nil {
		than := ""
		if as.TodayWithout != nil {
			than = fmt.Sprintf(" where today's contracts leave %s", hourCount(as.TodayWithout.Hours))
		}
		a.Facts.Say(kind, "", fmt.Sprintf("%s leave %s without a plan%s. %s", said, hourCount(left.Hours), than, left.said()), append(figures, words.Count("hours_bought", left.Hours, "hours"))...)
		return
	}
	said += " " + raise(&as.Today, &as.Bought, a.Currency)
	fewer := ""
	if as.FewerTried == 0 && slices.Max(as.VMs) > 1 { // the work was ended before
		fewer = " Fewer may still pay: plan the months with them as a contract."
	}
	a.Facts.Say(kind, "", fmt.Sprintf("%s; only without %s would that be the best purchase.%s", said, as.words(), fewer),
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
