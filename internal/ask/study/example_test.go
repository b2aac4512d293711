package study_test

import (
	"fmt"
	"slices"

	"example.org/headroom/internal/ask/study"
)

// A family, a size and a seed always make the same instance.
func ExampleGenerate() {
	one, err := study.Generate("hard", 100, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := study.Generate("hard", 100, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(one.Gamma), slices.Equal(one.Gamma, again.Gamma))
	// Output:
	// 100 true
}

// An instance is numbers; its problem is the same in the words of a problem file.
func ExampleInstance_Problem() {
	p := study.Instance{
		Gamma: []float64{2.5}, Penalty: []float64{3}, Low: []int64{0}, High: []int64{4},
		Supply: []study.Tier{{VMs: 4, Price: 0.2}, {VMs: study.Unlimited, Price: 0.5}},
	}.Problem()
	fmt.Println(p.Classes[0].VMsPerJob, p.Classes[0].Jobs.Max, p.Classes[0].Penalty)
	fmt.Println(p.Supply.Contracts[0].VMs, p.Supply.Contracts[0].Price, p.Supply.OnDemand.Price)
	// Output:
	// 2.5 4 3.00
	// 4 0.20 0.50
}
