// Package inputs holds the commands about what a cluster keeps: VM types, prices, contracts, offers, profiles, classes
// and forecasts.
package inputs

import (
	"github.com/spf13/cobra"

	"headroom/internal/edge/cli/remote"
)

// Commands returns the commands about what a cluster keeps: types, prices, contracts, offers, profiles, classes and
// forecasts. The two arguments make the commands that read profiles and forecasts off past executions.
func Commands(profileFromHistory, forecastFromHistory func(*remote.Connection) *cobra.Command) []*cobra.Command {
	return []*cobra.Command{
		clusterCommand(), vmTypeCommand(), priceCommand(), contractCommand(), offerCommand(),
		profileCommand(profileFromHistory), forecastCommand(forecastFromHistory), classCommand(), applyCommand(),
	}
}
