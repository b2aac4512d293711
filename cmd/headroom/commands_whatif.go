package main

import "github.com/spf13/cobra"

// whatifCommands returns the commands that ask what something else would come to.
func whatifCommands() []*cobra.Command {
	return []*cobra.Command{
		whatIfCommand(), scenarioCommand(), sweepCommand(), simulateCommand(), askCommand(), monthsCommand(),
		purchaseCommand(),
	}
}
