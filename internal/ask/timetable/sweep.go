package timetable

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/core/words"
)

// SweepQuestion asks what the schedule of a time comes to at every value of a parameter, or of two. Periods of a cluster may have
// jobs at once, which count as arrivals.
type SweepQuestion struct {
	Question
	Vary      []whatif.Vary `json:"vary"`
	Schedules bool          `json:"schedules,omitempty"` // the answer has the schedule of each point
}

// ClusterSweepQuestion is about the coming time of a cluster, with a scenario laid over it.
type ClusterSweepQuestion struct {
	ClusterQuestion
	Vary      []whatif.Vary `json:"vary"`
	Schedules bool          `json:"schedules,omitempty"`
}

// SweepAnswer holds the points of a sweep: those of the first parameter's first value first.
type SweepAnswer struct {
	Vary        []whatif.Vary      `json:"vary"`
	From        time.Time          `json:"from"`
	Until       time.Time          `json:"until"` // the last execution may run
	Currency    string             `json:"currency"`
	Complete    bool               `json:"complete"` // false: points are missing, because the work was ended before
	Total       int64              `json:"total"`    // points that were asked for
	Points      []SweepPoint       `json:"points"`
	Explanation string             `json:"explanation"`
	Facts       words.Facts        `json:"facts"`
	Warnings    []capacity.Warning `json:"warnings"`
}

// SweepPoint holds what the schedule at one value of each parameter comes to.
type SweepPoint struct {
	Parameters []float64       `json:"parameters"` // in the order of what is varied
	Status     capacity.Status `json:"status"`
	Cost
	Bound      money.Amount             `json:"bound"` // no schedule costs less
	MostVMs    int64                    `json:"most_vms"`
	Executions int64                    `json:"executions"`
	Refused    int64                    `json:"refused"`
	Later      int64                    `json:"later"`           // start later than they could
	Waiting    int64                    `json:"waiting_classes"` // classes whose jobs may wait. They count with whole hours, others on average
	Conflict   string                   `json:"conflict"`        // of a point without a schedule: why, the first sentence
	Schedule   *horizon.WaitingSchedule `json:"schedule,omitempty"`
}

// Limits of sweeps. Each point takes the time of a plan.
const (
	maxSweepPoints = 100
	maxSweepRows   = 250_000 // classes in hours of all points, whose schedules an answer has
)

var (
	sweepShape        = Shape("a question about waiting", []string{"vary"}, "schedules", "budgets")
	clusterSweepShape = strict.NewShape("a question about waiting", []string{"vary"}, "from", "until", "scenario", "schedules", "budgets")
)

// ReadSweep reads the question as strictly as Read.
func ReadSweep(data []byte, limits capacity.Limits, overrides ...func(*capacity.Options)) (s SweepQuestion, err error) {
	q, err := ReadWith(data, sweepShape, limits, map[string]func(*strict.Reader){
		"vary":      func(r *strict.Reader) { whatif.ReadVaried(r, &s.Vary) },
		"schedules": func(r *strict.Reader) { r.Flag(&s.Schedules) },
	}, overrides...)
	if err != nil {
		return SweepQuestion{}, err
	}
	s.Question = q
	return s, s.check(false)
}

// ReadClusterSweep reads a question about a cluster.
func ReadClusterSweep(data []byte) (q ClusterSweepQuestion, err error) {
	r := strict.NewReader(data)
	r.Object(clusterSweepShape, func(name string) {
		switch name {
		case "vary":
			whatif.ReadVaried(r, &q.Vary)
		case "schedules":
			r.Flag(&q.Schedules)
		default:
			q.Read(r, name)
		}
	})
	r.End()
	if err = r.Result(q.Check); err == nil {
		err = whatif.CheckVaried(q.Vary, false)
	}
	return q, err
}

