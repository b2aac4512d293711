package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
)

// brute is a problem of a few small classes made ready for trying everything: money in whole
// millionths, demands and slots worked out anew from the paper.
type brute struct {
	classes []bruteClass
	cost    []int64 // of so many VMs at the margin; there are len(cost)-1 at most
	fixed   int64   // what contracts billed always cost anyhow
	short   bool    // a promised class cannot meet its deadline
}

type bruteClass struct {
	low, high, penalty int64
	load               []float64 // VMs of low, low+1, ... jobs
	vmsPerJob          float64
	slots              *rational
}

// wholeNoise is the VMs by which a sum of floats may exceed the whole number it stands for.
const wholeNoise = 1e-7

func newBrute(p capacity.Problem) *brute {
	b := &brute{cost: []int64{0}}
	most := 1.0 // VMs that all jobs together may take
	for i := range p.Classes {
		c := b.class(&p.Classes[i], p.Options)
		b.classes = append(b.classes, c)
		most += c.load[len(c.load)-1]
	}
	b.addSupply(p, int64(most))
	return b
}

func millionths(m decimal.Decimal) int64 {
	x := m.Shift(6)
	if !x.IsInteger() {
		panic(fmt.Sprintf("%s is finer than this test counts", m))
	}
	return x.IntPart()
}

// addSupply lists the price of every VM that could be wanted, one by one, and sorts them.
func (b *brute) addSupply(p capacity.Problem, most int64) {
	var prices []int64
	add := func(vms, price int64) {
		for range min(vms, most) {
			prices = append(prices, price)
		}
	}
	perPeriod := func(m money.Amount) int64 { return millionths(m.Decimal) * p.PeriodSeconds / 3600 }
	for _, c := range p.Supply.Contracts {
		if c.Billing == capacity.BilledAlways {
			b.fixed += c.VMs * perPeriod(c.Price)
			add(c.VMs, 0)
		} else {
			add(c.VMs, perPeriod(c.Price))
		}
	}
	rent := most
	if p.Supply.OnDemand.Quota != nil {
		rent = *p.Supply.OnDemand.Quota
	}
	add(rent, perPeriod(p.Supply.OnDemand.Price))
	slices.Sort(prices)
	for _, price := range prices[:min(len(prices), int(most))] {
		b.cost = append(b.cost, b.cost[len(b.cost)-1]+price)
	}
}

func (b *brute) class(c *capacity.Class, o capacity.Options) bruteClass {
	x := bruteClass{low: int64(c.Jobs.Min), high: int64(c.Jobs.Max), penalty: millionths(c.Penalty.Decimal)}
	switch {
	case c.VMsPerJob != nil:
		x.vmsPerJob = c.VMsPerJob.InexactFloat64()
	default:
		s := needs(c, o)
		if s.slack <= 0 {
			b.short = b.short || x.low > 0
			x.low, x.high = 0, 0
			break
		}
		x.slots, x.vmsPerJob = &s, s.vmsPerJob()
	}
	for h := x.low; h <= x.high; h++ {
		vms := x.vmsPerJob * float64(h)
		if x.slots != nil && o.Integrality == capacity.Executable && h > 0 {
			m, r := x.slots.whole(h)
			vms = float64(m)/float64(x.slots.perMap) + float64(r)/float64(x.slots.perRed)
		}
		if o.Sharing == capacity.Dedicated {
			vms = math.Ceil(vms - wholeNoise)
		}
		x.load = append(x.load, vms)
	}
	return x
}

// needs is the class's slots in whole numbers: the coefficients of paper eq. 1-3 with E1's
// correction, clamped for tiny jobs, in units of a two-thousandth of a second.
func needs(c *capacity.Class, o capacity.Options) rational {
	whole := func(seconds float64) int64 { return int64(math.Round(seconds * 2000)) }
	var a, b, fixed float64
	x := rational{perMap: c.SlotsPerVM.Map, perRed: c.SlotsPerVM.Reduce, one: o.OneSlotPerJob}
	if d := c.Demand; d != nil {
		a, b, fixed = d.MapWorkSeconds, d.ReduceWorkSeconds, d.FixedSeconds
		x.hasMap, x.hasReduce = a > 0, b > 0
	} else {
		p := c.Profile
		x.hasMap, x.hasReduce = true, p.ReduceTasks > 0
		work := float64(p.MapTasks) * p.MapAvgSeconds
		lower := [3]float64{work, 0, 0}
		upper := [3]float64{max(0, work-2*p.MapMaxSeconds), 0, min(work, 2*p.MapMaxSeconds)}
		if x.hasReduce {
			work, longest := float64(p.ReduceTasks)*(p.ShuffleAvgSeconds+p.ReduceAvgSeconds), p.ShuffleMaxSeconds+p.ReduceMaxSeconds
			lower[1], lower[2] = work, p.FirstShuffleAvgSeconds-p.ShuffleAvgSeconds
			upper[1] = max(0, work-2*longest)
			upper[2] += min(work, 2*longest) + p.FirstShuffleMaxSeconds
		}
		for _, s := range p.Stages { // all in turn on the map slots
			work := float64(s.Tasks) * s.AvgSeconds
			lower[0] += work
			upper[0] += max(0, work-2*s.MaxSeconds)
			upper[2] += min(work, 2*s.MaxSeconds)
		}
		bound, factor := o.Bound, 1.0
		if bound == capacity.CalibratedBound {
			if bound = capacity.AverageBound; c.Calibration != nil {
				bound, factor = c.Calibration.Bound, c.Calibration.Factor
			}
		}
		share := map[capacity.Bound]float64{capacity.LowerBound: 0, capacity.AverageBound: 0.5, capacity.UpperBound: 1}[bound]
		mean := func(k int) float64 { return (1-share)*lower[k] + share*upper[k] }
		a, b, fixed = factor*mean(0), factor*mean(1), factor*(mean(2)+p.OverheadSeconds)
	}
	x.mapWork, x.redWork = whole(a), whole(b)
	x.slack = whole(c.DeadlineSeconds) - whole(fixed)
	return x
}

