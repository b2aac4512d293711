// Package server holds the commands that run a server and look after it, and those about what it does in the background.
package server

import (
	"github.com/spf13/cobra"
)

// Commands returns the commands that run a server, and those about its work in the background.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		serveCommand(), configCommand(), doctorCommand(), healthCommand(), migrateCommand(), keyCommand(),
		pruneCommand(), versionCommand(), runCommand(), reportCommand(), reportScheduleCommand(), webhookCommand(),
		hostCommand(),
	}
}
