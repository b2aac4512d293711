package goal

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// beside holds what sentences tell that stands nowhere else in the answer.
type beside struct {
	promised    float64       // jobs promised to the class that asks for one more
	uncertainty money.Amount  // left by the time limit
	low, high   *money.Amount // of one job more and less, in the linear program
	drivers     words.Facts
	gap         float64 // in per cent, where the time limit ended the search
}

// Retold is the answer with its sentences made anew from its figures, for whoever has checked those. What stands in facts
// alone is read from them.
func (a Answer) Retold(q *ProblemQuestion) Answer {
	var b beside
	for i := range a.Facts {
		f := &a.Facts[i]
		figure := func(name string) money.Amount {
			x, _ := money.Parse(words.FigureOf(f, name))
			return x
		}
		switch f.Kind {
		case words.DoesNotFit:
			b.promised = figure("promised").Float()
		case "uncertainty":
			b.uncertainty = figure("uncertainty")
		case "gap":
			b.gap, _ = strconv.ParseFloat(words.FigureOf(f, "gap"), 64)
		case "marginal":
			if words.FigureOf(f, "low") != "" {
				b.low = new(figure("low"))
			}
			if words.FigureOf(f, "high") != "" {
				b.high = new(figure("high"))
			}
		default:
			if claim := words.DriverClaim(&q.Problem, f); claim != "" {
				b.drivers = append(b.drivers, words.DriverFact(&q.Problem, f, claim))
			}
		}
	}
	if a.Status == capacity.InfeasibleStatus {
		a.Conflicts = conflictsOf(q, &a)
	}
	a.tell(&q.Problem, &q.Question, &b)
	return a
}

// conflictsOf puts the conflicts of the outcome as the question asks: its budget, and without cures for what it promises.
func conflictsOf(q *ProblemQuestion, a *Answer) []fault.Finding {
	asks, p := asking{problem: &q.Problem, question: q.Question}, q.Problem
	p.Classes = slices.Clone(p.Classes)
	switch {
	case q.Question.Question == AskMostForBudget:
		return asks.budgetConflicts(a.Outcome.Conflicts)
	case q.Question.Question == AskCheapestForAll:
		for i := range p.Classes {
			p.Classes[i].Jobs.Min = p.Classes[i].Jobs.Max
		}
	case q.Question.Question == AskOneMoreJob && a.Compared != nil:
		if at := slices.IndexFunc(p.Classes, func(c capacity.Class) bool { return c.Name == q.Class }); at >= 0 {
			p.Classes[at].Jobs.Min++
		}
	}
	return asks.asPromised(a.Outcome.Conflicts, &p)
}

// tell says the answer in words, every sentence as a fact. The first one is the answer.
func (a *Answer) tell(p *capacity.Problem, q *Question, b *beside) {
	a.Facts = words.Facts{}
	t := telling{Answer: a, p: p, q: q, b: b, period: p.Currency + " " + words.PerPeriod(p.PeriodSeconds)}
	switch asks := q.Question; {
	case a.Status == capacity.InfeasibleStatus:
		t.refuse()
	case asks == AskMostForBudget:
		t.mostForBudget()
	case asks == AskCheapestForAll:
		t.cheapestForAll()
	case asks == AskOneMoreJob:
		t.oneMoreJob()
	default:
		t.deadlines()
	}
	if len(a.Facts) > 0 {
		a.Answer = a.Facts[0].Claim
	}
	if a.Status != capacity.InfeasibleStatus {
		a.Facts = append(a.Facts, b.drivers...)
		if b.gap > 0 {
			t.say("gap", "", "No plan is better by more than "+words.PercentUp(decimal.NewFromFloat(b.gap/100))+" of bill and value refused together, or of its objective where that is less; the search for a better one was ended by the time limit.",
				words.Count("gap", b.gap, "%"))
		}
	}
	a.Explanation = a.Facts.Text()
}

// telling puts an answer into words.
type telling struct {
	*Answer
	p      *capacity.Problem
	q      *Question
	b      *beside
	period string // the unit of amounts
}

// say adds a fact and its sentence.
func (t *telling) say(kind, subject, claim string, figures ...capacity.Figure) {
	t.Facts.Say(kind, subject, claim, figures...)
}