// vmsPerJob is gamma (paper eq. 29-30), or the VMs of one slot and whatever the other phase then
// needs.
func (x rational) vmsPerJob() float64 {
	a, b, f := float64(x.mapWork), float64(x.redWork), float64(x.slack)
	cm, cr := float64(x.perMap), float64(x.perRed)
	m, r := (a+math.Sqrt(a*b*cm/cr))/f, (b+math.Sqrt(a*b*cr/cm))/f
	if x.one {
		leastM, leastR := x.least(1)
		if m < float64(leastM) {
			if m = 1; x.hasReduce {
				r = max(float64(leastR), b/(f-a))
			}
		} else if r < float64(leastR) {
			if r = 1; x.hasMap {
				m = max(float64(leastM), a/(f-b))
			}
		}
	}
	return m/cm + r/cr
}

// best is the lowest objective, in millionths; false if there is no plan at all.
func (b *brute) best() (objective int64, jobs []int64, feasible bool) {
	feasible = b.each(func(cost, _ int64, at []int64) {
		if jobs == nil || cost < objective {
			objective, jobs = cost, append(jobs[:0], at...)
		}
	})
	return objective, jobs, feasible
}

// each visits every choice of jobs that fits with its objective and VMs; false if none does.
func (b *brute) each(visit func(objective, vms int64, jobs []int64)) bool {
	if b.short {
		return false
	}
	found := false
	jobs := make([]int64, len(b.classes))
	var choose func(i int, load float64, worth int64)
	choose = func(i int, load float64, worth int64) {
		if i == len(jobs) {
			if n := int(math.Ceil(load - wholeNoise)); n < len(b.cost) {
				found = true
				visit(b.cost[n]+b.fixed-worth, int64(n), jobs)
			}
			return
		}
		c := &b.classes[i]
		for h := c.low; h <= c.high; h++ {
			jobs[i] = h
			choose(i+1, load+c.load[h-c.low], worth+c.penalty*h)
		}
	}
	choose(0, 0, 0)
	return found
}

// sample says what kinds of problems to draw.
type sample struct {
	classes     int // at most
	width       int // job counts of a class at most
	slots       int64
	integrality capacity.Integrality
	sharing     capacity.Sharing
}

// problem draws a problem with figures of few decimals, so that ties and exact fits happen.
func (d sample) problem(r *rand.Rand) capacity.Problem {
	p := capacity.Problem{
		Currency: "USD", PeriodSeconds: []int64{3600, 3600, 1800, 86400}[r.IntN(4)], Options: capacity.DefaultOptions(),
	}
	p.Options.Integrality, p.Options.Sharing, p.Options.Engine, p.Options.Gap = d.integrality, d.sharing, capacity.EngineExact, 0
	p.Options.OneSlotPerJob = r.IntN(3) > 0
	p.Options.Bound = []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound}[r.IntN(4)]
	price := func() money.Amount { return hundredths(1 + r.IntN(60)) }
	for k := range r.IntN(4) {
		c := capacity.Contract{Name: fmt.Sprintf("contract-%d", k), VMs: r.Int64N(12), Price: price(), Billing: capacity.BilledUsed}
		if r.IntN(4) == 0 {
			c.Billing = capacity.BilledAlways
		}
		if k > 0 && r.IntN(4) == 0 {
			c.Price = p.Supply.Contracts[k-1].Price
		}
		p.Supply.Contracts = append(p.Supply.Contracts, c)
	}
	p.Supply.OnDemand.Price = price()
	if r.IntN(3) == 0 {
		quota := r.Int64N(14)
		p.Supply.OnDemand.Quota = &quota
	}
	for i := range 1 + r.IntN(d.classes) {
		p.Classes = append(p.Classes, d.class(r, i, p))
	}
	return p
}