// Widest returns the scenario of a question with the values that make windows and deadlines longest.
func (q *ClusterSweepQuestion) Widest(s whatif.AskedScenario) whatif.AskedScenario {
	s.Changes = slices.Clip(s.Changes)
	for i := range q.Vary {
		if numbers := q.Vary[i].Numbers(); len(numbers) > 0 {
			most := slices.MaxFunc(numbers, func(a, b money.Amount) int { return a.Cmp(b.Decimal) })
			s.Changes = append(s.Changes, q.Vary[i].Change(most))
		}
	}
	return s
}

// SweepOf returns the question about the arrivals of a cluster before a moment, as QuestionOf does. Promises of jobs that wait at some
// value are left out there.
func SweepOf(o horizon.Outlook, end time.Time, asked ClusterSweepQuestion) (q SweepQuestion, warnings []capacity.Warning, err error) {
	h, warnings, err := timeOf(o, end, nil)
	if err != nil {
		return q, nil, err
	}
	counted := h
	counted.Periods = slices.Clone(h.Periods)
	if err := asArrivals(&counted, warningsTo(&warnings)); err != nil {
		return q, nil, err
	}
	for i := range h.Periods {
		p := &h.Periods[i]
		if p.Jobs == nil { // no class has a forecast here
			for k := range h.Problem.Classes {
				p.Jobs = append(p.Jobs, h.Problem.Classes[k].Jobs.Max)
			}
		}
		p.Unforecast = false
	}
	q = SweepQuestion{Question: Question{Problem: h.Problem, Contracts: h.Contracts, Periods: h.Periods, Earlier: h.Earlier, TimeZone: o.Cluster.TimeZone}, Vary: asked.Vary, Schedules: asked.Schedules}
	warnings = append(warnings, q.within(asked.Budgets)...)
	return q, warnings, fault.Move(q.check(true), func(pointer string) string {
		if strings.HasPrefix(pointer, "/vary") || strings.HasPrefix(pointer, "/budgets") {
			return pointer
		}
		return ""
	})
}

