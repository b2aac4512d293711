package main

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/spf13/cobra"

	"headroom/internal/core/capacity"
	"headroom/openapi"
)

var scenarios = resource{
	word: "scenario", words: "scenarios", id: "NAME", short: "Save, show and compare what-if scenarios of a cluster",
	as:      reflect.TypeFor[capacity.Scenario](),
	columns: []string{"name", "note", "version", "updated_at"},
	example: "  headroom scenario create shop black-friday.yaml",
	list:    openapi.ListScenarios,
	create:  openapi.CreateScenario,
	get:     openapi.GetScenario,
	replace: openapi.ReplaceScenario,
	delete:  openapi.DeleteScenario,
}

func scenarioCommand() *cobra.Command {
	return scenarios.command(scenarioSaveCommand, scenarioCompareCommand)
}

// scenarioSaveCommand makes a scenario of flags.
func scenarioSaveCommand(to *connection) *cobra.Command {
	var out output
	var change changeFlags
	var note string
	c := &cobra.Command{
		Use: "save CLUSTER NAME", Short: "Save the changes that flags say as a scenario",
		Example: "  headroom scenario save shop black-friday --demand 'orders=x2' --deadline '*=x0.75'",
		Args:    cobra.ExactArgs(2),
	}
	out.addFlags(c, "table", "json", "csv")
	change.add(c)
	c.Flags().StringVar(&note, "note", "", "what it is about, as a `text`")
	c.PreRunE = func(*cobra.Command, []string) error {
		changes, _, err := change.changes()
		if err == nil && len(changes) == 0 {
			err = errors.New("say what is to be changed, such as --deadline 'etl=x0.8'")
		}
		return err
	}
	return command(c, func(c *cobra.Command, args []string) error {
		changes, _, _ := change.changes() // looked at above
		s, err := to.open()
		if err != nil {
			return err
		}
		body, err := json.Marshal(map[string]any{"name": args[1], "note": note, "changes": changes})
		if err != nil {
			return err
		}
		a, err := s.call(c.Context(), openapi.CreateScenario(args[0]), jsonBody(body))
		if err != nil {
			return err
		}
		return scenarios.changed(c, out, a, args[0], "Saved")
	})
}

func scenarioCompareCommand(to *connection) *cobra.Command {
	var out output
	c := &cobra.Command{
		Use: "compare CLUSTER NAME...", Short: "Plan the cluster with and without saved scenarios, side by side",
		Example: "  headroom scenario compare shop black-friday quiet-week",
		Args:    cobra.RangeArgs(2, 1+capacity.MaxFullScenarios),
	}
	out.addFlags(c, "table", "json", "csv")
	return command(c, func(c *cobra.Command, args []string) error {
		s, err := to.open()
		if err != nil {
			return err
		}
		return answeredWhatIf(c, out, s, openapi.CompareScenarios(args[0], openapi.CompareScenariosQuery{Name: args[1:]}))
	})
}
