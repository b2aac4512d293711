// Package live holds the commands about jobs at work: live clusters, the agent of a node, and admission.
package live

import (
	"github.com/spf13/cobra"
)

// RuleCommands returns the commands that ask the rules of live clusters about a case in a file.
func RuleCommands() []*cobra.Command {
	return []*cobra.Command{decideCommand(), judgeCommand(), learnCommand(), classifyCommand()}
}
