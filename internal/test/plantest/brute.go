package plantest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// Brute holds a problem of a few small classes made ready for trying everything: money in whole
// millionths, demands and slots worked out anew from the paper.
type Brute struct {
	Classes []BruteClass
	cost    []int64 // of so many VMs at the margin; there are len(cost)-1 at most
	Fixed   int64   // what contracts billed always cost anyhow
	Short   bool    // a promised class cannot meet its deadline
}

// BruteClass holds a class of it.
type BruteClass struct {
	Low, High, Penalty int64     // in millionths
	Load               []float64 // VMs of low, low+1, ... jobs
	VMsPerJob          float64
	slots              *Rational
}

// wholeNoise is the VMs by which a sum of floats may exceed the whole number it stands for.
const wholeNoise = 1e-7

func NewBrute(p capacity.Problem) *Brute {
	b := &Brute{cost: []int64{0}}
	most := 1.0 // VMs that all jobs together may take
	for i := range p.Classes {
		c := b.class(&p.Classes[i], p.Options)
		b.Classes = append(b.Classes, c)
		most += c.Load[len(c.Load)-1]
	}
	b.addSupply(p, int64(most))
	return b
}

func Millionths(m decimal.Decimal) int64 {
	x := m.Shift(6)
	if !x.IsInteger() {
		panic(fmt.Sprintf("%s is finer than this test counts", m))
	}
	return x.IntPart()
}

