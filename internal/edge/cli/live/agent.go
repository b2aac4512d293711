package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/slots/agent"
	"example.org/headroom/openapi"
)

// agentFlags holds the flags of the agent.
type agentFlags struct {
	node, tasks, dir string
	cgroup, hints    string
	dryRun           bool
	stopAfter        time.Duration
}

func agentCommand() *cobra.Command {
	var to remote.Connection
	var f agentFlags
	c := &cobra.Command{
		Use:   "agent [CLUSTER]",
		Short: "Tell a cluster of this machine, run its tasks here, and set up a cgroup for them",
		Long: `Tells a live cluster in heartbeats how busy this machine is, and runs the tasks that the answers name. Which
programs run for which jobs stands in the file of --tasks; the server names a job and the number of a task, and
can send no command. Without that file nothing is run here.

  {"jobs": {"nightly-etl": {"command": ["/usr/local/bin/etl", "--part"], "limit_s": 3600},
            "report-*":    {"command": ["/usr/local/bin/report"]}},
   "classes": {"sql": {"command": ["/usr/local/bin/query"]}}}

A job without a command of its own has that of its class. Programs are run as they stand, by no shell, with
HEADROOM_JOB, HEADROOM_CLASS, HEADROOM_TASK (from 0), HEADROOM_TASK_KIND (map or
reduce), HEADROOM_JOB_NUMBER, HEADROOM_ATTEMPT, HEADROOM_ASSIGNMENT, HEADROOM_CLUSTER and HEADROOM_NODE in their
environment. A task that takes longer than its limit_s (3600) is ended, and so is all that it has started.

--apply-hints writes settings to a cgroup of version 2: those of --hints, a file of the hints that "headroom
lab interference -o json" answers, or cpu.idle 1, which lets others go first. What stood there is restored when the
agent ends, or where it was killed when one begins with the same --state-dir. Tasks run in that cgroup. Without
CLUSTER the agent sets the cgroup and waits until it is ended.

SIGTERM and interrupts end it: no more tasks are taken, those that run are awaited for --stop-after and then
ended, and the server is told. Where the server refuses the key, or another agent has taken the name, the exit
code is 2: beginning again would not help. One who looks only needs no rights beyond reading /proc. A key of the role agent is
all that it needs; with --tasks it takes no other.` + remote.ConnectionHelp,
		Example: "  headroom live agent shop --node worker-3 --tasks /etc/headroom/tasks.json\n" +
			"  headroom live agent shop --tasks tasks.json --apply-hints /sys/fs/cgroup/batch --hints hints.json\n" +
			"  headroom live agent --apply-hints /sys/fs/cgroup/batch --dry-run",
		Args: cobra.MaximumNArgs(1),
	}
	to.AddFlags(c)
	c.Flags().StringVar(&f.node, "node", "", "the node's `name` in the cluster (this machine's name)")
	c.Flags().StringVar(&f.tasks, "tasks", "", "run tasks, by the commands in this `file`")
	c.Flags().StringVar(&f.dir, "state-dir", "",
		"keep what must outlive the agent in this `directory` (STATE_DIRECTORY, else agent in the data directory)")
	c.Flags().StringVar(&f.cgroup, "apply-hints", "", "set up the cgroup that is this `directory`")
	c.Flags().StringVar(&f.hints, "hints", "", "with the settings of this `file`")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	c.Flags().DurationVar(&f.stopAfter, "stop-after", 30*time.Second, "how long running tasks are awaited at the end")
	c.PreRunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && f.cgroup == "":
			return errors.New("say to which CLUSTER this machine belongs, or which cgroup to set up with --apply-hints")
		case len(args) == 0 && (f.tasks != "" || f.node != ""):
			return errors.New("--tasks and --node are for a CLUSTER; say which")
		case f.hints != "" && f.cgroup == "":
			return errors.New("--hints needs --apply-hints, which says what they are applied to")
		case f.stopAfter < 0:
			return fmt.Errorf("--stop-after is %s; give a time such as 30s", f.stopAfter)
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		f.cgroup = strings.TrimSuffix(f.cgroup, "/")
		settings := agent.BackgroundSettings
		if f.hints != "" {
			var err error
			if settings, err = agent.ReadHints(f.hints); err != nil {
				return err
			}
		}
		var commands *agent.Commands
		if f.tasks != "" {
			read, err := agent.ReadCommands(f.tasks)
			if err != nil {
				return err
			}
			commands = &read
		}
		if f.dryRun {
			return f.planned(c.OutOrStdout(), settings, commands)
		}
		shell.OutliveReaders() // tasks would end with the agent
		return f.run(c, &to, args, settings, commands)
	})
}

