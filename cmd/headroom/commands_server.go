package main

import "github.com/spf13/cobra"

// serverCommands returns the commands that run a server, and those about its work in the background.
func serverCommands() []*cobra.Command {
	return []*cobra.Command{
		serveCommand(), configCommand(), doctorCommand(), healthCommand(), migrateCommand(), keyCommand(),
		pruneCommand(), versionCommand(), runCommand(), reportCommand(), reportScheduleCommand(), webhookCommand(),
		hostCommand(),
	}
}
