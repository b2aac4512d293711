package horizon

import (
	"fmt"
	"math"
	"time"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// Retold is the answer with its sentences and facts made anew from its figures, for whoever has checked those. start and
// end are those of the horizon.
func (a Answer) Retold(start, end time.Time) Answer {
	a.explain(start, end)
	return a
}

// explain says in a paragraph what a horizon comes to, every sentence as a fact.
func (a *Answer) explain(start, end time.Time) {
	a.Facts = words.Facts{}
	say := a.Facts.Say
	until := end
	if !a.Complete {
		until = start.Add(time.Duration(math.Round(a.Total.Hours*3600)) * time.Second)
		say("incomplete", "", fmt.Sprintf("The work was ended before it was done; this is the time until %s, of a horizon until %s.", words.Moment(until), words.Moment(end)))
	}
	c := &a.Total.Cost
	ofThem, share := "", "their share of this time"
	if none := a.Total.InfeasibleHours; none > 0 {
		first := &a.Infeasible[0]
		say("no_plan", words.Moment(first.Start), fmt.Sprintf("For %s of %s there is no plan, and the bill lacks that time, also what contracts cost then; it begins at %s: %s",
			plainHours(none), words.Hours(a.Total.Hours), words.Moment(first.Start), first.Conflict), words.Count("hours", none, "hours"))
		ofThem, share = " of "+words.Hours(a.Total.Hours-none)+" with a plan", "their share of all this time"
	}
	amount := words.CentsOf(c.Bill)
	bill := fmt.Sprintf("From %s until %s (%s) the VM bill%s is %s %s", words.Moment(start), words.Moment(until), words.Hours(a.Total.Hours), ofThem, amount, a.Currency)
	if a.Scenario != nil {
		if a.Total.Difference != nil {
			_, amount, _ = closing(a.AsItIs.Total.Cost.Bill, c.Bill)
		}
		bill = fmt.Sprintf("%s the VM bill%s from %s until %s (%s) is %s %s", a.with(), ofThem, words.Moment(start), words.Moment(until), words.Hours(a.Total.Hours), amount, a.Currency)
	}
	amounts := c.billed()
	what := []string{"on demand", "for spot VMs", "for VMs of contracts in use", "for idle ones", "for upfront payments, " + share}
	var parts []string
	for i, text := range words.PartsOf(amount, amounts...) {
		if !amounts[i].IsZero() {
			parts = append(parts, text+" "+what[i])
		}
	}
	if len(parts) > 0 {
		bill += ": " + words.List(parts)
	}
	figures := []capacity.Figure{words.Money("bill", c.Bill, a.Currency), words.Money("on_demand", c.OnDemand, a.Currency), words.Money("spot", c.Spot, a.Currency),
		words.Money("reserved", c.Reserved, a.Currency), words.Money("reserved_idle", c.ReservedIdle, a.Currency), words.Count("hours", a.Total.Hours, "hours")}
	if !c.Upfront.IsZero() {
		figures = append(figures, words.Money("upfront", c.Upfront, a.Currency))
	}
	say("bill", "", bill+".", figures...)
	a.tellWhole()
	of := "Of it"
	if a.Scenario != nil {
		a.tellAsItIs()
		of = "Of the bill with " + a.it()
	}
	if rests := a.Total.UnforecastBill; !rests.IsZero() {
		say("bill_without_forecast", "", fmt.Sprintf("%s %s (%s) rest on %s in which a class has no forecast and counts with the most jobs it may have at once.",
			of, words.CentsOf(rests), words.Percent(rests.Float()/c.Bill.Float()), words.Hours(a.Total.UnforecastHours)), words.Money("bill", rests, a.Currency), words.Count("hours", a.Total.UnforecastHours, "hours"))
	}
	if !c.Penalties.IsZero() || a.AsItIs != nil && !a.AsItIs.Total.Cost.Penalties.IsZero() {
		say("value_refused", "", fmt.Sprintf("Refused jobs, which are on no bill, are valued at %s.", words.CentsOf(c.Penalties)), words.Money("value_refused", c.Penalties, a.Currency))
	}
	if a.AsItIs != nil {
		a.tellRestAsItIs()
	}
	if !a.Gap.IsZero() {
		say("gap", "", fmt.Sprintf("Bill and value refused together are at most %s more than necessary.", words.CentsUp(a.Gap)), words.Money("gap", a.Gap, a.Currency))
	}
	if a.AsItIs != nil && !a.AsItIs.Gap.IsZero() {
		say("gap_as_it_is", "", fmt.Sprintf("As it is, they are at most %s more than necessary.", words.CentsUp(a.AsItIs.Gap)), words.Money("gap_as_it_is", a.AsItIs.Gap, a.Currency))
	}
	a.tellWaiting()
	a.explainParts()
	a.Explanation = a.Facts.Text()
}

// billed are the parts of a bill.
func (c *SpanCost) billed() []money.Amount {
	return []money.Amount{c.OnDemand, c.Spot, c.Reserved, c.ReservedIdle, c.Upfront}
}

// BillInParts writes the parts of a bill in cents that add up to it: on demand, spot, contracts in use, idle ones, upfront.
func BillInParts(c SpanCost) []string { return words.PartsOf(words.CentsOf(c.Bill), c.billed()...) }

// tellWhole says what the plans of single hours come to, where that is another bill.
func (a *Answer) tellWhole() {
	of, c := a.Total.InWholeJobs, &a.Total.Cost
	if of == nil || of.Bill.Equal(c.Bill.Decimal) && of.ValueRefused.Equal(c.Penalties.Decimal) && of.InfeasibleHours == a.Total.InfeasibleHours {
		return
	}
	figures := []capacity.Figure{words.Money("bill", of.Bill, a.Currency), words.Money("value_refused", of.ValueRefused, a.Currency), words.Count("hours", of.InfeasibleHours, "hours")}
	begin := "Jobs count in parts here, and plans of single hours hold whole ones"
	if of.InfeasibleHours > a.Total.InfeasibleHours {
		a.Facts.Say("in_whole_jobs", "", fmt.Sprintf("%s: for %s there is no such plan.", begin, words.Hours(of.InfeasibleHours)), figures...)
		return
	}
	_, is, by := closing(c.Bill, of.Bill)
	said := fmt.Sprintf("%s: rented as they are made, the VM bill is %s %s", begin, is, a.Currency)
	switch of.Bill.Cmp(c.Bill.Decimal) {
	case 1:
		said += fmt.Sprintf(", %s more", by)
	case -1:
		said += fmt.Sprintf(", %s less", by)
	}
	if !of.ValueRefused.Equal(c.Penalties.Decimal) {
		said += fmt.Sprintf(", and what they refuse is valued at %s", words.CentsOf(of.ValueRefused))
	}
	a.Facts.Say("in_whole_jobs", "", said+".", figures...)
}

// explainParts tells of months, contracts, refused jobs and hours without a plan.
func (a *Answer) explainParts() {
	say := a.Facts.Say
	if a.AsItIs != nil {
		a.tellChangedMost()
	}
	a.tellDearest()
	for i := range a.Contracts {
		if t := &a.Contracts[i]; t.Utilisation != nil && i < contractsSaid {
			say("utilisation", t.Name, fmt.Sprintf("Contract %q is used %s of its VM-hours.", t.Name, words.Percent(*t.Utilisation)), words.Count("used", *t.Utilisation, "share of its VM-hours"))
		}
	}
	if a.Total.RefusedHours > 0 {
		all := a.Total.RefusedHours + a.Total.AdmittedHours
		say("refused", "", fmt.Sprintf("%s of %s %s refused.", plainHours(a.Total.RefusedHours), jobHours(all), words.IsAre(a.Total.RefusedHours)), words.Count("refused", a.Total.RefusedHours, "job-hours"), words.Count("asked", all, "job-hours"))
	}
	for i := range a.Classes {
		if x := &a.Classes[i]; x.RefusedHours > 0 && x.Penalties.IsZero() {
			say("refused_for_nothing", x.Name, fmt.Sprintf("Of class %q %s %s refused because they are valued at nothing: give it a penalty, or promise all that arrive (jobs.all).",
				x.Name, jobHours(x.RefusedHours), words.IsAre(x.RefusedHours)), words.Count("refused", x.RefusedHours, "job-hours"))
		}
	}
	for i := range a.Classes {
		if of := a.Classes[i].Arrivals; of != nil && of.Below != nil {
			x, name := of.Below, a.Classes[i].Name
			say("below_promise", name, fmt.Sprintf("In %s, the first at %s, class %q has fewer jobs at once than it is promised, %s or all that there would be, because some were refused as they arrived.",
				words.Hours(x.Hours), words.Moment(x.First), name, plainHours(x.Promised)), words.Count("hours", x.Hours, "hours"), words.Count("promised", x.Promised, "jobs"), words.Count("least", x.Least, "jobs"))
		}
	}
	if later := a.later(); words.Rounded(later, 2) > 0 {
		unless := ""
		if a.Total.RefusedHours > 0 {
			unless = ", unless they are refused"
		}
		say("work_after_the_end", "", fmt.Sprintf("Jobs that arrive shortly before the end run on after it%s: about %s more, which no figure counts.", unless, hoursOf("VM", a.laterVMs())),
			words.Count("job_hours", later, "job-hours"), words.Count("vm_hours", a.laterVMs(), "VM-hours"))
	}
	if len(a.Infeasible) > 0 && a.Total.InfeasibleHours == 0 { // every hour has a plan
		first := &a.Infeasible[0]
		say("too_few_vms", words.Moment(first.Start), "From "+words.Moment(first.Start)+" on the VMs do less than the work that has arrived. "+first.Conflict)
	}
}

// tellDearest names the month with the highest bill, or the first of several, of those with a plan for every hour: the bills of
// others lack hours. Where all are alike there is nothing to tell.
func (a *Answer) tellDearest() {
	var m *SpanTotal
	var last time.Time // of those alike
	alike, whole := 0, 0
	for i := range a.Months {
		if a.Months[i].InfeasibleHours > 0 {
			continue
		}
		whole++
		switch x := &a.Months[i]; {
		case m == nil || x.Cost.Bill.GreaterThan(m.Cost.Bill.Decimal):
			m, alike = x, 1
		case x.Cost.Bill.Equal(m.Cost.Bill.Decimal):
			last = x.Start
			alike++
		}
	}
	if alike == whole {
		return
	}
	of := ""
	if whole < len(a.Months) {
		of = " of those with a plan for every hour"
	}
	name, bill := m.Start.Format("January 2006"), words.CentsOf(m.Cost.Bill)
	claim := fmt.Sprintf("The dearest month%s is %s, with a bill of %s.", of, name, bill)
	switch {
	case alike > 2:
		months := fmt.Sprintf("%d months", whole)
		if of != "" {
			months = fmt.Sprintf("the %d months with a plan for every hour", whole)
		}
		claim = fmt.Sprintf("%d of %s share the highest bill, %s; %s is the first of them.", alike, months, bill, name)
	case alike > 1:
		claim = fmt.Sprintf("The dearest months%s are %s and %s, each with a bill of %s.", of, name, last.Format("January 2006"), bill)
	}
	a.Facts.Say("dearest_month", m.Start.Format("2006-01"), claim, words.Money("bill", m.Cost.Bill, a.Currency), words.Count("months", float64(alike), "months"))
}

// later returns the job-hours beyond the end, of classes that are not refused altogether, and laterVMs the VM-hours.
func (a *Answer) later() (hours float64) {
	for i := range a.Classes {
		if x := &a.Classes[i]; x.Arrivals != nil && (x.AdmittedHours > 0 || x.RefusedHours == 0) {
			hours += x.Arrivals.LaterHours
		}
	}
	return hours
}

func (a *Answer) laterVMs() (hours float64) {
	for i := range a.Classes {
		if of := a.Classes[i].Arrivals; of != nil {
			hours += of.LaterVMHours
		}
	}
	return hours
}

// contractsSaid bounds the contracts that a paragraph tells of.
const contractsSaid = 3

// hoursOf counts the hours of jobs or VMs.
func hoursOf(what string, x float64) string { return words.Counted(plainHours(x), what+"-hour") }

func jobHours(x float64) string { return hoursOf("job", x) }

func plainHours(x float64) string { return words.Number(words.Rounded(x, 2)) }
