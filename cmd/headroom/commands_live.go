package main

import "github.com/spf13/cobra"

// liveCommands returns the commands about jobs at work: live clusters, agents and admission.
func liveCommands() []*cobra.Command {
	return []*cobra.Command{
		liveCommand(), agentCommand(), admissionCommand(),
	}
}
