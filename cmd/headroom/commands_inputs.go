package main

import "github.com/spf13/cobra"

// inputsCommands returns the commands about what a cluster keeps: types, prices, contracts, offers, profiles, classes and forecasts.
// The two arguments make the commands that read profiles and forecasts off past executions.
func inputsCommands(profileFromHistory, forecastFromHistory func(*connection) *cobra.Command) []*cobra.Command {
	return []*cobra.Command{
		clusterCommand(), vmTypeCommand(), priceCommand(), contractCommand(), offerCommand(),
		profileCommand(profileFromHistory), forecastCommand(forecastFromHistory), classCommand(), applyCommand(),
	}
}
