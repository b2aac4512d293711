package horizon

import (
	"context"
	"fmt"
	"math"
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

// Found tells how a purchase was found where that was not in the cluster as it is: hour by hour, without spot VMs, a budget or
// other types. All other figures are of the cluster as it is, whose hours are planned as months are.
type Found struct {
	LeftOut []LeftOut    `json:"left_out"` // what the offers were weighed without
	VMs     []int64      `json:"vms"`      // by offer: the best purchase without that; null where none serves the promised jobs
	Today   PurchaseCost `json:"today"`    // without that
	Bought  PurchaseCost `json:"bought"`   // likewise, with these VMs
	AsItIs  PurchaseCost `json:"as_it_is"` // with these VMs in the cluster as it is

	TodayWithout *WithoutPlan `json:"today_without_plan"` // in the cluster as it is; null where every hour has a plan
	WithoutPlan  *WithoutPlan `json:"without_plan"`       // the same with these VMs

	OthersTried int64 `json:"others_tried"` // other purchases that were planned in the cluster as it is
}

// WithoutPlan tells of hours in which promised jobs do not fit, and what would do.
type WithoutPlan struct {
	Hours    float64     `json:"hours"`
	First    time.Time   `json:"first"`
	Conflict string      `json:"conflict"` // of the first
	Cure     *fault.Hint `json:"cure"`     // a budget with which every hour has a plan, which was tried; null where none was found
}

// candidate is a purchase with its plan in the cluster as it is.
type candidate struct {
	vms    []int64
	answer Answer
}

// betters reports whether a candidate leaves fewer hours without a plan, or keeps more promises, or costs less.
func (c *candidate) betters(than *candidate) bool {
	for _, of := range [...][2]float64{{c.answer.unplannedHours(), than.answer.unplannedHours()}, {c.answer.hoursBelowPromise(), than.answer.hoursBelowPromise()}} {
		if math.Abs(of[0]-of[1]) > 1e-9 {
			return of[0] < of[1]
		}
	}
	return c.answer.Total.Cost.Total.LessThan(than.answer.Total.Cost.Total.Decimal)
}

// unplannedHours counts the hours without a plan. A plan with too few VMs is none.
func (a *Answer) unplannedHours() (hours float64) {
	for i := range a.Infeasible {
		hours += a.Infeasible[i].Hours
	}
	return max(a.Total.InfeasibleHours, hours)
}

// hoursBelowPromise adds up, over classes, the hours with fewer jobs at once than are promised.
func (a *Answer) hoursBelowPromise() (hours float64) {
	for i := range a.Classes {
		if of := a.Classes[i].Arrivals; of != nil && of.Below != nil {
			hours += of.Below.Hours
		}
	}
	return hours
}

// judging plans purchases in the cluster as it is.
type judging struct {
	question *PurchaseQuestion
	found    *Found
	solve    plan.Planner
	crew     Crew
	steps    *steps

	today, alone Answer
	best         candidate // of today, what was found and what was tried
}

// plan plans a horizon as months are.
func (j *judging) plan(ctx context.Context, h Horizon, solve plan.Planner) (Answer, error) {
	told := j.steps.begin(horizonSteps)
	return planAsMonths(ctx, h, solve, j.crew, func(done, total int) { told(float64(done) / float64(total)) })
}

// judge plans today's contracts, on demand alone and the purchase that was found.
func (j *judging) judge(ctx context.Context) (err error) {
	none := make([]int64, len(j.question.Offers))
	whole, same := j.question.whole(none)
	if j.today, j.found.TodayWithout, err = j.cured(ctx, whole); err != nil {
		return err
	}
	if j.alone, err = j.plan(ctx, withoutContracts(whole), j.solve); err != nil {
		return err
	}
	j.best = candidate{none, Answer{}}
	if j.best.answer, err = j.plan(ctx, same, j.solve); err != nil {
		return err
	}
	j.found.AsItIs, j.found.WithoutPlan = costOf(&j.best.answer), j.found.TodayWithout
	if j.found.VMs == nil || slices.Max(j.found.VMs) == 0 {
		return nil
	}
	_, with := j.question.whole(j.found.VMs)
	found := candidate{vms: j.found.VMs}
	if found.answer, j.found.WithoutPlan, err = j.cured(ctx, with); err != nil {
		return err
	}
	if j.found.AsItIs = costOf(&found.answer); found.betters(&j.best) {
		j.best = found
	}
	return nil
}

// cured plans a horizon. Where hours have no plan, it says which, and looks for a budget that would do.
func (j *judging) cured(ctx context.Context, h Horizon) (Answer, *WithoutPlan, error) {
	cures := budgetCures{solve: j.solve}
	a, err := j.plan(ctx, h, cures.plan)
	if err != nil || len(a.Infeasible) == 0 {
		return a, nil, err
	}
	first := &a.Infeasible[0]
	w := &WithoutPlan{Hours: a.unplannedHours(), First: first.Start, Conflict: first.Conflict}
	w.Cure, err = cures.tried(ctx, h, j.crew)
	return a, w, err
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

// base is the purchase in whose proportion others are tried: the one found, or where none was, as many VMs of the offer with the
// lowest price an hour as are on demand at most. by is the offer of which it has most; of none it has any where there are none.
func (j *judging) base() (vms []int64, by int) {
	if vms = j.found.VMs; vms != nil && slices.Max(vms) > 0 {
		return vms, slices.Index(vms, slices.Max(vms))
	}
	q := j.question
	price := func(o *capacity.Offer) float64 {
		from, until := o.Term(q.Start())
		return o.Price.Float() + o.Upfront.Float()/until.Sub(from).Hours()
	}
	for k := range q.Offers {
		if o, best := &q.Offers[k], &q.Offers[by]; o.Max > 0 && (best.Max == 0 || price(o) < price(best)) {
			by = k
		}
	}
	most := 0.0
	for i := range j.today.Periods {
		most = max(most, j.today.Periods[i].VMs.OnDemand)
	}
	vms = make([]int64, len(q.Offers))
	if vms[by] = q.Offers[by].Max; most > 0 {
		vms[by] = min(vms[by], int64(math.Ceil(most)))
	}
	return vms, by
}

// tryOthers plans smaller and larger purchases in the cluster as it is: all offers in the same proportion, at most about twice as many.
// They are a quarter apart at first, then ever closer around the best, and last in the widest gaps. What was tried before the work is
// ended stays.
func (j *judging) tryOthers(ctx context.Context) error {
	vms, by := j.base()
	from := vms[by]
	if from == 0 {
		return nil
	}
	most := min(2*from+mostTries, j.question.Offers[by].Max)
	tried := []int64{0}
	if slices.Equal(vms, j.found.VMs) {
		tried = append(tried, from)
	}
	told := j.steps.begin(horizonSteps)
	try := func(n int64) error {
		if n <= 0 || n > most || slices.Contains(tried, n) || j.found.OthersTried == mostTries {
			return nil
		}
		other := candidate{vms: j.question.scaled(vms, by, n)}
		_, with := j.question.whole(other.vms)
		var err error
		if other.answer, err = planAsMonths(ctx, with, j.solve, j.crew, nil); err != nil {
			return err
		}
		tried = append(tried, n)
		j.found.OthersTried++
		told(float64(j.found.OthersTried) / mostTries)
		if other.betters(&j.best) {
			j.best = other
		}
		return nil
	}
	step := (from + 3) / 4
	for next := []int64{step, 2 * step, 3 * step, from, from + step}; ; {
		was := j.best.vms[by]
		for _, n := range next {
			if err := try(n); err != nil {
				return err
			}
		}
		if step == 1 && j.best.vms[by] == was {
			break
		}
		step = (step + 1) / 2
		next = []int64{j.best.vms[by] - step, j.best.vms[by] + step}
	}
	for range mostTries {
		if err := try(widest(tried, most)); err != nil {
			return err
		}
	}
	return nil
}

// widest returns the middle of the widest gap between numbers up to the most, which itself may be free; 0 where none is.
func widest(tried []int64, most int64) (middle int64) {
	all := slices.Clone(tried)
	if !slices.Contains(all, most) {
		all = append(all, 2*most+1-slices.Max(all)) // beyond, so that the most counts as the middle of a gap
	}
	slices.Sort(all)
	gap := int64(1)
	for i := 1; i < len(all); i++ {
		if all[i]-all[i-1] > gap {
			gap, middle = all[i]-all[i-1], min(most, (all[i]+all[i-1])/2)
		}
	}
	return middle
}

// oneMore looks at one VM more of each offer of which all are bought.
func (j *judging) oneMore(ctx context.Context, a *PurchaseAnswer) error {
	for k := range a.Offers {
		o := &a.Offers[k]
		if o.VMs == 0 || o.VMs < o.Most {
			continue
		}
		more := slices.Clone(j.best.vms)
		more[k]++
		_, with := j.question.whole(more)
		is, err := planAsMonths(ctx, with, j.solve, j.crew, nil)
		if err != nil {
			return err
		}
		if is.unplannedHours() > 0 { // a budget does not pay for it
			continue
		}
		was, now := &a.Recommended, costOf(&is)
		o.OneMore = &MoreOffered{BillSaving: money.Amount{Decimal: was.Bill.Sub(now.Bill.Decimal)}, ValueRefused: money.Amount{Decimal: was.Cost.Penalties.Sub(now.Cost.Penalties.Decimal)},
			Obligation: obligation(&j.question.Offers[k], j.question.Start(), 1)}
	}
	return nil
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
func (f *Found) parts() string {
	var said []string
	for _, l := range f.LeftOut {
		if part := map[LeftOut]string{WithoutTypes: "the other types of VMs", WithoutSpot: "spot VMs", WithoutBudget: "the budget"}[l]; part != "" {
			said = append(said, part)
		}
	}
	return words.List(said)
}

// hourly reports whether hours were planned by themselves, without the jobs that earlier ones had admitted.
func (f *Found) hourly() bool { return slices.Contains(f.LeftOut, WithoutStarted) }

// Without says how the offers were weighed.
func (f *Found) Without() string {
	switch parts := f.parts(); {
	case parts == "":
		return "hour by hour"
	case f.hourly():
		return "hour by hour and without " + parts
	default:
		return "without " + parts
	}
}

// with says that nothing is left out.
func (f *Found) with() string {
	switch parts := f.parts(); {
	case parts == "":
		return "as months plan it"
	case f.hourly():
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
	text := fmt.Sprintf("The first is at %s: %s", words.Moment(w.First), w.Conflict)
	if w.Cure != nil {
		text += " " + strings.TrimSuffix(w.Cure.Detail, ".") + ", and every hour has a plan."
	}
	return text
}

// tellFound says what the purchase does without what was left out, or what was found to be best so and is not here.
func (a *PurchaseAnswer) tellFound(bought []int64) {
	f := a.Found
	figures := []capacity.Figure{words.Money("bill_today", f.Today.Bill, a.Currency), words.Money("bill", f.Bought.Bill, a.Currency), words.Money("bill_as_it_is", f.AsItIs.Bill, a.Currency)}
	without, with := sentence(f.Without()), f.with()
	switch {
	case f.VMs == nil:
		a.Facts.Say("found_none", "", without+", no purchase serves all promised jobs.")
	case slices.Max(f.VMs) == 0:
		a.Facts.Say("found_none", "", without+", no purchase lowers bill and value refused together.", figures...)
	case slices.Equal(f.VMs, bought) && f.Today.Status != capacity.InfeasibleStatus:
		a.Facts.Say("found", "", fmt.Sprintf("%s, it %s.", without, billSentence(&f.Today, &f.Bought, a.Currency)), figures...)
	case slices.Equal(f.VMs, bought):
		a.Facts.Say("found", "", fmt.Sprintf("%s, it is the best purchase as well.", without), figures...)
	case f.WithoutPlan != nil:
		a.Facts.Say("found_another", "", fmt.Sprintf("%s, %s would be best, but %s that leaves %s without a plan. %s", without, a.numbers(f.VMs), with, words.Hours(f.WithoutPlan.Hours), f.WithoutPlan.said()),
			append(figures, words.Count("hours", f.WithoutPlan.Hours, "hours"))...)
	case f.AsItIs.Total.Equal(a.Recommended.Total.Decimal):
		a.Facts.Say("found_another", "", fmt.Sprintf("%s, %s would be best, but %s bill and value refused together are not lower then.", without, a.numbers(f.VMs), with), figures...)
	case f.AsItIs.Total.LessThan(a.Recommended.Total.Decimal):
		a.Facts.Say("found_another", "", fmt.Sprintf("%s, %s would be best, but %s more promised jobs are refused with it.", without, a.numbers(f.VMs), with), figures...)
	default:
		more := money.Amount{Decimal: f.AsItIs.Total.Sub(a.Recommended.Total.Decimal)}
		a.Facts.Say("found_another", "", fmt.Sprintf("%s, %s would be best, but %s bill and value refused together are then %s %s higher.", without, a.numbers(f.VMs), with, words.CentsOf(more), a.Currency),
			append(figures, words.Money("more", more, a.Currency))...)
	}
	if f.hourly() {
		a.Facts.Say("hours_by_themselves", "", "In months an admitted job keeps its VMs until it ends; hour by hour, each hour is planned by itself.")
	}
	if n := f.OthersTried; n > 0 {
		a.Facts.Say("others_tried", "", fmt.Sprintf("%s, %s, and none is better.", sentence(with), triedAs(n)), words.Count("tried", float64(n), "purchases"))
	}
}

func triedAs(n int64) string {
	if n == 1 {
		return "one other purchase was tried"
	}
	return words.Number(float64(n)) + " other purchases were tried"
}

// tellWithout says in which hours today's contracts have no plan in the cluster as it is, where the purchase has one for all.
func (a *PurchaseAnswer) tellWithout() {
	if today := a.Found.TodayWithout; today != nil {
		a.Facts.Say("today_without_plan", "", fmt.Sprintf("%s, today's contracts leave %s without a plan. %s", sentence(a.Found.with()), words.Hours(today.Hours), today.said()), words.Count("hours_today", today.Hours, "hours"))
	}
}

// tellNone says that no purchase which was tried has a plan for every hour of the cluster as it is.
func (a *PurchaseAnswer) tellNone(span string) {
	today, best := a.Found.TodayWithout, a.Horizon.unplannedHours()
	said := fmt.Sprintf("No purchase that was tried serves all promised jobs %s, %s.", span, a.Found.with())
	if today != nil {
		said += fmt.Sprintf(" Today's contracts leave %s without a plan. %s", words.Hours(today.Hours), today.said())
		if best < today.Hours-1e-9 {
			said += fmt.Sprintf(" The best that was tried leaves %s.", words.Hours(best))
		}
	}
	a.Facts.Say("no_purchase_serves_the_promises", "", said, words.Count("hours", best, "hours"))
}
