package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/slots/dispatch"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/openapi"
)

// Command returns the commands about live clusters, admission and agents.
func Command() *cobra.Command {
	c := remote.Group("live", "Hand tasks to the nodes of a live cluster, and places to jobs", `

Nodes tell of themselves in heartbeats and get tasks; the cluster's policy decides which. "policy edit --dry-run"
says first what another policy would have decided on the heartbeats of the last hour.`)
	var to remote.Connection
	to.AddFlags(c)
	policy := subgroup("policy", "How tasks are handed out", livePolicyGetCommand(&to), livePolicySetCommand(&to))
	node := subgroup("node", "The machines that run tasks", liveNodeListCommand(&to), liveNodeSetCommand(&to), liveNodeDeleteCommand(&to))
	job := subgroup("job", "The jobs whose tasks are handed out", liveJobSubmitCommand(&to), liveJobListCommand(&to), liveJobGetCommand(&to),
		liveJobKillCommand(&to))
	c.AddCommand(policy, node, job, liveDecisionsCommand(&to), liveLearnedCommand(&to), liveRelearnCommand(&to), liveHeartbeatCommand(&to),
		admissionCommand(), agentCommand())
	return c
}

func subgroup(use, short string, verbs ...*cobra.Command) *cobra.Command {
	c := remote.Group(use, short, "")
	c.AddCommand(verbs...)
	return c
}

func livePolicyGetCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "get CLUSTER", Short: "Show how tasks are handed out", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		said, err := s.Call(c.Context(), openapi.GetLiveSettings(args[0]))
		if err != nil {
			return err
		}
		var l live.LiveSettings
		if err := said.Into(&l); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": shell.SayIt("Tasks are handed out by the policy %s, on %s slots; admission is %s. Nodes tell of themselves each %g s and "+
				"count as dead after %g s.", l.Policy.Kind, l.Slots, l.Admission, l.HeartbeatSeconds, l.NodeTimeoutSeconds),
			"json": remote.Indented(said.Body),
		})
	})
}

func livePolicySetCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var dry bool
	var window time.Duration
	var admission, policy string
	c := &cobra.Command{
		Use: "edit CLUSTER KIND", Short: "Hand out tasks by another policy, or ask what that would have decided",
		Long: `Hands out tasks by another policy from the next heartbeat on: fifo, edf, fair, capacity, progress-share, max-progress
or learned. With --dry-run nothing changes: the heartbeats of the last hour (--window) are gone through again, and the policy is
asked what it would do with each slot, in the state that the cluster was truly in.`,
		Example: "  headroom live policy edit shop max-progress --dry-run\n" +
			"  headroom live policy edit shop max-progress --options '{\"io_cap_mb_s\": 80}' --admission strict",
		Args: cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what the policy would have decided")
	c.Flags().DurationVar(&window, "window", time.Hour, "how far back the heartbeats of a dry run are, up to 24h")
	c.Flags().StringVar(&admission, "admission", "", "which jobs are taken in: open, paper or strict (default as before)")
	c.Flags().StringVar(&policy, "options", "", "what else the policy is told, as a `JSON` object")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		wanted := map[string]any{}
		if policy != "" {
			if err := json.Unmarshal([]byte(policy), &wanted); err != nil || wanted == nil {
				return shell.Fail(shell.ExitUsage, fmt.Errorf("--options is no JSON object: %s", policy))
			}
		}
		wanted["kind"] = args[1]
		s, err := to.Open()
		if err != nil {
			return err
		}
		if dry {
			return dryRun(s, c, out, args[0], map[string]any{"policy": wanted, "window_s": window.Seconds()})
		}
		seen, err := s.Call(c.Context(), openapi.GetLiveSettings(args[0]))
		if err != nil {
			return err
		}
		var settings map[string]any
		if err := seen.Into(&settings); err != nil {
			return err
		}
		delete(settings, "version")
		delete(settings, "updated_at")
		settings["policy"] = wanted
		if admission != "" {
			settings["admission"] = admission
		}
		body, err := json.Marshal(settings)
		if err != nil {
			return err
		}
		said, err := s.Call(c.Context(), openapi.ReplaceLiveSettings(args[0]), remote.JSONBody(body), remote.IfMatch(seen.Etag))
		if err != nil {
			return err
		}
		var l live.LiveSettings
		if err := said.Into(&l); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": shell.SayIt("Tasks are handed out by the policy %s from now on; admission is %s.", l.Policy.Kind, l.Admission),
			"json":  remote.Indented(said.Body),
		})
	})
}

func liveLearnedCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "learned CLUSTER", Short: "Show what the policy learned has learned", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		said, err := s.Call(c.Context(), openapi.GetClassifier(args[0]))
		return writeKnowledge(&out, c, said, err)
	})
}

func liveRelearnCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use: "relearn CLUSTER", Short: "Learn everything again from the choices that are kept",
		Long: `Judges every choice that is kept, up to the last 100,000, by the rules of today and learns from them anew. Another
target or other rules, features or classifiers do so by themselves; this is for whoever doubts what was learned.`,
		Args: cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		said, err := s.Call(c.Context(), openapi.Relearn(args[0]))
		return writeKnowledge(&out, c, said, err)
	})
}

func writeKnowledge(out *shell.Output, c *cobra.Command, said remote.Answer, err error) error {
	if err != nil {
		return err
	}
	var k dispatch.Knowledge
	if err := said.Into(&k); err != nil {
		return err
	}
	return out.Write(c, map[string]shell.Form{
		"table": shell.SayIt("It has learned from %s, %d of them good, by %s with the rules of version %d; %d were made.",
			shell.Counted(k.Counts.Outcomes[0]+k.Counts.Outcomes[1], "choice"), k.Counts.Outcomes[1], k.Kind, k.Rules, k.Decisions),
		"json": remote.Indented(said.Body),
	})
}

func dryRun(s *remote.Service, c *cobra.Command, out shell.Output, cluster string, ask map[string]any) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	said, err := s.Call(c.Context(), openapi.DryRunPolicy(cluster), remote.JSONBody(body))
	if err != nil {
		return err
	}
	var d live.PolicyTrial
	if err := said.Into(&d); err != nil {
		return err
	}
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error { return writeTrial(w, d) },
		"json":  remote.Indented(said.Body),
	})
}

func writeTrial(w io.Writer, d live.PolicyTrial) error {
	var text strings.Builder
	say := func(format string, values ...any) { fmt.Fprintf(&text, format+"\n", values...) }
	say("%s", d.Sentence)
	for _, x := range d.Differences {
		at := x.At.UTC().Format(time.TimeOnly)
		switch {
		case x.Was == nil:
			say("%s %s: idle; it would have been %s of %s: %s", at, shell.Shown(x.Node), x.Would.Kind, shell.Shown(x.Would.JobName),
				shell.Shown(x.Would.Reason))
		case x.Would == nil:
			say("%s %s: %s of %s (%s); it would have stayed idle: %s", at, shell.Shown(x.Node), x.Was.Kind, shell.Shown(x.Was.JobName),
				shell.Shown(x.Was.Reason), shell.Shown(x.Why))
		default:
			say("%s %s: %s of %s (%s); it would have been %s of %s: %s", at, shell.Shown(x.Node), x.Was.Kind, shell.Shown(x.Was.JobName),
				shell.Shown(x.Was.Reason), x.Would.Kind, shell.Shown(x.Would.JobName), shell.Shown(x.Would.Reason))
		}
	}
	for _, warning := range d.Warnings {
		say("%s", shell.Shown(warning.Detail))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func liveNodeListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "list CLUSTER", Short: "List nodes and what they told last", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[live.LiveNode](),
			Columns: []string{"name", "type", "cores", "slots_map", "slots_reduce", "state", "residual", "running", "last_heartbeat_at"},
			None:    "No node is declared."}
		return remote.WriteList(c, s, out, l, openapi.ListLiveNodes(args[0]))
	})
}

func liveNodeSetCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var n live.LiveNode
	c := &cobra.Command{
		Use: "edit CLUSTER NODE --slots N", Short: "Declare a node, or say what it is from now on",
		Example: "  headroom live node edit shop host-7 --type m5.large --cores 4 --slots 3 --reduce-slots 1",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&n.Type, "type", "", "its `type`; nodes of one type are alike (default its name)")
	c.Flags().Float64Var(&n.Cores, "cores", 1, "how many cores it has")
	c.Flags().Int64Var(&n.Slots.Map, "slots", 0, "how many tasks it runs at once; maps, where slots are separate")
	c.Flags().Int64Var(&n.Slots.Reduce, "reduce-slots", 0, "how many reduces")
	c.Flags().BoolVar(&n.Dedicated, "dedicated", false, "it does nothing but run tasks")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if n.Type == "" {
			n.Type = args[1]
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		body, err := json.Marshal(map[string]any{"type": n.Type, "cores": n.Cores, "slots": n.Slots, "dedicated": n.Dedicated})
		if err != nil {
			return err
		}
		said, err := s.Call(c.Context(), openapi.PutLiveNode(args[0], args[1]), remote.JSONBody(body))
		if err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": shell.SayIt("Node %s is declared with %s.", shell.Shown(args[1]), shell.Counted(n.Slots.Map+n.Slots.Reduce, "slot")),
			"json":  remote.Indented(said.Body),
		})
	})
}

func liveNodeDeleteCommand(to *remote.Connection) *cobra.Command {
	c := &cobra.Command{Use: "delete CLUSTER NODE", Short: "Take a node out; its tasks are handed out again", Args: cobra.ExactArgs(2)}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		if _, err := s.Call(c.Context(), openapi.RemoveLiveNode(args[0], args[1])); err != nil {
			return err
		}
		return shell.SayIt("Node %s is taken out.", shell.Shown(args[1]))(c.OutOrStdout())
	})
}

func liveHeartbeatCommand(to *remote.Connection) *cobra.Command {
	var boot string
	var seq int64
	var running, finished, failed []int64
	var residual float64
	c := &cobra.Command{
		Use: "heartbeat CLUSTER NODE --seq N", Short: "Tell of a node by hand, to try things out, and show what it is to do",
		Long: `Tells of a node by hand, to try things out; agents do it by themselves. The answer is printed as JSON: the tasks that
the node is to run, and those that it is to stop.`,
		Example: "  headroom live heartbeat shop host-7 --seq 2 --running 5 --finished 3,4",
		Args:    cobra.ExactArgs(2),
	}
	c.Flags().Int64Var(&seq, "seq", 0, "the heartbeat's `number`, which grows")
	shell.Require(c, "seq")
	c.Flags().StringVar(&boot, "boot", "", "another `word` after each start of the node's agent")
	c.Flags().Int64SliceVar(&running, "running", nil, "the assignments that it has")
	c.Flags().Int64SliceVar(&finished, "finished", nil, "those that have done their work")
	c.Flags().Int64SliceVar(&failed, "failed", nil, "those that have failed")
	c.Flags().Float64Var(&residual, "residual", 1, "the `part` of its processors that other work leaves")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if seq < 1 {
			return shell.Fail(shell.ExitUsage, errors.New("say with --seq which heartbeat of the node this is; they grow from 1"))
		}
		if !(residual >= 0 && residual <= 1) { // NaN too
			return shell.Fail(shell.ExitUsage, fmt.Errorf("--residual is a part, from 0 to 1, not %g", residual))
		}
		beat := live.Heartbeat{Seq: seq, Boot: boot, Running: append([]int64{}, running...)}
		for _, id := range finished {
			beat.Finished = append(beat.Finished, live.FinishedTask{Assignment: id})
		}
		for _, id := range failed {
			beat.Failed = append(beat.Failed, live.FailedTask{Assignment: id})
		}
		if c.Flags().Changed("residual") {
			beat.State = &live.NodeReport{Residual: &residual}
		}
		body, err := json.Marshal(beat)
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		said, err := s.Call(c.Context(), openapi.SendHeartbeat(args[0], args[1]), remote.JSONBody(body))
		if err != nil {
			return err
		}
		return remote.Indented(said.Body)(c.OutOrStdout())
	})
}
