// Command headroom plans capacity: how many machines to rent, which jobs to admit, how long they take and what it costs.
// The packages below internal/edge/cli hold its commands.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"headroom/internal/edge/cli/batch"
	"headroom/internal/edge/cli/begin"
	"headroom/internal/edge/cli/drive"
	"headroom/internal/edge/cli/history"
	"headroom/internal/edge/cli/inputs"
	"headroom/internal/edge/cli/live"
	"headroom/internal/edge/cli/plan"
	"headroom/internal/edge/cli/remote"
	"headroom/internal/edge/cli/server"
	"headroom/internal/edge/cli/shell"
	"headroom/internal/edge/cli/whatif"
)

// version is set when the program is built.
var version = "development"

func main() {
	shell.Version = version
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := shell.Run(ctx, rootCommand(os.Args[1:]...), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// rootCommand returns the command line: groups of commands up to the one that these arguments begin with, so that a
// program that starts does not make the others. Where the arguments name no command, help needs all of them.
func rootCommand(args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "headroom",
		Short: "Plan capacity for batch and analytics jobs on rented machines",
		Long: `Headroom says how many machines to rent, which jobs to let in, how long they take and what it costs.
It reads problems as JSON and answers with plans that are explained and proved.

Exit codes: 0 done, 1 error, 2 wrong usage, 3 no plan meets the demands or a job may not start now, 4 no server to ask or a solver that failed, 5 a verdict or figure of reproduce is not as recorded.`,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error { return errors.New("say what to do, such as solve") },
	}
	for _, group := range []func() []*cobra.Command{
		plan.Commands, server.Commands, whatif.Commands, live.Commands, drive.Commands, history.Commands, batch.Commands, begin.Commands,
		func() []*cobra.Command {
			return inputs.Commands(history.ProfileFromHistoryCommand, history.ForecastFromHistoryCommand)
		},
	} {
		commands := group()
		root.AddCommand(commands...)
		if len(args) > 0 && slices.ContainsFunc(commands, func(c *cobra.Command) bool { return c.Name() == args[0] || c.HasAlias(args[0]) }) {
			break
		}
	}
	remote.CompleteClusters(root)
	return root
}
