package live

import (
	"errors"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/place"
	"example.org/headroom/internal/edge/cli/remote"
)

func admissionRunCommand(to *remote.Connection) *cobra.Command {
	var run place.Run
	c := &cobra.Command{
		Use: "run CLUSTER CLASS -- COMMAND [ARGUMENT…]", Short: "Run a command in a place of its class",
		Long: `Asks for a place, runs the command while heartbeats renew the lease, ends the lease when the command
ends, and exits as it does. Where the job is refused nothing runs and the exit code is 3; with --wait it
asks again until that time is over. SIGTERM and interrupts are handed on to the command.

While the server cannot be reached a running command goes on, and heartbeats are tried again. If the lease
has expired by then its place may be another's: the command goes on and a warning says so, or it is
stopped with --stop-when-lost.`,
		Example: "  headroom live admission run shop nightly-etl --wait 2h -- ./etl.sh --day today",
		Args: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 2 || len(args) < 3 {
				return errors.New("say \"run CLUSTER CLASS -- COMMAND\", with the two hyphens before the command")
			}
			return nil
		},
	}
	run.AddFlags(c)
	// Names are checked, the command's own arguments are not.
	c.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		return c.Parent().PersistentPreRunE(c, args[:2])
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		command, err := place.Command(c, args[2:])
		if err != nil { // before anybody else has to do without the place
			return err
		}
		held, err := run.Take(s, c, args[0], args[1], args[2])
		if err != nil {
			return err
		}
		defer held.End(c.Context())
		return held.Run(c.Context(), command)
	})
}
