package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/plans"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

// Command returns the commands about a cluster's plans.
func Command() *cobra.Command {
	c := remote.Group("plan", "Make, show and compare the plans of a cluster", "\n\n"+
		"A plan is named by its number, its id, or the word current, which is the\n"+
		"one that holds now: the newest good one, unless another is pinned.")
	var to remote.Connection
	to.AddFlags(c)
	c.AddCommand(planCreateCommand(&to), planListCommand(&to), planGetCommand(&to), planDiffCommand(&to),
		planExplainCommand(&to), planVerifyCommand(&to), planProblemCommand(&to), planScheduleCommand(&to), planPinCommand(&to), planUnpinCommand(&to),
		planWatchCommand(&to))
	return c
}

// planRef is the plan that optional arguments name.
func planRef(args []string, position int) (string, error) {
	if len(args) <= position || args[position] == "current" {
		return "current", nil
	}
	ref := args[position]
	if n, err := strconv.ParseInt(ref, 10, 64); err == nil && n > 0 {
		return strconv.FormatInt(n, 10), nil
	}
	if len(ref) == 36 && strings.Count(ref, "-") == 4 {
		return ref, nil
	}
	return "", shell.Fail(shell.ExitUsage, fmt.Errorf("%q names no plan; give a number such as 3, an id, or current", shell.Clipped(ref)))
}

// record is a stored plan as the server sends it, and what is in it.
type record struct {
	text json.RawMessage
	plans.PlanSummary
	Vote      *plans.Vote     `json:"vote"`
	Plan      capacity.Plan   `json:"plan"`
	Freshness plans.Freshness `json:"freshness"` // of the current plan
}

// readRecord takes a record from an answer.
func readRecord(a remote.Answer, err error) (record, error) {
	r := record{text: a.Body}
	if err == nil {
		err = a.Into(&r)
	}
	r.Vote.On(r.Plan.Proof)
	return r, err
}

// planOf asks for a plan.
func planOf(s *remote.Service, ctx context.Context, cluster, ref string) (record, error) {
	if ref == "current" {
		return readRecord(s.Call(ctx, openapi.GetCurrentPlan(cluster, nil)))
	}
	return readRecord(s.Call(ctx, openapi.GetPlan(cluster, ref, nil)))
}

// problemOfPlan asks for what a plan answers. By its number: the current plan may be another by now.
func problemOfPlan(s *remote.Service, ctx context.Context, r record) (p capacity.Problem, err error) {
	a, err := s.Call(ctx, openapi.GetPlanProblem(r.Cluster, strconv.FormatInt(r.Number, 10)))
	if err == nil {
		err = a.Into(&p)
	}
	return p, err
}

// headline says which plan it is.
func (r record) headline() string {
	return shell.Shown(strings.TrimSpace(fmt.Sprintf("Plan %d of cluster %s for %s, made %s by %s from inputs version %d. %s",
		r.Number, r.Cluster, r.At.UTC().Format(time.RFC3339), r.CreatedAt.UTC().Format(time.RFC3339), r.CreatedBy, r.InputsVersion, r.Why)))
}

// trouble says why an older plan stays in force, "" where none does.
func (r record) trouble() string { return r.Freshness.Trouble(r.Number) }

// writePlan prints a plan as solve does. The problem is asked for only where it is needed.
func writePlan(c *cobra.Command, s *remote.Service, out shell.Output, r record) error {
	if out.Format == "json" {
		return out.Write(c, map[string]shell.Form{"json": remote.Indented(r.text)})
	}
	p, err := problemOfPlan(s, c.Context(), r)
	var away *remote.Problem
	if errors.As(err, &away) && away.Status == http.StatusServiceUnavailable && out.Format == "table" && !r.Freshness.ConfirmedAt.IsZero() {
		return out.Write(c, map[string]shell.Form{"table": r.alone})
	}
	if err != nil {
		return err
	}
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error {
			if said := r.trouble(); said != "" {
				if _, err := fmt.Fprint(w, shell.Shown(said), "\n\n"); err != nil {
					return err
				}
			}
			if _, err := fmt.Fprintln(w, r.headline()); err != nil {
				return err
			}
			if err := tables.Plan(w, p, r.Plan); err != nil {
				return err
			}
			if said := r.Vote.Missing(); said != "" {
				if _, err := fmt.Fprintln(w, shell.Shown(said)); err != nil {
					return err
				}
			}
			return writeWaiting(w, s, c.Context(), r)
		},
		"csv":  func(w io.Writer) error { return tables.ClassesCSV(w, p, r.Plan) },
		"xlsx": func(w io.Writer) error { return tables.PlanWorkbook(w, p, r.Plan) },
	})
}

// alone prints a current plan that the server has in memory while the database, which has its problem, is away.
func (r record) alone(w io.Writer) error {
	_, err := fmt.Fprintf(w, "Plan %d is stale: the database is away, and the server answers from memory. Times, deadlines and prices are missing here.\n\n%s\n",
		r.Number, r.headline())
	if err != nil {
		return err
	}
	return tables.PlanAlone(w, r.Plan)
}

func planCreateCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var at string
	var async, quiet bool
	c := &cobra.Command{
		Use: "create CLUSTER", Short: "Plan a cluster and keep the plan",
		Long: `Plans a cluster and keeps the plan. A plan for now becomes the current one; a plan for a time given with
--at never does. The server makes plans by itself when inputs change and when a price, a contract or a
forecast begins or ends; this command only does it at once.

With --async the server plans in the background, and the run that does it is printed.`,
		Example: "  headroom plan create shop --at 2026-03-01T22:00:00Z\n  headroom server run watch $(headroom plan create shop --async -q)",
		Args:    cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	addAt(c, &at, "plan for this `time`, such as 2026-03-01T22:00:00Z (default now)")
	c.Flags().BoolVar(&async, "async", false, "plan in the background")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "with --async: print the run's id alone")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		if quiet && !async || async && out.Format == "csv" {
			return shell.Fail(shell.ExitUsage, errors.New("-q goes with --async, and -o csv without it"))
		}
		s, err := to.OpenForPlanning(c)
		if err != nil {
			return err
		}
		body := "{}"
		if at != "" {
			body = `{"at": ` + shell.QuotedText(at) + `}`
		}
		if async {
			return planAsync(s, c, out, args[0], body, quiet)
		}
		r, err := create(c, s, args[0], body)
		if err != nil {
			return err
		}
		return writePlan(c, s, out, r)
	})
}

// Create plans a cluster for now, keeps the plan and shows it to people. Where no job is expected now it shows one for the
// next moment with jobs, if that is known. It returns the number of the plan shown. Warnings of the codes that go without
// saying are left out.
func Create(c *cobra.Command, s *remote.Service, cluster string, next time.Time, plain ...string) (number int64, err error) {
	r, err := create(c, s, cluster, "{}")
	if err != nil {
		return 0, err
	}
	asked := 0.0
	for _, class := range r.Plan.Classes {
		asked += class.Admitted + class.Refused
	}
	if asked == 0 && !next.IsZero() {
		if _, err := fmt.Fprintf(c.OutOrStdout(), "No job is expected at this hour. This is the plan for the next, at %s:\n\n",
			next.UTC().Format("2006-01-02 15:04 UTC")); err != nil {
			return 0, err
		}
		if r, err = create(c, s, cluster, `{"at": `+shell.QuotedText(next.UTC().Format(time.RFC3339))+`}`); err != nil {
			return 0, err
		}
	}
	r.Plan.Warnings = slices.DeleteFunc(r.Plan.Warnings, func(w capacity.Warning) bool { return slices.Contains(plain, w.Code) })
	return r.Number, writePlan(c, s, shell.Output{Format: "table"}, r)
}

func create(c *cobra.Command, s *remote.Service, cluster, body string) (record, error) {
	return readRecord(s.Call(c.Context(), openapi.CreatePlan(cluster), remote.JSONBody([]byte(body))))
}

// planAsync begins a plan in the background.
func planAsync(s *remote.Service, c *cobra.Command, out shell.Output, cluster, body string, quiet bool) error {
	r, text, err := remote.ReadRun(s.Call(c.Context(), openapi.CreatePlan(cluster), remote.JSONBody([]byte(body)), remote.RespondAsync()))
	if err != nil {
		return err
	}
	if quiet {
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { _, err := fmt.Fprintln(w, r.ID); return err },
			"json":  shell.AsJSON(r.ID),
		})
	}
	return out.Write(c, map[string]shell.Form{
		"table": func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s\nWait for its end: headroom server run watch %s\n", shell.Shown(remote.Told(r)), r.ID)
			return err
		},
		"json": remote.Indented(text),
	})
}

// addAt adds the flag for a moment and checks it.
func addAt(c *cobra.Command, at *string, usage string) {
	c.Flags().StringVar(at, "at", "", usage)
	c.PreRunE = func(*cobra.Command, []string) error {
		if *at == "" {
			return nil
		}
		moment, ok := shell.MomentOf(*at)
		if !ok {
			return fmt.Errorf("--at is %q; write a time like 2026-01-31T06:00:00Z or 2026-01-31", *at)
		}
		*at = moment
		return nil
	}
}

func planListCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var most int
	var query openapi.ListPlansQuery
	c := &cobra.Command{
		Use: "list CLUSTER", Short: "List the plans, the newest first",
		Long: `Lists the plans that were made, the newest first.

With --in-force it lists when each plan was in force, the latest first: what the cluster rented, and for which bill.
A plan for another moment never was. With --from and --until the last row is the plan that was in force at --from.
The last 100 days are on record.`,
		Example: "  headroom plan list shop\n  headroom plan list shop --in-force --from 2026-03-01 --until 2026-04-01",
		Args:    cobra.ExactArgs(1),
	}
	out.AddFlags(c, "table", "json", "csv")
	c.Flags().IntVar(&most, "limit", 20, "how many; 0 is all of them")
	c.Flags().BoolVar(&query.InForce, "in-force", false, "list when each plan was in force")
	c.Flags().StringVar(&query.From, "from", "", "with --in-force: after this `time`, such as 2026-03-01")
	c.Flags().StringVar(&query.Until, "until", "", "with --in-force: before this `time`")
	c.PreRunE = func(*cobra.Command, []string) error {
		if !query.InForce && query.From+query.Until != "" {
			return errors.New("--from and --until are about plans in force; add --in-force")
		}
		span := remote.ForecastFilter{From: query.From, Until: query.Until}
		if err := span.Check(); err != nil {
			return err
		}
		query.From, query.Until = span.From, span.Until
		if most < 0 {
			return fmt.Errorf("--limit is %d; give 1 or more, or 0 for all", most)
		}
		if out.Format == "csv" && most > remote.LargestPage {
			return fmt.Errorf("--limit is %d; as CSV give %d at most, or 0 for all", most, remote.LargestPage)
		}
		return nil
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		l := remote.List{
			As: reflect.TypeFor[plans.PlanSummary](), Columns: []string{"number", "at", "status", "bill", "penalties", "currency", "vms", "admitted",
				"refused", "created_by", "why"},
			Most: most, None: fmt.Sprintf("Cluster %s has no plan yet; \"headroom plan create %s\" makes one.", shell.Shown(args[0]),
				shell.Shown(args[0])),
		}
		if query.InForce {
			l.Columns = []string{"since", "until", "number", "bill", "currency", "period_s", "vms", "admitted", "refused", "why"}
			l.None = fmt.Sprintf("No plan of cluster %s was in force then.", shell.Shown(args[0]))
		}
		return remote.WriteList(c, s, out, l, openapi.ListPlans(args[0], &query))
	})
}

func planGetCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use: "get CLUSTER [NUMBER|ID|current]", Short: "Show a plan, as solve does",
		Example: "  headroom plan get shop\n  headroom plan get shop 3 -o json\n  headroom plan get shop -o xlsx -f plan.xlsx",
		Args:    cobra.RangeArgs(1, 2),
	}
	out.AddFlags(c, "table", "json", "csv", "xlsx")
	c.PreRunE = func(c *cobra.Command, _ []string) error { return out.CheckSheet(c) }
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		ref, err := planRef(args, 1)
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		r, err := planOf(s, c.Context(), args[0], ref)
		if err != nil {
			return err
		}
		return writePlan(c, s, out, r)
	})
}

func planVerifyCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use: "verify CLUSTER [NUMBER|ID|current]", Short: "Check a stored plan once more, exactly and independently",
		Long: `Checks a stored plan against the exact inputs it answers with code that shares nothing with the code
that made it. A plan that is wrong ends with exit code 1.`,
		Args: cobra.RangeArgs(1, 2),
	}
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		ref, err := planRef(args, 1)
		if err != nil {
			return err
		}
		s, err := to.OpenForPlanning(c)
		if err != nil {
			return err
		}
		if ref == "current" {
			r, err := planOf(s, c.Context(), args[0], ref)
			if err != nil {
				return err
			}
			ref = strconv.FormatInt(r.Number, 10)
		}
		a, err := s.Call(c.Context(), openapi.VerifyPlan(args[0], ref))
		if err != nil {
			return err
		}
		var r proof.Report
		if err := a.Into(&r); err != nil {
			return err
		}
		if err := out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return tables.Verdict(w, "plan", r) },
			"json":  remote.Indented(a.Body),
			"csv":   tables.Checks(r).CSV,
		}); err != nil {
			return err
		}
		if !r.Accepted() {
			return fmt.Errorf("plan %s of cluster %s does not answer its problem rightly", shell.Shown(ref), shell.Shown(args[0]))
		}
		return nil
	})
}

func planProblemCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	var at string
	c := &cobra.Command{
		Use: "problem CLUSTER [NUMBER|ID|current]", Short: "Write the problem that a plan answers, or that one made now would",
		Long: `Writes, as JSON that "headroom solve" reads, the exact problem that a stored plan answers; without a
plan the one that a plan of this moment would answer.`,
		Example: "  headroom plan problem shop | headroom solve\n  headroom plan problem shop 3 -f problem-3.json",
		Args:    cobra.RangeArgs(1, 2),
	}
	out.Format = "json"
	c.Flags().StringVarP(&out.File, "output-file", "f", "", "write to this `file`, wholly or not at all, instead of standard output")
	addAt(c, &at, "the problem of this `time` (default now)")
	check := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if len(args) > 1 && at != "" {
			return errors.New("a stored plan has a moment of its own; leave out --at or the plan")
		}
		return check(c, args)
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
		if len(args) < 2 {
			a, err = s.Call(c.Context(), openapi.GetProblem(args[0], &openapi.GetProblemQuery{At: at}))
		} else {
			var r record
			if ref == "current" { // which is not among the addresses of problems
				if r, err = planOf(s, c.Context(), args[0], ref); err != nil {
					return err
				}
				ref = strconv.FormatInt(r.Number, 10)
			}
			a, err = s.Call(c.Context(), openapi.GetPlanProblem(args[0], ref))
		}
		if err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{"json": remote.Indented(a.Body)})
	})
}
