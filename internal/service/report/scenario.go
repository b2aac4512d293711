package report

import (
	"encoding/json"
	"slices"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/plan"
)

// Scenarios returns a row for each saved scenario, with its changes as JSON.
func Scenarios(items []whatif.Scenario) Table {
	return tableOf(columns("name", "note", "changes"), items, func(s whatif.Scenario) []Cell {
		changes, err := json.Marshal(s.Changes)
		if err != nil { // it was read from JSON
			changes = nil
		}
		return append([]Cell{text(s.Name), text(s.Note), text(string(changes))}, stamp(s.Stamp)...)
	})
}

// WhatIf returns a row for the base and one for each scenario.
func WhatIf(w whatif.Comparison) Table {
	columns := slices.Concat([]string{"name", "status", "currency"}, costNames, []string{
		"vms", "vms_on_demand", "vms_reserved", "vms_spot", "admitted", "refused", "gap",
		"bill_change", "bill_values", "bill_decisions", "value_refused_change", "kept", "sentence"})
	rows := append([]whatif.ScenarioAnswer{{Outcome: w.Base}}, w.Scenarios...)
	t := tableOf(columns, rows, func(a whatif.ScenarioAnswer) []Cell {
		row := []Cell{text(a.Name), text(string(a.Status)), text(a.Cost.Currency)}
		if a.Status == capacity.InfeasibleStatus {
			for range len(columns) - len(row) - 1 {
				row = append(row, Cell{"", true})
			}
			return append(row, text(a.Sentence))
		}
		row = append(row, costCells(planCost(&a.Cost))...)
		for _, x := range []float64{a.VMs.Total, a.VMs.OnDemand, a.VMs.Reserved, a.VMs.Spot, a.Admitted, a.Refused, a.Gap} {
			row = append(row, number(x))
		}
		if a.Difference == nil {
			return append(row, Cell{"", true}, Cell{"", true}, Cell{"", true}, Cell{"", true}, Cell{"", true}, text(a.Sentence))
		}
		bill, value := splitLine(a.Difference, billColumn), splitLine(a.Difference, valueColumn)
		change, changed := less(bill.To, bill.From), less(value.To, value.From)
		return append(row, amount(&change), amount(&bill.Values), amount(&bill.Decisions), amount(&changed), flag(a.Difference.Kept), text(a.Sentence))
	})
	if t.Rows[0][0].Text == "" {
		t.Rows[0][0] = text("base")
	}
	return t
}

// splitLine returns a difference's line for a column of money.
func splitLine(d *whatif.ScenarioDifference, column string) whatif.MoneySplit {
	name := map[string]string{togetherColumn: "total", valueColumn: "penalties"}[column]
	if name == "" {
		name = column
	}
	for _, line := range d.Cost {
		if line.Name == name {
			return line
		}
	}
	if column != billColumn || len(d.Cost) == 0 {
		return whatif.MoneySplit{Name: name}
	}
	total, value := splitLine(d, togetherColumn), splitLine(d, valueColumn) // as in answers that were kept before they had a bill of their own
	return whatif.MoneySplit{Name: name, From: less(total.From, value.From), Values: less(total.Values, value.Values),
		Decisions: less(total.Decisions, value.Decisions), To: less(total.To, value.To)}
}

// The columns of the two steps from a plan to that of a scenario.
const (
	keptColumn    = "Same VMs and jobs"
	adaptedColumn = "Adapting"
)

// AboutLines says what two columns of ScenarioLines are.
const AboutLines = "\"" + keptColumn + "\" is what the plan as it is would cost more in the scenario, with jobs that it does not admit as refused. " +
	"\"" + adaptedColumn + "\" is what a new plan changes of that."

// ScenarioLines returns the bills of up to a few scenarios side by side, with a row for each line. Each scenario has
// its bill, the additional cost of the same decisions at its figures, and the cost of adapting.
func ScenarioLines(w whatif.Comparison) Table {
	t := Table{Columns: []string{"", "As it is"}}
	base := costCells(planCost(&w.Base.Cost))
	counts := []struct {
		name string
		of   func(plan.Outcome) float64
	}{
		{"VMs", func(o plan.Outcome) float64 { return o.VMs.Total }}, {"VMs on demand", func(o plan.Outcome) float64 { return o.VMs.OnDemand }},
		{"VMs reserved", func(o plan.Outcome) float64 { return o.VMs.Reserved }}, {"VMs spot", func(o plan.Outcome) float64 { return o.VMs.Spot }},
		{"Jobs admitted", func(o plan.Outcome) float64 { return o.Admitted }}, {"Jobs refused", func(o plan.Outcome) float64 { return o.Refused }},
	}
	feasible := w.Base.Status != capacity.InfeasibleStatus
	cell := func(ok bool, c Cell) Cell {
		if !ok {
			return Cell{"", true}
		}
		return c
	}
	for i, name := range []string{"VM bill", "  on demand", "  spot", "  reserved, used", "  reserved, idle", "Value refused", "Bill and value"} { // as costNames
		t.Rows = append(t.Rows, []Cell{text(name), cell(feasible, base[i])})
	}
	for _, c := range counts {
		t.Rows = append(t.Rows, []Cell{text(c.name), counted(w.Base, c.of)})
	}
	for i, a := range w.Scenarios {
		name := a.Name
		if name == "" {
			name = "scenario " + rounded(float64(i+1), 0)
		}
		t.Columns = append(t.Columns, name, keptColumn, adaptedColumn)
		cost := costCells(planCost(&a.Cost))
		for k, name := range costNames {
			var d whatif.MoneySplit
			if a.Difference != nil {
				d = splitLine(a.Difference, name)
			}
			t.Rows[k] = append(t.Rows[k], cell(a.Status != capacity.InfeasibleStatus, cost[k]), cell(a.Difference != nil, amount(&d.Values)), cell(a.Difference != nil, amount(&d.Decisions)))
		}
		for k, c := range counts {
			t.Rows[len(costNames)+k] = append(t.Rows[len(costNames)+k], counted(a.Outcome, c.of), Cell{"", true}, Cell{"", true})
		}
	}
	return t
}

// counted returns a figure of an outcome; an infeasible one has none.
func counted(o plan.Outcome, of func(plan.Outcome) float64) Cell {
	if o.Status == capacity.InfeasibleStatus {
		return Cell{"", true}
	}
	return figure(of(o), 3, "")
}
