package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"headroom/internal/capacity"
	tables "headroom/internal/report"
)

func planExplainCommand(to *connection) *cobra.Command {
	var out output
	var which string
	c := &cobra.Command{
		Use: "explain CLUSTER [CLASS]", Short: "Say in plain sentences why a plan is as it is",
		Long: `Says why each class (or the one named) got what it got and what would change that, what capacity is
worth, where the money goes, and what the proof rests on.`,
		Example: "  headroom plan explain shop\n  headroom plan explain shop nightly-etl --plan 7",
		Args:    cobra.RangeArgs(1, 2),
	}
	out.addFlags(c, "table", "json", "csv")
	c.Flags().StringVar(&which, "plan", "current", "which plan: a `number`, an id, or current")
	return command(c, func(c *cobra.Command, args []string) error {
		ref, err := planRef([]string{which}, 0)
		if err != nil {
			return err
		}
		s, err := to.open()
		if err != nil {
			return err
		}
		r, err := s.plan(c.Context(), args[0], ref)
		if err != nil {
			return err
		}
		p, err := s.problem(c.Context(), r)
		if err != nil {
			return err
		}
		var said []explanation
		if len(args) > 1 {
			i := slices.IndexFunc(r.Plan.Classes, func(of capacity.ClassPlan) bool { return of.Name == args[1] })
			if _, err := strconv.ParseInt(args[1], 10, 64); i < 0 && err == nil {
				return fmt.Errorf("plan %d has no class %q; for plan %s say \"headroom plan explain %s --plan %s\"", r.Number, args[1], args[1], args[0], args[1])
			}
			if i < 0 {
				return fmt.Errorf("plan %d has no class %q; \"headroom plan get %s %d\" shows those it has", r.Number, args[1], args[0], r.Number)
			}
			said = []explanation{explainClass(p, r.Plan, i)}
		} else {
			said = explainPlan(p, r)
		}
		return out.write(c, map[string]form{
			"table": func(w io.Writer) error { return explained(w, said) },
			"json":  asJSON(map[string]any{"plan": r.Number, "items": said}),
			"csv": func(w io.Writer) error {
				t := tables.Table{Columns: []string{"about", "name", "text"}}
				for _, e := range said {
					t.Rows = append(t.Rows, []tables.Cell{{Text: e.About}, {Text: e.Name}, {Text: e.Text}})
				}
				return t.CSV(w)
			},
		})
	})
}

// explanation is some sentences about one thing.
type explanation struct {
	About string `json:"about"` // plan, class, capacity, money, proof or warning
	Name  string `json:"name"`  // of a class
	Text  string `json:"text"`
}

