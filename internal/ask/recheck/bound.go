package recheck

import (
	"encoding/json"
	"math/big"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
)

// The linear program's cost is convex in the numbers bought. Its value and slopes at the recommendation bound the cost
// of every purchase from below. Only purchases whose bound is below the stated one are looked at by themselves.

// tangent is the linear program's cost of a purchase, and how it changes with each VM bought.
type tangent struct {
	at    []int64
	cost  *big.Rat
	slope []*big.Rat

	slopes []float64
	tried  bool // the purchase was looked at by itself
}

// Limits of the purchases that are looked at: by slopes of their own, and by those of others.
const (
	mostPurchases = 500
	mostVisits    = 2_000_000
)

// bound checks that no purchase costs less than the bound, and what follows from it.
func (b *buying) bound() {
	a := &b.a
	p := &a.Proof
	total, bound, bought := a.Recommended.Total.Rat(), p.Bound.Rat(), b.bought
	if f := a.Found; f != nil {
		if len(f.VMs) != len(b.bought) {
			if f.VMs == nil && (!p.Bound.IsZero() || !p.PriceBound.IsZero() || p.Gap != 0 || p.Situations != 0) {
				b.wrong("/proof", "stands there, and no purchase is found")
			}
			b.end(BoundCheck, "")
			return
		}
		total, bought = f.Bought.Total.Rat(), f.VMs
	}
	roundings := len(b.calendar.cells) * (len(b.calendar.contracts) + 2)
	allowed := add(mul(big.NewRat(1, 1e8), add(whole(1), abs(total))), big.NewRat(int64(roundings), 1e9))
	periods := big.NewRat(b.calendar.seconds(len(b.calendar.cells)), b.q.Problem.PeriodSeconds) // a plan is rounded once, and counts for each
	allowed.Add(allowed, mul(periods, big.NewRat(1, 1e9)))
	if sub(bound, total).Cmp(new(big.Rat)) > 0 {
		b.wrong("/proof/bound", "is %s, and the recommendation costs %s", p.Bound, a.Recommended.Total)
	}
	if total.Sign() > 0 {
		gap := quo(sub(total, bound), total)
		if off := quo(allowed, total); abs(sub(number(p.Gap), gap)).Cmp(add(off, big.NewRat(1, 1e9))) > 0 {
			b.wrong("/proof/gap", "is %v, and the bound is %s below the cost", p.Gap, trimmed(sub(total, bound)))
		}
	}
	good := number(p.Gap).Cmp(add(number(b.q.Problem.Options.Gap), big.NewRat(1, 1e8))) <= 0
	surely := number(p.Gap).Cmp(number(b.q.Problem.Options.Gap)) <= 0
	if s := a.Status; a.Found != nil && s != capacity.Feasible {
		b.wrong("/status", "is %s, and the best purchase of the cluster as it is is not known", a.Status)
	} else if a.Found == nil && (s == capacity.Optimal && !good || s == capacity.Feasible && surely) || s != capacity.Optimal && s != capacity.Feasible {
		b.wrong("/status", "is %s with a gap of %v, and %v is allowed", a.Status, p.Gap, b.q.Problem.Options.Gap)
	}
	if p.PriceBound.Rat().Cmp(add(bound, allowed)) > 0 {
		b.wrong("/proof/price_bound", "is %s, and the bound %s", p.PriceBound, p.Bound)
	}
	least, most := len(b.calendar.cases), len(b.calendar.cases)
	if b.carrying != nil { // which numbers of jobs are alike is a matter of rounding, which may part what goes on
		least, most = b.calendar.distinct(runningDigits-3), b.calendar.distinct(runningDigits+5)+1
	}
	if b.carrying != nil && b.q.Problem.Options.Integrality == capacity.Relaxed {
		least, most = 1, len(b.calendar.cells)
	}
	if p.Situations < least || p.Situations > most {
		b.wrong("/proof/situations", "is %d, and there are %d", p.Situations, len(b.calendar.cases))
	}
	below := sub(bound, allowed)
	near := append(neighbours(bought, b.q.Offers), make([]int64, len(bought)))
	b.noneBelow("/proof/bound", b.hours, near, below)
	tried, all := b.below(bought, below)
	if !all {
		b.doubt("/proof/bound", "is %s: no purchase tried here is cheaper, and not all could be tried", p.Bound)
	}
	b.end(BoundCheck, "No purchase costs less than the bound: the linear program's slopes rule out all but %d, which were tried.", tried)
}

