package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// Retold is the answer with its sentences made anew from its figures, for whoever has checked those. What drives the
// ends of the range stands in facts alone, whose figures are read.
func (a SweepAnswer) Retold(q *SweepQuestion) SweepAnswer {
	var ends words.Facts
	between := a.ends()
	places := slices.Compact([]string{PlaceOf(a.Vary, between[0]), PlaceOf(a.Vary, between[1])}) // a range may be one point
	for _, where := range places {
		first := true
		for _, f := range a.Facts {
			subject, at := strings.CutSuffix(" "+f.Subject, " at "+where)
			if f.Subject = strings.TrimPrefix(subject, " "); !at {
				continue
			}
			if f = words.DriverFact(&q.Problem, &f, words.DriverClaim(&q.Problem, &f)); f.Claim != "" {
				ends = append(ends, atPlace(f, where, first))
				first = false
			}
		}
	}
	a.tell(&q.Problem, ends)
	return a
}

// ends is the parameters of the first and the last point, whether or not they are planned.
func (a *SweepAnswer) ends() [2][]float64 {
	var ends [2][]float64
	for i := range a.Vary {
		if numbers := a.Vary[i].Numbers(); len(numbers) > 0 {
			ends[0], ends[1] = append(ends[0], numbers[0].Float()), append(ends[1], numbers[len(numbers)-1].Float())
		}
	}
	return ends
}

// atPlace is a fact about what drives the cost at one point.
func atPlace(f capacity.Fact, where string, first bool) capacity.Fact {
	if first {
		f.Claim = "At " + where + ": " + f.Claim
	}
	f.Subject = strings.TrimSpace(f.Subject + " at " + where)
	return f
}

// tell says in a paragraph what the points show, and at its end what drives the cost at the first and the last one.
func (a *SweepAnswer) tell(p *capacity.Problem, ends words.Facts) {
	a.Facts = words.Facts{}
	unit := p.Currency + " " + words.PerPeriod(p.PeriodSeconds)
	what := ParameterNames(a.Vary)
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
		place := PlaceOf(a.Vary, a.Points[first].Parameters)
		a.Facts.Say("infeasible_points", place, fmt.Sprintf("At %d of them no plan meets the demands, first at %s: %s", missed, place, a.Points[first].Conflict),
			words.Count("infeasible", float64(missed), "points"))
	}
	if len(planned) > 0 {
		a.extremes(planned, "bill", "The bill is", unit, func(p *SweepPoint) money.Amount { return p.Cost.Bill })
		if slices.ContainsFunc(planned, func(i int) bool { return !a.Points[i].Cost.Penalties.IsZero() }) {
			a.extremes(planned, "bill_and_value", "Bill and value refused together are", unit, func(p *SweepPoint) money.Amount { return p.Cost.Total })
		}
		a.Facts = append(a.Facts, ends...)
	}
	a.Explanation = a.Facts.Text()
}

// extremes says where an amount is least and greatest among the points with a plan.
func (a *SweepAnswer) extremes(planned []int, name, subject, unit string, of func(*SweepPoint) money.Amount) {
	low, high := &a.Points[planned[0]], &a.Points[planned[0]]
	for _, i := range planned {
		if p := &a.Points[i]; of(p).LessThan(of(low).Decimal) {
			low = p
		}
		if p := &a.Points[i]; of(p).GreaterThan(of(high).Decimal) {
			high = p
		}
	}
	least := words.Money(name, of(low), unit)
	if of(low).Equal(of(high).Decimal) {
		a.Facts.Say("same_"+name, "", fmt.Sprintf("%s %s %s throughout.", subject, of(low), unit), least)
		return
	}
	places := func(like *SweepPoint) (first, all string) {
		more := -1
		for _, i := range planned {
			if of(&a.Points[i]).Equal(of(like).Decimal) {
				more++
			}
		}
		if first = PlaceOf(a.Vary, like.Parameters); more == 0 {
			return first, "at " + first
		}
		return first, "first at " + first + ", and the same at " + words.Counted(strconv.Itoa(more), "other point")
	}
	at, lowest := places(low)
	to, highest := places(high)
	a.Facts.Say("least_"+name, at, fmt.Sprintf("%s least, %s %s, %s.", subject, of(low), unit, lowest), least)
	a.Facts.Say("greatest_"+name, to, fmt.Sprintf("%s greatest, %s, %s.", subject, of(high), highest), words.Money(name, of(high), unit))
}

// drivers says what drives the cost at the first and at the last point.
func (s *Sweep) drivers() (ends words.Facts) {
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
		for k, f := range words.Drivers(&p, s.plans[i]) {
			ends = append(ends, atPlace(f, PlaceOf(s.question.Vary, s.points[i].Parameters), k == 0))
		}
	}
	return ends
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

// ParameterNames names the parameters of a sweep.
func ParameterNames(vary []Vary) string {
	names := make([]string, len(vary))
	for i := range vary {
		names[i] = ParameterName(vary[i])
	}
	return strings.Join(names, " and ")
}

// PlaceOf names the place of a point.
func PlaceOf(vary []Vary, numbers []float64) string {
	parts := make([]string, min(len(vary), len(numbers))) // of an answer that nobody made there may be fewer
	for i := range parts {
		number := money.Round(numbers[i]).Decimal.String()
		if v := &vary[i]; v.By == ByValue && (v.What == ChangeDue || v.What == ChangeDeadline) {
			number = words.Length(numbers[i])
		}
		parts[i] = ParameterName(vary[i]) + " " + number
	}
	return strings.Join(parts, ", ")
}
