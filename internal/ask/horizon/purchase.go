package horizon

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/plan/integer"
	"example.org/headroom/internal/core/words"
)

// PurchaseAnswer says how many VMs of each offer to buy, and what that saves.
type PurchaseAnswer struct {
	Answer        string             `json:"answer"`      // one sentence
	Explanation   string             `json:"explanation"` // the sentence and what it rests on, as one paragraph that can be forwarded
	Status        capacity.Status    `json:"status"`      // infeasible where not even all offers serve the promised jobs
	Complete      bool               `json:"complete"`    // false: curves or regret are missing, because the work was ended
	Currency      string             `json:"currency"`
	Offers        []OfferAnswer      `json:"offers"`
	Recommended   PurchaseCost       `json:"recommended"`
	Today         PurchaseCost       `json:"today"`          // without any offer
	OnDemandOnly  PurchaseCost       `json:"on_demand_only"` // without any contract either
	BillSaving    *Saving            `json:"bill_saving"`    // of the VM bill, against today; negative where it rises; null where today is infeasible
	BillOnly      *Saving            `json:"bill_saving_against_on_demand"`
	Avoided       *money.Amount      `json:"penalties_avoided"` // today's penalties less those of the recommendation, which are on no bill
	Saving        *Saving            `json:"saving"`            // both together
	SavingOnly    *Saving            `json:"saving_against_on_demand"`
	Obligation    money.Amount       `json:"obligation"` // all that the purchase commits to over its whole terms, used or not
	Assume        Assumption         `json:"assume,omitempty"`
	ForecastUntil time.Time          `json:"forecast_until"`        // from then on the assumption holds
	Assumptions   []AssumedAnswer    `json:"assumptions"`           // where one is made: each that the forecast is long enough for
	Ends          []EndPoint         `json:"demand_ends"`           // demands that end early
	ServedMore    *float64           `json:"served_more_job_hours"` // than today; null where today is infeasible
	Coverage      *float64           `json:"coverage"`              // VM-hours on contracts and offers, of all
	Utilisation   *float64           `json:"utilisation"`           // VM-hours used of those bought; null where nothing is
	Found         *Found             `json:"found"`                 // null where the purchase was found in the cluster as it is
	Months        []SavingMonth      `json:"months"`
	BillEven      *time.Time         `json:"bill_break_even_month"` // from the end of which on the bill's balance is never negative; null: not in the horizon
	BreakEven     *time.Time         `json:"break_even_month"`      // the same of the balance that counts penalties
	NeededUntil   *time.Time         `json:"demand_needed_until"`   // the month until whose end demand must last for the purchase to pay; null: not in its terms
	Curves        []SavingCurve      `json:"curves"`
	Regret        []RegretPoint      `json:"regret"`
	Proof         PurchaseProof      `json:"proof"`
	Facts         words.Facts        `json:"facts"` // the sentences of the explanation, with their figures
	Warnings      []capacity.Warning `json:"warnings"`
	Horizon       Answer             `json:"horizon"` // with the recommendation; the offers stand among its contracts

	WithWaiting *PurchaseWithWaiting `json:"with_waiting,omitempty"` // where it was asked for, and a schedule could be made
}

// OfferAnswer is one offer in the recommendation.
type OfferAnswer struct {
	Name          string       `json:"name"`
	VMs           int64        `json:"vms"`
	Most          int64        `json:"max"`
	Share         float64      `json:"share"`   // of its term that lies in the horizon
	Paid          money.Amount `json:"paid"`    // upfront, in full
	Upfront       money.Amount `json:"upfront"` // the share of it that counts
	Reserved      money.Amount `json:"reserved"`
	Idle          money.Amount `json:"reserved_idle"`
	Utilisation   *float64     `json:"utilisation"`
	Obligation    money.Amount `json:"obligation"`     // all that it commits to over its whole term, used or not
	ForecastShare float64      `json:"forecast_share"` // of its term that the forecast covers
	OneMore       *MoreOffered `json:"one_more"`       // where all that is on offer is bought
}

