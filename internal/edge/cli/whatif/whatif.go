package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

// noCommand refuses a file that is not there and whose name resembles a command below this one: whatif month.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := os.Stat(args[0]); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var known []string
	for _, sub := range c.Commands() {
		known = append(known, sub.Name())
	}
	if near := fault.Nearest(args[0], known); near != "" {
		return fmt.Errorf("%q has no command %q, and there is no file of this name; did you mean %s?", c.CommandPath(), shell.Clipped(args[0]), near)
	}
	return nil
}

// changeFlag is a flag that makes changes of one kind.
type changeFlag struct {
	name, usage string
	what        whatif.What
	values      []string
}

// changeFlags are the flags that make a scenario.
type changeFlags struct{ all []*changeFlag }

func (f *changeFlags) add(c *cobra.Command) {
	f.all = []*changeFlag{
		{name: "deadline", what: whatif.ChangeDeadline, usage: "another deadline, as `CLASS=x0.8` or CLASS=SECONDS; '*' is every class"},
		{name: "demand", what: whatif.ChangeDemand, usage: "another demand, as `CLASS=x1.1` or CLASS=JOBS"},
		{name: "promised", what: whatif.ChangePromised, usage: "other promised jobs, as `CLASS=x0.5` or CLASS=JOBS"},
		{name: "penalty", what: whatif.ChangePenalty, usage: "another penalty, as `CLASS=x2` or CLASS=AMOUNT"},
		{name: "price", what: whatif.ChangePrice, usage: "another price, as `on_demand=x1.2`, spot=AMOUNT or CONTRACT=AMOUNT"},
		{name: "contract", what: whatif.ChangeContract, usage: "another number of VMs in a contract, as `CONTRACT=x2` or CONTRACT=VMS"},
		{name: "quota", what: whatif.ChangeQuota, usage: "another quota on demand, as `x2`, VMS or none, or for one VM type TYPE=VMS"},
		{name: "budget", what: whatif.ChangeBudget, usage: "what VMs may cost a period, as `AMOUNT`, x0.9 or none"},
		{name: "total-budget", what: whatif.ChangeTotal, usage: "what bill and value refused together may come to a period, as `AMOUNT`, x0.9 or none"},
	}
	for _, flag := range f.all {
		c.Flags().StringArrayVar(&flag.values, flag.name, nil, flag.usage)
	}
}

// addDue adds a flag for the time in which jobs may wait.
func (f *changeFlags) addDue(c *cobra.Command) {
	flag := &changeFlag{name: "due", what: whatif.ChangeDue, usage: "with waiting: how long after their arrival jobs end, as `CLASS=x2` or CLASS=SECONDS"}
	f.all = append(f.all, flag)
	c.Flags().StringArrayVar(&flag.values, flag.name, nil, flag.usage)
}

// changes returns the changes that the flags make, in the order of the kinds above, and the words of each.
func (f *changeFlags) changes() (changes []whatif.ScenarioChange, said []string, err error) {
	for _, flag := range f.all {
		for _, text := range flag.values {
			ch, err := flag.change(text)
			if err != nil {
				return nil, nil, err
			}
			changes, said = append(changes, ch), append(said, "--"+flag.name+" "+text)
		}
	}
	return changes, said, nil
}

func (f *changeFlag) change(text string) (whatif.ScenarioChange, error) {
	ch := whatif.ScenarioChange{What: f.what}
	subject, number, named := cutLast(text)
	alone := f.what == whatif.ChangeQuota || f.what == whatif.ChangeBudget || f.what == whatif.ChangeTotal
	switch {
	case !named && !alone:
		return ch, fmt.Errorf("--%s is %q; write what is changed, an equals sign and the figure, such as %s", f.name, text, exampleOf(f.usage))
	case named && alone && f.what != whatif.ChangeQuota:
		return ch, fmt.Errorf("--%s is %q; write the figure alone, such as 120 or x0.9", f.name, text)
	}
	if subject == "*" {
		subject = ""
	} else if subject == "" && named {
		return ch, fmt.Errorf("--%s is %q; say what is changed before the equals sign, or '*' for all", f.name, text)
	}
	switch f.what {
	case whatif.ChangePrice:
		switch subject {
		case "", string(capacity.PurchaseOnDemand), string(capacity.PurchaseSpot):
			ch.Purchase = capacity.Purchase(subject)
		default:
			ch.Contract = subject
		}
	case whatif.ChangeContract:
		ch.Contract = subject
	case whatif.ChangeQuota:
		ch.VMType = subject
	default:
		ch.Class = subject
	}
	digits, factor := strings.CutPrefix(number, "x")
	switch {
	case number == "none" && alone:
	case factor:
		x, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return ch, fmt.Errorf("--%s is %q; after the x stands a factor such as 0.8", f.name, text)
		}
		ch.Factor = &x
	default:
		m, err := money.Parse(number)
		if err != nil {
			return ch, fmt.Errorf("--%s is %q; give a figure such as 120, or a factor such as x0.8", f.name, text)
		}
		ch.Value = &m
	}
	return ch, nil
}

