package report

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// Span names the unit of time of a row in a horizon's table.
type Span string

const (
	PerPeriod Span = "period"
	PerDay    Span = "day"
	PerMonth  Span = "month"
)

// Horizon returns a row for each span of a horizon's answer, with all digits.
func Horizon(a horizon.Answer, per Span) Table {
	switch per {
	case PerDay:
		if a.AsItIs != nil {
			return besideEachOther(a.Days, a.AsItIs.Days, a.Currency)
		}
		return spans(a.Days, a.Currency)
	case PerMonth:
		if a.AsItIs != nil {
			return besideEachOther(a.Months, a.AsItIs.Months, a.Currency)
		}
		return spans(a.Months, a.Currency)
	}
	columns := append([]string{"start", "hours", "status", "vms", "on_demand_vms", "reserved_vms", "spot_vms", "admitted_jobs", "refused_jobs", "gap"}, costColumns(a.Currency)...)
	return tableOf(append(columns, "conflict"), a.Periods, func(p horizon.PeriodAnswer) []Cell {
		row := []Cell{Time(p.Start), number(p.Hours), text(string(p.Status))}
		if p.Status == capacity.InfeasibleStatus {
			for len(row) < len(columns) {
				row = append(row, Cell{"", true})
			}
			return append(row, text(p.Conflict))
		}
		for _, x := range []float64{p.VMs.Total, p.VMs.OnDemand, p.VMs.Reserved, p.VMs.Spot, p.Admitted, p.Refused, p.Gap} {
			row = append(row, number(x))
		}
		return append(append(row, spanCells(&p.Cost)...), text(""))
	})
}

func spans(items []horizon.SpanTotal, currency string) Table {
	columns := append([]string{"start", "hours", withoutPlan, "vm_hours", "on_demand_vm_hours", "reserved_vm_hours", "reserved_idle_vm_hours", "admitted_job_hours", "refused_job_hours"}, costColumns(currency)...)
	columns = append(columns, "hours_without_forecast", "bill_without_forecast_"+currency)
	return tableOf(columns, items, func(s horizon.SpanTotal) []Cell {
		row := []Cell{Time(s.Start)}
		for _, x := range []float64{s.Hours, s.InfeasibleHours, s.VMHours, s.OnDemandHours, s.ReservedHours, s.IdleHours, s.AdmittedHours, s.RefusedHours} {
			row = append(row, number(x))
		}
		return append(append(row, spanCells(&s.Cost)...), number(s.UnforecastHours), amount(&s.UnforecastBill))
	})
}

// besideEachOther returns the spans under a scenario with those of the same time as it is. A bill of hours none of which has a
// plan is empty, and so is a difference where some hour has none.
func besideEachOther(items, asItIs []horizon.SpanTotal, currency string) Table {
	t := spans(items, currency)
	none := slices.Index(t.Columns, withoutPlan) + 1
	put := func(row []Cell, at int, cells ...Cell) []Cell { return slices.Insert(row, at, cells...) }
	bill, value := slices.Index(t.Columns, billColumn+"_"+currency)+1, slices.Index(t.Columns, valueColumn+"_"+currency)+1
	for i, row := range t.Rows {
		was, bills, values := &asItIs[i], []Cell{{"", true}, {"", true}}, []Cell{{"", true}, {"", true}}
		if was.InfeasibleHours < was.Hours {
			bills[0], values[0] = amount(&was.Cost.Bill), amount(&was.Cost.Penalties)
		}
		if d := items[i].Difference; d != nil {
			bills[1], values[1] = amount(&d.Bill), amount(&d.ValueRefused)
		}
		t.Rows[i] = put(put(put(row, value, values...), bill, bills...), none, number(was.InfeasibleHours))
	}
	names := func(of string) []string {
		return []string{of + asItIsSuffix + "_" + currency, of + "_difference_" + currency}
	}
	t.Columns = slices.Insert(t.Columns, value, names(valueColumn)...)
	t.Columns = slices.Insert(t.Columns, bill, names(billColumn)...)
	t.Columns = slices.Insert(t.Columns, none, withoutPlan+asItIsSuffix)
	return t
}

// withoutPlan is the column of hours that are in no sum, and asItIsSuffix ends the names of columns about the time without a
// scenario.
const (
	withoutPlan  = "hours_without_plan"
	asItIsSuffix = "_as_it_is"
)

// Columns of money. The bill is the sum of those for VMs; the value of refused jobs is on no bill.
const (
	billColumn     = "bill"
	valueColumn    = "value_refused"
	togetherColumn = "bill_and_value_refused"
)

