package whatif

import (
	"fmt"
	"slices"
	"strings"

	"headroom/internal/core/capacity"
	"headroom/internal/core/money"
	"headroom/internal/core/plan"
	"headroom/internal/core/words"
)

// explain says in a paragraph what the points show, and lists the figures in it.
func (s *Sweep) explain(a *SweepAnswer) {
	p := &s.question.Problem
	unit := p.Currency + " " + words.PerPeriod(p.PeriodSeconds)
	what := parameterNames(a.Vary)
	var planned []int
	for i := range a.Points {
		if a.Points[i].Status != capacity.InfeasibleStatus {
			planned = append(planned, i)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Varied: %s; %d of %d points planned.", what, len(a.Points), a.Total)
	if !a.Complete {
		b.WriteString(" The rest is missing because the work was ended before.")
	}
	if missed := len(a.Points) - len(planned); missed > 0 {
		first := 0
		for a.Points[first].Status != capacity.InfeasibleStatus {
			first++
		}
		fmt.Fprintf(&b, " At %d of them no plan meets the demands, first at %s: %s", missed, placeOf(a.Vary, a.Points[first].Parameters), a.Points[first].Conflict)
		a.Facts = append(a.Facts, words.Fact{Name: "infeasible_points", Value: fmt.Sprint(missed), Unit: "points"})
	}
	if len(planned) > 0 {
		bill := func(p *SweepPoint) money.Amount { return p.Cost.Bill }
		together := func(p *SweepPoint) money.Amount { return p.Cost.Total }
		b.WriteString(a.extremes(planned, "bill", "The bill is", unit, bill))
		said := a.extremes(planned, "cost", "Bill and value refused together are", unit, together)
		if slices.ContainsFunc(planned, func(i int) bool { return !a.Points[i].Cost.Penalties.IsZero() }) {
			b.WriteString(said)
		}
		s.explainEnds(a, &b)
	}
	a.Explanation = b.String()
}

// extremes says where an amount is least and greatest among the points with a plan.
func (a *SweepAnswer) extremes(planned []int, name, subject, unit string, of func(*SweepPoint) money.Amount) string {
	low, high := &a.Points[planned[0]], &a.Points[planned[0]]
	for _, i := range planned {
		if p := &a.Points[i]; of(p).LessThan(of(low).Decimal) {
			low = p
		}
		if p := &a.Points[i]; of(p).GreaterThan(of(high).Decimal) {
			high = p
		}
	}
	lowest, highest := placeOf(a.Vary, low.Parameters), placeOf(a.Vary, high.Parameters)
	a.Facts = append(a.Facts,
		words.Fact{Name: "least_" + name, Of: lowest, Value: of(low).String(), Unit: unit},
		words.Fact{Name: "greatest_" + name, Of: highest, Value: of(high).String(), Unit: unit})
	if of(low).Equal(of(high).Decimal) {
		return fmt.Sprintf(" %s %s %s throughout.", subject, of(low), unit)
	}
	return fmt.Sprintf(" %s least, %s %s, at %s, and greatest, %s, at %s.", subject, of(low), unit, lowest, of(high), highest)
}

// explainEnds says what drives the cost at the first and at the last point.
func (s *Sweep) explainEnds(a *SweepAnswer, b *strings.Builder) {
	last := len(s.points) - 1
	for _, i := range []int{0, last} {
		if !s.finished[i].Load() || s.plans[i] == nil || s.plans[i].Status == capacity.InfeasibleStatus || i > 0 && last == 0 {
			continue
		}
		_, scenario := s.at(i)
		p, err := scenario.Apply(s.question.Problem)
		if err != nil {
			continue
		}
		facts, text := plan.Drivers(&p, s.plans[i])
		where := placeOf(a.Vary, s.points[i].Parameters)
		fmt.Fprintf(b, " At %s: %s", where, text)
		for _, f := range facts {
			f.Of = strings.TrimSpace(f.Of + " at " + where)
			a.Facts = append(a.Facts, f)
		}
	}
}

// ParameterName is a parameter as a heading.
func ParameterName(v Vary) string {
	name := string(v.What)
	for _, of := range []string{v.VMType, v.Contract, v.Class} {
		if of != "" {
			name += " " + of
		}
	}
	if v.Purchase == capacity.PurchaseSpot {
		name += " spot"
	}
	if v.By != ByValue {
		name += " factor"
	}
	return name
}

func parameterNames(vary []Vary) string {
	names := make([]string, len(vary))
	for i := range vary {
		names[i] = ParameterName(vary[i])
	}
	return strings.Join(names, " and ")
}

// placeOf names the place of a point.
func placeOf(vary []Vary, numbers []float64) string {
	parts := make([]string, len(vary))
	for i := range vary {
		parts[i] = ParameterName(vary[i]) + " " + money.Round(numbers[i]).Decimal.String()
	}
	return strings.Join(parts, ", ")
}
