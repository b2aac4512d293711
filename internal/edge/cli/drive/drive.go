// Package drive holds the commands that carry plans out in the engines that run the jobs.
package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/clusters"
	"example.org/headroom/internal/service/heartbeat"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/slots/drive"
	"example.org/headroom/internal/slots/drive/slurm"
	"example.org/headroom/openapi"
)

// Command returns the commands that drive engines.
func Command() *cobra.Command {
	c := remote.Group("drive", "Carry a cluster's plan out in the engine that runs its jobs", `

In Slurm and YARN a driver changes limits that these keep by themselves, so that they hold while the driver or the server is away.
An application of Spark is started with the executors of the plan. No job is ever cancelled.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(slurmCommand(&to), sparkCommand(&to), yarnCommand(&to))
	return c
}

// driveFlags holds the flags of every driver.
type driveFlags struct {
	dryRun, once bool
	every, lead  time.Duration
	nodes        map[string]string // where the nodes of VM types are, in the engine's words
	classFlag    string            // names what classes are in the engine, if they are not called as they are:
	classes      map[string]string
}

// add adds the flags that every driver has.
func (f *driveFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say once what would be changed, and change nothing")
	c.Flags().BoolVar(&f.once, "once", false, "change what differs once, and end")
	c.Flags().DurationVar(&f.every, "every", 10*time.Second, "how long to wait between looks at plan and engine")
}

func (f *driveFlags) check() error {
	if f.every < time.Second {
		return fmt.Errorf("--every is %s; give at least 1s", f.every)
	}
	return nil
}

func slurmCommand(to *remote.Connection) *cobra.Command {
	f := driveFlags{classFlag: "licence"}
	c := &cobra.Command{
		Use: "slurm CLUSTER", Short: "Let as many jobs of each class run in Slurm as the plan admits",
		Long: `Lets as many jobs of each class run in Slurm as the current plan admits; the others stay pending, and say why.

A class is a licence of Slurm. Write into slurm.conf as many as could ever be of use, and let jobs ask for one:

  Licenses=nightly-etl:1000,ad-hoc:1000
  sbatch -L nightly-etl:1 job.sh

The driver keeps back those beyond the plan by a reservation of each licence, headroom-nightly-etl. A change takes
20 ms and ends no job: where more run than the plan admits, none starts until they have ended. Waiting jobs have the
reason as their comment (squeue -o "%i %T %k"), unless their users gave them another. Jobs without a licence are not
held: deploy/slurm has a job_submit plug-in that gives jobs the licence of their partition.

With --nodes the elastic nodes of a partition are as many as the plan has VMs of a type. They are asked for before they
are needed, and given back without a job.

Jobs that ended become past executions of their classes, and each minute what runs becomes an observation.

Run it as a Slurm operator where scontrol and squeue are, with a key of the role agent; for --dry-run a viewer's
is enough. To stop driving, end it and delete the reservations: scontrol delete ReservationName=headroom-nightly-etl.`,
		Example: "  headroom drive slurm shop --dry-run\n" +
			"  headroom drive slurm shop --every 10s --licence nightly-etl=etl\n" +
			"  headroom drive slurm shop --nodes m5.xlarge=cloud --lead 10m",
		Args: cobra.ExactArgs(1),
	}
	f.add(c)
	c.Flags().StringToStringVar(&f.classes, f.classFlag, nil, "the licence of a class, as `class=licence` (default the class's name)")
	c.Flags().StringToStringVar(&f.nodes, "nodes", nil, "let the nodes of a partition be as many as the plan has VMs, as `type=partition`")
	c.Flags().DurationVar(&f.lead, "lead", 5*time.Minute, "how long before they are needed nodes are asked for")
	c.PreRunE = func(*cobra.Command, []string) error {
		if f.lead < 0 || f.lead > 24*time.Hour {
			return fmt.Errorf("--lead is %s; give 0s to 24h", f.lead)
		}
		return f.check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		return f.run(c, s, args[0], "slurm", &slurm.Slurm{Licences: f.classes, Partitions: f.nodes})
	})
}

// run drives an engine once, or until it is interrupted.
func (f *driveFlags) run(c *cobra.Command, s *remote.Service, cluster, name string, engine drive.Engine) error {
	log := slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
	steps, warned := 0, false
	by := planned{s: s, cluster: cluster, types: slices.Sorted(maps.Keys(f.nodes)), lead: f.lead}
	if err := f.checkNames(c.Context(), &by, log); err != nil {
		return shell.Fail(shell.ExitUsage, err)
	}
	d := drive.Driver{
		Plan: by.plan, Engine: engine, DryRun: f.dryRun,
		Did: func(step drive.Step, dry bool) {
			steps++
			tell(c.OutOrStdout(), step, dry)
		},
		Warn: func(sentence string, err error) {
			warned = true
			switch {
			case err == nil:
				log.Warn(shell.Shown(sentence))
			case !f.dryRun && !f.once: // else it is the command's own error
				if strings.Contains(sentence, err.Error()) {
					log.Warn(shell.Shown(sentence))
				} else {
					log.Warn(shell.Shown(sentence), "error", err)
				}
			}
		},
	}
	d.Saw = func(p drive.Plan, s drive.State) { saw(c.OutOrStdout(), p, s, f.lead) }
	d.Tell = func(sentence string) { log.Info(shell.Shown(sentence)) }
	d.Ended = func(ctx context.Context, list string) error {
		return keepEnded(ctx, c.OutOrStdout(), log, s, cluster, list)
	}
	d.Observed = func(ctx context.Context, nodes, processors int64) error {
		_, err := s.Call(ctx, openapi.CreateObservation(cluster), remote.JSONOf(map[string]any{"vms": nodes, "slots": plans.BusySlots{Map: processors}}))
		return err
	}
	d.Lead = lead(s, cluster, name)
	if !f.dryRun && !f.once {
		shell.OutliveReaders() // the engine would be left alone
		if err := shell.Notify(shell.NotifyReady); err != nil {
			log.Warn("the supervisor was not told", "error", err)
		}
		d.Run(c.Context(), f.every)
		return nil
	}
	if !f.dryRun {
		switch other, err := d.Lead(c.Context(), time.Minute); {
		case err != nil:
			return err
		case other != "":
			return fmt.Errorf("another driver acts, %s; end it first, or look with --dry-run", shell.Shown(other))
		}
		defer func() { _, _ = d.Lead(c.Context(), 0) }()
	}
	err := d.Turn(c.Context())
	switch {
	case err != nil || steps > 0:
	case warned:
		fmt.Fprintln(c.OutOrStdout(), "Nothing to change, apart from the warnings above.")
	default:
		fmt.Fprintln(c.OutOrStdout(), "The engine keeps to the plan already.")
	}
	return err
}

// checkNames refuses types and classes that flags name and the cluster does not have. Of a class that was deleted a driver
// that is started again only warns, for the sake of the others. A server that is away is told of later.
func (f *driveFlags) checkNames(ctx context.Context, by *planned, log *slog.Logger) error {
	p, err := by.plan(ctx)
	if err == nil {
		err = by.known("class", f.classFlag, slices.Sorted(maps.Keys(f.classes)), slices.Sorted(maps.Keys(p.Places)))
		if err != nil && !f.dryRun && !f.once {
			log.Warn(shell.Shown(fault.Capital(err.Error())))
			return nil
		}
	}
	if unknown := (unknownName{}); errors.As(err, &unknown) {
		return err
	}
	return nil
}

// tell says what was done, or would be.
func tell(w io.Writer, step drive.Step, dry bool) {
	switch {
	case step.Type != "":
		verb := map[[2]bool]string{{true, true}: "would be asked for", {false, true}: "are asked for", {true, false}: "would be given back", {false, false}: "are given back"}[[2]bool{dry, step.To > step.From}]
		fmt.Fprintf(w, "%s: %s now, %d by the plan: %s %s\n", shell.Shown(step.Type), shell.Counted(int64(step.From), "node"), step.To, shell.Shown(strings.Join(step.Nodes, ",")), verb)
	case step.Job != "" && step.Sentence == "":
		fmt.Fprintf(w, "%s: the sentence at job %s is taken away\n", shell.Shown(step.Class), shell.Shown(step.Job))
	case step.Job != "":
		fmt.Fprintf(w, "%s: job %s is told: %s\n", shell.Shown(step.Class), shell.Shown(step.Job), shell.Shown(step.Sentence))
	case dry:
		fmt.Fprintf(w, "%s: %s now, %d%s by the plan\n", shell.Shown(step.Class), before(step), step.To, with(step.Room))
	default:
		over := ""
		if step.Taken > 0 {
			over = fmt.Sprintf("; %d are taken, and none starts until %d are free", step.Taken, step.Taken-step.To+1)
		}
		fmt.Fprintf(w, "%s: %s%s, %s before%s\n", shell.Shown(step.Class), shell.Counted(step.To, "place"), with(step.Room), before(step), over)
	}
}

// saw says what a dry run saw of each class, and which plans count for nodes.
func saw(w io.Writer, p drive.Plan, s drive.State, lead time.Duration) {
	for _, class := range slices.Sorted(maps.Keys(s.Limits)) {
		waiting := int64(0)
		for _, j := range s.Jobs {
			if j.Class == class && j.Waits > 0 {
				waiting++
			}
		}
		fmt.Fprintf(w, "%s: %s", shell.Shown(class), shell.Shown(s.Limits[class].By))
		if s.Running != nil { // otherwise the engine does not tell
			fmt.Fprintf(w, "; %s taken, %s waiting", shell.Counted(s.Running[class], "place"), shell.Counted(waiting, "job"))
		}
		if places, taken := p.Places[class], s.Running[class]; taken > places {
			fmt.Fprintf(w, "; none starts until %d are free, as the plan has %s", taken-places+1, shell.Counted(places, "place"))
		}
		fmt.Fprintln(w)
	}
	if len(p.VMs) > 0 && lead > 0 {
		until := time.Now().Add(lead).UTC().Format("2006-01-02 15:04 UTC")
		fmt.Fprintf(w, "nodes: the most VMs of the plans from now until %s count (--lead %s)\n", until, lead)
	}
}

// before says what limited a class before a step.
func before(step drive.Step) string {
	if step.From == drive.Unlimited {
		return "any number of places" + with(step.Before)
	}
	return shell.Counted(step.From, "place") + with(step.Before)
}

// with adds what a class may take of the cluster, where the engine limits that.
func with(room string) string {
	if room == "" {
		return ""
	}
	return " with " + shell.Shown(room)
}

// lead asks the server to let this process alone act in an engine.
func lead(s *remote.Service, cluster, engine string) func(context.Context, time.Duration) (other string, err error) {
	host, _ := os.Hostname() // without a name the rest tells processes apart
	self := fmt.Sprintf("%.100q process %d %s", host, os.Getpid(), uuid.NewString())
	return func(ctx context.Context, lasts time.Duration) (string, error) {
		answer, err := s.Call(ctx, openapi.HoldDriver(cluster, engine), remote.JSONOf(heartbeat.DriverClaim{Holder: self, TTLSeconds: lasts.Seconds()}))
		if err != nil {
			return "", err
		}
		var d heartbeat.Driver
		if err := answer.Into(&d); err != nil || d.Held || lasts == 0 {
			return "", err
		}
		holder := d.Holder
		if at := strings.LastIndex(holder, " "); at > 0 { // what tells processes of one number apart says nothing to people
			holder = holder[:at]
		}
		return holder, nil
	}
}

// keepEnded keeps jobs that have ended as past executions of their classes.
func keepEnded(ctx context.Context, w io.Writer, log *slog.Logger, s *remote.Service, cluster, list string) error {
	answer, err := s.Call(ctx, openapi.ImportHistory(cluster, nil), remote.Content("text/plain", []byte(list)))
	if err != nil {
		return err
	}
	var made clusters.HistoryImport
	if err := answer.Into(&made); err != nil {
		return err
	}
	if made.Created > 0 {
		fmt.Fprintf(w, "kept %s that ended\n", fault.Plural(made.Created, "job"))
	}
	if n := made.Refused.Count; n > 0 {
		log.Warn(fmt.Sprintf("%s not kept", fault.Plural(n, "job")), "first", shell.Shown(made.Refused.First[0].Detail))
	}
	return nil
}
