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

// Commands returns the commands that ask what something else would come to.
func Commands() (all []*cobra.Command) {
	for _, command := range verbs {
		all = append(all, command())
	}
	return all
}
