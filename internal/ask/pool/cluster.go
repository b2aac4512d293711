package pool

import (
	"time"

	"headroom/internal/core/capacity"
	"headroom/internal/data/inputs"
)

// CompletePool adds to a pool problem what a cluster knows at a moment: its currency, its VM types that have a price on
// demand, in use or not, where no type is given, and of types that have the name of a VM type the price, the memory, the
// vCPUs as compute units and the quota, where they are not given. It knows no disks.
func CompletePool(s inputs.Snapshot, p *PoolProblem, at time.Time) {
	if p.Currency == "" {
		p.Currency = s.Cluster.Currency
	}
	if len(p.Types) == 0 {
		for _, v := range s.VMTypes {
			if _, priced := s.PriceAt(v.Name, capacity.PurchaseOnDemand, at); priced {
				p.Types = append(p.Types, PoolType{Name: v.Name, Slots: 1, Core: true, Accelerator: true})
			}
		}
	}
	known := make(map[string]inputs.VMType, len(s.VMTypes))
	for _, v := range s.VMTypes {
		known[v.Name] = v
	}
	for i := range p.Types {
		t := &p.Types[i]
		v, is := known[t.Name]
		if !is {
			continue
		}
		if price, priced := s.PriceAt(t.Name, capacity.PurchaseOnDemand, at); t.PerHour == nil && priced {
			t.PerHour = &price
		}
		if t.MemoryGiB == 0 && v.MemoryGiB != nil {
			t.MemoryGiB = *v.MemoryGiB
		}
		if t.ComputeUnits == 0 && v.VCPU != nil {
			t.ComputeUnits = *v.VCPU
		}
		if t.Most == nil && v.Quota != nil {
			most := min(*v.Quota, MaxPoolInstances)
			t.Most = &most
		}
	}
}
