package recheck

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// calendar is a horizon cut into cells in which nothing changes, and no midnight (UTC) lies.
type calendar struct {
	h         *horizon.Horizon
	contracts []signed  // the problem's own first
	own       int       // so many of them
	most      []float64 // the classes' own jobs
	arrives   bool
	cells     []cell
	rows      int // cells of a period and a situation that follow each other
	cases     []situation
}

// signed is a contract with its time; the problem's own have none, and are always in force.
type signed struct {
	capacity.Contract
	vmType      string
	upfront     *big.Rat
	from, until time.Time
}

type cell struct {
	start                  time.Time
	seconds                int64
	period, row, situation int
}

// situation holds the common problem of cells that differ in nothing but time.
type situation struct {
	problem    capacity.Problem
	inForce    []bool
	unpromised bool // which of its jobs are promised does not follow
}

func cut(h *horizon.Horizon) *calendar {
	k := &calendar{h: h, arrives: carriedOver(h)}
	for _, t := range h.Problem.Supply.Types() {
		for _, c := range t.Contracts {
			k.contracts = append(k.contracts, signed{Contract: c, vmType: t.Name})
		}
	}
	k.own = len(k.contracts)
	for i := range h.Problem.Classes {
		k.most = append(k.most, h.Problem.Classes[i].Jobs.Max)
	}
	edges := map[int64]bool{}
	for _, c := range h.Contracts {
		k.contracts = append(k.contracts, signed{c.Contract, c.VMType, c.Upfront.Rat(), c.From, c.Until})
		edges[c.From.Unix()], edges[c.Until.Unix()] = true, true
	}
	start := h.Periods[0].Start.Unix()
	end := start
	for i := range h.Periods {
		p := &h.Periods[i]
		edges[end] = true
		end += 3600*p.Hours + p.Seconds
	}
	const day = 86_400
	for at := start - start%day; at < end; at += day {
		edges[at] = true
	}
	edges[end] = true
	inside := slices.DeleteFunc(slices.Sorted(maps.Keys(edges)), func(at int64) bool { return at < start || at > end })
	known, period, until := map[string]int{}, -1, start
	for i, at := range inside[:len(inside)-1] {
		for until <= at {
			period++
			until += 3600*h.Periods[period].Hours + h.Periods[period].Seconds
		}
		c := cell{start: time.Unix(at, 0).UTC(), seconds: inside[i+1] - at, period: period}
		inForce := k.inForce(c.start)
		if n := len(k.cells); n > 0 && k.cells[n-1].period == period && slices.Equal(k.cases[k.cells[n-1].situation].inForce, inForce) {
			c.situation, c.row = k.cells[n-1].situation, k.cells[n-1].row // another day of the same
			k.cells = append(k.cells, c)
			continue
		}
		key := k.keyOf(&h.Periods[period], inForce, runningDigits)
		at, seen := known[key]
		if !seen {
			at = len(k.cases)
			known[key] = at
			k.cases = append(k.cases, situation{problem: k.problem(period, inForce), inForce: inForce})
		}
		if c.situation = at; len(k.cells) > 0 {
			last := &k.cells[len(k.cells)-1]
			if c.row = last.row; last.period != period || last.situation != at {
				c.row++
			}
		}
		k.cells = append(k.cells, c)
		k.rows = c.row + 1
	}
	return k
}

func (k *calendar) inForce(at time.Time) []bool {
	in := make([]bool, len(k.contracts))
	for i, c := range k.contracts {
		in[i] = i < k.own || !at.Before(c.from) && at.Before(c.until)
	}
	return in
}

// runningDigits are the digits by which numbers of jobs at once are told apart. Two ways of adding up agree on them, but where
// one rounds up and the other down.
const runningDigits = 12

// distinct counts the situations, if jobs at once are told apart by so many digits.
func (k *calendar) distinct(digits int) int {
	keys := map[string]bool{}
	for _, x := range k.cells {
		keys[k.keyOf(&k.h.Periods[x.period], k.cases[x.situation].inForce, digits)] = true
	}
	return len(keys)
}

