package whatif

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// drawChange draws a change that fits a problem.
func drawChange(r *rand.Rand, p *capacity.Problem) ScenarioChange {
	factor := math.Round((0.5+r.Float64())*100) / 100
	class := ""
	if r.IntN(2) == 0 {
		class = p.Classes[r.IntN(len(p.Classes))].Name
	}
	value := money.Amount{Decimal: decimal.New(r.Int64N(60), 0)}
	for {
		switch what := []What{
			ChangeDeadline, ChangeDeadline, ChangeDemand, ChangePenalty, ChangePrice,
			ChangeQuota, ChangeContract, DropContract, AddContract, ChangePromised, ChangeBound,
		}[r.IntN(11)]; what {
		case ChangeBound:
			return ScenarioChange{What: what, Bound: []capacity.Bound{capacity.LowerBound, capacity.AverageBound, capacity.UpperBound}[r.IntN(3)]}
		case ChangeDeadline:
			if slices.ContainsFunc(p.Classes, func(c capacity.Class) bool { return c.DeadlineSeconds != 0 && (class == "" || c.Name == class) }) {
				return ScenarioChange{What: what, Class: class, Factor: &factor}
			}
		case ChangeDemand, ChangePenalty:
			return ScenarioChange{What: what, Class: class, Factor: &factor}
		case ChangePromised:
			half := factor / 2
			return ScenarioChange{What: what, Class: class, Factor: &half}
		case ChangePrice:
			return ScenarioChange{What: what, Factor: &factor}
		case ChangeQuota:
			return ScenarioChange{What: what, Value: &value}
		case AddContract:
			return ScenarioChange{What: what, Add: &AddedSupply{Contract: &capacity.Contract{Name: "added", VMs: r.Int64N(20), Price: value, Billing: capacity.BilledAlways}}}
		default:
			if n := len(p.Supply.Contracts); n > 0 {
				ch := ScenarioChange{What: what, Contract: p.Supply.Contracts[r.IntN(n)].Name}
				if what == ChangeContract {
					ch.Value = &value
				}
				return ch
			}
		}
	}
}

// drawScenario draws up to three changes that can be carried out together.
func drawScenario(r *rand.Rand, p *capacity.Problem) (s Scenario, changed capacity.Problem) {
	for {
		s.Changes = nil
		for range 1 + r.IntN(3) {
			s.Changes = append(s.Changes, drawChange(r, p))
		}
		if changed, err := s.Apply(*p); err == nil {
			return s, changed
		}
	}
}
