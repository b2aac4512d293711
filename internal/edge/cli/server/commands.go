// Package server holds the commands that run a server and look after it, and those about what it does in the background.
package server

import (
	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
)

// Command returns the commands that look after a server, and those about its work in the background.
func Command() *cobra.Command {
	return shell.Group("server", "Look after a server: keys, settings, database, runs, reports and webhooks", "",
		keyCommand(), signInCommand(), configCommand(), doctorCommand(), healthCommand(), migrateCommand(), pruneCommand(), hostCommand(),
		runCommand(), reportCommand(), reportSchedules.Command(), webhookCommand())
}
