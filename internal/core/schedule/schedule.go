// Package schedule plans the executions of classes over time: when each starts, how long it runs and on which type of VMs, and
// how many VMs are rented in each step for them. Its bound needs no solver: any prices of VMs give one.
package schedule

import (
	"math"
	"slices"
)

// Problem is executions that arrive on a grid of steps, and what VMs cost in each.
type Problem struct {
	Unit    int64    // parts of a VM, in which loads are counted, rounded up
	Rounded bool     // some loads were rounded up, by less than a part
	Supply  [][]Tier // of each step, the cheapest first; with several types of VMs, of all steps of one after those of another
	Spot    []Spot   // of each step, as the supply; nil is none
	// Starting holds types of VMs whose starts cost something.
	Starting []Starting
	Budgets  []Budget // not beside Starting
	Classes  []Class
	Offers   []Offer // that bounds and proposals count, and no plan
}

// Tier is a number of VMs at one price per step.
type Tier struct {
	VMs   int64
	Price float64
}

// Unlimited is the size of a tier that never runs out.
const Unlimited = int64(1) << 52

// Class is executions that are alike. One that arrives in step a starts in step a+First at the earliest and ends before step
// a+Window. It keeps its VMs from its start to its end.
type Class struct {
	Runs          []Run // of which each execution takes one, the longest last
	First, Window int
	On            []int   // by step, First of the runs that may run then, or Any; nil is any in all
	Windows       []int   // by the step of the arrival, instead of Window; nil where all are alike
	AtOnce        bool    // no execution starts later than it can
	Penalty       float64 // of a refused execution
	Arrivals      []int64 // by step; every window ends within the steps of the supply
}

// Run is a way to run an execution: the parts of VMs of one type that it holds in each step from its start. The supply has the
// steps of that type from First on.
type Run struct {
	First int
	Load  []int64
}

// Start counts executions of a class that arrived in one step and do the same. Run is Refused where they are refused.
type Start struct {
	Class, Arrived int
	Run, At        int
	Jobs           int64
}

// Refused stands for a run.
const Refused = -1

// Any stands for the runs of all types.
const Any = -1

// Plan holds the starts of all executions and the VMs rented for them.
type Plan struct {
	Starts  []Start // by class, arrival, run and start
	VMs     []int64 // by step and type, as the supply
	Rented  float64 // cost of the VMs, and of their starts
	Refused float64 // penalties
	// No plan costs less than Bound, which follows from Prices, of a VM in each step of each type.
	Bound  float64
	Prices []float64
	Worth  []float64 // of a unit of money of each budget, for the bound
	Engine string    // that proposed prices; "" is none
}

// Cost returns what the plan costs.
func (p *Plan) Cost() float64 { return p.Rented + p.Refused }

// Gap returns how much the plan may cost too much, relative to its cost.
func (p *Plan) Gap() float64 {
	if p.Cost() <= p.Bound || p.Cost() <= 0 {
		return 0
	}
	return (p.Cost() - p.Bound) / p.Cost()
}

// AtOnce returns the problem in which nothing waits: every execution starts as early as it can, and takes any of its runs.
func (p Problem) AtOnce() Problem {
	p.Classes = slices.Clone(p.Classes)
	for k := range p.Classes {
		p.Classes[k].AtOnce = true
	}
	return p
}

// rented returns the cost of so many VMs in a step. Those beyond the supply cost as much as steep says.
func (p *Problem) rented(step int, vms int64, steep float64) (cost float64) {
	if n := p.spot(step, vms); n > 0 {
		cost, vms = float64(n)*p.Spot[step].Price, vms-n
	}
	for _, t := range p.Supply[step] {
		n := min(vms, t.VMs)
		if cost += float64(n) * t.Price; n == vms {
			return cost
		}
		vms -= n
	}
	return cost + float64(vms)*steep
}

// room returns the VMs there are in a step.
func (p *Problem) room(step int) (vms int64) {
	for _, t := range p.Supply[step] {
		vms = min(Unlimited, vms+t.VMs)
	}
	return p.spotAt(step).widened(vms)
}

// whole returns the VMs that a load needs.
func (p *Problem) whole(load int64) int64 { return (load + p.Unit - 1) / p.Unit }

// arrival is executions of a class that arrive in a step, with the options they have.
type arrival struct {
	class, at int
	jobs      int64
}

func (p *Problem) arrivals() (all []arrival) {
	for k := range p.Classes {
		for at, n := range p.Classes[k].Arrivals {
			if n > 0 {
				all = append(all, arrival{k, at, n})
			}
		}
	}
	return all
}

// option is a run and its start.
type option struct{ run, at int }

// window returns the steps from an arrival until its executions must have ended.
func (c *Class) window(at int) int {
	if c.Windows != nil {
		return c.Windows[at]
	}
	return c.Window
}

// starts returns how many steps there are in which a run of executions that arrive in a step can start. The first is that of the
// arrival plus First. Some may run on no type of that time.
func (c *Class) starts(at, run int) int {
	n := max(0, c.window(at)-len(c.Runs[run].Load)-c.First+1)
	if c.AtOnce {
		return min(1, n)
	}
	return n
}

