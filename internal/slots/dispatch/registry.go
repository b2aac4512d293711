package dispatch

import (
	"fmt"
)

// Setting describes the cluster that a policy decides for.
type Setting struct {
	Layout Layout
	// Shares holds the classes' slots under fair and capacity; Job.Class is an index into it.
	Shares []Share
}

// New returns the policy that a document describes, or an error that names all its mistakes.
func New(p PolicyConfig, s Setting) (Policy, error) {
	if err := p.Validate(""); err != nil {
		return nil, err
	}
	p = p.Filled()
	switch p.Kind {
	case PolicyFIFO:
		return FIFO(s.Layout), nil
	case PolicyEDF:
		return EDF(s.Layout), nil
	case PolicyFair:
		return Fair(s.Layout, s.Shares), nil
	case PolicyCapacity:
		return Capacity(s.Layout, s.Shares), nil
	case PolicyProgressShare:
		return ProgressShare(s.Layout, p), nil
	case PolicyMaxProgress:
		return MaxProgress(s.Layout, p), nil
	case PolicyLearned:
		return NewLearned(s.Layout, p), nil
	default:
		return nil, fmt.Errorf("no policy is called %q", p.Kind)
	}
}
