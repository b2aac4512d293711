package question

import (
	"context"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/plans/solving"
	"example.org/headroom/internal/service/report"
)

// AskedWaiting holds a question about schedules over a range, and notes on its source.
type AskedWaiting struct {
	timetable.SweepQuestion
	Warnings []capacity.Warning `json:"warnings"`
}

// Waiting asks what the schedule of a time comes to at every value of a parameter, or of two.
var Waiting = known(&Kind[AskedWaiting, timetable.SweepAnswer]{
	Run: "waiting", Unit: "points", Name: "waiting", Formats: []string{"csv", "xlsx"},
	From: map[string]Source[AskedWaiting]{
		"/v1/waiting": ofBody(func(r Request) (AskedWaiting, error) {
			q, err := timetable.ReadSweep(r.Body, r.Limits)
			return AskedWaiting{q, nil}, err
		}),
		"/v1/clusters/{cluster}/waiting": ofCluster(timetable.ReadClusterSweep, clusterWaiting),
	},
	Work: workWaiting,
	Forms: func(_ AskedWaiting, a timetable.SweepAnswer, _ View) Forms {
		return usual(a, report.WaitingText, report.Waiting, report.WaitingWorkbook)
	},
	Warned: func(a *timetable.SweepAnswer) []capacity.Warning { return a.Warnings },
})

// clusterWaiting is about the coming time of a cluster.
func clusterWaiting(ctx context.Context, d *Desk, r Request, q timetable.ClusterSweepQuestion) (asked AskedWaiting, err error) {
	from, until, open := q.Ends(d.Now())
	q.Span = horizon.Span{From: from, Until: until}
	of, notes, err := d.outlook(ctx, r.Cluster, q.Span, false)
	if err != nil {
		return asked, err
	}
	if open {
		of.EndWithForecasts()
	}
	scenario, err := d.askedScenario(ctx, r.Cluster, q.Scenario)
	if err != nil {
		return asked, err
	}
	of.Scenario = q.Widest(scenario)
	o, err := d.Inputs.Outlook(ctx, r.Cluster, of.From, of.Until.Add(timetable.LongestWindow(&of)))
	if err != nil {
		return asked, err
	}
	o.Scenario = scenario
	question, warnings, err := timetable.SweepOf(o, of.Until, q)
	return AskedWaiting{question, append(notes, warnings...)}, err
}

// workWaiting makes a schedule after the other, each in a turn and a time of its own. Those so far can be read meanwhile.
func workWaiting(ctx context.Context, b *Bench, asked AskedWaiting) (*timetable.SweepAnswer, error) {
	s := timetable.NewSweep(asked.SweepQuestion)
	answer := func() timetable.SweepAnswer {
		a := s.Answer()
		a.Warnings = append(a.Warnings, asked.Warnings...)
		return a
	}
	for done := range s.Total() {
		b.Tell(done, s.Total())
		in, leave, err := b.Turn(ctx)
		if err == nil {
			err = s.Next(in, func(ctx context.Context, q timetable.Question) (timetable.Answer, error) {
				return budgeted(ctx, b, q.Problem.Options.MaxSolveMs, q, solving.CheckedSchedule)
			})
			leave()
		}
		if err != nil && (!b.Partial || done == 0) {
			return nil, err
		}
		if err != nil {
			a := answer()
			return &a, err
		}
	}
	b.Tell(s.Total(), s.Total())
	a := answer()
	return &a, nil
}
