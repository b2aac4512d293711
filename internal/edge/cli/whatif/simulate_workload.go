package whatif

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/sim"
)

func simulateWorkloadCommand() *cobra.Command {
	var out shell.Output
	var policy string
	var compare []string
	var seed uint64
	var replications int64
	var horizon float64
	c := &cobra.Command{
		Use:   "workload [FILE|-]",
		Short: "Try policies on a workload and nodes of your own, which may differ",
		Long: `Simulates a cluster as a file describes it: nodes of several types with work beside the tasks, or slots that are
all alike; classes of jobs with their loads and deadlines; and a policy. With --compare the same jobs, whose tasks
draw the same random numbers, run under other policies as well, and the answer has the differences with how sure
they are.

A policy is a name, or a document with what the rule is told:
  fifo, edf, fair, capacity, progress-share, max-progress, learned
  '{"kind": "max-progress", "mode": "paper", "admission": "strict"}'

  {"nodes": [{"type": "gpu", "count": 8, "slots": {"shared": 1}},
             {"type": "busy", "count": 8, "slots": {"shared": 1},
              "background": {"kind": "uniform", "low": 0.3, "high": 0.9, "every_s": 600}}],
   "classes": [{"name": "crypto", "rates": {"gpu": 5}, "deadline_s": 900,
                "profile": {"map_tasks": 240, "map_avg_s": 10, "map_max_s": 20, "reduce_tasks": 0},
                "load": {"kind": "poisson", "per_hour": 20}}],
   "policy": {"kind": "progress-share"}, "horizon_s": 86400, "replications": 5}`,
		Example: "  headroom whatif simulate workload jobs.json\n  headroom whatif simulate workload jobs.json --policy max-progress --compare fifo --compare edf\n  headroom whatif simulate workload - -o csv < jobs.json",
		Args:    cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv", "xlsx")
	c.Flags().StringVar(&policy, "policy", "", "override the `policy`: a name, or a document")
	c.Flags().StringArrayVar(&compare, "compare", nil,
		"another `policy` on the same jobs, in place of the file's, or several by commas; may be given several times")
	c.Flags().Uint64Var(&seed, "seed", 0, "override the seed: the same one gives the same answer")
	c.Flags().Int64Var(&replications, "replications", 0, "override how many `times`, each with other random numbers")
	c.Flags().Float64Var(&horizon, "horizon", 0, "override the simulated `seconds`; 0 until all work is done")
	for _, flag := range []string{"policy", "compare"} {
		var kinds []string
		for _, k := range dispatch.PolicyKinds {
			kinds = append(kinds, string(k))
		}
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
	}
	c.PreRunE = func(c *cobra.Command, _ []string) error { return out.CheckSheet(c) }
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		in, err := sim.Decode(data)
		if err != nil {
			return shell.Labelled(label, err)
		}
		changed := c.Flags().Changed
		if changed("policy") {
			if in.Policy, err = simulatedPolicy("policy", policy); err != nil {
				return err
			}
		}
		if changed("compare") {
			in.Compare = nil
		}
		for _, text := range policiesOf(compare) {
			p, err := simulatedPolicy("compare", text)
			if err != nil {
				return err
			}
			in.Compare = append(in.Compare, p)
		}
		if changed("seed") {
			in.Seed = seed
		}
		if changed("replications") {
			in.Replications = int(min(max(replications, -1), math.MaxInt32))
		}
		if changed("horizon") {
			in.HorizonSeconds = horizon
		}
		asked := kinds.AskedSimulation{Workload: &in}
		r, err := question.Work(c, kinds.Simulation, asked, "")
		if err != nil {
			return shell.Labelled(label, err)
		}
		return question.Write(c, out, kinds.Simulation, asked, r)
	})
}

// policiesOf takes lists of names apart; documents have commas of their own.
func policiesOf(given []string) (all []string) {
	for _, text := range given {
		if strings.HasPrefix(strings.TrimSpace(text), "{") {
			all = append(all, text)
		} else {
			all = append(all, strings.Split(text, ",")...)
		}
	}
	return all
}

// simulatedPolicy is a policy as a flag says it.
func simulatedPolicy(flag, text string) (sim.Policy, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		p, err := sim.DecodePolicy([]byte(text))
		if err != nil {
			return p, fmt.Errorf("--%s: %w", flag, err)
		}
		return p, nil
	}
	p := sim.Policy{PolicyConfig: dispatch.PolicyConfig{Kind: dispatch.PolicyKind(text)}}
	if err := p.Validate(""); err != nil {
		var wrong *fault.InputError
		if errors.As(err, &wrong) {
			return p, fmt.Errorf("--%s: %s", flag, wrong.Findings[0].Detail)
		}
		return p, err
	}
	return p, nil
}
