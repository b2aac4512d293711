package pack

import "example.org/headroom/internal/core/fault"

// Recheck is package recheck's function. That package imports this one, so an external test file sets it.
var Recheck func(p PackingProblem, a Packing) []fault.Finding
