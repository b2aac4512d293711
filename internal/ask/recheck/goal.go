package recheck

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"example.org/headroom/internal/ask/goal"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/proof"
	"example.org/headroom/internal/core/words"
)

var goalNotChecked = []string{"figures of the linear program in facts, and what a time limit has left open",
	"whether a fact is missing about the next job, the budget, or a contract, but for contracts beside dearer VMs",
	"which classes are served, but for the cost of serving just them",
	"how costs of the VMs fall to types, contracts and spot where there are several types or spot VMs"}

// goal checks the answer to one question about a problem.
func (c *checking) goal(q goal.ProblemQuestion, a goal.Answer, got any) {
	c.NotChecked = goalNotChecked
	members, _ := got.(map[string]any)
	p := q.Problem
	p.Options.Near = nil
	if q.Question.Question == goal.AskOneMoreJob {
		p.Options.Gap = 0
	}
	c.differ("/question", string(a.Question), string(q.Question.Question))
	if a.Compared != nil {
		c.outcome(&p, outcomeOf("/compared", members["compared"], *a.Compared))
		c.differ("/compared/name", a.Compared.Name, "")
	} else {
		c.nowhere("/compared", &p)
	}
	asked := p
	asked.Classes = slices.Clone(p.Classes)
	stuck := a.Compared == nil && (q.Question.Question == goal.AskOneMoreJob || q.Question.Question == goal.AskCheapestDeadline)
	switch {
	case stuck: // the answer is that of the problem as it is
	case q.Question.Question == goal.AskMostForBudget:
		b := capacity.Budget{}
		if p.Budget != nil {
			b = *p.Budget
		}
		amount := money.Amount{Decimal: decimalOf(budgetOf(q.Budget, &p))}
		if asked.Budget = &b; q.Budget.Of == goal.OfTotal {
			b.Total = &amount
		} else {
			b.VMCost = &amount
		}
	case q.Question.Question == goal.AskCheapestForAll:
		for i := range asked.Classes {
			asked.Classes[i].Jobs.Min = asked.Classes[i].Jobs.Max
		}
	case q.Question.Question == goal.AskOneMoreJob:
		i := slices.IndexFunc(p.Classes, func(k capacity.Class) bool { return k.Name == q.Class })
		before := 0.0
		if i < len(a.Classes) && a.Classes[i].Before != nil {
			before = *a.Classes[i].Before
		} else if a.Status == capacity.InfeasibleStatus {
			before = c.promisedBefore(&p, i, &a)
		}
		asked.Classes[i].Jobs = capacity.JobRange{Min: before + 1, Max: max(before+1, p.Classes[i].Jobs.Max)}
	default:
		if asked = c.deadlines(q, a, asked); asked.Classes == nil {
			c.end(DeadlinesCheck, "")
			return
		}
		c.end(DeadlinesCheck, "Each deadline costs what is said. A step before the earliest no plan is there, and before the cheapest none for it.")
	}
	c.outcome(&asked, outcomeOf("/outcome", members["outcome"], a.Outcome))
	if a.Status == capacity.InfeasibleStatus {
		c.conflicts(&asked, outcomeOf("/outcome", nil, a.Outcome))
		c.raised(&q, &a)
	} else if len(a.Conflicts)+len(a.Outcome.Conflicts) > 0 {
		c.wrong("/conflicts", "stand beside a plan")
	}
	c.differ("/outcome/name", a.Outcome.Name, "")
	c.differ("/status", string(a.Status), string(a.Outcome.Status))
	c.serving(&p, &asked, a)
	c.end(PlansCheck, "There is such a plan, and none that is cheaper by more than its gap.")
	if a.Status != capacity.InfeasibleStatus {
		c.limitsNamed(&asked, &a.Outcome.VMs, a.Facts, "")
		c.listed(a.Facts, factsOf(&q, &a, &p))
	}
	c.toldGoal(&q, &a, got)
}