// below tries each purchase that the linear program leaves below an amount; its slopes there rule out others. It reports
// whether all were tried and none was below.
func (b *buying) below(bought []int64, bound *big.Rat) (tried int, all bool) {
	var tangents []*tangent
	for _, share := range []*big.Rat{new(big.Rat), big.NewRat(1, 2), whole(1)} {
		if t := b.tangent(bought, share); t != nil {
			tangents = append(tangents, t)
		}
	}
	all = len(tangents) > 0
	for n := 0; all; n++ {
		next, done := b.under(tangents, float(bound))
		if next == nil {
			return tried, done
		}
		t := b.tangent(next, big.NewRat(1, 2))
		if n == mostPurchases || t == nil {
			return tried, false
		}
		if t.cost.Cmp(bound) < 0 {
			tried++
			all = b.noneBelow("/proof/bound", b.hours, [][]int64{next}, bound)
			t.tried = true
		}
		tangents = append(tangents, t)
	}
	return tried, all
}

// under is a purchase at which all tangents are below an amount, and which was not tried; nil where there is none. It is not
// done if there are too many to go through.
func (b *buying) under(tangents []*tangent, bound float64) (purchase []int64, done bool) {
	n, visits := len(b.bought), 0
	purchase = make([]int64, n)
	values := make([][]float64, n+1) // of the tangents, the offers before one decided and the others at their best
	for k := range values {
		values[k] = make([]float64, len(tangents))
	}
	for i, t := range tangents {
		values[0][i] = float(t.cost)
		for k := range n {
			t.slopes = append(t.slopes[:k], float(t.slope[k]))
			values[0][i] += min(t.slopes[k]*float64(-t.at[k]), t.slopes[k]*float64(b.q.Offers[k].Max-t.at[k]))
		}
	}
	var try func(k int) bool
	try = func(k int) bool {
		if k == n {
			return !slices.ContainsFunc(tangents, func(t *tangent) bool { return t.tried && slices.Equal(t.at, purchase) })
		}
		most := b.q.Offers[k].Max
		for purchase[k] = 0; purchase[k] <= most && visits <= mostVisits; purchase[k]++ {
			fits := true
			visits++
			for i, t := range tangents {
				lowest := min(t.slopes[k]*float64(-t.at[k]), t.slopes[k]*float64(most-t.at[k]))
				values[k+1][i] = values[k][i] - lowest + t.slopes[k]*float64(purchase[k]-t.at[k])
				fits = fits && values[k+1][i] < bound
			}
			if fits && try(k+1) {
				return true
			}
		}
		return false
	}
	if try(0) {
		return purchase, true
	}
	return nil, visits <= mostVisits
}

// tangent touches the linear program's cost at a purchase; share says which of the two prices of capacity counts.
func (b *buying) tangent(bought []int64, share *big.Rat) *tangent {
	h := b.with(b.hours, bought)
	k := cut(&h)
	t := &tangent{at: bought, cost: new(big.Rat), slope: make([]*big.Rat, len(bought))}
	own := len(k.contracts) - len(bought)
	for i := range k.contracts {
		t.cost.Add(t.cost, k.share(i, k.seconds(len(k.cells))))
	}
	for i := range bought {
		one := &k.contracts[own+i]
		inside := max(0, min(one.until.Unix(), k.cells[0].start.Unix()+k.seconds(len(k.cells)))-max(one.from.Unix(), k.cells[0].start.Unix()))
		t.slope[i] = mul(b.q.Offers[i].Upfront.Rat(), big.NewRat(inside, one.until.Unix()-one.from.Unix()))
	}
	lengths := make([]int64, len(k.cases))
	for _, x := range k.cells {
		lengths[x.situation] += x.seconds
	}
	for s := range k.cases {
		times := big.NewRat(lengths[s], h.Problem.PeriodSeconds)
		cost, low, high := b.relaxation(&k.cases[s].problem)
		if cost == nil {
			return nil
		}
		price := low
		if high != nil && high.Cmp(low) > 0 {
			price = add(low, mul(share, sub(high, low)))
		}
		t.cost.Add(t.cost, mul(times, cost))
		for i := range bought {
			if !k.cases[s].inForce[own+i] {
				continue
			}
			paid := mul(b.q.Offers[i].Price.Rat(), big.NewRat(h.Problem.PeriodSeconds, 3600))
			switch saved := sub(price, paid); {
			case b.q.Offers[i].Billing == capacity.BilledAlways:
				t.slope[i] = add(t.slope[i], mul(times, sub(paid, price)))
			case saved.Sign() > 0:
				t.slope[i] = sub(t.slope[i], mul(times, saved))
			}
		}
	}
	t.cost = sub(t.cost, mul(big.NewRat(1, 1e9), add(whole(1), abs(t.cost)))) // plans may use tolerances of deadlines
	return t
}

func (b *buying) relaxation(p *capacity.Problem) (cost, low, high *big.Rat) {
	key, err := json.Marshal(p)
	if err != nil {
		return nil, nil, nil
	}
	known, seen := b.lp[string(key)]
	if !seen {
		cost, low, high := proof.Relaxation(*p)
		known = [3]*big.Rat{cost, low, high}
		b.lp[string(key)] = known
	}
	return known[0], known[1], known[2]
}
