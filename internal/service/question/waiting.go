package question

import (
	"context"

	"example.org/headroom/internal/ask/horizon"
	"example.org/headroom/internal/ask/timetable"
	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/service/report"
)

// AskedWaiting holds a question about schedules over a range, and notes on its source.
type AskedWaiting struct {
	timetable.SweepQuestion
	LeavePromises bool               `json:"leave_promises,omitempty"` // of jobs that may wait, as schedules of clusters do
	Warnings      []capacity.Warning `json:"warnings"`
}

// Waiting asks what the schedule of a time comes to at every value of a parameter, or of two.
var Waiting = known(&Kind[AskedWaiting, timetable.SweepAnswer]{
	Run: "waiting", Unit: "points", Name: "waiting", Formats: []string{"csv", "xlsx"},
	From: map[string]Source[AskedWaiting]{
		"/v1/waiting": ofBody(func(r Request) (AskedWaiting, error) {
			q, err := timetable.ReadSweep(r.Body, r.Limits)
			return AskedWaiting{SweepQuestion: q}, err
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
	return AskedWaiting{question, true, append(notes, warnings...)}, err
}

// workWaiting makes a schedule after the other, each in a turn and a time of its own.
func workWaiting(ctx context.Context, b *Bench, asked AskedWaiting) (*timetable.SweepAnswer, error) {
	s := timetable.NewSweep(asked.SweepQuestion, asked.LeavePromises)
	answer := func() timetable.SweepAnswer {
		a := s.Answer()
		a.Warnings = append(a.Warnings, asked.Warnings...)
		return a
	}
	for done := range s.Total() {
		b.Tell(done, s.Total())
		err := s.Next(func(q timetable.Question) (timetable.Answer, error) { return scheduled(ctx, b, &q) })
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
