package recheck

import (
	"encoding/json"
	"math/big"
	"slices"
	"time"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/recheck/timetables"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/proof"
)

// varying returns a question with what its answer varies, where that came as flags beside a file.
func varying(question, answer []byte) []byte {
	var q map[string]json.RawMessage
	var a struct {
		Vary   json.RawMessage
		Points []struct{ Schedule json.RawMessage }
	}
	if json.Unmarshal(question, &q) != nil || json.Unmarshal(answer, &a) != nil {
		return question
	}
	if q["vary"] == nil {
		q["vary"] = a.Vary
	}
	for i := range a.Points {
		if a.Points[i].Schedule != nil {
			q["schedules"] = json.RawMessage("true")
		}
	}
	whole, err := json.Marshal(q)
	if err != nil {
		return question
	}
	return whole
}

// waitingSweep checks schedules over a range of figures. Only an answer with schedules shows that there are such.
func (c *checking) waitingSweep(q timetable.SweepQuestion, a timetable.SweepAnswer, got any) {
	c.NotChecked = []string{"that a point without a schedule has none, and why"}
	if !q.Schedules {
		c.NotChecked = append(c.NotChecked, `that there are schedules that come to the figures of points, and no cheaper ones than the bounds (ask with "schedules")`)
	}
	numbers, total := make([][]*big.Rat, len(q.Vary)), 1
	for i := range q.Vary {
		numbers[i] = values(&q.Vary[i])
		total *= len(numbers[i])
	}
	c.differ("", got, map[string]any{"currency": q.Problem.Currency, "total": exact(whole(int64(total))), "vary": tree(marshalled(q.Vary)), "complete": len(a.Points) == total, "from": tree(marshalled(q.Start().UTC())), "until": tree(marshalled(q.End().UTC()))})
	for i := range a.Points {
		p, at := &a.Points[i], at(i, "points")
		changes, same := changesAt(q.Vary, numbers, i, p.Parameters)
		if i >= total || !same {
			c.wrong(at+"/parameters", "is %v, which is not the next of the points", p.Parameters)
			break
		}
		c.waitingPoint(at, &q, changes, p)
	}
	c.end(PlansCheck, "The points stand in their order, and their figures are those of their schedules, where these are given.")
	told := a.Retold()
	if told.Explanation != a.Explanation || !slices.EqualFunc(told.Facts, a.Facts, sameFact) {
		c.wrong("/explanation", "does not say the figures of the answer")
	}
	c.unwarned("", a.Warnings)
	c.end(SentencesCheck, "The explanation and %d facts say the figures of the answer.", len(a.Facts))
}

// waitingPoint checks the figures of a point.
func (c *checking) waitingPoint(at string, q *timetable.SweepQuestion, changes []whatif.ScenarioChange, p *timetable.SweepPoint) {
	h, ok := laidWaiting(q, changes)
	if p.Status == capacity.InfeasibleStatus {
		if p.Conflict == "" || p.Schedule != nil {
			c.wrong(at, "has no schedule, and does not say why")
		}
		return
	}
	if !ok {
		c.wrong(at, "has a schedule, and the changed problem is none")
		return
	}
	if p.Conflict != "" {
		c.wrong(at+"/conflict", "is there beside a schedule")
	}
	if sum := add(p.Bill.Rat(), p.ValueRefused.Rat()); sum.Cmp(p.Total.Rat()) != 0 {
		c.wrong(at+"/total", "is %s, and bill and value refused come to %s", p.Total, sum.FloatString(9))
	}
	if p.Bound.GreaterThan(p.Total.Decimal) {
		c.wrong(at+"/bound", "is above the total")
	}
	status := capacity.Feasible
	if float(sub(p.Total.Rat(), p.Bound.Rat())) <= q.Problem.Options.Gap*p.Total.Float() {
		status = capacity.Optimal
	}
	c.differ(at+"/status", string(p.Status), string(status))
	if (p.Schedule != nil) != q.Schedules {
		c.wrong(at+"/schedule", "is there if the question asks for schedules, and only then")
		return
	}
	if p.Schedule != nil {
		c.waitingSchedule(at, h, p)
	}
}

// waitingSchedule holds the figures of a point against its schedule.
func (c *checking) waitingSchedule(at string, q timetable.Question, p *timetable.SweepPoint) {
	s := p.Schedule
	most, waiting, findings := timetables.CheckWaiting(at+"/schedule", q, s)
	for _, f := range findings {
		c.wrong(f.Pointer, "%s", f.Detail)
	}
	var executions, refused, later int64
	for i := range s.Schedule {
		x := &s.Schedule[i]
		if executions += x.Jobs; x.Start.Sub(x.Arrived) > time.Hour && q.Problem.Classes[slices.IndexFunc(q.Problem.Classes, func(k capacity.Class) bool { return k.Name == x.Class })].MayWait() {
			later += x.Jobs
		}
	}
	for i := range s.Refused {
		executions, refused = executions+s.Refused[i].Jobs, refused+s.Refused[i].Jobs
	}
	for _, of := range []struct {
		member    string
		got, want int64
	}{{"most_vms", p.MostVMs, most}, {"executions", p.Executions, executions}, {"refused", p.Refused, refused}, {"later", p.Later, later}, {"waiting_classes", p.Waiting, waiting}} {
		if of.got != of.want {
			c.wrong(at+"/"+of.member, "is %d, and %d by the schedule", of.got, of.want)
		}
	}
	if !s.Bill.Equal(p.Bill.Decimal) || !s.ValueRefused.Equal(p.ValueRefused.Decimal) || !s.Total.Equal(p.Total.Decimal) || !s.Bound.Equal(p.Bound.Decimal) {
		c.wrong(at, "has other figures than its schedule")
	}
}

// laidWaiting returns the question with changes laid over all of the time. Periods in which nothing was asked for stay so, and jobs
// at once count as the arrivals that keep so many running.
func laidWaiting(q *timetable.SweepQuestion, changes []whatif.ScenarioChange) (asked timetable.Question, ok bool) {
	h, ok := laid(horizon.Horizon{Problem: q.Problem, Contracts: q.Contracts, Periods: q.Periods, Earlier: q.Earlier}, changes)
	if !ok {
		return asked, false
	}
	positive := func(x float64) bool { return x > 0 }
	for i := range h.Periods {
		p, n := &h.Periods[i], len(h.Problem.Classes)
		if before := &q.Periods[i]; !slices.ContainsFunc(before.Jobs, positive) && !slices.ContainsFunc(before.Arrivals, positive) {
			p.Jobs, p.Arrivals = nil, make([]float64, n)
		}
		arrivals := make([]float64, n)
		copy(arrivals, p.Arrivals)
		for k := range p.Jobs {
			if p.Jobs[k] > 0 {
				arrivals[k] += p.Jobs[k] * float64(p.Length()) / proof.HeldSeconds(&h.Problem, k)
			}
		}
		p.Jobs, p.Arrivals = nil, arrivals
	}
	asked = q.Question
	asked.Problem, asked.Contracts, asked.Periods, asked.Earlier = h.Problem, h.Contracts, h.Periods, h.Earlier
	return asked, true
}
