package timetable

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/schedule"
	"example.org/headroom/internal/core/strict"
)

// Buying asks which VMs on offer to buy for a time in which executions may wait. Offers count until End, with the share of their
// upfront payments that lies in the time until then.
type Buying struct {
	Question Question         `json:"question"`
	Offers   []capacity.Offer `json:"offers"`
	VMType   string           `json:"vm_type,omitempty"` // of the offers, where the problem has several
	End      time.Time        `json:"end"`
}

// BuyingOf returns the question of a file about offers. Its faults are those of a schedule's question.
func BuyingOf(q *horizon.PurchaseQuestion) (b Buying, err error) {
	h := q.Without()
	b = Buying{Offers: q.Offers, End: h.End()}
	if b.Question, err = OfHorizon(&h); err != nil {
		return b, err
	}
	return b, strict.Check(b.checkSpot)
}

// WithoutSpot leaves spot VMs out, as purchases of a cluster do.
func (b *Buying) WithoutSpot() {
	h := b.Question.horizon().WithoutSpot()
	b.Question.Problem, b.Question.Periods = h.Problem, h.Periods
}

// checkSpot refuses spot VMs. More VMs bought would allow more of them, so that the bound of all purchases would not hold.
func (b *Buying) checkSpot(c *strict.Checker) {
	const detail = "Offers are weighed for waiting jobs against VMs on demand alone; leave spot VMs out."
	s := &b.Question.Problem.Supply
	c.Enter("problem")
	c.Enter("supply")
	if s.Spot != nil {
		c.Refuse("spot", "not_taken", detail)
	}
	strict.Each(c, "vm_types", s.VMTypes, func(t *capacity.VMTypeSupply) {
		if t.Spot != nil {
			c.Refuse("spot", "not_taken", detail)
		}
	})
	c.Leave()
	c.Leave()
}

// OfHorizon returns the question about the schedule of a file's time.
func OfHorizon(h *horizon.Horizon) (Question, error) {
	q := Question{Problem: h.Problem, Contracts: h.Contracts, Periods: h.Periods, Earlier: h.Earlier}
	return q, strict.Check(q.check)
}

// Waiting is the schedule with what it comes to, as other answers tell it.
func (a *Answer) Waiting() horizon.WaitingSchedule {
	w := horizon.WaitingSchedule{Bill: a.Cost.Bill, ValueRefused: a.Cost.ValueRefused, Total: a.Cost.Total, Bound: a.Proof.Bound, Schedule: []Start{}, Refused: a.Refused, Earlier: a.Earlier}
	for v := range max(1, len(a.Hours[0].ByType)) {
		for h := range a.Hours {
			price := a.Hours[h].Price
			if len(a.Hours[h].ByType) > 0 {
				price = a.Hours[h].ByType[v].Price
			}
			w.Prices = append(w.Prices, price)
		}
	}
	for i := range a.Budgets {
		w.BudgetPrices = append(w.BudgetPrices, a.Budgets[i].Price)
	}
	w.Schedule = append(w.Schedule, a.Schedule...)
	return w
}

// OnType says of which type the offers are.
func (b *Buying) OnType(name string) {
	if len(b.Question.Problem.Supply.VMTypes) > 0 {
		b.VMType = name
	}
}

// Bought returns the question of a schedule with so many VMs of each offer, and the share of their upfront payments.
func (b *Buying) Bought(vms []int64) (q Question, upfront money.Amount) {
	q = b.Question
	q.Contracts = slices.Clone(q.Contracts)
	for k := range b.Offers {
		o := &b.Offers[k]
		from, until := b.term(o)
		q.Contracts = append(q.Contracts, horizon.TermContract{
			Contract: capacity.Contract{Name: o.Name, VMs: vms[k], Price: o.Price, Billing: o.Billing}, VMType: b.VMType,
			Upfront: money.Amount{Decimal: o.Upfront.Mul(decimal.NewFromInt(vms[k]))}, From: from, Until: until})
		upfront.Decimal = upfront.Add(b.upfront(o).Mul(decimal.NewFromInt(vms[k])))
	}
	upfront.Decimal = upfront.Round(money.Places)
	return q, upfront
}

