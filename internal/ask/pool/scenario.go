package pool

import (
	"fmt"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
)

// Scenario turns a pool's instance types into VM types of a capacity plan. The scenario adds each type but the
// reference, with its price, its limit and its speeds for the classes named like the jobs. The reference is the type
// of the plan's own VMs. Speeds are those of a slot, and types have their slots. With wholeVMs they are those of a
// VM, for classes with given VMs per job.
func Scenario(p PoolProblem, reference string, wholeVMs bool) (whatif.Scenario, error) {
	m, err := ready(p)
	if err != nil {
		return whatif.Scenario{}, err
	}
	at, known := m.places[reference]
	if !known {
		return whatif.Scenario{}, fmt.Errorf("there is no instance type %q that speeds could be relative to: %w", reference, fault.Invalid)
	}
	s := whatif.Scenario{Name: "instance types of a pool", Note: "Speeds are relative to " + reference + "."}
	per := func(j, i int) float64 {
		if wholeVMs {
			return m.rates[j][i]
		}
		return m.rates[j][i] / float64(m.Types[i].Slots)
	}
	var findings []fault.Finding
	refuse := func(j int, code, detail string, values ...any) {
		findings = append(findings, fault.Finding{Pointer: fmt.Sprintf("/jobs/%d/rates", j), Code: code, Detail: fmt.Sprintf(detail, values...)})
	}
	for j, job := range m.Jobs {
		if m.rates[j][at] == 0 {
			refuse(j, "no_rate", "The job %q does not run on %s, so that its speeds on other types are relative to nothing; name another reference.", job.Name, reference)
		}
	}
	for i, t := range m.Types {
		if i == at || len(findings) > 0 {
			continue
		}
		add := whatif.AddedSupply{
			VMType: &capacity.VMTypeSupply{Name: t.Name, OnDemand: capacity.OnDemand{Price: *t.PerHour, Quota: t.Most}},
			Speed:  map[string]float64{},
		}
		if !wholeVMs {
			add.SlotsPerVM = map[string]capacity.SlotsPerVM{}
		}
		runs := false
		for j, job := range m.Jobs {
			speed := per(j, i) / per(j, at)
			if speed > 0 && !(speed >= capacity.MinSpeed && speed <= capacity.MaxSpeed) {
				refuse(j, "range", "The job %q is %s times as fast on %s as on %s; capacity plans know speeds from %g to %g.", job.Name, number(speed), t.Name, reference, capacity.MinSpeed, float64(capacity.MaxSpeed))
			}
			add.Speed[job.Name] = speed
			runs = runs || speed > 0
			if !wholeVMs {
				add.SlotsPerVM[job.Name] = capacity.SlotsPerVM{Map: t.Slots, Reduce: t.Slots}
			}
		}
		if runs {
			s.Changes = append(s.Changes, whatif.ScenarioChange{What: whatif.AddVMType, Add: &add})
		}
	}
	if len(s.Changes) >= capacity.MaxVMTypes {
		findings = append(findings, fault.Finding{Pointer: "/types", Code: "too_many", Detail: fmt.Sprintf("%d types are too many for a capacity plan, which has at most %d.", len(s.Changes)+1, capacity.MaxVMTypes)})
	}
	if len(findings) > 0 {
		return whatif.Scenario{}, fault.Refusal(findings, 0)
	}
	return s, nil
}
