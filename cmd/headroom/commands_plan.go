package main

import "github.com/spf13/cobra"

// planCommands returns the commands that make a plan, check it, explain it and follow it.
func planCommands() []*cobra.Command {
	return []*cobra.Command{
		solveCommand(), verifyCommand(), boundsCommand(), planCommand(),
	}
}
