package proof

import (
	"math"

	"example.org/headroom/internal/core/proof/exact"
	"example.org/headroom/internal/core/proof/pieces"
)

// at returns the bound in floating point, its piece, and the size of the terms of its sum.
func (p *program) at(nu []float64, mu float64) (c pieces.Piece, value, size float64) {
	p.rest()
	f := &p.floats
	n := len(p.types)
	c.Slope = make([]float64, n+1)
	mix := make([]int, n)
	for i := range p.classes {
		if f.weight != nil && p.weights[i] != nil {
			lowest := p.mix(i, nu, mix)
			size += math.Abs(lowest)
			for v, h := range mix {
				if h > 0 {
					c.Slope[v] += f.weight[i][v][h]
					c.Base -= f.penalty[i] * float64(h)
					size += f.penalty[i] * float64(h)
				}
			}
			continue
		}
		at, slope := p.straight(i, nu)
		if at < 0 {
			continue
		}
		jobs := f.low[i]
		if slope < f.penalty[i] {
			jobs = f.high[i]
		}
		c.Base -= f.penalty[i] * jobs
		c.Slope[at] += f.gamma[i][at] * jobs
		size += 2 * f.penalty[i] * jobs
	}
	for v := range p.types {
		vms, cost := p.rentAt(v, nu[v], mu)
		c.Slope[v] -= vms + f.spare[v] + f.slack[v]
		c.Base += cost
		c.Slope[n] += cost
		size += (1+mu)*cost + 2*nu[v]*(vms+f.spare[v])
	}
	if p.purse != nil {
		c.Slope[n] -= f.purse
		size += mu * math.Abs(f.purse)
	} else {
		c.Slope[n] = 0
	}
	value = c.Base + mu*c.Slope[n]
	for v := range nu {
		value += nu[v] * c.Slope[v]
	}
	return c, value, size
}

// straight returns the type on which a job of a class costs least at the prices, by its gamma; -1 for none.
func (p *program) straight(i int, nu []float64) (at int, slope float64) {
	at, slope = -1, math.Inf(1)
	for v, g := range p.floats.gamma[i] {
		if x := g * nu[v]; !math.IsInf(g, 1) && (at < 0 || x < slope) {
			at, slope = v, x
		}
	}
	return at, slope
}

// rentAt returns the number of VMs of a type that minimises their rent less their worth, and their rent.
func (p *program) rentAt(v int, nu, mu float64) (vms, cost float64) {
	f := &p.floats
	if p.counted != nil && p.counted[v] != nil {
		lowest := 0.0
		for n, x := range p.counted[v] {
			if y := (1+mu)*x - nu*float64(n); y < lowest {
				lowest, vms, cost = y, float64(n), x
			}
		}
		return vms, cost
	}
	for k, price := range f.price[v] {
		if (1+mu)*price < nu {
			vms += f.length[v][k]
			cost += f.length[v][k] * price
		}
	}
	return vms, cost
}

// mix finds the class's cheapest mix of jobs over types at the prices, by adding type after type.
func (p *program) mix(i int, nu []float64, jobs []int) (lowest float64) {
	f := &p.floats
	highest := int(f.high[i])
	clear(jobs)
	rows := p.mixes(i, nu)
	if len(rows) == 0 {
		return 0
	}
	lowest = math.Inf(1)
	total := 0
	for h := int(f.low[i]); h <= highest; h++ {
		if x := rows[0].lowest[h] - f.penalty[i]*float64(h); x < lowest {
			lowest, total = x, h
		}
	}
	for k, r := range rows {
		if k == len(rows)-1 {
			jobs[r.kind] = total
			break
		}
		for h := 0; h <= total; h++ {
			if r.own[h]+rows[k+1].lowest[total-h] == r.lowest[total] {
				jobs[r.kind] = h
				total -= h
				break
			}
		}
	}
	return lowest
}

// mixRow is one type of a class: the costs of jobs on it at the prices, and the smallest costs on it and the types
// after it.
type mixRow struct {
	kind        int
	own, lowest []float64
}

