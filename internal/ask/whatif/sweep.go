package whatif

import (
	"context"
	"sync"
	"sync/atomic"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/plan"
	"example.org/headroom/internal/core/words"
)

// SweepPoint holds the outcome of a problem at one value of each parameter.
type SweepPoint struct {
	Parameters []float64               `json:"parameters"` // in the order of what is varied
	Status     capacity.Status         `json:"status"`
	Cost       capacity.Cost           `json:"cost"`
	VMs        plan.RentedVMs          `json:"vms"`
	Admitted   float64                 `json:"admitted"`
	Refused    float64                 `json:"refused"`
	Gap        float64                 `json:"gap"`
	Price      *capacity.CapacityPrice `json:"price"`    // what one VM of capacity is worth at the margin, per period; null where there is no plan
	Conflict   string                  `json:"conflict"` // of an infeasible point: why, the first sentence
}

// SweepAnswer is the points of a sweep: those of the first parameter's first value first.
type SweepAnswer struct {
	Vary          []Vary       `json:"vary"`
	Currency      string       `json:"currency"`
	PeriodSeconds int64        `json:"period_s"`
	Complete      bool         `json:"complete"` // false: points are missing, because the work was ended before
	Total         int64        `json:"total"`    // points that were asked for
	Points        []SweepPoint `json:"points"`
	Curve         *plan.Curve  `json:"curve"`
	Explanation   string       `json:"explanation"`
	Facts         words.Facts  `json:"facts"`
}

// Sweep is a sweep at work: any number of workers take points until none is left.
type Sweep struct {
	question SweepQuestion
	numbers  Numbers
	points   []SweepPoint
	plans    []*capacity.Plan // of the first and the last point, which are explained
	finished []atomic.Bool
	next     atomic.Int64
	done     atomic.Int64
	curve    func() (plan.Curve, error) // computed once, however often there is an answer
}

// NewSweep makes a checked question ready.
func NewSweep(q SweepQuestion) *Sweep {
	s := &Sweep{question: q, numbers: NumbersOf(q.Vary)}
	s.curve = sync.OnceValues(func() (plan.Curve, error) {
		return plan.NewCurve(q.Problem, parameterOf(&q.Vary[0], s.numbers[0]))
	})
	total := s.numbers.Points()
	s.points, s.plans, s.finished = make([]SweepPoint, total), make([]*capacity.Plan, total), make([]atomic.Bool, total)
	return s
}

// Numbers holds the values of each parameter of a sweep.
type Numbers [][]money.Amount

// NumbersOf returns the values of parameters.
func NumbersOf(vary []Vary) Numbers {
	n := make(Numbers, len(vary))
	for i := range vary {
		n[i] = vary[i].Numbers()
	}
	return n
}

// Points returns how many points the values make.
func (n Numbers) Points() int {
	points := 1
	for _, values := range n {
		points *= len(values)
	}
	return points
}

// At returns the values at a point, and the scenario they make. The last parameter moves first.
func (n Numbers) At(vary []Vary, point int) (at []float64, scenario Scenario) {
	at, scenario.Changes = make([]float64, len(n)), make([]ScenarioChange, len(n))
	for k := len(n) - 1; k >= 0; k-- {
		x := n[k][point%len(n[k])]
		point /= len(n[k])
		at[k], scenario.Changes[k] = x.Float(), vary[k].Change(x)
	}
	return at, scenario
}

// parameterOf returns the parameter that a curve follows. It is one of the figures that a checked question
// may ask a curve for, with a range.
func parameterOf(v *Vary, numbers []money.Amount) plan.Parameter {
	figures := map[What]plan.Figure{
		ChangeDeadline: plan.Deadlines, ChangePenalty: plan.Penalties, ChangePrice: plan.OnDemandPrice,
		ChangeContract: plan.ContractVMs, ChangeBudget: plan.VMBudget,
	}
	return plan.Parameter{
		Figure: figures[v.What], Class: v.Class, Contract: v.Contract, Absolute: v.By == ByValue,
		From: v.From.Float(), To: v.To.Float(), Numbers: numbers,
		With: func(p capacity.Problem, number money.Amount) (capacity.Problem, error) {
			s := Scenario{Changes: []ScenarioChange{v.Change(number)}}
			return s.Apply(p)
		},
	}
}

// Total returns the number of points.
func (s *Sweep) Total() int64 { return int64(len(s.points)) }

// Done returns the number of planned points.
func (s *Sweep) Done() int64 { return s.done.Load() }

// Work plans points until none is left or the context ends; several may work at once. Each point is the
// answer of solve to the changed problem, so that the order of the work changes nothing; brief answers those of which
// no more is told than its figures.
func (s *Sweep) Work(ctx context.Context, solve, brief plan.Planner) error {
	for {
		if err := capacity.Pause(ctx); err != nil {
			return err
		}
		i := int(s.next.Add(1)) - 1
		if i >= len(s.points) {
			return nil
		}
		if err := s.point(ctx, i, solve, brief); err != nil {
			return err
		}
		s.finished[i].Store(true)
		s.done.Add(1)
	}
}

// at is the numbers of a point, and the scenario they make.
func (s *Sweep) at(i int) (numbers []float64, scenario Scenario) {
	return s.numbers.At(s.question.Vary, i)
}

func (s *Sweep) point(ctx context.Context, i int, solve, brief plan.Planner) error {
	explained := i == 0 || i == len(s.points)-1
	if !explained {
		solve = brief
	}
	numbers, scenario := s.at(i)
	p, err := scenario.Apply(s.question.Problem)
	var pl capacity.Plan
	if err == nil {
		pl, err = solve(ctx, p)
	}
	if findings := fault.Findings(err); findings != nil { // between the corners, or more VMs than can be counted
		pl, err = capacity.Plan{Status: capacity.InfeasibleStatus, Conflicts: findings}, nil
		pl.Cost.Currency, pl.Cost.PeriodSeconds = s.question.Problem.Currency, s.question.Problem.PeriodSeconds
	}
	if err != nil {
		return err
	}
	o := plan.OutcomeOf("", pl, false)
	point := SweepPoint{Parameters: numbers, Status: o.Status, Cost: o.Cost, VMs: o.VMs, Admitted: o.Admitted, Refused: o.Refused, Gap: o.Gap}
	switch {
	case pl.Status == capacity.InfeasibleStatus && len(pl.Conflicts) > 0:
		point.Conflict = pl.Conflicts[0].Detail
	case pl.Prices != nil:
		point.Price = &pl.Prices.Capacity
	}
	s.points[i] = point
	if explained {
		s.plans[i] = &pl
	}
	return nil
}

// Answer is the points that are planned, also while others are worked on. A curve is computed where one was
// asked for.
func (s *Sweep) Answer() (SweepAnswer, error) {
	a := SweepAnswer{Vary: s.question.Vary, Total: s.Total(), Points: make([]SweepPoint, 0, len(s.points)), Facts: words.Facts{},
		Currency: s.question.Problem.Currency, PeriodSeconds: s.question.Problem.PeriodSeconds}
	for i := range s.points {
		if s.finished[i].Load() {
			a.Points = append(a.Points, s.points[i])
		}
	}
	a.Complete = len(a.Points) == len(s.points)
	if s.question.Curve {
		curve, err := s.curve()
		if err != nil {
			return a, err
		}
		a.Curve = &curve
	}
	a.tell(&s.question.Problem, s.drivers())
	return a, nil
}