// cutLast parts a name, which may hold equals signs, from the figure after the last one.
func cutLast(text string) (name, figure string, found bool) {
	i := strings.LastIndexByte(text, '=')
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+1:], true
}

func exampleOf(usage string) string {
	_, rest, _ := strings.Cut(usage, "`")
	example, _, _ := strings.Cut(rest, "`")
	return example
}

func whatIfCommand() *cobra.Command {
	var to remote.Connection
	var out shell.Output
	var flags question.OptionFlags
	var change changeFlags
	about := question.Subject{Connection: &to}
	var name, at string
	var files, saved []string
	c := &cobra.Command{
		Use:   "whatif [FILE|-]",
		Short: "Say what other deadlines, demand, prices or limits would come to",
		Long: `Lays changes over a problem, solves it with and without them, and puts both beside each other. All flags
together are one scenario; each --scenario file is another. "Same VMs and jobs" is what the plan as it is
would cost more in the scenario, "Adapting" what a new plan changes of that. Refused jobs are on no bill:
the value refused is what they are worth to you.

With --cluster a server is asked about one of its clusters as it is now, or at another time with --at, and --saved
names scenarios it has. To make one,
"headroom whatif scenario save CLUSTER NAME" takes the same flags, and "headroom whatif scenario create CLUSTER FILE" a file.` + remote.ConnectionHelp,
		Example: "  headroom whatif cluster.json --deadline 'nightly-etl=x0.8'\n  headroom whatif cluster.json --demand '*=x1.1' --price on_demand=0.25 -o json\n  headroom whatif --cluster shop --saved black-friday --quota 200",
		Args:    cobra.MaximumNArgs(1),
	}
	to.AddFlags(c)
	out.AddFlags(c, "table", "json", "csv")
	flags.Add(c)
	change.add(c)
	about.AddFlags(c)
	c.Flags().StringVar(&at, "at", "", "of a cluster: ask about this `time`, such as 2026-03-01T22:00:00Z (default now)")
	c.Flags().StringVar(&name, "name", "", "what the scenario of the flags is called, as a `name`")
	c.Flags().StringArrayVar(&files, "scenario", nil, "a `file` with a scenario (JSON); may be given again")
	c.Flags().StringArrayVar(&saved, "saved", nil, "a saved scenario of the cluster, by `name`; may be given again")
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if err := noCommand(c, args); err != nil {
			return err
		}
		if err := about.CheckFile(args); err != nil {
			return err
		}
		if about.Here() && len(saved) > 0 {
			return errors.New("saved scenarios are a cluster's; say of which with --cluster")
		}
		if about.Here() && at != "" {
			return errors.New("a file is of no time; say of which cluster with --cluster, or leave --at out")
		}
		if _, _, err := change.changes(); err != nil {
			return err
		}
		return flags.Check(c, about.Here())
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		changes, said, _ := change.changes() // looked at above
		var asked []whatif.AskedScenario
		if len(changes) > 0 {
			asked = append(asked, whatif.AskedScenario{Name: name, Changes: changes})
		}
		for _, file := range files {
			s, err := readScenario(c, file)
			if err != nil {
				return err
			}
			asked = append(asked, whatif.AskedScenario{Name: s.Name, Changes: s.Changes})
		}
		for _, name := range saved {
			asked = append(asked, whatif.AskedScenario{Saved: name})
		}
		if len(asked) == 0 {
			return shell.Fail(shell.ExitUsage, errors.New("say what is to be changed, such as --deadline 'etl=x0.8', or name a --scenario file"))
		}
		if about.Here() {
			w, err := whatIfHere(c, shell.FileArgument(args), asked, said, flags)
			if err != nil {
				return err
			}
			text, err := json.Marshal(w)
			if err != nil {
				return err
			}
			return writeWhatIf(c, out, w, text)
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		question := map[string]any{"scenarios": asked}
		if at != "" {
			question["at"] = at
		}
		err = answeredWhatIf(c, out, s, openapi.ClusterWhatIf(about.Cluster, nil), remote.JSONOf(question))
		// the scenario of the flags comes first; without one nothing was said
		return append(remote.FlagOrigins("at"), remote.Origin{Pointer: "/scenarios/0/changes", Each: said}).Say(err)
	})
}

