package report

import (
	"fmt"
	"io"
	"strings"

	"headroom/internal/capacity"
)

// Classes is one row a class, with names that stay and every digit there is.
func Classes(p capacity.Problem, pl capacity.Plan) Table {
	t := Table{Columns: []string{
		"class", "admitted", "refused", "vms", "vms_per_job", "slots_map", "slots_reduce",
		"time_lower_s", "time_average_s", "time_upper_s", "deadline_s", "verdict", "reason",
		"break_even_penalty", "flip_penalty", "flip_deadline_s", "flip_on_demand_price", "penalty", "currency",
	}}
	for i, c := range pl.Classes {
		slots, reduce := Cell{"", true}, Cell{"", true}
		if c.Slots != nil {
			slots, reduce = number(c.Slots.Map), number(c.Slots.Reduce)
		}
		var times capacity.Times
		if c.Time != nil {
			times = *c.Time
		}
		given := classAt(p, i)
		deadline := Cell{"", true}
		if given.DeadlineSeconds > 0 {
			deadline = number(given.DeadlineSeconds)
		}
		t.Rows = append(t.Rows, []Cell{
			text(c.Name), number(c.Admitted), number(c.Refused), number(c.VMs), number(c.VMsPerJob), slots, reduce,
			optional(times.Lower), optional(times.Average), optional(times.Upper), deadline, text(string(c.Verdict)), text(c.Reason),
			amount(c.BreakEvenPenalty), amount(c.Flips.Penalty), optional(c.Flips.DeadlineSeconds), amount(c.Flips.OnDemandPrice),
			amount(&given.Penalty), text(p.Currency),
		})
	}
	return t
}

// classAt is the problem's class that a plan's i-th answers; plans list them in the problem's order.
func classAt(p capacity.Problem, i int) capacity.Class {
	if i < len(p.Classes) {
		return p.Classes[i]
	}
	return capacity.Class{}
}

