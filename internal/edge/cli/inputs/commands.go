// Package inputs holds the commands about what a cluster keeps: VM types, prices, contracts, offers, profiles, classes
// and forecasts.
package inputs

import (
	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
)

// ClassCommand returns the commands about classes, their profiles and their forecasts. The two arguments make the
// commands that read profiles and forecasts off past executions.
func ClassCommand(profileFromHistory, forecastFromHistory func(*remote.Connection) *cobra.Command) *cobra.Command {
	c := classes.Command()
	c.AddCommand(profileCommand(profileFromHistory), forecastCommand(forecastFromHistory))
	return c
}

// SupplyCommand returns the commands about what a cluster may rent, and for how much.
func SupplyCommand() *cobra.Command {
	return shell.Group("supply", "Show and edit what a cluster may rent: VM types, prices, contracts and offers", "",
		vmTypes.Command(), prices.Command(priceImportCommand), contracts.Command(), offers.Command())
}
