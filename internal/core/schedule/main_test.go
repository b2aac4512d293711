package schedule

import (
	"math"
	"os"
	"testing"

	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/core/perf"
	"example.org/headroom/internal/test/solvertest"
)

func TestMain(m *testing.M) { os.Exit(solvertest.Run(m.Run)) }

// drawn is the problem of a drawn cluster, on a grid of hours.
func drawn(c study.Cluster) Problem { return drawnOn(c, 1) }

// drawnOn is the problem of a drawn cluster with so many types of VMs. Each contract is of another one.
func drawnOn(c study.Cluster, n int) Problem {
	p := Problem{Unit: 12 * 1000}
	if n > 1 { // five slots on some
		p.Unit *= 5
	}
	types := c.DrawTypes(n)
	for v, vms := range types {
		for h, price := range vms.Prices {
			var tiers []Tier
			for i, t := range c.Contracts {
				if i%n != v || h < t.From || h >= t.Until {
					continue
				}
				each := Tier{t.VMs, t.Price}
				if t.Always {
					each.Price = 0
				}
				tiers = append(tiers, each)
			}
			most := c.Quota
			if most == study.Unlimited {
				most = Unlimited
			}
			tiers = append(tiers, Tier{most, price})
			sortTiers(tiers)
			p.Supply = append(p.Supply, tiers)
		}
	}
	for k, a := range c.Classes {
		class := Class{Penalty: a.Penalty, Arrivals: a.Arrivals, First: 1, Window: int(a.Due / 3600)}
		if a.Due == 0 {
			class.First, class.AtOnce = 0, true
		}
		for v, vms := range types {
			on := a
			on.Slots = vms.Slots[k]
			on.Demand.MapWorkSeconds, on.Demand.ReduceWorkSeconds, on.Demand.FixedSeconds = a.Demand.MapWorkSeconds/vms.Speed, a.Demand.ReduceWorkSeconds/vms.Speed, a.Demand.FixedSeconds/vms.Speed
			runs := []Run{}
			if a.Due > 0 {
				runs = runsOf(on, p.Unit)
			} else if run, ok := spread(on, p.Unit); ok {
				runs = []Run{run}
				class.Window = len(run.Load)
			}
			for _, r := range runs {
				class.Runs = append(class.Runs, Run{First: v * len(c.Prices), Load: r.Load})
			}
		}
		p.Classes = append(p.Classes, class)
	}
	return p
}

// runsOf lists runs of whole hours, each with fewer VMs than the shorter ones.
func runsOf(a study.ArrivingClass, unit int64) (all []Run) {
	fewest := int64(math.MaxInt64)
	for hours := 1; float64(3600*hours) <= max(3600, a.Deadline); hours++ {
		s, ok := SlotsFor(a.Demand, true, a.Demand.ReduceWorkSeconds > 0, a.Slots, float64(3600*hours))
		parts := s.Map*unit/a.Slots.Map + s.Reduce*unit/a.Slots.Reduce
		if !ok || parts >= fewest {
			continue
		}
		fewest = parts
		load := make([]int64, hours)
		for i := range load {
			load[i] = parts
		}
		all = append(all, Run{Load: load})
	}
	return all
}

// spread is the mean load of an execution that starts as it arrives, at any moment of an hour.
func spread(a study.ArrivingClass, unit int64) (Run, bool) {
	s, ok := SlotsFor(a.Demand, true, a.Demand.ReduceWorkSeconds > 0, a.Slots, a.Deadline)
	vms := float64(s.Map)/float64(a.Slots.Map) + float64(s.Reduce)/float64(a.Slots.Reduce)
	one := perf.NewArrivals([]perf.Arriving{{From: 0, Until: 3600, Jobs: 1}})
	var load []int64
	for h := int64(0); float64(3600*h) < a.Deadline+3600; h++ {
		load = append(load, int64(math.Ceil(one.Running(a.Deadline, 3600*h, 3600*h+3600)*vms*float64(unit)-1e-6)))
	}
	return Run{Load: load}, ok
}

func sortTiers(tiers []Tier) {
	for i := range tiers {
		for k := i; k > 0 && tiers[k].Price < tiers[k-1].Price; k-- {
			tiers[k], tiers[k-1] = tiers[k-1], tiers[k]
		}
	}
}
