// Package whatif holds the commands that ask what something else would cost: scenarios, sweeps, months, purchases and
// simulations.
package whatif

import "github.com/spf13/cobra"

// verbs makes the commands of this package. Each file adds its own.
var verbs []func() *cobra.Command

func verb(command func() *cobra.Command) bool {
	verbs = append(verbs, command)
	return true
}

// Command returns the command that lays changes over a problem, and below it the other questions about what would be.
func Command() *cobra.Command {
	c := whatIfCommand()
	for _, command := range verbs {
		c.AddCommand(command())
	}
	return c
}
