package question

import (
	"context"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report"
)

// Schedule asks when executions that may wait are to start. It is answered at once, within its time budget.
var Schedule = known(&Kind[horizon.ScheduleQuestion, horizon.ScheduleAnswer]{
	Name: "schedule",
	From: map[string]Source[horizon.ScheduleQuestion]{
		"/v1/schedule": ofBody(func(r Request) (horizon.ScheduleQuestion, error) { return horizon.ReadSchedule(r.Body, r.Limits) }),
	},
	Work: inOne(nil, func(ctx context.Context, b *Bench, q horizon.ScheduleQuestion) (horizon.ScheduleAnswer, error) {
		return budgeted(ctx, b, q.Problem.Options.MaxSolveMs, q, solving.CheckedSchedule)
	}),
	Forms: func(_ horizon.ScheduleQuestion, a horizon.ScheduleAnswer, _ View) Forms {
		return usual(a, report.ScheduleText, report.ScheduleStarts, nil)
	},
	Status: func(a *horizon.ScheduleAnswer) capacity.Status { return a.Status },
	Warned: func(a *horizon.ScheduleAnswer) []capacity.Warning { return a.Warnings },
})