// secondsOf returns the seconds of a term that lie in the time of the question.
func (b *Buying) secondsOf(from, until time.Time) decimal.Decimal {
	first, last := max(from.Unix(), b.Question.Start().Unix()), min(until.Unix(), b.End.Unix())
	return decimal.NewFromInt(max(0, last-first))
}

// term returns when an offer counts. A term that lies outside counts at no time.
func (b *Buying) term(o *capacity.Offer) (from, until time.Time) {
	from, until = o.Term(b.Question.Start())
	if until.After(b.End) {
		until = b.End
	}
	return from, until
}

// upfrontPlaces are so many that the share of a payment is exact for any number of VMs.
const upfrontPlaces = 30

// upfront returns the share of the payment for one VM.
func (b *Buying) upfront(o *capacity.Offer) decimal.Decimal {
	from, until := o.Term(b.Question.Start())
	return o.Upfront.Mul(b.secondsOf(from, until)).DivRound(decimal.NewFromInt(until.Unix()-from.Unix()), upfrontPlaces)
}

// Buyer tries purchases, each with a schedule.
type Buyer struct {
	Buying
	tried  []triedPurchase
	next   []proposed
	grid   *grid            // with nothing bought
	whole  schedule.Problem // of it, with the offers
	bound  float64          // of whole
	prices []float64        // which prove it
	refuse error            // why the last infeasible purchase has no schedule
}

type proposed struct {
	vms []int64
	why horizon.PurchaseTried
}

type triedPurchase struct {
	proposed
	upfront decimal.Decimal
	grid    *grid
	plan    schedule.Plan
	cost    Cost
}

// Steps bounds how often Step has something to do.
const (
	mostImproved = 2
	Steps        = 4 + mostImproved
)

// NewBuyer returns a buyer who tries nothing first, then what is best where jobs count as they arrive, if that is known.
func NewBuyer(b Buying, atOnce []int64) *Buyer {
	x := &Buyer{Buying: b}
	if x.propose(make([]int64, len(b.Offers)), horizon.TriedNothing); atOnce != nil {
		x.propose(atOnce, horizon.TriedAtOnce)
	}
	return x
}

// propose lets a purchase be tried that has not been.
func (b *Buyer) propose(vms []int64, why horizon.PurchaseTried) {
	if slices.ContainsFunc(b.next, func(p proposed) bool { return slices.Equal(p.vms, vms) }) || slices.ContainsFunc(b.tried, func(t triedPurchase) bool { return slices.Equal(t.vms, vms) }) {
		return
	}
	b.next = append(b.next, proposed{vms, why})
}

// Step does the next part of the work. It returns false where all is done.
func (b *Buyer) Step(ctx context.Context, engine lp.Solver) bool {
	if b.Question.Problem.Options.Engine == capacity.EngineExact {
		engine = nil
	}
	if b.prices == nil {
		b.program(ctx, engine)
		return true
	}
	if len(b.next) == 0 && !b.improve() {
		return false
	}
	p := b.next[0]
	b.next = b.next[1:]
	b.try(ctx, p, engine)
	return true
}

// proposalSeconds limits each linear program with offers, which is solved once for all purchases.
const proposalSeconds = 10

// program bounds the cost of all purchases, and proposes that of the linear program.
func (b *Buyer) program(ctx context.Context, engine lp.Solver) {
	q, _ := b.Bought(make([]int64, len(b.Offers)))
	b.grid = newGrid(&q)
	b.whole = b.grid.problem()
	b.whole.Offers = b.offers(b.grid)
	x := b.whole.Propose(ctx, engine, schedule.Options{LPSeconds: proposalSeconds})
	b.prices, b.bound = x.Prices, x.Bound
	if x.Bought == nil {
		return
	}
	vms := make([]int64, len(b.Offers))
	for k, n := range x.Bought {
		vms[k] = max(0, min(b.Offers[k].Max, int64(math.Round(n))))
	}
	b.propose(vms, horizon.TriedProgram)
}

