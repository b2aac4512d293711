package whatif

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/edge/cli/question"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	kinds "example.org/headroom/internal/service/question"
	"example.org/headroom/openapi"
)

var _ = verb(askBudgetCommand) && verb(askAllCommand) && verb(askOneMoreCommand) && verb(askDeadlineCommand)

const askLong = "\n\nThe question is answered by the same model as plans, about a problem in a file or, with --cluster, about a\n" +
	"server's cluster: a paragraph that can be forwarded, and the figures in it."

// questionVerb is a verb that asks one question.
func questionVerb(c *cobra.Command, asking func(c *cobra.Command) (goal.Question, error)) *cobra.Command {
	to := new(remote.Connection)
	to.AddFlags(c)
	c.Args = cobra.MaximumNArgs(1)
	c.Long = cmp.Or(c.Long, c.Short+".") + askLong + remote.ConnectionHelp
	v := question.Verb[goal.ProblemQuestion, goal.Answer]{Kind: kinds.Goal, To: to, AtOnce: true}
	v.Check = func(c *cobra.Command, _ []string) error {
		_, err := asking(c)
		return err
	}
	v.Send = func(c *cobra.Command, cluster, _ string) (openapi.Request, any, error) {
		q, err := asking(c)
		return openapi.AskCluster(cluster, nil), q, err
	}
	v.Read = func(c *cobra.Command, args []string) (asked goal.ProblemQuestion, err error) {
		if asked.Question, err = asking(c); err != nil {
			return asked, err
		}
		if asked.Problem, err = question.ProblemToCompare(c, shell.FileArgument(args), v.Options); err != nil {
			return asked, err
		}
		if err := asked.Question.Check(); err != nil {
			return asked, err
		}
		return asked, asked.Question.CheckFor(&asked.Problem)
	}
	return v.Command(c)
}

func askBudgetCommand() *cobra.Command {
	var amount, currency string
	b := goal.AskedBudget{Per: goal.PerHour, Of: goal.OfVMCost}
	c := &cobra.Command{
		Use: "budget [FILE|-]", Short: "Say what it is best to serve for at most so much money",
		Long:    "Says what it is best to serve for at most so much an hour or a month (730 hours), on VMs or with the penalties of\nrefused jobs. It is the cheapest plan within the budget: a job whose VMs cost more than refusing it is refused all the same.",
		Example: "  headroom whatif budget cluster.json --amount 8000 --per month\n  headroom whatif budget --cluster shop --amount 20 --of total",
	}
	c.Flags().StringVar(&amount, "amount", "", "how much `money`")
	shell.Require(c, "amount")
	c.Flags().StringVar(&currency, "currency", "", "the amount's `currency`, which must be the problem's")
	shell.AddChoice(c, &b.Per, "per", "", "the time in which it may be spent", goal.PerPeriod, goal.PerHour, goal.PerMonth)
	shell.AddChoice(c, &b.Of, "of", "", "what it is spent on", goal.OfVMCost, goal.OfTotal)
	return questionVerb(c, func(*cobra.Command) (goal.Question, error) {
		m, err := money.Parse(amount)
		if err != nil {
			return goal.Question{}, fmt.Errorf("--amount is %q; give a figure such as 1000 or 2.50", amount)
		}
		asked := b
		asked.Amount, asked.Currency = m, currency
		return goal.Question{Question: goal.AskMostForBudget, Budget: &asked}, nil
	})
}

func askAllCommand() *cobra.Command {
	c := &cobra.Command{Use: "all [FILE|-]", Short: "Say what serving every job costs at least"}
	return questionVerb(c, func(*cobra.Command) (goal.Question, error) {
		return goal.Question{Question: goal.AskCheapestForAll}, nil
	})
}

func askOneMoreCommand() *cobra.Command {
	var class string
	c := &cobra.Command{Use: "one-more [FILE|-]", Short: "Say what one more job of a class costs",
		Long:    "Says what the best plan costs more if it serves one more job of the class than now: one of those refused, or one more than\nis asked for where none is. The bill comes first; the value of other jobs that are refused for it stands apart.",
		Example: "  headroom whatif one-more cluster.json --class nightly-etl"}
	c.Flags().StringVar(&class, "class", "", "which `class`")
	shell.Require(c, "class")
	return questionVerb(c, func(*cobra.Command) (goal.Question, error) {
		if class == "" {
			return goal.Question{}, errors.New("say of which class with --class")
		}
		return goal.Question{Question: goal.AskOneMoreJob, Class: class}, nil
	})
}

func askDeadlineCommand() *cobra.Command {
	var class string
	var extra float64
	c := &cobra.Command{
		Use: "deadline [FILE|-]", Short: "Say how early deadlines can be promised, and what earlier ones cost",
		Long:    "Keeps the jobs that are admitted now. Says the earliest deadline that costs no more than now and the earliest that\ncan be met at all. Prices deadlines 10 to 50 % earlier. They are seconds of a class, or a common factor of all classes.",
		Example: "  headroom whatif deadline cluster.json --class nightly-etl --extra 5",
	}
	c.Flags().StringVar(&class, "class", "", "which `class`; without it all, by a common factor")
	c.Flags().Float64Var(&extra, "extra", 0, "how many `per cent` more than now bill and value refused together may be")
	return questionVerb(c, func(*cobra.Command) (goal.Question, error) {
		return goal.Question{Question: goal.AskCheapestDeadline, Class: class, ExtraPercent: &extra}, nil
	})
}
