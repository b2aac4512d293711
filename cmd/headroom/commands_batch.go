package main

import "github.com/spf13/cobra"

// batchCommands returns the commands about batches and pools of machines, and the experiments.
func batchCommands() []*cobra.Command {
	return []*cobra.Command{
		packCommand(), packingCommand(), poolCommand(), interferenceCommand(), generateCommand(), reproduceCommand(),
	}
}
