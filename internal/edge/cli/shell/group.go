package shell

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Group returns a command that does nothing but hold others.
func Group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: short + "." + long, Args: noCommand,
		SuggestionsMinimumDistance: 2,
		RunE: func(c *cobra.Command, args []string) error {
			var words []string
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() {
					words = append(words, sub.Name())
				}
			}
			return fmt.Errorf("say what to do: %q and one of %s", c.CommandPath(), strings.Join(words, ", "))
		},
	}
	c.AddCommand(commands...)
	return c
}

// noCommand refuses a word that names no command of a group, and says which may be meant.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	said := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	if similar := c.SuggestionsFor(args[0]); len(similar) > 0 {
		said += "\n\nDid you mean this?\n" + strings.Join(similar, "\n")
	}
	return fmt.Errorf("%s", said)
}

// otherWords holds what people call the verbs of other programs that do the same.
var otherWords = map[string][]string{
	"get": {"show", "describe", "view"}, "create": {"add", "new", "make", "save"}, "list": {"ls", "all"},
	"edit": {"replace", "set", "update", "put", "change"}, "delete": {"remove", "rm", "unset"}, "compare": {"diff"},
}
