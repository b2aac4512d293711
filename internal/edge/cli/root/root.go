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
	{"Plan", []command{{"init", begin.Command}, {"solve", plan.SolveCommand}, {"plan", plan.Command}, {"batch", batch.Command},
		{"verify", plan.VerifyCommand}}},
	{"Ask", []command{{"whatif", whatif.Command}, {"bounds", plan.BoundsCommand}}},
	{"Inputs", []command{{"cluster", inputs.ClusterCommand}, {"apply", inputs.ApplyCommand}, {"class", classCommand},
		{"supply", inputs.SupplyCommand}}},
	{"Data", []command{{"history", history.Command}}},
	{"Operate", []command{{"serve", server.ServeCommand}, {"server", server.Command}, {"live", live.Command}, {"drive", drive.Command},
		{"context", server.ContextCommand}}},
	{"Lab", []command{{"lab", labCommand}}},
	{"", []command{{"version", server.VersionCommand}}},
}

// command makes the command of a name.
type command struct {
	name string
	make func() *cobra.Command
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
// program that starts does not make the others; help needs all of them.
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
				fmt.Fprintf(&s, "%-8s %-12s %s\n", title, one.name, one.make().Short)
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