// offers returns the offers as the grid's problem has them.
func (b *Buyer) offers(g *grid) (all []schedule.Offer) {
	on := slices.IndexFunc(g.types, func(t capacity.VMTypeSupply) bool { return t.Name == b.VMType })
	for k := range b.Offers {
		o := &b.Offers[k]
		from, until := b.term(o)
		first, last := 0, g.hours // the hours of which it covers all
		for first < g.hours && g.at(first).Before(from) {
			first++
		}
		for last > first && g.at(last).After(until) {
			last--
		}
		x := schedule.Offer{Max: o.Max, From: on*g.hours + first, Until: on*g.hours + last}
		fixed := b.upfront(o)
		if o.Billing == capacity.BilledAlways {
			fixed = fixed.Add(o.Price.Mul(b.secondsOf(from, until)).DivRound(decimal.NewFromInt(3600), upfrontPlaces))
		} else {
			x.Price = o.Price.InexactFloat64()
		}
		x.Fixed = fixed.InexactFloat64()
		all = append(all, x)
	}
	return all
}

// try makes the schedule of a purchase. One with which not all promised executions run is left out.
func (b *Buyer) try(ctx context.Context, p proposed, engine lp.Solver) {
	q, upfront := b.Bought(p.vms)
	t := triedPurchase{proposed: p, upfront: upfront.Decimal, grid: newGrid(&q)}
	t.plan = schedule.Solve(ctx, t.grid.problem(), engine, schedule.Options{})
	t.grid.recount(&t.plan)
	if refused := t.grid.refusedOfAll(&t.plan); len(refused) > 0 {
		b.refuse = &fault.InfeasibleError{Conflicts: refused}
		return
	}
	if bound := b.whole.BoundAt(slices.Clone(t.plan.Prices), nil); bound > b.bound {
		b.prices, b.bound = t.plan.Prices, bound
	}
	t.cost = t.grid.cost(&t.plan)
	b.tried = append(b.tried, t)
	b.share()
}

// share gives each purchase the schedule of another that costs less with it.
func (b *Buyer) share() {
	for i := range b.tried {
		t := &b.tried[i]
		for j := range b.tried {
			other := &b.tried[j]
			if i == j || !t.grid.fits(other.plan.VMs) {
				continue
			}
			if cost := t.grid.cost(&other.plan); cost.Total.LessThan(t.cost.Total.Decimal) {
				t.cost = cost
				t.plan.Starts, t.plan.VMs = other.plan.Starts, other.plan.VMs
			}
		}
	}
}

// fits reports whether there are so many VMs.
func (g *grid) fits(vms []int64) bool {
	for row, n := range vms {
		for _, s := range g.sources[row] {
			n -= min(n, s.vms)
		}
		if n > 0 {
			return false
		}
	}
	return true
}

// improve proposes the best purchase for the VMs of the cheapest schedule, a few times.
func (b *Buyer) improve() bool {
	improved := 0
	for i := range b.tried {
		if b.tried[i].why == horizon.TriedImproved {
			improved++
		}
	}
	if len(b.tried) == 0 || improved == mostImproved {
		return false
	}
	best := &b.tried[b.ordered()[0]]
	b.propose(b.bestFor(best.plan.VMs, best.vms), horizon.TriedImproved)
	return len(b.next) > 0
}

