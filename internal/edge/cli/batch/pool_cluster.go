package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

// clusterPoolCommands are the verbs about the pool of a cluster, which a server keeps and plans.
func clusterPoolCommands() []*cobra.Command {
	return []*cobra.Command{poolSetCommand(), poolGetCommand(), poolUnsetCommand(), poolRunningCommand(), poolSampleCommand(), poolSamplesCommand(), poolBasisCommand(),
		poolCurrentCommand(), poolHistoryCommand(), poolScalingCommand()}
}

// ofCluster makes a verb about the pool of a cluster.
func ofCluster(c *cobra.Command, do func(c *cobra.Command, s *remote.Service, cluster string, args []string) error) *cobra.Command {
	var to remote.Connection
	var cluster string
	to.AddFlags(c)
	c.Long = cmp.Or(c.Long, c.Short+".") + remote.ConnectionHelp
	c.Flags().StringVar(&cluster, "cluster", "", "the `cluster` whose pool it is")
	_ = c.MarkFlagRequired("cluster")
	shell.Require(c, "cluster")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if cluster == "" || cluster == "." || cluster == ".." {
			return shell.Fail(shell.ExitUsage, fmt.Errorf("--cluster is %q, which names nothing", cluster))
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		return do(c, s, cluster, args)
	})
}

// asked is an answer of the server as a value, with its text.
func asked[T any](ctx context.Context, s *remote.Service, request openapi.Request, options ...remote.Option) (value T,
	text remote.Answer, err error) {
	if text, err = s.Call(ctx, request, options...); err == nil {
		err = text.Into(&value)
	}
	return value, text, err
}

func poolSetCommand() *cobra.Command {
	var out shell.Output
	var version int64
	c := &cobra.Command{
		Use: "edit FILE|- --cluster CLUSTER", Short: "Say by what a cluster's pool is planned",
		Long: `Reads the settings of a pool as JSON or YAML and stores them, in the place of those that are there. From then on
the server plans the pool by itself, whenever anything changes that it depends on and at the beginning of each round.
How often a job is submitted is known from its "submissions", else from the forecast of its "class", else from the
executions that were imported under its name.

  hours: 4
  rounds: 6
  types:
    - {name: m1.large, per_hour: "0.34", disk_gb: 850, compute_units: 4, accelerator: false}
    - {name: c1.medium, per_hour: "0.17", compute_units: 5, core: false}
  jobs:
    - {name: nightly, work: 30, deadline_hours: 3}
  storage: {replication: 1}`,
		Example: "  headroom batch pool edit pool.yaml --cluster shop", Args: cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().Int64Var(&version, "if-match", 0, "replace this `version` only (default: the one there is)")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, args []string) error {
		tree, label, err := document.ReadTree(c, args[0])
		if err != nil {
			return err
		}
		tree.Drop("version") // what "pool get" prints can be sent back
		tree.Drop("updated_at")
		body, err := document.Bind(tree, reflect.TypeFor[pool.PoolSettings]())
		if err != nil {
			return document.OfFile(label, err)
		}
		condition := remote.IfMatch(fmt.Sprint(version))
		if version == 0 {
			seen, err := s.Call(c.Context(), openapi.GetPoolSettings(cluster))
			condition = remote.IfMatch(seen.Etag)
			if p := (*remote.Problem)(nil); errors.As(err, &p) && p.Status == http.StatusNotFound {
				condition = remote.Header("If-None-Match", "*")
			} else if err != nil {
				return err
			}
		}
		settings, said, err := asked[pool.PoolSettings](c.Context(), s, openapi.ReplacePoolSettings(cluster), remote.JSONBody(body), condition)
		if err != nil {
			return document.OfFile(label, remote.Located(tree, err))
		}
		return out.Write(c, map[string]shell.Form{"table": shell.SayIt("%s", poolSaid(cluster, settings)), "json": remote.Indented(said.Body)})
	})
}

// poolSaid is settings in a sentence.
func poolSaid(cluster string, s pool.PoolSettings) string {
	return fmt.Sprintf("The pool of cluster %s is planned in rounds of %s from %s on, %d ahead: %s, %s. Version %d.",
		shell.Shown(cluster), shell.Counted(s.Hours, "hour"), s.FirstRoundAt.UTC().Format(time.RFC3339), s.Rounds, shell.Counted(int64(len(s.Types)), "type"), shell.Counted(int64(len(s.Jobs)), "job"), s.Version)
}

func poolGetCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "get --cluster CLUSTER", Short: "Show by what a cluster's pool is planned", Args: cobra.NoArgs}
	out.AddFlags(c, "table", "json")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, _ []string) error {
		settings, said, err := asked[pool.PoolSettings](c.Context(), s, openapi.GetPoolSettings(cluster))
		if err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{"table": shell.SayIt("%s", poolSaid(cluster, settings)), "json": remote.Indented(said.Body)})
	})
}