func hundredths(n int) money.Amount { return money.Amount{Decimal: decimal.New(int64(n), -2)} }

func (d sample) class(r *rand.Rand, i int, p capacity.Problem) capacity.Class {
	low := float64(max(0, r.IntN(6)-2))
	c := capacity.Class{
		Name: fmt.Sprintf("class-%d", i), SlotsPerVM: capacity.SlotsPerVM{Map: 1 + r.Int64N(d.slots), Reduce: 1 + r.Int64N(d.slots)},
		Jobs: capacity.JobRange{Min: low, Max: low + float64(r.IntN(d.width))},
	}
	gamma := 1.0
	switch r.IntN(5) {
	case 0:
		g := decimal.New(int64(r.IntN(400)), -2)
		gamma = g.InexactFloat64()
		c.VMsPerJob, c.SlotsPerVM = &g, capacity.SlotsPerVM{}
	case 1: // whole seconds, where executions end exactly at their deadline
		c.Demand = &capacity.Demand{MapWorkSeconds: float64(r.IntN(40)), ReduceWorkSeconds: float64(r.IntN(30)), FixedSeconds: float64(r.IntN(20) - 10)}
		c.DeadlineSeconds = 10 + float64(1+r.IntN(30))
	default:
		c.Profile = randomProfile(r)
		if r.IntN(2) == 0 {
			c.Calibration = randomCalibration(r)
		}
		x := needs(&c, capacity.Options{Bound: capacity.UpperBound})
		fixed, work := float64(c.DeadlineSeconds*2000-float64(x.slack)), float64(x.mapWork+x.redWork)
		c.DeadlineSeconds = math.Ceil((fixed+work/float64(d.slots)/(0.1+3*r.Float64()))/2000*10+0.1) / 10
		if r.IntN(12) == 0 { // hardly or not possible
			c.DeadlineSeconds = math.Ceil(fixed/2000*10*(0.8+0.3*r.Float64())+0.1) / 10
		}
	}
	if c.VMsPerJob == nil {
		if x := needs(&c, p.Options); x.slack > 0 {
			gamma = x.vmsPerJob()
		}
	}
	hours := float64(p.PeriodSeconds) / 3600
	worth := p.Supply.OnDemand.Price.Float() * hours * gamma * 2 * r.Float64()
	if n := len(p.Supply.Contracts); n > 0 && r.IntN(4) == 0 { // tied with a price
		worth = p.Supply.Contracts[r.IntN(n)].Price.Float() * hours * gamma
	}
	c.Penalty = money.Amount{Decimal: decimal.NewFromFloat(math.Min(worth, 1e6)).Round(4)}
	return c
}

// randomCalibration draws one whose factor is a few binary digits, so that whole numbers stay enough.
func randomCalibration(r *rand.Rand) *capacity.Calibration {
	return &capacity.Calibration{Bound: []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound}[r.IntN(3)],
		Factor: []float64{0.5, 0.75, 1, 1.25, 1.5}[r.IntN(5)]}
}

// randomProfile draws tasks with tenths of seconds that a real execution could have.
func randomProfile(r *rand.Rand) *capacity.Profile {
	phase := func(n int64) (avg, longest float64) {
		longest = float64(1+r.IntN(600)) / 10
		avg = math.Ceil(10*max(longest*(0.2+0.8*r.Float64()), longest/float64(n))) / 10
		if n == 1 {
			avg = longest
		}
		return min(avg, longest), longest
	}
	if r.IntN(3) == 0 {
		p := &capacity.Profile{OverheadSeconds: float64(r.IntN(3))}
		for range 1 + r.IntN(4) {
			s := capacity.Stage{Tasks: 1 + r.Int64N(30)}
			s.AvgSeconds, s.MaxSeconds = phase(s.Tasks)
			p.Stages = append(p.Stages, s)
		}
		return p
	}
	p := &capacity.Profile{MapTasks: 1 + r.Int64N(60), ReduceTasks: r.Int64N(20), OverheadSeconds: float64(r.IntN(3))}
	p.MapAvgSeconds, p.MapMaxSeconds = phase(p.MapTasks)
	if p.ReduceTasks > 0 {
		p.FirstShuffleAvgSeconds, p.FirstShuffleMaxSeconds = phase(p.ReduceTasks)
		p.ShuffleAvgSeconds, p.ShuffleMaxSeconds = phase(p.ReduceTasks)
		p.ReduceAvgSeconds, p.ReduceMaxSeconds = phase(p.ReduceTasks)
	}
	return p
}
