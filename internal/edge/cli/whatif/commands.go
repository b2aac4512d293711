// Package whatif holds the commands that ask what something else would cost: scenarios, sweeps, months, purchases and
// simulations.
package whatif

import (
	"github.com/spf13/cobra"
)

// Commands returns the commands that ask what something else would come to.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		whatIfCommand(), scenarioCommand(), sweepCommand(), simulateCommand(), askCommand(), monthsCommand(),
		purchaseCommand(),
	}
}
