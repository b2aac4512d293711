package main

import "github.com/spf13/cobra"

// historyCommands returns the commands about what was measured.
func historyCommands() []*cobra.Command {
	return []*cobra.Command{
		historyCommand(), measurementCommand(), fitCommand(), calibrationCommand(), observationCommand(),
	}
}
