package report

import (
	"fmt"

	"example.org/headroom/internal/service/plans"
)

// Overview returns a row for each cluster. Bills are per period of the current plan.
func Overview(items []plans.Overview) Table {
	names := []string{"cluster", "plan", "currency", "period_s", billColumn, valueColumn, "vms", "gap", "stale", "failure", "contract", "contract_vms", "contract_ends", "month_from", "month_bill"}
	for back := plans.OverviewDays - 1; back > 0; back-- {
		names = append(names, fmt.Sprintf("bill_%d_days_ago", back))
	}
	return tableOf(names, items, func(o plans.Overview) []Cell {
		failure := ""
		if o.Failure != nil {
			failure = *o.Failure
		}
		row := []Cell{text(o.Cluster)}
		if p := o.Plan; p != nil {
			row = append(row, whole(p.Number), text(p.Currency), whole(p.PeriodSeconds), amount(&p.Bill), amount(&p.Penalties), number(p.VMs), number(p.Gap))
		} else {
			row = append(row, make([]Cell, 7)...)
		}
		row = append(row, flag(o.Stale), text(failure))
		if k := o.ContractEnd; k != nil {
			row = append(row, text(k.Name), whole(k.VMs), Time(k.Ends))
		} else {
			row = append(row, make([]Cell, 3)...)
		}
		if m := o.Month; m != nil {
			row = append(row, Time(m.From), amount(&m.Bill))
		} else {
			row = append(row, make([]Cell, 2)...)
		}
		for _, bill := range o.Days[:len(o.Days)-1] {
			row = append(row, amount(bill))
		}
		return row
	})
}
