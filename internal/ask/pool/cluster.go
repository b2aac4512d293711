package pool

import (
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/data/inputs"
)

// CompletePool fills gaps of a pool problem with a cluster's data at a moment. It adds the currency and, if no type
// is given, all VM types with an on-demand price, in use or not. Given types with the name of a VM type get its
// price, memory, vCPUs (as compute units) and quota. A cluster has no data about disks.
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
			most := min(*v.Quota, maxPoolInstances)
			t.Most = &most
		}
	}
}
