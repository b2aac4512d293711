package shell

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Confirm asks on a terminal whether to go on; elsewhere --yes has to say so.
func Confirm(c *cobra.Command, yes bool, question string) error {
	if yes {
		return nil
	}
	stdin, stderr := c.InOrStdin(), c.ErrOrStderr()
	if !IsTerminal(stdin) {
		return Fail(ExitUsage, errors.New("nothing was changed: there is no terminal to ask on; say --yes if it is meant"))
	}
	fmt.Fprintf(stderr, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdin).ReadString('\n')
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-c.Context().Done():
		return c.Context().Err()
	case word := <-answered:
		if word == "y" || word == "yes" {
			return nil
		}
		return errors.New("nothing was changed")
	}
}