// PurchaseCost holds the cost of the horizon. Total is its cost and the upfront payments' share. Bill is Total without
// the penalties of refused jobs, which nobody pays.
type PurchaseCost struct {
	Status  capacity.Status `json:"status"`
	Bill    money.Amount    `json:"bill"`
	Cost    SpanCost        `json:"cost"`
	Upfront money.Amount    `json:"upfront"`
	Total   money.Amount    `json:"total"`

	InWholeJobs *WholeJobs `json:"in_whole_jobs,omitempty"` // of all costs in the cluster as it is, where jobs that arrive are planned in parts
}

// Saving is an amount, and its share of what is paid without it.
type Saving struct {
	Amount money.Amount `json:"amount"`
	Share  float64      `json:"share"`
}

// SavingMonth holds the savings of the offers in a month of the calendar, and their sums since the start: of the bill, and
// with penalties. A bill has the share of an upfront payment that lies in the horizon; the sums count payments in full.
type SavingMonth struct {
	Month       time.Time    `json:"month"`
	BillSaved   money.Amount `json:"bill_saved"`
	Upfront     money.Amount `json:"upfront"` // of the offers, the share in the bill
	Paid        money.Amount `json:"paid"`    // likewise, in full
	BillBalance money.Amount `json:"bill_balance"`
	Saved       money.Amount `json:"saved"`
	Balance     money.Amount `json:"balance"`
}

// SavingCurve holds the costs of other numbers of one offer, with the other offers as recommended.
type SavingCurve struct {
	Offer  string        `json:"offer"`
	Bought int64         `json:"bought"`
	Means  string        `json:"means"` // one sentence
	Exact  bool          `json:"exact"` // false: all but the recommended number are of the convex program, which is a little lower
	Points []SavingPoint `json:"points"`
}

// SavingPoint is one number of VMs.
type SavingPoint struct {
	VMs        int64         `json:"vms"`
	Bill       *money.Amount `json:"bill"`        // null where promised jobs do not fit, or the curve is not exact
	BillSaving *money.Amount `json:"bill_saving"` // against today
	Cost       *money.Amount `json:"cost"`        // the bill and penalties; null where promised jobs do not fit
	Saving     *money.Amount `json:"saving"`      // against today
}

// RegretPoint is the recommendation at another demand, beside the best purchase there.
type RegretPoint struct {
	Factor    float64       `json:"factor"`
	TodayBill *money.Amount `json:"today_bill"` // of buying nothing; null where promised jobs do not fit
	Bill      *money.Amount `json:"bill"`       // of the recommendation; likewise
	BestBill  *money.Amount `json:"best_bill"`
	TodayCost *money.Amount `json:"today_cost"` // the bill and penalties
	Cost      *money.Amount `json:"cost"`       // of the recommendation; likewise
	Best      []int64       `json:"best"`       // by offer; null where nothing fits
	BestCost  *money.Amount `json:"best_cost"`
	Regret    *money.Amount `json:"regret"`
	Gap       float64       `json:"gap"` // how far BestCost may be from the cheapest, relative
}

// PurchaseProof says that no purchase costs less than Bound.
type PurchaseProof struct {
	Bound      money.Amount `json:"bound"`
	Gap        float64      `json:"gap"`         // relative to the recommendation's total
	PriceBound money.Amount `json:"price_bound"` // proved by one price of capacity per situation alone
	Situations int          `json:"situations"`
}

// Purchase is Weigh with so many workers.
func Purchase(ctx context.Context, q PurchaseQuestion, solve plan.Planner, workers int, progress func(done, total int)) (PurchaseAnswer, error) {
	return Weigh(ctx, q, solve, Crew{Workers: workers}, progress)
}