// promisedBefore is the jobs of a class in the plan as it is, where no plan serves one more. They stand in the fact that says
// so, and the plan as it is exists with just these.
func (c *checking) promisedBefore(p *capacity.Problem, class int, a *goal.Answer) float64 {
	k := &p.Classes[class]
	for i := range a.Facts {
		promised := parsed(words.FigureOf(&a.Facts[i], "promised"))
		if a.Facts[i].Kind != words.DoesNotFit || promised == nil {
			continue
		}
		before := float(promised) - 1
		if before < k.Jobs.Min || before > k.Jobs.Max {
			break
		}
		just := *p
		just.Classes = slices.Clone(p.Classes)
		just.Classes[class].Jobs = capacity.JobRange{Min: before, Max: before}
		cost := sub(a.Compared.Cost.Total.Rat(), mul(k.Penalty.Rat(), sub(number(k.Jobs.Max), number(before))))
		if l, looked := c.cheapest(&just, cost, new(big.Rat)); looked && l.Holds(cost, nil) == proof.Failed {
			c.wrong("/facts", "say that %v jobs run as it is, and no such plan costs %s", before, a.Compared.Cost.Total)
		}
		return before
	}
	c.wrong("/facts", "do not say how many jobs are promised with one more")
	return k.Jobs.Max
}

// raised checks the cures by a larger budget, which is given by the month or the hour. A period gets what it takes, and
// hardly more.
func (c *checking) raised(q *goal.ProblemQuestion, a *goal.Answer) {
	for i := range a.Conflicts {
		if q.Budget == nil || a.Conflicts[i].Pointer != "/budget/amount" || i >= len(a.Outcome.Conflicts) {
			continue
		}
		is, takes := a.Conflicts[i].Hint, a.Outcome.Conflicts[i].Hint
		if (is == nil) != (takes == nil) {
			c.wrong(at(i, "conflicts")+"/hint", "is missing, or cures nothing")
		}
		if is == nil || takes == nil {
			continue
		}
		x, period := parsed(is.Value), parsed(takes.Value)
		asked := *q.Budget
		if asked.Amount = (money.Amount{}); x != nil {
			asked.Amount = money.Amount{Decimal: decimalOf(x)}
		}
		reached := budgetOf(&asked, &q.Problem)
		if x == nil || period == nil || reached.Cmp(period) < 0 || sub(reached, period).Cmp(big.NewRat(1, 1e7)) > 0 {
			c.wrong(at(i, "conflicts")+"/hint/value", "is %v, and a period takes %v", is.Value, takes.Value)
		}
	}
}

// budgetOf is a budget for a period, rounded up.
func budgetOf(b *goal.AskedBudget, p *capacity.Problem) *big.Rat {
	part := whole(1)
	switch b.Per {
	case goal.PerMonth:
		part = big.NewRat(p.PeriodSeconds, 730*3600)
	case goal.PerHour:
		part = big.NewRat(p.PeriodSeconds, 3600)
	}
	units := mul(mul(b.Amount.Rat(), part), whole(1_000_000_000))
	up := new(big.Int).Neg(units.Num())
	return big.NewRat(0, 1).SetFrac(up.Neg(up.Div(up, units.Denom())), big.NewInt(1_000_000_000))
}