func (t *telling) money(name string, x money.Amount) capacity.Figure {
	return words.Money(name, x, t.period)
}

// refuse says that there is no plan, and why.
func (t *telling) refuse() {
	kind, with := "no_plan", ""
	switch asks := t.q.Question; {
	case asks == AskMostForBudget:
		kind = "no_plan_for_the_budget"
		t.say(kind, "", fmt.Sprintf("No plan meets the demands for %s.", t.inWords(t.q.Budget.Amount)))
	case asks == AskCheapestForAll:
		kind, with = "not_all_can_be_served", "With every job promised: "
		t.say(kind, "", "Not everything can be served.")
	case asks == AskOneMoreJob && t.Compared != nil:
		kind, with = words.DoesNotFit, fmt.Sprintf("With %s promised to it: ", words.Jobs(t.b.promised))
		t.say(kind, t.q.Class, fmt.Sprintf("One more job of class %q cannot be served within the limits there are.", t.q.Class), words.Count("promised", t.b.promised, "jobs"))
	default:
		t.say(kind, "", "The demands cannot be met as they are.")
	}
	if why := with + firstConflict(t.Conflicts); why != "" {
		t.say("conflict", t.Facts[0].Subject, why)
	}
}

func firstConflict(conflicts []fault.Finding) string {
	if len(conflicts) == 0 {
		return ""
	}
	text := conflicts[0].Detail
	if h := conflicts[0].Hint; h != nil {
		text += " " + h.Detail
	}
	return text
}

// inWords is the asked budget, or another amount in its unit.
func (t *telling) inWords(amount money.Amount) string { return t.q.Budget.words(t.p, amount) }

func (t *telling) mostForBudget() {
	o, asked := &t.Outcome, t.q.Budget
	amount := asked.Period(t.p)
	on, spent := "VMs", o.Cost.Bill
	if asked.Of == OfTotal {
		on, spent = "the bill and the value refused together", o.Cost.Total
	}
	left := less(amount, spent)
	best := served(*o) + " can be served"
	if o.Refused > 0 { // more might be paid for, and refusing them is cheaper
		best = "it is best to serve " + served(*o)
	}
	t.say("most_for_budget", "", fmt.Sprintf("For at most %s on %s, %s, on %s.", t.inWords(asked.Amount), on, best, words.VMs(o.VMs.Total)),
		t.money("budget", amount), words.Count("admitted", o.Admitted, "jobs"), words.Count("refused", o.Refused, "jobs"), words.Count("vms", o.VMs.Total, "VMs"))
	spentOf := asked.Asked(t.p, spent) // of the amount asked for
	leftOf := words.Cents(max(0, less(asked.Amount, spentOf).Float()))
	said := fmt.Sprintf("%s is spent on %s and %s is left.", t.inWords(spentOf), on, leftOf)
	if asked.Of == OfTotal {
		said = fmt.Sprintf("Bill and value refused together come to %s, which is %s below it; the bill is %s %s.", t.inWords(spentOf), leftOf, o.Cost.Bill, t.period)
	}
	t.say("spent", "", said, t.money("spent", spent), t.money("left", left), t.money("bill", o.Cost.Bill))
	if o.Refused > 0 {
		t.say("value_refused", "", fmt.Sprintf("The %s that %s refused %s valued at %s %s, which is on no bill.", words.Jobs(o.Refused), words.IsAre(o.Refused), words.IsAre(o.Refused), o.Cost.Penalties, t.period),
			t.money("value_refused", o.Cost.Penalties))
	}
	c := t.Compared
	if c == nil {
		return
	}
	without, even := "Without the budget the best plan", "Even without the budget"
	binds := "the best plan without it"
	if t.p.Budget != nil { // with which the plan to compare with was made
		without, even = "Within the problem's own budget the best plan", "Even within the problem's own budget"
		binds = "the best plan within the problem's own budget"
	}
	together := less(o.Cost.Total, c.Cost.Total)
	by := together.String() + " " + t.period + " more"
	if together.IsNegative() {
		by = money.Amount{Decimal: together.Neg()}.String() + " " + t.period + " less"
	}
	if together.IsNegative() { // only the problem's own budget can be the tighter one
		even = "Within the problem's own budget"
	}
	bill, valued := t.money("bill_without", c.Cost.Bill), t.money("value_refused_without", c.Cost.Penalties)
	if together.IsZero() {
		t.say("budget_does_not_bind", "", fmt.Sprintf("The budget does not bind: %s has a bill of %s %s%s.", binds, c.Cost.Bill, t.period, refusedValue(*c)), bill, valued)
	} else {
		t.say("effect_of_the_budget", "", fmt.Sprintf("%s serves %s for a bill of %s %s%s; so with the budget asked for, bill and value refused together are %s.", without, served(*c), c.Cost.Bill, t.period, refusedValue(*c), by),
			t.money("bill_and_value_more", together), bill, valued)
	}
	if o.Refused > 0 && c.Refused > 0 {
		t.say("refused_without_the_budget", "", fmt.Sprintf("%s it is best to refuse %s.", even, words.Jobs(c.Refused)), words.Count("refused", c.Refused, "jobs"))
	}
}

