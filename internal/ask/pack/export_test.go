package pack

import "headroom/internal/core/fault"

// Recheck is Recheck: that package imports this one, so only an external test file can hand it over.
var Recheck func(p PackingProblem, a Packing) []fault.Finding
