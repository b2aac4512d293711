package proof_test

import (
	"context"
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/proof"
)

// A plan is checked from the problem alone. One that says anything else is refused.
func ExampleVerify() {
	p, err := capacity.ReadProblem([]byte(`{"currency": "EUR", "supply": {"on_demand": {"price": "0.50"}},
		"classes": [{"name": "etl", "vms_per_job": "2.5", "jobs": {"min": 0, "max": 4}, "penalty": "3.00"}],
		"options": {"integrality": "integer", "engine": "exact"}}`), capacity.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := plan.Solve(context.Background(), p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	report := proof.Verify(p, answer, proof.Options{})
	fmt.Println(report.Outcome, report.Bound) // ten VMs at 0.50, less four penalties of 3.00
	answer.VMs.Total = 9
	fmt.Println(proof.Verify(p, answer, proof.Options{}).Accepted())
	// Output:
	// ok -7.00
	// false
}
