package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/pool"
	"example.org/headroom/internal/ask/reproduce"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/lp/worker"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans/solving"
	tables "example.org/headroom/internal/service/report"
)

func reproduceCommand() *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use:   "reproduce",
		Short: "Run published experiments again and compare what comes out",
		Long: `Runs the experiments of the papers that Headroom is built on. Alone it lists the experiments.

Each claim of a paper has one row: the paper's figure and protocol, ours, and a verdict:
  confirmed       inside the paper's printed range, under its printed protocol
  different       outside the range
  refuted         the opposite comes out
  not comparable  the protocols differ; the reason is given
Beside the verdicts, every figure of ours has a band of its own. It tells whether Headroom still computes
what it did, and nothing of the paper.

Instances are drawn from seeds: the same seed gives the same figures everywhere, measured times aside.
Every optimum behind a figure is proved.

Exit codes: 0 every verdict is the recorded one and every figure inside its band, 5 one is not;
the others are as of any command.`,
		Example: "  headroom lab reproduce\n  headroom lab reproduce sharing\n  headroom lab reproduce deadlines --seed 7 -o csv\n" +
			"  headroom lab reproduce all --quick -o json",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			wrong := fmt.Sprintf("there is no experiment %q", args[0])
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				wrong += "; did you mean " + strings.Join(near, " or ") + "?"
			}
			return errors.New(wrong)
		},
		SuggestionsMinimumDistance: 2,
	}
	out.AddFlags(c, "table", "json", "csv")
	all := reproduce.Experiments()
	for _, e := range all {
		c.AddCommand(experimentCommand(e.Name, e.About, about(e), e))
	}
	c.AddCommand(experimentCommand("all", "every experiment, one after the other",
		"Runs every experiment that there is.", all...))
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		return out.Write(c, map[string]shell.Form{
			"table": tables.Experiments(all).Text,
			"json":  shell.AsJSON(all),
			"csv":   tables.Experiments(all).CSV,
		})
	})
}

// about describes an experiment in the help.
func about(e reproduce.Experiment) string {
	text := "Source:\n  " + e.Source + "\n\nClaim:\n  " + e.Claim + "\n\nHow it is run:\n  " + strings.ReplaceAll(e.Method, ". ", ".\n  ")
	if e.NeedsSolver {
		text += "\n\nIt needs the solver program headroom-solver."
	}
	return text
}

// experimentCommand runs one experiment, or several.
func experimentCommand(name, short, long string, experiments ...reproduce.Experiment) *cobra.Command {
	var out shell.Output
	var setting reproduce.Setting
	var rows bool
	c := &cobra.Command{
		Use: name, Short: strings.ToUpper(short[:1]) + short[1:], Long: long,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().Uint64Var(&setting.Seed, "seed", 1, "the first instance's seed; the others' follow it")
	c.Flags().IntVar(&setting.Instances, "instances", 0, "so many instances for every point, instead of the experiment's own number")
	c.Flags().BoolVar(&setting.Quick, "quick", false, "fewer points and instances: an impression in a second")
	if len(experiments) == 1 {
		c.Flags().BoolVar(&rows, "rows", false, "with -o csv: the figures of every point instead of the comparison")
	}
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if n := setting.Instances; c.Flags().Changed("instances") && (n < 1 || n > reproduce.MostInstances) {
			return fmt.Errorf("--instances is %d; it must be from 1 to %d", n, reproduce.MostInstances)
		}
		if rows && out.Format != "csv" {
			return errors.New("--rows is for -o csv; the other formats have them anyway")
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		results, err := reproduced(c.Context(), experiments, setting, c.ErrOrStderr())
		if err != nil {
			return err
		}
		forms := map[string]shell.Form{
			"table": func(w io.Writer) error { return reproductionsText(w, results) },
			"json":  shell.AsJSON(results),
			"csv":   tables.Reproductions(results...).CSV,
		}
		if len(experiments) == 1 {
			forms["json"] = shell.AsJSON(results[0])
		}
		if rows {
			forms["csv"] = tables.Measured(results[0]).CSV
		}
		if err := out.Write(c, forms); err != nil {
			return err
		}
		return differing(results)
	})
}

