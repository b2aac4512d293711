package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/recheck"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
)

// VerifyCommand returns the command that checks plans and answers.
func VerifyCommand() *cobra.Command {
	var out shell.Output
	var to remote.Connection
	var all bool
	c := &cobra.Command{
		Use:   "verify PROBLEM [PLAN|-] | QUESTION [ANSWER|-] | BOTH | --all [CLUSTER...]",
		Short: "Check a plan, an answer or every stored plan, exactly and independently",
		Long: `Checks a plan (from a file or standard input) against the problem it answers with code that shares
nothing with the code that made it. A plan that is wrong ends with exit code 1.

In the same way it checks answers in JSON to questions that bring their problem along: about months, purchases, scenarios,
sweeps, goals, targets, free slots ("headroom lab decide"), promises ("headroom lab judge"), fits ("headroom history fit measurements") and
calibrations ("headroom history fit calibration"; for the report of a class, the question is "headroom history calibration get --question").
QUESTION is the body that the server takes, such as that of POST /v1/horizons, or the problem whose targets were asked about. It adds up what time, counts and prices
come to, and looks for cheaper plans itself, in bounded work: what was not looked at is said.

BOTH is a document with the members question and answer, as "headroom plan schedule -o json" writes it.

The plan is read strictly: a member that is missing, unknown, given twice or written in other capitals is
refused with its path. Of the record of a stored plan the plan alone is read. What no check looks at is
listed at the end, as not_checked in JSON.

With --all it reads every plan that a server keeps, of all clusters or of those named, with the inputs that
each answers, and checks them here: the server is asked for what is stored and believed in nothing else.`,
		Example: "  headroom solve -o json cluster.json | headroom verify cluster.json\n  headroom plan schedule shop -o json | headroom verify -\n  headroom verify --all\n  headroom verify --all shop",
		Args: func(c *cobra.Command, args []string) error {
			if all {
				return nil
			}
			return cobra.RangeArgs(1, 2)(c, args)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "check every plan that a server keeps")
	to.AddFlags(c)
	out.AddFlags(c, "table", "json", "csv")
	check := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if check != nil {
			if err := check(c, args); err != nil {
				return err
			}
		}
		if all {
			if out.Format == "csv" {
				return errors.New("--all is printed as a table or as json")
			}
			return nil
		}
		if len(args) == 2 && args[0] == "-" && args[1] == "-" {
			return errOneInput
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if all {
			return verifyAll(c, &to, out, args)
		}
		data, label, err := shell.Read(c.Context(), args[0], c.InOrStdin(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		answer, from := []byte(nil), label
		if len(args) == 1 {
			data, answer = questionWithAnswer(data)
		}
		switch {
		case answer != nil: // it came with its question
		case len(args) == 1 && args[0] == "-":
			return errOneInput
		default:
			if answer, from, err = shell.Read(c.Context(), shell.FileArgument(args[1:]), c.InOrStdin(), c.ErrOrStderr()); err != nil {
				return err
			}
		}
		what, to, verify := "plan", "problem", verifyPlan
		if recheck.IsQuestion(data, answer) {
			what, to, verify = "answer", "question", verifyAnswer
		}
		r, label, err := verify(data, label, answer, from)
		if err != nil {
			return err
		}
		if err := out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return tables.Verdict(w, what, r) },
			"json":  shell.AsJSON(r),
			"csv":   tables.Checks(r).CSV,
		}); err != nil {
			return err
		}
		if !r.Accepted() {
			return fmt.Errorf("%s: The %s does not answer the %s rightly", label, what, to)
		}
		return nil
	})
}

var errOneInput = errors.New("the problem and the plan cannot both come from standard input; name a file for one")

// questionWithAnswer returns the two where one document has both, and else the document alone. The goal of a plan is a question
// that is no object.
func questionWithAnswer(data []byte) (question, answer []byte) {
	var both struct{ Question, Answer json.RawMessage }
	isObject := func(text []byte) bool { return len(text) > 0 && text[0] == '{' }
	if json.Unmarshal(data, &both) != nil || !isObject(both.Question) || !isObject(both.Answer) {
		return data, nil
	}
	return both.Question, both.Answer
}

func verifyPlan(data []byte, label string, stated []byte, from string) (proof.Report, string, error) {
	problem, err := capacity.ReadProblem(data, shell.Limits)
	if err != nil {
		return proof.Report{}, label, shell.Labelled(label, err)
	}
	pl, err := capacity.ReadPlanOrRecord(stated)
	if err != nil {
		return proof.Report{}, from, shell.Labelled(from, err)
	}
	return proof.Verify(problem, pl, proof.Options{}), from, nil
}

func verifyAnswer(asked []byte, label string, answer []byte, from string) (proof.Report, string, error) {
	r, err := recheck.Answer(asked, answer, recheck.Options{Limits: shell.Limits})
	if unread := (*recheck.UnreadError)(nil); errors.As(err, &unread) {
		return r, from, shell.Labelled(from, unread.Err)
	}
	return r, from, shell.Labelled(label, err)
}
