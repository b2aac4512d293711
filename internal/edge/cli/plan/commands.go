// Package plan holds the commands that make a plan, check it, explain it and follow it.
package plan

import (
	"github.com/spf13/cobra"
)

// Commands returns the commands that make a plan, check it, explain it and follow it.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		solveCommand(), verifyCommand(), boundsCommand(), planCommand(),
	}
}
