package question

import (
	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
)

// FileCommand completes a command that answers a kind of question about a file here.
func FileCommand[Ask, Answer any](c *cobra.Command, k *kinds.Kind[Ask, Answer], read func(data []byte) (Ask, error)) *cobra.Command {
	var out shell.Output
	c.Args = cobra.MaximumNArgs(1)
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		data, label, err := shell.Read(c.Context(), shell.FileArgument(args), c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		ask, err := read(data)
		if err != nil {
			return shell.Labelled(label, err)
		}
		answer, err := Work(c, k, ask, "")
		if err != nil {
			return shell.Labelled(label, err)
		}
		return Write(c, out, k, ask, answer)
	})
}
