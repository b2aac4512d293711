package plan_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
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

// Read a problem, solve it, and print the plan. An etl job costs 2.5 · 0.50 = 1.25 an hour and is refused for 3.00.
// An ad-hoc job costs 0.75 and is refused for 0.40.
func Example() {
	p, err := capacity.ReadProblem([]byte(shop), capacity.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := plan.Solve(context.Background(), p, nil) // without a solver: our own method proves the plan
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %g VMs for %s an hour, penalties %s\n", answer.Status, answer.VMs.Total, answer.Cost.OnDemand, answer.Cost.Penalties)
	for _, c := range answer.Classes {
		fmt.Printf("%s: %g admitted, %g refused\n", c.Name, c.Admitted, c.Refused)
	}
	// Output:
	// optimal: 10 VMs for 5.00 an hour, penalties 1.60
	// etl: 4 admitted, 0 refused
	// ad-hoc: 0 admitted, 4 refused
}

// Every mistake in a problem comes at once, each with its place.
func Example_mistakes() {
	text := strings.NewReplacer(`"max": 4}, "penalty": "3.00"`, `"max": 4}`, `"price": "0.50"`, `"price": "0.50", "qouta": 7`).Replace(shop)
	_, err := capacity.ReadProblem([]byte(text), capacity.DefaultLimits())
	var wrong *fault.InputError
	if errors.As(err, &wrong) {
		for _, f := range wrong.Findings {
			fmt.Println(f.Pointer, f.Code)
		}
	}
	// Output:
	// /supply/on_demand/qouta unknown_member
	// /classes/0/penalty missing
}

// A contract that is paid in any case is used first. Six VMs are missing then.
func ExampleSolve() {
	const contract = `"contracts": [{"name": "year", "vms": 4, "price": "0.20", "billing": "always"}], `
	p := read(strings.Replace(shop, `"on_demand"`, contract+`"on_demand"`, 1))
	answer, err := plan.Solve(context.Background(), p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.VMs.Reserved, "reserved for", answer.Cost.Reserved)
	fmt.Println(answer.VMs.OnDemand, "on demand for", answer.Cost.OnDemand)
	// Output:
	// 4 reserved for 0.80
	// 6 on demand for 3.00
}

// Three promised jobs need 7.5 VMs, and the quota is 7. The answer names both sides of the conflict.
func ExampleSolve_infeasible() {
	text := strings.Replace(shop, `"price": "0.50"`, `"price": "0.50", "quota": 7`, 1)
	p := read(strings.Replace(text, `"min": 0`, `"min": 3`, 1))
	answer, err := plan.Solve(context.Background(), p, nil)
	fmt.Println(answer.Status, err)
	for _, c := range answer.Conflicts {
		fmt.Println(c.Code, "at", c.Pointer)
	}
	// Output:
	// infeasible <nil>
	// shortage at /supply/on_demand/quota
	// shortage at /classes/0/jobs/min
}

// Many problems that differ little are solved in brief, without reasons and layout.
func ExampleNewSeries() {
	base := read(shop)
	series := plan.NewSeries(base, nil)
	for _, price := range []string{"0.20", "0.50", "1.30"} {
		answer, err := series.Solve(context.Background(), read(strings.Replace(shop, `"0.50"`, `"`+price+`"`, 1)))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("at %s: %g VMs\n", price, answer.VMs.Total)
	}
	// Output:
	// at 0.20: 16 VMs
	// at 0.50: 10 VMs
	// at 1.30: 0 VMs
}