func (p *program) mixes(i int, nu []float64) (rows []mixRow) {
	f := &p.floats
	for v := range p.types {
		if p.gamma[i][v] == nil {
			continue
		}
		own := make([]float64, len(f.weight[i][v]))
		for h, w := range f.weight[i][v] {
			own[h] = nu[v] * w
		}
		rows = append(rows, mixRow{kind: v, own: own})
	}
	for k := len(rows) - 1; k >= 0; k-- {
		r := &rows[k]
		if k == len(rows)-1 {
			r.lowest = r.own
			continue
		}
		after := rows[k+1].lowest
		r.lowest = make([]float64, len(r.own))
		for total := range r.lowest {
			r.lowest[total] = math.Inf(1)
			for h := range total + 1 {
				r.lowest[total] = min(r.lowest[total], r.own[h]+after[total-h])
			}
		}
	}
	return rows
}

// exactly returns the bound at prices, in exact arithmetic, for the linear program.
func (p *program) exactly(nu []float64, mu float64) *exact.Rat {
	sum := new(exact.Rat)
	price := make([]*exact.Rat, len(nu))
	for v, x := range nu {
		price[v] = new(exact.Rat).SetFloat64(max(0, x))
	}
	money := new(exact.Rat).SetFloat64(max(0, mu))
	for i := range p.classes {
		p.rest()
		lowest := zero()
		for k, jobs := range []*exact.Rat{p.low[i], p.high[i]} {
			var best *exact.Rat
			for v, g := range p.gamma[i] {
				if g != nil && (best == nil || less(mul(g, price[v]), best)) {
					best = mul(g, price[v])
				}
			}
			if best == nil {
				break
			}
			if x := mul(jobs, sub(best, p.worth(i))); k == 0 || less(x, lowest) {
				lowest = x
			}
		}
		sum.Add(sum, lowest)
	}
	for v := range p.types {
		sum.Sub(sum, mul(price[v], p.spare[v]))
		for _, l := range p.rented[v] {
			if gain := sub(mul(add(whole(1), money), l.price), price[v]); gain.Sign() < 0 {
				sum.Add(sum, mul(gain, l.length))
			}
		}
	}
	if p.purse != nil {
		sum.Sub(sum, mul(money, p.purse))
	}
	return sum
}

// dual holds prices with their bound, and the value of the linear program over all pieces seen, which is no lower.
type dual struct {
	nu      []float64
	mu      float64
	value   float64 // in floating point, at the prices
	size    float64
	above   float64 // of the program over mixtures of the choices seen
	missing float64 // amount by which those mixtures break the rows
}

// solve raises the bound by cutting planes. The method needs no care: the bound is computed anew from its final prices.
func (p *program) solve() dual {
	n := len(p.types)
	start := make([]float64, n+1)
	for v := range n {
		for _, price := range p.floats.price[v] {
			start[v] = max(start[v], price)
		}
	}
	best := pieces.Highest(p.highest(), [][]float64{make([]float64, n+1), start}, func(x []float64) (pieces.Piece, float64, float64) {
		return p.at(x[:n], x[n])
	})
	return dual{nu: best.At[:n], mu: best.At[n], value: best.Value, size: best.Size, above: best.Above, missing: best.Missing}
}

// highest returns prices beyond which only a lack of VMs or money, or its price, changes anything.
func (p *program) highest() []float64 {
	f := &p.floats
	price, cheap, ratio := 1e-9, math.Inf(1), 1.0
	for v := range p.types {
		for _, x := range f.price[v] {
			if price = max(price, x); x > 0 {
				cheap = min(cheap, x)
			}
		}
	}
	for i := range p.classes {
		low, high := math.Inf(1), 0.0
		for _, g := range f.gamma[i] {
			if g > 0 && !math.IsInf(g, 1) {
				low, high = min(low, g), max(high, g)
			}
		}
		if high > 0 {
			price = max(price, f.penalty[i]/low)
			ratio = max(ratio, high/low)
		}
	}
	ratio = math.Pow(ratio, float64(min(3, len(p.types)-1)))
	top := make([]float64, len(p.types)+1)
	if p.purse != nil {
		top[len(p.types)] = 4 * (1 + price*ratio/min(cheap, price))
	}
	for v := range p.types {
		top[v] = 4 * price * ratio * (1 + top[len(p.types)])
	}
	return top
}
