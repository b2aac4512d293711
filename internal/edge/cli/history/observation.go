package history

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/words"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/openapi"
)

func observationCommand() *cobra.Command {
	c := remote.Group("observation", "Say what really runs, and see how far that is from the plan", `

Whoever knows what runs, such as a job of cron on the cluster, says so with "create"; the answer holds it
against the plan that was current then. Prometheus is shown the latest, and Headroom's rules warn when
it is more than 10 % away from the plan.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(observationAddCommand(&to), observationListCommand(&to), observationLatestCommand(&to))
	return c
}

func observationAddCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var vms, mapSlots, reduceSlots int64
	var at string
	var moment time.Time
	c := &cobra.Command{
		Use: "create CLUSTER --vms N", Short: "Say how many VMs run, and how many slots do work",
		Example: "  headroom history observation create shop --vms 46 --map-slots 60 --reduce-slots 20",
		Args:    cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().Int64Var(&vms, "vms", 0, "how many VMs run, whoever pays for them")
	shell.Require(c, "vms")
	c.Flags().Int64Var(&mapSlots, "map-slots", 0, "how many map slots do work, in all VMs together")
	c.Flags().Int64Var(&reduceSlots, "reduce-slots", 0, "how many reduce slots do work")
	c.Flags().StringVar(&at, "at", "", "the `time` when that was so, at most 7 days ago (default now)")
	c.MarkFlagsRequiredTogether("map-slots", "reduce-slots")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if !c.Flags().Changed("vms") {
			return errors.New("say with --vms how many VMs run; 0 is a number, too")
		}
		if at == "" {
			return nil
		}
		text, _ := shell.MomentOf(at)
		var err error
		if moment, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return fmt.Errorf("--at is %q; write a time like 2026-01-31T06:00:00Z or 2026-01-31", at)
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		request := map[string]any{"vms": vms}
		if c.Flags().Changed("map-slots") {
			request["slots"] = plans.BusySlots{Map: mapSlots, Reduce: reduceSlots}
		}
		if !moment.IsZero() {
			request["at"] = moment
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		return printObservation(c, s, out, openapi.CreateObservation(args[0]), remote.JSONOf(request))
	})
}

func observationLatestCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{Use: "latest CLUSTER", Short: "Show the latest observation", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		return printObservation(c, s, out, openapi.GetObservation(args[0], "latest"))
	})
}

// printObservation prints the one that is answered.
func printObservation(c *cobra.Command, s *remote.Service, out shell.Output, request openapi.Request, options ...remote.Option) error {
	a, err := s.Call(c.Context(), request, options...)
	if err != nil {
		return err
	}
	var o plans.Observation
	if err := a.Into(&o); err != nil {
		return err
	}
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error { _, err := fmt.Fprintln(w, observed(o)); return err },
		"json":  remote.Indented(a.Body),
	})
}

// observed sums an observation up in a sentence or two.
func observed(o plans.Observation) string {
	said := fmt.Sprintf("At %s %s ran", o.At.UTC().Format(time.RFC3339), fault.Plural(o.VMs, "VM"))
	switch {
	case o.PlanNumber == nil || o.PlannedVMs == nil || o.DriftVMs == nil:
		said += "; there was no plan."
	case *o.DriftVMs == 0:
		said += fmt.Sprintf(", as plan %d has it.", *o.PlanNumber)
	default:
		word := "more"
		if *o.DriftVMs < 0 {
			word = "fewer"
		}
		said += fmt.Sprintf(", %s %s than the %s of plan %d", vmCount(math.Abs(*o.DriftVMs)), word, vmCount(*o.PlannedVMs), *o.PlanNumber)
		if o.PlanVMs != nil {
			said += " as autoscalers are told"
		}
		if o.DriftRatio != nil {
			said += fmt.Sprintf(" (%+.1f %%)", 100**o.DriftRatio)
		}
		said += "."
	}
	if o.PlanStale != nil && *o.PlanStale {
		said += " The plan was stale."
	}
	if o.Utilization != nil {
		said += fmt.Sprintf(" Busy slots took %s of them.", words.Share(*o.Utilization))
	}
	if o.PlanVMs != nil && *o.PlanVMs < *o.PlannedVMs-1 {
		said += fmt.Sprintf(" The plan itself has %s VMs; the decrease is held back.", vmCount(*o.PlanVMs))
	}
	for _, w := range o.Warnings {
		said += "\nWarning: " + w.Detail
	}
	return said
}

// vmCount is a figure with as many places as it has, nine at most.
func vmCount(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e9)/1e9, 'f', -1, 64)
}

func observationListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var filter remote.ForecastFilter // without its class
	var most int
	c := &cobra.Command{Use: "list CLUSTER", Short: "List observations, the newest first", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&filter.From, "from", "", "only of this `time` or later, such as 2026-01-31 or 2026-01-31T06:00:00Z")
	c.Flags().StringVar(&filter.Until, "until", "", "only of before this `time`")
	c.Flags().IntVar(&most, "limit", 100, "how many; 0 is all of them")
	c.PreRunE = func(*cobra.Command, []string) error {
		if most < 0 {
			return fmt.Errorf("--limit is %d; give 1 or more, or 0 for all", most)
		}
		if out.Format == "csv" && most > remote.LargestPage {
			return fmt.Errorf("--limit is %d; as CSV give %d at most, or 0 for all", most, remote.LargestPage)
		}
		return filter.Check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[plans.Observation](), Most: most, None: "Nobody has said what runs.",
			Columns: []string{"at", "vms", "plan_number", "planned_vms", "drift_vms", "drift_ratio", "utilization", "observed_by"}}
		return remote.WriteList(c, s, out, l, openapi.ListObservations(args[0],
			&openapi.ListObservationsQuery{From: filter.From, Until: filter.Until}))
	})
}
