package plan

import (
	"fmt"

	"headroom/internal/capacity"
)

// ImpossibleDeadlines names the classes of a valid problem whose deadline no number of slots meets,
// in their order: those that promise jobs as findings, which make the problem infeasible whatever is
// rented, the others as warnings, because all their jobs will be refused.
func ImpossibleDeadlines(p capacity.Problem) (findings []capacity.Finding, warnings []capacity.Warning, err error) {
	m, err := newModel(&p)
	if err != nil {
		return nil, nil, err
	}
	for i := range m.classes {
		c := &m.classes[i]
		if !c.impossible {
			continue
		}
		f := m.impossible(i)
		if c.Jobs.Min > 0 {
			findings = append(findings, f)
			continue
		}
		detail := fmt.Sprintf("No job of class %q will be admitted: an execution takes %s s even with any number of slots, and the deadline is %s s.",
			c.Name, number(c.shape.work.FixedSeconds), number(c.DeadlineSeconds))
		if f.Hint != nil {
			detail += " " + f.Hint.Detail
		}
		warnings = append(warnings, capacity.Warning{Code: f.Code, Pointer: f.Pointer, Detail: detail})
	}
	return findings, warnings, nil
}
