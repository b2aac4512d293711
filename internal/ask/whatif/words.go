package whatif

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/words"
)

// Tell states the outcome of a scenario beside the base's, as a fact. It is made of the answer's figures alone, so
// whoever has checked them can say its sentence again.
func Tell(s Scenario, base plan.Outcome, a *ScenarioAnswer) capacity.Fact {
	subject, plural := subjectOf(s)
	verb := func(one, many string) string {
		if plural {
			return many
		}
		return one
	}
	cost := &a.Cost
	period := words.PerPeriod(cost.PeriodSeconds)
	var f words.Facts
	switch {
	case a.Status == capacity.InfeasibleStatus:
		text := subject + " " + verb("makes", "make") + " the demands impossible to meet."
		if len(a.Conflicts) > 0 {
			text += " " + a.Conflicts[0].Detail
		}
		f.Say("scenario_is_impossible", s.Name, text)
		return f[0]
	case a.Difference == nil:
		text := fmt.Sprintf("%s %s the demands possible to meet, for a bill of %s %s %s", subject, verb("makes", "make"), cost.Bill, cost.Currency, period)
		if !cost.Penalties.IsZero() {
			text += fmt.Sprintf(" and a value refused of %s", cost.Penalties)
		}
		unit := cost.Currency + " " + period
		f.Say("scenario_is_possible", s.Name, text+".", words.Money("bill", cost.Bill, unit), words.Money("value_refused", cost.Penalties, unit))
		return f[0]
	}
	kind, text := "scenario_changes", ""
	change, value := cost.Bill.Sub(base.Cost.Bill.Decimal), cost.Penalties.Sub(base.Cost.Penalties.Decimal)
	by := fmt.Sprintf("%s %s %s", money.Amount{Decimal: change.Abs()}, cost.Currency, period)
	switch {
	case change.IsZero() && value.IsZero() && a.VMs == base.VMs && a.Admitted == base.Admitted && a.Refused == base.Refused:
		kind, text = "scenario_changes_nothing", subject+" "+verb("changes", "change")+" nothing"
		if base.Admitted+base.Refused > 0 && slices.ContainsFunc(s.Changes, scalesDemand) { // neither more jobs nor fewer
			text += ": in whole jobs the demand stays as it is"
		}
	case change.IsZero():
		text = subject + " " + verb("leaves", "leave") + " the VM bill as it is"
	case change.IsNegative():
		text = subject + " " + verb("cuts", "cut") + " the VM bill by " + by
	default:
		text = subject + " " + verb("raises", "raise") + " the VM bill by " + by
	}
	if kind == "scenario_changes" {
		text += ": " + vmsSentence(base.VMs, a.VMs) + "; " + refusedSentence(base.Refused, a.Refused)
	}
	text += "."
	if kind == "scenario_changes" && !value.IsZero() {
		text += " The" + strings.TrimPrefix(valueSentence(base.Cost.Penalties, cost.Penalties), "the") + "."
	}
	f.Say(kind, s.Name, text, compared(base, a)...)
	return f[0]
}

func scalesDemand(ch ScenarioChange) bool {
	return ch.What == ChangeDemand && ch.Factor != nil && *ch.Factor != 1
}

// compared returns the figures of both outcomes.
func compared(base plan.Outcome, a *ScenarioAnswer) []capacity.Figure {
	unit := a.Cost.Currency + " " + words.PerPeriod(a.Cost.PeriodSeconds)
	return []capacity.Figure{
		words.Money("bill_before", base.Cost.Bill, unit), words.Money("bill", a.Cost.Bill, unit),
		words.Money("value_refused_before", base.Cost.Penalties, unit), words.Money("value_refused", a.Cost.Penalties, unit),
		words.Count("vms_before", base.VMs.Total, "VMs"), words.Count("vms", a.VMs.Total, "VMs"),
		words.Count("refused_before", base.Refused, "jobs"), words.Count("refused", a.Refused, "jobs"),
	}
}

// valueSentence says how the value of refused jobs, which is on no bill, changes.
func valueSentence(was, is money.Amount) string {
	change := is.Sub(was.Decimal)
	if change.IsNegative() {
		return fmt.Sprintf("the value refused falls by %s to %s", money.Amount{Decimal: change.Neg()}, is)
	}
	return fmt.Sprintf("the value refused rises by %s to %s", money.Amount{Decimal: change}, is)
}

// vmsSentence says where there are more or fewer VMs.
func vmsSentence(was, is plan.RentedVMs) string {
	var parts []string
	for _, from := range []struct {
		change float64
		where  string
	}{{is.OnDemand - was.OnDemand, "on demand"}, {is.Reserved - was.Reserved, "in contracts"}, {is.Spot - was.Spot, "as spot"}} {
		switch {
		case from.change > 0:
			parts = append(parts, fmt.Sprintf("%s more %s", words.VMs(from.change), from.where))
		case from.change < 0:
			parts = append(parts, fmt.Sprintf("%s fewer %s", words.VMs(-from.change), from.where))
		}
	}
	if len(parts) == 0 {
		return "the same VMs"
	}
	return strings.Join(parts, ", ")
}

