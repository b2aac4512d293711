package pack_test

import (
	"context"
	"fmt"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/core/capacity"
)

// Two jobs take 100 · VMs^−0.5 seconds each. On two VMs one after the other they take 2 · 70.7 s. At once, each on
// one VM, they take 100 s.
func ExamplePack() {
	p, err := pack.ReadPacking([]byte(`{
		"machines": {"count": 2, "disks": 1},
		"jobs": [{"name": "sort", "count": 2, "model": {"a": 100, "b": -0.5}}]
	}`), capacity.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	packing, err := pack.Pack(context.Background(), p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(packing.Status, len(packing.Phases))
	fmt.Printf("%.0f s instead of %.1f s\n", packing.BusySeconds, packing.SequentialSeconds)
	// Output:
	// optimal 1
	// 100 s instead of 141.4 s
}
