package whatif

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

var _ = verb(sweepCommand)

func sweepCommand() *cobra.Command {
	var texts []string
	var curve bool
	c := &cobra.Command{
		Use:   "sweep [FILE|-]",
		Short: "Say what a problem comes to over a range of a parameter, or a grid of two",
		Long: `Plans a problem at every value of a parameter, or of two as a grid. A parameter is written WHAT:OF=VALUES:

  deadline, demand, promised, penalty   of a class, or of all: demand:etl=5,10,20  demand:*=0.5..2/31
  price                                 price:on_demand=0.1..0.4/7  price:spot=…  price:CONTRACT=…
  contract                              VMs in a contract: contract:three-year=0..100/21
  quota, budget, total, spot_share      quota=10,20,40  budget=x0.5..1.5/11

VALUES are a list, or a range with its number of points, 0.5..2/31; 0.1..10/21g has equal ratios. With an x before
them they multiply what there is, as they do for * without it. Whole numbers are rounded; a value that comes
twice is tried once.

--curve adds the linear program's cost with every number at which its slope changes. With --cluster a server
is asked about one of its clusters; a long sweep is then a run that is waited for.` + remote.ConnectionHelp,
		Example: "  headroom whatif sweep cluster.json --vary 'demand:*=0.5..2/31'\n  headroom whatif sweep cluster.json --vary contract:three-year=0..100/5 --curve\n  headroom whatif sweep --cluster shop --vary 'deadline:nightly-etl=x0.7..1.3/7' --vary price:on_demand=x0.8..1.2/5 -o xlsx -f sweep.xlsx",
		Args:    cobra.MaximumNArgs(1),
	}
	v := question.Verb[whatif.SweepQuestion, whatif.SweepAnswer]{Kind: kinds.Sweep, Mend: func(err error) error { return byVary(err, texts) }}
	c.Flags().StringArrayVar(&texts, "vary", nil, "what takes which values, as `WHAT:OF=VALUES`; give it again for a grid")
	shell.Require(c, "vary")
	c.Flags().BoolVar(&curve, "curve", false, "the linear program's cost as well, with its breakpoints")
	var vary []whatif.Vary
	v.Check = func(*cobra.Command, []string) (err error) {
		if len(texts) == 0 {
			return errors.New("say what is to be varied, such as --vary 'demand:*=0.5..2/31'")
		}
		vary, err = readAllVaried(texts)
		return err
	}
	v.Send = func(_ *cobra.Command, cluster, _ string) (openapi.Request, any, error) {
		err := v.Mend(whatif.CheckVaried(vary, curve))
		return openapi.ClusterSweep(cluster, nil), whatif.ClusterSweepQuestion{Vary: vary, Curve: curve}, err
	}
	v.Read = func(c *cobra.Command, args []string) (q whatif.SweepQuestion, err error) {
		if err := whatif.CheckVaried(vary, curve); err != nil {
			return q, v.Mend(err)
		}
		problem, err := question.ProblemToCompare(c, shell.FileArgument(args), v.Options)
		if err != nil {
			return q, err
		}
		q = whatif.SweepQuestion{Problem: problem, Vary: vary, Curve: curve}
		return q, v.Mend(q.Check())
	}
	return v.Command(c)
}

// readAllVaried reads the parameters of a sweep.
func readAllVaried(texts []string) (vary []whatif.Vary, err error) {
	for _, text := range texts {
		one, err := readVary(text)
		if err != nil {
			return nil, err
		}
		vary = append(vary, one)
	}
	return vary, nil
}

// readVary reads a parameter as the flag has it.
func readVary(text string) (whatif.Vary, error) {
	wrong := func(why string) (whatif.Vary, error) {
		return whatif.Vary{}, fmt.Errorf("--vary is %q; %s", text, why)
	}
	subject, values, found := cutLast(text)
	if !found || values == "" {
		return wrong("write what is varied, an equals sign and the values, such as demand:etl=5..20/4")
	}
	what, of, _ := strings.Cut(subject, ":")
	v := whatif.Vary{What: whatif.What(what), By: whatif.ByValue}
	if digits, factor := strings.CutPrefix(values, "x"); factor || of == "*" {
		v.By, values = whatif.ByFactor, digits
	}
	if of == "*" {
		of = ""
	}
	switch v.What {
	case whatif.ChangePrice:
		switch of {
		case "", string(capacity.PurchaseOnDemand), string(capacity.PurchaseSpot):
			v.Purchase = capacity.Purchase(of)
		default:
			v.Contract = of
		}
	case whatif.ChangeContract:
		v.Contract = of
	case whatif.ChangeQuota, whatif.ChangeSpotShare:
		v.VMType = of
	default:
		v.Class = of
	}
	from, rest, isRange := strings.Cut(values, "..")
	if !isRange {
		for one := range strings.SplitSeq(values, ",") {
			m, err := money.Parse(strings.TrimSpace(one))
			if err != nil {
				return wrong(fmt.Sprintf("%q is no figure; write a list such as 5,10,20 or a range such as 0.5..2/31", one))
			}
			v.Values = append(v.Values, m)
		}
		return v, nil
	}
	end, steps, counted := strings.Cut(rest, "/")
	if !counted {
		return wrong("say after a slash how many points the range has, such as " + values + "/11")
	}
	if digits, geometric := strings.CutSuffix(steps, "g"); geometric {
		v.Spacing, steps = whatif.Geometric, digits
	}
	low, err := money.Parse(from)
	high, wrongEnd := money.Parse(end)
	n, wrongSteps := strconv.ParseInt(steps, 10, 64)
	if err != nil || wrongEnd != nil || wrongSteps != nil {
		return wrong("write a range as 0.5..2/31: its first value, its last and how many points it has")
	}
	v.From, v.To, v.Steps = &low, &high, n
	return v, nil
}

// byVary makes findings about parameters name the flags they are about.
func byVary(err error, texts []string) error {
	said := make([]string, len(texts))
	for i, text := range texts {
		said[i] = "--vary " + text
	}
	return remote.Origins{{Pointer: "/curve", Flag: "--curve"}, {Pointer: "/vary", Each: said}}.Say(err)
}
