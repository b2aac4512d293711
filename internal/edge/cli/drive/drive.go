// Package drive holds the commands that carry plans out in the engines that run the jobs.
package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/core/capacity"
	"headroom/internal/edge/cli/remote"
	"headroom/internal/edge/cli/shell"
	"headroom/internal/service/plans"
	"headroom/internal/slots/drive"
	"headroom/internal/slots/drive/slurm"
	"headroom/openapi"
)

// Commands returns the commands that drive engines.
func Commands() []*cobra.Command {
	c := remote.Group("drive", "Carry a cluster's plan out in the engine that runs its jobs", `

In Slurm a driver changes limits that Slurm keeps by itself, so that they hold while the driver or the server is away.
An application of Spark is started with the executors of the plan. No job is ever cancelled.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(slurmCommand(&to), sparkCommand(&to))
	return []*cobra.Command{c}
}

// driveFlags holds the flags of every driver.
type driveFlags struct {
	dryRun, once bool
	every        time.Duration
}

func slurmCommand(to *remote.Connection) *cobra.Command {
	var f driveFlags
	var licences map[string]string
	c := &cobra.Command{
		Use: "slurm CLUSTER", Short: "Let as many jobs of each class run in Slurm as the plan admits",
		Long: `Lets as many jobs of each class run in Slurm as the current plan admits; the others stay pending, and say why.

A class is a licence of Slurm. Write into slurm.conf as many as could ever be of use, and let jobs ask for one:

  Licenses=nightly-etl:1000,ad-hoc:1000
  sbatch -L nightly-etl:1 job.sh

The driver keeps back those beyond the plan by a reservation of each licence, headroom-nightly-etl. A change takes
20 ms and ends no job: where more run than the plan admits, none starts until they have ended. Waiting jobs have the
reason as their comment (squeue -o "%i %T %k"), unless their users gave them another. deploy/slurm has a job_submit plug-in that gives jobs the
licence of their partition.

Run it as a Slurm operator where scontrol and squeue are. A key of the role viewer is enough. To stop driving, end it
and delete the reservations: scontrol delete ReservationName=headroom-nightly-etl.`,
		Example: "  headroom drive slurm shop --dry-run\n" +
			"  headroom drive slurm shop --every 10s --licence nightly-etl=etl",
		Args: cobra.ExactArgs(1),
	}
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say once what would be changed, and change nothing")
	c.Flags().BoolVar(&f.once, "once", false, "change what differs once, and end")
	c.Flags().DurationVar(&f.every, "every", 10*time.Second, "how long to wait between looks at plan and engine")
	c.Flags().StringToStringVar(&licences, "licence", nil, "the licence of a class, as `class=licence` (default the class's name)")
	c.PreRunE = func(*cobra.Command, []string) error {
		if f.every < time.Second {
			return fmt.Errorf("--every is %s; give at least 1s", f.every)
		}
		return nil
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		return f.run(c, s, args[0], &slurm.Slurm{Licences: licences})
	})
}

// run drives an engine once, or until it is interrupted.
func (f *driveFlags) run(c *cobra.Command, s *remote.Service, cluster string, engine drive.Engine) error {
	log := slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
	steps := 0
	d := drive.Driver{
		Plan: func(ctx context.Context) (drive.Plan, error) { return currentPlan(ctx, s, cluster) }, Engine: engine, DryRun: f.dryRun,
		Did: func(step drive.Step, dry bool) {
			steps++
			tell(c.OutOrStdout(), step, dry)
		},
		Warn: func(sentence string, err error) {
			switch {
			case err == nil:
				log.Warn(shell.Shown(sentence))
			case !f.dryRun && !f.once: // else it is the command's own error
				log.Warn(shell.Shown(sentence), "error", err)
			}
		},
	}
	if !f.dryRun && !f.once {
		shell.OutliveReaders() // the engine would be left alone
		if err := shell.Notify(shell.NotifyReady); err != nil {
			log.Warn("the supervisor was not told", "error", err)
		}
		d.Run(c.Context(), f.every)
		return nil
	}
	err := d.Turn(c.Context())
	if err == nil && steps == 0 {
		fmt.Fprintln(c.OutOrStdout(), "The engine keeps to the plan already.")
	}
	return err
}

// tell says what was done, or would be.
func tell(w io.Writer, step drive.Step, dry bool) {
	switch {
	case step.Job != "" && step.Sentence == "":
		fmt.Fprintf(w, "%s: job %s waits no longer for a place\n", shell.Shown(step.Class), shell.Shown(step.Job))
	case step.Job != "":
		fmt.Fprintf(w, "%s: job %s is told: %s\n", shell.Shown(step.Class), shell.Shown(step.Job), shell.Shown(step.Sentence))
	case dry:
		fmt.Fprintf(w, "%s: %d places now, %d by the plan\n", shell.Shown(step.Class), step.From, step.To)
	default:
		fmt.Fprintf(w, "%s: %d places, %d before\n", shell.Shown(step.Class), step.To, step.From)
	}
}

func noPlan(cluster string) error {
	return errors.New("no plan keeps every promise; \"headroom plan explain " + cluster + "\" says why")
}

// currentPlan reads how many jobs of each class the current plan admits.
func currentPlan(ctx context.Context, s *remote.Service, cluster string) (drive.Plan, error) {
	p := drive.Plan{Places: map[string]int64{}}
	answer, err := s.Call(ctx, openapi.GetScaling(cluster, nil))
	if err != nil {
		return p, err
	}
	var now plans.Scaling
	if err := answer.Into(&now); err != nil {
		return p, err
	}
	if now.Status == capacity.InfeasibleStatus {
		return p, noPlan(cluster)
	}
	p.Number = now.Number
	for _, class := range now.Items {
		p.Places[class.Class] = int64(math.Floor(class.Admitted + 1e-9)) // a part of a job cannot run
	}
	return p, nil
}
