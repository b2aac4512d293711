package sim_test

import (
	"context"
	"fmt"

	"example.org/headroom/internal/slots/sim"
)

// Three jobs of four maps of 10 s come at once to two map slots. Each takes two waves, and they wait for each other:
// they end after 20, 40 and 60 s.
func ExampleRun() {
	in, err := sim.Read([]byte(`{
		"slots": {"map": 2, "reduce": 1},
		"policy": {"kind": "fifo"},
		"classes": [{
			"name": "etl",
			"profile": {"map_tasks": 4, "reduce_tasks": 0, "map_avg_s": 10, "map_max_s": 10},
			"tasks": {"kind": "constant"},
			"load": {"kind": "batch", "jobs": 3}
		}],
		"seed": 1
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := sim.Run(context.Background(), in, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := report.Classes[0]
	fmt.Println(c.Ended, "jobs, after", c.Response.Min, "to", c.Response.Max, "s, in the mean", c.Response.Mean)
	// Output:
	// 3 jobs, after 20 to 60 s, in the mean 40
}

// The same seed draws the same jobs, with any number of workers.
func ExampleRun_replications() {
	in, err := sim.Read([]byte(`{
		"slots": {"map": 2, "reduce": 1},
		"classes": [{
			"name": "ad-hoc",
			"profile": {"map_tasks": 6, "reduce_tasks": 0, "map_avg_s": 10, "map_max_s": 30},
			"load": {"kind": "closed", "users": 2, "think_s": 60}
		}],
		"horizon_s": 3600, "seed": 7, "replications": 4
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	one, err := sim.Run(context.Background(), in, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	four, err := sim.Run(context.Background(), in, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(one.Replications, one.Events == four.Events, one.Classes[0].Response.Mean == four.Classes[0].Response.Mean)
	// Output:
	// 4 true true
}
