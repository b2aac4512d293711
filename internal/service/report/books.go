package report

import (
	"io"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// figureSheet lists single figures: name, contract, class or type, value and unit.
type figureSheet struct{ rows [][]Cell }

func (f *figureSheet) add(what, of string, value Cell, unit string) {
	f.rows = append(f.rows, []Cell{text(what), text(of), value, text(unit)})
}

func (f *figureSheet) sheet(name string) Sheet {
	return Sheet{name, Table{Columns: []string{"figure", "of", "value", "unit"}, Rows: f.rows}}
}

// upfrontLine names the share of upfront payments that a horizon's bill includes.
const upfrontLine = "upfront payments, share in the horizon"

// cost lists the bill with its parts, and the value refused. The bills of plans have no upfront payments: nil.
func (f *figureSheet) cost(c *horizon.SpanCost, upfront *money.Amount, currency string) {
	for _, line := range []struct {
		what     string
		amountOf *money.Amount
	}{{"VM bill", new(less(c.Total, c.Penalties))}, {"on demand", &c.OnDemand}, {"spot", &c.Spot}, {"contracts, used hours", &c.Reserved}, {"contracts, idle hours", &c.ReservedIdle},
		{upfrontLine, upfront}, {"value of refused jobs, on no bill", &c.Penalties}, {"bill and value refused together", &c.Total}} {
		if line.amountOf != nil {
			f.add(line.what, "", amount(line.amountOf), currency)
		}
	}
}

func (f *figureSheet) warnings(all []capacity.Warning) {
	for _, w := range all {
		f.add("warning", "", text(w.Detail), "")
	}
}

// HorizonWorkbook writes a horizon's answer as a spreadsheet: summary, classes, contracts, months, days, periods, and
// all assumptions.
func HorizonWorkbook(w io.Writer, h horizon.Horizon, a horizon.Answer) error {
	var summary figureSheet
	summary.add("in words", "", text(a.Explanation), "")
	horizonSummary(&summary, a)
	summary.warnings(a.Warnings)
	sheets, err := horizonSheets(h, a)
	if err != nil {
		return err
	}
	return Workbook(w, append([]Sheet{summary.sheet("summary")}, append(sheets, horizonAssumptions(h, a).sheet("assumptions"))...)...)
}

func horizonSummary(f *figureSheet, a horizon.Answer) {
	t := &a.Total
	if a.Scenario != nil {
		f.add("scenario", *a.Scenario, text("All figures hold under it, but for those as it is."), "")
	}
	f.add("status", "", text(string(a.Status)), "")
	f.add("begin", "", Time(t.Start), "UTC")
	f.add("end", "", Time(t.Start.Add(time.Duration(t.Hours*float64(time.Hour)))), "UTC")
	f.cost(&t.Cost, &t.Cost.Upfront, a.Currency)
	f.add("VM bill of hours in which a class has no forecast", "", amount(&t.UnforecastBill), a.Currency)
	if of := t.InWholeJobs; of != nil {
		f.add("VM bill of plans of single hours, in whole jobs", "", amount(&of.Bill), a.Currency)
		f.add("value of what they refuse, on no bill", "", amount(&of.ValueRefused), a.Currency)
		f.add("without such a plan", "", number(of.InfeasibleHours), "h")
	}
	if was := a.AsItIs; was != nil {
		for _, line := range []struct {
			what     string
			amountOf *money.Amount
		}{{"VM bill as it is", &was.Total.Cost.Bill}, {"value of refused jobs as it is, on no bill", &was.Total.Cost.Penalties}} {
			if was.Total.InfeasibleHours < was.Total.Hours {
				f.add(line.what, "", amount(line.amountOf), a.Currency)
			}
		}
		f.add("without a plan as it is", "", number(was.Total.InfeasibleHours), "h")
	}
	if d := t.Difference; d != nil {
		f.add("VM bill with the scenario, less that as it is", "", amount(&d.Bill), a.Currency)
		f.add("value of refused jobs with the scenario, less that as it is", "", amount(&d.ValueRefused), a.Currency)
		f.add("VMs with the scenario, less those as it is", "", number(d.VMHours), "VM h")
		f.add("admitted jobs with the scenario, less those as it is", "", number(d.AdmittedHours), "job h")
	}
	f.add("bill and value refused together could be less by at most", "", amount(&a.Gap), a.Currency)
	for _, line := range []struct {
		what, unit string
		value      float64
	}{
		{"length", "h", t.Hours}, {"without a plan", "h", t.InfeasibleHours}, {"without a forecast of some class", "h", t.UnforecastHours}, {"VMs", "VM h", t.VMHours}, {"VMs on demand", "VM h", t.OnDemandHours},
		{"VMs of contracts", "VM h", t.ReservedHours}, {"admitted jobs", "job h", t.AdmittedHours}, {"refused jobs", "job h", t.RefusedHours},
	} {
		f.add(line.what, "", number(line.value), line.unit)
	}
}

func horizonSheets(h horizon.Horizon, a horizon.Answer) ([]Sheet, error) {
	classes, err := horizonClasses(h, a)
	if err != nil {
		return nil, err
	}
	return []Sheet{{"classes", classes}, {"contracts", horizonContracts(a)}, {"months", Horizon(a, PerMonth)}, {"days", Horizon(a, PerDay)}, {"periods", Horizon(a, PerPeriod)}}, nil
}

// horizonAssumptions lists the inputs and the rules of counting.
func horizonAssumptions(h horizon.Horizon, a horizon.Answer) *figureSheet {
	var f figureSheet
	problemAssumptions(&f, &h.Problem)
	least, most := (*money.Amount)(nil), (*money.Amount)(nil)
	for i := range h.Periods {
		if m := h.Periods[i].OnDemandPrice; m != nil {
			if least == nil || m.LessThan(least.Decimal) {
				least = m
			}
			if most == nil || m.GreaterThan(most.Decimal) {
				most = m
			}
		}
	}
	if least != nil {
		f.add("on-demand price where a period has its own, lowest", "", amount(least), a.Currency+" per VM h")
		f.add("on-demand price where a period has its own, highest", "", amount(most), a.Currency+" per VM h")
	}
	for _, c := range h.Contracts {
		contractAssumptions(&f, &c.Contract, a.Currency)
		f.add("upfront payment, in full", c.Name, amount(&c.Upfront), a.Currency)
		f.add("from", c.Name, Time(c.From), "UTC")
		f.add("until", c.Name, Time(c.Until), "UTC")
	}
	f.add("periods", "", whole(int64(len(h.Periods))), "")
	f.add("different problems solved", "", whole(int64(a.Solved)), "")
	for _, rule := range []string{
		"Days and months are those of UTC.",
		"A bill is what invoices will say: VMs that run, and idle ones of contracts that are paid as well.",
		"A bill includes upfront payments, each with the share of its term's seconds that lie in the horizon, where its contract begins or else at the begin.",
		"Refused jobs have a value, their penalties, which nobody invoices.",
		"Hours without a plan are in no sum.",
		"The VM-hours that a class asks for are those that its jobs take; VMs that run are whole ones, so these may be more.",
		"The billed VM-hours of a class are its share of the VMs that run. Its bill is for these, with their part of upfront payments; what nobody uses stands by itself.",
		"Spreadsheets keep 15 digits; the CSV and JSON forms have all of them.",
	} {
		f.add("rule", "", text(rule), "")
	}
	return &f
}

func problemAssumptions(f *figureSheet, p *capacity.Problem) {
	o := &p.Options
	f.add("currency", "", text(p.Currency), "")
	f.add("penalties are per", "", whole(p.PeriodSeconds), "s")
	f.add("jobs and VMs", "", text(string(o.Integrality)), "")
	f.add("deadlines are held by", "", text(string(o.Bound)), "bound of the execution time")
	f.add("sharing of VMs", "", text(string(o.Sharing)), "")
	f.add("gap that is good enough", "", number(o.Gap), "")
	for _, t := range p.Supply.Types() {
		f.add("on-demand price", t.Name, amount(&t.OnDemand.Price), p.Currency+" per VM h")
		if t.OnDemand.Quota != nil {
			f.add("on-demand quota", t.Name, whole(*t.OnDemand.Quota), "VMs")
		}
		if t.Spot != nil {
			f.add("spot price", t.Name, amount(&t.Spot.Price), p.Currency+" per VM h")
			f.add("share of spot, at most", t.Name, number(t.Spot.MaxShare), "of the VMs")
		}
		for i := range t.Contracts {
			contractAssumptions(f, &t.Contracts[i], p.Currency)
		}
	}
	if b := p.Budget; b != nil {
		if b.VMCost != nil {
			f.add("budget for VMs", "", amount(b.VMCost), p.Currency+" per period")
		}
		if b.Total != nil {
			f.add("budget for bill and value refused together", "", amount(b.Total), p.Currency+" per period")
		}
	}
	for _, c := range p.Classes {
		f.add("value of a refused job", c.Name, amount(&c.Penalty), p.Currency+" per period")
		if c.DeadlineSeconds > 0 {
			f.add("deadline", c.Name, number(c.DeadlineSeconds), "s")
		}
		if k := c.Calibration; k != nil && o.Bound == capacity.CalibratedBound {
			f.add("calibrated execution time", c.Name, number(k.Factor), "times the "+string(k.Bound)+" bound")
		}
		if c.Jobs.Min > 0 {
			f.add("promised jobs", c.Name, number(c.Jobs.Min), "jobs at once")
		}
	}
}

func contractAssumptions(f *figureSheet, c *capacity.Contract, currency string) {
	f.add("VMs of a contract", c.Name, whole(c.VMs), "VMs")
	f.add("price of a contract", c.Name, amount(&c.Price), currency+" per VM h")
	f.add("billed", c.Name, text(string(c.Billing)), "")
}

// PurchaseWorkbook writes a recommendation as a spreadsheet: summary, offers, months of saving, curves and regret,
// then the horizon with the purchases.
func PurchaseWorkbook(w io.Writer, q horizon.PurchaseQuestion, a horizon.PurchaseAnswer) error {
	var f figureSheet
	f.add("in words", "", text(a.Explanation), "")
	costs := costLines(a)
	for _, line := range costs {
		f.add("VM bill, upfront payments by their share", line.name, amount(&line.cost.Bill), a.Currency)
	}
	savings(&f, "today", a.BillSaving, a.Currency)
	savings(&f, "on demand only", a.BillOnly, a.Currency)
	for _, line := range costs {
		f.add("value of refused jobs, on no bill", line.name, amount(&line.cost.Cost.Penalties), a.Currency)
	}
	for _, line := range costs {
		f.add("status", line.name, text(string(line.cost.Status)), "")
		f.add(upfrontLine, line.name, amount(&line.cost.Upfront), a.Currency)
		f.add("bill and value refused together", line.name, amount(&line.cost.Total), a.Currency)
	}
	f.add("obligation over the whole terms, used or not", "recommended", amount(&a.Obligation), a.Currency)
	f.add("forecast until", "", Time(a.ForecastUntil), "UTC")
	if a.Assume != "" {
		f.add("assumed after the forecast", "", text(string(a.Assume)), "")
	}
	f.add("share of VM hours on contracts", "recommended", optional(a.Coverage), "")
	f.add("utilisation of what is bought", "recommended", optional(a.Utilisation), "")
	f.add("bills have fallen by what was paid by the end of the month of", "recommended", MaybeTime(a.BillEven), "UTC")
	f.add("demand must last until the end of the month of", "recommended", MaybeTime(a.NeededUntil), "UTC")
	f.add("no purchase brings bill and value refused together below", "", amount(&a.Proof.Bound), a.Currency)
	f.add("gap", "", number(a.Proof.Gap), "of bill and value refused")
	f.warnings(a.Warnings)
	bought := a.Bought(&q)
	if a.Status == capacity.InfeasibleStatus { // then there are no numbers to buy, and no costs of classes
		bought, a.Horizon.Status = q.Horizon, capacity.InfeasibleStatus
	}
	sheets := []Sheet{f.sheet("summary"), {"offers", Purchase(a)}, {"bill by month", purchaseMonths(a)}, {"curves", purchaseCurve(a)}, {"regret", purchaseRegret(a)}, {"assumptions of demand", purchaseAssumptions(a)}}
	rest, err := horizonSheets(bought, a.Horizon)
	if err != nil {
		return err
	}
	assumed := horizonAssumptions(bought, a.Horizon)
	for _, o := range q.Offers {
		assumed.add("offer: price", o.Name, amount(&o.Price), a.Currency+" per VM h")
		assumed.add("offer: upfront", o.Name, amount(&o.Upfront), a.Currency+" per VM")
		assumed.add("offer: most VMs", o.Name, whole(o.Max), "VMs")
		assumed.add("offer: billed", o.Name, text(string(o.Billing)), "")
		from, until := o.Term(q.Start())
		assumed.add("offer: from", o.Name, Time(from), "UTC")
		assumed.add("offer: until", o.Name, Time(until), "UTC")
	}
	return Workbook(w, append(append(sheets, rest...), assumed.sheet("assumptions"))...)
}

func savings(f *figureSheet, against string, s *horizon.Saving, currency string) {
	if s != nil {
		f.add("saving of the bill against", against, amount(&s.Amount), currency)
		f.add("saving of the bill against, share", against, number(s.Share), "")
	}
}

// PlanWorkbook writes a plan as a spreadsheet: summary, classes, contracts and assumptions.
func PlanWorkbook(w io.Writer, p capacity.Problem, pl capacity.Plan) error {
	var f figureSheet
	f.add("in words", "", text(Headline(pl)), "")
	f.add("status", "", text(string(pl.Status)), "")
	for _, c := range pl.Conflicts {
		f.add("conflict", "", text(Conflict(c)), "")
	}
	if pl.Status != capacity.InfeasibleStatus {
		planSummary(&f, &pl)
	}
	f.warnings(pl.Warnings)
	var assumed figureSheet
	problemAssumptions(&assumed, &p)
	return Workbook(w, f.sheet("summary"), Sheet{"classes", Classes(p, pl)}, Sheet{"contracts", planContracts(&p, &pl)}, assumed.sheet("assumptions"))
}

func planSummary(f *figureSheet, pl *capacity.Plan) {
	c := &pl.Cost
	f.add("amounts are for", "", whole(c.PeriodSeconds), "s")
	f.cost(planCost(c), nil, c.Currency)
	f.add("bill and value refused together an hour", "", amount(&c.PerHour), c.Currency)
	f.add("bill and value refused together a month of "+strconv.Itoa(capacity.HoursPerMonth)+" h", "", amount(&c.PerMonth), c.Currency)
	for _, line := range []struct {
		what  string
		value float64
	}{{"VMs", pl.VMs.Total}, {"VMs on demand", pl.VMs.OnDemand}, {"VMs of contracts", pl.VMs.Reserved}, {"spot VMs", pl.VMs.Spot}} {
		f.add(line.what, "", number(line.value), "VMs")
	}
	for _, t := range pl.VMs.Types {
		f.add("VMs of a type", t.Name, number(t.Total), "VMs")
	}
	if pl.Proof != nil {
		f.add("no plan's objective is below", "", amount(&pl.Proof.Bound), c.Currency)
		f.add("objective", "", amount(&pl.Objective), c.Currency)
		f.add("gap", "", number(pl.Proof.Gap), "of the objective or the cost, whichever is less")
	}
}

// planContracts returns a row for each contract of a plan, with the cost of its hours per period.
func planContracts(p *capacity.Problem, pl *capacity.Plan) Table {
	in := "_" + p.Currency
	worth := make(map[string]money.Amount)
	if pl.Prices != nil {
		for _, c := range pl.Prices.Contracts {
			worth[c.Name] = c.Worth
		}
	}
	used := make(map[string]float64)
	for _, c := range pl.VMs.Contracts {
		used[c.Name] = c.Used
	}
	worthOf := "worth_of_one_more_vm_per_period"
	if p.Options.Integrality != capacity.Relaxed {
		worthOf += "_in_the_relaxation"
	}
	t := Table{Columns: []string{"contract", "vm_type", "vms", "used_vms", "idle_vms", "price_per_vm_h" + in, "billed", billColumn + "_per_period" + in, worthOf + in}}
	for _, of := range p.Supply.Types() {
		for _, c := range of.Contracts {
			row := []Cell{text(c.Name), text(of.Name), whole(c.VMs), {"", true}, {"", true}, amount(&c.Price), text(string(c.Billing)), {"", true}, {"", true}}
			if pl.Status != capacity.InfeasibleStatus {
				paid := decimal.NewFromFloat(used[c.Name])
				if c.Billing == capacity.BilledAlways {
					paid = decimal.NewFromInt(c.VMs)
				}
				cost := money.Amount{Decimal: paid.Mul(c.Price.Decimal).Mul(decimal.NewFromInt(p.PeriodSeconds)).DivRound(decimal.NewFromInt(3600), money.Places)}
				row[3], row[4], row[7] = number(used[c.Name]), number(float64(c.VMs)-used[c.Name]), amount(&cost)
				if m, known := worth[c.Name]; known {
					row[8] = amount(&m)
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