func (t *telling) cheapestForAll() {
	o := &t.Outcome
	t.say("cost_of_all", "", fmt.Sprintf("Serving %s costs %s %s, on %s.", served(*o), o.Cost.Bill, t.period, words.VMs(o.VMs.Total)),
		t.money("bill", o.Cost.Bill), words.Count("vms", o.VMs.Total, "VMs"))
	if c := t.Compared; c != nil {
		extra := less(o.Cost.Bill, c.Cost.Bill)
		if c.Refused == 0 {
			t.say("cheapest_serves_all", "", "The best plan serves everything as well.")
		} else {
			t.say("more_than_cheapest", "", fmt.Sprintf("That is %s more than the bill of the best plan, which refuses %s, valued at %s.", extra, words.Jobs(c.Refused), c.Cost.Penalties),
				t.money("bill_more", extra), words.Count("refused", c.Refused, "jobs"), t.money("value_refused", c.Cost.Penalties))
		}
	}
	t.say("bill_per_month", "", fmt.Sprintf("A month of 730 hours costs %s %s.", o.Cost.PerMonth, t.p.Currency), words.Money("bill", o.Cost.PerMonth, t.p.Currency+" a month"))
}

func (t *telling) oneMoreJob() {
	o, was, name := &t.Outcome, t.Compared, t.q.Class
	if was == nil { // an answer that nobody made
		return
	}
	vms, at := o.VMs.Total-was.VMs.Total, slices.IndexFunc(t.p.Classes, func(c capacity.Class) bool { return c.Name == name })
	if at < 0 || at >= len(t.Classes) || t.Classes[at].Before == nil {
		return
	}
	c, penalty := &t.Classes[at], t.p.Classes[at].Penalty
	bill, given := less(o.Cost.Bill, was.Cost.Bill), t.given(at)
	extra := money.Amount{Decimal: bill.Add(given.Decimal)}
	figures := []capacity.Figure{t.money("amount", extra), t.money("bill", bill), t.money("value_refused", given), words.Count("vms", vms, "VMs")}
	run := 0.0
	if math.Abs(c.Admitted-*c.Before-1) > 1e-9 {
		run = c.Admitted
		figures = append(figures, words.Count("served", run, "jobs"))
	}
	written := func(x money.Amount) string { return money.Amount{Decimal: x.Abs()}.String() }
	t.say(words.Costs, name, fmt.Sprintf("One more job of class %q %s.", name, words.OneMore(bill.Float(), given.Float(), written(bill), written(given), extra.String(), t.period, run)), figures...)
	t.say("plans_compared", name, fmt.Sprintf("The bill without it is %s on %s, with it %s on %s.", was.Cost.Bill, words.VMs(was.VMs.Total), o.Cost.Bill, words.VMs(o.VMs.Total)),
		t.money("bill_without", was.Cost.Bill), t.money("bill_with", o.Cost.Bill))
	if bound := t.b.uncertainty; bound.IsPositive() {
		t.say("uncertainty", name, fmt.Sprintf("The time limit has left it uncertain by %s at most.", bound), t.money("uncertainty", bound))
	}
	t.roomForMore()
	t.displaced()
	t.marginal()
	refusing := [...]string{"so that it is worth serving", "which is as much", "which is less"}[1+extra.Cmp(penalty.Decimal)]
	t.say("refusal_is_valued", name, fmt.Sprintf("Refused, it is valued at %s, %s.", penalty, refusing), t.money("penalty", penalty))
}

