package plan

import (
	"fmt"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
)

// ImpossibleDeadlines names the classes of a valid problem whose deadline no number of slots meets, in their order.
// Those that promise jobs come as findings, which make the problem infeasible with any supply. The others come as
// warnings, because all their jobs will be refused. With several VM types it is enough if one meets the deadline.
func ImpossibleDeadlines(p capacity.Problem) (findings []fault.Finding, warnings []capacity.Warning, err error) {
	p.Budget, p.Options.Integrality = nil, capacity.Relaxed // neither changes how long an execution takes
	if isFleet(&p) {
		return impossibleOfFleet(&p)
	}
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
			c.Name, words.Number(c.shape.work.FixedSeconds), words.Number(c.DeadlineSeconds))
		if f.Hint != nil {
			detail += " " + f.Hint.Detail
		}
		warnings = append(warnings, capacity.Warning{Code: f.Code, Pointer: f.Pointer, Detail: detail})
	}
	return findings, warnings, nil
}

// impossibleOfFleet is ImpossibleDeadlines of a problem with several VM types.
func impossibleOfFleet(p *capacity.Problem) (findings []fault.Finding, warnings []capacity.Warning, err error) {
	f, err := newFleet(p)
	if err != nil {
		return nil, nil, err
	}
	for i := range f.classes {
		c := &f.classes[i]
		if !c.impossible {
			continue
		}
		finding := f.impossible(i)
		if c.Jobs.Min > 0 {
			findings = append(findings, finding)
			continue
		}
		detail := fmt.Sprintf("No job of class %q will be admitted: on no VM type can an execution end by the deadline of %s s, whatever the number of slots.", c.Name, words.Number(c.DeadlineSeconds))
		if finding.Hint != nil {
			detail += " " + finding.Hint.Detail
		}
		warnings = append(warnings, capacity.Warning{Code: finding.Code, Pointer: finding.Pointer, Detail: detail})
	}
	return findings, warnings, nil
}