// costNames are the columns of a plan's cost, the bill first. One for some time has upfront payments before the last two.
var costNames = []string{billColumn, "on_demand", "spot", "reserved", "reserved_idle", valueColumn, togetherColumn}

// costColumns name a cost's amounts with their currency.
func costColumns(currency string) []string {
	names := slices.Insert(slices.Clone(costNames), len(costNames)-2, "upfront")
	for i := range names {
		names[i] += "_" + currency
	}
	return names
}

func costCells(c *horizon.SpanCost) []Cell {
	bill := less(c.Total, c.Penalties) // as in answers that were kept before they had a bill of their own
	return []Cell{amount(&bill), amount(&c.OnDemand), amount(&c.Spot), amount(&c.Reserved), amount(&c.ReservedIdle), amount(&c.Penalties), amount(&c.Total)}
}

func spanCells(c *horizon.SpanCost) []Cell {
	return slices.Insert(costCells(c), len(costNames)-2, amount(&c.Upfront))
}

// planCost is a plan's cost as one for some time.
func planCost(c *capacity.Cost) *horizon.SpanCost {
	return &horizon.SpanCost{Total: c.Total, OnDemand: c.OnDemand, Spot: c.Spot, Reserved: c.Reserved, ReservedIdle: c.ReservedIdle, Penalties: c.Penalties}
}

// less is one amount minus another.
func less(a, b money.Amount) money.Amount { return money.Amount{Decimal: a.Sub(b.Decimal)} }

// horizonContracts returns a row for each contract: its used and idle hours, and its cost.
func horizonContracts(a horizon.Answer) Table {
	in := "_" + a.Currency
	columns := []string{"contract", "vm_type", "vms", "hours_in_force", "used_vm_hours", "idle_vm_hours", "utilisation", "idle_share",
		"reserved" + in, "reserved_idle" + in, "upfront_share" + in, billColumn + in}
	return tableOf(columns, a.Contracts, func(c horizon.ContractTotal) []Cell {
		total := money.Amount{Decimal: decimal.Sum(c.Reserved.Decimal, c.ReservedIdle.Decimal, c.Upfront.Decimal)}
		return []Cell{text(c.Name), text(c.VMType), whole(c.VMs), number(c.Hours), number(c.UsedHours), number(c.IdleHours),
			optional(c.Utilisation), optional(c.IdleShare), amount(&c.Reserved), amount(&c.ReservedIdle), amount(&c.Upfront), amount(&total)}
	})
}

// horizonClasses returns a row for each class with its own costs, and one for unused VMs. The rows add up to the
// answer. The VM-hours that a class asks for are those of its jobs, as the answer has them; the billed ones are its
// share of the VMs that run, by which the bill is divided. An answer without a plan for every hour has nothing billed.
func horizonClasses(h horizon.Horizon, a horizon.Answer) (Table, error) {
	in := "_" + a.Currency
	t := Table{Columns: []string{"class", "asked_vm_hours", "billed_vm_hours", "admitted_job_hours", "refused_job_hours", billColumn + in, valueColumn + in}}
	type sums struct {
		asked, billed, admitted, refused float64
		cost, penalties                  decimal.Decimal
	}
	idle, byName := new(sums), make(map[string]*sums)
	for i := range a.Classes {
		byName[a.Classes[i].Name] = &sums{asked: a.Classes[i].AskedVMHours}
	}
	for i := range a.Periods {
		p := &a.Periods[i]
		for k, c := range a.Situations[p.Situation].Classes {
			s := byName[h.Problem.Classes[k].Name]
			s.admitted += c.Admitted * p.Hours
			s.refused += c.Refused * p.Hours
		}
	}
	complete := a.Status != capacity.InfeasibleStatus
	if complete {
		err := charges(&h, &a, func(c *charge) error {
			s := byName[c.class]
			if s == nil {
				s = idle
			}
			s.cost, s.penalties = s.cost.Add(c.effective), s.penalties.Add(c.penalty)
			if c.kind == onDemandUse || c.kind == spotUse || c.kind == contractUse {
				s.billed += c.hours.InexactFloat64()
			}
			return nil
		})
		if err != nil {
			return t, err
		}
	}
	row := func(name string, s *sums) {
		cells := []Cell{text(name), {rounded(s.asked, 6), true}, {"", true}, number(s.admitted), number(s.refused), {"", true}, {"", true}}
		if complete {
			cells[2], cells[5], cells[6] = Cell{rounded(s.billed, 6), true}, amount(&money.Amount{Decimal: s.cost}), amount(&money.Amount{Decimal: s.penalties})
		}
		t.Rows = append(t.Rows, cells)
	}
	for _, c := range h.Problem.Classes {
		row(c.Name, byName[c.Name])
	}
	row("(idle contracts)", idle)
	return t, nil
}

