package plan

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
	"example.org/headroom/openapi"
)

func planDiffCommand(to *remote.Connection) *cobra.Command {
	var out shell.Output
	c := &cobra.Command{
		Use: "compare CLUSTER [FROM] [TO]", Short: "Say what changed from one plan to another",
		Long: `Says what changed from one plan to another, in cost, VMs and classes, and which inputs did. Without TO
that is the current plan, without FROM the plan that held before it.`,
		Example: "  headroom plan compare shop\n  headroom plan compare shop 3 7",
		Args:    cobra.RangeArgs(1, 3),
	}
	out.AddFlags(c, "table", "json", "csv")
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		from, err := planRef(args, 1)
		if len(args) < 2 {
			from = "before"
		}
		if err != nil {
			return err
		}
		to2, err := planRef(args, 2)
		if err != nil {
			return err
		}
		s, err := to.Open()
		if err != nil {
			return err
		}
		a, err := s.Call(c.Context(), openapi.DiffPlans(args[0], &openapi.DiffPlansQuery{From: from, To: to2}))
		if err != nil {
			return err
		}
		var d whatif.Difference
		if err := a.Into(&d); err != nil {
			return err
		}
		return out.Write(c, map[string]shell.Form{
			"table": func(w io.Writer) error { return planDifference(w, d) },
			"json":  remote.Indented(a.Body),
			"csv":   planDifferenceRows(d).CSV,
		})
	})
}

// planDifference writes a difference for people: what it comes to, then the lines that differ.
func planDifference(w io.Writer, d whatif.Difference) error {
	var b strings.Builder
	b.WriteString(shell.Shown(d.Sentence) + "\n")
	sums := tables.Table{Columns: []string{"Per period", "From", "To", "Change"}}
	for _, m := range d.Cost {
		if m.From.IsZero() && m.To.IsZero() && m.Name != "total" {
			continue
		}
		sums.Rows = append(sums.Rows, []tables.Cell{{Text: moneyLine(m.Name)}, {Text: m.From.String(), Number: true},
			{Text: m.To.String(), Number: true}, {Text: signed(m.Change), Number: true}})
	}
	for _, n := range d.VMs {
		sums.Rows = append(sums.Rows, []tables.Cell{{Text: "VMs, " + spaced(n.Name)}, {Text: plain(n.From), Number: true},
			{Text: plain(n.To), Number: true}, {Text: more(number(n.Change)), Number: true}})
	}
	b.WriteByte('\n')
	if err := sums.Text(&b); err != nil {
		return err
	}
	if len(d.Classes) > 0 {
		b.WriteByte('\n')
		if err := classDifference(d.Classes).Text(&b); err != nil {
			return err
		}
	}
	if len(d.Inputs) > 0 {
		inputs := tables.Table{Columns: []string{"Input", "Was", "Is"}}
		for _, f := range d.Inputs {
			inputs.Rows = append(inputs.Rows, []tables.Cell{{Text: shell.MemberWord(f.Pointer)}, {Text: shell.ValueWord(f.Before)},
				{Text: shell.ValueWord(f.After)}})
		}
		b.WriteByte('\n')
		if err := inputs.Text(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func classDifference(changes []whatif.ClassChange) tables.Table {
	t := tables.Table{Columns: []string{"Class", "Admitted", "VMs", "Verdict"}}
	for _, change := range changes {
		t.Rows = append(t.Rows, []tables.Cell{{Text: change.Name},
			{Text: fromTo(change, func(c capacity.ClassPlan) string { return plain(c.Admitted) })},
			{Text: fromTo(change, func(c capacity.ClassPlan) string { return fmt.Sprintf("%.2f", c.VMs) })},
			{Text: fromTo(change, func(c capacity.ClassPlan) string { return string(c.Verdict) })}})
	}
	return t
}

// fromTo is a figure of a class in both plans, once where it is the same.
func fromTo(change whatif.ClassChange, figure func(capacity.ClassPlan) string) string {
	side := func(c *capacity.ClassPlan) string {
		if c == nil {
			return "none"
		}
		return figure(*c)
	}
	from, to := side(change.From), side(change.To)
	if from == to {
		return from
	}
	return from + " → " + to
}

// planDifferenceRows is a difference in flat rows.
func planDifferenceRows(d whatif.Difference) tables.Table {
	t := tables.Table{Columns: []string{"about", "name", "member", "from", "to"}}
	add := func(about, name, member, from, to string, number bool) {
		t.Rows = append(t.Rows, []tables.Cell{{Text: about}, {Text: name}, {Text: member}, {Text: from, Number: number},
			{Text: to, Number: number}})
	}
	for _, m := range d.Cost {
		add("money", moneyLine(m.Name), "", m.From.String(), m.To.String(), true)
	}
	for _, n := range d.VMs {
		add("vms", n.Name, "", plain(n.From), plain(n.To), true)
	}
	for _, c := range d.Classes {
		side := func(of *capacity.ClassPlan, figure func(capacity.ClassPlan) string) string {
			if of == nil {
				return ""
			}
			return figure(*of)
		}
		for _, figure := range []struct {
			member string
			number bool
			of     func(capacity.ClassPlan) string
		}{
			{"admitted", true, func(c capacity.ClassPlan) string { return plain(c.Admitted) }},
			{"refused", true, func(c capacity.ClassPlan) string { return plain(c.Refused) }},
			{"vms", true, func(c capacity.ClassPlan) string { return plain(c.VMs) }},
			{"verdict", false, func(c capacity.ClassPlan) string { return string(c.Verdict) }},
		} {
			add("class", c.Name, figure.member, side(c.From, figure.of), side(c.To, figure.of), figure.number)
		}
	}
	for _, f := range d.Inputs {
		add("input", "", f.Pointer, shell.JSONText(f.Before), shell.JSONText(f.After), false)
	}
	return t
}

// spaced is a name of the contract as words.
func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// plain is a number with all its digits and no exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// signed is an amount that was added, if it can be told.
func signed(m *money.Amount) string {
	switch {
	case m == nil:
		return "–"
	case m.IsPositive():
		return "+" + m.String()
	}
	return m.String()
}

// moneyLine names a line of money: the bill and its parts, or the value of refused jobs.
func moneyLine(name string) string {
	switch name {
	case "total":
		return "bill and value refused"
	case "penalties":
		return "value refused"
	case "bill":
		return name
	}
	return "bill, " + spaced(name)
}
