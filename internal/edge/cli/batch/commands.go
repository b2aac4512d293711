// Package batch holds the commands about batches and pools of machines, and the experiments.
package batch

import (
	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
)

// Command returns the commands about batches and pools of machines.
func Command() *cobra.Command {
	return shell.Group("batch", "Plan a batch on machines that are there (pack), or a pool of machines to rent (pool)", "",
		packCommand(), packingCommand(), poolCommand())
}

// LabCommands returns the commands that draw problems and run experiments.
func LabCommands() []*cobra.Command {
	return []*cobra.Command{reproduceCommand(), generateCommand(), interferenceCommand()}
}
