package proof

import (
	"math/big"

	"example.org/headroom/internal/core/proof/exact"
)

// bound returns what no timetable costs less than, by the prices of VMs: for each arrival its cheapest run or its penalty, less
// what the sources gain at these prices. Where all of a class are promised, the penalty is no choice.
func (t *Timetable) bound() *exact.Rat {
	bound := zero()
	prices := make([][]*exact.Rat, len(t.Types))
	dearer, least := t.dearer(), new(big.Rat)
	t.spend(least)
	for v := range t.Types {
		told, ok := t.Types[v].bound(least, dearer)
		if !ok {
			return zero()
		}
		for h, price := range told {
			prices[v] = append(prices[v], exact.Of(price))
			if h < len(t.Types[v].Held) {
				bound.Add(bound, mul(exact.Of(t.Types[v].Held[h]), prices[v][h]))
			}
		}
	}
	bound.Add(bound, exact.Of(least))
	for i := range t.Offers {
		bound.Add(bound, t.Offers[i].gain(prices))
	}
	runs := newTimedRuns(prices)
	for k := range t.Classes {
		c := &t.Classes[k]
		if !c.waits() {
			t.boundAtOnce(bound, c, prices)
		} else {
			t.boundWithin(bound, c, runs)
		}
	}
	return bound
}

// bound adds what the VMs of a type gain at the prices of its hours, and returns these. It is false where prices prove nothing.
func (t *TimedType) bound(least *big.Rat, dearer []*big.Rat) (prices []*big.Rat, ok bool) {
	if t.Starts != nil {
		return t.Starts.Bound(t.Hours, least)
	}
	for h := range t.Hours {
		prices = append(prices, t.Hours[h].Bound(least, dearer[h]))
	}
	return prices, true
}

// dearer returns by hour how often the price of VMs counts, as a unit of money costs what its budgets are worth as well.
func (t *Timetable) dearer() (all []*big.Rat) {
	for range t.hours() {
		all = append(all, big.NewRat(1, 1))
	}
	for i := range t.Budgets {
		b := &t.Budgets[i]
		for _, times := range all[b.From:b.Until] {
			times.Add(times, b.Worth)
		}
	}
	return all
}

// spend takes from a bound what the budgets are worth, beside what their hours cost in any case.
func (t *Timetable) spend(bound *big.Rat) {
	for i := range t.Budgets {
		b := &t.Budgets[i]
		left := new(big.Rat).Set(b.Most)
		for v := range t.Types {
			for h := b.From; h < b.Until; h++ {
				left.Sub(left, t.Types[v].Hours[h].Fixed())
			}
		}
		bound.Sub(bound, left.Mul(left, b.Worth))
	}
}

// gain returns what all VMs of an offer cost less than prices of VMs, as a negative amount, or 0 where they cost more.
func (o *TimedOffer) gain(prices [][]*exact.Rat) *exact.Rat {
	each, price := exact.Of(o.Fixed), exact.Of(o.Price)
	for h := o.From; h < o.Until; h++ {
		each.Add(each, smaller(zero(), sub(price, prices[o.On][h])))
	}
	return mul(whole(o.Max), smaller(zero(), each))
}

// boundAtOnce adds the executions of a class that start as they arrive, and those that arrived earlier.
func (t *Timetable) boundAtOnce(bound *exact.Rat, c *TimedClass, prices [][]*exact.Rat) {
	var held *exact.Rat
	for v := range c.load {
		if c.load[v] == nil {
			continue
		}
		sum := zero()
		for h, price := range prices[v] {
			sum.Add(sum, mul(c.earlier(v, h), price))
		}
		if held == nil || less(sum, held) {
			held = sum
		}
	}
	if held != nil {
		bound.Add(bound, held)
	}
	for a, n := range c.Arrivals {
		if n == 0 {
			continue
		}
		var cost *exact.Rat
		promised := int64(0)
		if a < len(c.promised) {
			promised = c.promised[a]
		}
		for v, load := range c.load {
			if load == nil || a+len(load) > len(prices[v]) {
				continue
			}
			runs := zero()
			for h, x := range load {
				runs.Add(runs, mul(x, prices[v][a+h]))
			}
			if cost == nil || less(runs, cost) {
				cost = runs
			}
		}
		if cost == nil {
			cost = exact.Of(c.Penalty)
		}
		if bound.Add(bound, mul(cost, whole(promised))); !c.Class.Jobs.All && !c.Placed {
			cost = smaller(cost, exact.Of(c.Penalty))
		}
		bound.Add(bound, mul(cost, whole(n-promised)))
	}
}

// timedRuns holds what a VM costs in so many hours from a start, and the least of that between two hours.
type timedRuns struct {
	until    [][]*exact.Rat // by type, sums of the prices before each hour
	cheapest map[timedRun]*exact.Rat
}

// timedRun is hours on VMs of a type that begin and end within others.
type timedRun struct{ on, hours, from, until int }

func newTimedRuns(prices [][]*exact.Rat) *timedRuns {
	r := timedRuns{cheapest: map[timedRun]*exact.Rat{}}
	for v := range prices {
		sums := []*exact.Rat{zero()}
		for h, price := range prices[v] {
			sums = append(sums, add(sums[h], price))
		}
		r.until = append(r.until, sums)
	}
	return &r
}

// least returns the price of the cheapest run, or nil where none fits.
func (r *timedRuns) least(of timedRun) (least *exact.Rat) {
	least, known := r.cheapest[of]
	if known {
		return least
	}
	sums := r.until[of.on]
	for s := of.from; s+of.hours <= of.until && s+of.hours < len(sums); s++ {
		if price := sub(sums[s+of.hours], sums[s]); least == nil || less(price, least) {
			least = price
		}
	}
	r.cheapest[of] = least
	return least
}

// boundWithin adds the executions of a class that may wait.
func (t *Timetable) boundWithin(bound *exact.Rat, c *TimedClass, runs *timedRuns) {
	fewest := make([][]*exact.Rat, len(t.Types)) // VMs by type and the hours of a run, less one
	most := c.Window
	for _, hours := range c.Windows {
		most = max(most, hours)
	}
	for v := range t.Types {
		for hours := 1; hours <= most-c.first() && hours <= longestRun && float64(3600*(hours-1)) < c.Class.DeadlineSeconds; hours++ {
			seconds := min(float64(3600*hours), c.Class.DeadlineSeconds)
			if c.Class.VMsPerJob != nil && seconds < c.Class.DeadlineSeconds {
				fewest[v] = append(fewest[v], nil)
				continue
			}
			fewest[v] = append(fewest[v], inTurns(t.least(c, v, seconds), seconds))
		}
	}
	for a, n := range c.Arrivals {
		if n == 0 {
			continue
		}
		var cost *exact.Rat
		if !c.Class.Jobs.All && !c.Placed {
			cost = exact.Of(c.Penalty)
		}
		for v := range fewest {
			for i, vms := range fewest[v] {
				if vms == nil {
					continue
				}
				price := runs.least(timedRun{v, i + 1, a + c.first(), a + c.window(a)})
				if price == nil {
					continue
				}
				if run := mul(vms, price); cost == nil || less(run, cost) {
					cost = run
				}
			}
		}
		if cost != nil {
			bound.Add(bound, mul(cost, whole(n)))
		}
	}
}