// Plan writes a plan for a terminal: the decision in one sentence, the classes, the supply and its
// cost, the reasons, the warnings, and what the answer rests on. An infeasible problem has only the
// conflicts and their cures.
func Plan(w io.Writer, p capacity.Problem, pl capacity.Plan) error {
	var b strings.Builder
	b.WriteString(visible(Headline(pl), 0) + "\n")
	if pl.Status == capacity.InfeasibleStatus {
		for _, c := range pl.Conflicts {
			b.WriteString("- " + visible(Conflict(c), 0) + "\n")
		}
	} else {
		b.WriteByte('\n')
		if err := classTable(p, pl).Text(&b); err != nil {
			return err
		}
		b.WriteByte('\n')
		if err := supplyTable(p, pl).Text(&b); err != nil {
			return err
		}
		reasons(&b, pl)
	}
	for _, warning := range pl.Warnings {
		b.WriteString(visible("Warning: "+warning.Detail, 0) + "\n")
	}
	if pl.Proof != nil {
		b.WriteString(visible(proofLine(pl.Objective, *pl.Proof, p.Currency), 0) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Headline is the plan in one or two sentences.
func Headline(pl capacity.Plan) string {
	if pl.Status == capacity.InfeasibleStatus {
		return "No plan meets these demands:"
	}
	rent := fmt.Sprintf("Rent %s (%s reserved, %s on demand)", count(pl.VMs.Total, "VM", "VMs"), rounded(pl.VMs.Reserved, 4), rounded(pl.VMs.OnDemand, 4))
	if pl.VMs.Total == 0 {
		rent = "Rent no VMs"
	}
	cost := capacity.Money{Decimal: pl.Cost.OnDemand.Add(pl.Cost.Reserved.Decimal).Add(pl.Cost.ReservedIdle.Decimal)}
	var admitted, refused float64
	for _, c := range pl.Classes {
		admitted += c.Admitted
		refused += c.Refused
	}
	jobs := fmt.Sprintf("all %s admitted", count(admitted, "job", "jobs"))
	switch {
	case admitted+refused == 0:
		jobs = "no jobs are asked for"
	case refused > 0:
		jobs = fmt.Sprintf("%s of %s admitted, refusing %s costs %s %s in penalties",
			rounded(admitted, 4), count(admitted+refused, "job", "jobs"), rounded(refused, 4), pl.Cost.Penalties, pl.Cost.Currency)
	}
	return fmt.Sprintf("%s for %s %s %s; %s. %s", rent, cost, pl.Cost.Currency, period(pl.Cost.PeriodSeconds), jobs, quality(pl))
}

// quality is how good the plan is known to be.
func quality(pl capacity.Plan) string {
	switch {
	case pl.Proof == nil:
		return "How good it is has not been proved."
	case pl.Status != capacity.Optimal:
		return fmt.Sprintf("At most %s %% from optimal.", percent(pl.Proof.Gap))
	case pl.Proof.Gap > 0:
		return fmt.Sprintf("Proved optimal to %s %%.", percent(pl.Proof.Gap))
	default:
		return "Proved optimal."
	}
}

// percent shows a ratio with two significant digits, so that a small gap does not look like none.
func percent(ratio float64) string { return fmt.Sprintf("%.2g", 100*ratio) }

func count(x float64, one, many string) string {
	if x == 1 {
		return "1 " + one
	}
	return rounded(x, 4) + " " + many
}

func period(seconds int64) string {
	switch seconds {
	case 3600:
		return "an hour"
	case 24 * 3600:
		return "a day"
	default:
		return fmt.Sprintf("per %s h", rounded(float64(seconds)/3600, 4))
	}
}

// Conflict is a conflict with its cure, as sentences.
func Conflict(f capacity.Finding) string {
	s := f.Detail
	if f.Pointer != "" {
		s = f.Pointer + ": " + s
	}
	if f.Hint != nil {
		s += " " + f.Hint.Detail
	}
	return s
}

func classTable(p capacity.Problem, pl capacity.Plan) Table {
	bound := string(p.Options.Bound)
	t := Table{Columns: []string{"Class", "Admitted", "VMs", "Map slots", "Reduce slots", "Time (" + bound + ")", "Deadline", "Verdict"}}
	for i, c := range pl.Classes {
		slots, reduce, time, deadline := Cell{"–", true}, Cell{"–", true}, Cell{"–", true}, Cell{"–", true}
		if c.Slots != nil {
			slots, reduce = figure(c.Slots.Map, 2, ""), figure(c.Slots.Reduce, 2, "")
		}
		if t := timeOf(c.Time, p.Options.Bound); t != nil {
			time = Cell{fmt.Sprintf("%.1f s", *t), true}
		}
		if given := classAt(p, i).DeadlineSeconds; given > 0 {
			deadline = figure(given, 1, "s")
		}
		t.Rows = append(t.Rows, []Cell{
			text(c.Name), {rounded(c.Admitted, 4) + " of " + rounded(c.Admitted+c.Refused, 4), true}, {fmt.Sprintf("%.2f", c.VMs), true},
			slots, reduce, time, deadline, text(string(c.Verdict)),
		})
	}
	return t
}

// timeOf is the time the plan was made for; a demand has only the average.
func timeOf(t *capacity.Times, bound capacity.Bound) *float64 {
	switch {
	case t == nil:
		return nil
	case bound == capacity.LowerBound && t.Lower != nil:
		return t.Lower
	case bound == capacity.UpperBound && t.Upper != nil:
		return t.Upper
	default:
		return t.Average
	}
}

// supplyTable closes: its amounts add up to the total.
func supplyTable(p capacity.Problem, pl capacity.Plan) Table {
	money := func(m capacity.Money) Cell { return Cell{m.String() + " " + p.Currency, true} }
	price := func(m capacity.Money) Cell { return Cell{m.String() + " " + p.Currency + "/h", true} }
	none := Cell{"", true}
	t := Table{Columns: []string{"Supply", "Price per VM", "VMs", "Used", "Cost " + period(p.PeriodSeconds)}}
	for i, c := range pl.VMs.Contracts {
		of := none
		if i < len(p.Supply.Contracts) {
			of = price(p.Supply.Contracts[i].Price)
		}
		t.Rows = append(t.Rows, []Cell{text(c.Name), of, figure(c.VMs, 4, ""), figure(c.Used, 4, ""), none})
	}
	if len(pl.VMs.Contracts) > 0 {
		t.Rows = append(t.Rows, []Cell{text("Reserved, used"), none, none, figure(pl.VMs.Reserved, 4, ""), money(pl.Cost.Reserved)})
	}
	if !pl.Cost.ReservedIdle.IsZero() {
		t.Rows = append(t.Rows, []Cell{text("Reserved, idle"), none, none, none, money(pl.Cost.ReservedIdle)})
	}
	quota := none
	if q := p.Supply.OnDemand.Quota; q != nil {
		quota = figure(float64(*q), 0, "")
	}
	t.Rows = append(t.Rows,
		[]Cell{text("On demand"), price(p.Supply.OnDemand.Price), quota, figure(pl.VMs.OnDemand, 4, ""), money(pl.Cost.OnDemand)},
		[]Cell{text("Penalties"), none, none, none, money(pl.Cost.Penalties)},
		[]Cell{text("Total"), none, none, figure(pl.VMs.Total, 4, ""), money(pl.Cost.Total)})
	return t
}

// mostReasons is how many reasons a terminal is given; CSV and JSON have all of them.
const mostReasons = 20

func reasons(b *strings.Builder, pl capacity.Plan) {
	b.WriteByte('\n')
	told := 0
	for _, c := range pl.Classes {
		if c.Reason == "" {
			continue
		}
		if told++; told <= mostReasons {
			b.WriteString(visible(c.Name, widest) + ": " + visible(c.Reason, 0) + "\n")
		}
	}
	if told > mostReasons {
		fmt.Fprintf(b, "… and %d more reasons; -o json and -o csv give all of them.\n", told-mostReasons)
	}
}

func proofLine(objective capacity.Money, p capacity.Proof, currency string) string {
	s := fmt.Sprintf("Proof: VM cost minus penalties avoided is %s %s, and no plan's is lower, by %s", objective, currency, p.Method)
	if p.Gap > 0 {
		s = fmt.Sprintf("Proof: VM cost minus penalties avoided is %s %s, and no plan's is below %s (gap %s %%), by %s", objective, currency, p.Bound, percent(p.Gap), p.Method)
	}
	switch {
	case p.Agreed == nil && p.Engine != "":
		s += "; " + p.Engine + " gave no answer to compare"
	case p.Agreed != nil && *p.Agreed:
		s += "; " + p.Engine + " agrees"
	case p.Agreed != nil:
		s += "; " + p.Engine + " does not agree"
	}
	if p.Checked {
		s += "; checked"
	}
	return fmt.Sprintf("%s; %.1f ms.", s, p.SolveMs)
}
