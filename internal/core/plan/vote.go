package plan

import "example.org/headroom/internal/core/capacity"

// BeforeVote returns a problem whose answer does not wait until the second engine has looked at a proved plan, and
// whether that is another problem. Series.Solve of the problem itself has the engine's answer. Relaxed plans are left as
// they are, because Clp is quick, and so are plans of several VM types.
func BeforeVote(p capacity.Problem) (first capacity.Problem, later bool) {
	later = p.Options.Engine == capacity.EngineCBC && p.Options.Integrality != capacity.Relaxed && !isFleet(&p)
	if later {
		p.Options.Engine = capacity.EngineAuto
	}
	return p, later
}