// serving checks the jobs of the classes: they add up, and serving just them costs no more.
func (c *checking) serving(p, asked *capacity.Problem, a goal.Answer) {
	if a.Status == capacity.InfeasibleStatus {
		if len(a.Classes) > 0 || len(a.Conflicts) == 0 {
			c.wrong("/classes", "are served without a plan, or no conflict says why there is none")
		}
		return
	}
	if len(a.Classes) != len(asked.Classes) {
		c.wrong("/classes", "are %d, and there are %d", len(a.Classes), len(asked.Classes))
		return
	}
	admitted, before := new(big.Rat), new(big.Rat)
	promised := *asked
	promised.Classes = slices.Clone(asked.Classes)
	for i, x := range a.Classes {
		at, k := fmt.Sprintf("/classes/%d", i), &asked.Classes[i]
		admitted.Add(admitted, number(x.Admitted))
		if (x.Before == nil) != (a.Compared == nil) {
			c.wrong(at+"/before", "is missing, or there is no plan as it is")
		} else if x.Before != nil {
			if before.Add(before, number(*x.Before)); *x.Before < p.Classes[i].Jobs.Min-1e-6 || *x.Before > p.Classes[i].Jobs.Max+1e-6 {
				c.wrong(at+"/before", "is %v, out of its range", *x.Before)
			}
		}
		if x.Name != k.Name || !proof.Alike(x.Admitted+x.Refused, k.Jobs.Max) || x.Admitted < k.Jobs.Min-1e-6 || x.Refused < -1e-6 {
			c.wrong(at, "has %v admitted and %v refused jobs of %s, and %v to %v are asked for",
				x.Admitted, x.Refused, x.Name, k.Jobs.Min, k.Jobs.Max)
			return
		}
		promised.Classes[i].Jobs.Min = x.Admitted
		verdict := capacity.VerdictPartial
		switch {
		case proof.Alike(x.Admitted, k.Jobs.Max):
			verdict = capacity.VerdictFull
		case x.Admitted < 1e-9:
			verdict = capacity.VerdictNone
		case proof.Alike(x.Admitted, k.Jobs.Min):
			verdict = capacity.VerdictMinimum
		}
		rounded := asked.Options.Integrality == capacity.Relaxed && x.Verdict == capacity.VerdictPartial
		if x.Verdict != verdict && x.Verdict != capacity.VerdictImpossible && !rounded {
			c.wrong(at+"/verdict", "is %s, and %s follows from the jobs", x.Verdict, verdict)
		}
	}
	if !proof.Alike(float(admitted), a.Outcome.Admitted) || a.Compared != nil && !proof.Alike(float(before), a.Compared.Admitted) {
		c.wrong("/classes", "have %v admitted jobs and before %v", trimmed(admitted), trimmed(before))
	}
	total := a.Outcome.Cost.Total.Rat()
	if l, looked := c.cheapest(&promised, total, new(big.Rat)); looked && l.Holds(total, nil) == proof.Failed {
		c.wrong("/classes", "are not all served for %s", trimmed(total))
	}
}

// deadlines checks the rows of deadlines, and returns the problem that the answer's plan is of.
func (c *checking) deadlines(q goal.ProblemQuestion, a goal.Answer, p capacity.Problem) capacity.Problem {
	given, grid := 1.0, int64(1000)
	for i := range p.Classes {
		k := &p.Classes[i]
		if k.DeadlineSeconds == 0 || q.Class != "" && k.Name != q.Class {
			continue
		}
		if q.Class != "" {
			given = k.DeadlineSeconds
			grid = max(grid, int64(math.Ceil(given)))
		}
		if i < len(a.Classes) && a.Classes[i].Before != nil { // the jobs of now are held
			k.Jobs.Min = max(k.Jobs.Min, *a.Classes[i].Before)
		}
	}
	return c.rows(q, a, &p, given, grid, func(n int64) (there capacity.Problem, figure float64) {
		there = p
		there.Classes = slices.Clone(p.Classes)
		part := func(x float64) float64 {
			if n == grid {
				return x
			}
			return float(cents(number(x * float64(n) / float64(grid))))
		}
		for i := range there.Classes {
			if k := &there.Classes[i]; k.DeadlineSeconds != 0 && (q.Class == "" || k.Name == q.Class) {
				k.DeadlineSeconds = part(k.DeadlineSeconds)
			}
		}
		return there, part(given)
	})
}

// plannedRow checks a row of deadlines that has a plan. It returns the cost and the gap that the problem allows.
func (c *checking) plannedRow(at string, a *goal.Answer, d *goal.DeadlineCost, p, there *capacity.Problem) (cost, gap *big.Rat) {
	if d.Status != capacity.Optimal && d.Status != capacity.Feasible {
		c.wrong(at+"/status", "is %q", d.Status)
	}
	if !proof.NewRentals(*there, nil).Cost(d.VMs, d.Bill.Rat()) {
		c.wrong(at+"/vms", "are %v, and so many cannot cost %s", d.VMs, d.Bill)
	}
	if o := &a.Outcome; d.What == "cheapest" {
		c.differ(at, tree(marshalled(d)), map[string]any{"status": string(o.Status), "cost": exact(o.Cost.Total.Rat()),
			"bill": exact(o.Cost.Bill.Rat()), "value_refused": exact(o.Cost.Penalties.Rat()), "vms": exact(number(o.VMs.Total))})
	}
	cost = d.Cost.Rat()
	c.differ(at+"/cost", d.Cost.String(), about(add(d.Bill.Rat(), d.Value.Rat())))
	gap = mul(number(p.Options.Gap), cost)
	c.holds(at+"/cost", there, cost, gap, new(big.Rat))
	return cost, gap
}

