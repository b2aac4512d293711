// Package root puts the commands together: six groups of them, the first screen of help, and the words by which a command
// was known before.
package root

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/batch"
	"example.org/headroom/internal/edge/cli/begin"
	"example.org/headroom/internal/edge/cli/drive"
	"example.org/headroom/internal/edge/cli/history"
	"example.org/headroom/internal/edge/cli/inputs"
	"example.org/headroom/internal/edge/cli/live"
	"example.org/headroom/internal/edge/cli/plan"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/server"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/edge/cli/whatif"
)

// groups holds the commands in the order of the first screen of help. The last group has no title and is not on it.
var groups = []struct {
	title    string
	commands []command
}{
	{"Plan", []command{
		{"init", "Make a first cluster of past runs or of a guess, and plan it", begin.Command},
		{"solve", "Say what to rent and which jobs to admit, for a problem in a file", plan.SolveCommand},
		{"plan", "Make, show and compare the plans of a cluster", plan.Command},
		{"batch", "Plan a batch on machines that are there (pack), or a pool of machines to rent (pool)", batch.Command},
		{"verify", "Check a plan, an answer or every stored plan, exactly and independently", plan.VerifyCommand},
	}},
	{"Ask", []command{
		{"whatif", "Say what other deadlines, demand, prices or limits would come to", whatif.Command},
		{"bounds", "Say how long a phase or a job takes on given slots", plan.BoundsCommand},
	}},
	{"Inputs", []command{
		{"cluster", "Show and edit clusters", inputs.ClusterCommand},
		{"apply", "Make clusters as a file describes them, after showing the difference", inputs.ApplyCommand},
		{"class", "Show and edit the classes of jobs of a cluster, their profiles and forecasts", classCommand},
		{"supply", "Show and edit what a cluster may rent: VM types, prices, contracts and offers", inputs.SupplyCommand},
	}},
	{"Data", []command{
		{"history", "Import past executions and measurements of jobs; see how well bounds and plans fit them", history.Command},
	}},
	{"Operate", []command{
		{"serve", "Serve the HTTP interface, with a database of its own unless DATABASE_URL names one", server.ServeCommand},
		{"server", "Look after a server: keys, settings, database, runs, reports and webhooks", server.Command},
		{"live", "Hand tasks to the nodes of a live cluster, and places to jobs", live.Command},
		{"drive", "Carry a cluster's plan out in the engine that runs its jobs", drive.Command},
		{"context", "Give servers names, and say which one commands ask", server.ContextCommand},
	}},
	{"Lab", []command{
		{"lab", "Run the experiments of the papers, draw problems, and try a rule on a case of your own", labCommand},
	}},
	{"", []command{
		{"version", "", server.VersionCommand},
	}},
}

// command makes the command of a name. The first screen says about it what its own help says, without making it.
type command struct {
	name, short string
	make        func() *cobra.Command
}

func classCommand() *cobra.Command {
	return inputs.ClassCommand(history.ProfileFromHistoryCommand, history.ForecastFromHistoryCommand)
}

func labCommand() *cobra.Command {
	return shell.Group("lab", "Run the experiments of the papers, draw problems, and try a rule on a case of your own", "",
		append(batch.LabCommands(), live.RuleCommands()...)...)
}

// Run runs the command that arguments name, by its name of today or the one before, and returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	today, hint := Renamed(args)
	if hint != "" {
		fmt.Fprintln(stderr, "headroom: "+hint)
	}
	code := shell.Run(ctx, Command(today...), today, stdin, stdout, stderr)
	if len(args) > 0 && meant[args[0]] != "" && !known(today[0]) {
		fmt.Fprintf(stderr, "headroom: Did you mean %q?\n", "headroom "+meant[args[0]])
	}
	return code
}

// Command returns the command line. Where arguments begin with the name of a command only that one is made, so that a
// program that starts does not make the others. The first screen of help needs none.
func Command(args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "headroom",
		Short: "Plan capacity for batch and analytics jobs on rented machines",
		Long: `Headroom says how many machines to rent, which jobs to let in, how long they take and what it costs.
It reads problems as JSON and answers with plans that are explained and proved.`,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error { return errors.New("say what to do, such as solve") },
	}
	root.SetHelpFunc(help(root.HelpFunc()))
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		return root
	}
	for _, g := range groups {
		for _, one := range g.commands {
			if len(args) == 0 || args[0] == one.name || !known(args[0]) {
				root.AddCommand(one.make())
			}
		}
	}
	remote.CompleteClusters(root)
	illustrate(root)
	return root
}

// known reports whether a command has this name.
func known(name string) bool {
	for _, g := range groups {
		if slices.ContainsFunc(g.commands, func(c command) bool { return c.name == name }) {
			return true
		}
	}
	return false
}

// help shows the commands by group on the first screen; of all other commands it shows what standard shows.
func help(standard func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(c *cobra.Command, args []string) {
		if c.HasParent() {
			standard(c, args)
			return
		}
		var s strings.Builder
		s.WriteString(c.Long + "\n\n")
		for _, g := range groups {
			if g.title == "" {
				continue
			}
			for i, one := range g.commands {
				title := ""
				if i == 0 {
					title = g.title
				}
				fmt.Fprintf(&s, "%-8s %-12s %s\n", title, one.name, one.short)
			}
		}
		s.WriteString(`
"headroom COMMAND --help" says more; "headroom version" and "headroom completion SHELL" are there, too.
Exit codes: 0 done, 1 error, 2 wrong usage, 3 no plan meets the demands or a job may not start now,
4 no server to ask or a solver that failed, 5 a verdict or figure of lab reproduce is not as recorded.
`)
		fmt.Fprint(c.OutOrStdout(), s.String())
	}
}