// Weigh weighs the offers of a valid question. The numbers are searched by the core method; solve is
// asked for the plans of the answer and may be nil (see NewCourse). The answer does not depend on the workers.
// A context that ends gives its error; the recommendation comes with it where it had been found and priced, which
// its Status says. Progress is told as work goes on, one call at a time, and never goes back.
func Weigh(ctx context.Context, q PurchaseQuestion, solve plan.Planner, crew Crew, progress func(done, total int)) (PurchaseAnswer, error) {
	q.Horizon = q.Carried()
	if q.Factors == nil {
		q.Factors = DefaultFactors()
	}
	if solve == nil {
		q.Problem.Options.Engine = capacity.EngineExact
		solve = plan.NewSeries(q.Problem, nil).Solve
	}
	asked := q
	q.Horizon = q.Without()
	known, shares := q.Horizon, q.forecastShares()
	q.Horizon = q.Weighed()
	steps := newSteps(&asked, progress)
	w, err := newWeighing(ctx, &q, crew)
	if err != nil {
		return PurchaseAnswer{}, err
	}
	w.told = steps.begin(searchSteps)
	found, err := w.search(ctx, fullEffort, q.Problem.Options.Gap, nil)
	if err != nil {
		return PurchaseAnswer{}, err
	}
	a := PurchaseAnswer{Currency: q.Problem.Currency, Offers: []OfferAnswer{}, Months: []SavingMonth{}, Curves: []SavingCurve{},
		Assume: q.Assume, ForecastUntil: known.End(), Assumptions: []AssumedAnswer{}, Ends: []EndPoint{}, Regret: []RegretPoint{}, Facts: words.Facts{}, Warnings: []capacity.Warning{}}
	bought := found.bought
	var today, alone Answer
	for _, part := range [...]struct {
		to   *Answer
		with Horizon
	}{{&a.Horizon, withOffers(&q, bought)}, {&today, q.Horizon}, {&alone, withoutContracts(q.Horizon)}} {
		told := steps.begin(horizonSteps)
		if *part.to, err = planWith(ctx, part.with, solve, crew, func(done, total int) { told(float64(done) / float64(total)) }); err != nil {
			return PurchaseAnswer{}, err
		}
	}
	weighed := costOf(&a.Horizon)
	var ended error // the work was ended while other purchases were tried
	var j judging
	if left := asked.leftOut(&a.Horizon, &today, &alone); len(left) > 0 {
		a.Found = &Found{LeftOut: left, Today: costOf(&today), Bought: weighed}
		if !math.IsInf(found.cost, 1) {
			a.Found.VMs = slices.Clone(bought)
		}
		j = judging{question: &asked, found: a.Found, solve: solve, crew: crew, steps: steps}
		if err := j.judge(ctx); err != nil {
			return PurchaseAnswer{}, err
		}
		ended = j.tryOthers(ctx)
		a.Horizon, today, alone, bought = j.best.answer, j.today, j.alone, j.best.vms
	}
	a.Recommended, a.Today, a.OnDemandOnly = costOf(&a.Horizon), costOf(&today), costOf(&alone)
	if ended == nil {
		ended = a.countWholeJobs(ctx, &asked, &q, bought, solve, crew)
	}
	if a.Found == nil && math.IsInf(found.cost, 1) || a.Horizon.Status == capacity.InfeasibleStatus {
		a.Status = capacity.InfeasibleStatus
		return a.finished(&q, steps, ended)
	}
	if err := a.prove(w, &found, &weighed); err != nil {
		return PurchaseAnswer{}, err
	}
	a.describe(&q, bought, shares)
	if a.Saving != nil {
		a.ServedMore = new(a.Horizon.Total.AdmittedHours - today.Total.AdmittedHours)
	}
	a.follow(&q, &today)
	a.NeededUntil = a.neededUntil(&q)
	if err = ended; err == nil && a.Found != nil {
		err = j.oneMore(ctx, &a)
	}
	if err == nil && a.hasCurves() {
		err = a.compare(ctx, w, known, &found, bought, steps)
		a.settle(bought)
	}
	return a.finished(&q, steps, err)
}

// finished puts an answer into words, whether its work was ended or not.
func (a *PurchaseAnswer) finished(q *PurchaseQuestion, steps *steps, ended error) (PurchaseAnswer, error) {
	a.Complete = ended == nil
	if a.tell(q); a.Complete {
		steps.end()
	}
	return *a, ended
}

// countWholeJobs adds what the plans of single hours come to, in the cluster as it is where that was planned.
func (a *PurchaseAnswer) countWholeJobs(ctx context.Context, asked, q *PurchaseQuestion, bought []int64, solve plan.Planner, crew Crew) (err error) {
	now := q.Horizon
	if a.Found != nil {
		now, _ = asked.whole(bought)
	}
	for _, part := range [...]struct {
		to   *PurchaseCost
		with Horizon
	}{{&a.Recommended, asked.bought(q, a.Found != nil, bought)}, {&a.Today, now}, {&a.OnDemandOnly, withoutContracts(now)}} {
		if part.to.InWholeJobs, err = totalInWholeJobs(ctx, part.with, part.to.Upfront, solve, crew); err != nil {
			return err
		}
	}
	return nil
}