// given is the value that is refused more than before, beside that of the one job itself: where none was refused, the class
// asks for it.
func (t *telling) given(at int) money.Amount {
	c := &t.Classes[at]
	asked := decimal.NewFromFloat(c.Admitted + c.Refused - t.p.Classes[at].Jobs.Max)
	own := t.p.Classes[at].Penalty.Mul(decimal.NewFromInt(1).Sub(asked.Round(money.Places)))
	more := t.Outcome.Cost.Penalties.Sub(t.Compared.Cost.Penalties.Decimal)
	return money.Amount{Decimal: more.Add(own).Round(money.Places)}
}

// roomForMore tells of jobs beside the one that the class asks for.
func (t *telling) roomForMore() {
	for i := range t.Classes {
		c := &t.Classes[i]
		if c.Name != t.q.Class || c.Before == nil {
			continue
		}
		if more := c.Admitted - (*c.Before + 1); more > 1e-9 {
			more = words.Rounded(more, 3)
			t.say("room_for_more", c.Name, fmt.Sprintf("The VMs that it needs have room for %s more of the class, and serving those is better than refusing them.", words.Jobs(more)), words.Count("more", more, "jobs"))
		}
	}
}

// displaced says which other classes have fewer jobs than before.
func (t *telling) displaced() {
	var parts []string
	var figures []capacity.Figure
	for i := range t.Classes {
		c := &t.Classes[i]
		if c.Name == t.q.Class || c.Before == nil {
			continue
		}
		if fewer := *c.Before - c.Admitted; fewer > 1e-9 {
			fewer = words.Rounded(fewer, 3)
			parts = append(parts, fmt.Sprintf("%s of class %q go", words.Jobs(fewer), c.Name))
			figures = append(figures, words.Count(c.Name, fewer, "jobs"))
		}
	}
	const shown = 3
	if len(parts) > shown {
		parts = append(parts[:shown], fmt.Sprintf("jobs of %d classes more go", len(parts)-shown))
	}
	if len(parts) > 0 {
		t.say("jobs_that_go", t.q.Class, "To make room "+strings.Join(parts, ", ")+".", figures...)
	}
}

// marginal tells what the prices of a relaxed plan say of a little more and a little less of the class.
func (t *telling) marginal() {
	low, high := t.b.low, t.b.high
	text, figures := "", []capacity.Figure{}
	if low != nil {
		figures = append(figures, t.money("low", *low))
		text = "a job less frees VMs worth " + words.CentsOf(*low)
	}
	if high != nil {
		figures = append(figures, t.money("high", *high))
		switch {
		case low == nil:
			text = "a job more takes VMs worth " + words.CentsOf(*high)
		case low.Equal(high.Decimal):
			text = "a job takes VMs worth " + words.CentsOf(*high)
		default:
			text += " and a job more takes VMs worth " + words.CentsOf(*high)
		}
	}
	if text != "" {
		t.say("marginal", t.q.Class, "By the price of a little capacity, as in the plan's reasons, "+text+"; that price need not hold for a whole job.", figures...)
	}
}