// may reports whether a run that starts in a step is on the type of each of its steps.
func (c *Class) may(run, at int) bool {
	if c.On == nil {
		return true
	}
	for i := range c.Runs[run].Load {
		if on := c.On[at+i]; on != c.Runs[run].First && on != Any {
			return false
		}
	}
	return true
}

// options calls with every option of an arrival but its refusal.
func (c *Class) options(at int, with func(option)) {
	for r := range c.Runs {
		for s := at + c.First; s < at+c.First+c.starts(at, r); s++ {
			if c.may(r, s) {
				with(option{r, s})
			}
		}
	}
}

// Lagrange returns the bound that prices of a VM in each step give, and the load if every execution takes what is cheapest
// for it at these prices. Prices above that of unlimited VMs are lowered to it, in place.
func (p *Problem) Lagrange(prices []float64) (bound float64, load []int64) {
	load = make([]int64, len(prices))
	for i := range p.Starting {
		gain, _ := p.Starting[i].bound(p, prices, nil)
		bound += gain
	}
	for t := range p.Supply {
		if p.starting(t) != nil {
			continue
		}
		ended := false
		p.tiers(t, func(vms, price float64) {
			switch {
			case ended:
			case math.IsInf(vms, 1):
				prices[t], ended = min(prices[t], price), true
			default:
				bound += vms * min(0, price-prices[t])
			}
		})
	}
	for i := range p.Offers {
		bound += float64(p.Offers[i].Max) * min(0, p.Offers[i].worth(prices))
	}
	for _, best := range p.cheapest(prices) {
		c := &p.Classes[best.Class]
		if bound += float64(best.Jobs) * best.cost; best.Run != Refused {
			r := &c.Runs[best.Run]
			for i, x := range r.Load {
				load[r.First+best.At+i] += x * best.Jobs
			}
		}
	}
	return bound, load
}

// choice holds an option that all executions of an arrival take, and its cost for one of them at some prices.
type choice struct {
	Start
	cost float64
}

// cheapest returns the cheapest option of every arrival.
func (p *Problem) cheapest(prices []float64) (all []choice) {
	for k := range p.Classes {
		c := &p.Classes[k]
		costs := p.costs(c, prices)
		for at, n := range c.Arrivals {
			if n == 0 {
				continue
			}
			best := choice{Start{Class: k, Arrived: at, Run: Refused, Jobs: n}, c.Penalty}
			for r := range c.Runs {
				for s := at + c.First; s < at+c.First+c.starts(at, r); s++ {
					if cost := costs[r][s]; cost < best.cost {
						best.Run, best.At, best.cost = r, s, cost
					}
				}
			}
			all = append(all, best)
		}
	}
	return all
}

// costs returns what each run costs at some prices, by its start.
func (p *Problem) costs(c *Class, prices []float64) [][]float64 {
	all := make([][]float64, len(c.Runs))
	for r := range c.Runs {
		first, load := c.Runs[r].First, c.Runs[r].Load
		starts := 0 // none is later
		for at, n := range c.Arrivals {
			if n > 0 {
				starts = max(starts, at+c.First+c.starts(at, r))
			}
		}
		all[r] = make([]float64, max(0, min(len(prices)-first-len(load)+1, starts)))
		for s := range all[r] {
			sum := 0.0
			for i, x := range load {
				sum += float64(x) * prices[first+s+i]
			}
			if !c.may(r, s) {
				sum = math.Inf(1)
			}
			all[r][s] = sum / float64(p.Unit)
		}
	}
	return all
}

// boundNoise bounds the rounding errors of a bound, relative to the amounts it is the sum of.
const boundNoise = 1e-12

// slack returns by how much a bound may be too high: rounding errors, and a part of a VM in each step of each execution.
func (p *Problem) slack(prices []float64) float64 {
	steps, dearest := 0.0, 0.0
	for k := range p.Classes {
		jobs, longest := int64(0), 0
		for _, n := range p.Classes[k].Arrivals {
			jobs += n
		}
		for _, r := range p.Classes[k].Runs {
			longest = max(longest, len(r.Load))
		}
		steps += float64(jobs) * float64(longest)
	}
	for _, price := range prices {
		dearest = max(dearest, price)
	}
	slack := boundNoise * p.size(prices)
	if p.Rounded {
		slack += steps * dearest / float64(p.Unit)
	}
	return slack
}

// size returns how large the amounts are that a bound at some prices is the sum of.
func (p *Problem) size(prices []float64) (size float64) {
	for t := range p.Supply {
		p.tiers(t, func(vms, price float64) {
			if !math.IsInf(vms, 1) {
				size += vms * math.Max(price, prices[t])
			}
		})
	}
	for i := range p.Offers {
		o := &p.Offers[i]
		size += float64(o.Max) * o.Fixed
		for _, price := range prices[o.From:o.Until] {
			size += float64(o.Max) * math.Max(o.Price, price)
		}
	}
	for k := range p.Classes {
		jobs := int64(0)
		for _, n := range p.Classes[k].Arrivals {
			jobs += n
		}
		size += float64(jobs) * p.Classes[k].Penalty
	}
	return size
}
