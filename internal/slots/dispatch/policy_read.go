package dispatch

import (
	"headroom/internal/core/strict"
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
		case "kind":
			strict.Word(r, &p.Kind, PolicyKinds)
		case "mode":
			strict.Word(r, &p.Mode, progressModes)
		case "late":
			strict.Word(r, &p.Late, latePolicies)
		case "classifier":
			strict.Word(r, &p.Classifier, classifiers)
		case "rules":
			p.Rules = strict.List(r, "of rules", MaxRules, readOverloadRule)
		case "utilities":
			p.Utilities = strict.List(r, "of utilities", MaxUtilities, readUtility)
		case "features":
			p.Features = strict.List(r, "of features", MaxFeatures, readNodeFeature)
		default:
			r.Field(p, name)
		}
	})
}

func readOverloadRule(r *strict.Reader, o *OverloadRule) {
	r.Object(overloadRuleShape, func(name string) {
		switch name {
		case "metric":
			strict.Word(r, &o.Metric, nodeMetrics)
		case "per":
			strict.Word(r, &o.Per, metricPers)
		default:
			r.Field(o, name)
		}
	})
}

func readUtility(r *strict.Reader, u *Utility) {
	r.Object(utilityShape, func(name string) {
		if name == "kind" {
			strict.Word(r, &u.Kind, utilityKinds)
		} else {
			r.Field(u, name)
		}
	})
}

func readNodeFeature(r *strict.Reader, f *NodeFeature) {
	r.Object(nodeFeatureShape, func(name string) {
		switch name {
		case "name":
			f.Name, _ = r.Text()
		case "edges":
			f.Edges = strict.List(r, "of edges", MaxBins, (*strict.Reader).Float)
		case "words":
			f.Words = strict.List(r, "of words", MaxBins, func(r *strict.Reader, s *string) { *s, _ = r.Text() })
		}
	})
}
