package live

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/place"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/slots/live"
	"example.org/headroom/openapi"
)

func liveJobSubmitCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var class string
	var maps, reduces int64
	var deadline time.Duration
	var weight float64
	c := &cobra.Command{
		Use: "submit CLUSTER NAME --maps N", Short: "Submit a job",
		Long: `Submits a job, whose tasks are handed to nodes from their next heartbeats on. Where the cluster admits jobs (see
"live policy edit --admission") one may be refused: then the exit code is 3, and the reason says what would help.`,
		Example: "  headroom live job submit shop 'etl of today' --class nightly-etl --maps 400 --reduces 20 --deadline 45m",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&class, "class", "", "its `class` (default its name)")
	c.Flags().Int64Var(&maps, "maps", 0, "how many maps it has")
	c.Flags().Int64Var(&reduces, "reduces", 0, "how many reduces")
	c.Flags().DurationVar(&deadline, "deadline", 0, "how long from now it must be done")
	c.Flags().Float64Var(&weight, "weight", 1, "its weight, where policies share")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("deadline") && deadline <= 0 {
			return shell.Fail(shell.ExitUsage, fmt.Errorf("--deadline is %s; it is how long from now the job must be done, as 30m", deadline))
		}
		job := map[string]any{"name": args[1], "maps": maps, "reduces": reduces, "weight": weight}
		if class != "" {
			job["class"] = class
		}
		if deadline > 0 {
			job["deadline_s"] = deadline.Seconds()
		}
		body, err := json.Marshal(job)
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		said, err := s.Call(c.Context(), openapi.CreateLiveJob(args[0]), remote.JSONBody(body))
		if err != nil {
			return err
		}
		var j live.LiveJob
		if err := said.Into(&j); err != nil {
			return err
		}
		refused := j.State == live.JobRefused && j.Admission != nil
		if refused && out.Format == "table" {
			return place.Refusal(*j.Admission)
		}
		due := ""
		if j.DeadlineAt != nil {
			due = ", due at " + j.DeadlineAt.UTC().Format(time.RFC3339)
		}
		tasks := "1 task"
		if n := j.Maps.Total + j.Reduces.Total; n != 1 {
			tasks = fmt.Sprintf("%d tasks", n)
		}
		err = out.Write(c, map[string]shell.Form{
			"table": shell.SayIt("Job %d of class %s is submitted with %s%s.", j.Number, shell.Shown(j.Class), tasks, due),
			"json":  remote.Indented(said.Body),
		})
		if err == nil && refused {
			err = place.Refusal(*j.Admission)
		}
		return err
	})
}

func liveJobListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var state string
	c := &cobra.Command{Use: "list CLUSTER", Short: "List jobs, the newest first", Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&state, "state", "", "only jobs in this `state`: active, done, failed or killed")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{As: reflect.TypeFor[live.LiveJob](),
			Columns: []string{"number", "name", "class", "state", "maps_total", "maps_done", "reduces_total", "reduces_done", "deadline_at",
				"late"}, None: "There is no job."}
		return remote.WriteList(c, s, out, l, openapi.ListLiveJobs(args[0], &openapi.ListLiveJobsQuery{State: state}))
	})
}

// jobNumber reads the number of a job.
func jobNumber(word string) (int64, error) {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < 1 {
		return 0, shell.Fail(shell.ExitUsage, fmt.Errorf("%q is no job's number; \"headroom live job list\" shows them", shell.Shown(word)))
	}
	return n, nil
}

func liveJobGetCommand(to *remote.Connection) *cobra.Command {
	c := &cobra.Command{Use: "get CLUSTER NUMBER", Short: "Show a job, as JSON", Args: cobra.ExactArgs(2)}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		number, err := jobNumber(args[1])
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		said, err := s.Call(c.Context(), openapi.GetLiveJob(args[0], number))
		if err != nil {
			return err
		}
		return remote.Indented(said.Body)(c.OutOrStdout())
	})
}

func liveJobKillCommand(to *remote.Connection) *cobra.Command {
	c := &cobra.Command{Use: "kill CLUSTER NUMBER", Short: "End a job before its time; its nodes are told to stop its tasks",
		Args: cobra.ExactArgs(2)}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		number, err := jobNumber(args[1])
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		if _, err := s.Call(c.Context(), openapi.KillLiveJob(args[0], number)); err != nil {
			return err
		}
		return shell.SayIt("Job %d is killed.", number)(c.OutOrStdout())
	})
}

func liveDecisionsCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var node, outcome string
	var job int64
	c := &cobra.Command{Use: "decisions CLUSTER", Short: "List which tasks were handed to which nodes and why, the newest first",
		Args: cobra.ExactArgs(1)}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&node, "node", "", "only to this `node`")
	c.Flags().Int64Var(&job, "job", 0, "only of the job with this `number`")
	c.Flags().StringVar(&outcome, "outcome", "", "only those that are running, done, failed or lost")
	most := 0
	c.Flags().IntVar(&most, "limit", 100, "how many at most; 0 is all")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		query := openapi.ListLiveDecisionsQuery{Node: node, Outcome: outcome}
		if c.Flags().Changed("job") {
			query.Job = strconv.FormatInt(job, 10)
		}
		l := remote.List{As: reflect.TypeFor[live.LiveDecision](),
			Columns: []string{"assignment", "at", "node", "job_name", "kind", "task", "outcome", "rule", "reason"},
			None:    "Nothing was handed out.", Most: most}
		return remote.WriteList(c, s, out, l, openapi.ListLiveDecisions(args[0], &query))
	})
}
