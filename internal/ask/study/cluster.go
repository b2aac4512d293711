package study

import (
	"math"

	"example.org/headroom/internal/core/capacity"
)

// Cluster is a cluster over some days in plain figures: what arrives in each hour, and what VMs cost in each. Half of its
// classes may wait. Money is per VM-hour.
type Cluster struct {
	Seed      uint64
	Hours     int       // with arrivals
	Prices    []float64 // on demand, by hour; the hours go on after the last arrivals until every window has ended
	Quota     int64     // on-demand VMs at once
	Contracts []TermedTier
	Classes   []ArrivingClass
}

// TermedTier is a contract that is in force in the hours from From to Until.
type TermedTier struct {
	Tier
	From, Until int
	Always      bool // billed whether used or not
}

// ArrivingClass is a class whose executions arrive by hour.
type ArrivingClass struct {
	Demand   capacity.Demand
	Slots    capacity.SlotsPerVM
	Deadline float64 // seconds that an execution may run
	Due      float64 // seconds after its arrival by which it must have ended; 0 where it starts as it arrives
	Penalty  float64 // of a refused execution
	Arrivals []int64
}

// demandShapes lists how the arrivals of a class lie in a week, as weights of an hour. Week 0 begins on a Monday.
var demandShapes = []func(hour int) float64{
	func(int) float64 { return 1 }, // steady
	func(h int) float64 { return 1 + 0.8*math.Sin(2*math.Pi*(float64(h%24)-8)/24) },             // day and night
	func(h int) float64 { return during(h%24, 18, 22, 5, 0.1) },                                 // an evening's batch
	func(h int) float64 { return during(h/24%7, 0, 5, 1, 0.2) * during(h%24, 8, 18, 2.5, 0.3) }, // office hours
	func(h int) float64 { return during(h%24, 0, 2, 8, 0.2) },                                   // after midnight
	func(h int) float64 { return during(h*7919%97, 0, 6, 8, 0.4) },                              // bursts
}

func during(x, from, until int, in, out float64) float64 {
	if x >= from && x < until {
		return in
	}
	return out
}

// basePrice is the mean price of a VM-hour on demand in a drawn cluster.
const basePrice = 0.2

// DrawCluster draws a cluster whose work takes about so many VMs on average. The order of draws is part of the format. Due is
// for the classes with a window, in hours; there are three contracts, and sometimes a quota.
func DrawCluster(seed uint64, hours, classes int, meanVMs float64, due int) Cluster {
	s := &Stream{State: seed}
	c := Cluster{Seed: seed, Hours: hours, Quota: Unlimited}
	swing, peak := s.Between(0.15, 0.35), s.Between(10, 18)
	for h := range hours + due {
		day := math.Cos(2 * math.Pi * (float64(h%24) - peak) / 24)
		c.Prices = append(c.Prices, Places(basePrice*(1+float64(swing*day))*s.Between(0.98, 1.02), 4))
	}
	for i, share := range []float64{0.35, 0.2, 0.15} {
		t := TermedTier{Tier: Tier{VMs: int64(math.Round(share * meanVMs * s.Between(0.7, 1.3))),
			Price: Places(basePrice*s.Between(0.35, 0.75), 4)}, Until: hours + due}
		switch i {
		case 0:
			t.Always = true
		case 1:
			t.From = hours / 3
		case 2:
			t.Until = 2 * hours / 3
		}
		c.Contracts = append(c.Contracts, t)
	}
	if s.chance(0.25) {
		c.Quota = int64(math.Ceil(meanVMs * s.Between(0.8, 1.6)))
	}
	for k := range classes {
		c.Classes = append(c.Classes, drawArriving(s, hours, meanVMs/float64(classes), due, k%2 == 0))
	}
	return c
}

// drawArriving draws a class that takes about so many VMs on average.
func drawArriving(s *Stream, hours int, meanVMs float64, due int, waits bool) ArrivingClass {
	var c ArrivingClass
	c.Slots = capacity.SlotsPerVM{Map: s.Whole(1, 4), Reduce: s.Whole(1, 4)}
	c.Deadline = 1800 * float64(s.Whole(2, 8))
	c.Demand.FixedSeconds = Places(s.Between(30, 600), 0)
	vms := 1.2 * math.Exp(0.7*s.Normal()) // of a job that just meets its deadline
	root, part := math.Sqrt(vms*(c.Deadline-c.Demand.FixedSeconds)), s.Between(0.3, 0.9)
	mapRoot, reduceRoot := root*part, root*(1-part)
	c.Demand.MapWorkSeconds = Places(mapRoot*mapRoot*float64(c.Slots.Map), 0)
	c.Demand.ReduceWorkSeconds = Places(reduceRoot*reduceRoot*float64(c.Slots.Reduce), 0)
	if s.chance(0.3) {
		c.Demand.ReduceWorkSeconds = 0
	}
	if waits {
		c.Due = 3600 * float64(due)
	}
	work := vms * c.Deadline / 3600
	c.Penalty = Places(basePrice*work*s.Between(1, 8), 4)
	shape := demandShapes[s.Whole(0, int64(len(demandShapes))-1)]
	phase, total := int(s.Whole(0, 5)), 0.0
	for h := range hours {
		total += shape(h + phase)
	}
	for h := range hours {
		rate := meanVMs / work * float64(hours) * shape(h+phase) / total * s.Between(0.5, 1.5)
		c.Arrivals = append(c.Arrivals, int64(math.Floor(rate+s.Unit())))
	}
	return c
}