// rows checks the rows of deadlines on a grid; step gives the problem and the figure of one.
func (c *checking) rows(q goal.ProblemQuestion, a goal.Answer, p *capacity.Problem, given float64, grid int64,
	step func(n int64) (there capacity.Problem, figure float64)) capacity.Problem {
	var costs [2]*big.Rat // given, and cheapest
	var best capacity.Problem
	names, earlier := map[string]int64{}, map[int64]bool{}
	slack := new(big.Rat)
	for i, d := range a.Deadlines {
		at := fmt.Sprintf("/deadlines/%d", i)
		n := int64(math.Round(d.Deadline / given * float64(grid)))
		there, figure := step(n)
		if !proof.Alike(figure, d.Deadline) || n <= 0 || n > grid || i > 0 && d.Deadline > a.Deadlines[i-1].Deadline {
			c.wrong(at+"/deadline", "is %v, which is none of the steps, or out of its order", d.Deadline)
			return capacity.Problem{}
		}
		c.differ(at, tree(marshalled(d)), map[string]any{"earlier": about(number(math.Round((1-float64(n)/float64(grid))*1e5) / 1e3))})
		if d.What == "earlier" { // by 10, 20, … 50 %
			earlier[grid-n] = true
		} else if !slices.Contains([]string{"given", "cheapest", "least"}, d.What) {
			c.wrong(at+"/what", "is %q", d.What)
		}
		if names[d.What] = n; d.Status == capacity.InfeasibleStatus {
			c.differ(at, tree(marshalled(d)), map[string]any{"cost": nothing(), "bill": nothing(), "value_refused": nothing(), "extra": nothing(), "vms": nothing()})
			c.nowhere(at, &there)
			continue
		}
		cost, gap := c.plannedRow(at, &a, &d, p, &there)
		if d.What == "given" {
			costs[0] = cost
		} else if d.What == "cheapest" {
			costs[1], best = cost, there
		}
		if gap.Cmp(slack) > 0 {
			slack = gap
		}
	}
	for percent := 10; percent <= 50; percent += 10 {
		if !earlier[int64(math.Round(float64(grid)*float64(percent)/100))] {
			c.wrong("/deadlines", "have no row %d %% earlier", percent)
		}
	}
	for _, name := range []string{"given", "cheapest", "least"} {
		if names[name] == 0 {
			c.wrong("/deadlines", "have no row %q", name)
		}
	}
	if len(a.Deadlines) != 8 || costs[0] == nil || costs[1] == nil || names["given"] != grid || names["least"] == 0 {
		c.wrong("/deadlines", "are not the given, the cheapest, the least and five earlier ones")
		return capacity.Problem{}
	}
	for i, d := range a.Deadlines {
		if d.Status != capacity.InfeasibleStatus {
			c.differ(fmt.Sprintf("/deadlines/%d/extra", i), d.Extra.String(), exact(sub(d.Cost.Rat(), costs[0])))
		}
	}
	allowed := costs[0]
	if q.ExtraPercent != nil {
		allowed = mul(allowed, add(whole(1), quo(number(*q.ExtraPercent), whole(100))))
	}
	if costs[1].Cmp(add(allowed, add(slack, big.NewRat(1, 1e8)))) > 0 {
		c.wrong("/deadlines", "say that %s is allowed, and the cheapest costs %s", trimmed(allowed), trimmed(costs[1]))
	}
	if n := names["least"]; n > 1 {
		there, _ := step(n - 1)
		c.nowhere("a step before /deadlines' least", &there)
	}
	if n := names["cheapest"]; n > 1 && n > names["least"] {
		there, _ := step(n - 1)
		if l, looked := c.cheapest(&there, nil, nil); looked && !l.None && l.High != nil && add(l.High, add(l.Slack, slack)).Cmp(allowed) < 0 {
			c.wrong("/deadlines", "have a cheaper one a step before the cheapest, for %s", trimmed(l.High))
		}
	}
	return best
}