func explained(w io.Writer, said []explanation) error {
	var b strings.Builder
	about := ""
	for i, e := range said {
		if i > 0 && e.About != about {
			b.WriteByte('\n')
		}
		if about = e.About; e.Name != "" {
			b.WriteString(shown(e.Name) + ": ")
		}
		b.WriteString(shown(e.Text) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func explainPlan(p capacity.Problem, r record) []explanation {
	pl := r.Plan
	said := []explanation{{"plan", "", r.headline() + " " + tables.Headline(pl)}}
	for i := range pl.Classes {
		said = append(said, explainClass(p, pl, i))
	}
	if pl.Prices != nil {
		said = append(said, explanation{"capacity", "", capacitySentences(p, *pl.Prices)})
	}
	for _, line := range moneyLines(p, pl) {
		said = append(said, explanation{"money", "", line})
	}
	if pl.Proof != nil {
		said = append(said, explanation{"proof", "", proofSentences(p, pl)})
	}
	for _, w := range pl.Warnings {
		said = append(said, explanation{"warning", "", "Warning: " + sentence(w.Detail)})
	}
	return said
}

// explainClass says what a class got, why, and what would change it.
func explainClass(p capacity.Problem, pl capacity.Plan, i int) explanation {
	c := pl.Classes[i]
	var given capacity.Class
	if i < len(p.Classes) {
		given = p.Classes[i]
	}
	asked := c.Admitted + c.Refused
	var s []string
	say := func(format string, values ...any) { s = append(s, fmt.Sprintf(format, values...)) }
	switch one := asked == 1; {
	case asked == 0:
		say("No jobs are asked for.")
	case one && c.Admitted == 1:
		say("Its one job is admitted.")
	case c.Admitted == 0 && one:
		say("Its one job is not admitted.")
	case c.Admitted == 0:
		say("None of its %s jobs is admitted.", figure(asked))
	case c.Refused == 0:
		say("All %s jobs are admitted.", figure(asked))
	default:
		say("%s of %s jobs are admitted.", figure(c.Admitted), figure(asked))
	}
	if c.Admitted > 0 {
		share := fmt.Sprintf("They take %s", vms(c.VMs))
		if c.Slots != nil {
			share += fmt.Sprintf(" as %s map and %s reduce slots", figure(c.Slots.Map), figure(c.Slots.Reduce))
		}
		if t := timeFor(c.Time, p.Options.Bound); t != nil && given.DeadlineSeconds > 0 {
			share += fmt.Sprintf(" and are done after %s s (%s), within the %s s allowed", figure(*t), boundWord(p.Options.Bound), figure(given.DeadlineSeconds))
		}
		s = append(s, share+".")
	}
	if c.Reason != "" {
		s = append(s, sentence(c.Reason))
	}
	if flips := flipWords(p, given, c.Flips); len(flips) > 0 && asked > 0 {
		say("By the relaxation the nearest change that would decide otherwise is %s.", strings.Join(flips, ", or "))
	} else if asked > 0 && c.Verdict != capacity.VerdictImpossible {
		say("By the relaxation no other penalty, deadline or on-demand price alone would decide otherwise.")
	}
	return explanation{"class", c.Name, strings.Join(s, " ")}
}

func flipWords(p capacity.Problem, given capacity.Class, f capacity.Flips) (words []string) {
	if f.Penalty != nil {
		words = append(words, fmt.Sprintf("a penalty of %s instead of %s %s", short(*f.Penalty), given.Penalty, p.Currency))
	}
	if f.DeadlineSeconds != nil {
		words = append(words, fmt.Sprintf("a deadline of %s s instead of %s s", figure(*f.DeadlineSeconds), figure(given.DeadlineSeconds)))
	}
	if f.OnDemandPrice != nil {
		words = append(words, fmt.Sprintf("an on-demand price of %s instead of %s %s", short(*f.OnDemandPrice), p.Supply.OnDemand.Price, p.Currency))
	}
	return words
}

func capacitySentences(p capacity.Problem, prices capacity.Prices) string {
	per := p.Currency + " " + periodWord(p.PeriodSeconds)
	low, high := short(prices.Capacity.Low), prices.Capacity.High
	var s []string
	switch {
	case high == nil:
		s = append(s, fmt.Sprintf("No more capacity can be had; having one VM less would cost %s %s.", low, per))
	case low == short(*high):
		s = append(s, fmt.Sprintf("One VM of capacity is worth %s %s.", low, per))
	default:
		s = append(s, fmt.Sprintf("The last VM of capacity is worth %s %s, and one more costs %s.", low, per, short(*high)))
	}
	for _, c := range prices.Contracts {
		if c.Worth.IsZero() {
			s = append(s, fmt.Sprintf("More VMs in contract %s would save nothing.", c.Name))
		} else {
			s = append(s, fmt.Sprintf("One VM more in contract %s would save %s %s.", c.Name, short(c.Worth), per))
		}
	}
	return strings.Join(append(s, "(From the relaxation.)"), " ")
}

// mostPenalties is how many classes' penalties are named.
const mostPenalties = 5

// moneyLines says where the money goes; the amounts add up to the total.
func moneyLines(p capacity.Problem, pl capacity.Plan) (lines []string) {
	lines = append(lines, fmt.Sprintf("In all %s %s %s, which is %s a month of %d hours:", pl.Cost.Total, p.Currency, periodWord(p.PeriodSeconds), pl.Cost.PerMonth, capacity.HoursPerMonth))
	line := func(amount capacity.Money, format string, values ...any) {
		if !amount.IsZero() {
			lines = append(lines, fmt.Sprintf("  %s for ", amount)+fmt.Sprintf(format, values...))
		}
	}
	var used []string
	for i, c := range pl.VMs.Contracts {
		if i < len(p.Supply.Contracts) && c.Used > 0 {
			used = append(used, fmt.Sprintf("%s of %s in %s at %s an hour", figure(c.Used), figure(c.VMs), c.Name, p.Supply.Contracts[i].Price))
		}
	}
	line(pl.Cost.Reserved, "%s reserved (%s)", vms(pl.VMs.Reserved), strings.Join(used, ", "))
	line(pl.Cost.ReservedIdle, "reserved VMs that are paid and not used")
	line(pl.Cost.OnDemand, "%s on demand at %s an hour", vms(pl.VMs.OnDemand), p.Supply.OnDemand.Price)

	type share struct {
		name    string
		refused float64
		amount  capacity.Money
	}
	var shares []share
	for i, c := range pl.Classes {
		if i < len(p.Classes) && c.Refused > 0 {
			amount := capacity.RoundMoney(p.Classes[i].Penalty.Float() * c.Refused)
			shares = append(shares, share{c.Name, c.Refused, amount})
		}
	}
	slices.SortStableFunc(shares, func(a, b share) int {
		return cmp.Or(b.amount.Cmp(a.amount.Decimal), strings.Compare(a.name, b.name))
	})
	var refused []string
	for _, s := range shares[:min(len(shares), mostPenalties)] {
		refused = append(refused, fmt.Sprintf("%s of %s: %s", figure(s.refused), s.name, s.amount))
	}
	if more := len(shares) - mostPenalties; more > 0 {
		refused = append(refused, fmt.Sprintf("and %d classes more", more))
	}
	line(pl.Cost.Penalties, "jobs refused (%s)", strings.Join(refused, ", "))
	if len(lines) == 1 {
		lines[0] = strings.TrimSuffix(lines[0], ":") + "."
	}
	return lines
}

// proofSentences says what the plan's claim rests on.
func proofSentences(p capacity.Problem, pl capacity.Plan) string {
	proof := *pl.Proof
	var s []string
	claim := fmt.Sprintf("VM cost less the penalties avoided is %s %s", pl.Objective, p.Currency)
	if proof.Gap == 0 {
		s = append(s, claim+", and no plan's is lower.")
	} else {
		s = append(s, fmt.Sprintf("%s, and no plan's is below %s: this one is at most %.2g %% from the best.", claim, proof.Bound, 100*proof.Gap))
	}
	switch proof.Method {
	case "core":
		s = append(s, "That follows from a Lagrangian bound and a complete search of what it leaves open, both our own.")
	case "lp":
		s = append(s, "That follows from the dual of the linear program, solved in closed form.")
	}
	switch {
	case proof.Engine == "":
	case proof.Agreed == nil:
		s = append(s, proof.Engine+" was asked for a second opinion and gave none.")
	case *proof.Agreed:
		s = append(s, proof.Engine+", asked for a second opinion, found the same.")
	default:
		s = append(s, proof.Engine+", asked for a second opinion, found another cost; the bound does not rest on it.")
	}
	if proof.Checked {
		s = append(s, "The finished plan was checked again in exact decimals.")
	}
	if pl.Relaxed != nil && p.Options.Integrality != capacity.Relaxed {
		s = append(s, fmt.Sprintf("With fractions of jobs and VMs the figure would be %s with %s.", short(pl.Relaxed.Objective), vms(pl.Relaxed.Capacity)))
	}
	return strings.Join(s, " ")
}

// short is an amount with as many places as people read; they have all of them in the plan.
func short(m capacity.Money) string { return capacity.Money{Decimal: m.Round(4)}.String() }

// figure is a number with as many places as people read.
func figure(x float64) string {
	s := fmt.Sprintf("%.2f", x)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func vms(n float64) string {
	if n == 1 {
		return "1 VM"
	}
	return figure(n) + " VMs"
}

func periodWord(seconds int64) string {
	switch seconds {
	case 3600:
		return "an hour"
	case 86400:
		return "a day"
	}
	return "per " + figure(float64(seconds)/3600) + " h"
}

func boundWord(b capacity.Bound) string {
	switch b {
	case capacity.LowerBound:
		return "at the earliest"
	case capacity.UpperBound:
		return "at the latest"
	}
	return "on average"
}

// timeFor is the time the plan was made for; a demand has only the average.
func timeFor(t *capacity.Times, bound capacity.Bound) *float64 {
	switch {
	case t == nil:
		return nil
	case bound == capacity.LowerBound && t.Lower != nil:
		return t.Lower
	case bound == capacity.UpperBound && t.Upper != nil:
		return t.Upper
	}
	return t.Average
}
