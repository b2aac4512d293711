package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Confirm asks on a terminal whether to go on; elsewhere --yes has to say so.
func Confirm(c *cobra.Command, yes bool, question string) error {
	if yes {
		return nil
	}
	if !IsTerminal(c.InOrStdin()) {
		return Fail(ExitUsage, errors.New("nothing was changed: there is no terminal to ask on; say --yes if it is meant"))
	}
	word, err := Ask(c, question+" [y/N]")
	if err != nil {
		return err
	}
	if word = strings.ToLower(word); word == "y" || word == "yes" {
		return nil
	}
	return errors.New("nothing was changed")
}

// Ask asks a question on a terminal and returns the line that answers it.
func Ask(c *cobra.Command, question string) (string, error) {
	fmt.Fprint(c.ErrOrStderr(), question+" ")
	type answer struct {
		line string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		line, err := typedLine(c.InOrStdin())
		answered <- answer{strings.TrimSpace(line), err}
	}()
	select {
	case <-c.Context().Done():
		return "", c.Context().Err()
	case a := <-answered:
		return a.line, a.err
	}
}

// typedLine reads up to the end of a line and nothing behind it, so that another question finds its answer there.
func typedLine(in io.Reader) (string, error) {
	var line []byte
	for next := make([]byte, 1); ; {
		n, err := in.Read(next)
		switch {
		case n == 1 && next[0] == '\n':
			return string(line), nil
		case n == 1:
			line = append(line, next[0])
		case errors.Is(err, io.EOF) && len(line) > 0:
			return string(line), nil
		case err != nil:
			return "", errors.New("there was no answer")
		}
	}
}