func refusedSentence(was, is float64) string {
	are := " are refused"
	if is == 1 {
		are = " is refused"
	}
	switch {
	case is == 0 && was == 0:
		return "nothing is refused"
	case is == 0:
		return "nothing is refused any more"
	case is == was:
		return words.Jobs(is) + are + " as before"
	case is > was:
		return fmt.Sprintf("%s%s, %s more than before", words.Jobs(is), are, words.Number(is-was))
	}
	return fmt.Sprintf("%s%s, %s fewer than before", words.Jobs(is), are, words.Number(was-is))
}

// subjectOf is a scenario as the subject of a sentence, and whether it is a plural.
func subjectOf(s Scenario) (text string, plural bool) {
	switch len(s.Changes) {
	case 0:
		return "No change", false
	case 1:
		return changeSubject(&s.Changes[0])
	case 2:
		first, _ := changeSubject(&s.Changes[0])
		second, _ := changeSubject(&s.Changes[1])
		return first + " and " + strings.ToLower(second[:1]) + second[1:], true
	}
	if s.Name != "" {
		return fmt.Sprintf("Scenario %q", s.Name), false
	}
	return fmt.Sprintf("These %d changes", len(s.Changes)), true
}

// changeSubject is one change as the subject of a sentence.
func changeSubject(ch *ScenarioChange) (text string, plural bool) {
	class := " of all classes"
	if ch.Class != "" {
		class = fmt.Sprintf(" of class %q", ch.Class)
	}
	vmType := words.OfType(ch.VMType)
	// of is the subject for a figure: "Longer deadlines", "A deadline of 1800 s", "The same deadlines".
	of := func(more, less, same, value string) (string, bool) {
		switch {
		case ch.Value != nil:
			return value, false
		case *ch.Factor > 1:
			return more, true
		case *ch.Factor < 1:
			return less, true
		}
		return same, true
	}
	value, jobs, vms := "", "", ""
	if ch.Value != nil {
		value, jobs, vms = ch.Value.Decimal.String(), words.Jobs(ch.Value.Float()), words.VMs(ch.Value.Float())
	}
	switch ch.What {
	case ChangeDeadline:
		return of("Longer deadlines"+class, "Shorter deadlines"+class, "The same deadlines"+class, "A deadline of "+value+" s"+class)
	case ChangeDemand:
		const hundredth = 0.01 // a smaller change need not come to a whole job
		if f := ch.Factor; f != nil && *f != 1 && math.Abs(*f-1) < hundredth {
			return fmt.Sprintf("A factor of %s for the jobs%s", strconv.FormatFloat(*f, 'f', -1, 64), class), false
		}
		return of("More jobs"+class, "Fewer jobs"+class, "As many jobs"+class, "A demand of "+jobs+class)
	case ChangePromised:
		return of("More promised jobs"+class, "Fewer promised jobs"+class, "As many promised jobs"+class, "A promise of "+jobs+class)
	case ChangePenalty:
		return of("Higher penalties"+class, "Lower penalties"+class, "The same penalties"+class, "A penalty of "+amountText(ch)+class)
	case ChangePrice:
		what := "VMs on demand" + vmType
		switch {
		case ch.Contract != "":
			what = fmt.Sprintf("VMs in contract %q", ch.Contract)
		case ch.Purchase == capacity.PurchaseSpot:
			what = "spot VMs" + vmType
		}
		return of("Dearer "+what, "Cheaper "+what, "As dear "+what, "A price of "+amountText(ch)+" for "+what)
	case ChangeQuota:
		if ch.Factor == nil && ch.Value == nil {
			return "No quota on demand" + vmType, false
		}
		return of("Larger quotas"+vmType, "Smaller quotas"+vmType, "The same quotas"+vmType, "A quota of "+vms+vmType)
	case ChangeContract:
		what := fmt.Sprintf(" in contract %q", ch.Contract)
		text, plural := of("More VMs"+what, "Fewer VMs"+what, "As many VMs"+what, vms+what)
		return text, plural || vms != "1 VM"
	case ChangeBudget, ChangeTotal:
		purpose := " for VMs"
		if ch.What == ChangeTotal {
			purpose = " for everything"
		}
		if ch.Factor == nil && ch.Value == nil {
			return "No budget" + purpose, false
		}
		return of("Larger budgets"+purpose, "Smaller budgets"+purpose, "The same budgets"+purpose, "A budget of "+amountText(ch)+purpose)
	case ChangeSpotShare:
		return of("Larger shares of spot VMs"+vmType, "Smaller shares of spot VMs"+vmType, "The same shares of spot VMs"+vmType, "A share of "+value+" of spot VMs"+vmType)
	case ChangeBound:
		return map[capacity.Bound]string{capacity.LowerBound: "Planning with optimistic times", capacity.AverageBound: "Planning with expected times", capacity.UpperBound: "Planning with cautious times", capacity.CalibratedBound: "Planning with calibrated times"}[ch.Bound], false
	case AddContract:
		return fmt.Sprintf("Contract %q", ch.Add.Contract.Name), false
	case DropContract:
		return fmt.Sprintf("Dropping contract %q", ch.Contract), false
	case AddVMType:
		return fmt.Sprintf("VM type %q", ch.Add.VMType.Name), false
	default:
		return fmt.Sprintf("Dropping VM type %q", ch.VMType), false
	}
}

func amountText(ch *ScenarioChange) string {
	if ch.Value == nil {
		return ""
	}
	return ch.Value.String()
}
