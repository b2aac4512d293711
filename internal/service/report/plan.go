package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// Classes returns a row for each class, with stable names and all digits. In a problem with several VM types it
// returns a row for each class and type it runs on, in the last column. Figures of the whole class are in each of its
// rows, and refused jobs in the first, so that columns still add up.
func Classes(p capacity.Problem, pl capacity.Plan) Table {
	return classRows(p, pl, calibrated(p), 0, len(pl.Classes))
}

// ClassesCSV writes the rows of Classes as CSV, a part at a time: there may be a million.
func ClassesCSV(w io.Writer, p capacity.Problem, pl capacity.Plan) error {
	if pl.Status == capacity.InfeasibleStatus {
		return conflicts(pl).CSV(w)
	}
	const some = 1000
	known := calibrated(p)
	err := classRows(p, pl, known, 0, 0).CSV(w)
	for from := 0; err == nil && from < len(pl.Classes); from += some {
		err = classRows(p, pl, known, from, min(from+some, len(pl.Classes))).CSVRows(w)
	}
	return err
}

// conflicts returns a row for each reason why there is no plan, with its cure.
func conflicts(pl capacity.Plan) Table {
	t := Table{Columns: []string{"status", "conflict", "at", "cure", "cure_at", "cure_value"}}
	for _, c := range pl.Conflicts {
		row := []Cell{text(string(pl.Status)), text(c.Detail), text(c.Pointer), text(""), text(""), text("")}
		if h := c.Hint; h != nil {
			row[3], row[4] = text(h.Detail), text(h.Pointer)
			if h.Value != nil {
				row[5] = text(fmt.Sprint(h.Value))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func calibrated(p capacity.Problem) bool {
	return slices.ContainsFunc(p.Classes, func(c capacity.Class) bool { return c.Calibration != nil })
}

// classRows returns the rows of some of the classes.
func classRows(p capacity.Problem, pl capacity.Plan, calibrated bool, from, to int) Table {
	t := Table{Columns: []string{
		"class", "admitted", "refused", "vms", "vms_per_job", "slots_map", "slots_reduce",
		"time_lower_s", "time_average_s", "time_upper_s", "deadline_s", "verdict", "reason",
		"break_even_penalty", "flip_penalty", "flip_deadline_s", "flip_on_demand_price", "penalty", "currency",
	}}
	if calibrated {
		t.Columns = append(t.Columns, "time_calibrated_s")
	}
	typed := len(p.Supply.VMTypes) > 0
	if typed {
		t.Columns = append(t.Columns, "vm_type")
	}
	for i := from; i < to; i++ {
		c, given := pl.Classes[i], classAt(p, i)
		deadline := Cell{"", true}
		if given.DeadlineSeconds > 0 {
			deadline = number(given.DeadlineSeconds)
		}
		for n, part := range partsOf(c) {
			slots, reduce := Cell{"", true}, Cell{"", true}
			if part.Slots != nil {
				slots, reduce = number(part.Slots.Map), number(part.Slots.Reduce)
			}
			var times capacity.Times
			if part.Time != nil {
				times = *part.Time
			}
			refused := c.Refused
			if n > 0 {
				refused = 0
			}
			row := []Cell{
				text(c.Name), number(part.Admitted), number(refused), number(part.VMs), number(part.VMsPerJob), slots, reduce,
				optional(times.Lower), optional(times.Average), optional(times.Upper), deadline, text(string(c.Verdict)), text(c.Reason),
				amount(c.BreakEvenPenalty), amount(c.Flips.Penalty), optional(c.Flips.DeadlineSeconds), amount(c.Flips.OnDemandPrice),
				amount(&given.Penalty), text(p.Currency),
			}
			if calibrated {
				row = append(row, optional(times.Calibrated))
			}
			if typed {
				row = append(row, text(part.VMType))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// partsOf returns a class's parts by VM type, or the whole class if it has none.
func partsOf(c capacity.ClassPlan) []capacity.ClassOnType {
	if len(c.Types) > 0 {
		return c.Types
	}
	return []capacity.ClassOnType{{Admitted: c.Admitted, VMs: c.VMs, VMsPerJob: c.VMsPerJob, Slots: c.Slots, Time: c.Time}}
}

// classAt returns the problem's class for a plan's i-th one; plans list them in the problem's order.
func classAt(p capacity.Problem, i int) capacity.Class {
	if i < len(p.Classes) {
		return p.Classes[i]
	}
	return capacity.Class{}
}

// Plan writes a plan for a terminal: the decision in one sentence, the classes, the supply and its cost, the reasons,
// the warnings and the assumptions. An infeasible problem has only the conflicts and their cures.
func Plan(w io.Writer, p capacity.Problem, pl capacity.Plan) error {
	return writePlan(w, pl, classTable(p, pl), supplyTable(p, pl))
}

// PlanAlone writes a plan whose problem is not at hand: without times, deadlines, prices and quotas.
func PlanAlone(w io.Writer, pl capacity.Plan) error {
	p := capacity.Problem{Currency: pl.Cost.Currency, PeriodSeconds: pl.Cost.PeriodSeconds}
	var spot *capacity.Spot
	if pl.VMs.Spot > 0 {
		spot = new(capacity.Spot)
	}
	p.Supply.Spot = spot
	for _, of := range pl.VMs.Types {
		p.Supply.VMTypes = append(p.Supply.VMTypes, capacity.VMTypeSupply{Name: of.Name, Spot: spot})
	}
	return writePlan(w, pl, classTable(p, pl).without("Time ()", "Deadline"), supplyTable(p, pl).without("Price per VM"))
}

func writePlan(w io.Writer, pl capacity.Plan, classes, supply Table) error {
	var b strings.Builder
	b.WriteString(visible(Headline(pl), 0) + "\n")
	if pl.Status == capacity.InfeasibleStatus {
		for _, c := range pl.Conflicts {
			b.WriteString("- " + visible(Conflict(c), 0) + "\n")
		}
	} else {
		b.WriteByte('\n')
		if err := classes.Text(&b); err != nil {
			return err
		}
		b.WriteByte('\n')
		if err := supply.Text(&b); err != nil {
			return err
		}
		reasons(&b, pl)
	}
	for _, warning := range pl.Warnings {
		b.WriteString(visible("Warning: "+warning.Detail, 0) + "\n")
	}
	if pl.Proof != nil {
		b.WriteString(visible(proofLine(pl.Objective, *pl.Proof, pl.Cost.Currency), 0) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Headline sums up the plan in one or two sentences.
func Headline(pl capacity.Plan) string {
	if pl.Status == capacity.InfeasibleStatus {
		if oneIsEnough(pl.Conflicts) {
			return "No plan meets these demands. Any one of these changes is enough:"
		}
		return "No plan meets these demands:"
	}
	rent := fmt.Sprintf("Rent %s (%s reserved, %s on demand)", count(pl.VMs.Total, "VM", "VMs"), rounded(pl.VMs.Reserved, 4), rounded(pl.VMs.OnDemand, 4))
	if pl.VMs.Spot > 0 {
		rent = fmt.Sprintf("%s, %s spot)", strings.TrimSuffix(rent, ")"), rounded(pl.VMs.Spot, 4))
	}
	if pl.VMs.Total == 0 {
		rent = "Rent no VMs"
	}
	bill := less(pl.Cost.Total, pl.Cost.Penalties)
	var admitted, refused float64
	for _, c := range pl.Classes {
		admitted += c.Admitted
		refused += c.Refused
	}
	jobs := fmt.Sprintf("all %s admitted", count(admitted, "job", "jobs"))
	switch {
	case admitted+refused == 0:
		jobs = "no jobs are asked for"
	case admitted == 1 && refused == 0:
		jobs = "its one job admitted"
	case refused > 0:
		jobs = fmt.Sprintf("%s of %s admitted, and %s refused, valued at %s %s",
			rounded(admitted, 4), count(admitted+refused, "job", "jobs"), rounded(refused, 4), pl.Cost.Penalties, pl.Cost.Currency)
	}
	return fmt.Sprintf("%s for %s %s %s; %s. %s", rent, bill, pl.Cost.Currency, words.PerPeriod(pl.Cost.PeriodSeconds), jobs, quality(pl))
}

// oneIsEnough reports whether each of several cures alone makes a plan possible, as each was tried by itself. Beside a class
// that is impossible anywhere no other cure is enough.
func oneIsEnough(conflicts []fault.Finding) bool {
	cures := 0
	for _, c := range conflicts {
		if c.Code != words.CodeShortage {
			return false
		}
		if c.Hint != nil {
			cures++
		}
	}
	return cures > 1
}

// quality tells the proved quality of the plan.
func quality(pl capacity.Plan) string {
	switch {
	case pl.Proof == nil:
		return "How good it is has not been proved."
	case pl.Status != capacity.Optimal:
		said := fmt.Sprintf("At most %s from optimal", percentUp(pl.Proof.Gap))
		if pl.Proof.Limited == capacity.ClockCutoff {
			said += " when the time was over"
		}
		return said + "."
	case pl.Proof.Gap > 0:
		return fmt.Sprintf("Proved optimal to %s.", percentUp(pl.Proof.Gap))
	default:
		return "Proved optimal."
	}
}

// percentUp formats a gap with two significant digits, so that a small one does not look like none, and rounds it up.
func percentUp(ratio float64) string { return words.PercentUp(decimal.NewFromFloat(ratio)) }

func count(x float64, one, many string) string {
	if x == 1 {
		return "1 " + one
	}
	return rounded(x, 4) + " " + many
}

// Conflict describes a conflict with its cure, as sentences.
func Conflict(f fault.Finding) string {
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
	typed := len(p.Supply.VMTypes) > 0
	if typed {
		t.Columns = append(t.Columns, "VM type")
	}
	for i, c := range pl.Classes {
		deadline := Cell{"–", true}
		if given := classAt(p, i).DeadlineSeconds; given > 0 {
			deadline = figure(given, 1, "s")
		}
		for _, part := range partsOf(c) {
			slots, reduce, time := Cell{"–", true}, Cell{"–", true}, Cell{"–", true}
			if part.Slots != nil {
				slots, reduce = figure(part.Slots.Map, 2, ""), figure(part.Slots.Reduce, 2, "")
			}
			if t := part.Time.At(p.Options.Bound); t != nil {
				time = Cell{fmt.Sprintf("%.1f s", *t), true}
				if part.Time.Promised != nil {
					time.Text += " (promised)"
				} else if p.Options.Bound == capacity.CalibratedBound && part.Time.Calibrated == nil {
					time.Text += " (" + string(capacity.AverageBound) + ")" // planned with, where nothing is calibrated
				}
			}
			row := []Cell{
				text(c.Name), {rounded(part.Admitted, 4) + " of " + rounded(c.Admitted+c.Refused, 4), true}, {fmt.Sprintf("%.2f", part.VMs), true},
				slots, reduce, time, deadline, text(string(c.Verdict)),
			}
			if typed {
				row = append(row, text(part.VMType))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// supplyTable closes: its amounts add up to the bill.
func supplyTable(p capacity.Problem, pl capacity.Plan) Table {
	inMoney := func(m money.Amount) Cell { return Cell{m.String() + " " + p.Currency, true} }
	price := func(m money.Amount) Cell { return Cell{m.String() + " " + p.Currency + "/h", true} }
	none := Cell{"", true}
	t := Table{Columns: []string{"Supply", "Price per VM", "VMs", "Used", "Amount " + words.PerPeriod(p.PeriodSeconds)}}
	types := p.Supply.Types()
	prices := map[string]money.Amount{}
	for _, of := range types {
		for _, c := range of.Contracts {
			prices[c.Name] = c.Price
		}
	}
	for _, c := range pl.VMs.Contracts {
		of := none
		if m, known := prices[c.Name]; known {
			of = price(m)
		}
		t.Rows = append(t.Rows, []Cell{text(c.Name), of, figure(c.VMs, 4, ""), figure(c.Used, 4, ""), none})
	}
	if len(pl.VMs.Contracts) > 0 {
		t.Rows = append(t.Rows, []Cell{text("Reserved, used"), none, none, figure(pl.VMs.Reserved, 4, ""), inMoney(pl.Cost.Reserved)})
	}
	if !pl.Cost.ReservedIdle.IsZero() {
		t.Rows = append(t.Rows, []Cell{text("Reserved, idle"), none, none, none, inMoney(pl.Cost.ReservedIdle)})
	}
	rented := func(what string, m money.Amount, limit *int64, vms float64, cost Cell) {
		quota := none
		if limit != nil {
			quota = figure(float64(*limit), 0, "")
		}
		t.Rows = append(t.Rows, []Cell{text(what), price(m), quota, figure(vms, 4, ""), cost})
	}
	for i, of := range types {
		used, onDemand, spot, suffix := capacity.TypeVMs{OnDemand: pl.VMs.OnDemand, Spot: pl.VMs.Spot}, inMoney(pl.Cost.OnDemand), inMoney(pl.Cost.Spot), ""
		if len(p.Supply.VMTypes) > 0 { // the amounts follow for all types together
			used, onDemand, spot, suffix = capacity.TypeVMs{}, none, none, " of "+of.Name
			if i < len(pl.VMs.Types) {
				used = pl.VMs.Types[i]
			}
		}
		rented("On demand"+suffix, of.OnDemand.Price, of.OnDemand.Quota, used.OnDemand, onDemand)
		if of.Spot != nil {
			rented("Spot"+suffix, of.Spot.Price, nil, used.Spot, spot)
		}
	}
	if len(p.Supply.VMTypes) > 0 {
		t.Rows = append(t.Rows, []Cell{text("On demand"), none, none, figure(pl.VMs.OnDemand, 4, ""), inMoney(pl.Cost.OnDemand)})
		if !pl.Cost.Spot.IsZero() || pl.VMs.Spot > 0 {
			t.Rows = append(t.Rows, []Cell{text("Spot"), none, none, figure(pl.VMs.Spot, 4, ""), inMoney(pl.Cost.Spot)})
		}
	}
	t.Rows = append(t.Rows,
		[]Cell{text("VM bill"), none, none, figure(pl.VMs.Total, 4, ""), inMoney(less(pl.Cost.Total, pl.Cost.Penalties))})
	if !pl.Cost.Penalties.IsZero() {
		t.Rows = append(t.Rows,
			[]Cell{text("Value refused"), none, none, none, inMoney(pl.Cost.Penalties)},
			[]Cell{text("Bill and value"), none, none, none, inMoney(pl.Cost.Total)})
	}
	return t
}

// maxReasons is the maximum number of reasons on a terminal; CSV and JSON have all of them.
const maxReasons = 20

func reasons(b *strings.Builder, pl capacity.Plan) {
	b.WriteByte('\n')
	told := 0
	var idle []string
	for _, c := range pl.Classes {
		if c.Reason == words.NoneWanted {
			idle = append(idle, visible(c.Name, widest))
		}
		if c.Reason == "" || c.Reason == words.NoneWanted {
			continue
		}
		if told++; told <= maxReasons {
			b.WriteString(visible(c.Name, widest) + ": " + visible(c.Reason, 0) + "\n")
		}
	}
	if told > maxReasons {
		fmt.Fprintf(b, "… and %s; -o json and -o csv give all of them.\n", fault.Plural(int64(told-maxReasons), "more reason"))
	}
	if len(idle) > 0 {
		b.WriteString(words.NoneWantedOf(idle, len(pl.Classes)) + "\n")
	}
}

// proofLine says in one line how good a plan is, who showed it and who agrees.
func proofLine(objective money.Amount, p capacity.Proof, currency string) string {
	by := "the built-in solver"
	if p.Method == "lp" {
		by = "the dual of the linear program"
	}
	s := fmt.Sprintf("Proved optimal by %s: no plan's bill and value together are lower.", by)
	if p.Gap > 0 {
		lower := money.Amount{Decimal: objective.Sub(p.Bound.Decimal)}
		s = fmt.Sprintf("Proved by %s: no plan's bill and value together are more than %s %s lower (gap %s).", by, lower, currency, percentUp(p.Gap))
	}
	var agree []string
	switch {
	case p.Agreed == nil && p.Engine != "":
		s += " " + p.Engine + " gave no answer to compare."
	case p.Agreed != nil && *p.Agreed:
		agree = append(agree, p.Engine)
	case p.Agreed != nil:
		s += " " + p.Engine + " does not agree."
	}
	if p.Checked {
		agree = append(agree, "the independent checker")
	}
	if len(agree) > 0 {
		s += " Confirmed by " + strings.Join(agree, " and by ") + "."
	}
	return fmt.Sprintf("%s Made in %.1f ms.", s, p.SolveMs)
}