// addSupply lists the price of every VM that could be wanted, one by one, and sorts them.
func (b *Brute) addSupply(p capacity.Problem, most int64) {
	var prices []int64
	add := func(vms, price int64) {
		for range min(vms, most) {
			prices = append(prices, price)
		}
	}
	perPeriod := func(m money.Amount) int64 { return Millionths(m.Decimal) * p.PeriodSeconds / 3600 }
	for _, c := range p.Supply.Contracts {
		if c.Billing == capacity.BilledAlways {
			b.Fixed += c.VMs * perPeriod(c.Price)
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

func (b *Brute) class(c *capacity.Class, o capacity.Options) BruteClass {
	x := BruteClass{Low: int64(c.Jobs.Min), High: int64(c.Jobs.Max), Penalty: Millionths(c.Penalty.Decimal)}
	switch {
	case c.VMsPerJob != nil:
		x.VMsPerJob = c.VMsPerJob.InexactFloat64()
	default:
		s := needs(c, o)
		if s.Slack <= 0 {
			b.Short = b.Short || x.Low > 0
			x.Low, x.High = 0, 0
			break
		}
		x.slots, x.VMsPerJob = &s, s.vmsPerJob()
	}
	for h := x.Low; h <= x.High; h++ {
		vms := x.VMsPerJob * float64(h)
		if x.slots != nil && o.Integrality == capacity.Executable && h > 0 {
			m, r := x.slots.Whole(h)
			vms = float64(m)/float64(x.slots.PerMap) + float64(r)/float64(x.slots.PerRed)
		}
		if o.Sharing == capacity.Dedicated {
			vms = math.Ceil(vms - wholeNoise)
		}
		x.Load = append(x.Load, vms)
	}
	return x
}

// needs is the class's slots in whole numbers: the coefficients of paper eq. 1-3 with E1's
// correction, clamped for tiny jobs, in units of a two-thousandth of a second.
func needs(c *capacity.Class, o capacity.Options) Rational {
	whole := func(seconds float64) int64 { return int64(math.Round(seconds * 2000)) }
	var a, b, fixed float64
	x := Rational{PerMap: c.SlotsPerVM.Map, PerRed: c.SlotsPerVM.Reduce, One: o.OneSlotPerJob}
	if d := c.Demand; d != nil {
		a, b, fixed = d.MapWorkSeconds, d.ReduceWorkSeconds, d.FixedSeconds
		x.HasMap, x.HasReduce = a > 0, b > 0
	} else {
		p := c.Profile
		x.HasMap, x.HasReduce = true, p.ReduceTasks > 0
		work := float64(p.MapTasks) * p.MapAvgSeconds
		lower := [3]float64{work, 0, 0}
		upper := [3]float64{max(0, work-2*p.MapMaxSeconds), 0, min(work, 2*p.MapMaxSeconds)}
		if x.HasReduce {
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
	x.MapWork, x.RedWork = whole(a), whole(b)
	x.Slack = whole(c.DeadlineSeconds) - whole(fixed)
	return x
}

// vmsPerJob is gamma (paper eq. 29-30), or the VMs of one slot and whatever the other phase then
// needs.
func (x Rational) vmsPerJob() float64 {
	a, b, f := float64(x.MapWork), float64(x.RedWork), float64(x.Slack)
	cm, cr := float64(x.PerMap), float64(x.PerRed)
	m, r := (a+math.Sqrt(a*b*cm/cr))/f, (b+math.Sqrt(a*b*cr/cm))/f
	if x.One {
		leastM, leastR := x.Least(1)
		if m < float64(leastM) {
			if m = 1; x.HasReduce {
				r = max(float64(leastR), b/(f-a))
			}
		} else if r < float64(leastR) {
			if r = 1; x.HasMap {
				m = max(float64(leastM), a/(f-b))
			}
		}
	}
	return m/cm + r/cr
}

// Best is the lowest objective, in millionths; false if there is no plan at all.
func (b *Brute) Best() (objective int64, jobs []int64, feasible bool) {
	feasible = b.Each(func(cost, _ int64, at []int64) {
		if jobs == nil || cost < objective {
			objective, jobs = cost, append(jobs[:0], at...)
		}
	})
	return objective, jobs, feasible
}

// Each visits every choice of jobs that fits with its objective and VMs; false if none does.
func (b *Brute) Each(visit func(objective, vms int64, jobs []int64)) bool {
	if b.Short {
		return false
	}
	found := false
	jobs := make([]int64, len(b.Classes))
	var choose func(i int, load float64, worth int64)
	choose = func(i int, load float64, worth int64) {
		if i == len(jobs) {
			if n := int(math.Ceil(load - wholeNoise)); n < len(b.cost) {
				found = true
				visit(b.cost[n]+b.Fixed-worth, int64(n), jobs)
			}
			return
		}
		c := &b.Classes[i]
		for h := c.Low; h <= c.High; h++ {
			jobs[i] = h
			choose(i+1, load+c.Load[h-c.Low], worth+c.Penalty*h)
		}
	}
	choose(0, 0, 0)
	return found
}

// Sample says what kinds of problems to draw.
type Sample struct {
	Classes     int // at most
	Width       int // job counts of a class at most
	Slots       int64
	Integrality capacity.Integrality
	Sharing     capacity.Sharing
}

// Problem draws a problem with figures of few decimals, so that ties and exact fits happen.
func (d Sample) Problem(r *rand.Rand) capacity.Problem {
	p := capacity.Problem{
		Currency: "USD", PeriodSeconds: []int64{3600, 3600, 1800, 86400}[r.IntN(4)], Options: capacity.DefaultOptions(),
	}
	p.Options.Integrality, p.Options.Sharing, p.Options.Engine, p.Options.Gap = d.Integrality, d.Sharing, capacity.EngineExact, 0
	p.Options.OneSlotPerJob = r.IntN(3) > 0
	p.Options.Bound = []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound, capacity.CalibratedBound}[r.IntN(4)]
	price := func() money.Amount { return Hundredths(1 + r.IntN(60)) }
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
	for i := range 1 + r.IntN(d.Classes) {
		p.Classes = append(p.Classes, d.Class(r, i, p))
	}
	return p
}

func Hundredths(n int) money.Amount { return money.Amount{Decimal: decimal.New(int64(n), -2)} }

func (d Sample) Class(r *rand.Rand, i int, p capacity.Problem) capacity.Class {
	low := float64(max(0, r.IntN(6)-2))
	c := capacity.Class{
		Name: fmt.Sprintf("class-%d", i), SlotsPerVM: capacity.SlotsPerVM{Map: 1 + r.Int64N(d.Slots), Reduce: 1 + r.Int64N(d.Slots)},
		Jobs: capacity.JobRange{Min: low, Max: low + float64(r.IntN(d.Width))},
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
		fixed, work := float64(c.DeadlineSeconds*2000-float64(x.Slack)), float64(x.MapWork+x.RedWork)
		c.DeadlineSeconds = math.Ceil((fixed+work/float64(d.Slots)/(0.1+3*r.Float64()))/2000*10+0.1) / 10
		if r.IntN(12) == 0 { // hardly or not possible
			c.DeadlineSeconds = math.Ceil(fixed/2000*10*(0.8+0.3*r.Float64())+0.1) / 10
		}
	}
	if c.VMsPerJob == nil {
		if x := needs(&c, p.Options); x.Slack > 0 {
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
