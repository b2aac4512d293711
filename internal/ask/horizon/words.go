package horizon

import (
	"fmt"
	"math"
	"strings"
	"time"

	"headroom/internal/core/money"
	"headroom/internal/core/words"
)

// explain says in a paragraph what a horizon comes to.
func (a *Answer) explain(h *Horizon) {
	var b strings.Builder
	end := h.End()
	if !a.Complete {
		end = h.Start().Add(time.Duration(math.Round(a.Total.Hours*3600)) * time.Second)
		fmt.Fprintf(&b, "The work was ended before it was done; this is the time until %s, of a horizon until %s. ", moment(end), moment(h.End()))
	}
	c := &a.Total.Cost
	fmt.Fprintf(&b, "From %s until %s (%s) VMs and refused jobs cost %s %s", moment(h.Start()), moment(end), hourCount(a.Total.Hours), words.Cents(c.Total.Float()), a.Currency)
	var parts []string
	for _, line := range []struct {
		amount money.Amount
		what   string
	}{{c.OnDemand, "on demand"}, {c.Spot, "for spot VMs"}, {c.Reserved, "for VMs of contracts in use"}, {c.ReservedIdle, "for idle ones"}, {c.Penalties, "in penalties"}} {
		if !line.amount.IsZero() {
			parts = append(parts, words.Cents(line.amount.Float())+" "+line.what)
		}
	}
	if len(parts) > 0 {
		b.WriteString(": " + words.List(parts))
	}
	b.WriteString(".")
	if !a.Upfront.IsZero() {
		fmt.Fprintf(&b, " Upfront payments add %s, their share of this time, which makes %s.", words.Cents(a.Upfront.Float()), words.Cents(c.Total.Add(a.Upfront.Decimal).InexactFloat64()))
	}
	if !a.Gap.IsZero() {
		fmt.Fprintf(&b, " That is at most %s more than necessary.", words.Cents(a.Gap.Float()))
	}
	if n := len(a.Months); n > 1 {
		most := 0
		for i := range a.Months {
			if a.Months[i].Cost.Total.GreaterThan(a.Months[most].Cost.Total.Decimal) {
				most = i
			}
		}
		fmt.Fprintf(&b, " The dearest month is %s, %s.", a.Months[most].Start.Format("January 2006"), words.Cents(a.Months[most].Cost.Total.Float()))
	}
	for i := range a.Contracts {
		if t := &a.Contracts[i]; t.Utilisation != nil && i < contractsSaid {
			fmt.Fprintf(&b, " Contract %q is used %s of its VM-hours.", t.Name, words.Percent(*t.Utilisation))
		}
	}
	if a.Total.RefusedHours > 0 {
		fmt.Fprintf(&b, " %s of %s job-hours are refused.", plainHours(a.Total.RefusedHours), plainHours(a.Total.RefusedHours+a.Total.AdmittedHours))
	}
	if later := a.later(); later > 0 {
		fmt.Fprintf(&b, " Jobs that arrive before the end go on for %s job-hours after it; no figure counts those, which take about %s VM-hours more.", plainHours(later), plainHours(a.laterVMs()))
	}
	if len(a.Infeasible) > 0 {
		first := &a.Infeasible[0]
		fmt.Fprintf(&b, " For %s there is no plan, and no figure counts that time; it begins at %s: %s", hourCount(a.Total.InfeasibleHours), moment(first.Start), first.Conflict)
	}
	a.Explanation = b.String()
}

// later returns the job-hours beyond the end, and laterVMs the VM-hours.
func (a *Answer) later() (hours float64) {
	for i := range a.Classes {
		if of := a.Classes[i].Arrivals; of != nil {
			hours += of.LaterHours
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

// moment is a time as people write it, in UTC.
func moment(t time.Time) string {
	if t = t.UTC(); t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return t.Format("2006-01-02")
	}
	if t.Second() != 0 {
		return t.Format("2006-01-02 15:04:05") + " UTC"
	}
	return t.Format("2006-01-02 15:04") + " UTC"
}

// hourCount is a length of time, in seconds where hours would round it away.
func hourCount(x float64) string {
	switch {
	case x == 1:
		return "1 hour"
	case x < 0.1 && x > 0:
		return words.Number(math.Round(x*3600)) + " s"
	}
	return plainHours(x) + " hours"
}

func plainHours(x float64) string { return words.Number(words.Rounded(x, 2)) }
