package integer

import (
	"math"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/test/plantest"
)

// bruteLoads are the loads that plantest works out for every number of jobs.
type bruteLoads struct{ classes []plantest.BruteClass }

// brutePerVM is a grid on which all loads of drawn samples are whole: hundredths, and slots of up to four a VM.
const brutePerVM = 300

func (b bruteLoads) Units(class int, jobs int64) int64 {
	if jobs == 0 {
		return 0
	}
	c := &b.classes[class]
	return int64(math.Round(c.Load[jobs-c.Low] * brutePerVM))
}

func (b bruteLoads) PerJob(class int) float64 { return b.classes[class].VMsPerJob }

// bruteOptions makes the slot-exact program of a sample.
func bruteOptions(t *testing.T, p *capacity.Problem, b *plantest.Brute) *Options {
	t.Helper()
	need := int64(1)
	var in Instance
	for i := range b.Classes {
		c := &b.Classes[i]
		in.Penalty, in.Low, in.High = append(in.Penalty, float64(c.Penalty)/1e6), append(in.Low, c.Low), append(in.High, c.High)
		if len(c.Load) > 0 {
			need += int64(math.Ceil(c.Load[len(c.Load)-1]))
		}
	}
	hours := float64(p.PeriodSeconds) / 3600
	for _, c := range p.Supply.Contracts {
		price := c.Price.Float() * hours
		if c.Billing == capacity.BilledAlways {
			price = 0
		}
		in.Supply = append(in.Supply, Tier{VMs: c.VMs, Price: price})
	}
	rent := Tier{VMs: Unlimited, Price: p.Supply.OnDemand.Price.Float() * hours}
	if q := p.Supply.OnDemand.Quota; q != nil {
		rent.VMs = *q
	}
	in.Supply = append(in.Supply, rent)
	return NewOptions(bruteLoads{b.Classes}, Grid{PerVM: brutePerVM}, in, need)
}