// keyOf returns a text that periods of the same situation share.
func (k *calendar) keyOf(p *horizon.HorizonPeriod, inForce []bool, digits int) string {
	jobs := p.Jobs
	if k.arrives {
		jobs = nil // the jobs at once follow from what was before
	} else if jobs == nil {
		jobs = k.most
	}
	text := fmt.Sprint(jobs, inForce)
	for _, x := range p.Running {
		text += fmt.Sprintf(" %.*g", digits, x)
	}
	write := func(prices ...*money.Amount) {
		for _, x := range prices {
			if text += " -"; x != nil {
				text += x.String()
			}
		}
	}
	write(p.OnDemandPrice, p.SpotPrice)
	for _, name := range slices.Sorted(maps.Keys(p.Prices)) {
		text += fmt.Sprintf(" %q", name)
		write(p.Prices[name].OnDemand, p.Prices[name].Spot)
	}
	return text
}

// problem is that of a period with these contracts in force.
func (k *calendar) problem(period int, inForce []bool) capacity.Problem {
	p, in := k.h.Problem, &k.h.Periods[period]
	p.Options.Near = nil
	p.Classes = slices.Clone(p.Classes)
	for i := range p.Classes {
		jobs := &p.Classes[i].Jobs
		if in.Jobs != nil {
			jobs.Max = in.Jobs[i]
		}
		if jobs.Min = min(jobs.Min, jobs.Max); jobs.All {
			jobs.Min = jobs.Max
		}
		if in.Running != nil {
			worth, _ := decimal.NewFromString(mul(p.Classes[i].Penalty.Rat(), k.filled(period, i)).FloatString(2 * money.Places))
			p.Classes[i].Penalty = money.Amount{Decimal: worth}
		}
	}
	var types []capacity.VMTypeSupply
	for _, t := range p.Supply.Types() {
		prices := horizon.PeriodPrices{OnDemand: in.OnDemandPrice, Spot: in.SpotPrice}
		if len(p.Supply.VMTypes) > 0 {
			prices = in.Prices[t.Name]
		}
		if prices.OnDemand != nil {
			t.OnDemand.Price = *prices.OnDemand
		}
		if prices.Spot != nil && t.Spot != nil {
			t.Spot = &capacity.Spot{Price: *prices.Spot, MaxShare: t.Spot.MaxShare}
		}
		t.Contracts = nil
		for i, c := range k.contracts {
			if inForce[i] && c.vmType == t.Name {
				t.Contracts = append(t.Contracts, c.Contract)
			}
		}
		types = append(types, t)
	}
	if len(p.Supply.VMTypes) > 0 {
		p.Supply.VMTypes = types
	} else {
		p.Supply = capacity.Supply{Contracts: types[0].Contracts, OnDemand: types[0].OnDemand, Spot: types[0].Spot}
	}
	return p
}

// share is the part of a contract's upfront payment for its time in the horizon, or in its first seconds.
func (k *calendar) share(i int, seconds int64) *big.Rat {
	c := &k.contracts[i]
	if i < k.own {
		return new(big.Rat)
	}
	start := k.cells[0].start.Unix()
	inside := max(0, min(c.until.Unix(), start+seconds)-max(c.from.Unix(), start))
	return cents(mul(c.upfront, big.NewRat(inside, c.until.Unix()-c.from.Unix())))
}

// due adds the upfront payments of some time. The share of a contract in the horizon falls due where the contract begins.
func (k *calendar) due(from, until time.Time) *big.Rat {
	sum, seconds := new(big.Rat), k.seconds(len(k.cells))
	for i := k.own; i < len(k.contracts); i++ {
		at := k.contracts[i].from
		if at.Before(k.cells[0].start) {
			at = k.cells[0].start
		}
		if !at.Before(from) && at.Before(until) {
			sum.Add(sum, k.share(i, seconds))
		}
	}
	return sum
}

// seconds is the length of so many cells.
func (k *calendar) seconds(cells int) (sum int64) {
	for _, c := range k.cells[:cells] {
		sum += c.seconds
	}
	return sum
}
