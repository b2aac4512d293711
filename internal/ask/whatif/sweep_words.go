package whatif

import (
	"fmt"
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
	varied := fmt.Sprintf("Varied: %s; %d of %d points planned.", what, len(a.Points), a.Total)
	if !a.Complete {
		varied += " The rest is missing because the work was ended before."
	}
	a.Facts.Say("points", "", varied, words.Count("planned", float64(len(a.Points)), "points"), words.Count("asked", float64(a.Total), "points"))
	if missed := len(a.Points) - len(planned); missed > 0 {
		first := 0
		for a.Points[first].Status != capacity.InfeasibleStatus {
			first++
		}
		place := placeOf(a.Vary, a.Points[first].Parameters)
		a.Facts.Say("infeasible_points", place, fmt.Sprintf("At %d of them no plan meets the demands, first at %s: %s", missed, place, a.Points[first].Conflict),
			words.Count("infeasible", float64(missed), "points"))
	}
	if len(planned) > 0 {
		least, most := planned[0], planned[0]
		for _, i := range planned {
			if a.Points[i].Cost.Total.LessThan(a.Points[least].Cost.Total.Decimal) {
				least = i
			}
			if a.Points[i].Cost.Total.GreaterThan(a.Points[most].Cost.Total.Decimal) {
				most = i
			}
		}
		low, high := &a.Points[least], &a.Points[most]
		cost := words.Money("cost", low.Cost.Total, unit)
		if low.Cost.Total.Equal(high.Cost.Total.Decimal) {
			a.Facts.Say("same_cost", "", fmt.Sprintf("The cost is %s %s throughout.", low.Cost.Total, unit), cost)
		} else {
			at, to := placeOf(a.Vary, low.Parameters), placeOf(a.Vary, high.Parameters)
			a.Facts.Say("least_cost", at, fmt.Sprintf("The cost is least, %s %s, at %s.", low.Cost.Total, unit, at), cost)
			a.Facts.Say("greatest_cost", to, fmt.Sprintf("It is greatest, %s, at %s.", high.Cost.Total, to), words.Money("cost", high.Cost.Total, unit))
		}
		s.explainEnds(a)
	}
	a.Explanation = a.Facts.Text()
}

// explainEnds says what drives the cost at the first and at the last point.
func (s *Sweep) explainEnds(a *SweepAnswer) {
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
		where := placeOf(a.Vary, s.points[i].Parameters)
		for k, f := range plan.Drivers(&p, s.plans[i]) {
			if f.Subject = strings.TrimSpace(f.Subject + " at " + where); k == 0 {
				f.Claim = "At " + where + ": " + f.Claim
			}
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