// check finds the faults of what is varied, and a question that has no schedule at any value.
func (q *SweepQuestion) check(leavePromises bool) error {
	if err := whatif.CheckVaried(q.Vary, false); err != nil {
		return err
	}
	numbers := whatif.NumbersOf(q.Vary)
	points := numbers.Points()
	if points > maxSweepPoints {
		return fault.At("/vary", "too_many", fmt.Sprintf("These are %d points; of schedules there are %d at most.", points, maxSweepPoints))
	}
	if rows := points * len(q.Problem.Classes) * int(q.End().Sub(q.Start())/time.Hour); q.Schedules && rows > maxSweepRows {
		return fault.At("/schedules", "too_many", fmt.Sprintf("Here are %d points with %d classes in each hour; an answer has schedules of %d classes in all hours together at most. Leave this out, or ask for a shorter time.",
			points, len(q.Problem.Classes), maxSweepRows))
	}
	var first error
	for i := range points {
		_, _, err := q.at(numbers, i, leavePromises)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return fault.Move(first, func(pointer string) string {
		rest, ours := strings.CutPrefix(pointer, "/changes")
		if !ours {
			return "/vary"
		}
		rest, _ = strings.CutSuffix(rest, "/factor") // which is none of the members
		rest, _ = strings.CutSuffix(rest, "/value")
		return "/vary" + rest
	})
}

// at returns the values at a point, and the question about its schedule. Hours in which nothing is asked for stay so.
func (q *SweepQuestion) at(numbers whatif.Numbers, point int, leavePromises bool) (at []float64, asked Question, err error) {
	at, scenario := numbers.At(q.Vary, point)
	h, err := q.horizon().Under(scenario, true)
	if err != nil {
		return at, asked, err
	}
	if leavePromises {
		h.Problem.Classes = slices.Clone(h.Problem.Classes)
		leaveOutPromises(&h.Problem, false)
	}
	counted := false
	for i := range h.Periods {
		p := &h.Periods[i]
		if nothingIn(&q.Periods[i]) {
			p.Jobs, p.Arrivals = nil, slices.Repeat([]float64{0}, len(h.Problem.Classes))
		}
		counted = counted || p.Jobs != nil
	}
	if counted {
		for i := range h.Periods {
			if p := &h.Periods[i]; p.Jobs == nil {
				p.Jobs = slices.Repeat([]float64{0}, len(h.Problem.Classes))
			}
		}
		if err := asArrivals(&h, func(string, string, ...any) {}); err != nil {
			return at, asked, err
		}
	}
	asked = q.Question
	asked.Problem, asked.Contracts, asked.Periods, asked.Earlier = h.Problem, h.Contracts, h.Periods, h.Earlier
	return at, asked, strict.Check(asked.check)
}

// nothingIn reports whether nothing is asked for in a period.
func nothingIn(p *horizon.HorizonPeriod) bool {
	some := func(x float64) bool { return x > 0 }
	return !slices.ContainsFunc(p.Jobs, some) && !slices.ContainsFunc(p.Arrivals, some)
}

// Sweep is a sweep at work.
type Sweep struct {
	question SweepQuestion
	leave    bool // promises of jobs that may wait
	numbers  whatif.Numbers
	points   []SweepPoint
}

// NewSweep makes a checked question ready. Promises of jobs that may wait are refused, or left out as in schedules of clusters.
func NewSweep(q SweepQuestion, leavePromises bool) *Sweep {
	return &Sweep{question: q, leave: leavePromises, numbers: whatif.NumbersOf(q.Vary)}
}

// Total and Done count points.
func (s *Sweep) Total() int64 { return int64(s.numbers.Points()) }
func (s *Sweep) Done() int64  { return int64(len(s.points)) }

// Next plans the next point, whose schedule plan makes. One with the values of another is the same.
func (s *Sweep) Next(plan func(Question) (Answer, error)) error {
	values, _ := s.numbers.At(s.question.Vary, len(s.points))
	if same := slices.IndexFunc(s.points, func(p SweepPoint) bool { return slices.Equal(p.Parameters, values) }); same >= 0 {
		s.points = append(s.points, s.points[same])
		return nil
	}
	at, q, err := s.question.at(s.numbers, len(s.points), s.leave)
	var a Answer
	if err == nil {
		a, err = plan(q)
	}
	point := SweepPoint{Parameters: at, Status: capacity.InfeasibleStatus}
	var infeasible *fault.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		point.Conflict = infeasible.Conflicts[0].Detail
	case fault.Findings(err) != nil:
		point.Conflict = fault.Findings(err)[0].Detail
	case err != nil:
		return err
	default:
		point.take(&a)
		if s.question.Schedules {
			w := a.Waiting()
			point.Schedule = &w
		}
	}
	s.points = append(s.points, point)
	return nil
}

func (p *SweepPoint) take(a *Answer) {
	p.Status, p.Cost, p.Bound = a.Status, a.Cost, a.Proof.Bound
	for i := range a.Hours {
		p.MostVMs = max(p.MostVMs, a.Hours[i].VMs)
	}
	for i := range a.Classes {
		c := &a.Classes[i]
		p.Executions, p.Refused, p.Later = p.Executions+c.Arrived, p.Refused+c.Refused, p.Later+c.Later
		if c.Waits {
			p.Waiting++
		}
	}
}

// Answer returns the points that are planned.
func (s *Sweep) Answer() SweepAnswer {
	a := SweepAnswer{Vary: s.question.Vary, From: s.question.Start().UTC(), Until: s.question.End().UTC(), Currency: s.question.Problem.Currency, Total: s.Total(), Points: append([]SweepPoint{}, s.points...), Warnings: []capacity.Warning{}}
	a.Complete = s.Done() == s.Total()
	a.tell()
	return a
}

// Retold is the answer with its sentences and facts made anew from its figures.
func (a SweepAnswer) Retold() SweepAnswer {
	a.tell()
	return a
}

