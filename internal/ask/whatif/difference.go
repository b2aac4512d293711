package whatif

import (
	"fmt"
	"slices"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// Answered is a plan with the problem it answers.
type Answered struct {
	Problem capacity.Problem
	Plan    capacity.Plan
}

// Difference holds the changes from one plan to another, and of their inputs.
type Difference struct {
	Sentence string                 `json:"sentence"`
	Cost     []MoneyChange          `json:"cost"` // every line, changed or not; per period of the plan compared with
	VMs      []CountChange          `json:"vms"`  // likewise
	Classes  []ClassChange          `json:"classes"`
	Inputs   []capacity.FieldChange `json:"inputs"` // members of the problems; lists go by name
}

// MoneyChange is one cost line in both plans, for the same length of time: the period of the plan compared with.
type MoneyChange struct {
	Name   string        `json:"name"`
	From   money.Amount  `json:"from"`
	To     money.Amount  `json:"to"`
	Change *money.Amount `json:"change"` // nil where the plans have different currencies
}

// CountChange is one number in both plans.
type CountChange struct {
	Name   string  `json:"name"`
	From   float64 `json:"from"`
	To     float64 `json:"to"`
	Change float64 `json:"change"`
}

// ClassChange is a class whose part differs; From or To is null where the plan has no such class.
type ClassChange struct {
	Name string              `json:"name"`
	From *capacity.ClassPlan `json:"from"`
	To   *capacity.ClassPlan `json:"to"`
}

// Compare says how two plans differ.
func Compare(from, to Answered) Difference {
	d := Difference{Classes: []ClassChange{}, Inputs: []capacity.FieldChange{}}
	a, b := from.Plan.Cost, to.Plan.Cost
	for _, line := range []struct {
		name     string
		from, to money.Amount
	}{
		{"total", a.Total, b.Total}, {"bill", a.Bill, b.Bill}, {"on_demand", a.OnDemand, b.OnDemand}, {"spot", a.Spot, b.Spot}, {"reserved", a.Reserved, b.Reserved},
		{"reserved_idle", a.ReservedIdle, b.ReservedIdle}, {"penalties", a.Penalties, b.Penalties},
	} {
		change := MoneyChange{Name: line.name, From: line.from.Over(b.PeriodSeconds, a.PeriodSeconds), To: line.to}
		if a.Currency == b.Currency {
			change.Change = &money.Amount{Decimal: change.To.Sub(change.From.Decimal)}
		}
		d.Cost = append(d.Cost, change)
	}
	count := func(name string, from, to float64) {
		d.VMs = append(d.VMs, CountChange{name, from, to, to - from})
	}
	count("total", from.Plan.VMs.Total, to.Plan.VMs.Total)
	count("on_demand", from.Plan.VMs.OnDemand, to.Plan.VMs.OnDemand)
	count("spot", from.Plan.VMs.Spot, to.Plan.VMs.Spot)
	count("reserved", from.Plan.VMs.Reserved, to.Plan.VMs.Reserved)
	d.Classes = append(d.Classes, classChanges(from.Plan.Classes, to.Plan.Classes)...)
	d.Inputs = append(d.Inputs, inputChanges(from.Problem, to.Problem)...)
	d.Sentence = d.sentence(a, b)
	return d
}

// classChanges leaves out classes to which the same happens; a reason or a price alone is no change.
func classChanges(from, to []capacity.ClassPlan) (changes []ClassChange) {
	is := make(map[string]*capacity.ClassPlan, len(to))
	for i := range to {
		is[to[i].Name] = &to[i]
	}
	was := make(map[string]bool, len(from))
	for i := range from {
		a := &from[i]
		was[a.Name] = true
		b := is[a.Name]
		if b == nil || a.Admitted != b.Admitted || a.Refused != b.Refused || a.VMs != b.VMs || a.Verdict != b.Verdict || !sameSlots(a.Slots, b.Slots) {
			changes = append(changes, ClassChange{a.Name, a, b})
		}
	}
	for i := range to {
		if !was[to[i].Name] {
			changes = append(changes, ClassChange{to[i].Name, nil, &to[i]})
		}
	}
	slices.SortFunc(changes, func(a, b ClassChange) int { return strings.Compare(a.Name, b.Name) })
	return changes
}

func sameSlots(a, b *capacity.Slots) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// inputChanges leaves the previous plan out: every stored plan has another.
func inputChanges(from, to capacity.Problem) []capacity.FieldChange {
	from.Options.Near, to.Options.Near = nil, nil
	return capacity.DifferentMembers(from, to)
}

func (d Difference) sentence(a, b capacity.Cost) string {
	if len(d.Inputs) == 0 && len(d.Classes) == 0 && a.Total.Equal(b.Total.Decimal) && d.VMs[0].Change == 0 {
		return "Nothing changed."
	}
	var parts []string
	comparable := a.Currency == b.Currency && a.PeriodSeconds == b.PeriodSeconds
	unit := b.Currency + " " + words.PerPeriod(b.PeriodSeconds)
	switch change := b.Bill.Sub(a.Bill.Decimal); {
	case !comparable:
		parts = append(parts, fmt.Sprintf("The bill was %s %s %s and is %s %s %s", a.Bill, a.Currency, words.PerPeriod(a.PeriodSeconds), b.Bill, b.Currency, words.PerPeriod(b.PeriodSeconds)))
	case change.IsZero():
		parts = append(parts, fmt.Sprintf("The bill stays %s %s", b.Bill, unit))
	case change.IsPositive():
		parts = append(parts, fmt.Sprintf("The bill rises by %s to %s %s", money.Amount{Decimal: change}, b.Bill, unit))
	default:
		parts = append(parts, fmt.Sprintf("The bill falls by %s to %s %s", money.Amount{Decimal: change.Neg()}, b.Bill, unit))
	}
	if comparable && !a.Penalties.Equal(b.Penalties.Decimal) {
		parts = append(parts, valueSentence(a.Penalties, b.Penalties))
	}
	switch vms := d.VMs[0]; {
	case vms.Change > 0:
		parts = append(parts, fmt.Sprintf("%s %s rented, %s more", words.VMs(vms.To), words.IsAre(vms.To), words.Number(vms.Change)))
	case vms.Change < 0:
		parts = append(parts, fmt.Sprintf("%s %s rented, %s fewer", words.VMs(vms.To), words.IsAre(vms.To), words.Number(-vms.Change)))
	default:
		parts = append(parts, fmt.Sprintf("%s %s rented as before", words.VMs(vms.To), words.IsAre(vms.To)))
	}
	admitted, refused := 0.0, 0.0
	for _, c := range d.Classes {
		change := 0.0
		if c.To != nil {
			change += c.To.Admitted
		}
		if c.From != nil {
			change -= c.From.Admitted
		}
		admitted += max(change, 0)
		refused += max(-change, 0)
	}
	if admitted > 0 {
		parts = append(parts, words.Jobs(admitted)+" more admitted")
	}
	if refused > 0 {
		parts = append(parts, words.Jobs(refused)+" fewer admitted")
	}
	if len(d.Inputs) == 0 {
		parts = append(parts, "although no input changed")
	}
	return strings.Join(parts, ", ") + "."
}