func readScenario(c *cobra.Command, file string) (whatif.Scenario, error) {
	data, label, err := shell.Read(c.Context(), file, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return whatif.Scenario{}, err
	}
	s, err := whatif.ReadScenario(data)
	return s, shell.Labelled(label, err)
}

// whatIfHere answers without a server. Findings about changes that came from flags name the flag.
func whatIfHere(c *cobra.Command, file string, asked []whatif.AskedScenario, said []string,
	flags question.OptionFlags) (whatif.Comparison, error) {
	data, label, err := shell.Read(c.Context(), file, c.InOrStdin(), c.ErrOrStderr())
	if err != nil {
		return whatif.Comparison{}, err
	}
	auto := func(o *capacity.Options) { o.Engine = capacity.EngineAuto }
	problem, err := capacity.ReadProblem(data, shell.Limits, append([]func(*capacity.Options){auto}, flags.Overrides(c)...)...)
	if err != nil {
		return whatif.Comparison{}, shell.Labelled(label, err)
	}
	scenarios := make([]whatif.Scenario, len(asked))
	for i := range asked {
		scenarios[i] = asked[i].Scenario()
		if _, err := scenarios[i].Apply(problem); err != nil {
			if i == 0 && len(said) > 0 {
				return whatif.Comparison{}, byFlag(err, "/changes", said)
			}
			return whatif.Comparison{}, err
		}
	}
	p := question.Planner{}
	defer p.Close()
	return whatif.CompareScenarios(c.Context(), problem, scenarios, len(scenarios) <= whatif.MaxFullScenarios,
		func(ctx context.Context, problem capacity.Problem) (capacity.Plan, error) {
			return p.Plan(ctx, problem)
		})
}

// byFlag makes findings about changes in a list name the flags they are about.
func byFlag(err error, list string, said []string) error {
	return remote.Origins{{Pointer: list, Each: said}}.Say(err)
}

// answeredWhatIf asks a server and writes what it says.
func answeredWhatIf(c *cobra.Command, out shell.Output, s *remote.Service, request openapi.Request, options ...remote.Option) error {
	a, err := s.Call(c.Context(), request, options...)
	if err != nil {
		return err
	}
	var w whatif.Comparison
	if err := a.Into(&w); err != nil {
		return err
	}
	return writeWhatIf(c, out, w, a.Body)
}

// noJobs says how to ask about an hour of a cluster that has jobs.
const noJobs = "No jobs are wanted at this time. Ask about another hour of the cluster with --at, such as --at 2027-01-04T02:00:00Z."

func writeWhatIf(c *cobra.Command, out shell.Output, w whatif.Comparison, text []byte) error {
	return out.Write(c, map[string]shell.Form{
		"table": func(to io.Writer) error {
			for _, a := range w.Scenarios {
				line := a.Sentence
				if a.Name != "" {
					line = a.Name + ": " + line
				}
				if _, err := fmt.Fprintln(to, shell.Shown(line)); err != nil {
					return err
				}
				if a.Difference != nil {
					for _, why := range a.Difference.KeptBecause {
						fmt.Fprintln(to, shell.Shown("  Not all could stay as it was: "+why))
					}
				}
			}
			if w.Base.Admitted+w.Base.Refused == 0 && c.Flags().Changed("cluster") {
				fmt.Fprintln(to, noJobs)
			}
			fmt.Fprintln(to)
			if len(w.Scenarios) <= whatif.MaxFullScenarios {
				if err := tables.ScenarioLines(w).Text(to); err != nil {
					return err
				}
				_, err := fmt.Fprintf(to, "\n%s\n", tables.AboutLines)
				return err
			}
			return tables.WhatIf(w).Text(to)
		},
		"json": remote.Indented(text),
		"csv":  tables.WhatIf(w).CSV,
	})
}
