package question

import (
	"context"
	"slices"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report"
)

// AskedSchedule holds a question about a schedule, and notes on its source.
type AskedSchedule struct {
	timetable.Question
	Warnings []capacity.Warning
}

// Schedule asks when executions that may wait are to start. It is answered at once, within its time budget.
var Schedule = known(&Kind[AskedSchedule, timetable.Answer]{
	Name: "schedule",
	From: map[string]Source[AskedSchedule]{
		"/v1/schedule": ofBody(func(r Request) (AskedSchedule, error) {
			q, err := timetable.Read(r.Body, r.Limits)
			return AskedSchedule{q, nil}, err
		}),
		"/v1/clusters/{cluster}/schedules": ofCluster(timetable.ReadCluster, func(ctx context.Context, d *Desk, r Request,
			q timetable.ClusterQuestion) (AskedSchedule, error) {
			return d.ClusterSchedule(ctx, r.Cluster, q)
		}),
	},
	Work: inOne(nil, func(ctx context.Context, b *Bench, asked AskedSchedule) (timetable.Answer, error) {
		a, err := budgeted(ctx, b, asked.Problem.Options.MaxSolveMs, asked.Question, solving.CheckedSchedule)
		a.Warnings = append(a.Warnings, asked.Warnings...)
		return a, err
	}),
	Forms: func(_ AskedSchedule, a timetable.Answer, _ View) Forms {
		return usual(a, report.ScheduleText, report.ScheduleStarts, nil)
	},
	Status: func(a *timetable.Answer) capacity.Status { return a.Status },
	Warned: func(a *timetable.Answer) []capacity.Warning { return a.Warnings },
})

// ClusterSchedule returns the question about the schedule of a cluster.
func (d *Desk) ClusterSchedule(ctx context.Context, cluster string, q timetable.ClusterQuestion) (asked AskedSchedule, err error) {
	from, until, open := q.Ends(d.Now())
	q.Span = horizon.Span{From: from, Until: until}
	o, notes, err := d.outlook(ctx, cluster, q.Span, false)
	if err != nil {
		return asked, err
	}
	if open {
		o.EndWithForecasts()
	}
	question, warnings, err := d.scheduleUntil(ctx, cluster, &o, q.Scenario, true)
	if err != nil {
		return asked, err
	}
	left, err := question.Within(q.Budgets)
	if len(left) > 0 {
		warnings = startsLeftOut(warnings)
	}
	return AskedSchedule{question, slices.Concat(notes, warnings, left)}, err
}

// startsLeftOut removes what was said of starts that cost something, where that is left out.
func startsLeftOut(warnings []capacity.Warning) []capacity.Warning {
	return slices.DeleteFunc(warnings, func(w capacity.Warning) bool { return w.Code == "starts_from_none" })
}

// scheduleUntil returns the question about the schedule of what arrives in the time of an outlook. Its hours go on until everything has
// ended under a scenario, which is laid over them or not: what is compared with it is of the same time.
func (d *Desk) scheduleUntil(ctx context.Context, cluster string, of *horizon.Outlook, scenario *whatif.AskedScenario, lay bool) (q timetable.Question, warnings []capacity.Warning, err error) {
	under := *of
	if under.Scenario, err = d.askedScenario(ctx, cluster, scenario); err != nil {
		return q, nil, err
	}
	o, err := d.Inputs.Outlook(ctx, cluster, of.From, of.Until.Add(timetable.LongestWindow(&under)))
	if err != nil {
		return q, nil, err
	}
	if o.Scenario = (whatif.AskedScenario{}); lay {
		o.Scenario = under.Scenario
	}
	return timetable.QuestionOf(o, of.Until, nil)
}
