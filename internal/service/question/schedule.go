package question

import (
	"context"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report"
)

// AskedSchedule holds a question about a schedule, and notes on its source.
type AskedSchedule struct {
	horizon.ScheduleQuestion
	Warnings []capacity.Warning
}

// Schedule asks when executions that may wait are to start. It is answered at once, within its time budget.
var Schedule = known(&Kind[AskedSchedule, horizon.ScheduleAnswer]{
	Name: "schedule",
	From: map[string]Source[AskedSchedule]{
		"/v1/schedule": ofBody(func(r Request) (AskedSchedule, error) {
			q, err := horizon.ReadSchedule(r.Body, r.Limits)
			return AskedSchedule{q, nil}, err
		}),
		"/v1/clusters/{cluster}/schedules": ofCluster(horizon.ReadClusterSchedule, func(ctx context.Context, d *Desk, r Request,
			q horizon.ClusterScheduleQuestion) (AskedSchedule, error) {
			return d.ClusterSchedule(ctx, r.Cluster, q)
		}),
	},
	Work: inOne(nil, func(ctx context.Context, b *Bench, asked AskedSchedule) (horizon.ScheduleAnswer, error) {
		a, err := budgeted(ctx, b, asked.Problem.Options.MaxSolveMs, asked.ScheduleQuestion, solving.CheckedSchedule)
		a.Warnings = append(a.Warnings, asked.Warnings...)
		return a, err
	}),
	Forms: func(_ AskedSchedule, a horizon.ScheduleAnswer, _ View) Forms {
		return usual(a, report.ScheduleText, report.ScheduleStarts, nil)
	},
	Status: func(a *horizon.ScheduleAnswer) capacity.Status { return a.Status },
	Warned: func(a *horizon.ScheduleAnswer) []capacity.Warning { return a.Warnings },
})

// ClusterSchedule returns the question about the schedule of a cluster.
func (d *Desk) ClusterSchedule(ctx context.Context, cluster string, q horizon.ClusterScheduleQuestion) (asked AskedSchedule, err error) {
	from, until, open := q.Ends(d.Now())
	q.Span = horizon.Span{From: from, Until: until}
	o, notes, err := d.outlook(ctx, cluster, q.Span, false)
	if err != nil {
		return asked, err
	}
	if open {
		o.EndWithForecasts()
	}
	end := o.Until
	if o, err = d.Inputs.Outlook(ctx, cluster, from, end.Add(o.LongestWindow())); err != nil {
		return asked, err
	}
	if o.Scenario, err = d.askedScenario(ctx, cluster, q.Scenario); err != nil {
		return asked, err
	}
	question, warnings, err := o.Schedule(end, nil)
	return AskedSchedule{question, append(notes, warnings...)}, err
}
