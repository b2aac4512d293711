package timetables_test

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/study"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/test/plantest"
)

// A budget bounds the bill of each hour. Where VMs cost one price in all hours it is a quota, and the schedule comes to the same. A
// schedule that costs more in an hour is found.
func TestSchedulesKeepToBudgets(t *testing.T) {
	clusters, bound, same, beyond := plantest.Trials(3, 12), 0, 0, 0
	for seed := range uint64(clusters) {
		q := readSchedule(t, scheduleOf(study.DrawCluster(seed+40, 8, 3, 8, 4)))
		free, err := timetable.Plan(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		dearest := slices.MaxFunc(free.Hours, func(a, b timetable.Hour) int { return a.Cost.Cmp(b.Cost.Decimal) })
		budget := money.Amount{Decimal: dearest.Cost.Mul(decimal.New(7, -1)).Round(4)}
		limited := q
		limited.Problem.Budget = &capacity.Budget{VMCost: &budget}
		a, err := timetable.Plan(t.Context(), limited, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range timetables.Check(limited, a) {
			t.Errorf("cluster %d, %s: %s", seed, f.Pointer, f.Detail)
		}
		for _, h := range a.Hours {
			if h.Cost.GreaterThan(budget.Decimal) {
				t.Errorf("cluster %d: the hour from %s costs %s, and the budget is %s", seed, h.Start, h.Cost, budget)
			}
		}
		if a.Cost.Total.GreaterThan(free.Cost.Total.Decimal) {
			bound++
		}
		if len(timetables.Check(limited, free)) > 0 {
			beyond++
		}
		quota := limited
		quota.Contracts, quota.Periods = nil, slices.Clone(q.Periods)
		for i := range quota.Periods {
			quota.Periods[i].OnDemandPrice = nil
		}
		vms := budget.Div(quota.Problem.Supply.OnDemand.Price.Decimal).IntPart()
		flat := quota
		quota.Problem.Budget, quota.Problem.Supply.OnDemand.Quota = nil, &vms
		x, wrong := timetable.Plan(t.Context(), flat, nil)
		y, err := timetable.Plan(t.Context(), quota, nil)
		if wrong != nil || err != nil {
			t.Fatal(wrong, err)
		}
		if x.Cost.Total.Equal(y.Cost.Total.Decimal) && x.Proof.Bound.Equal(y.Proof.Bound.Decimal) {
			same++
		}
	}
	if bound < clusters/2 || same < clusters || beyond < clusters {
		t.Errorf("of %d budgets %d raise the cost, %d are as a quota, and %d schedules beyond them are found", clusters, bound, same, beyond)
	}
}