// hasCurves reports whether other numbers and demands are looked at: not where no purchase serves the promised jobs as offers are
// weighed.
func (a *PurchaseAnswer) hasCurves() bool { return a.Found == nil || a.Found.VMs != nil }

// compare adds what other numbers of each offer come to, and other demands.
func (a *PurchaseAnswer) compare(ctx context.Context, w *weighing, known Horizon, found *choiceOfOffers, bought []int64, steps *steps) (err error) {
	w.told = nil // these few costs are no part that is counted
	if a.Found == nil {
		if err := w.oneMore(ctx, a, bought); err != nil {
			return err
		}
	}
	for k := range w.question.Offers {
		w.told = steps.begin(curveSteps)
		curve, err := w.curve(ctx, bought, k)
		if err != nil {
			return err
		}
		a.Curves = append(a.Curves, curve)
	}
	for _, factor := range w.question.Factors {
		w.told = steps.begin(regretSteps)
		point, err := w.regret(ctx, factor, found, bought)
		if err != nil {
			return err
		}
		a.Regret = append(a.Regret, point)
	}
	w.told = steps.begin(regretSteps)
	if a.Assumptions, err = w.assumed(ctx, known, bought); err != nil {
		return err
	}
	if len(w.question.Factors) > 0 { // nobody who wants no other demand wants demands that end
		w.told = steps.begin(regretSteps)
		a.Ends, err = w.ended(ctx, bought)
	}
	return err
}

// settle makes the money of the curves and of other demands close. The search adds up in floats. So what was found
// gets the exact cost of its plans there too, and differences are those of the amounts that stand beside them.
func (a *PurchaseAnswer) settle(bought []int64) {
	today, known := &a.Today, &a.Recommended
	if f := a.Found; f != nil {
		if today, known = &f.Today, nil; slices.Equal(f.VMs, bought) {
			known = &f.Bought
		}
	}
	for i := range a.Curves {
		c := &a.Curves[i]
		for k := range c.Points {
			p := &c.Points[k]
			if p.VMs == 0 && p.Cost != nil && c.Exact && none(bought, i) && today.Status != capacity.InfeasibleStatus { // today
				p.Cost, p.Bill = new(today.Total), new(today.Bill)
			}
			if p.VMs == c.Bought && p.Cost != nil && known != nil {
				if p.Cost = new(known.Total); c.Exact {
					p.Bill = new(known.Bill)
				} else if p.Saving != nil && today.Status != capacity.InfeasibleStatus {
					p.Saving = &money.Amount{Decimal: today.Total.Sub(p.Cost.Decimal)}
				}
			}
			if c.Exact && p.Saving != nil && today.Status != capacity.InfeasibleStatus {
				p.Saving = &money.Amount{Decimal: today.Total.Sub(p.Cost.Decimal)}
				p.BillSaving = &money.Amount{Decimal: today.Bill.Sub(p.Bill.Decimal)}
			}
		}
	}
	for i := range a.Regret {
		p := &a.Regret[i]
		if p.Factor == 1 && p.Cost != nil && known != nil {
			p.Cost, p.Bill = new(known.Total), new(known.Bill)
		}
		if p.Factor == 1 && p.BestCost != nil {
			if f := a.Found; f != nil && slices.Equal(p.Best, f.VMs) {
				p.BestCost, p.BestBill = new(f.Bought.Total), new(f.Bought.Bill)
			} else if f == nil && slices.Equal(p.Best, bought) {
				p.BestCost, p.BestBill = new(known.Total), new(known.Bill)
			}
		}
		if p.Factor == 1 && p.TodayCost != nil && today.Status != capacity.InfeasibleStatus {
			p.TodayCost, p.TodayBill = new(today.Total), new(today.Bill)
		}
		if p.Regret != nil {
			p.Regret = &money.Amount{Decimal: p.Cost.Sub(p.BestCost.Decimal)}
		}
	}
}

