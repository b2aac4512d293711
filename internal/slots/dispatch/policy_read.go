package dispatch

import (
	"example.org/headroom/internal/core/strict"
)

var (
	policyShape = strict.NewShape("a policy", []string{"kind"}, "affinity_threshold", "max_skips",
		"mode", "time_factor", "whole_tasks", "least_residual", "io_cap_mb_s", "late",
		"classifier", "target", "rules", "utilities", "features", "tasks_per_heartbeat", "evaluation_delay_heartbeats", "probe_when_idle")
	overloadRuleShape = strict.NewShape("a rule", []string{"metric", "limit"}, "per")
	utilityShape      = strict.NewShape("a utility", []string{"kind"}, "value", "slow_start")
	nodeFeatureShape  = strict.NewShape("a feature", []string{"name"}, "edges", "words")
)

// ReadPolicy reads a policy, as strictly as ReadProblem. Missing settings stay missing; Filled adds the defaults.
func ReadPolicy(data []byte) (PolicyConfig, error) {
	var p PolicyConfig
	r := strict.NewReader(data)
	readPolicy(r, &p)
	r.End()
	if err := r.Result(p.Check); err != nil {
		return PolicyConfig{}, err
	}
	return p, nil
}

func readPolicy(r *strict.Reader, p *PolicyConfig) {
	r.Object(policyShape, func(name string) {
		switch name {
		case "rules":
			p.Rules = strict.List(r, "of rules", maxRules, readOverloadRule)
		case "utilities":
			p.Utilities = strict.List(r, "of utilities", maxUtilities, readUtility)
		case "features":
			p.Features = strict.List(r, "of features", maxFeatures, readNodeFeature)
		default:
			r.Field(p, name)
		}
	})
}

func readOverloadRule(r *strict.Reader, o *OverloadRule) { r.Fields(overloadRuleShape, o) }

func readUtility(r *strict.Reader, u *Utility) { r.Fields(utilityShape, u) }

func readNodeFeature(r *strict.Reader, f *NodeFeature) {
	r.Object(nodeFeatureShape, func(name string) {
		switch name {
		case "edges":
			f.Edges = strict.List(r, "of edges", maxBins, (*strict.Reader).Float)
		case "words":
			f.Words = strict.List(r, "of words", maxBins, func(r *strict.Reader, s *string) { *s, _ = r.Text() })
		default:
			r.Field(f, name)
		}
	})
}
