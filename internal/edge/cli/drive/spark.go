package drive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/edge/cli/place"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/internal/slots/drive/spark"
	"example.org/headroom/openapi"
)

// sparkRun holds the flags of an application of Spark.
type sparkRun struct {
	place.Run
	cluster, class, lastPlan string
}

func sparkCommand(to *remote.Connection) *cobra.Command {
	var r sparkRun
	var dryRun bool
	c := &cobra.Command{
		Use: "spark CLUSTER --class CLASS -- spark-submit [ARGUMENT…]", Short: "Run an application of Spark with the executors of the plan",
		Long: `Asks for a place of the class, runs the command with as many executors as the current plan has slots for one of its
jobs, frees the place at its end, and exits as it does. A slot is a task at a time: three slots are three executors of
one core, or with "spark-submit --executor-cores 3" one of three.

It sets spark.executor.instances, spark.executor.cores, spark.cores.max, spark.dynamicAllocation.maxExecutors, and
spark.headroom.class, by which "headroom history watch" knows the class of the event log. Of a master such as local[4]
it sets the number of threads. A command that sets the number of executors itself is refused. Where slots do not divide,
jobs in the first places have one more.

Where the job is refused nothing runs and the exit code is 3; with --wait it asks again. Where the server cannot
answer nothing runs either; with --last-plan FILE the file keeps each plan, and the application then runs by the last
one, without a place. SIGTERM and interrupts are handed on. A key of the role agent is enough.`,
		Example: "  headroom drive spark shop --class etl --dry-run -- spark-submit --master yarn etl.py\n" +
			"  headroom drive spark shop --class etl --wait 2h --last-plan /var/lib/etl/plan.json -- spark-submit --master yarn etl.py",
		Args: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 1 || len(args) < 2 {
				return errors.New("say \"spark CLUSTER --class CLASS -- spark-submit …\", with the two hyphens before the command")
			}
			return nil
		},
	}
	r.AddFlags(c)
	c.Flags().StringVar(&r.class, "class", "", "the application's `class`")
	c.Flags().StringVar(&r.lastPlan, "last-plan", "", "keep the plan in this `file`, and run by it, without a place, while the server cannot answer")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the command for the first job of the class and why, and run nothing")
	_ = c.MarkFlagRequired("class")
	shell.Require(c, "class")
	// Names are checked, the command's own arguments are not.
	c.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		return c.Parent().PersistentPreRunE(c, args[:1])
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		r.cluster = args[0]
		command, err := spark.Read(args[1:])
		if err != nil {
			return shell.Fail(shell.ExitUsage, err)
		}
		if !dryRun {
			return r.run(c, s, command, args[1:])
		}
		p, err := r.plan(c, s)
		if err != nil {
			return err
		}
		sized, why, err := r.size(p, command, 1)
		if err == nil {
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n%s\n", why, shell.Shown(sized.Shell()))
		}
		return err
	})
}

// run runs the application in a place.
func (r *sparkRun) run(c *cobra.Command, s *remote.Service, command spark.Command, words []string) error {
	if _, err := place.Command(c, words); err != nil { // before anybody else has to do without the place
		return err
	}
	held, err := r.Take(s, c, r.cluster, r.class, words[0])
	var p plans.Scaling
	switch {
	case err == nil:
		defer held.End(c.Context())
		p, err = r.plan(c, s)
	case place.Away(err) && r.lastPlan != "":
		held = &place.Place{}
	case place.Away(err):
		return shell.Fail(remote.ExitConnection, fmt.Errorf("%w\nNothing was run. With --wait it asks again; with --last-plan FILE it would run by the plan it read last", err))
	default:
		return err
	}
	if place.Away(err) && r.lastPlan != "" {
		away := err
		if p, err = r.kept(); err == nil {
			fmt.Fprintf(c.ErrOrStderr(), "headroom: The server does not answer (%s). The plan of %s counts.\n", shell.Shown(away.Error()), p.ConfirmedAt.UTC().Format(time.RFC3339))
		}
	}
	if err != nil {
		return err
	}
	running := held.Running
	if running == 0 { // without a place it takes no slot beyond an equal part
		running = math.MaxInt64
	}
	sized, why, err := r.size(p, command, running)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "headroom: %s\n", why)
	program, err := place.Command(c, sized.Words)
	if err != nil {
		return err
	}
	return held.Run(c.Context(), program)
}

// plan reads the class's part of the current plan, and keeps it in a file if one is given.
func (r *sparkRun) plan(c *cobra.Command, s *remote.Service) (p plans.Scaling, err error) {
	answer, err := s.Call(c.Context(), openapi.GetScaling(r.cluster, &openapi.GetScalingQuery{Class: r.class}))
	if err != nil {
		return p, err
	}
	if err := answer.Into(&p); err != nil || r.lastPlan == "" {
		return p, err
	}
	file := shell.Output{File: r.lastPlan}
	if err := file.Deliver(nil, func(w io.Writer) error { _, err := w.Write(answer.Body); return err }); err != nil {
		fmt.Fprintf(c.ErrOrStderr(), "headroom: The plan is not kept: %s\n", shell.Shown(err.Error()))
	}
	return p, nil
}

// kept reads the plan that was read last.
func (r *sparkRun) kept() (p plans.Scaling, err error) {
	text, err := os.ReadFile(filepath.Clean(r.lastPlan))
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("the server does not answer, and no plan has been kept in %s yet; start the server, or run the command without Headroom", r.lastPlan)
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("the plan in %s cannot be read: %w; remove the file, and the next run writes it again", r.lastPlan, err)
	}
	return p, nil
}

// size gives the command the executors of one job. running counts the jobs of the class that hold a place.
func (r *sparkRun) size(p plans.Scaling, command spark.Command, running int64) (sized spark.Sized, why string, err error) {
	if p.Status == capacity.InfeasibleStatus {
		return sized, "", noPlan(r.cluster)
	}
	class, known := p.Classes[r.class]
	jobs := math.Floor(class.Admitted + 1e-9)
	switch name := shell.Shown(r.class); {
	case !known:
		return sized, "", fmt.Errorf("plan %d has no class %q; \"headroom class list %s\" lists them", p.Number, name, r.cluster)
	case jobs < 1:
		return sized, "", fmt.Errorf("plan %d has no place for jobs of class %q; \"headroom plan explain %s %s\" says why", p.Number, name, r.cluster, name)
	case class.SlotsMap == 0:
		return sized, "", fmt.Errorf("plan %d has no slots for class %q, which says only how many VMs a job takes; give it a profile and a deadline", p.Number, name)
	case class.SlotsReduce > 0:
		return sized, "", fmt.Errorf("plan %d has maps and reduces for class %q, and Spark's applications have stages; make its profile of Spark's history", p.Number, name)
	}
	slots, equal := spark.Share(class.SlotsMap, class.Admitted, running)
	if sized, err = command.With(r.class, slots); err != nil {
		return sized, "", err
	}
	why = fmt.Sprintf("%s: plan %d has %s for %s at once, %d for this one: %s with %s each.", shell.Shown(r.class), p.Number,
		counted(class.SlotsMap, "slot"), counted(int64(jobs), "job"), slots, counted(sized.Executors, "executor"), counted(sized.Cores, "core"))
	if slots := float64(sized.Tasks); slots < equal-1e-9 {
		why += fmt.Sprintf(" An equal part would be %.3g slots, so it may take up to %.2g times as long as planned.", equal, equal/slots)
	}
	return sized, why, nil
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
