package capacity

var (
	policyShape = newShape("a policy", []string{"kind"}, "affinity_threshold", "max_skips",
		"mode", "time_factor", "whole_tasks", "least_residual", "io_cap_mb_s", "late",
		"classifier", "target", "rules", "utilities", "features", "tasks_per_heartbeat", "evaluation_delay_heartbeats", "probe_when_idle")
	overloadRuleShape = newShape("a rule", []string{"metric", "limit"}, "per")
	utilityShape      = newShape("a utility", []string{"kind"}, "value", "slow_start")
	nodeFeatureShape  = newShape("a feature", []string{"name"}, "edges", "words")
)

// ReadPolicy reads a policy, as strictly as ReadProblem. What is left out stays so: Filled has the defaults.
func ReadPolicy(data []byte) (Policy, error) {
	var p Policy
	r := &reader{data: data, path: make(path, 0, 8)}
	r.start()
	r.policy(&p)
	r.end()
	if err := r.result(p.check); err != nil {
		return Policy{}, err
	}
	return p, nil
}

func (r *reader) policy(p *Policy) {
	r.object(policyShape, func(name string) {
		switch name {
		case "kind":
			word(r, &p.Kind, PolicyKinds)
		case "affinity_threshold":
			option(&p.AffinityThreshold, r.float)
		case "max_skips":
			option(&p.MaxSkips, r.whole)
		case "mode":
			word(r, &p.Mode, progressModes)
		case "time_factor":
			option(&p.TimeFactor, r.float)
		case "whole_tasks":
			option(&p.WholeTasks, r.flag)
		case "least_residual":
			option(&p.LeastResidual, r.float)
		case "io_cap_mb_s":
			option(&p.IOCap, r.float)
		case "late":
			word(r, &p.Late, latePolicies)
		case "classifier":
			word(r, &p.Classifier, classifiers)
		case "target":
			option(&p.Target, r.float)
		case "rules":
			p.Rules = list(r, "of rules", MaxRules, r.overloadRule)
		case "utilities":
			p.Utilities = list(r, "of utilities", MaxUtilities, r.utility)
		case "features":
			p.Features = list(r, "of features", MaxFeatures, r.nodeFeature)
		case "tasks_per_heartbeat":
			option(&p.TasksPerHeartbeat, r.whole)
		case "evaluation_delay_heartbeats":
			option(&p.EvaluationDelay, r.whole)
		case "probe_when_idle":
			option(&p.ProbeWhenIdle, r.flag)
		}
	})
}

func option[T any](member **T, read func(*T)) {
	*member = new(T)
	read(*member)
}

func (r *reader) overloadRule(o *OverloadRule) {
	r.object(overloadRuleShape, func(name string) {
		switch name {
		case "metric":
			word(r, &o.Metric, nodeMetrics)
		case "limit":
			r.float(&o.Limit)
		case "per":
			word(r, &o.Per, metricPers)
		}
	})
}

func (r *reader) utility(u *Utility) {
	r.object(utilityShape, func(name string) {
		switch name {
		case "kind":
			word(r, &u.Kind, utilityKinds)
		case "value":
			option(&u.Value, r.float)
		case "slow_start":
			option(&u.SlowStart, r.float)
		}
	})
}

func (r *reader) nodeFeature(f *NodeFeature) {
	r.object(nodeFeatureShape, func(name string) {
		switch name {
		case "name":
			f.Name, _ = r.text()
		case "edges":
			f.Edges = list(r, "of edges", MaxBins, r.float)
		case "words":
			f.Words = list(r, "of words", MaxBins, func(s *string) { *s, _ = r.text() })
		}
	})
}
