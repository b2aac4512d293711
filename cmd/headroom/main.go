// Command headroom plans capacity: what to rent, which jobs to admit, how long they take. Each verb
// has a file of its own; this one holds what they share, and how they fail.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; its answer is the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	asked, err := root.ExecuteContextC(ctx)
	return report(stderr, asked, err)
}

// rootCommand returns the command line with every command below it.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "headroom",
		Short: "Plan capacity for batch and analytics jobs on rented machines",
		Long: `Headroom says how many machines to rent, which jobs to let in, how long they take and what it costs.
It reads problems as JSON and answers with plans that are explained and proved.

Exit codes: 0 done, 1 error, 2 wrong usage, 3 no plan meets the demands or a job may not start now, 4 no server to ask or a solver that failed, 5 a published claim does not come out.`,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error { return errors.New("say what to do, such as solve") },
	}
	root.AddCommand(planCommands()...)
	root.AddCommand(inputsCommands(profileFromHistoryCommand, forecastFromHistoryCommand)...)
	root.AddCommand(whatifCommands()...)
	root.AddCommand(liveCommands()...)
	root.AddCommand(historyCommands()...)
	root.AddCommand(batchCommands()...)
	root.AddCommand(serverCommands()...)
	completeClusters(root)
	speak(root)
	root.SetFlagErrorFunc(wrongFlag)
	return root
}