// deadlines tells how early the promises can be.
func (t *telling) deadlines() {
	var given, cheapest, least DeadlineCost
	var earlier []*DeadlineCost // the least of it first
	for i := range t.Deadlines {
		switch d := &t.Deadlines[i]; d.What {
		case "given":
			given = *d
		case "cheapest":
			cheapest = *d
		case "least":
			least = *d
		default:
			earlier = append(earlier, d)
		}
	}
	class := t.q.Class
	kind, unit, promise := "earliest_at_the_cost", "s", ""
	switch {
	case cheapest.Deadline == given.Deadline:
		more := ""
		if t.q.ExtraPercent != nil && *t.q.ExtraPercent > 0 {
			more = fmt.Sprintf(" by more than %s %%", words.Number(*t.q.ExtraPercent))
		}
		kind, promise = "no_earlier_deadline", fmt.Sprintf("No earlier deadline can be promised without raising bill and value refused together%s; the bill at the given one is %s %s.", more, given.Bill, t.period)
	case class != "":
		promise = fmt.Sprintf("Class %q can be promised within %s s instead of %s s for a bill of %s %s%s.", class, words.Number(cheapest.Deadline), words.Number(given.Deadline), cheapest.Bill, t.period, cheapest.refused())
	default:
		promise = fmt.Sprintf("All deadlines can be shortened to %s times themselves for a bill of %s %s%s.", words.Number(cheapest.Deadline), cheapest.Bill, t.period, cheapest.refused())
	}
	if class == "" {
		unit = "of the given deadlines"
	}
	at := func(r *DeadlineCost) []capacity.Figure {
		return []capacity.Figure{words.Count("deadline", r.Deadline, unit), t.money("bill", r.Bill), t.money("value_refused", r.Value)}
	}
	t.say(kind, class, promise, at(&cheapest)...)
	held, of := t.held(), " of the class"
	if class == "" {
		of = " of classes with a deadline"
	}
	t.say("given_deadline", class, fmt.Sprintf("The given promise has a bill of %s%s; the %s%s admitted now %s held to it throughout.", given.Bill, given.refused(), words.Jobs(held), of, words.IsAre(held)),
		append(at(&given), words.Count("held", held, "jobs"))...)
	if slices.ContainsFunc(t.p.Classes, func(c capacity.Class) bool { return c.ArrivalsPerHour > 0 && (class == "" || c.Name == class) }) {
		t.say("as_many_at_once", class, "As arrivals stay as they are, fewer jobs run at once with an earlier deadline; a sweep over deadlines counts them.")
	}
	for _, r := range earlier {
		by := words.Rounded(r.Earlier, 1)
		percent := words.Count("earlier", by, "%")
		if r.Status == capacity.InfeasibleStatus {
			t.say("earlier_is_not_possible", class, fmt.Sprintf("Promising %s %% earlier is not possible.", words.Number(by)), percent)
			break
		}
		if r.Earlier < 25 || r.Earlier > 45 {
			t.say("earlier_costs", class, fmt.Sprintf("Promising %s %% earlier %s.", words.Number(by), r.beside(&given)), percent,
				t.money("bill_more", less(r.Bill, given.Bill)), t.money("value_refused_more", less(r.Value, given.Value)))
		}
	}
	step := "a thousandth of the given one"
	if class != "" && given.Deadline > 1000 {
		step = "the second"
	}
	t.say("earliest_deadline", class, fmt.Sprintf("The earliest deadline that can be met at all, to %s, is %s %s, for a bill of %s%s, on %s.", step, words.Number(least.Deadline), unit, least.Bill, least.refused(), words.VMs(least.VMs)),
		append(at(&least), words.Count("vms", least.VMs, "VMs"))...)
}

// held is the jobs that are held to the deadlines: those of now.
func (t *telling) held() (jobs float64) {
	for i := range min(len(t.Classes), len(t.p.Classes)) {
		if k := &t.p.Classes[i]; k.DeadlineSeconds != 0 && (t.q.Class == "" || k.Name == t.q.Class) && t.Classes[i].Before != nil {
			jobs += *t.Classes[i].Before
		}
	}
	return jobs
}

// refused says what refused jobs are valued at, if any are.
func (d *DeadlineCost) refused() string {
	if d.Value.IsZero() {
		return ""
	}
	return fmt.Sprintf(" and a value refused of %s", d.Value)
}

// beside says what promising a deadline costs more or saves, against another one.
func (d *DeadlineCost) beside(given *DeadlineCost) string {
	bill, value := less(d.Bill, given.Bill), less(d.Value, given.Value)
	said := fmt.Sprintf("costs %s more", bill)
	if bill.IsNegative() {
		said = fmt.Sprintf("saves %s", money.Amount{Decimal: bill.Neg()})
	}
	switch value.Sign() {
	case 1:
		said += fmt.Sprintf(", and the value refused rises by %s", value)
	case -1:
		said += fmt.Sprintf(", and the value refused falls by %s", money.Amount{Decimal: value.Neg()})
	}
	return said
}