// bestFor returns the purchase with which VMs of a schedule cost least, from one that is known: no other number of any one offer is
// cheaper.
func (b *Buyer) bestFor(rented, vms []int64) []int64 {
	vms = slices.Clone(vms)
	least, ok := b.priced(rented, vms)
	if !ok {
		return vms
	}
	for better := true; better; {
		better = false
		for k := range vms {
			for step := int64(1) << bits.Len64(uint64(b.Offers[k].Max)); step > 0; step /= 2 {
				for _, by := range []int64{step, -step} {
					for vms[k]+by >= 0 && vms[k]+by <= b.Offers[k].Max {
						vms[k] += by
						cost, ok := b.priced(rented, vms)
						if !ok || !cost.LessThan(least) {
							vms[k] -= by
							break
						}
						least, better = cost, true
					}
				}
			}
		}
	}
	return vms
}

// priced returns what VMs cost with a purchase.
func (b *Buyer) priced(rented, vms []int64) (cost decimal.Decimal, ok bool) {
	q, upfront := b.Bought(vms)
	g := &grid{question: &q, horizon: q.horizon(), hours: b.tried[0].grid.hours, types: b.tried[0].grid.types}
	g.supply()
	cost = upfront.Decimal
	for row, n := range rented {
		cost = cost.Add(g.rent(row, n).Cost.Decimal)
	}
	return cost, g.fits(rented)
}

// ordered returns the tried purchases, the cheapest first.
func (b *Buyer) ordered() []int {
	all := make([]int, len(b.tried))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(i, j int) int { return b.total(i).Cmp(b.total(j)) })
	return all
}

func (b *Buyer) total(i int) decimal.Decimal { return b.tried[i].cost.Total.Add(b.tried[i].upfront) }

// ErrUntried says that the work was ended before any purchase had a schedule.
var ErrUntried = errors.New("no purchase was tried")

// Answer tells what was tried. Without a schedule of any purchase it is an error.
func (b *Buyer) Answer() (w horizon.PurchaseWithWaiting, err error) {
	if len(b.tried) == 0 {
		return w, cmp.Or(b.refuse, ErrUntried)
	}
	w.Until, w.Prices = b.Question.End().UTC(), amounts(b.prices)
	for _, i := range b.ordered() {
		t := &b.tried[i]
		x := horizon.PurchaseScheduled{VMs: t.vms, Why: t.why, ValueRefused: t.cost.ValueRefused, Earlier: t.grid.earlier(&t.plan), Schedule: []Start{}}
		x.Upfront.Decimal = t.upfront
		x.Bill.Decimal = t.cost.Bill.Add(t.upfront)
		x.Total.Decimal = x.Bill.Add(x.ValueRefused.Decimal)
		bound, prices := b.boundOf(t)
		x.Bound.Decimal, x.Prices = decimal.Min(bound, x.Total.Decimal), amounts(prices)
		var starts []Start
		starts, x.Refused = t.grid.rows(&t.plan)
		x.Schedule = append(x.Schedule, starts...)
		w.Tried = append(w.Tried, x)
	}
	w.Bound.Decimal = decimal.Min(decimal.NewFromFloat(b.bound-b.grid.rounding).RoundFloor(money.Places).Add(b.grid.fixed()), w.Tried[0].Total.Decimal)
	w.Compare()
	return w, nil
}

// boundOf returns the higher of the bounds of a purchase's own prices and of those of all purchases.
func (b *Buyer) boundOf(t *triedPurchase) (bound decimal.Decimal, prices []float64) {
	prices = t.plan.Prices
	p, highest := t.grid.problem(), t.plan.Bound
	if other := p.BoundAt(slices.Clone(b.prices), nil); other > highest {
		highest, prices = other, b.prices
	}
	return decimal.NewFromFloat(highest - t.grid.rounding).RoundFloor(money.Places).Add(t.grid.fixed()).Add(t.upfront), prices
}

func amounts(prices []float64) []money.Amount {
	all := make([]money.Amount, len(prices))
	for i, x := range prices {
		all[i] = money.Round(x)
	}
	return all
}
