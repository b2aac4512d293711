package live

import (
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/place"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/openapi"
)

func admissionCommand() *cobra.Command {
	c := remote.Group("admission", "Ask whether a job may start, and say that it runs", `

A job that may start holds a lease: a place among as many as the current plan admits of its class at
once. It must be renewed by heartbeats, and ends when the job does, or expires. "run" does all of it
around a command.

Exit codes: 0 admitted, 3 refused.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(admissionRunCommand(&to), admissionAskCommand(&to), admissionHeartbeatCommand(&to), admissionEndCommand(&to),
		admissionListCommand(&to))
	return c
}

func admissionAskCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var lease place.Lease
	var quiet bool
	c := &cobra.Command{
		Use: "ask CLUSTER CLASS", Short: "Ask for a place for one job",
		Long: `Asks for a place for one job of a class. Exit code 0: it may start, and holds the lease that is printed;
3: it may not, the reason is on standard error.`,
		Example: "  lease=$(headroom live admission ask shop nightly-etl -q) && start-the-job",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	lease.AddFlags(c, "none")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print the lease's id alone")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		a, text, err := lease.Ask(s, c, args[0], args[1])
		if err != nil {
			return err
		}
		if !a.Admitted && (out.Format == "table" || quiet) {
			return place.Refusal(a)
		}
		err = out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				if quiet {
					_, err := fmt.Fprintln(w, a.ID)
					return err
				}
				_, err := fmt.Fprintf(w, "Admitted until %s by lease %s; %d of %d jobs of class %s run.\n", a.ExpiresAt.UTC().Format(time.RFC3339),
					a.ID, a.Running, a.Limit, shell.Shown(a.Class))
				if d := a.Deadline; d != nil && err == nil {
					_, err = fmt.Fprintf(w, "It is due at %s. %s\n", a.DeadlineAt.UTC().Format(time.RFC3339), d.Facts(a.Class).Text())
				}
				return err
			},
			"json": remote.Indented(text),
		})
		if err == nil && !a.Admitted {
			err = place.Refusal(a)
		}
		return err
	})
}

func admissionHeartbeatCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var lease place.Lease
	var left tasksLeft
	c := &cobra.Command{
		Use: "heartbeat CLUSTER LEASE", Short: "Say that a job still runs",
		Long: "Says that a job still runs: its lease lives on. A lease that is over never comes back; that is an error.",
		Args: cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	lease.AddTTL(c, 0)
	left.add(c)
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		a, err := s.Call(c.Context(), openapi.KeepAdmission(args[0], args[1]), remote.JSONOf(heartbeat(c, lease.TTL, left)))
		if err != nil {
			return err
		}
		var l live.Lease
		if err := a.Into(&l); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "Lease %s lives until %s.\n", shell.Shown(l.ID), l.ExpiresAt.UTC().Format(time.RFC3339))
				return err
			},
			"json": remote.Indented(a.Body),
		})
	})
}

// tasksLeft returns the tasks left of a job with a promised deadline.
type tasksLeft struct{ maps, reduces int64 }

func (l *tasksLeft) add(c *cobra.Command) {
	c.Flags().Int64Var(&l.maps, "maps-left", 0, "how many maps of a job with a deadline are not done")
	c.Flags().Int64Var(&l.reduces, "reduces-left", 0, "how many reduces are not")
}

func heartbeat(c *cobra.Command, ttl time.Duration, left tasksLeft) live.LeaseBeat {
	h := live.LeaseBeat{TTLSeconds: ttl.Seconds()}
	if c.Flags().Changed("maps-left") {
		h.Maps = &left.maps
	}
	if c.Flags().Changed("reduces-left") {
		h.Reduces = &left.reduces
	}
	return h
}

func admissionEndCommand(to *remote.Connection) *cobra.Command {
	c := &cobra.Command{Use: "end CLUSTER LEASE", Short: "Say that a job has ended; its place is free at once", Args: cobra.ExactArgs(2)}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		if _, err := s.Call(c.Context(), openapi.EndAdmission(args[0], args[1])); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "Lease %s is over.\n", shell.Shown(args[1]))
		return err
	})
}

func admissionListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var class string
	var byClass bool
	c := &cobra.Command{
		Use: "list CLUSTER", Short: "List the jobs that hold a lease, or count them by class", Args: cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&class, "class", "", "only leases of this `class`")
	c.Flags().BoolVar(&byClass, "by-class", false, "count them: how many run, may run, and places are free")
	c.MarkFlagsMutuallyExclusive("class", "by-class")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		if byClass {
			l := remote.List{As: reflect.TypeFor[live.ClassAdmissions](), Columns: []string{"class", "running", "limit", "free", "next_expiry"},
				None: "There is no plan yet, and no job runs."}
			return remote.WriteList(c, s, out, l, openapi.ListAdmissionCounts(args[0]))
		}
		l := remote.List{As: reflect.TypeFor[live.Lease](),
			Columns: []string{"id", "class", "holder", "admitted_by", "admitted_at", "expires_at", "job", "deadline_at", "maps", "reduces"},
			None:    "No job holds a lease."}
		return remote.WriteList(c, s, out, l, openapi.ListAdmissions(args[0], &openapi.ListAdmissionsQuery{Class: class}))
	})
}
