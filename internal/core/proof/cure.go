package proof

import (
	"slices"
	"strconv"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// apply applies a cure to a copy of the problem.
func apply(p capacity.Problem, h fault.Hint) (capacity.Problem, bool) {
	steps := strings.Split(h.Pointer, "/")[1:]
	x, ok := value(h.Value)
	if !ok && h.Value != nil || len(steps) == 0 {
		return p, false
	}
	var n *int64 // set if it is whole
	if ok && x.IsInt() && x.Num().IsInt64() {
		whole := x.Num().Int64()
		n = &whole
	}
	switch {
	case steps[0] == "supply":
		return applyToSupply(p, steps[1:], n, !ok)
	case !ok:
		return p, false
	case steps[0] == "budget" && len(steps) == 2 && p.Budget != nil:
		b, amount := *p.Budget, amountOf(x)
		if p.Budget = &b; steps[1] == "vm_cost" {
			b.VMCost = &amount
			return p, true
		}
		b.Total = &amount
		return p, steps[1] == "total"
	case len(steps) >= 3 && steps[0] == "classes":
		i, err := strconv.Atoi(steps[1])
		if err != nil || i < 0 || i >= len(p.Classes) {
			return p, false
		}
		f := x.Float()
		p.Classes = slices.Clone(p.Classes)
		switch strings.Join(steps[2:], "/") {
		case "deadline_s":
			p.Classes[i].DeadlineSeconds = f
			return p, true
		case "jobs/min":
			p.Classes[i].Jobs.Min = f
			return p, true
		case "jobs/max":
			if p.Classes[i].Jobs.Max = f; p.Classes[i].Jobs.All {
				p.Classes[i].Jobs.Min = f
			}
			return p, true
		}
	}
	return p, false
}

// applyToSupply changes a quota, which may be lifted, or the size of a contract, of the only type or of one of
// several.
func applyToSupply(p capacity.Problem, steps []string, n *int64, lifted bool) (capacity.Problem, bool) {
	contracts, onDemand := &p.Supply.Contracts, &p.Supply.OnDemand
	if len(steps) > 2 && steps[0] == "vm_types" {
		v, err := strconv.Atoi(steps[1])
		if err != nil || v < 0 || v >= len(p.Supply.VMTypes) {
			return p, false
		}
		p.Supply.VMTypes = slices.Clone(p.Supply.VMTypes)
		contracts, onDemand = &p.Supply.VMTypes[v].Contracts, &p.Supply.VMTypes[v].OnDemand
		steps = steps[2:]
	}
	switch {
	case len(steps) == 2 && steps[0] == "on_demand" && steps[1] == "quota" && (lifted || n != nil):
		onDemand.Quota = n
		return p, true
	case len(steps) == 3 && steps[0] == "contracts" && steps[2] == "vms" && n != nil:
		if i, err := strconv.Atoi(steps[1]); err == nil && i >= 0 && i < len(*contracts) {
			*contracts = slices.Clone(*contracts)
			(*contracts)[i].VMs = *n
			return p, true
		}
	}
	return p, false
}
