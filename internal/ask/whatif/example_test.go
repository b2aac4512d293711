package whatif_test

import (
	"context"
	"fmt"
	"strings"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
)

// shop has two classes, whose jobs take 2.5 and 1.5 VMs.
const shop = `{
  "currency": "EUR",
  "supply": {"on_demand": {"price": "0.50"}},
  "classes": [
    {"name": "etl", "vms_per_job": "2.5", "jobs": {"min": 0, "max": 4}, "penalty": "3.00"},
    {"name": "ad-hoc", "vms_per_job": "1.5", "jobs": {"min": 0, "max": 4}, "penalty": "0.40"}
  ],
  "options": {"integrality": "integer", "engine": "exact"}
}`

func read(text string) capacity.Problem {
	p, err := capacity.ReadProblem([]byte(text), capacity.DefaultLimits())
	if err != nil {
		panic(err)
	}
	return p
}

// Two plans, and what changed from one to the other: ten VMs cost 0.10 more each.
func ExampleCompare() {
	before, after := read(shop), read(strings.Replace(shop, `"0.50"`, `"0.60"`, 1))
	was, err := plan.Solve(context.Background(), before, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	is, err := plan.Solve(context.Background(), after, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	d := whatif.Compare(whatif.Answered{Problem: before, Plan: was}, whatif.Answered{Problem: after, Plan: is})
	fmt.Println(d.Cost[0].Name, d.Cost[0].From, "to", d.Cost[0].To)
	for _, c := range d.Inputs {
		fmt.Println("changed:", c.Pointer)
	}
	// Output:
	// total 6.60 to 7.60
	// changed: /supply/on_demand/price
}
