package whatif

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/openapi"
)

var scenarios = remote.Resource{
	Word: "scenario", Words: "scenarios", ID: "NAME", Short: "Save, show and compare what-if scenarios of a cluster",
	As:      reflect.TypeFor[whatif.Scenario](),
	Columns: []string{"name", "note", "version", "updated_at"},
	Example: "  headroom whatif scenario create shop black-friday.yaml",
	First:   `"headroom whatif scenario save CLUSTER NAME --demand '*=x2'" makes one, and "headroom whatif scenario create CLUSTER FILE" takes it from a file.`,
	List:    openapi.ListScenarios,
	Create:  openapi.CreateScenario,
	Get:     openapi.GetScenario,
	Replace: openapi.ReplaceScenario,
	Delete:  openapi.DeleteScenario,
}

var _ = verb(scenarioCommand)

func scenarioCommand() *cobra.Command {
	return scenarios.Command(scenarioSaveCommand, scenarioCompareCommand)
}

// scenarioSaveCommand makes a scenario of flags.
func scenarioSaveCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var change changeFlags
	var note string
	c := &cobra.Command{
		Use: "save CLUSTER NAME", Short: "Save the changes that flags say as a scenario",
		Example: "  headroom whatif scenario save shop black-friday --demand 'nightly-etl=x2' --deadline '*=x0.75'",
		Args:    cobra.ExactArgs(2),
	}
	out.AddFlags(c, "table", "json", "csv")
	change.add(c)
	change.addDue(c)
	c.Flags().StringVar(&note, "note", "", "what it is about, as a `text`")
	c.PreRunE = func(*cobra.Command, []string) error {
		changes, _, err := change.changes()
		if err == nil && len(changes) == 0 {
			err = errors.New("say what is to be changed, such as --deadline 'etl=x0.8'")
		}
		return err
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		changes, _, _ := change.changes() // looked at above
		s, err := to.Open()
		if err != nil {
			return err
		}
		body, err := json.Marshal(map[string]any{"name": args[1], "note": note, "changes": changes})
		if err != nil {
			return err
		}
		a, err := s.Call(c.Context(), openapi.CreateScenario(args[0]), remote.JSONBody(body))
		if err != nil {
			return err
		}
		return scenarios.Changed(c, out, a, args[0], "Saved")
	})
}

func scenarioCompareCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use: "compare CLUSTER NAME...", Short: "Plan the cluster with and without saved scenarios, side by side",
		Example: "  headroom whatif scenario compare shop black-friday quiet-week",
		Args:    cobra.RangeArgs(2, 1+whatif.MaxFullScenarios),
	}
	out.AddFlags(c, "table", "json", "csv")
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		return answeredWhatIf(c, out, s, openapi.CompareScenarios(args[0], openapi.CompareScenariosQuery{Name: args[1:]}))
	})
}
