package words

import (
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
)

// The kinds of facts about a class that only plans with several prices of capacity have.
const (
	BudgetUsedUp = "budget_used_up"         // no better plan was found
	WorthParts   = "worth_parts_of_vms"     // one more would pay for parts of VMs, and not for whole ones
	RunsOn       = "runs_on"                // the types of VMs, with what a job takes there and on another
	forOneJob    = " for a job"             // ends the unit of what a job takes where it runs
	forOneMore   = " for one job elsewhere" // and where it would run
)

// JobOn names a VM type and the amount that a job of a class takes there, as a sentence writes it.
type JobOn struct{ VMType, Amount string }

// Where tells on which types a class runs, and what a job takes there and would take on the next best type. It is empty
// for a class without a choice, and in plans of whole VMs: there a job takes no amount of its own.
type Where struct {
	Here  []JobOn
	Other *JobOn
}

// say says it.
func (w Where) say() string {
	here := make([]string, len(w.Here))
	for i, on := range w.Here {
		here[i] = on.VMType + " (" + on.Amount + " a job)"
	}
	said := "It runs on " + strings.Join(here, " and ")
	if w.Other != nil {
		said += "; on " + w.Other.VMType + " a job would take " + w.Other.Amount
	}
	return said + "."
}

// Read finds the amounts of a sentence about a class on these types; false where it is none.
func (w *Where) Read(sentence string) bool {
	rest := strings.TrimPrefix(sentence, "It runs on ") // say tells whether it was there
	for i := range w.Here {
		on := &w.Here[i]
		var ok bool
		if rest, ok = strings.CutPrefix(rest, on.VMType+" ("); !ok {
			return false
		}
		if on.Amount, rest, ok = strings.Cut(rest, " a job)"); !ok {
			return false
		}
		rest = strings.TrimPrefix(rest, " and ")
	}
	if rest, ok := strings.CutPrefix(rest, "; on "); ok {
		vmType, amount, _ := strings.Cut(strings.TrimSuffix(rest, "."), " a job would take ")
		w.Other = &JobOn{vmType, amount}
	}
	return w.say() == sentence
}

// InFleet tells each class's reason in a plan with several prices of capacity, in the order of the problem. It lists the
// facts behind them: all of a few classes, and of many those whose changes were worked out. The figures are those of the
// plan; where returns what stands in facts alone.
func InFleet(p *capacity.Problem, pl *capacity.Plan, where func(class int) Where) (said []string, listed Facts) {
	said = make([]string, len(pl.Classes))
	for i := range pl.Classes {
		facts := reasonInFleet(p, pl, i)
		if w := where(i); len(w.Here) > 0 {
			facts = append(facts, w.fact(p, pl.Classes[i].Name))
		}
		said[i] = facts.Text()
		if more := pl.Classes[i].OneMore; len(pl.Classes) <= capacity.MaxFacts || more.Told() || more.Bounded() {
			listed = append(listed, facts...)
		}
	}
	return said, listed
}

// fact is the place of a class as a fact.
func (w Where) fact(p *capacity.Problem, class string) capacity.Fact {
	unit := p.Currency + " " + PerPeriod(p.PeriodSeconds)
	f := capacity.Fact{Kind: RunsOn, Subject: class, Claim: w.say()}
	for _, on := range w.Here {
		f.Figures = append(f.Figures, capacity.Figure{Name: on.VMType, Value: on.Amount, Unit: unit + forOneJob})
	}
	if w.Other != nil {
		f.Figures = append(f.Figures, capacity.Figure{Name: w.Other.VMType, Value: w.Other.Amount, Unit: unit + forOneMore})
	}
	return f
}

// reasonInFleet tells why a class got its jobs. What planning anew has not told rests on the prices of several types.
func reasonInFleet(p *capacity.Problem, pl *capacity.Plan, i int) Facts {
	class, out := &p.Classes[i], &pl.Classes[i]
	period := PerPeriod(p.PeriodSeconds)
	unit := p.Currency + " " + period
	var facts Facts
	full, more, scarce := out.Verdict == capacity.VerdictFull, out.BreakEvenPenalty, pl.Prices.Budget != nil && pl.Prices.Budget.IsPositive()
	if out.OneMore != nil {
		more = out.OneMore.Amount
	}
	say := func(kind, claim string, figures ...capacity.Figure) {
		facts.Say(kind, class.Name, claim, append(figures, Money("penalty", class.Penalty, unit), Count("refused", out.Refused, "jobs"))...)
	}
	about, penalty := About(p.Options.Integrality), CentsOf(class.Penalty)
	budget, limit := bindingBudget(p), []capacity.Figure(nil)
	if budget != nil {
		limit = append(limit, Money("budget", *budget, unit))
	}
	none := noMore(budget, unit)
	switch {
	case out.Verdict == capacity.VerdictImpossible:
		facts.Say(DeadlineImpossible, class.Name, OnNoType(class.DeadlineSeconds), Count("deadline", class.DeadlineSeconds, "s"))
		return facts
	case class.Jobs.Max == 0:
		facts.Say(NothingWanted, class.Name, NoneWanted)
		return facts
	case out.OneMore.Told() || out.OneMore.Bounded():
		return ReasonOf(p, class, out, 0).Facts(class.Name)
	case more == nil && full:
		say(RefusalCosts, valued(neverRefused(class), penalty+" "+period)+", and "+none+".", limit...)
	case more == nil:
		say(NoMoreCapacity, noCapacity(none, penalty+" "+period), limit...)
	case !full && scarce:
		say(BudgetUsedUp, "Under the budget for VMs no better plan was found in which more of these run; a refused one is valued at "+penalty+" "+period+".")
	case !full && more.LessThan(class.Penalty.Decimal) && !Tied(more.Float(), class.Penalty.Float()):
		say(WorthParts, "One more job would be worth its VMs at "+about+CentsOf(*more)+" "+period+" if parts of VMs could be rented, but whole ones cost more than it is valued at, "+penalty+".",
			Money("amount", *more, unit))
	default:
		say(comparison(about), comparedInFleet(more, class, about, period, scarce), Money("amount", *more, unit))
	}
	if out.Verdict == capacity.VerdictMinimum {
		facts.Say(PromisedOnly, class.Name, promisedOnly)
	}
	return facts
}

// comparison is the kind of a fact about what one more job costs, by the relaxation.
func comparison(about string) string {
	if about == "" {
		return Costs
	}
	return CostsAbout
}

func comparedInFleet(more *money.Amount, class *capacity.Class, about, period string, scarce bool) string {
	in := " in VMs"
	if scarce {
		in += " and in value of jobs that would give way to it under the budget"
	}
	return Compared(more.Float(), class.Penalty.Float(), about, period, in, neverRefused(class))
}
