package timetable

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/schedule"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
)

// SpanBudget is the most that all VMs may cost together in some hours.
type SpanBudget struct {
	From   time.Time    `json:"from"`
	Until  time.Time    `json:"until"`
	VMCost money.Amount `json:"vm_cost"`
}

// SpentBudget is a budget with what its hours cost. Price is what one unit of money more is worth in the proof.
type SpentBudget struct {
	SpanBudget
	Bill  money.Amount `json:"bill"`
	Price money.Amount `json:"price"`
}

var budgetShape = strict.NewShape("a budget of some hours", []string{"from", "until", "vm_cost"})

// maxBudgets bounds the budgets of a schedule.
const maxBudgets = 400

func readBudgets(r *strict.Reader) []SpanBudget {
	return strict.List(r, "of budgets", maxBudgets, func(r *strict.Reader, b *SpanBudget) {
		r.Object(budgetShape, func(name string) {
			switch name {
			case "from":
				r.Moment(&b.From)
			case "until":
				r.Moment(&b.Until)
			case "vm_cost":
				money.Read(r, &b.VMCost)
			}
		})
	})
}

// checkBudgets refuses budgets of no whole hours of the question, and those beside a price of starts.
func (q *Question) checkBudgets(c *strict.Checker) {
	if len(q.Budgets) > maxBudgets {
		c.Refuse("budgets", "too_many", "There are %d budgets; a schedule keeps to %d at most.", len(q.Budgets), maxBudgets)
		return
	}
	if len(q.Periods) == 0 || len(q.Budgets) == 0 {
		return
	}
	if startsCost(&q.Problem.Supply) {
		c.Refuse("budgets", "not_taken", "Budgets are kept where starting VMs costs nothing. Leave them out, or start in the supply.")
		return
	}
	start, end := q.Start(), q.End()
	strict.Each(c, "budgets", q.Budgets, func(b *SpanBudget) {
		moment := func(member string, at time.Time) {
			if at.Sub(start)%time.Hour != 0 || at.Before(start) || at.After(end) {
				c.Refuse(member, "range", "It is no whole hour within the periods, which last from %s until %s.", start.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339))
			}
		}
		moment("from", b.From)
		if moment("until", b.Until); !b.Until.After(b.From) {
			c.Refuse("until", "order", "The budget has no hour: it does not end after it begins.")
		}
		money.Check(c, "vm_cost", "The budget", b.VMCost)
	})
}

// Within adds budgets to the question of a cluster. What starting VMs costs is then left out, and a warning says so.
func (q *Question) Within(budgets []SpanBudget) (warnings []capacity.Warning, err error) {
	if warnings = q.within(budgets); len(budgets) == 0 {
		return nil, nil
	}
	return warnings, strict.Check(q.check)
}

func (q *Question) within(budgets []SpanBudget) (warnings []capacity.Warning) {
	if q.Budgets = budgets; len(budgets) == 0 {
		return nil
	}
	if q.WithoutStarts() {
		warningsTo(&warnings)("starts_left_out", "What starting a VM costs is left out, since budgets are kept without it.")
	}
	return warnings
}

// checkSpans refuses budgets that contracts alone are above.
func (g *grid) checkSpans(c *strict.Checker) {
	strict.Each(c, "budgets", g.question.Budgets, func(b *SpanBudget) {
		if least := g.fixedIn(b); least.GreaterThan(b.VMCost.Decimal) {
			c.Found("vm_cost", "range", fmt.Sprintf("From %s until %s contracts that are always billed cost %s, which is more than the budget.", words.Moment(b.From), words.Moment(b.Until), least),
				c.Hint("vm_cost", least, "Give %s or more, or end contracts.", least))
		}
	})
}

// rowsOf returns the rows of a budget's hours, of all types.
func (g *grid) rowsOf(b *SpanBudget) (all []int) {
	from, until := int(b.From.Sub(g.at(0))/time.Hour), int(b.Until.Sub(g.at(0))/time.Hour)
	for v := range g.types {
		for h := from; h < until; h++ {
			all = append(all, v*g.hours+h)
		}
	}
	return all
}

// fixedIn returns what contracts that are always billed cost in the hours of a budget.
func (g *grid) fixedIn(b *SpanBudget) (sum decimal.Decimal) {
	for _, row := range g.rowsOf(b) {
		sum = sum.Add(g.rent(row, 0).Cost.Decimal)
	}
	return sum
}

// budgets returns what is left of each budget for VMs that are paid when they are used.
func (g *grid) budgets() (all []schedule.Budget) {
	for i := range g.question.Budgets {
		b := &g.question.Budgets[i]
		all = append(all, schedule.Budget{Steps: g.rowsOf(b), Most: b.VMCost.Sub(g.fixedIn(b)).InexactFloat64()})
	}
	return all
}

// spent returns the budgets with what a plan costs in their hours.
func (g *grid) spent(p *schedule.Plan) (all []SpentBudget) {
	for i := range g.question.Budgets {
		s := SpentBudget{SpanBudget: g.question.Budgets[i]}
		for _, row := range g.rowsOf(&s.SpanBudget) {
			s.Bill.Decimal = s.Bill.Add(g.rent(row, p.VMs[row]).Cost.Decimal)
		}
		if s.Bill.Decimal = s.Bill.Round(money.Places); i < len(p.Worth) {
			s.Price = money.Round(p.Worth[i])
		}
		all = append(all, s)
	}
	return all
}

// explainBudgets says how much of the budgets is left.
func (a *Answer) explainBudgets() {
	if len(a.Budgets) == 0 {
		return
	}
	left := func(b *SpentBudget) money.Amount { return money.Amount{Decimal: b.VMCost.Sub(b.Bill.Decimal)} }
	least := &a.Budgets[0]
	for i := range a.Budgets {
		if left(&a.Budgets[i]).LessThan(left(least).Decimal) {
			least = &a.Budgets[i]
		}
	}
	of := fmt.Sprintf("the budget of %s from %s until %s", words.CentsOf(least.VMCost), words.Moment(least.From), words.Moment(least.Until))
	text := fmt.Sprintf("Of %s %s is left.", of, words.CentsOf(left(least)))
	if len(a.Budgets) > 1 {
		text = fmt.Sprintf("All %d budgets are kept; least is left of %s: %s.", len(a.Budgets), of, words.CentsOf(left(least)))
	}
	a.Facts.Say("budgets", "", text, words.Money("left", left(least), a.Currency))
}
