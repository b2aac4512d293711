// Package batch holds the commands about batches and pools of machines, and the experiments.
package batch

import (
	"github.com/spf13/cobra"
)

// Commands returns the commands about batches and pools of machines, and the experiments.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		packCommand(), packingCommand(), poolCommand(), interferenceCommand(), generateCommand(), reproduceCommand(),
	}
}
