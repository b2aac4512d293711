// Command headroom plans capacity: how many machines to rent, which jobs to admit, how long they take and what it costs.
// The packages below internal/edge/cli hold its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.org/headroom/internal/edge/cli/root"
	"example.org/headroom/internal/edge/cli/shell"
)

// version is set when the program is built.
var version = "development"

func main() {
	shell.Version = version
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := root.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