// none reports whether no VMs are bought but of one offer.
func none(bought []int64, but int) bool {
	for k, n := range bought {
		if k != but && n > 0 {
			return false
		}
	}
	return true
}

// Bought is the horizon that the answer plans: the question's, with what is to be bought among its contracts.
func (a *PurchaseAnswer) Bought(q *PurchaseQuestion) Horizon {
	bought := make([]int64, len(q.Offers))
	for k := range a.Offers {
		bought[k] = a.Offers[k].VMs
	}
	weighed := *q
	weighed.Horizon = q.Weighed()
	return q.bought(&weighed, a.Found != nil, bought)
}

// bought is the horizon with a purchase: of the cluster as it is, or as it is weighed.
func (q *PurchaseQuestion) bought(weighed *PurchaseQuestion, asItIs bool, vms []int64) Horizon {
	if asItIs {
		_, with := q.whole(vms)
		return with
	}
	return withOffers(weighed, vms)
}

// How much of the work the parts of a question are, roughly: what its progress counts.
const (
	searchSteps  = 60
	horizonSteps = 10
	curveSteps   = 5
	regretSteps  = 30
)

// steps counts the steps of the work on a question.
type steps struct {
	tell               func(done, total int)
	before, done, part int
	total              int
}

func newSteps(q *PurchaseQuestion, tell func(done, total int)) *steps {
	s := &steps{tell: tell, done: -1, total: searchSteps + 3*horizonSteps + curveSteps*len(q.Offers) + regretSteps*(len(q.Factors)+1+min(1, len(q.Factors)))}
	if len(q.leftOut()) > 0 || q.arrives() {
		s.total += 5 * horizonSteps
	}
	s.show(0)
	return s
}

func (s *steps) show(done int) {
	if s.tell != nil && done > s.done {
		s.tell(done, s.total)
	}
	s.done = max(s.done, done)
}

// begin ends the part before and begins one of so many steps; it answers what is to be told how much of it is done.
func (s *steps) begin(part int) func(share float64) {
	s.before += s.part
	s.part = part
	s.show(s.before)
	return func(share float64) { s.show(s.before + int(share*float64(part))) }
}

func (s *steps) end() { s.show(s.total) }

// withOffers is the question's horizon once so many VMs of each offer are bought: contracts like others.
func withOffers(q *PurchaseQuestion, bought []int64) Horizon {
	h := q.Horizon
	h.Contracts = slices.Clip(h.Contracts)
	for k, o := range q.Offers {
		from, until := o.Term(h.Start())
		h.Contracts = append(h.Contracts, TermContract{
			Contract: capacity.Contract{Name: o.Name, VMs: bought[k], Price: o.Price, Billing: o.Billing},
			Upfront:  money.Amount{Decimal: o.Upfront.Mul(decimal.NewFromInt(bought[k]))}, From: from, Until: until,
		})
	}
	return h
}

func withoutContracts(h Horizon) Horizon {
	h.Contracts, h.Problem.Supply.Contracts = nil, nil
	return h
}

func costOf(h *Answer) PurchaseCost {
	return PurchaseCost{Status: h.Status, Cost: h.Total.Cost, Upfront: h.Upfront, Bill: h.Total.Cost.Bill, Total: h.Total.Cost.Total}
}

// savings compares with another cost: the savings of the bill, and of bill and penalties together.
func (to *PurchaseCost) savings(from *PurchaseCost) (bill, both *Saving) {
	if from.Status == capacity.InfeasibleStatus {
		return nil, nil
	}
	return saving(from.Bill, to.Bill), saving(from.Total, to.Total)
}

func saving(from, to money.Amount) *Saving {
	s := &Saving{Amount: money.Amount{Decimal: from.Sub(to.Decimal)}}
	if total := from.Float(); total > 0 {
		s.Share = s.Amount.Float() / total
	}
	return s
}

