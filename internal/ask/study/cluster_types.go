package study

import "example.org/headroom/internal/core/capacity"

// ClusterType is a type of VMs of a drawn cluster.
type ClusterType struct {
	Prices []float64 // on demand, by hour
	Speed  float64
	Slots  []capacity.SlotsPerVM // of each class
}

// DrawTypes draws types of VMs for a cluster, the first of which is its own. A faster one costs more, by about as much.
func (c *Cluster) DrawTypes(n int) []ClusterType {
	s := &Stream{State: c.Seed + 1<<32}
	var all []ClusterType
	for v := range n {
		t := ClusterType{Speed: 1, Prices: c.Prices}
		if v > 0 {
			t.Speed, t.Prices = Places(s.Between(0.7, 1.5), 2), nil
			factor := t.Speed * s.Between(0.85, 1.15)
			for _, price := range c.Prices {
				t.Prices = append(t.Prices, Places(price*factor*s.Between(0.9, 1.1), 4))
			}
		}
		for k := range c.Classes {
			slots := c.Classes[k].Slots
			if v > 0 {
				slots.Map, slots.Reduce = max(1, slots.Map+s.Whole(-1, 1)), max(1, slots.Reduce+s.Whole(-1, 1))
			}
			t.Slots = append(t.Slots, slots)
		}
		all = append(all, t)
	}
	return all
}
