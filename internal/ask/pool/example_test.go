package pool_test

import (
	"context"
	"fmt"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp/worker"
)

// Four hours of work must be done within two. Two instances do it, each for two hours at 0.50.
func ExamplePlan() {
	solver := worker.New(worker.Config{Processes: 1})
	defer solver.Close()
	p, err := pool.ReadPool([]byte(`{
		"currency": "EUR", "hours": 4,
		"types": [{"name": "c1", "per_hour": "0.50", "core": false, "compute_units": 1}],
		"jobs": [{"name": "sort", "work": 4, "deadline_hours": 2, "rates": {"c1": 1}}]
	}`), capacity.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := pool.Plan(context.Background(), p, solver)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Status, answer.Cost, "proved at least", answer.LowerBound)
	// Output:
	// optimal 2.00 proved at least 2.00
}

// Slots of two kinds are divided so that the worst-served job gets as much as possible. ciphers is three times as
// fast on gpu: both gpu slots give it 6 of 10, and all four plain slots give sort 4 of 6.
func ExampleShare() {
	solver := worker.New(worker.Config{Processes: 1})
	defer solver.Close()
	p, err := pool.ReadSharePlan([]byte(`{
		"types": [{"name": "gpu", "slots": 2}, {"name": "plain", "slots": 4}],
		"jobs": [{"name": "ciphers", "rates": {"gpu": 3, "plain": 1}}, {"name": "sort", "rates": {"gpu": 1, "plain": 1}}]
	}`), capacity.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := pool.Share(context.Background(), p, solver)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.2f at least; %v %v\n", a.Status, a.MinShare, a.Jobs[0].Slots, a.Jobs[1].Slots)
	// Output:
	// optimal: 0.60 at least; map[gpu:2] map[plain:4]
}
