package goal

import (
	"context"
	"math"
	"slices"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/words"
)

// DeadlineCost gives the cost of promising a deadline.
type DeadlineCost struct {
	What     string          `json:"what"`     // given, earlier, cheapest, least
	Deadline float64         `json:"deadline"` // in seconds, or the common factor of all
	Earlier  float64         `json:"earlier"`  // than the given one, in per cent of it
	Status   capacity.Status `json:"status"`
	Cost     money.Amount    `json:"cost"`  // bill and value refused together, per period
	Extra    money.Amount    `json:"extra"` // of it over that at the given deadline
	Bill     money.Amount    `json:"bill"`
	Value    money.Amount    `json:"value_refused"`
	VMs      float64         `json:"vms"`
}

// earlierBy lists the deadlines that are always priced, in per cent earlier than the given one.
var earlierBy = []float64{10, 20, 30, 40, 50}

// cheapestDeadline says how early a class's jobs, or by one factor all classes' jobs, can be promised.
//
// A deadline that nobody's job is admitted under is no promise. So the jobs that the plan admits at the given
// deadline are held: they are promised at every other one. Then a longer deadline never costs more, and these are
// well defined and found by halving, to a thousandth of the given deadline or a second, whichever is less:
//
//   - cheapest: the earliest deadline at which the cheapest plan costs no more than at the given one, plus
//     extra_percent. In whole VMs there usually is one that costs nothing.
//   - least: the earliest deadline at which there is a plan at all, and what it costs.
//   - earlier: what promising 10, 20, … 50 % earlier costs.
func (a *asking) cheapestDeadline(ctx context.Context) error {
	before, err := a.compare(ctx)
	if err != nil {
		return err
	}
	if before.Status == capacity.InfeasibleStatus {
		a.take(before, before)
		return nil
	}
	s := a.newDeadlines(before)
	if s.held == 0 {
		return &fault.InputError{Findings: []fault.Finding{{Pointer: "/class", Code: "not_taken",
			Detail: "None of these jobs is admitted at the given deadline, so that there is no promise whose price could be found.",
			Hint:   &fault.Hint{Detail: "Ask what serving everything costs, or promise some of them first."}}}}
	}
	given, err := s.at(ctx, s.grid)
	if err != nil {
		return err
	}
	allowed := given.Cost.Total.Float()
	if x := a.question.ExtraPercent; x != nil {
		allowed *= 1 + *x/100
	}
	allowed += a.problem.Options.Gap * math.Abs(given.Objective.Float()) // what a plan may miss anyhow
	feasible := func(pl capacity.Plan) bool { return pl.Status != capacity.InfeasibleStatus }
	least, err := s.earliest(ctx, 0, s.grid, feasible)
	if err != nil {
		return err
	}
	cheapest, err := s.earliest(ctx, least-1, s.grid, func(pl capacity.Plan) bool {
		return feasible(pl) && pl.Cost.Total.Float() <= allowed
	})
	if err != nil {
		return err
	}
	rows := []struct {
		what string
		k    int64
	}{{"given", s.grid}, {"cheapest", cheapest}, {"least", least}}
	for _, percent := range earlierBy {
		rows = append(rows, struct {
			what string
			k    int64
		}{"earlier", s.grid - int64(math.Round(float64(s.grid)*percent/100))})
	}
	for _, row := range rows {
		pl, err := s.at(ctx, row.k)
		if err != nil {
			return err
		}
		d := DeadlineCost{What: row.what, Deadline: s.deadline(row.k), Earlier: words.Rounded(100*(1-float64(row.k)/float64(s.grid)), 3), Status: pl.Status, Cost: pl.Cost.Total, Bill: pl.Cost.Bill, Value: pl.Cost.Penalties, VMs: pl.VMs.Total}
		if feasible(pl) {
			d.Extra = less(pl.Cost.Total, given.Cost.Total)
		}
		a.answer.Deadlines = append(a.answer.Deadlines, d)
	}
	best, err := s.at(ctx, cheapest)
	if err != nil {
		return err
	}
	a.take(best, before)
	slices.SortStableFunc(a.answer.Deadlines, func(x, y DeadlineCost) int {
		switch {
		case x.Deadline > y.Deadline:
			return -1
		case x.Deadline < y.Deadline:
			return 1
		}
		return 0
	})
	a.explain(new(s.changed(cheapest)), &best)
	return nil
}

// deadlines are the deadlines of a class, or factors of all, on a grid of equal steps; the given one is number
// grid.
type deadlines struct {
	*asking
	class  string
	base   capacity.Problem // with the admitted jobs promised
	grid   int64
	given  float64
	held   float64
	solved map[int64]capacity.Plan
}

func (a *asking) newDeadlines(before capacity.Plan) *deadlines {
	s := &deadlines{asking: a, class: a.question.Class, base: *a.problem, grid: 1000, given: 1, solved: map[int64]capacity.Plan{}}
	s.base.Classes = slices.Clone(s.base.Classes)
	for i := range s.base.Classes {
		c := &s.base.Classes[i]
		if c.DeadlineSeconds == 0 || s.class != "" && c.Name != s.class {
			continue
		}
		c.Jobs.Min = max(c.Jobs.Min, before.Classes[i].Admitted)
		s.held += before.Classes[i].Admitted
		if s.class != "" {
			s.given = c.DeadlineSeconds
			s.grid = max(1000, int64(math.Ceil(s.given)))
		}
	}
	return s
}

func (s *deadlines) deadline(k int64) float64 {
	if k == s.grid {
		return s.given
	}
	return money.Round(s.given * float64(k) / float64(s.grid)).Float()
}

// changed is the problem at one deadline.
func (s *deadlines) changed(k int64) capacity.Problem {
	p := s.base
	p.Classes = slices.Clone(p.Classes)
	for i := range p.Classes {
		c := &p.Classes[i]
		switch {
		case c.DeadlineSeconds == 0 || k == s.grid:
		case s.class == "":
			c.DeadlineSeconds = money.Round(c.DeadlineSeconds * float64(k) / float64(s.grid)).Float()
		case c.Name == s.class:
			c.DeadlineSeconds = s.deadline(k)
		}
	}
	return p
}

// at is the plan at one deadline.
func (s *deadlines) at(ctx context.Context, k int64) (capacity.Plan, error) {
	if pl, known := s.solved[k]; known {
		return pl, nil
	}
	pl, err := s.plan(ctx, s.changed(k))
	if err == nil {
		s.solved[k] = pl
	}
	return pl, err
}

// earliest is the first deadline after one that fails, up to one that holds, from which on a condition holds.
func (s *deadlines) earliest(ctx context.Context, fails, holds int64, condition func(capacity.Plan) bool) (int64, error) {
	for fails+1 < holds {
		middle := fails + (holds-fails)/2
		pl, err := s.at(ctx, middle)
		if err != nil {
			return 0, err
		}
		if condition(pl) {
			holds = middle
		} else {
			fails = middle
		}
	}
	return holds, nil
}