// planned says what would be done.
func (f *agentFlags) planned(w io.Writer, settings []agent.Setting, commands *agent.Commands) error {
	if f.cgroup != "" {
		lines, err := agent.PlannedHints(f.cgroup, settings)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "The agent would write:\n  %s\n", strings.Join(lines, "\n  "))
	}
	if commands != nil {
		fmt.Fprintf(w, "The agent would run tasks by the commands of %s: all of them can be run.\n", f.tasks)
	}
	return nil
}

// stateDir returns the directory for state that outlives the agent.
func (f *agentFlags) stateDir() (string, error) {
	if f.dir != "" {
		return filepath.Abs(f.dir)
	}
	if dir := os.Getenv("STATE_DIRECTORY"); filepath.IsAbs(dir) { // of systemd
		return dir, nil
	}
	if dir := remote.DefaultDataDir(); dir != "" {
		return filepath.Join(dir, "agent"), nil
	}
	return "", errors.New("there is no home directory to keep anything in; give a directory with --state-dir")
}

func (f *agentFlags) run(c *cobra.Command, to *remote.Connection, args []string, settings []agent.Setting,
	commands *agent.Commands) (err error) {
	log := slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
	dir, err := f.stateDir()
	if err != nil {
		return err
	}
	release, err := agent.Own(dir)
	if err != nil {
		return err
	}
	defer release()
	restore := func() error {
		done, err := agent.Restore(dir)
		for _, sentence := range done {
			log.Info(sentence)
		}
		return err
	}
	if err := restore(); err != nil { // what an agent that was killed could not
		return err
	}
	if f.cgroup != "" {
		if err := agent.Apply(dir, f.cgroup, settings); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, restore()) }()
		log.Info("the cgroup is set up", "cgroup", f.cgroup)
	}
	tell := func(state string) {
		if err := shell.Notify(state); err != nil {
			log.Warn("the supervisor was not told", "error", err)
		}
	}
	tell(shell.NotifyReady)
	defer tell(shell.NotifyStopping)
	if len(args) == 0 {
		<-c.Context().Done()
		return nil
	}
	s, err := to.Open()
	if err != nil {
		return err
	}
	if f.node == "" {
		if f.node, err = os.Hostname(); err != nil {
			return fmt.Errorf("this machine has no name (%w); give one with --node", err)
		}
	}
	beat := heartbeats(s, args[0], f.node)
	if commands != nil {
		beat = asAgent(s, beat)
	}
	config := agent.Config{
		Cluster: args[0], Node: f.node, Host: agent.NewHost("/"), Commands: commands, Dir: dir, StopAfter: f.stopAfter, Beat: beat,
		Log: func(message string, about ...any) { log.Info(message, about...) },
	}
	if commands != nil {
		config.Cgroup = f.cgroup
	}
	err = agent.Run(c.Context(), config)
	if refused := (agent.Refused{}); errors.As(err, &refused) {
		return shell.Fail(shell.ExitUsage, err)
	}
	return err
}

type sender = func(context.Context, []byte) (*http.Response, error)

// heartbeats sends heartbeats of a node. Whether to send one again is for the agent to decide.
func heartbeats(s *remote.Service, cluster, node string) sender {
	return func(ctx context.Context, body []byte) (*http.Response, error) {
		r, err := s.Send(ctx, openapi.SendHeartbeat(cluster, node), remote.JSONBody(body))
		if err != nil {
			return nil, s.Unreachable(err)
		}
		return r, nil
	}
}

// asAgent sends nothing before it knows that the key is an agent's: whoever breaks out of a task gets the key, and
// should get no other.
func asAgent(s *remote.Service, beat sender) sender {
	known := false
	return func(ctx context.Context, body []byte) (*http.Response, error) {
		if !known {
			answer, err := s.Call(ctx, openapi.GetSession())
			var p *remote.Problem
			if errors.As(err, &p) && (p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden) {
				return nil, agent.Refused{Err: err}
			}
			if err != nil {
				return nil, err
			}
			var who struct {
				Name string    `json:"name"`
				Role auth.Role `json:"role"`
			}
			if err := answer.Into(&who); err != nil {
				return nil, err
			}
			if who.Role != auth.Agent {
				return nil, agent.Refused{Err: fmt.Errorf("the key %q is of the role %s, and a machine that runs tasks should hold no key that "+
					"opens more than it needs", who.Name, who.Role)}
			}
			known = true
		}
		return beat(ctx, body)
	}
}
