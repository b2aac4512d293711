package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/service/plans"
	"headroom/openapi"
)

func planPinCommand(to *connection) *cobra.Command {
	var out output
	var until string
	c := &cobra.Command{
		Use: "pin CLUSTER [NUMBER|ID|current]", Short: "Keep a plan current until a time, or show which one is kept",
		Long: `Keeps a plan current until a time, whatever changes. Plans go on being made meanwhile; the newest good one
is current afterwards. Without --until it shows which plan is pinned.`,
		Example: "  headroom plan pin shop --until 12h\n  headroom plan pin shop 3 --until 2027-03-01T06:00:00Z\n  headroom plan pin shop",
		Args:    cobra.RangeArgs(1, 2),
	}
	out.addFlags(c, "table", "json")
	c.Flags().StringVar(&until, "until", "", "when the pin ends: after a `time` such as 2d or 12h, or at one such as 2027-03-01")
	c.PreRunE = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 && until == "" {
			return errors.New("say until when the plan stays, such as --until 12h")
		}
		if _, err := endOf(until, time.Now()); err != nil {
			return fmt.Errorf("--until is %q; write days or hours such as 2d or 12h, or a time such as 2027-03-01", until)
		}
		return nil
	}
	return command(c, func(c *cobra.Command, args []string) error {
		ref, err := planRef(args, 1)
		if err != nil {
			return err
		}
		s, err := to.open()
		if err != nil {
			return err
		}
		var a answer
		if until == "" {
			a, err = s.call(c.Context(), openapi.GetPin(args[0]))
		} else {
			var r record
			if r, err = s.plan(c.Context(), args[0], ref); err != nil {
				return err
			}
			end, _ := endOf(until, time.Now()) // it was looked at above
			var body []byte
			if body, err = json.Marshal(map[string]any{"number": r.Number, "until": end}); err != nil {
				return err
			}
			a, err = s.call(c.Context(), openapi.PinPlan(args[0]), jsonBody(body))
		}
		var pin plans.Pin
		if err == nil {
			err = a.into(&pin)
		}
		if err != nil {
			return err
		}
		return out.write(c, map[string]form{
			"table": func(w io.Writer) error {
				_, err := fmt.Fprintln(w, shown(fmt.Sprintf("Plan %d of cluster %s is pinned until %s by %s.", pin.Number, args[0], pin.Until.UTC().Format(time.RFC3339), pin.By)))
				return err
			},
			"json": indented(a.body),
		})
	})
}

func planUnpinCommand(to *connection) *cobra.Command {
	c := &cobra.Command{
		Use: "unpin CLUSTER", Short: "End the pin; the newest good plan is current at once",
		Args: cobra.ExactArgs(1),
	}
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		if _, err := s.call(c.Context(), openapi.UnpinPlan(args[0])); err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.OutOrStdout(), shown(fmt.Sprintf("No plan of cluster %s is pinned.", args[0])))
		return err
	})
}
