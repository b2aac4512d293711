package fault

// InfeasibleError reports a cluster that cannot be planned; the conflicts give reasons and cures.
type InfeasibleError struct {
	Conflicts []Finding
}

func (e *InfeasibleError) Error() string {
	return (&InputError{Findings: e.Conflicts}).Error()
}

// Is makes it an error of kind Infeasible.
func (e *InfeasibleError) Is(target error) bool { return target == Infeasible }