// prove states the bound of the search for the plans that were made in the end, whose odd slots may have
// taken a VM more than the search knew of. It is of the offers as they were weighed, at whose best the plans cost so much.
func (a *PurchaseAnswer) prove(w *weighing, found *choiceOfOffers, weighed *PurchaseCost) error {
	if a.Status = capacity.Feasible; math.IsInf(found.cost, 1) {
		return nil
	}
	floor := func(x float64) money.Amount {
		return money.Amount{Decimal: decimal.NewFromFloat(x).RoundFloor(money.Places)}
	}
	total := weighed.Total.Float()
	a.Proof = PurchaseProof{Bound: floor(found.bound), PriceBound: floor(w.bound(found.root)), Situations: len(w.stages)}
	below := total - a.Proof.Bound.Float()
	allowed := integer.ProofResolution*math.Abs(total) + float64(len(a.Horizon.Periods))*money.Smallest
	for _, stage := range w.stages { // whose plans are rounded once, and count so many times
		allowed += stage.scale * money.Smallest
	}
	if below < -allowed {
		return fmt.Errorf("check the purchase: its plans cost %v, and no purchase is said to cost less than %v", weighed.Total, a.Proof.Bound)
	} else if below > allowed {
		a.Proof.Gap = below / max(total, money.Smallest)
	}
	if below < 0 {
		a.Proof.Bound = weighed.Total
	}
	if a.Found == nil && a.Proof.Gap <= max(w.question.Problem.Options.Gap, integer.ProofResolution) {
		a.Status = capacity.Optimal
	}
	return nil
}

func (a *PurchaseAnswer) describe(q *PurchaseQuestion, bought []int64, shares []float64) {
	a.Obligation = q.obligations(bought)
	whole := term{q.Start(), q.End()}
	contracts := a.Horizon.Contracts[len(a.Horizon.Contracts)-len(q.Offers):]
	used, all := 0.0, 0.0
	for k, o := range q.Offers {
		from, until := o.Term(whole.from)
		t, c := term{from, until}, &contracts[k]
		a.Offers = append(a.Offers, OfferAnswer{
			Name: o.Name, VMs: bought[k], Most: o.Max, Share: float64(t.within(whole)) / float64(until.Unix()-from.Unix()),
			Paid: money.Amount{Decimal: o.Upfront.Mul(decimal.NewFromInt(bought[k]))}, Upfront: c.Upfront,
			Reserved: c.Reserved, Idle: c.ReservedIdle, Utilisation: c.Utilisation,
			Obligation: obligation(&o, whole.from, bought[k]), ForecastShare: shares[k],
		})
		used, all = used+c.UsedHours, all+c.UsedHours+c.IdleHours
	}
	if all > 0 {
		share := used / all
		a.Utilisation = &share
	}
	if t := &a.Horizon.Total; t.VMHours > 0 {
		share := t.ReservedHours / t.VMHours
		a.Coverage = &share
	}
	a.BillSaving, a.Saving = a.Recommended.savings(&a.Today)
	a.BillOnly, a.SavingOnly = a.Recommended.savings(&a.OnDemandOnly)
	if a.Saving != nil {
		a.Avoided = &money.Amount{Decimal: a.Today.Cost.Penalties.Sub(a.Recommended.Cost.Penalties.Decimal)}
	}
}

// follow looks at the recommendation month by month, as money moves: upfront payments in full when they are due.
func (a *PurchaseAnswer) follow(q *PurchaseQuestion, today *Answer) {
	if today.Status == capacity.InfeasibleStatus {
		return
	}
	balance, bill := decimal.Zero, decimal.Zero
	for i := range a.Horizon.Months {
		m := &a.Horizon.Months[i]
		paid := decimal.Zero
		for k, o := range q.Offers {
			from, _ := o.Term(q.Start())
			if from = from.UTC(); from.Before(m.Start.AddDate(0, 1, 0)) && (i == 0 || !from.Before(m.Start)) {
				paid = paid.Add(a.Offers[k].Paid.Decimal)
			}
		}
		before := &today.Months[i].Cost
		saved, billSaved := before.Total.Sub(m.Cost.Total.Decimal), before.Bill.Sub(m.Cost.Bill.Decimal)
		upfront := m.Cost.Upfront.Sub(before.Upfront.Decimal)
		beyond := paid.Sub(upfront) // what no bill of the horizon has
		balance, bill = balance.Add(saved).Sub(beyond), bill.Add(billSaved).Sub(beyond)
		a.Months = append(a.Months, SavingMonth{Month: m.Start, Paid: money.Amount{Decimal: paid}, Upfront: money.Amount{Decimal: upfront},
			BillSaved: money.Amount{Decimal: billSaved}, BillBalance: money.Amount{Decimal: bill},
			Saved: money.Amount{Decimal: saved}, Balance: money.Amount{Decimal: balance}})
		a.BreakEven, a.BillEven = evenSince(a.BreakEven, balance, m.Start), evenSince(a.BillEven, bill, m.Start)
	}
	if !slices.ContainsFunc(a.Offers, func(o OfferAnswer) bool { return o.VMs > 0 }) {
		a.BreakEven, a.BillEven = nil, nil // nothing that could pay for itself
	}
}

