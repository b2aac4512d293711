package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	"example.org/headroom/openapi"
)

func planPinCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var until string
	c := &cobra.Command{
		Use: "pin CLUSTER [NUMBER|ID|current]", Short: "Keep a plan current until a time, or show which one is kept",
		Long: `Keeps a plan current until a time, whatever changes. Plans go on being made meanwhile; the newest good one
is current afterwards. Without --until it shows which plan is pinned.`,
		Example: "  headroom plan pin shop --until 12h\n  headroom plan pin shop 3 --until 2027-03-01T06:00:00Z\n  headroom plan pin shop",
		Args:    cobra.RangeArgs(1, 2),
	}
	out.AddFlags(c, "table", "json")
	c.Flags().StringVar(&until, "until", "", "when the pin ends: after a `time` such as 2d or 12h, or at one such as 2027-03-01")
	c.PreRunE = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 && until == "" {
			return errors.New("say until when the plan stays, such as --until 12h")
		}
		if _, err := shell.EndOf(until, time.Now()); err != nil {
			return fmt.Errorf("--until is %q; write days or hours such as 2d or 12h, or a time such as 2027-03-01", until)
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		ref, err := planRef(args, 1)
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		var a remote.Answer
		if until == "" {
			a, err = s.Call(c.Context(), openapi.GetPin(args[0]))
		} else {
			var r record
			if r, err = planOf(s, c.Context(), args[0], ref); err != nil {
				return err
			}
			end, _ := shell.EndOf(until, time.Now()) // it was looked at above
			var body []byte
			if body, err = json.Marshal(map[string]any{"number": r.Number, "until": end}); err != nil {
				return err
			}
			a, err = s.Call(c.Context(), openapi.PinPlan(args[0]), remote.JSONBody(body))
		}
		var pin plans.Pin
		if err == nil {
			err = a.Into(&pin)
		}
		if err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error {
				_, err := fmt.Fprintln(w, shell.Shown(fmt.Sprintf("Plan %d of cluster %s is pinned until %s by %s.", pin.Number, args[0],
					pin.Until.UTC().Format(time.RFC3339), pin.By)))
				return err
			},
			"json": remote.Indented(a.Body),
		})
	})
}

func planUnpinCommand(to *remote.Connection) *cobra.Command {
	c := &cobra.Command{
		Use: "unpin CLUSTER", Short: "End the pin; the newest good plan is current at once",
		Args: cobra.ExactArgs(1),
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		if _, err := s.Call(c.Context(), openapi.UnpinPlan(args[0])); err != nil {
			return err
		}
		_, err := fmt.Fprintln(c.OutOrStdout(), shell.Shown(fmt.Sprintf("No plan of cluster %s is pinned.", args[0])))
		return err
	})
}
