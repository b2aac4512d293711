package proof

import (
	"math/big"
	"runtime"
	"testing"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// Bills of some VMs of two types are those that enumeration gives, and very many VMs take no memory.
func TestRentalsOfTwoTypes(t *testing.T) {
	t.Parallel()
	price := func(x float64) capacity.OnDemand { return capacity.OnDemand{Price: money.Round(x)} }
	p := capacity.Problem{Currency: "EUR", PeriodSeconds: 3600, Options: capacity.DefaultOptions()}
	p.Options.Integrality = capacity.Integer
	p.Supply.VMTypes = []capacity.VMTypeSupply{{Name: "a", OnDemand: price(0.3)}, {Name: "b", OnDemand: price(0.7)}}
	r := newFleet(p, nil).rentals(nil)
	can := map[int64]bool{} // tenths
	for a := range int64(11) {
		can[3*a+7*(10-a)] = true
	}
	for tenths := range int64(80) {
		if got := r.Cost(10, big.NewRat(tenths, 10)); got != can[tenths] {
			t.Errorf("10 VMs for %d tenths: got %v", tenths, got)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if !r.Cost(1e9, big.NewRat(1, 1)) { // too many to be ruled out
		t.Error("what is not known is ruled out")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("a billion VMs took %d bytes", grown)
	}
}