// comparedBrief returns what schedules under a scenario and as it is come to, and what they differ by.
func comparedBrief(c *horizon.WaitingCompared, currency string) Table {
	t := Table{Columns: []string{"Where jobs wait", "VM bill " + currency, "Value refused", "Together", "At least"}}
	for _, line := range []struct {
		name string
		of   [4]money.Amount
	}{{"Under the scenario", [4]money.Amount{c.UnderScenario.Bill, c.UnderScenario.ValueRefused, c.UnderScenario.Total, c.UnderScenario.Bound}},
		{"As it is", [4]money.Amount{c.AsItIs.Bill, c.AsItIs.ValueRefused, c.AsItIs.Total, c.AsItIs.Bound}},
		{"Difference", [4]money.Amount{c.Bill, c.ValueRefused, c.Total, c.Least}}} {
		row := []Cell{text(line.name)}
		least := len(line.of) - 1
		for _, m := range line.of[:least] {
			row = append(row, Cell{cents(m), true})
		}
		row = append(row, Cell{words.CentsDown(line.of[least]), true})
		t.Rows = append(t.Rows, row)
	}
	return t
}

// HorizonText writes a horizon's answer for a terminal: its result in words, then its months, days or periods, and
// its contracts.
func HorizonText(w io.Writer, a horizon.Answer) error {
	var b strings.Builder
	b.WriteString(visible(a.Explanation, 0) + "\n\n")
	per, table := "", Table{}
	switch {
	case a.AsItIs != nil:
		per, table = compareBriefly(a)
	case len(a.Months) > 1:
		per, table = "Month", Horizon(a, PerMonth)
	case len(a.Days) > 1:
		per, table = "Day", Horizon(a, PerDay)
	default:
		per, table = "Period", Horizon(a, PerPeriod)
	}
	table = brief(table, per, a.Currency)
	if a.AsItIs != nil && len(table.Rows) > 1 {
		table.Rows[len(table.Rows)-1][0] = text("Total")
	}
	if err := table.Text(&b); err != nil {
		return err
	}
	if len(a.Contracts) > 0 {
		b.WriteByte('\n')
		if err := contractsBrief(a).Text(&b); err != nil {
			return err
		}
	}
	if w := a.WithWaiting; w != nil && w.Compared != nil {
		b.WriteByte('\n')
		if err := comparedBrief(w.Compared, a.Currency).Text(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// compareBriefly returns the bills and values of months, or of the days of one month, under a scenario and as it is, with those
// of all the time last.
func compareBriefly(a horizon.Answer) (per string, t Table) {
	per, items, asItIs := "Month", a.Months, a.AsItIs.Months
	if len(items) == 1 {
		per, items, asItIs = "Day", a.Days, a.AsItIs.Days
	}
	if len(items) > 1 {
		items, asItIs = append(slices.Clone(items), a.Total), append(slices.Clone(asItIs), a.AsItIs.Total)
	}
	t = besideEachOther(items, asItIs, a.Currency)
	for i, row := range t.Rows {
		if items[i].InfeasibleHours == items[i].Hours {
			row[slices.Index(t.Columns, billColumn+"_"+a.Currency)], row[slices.Index(t.Columns, valueColumn+"_"+a.Currency)] = Cell{"", true}, Cell{"", true}
		}
		if d := items[i].Difference; d != nil {
			row[slices.Index(t.Columns, billColumn+"_difference_"+a.Currency)] = closing(&items[i].Cost.Bill, &asItIs[i].Cost.Bill)
			row[slices.Index(t.Columns, valueColumn+"_difference_"+a.Currency)] = closing(&items[i].Cost.Penalties, &asItIs[i].Cost.Penalties)
		}
	}
	keep := map[string]bool{"start": true, "hours": true}
	for _, name := range t.Columns {
		for _, of := range []string{withoutPlan, billColumn + "_" + a.Currency, billColumn + asItIsSuffix, billColumn + "_difference", valueColumn} {
			keep[name] = keep[name] || strings.HasPrefix(name, of)
		}
	}
	return per, t.only(keep)
}

// closing returns the difference of two amounts as they are shown, in cents unless it is less than one.
func closing(is, was *money.Amount) Cell {
	d := less(*is, *was)
	if d.Abs().LessThan(decimal.New(1, -2)) {
		return amount(&d)
	}
	return amount(&money.Amount{Decimal: is.Round(2).Sub(was.Round(2))})
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// cents formats an amount for reading: two places, or all for a smaller one.
func cents(m money.Amount) string {
	if !m.IsZero() && m.Abs().LessThan(decimal.New(1, -2)) {
		return m.String()
	}
	return m.StringFixed(2)
}

// brief returns a table of spans for a terminal, with amounts in cents and without empty columns.
func brief(t Table, per, currency string) Table {
	if len(t.Rows) == 0 {
		return t
	}
	keep := make(map[string]bool)
	for j, name := range t.Columns {
		for _, row := range t.Rows {
			keep[name] = keep[name] || row[j].Text != "" && row[j].Text != "0" && row[j].Text != "0.00"
		}
	}
	keep["gap"] = false
	for _, of := range []string{"", asItIsSuffix, "_difference"} {
		keep[billColumn+of+"_"+currency] = true
	}
	values := []string{valueColumn + "_" + currency, valueColumn + asItIsSuffix + "_" + currency, valueColumn + "_difference_" + currency}
	for _, of := range values { // of which all are told, or none
		if keep[of] && slices.Contains(t.Columns, values[1]) {
			keep[values[0]], keep[values[1]], keep[values[2]] = true, true, true
		}
	}
	short := t.only(keep)
	for i, row := range short.Rows {
		closeBill(short.Columns, row, currency)
		for j, c := range row {
			switch name := short.Columns[j]; {
			case name == "start":
				at, _ := time.Parse(time.RFC3339, c.Text)
				row[j] = text(at.Format(pick(per == "Month", "2006-01", pick(per == "Day", time.DateOnly, "2006-01-02 15:04"))))
			case strings.HasSuffix(name, "_"+currency) && c.Text != "":
				row[j].Text = cents(amountOf(c))
			case c.Number && c.Text != "":
				d, _ := decimal.NewFromString(c.Text)
				row[j].Text = d.Round(2).String()
			}
		}
		short.Rows[i] = row
	}
	for j, name := range short.Columns {
		short.Columns[j] = strings.ReplaceAll(strings.TrimSuffix(name, "_"+currency), "_", " ")
		if strings.HasSuffix(name, "_"+currency) {
			short.Columns[j] += " " + currency
		}
	}
	short.Columns[0] = per
	return short
}

// closeBill rounds the parts of a row's bill to cents that add up to it.
func closeBill(columns []string, row []Cell, currency string) {
	bill := slices.Index(columns, billColumn+"_"+currency)
	if bill < 0 || row[bill].Text == "" {
		return
	}
	var at []int
	var parts []money.Amount
	for _, name := range []string{"on_demand", "spot", "reserved", "reserved_idle", "upfront"} {
		if j := slices.Index(columns, name+"_"+currency); j >= 0 && row[j].Text != "" {
			at, parts = append(at, j), append(parts, amountOf(row[j]))
		}
	}
	for n, part := range words.PartsOf(cents(amountOf(row[bill])), parts...) {
		row[at[n]].Text = part
	}
}

// amountOf reads an amount of a cell.
func amountOf(c Cell) money.Amount {
	d, _ := decimal.NewFromString(c.Text)
	return money.Amount{Decimal: d}
}

func contractsBrief(a horizon.Answer) Table {
	columns := []string{"Contract", "VMs", "Used", "Idle VM hours", "By the hour " + a.Currency, "Idle " + a.Currency, "Upfront " + a.Currency}
	t := tableOf(columns, a.Contracts, func(c horizon.ContractTotal) []Cell {
		return []Cell{text(c.Name), whole(c.VMs), share(c.Utilisation), figure(c.IdleHours, 2, ""), {cents(c.Reserved), true}, {cents(c.ReservedIdle), true}, {cents(c.Upfront), true}}
	})
	sums := horizon.BillInParts(a.Total.Cost) // as the sentence above has them
	for j, of := range []func(c *horizon.ContractTotal) money.Amount{
		func(c *horizon.ContractTotal) money.Amount { return c.Reserved },
		func(c *horizon.ContractTotal) money.Amount { return c.ReservedIdle },
		func(c *horizon.ContractTotal) money.Amount { return c.Upfront },
	} {
		parts := make([]money.Amount, len(a.Contracts))
		for i := range parts {
			parts[i] = of(&a.Contracts[i])
		}
		for i, part := range words.PartsOf(sums[2+j], parts...) {
			t.Rows[i][4+j].Text = part
		}
	}
	return t
}

// share returns a ratio in per cent for a terminal.
func share(x *float64) Cell {
	if x == nil {
		return Cell{"–", true}
	}
	return Cell{words.Share(*x), true}
}