// tell says in a paragraph at which values bill and value refused together are least and greatest. Points differ where one costs
// more than the bound of another is below.
func (a *SweepAnswer) tell() {
	a.Facts = words.Facts{}
	varied := fmt.Sprintf("From %s until %s. Varied: %s; %d of %d points planned.", words.Moment(a.From), words.Moment(a.Until), whatif.ParameterNames(a.Vary), len(a.Points), a.Total)
	if !a.Complete {
		varied += " The rest is missing because the work was ended before."
	}
	a.Facts.Say("points", "", varied, words.Count("planned", float64(len(a.Points)), "points"), words.Count("asked", float64(a.Total), "points"))
	var low, high, without *SweepPoint
	missed := 0
	for i := range a.Points {
		switch p := &a.Points[i]; {
		case p.Status == capacity.InfeasibleStatus:
			if missed++; without == nil {
				without = p
			}
		default:
			if low == nil || p.Total.LessThan(low.Total.Decimal) {
				low = p
			}
			if high == nil || p.Total.GreaterThan(high.Total.Decimal) {
				high = p
			}
		}
	}
	if without != nil {
		place := whatif.PlaceOf(a.Vary, without.Parameters)
		a.Facts.Say("infeasible_points", place, fmt.Sprintf("At %d of them there is no schedule, first at %s: %s", missed, place, without.Conflict), words.Count("infeasible", float64(missed), "points"))
	}
	if low != nil {
		a.tellEnds(low, high)
	}
	a.Explanation = a.Facts.Text()
}

// tellEnds says where the total is least and greatest, and whether the gaps leave open which.
func (a *SweepAnswer) tellEnds(low, high *SweepPoint) {
	if low.Total.Equal(high.Total.Decimal) {
		a.Facts.Say("same_total", "", fmt.Sprintf("Bill and value refused together are %s %s throughout.", words.CentsOf(low.Total), a.Currency), words.Money("total", low.Total, a.Currency))
		return
	}
	from, to := a.placesLike(low), a.placesLike(high)
	a.Facts.Say("least_total", whatif.PlaceOf(a.Vary, low.Parameters), fmt.Sprintf("Bill and value refused together are least, %s %s, at %s, and greatest, %s, at %s.", words.CentsOf(low.Total), a.Currency, from, words.CentsOf(high.Total), to),
		words.Money("total", low.Total, a.Currency), words.Money("greatest", high.Total, a.Currency))
	if low.Waiting != high.Waiting {
		a.Facts.Say("counted", "", fmt.Sprintf("The two are counted in two ways: at the first jobs of %s may wait and at the second those of %s. Jobs that may wait count with whole hours, and others with the VMs that they hold on average.",
			words.Counted(strconv.FormatInt(low.Waiting, 10), "class"), strconv.FormatInt(high.Waiting, 10)), words.Count("waiting_at_least", float64(low.Waiting), "classes"), words.Count("waiting_at_greatest", float64(high.Waiting), "classes"))
		return
	}
	apart := money.Amount{Decimal: high.Bound.Sub(low.Total.Decimal)}
	if apart.IsPositive() {
		a.Facts.Say("apart", "", fmt.Sprintf("The two differ by at least %s, whatever the schedules.", words.CentsDown(apart)), words.Money("least", apart, a.Currency))
	} else {
		a.Facts.Say("apart", "", "The difference is within the gaps of the schedules: it is not known that they differ.", words.Money("least", apart, a.Currency))
	}
}

// placesLike names the first point with a total, and how many others have it.
func (a *SweepAnswer) placesLike(like *SweepPoint) string {
	others := -1
	for i := range a.Points {
		if p := &a.Points[i]; p.Status != capacity.InfeasibleStatus && p.Total.Equal(like.Total.Decimal) {
			others++
		}
	}
	place := whatif.PlaceOf(a.Vary, like.Parameters)
	if others > 0 {
		place += fmt.Sprintf(" and %s", words.Counted(strconv.Itoa(others), "other point"))
	}
	return place
}
