package report

import (
	"encoding/json"

	"headroom/internal/ask/whatif"
	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/core/plan"
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
	columns := []string{"name", "status", "currency", "total", "on_demand", "spot", "reserved", "reserved_idle", "penalties",
		"vms", "vms_on_demand", "vms_reserved", "vms_spot", "admitted", "refused", "gap", "change", "values", "decisions", "kept", "sentence"}
	rows := append([]whatif.ScenarioAnswer{{Outcome: w.Base}}, w.Scenarios...)
	t := tableOf(columns, rows, func(a whatif.ScenarioAnswer) []Cell {
		row := []Cell{text(a.Name), text(string(a.Status)), text(a.Cost.Currency)}
		if a.Status == capacity.InfeasibleStatus {
			for range len(columns) - len(row) - 1 {
				row = append(row, Cell{"", true})
			}
			return append(row, text(a.Sentence))
		}
		for _, m := range []money.Amount{a.Cost.Total, a.Cost.OnDemand, a.Cost.Spot, a.Cost.Reserved, a.Cost.ReservedIdle, a.Cost.Penalties} {
			row = append(row, amount(&m))
		}
		for _, x := range []float64{a.VMs.Total, a.VMs.OnDemand, a.VMs.Reserved, a.VMs.Spot, a.Admitted, a.Refused, a.Gap} {
			row = append(row, number(x))
		}
		if a.Difference == nil {
			return append(row, Cell{"", true}, Cell{"", true}, Cell{"", true}, Cell{"", true}, text(a.Sentence))
		}
		total := a.Difference.Cost[0]
		change := money.Amount{Decimal: total.To.Sub(total.From.Decimal)}
		return append(row, amount(&change), amount(&total.Values), amount(&total.Decisions), flag(a.Difference.Kept), text(a.Sentence))
	})
	if t.Rows[0][0].Text == "" {
		t.Rows[0][0] = text("base")
	}
	return t
}

// ScenarioLines returns the bills of up to a few scenarios side by side, with a row for each line. Each scenario has
// its bill, the additional cost of the same decisions at its figures, and the cost of adapting.
func ScenarioLines(w whatif.Comparison) Table {
	t := Table{Columns: []string{"", "base"}}
	names := []string{"total", "on_demand", "spot", "reserved", "reserved_idle", "penalties"}
	base := []money.Amount{w.Base.Cost.Total, w.Base.Cost.OnDemand, w.Base.Cost.Spot, w.Base.Cost.Reserved, w.Base.Cost.ReservedIdle, w.Base.Cost.Penalties}
	counts := []struct {
		name string
		of   func(plan.Outcome) float64
	}{
		{"VMs", func(o plan.Outcome) float64 { return o.VMs.Total }}, {"VMs on demand", func(o plan.Outcome) float64 { return o.VMs.OnDemand }},
		{"VMs reserved", func(o plan.Outcome) float64 { return o.VMs.Reserved }}, {"VMs spot", func(o plan.Outcome) float64 { return o.VMs.Spot }},
		{"jobs admitted", func(o plan.Outcome) float64 { return o.Admitted }}, {"jobs refused", func(o plan.Outcome) float64 { return o.Refused }},
	}
	feasible := w.Base.Status != capacity.InfeasibleStatus
	cell := func(ok bool, m money.Amount) Cell {
		if !ok {
			return Cell{"", true}
		}
		return amount(&m)
	}
	for i, name := range names {
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
		t.Columns = append(t.Columns, name, "values", "decisions")
		cost := []money.Amount{a.Cost.Total, a.Cost.OnDemand, a.Cost.Spot, a.Cost.Reserved, a.Cost.ReservedIdle, a.Cost.Penalties}
		for k := range names {
			var d whatif.MoneySplit
			if a.Difference != nil {
				d = a.Difference.Cost[k]
			}
			t.Rows[k] = append(t.Rows[k], cell(a.Status != capacity.InfeasibleStatus, cost[k]), cell(a.Difference != nil, d.Values), cell(a.Difference != nil, d.Decisions))
		}
		for k, c := range counts {
			t.Rows[len(names)+k] = append(t.Rows[len(names)+k], counted(a.Outcome, c.of), Cell{"", true}, Cell{"", true})
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
