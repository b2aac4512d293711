package words

import (
	"math"
	"strconv"

	"github.com/shopspring/decimal"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
)

// Reason says in a sentence why a class got what it got. It is made of the figures of the plan alone, so that whoever
// has checked them can say the sentence again; fixed is the time that no number of slots shortens.
func Reason(p *capacity.Problem, class *capacity.Class, out *capacity.ClassPlan, fixed float64) string {
	r := reasoning{
		period: PerPeriod(p.PeriodSeconds), penalty: class.Penalty.Float(), about: "about ",
		full: out.Verdict == capacity.VerdictFull, more: out.OneMore,
	}
	var margin *money.Amount
	switch {
	case p.Options.Integrality == capacity.Relaxed:
		r.about, margin = "", out.BreakEvenPenalty
	case r.more != nil:
		margin = r.more.Amount
	}
	floor := ""
	if out.Verdict == capacity.VerdictMinimum {
		floor = " Only the promised jobs run."
	}
	switch {
	case out.Verdict == capacity.VerdictImpossible:
		return "An execution takes " + Number(fixed) + " s even with any number of slots, and the deadline is " + Number(class.DeadlineSeconds) + " s."
	case class.Jobs.Max == 0:
		return "No jobs are wanted."
	case out.VMsPerJob == 0 && r.full:
		return "Its jobs take no VMs."
	case r.more.Told():
		return r.exact(class.Penalty) + floor
	case r.more.Bounded():
		return "One more job costs between " + bound(*r.more.Low, -1) + " and " + bound(*r.more.High, 1) + " " + r.period + ", refusing it " + Cents(r.penalty) + "." + floor
	case margin == nil && r.full:
		return "Refusing one costs " + Cents(r.penalty) + " " + r.period + ", and there is no more capacity to be had."
	case margin == nil:
		return "All VMs are in use by jobs that cost more to refuse (" + Cents(r.penalty) + " " + r.period + " here)." + floor
	}
	return Compared(margin.Float(), r.penalty, r.about, r.period, " in VMs", true) + floor
}

// bound writes the end of a range with as many places as Cents, rounded outwards.
func bound(end money.Amount, side int) string {
	places := int32(2)
	for !end.IsZero() && places < money.Places && end.Abs().LessThan(decimal.New(1, -places)) {
		places += 2
	}
	if side < 0 {
		return end.RoundFloor(places).StringFixed(places)
	}
	return end.RoundCeil(places).StringFixed(places)
}

// reasoning holds what the sentence about a class is made of.
type reasoning struct {
	period, about string
	penalty       float64
	full          bool
	more          *capacity.JobChange
}

// Compared sets what one more job costs against refusing it. If only is set, it stresses a refusal that is cheaper.
func Compared(more, penalty float64, about, period, made string, only bool) string {
	a, b := Apart(more, penalty)
	if only && more > penalty && !Tied(more, penalty) {
		b = "only " + b
	}
	return "One more job costs " + about + a + " " + period + made + ", refusing it " + b + "."
}

// exact is the sentence where what one more job costs is the difference of two proved plans.
func (r *reasoning) exact(penalty money.Amount) string {
	missing := "."
	if r.more.VMs != nil {
		missing = ": beside what is promised it needs " + VMs(*r.more.VMs) + " more than there are."
	}
	switch {
	case !r.more.Fits && r.full:
		return "Refusing one costs " + Cents(r.penalty) + " " + r.period + ", and one more cannot be served within the limits" + missing
	case !r.more.Fits:
		return "One more job cannot be served within the limits" + missing
	case !r.full && r.more.Amount.Equal(penalty.Decimal):
		return "One more job costs " + Cents(r.penalty) + " " + r.period + r.made() + ", as much as refusing it: a tie."
	}
	return Compared(r.more.Amount.Float(), r.penalty, "", r.period, r.made(), r.full)
}

// made says what the cost of one more job is made of.
func (r *reasoning) made() string {
	bill, value := r.more.Bill.Float(), r.more.ValueRefused.Float()
	switch {
	case value == 0 && bill == 0:
		return ""
	case value == 0:
		return " in VMs"
	case value < 0:
		return " (" + Cents(bill) + " in VMs, less " + Cents(-value) + " for jobs that come along)"
	case bill < 0:
		return " (" + Cents(value) + " in jobs that give way, less " + Cents(-bill) + " in VMs)"
	case bill == 0:
		return " in jobs that give way"
	}
	return " (" + Cents(bill) + " in VMs, " + Cents(value) + " in jobs that give way)"
}

// Tied says that two amounts are the same but for the noise of float64.
func Tied(a, b float64) bool { return a > 0 && math.Abs(a-b) <= 1e-9*b }

// Apart is two amounts for one sentence, with more places where two do not tell them apart.
func Apart(a, b float64) (string, string) {
	x, y := Cents(a), Cents(b)
	for places := 3; x == y && !Tied(a, b) && a != b && places <= money.Places; places++ {
		x, y = strconv.FormatFloat(a, 'f', places, 64), strconv.FormatFloat(b, 'f', places, 64)
	}
	return x, y
}
