// Package history holds the commands about measurements: executions, fits, calibrations and observations.
package history

import (
	"github.com/spf13/cobra"
)

// Commands returns the commands about what was measured.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		historyCommand(), measurementCommand(), fitCommand(), calibrationCommand(), observationCommand(),
	}
}
