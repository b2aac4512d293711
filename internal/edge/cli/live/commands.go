// Package live holds the commands about jobs at work: live clusters, the agent of a node, and admission.
package live

import (
	"github.com/spf13/cobra"
)

// Commands returns the commands about jobs at work: live clusters, agents and admission.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		liveCommand(), agentCommand(), admissionCommand(),
	}
}
