// Package live holds the commands about jobs at work: live clusters, the agent of a node, and admission.
package live

import (
	"github.com/spf13/cobra"
)

// Commands returns the commands about jobs at work, and those that ask their rules about a case in a file.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		liveCommand(), agentCommand(), admissionCommand(),
		decideCommand(), judgeCommand(), learnCommand(), classifyCommand(),
	}
}
