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
// costs more there is not recommended. Another one that is better there is recommended instead.
type AsItIs struct {
	LeftOut []LeftOut    `json:"left_out"` // what the offers were weighed without
	VMs     []int64      `json:"vms"`      // by offer: the best purchase without that; none is 0 of each
	Today   PurchaseCost `json:"today"`
	Bought  PurchaseCost `json:"bought"`
	Dearer  bool         `json:"dearer"` // the purchase raises bill and value refused together, or leaves more hours without a plan

	TodayWithout  *WithoutPlan `json:"today_without_plan"` // null where every hour has a plan
	BoughtWithout *WithoutPlan `json:"bought_without_plan"`

	OthersTried int64        `json:"others_tried"` // smaller and larger purchases that were planned as well
	Better      *OtherBought `json:"better"`       // the best of them, where it is better than the purchase and than none: it is recommended
}

// OtherBought is another purchase in the cluster as it is, with which every hour has a plan.
type OtherBought struct {
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

// asItIs plans the horizon with all that was left out, today and with a purchase.
func (q *PurchaseQuestion) asItIs(ctx context.Context, left []LeftOut, bought []int64, solve plan.Planner, crew Crew, steps *steps) (*AsItIs, error) {
	today, with := q.whole(bought)
	a := &AsItIs{LeftOut: left, VMs: slices.Clone(bought)}
	for _, part := range [...]struct {
		to      *PurchaseCost
		without **WithoutPlan
		with    Horizon
	}{{&a.Today, &a.TodayWithout, today}, {&a.Bought, &a.BoughtWithout, with}} {
		if part.to == &a.Bought && slices.Max(bought) == 0 {
			a.Bought, a.BoughtWithout = a.Today, a.TodayWithout
			break
		}
		told := steps.begin(horizonSteps)
		cures := budgetCures{solve: solve}
		found, err := planAsMonths(ctx, part.with, cures.plan, crew, func(done, total int) { told(float64(done) / float64(total)) })
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

// Best is the cost of what is recommended.
func (a *AsItIs) Best() *PurchaseCost {
	switch {
	case a.Better != nil:
		return &a.Better.Cost
	case a.Dearer:
		return &a.Today
	}
	return &a.Bought
}

// recommended returns the VMs of each offer that are to be bought.
func (a *AsItIs) recommended() []int64 {
	switch {
	case a.Better != nil:
		return a.Better.VMs
	case a.Dearer:
		return make([]int64, len(a.VMs))
	}
	return a.VMs
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

// mostTries bounds the other purchases that are planned in the cluster as it is.
const mostTries = 8

// scaled is a purchase in the proportion of another, with n VMs of the offer with index `by`. Of no offer is it more than there is.
func (q *PurchaseQuestion) scaled(bought []int64, by int, n int64) []int64 {
	other := make([]int64, len(bought))
	for k := range other {
		other[k] = min(q.Offers[k].Max, bought[k]*n/bought[by])
	}
	return other
}

// tryOthers plans smaller and larger purchases in the cluster as it is: all offers in the same proportion, at most twice as many.
// They are a quarter apart at first, and then ever closer around the best. What was tried before the work is ended stays.
func (q *PurchaseQuestion) tryOthers(ctx context.Context, a *AsItIs, solve plan.Planner, crew Crew, steps *steps) error {
	by := 0
	for k := range a.VMs {
		if a.VMs[k] > a.VMs[by] {
			by = k
		}
	}
	weighed := a.VMs[by]
	if weighed == 0 {
		return nil
	}
	most := min(2*weighed, q.Offers[by].Max)
	tried := map[int64]*PurchaseCost{0: &a.Today, weighed: &a.Bought}
	best := weighed
	if !better(&a.Bought, &a.Today) {
		best = 0
	}
	told := steps.begin(horizonSteps)
	step := (weighed + 3) / 4
	for next := []int64{step, 2 * step, 3 * step, weighed + step}; ; next = []int64{best - step, best + step} {
		was := best
		for _, n := range next {
			if n <= 0 || n > most || tried[n] != nil || a.OthersTried == mostTries {
				continue
			}
			bought := q.scaled(a.VMs, by, n)
			_, with := q.whole(bought)
			found, err := planAsMonths(ctx, with, solve, crew, nil)
			if err != nil {
				return err
			}
			cost := costOf(&found)
			tried[n] = &cost
			a.OthersTried++
			told(float64(a.OthersTried) / mostTries)
			if better(&cost, tried[best]) {
				best, a.Better = n, &OtherBought{bought, cost}
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

// tellOthers says why other numbers are bought than would be best without what was left out, or that none that was tried is better.
func (a *PurchaseAnswer) tellOthers() {
	as := a.AsItIs
	tried := []capacity.Figure{words.Count("tried", float64(as.OthersTried), "purchases")}
	of := words.Counted(words.Number(float64(as.OthersTried)), "other purchase")
	if as.Better == nil {
		if as.OthersTried > 0 {
			a.Facts.Say("no_better_as_it_is", "", fmt.Sprintf("%s, none of %s that %s tried is better.", sentence(as.with()), of, wasWere(as.OthersTried)), tried...)
		}
		return
	}
	said := fmt.Sprintf("%s, %s would be best. %s, ", sentence(as.Without()), a.numbers(as.VMs), sentence(as.with()))
	switch left := as.BoughtWithout; {
	case left != nil:
		said += fmt.Sprintf("that would leave %s without a plan. %s", hourCount(left.Hours), left.said())
		tried = append(tried, words.Count("hours_bought", left.Hours, "hours"))
	default:
		more := money.Amount{Decimal: as.Bought.Total.Sub(as.Better.Cost.Total.Decimal)}
		said += fmt.Sprintf("bill and value refused together would then be %s %s higher than with %s.", words.CentsOf(more), a.Currency, a.numbers(as.Better.VMs))
		tried = append(tried, words.Money("more", more, a.Currency))
	}
	best := fmt.Sprintf("Of %s that were tried this one is the best.", of)
	if as.OthersTried == 1 {
		best = "No other purchase was tried."
	}
	a.Facts.Say("better_as_it_is", "", said+" "+best, tried...)
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
	found, err := planAsMonths(ctx, h, c.solve, crew, nil)
	if err != nil || len(found.Infeasible) > 0 {
		return nil, err
	}
	return &fault.Hint{Detail: c.hint.Detail, Pointer: "/problem" + c.hint.Pointer, Value: c.hint.Value}, nil
}

// parts names the parts of the cluster that were left out.
func (a *AsItIs) parts() string {
	var said []string
	for _, l := range a.LeftOut {
		if part := map[LeftOut]string{WithoutTypes: "the other types of VMs", WithoutSpot: "spot VMs", WithoutBudget: "the budget"}[l]; part != "" {
			said = append(said, part)
		}
	}
	return words.List(said)
}

// hourly reports whether hours were planned by themselves, without the jobs that earlier ones had admitted.
func (a *AsItIs) hourly() bool { return slices.Contains(a.LeftOut, WithoutStarted) }

// Without says how the offers were weighed.
func (a *AsItIs) Without() string {
	switch parts := a.parts(); {
	case parts == "":
		return "hour by hour"
	case a.hourly():
		return "hour by hour and without " + parts
	default:
		return "without " + parts
	}
}

// with says that nothing is left out.
func (a *AsItIs) with() string {
	switch parts := a.parts(); {
	case parts == "":
		return "as months plan it"
	case a.hourly():
		return "with " + parts + ", as months plan it"
	case parts == "the budget":
		return "with the budget as the cluster has it"
	default:
		return "with " + parts + " as the cluster has them"
	}
}

// sentence begins a sentence with some words.
func sentence(begin string) string { return strings.ToUpper(begin[:1]) + begin[1:] }

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
	begin := sentence(as.with()) + ", "
	if left == nil {
		a.Facts.Say("today_without_plan", "", fmt.Sprintf("%stoday's contracts leave %s without a plan. %s This purchase leaves none.", begin, hourCount(today.Hours), today.said()), figures...)
		return
	}
	if slices.Max(as.VMs) == 0 {
		a.Facts.Say("today_without_plan", "", fmt.Sprintf("%stoday's contracts leave %s without a plan. %s", begin, hourCount(today.Hours), today.said()), figures...)
		return
	}
	a.Facts.Say("bought_without_plan", "", fmt.Sprintf("%sthis purchase leaves %s without a plan; today's contracts leave %s. %s", begin, hourCount(left.Hours), hourCount(today.Hours), left.said()),
		append(figures, words.Count("hours_bought", left.Hours, "hours"))...)
}

// adviseAgainst says why nothing is bought, though offers lower the bill without what is left out.
func (a *PurchaseAnswer) adviseAgainst(span string) {
	as := a.AsItIs
	figures := []capacity.Figure{words.Money("bill_today", as.Today.Bill, a.Currency)}
	said := fmt.Sprintf("Buy none of the offers: %s, %s, %s would", span, as.with(), a.numbers(as.VMs))
	if left := as.BoughtWithout; left != nil {
		than := ""
		if as.TodayWithout != nil {
			than = fmt.Sprintf(" where today's contracts leave %s", hourCount(as.TodayWithout.Hours))
		}
		a.Facts.Say("buy_nothing_as_it_is", "", fmt.Sprintf("%s leave %s without a plan%s. %s", said, hourCount(left.Hours), than, left.said()), append(figures, words.Count("hours_bought", left.Hours, "hours"))...)
		return
	}
	said += " " + raise(&as.Today, &as.Bought, a.Currency)
	hint := ""
	if as.OthersTried == 0 && slices.Max(as.VMs) > 1 { // the work was ended before
		hint = " Other numbers may still pay: plan the months with them as a contract."
	}
	a.Facts.Say("buy_nothing_as_it_is", "", fmt.Sprintf("%s; only %s would that be the best purchase.%s", said, as.Without(), hint),
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

// refusedSentence says by how much a purchase changes the value refused, against today.
func refusedSentence(today, bought *PurchaseCost) string {
	less := today.Cost.Penalties.Sub(bought.Cost.Penalties.Decimal)
	if less.IsZero() {
		return ""
	}
	was, is, by := closing(today.Cost.Penalties, bought.Cost.Penalties)
	change := "lowers"
	if less.IsNegative() {
		change = "raises"
	}
	return fmt.Sprintf(", and %s the value refused by %s, from %s to %s", change, by, was, is)
}
