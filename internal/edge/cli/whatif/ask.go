package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"headroom/internal/ask/goal"
	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/edge/cli/question"
	"headroom/internal/edge/cli/remote"
	"headroom/internal/edge/cli/shell"
	tables "headroom/internal/service/report"
	"headroom/openapi"
)

func askCommand() *cobra.Command {
	c := remote.Group("ask", "Ask about budgets, one more job, and deadlines", `

Each question is answered by the same model as plans, about a problem in a file or, with --cluster, about a
server's cluster: a paragraph that can be forwarded, and the figures in it.`)
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(askBudgetCommand(&to), askAllCommand(&to), askOneMoreCommand(&to), askDeadlineCommand(&to))
	return c
}

// questionVerb is a verb that asks one question.
func questionVerb(to *remote.Connection, c *cobra.Command, asking func(c *cobra.Command) (goal.Question, error)) *cobra.Command {
	var out shell.Output
	var flags question.OptionFlags
	about := question.Subject{Connection: to}
	c.Args = cobra.MaximumNArgs(1)
	out.AddFlags(c, "table", "json", "csv", "xlsx")
	flags.Add(c)
	about.AddFlags(c)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if err := about.CheckFile(args); err != nil {
			return err
		}
		if _, err := asking(c); err != nil {
			return err
		}
		if err := out.CheckSheet(c); err != nil {
			return err
		}
		return flags.Check(c)
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		q, err := asking(c)
		if err != nil {
			return err
		}
		if !about.Here() {
			return askThere(c, to, out, about.Cluster, q)
		}
		p, err := question.ProblemToCompare(c, shell.FileArgument(args), flags)
		if err != nil {
			return err
		}
		if err := q.Check(); err != nil {
			return err
		}
		if err := q.CheckFor(&p); err != nil {
			return err
		}
		a, err := askHere(c.Context(), p, q)
		if err != nil {
			return err
		}
		if err := writeQuestion(c, out, a); err != nil || a.Status != capacity.InfeasibleStatus {
			return err
		}
		return shell.Fail(shell.ExitInfeasible, nil) // the conflicts are in the answer
	})
}

// askedBudget bounds the time of one question, in time budgets of its problem.
const askedBudget = 10

func askHere(ctx context.Context, p capacity.Problem, q goal.Question) (goal.Answer, error) {
	solver := question.Planner{}
	defer solver.Close()
	ctx, cancel := context.WithTimeout(ctx, askedBudget*time.Duration(p.Options.MaxSolveMs)*time.Millisecond)
	defer cancel()
	return goal.Ask(ctx, p, q, solver.Solve)
}

func askThere(c *cobra.Command, to *remote.Connection, out shell.Output, cluster string, q goal.Question) error {
	s, err := to.OpenForPlanning(c)
	if err != nil {
		return err
	}
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	answered, err := s.Call(c.Context(), openapi.AskCluster(cluster, nil), remote.JSONBody(body))
	if err != nil {
		return err
	}
	var a goal.Answer
	if err := answered.Into(&a); err != nil {
		return err
	}
	return writeQuestion(c, out, a)
}

func writeQuestion(c *cobra.Command, out shell.Output, a goal.Answer) error {
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error { return tables.QuestionText(w, a) },
		"json":  shell.AsJSON(a),
		"csv":   tables.Question(a).CSV,
		"xlsx":  func(w io.Writer) error { return tables.QuestionWorkbook(w, a) },
	})
}

func askBudgetCommand(to *remote.Connection) *cobra.Command {
	var amount, currency string
	b := goal.AskedBudget{Per: goal.PerHour, Of: goal.OfVMCost}
	c := &cobra.Command{
		Use: "budget [FILE|-]", Short: "Say what can be served for at most so much money",
		Long:    "Says what can be served for at most so much an hour or a month (730 hours), on VMs or with the penalties of refused\njobs. It is the cheapest plan within the budget: a job whose VMs cost more than refusing it is refused all the same.",
		Example: "  headroom ask budget cluster.json --amount 1000 --per month\n  headroom ask budget --cluster shop --amount 2.50 --of total",
	}
	c.Flags().StringVar(&amount, "amount", "", "how much `money`")
	c.Flags().StringVar(&currency, "currency", "", "the amount's `currency`, which must be the problem's")
	shell.AddChoice(c, &b.Per, "per", "", "the time in which it may be spent", goal.PerPeriod, goal.PerHour, goal.PerMonth)
	shell.AddChoice(c, &b.Of, "of", "", "what it is spent on", goal.OfVMCost, goal.OfTotal)
	return questionVerb(to, c, func(*cobra.Command) (goal.Question, error) {
		m, err := money.Parse(amount)
		if err != nil {
			return goal.Question{}, fmt.Errorf("--amount is %q; give a figure such as 1000 or 2.50", amount)
		}
		asked := b
		asked.Amount, asked.Currency = m, currency
		return goal.Question{Question: goal.AskMostForBudget, Budget: &asked}, nil
	})
}

func askAllCommand(to *remote.Connection) *cobra.Command {
	c := &cobra.Command{Use: "all [FILE|-]", Short: "Say what serving every job costs at least"}
	return questionVerb(to, c, func(*cobra.Command) (goal.Question, error) {
		return goal.Question{Question: goal.AskCheapestForAll}, nil
	})
}

func askOneMoreCommand(to *remote.Connection) *cobra.Command {
	var class string
	c := &cobra.Command{Use: "one-more [FILE|-]", Short: "Say what one more job of a class costs", Example: "  headroom ask one-more cluster.json --class etl"}
	c.Flags().StringVar(&class, "class", "", "which `class`")
	return questionVerb(to, c, func(*cobra.Command) (goal.Question, error) {
		if class == "" {
			return goal.Question{}, errors.New("say of which class with --class")
		}
		return goal.Question{Question: goal.AskOneMoreJob, Class: class}, nil
	})
}

func askDeadlineCommand(to *remote.Connection) *cobra.Command {
	var class string
	var extra float64
	c := &cobra.Command{
		Use: "deadline [FILE|-]", Short: "Say how early deadlines can be promised, and what earlier ones cost",
		Long:    "Keeps the jobs that are admitted now. Says the earliest deadline that costs no more than now and the earliest that\ncan be met at all. Prices deadlines 10 to 50 % earlier. They are seconds of a class, or a common factor of all classes.",
		Example: "  headroom ask deadline cluster.json --class etl --extra 5",
	}
	c.Flags().StringVar(&class, "class", "", "which `class`; without it all, by a common factor")
	c.Flags().Float64Var(&extra, "extra", 0, "how many `per cent` more than now it may cost")
	return questionVerb(to, c, func(*cobra.Command) (goal.Question, error) {
		return goal.Question{Question: goal.AskCheapestDeadline, Class: class, ExtraPercent: &extra}, nil
	})
}
