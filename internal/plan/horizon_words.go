package plan

import (
	"fmt"
	"math"
	"strings"
	"time"

	"headroom/internal/capacity"
)

// explain says in a paragraph what a horizon comes to.
func (a *HorizonAnswer) explain(h *capacity.Horizon) {
	var b strings.Builder
	end := h.End()
	if !a.Complete {
		end = h.Start().Add(time.Duration(math.Round(a.Total.Hours*3600)) * time.Second)
		fmt.Fprintf(&b, "The work was ended before it was done; this is the time until %s, of a horizon until %s. ", moment(end), moment(h.End()))
	}
	c := &a.Total.Cost
	fmt.Fprintf(&b, "From %s until %s (%s hours) VMs and refused jobs cost %s %s: %s on demand", moment(h.Start()), moment(end), plainHours(a.Total.Hours), cents(c.Total.Float()), a.Currency, cents(c.OnDemand.Float()))
	for _, line := range []struct {
		amount capacity.Money
		what   string
	}{{c.Spot, "for spot VMs"}, {c.Reserved, "for VMs of contracts in use"}, {c.ReservedIdle, "for idle ones"}, {c.Penalties, "in penalties"}} {
		if !line.amount.IsZero() {
			fmt.Fprintf(&b, ", %s %s", cents(line.amount.Float()), line.what)
		}
	}
	b.WriteString(".")
	if !a.Upfront.IsZero() {
		fmt.Fprintf(&b, " Upfront payments add %s, their share of this time.", cents(a.Upfront.Float()))
	}
	if n := len(a.Months); n > 1 {
		most := 0
		for i := range a.Months {
			if a.Months[i].Cost.Total.GreaterThan(a.Months[most].Cost.Total.Decimal) {
				most = i
			}
		}
		fmt.Fprintf(&b, " The dearest month is %s, %s.", a.Months[most].Start.Format("January 2006"), cents(a.Months[most].Cost.Total.Float()))
	}
	for i := range a.Contracts {
		if t := &a.Contracts[i]; t.Utilisation != nil && i < contractsSaid {
			fmt.Fprintf(&b, " Contract %q is used %s of its VM-hours.", t.Name, percent(*t.Utilisation))
		}
	}
	if a.Total.RefusedHours > 0 {
		fmt.Fprintf(&b, " %s of %s job-hours are refused.", plainHours(a.Total.RefusedHours), plainHours(a.Total.RefusedHours+a.Total.AdmittedHours))
	}
	if len(a.Infeasible) > 0 {
		first := &a.Infeasible[0]
		fmt.Fprintf(&b, " For %s hours there is no plan, and the figures leave them out; the first is %s: %s", plainHours(a.Total.InfeasibleHours), moment(first.Start), first.Conflict)
	}
	a.Explanation = b.String()
}

// contractsSaid bounds the contracts that a paragraph tells of.
const contractsSaid = 3

// moment is a time as people write it, in UTC.
func moment(t time.Time) string {
	if t = t.UTC(); t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return t.Format("2006-01-02")
	}
	return t.Format("2006-01-02 15:04") + " UTC"
}

func plainHours(x float64) string { return number(roundedTo(x, 2)) }

func percent(share float64) string { return number(roundedTo(100*share, 1)) + " %" }