func poolUnsetCommand() *cobra.Command {
	var yes bool
	var version int64
	c := &cobra.Command{Use: "delete --cluster CLUSTER", Short: "Stop planning a cluster's pool, after asking", Args: cobra.NoArgs}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().Int64Var(&version, "if-match", 0, "stop with this `version` only (default: the one there is)")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, _ []string) error {
		seen, err := s.Call(c.Context(), openapi.GetPoolSettings(cluster))
		if err != nil {
			return err
		}
		if version != 0 {
			seen.Etag = fmt.Sprint(version)
		}
		if err := shell.Confirm(c, yes, fmt.Sprintf("Stop planning the pool of cluster %s (its plans stay on record)?",
			shell.Shown(cluster))); err != nil {
			return err
		}
		if _, err := s.Call(c.Context(), openapi.DeletePoolSettings(cluster), remote.IfMatch(seen.Etag)); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "The pool of cluster %s is planned no more.\n", shell.Shown(cluster))
		return err
	})
}

func poolRunningCommand() *cobra.Command {
	var out shell.Output
	var core, accelerators map[string]int64
	var since string
	var none bool
	c := &cobra.Command{
		Use: "running [FILE|-] --cluster CLUSTER", Short: "Say or show which machines of a cluster's pool run",
		Long: `With flags or a file it says which machines run: all of them, those that are not named do not run. A file has entries
with a time of their own:

  machines:
    - {type: m1.large, count: 5, since: 2026-03-01T18:10:00Z}
    - {type: c1.medium, as: accelerator, count: 6, paid_until: 2026-03-01T23:10:00Z}`,
		Example: "  headroom batch pool running --cluster shop --core m1.large=5 --accelerator c1.medium=6\n  headroom batch pool running --cluster shop", Args: cobra.MaximumNArgs(1),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().StringToInt64Var(&core, "core", nil, "core instances that run, by `type=count`")
	c.Flags().StringToInt64Var(&accelerators, "accelerator", nil, "accelerators that run, by `type=count`")
	c.Flags().StringVar(&since, "since", "", "since which `time` they run; whole hours after it are paid")
	c.Flags().BoolVar(&none, "none", false, "nothing runs")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, args []string) error {
		byFlags := none || len(core)+len(accelerators) > 0
		if len(args) > 0 && byFlags || none && len(core)+len(accelerators) > 0 || since != "" && !byFlags {
			return shell.Fail(shell.ExitUsage, errors.New("say what runs in a file or by flags, or that nothing does"))
		}
		request, options := openapi.GetPoolMachines(cluster), []remote.Option(nil)
		var tree *document.Node
		var label string
		if len(args) > 0 || byFlags {
			var body []byte
			var err error
			if len(args) > 0 {
				if tree, label, err = document.ReadTree(c, args[0]); err == nil {
					body, err = document.Bind(tree, reflect.TypeFor[machineList]())
				}
			} else {
				body, err = machinesOf(core, accelerators, since)
			}
			if err != nil {
				return document.OfFile(label, err)
			}
			request, options = openapi.ReplacePoolMachines(cluster), []remote.Option{remote.JSONBody(body)}
		}
		m, said, err := asked[pool.PoolMachines](c.Context(), s, request, options...)
		if err != nil {
			if tree != nil {
				err = remote.Located(tree, err)
			}
			return document.OfFile(label, err)
		}
		return out.Write(c, map[string]shell.Form{"table": tables.PoolMachines(m).Text, "json": remote.Indented(said.Body)})
	})
}

// machineList is a file of machines.
type machineList struct {
	Machines []pool.PoolMachine `json:"machines"`
}

func machinesOf(core, accelerators map[string]int64, since string) ([]byte, error) {
	list := machineList{Machines: []pool.PoolMachine{}}
	var began *time.Time
	if since != "" {
		text, _ := shell.MomentOf(since)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return nil, shell.Fail(shell.ExitUsage, fmt.Errorf("--since is %q; write a time like 2026-01-31T06:00:00Z", since))
		}
		began = &at
	}
	for _, x := range []struct {
		as     string
		counts map[string]int64
	}{{pool.AsCore, core}, {pool.AsAccelerator, accelerators}} {
		for name, n := range x.counts {
			list.Machines = append(list.Machines, pool.PoolMachine{Type: name, As: x.as, Count: n, Since: began})
		}
	}
	return json.Marshal(list)
}