// evenSince is the month since which a balance has not been negative, given that of the months before.
func evenSince(since *time.Time, balance decimal.Decimal, month time.Time) *time.Time {
	switch {
	case balance.IsNegative():
		return nil
	case since == nil:
		return &month
	}
	return since
}

// curveMost bounds the stages solved exactly for one curve; beyond it the convex program answers.
const curveMost = 20_000

// curve tries other numbers of one offer.
func (w *weighing) curve(ctx context.Context, bought []int64, offer int) (SavingCurve, error) {
	const each = 4 // points on either side
	n, most := bought[offer], w.offers[offer].most
	step := max(1, (max(n, 2*each)+2*each-1)/(2*each))
	numbers := []int64{0, most}
	for k := -int64(each); k <= each; k++ {
		numbers = append(numbers, min(most, max(0, n+k*step)))
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	c := SavingCurve{Offer: w.question.Offers[offer].Name, Exact: len(numbers)*len(w.stages) <= curveMost}
	cost := func(bought []int64) (plan.Spent, error) {
		if c.Exact {
			return w.exactAll(ctx, bought)
		}
		line, err := w.cutAt(ctx, floats(bought))
		if line.short {
			line.value = math.Inf(1)
		}
		return plan.Spent{Cost: line.value}, err
	}
	c.Bought = n
	today, err := cost(make([]int64, len(bought)))
	if err != nil {
		return c, err
	}
	for _, vms := range numbers {
		other := slices.Clone(bought)
		other[offer] = vms
		x, err := cost(other)
		if err != nil {
			return c, err
		}
		point := SavingPoint{VMs: vms, Cost: money.Finite(x.Cost)}
		if point.Cost != nil && !math.IsInf(today.Cost, 1) {
			point.Saving = money.Finite(today.Cost - x.Cost)
		}
		if c.Exact {
			point.Bill = billOf(x)
		}
		c.Points = append(c.Points, point)
	}
	return c, nil
}

// regret compares the cost of the recommendation at another demand with that of the best purchase there.
func (w *weighing) regret(ctx context.Context, factor float64, found *choiceOfOffers, bought []int64) (RegretPoint, error) {
	point, there, best := RegretPoint{Factor: factor}, w, *found
	if factor != 1 {
		q := *w.question
		q.Horizon = q.Scaled(factor)
		var err error
		if there, best, err = w.elsewhere(ctx, &q, false, bought); err != nil {
			return point, err
		}
	}
	return point, point.fill(ctx, there, &best, bought)
}

// fill sets the costs of the recommendation, of buying nothing and of the best purchase at another demand.
func (p *RegretPoint) fill(ctx context.Context, there *weighing, best *choiceOfOffers, recommended []int64) error {
	if math.IsInf(best.cost, 1) {
		return nil
	}
	var each [3]plan.Spent
	for i, bought := range [][]int64{recommended, make([]int64, len(recommended)), best.bought} {
		var err error
		if each[i], err = there.exactAll(ctx, bought); err != nil {
			return err
		}
	}
	this, today := each[0], each[1]
	p.Best, p.BestCost, p.Cost, p.TodayCost = best.bought, money.Finite(best.cost), money.Finite(this.Cost), money.Finite(today.Cost)
	p.BestBill, p.Bill, p.TodayBill = billOf(each[2]), billOf(this), billOf(today)
	if p.Cost != nil {
		p.Regret = &money.Amount{Decimal: p.Cost.Sub(p.BestCost.Decimal)}
	}
	p.Gap = best.gap()
	return nil
}