// reproduced runs experiments, one after the other because some measure time.
func reproduced(ctx context.Context, experiments []reproduce.Experiment, setting reproduce.Setting,
	stderr io.Writer) ([]reproduce.Reproduction, error) {
	tools := reproduce.Tools{
		Clock: time.Now,
		Plan: func(ctx context.Context, p capacity.Problem) (capacity.Plan, error) {
			return plan.NewSeries(p, nil).Solve(ctx, p) // in brief; every plan is proved without a solver
		},
		Pack: func(ctx context.Context, p pack.PackingProblem) (pack.Packing, error) {
			return solving.CheckedPacking(ctx, p, nil)
		},
	}
	tools.Pool = func(ctx context.Context, p pool.PoolProblem) (pool.PoolPlan, error) {
		return solving.CheckedPool(ctx, p, tools.Solver)
	}
	tools.EvaluatePool = func(ctx context.Context, p pool.PoolProblem) (pool.PoolEvaluation, error) {
		return solving.CheckedMix(ctx, p, tools.Solver)
	}
	for _, e := range experiments {
		if e.NeedsSolver && tools.Solver == nil {
			if _, err := worker.Find(); err != nil {
				return nil, fmt.Errorf("%s compares with CBC, which is not to be had: %w", e.Name, err)
			}
			pool := worker.New(worker.Config{Processes: 1})
			defer pool.Close()
			tools.Solver = pool
		}
	}
	var results []reproduce.Reproduction
	for _, e := range experiments {
		bar := newSteps(stderr, e.Name)
		tools.Progress = bar.show
		r, err := e.Run(ctx, tools, setting)
		bar.finish()
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

func reproductionsText(w io.Writer, results []reproduce.Reproduction) error {
	for i, r := range results {
		if i > 0 {
			if _, err := fmt.Fprint(w, "\n\n"); err != nil {
				return err
			}
		}
		if err := tables.ReproductionText(w, r); err != nil {
			return err
		}
	}
	return nil
}

// differing is the error where a verdict is not the recorded one, or a figure outside its band.
func differing(results []reproduce.Reproduction) error {
	var wrong []error
	for _, r := range results {
		for _, c := range r.Checks {
			if c.Changed() && c.Claim.Recorded == "" {
				wrong = append(wrong, fmt.Errorf("%s: %s: the verdict is %q, and none is recorded", r.Name, c.Claim.Name, c.Verdict))
			} else if c.Changed() {
				wrong = append(wrong, fmt.Errorf("%s: %s: the verdict is %q, not %q as recorded", r.Name, c.Claim.Name, c.Verdict, c.Claim.Recorded))
			}
			switch c.Band {
			case reproduce.Outside:
				wrong = append(wrong, fmt.Errorf("%s: %s: it is outside our own band", r.Name, c.Figure))
			case reproduce.Uncertain:
				wrong = append(wrong, fmt.Errorf("%s: %s: there are too few --instances to tell", r.Name, c.Figure))
			}
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return shell.Fail(shell.ExitDiffers, errors.Join(wrong...))
}

// steps is a bar on a terminal.
type steps struct {
	bar  *progressbar.ProgressBar
	to   io.Writer // nil where nobody looks
	what string
}

func newSteps(stderr io.Writer, what string) *steps {
	s := &steps{what: what}
	if shell.IsTerminal(stderr) {
		s.to = stderr
	}
	return s
}

func (s *steps) show(done, total int) {
	if s.to == nil {
		return
	}
	if s.bar == nil {
		s.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(s.to), progressbar.OptionSetDescription(s.what),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = s.bar.Set(done) // a bar that cannot be drawn is no reason to stop
}

func (s *steps) finish() {
	if s.bar != nil {
		_ = s.bar.Clear()
	}
}