func poolSampleCommand() *cobra.Command {
	var out shell.Output
	var at string
	c := &cobra.Command{
		Use: "sample GB --cluster CLUSTER", Short: "Say how much data a cluster has, before copies",
		Example: "  headroom batch pool sample 4250 --cluster shop", Args: cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&at, "at", "", "the `time` when it was as much (default now)")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, args []string) error {
		gb, err := strconv.ParseFloat(args[0], 64)
		if err != nil {
			return shell.Fail(shell.ExitUsage, fmt.Errorf("%q is no number of gigabytes", args[0]))
		}
		sample := map[string]any{"data_gb": json.RawMessage(strconv.FormatFloat(gb, 'g', -1, 64))}
		if at != "" {
			sample["at"], _ = shell.MomentOf(at)
		}
		body, err := json.Marshal(map[string]any{"samples": []any{sample}})
		if err != nil {
			return shell.Fail(shell.ExitUsage, fmt.Errorf("%q is no number of gigabytes", args[0]))
		}
		said, err := s.Call(c.Context(), openapi.AddStorageSamples(cluster), remote.JSONBody(body))
		if err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{"table": shell.SayIt("Cluster %s has %s GB.", shell.Shown(cluster), strconv.FormatFloat(gb, 'f', -1, 64)), "json": remote.Indented(said.Body)})
	})
}

func poolSamplesCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "samples --cluster CLUSTER", Short: "List how much data a cluster had, the newest first", Args: cobra.NoArgs}
	out.AddFlags(c, "table", "json", "csv")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, _ []string) error {
		l := remote.List{As: reflect.TypeFor[pool.StorageSample](), Columns: []string{"at", "data_gb", "sampled_by"}, None: "Nobody has said how much data there is."}
		return remote.WriteList(c, s, out, l, openapi.ListStorageSamples(cluster))
	})
}

func poolBasisCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "basis --cluster CLUSTER", Short: "Show what a cluster's pool would be planned by now, and where that is known from", Args: cobra.NoArgs,
		Long: `Shows what a cluster's pool would be planned by now, and where that is known from. As JSON, "problem" is what "batch
pool rounds" takes.`}
	out.AddFlags(c, "table", "json")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, _ []string) error {
		b, said, err := asked[pool.PoolBasis](c.Context(), s, openapi.GetPoolBasis(cluster))
		if err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{"table": func(w io.Writer) error { return tables.PoolSources(w, b.Sources) }, "json": remote.Indented(said.Body)})
	})
}

func poolCurrentCommand() *cobra.Command {
	var out shell.Output
	var number int64
	c := &cobra.Command{Use: "current --cluster CLUSTER", Short: "Show what to rent and to give back, and why", Args: cobra.NoArgs,
		Long: "Shows the current plan of a cluster's pool: what to rent and to give back at which time, the rounds, and where its\nfigures come from."}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().Int64Var(&number, "number", 0, "the plan of this `number` and not the current one")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, _ []string) error {
		type stored struct {
			Number    int64                `json:"number"`
			Plan      pool.PoolSchedule    `json:"plan"`
			Freshness *plans.PoolFreshness `json:"freshness"`
		}
		request := openapi.GetCurrentPoolPlan(cluster)
		if number != 0 {
			request = openapi.GetPoolPlan(cluster, number)
		}
		p, said, err := asked[stored](c.Context(), s, request)
		if err != nil {
			return err
		}
		return writePool(c, out, p.Plan.Status, map[string]shell.Form{
			"table": func(w io.Writer) error {
				if err := shell.SayIt("Plan %d.%s", p.Number, freshly(p.Freshness))(w); err != nil {
					return err
				}
				return tables.PoolSchedule(w, p.Plan)
			},
			"json": remote.Indented(said.Body), "csv": tables.PoolSteps(p.Plan).CSV,
		})
	})
}

// freshly says how fresh a current plan is.
func freshly(f *plans.PoolFreshness) string {
	if f == nil {
		return ""
	}
	said := fmt.Sprintf(" Confirmed at %s.", f.ConfirmedAt.UTC().Format(time.RFC3339))
	if f.Stale {
		said += " It is stale."
	}
	if f.LastAttempt != nil && f.LastAttempt.Failed {
		said += " A newer one could not be made: " + shell.Shown(f.LastAttempt.Detail)
	}
	return said
}

func poolHistoryCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "history --cluster CLUSTER", Short: "List the plans of a cluster's pool, the newest first", Args: cobra.NoArgs}
	out.AddFlags(c, "table", "json", "csv")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, _ []string) error {
		l := remote.List{As: reflect.TypeFor[pool.PoolPlanSummary](), Columns: []string{"number", "at", "reason", "status", "cost", "currency", "from", "until", "rounds", "steps"}, None: "The pool has not been planned."}
		return remote.WriteList(c, s, out, l, openapi.ListPoolPlans(cluster))
	})
}

func poolScalingCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "scaling --cluster CLUSTER", Short: "Show what autoscalers of a cluster's pool are told", Args: cobra.NoArgs}
	out.AddFlags(c, "table", "json")
	return ofCluster(c, func(c *cobra.Command, s *remote.Service, cluster string, _ []string) error {
		scaling, said, err := asked[plans.PoolScaling](c.Context(), s, openapi.GetPoolScaling(cluster))
		if err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{"table": func(w io.Writer) error { return tables.PoolScaling(w, scaling) }, "json": remote.Indented(said.Body)})
	})
}
